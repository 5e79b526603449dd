"""Times ROUGE-1 and ROUGE-2 over REALSumm beside a loop over rouge-score, results equal."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

from litepyramid.io.references import read_references
from litepyramid.io.summaries import read_summaries
from litepyramid.scoring.metric_scores import metric_scores


def main() -> None:
    """Prints seconds of processor time and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("../shared/data/realsumm"))
    folder = parser.parse_args().folder
    references = read_references(folder / "references.txt")
    systems = read_summaries([folder / "summaries"], [entry.input for entry in references])
    start = time.process_time()
    table = metric_scores(systems, references, ["rouge-1", "rouge-2"]).scores
    ours = time.process_time() - start
    start = time.process_time()
    scorer = RougeScorer(["rouge1", "rouge2"], use_stemmer=True)
    plain = np.array(
        [
            [
                [value for one in scorer.score(" ".join(entry.references[0]), text).values()
                 for value in one]
                for entry, text in zip(references, system.texts, strict=True)
            ]
            for system in systems
        ]
    ).transpose(2, 0, 1)  # fmt: skip
    loop = time.process_time() - start
    names = [f"rouge-{n}_{kind}" for n in (1, 2) for kind in ("precision", "recall", "f1")]
    for name, values in zip(names, plain, strict=True):
        assert np.abs(table.matrix(name).values - values).max() < 1e-12
    print(f"{ours:.2f} s; loop over rouge-score {loop:.2f} s; {loop / ours:.1f} times as fast")


if __name__ == "__main__":
    main()
