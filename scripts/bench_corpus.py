"""Measures the peak memory of scoring a corpus on Ray, and of one ten times as large.

Summaries and units are random words, the model is a tiny random RoBERTa, so that what is measured
is the engine. Memory is the sum of the proportional set sizes of the command and every process
it starts (Linux), read every second.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from random_model import random_tokenizer, save_random_judge

from litepyramid.tables import Column, Table, emit

WORDS = (
    "river bridge village spring race crowd club summer house cost minister officials said "
    "yesterday won lost closed opened the a of to in and was were by for after before"
)


def text(rng: np.random.Generator, length: int) -> str:
    return " ".join(rng.choice(WORDS.split(), size=length)) + "."


def make_corpus(folder: Path, systems: int, inputs: int, units: int) -> None:
    rng = np.random.default_rng(5)
    (folder / "systems").mkdir(parents=True)
    with (folder / "units.jsonl").open("w") as file:
        for number in range(inputs):
            row = {"input": f"i{number}", "units": [text(rng, 6) for _ in range(units)]}
            file.write(json.dumps(row) + "\n")
    for system in range(systems):
        with (folder / "systems" / f"system{system}.txt").open("w") as file:
            file.writelines(text(rng, 45) + "\n" for _ in range(inputs))


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
    inputs: int
    pairs: int
    engine: str
    seconds: float
    peak: int


def measure(folder: Path, model: Path, engine: str, form: str, samples: int) -> tuple[float, int]:
    command = [sys.executable, "-m", "litepyramid", "score", folder / "systems"]
    command += ["--units", folder / "units.jsonl", "--judge", model, "--mode", "p3c"]
    command += ["--engine", engine, "--cache", folder / f"{engine}.sqlite", "--device", "cpu"]
    command += ["--samples", str(samples), "-f", form, "-o", folder / f"{engine}.{form}"]
    start, peak = time.monotonic(), 0
    process = subprocess.Popen([str(part) for part in command])
    while process.poll() is None:
        peak = max(peak, tree_memory(process.pid))
        time.sleep(1)
    if process.returncode:
        raise SystemExit(f"the command failed ({process.returncode})")
    return time.monotonic() - start, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=4)
    parser.add_argument("--inputs", type=int, default=500)
    parser.add_argument("--units", type=int, default=10)
    parser.add_argument("--factors", type=int, nargs="*", default=[1, 10])
    parser.add_argument("--engines", nargs="*", default=["ray"])
    parser.add_argument("--form", default="csv")
    parser.add_argument("--samples", type=int, default=1_000)
    options = parser.parse_args()
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as name:
        model = Path(name) / "model"
        save_random_judge(
            model,
            random_tokenizer([WORDS], 300),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            initializer_range=0.3,
        )
        for factor in options.factors:
            inputs = options.inputs * factor
            folder = Path(name) / str(factor)
            make_corpus(folder, options.systems, inputs, options.units)
            for engine in options.engines:
                taken = measure(folder, model, engine, options.form, options.samples)
                pairs = options.systems * inputs * options.units
                runs.append(Run(inputs, pairs, engine, *taken))
                print(runs[-1], file=sys.stderr)
            outputs = {(folder / f"{e}.{options.form}").read_bytes() for e in options.engines}
            if len(outputs) > 1:
                print("the engines' files differ in the last digits", file=sys.stderr)
    first = {run.engine: run.peak for run in reversed(runs)}
    columns = (
        Column("engine", "engine"),
        Column("inputs", "inputs"),
        Column("pairs", "pairs"),
        Column("seconds", "seconds", digits=0),
        Column("megabytes", "peak MB", digits=0),
        Column("ratio", "x first", digits=2),
    )
    rows = tuple(
        (r.engine, r.inputs, r.pairs, r.seconds, r.peak / 1e6, r.peak / first[r.engine])
        for r in runs
    )

    class Result:
        def to_tables(self) -> list[Table]:
            return [Table(f"Scoring {options.systems} systems, -f {options.form}", columns, rows)]

        def to_json(self) -> dict[str, Any]:
            return {"runs": [vars(run) for run in runs]}

    emit(Result())


if __name__ == "__main__":
    main()
