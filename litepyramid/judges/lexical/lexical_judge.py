"""The embedded lexical judge: features of overlap into a logistic model that ships as JSON."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError, ModelError
from litepyramid.files import file_type, read_text, write_json
from litepyramid.judges.base import Evidence, Items, JudgedBatch
from litepyramid.judges.lexical.features import FEATURES, UnitSet, overlap
from litepyramid.judges.lexical.recall import word_evidence
from litepyramid.judges.lexical.vocabulary import Vocabulary, alike_stems
from litepyramid.progress import track
from litepyramid.types import FloatArray

FEATURE_VERSION = 3
"""Goes up whenever a feature, the words or the stems change: old weights are then refused."""
RIDGE, LEAST_NEGATION = 0.03, 1.0
_FORMAT = "litepyramid-lexical"
_CHUNK = 2_000
"""Items whose words share a vocabulary."""
_MOST_CELLS = 50_000_000
"""The most comparisons of words of one summary with its units, a byte each."""


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
        stems = [set(words.encode(text).ids.tolist()) for text in texts]
        counts = sorted(Counter(chain.from_iterable(stems)).items())
        return cls(len(stems), {words.stems[i]: n for i, n in counts if n >= least})

    def idf(self, stems: Sequence[str]) -> FloatArray:
        """The weights of `stems`, (stems,)."""
        df = np.array([self.counts.get(stem, 1) for stem in stems], dtype=np.float64)
        high = float(np.log(self.texts + 1.0))
        idf: FloatArray = 1.0 - np.log(np.minimum(df, self.texts) + 1.0) / high
        return np.maximum(idf, 1e-3)


@dataclass(frozen=True)
class PresenceModel:
    """presence = 1 / (1 + exp(-(bias + sum_k weight_k feature_k))).

    `weights` are those of the features by name, `frequencies` what the features weigh words with,
    `about` what it was trained on: free text by key, kept in the file.
    """

    bias: float
    weights: Mapping[str, float]
    frequencies: Frequencies
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def revision(self) -> str:
        """Eight hexadecimal digits that name these weights and frequencies."""
        counts = sorted(self.frequencies.counts.items())
        fields = [FEATURE_VERSION, self.bias, self.weights, self.frequencies.texts, counts]
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:8]

    def presence(self, features: FloatArray) -> FloatArray:
        """The presence of each row of `features`, (pairs,); 0 where it is NaN."""
        with np.errstate(over="ignore"):
            # A sum for each row: a matrix product rounds by how many rows there are.
            logits = self.bias + (features * np.array([*self.weights.values()])).sum(axis=1)
            return np.asarray(np.nan_to_num(1.0 / (1.0 + np.exp(-logits))))


@dataclass(frozen=True)
class LexicalJudge:
    """Judges presence by the words that unit and summary share; no model, no download.

    It measures overlap, not entailment: a summary that turns a fact round with the same words is
    not caught unless it does so with a negation or another number. An empty summary carries no
    unit (0). A unit of function words alone is judged by these; one with no word at all is 0.
    """

    model: PresenceModel
    languages: ClassVar[tuple[str, ...]] = ("en",)
    start_cost: ClassVar[int] = 80_000
    """Pairs that take about as long as one more process takes to start."""

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`.

        Counts ``pairs``, and ``wordless``: those whose unit or summary has no word (presence 0).
        """
        rows = lexical_features(items, self.model.frequencies)
        return JudgedBatch(
            presence=tuple(self.model.presence(features) for features in rows),
            signature={"judge": "lexical", "revision": self.model.revision},
            counts={
                "pairs": sum(map(len, rows)),
                "wordless": sum(int(np.isnan(features).any(axis=1).sum()) for features in rows),
            },
        )

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that holds most of a unit's words, and what is denied; see `Explainer`."""
        return word_evidence(items, self.judge(items).presence)


