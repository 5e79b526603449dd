"""A logistic model over named features: fitted with signs, kept as JSON."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError, ModelError, loading
from litepyramid.files import file_type, read_text, write_json
from litepyramid.judges.base import Items
from litepyramid.judges.lexical.text import Vocabulary
from litepyramid.text import counted
from litepyramid.types import FloatArray

RIDGE = 0.03
_FORMAT = "litepyramid-lexical"


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
class PresenceModel:
    """presence = 1 / (1 + exp(-(bias + sum_k weight_k feature_k))).

    Attributes:
        version: Feature version; weights of another version are refused.
        bias: The constant.
        weights: One per feature, by its name.
        frequencies: The document frequencies that the features weigh words with.
        about: What it was trained on: free text by key, kept in the file.
    """

    version: int
    bias: float
    weights: Mapping[str, float]
    frequencies: Frequencies
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def revision(self) -> str:
        """Eight hexadecimal digits that name these weights and frequencies."""
        counts = sorted(self.frequencies.counts.items())
        parts = [self.version, self.bias, self.weights, self.frequencies.texts, counts]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]

    def presence(self, features: FloatArray) -> FloatArray:
        """The presence of each row of `features`, (pairs,); 0 where it is NaN."""
        with np.errstate(over="ignore"):
            logits = self.bias + features @ np.array([*self.weights.values()])
            return np.asarray(np.nan_to_num(1.0 / (1.0 + np.exp(-logits))))


def fit_weights(
    features: FloatArray,
    present: FloatArray,
    bounds: Sequence[tuple[float, float]],
    ridge: FloatArray,
    weights: FloatArray | None = None,
) -> tuple[float, FloatArray]:
    """Fits a logistic model by projected Newton steps; the same input gives the same weights.

    Minimises the mean log loss + sum_k ridge_k / 2 (sd_k w_k)², each weight within its bounds.
    """
    share = np.ones(len(present)) if weights is None else weights
    share = share / share.sum()
    mean = share @ features
    spread = np.sqrt(np.maximum(share @ features**2 - mean**2, 0.0))
    dead = spread < 1e-9
    spread = np.where(dead, 1.0, spread)
    rows = np.hstack([np.ones((len(features), 1)), np.where(dead, 0.0, (features - mean) / spread)])
    least = np.array([-np.inf, *(low for low, _ in bounds)])
    most = np.array([np.inf, *(high for _, high in bounds)])
    least[1:], most[1:] = least[1:] * spread, most[1:] * spread
    penalty = np.append(0.0, ridge)
    found = np.clip(np.zeros(rows.shape[1]), least, most)

    def loss(parameters: FloatArray) -> float:
        logits = rows @ parameters
        value = share @ (np.logaddexp(0.0, logits) - present * logits)
        return float(value + penalty @ parameters**2 / 2)

    value = loss(found)
    for _ in range(100):
        chance = 1.0 / (1.0 + np.exp(-(rows @ found)))
        slope = rows.T @ (share * (chance - present)) + penalty * found
        free = ~(((found <= least) & (slope > 0)) | ((found >= most) & (slope < 0)))
        bend = (rows[:, free] * (share * chance * (1 - chance))[:, None]).T @ rows[:, free]
        bend[np.diag_indices_from(bend)] += penalty[free] + 1e-10
        step = np.zeros_like(found)
        step[free] = -np.linalg.solve(bend, slope[free])
        size, better = 1.0, value
        while size > 1e-6:
            tried = np.clip(found + size * step, least, most)
            better = loss(tried)
            if better <= value:
                break
            size /= 2
        if value - better < 1e-11:
            break
        found, value = tried, better
    slopes = found[1:] / spread
    return float(found[0] - slopes @ mean), slopes


def check_labels(items: Items, labels: Sequence[Sequence[float]], ridge: float) -> None:
    """Checks that labels fit their items."""
    if len(items) != len(labels):
        raise InputError(
            f"{counted(len(labels), 'list')} of labels", expected=f"{len(items)}, one per item"
        )
    for index, ((_, units), given) in enumerate(zip(items, labels, strict=True)):
        if len(units) != len(given):
            raise InputError(
                f"item {index} has {counted(len(given), 'label')}",
                expected=f"{len(units)}, one per unit",
            )
        if set(given) - {0, 0.5, 1}:
            raise InputError(f"item {index} has a label that is not 0, 0.5 or 1")
    if not ridge > 0:
        raise InputError(f"ridge is {ridge}", expected="a number above 0")


def save_model(model: PresenceModel, path: str | Path) -> None:
    """Writes `model` as JSON, all or nothing; `load_model` reads it."""
    by_count: dict[int, list[str]] = {}
    for stem, count in model.frequencies.counts.items():
        by_count.setdefault(count, []).append(stem)
    document = {
        "format": _FORMAT,
        "feature_version": model.version,
        "about": dict(model.about),
        "bias": model.bias,
        "weights": dict(model.weights),
        "texts": model.frequencies.texts,
        "frequencies": {str(n): " ".join(sorted(by_count[n])) for n in sorted(by_count)},
    }
    write_json(path, document)


@dataclass(frozen=True)
class _Document:
    """A model's file."""

    format: str
    feature_version: int
    about: dict[str, Any]
    bias: float
    weights: dict[str, float]
    texts: int
    frequencies: dict[str, str]


def load_model(
    version: int, features: Sequence[str], path: str | Path | None = None
) -> PresenceModel:
    """Reads a model that `save_model` wrote; the embedded one by default."""
    if path is None:
        text = files("litepyramid.embedded").joinpath("lexical.json").read_text(encoding="utf-8")
    else:
        path = Path(path) / "lexical.json" if file_type(path) == "folder" else Path(path)
        text = read_text(path)
    what = "a lexical model"
    value = parse_json(text, path=path, expected=what, error=ModelError)
    file = as_type(_Document, value, what=f"not {what}", path=path, error=ModelError)
    with loading(f"not {what}", path=path, expected="a file that finetune wrote"):
        if file.format != _FORMAT:
            raise ModelError(f"not {what}", path=path, expected=f'"format": "{_FORMAT}"')
        if file.feature_version != version:
            raise ModelError(
                f"{what} of feature version {file.feature_version}",
                path=path,
                expected=f"version {version}",
                hint="Fit it again with this version of litepyramid.",
            )
        counts = {
            stem: int(count) for count, stems in file.frequencies.items() for stem in stems.split()
        }
        if min(file.texts, *counts.values(), 1) < 1:
            raise ModelError(f"{what} that counts no texts", path=path)
        weights = {name: float(file.weights[name]) for name in features}
    frequencies = Frequencies(file.texts, counts)
    return PresenceModel(version, float(file.bias), weights, frequencies, file.about)


def is_lexical(name: str | Path) -> bool:
    """Whether a name leads to a saved lexical model: a JSON file, or a folder with one."""
    path = Path(name)
    if path.suffix == ".json":
        return file_type(path) == "file"
    return file_type(path / "lexical.json") == "file"
