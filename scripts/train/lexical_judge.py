"""Trains the embedded lexical judge on REALSumm (CC BY 4.0) and writes it as one JSON
file.

Weights from the presence labels of its 25 systems; document frequencies, as counts of
stems alone, from its 100 news documents. Takes a few seconds.

    python scripts/train/lexical_judge.py PATH/realsumm
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import litepyramid as lp
from litepyramid.files import read_lines
from litepyramid.judges.lexical.features import Vocabulary
from litepyramid.judges.lexical.lexical_judge import (
    SHIPPED,
    Frequencies,
    fit_lexical,
    save_lexical,
)
from litepyramid.training.pairs import by_summary, labelled_pairs


def count_stems(texts: list[str]) -> Frequencies:
    """In how many of the texts each stem stands, of those that stand in two or more."""
    words = Vocabulary()
    counts = Counter(
        stem for text in texts for stem in {*words.encode(text).ids.tolist()}
    )
    return Frequencies(
        len(texts), {words.stems[i]: counts[i] for i in counts if counts[i] > 1}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("realsumm", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED)
    options = parser.parse_args()
    about = {
        "labels": "REALSumm, 100 inputs x 25 systems (CC BY 4.0)",
        "frequencies": "REALSumm, 100 documents (CC BY 4.0)",
    }

    model = fit_lexical(
        *by_summary(labelled_pairs(lp.load(options.realsumm))),
        frequencies=count_stems(read_lines(options.realsumm / "documents.txt")),
        about=about,
    )
    save_lexical(model, options.output)
    print(f"{options.output}: {model.about['pairs']} pairs, revision {model.revision}")


if __name__ == "__main__":
    main()