def lexical_features(items: Items, frequencies: Frequencies) -> list[FloatArray]:
    """The features of every unit of every item against the item's summary."""
    chunks = (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
    rows = chain.from_iterable(_features(chunk, frequencies) for chunk in chunks)
    return list(track(rows, "comparing words", "summaries", len(items)))


def _features(items: Items, frequencies: Frequencies) -> Iterator[FloatArray]:
    """Each distinct text is stemmed once; an item's units are compared together."""
    words = Vocabulary()
    encoded = [
        (words.encode(text), tuple(units), [words.encode(unit) for unit in units])
        for text, units in items
    ]
    idf = np.append(frequencies.idf(words.stems), 1.0)
    alike = [*alike_stems(words.stems), (-1,)]
    ready: dict[tuple[str, ...], UnitSet] = {}
    for summary, units, texts in encoded:
        if not units or not len(summary.ids):
            yield np.full((len(units), len(FEATURES)), np.nan)
            continue
        size = sum(len(alike[stem]) for unit in texts for stem in unit.ids.tolist())
        if size * len(summary.ids) > _MOST_CELLS:
            sizes = f"{len(summary.ids)} words and units of {sum(len(u.ids) for u in texts)}"
            problem = f"a summary of {sizes} are too long for the lexical judge"
            raise InputError(problem, hint="If these texts are intended, use the judge recall.")
        if units not in ready:
            ready[units] = UnitSet.of(texts, idf, alike)
        rows = overlap(ready[units], summary)
        rows[[not len(unit.ids) for unit in texts]] = np.nan
        yield rows


def fit_lexical(
    items: Items,
    labels: Sequence[Sequence[float]],
    *,
    frequencies: Frequencies | None = None,
    ridge: float = RIDGE,
    about: Mapping[str, Any] | None = None,
) -> PresenceModel:
    """Fits the weights to human presence labels of 0, .5 and 1; see `fit_weights`.

    Each weight is held to the sign its feature must have, the negation's to -1 or less: few
    labelled summaries negate, and one that does must not score as if it did not. Document
    frequencies are the embedded model's by default.
    """
    present = np.array([label for row in labels for label in row], dtype=np.float64)
    if [len(units) for _, units in items] != [len(row) for row in labels]:
        raise InputError("labels do not fit the items", expected="one label for each unit")
    counts = load_lexical().frequencies if frequencies is None else frequencies
    rows = np.concatenate([np.empty((0, len(FEATURES))), *lexical_features(items, counts)])
    with_words = ~np.isnan(rows).any(axis=1)
    rows, present = rows[with_words], present[with_words]
    if len(set(present.tolist())) < 2 or not np.isin(present, (0.0, 0.5, 1.0)).all():
        problem = "the labels are all the same, or not 0, .5 and 1"
        raise InputError(problem, expected="pairs labelled 0 and pairs labelled 1")
    bounds = [(0.0, np.inf) if sign > 0 else (-np.inf, 0.0) for sign, _ in FEATURES.values()]
    bounds[-1] = (-np.inf, -LEAST_NEGATION if rows[:, -1].any() else 0.0)
    bias, weights = fit_weights(rows, present, bounds, ridge)
    about = {**(about or {}), "pairs": len(present), "ridge": ridge}
    return PresenceModel(bias, dict(zip(FEATURES, weights.tolist(), strict=True)), counts, about)


def fit_weights(
    features: FloatArray, present: FloatArray, bounds: Sequence[tuple[float, float]], ridge: float
) -> tuple[float, FloatArray]:
    """Bias and weights of a logistic model, each weight within its bounds.

    Minimises the mean log loss + ridge / 2 sum_k (sd_k weight_k)²; the same input gives the same
    weights.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread < 1e-9, 1.0, spread)
    rows = np.hstack([np.ones((len(features), 1)), (features - mean) / spread])
    penalty = np.array([0.0, *[ridge] * len(spread)])

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        logits = rows @ parameters
        value = np.mean(np.logaddexp(0.0, logits) - present * logits)
        slope = rows.T @ (expit(logits) - present) / len(rows) + penalty * parameters
        return float(value + penalty @ parameters**2 / 2), slope

    limits = [(low * sd, high * sd) for (low, high), sd in zip(bounds, spread, strict=True)]
    start = np.array([0.0, *(min(max(0.0, low), high) for low, high in limits)])
    fitted = minimize(
        loss,
        start,
        jac=True,
        bounds=[(None, None), *limits],
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": 1000},
    )
    parameters = np.asarray(fitted.x)
    weights = parameters[1:] / spread
    return float(parameters[0] - weights @ mean), weights


@dataclass(frozen=True)
class _Document:
    """A model's file; `frequencies` are the stems that stand in so many texts."""

    feature_version: int
    about: dict[str, Any]
    bias: float
    weights: dict[str, float]
    texts: int
    frequencies: dict[str, str]
    format: str = _FORMAT


def save_lexical(model: PresenceModel, path: str | Path) -> None:
    """Writes `model` as JSON, all or nothing; `load_lexical` reads it."""
    by_count: dict[int, list[str]] = {}
    for stem, count in sorted(model.frequencies.counts.items()):
        by_count.setdefault(count, []).append(stem)
    document = {
        "format": _FORMAT,
        "feature_version": FEATURE_VERSION,
        "about": dict(model.about),
        "bias": model.bias,
        "weights": dict(model.weights),
        "texts": model.frequencies.texts,
        "frequencies": {str(n): " ".join(by_count[n]) for n in sorted(by_count)},
    }
    write_json(path, document)


def load_lexical(path: str | Path | None = None) -> PresenceModel:
    """Reads a model that `save_lexical` wrote, from a file or its folder; the embedded if None."""
    if path is None:
        text = files("litepyramid.embedded").joinpath("lexical.json").read_text(encoding="utf-8")
    else:
        path = Path(path) / "lexical.json" if file_type(path) == "folder" else Path(path)
        text = read_text(path)
    what = "a lexical model"
    value = parse_json(text, path=path, expected=what, error=ModelError)
    file = as_type(_Document, value, what=f"not {what}", path=path, error=ModelError)
    if file.format != _FORMAT or not file.weights.keys() >= FEATURES.keys():
        raise ModelError(f"not {what}", path=path, expected="a file that finetune wrote")
    if file.feature_version != FEATURE_VERSION:
        problem = f"{what} of feature version {file.feature_version}, not {FEATURE_VERSION}"
        raise ModelError(problem, path=path, hint="Fit it again with this version.")
    if file.texts < 1 or not all(re.fullmatch("[1-9][0-9]{0,8}", n) for n in file.frequencies):
        raise ModelError(f"{what} that counts no texts", path=path)
    counts = {stem: int(n) for n, stems in file.frequencies.items() for stem in stems.split()}
    weights = {name: file.weights[name] for name in FEATURES}
    return PresenceModel(file.bias, weights, Frequencies(file.texts, counts), file.about)


def is_lexical(name: str | Path) -> bool:
    """Whether a name leads to a saved lexical model: a JSON file, or a folder with one."""
    path = Path(name)
    return file_type(path if path.suffix == ".json" else path / "lexical.json") == "file"
