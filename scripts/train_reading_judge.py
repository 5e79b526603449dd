"""Trains the embedded reading judge and writes it as one JSON file; measures it by folds first.

Weights of words from the presence labels of REALSumm's 25 systems (CC BY 4.0); weights of conflicts
from these and from pairs made from models/highlights (see contrast_pairs.py), together `--share` of
REALSumm's weight, with a bias of their own, for how many of them are present is by our choice.
Document frequencies are those of the lexical judge. The contrast set that ships is not read.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
from contrast_pairs import contrast_pairs

from litepyramid.io.datasets import load_dataset
from litepyramid.io.references import read_references
from litepyramid.io.units import read_units
from litepyramid.judges.calibration import brier_score, roc_auc
from litepyramid.judges.lexical.judge import labelled_rows, load_lexical
from litepyramid.judges.lexical.model import RIDGE, PresenceModel, fit_weights
from litepyramid.judges.reading.compare import CONFLICTS
from litepyramid.judges.reading.judge import (
    FEATURES,
    reading_features,
    reading_model,
    save_reading,
    word_bounds,
)
from litepyramid.meta.core.levels import level_correlation
from litepyramid.training.folds import labelled_items, make_folds
from litepyramid.types import FloatArray
from litepyramid.units.parsers.embedded.backend import EmbeddedBackend

ROOT = Path(__file__).resolve().parents[1]
SHARE = 0.4
CONFLICT_RIDGE = 3e-4
"""Of conflicts not standardised: those that are rare must weigh as much as others."""


def fitted(
    rows: FloatArray, present: FloatArray, made: FloatArray, true: FloatArray, share: float
) -> tuple[float, FloatArray]:
    """Bias and weights from labelled rows and made ones."""
    flag = np.repeat([0.0, 1.0], [len(rows), len(made)])
    features = np.hstack([np.vstack([rows, made]), flag[:, None]])
    weights = np.where(flag > 0, share * len(rows) / len(made), 1.0)
    variance = np.cov(features.T, aweights=weights, bias=True).diagonal()
    ridge = np.full(features.shape[1], RIDGE)
    ridge[-1] = RIDGE / 10
    at = slice(-1 - len(CONFLICTS), -1)
    ridge[at] = CONFLICT_RIDGE / np.maximum(variance[at], 1e-12)
    bounds = [*word_bounds(), *[(-np.inf, 0.0)] * len(CONFLICTS), (-np.inf, np.inf)]
    bias, found = fit_weights(features, np.append(present, true), bounds, ridge, weights)
    return bias, found[:-1]


def made_pairs(seed: int) -> list[tuple[str, str, int, str]]:
    """The pairs made from models/highlights."""
    folder = ROOT / "models" / "highlights"
    read = read_references(folder / "references.jsonl")
    references = {entry.input: entry.references[0] for entry in read}
    units = read_units(folder / "scus.jsonl")
    texts = [references[entry.input] for entry in units]
    own = [[(unit.text, unit.sentence or 0) for unit in entry.units] for entry in units]
    rng = np.random.default_rng(seed)
    pairs = contrast_pairs(texts, own, EmbeddedBackend(), rng)
    return [(p.summary, p.unit, p.present, p.kind) for p in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("LITEPYRAMID_DATA", ROOT.parent / "shared" / "data")),
    )
    parser.add_argument("--share", type=float, default=SHARE)
    parser.add_argument("--seed", type=int, default=12345)
    parser.add_argument("--pairs", type=Path, help="Write the made pairs here as JSON Lines.")
    parser.add_argument(
        "-o", "--output", type=Path, default=ROOT / "litepyramid" / "embedded" / "reading.json"
    )
    options = parser.parse_args()

    frequencies = load_lexical().frequencies
    pairs = made_pairs(options.seed)
    print(len(pairs), "made pairs:", dict(sorted(Counter((p[3], p[2]) for p in pairs).items())))
    if options.pairs:
        options.pairs.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    read = reading_features([(p[0], [p[1]]) for p in pairs], frequencies)
    made, true = labelled_rows(read, [[p[2]] for p in pairs], len(FEATURES))

    dataset = load_dataset("realsumm", options.data / "realsumm")
    data = labelled_items(dataset)
    read = [np.nan_to_num(r) for r in reading_features(data.items, frequencies)]
    by_text = {(item[0], tuple(item[1])): r for item, r in zip(data.items, read, strict=True)}
    found = []
    for fold in make_folds(dataset, "examples"):
        known, held = (labelled_items(dataset, names) for names in (fold.train_inputs, fold.inputs))
        rows = np.concatenate([by_text[s, tuple(u)] for s, u in known.items])
        bias, weights = fitted(rows, np.concatenate(known.labels), made, true, options.share)
        model = reading_model(bias, weights, frequencies, {})
        presence = [model.presence(by_text[s, tuple(u)]) for s, u in held.items]
        flat, gold = np.concatenate(presence), np.concatenate(held.labels)
        shape = (len(fold.inputs), len(dataset.systems))
        scores, human = (
            np.array([np.mean(row) for row in values]).reshape(shape).T
            for values in (presence, held.labels)
        )
        levels = [
            level_correlation(scores, human, level, "pearson").value
            for level in ("summary", "system")
        ]
        found.append((roc_auc(flat, gold), brier_score(flat, gold), *levels))
    auc, brier, summary, system = np.mean(found, axis=0)
    print(f"REALSumm by the authors' folds: AUC {auc:.4f}, Brier {brier:.4f}, Lite2 Pearson")
    print(f"summary level {summary:.4f}, system level {system:.4f}")

    rows, present = np.concatenate(read), np.concatenate(data.labels)
    bias, weights = fitted(rows, present, made, true, options.share)
    about = {
        "labels": "REALSumm, 100 inputs x 25 systems (CC BY 4.0)",
        "made": f"{len(true)} pairs from models/highlights (MIT), seed {options.seed}",
        "share": options.share,
        "frequencies": "REALSumm, 100 documents (CC BY 4.0)",
        "pairs": len(present),
        "ridge": RIDGE,
    }
    model: PresenceModel = reading_model(bias, weights, frequencies, about)
    save_reading(model, options.output)
    print(f"{options.output}: revision {model.revision}")
    for name, weight in model.weights.items():
        print(f"  {name:16} {weight:+.2f}")


if __name__ == "__main__":
    main()
