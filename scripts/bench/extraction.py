"""Compares extracted STUs with those that the authors of Lite3Pyramid published for
REALSumm.

    python scripts/bench/extraction.py [JUDGE]    default: recall

For each extractor: units per reference; mean best ROUGE-1 F1 of our units among the
authors', of theirs among ours, and of people's SCUs among ours; Pearson's correlation
of Lite3 with the human score at system and summary level.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import litepyramid as lp
from litepyramid.data.records import InputUnits
from litepyramid.easiness.gold import simulation_accuracy

REALSUMM = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data")) / "realsumm"
EXTRACTORS = """
facts embedded srl
facts sentences none
zb21 roles none
zb21 roles srl
"""
HEADS = "rules srl coref per_ref. in_theirs in_ours SCUs r_sys. r_summ."


def show(cells: Sequence[object]) -> None:
    """Prints one row."""
    texts = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
    print(" ".join(f"{text:>9}" for text in texts), flush=True)


def best_match(units: Iterable[InputUnits], among: Iterable[InputUnits]) -> float:
    """Mean best ROUGE-1 F1 of each unit among other units of its input, over inputs."""
    means = []
    for entry, other in zip(units, among, strict=True):
        row = [simulation_accuracy(unit, other.texts) for unit in entry.texts]
        means.append(np.mean(row))
    return float(np.mean(means))


def main() -> None:
    judge = [*sys.argv[1:], "recall"][0]
    data = lp.load(REALSUMM)
    human = REALSUMM / "metric_scores.csv"

    def compare(name: str, units: lp.Units) -> None:
        result = lp.score(data.summaries, units, judge=judge, samples=40, name="lite3")
        table = lp.read_scores([result, human], "human", metrics="lite3")
        found = lp.meta.correlate(table, coefficient="pearson").correlations
        matches = ((units, data.stus), (data.stus, units), (data.units, units))
        row = (
            len(units.every) / len(units),
            *[best_match(*both) for both in matches],
        )
        show([*name.split(), *row, *(r.value for r in found)])

    show(HEADS.split())
    compare("authors' – –", data.stus)
    for line in EXTRACTORS.strip().splitlines():
        rules, srl, coref = line.split()
        made = lp.extract(data.references, srl=srl, coref=coref, rules=rules)
        compare(line, lp.Units.of(made.units))


if __name__ == "__main__":
    main()
