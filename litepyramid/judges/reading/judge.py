"""The embedded judge that reads: the words of a unit that are there, and what contradicts it."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from multiprocessing import current_process, get_context
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.io.documents import cut_sentences
from litepyramid.judges.base import Evidence, Items, JudgedBatch
from litepyramid.judges.lexical.features import FEATURES as LEXICAL
from litepyramid.judges.lexical.judge import as_batch, labelled_rows, lexical_features
from litepyramid.judges.lexical.model import (
    RIDGE,
    Frequencies,
    PresenceModel,
    check_labels,
    fit_weights,
    load_model,
    save_model,
)
from litepyramid.judges.lexical.text import Vocabulary
from litepyramid.judges.lexical.words import FUNCTION_WORDS
from litepyramid.judges.reading.compare import CONFLICTS, NUMBER, PRONOUN, Keys, Pairs
from litepyramid.judges.reading.explain import Part, explained
from litepyramid.judges.reading.lexicon import Relations, load_lexicon
from litepyramid.judges.reading.trees import Tokens, name_groups, read_trees
from litepyramid.progress import track
from litepyramid.types import FloatArray
from litepyramid.units.parsers.embedded.backend import EmbeddedBackend
from litepyramid.units.sentences import tokenizer

WORDS = tuple(LEXICAL)[:-1]
"""The features of the lexical judge that are read here too: all but its negation mismatch."""
FEATURE_VERSION = 2
"""Goes up whenever a feature, a list or a rule changes: old weights are then refused."""
FEATURES = (*WORDS, *CONFLICTS)
"""All features, in the order of their columns."""
_LEAST = 0.25  # of a unit's weight must stand in a sentence that is parsed for it
_SECOND = 0.6  # of the best sentence's must stand in a second one
_DOUBT = 0.1  # share of a unit that a conflict outweighs when a sentence is chosen
_CELLS = 500_000
_PART = 4_000  # pairs


@dataclass(frozen=True)
class ReadingJudge:
    """Judges presence by words, synonyms and parses; no model to download.

    It finds most denials, exchanged roles, hedges, other numbers, dates and opposites, and says
    which it found. It knows no paraphrase beyond synonyms. An empty summary carries no unit (0).

    Example:
        >>> judge = ReadingJudge(load_reading())
        >>> units = ["Leeds beat Hull.", "Hull beat Leeds.", "Leeds did not beat Hull."]
        >>> presence = judge.judge([("Leeds beat Hull in the rain on Sunday.", units)]).presence[0]
        >>> (presence > 0.5).tolist()
        [True, False, False]
    """

    model: PresenceModel

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`.

        Counts ``pairs``, and ``wordless``: those whose unit or summary has no word (presence 0).
        """
        return as_batch(self.model, reading_features(items, self.model.frequencies))

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """What speaks for and against every unit of every item; see `Explainer`.

        Example:
            >>> judge = ReadingJudge(load_reading())
            >>> judge.explain([("Hull sold 4,000 jars.", ["Hull sold 400 jars."])])[0][0].conflict
            'number 400 ≠ 4,000'
        """
        reader = _Reader(items, self.model.frequencies)
        presence = self.model.presence(
            np.concatenate([np.empty((0, len(FEATURES))), *reader.rows()])
        )
        found = [Evidence(value) for value in presence.tolist()]
        for part in reader.parts:
            for number, evidence in explained(part, presence, self.model.weights):
                found[number] = evidence
        rest = iter(found)
        return tuple(tuple(islice(rest, len(units))) for _, units in items)


def reading_features(items: Items, frequencies: Frequencies) -> list[FloatArray]:
    """The features of every unit of every item: `WORDS`, then `CONFLICTS`.

    Each distinct sentence is parsed once, and only where a unit's words make it likely to tell.
    Many pairs are read by a process a core, where processes can be forked (Linux).

    Returns:
        Per item (units, features). A row is NaN where summary or unit has no word.

    Raises:
        InputError: Texts are too long to compare; see `lexical_features`.
    """
    parts = _parts(items)
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    work = partial(_read, frequencies=frequencies)
    given = [[items[k] for k in part] for part in parts]
    if min(cores, len(parts)) > 1 and not current_process().daemon:
        _backend().pipeline  # noqa: B018  loaded once, before the processes part
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside BLAS's threads
            pool = get_context("fork").Pool(min(cores, len(parts)), initializer=_quiet)
        with pool:
            read = list(track(pool.imap(work, given), "reading", "parts", len(parts)))
    else:
        read = [work(some) for some in given]
    found: dict[int, FloatArray] = {}
    for part, rows in zip(parts, read, strict=True):
        found |= zip(part, rows, strict=True)
    return [found[k] for k in range(len(items))]


