"""The embedded lexical judge: features of overlap into a logistic model that ships as JSON."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import check_shape, parse_json
from litepyramid.errors import InputError, ModelError, loading
from litepyramid.files import atomic_write, file_type, read_text
from litepyramid.judges.base import JudgedBatch
from litepyramid.judges.lexical.features import FEATURES, StemTable, UnitSet, overlap
from litepyramid.judges.lexical.text import EncodedText, Vocabulary
from litepyramid.progress import track
from litepyramid.text import counted
from litepyramid.types import FloatArray

Items = Sequence[tuple[str, Sequence[str]]]

FORMAT = "litepyramid-lexical"
FEATURE_VERSION = 1
"""Goes up whenever a feature, the words or the stems change: old weights are then refused."""
RIDGE = 0.03
LEAST_NEGATION = 1.0
_CHUNK = 20_000
_ROWS, _CELLS = 4000, 4_000_000
_UNIT_CELLS, _ITEM_CELLS = 20_000_000, 500_000_000


@dataclass(frozen=True)
class Frequencies:
    """In how many of `texts` texts each stem stands; what is not listed stands in one.

    idf(stem) = ln((texts + 1) / (df + 1)) / ln(texts + 1), at least .001.
    """

    texts: int
    counts: Mapping[str, int] = field(repr=False)

    @classmethod
    def count(cls, texts: Iterable[str], least: int = 2) -> Frequencies:
        """Counts the stems of `texts` and keeps those that stand in at least `least` of them."""
        words = Vocabulary()
        counts: Counter[int] = Counter()
        total = 0
        for text in texts:
            counts.update(set(words.encode(text).ids.tolist()))
            total += 1
        names = words.names
        return cls(total, {names[i]: n for i, n in sorted(counts.items()) if n >= least})

    def idf(self, stems: Sequence[str]) -> FloatArray:
        """The weights of `stems`, (stems,)."""
        df = np.array([self.counts.get(stem, 1) for stem in stems], dtype=np.float64)
        high = float(np.log(self.texts + 1.0))
        idf: FloatArray = 1.0 - np.log(np.minimum(df, self.texts) + 1.0) / high
        return np.maximum(idf, 1e-3)


@dataclass(frozen=True)
class LexicalModel:
    """A logistic model over the features of `lexical_features`.

    presence = 1 / (1 + exp(-(bias + sum_k weight_k feature_k))).

    Attributes:
        bias: The constant.
        weights: One per feature, in the order of `FEATURES`; its sign is the feature's.
        frequencies: The document frequencies that the features weigh words with.
        about: What it was trained on: free text by key, kept in the file.
    """

    bias: float
    weights: tuple[float, ...]
    frequencies: Frequencies
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def revision(self) -> str:
        """Eight hexadecimal digits that name these weights and frequencies."""
        text = json.dumps(
            [
                FEATURE_VERSION,
                self.bias,
                self.weights,
                self.frequencies.texts,
                sorted(self.frequencies.counts.items()),
            ]
        )
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def presence(self, features: FloatArray) -> FloatArray:
        """The presence of each row of `features`, (pairs,)."""
        logits = self.bias + features @ np.array(self.weights)
        return np.asarray(1.0 / (1.0 + np.exp(-logits)))


def lexical_features(items: Items, frequencies: Frequencies) -> list[FloatArray]:
    """The features of every unit of every item against the item's summary.

    Each distinct text is split and stemmed once; the units of an item are held against its
    summary together.

    Returns:
        Per item (units, features), columns as in `FEATURES`. A row is NaN where there is nothing
        to compare: the summary or the unit has no word.

    Raises:
        InputError: The units and the summary of an item are so long, or hold so many words spelt
            alike, that comparing them would take more than 5·10⁸ steps (2·10⁷ for one unit).
    """
    rows = (rows for chunk in _chunks(items) for rows in _features(chunk, frequencies))
    return list(track(rows, "comparing words", "summaries", len(items)))


def _chunks(items: Items) -> Iterator[Items]:
    for start in range(0, len(items), _CHUNK):
        yield items[start : start + _CHUNK]


def _features(items: Items, frequencies: Frequencies) -> Iterator[FloatArray]:
    words = Vocabulary()
    summaries = [words.encode(summary) for summary, _ in items]
    encoded: dict[tuple[str, ...], list[EncodedText]] = {}
    for _, units in items:
        key = tuple(units)
        if key not in encoded:
            encoded[key] = [words.encode(unit) for unit in key]
    stems = words.names
    try:
        table = StemTable.of(stems, frequencies.idf(stems))
    except InputError:
        if len(items) == 1:
            raise
        for half in (items[: len(items) // 2], items[len(items) // 2 :]):
            yield from _features(half, frequencies)
        return
    longest: dict[tuple[str, ...], int] = {}
    for summary, (_, units) in zip(summaries, items, strict=True):
        longest[tuple(units)] = max(longest.get(tuple(units), 1), len(summary.ids))
    ready = {
        key: [UnitSet.of(block, table) for block in _blocks(units, table, longest[key])]
        for key, units in encoded.items()
    }
    for summary, (_, units) in zip(summaries, items, strict=True):
        key = tuple(units)
        if not key or not len(summary.ids):
            yield np.full((len(key), len(FEATURES)), np.nan)
            continue
        rows = np.concatenate([overlap(block, summary, table) for block in ready[key]])
        rows[[not len(unit.ids) for unit in encoded[key]]] = np.nan
        yield rows


def _blocks(
    units: Sequence[EncodedText], table: StemTable, longest: int
) -> Iterator[Sequence[EncodedText]]:
    """Units in blocks of at most `_ROWS` words, alike ones counted, and `_CELLS` comparisons."""
    rows = [sum(len(table.alike[stem]) for stem in unit.ids.tolist()) for unit in units]
    if max(rows, default=0) * longest > _UNIT_CELLS or sum(rows) * longest > _ITEM_CELLS:
        words = sum(len(unit.ids) for unit in units)
        raise InputError(
            f"{counted(len(units), 'unit')} of {words} words in all, and a summary of {longest}, "
            "are too long for the lexical judge",
            expected="short sentences as units",
            hint="If the texts are meant, take the judge recall, or an NLI model.",
        )
    first = size = 0
    most = min(_ROWS, _CELLS // longest)
    for number, own in enumerate(rows):
        if size and size + own > most:
            yield units[first:number]
            first, size = number, 0
        size += own
    if units:
        yield units[first:]


@dataclass(frozen=True)
class LexicalJudge:
    """Judges presence by the words that unit and summary share; no model, no download.

    It measures overlap, not entailment: a summary that turns a fact round with the same words is
    not caught unless it does so with a negation or another number. An empty summary carries no
    unit (0). A unit of function words alone is judged by these; one with no word at all is 0.

    Example:
        >>> judge = LexicalJudge(load_lexical())
        >>> units = ["Two people died in Oslo.", "A storm hit Oslo.", "A ferry sank."]
        >>> presence = judge.judge([("A storm that hit Oslo killed many.", units)]).presence[0]
        >>> presence.argsort().tolist()
        [2, 0, 1]
    """

    model: LexicalModel

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`.

        Counts ``pairs``, and ``wordless``: those whose unit or summary has no word (presence 0).
        """
        presence: list[FloatArray] = []
        wordless = 0
        for rows in lexical_features(items, self.model.frequencies):
            scored = ~np.isnan(rows).any(axis=1)
            values = np.zeros(len(rows))
            values[scored] = self.model.presence(rows[scored])
            presence.append(values)
            wordless += int((~scored).sum())
        return JudgedBatch(
            presence=tuple(presence),
            signature={"judge": "lexical", "revision": self.model.revision},
            counts={"pairs": sum(map(len, presence)), "wordless": wordless},
        )


