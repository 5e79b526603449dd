"""Compares extracted STUs with those that the authors of Lite3Pyramid published for REALSumm.

    python scripts/evaluate_extraction.py [--data ../shared/data] [--judge recall]

For each extractor: units per reference; mean best ROUGE-1 F1 of our units against the authors'
and of theirs against ours; correlation of Lite3 with the human score under one judge, system and
summary level, Pearson; seconds for all references, models loaded anew.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from unit_overlap import unit_overlap

from litepyramid.io.inputs import read_ids
from litepyramid.io.references import read_references
from litepyramid.io.scores import read_scores
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
from litepyramid.judges.registry import make_judge
from litepyramid.meta.core.levels import level_correlation
from litepyramid.scoring.score import score_systems
from litepyramid.tables import Column, Table, render
from litepyramid.units.extract import extract

EXTRACTORS = (
    ("sentences", "none"),
    ("sentences", "embedded"),
    ("embedded", "none"),
    ("embedded", "srl"),
    ("embedded", "embedded"),
)


class Report:
    """One table, as `render` wants it."""

    def __init__(self, rows, judge):
        self.rows, self.judge = rows, judge

    def to_tables(self):
        columns = (
            Column("units"),
            Column("coref"),
            Column("per_reference", "per ref.", digits=2),
            Column("ours_in_theirs", "F1 ours"),
            Column("theirs_in_ours", "F1 theirs"),
            Column("system", "r sys."),
            Column("summary", "r summ."),
            Column("seconds", "s", digits=1),
        )
        title = f"STUs of REALSumm against the authors', judge {self.judge}"
        return [Table(title, columns, tuple(self.rows))]

    def to_json(self):
        return {"rows": self.rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--judge", default="recall")
    parser.add_argument("--format", default="table", choices=("table", "json", "csv", "latex"))
    arguments = parser.parse_args()
    folder = arguments.data / "realsumm"
    ids = read_ids(folder / "ids.txt")
    references = read_references(folder / "references.txt", ids)
    theirs = read_units(folder / "STUs.txt", ids, kind="stu")
    human = read_scores(folder / "metric_scores.csv").matrix("human")
    summaries = read_summaries([folder / "summaries"], ids, ids)
    judge = make_judge(arguments.judge)

    def correlations(units):
        scores = score_systems(summaries, units, judge, samples=10).matrix
        order = [scores.systems.index(name) for name in human.systems]
        columns = [scores.inputs.index(name) for name in human.inputs]
        values = scores.values[order][:, columns]
        return [
            level_correlation(values, human.values, level).value for level in ("system", "summary")
        ]

    size = sum(len(entry.units) for entry in theirs) / len(theirs)
    rows = [("authors", "theirs", size, None, None, *correlations(theirs), None)]
    for srl, coref in EXTRACTORS:
        start = time.perf_counter()
        ours = extract(references, srl=srl, coref=coref).units
        seconds = time.perf_counter() - start
        overlap = unit_overlap(ours, theirs)
        rows.append(
            (
                srl,
                coref,
                overlap.counts[0],
                overlap.forward,
                overlap.backward,
                *correlations(ours),
                seconds,
            )
        )
    print(render(Report(rows, arguments.judge), arguments.format), end="")


if __name__ == "__main__":
    main()
