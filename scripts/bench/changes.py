"""Time and size of comparing two runs, false alarms of the gate, and its power.

    python scripts/bench/changes.py            25 systems × 100 inputs × 10 units, and
    the page python scripts/bench/changes.py --power    simulated runs: how often the
    gate fails

A simulated judge is noisy as language models are: the facts of an input are present at
a rate that differs from input to input (beta, mean .45, standard deviation .19), and
each verdict is wrong with some probability, in both runs. The new run lacks a share of
the present facts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from report import sentences

import litepyramid as lp
from litepyramid.scoring.inference import flip_p_values
from litepyramid.scoring.saved_result import report


def run(
    rng: np.random.Generator, facts: list[list[str]], systems: int, share: float
) -> object:
    """A result with texts: each summary holds three sentences of its own and some
    facts."""
    judge = lp.judge("recall")
    summaries = {
        f"system {n}": [
            " ".join(
                [*sentences(rng, 3, 16), *(f for f in row if rng.random() < share)]
            )
            for row in facts
        ]
        for n in range(systems)
    }
    return lp.score(
        summaries,
        facts,
        judge=judge,
        evidence=True,
        samples=1000,
    )


def cost(systems: int, inputs: int, units: int) -> None:
    """Prints the CPU seconds beyond reading the two files, and the size of the page."""
    rng = np.random.default_rng(1)
    facts = [sentences(rng, units, 8) for _ in range(inputs)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("old.json", "new.json")]
        for path, share in zip(paths, (0.5, 0.4), strict=True):
            run(rng, facts, systems, share).save(path)  # type: ignore[attr-defined]
        start = time.process_time()
        results = [report(path) for path in paths]
        read = time.process_time() - start
        start = time.process_time()
        changes = lp.changes(*results)
        compared = time.process_time() - start
        page = Path(folder, "changes.html")
        start = time.process_time()
        changes.save(page)
        written = time.process_time() - start
        lost = sum(len(c.lost) + len(c.gained) for c in changes.changes)
        size = page.stat().st_size / 1e6
        print(
            f"{systems} × {inputs} × {units}, {lost} facts changed: read in {read:.2f} s,"
        )
        print(f"compared in {compared:.2f} s, page of {size:.2f} MB in {written:.2f} s")


def failures(
    rng: np.random.Generator, runs: int, inputs: int, noise: float, loss: float
) -> tuple[float, float]:
    """The share of pairs of runs in which the gate fails, and the mean difference of
    scores."""
    rate = rng.beta(2.6, 3.2, (runs, inputs, 1))
    facts = rng.random((runs, inputs, 10)) < rate
    fewer = facts & (rng.random(facts.shape) >= loss)
    old, new = (
        (f ^ (rng.random(f.shape) < noise)).mean(axis=2) for f in (facts, fewer)
    )
    d = new - old
    pairs = np.array([(n, runs) for n in range(runs)])
    p = flip_p_values(np.vstack([d, np.zeros((1, inputs))]), pairs)
    return float(((p < 0.05) & (d.mean(axis=1) < 0)).mean()), float(d.mean())


def main() -> None:
    """Prints one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--power", action="store_true")
    if not parser.parse_args().power:
        cost(25, 100, 10)
        return

    rng = np.random.default_rng(1)
    print("inputs  wrong verdicts  true difference  gate fails")
    for inputs in (30, 60, 100, 200):
        for noise in (0.05, 0.1):
            for drop in (0.0, 0.03, 0.05):
                loss = drop / (2.6 / 5.8) / (1 - 2 * noise)
                share, mean = failures(
                    rng,
                    2000,
                    inputs,
                    noise,
                    loss,
                )
                print(f"{inputs:6}  {noise:14.2f}  {mean:15.3f}  {share:10.3f}")


if __name__ == "__main__":
    main()
