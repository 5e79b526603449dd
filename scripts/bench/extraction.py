"""Compares extracted STUs with those that the authors of Lite3Pyramid published for
REALSumm.

    python scripts/bench/extraction.py [--data ../shared/data] [--judge recall]

For each extractor: units per reference; mean best ROUGE-1 F1 of our units among the
authors', of theirs among ours, and of people's SCUs among ours; correlation of Lite3
with the human score under one judge, system and summary level, Pearson; seconds for all
references, models loaded anew.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from litepyramid.easiness.gold import rouge1, simulation_accuracy
from litepyramid.io.coerce import as_names, as_references, as_summaries, as_units
from litepyramid.io.scores import read_scores
from litepyramid.meta.core.levels import level_correlation
from litepyramid.scoring.score import score
from litepyramid.units.extract import extract

EXTRACTORS = (
    ("sentences", "none"),
    ("embedded", "none"),
    ("embedded", "srl"),
    ("embedded", "embedded"),
    ("roles", "none"),
    ("roles", "srl"),
)
HEADS = (
    "units",
    "coref",
    "per ref.",
    "F1 ours",
    "F1 theirs",
    "F1 SCUs",
    "r sys.",
    "r summ.",
    "s",
)


def show(*cells: object) -> None:
    """Prints one row."""
    texts = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
    print(" ".join(f"{text:>9}" for text in texts), flush=True)


def best_match(units, among) -> float:
    """Mean best ROUGE-1 F1 of each unit among other units of its input, over inputs."""
    similarity = rouge1()
    means = [
        np.mean(
            [simulation_accuracy(text, other.texts, similarity) for text in entry.texts]
        )
        for entry, other in zip(units, among, strict=True)
    ]
    return float(np.mean(means))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--judge", default="recall")
    parser.add_argument("--rules", default="facts", help="facts, zb21, zb21-footnote")
    arguments = parser.parse_args()
    folder = arguments.data / "realsumm"
    names = as_names(folder / "ids.txt", None)
    references = as_references(folder / "references.txt", **names)
    theirs = as_units(folder / "STUs.txt", kind="stu", **names)
    scus = as_units(folder / "SCUs.txt", kind="scu", **names)
    human = read_scores(folder / "metric_scores.csv").matrix("human")
    summaries = as_summaries([folder / "summaries"], names["ids"], **names)

    def correlations(units):
        matrix = score(summaries, units, judge=arguments.judge, samples=40).matrix
        order = [matrix.systems.index(name) for name in human.systems]
        columns = [matrix.inputs.index(name) for name in human.inputs]
        values = matrix.values[order][:, columns]
        return [
            level_correlation(values, human.values, k).value
            for k in ("system", "summary")
        ]

    def size(units):
        return sum(len(entry.units) for entry in units) / len(units)

    print(f"STUs of REALSumm and the authors', judge {arguments.judge}")
    show(*HEADS)
    row = ("authors", "theirs", size(theirs), "–", "–", best_match(scus, theirs))
    show(*row, *correlations(theirs), "–")

    for srl, coref in EXTRACTORS:
        start = time.perf_counter()
        ours = extract(
            references,
            srl=srl,
            coref=coref,
            rules=arguments.rules,
        ).units
        seconds = time.perf_counter() - start
        overlaps = (
            best_match(ours, theirs),
            best_match(theirs, ours),
            best_match(scus, ours),
        )
        show(
            srl,
            coref,
            size(ours),
            *overlaps,
            *correlations(ours),
            seconds,
        )


if __name__ == "__main__":
    main()
