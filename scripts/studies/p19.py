"""P19's Table 1 and equation 1: do metrics agree where summaries are good?

    python scripts/studies/p19.py [TABLE ...]

TABLE are P19's released tables as JSON Lines with the keys system, input, metric and
score. Without them, random extracts of REALSumm's documents are scored by ROUGE
($LITEPYRAMID_DATA).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

import litepyramid as lp
from litepyramid.sentences import split_sentences

P19 = (
    "P19 (TAC): τ of all pairs above .6 on the judged and the whole range, highest for ROUGE-2\n"
    "and JS-2; on the top range below .3, negative with ROUGE-L"
)
INPUTS = 20
EXTRACTS = 200
SENTENCES = 4


def random_extracts(folder: Path) -> lp.Scores:
    """The ROUGE scores of extracts of a few sentences each."""
    rng = np.random.default_rng(12345)
    documents, references = (
        (folder / name).read_text("utf-8").splitlines()[:INPUTS]
        for name in ("documents.txt", "references.txt")
    )
    texts: dict[str, list[str]] = {f"extract {n}": [] for n in range(EXTRACTS)}

    for document in documents:
        sentences = [s for part in document.split("\t") for s in split_sentences(part)]
        number = min(SENTENCES, len(sentences))
        for extracts in texts.values():
            some = rng.choice(len(sentences), number, replace=False)
            extracts.append(" ".join(sentences[i] for i in sorted(some.tolist())))

    plain = [r.replace("<t>", "").replace("</t>", "") for r in references]
    metrics = ["rouge-1", "rouge-2", "rouge-l"]
    return lp.score_metrics(texts, references=plain, metrics=metrics).scores


def main() -> None:
    data = Path(os.environ.get("LITEPYRAMID_DATA", "../shared/data"))
    released = sys.argv[1:]
    table = lp.read_scores(released) if released else random_extracts(data / "realsumm")
    metrics = "*_fitness" if released else "*_recall"
    print(P19)
    for rule in ("text", "code"):
        print(f"\nBy the paper's {rule}")
        print(lp.meta.range(table, metrics=metrics, rule=rule).to_table())


if __name__ == "__main__":
    main()
