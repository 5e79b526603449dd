"""The judge protocol: the one interface between units and models."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray

Items = Sequence[tuple[str, Sequence[str]]]
"""(summary, units) pairs."""

Questions = Sequence[str | None] | None
"""What each summary of `Items` answers; None where nothing was asked."""

Item = TypeVar("Item", bound=tuple[Any, ...])

Spans = list[tuple[int, int]]
"""Where parts of a text stand: first character, and the one after the last."""


class Closing:
    """What closes at the end of a `with`."""

    def close(self) -> None:
        """Frees what it holds; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class EstimateOnly(Exception):  # noqa: N818 - no error: it brings a result
    """Only an estimate was requested: it is `result`, and nothing was judged."""

    def __init__(self, result: Any) -> None:
        self.result = result
        super().__init__(repr(result))


@dataclass(frozen=True)
class JudgedBatch:
    """What a judge returns for a list of (summary, units) items.

    Attributes:
        presence: One float64 array per item, one value in [0, 1] per unit; NaN: no
            judgement.
        signature: The judge's part of the signature: name, revision, mode, maximum
            length …
        counts: What a user must know: ``pairs``, ``truncated``, ``from_cache`` …
        logits: Per item the raw (units, 3) float64 logits in the order entailment,
            neutral, contradiction, if the judge is an NLI model; else None.
        opinions: Per item the (J, units) presences of several judges; else None.
        distances: Per item how far the words of each unit are from the summary's,
            (units,), if the model says so (`nli.asking.word_distances`); else None.
    """

    presence: tuple[FloatArray, ...]
    signature: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    logits: tuple[FloatArray, ...] | None = None
    opinions: tuple[FloatArray, ...] | None = None
    distances: tuple[FloatArray, ...] | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A judge's evidence in a summary for and against a unit.

    Attributes:
        sentence: Number of the summary's sentence that tells most of the unit, from 0;
            -1: none.
        span: Where that stands in the summary: its first character, and the one after
            its last.
        words: (word of the unit, word of the sentence that answers it), in the unit's
            order.
        missing: Content words of the unit that nothing in the sentence answers.
        conflict: ``"number 400 ≠ 4,000"`` (unit ≠ summary), ``"denied (beat)"``, or
            ``"contradicted"`` by the whole summary; "" for none: the unit is present,
            or missing.
    """

    presence: float
    sentence: int = -1
    span: tuple[int, int] = (0, 0)
    words: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    conflict: str = ""


class Judge(Protocol):
    """Rates how far each unit is present in a summary (premise = summary, hypothesis =
    unit).

    One that uses questions has the attribute ``uses_questions = True`` and takes one a
    summary, or None, as a second argument: ``judge(items, questions)``.
    """

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary."""
        ...


@runtime_checkable
class Explainer(Judge, Protocol):
    """A judge that also explains itself."""

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The evidence for and against every unit of every item, in the order of
        `items`."""
        ...


def pair_key(premise: str, hypothesis: str, question: str = "") -> bytes:
    """The key of a pair: 20 bytes of BLAKE2b over its texts, all but the last with
    their lengths.

    Example:
        >>> pair_key("ab", "c") == pair_key("a", "bc")
        False
    """
    digest = blake2b(digest_size=20)
    # Lengths keep pairs apart whose texts make the same row of characters.
    for text in (question, premise) if question else (premise,):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    digest.update(hypothesis.encode("utf-8", "surrogatepass"))
    return digest.digest()


def windows(items: Sequence[Item], size: int = 65_536) -> Iterator[Sequence[Item]]:
    """The items in runs of about `size` pairs, as many as are held in memory at
    once."""
    start = pairs = 0
    for index, item in enumerate(items):
        pairs += len(item[1])
        if pairs >= size:
            yield items[start : index + 1]
            start = index + 1
            pairs = 0
    if start < len(items):
        yield items[start:]


def note_cached(stop: KeyboardInterrupt, judged: int, cache: Path | None) -> None:
    """Adds the number of cached judgements to the exception that Ctrl-C raises."""
    if judged and cache is not None:
        stop.add_note(f"{counted(judged, 'judgement')} kept in {cache}")


def best_parts(
    judge: Callable[[Items], JudgedBatch], items: Items, spans: Sequence[Spans]
) -> tuple[JudgedBatch, list[IntArray]]:
    """What a judge says of summaries by their parts: each unit's highest presence, and
    its part.

    Counts: ``pairs`` are those of the whole, ``split`` those of them with a summary in
        parts.
    """
    asked = []
    for (text, units), parts in zip(items, spans, strict=True):
        for start, end in parts:
            asked.append((text[start:end], units))

    batch = judge(asked)
    presence = []
    logits = []
    best = []
    first = 0
    # The user's pairs, not those that were asked.
    counts = {**batch.counts, "pairs": 0, "split": 0}

    for (_, units), parts in zip(items, spans, strict=True):
        rows, first = slice(first, first + len(parts)), first + len(parts)
        stack = np.stack(batch.presence[rows])
        # A part without a judgement is best only where no part has one.
        best.append(np.nan_to_num(stack, nan=-1.0).argmax(axis=0))
        chosen = best[-1], np.arange(len(units))
        presence.append(stack[chosen])
        if batch.logits is not None:
            logits.append(np.stack(batch.logits[rows])[chosen])
        counts["pairs"] += len(units)
        counts["split"] += len(units) if len(parts) > 1 else 0

    kept = tuple(logits) if batch.logits is not None else None
    return JudgedBatch(tuple(presence), batch.signature, counts, kept), best