def _parts(items: Items) -> list[list[int]]:
    """The items' numbers in parts of about as many pairs, those with the same units together."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for number, (_, units) in enumerate(items):
        groups.setdefault(tuple(units), []).append(number)
    parts: list[list[int]] = [[]]
    pairs = 0
    for units, numbers in groups.items():
        if pairs >= _PART:
            parts, pairs = [*parts, []], 0
        parts[-1] += numbers
        pairs += len(units) * len(numbers)
    return parts if items else []


def _read(items: Items, frequencies: Frequencies) -> list[FloatArray]:
    return _Reader(items, frequencies).rows()


def _quiet() -> None:
    """In a process of its own: Ctrl-C and progress are its parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115


@cache
def _backend() -> EmbeddedBackend:
    return EmbeddedBackend()


class _Reader:
    """Reads the texts of some items."""

    def __init__(self, items: Items, frequencies: Frequencies) -> None:
        self.items, self.frequencies = items, frequencies
        self.lexicon, self.words = load_lexicon(), Vocabulary()
        self.cut = {summary: cut_sentences(summary) for summary, _ in items}
        tokenize, texts = tokenizer(), dict[str, None]()
        for summary, units in items:
            texts |= dict.fromkeys((*units, *self.cut[summary]))
        self.tokens: dict[str, Tokens] = {text: tokenize(text) for text in texts}
        self.stems = {t: [self.words.number(w) for w in found] for t, found in self.tokens.items()}
        self.parts: list[Part] = []

    def rows(self) -> list[FloatArray]:
        """The features of every unit of every item."""
        found = lexical_features(self.items, self.frequencies, self.lexicon.alike)
        rows = [
            np.hstack([row[:, : len(WORDS)], np.zeros((len(row), len(CONFLICTS)))]) for row in found
        ]
        flat = np.concatenate([np.empty((0, len(FEATURES))), *rows])
        self.parts = list(self.read())
        for part in self.parts:
            flat[part.pairs, len(WORDS) :] = part.comparison.features[part.chosen]
        return np.split(flat, np.cumsum([len(row) for row in rows])[:-1]) if rows else []

    def read(self) -> Iterator[Part]:
        """Parses what may tell something, and compares."""
        names = self.words.names
        idf = self.frequencies.idf(names)
        weights = (idf * [NUMBER if name[:1].isdigit() else 1.0 for name in names]).tolist()
        units: dict[str, int] = {}
        sentences: dict[str, int] = {}
        contexts: dict[tuple[str, ...], int] = {}
        earlier: list[int] = []
        table: list[tuple[int, int, int, int]] = []
        said: list[tuple[str, int]] = []
        for pair, summary, unit, place in self.candidates(weights):
            before = tuple(self.cut[summary][: place + 1])
            if before not in contexts:
                contexts[before] = len(contexts)
                stems = set().union(*(self.stems[sentence] for sentence in before))
                earlier += [contexts[before] * len(names) + stem for stem in stems if stem >= 0]
            at = units.setdefault(unit, len(units))
            table.append(
                (pair, at, sentences.setdefault(before[-1], len(sentences)), contexts[before])
            )
            said.append((summary, place))
        if not table:
            return
        own, there = (
            read_trees([self.tokens[t] for t in texts], self.words, self.lexicon, _backend())
            for texts in (units, sentences)
        )
        relations = Relations.of(names, self.lexicon.alike(names), self.lexicon)
        known = Keys(np.array(earlier, dtype=np.int64), np.array(earlier, dtype=np.int64))
        numbers = np.array(table, dtype=np.int64).T
        pairs, unit_at, sentence_at, _ = numbers
        cells = np.diff(own.starts)[unit_at] * np.diff(there.starts)[sentence_at]
        block = (np.cumsum(cells) // _CELLS)[np.searchsorted(pairs, pairs)]  # a pair's in one
        for some in np.split(np.arange(len(pairs)), np.flatnonzero(np.diff(block)) + 1):
            found = Pairs(own, there, numbers[1:, some], relations, idf, known).compared()
            value = found.share - _DOUBT * found.features.any(axis=1)
            order = np.lexsort((-some, value, pairs[some]))
            chosen = order[np.append(np.diff(pairs[some][order]) > 0, True)]
            held = [said[k] for k in some[chosen].tolist()]
            yield Part(pairs[some][chosen], held, chosen, found, own, there)

    def candidates(self, weights: Sequence[float]) -> Iterator[tuple[int, str, str, int]]:
        """Pair, summary, unit and place of the sentences, at most two, that may tell of a unit."""
        pronouns = self.lexicon.lists["pronouns"]
        content, wanted = dict[str, frozenset[int]](), dict[str, frozenset[int]]()
        for text, tokens in self.tokens.items():
            groups = [*name_groups(tokens), -1]
            own = [
                (stem, groups[k] != groups[k + 1])
                for k, (stem, token) in enumerate(zip(self.stems[text], tokens, strict=True))
                if stem >= 0 and token.lower() not in FUNCTION_WORDS
            ]
            content[text] = frozenset(stem for stem, _ in own)
            wanted[text] = frozenset(stem for stem, last in own if last)
        stands = {
            t: any(self.words.stem(w) in pronouns for w in ws) for t, ws in self.tokens.items()
        }
        pair = -1
        for summary, units in self.items:
            for unit in units:
                pair += 1
                seen: set[int] = set()
                scores: list[float] = []
                for sentence in self.cut[summary]:
                    there = wanted[unit] & content[sentence]
                    score = sum(weights[stem] for stem in there)
                    if stands[sentence]:
                        score += PRONOUN * sum(weights[stem] for stem in seen - there)
                    scores.append(score if self.tokens[sentence] else 0.0)
                    seen |= there
                best = sorted(range(len(scores)), key=lambda k: -scores[k])[:2]
                least = _LEAST * sum(weights[stem] for stem in wanted[unit])
                for k in best:
                    if scores[k] > 0 and scores[k] >= max(least, _SECOND * scores[best[0]]):
                        yield pair, summary, unit, k


def fit_reading(
    items: Items,
    labels: Sequence[Sequence[float]],
    *,
    frequencies: Frequencies | None = None,
    ridge: float = RIDGE,
    about: Mapping[str, Any] | None = None,
) -> PresenceModel:
    """Fits the weights of words to human presence labels; those of conflicts stay as they ship.

    Few labelled summaries contradict; what a conflict weighs was learnt from pairs made for it.

    Args:
        items: (summary, units), as the judge takes them.
        labels: Per item one 0 or 1 per unit.
        frequencies: Document frequencies; those of the embedded model by default.
        ridge: Strength of the penalty.
        about: Kept in the model; the number of pairs and the ridge are added.

    Raises:
        InputError: Labels do not match units, are not 0, .5 or 1, or are all the same.
    """
    check_labels(items, labels, ridge)
    shipped = load_reading()
    known = shipped.frequencies if frequencies is None else frequencies
    rows, present = labelled_rows(reading_features(items, known), labels, len(FEATURES))
    bounds = word_bounds() + [(shipped.weights[name],) * 2 for name in CONFLICTS]
    bias, weights = fit_weights(rows, present, bounds, np.full(len(FEATURES), ridge))
    about = {**(about or {}), "pairs": len(present), "ridge": ridge}
    return reading_model(bias, weights, known, about)


def word_bounds() -> list[tuple[float, float]]:
    """The bounds of the words' weights: each has the sign of its feature."""
    return [(0.0, np.inf) if LEXICAL[name][0] > 0 else (-np.inf, 0.0) for name in WORDS]


def reading_model(
    bias: float, weights: FloatArray, frequencies: Frequencies, about: Mapping[str, Any]
) -> PresenceModel:
    """A model of weights in the order of the features."""
    named = dict(zip(FEATURES, weights.tolist(), strict=True))
    return PresenceModel("reading", FEATURE_VERSION, bias, named, frequencies, about)


def save_reading(model: PresenceModel, path: str | Path) -> None:
    """Writes `model` as JSON, all or nothing; `load_reading` reads it."""
    save_model(model, path)


def load_reading(path: str | Path | None = None) -> PresenceModel:
    """Reads a model that `save_reading` wrote; the embedded one by default. See `load_model`."""
    return load_model("reading", FEATURE_VERSION, FEATURES, path)
