"""Measures time and peak memory of scoring whole test sets: 25 systems, 10 units an input.

    python scripts/bench_corpus.py --judge lexical                # 60,000, 600,000, 2,872,500 pairs
    python scripts/bench_corpus.py --judge reading --pairs 60000 600000 --workers 1 2
    python scripts/bench_corpus.py --judge random --engine ray    # a tiny random NLI model, on Ray
    python scripts/bench_corpus.py --pairs 60000 --kills 10       # killed at random, and resumed

Summaries and units are random words. Memory is the sum of the proportional set sizes of the
command and every process it starts (Linux), read every half second; CPU seconds are theirs too.
Where several numbers of workers are given, or kills, the files must be equal to the last byte.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from random_model import random_tokenizer, save_random_judge

from litepyramid.blas import cores
from litepyramid.tables import Column, Table, render

WORDS = (
    "river bridge village spring race crowd club summer house cost minister officials said "
    "yesterday won lost closed opened the a of to in and was were by for after before"
)

WORD_LIST = WORDS.split()
SYSTEMS, UNITS = 25, 10


def text(rng: np.random.Generator, length: int) -> str:
    return " ".join(WORD_LIST[i] for i in rng.integers(len(WORD_LIST), size=length)) + "."


def make_corpus(folder: Path, systems: int, inputs: int, units: int) -> None:
    rng = np.random.default_rng(5)
    (folder / "systems").mkdir(parents=True)
    with (folder / "units.jsonl").open("w") as file:
        for number in range(inputs):
            row = {"input": f"i{number}", "units": [text(rng, 6) for _ in range(units)]}
            file.write(json.dumps(row) + "\n")
    for system in range(systems):
        with (folder / "systems" / f"system{system}.txt").open("w") as file:
            file.writelines(" ".join(text(rng, 15) for _ in "123") + "\n" for _ in range(inputs))


def tree_memory(root: int) -> int:
    """Bytes of a process and its descendants, shared pages counted by their share."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    family = {root}
    while grown := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= grown
    total = 0
    for pid in family:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return total


@dataclass(frozen=True)
class Run:
    pairs: int
    workers: int
    seconds: float
    cpu_seconds: float
    pairs_per_second: float
    peak_mb: float
    times_first: float


def command_for(folder: Path, options: argparse.Namespace, workers: int, goal: Path) -> list[str]:
    command = [sys.executable, "-m", "litepyramid", "score", folder / "systems"]
    command += ["--units", folder / "units.jsonl", "--workers", workers]
    command += ["--samples", options.samples, "-f", options.form]
    command += ["-o", goal]
    if options.judge == "random":
        command += ["--judge", folder.parent / "model", "--mode", "p3c", "--device", "cpu"]
        command += ["--cache", folder / "cache.sqlite"]
    else:
        command += ["--judge", options.judge]
    return [str(part) for part in [*command, "--engine", options.engine]]


def measure(command: list[str]) -> tuple[float, float, int]:
    start, peak, before = time.monotonic(), 0, os.times()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        peak = max(peak, tree_memory(process.pid))
        time.sleep(0.5)
    if process.returncode:
        raise SystemExit(f"the command failed ({process.returncode})")
    spent = os.times()
    cpu = sum(spent[2:4]) - sum(before[2:4])
    return time.monotonic() - start, cpu, peak


def interrupted(command: list[str], kills: int, seconds: float) -> None:
    """Starts the command again each time that it was killed; in the end it is let go on."""
    rng = np.random.default_rng(7)
    for _ in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.5, 2 * seconds / kills + 1))
        process.kill()
        print(f"killed, or done ({process.wait()})", file=sys.stderr)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def digest(path: Path) -> str:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return sha256(b"".join(sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--judge", default="reading", help="an embedded judge, or random")
    parser.add_argument("--engine", default="local", choices=["local", "ray"])
    parser.add_argument("--pairs", type=int, nargs="*", default=[60_000, 600_000, 2_872_500])
    parser.add_argument("--workers", type=int, nargs="*", default=[cores()])
    parser.add_argument("--form", default="folder")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--samples", type=int, default=10_000)
    options = parser.parse_args()
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as name:
        if options.judge == "random":
            save_random_judge(
                Path(name) / "model",
                random_tokenizer([WORDS], 300),
                hidden_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                intermediate_size=16,
                initializer_range=0.3,
            )
        for pairs in options.pairs:
            folder = Path(name) / str(pairs)
            make_corpus(folder, SYSTEMS, pairs // SYSTEMS // UNITS, UNITS)
            goals: list[Path] = []
            for workers in options.workers:
                goal = folder / f"{workers}.{options.form}".removesuffix(".folder")
                goals.append(goal)
                command = command_for(folder, options, workers, goal)
                seconds, cpu, peak = measure(command)
                times = peak / 1e6 / (runs[0].peak_mb if runs else peak / 1e6)
                runs.append(Run(pairs, workers, seconds, cpu, pairs / seconds, peak / 1e6, times))
                print(runs[-1], file=sys.stderr)
            if options.kills:
                goals.append(folder / "killed")
                command = command_for(folder, options, options.workers[-1], goals[-1])
                interrupted(command, options.kills, seconds)
            if len({digest(goal) for goal in goals}) > 1:
                raise SystemExit("the numbers of workers, or kills, give files that differ")
    columns = (
        Column("pairs"),
        Column("workers"),
        Column("seconds", digits=0),
        Column("cpu_seconds", "CPU s", digits=0),
        Column("pairs_per_second", "pairs/s", digits=0),
        Column("peak_mb", "peak MB", digits=0),
        Column("times_first", "× first", digits=2),
    )

    class Result:
        def to_tables(self) -> list[Table]:
            title = f"judge {options.judge}, {SYSTEMS} systems, -f {options.form}"
            return [Table(title, columns, tuple(tuple(vars(run).values()) for run in runs))]

    print(render(Result(), "table"))


if __name__ == "__main__":
    main()
