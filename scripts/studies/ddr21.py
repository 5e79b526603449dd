"""DDR21's tables from the published scores: correlations, intervals, tests, normality.

    python scripts/studies/ddr21.py [DATA]

DATA is the folder with summeval/ and realsumm/ (default: $LITEPYRAMID_DATA).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from litepyramid import meta

SETS = {
    "SummEval": ("summeval/metric_scores.csv", "expert_relevance_*", "f1"),
    "REALSumm": ("realsumm/metric_scores_ddr21.csv", "litepyramid_recall", "recall"),
}


def main() -> None:
    data = Path(
        sys.argv[1]
        if sys.argv[1:]
        else os.environ.get("LITEPYRAMID_DATA", "../shared/data")
    )
    for name, (path, human, kind) in SETS.items():
        metrics = [
            *(f"rouge-{n}_{kind}" for n in "12l"),
            "bertscore_recall",
            "qa-eval_f1",
        ]
        scores = data / path
        print(f"== {name}\n\nSection 2: correlations")
        print(meta.correlate(scores, human, metrics=metrics).to_table())
        print("Figure 4: 95 % intervals by BOOT-BOTH")
        print(meta.interval(scores, human, metrics=metrics).to_table())
        print("Figure 5: PERM-BOTH, Bonferroni within each metric")
        print(meta.compare(scores, human, metrics=metrics).to_table())
        print("Table 2: normality")
        print(meta.normality(scores, human, metrics=metrics).to_table())


if __name__ == "__main__":
    main()
