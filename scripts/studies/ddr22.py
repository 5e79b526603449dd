"""DDR22's figures in numbers: close pairs, stability, metrics on the whole test set.

    python scripts/studies/ddr22.py [DATA] [--whole FOLDER]

DATA is the folder with summeval/ and realsumm/ (default: $LITEPYRAMID_DATA). FOLDER is
data/ of the authors' repository (CogComp/re-examining-correlations), which holds the
scores of the whole test sets: then every value of Figure 6 is compared, and the exit
status is 1 if one differs.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import whole_test_sets

from litepyramid import meta
from litepyramid.data.score_tables import read_scores
from litepyramid.files import read_jsonl

SETS = {
    "SummEval": ("summeval/metric_scores.csv", "expert_relevance_*", "rouge-1_f1", 0.5),
    "REALSumm": (
        "realsumm/metric_scores_ddr21.csv", "litepyramid_recall", "rouge-1_recall", 0.005,
    ),
}  # fmt: skip
# Figure 6: τ over the closest 10, 20 … 100 % of the pairs, by the authors' buckets.
FIGURE_6 = {
    ("summeval", "ROUGE-1"): ".17 .08 .17 .04 .00 .11 .24 .33 .41 .45",
    ("summeval", "BERTScore"): ".17 .42 .50 .54 .60 .67 .71 .71 .74 .77",
    ("summeval", "QAEval"): ".50 .42 .44 .50 .57 .61 .67 .71 .72 .75",
    ("realsumm", "ROUGE-1"): "-.07 .18 .33 .43 .50 .57 .62 .67 .71 .73",
    ("realsumm", "BERTScore"): ".29 .18 .12 .20 .24 .36 .44 .51 .53 .57",
    ("realsumm", "QAEval"): ".14 .18 .31 .38 .49 .56 .62 .67 .71 .73",
}


def judged_inputs(data: Path) -> None:
    """Prints the analyses on the inputs that people judged."""
    for name, (path, human, rouge, bound) in SETS.items():
        table = read_scores(data / path, human)
        others = ["bertscore_recall", "qa-eval_f1"]
        metrics = [rouge, *others]
        print(f"== {name}\n\nr_SYSΔ; for ROUGE also up to half a point")
        print(meta.delta(table, metrics=rouge, upper=bound).to_table())
        print(meta.delta(table, metrics=others).to_table())
        print(*meta.difference(table, bound, metrics=rouge).sentences(), sep="\n")
        print("\nFigure 3: .6 to .85 for M = 100")
        sizes = [10, 50, 100]
        print(meta.stability(table, metrics=metrics, sizes=sizes).to_table())


def figures_4_and_6(folder: Path) -> bool:
    """Prints Figure 6 beside ours, and Figure 4; whether Figure 6 is the authors'."""
    same = True
    for (name, metric), published in FIGURE_6.items():
        scores = []
        for _, row in read_jsonl(folder / name / "all" / "metrics.jsonl.gz"):
            cells = {"system": row["summarizer_id"], "input": row["instance_id"]}
            for key in (metric, "ground-truth"):
                if key in row["metrics"]:
                    cells[key] = np.mean(row["metrics"][key])
            scores.append(cells)

        table = read_scores(scores, "ground-truth", metrics=metric, full=scores)
        curve = meta.delta(table, rule="authors").metrics[0].curve
        ours = " ".join(f"{c.tau:z.2f}".replace("0.", ".", 1) for c in curve)
        same &= ours == published
        print(f"{name} {metric}\n  published {published}\n  ours      {ours}")
        print(whole_test_sets.shown(whole_test_sets.two_sets(table)))

    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    usual = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data"))
    parser.add_argument("data", nargs="?", type=Path, default=usual)
    parser.add_argument("--whole", type=Path, help="data/ of the authors' repository")
    arguments = parser.parse_args()
    judged_inputs(arguments.data)
    if arguments.whole and not figures_4_and_6(arguments.whole):
        sys.exit(1)


if __name__ == "__main__":
    main()
