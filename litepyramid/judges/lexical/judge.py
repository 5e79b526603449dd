"""The embedded lexical judge: features of overlap into a logistic model that ships as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from litepyramid.errors import InputError
from litepyramid.judges.base import Evidence, Items, JudgedBatch
from litepyramid.judges.lexical.evidence import word_evidence
from litepyramid.judges.lexical.features import FEATURES, StemTable, UnitSet, overlap
from litepyramid.judges.lexical.model import (
    RIDGE,
    Frequencies,
    PresenceModel,
    check_labels,
    fit_weights,
    load_model,
)
from litepyramid.judges.lexical.text import EncodedText, Vocabulary
from litepyramid.progress import track
from litepyramid.text import counted
from litepyramid.types import FloatArray

FEATURE_VERSION = 2
"""Goes up whenever a feature, the words or the stems change: old weights are then refused."""
LEAST_NEGATION = 1.0
_CHUNK = 20_000
_ROWS, _CELLS = 4000, 4_000_000
_UNIT_CELLS, _ITEM_CELLS = 20_000_000, 500_000_000


def lexical_features(items: Items, frequencies: Frequencies) -> list[FloatArray]:
    """The features of every unit of every item against the item's summary.

    Each distinct text is split and stemmed once; the units of an item are held against its
    summary together.
    """
    chunks = (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
    rows = (rows for chunk in chunks for rows in _features(chunk, frequencies))
    return list(track(rows, "comparing words", "summaries", len(items)))


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
            hint="If these texts are intended, use the judge recall or an NLI model.",
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

    model: PresenceModel
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
                "wordless": sum(int(np.isnan(part).any(axis=1).sum()) for part in rows),
            },
        )

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that holds most of a unit's words, and what is denied; see `Explainer`."""
        return word_evidence(items, self.judge(items).presence)


def fit_lexical(
    items: Items,
    labels: Sequence[Sequence[float]],
    *,
    frequencies: Frequencies | None = None,
    ridge: float = RIDGE,
    about: Mapping[str, Any] | None = None,
) -> PresenceModel:
    """Fits the weights to human presence labels; see `fit_weights`.

    Each weight is held to the sign its feature must have, the negation's to -1 or less: few
    labelled summaries negate, and one that does must not score as if it did not.
    """
    check_labels(items, labels, ridge)
    counts = load_lexical().frequencies if frequencies is None else frequencies
    features = lexical_features(items, counts)
    rows = np.concatenate([np.empty((0, len(FEATURES))), *features])
    present = np.array([label for row in labels for label in row], dtype=np.float64)
    with_words = ~np.isnan(rows).any(axis=1)
    rows, present = rows[with_words], present[with_words]
    if len(set(present.tolist())) < 2:
        raise InputError(
            "the labels are all the same", expected="pairs labelled 0 and pairs labelled 1"
        )
    bounds = [(0.0, np.inf) if sign > 0 else (-np.inf, 0.0) for sign, _ in FEATURES.values()]
    bounds[-1] = (-np.inf, -LEAST_NEGATION if rows[:, -1].any() else 0.0)
    bias, weights = fit_weights(rows, present, bounds, np.full(len(FEATURES), ridge))
    return PresenceModel(
        FEATURE_VERSION,
        bias,
        dict(zip(FEATURES, weights.tolist(), strict=True)),
        counts,
        {**(about or {}), "pairs": len(present), "ridge": ridge},
    )


def load_lexical(path: str | Path | None = None) -> PresenceModel:
    """Reads a model that `save_model` wrote; the embedded one by default. See `load_model`."""
    return load_model(FEATURE_VERSION, tuple(FEATURES), path)