def fit_lexical(
    items: Items,
    labels: Sequence[Sequence[int]],
    *,
    frequencies: Frequencies | None = None,
    ridge: float = RIDGE,
    about: Mapping[str, Any] | None = None,
) -> LexicalModel:
    """Fits the weights to human presence labels. The same input gives the same model.

    Minimises mean log loss + ridge / 2 * sum of squared weights of the standardised features,
    each weight held to the sign its feature must have (L-BFGS-B), the negation's to -1 or less:
    few labelled summaries negate, and one that does must not score as if it did not.

    Args:
        items: (summary, units), as the judge takes them.
        labels: Per item one 0 or 1 per unit.
        frequencies: Document frequencies; those of the embedded model by default.
        ridge: Strength of the penalty.
        about: Kept in the model; the number of pairs and the ridge are added.

    Raises:
        InputError: Labels do not match units, are not 0 or 1, or are all the same.
    """
    from scipy.optimize import minimize

    if len(items) != len(labels):
        raise InputError(
            f"{counted(len(labels), 'list')} of labels", expected=f"{len(items)}, one an item"
        )
    for index, ((_, units), given) in enumerate(zip(items, labels, strict=True)):
        if len(units) != len(given):
            raise InputError(
                f"item {index} has {counted(len(given), 'label')}",
                expected=f"{len(units)}, one a unit",
            )
        if set(given) - {0, 1}:
            raise InputError(f"item {index} has a label that is not 0 or 1")
    if not ridge > 0:
        raise InputError(f"ridge is {ridge}", expected="a number above 0")
    known = load_lexical().frequencies if frequencies is None else frequencies
    rows = np.concatenate([np.empty((0, len(FEATURES))), *lexical_features(items, known)])
    present = np.array([label for given in labels for label in given], dtype=np.float64)
    kept = ~np.isnan(rows).any(axis=1)
    rows, present = rows[kept], present[kept]
    if len(set(present.tolist())) < 2:
        raise InputError(
            "the labels are all the same", expected="pairs labelled 0 and pairs labelled 1"
        )
    mean = rows.mean(axis=0)
    spread = np.where(rows.std(axis=0) > 1e-9, rows.std(axis=0), np.inf)
    features = (rows - mean) / spread

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        bias, weights = parameters[0], parameters[1:]
        logits = bias + features @ weights
        value = np.mean(np.logaddexp(0.0, logits) - present * logits)
        error = (1.0 / (1.0 + np.exp(-logits)) - present) / len(present)
        slope = np.concatenate([[error.sum()], features.T @ error + ridge * weights])
        return float(value + ridge / 2 * weights @ weights), slope

    bounds: list[tuple[float | None, float | None]] = [(None, None)]
    for (name, (sign, _)), unit in zip(FEATURES.items(), spread, strict=True):
        least = LEAST_NEGATION * unit if name == "negation_mismatch" else 0.0
        least = least if math.isfinite(least) else 0.0
        bounds.append((least, None) if sign > 0 else (None, -least))
    found = minimize(
        loss,
        np.zeros(len(FEATURES) + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 2000, "ftol": 1e-12, "gtol": 1e-8},
    )
    weights = found.x[1:] / spread
    return LexicalModel(
        bias=float(found.x[0] - weights @ mean),
        weights=tuple(weights.tolist()),
        frequencies=known,
        about={**(about or {}), "pairs": int(kept.sum()), "ridge": ridge},
    )


