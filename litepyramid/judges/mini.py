"""The embedded encoder as a judge: its verdict joined with what the words say, and
explained."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import ModelError
from litepyramid.files import file_type, read_json
from litepyramid.judges.base import Evidence, Items, JudgedBatch, as_read, best_parts
from litepyramid.judges.lexical.features import Vocabulary
from litepyramid.judges.lexical.lexical_judge import (
    LexicalJudge,
    content_words,
    load_lexical,
    word_evidence,
)
from litepyramid.judges.nli.modes import p3c, presence
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.sentences import sentence_spans, split_sentences
from litepyramid.text import normalized
from litepyramid.types import FloatArray

FOLDER = Path(__file__).resolve().parents[1] / "embedded" / "mini"
READS, WHOLE = (40, 100), 60
"""The most words of each reading of a summary, and of one read once, as it is: the
encoder learnt from short texts."""


@dataclass(frozen=True)
class Stack:
    """bias + encoder logit(e) + lexical logit(l) - contradiction max(0, logit(c)) is
    the logit.

    e and c are the encoder's shares of entailment and contradiction, l is `lexical`'s
    presence; each logit is held within ±8.
    """

    bias: float
    encoder: float
    lexical: float
    contradiction: float

    def presence(
        self, entailed: FloatArray, lexical: FloatArray, denied: FloatArray
    ) -> FloatArray:
        """The presence of each pair; 0 where `lexical` has 0: unit or summary has no
        word."""
        logits = (
            self.bias + self.encoder * _logit(entailed) + self.lexical * _logit(lexical)
        )
        logits -= self.contradiction * np.maximum(0.0, _logit(denied))
        return np.where(lexical > 0, 1.0 / (1.0 + np.exp(-logits)), 0.0)


def _logit(presence: FloatArray) -> FloatArray:
    inside = np.clip(presence, 1e-6, 1 - 1e-6)
    return np.clip(np.log(inside / (1 - inside)), -8.0, 8.0)


def _denied(logits: FloatArray) -> FloatArray:
    """The share of contradiction: `p3c` with the classes the other way round."""
    return p3c(logits[..., ::-1])


def readings(
    sentences: Sequence[str],
    units: Sequence[str],
    words: Vocabulary,
    most: Sequence[int] = READS,
) -> Iterator[list[list[int]]]:
    """For every unit the sentences of a summary that hold most of its content words.

    As many as fit into each of these numbers of words, but at least one; of two that
    hold as many words the earlier. Each choice once, as numbers of sentences, in order.
    A summary of at most 60 words is read once, all of it.

    Example:
        >>> text = ["It rained all day.", "Two men died.", "The old bridge fell.", *["Rain."] * 60]
        >>> list(readings(text, ["A bridge fell.", "Two died."], Vocabulary(), (4, 9)))
        [[[2], [0, 2]], [[1], [0, 1]]]
    """
    contents = [content_words(sentence, words).keys() for sentence in sentences]
    lengths = np.array([len(sentence.split()) for sentence in sentences])
    most = most if lengths.sum() > WHOLE else (WHOLE,)
    for unit in units:
        stems = content_words(unit, words).keys()
        order = np.argsort([-len(stems & some) for some in contents], kind="stable")
        ends = np.searchsorted(lengths[order].cumsum(), most, side="right")
        yield [
            sorted(order[:n].tolist()) for n in sorted({*np.maximum(1, ends).tolist()})
        ]


class MiniJudge(NLIJudge):
    """The embedded encoder, and the stack of its presence and `lexical`'s.

    The encoder reads a unit with the sentences that hold most of its words, at most 40
    words of them and once more at most 100, and the mean of its logits counts (once, if
    the summary has at most 60 words); `lexical` reads it all.

    Args:
        mode: p3c, l3c, p2c or l2c; none for its own, calibrated with the words.
        threads: How many pairs are judged side by side; none for as many as cores.
        cache: The cache's file; none for a store in memory that ends with the judge;
            default for the user's own.
    """

    def __init__(
        self,
        *,
        mode: str | None = None,
        threads: int | None = None,
        cache: str | Path | None = "default",
    ) -> None:
        if file_type(FOLDER / "model.onnx") != "file":
            raise ModelError("this installation lacks the model of the judge 'mini'")
        settings: dict[str, Any] = {"mode": mode, "threads": threads}
        super().__init__(str(FOLDER), cache=cache, **settings)
        self._remake = partial(
            MiniJudge, cache=self._remake.keywords["cache"], **settings
        )
        path, self._stack = FOLDER / "stack.json", None
        if mode is None and file_type(path) == "file":
            self._stack = as_type(Stack, read_json(path), path=path, error=ModelError)
        self._words = LexicalJudge(load_lexical())

    def signature(self) -> dict[str, str]:
        """The judge's part of the signature."""
        more = (
            {"mode": "calibrated", "lexical": self._words.model.revision}
            if self._stack
            else {}
        )
        return {**super().signature(), "judge": "mini", **more}

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see
        `NLIJudge.judge`."""
        vocabulary = Vocabulary()
        items = as_read(items)
        asked: list[tuple[str, list[str]]] = []
        times = []
        for text, units in items:
            sentences = split_sentences(text)
            for unit, chosen in zip(
                units, readings(sentences, units, vocabulary), strict=True
            ):
                asked += [
                    (" ".join(sentences[n] for n in some), [unit]) for some in chosen
                ]
                times.append(len(chosen))
        batch = self._asked(asked, each=len(asked) / max(1, len(times)))
        each = np.concatenate([np.zeros((0, 3)), *(batch.logits or ())])
        starts = np.cumsum([0, *times])[:-1]
        means = (
            np.add.reduceat(each, starts) / np.array(times)[:, None] if times else each
        )
        ends = np.cumsum([len(units) for _, units in items], dtype=int)
        logits = tuple(np.split(means, ends)[:-1])
        shares = [np.nan_to_num(presence(rows, self.mode)) for rows in logits]
        counts = {**batch.counts, "pairs": len(times)}
        if self._stack is not None:
            words = self._words.judge(items)
            shares = [
                *map(self._stack.presence, shares, words.presence, map(_denied, logits))
            ]
            counts |= words.counts
        return replace(batch, presence=tuple(shares), counts=counts, logits=logits)

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that decides, and whether the summary contradicts a unit; see
        `Explainer`.

        Each sentence that was read is asked about alone: a present unit is shown with
        the one that entails it most, an absent one (below .5) with the one that holds
        most of its words. That is contradicted if the encoder says so of the whole
        summary with at least .8, or with .5 where a number or a denial differs.
        """
        batch, vocabulary = self.judge(items), Vocabulary()
        best = [np.full(len(units), -1) for _, units in items]
        asked, parts, places = [], [], []
        for (text, units), row, values in zip(items, best, batch.presence, strict=True):
            spans = sentence_spans(text)
            sentences = [normalized(text[start:end]) for start, end in spans]
            present = np.flatnonzero(values >= 0.5).tolist()
            shown = [units[n] for n in present]
            read = readings(sentences, shown, vocabulary, READS[-1:])
            for n, unit, [chosen] in zip(present, shown, read, strict=True):
                asked.append((text, [unit]))
                parts.append([spans[sentence] for sentence in chosen])
                places.append((row, n, chosen))
        judge = super().judge
        found = best_parts(lambda some: judge(as_read(some)), asked, parts)[1]
        for (row, n, chosen), [part] in zip(places, found, strict=True):
            row[n] = chosen[part]
        evidence = word_evidence(items, batch.presence, best=best)
        denied = [_denied(rows).tolist() for rows in batch.logits or ()]
        return tuple(
            tuple(map(_with_conflict, row, shares))
            for row, shares in zip(evidence, denied, strict=True)
        )


def _with_conflict(evidence: Evidence, denied: float) -> Evidence:
    """The evidence with a conflict if the encoder agrees, or sees one that words do not
    show."""
    sure = 0.5 if evidence.conflict else 0.8
    contradicted = evidence.presence < 0.5 and bool(evidence.words) and denied >= sure
    return replace(
        evidence, conflict=(evidence.conflict or "contradicted") if contradicted else ""
    )
