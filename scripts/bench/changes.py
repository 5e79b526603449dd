"""How often the gate of two runs fails, where the new one is as good and where not.

    python scripts/bench/changes.py    2,000 pairs of runs a row

A simulated judge is noisy as language models are: the facts of an input are present at
a rate that differs from input to input (beta, mean .45, standard deviation .19), and
each verdict is wrong with some probability, in both runs. The new run lacks a share of
the present facts.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from litepyramid.scoring.inference import flip_p_values

RUNS = 2000


def failures(
    rng: np.random.Generator, inputs: int, noise: float, loss: float
) -> tuple[float, float]:
    """The share of pairs of runs in which the gate fails, and the mean difference of
    scores."""
    rate = rng.beta(2.6, 3.2, (RUNS, inputs, 1))
    facts = rng.random((RUNS, inputs, 10)) < rate
    fewer = facts & (rng.random(facts.shape) >= loss)
    old, new = (
        (f ^ (rng.random(f.shape) < noise)).mean(axis=2) for f in (facts, fewer)
    )
    d = new - old
    pairs = np.array([(n, RUNS) for n in range(RUNS)])
    p = flip_p_values(np.vstack([d, np.zeros((1, inputs))]), pairs)
    return float(((p < 0.05) & (d.mean(axis=1) < 0)).mean()), float(d.mean())


def main() -> None:
    rng = np.random.default_rng(1)
    print("inputs  wrong verdicts  true difference  gate fails")
    for inputs, noise, drop in product(
        (30, 60, 100, 200), (0.05, 0.1), (0, 0.03, 0.05)
    ):
        loss = drop / (2.6 / 5.8) / (1 - 2 * noise)
        share, mean = failures(rng, inputs, noise, loss)
        print(f"{inputs:6}  {noise:14.2f}  {mean:15.3f}  {share:10.3f}")


if __name__ == "__main__":
    main()
