"""Prints what DDR22, DDR21 §5 and P19 report beside what the published data give here.

usage: python scripts/reproduce_reexamined.py [DATA] [--trials N] [--inputs N]
           [--ddr22 FOLDER] [--p19 FILE ...]

DATA is the folder with summeval/ and realsumm/ (default: $LITEPYRAMID_DATA, else ../shared/data).
--ddr22 takes the folder data/ of DDR22's repository (CogComp/re-examining-correlations), which
holds the scores of the whole test sets; every value of their reproducibility/expected.txt (Fig. 6)
is then compared, and the exit status is 1 if one differs. --p19 takes P19's released tables as JSON
Lines (docs/scoring-range.md says how); without, summaries of REALSumm's first N inputs are made.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litepyramid.io.documents import read_documents
from litepyramid.io.inputs import read_ids
from litepyramid.io.references import read_references
from litepyramid.io.scores import read_scores
from litepyramid.io.summaries import read_summaries
from litepyramid.meta import (
    coverage,
    delta,
    difference,
    full_test_set,
    generate,
    power_on_noise,
    scoring_range,
    stability,
)
from litepyramid.meta.simulate.test_power import PowerSettings
from litepyramid.metrics import metric_named
from litepyramid.tables import Column, Table, render

SETS = {
    "SummEval": ("summeval/metric_scores.csv", "expert_relevance_*", "rouge-1_f1", 1.0),
    "REALSumm": ("realsumm/metric_scores_ddr21.csv", "litepyramid_recall", "rouge-1_recall", 100.0),
}
PUBLISHED = {
    "SummEval": "DDR22 (whole test set): ROUGE-1 .45, up to .5 .08; BERTScore .77, 20 % .42",
    "REALSumm": "DDR22 (whole test set): ROUGE-1 .73, up to .5 .00",
}
TABLE_1 = {
    "SummEval": "Fisher .87/1.00, BOOT-SYSTEMS .81/.73, -INPUTS .70/.73, -BOTH .98/.93",
    "REALSumm": "Fisher .85/1.00, BOOT-SYSTEMS .80/.72, -INPUTS .68/.62, -BOTH .94/.88",
}
# DDR22 Fig. 6: τ over the closest 10, 20 … 100 % of the pairs, by the authors' buckets.
FIG_6 = {
    ("summeval", "ROUGE-1"): ".17 .08 .17 .04 .00 .11 .24 .33 .41 .45",
    ("summeval", "BERTScore"): ".17 .42 .50 .54 .60 .67 .71 .71 .74 .77",
    ("summeval", "QAEval"): ".50 .42 .44 .50 .57 .61 .67 .71 .72 .75",
    ("realsumm", "ROUGE-1"): "-.07 .18 .33 .43 .50 .57 .62 .67 .71 .73",
    ("realsumm", "BERTScore"): ".29 .18 .12 .20 .24 .36 .44 .51 .53 .57",
    ("realsumm", "QAEval"): ".14 .18 .31 .38 .49 .56 .62 .67 .71 .73",
}
P19 = (
    "P19 (TAC, ten articles a topic): τ of all pairs above .6 on the judged (A) and the whole\n"
    "range (W), highest for ROUGE-2 and JS-2; on the top range (T) below .3, negative with ROUGE-L"
)
SEARCHED = ("rouge-2_recall", "rouge-l_recall", "js-2")


class Lines:
    """Rows of published values beside ours, as a table."""

    def __init__(self, title: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        self.table = Table(title, tuple(Column(c) for c in columns), tuple(rows))

    def to_tables(self) -> list[Table]:
        return [self.table]


def fig_6(folder: Path) -> list[tuple[str, str, str, str]]:
    """Data set, metric, DDR22's curve and ours, for the data sets whose scores are in `folder`."""
    rows = []
    for (name, metric), published in FIG_6.items():
        path = folder / name / "all" / "metrics.jsonl.gz"
        if not path.is_file():
            rows.append((name, metric, published, f"no {path.relative_to(folder)}"))
            continue
        table = read_scores(path)
        entry = delta(table, "ground-truth", metrics=metric, full=table, rule="authors").metrics[0]
        ours = " ".join(f"{c.tau:z.2f}".replace("0.", ".", 1) for c in entry.curve)
        rows.append((name, metric, published, ours))
    return rows


