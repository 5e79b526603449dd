"""The embedded lexical judge: features of overlap into a logistic model that ships as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.judges.base import Evidence, Items, JudgedBatch
from litepyramid.judges.lexical.evidence import word_evidence
from litepyramid.judges.lexical.features import FEATURES, Alike, StemTable, UnitSet, overlap
from litepyramid.judges.lexical.model import (
    RIDGE,
    Frequencies,
    PresenceModel,
    check_labels,
    fit_weights,
    load_model,
    save_model,
)
from litepyramid.judges.lexical.text import EncodedText, Vocabulary, alike_stems
from litepyramid.progress import track
from litepyramid.text import counted
from litepyramid.types import FloatArray

FEATURE_VERSION = 2
"""Goes up whenever a feature, the words or the stems change: old weights are then refused."""
LEAST_NEGATION = 1.0
_CHUNK = 20_000
_ROWS, _CELLS = 4000, 4_000_000
_UNIT_CELLS, _ITEM_CELLS = 20_000_000, 500_000_000


def lexical_features(
    items: Items, frequencies: Frequencies, alike: Alike = alike_stems
) -> list[FloatArray]:
    """The features of every unit of every item against the item's summary.

    Each distinct text is split and stemmed once; the units of an item are held against its
    summary together.

    Args:
        items: (summary, units).
        frequencies: What words are weighted by.
        alike: Says which stems answer each other.

    Returns:
        Per item (units, features), columns as in `FEATURES`. A row is NaN where there is nothing
        to compare: the summary or the unit has no word.

    Raises:
        InputError: The units and the summary of an item are so long, or hold so many words spelt
            alike, that comparing them would take more than 5·10⁸ steps (2·10⁷ for one unit).
    """
    chunks = (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
    rows = (rows for chunk in chunks for rows in _features(chunk, frequencies, alike))
    return list(track(rows, "comparing words", "summaries", len(items)))


def _features(items: Items, frequencies: Frequencies, alike: Alike) -> Iterator[FloatArray]:
    words = Vocabulary()
    summaries = [words.encode(summary) for summary, _ in items]
    encoded: dict[tuple[str, ...], list[EncodedText]] = {}
    for _, units in items:
        key = tuple(units)
        if key not in encoded:
            encoded[key] = [words.encode(unit) for unit in key]
    stems = words.names
    try:
        table = StemTable.of(stems, frequencies.idf(stems), alike)
    except InputError:
        if len(items) == 1:
            raise
        for half in (items[: len(items) // 2], items[len(items) // 2 :]):
            yield from _features(half, frequencies, alike)
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

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`.

        Counts ``pairs``, and ``wordless``: those whose unit or summary has no word (presence 0).
        """
        rows = lexical_features(items, self.model.frequencies)
        return as_batch(self.model, rows)

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that holds most of a unit's words, and what is denied; see `Explainer`."""
        return word_evidence(items, self.judge(items).presence)


def as_batch(model: PresenceModel, rows: Sequence[FloatArray]) -> JudgedBatch:
    """What a model makes of each item's features; a row of NaN is 0, and counted."""
    return JudgedBatch(
        presence=tuple(model.presence(found) for found in rows),
        signature={"judge": model.kind, "revision": model.revision},
        counts={
            "pairs": sum(map(len, rows)),
            "wordless": sum(int(np.isnan(found).any(axis=1).sum()) for found in rows),
        },
    )


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

    Args:
        items: (summary, units), as the judge takes them.
        labels: Per item one 0, .5 or 1 per unit.
        frequencies: Document frequencies; those of the embedded model by default.
        ridge: Strength of the penalty.
        about: Kept in the model; the number of pairs and the ridge are added.

    Raises:
        InputError: Labels do not match units, are not 0, .5 or 1, or are all the same.
    """
    check_labels(items, labels, ridge)
    known = load_lexical().frequencies if frequencies is None else frequencies
    rows, present = labelled_rows(lexical_features(items, known), labels, len(FEATURES))
    bounds = [(0.0, np.inf) if sign > 0 else (-np.inf, 0.0) for sign, _ in FEATURES.values()]
    bounds[-1] = (-np.inf, -LEAST_NEGATION if rows[:, -1].any() else 0.0)
    bias, weights = fit_weights(rows, present, bounds, np.full(len(FEATURES), ridge))
    return PresenceModel(
        "lexical",
        FEATURE_VERSION,
        bias,
        dict(zip(FEATURES, weights.tolist(), strict=True)),
        known,
        {**(about or {}), "pairs": len(present), "ridge": ridge},
    )


def labelled_rows(
    rows: Sequence[FloatArray], labels: Sequence[Sequence[float]], features: int
) -> tuple[FloatArray, FloatArray]:
    """The rows that are not NaN, and their labels.

    Raises:
        InputError: These labels are all the same.
    """
    flat = np.concatenate([np.empty((0, features)), *rows])
    present = np.array([label for given in labels for label in given], dtype=np.float64)
    kept = ~np.isnan(flat).any(axis=1)
    if len(set(present[kept].tolist())) < 2:
        raise InputError(
            "the labels are all the same", expected="pairs labelled 0 and pairs labelled 1"
        )
    return flat[kept], present[kept]


def save_lexical(model: PresenceModel, path: str | Path) -> None:
    """Writes `model` as JSON, all or nothing; `load_lexical` reads it."""
    save_model(model, path)


def load_lexical(path: str | Path | None = None) -> PresenceModel:
    """Reads a model that `save_lexical` wrote; the embedded one by default. See `load_model`."""
    return load_model("lexical", FEATURE_VERSION, tuple(FEATURES), path)
