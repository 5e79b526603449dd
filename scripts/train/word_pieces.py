"""The weights of word pieces that `mini`'s graph holds: rare ones count more."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

SETS = (
    "mnli_dev", "snli_dev_test", "cad_nli", "fever_nli", "conjnli",
    "wikifactcheck_edits", "semeval13_answers", "argkp", "entailmentbank",
    "defacto_xsum", "defacto_edit", "fm2", "folio", "bump", "wice_partial",
    "wikisplit", "rose_acu", "begin",
)  # fmt: skip
"""Sets whose hypotheses people wrote; nli_wiki is the other."""


def piece_weights(data: Path, words: Path) -> NDArray[np.float64]:
    """For each word piece log((n + 1) / (units that have it + 1)) / log(n + 1), over
    the n distinct hypotheses of open sets: 1 for one that none of them has. `words` is
    the tokenizer.json."""
    tokenizer = Tokenizer.from_file(str(words))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    units: set[str] = set()
    for name in SETS:
        with gzip.open(data / f"presence/{name}.jsonl.gz", "rt") as lines:
            units.update(json.loads(line)["hypothesis"] for line in lines)
    for path in sorted(data.glob("nli_wiki/*.train.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            units.add(json.loads(line)["hypothesis"])

    found = np.zeros(tokenizer.get_vocab_size())
    for encoding in tokenizer.encode_batch(sorted(units), add_special_tokens=False):
        found[list(set(encoding.ids))] += 1
    most = len(units) + 1
    weights: NDArray[np.float64] = np.log(most / (found + 1)) / np.log(most)
    return weights