def save_lexical(model: LexicalModel, path: str | Path) -> None:
    """Writes `model` as JSON, all or nothing; `load_lexical` reads it."""
    by_count: dict[int, list[str]] = {}
    for stem, count in model.frequencies.counts.items():
        by_count.setdefault(count, []).append(stem)
    document = {
        "format": FORMAT,
        "feature_version": FEATURE_VERSION,
        "about": dict(model.about),
        "bias": model.bias,
        "weights": dict(zip(FEATURES, model.weights, strict=True)),
        "texts": model.frequencies.texts,
        "frequencies": {str(n): " ".join(sorted(by_count[n])) for n in sorted(by_count)},
    }
    with atomic_write(path) as file:
        json.dump(document, file, ensure_ascii=False, indent=1)
        file.write("\n")


_MODEL = {
    "format": {FORMAT},
    "feature_version": object,
    "about": {},
    "bias": float,
    "weights": dict.fromkeys(FEATURES, float),
    "texts": int,
    "frequencies": {str: str},
}


def load_lexical(path: str | Path | None = None) -> LexicalModel:
    """Reads a model that `save_lexical` wrote; the embedded one by default.

    Args:
        path: The file, or a folder that holds it as ``lexical.json``.

    Raises:
        InputError: There is no such file.
        ModelError: It is not a lexical model, or one of other features.
    """
    if path is None:
        from importlib.resources import files

        text = files("litepyramid.embedded").joinpath("lexical.json").read_text(encoding="utf-8")
    else:
        path = Path(path) / "lexical.json" if file_type(path) == "folder" else Path(path)
        text = read_text(path)
    document = parse_json(text, path=path, expected="a lexical model", error=ModelError)
    check_shape(document, _MODEL, what="not a lexical model", path=path, error=ModelError)
    with loading("not a lexical model", path=path, expected="a file that save_lexical wrote"):
        if document["feature_version"] != FEATURE_VERSION:
            raise ModelError(
                f"a lexical model of feature version {document['feature_version']!r:.80}",
                path=path,
                expected=f"version {FEATURE_VERSION}",
                hint="Fit it again with this version of litepyramid.",
            )
        counts = {
            stem: int(count)
            for count, stems in document["frequencies"].items()
            for stem in stems.split()
        }
        model = LexicalModel(
            bias=float(document["bias"]),
            weights=tuple(float(document["weights"][name]) for name in FEATURES),
            frequencies=Frequencies(document["texts"], counts),
            about=document["about"],
        )
        if min(model.frequencies.texts, *counts.values(), 1) < 1:
            raise ModelError("a lexical model that counts no texts", path=path)
    return model


def is_lexical_file(name: str | Path) -> bool:
    """Whether `name` is a JSON file, or a folder with a ``lexical.json``."""
    path = Path(name)
    return "file" in (path.suffix == ".json" and file_type(path), file_type(path / "lexical.json"))