def whole_test_sets(folder: Path) -> bool:
    """Prints Fig. 6, and Fig. 2 and 4 in numbers; whether Fig. 6 is theirs."""
    rows = fig_6(folder)
    same = sum(published == ours for _, _, published, ours in rows)
    lines = [(s, m, who, curve) for s, m, *both in rows
             for who, curve in zip(("DDR22", "here"), both, strict=True)]  # fmt: skip
    print(
        render(
            Lines("DDR22 Fig. 6", ("data", "metric", "of", "closest 10 … 100 %"), lines), "table"
        )
    )
    print(f"{same} of {len(rows)} curves are as published.")
    print(
        "DDR22: variance of scores -99 %; BOOT-INPUTS -51 % on SummEval, -16 % on REALSumm;\n"
        "BOOT-BOTH -14 and -12 %, BOOT-SYSTEMS -1 and -6 %"
    )
    for name in dict.fromkeys(name for name, *_ in FIG_6):
        path = folder / name / "all" / "metrics.jsonl.gz"
        if path.is_file():
            table = read_scores(path)
            print(render(full_test_set(table, table, "ground-truth"), "table"))
    return same == len(rows)


def ranges(data: Path, files: Sequence[Path], inputs: int) -> None:
    """Prints P19's Table 1 and eq. 1: of its released tables, or of summaries made here."""
    print(f"== P19\n{P19}")
    if files:
        table, metrics, judged = read_scores(list(files)), ["*_fitness"], ()
    else:
        folder = data / "realsumm"
        names = read_ids(folder / "ids.txt")
        documents = read_documents(folder / "documents.txt", names)[:inputs]
        systems = read_summaries([folder / "summaries"], names, names)
        table = generate(
            documents,
            read_references(folder / "references.txt", names),
            [metric_named(name) for name in SEARCHED],
            seed=12345,
            systems=systems,
        ).table
        metrics, judged = list(SEARCHED), tuple(s.system for s in systems)
    for rule in ("text", "code"):
        found = scoring_range(table, metrics, judged=judged, top="best", rule=rule)
        print("\n".join(render(found, "table").split("\n\n")[:2]))


def judged_inputs(data: Path, trials: int) -> None:
    """Prints DDR22 and DDR21 §5 on the inputs that people judged."""
    for name, (path, human, rouge, scale) in SETS.items():
        table = read_scores(data / path)
        metrics = [rouge, "bertscore_recall", "qa-eval_f1"]
        print(f"== {name}\n{PUBLISHED[name]}")
        close = delta(table, human, metrics=rouge, bounds=(0, 0.5), scale=scale)
        print(render(close, "table"))
        print(render(delta(table, human, metrics=metrics[1:]), "table"))
        print("\n".join(difference(table, 0.5, human, metrics=rouge, scale=scale).sentences()))
        print("\nDDR22 Fig. 3: .6 to .85 for M = 100")
        print(render(stability(table, human, metrics=metrics, sizes=[10, 50, 100]), "table"))
        print("DDR21 Table 1 (system/summary):", TABLE_1[name])
        print(render(coverage(table, human, metrics="qa-eval_f1", trials=trials), "table"))
        print("DDR21 Fig. 3: PERM-BOTH highest at both levels")
        settings = PowerSettings(trials=max(1, trials // 10))
        print(render(power_on_noise(table, human, metric=rouge, settings=settings), "table"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    usual = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data"))
    parser.add_argument("data", nargs="?", type=Path, default=usual)
    parser.add_argument("--trials", type=int, default=1000, help="of the simulations")
    parser.add_argument("--inputs", type=int, default=20, help="whose summaries are made for P19")
    parser.add_argument("--ddr22", type=Path, help="the folder data/ of DDR22's repository")
    parser.add_argument("--p19", type=Path, nargs="+", default=[], help="P19's tables, JSON Lines")
    args = parser.parse_args()
    judged_inputs(args.data, args.trials)
    ranges(args.data, args.p19, args.inputs)
    if args.ddr22 is None:
        print("DDR22's whole test sets: not compared; --ddr22 takes the data/ of its repository.")
    elif not whole_test_sets(args.ddr22):
        sys.exit(1)


if __name__ == "__main__":
    main()
