"""Prints what DDR22, DDR21 §5 and P19 report beside what the published tables give here.

usage: python scripts/reproduce_reexamined.py [DATA] [--trials N]

DATA is the folder with summeval/ and realsumm/ (default: $LITEPYRAMID_DATA, else ../shared/data).
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from litepyramid.io.scores import read_scores
from litepyramid.meta import coverage, delta, difference, power_on_noise, stability
from litepyramid.meta.power_result import PowerSettings
from litepyramid.report.table import render

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    usual = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data"))
    parser.add_argument("data", nargs="?", type=Path, default=usual)
    parser.add_argument("--trials", type=int, default=1000, help="of the simulations")
    args = parser.parse_args()
    for name, (path, human, rouge, scale) in SETS.items():
        table = read_scores(args.data / path)
        metrics = [rouge, "bertscore_recall", "qa-eval_f1"]
        print(f"== {name}\n{PUBLISHED[name]}")
        close = delta(table, human, metrics=rouge, bounds=(0, 0.5), scale=scale)
        print(render(close, "table"))
        print(render(delta(table, human, metrics=metrics[1:]), "table"))
        print("\n".join(difference(table, 0.5, human, metrics=rouge, scale=scale).sentences()))
        print("\nDDR22 Fig. 3: .6 to .85 for M = 100")
        print(render(stability(table, human, metrics=metrics, sizes=[10, 50, 100]), "table"))
        print("DDR21 Table 1 (system/summary):", TABLE_1[name])
        print(render(coverage(table, human, metrics="qa-eval_f1", trials=args.trials), "table"))
        print("DDR21 Fig. 3: PERM-BOTH highest at both levels")
        settings = PowerSettings(trials=max(1, args.trials // 10))
        print(render(power_on_noise(table, human, metric=rouge, settings=settings), "table"))


if __name__ == "__main__":
    main()
