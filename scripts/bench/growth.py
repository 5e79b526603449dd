"""Measures time and memory by size: what takes twice as much must not take four times
as long, or says where it stops.

    python scripts/bench/growth.py        some five minutes of CPU

Each line is a process of its own: CPU seconds, and the most memory that it held beyond
what importing takes. The table stands in docs/architecture.md.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

import litepyramid as lp
from litepyramid.data.scores import Scores
from litepyramid.errors import InputError

LETTERS = str.maketrans("0123456789", "abcdefghij")


def table(systems: int, inputs: int) -> Scores:
    """Random scores of one metric."""
    values = np.random.default_rng(1).normal(size=(systems, inputs))
    names = [f"s{n}" for n in range(systems)], [f"i{m}" for m in range(inputs)]
    return Scores.of({"x": values}, *names)


def score(systems: int, inputs: int) -> object:
    """Systems × inputs, two units each, given presence."""
    values = np.random.default_rng(1).random((systems, inputs, 2)).round(3).tolist()
    units = [["It rained.", "We left."]] * inputs
    presence = {f"s{n}": rows for n, rows in enumerate(values)}
    return lp.score(units=units, presence=presence)


def words(number: int) -> str:
    """So many different words."""
    return " ".join(str(n).translate(LETTERS) for n in range(number))


CASES: dict[str, tuple[Callable[[int], object], tuple[int, ...]]] = {
    "`score`, systems, each on 500 inputs": (lambda n: score(n, 500), (50, 100, 500)),
    "`compare`, systems, each on 100 inputs": (
        lambda n: lp.compare(table(n, 100)),
        (25, 50, 100, 1000),
    ),
    "`compare --against`, systems, 1,000 inputs": (
        lambda n: lp.compare(table(n, 1000), against="s0"),
        (250, 500, 1000),
    ),
    "`lexical`, words of a unit": (
        lambda n: lp.score([words(100)], [[words(n)]], judge="lexical", language="any"),
        (500, 1000, 2000, 10000),
    ),
    "`lexical`, units of one input": (
        lambda n: lp.score(
            ["It rained."], [[f"It rained {i}." for i in range(n)]], judge="lexical"
        ),
        (12500, 25000, 50000),
    ),
    "`units extract`, words of a sentence": (
        lambda n: lp.extract([" and ".join(["Ann saw the old dog"] * (n // 6)) + "."]),
        (200, 400, 800),
    ),
}
"""By what grows, the work of a size, and sizes."""


def measured(name: str, size: int) -> str:
    """Seconds and megabytes of one size, or where it was refused."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    try:
        CASES[name][0](size)
    except InputError as error:
        return f"refused: {error.what}"
    seconds = time.process_time() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
    return f"{seconds:.1f} s, {memory / 1024:.0f} MB"


def main() -> None:
    """A row for each size, each measured in a process of its own."""
    if len(sys.argv) > 1:
        print(measured(sys.argv[1], int(sys.argv[2])))
        return
    print("| what grows | size | time, memory |\n| --- | ---: | --- |")
    for name, (_, sizes) in CASES.items():
        for size in sizes:
            command = [sys.executable, __file__, name, str(size)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            print(f"| {name} | {size:,} | {done.stdout.strip()} |", flush=True)


if __name__ == "__main__":
    main()
