"""DDR21's tables from the published scores: correlations, intervals, tests, normality.

    python scripts/studies/ddr21.py [DATA]

DATA is the folder with summeval/ and realsumm/ (default: $LITEPYRAMID_DATA).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import normality

import litepyramid as lp
from litepyramid import meta

SETS = {
    "SummEval": ("summeval/metric_scores.csv", "expert_relevance_*", "f1"),
    "REALSumm": ("realsumm/metric_scores_ddr21.csv", "litepyramid_recall", "recall"),
}
TABLES = {
    "Section 2: correlations": meta.correlate,
    "Figure 4: 95 % intervals by BOOT-BOTH": meta.interval,
    "Figure 5: PERM-BOTH, Bonferroni within each metric": meta.compare,
}


def main() -> None:
    usual = os.environ.get("LITEPYRAMID_DATA", "../shared/data")
    data = Path([*sys.argv[1:], usual][0])
    for name, (path, human, kind) in SETS.items():
        rouge = [f"rouge-{n}_{kind}" for n in "12l"]
        metrics = [*rouge, "bertscore_recall", "qa-eval_f1"]
        print(f"== {name}\n")
        for title, verb in TABLES.items():
            print(title)
            print(verb(data / path, human, metrics=metrics).to_table())
        print("Table 2: normality")
        table = lp.read_scores(data / path, human, metrics=metrics)
        print(normality.shown(normality.normality(table)))


if __name__ == "__main__":
    main()
