"""The embedded encoder as a judge: its verdict joined with what the words say, and
explained."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import ModelError
from litepyramid.files import file_type, read_json
from litepyramid.judges.base import Evidence, Items, JudgedBatch, best_parts
from litepyramid.judges.lexical.features import Vocabulary
from litepyramid.judges.lexical.lexical_judge import (
    LexicalJudge,
    content_words,
    load_lexical,
    word_evidence,
)
from litepyramid.judges.nli.modes import p3c
from litepyramid.judges.nli.modes import presence as presence_of
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.judges.questions import without_questions
from litepyramid.judges.row_readings import Table
from litepyramid.sentences import sentence_spans, split_sentences
from litepyramid.structure import rows_of
from litepyramid.types import FloatArray
from litepyramid.wording import as_read, plain_text

FOLDER = Path(__file__).resolve().parents[1] / "embedded" / "mini"


WHOLE = 300
"""The most words of a summary that is read whole, once for all its units."""

SHORT = 120
"""The most words of a summary of which no excerpts are read."""

EXCERPT = 40
"""The most words of an excerpt: what is read of a longer summary for one unit."""


SHARP = 30
"""The most words of a summary of which the encoder is fully trusted."""


@dataclass(frozen=True)
class Join:
    """How words and encoder are joined: words say yes, and in a short text a sure
    encoder; where the words are there, its doubt holds them down.

    With e the logit of the encoder's share of entailment, l that of `lexical`'s
    presence, d the distance of words (`word_distances`) and t = min(1, 30 / words of
    the text)², how far the encoder is trusted,

        words   = bias + lexical l − distance d + yes t max(0, e) + no min(0, e)
        ceiling = floor + rise d + far (1 − t) + log(1 + exp(e − doubt))
        logit of presence = words − log(1 + exp(2 (words − ceiling))) / 2

    which is a soft minimum of the two. Each logit is held within ±8. An encoder finds
    in a long text, or in one that was copied, more than people do: there its yes counts
    less, and its doubt much only of words that are all there (a small d).
    """

    bias: float
    lexical: float
    distance: float
    yes: float
    no: float
    floor: float
    rise: float
    far: float
    doubt: float

    def presence(
        self,
        logits: FloatArray,
        lexical: FloatArray,
        distances: FloatArray,
        length: int,
    ) -> FloatArray:
        """The presence of each pair by the encoder's (pairs, 3) logits, `lexical`'s
        presence, the distances and how many words the text has; 0 where `lexical` has
        0: unit or summary has no word."""
        entailed = logit(np.nan_to_num(p3c(logits)))
        trust = min(1.0, SHARP / max(1, length)) ** 2

        words = self.bias + self.lexical * logit(lexical) - self.distance * distances
        words += self.yes * trust * np.maximum(0.0, entailed)
        words += self.no * np.minimum(0.0, entailed)
        ceiling = self.floor + self.rise * distances + self.far * (1.0 - trust)
        ceiling += np.logaddexp(0.0, entailed - self.doubt)

        lowered = words - np.logaddexp(0.0, 2.0 * (words - ceiling)) / 2.0
        return np.where(lexical > 0, 1.0 / (1.0 + np.exp(-lowered)), 0.0)


def logit(presence: FloatArray) -> FloatArray:
    """The logit of presences, within ±8."""
    inside = np.clip(presence, 1e-6, 1 - 1e-6)
    # Beyond ±8 one of the two would outvote the other, however sure that is.
    return np.clip(np.log(inside / (1 - inside)), -8.0, 8.0)


def _denied(logits: FloatArray) -> FloatArray:
    """The share of contradiction: `p3c` with the classes the other way round."""
    return p3c(logits[..., ::-1])


def likely_sentences(
    sentences: Sequence[str], unit: str, words: Vocabulary, most: int
) -> list[int]:
    """The sentences that hold most of a unit's content words, as numbers, in order.

    As many as fit into so many words, but at least one; of two that hold as many of the
    unit's the earlier.

    Example:
        >>> text = ["It rained all day.", "Two men died.", "The old bridge fell."]
        >>> likely_sentences(text, "A bridge fell.", Vocabulary(), 8)
        [0, 2]
    """
    stems = content_words(unit, words).keys()
    shared = []
    lengths = []
    for sentence in sentences:
        shared.append(len(stems & content_words(sentence, words).keys()))
        lengths.append(len(sentence.split()))

    # Stable: of sentences that share as many words the earlier comes first.
    order = np.argsort([-number for number in shared], kind="stable")
    total = np.array(lengths, dtype=int)[order].cumsum()
    count = max(1, int(np.searchsorted(total, most, side="right")))
    return sorted(order[:count].tolist())


class MiniJudge(NLIJudge):
    """The embedded encoder, joined with words (`Join`).

    The encoder reads a summary of up to 300 words once, and is asked about its units.
    Of a text of more than 120 words it also reads, for each unit, the sentences that
    hold most of its words, 40 words of them; where it reads both, the mean of the
    logits counts. `lexical` reads it all.

    Args:
        mode: p3c, l3c, p2c or l2c; none for its own, calibrated with the words.
        threads: How many summaries are read side by side; none for as many as cores.
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
        # Another process opens the same cache, which has no relative path any more.
        self._remake = partial(
            MiniJudge, cache=self._remake.keywords["cache"], **settings
        )
        path = FOLDER / "join.json"
        self._join = None
        # The join was fitted to p3c; another mode is the encoder alone.
        if mode is None and file_type(path) == "file":
            self._join = as_type(
                Join,
                read_json(path),
                path=path,
                error=ModelError,
            )
        self._words = LexicalJudge(load_lexical())

    def signature(self) -> dict[str, str]:
        """The judge's part of the signature."""
        signature = {**super().signature(), "judge": "mini"}
        if self._join:
            signature["mode"] = "calibrated"
            signature["lexical"] = self._words.model.revision
        return signature

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see
        `NLIJudge.judge`.

        Questions that nobody answers with yes are left out. Of a text with rows
        (`rows_of`) a unit is also held against its own row: the higher presence counts,
        or that of the row alone where the text mixes several up (`Table.row_for`).
        """
        batch = self._joined(
            [(without_questions(text), units) for text, units in items]
        )
        asked: list[tuple[str, Sequence[str]]] = []
        places = []
        words = Vocabulary()

        for number, (text, units) in enumerate(items):
            table = Table(rows_of(text), words)
            for n, unit in enumerate(units):
                row = table.row_for(unit)
                if row is not None:
                    asked.append((row.text, [unit]))
                    places.append((number, n, row.alone))

        return _with_rows(batch, self._joined(asked), places) if asked else batch

    def _joined(self, items: Items) -> JudgedBatch:
        """What words and encoder say of texts as they are."""
        items = as_read(items)
        batch = self._encoded(items)
        if self._join is None:
            return batch

        words = self._words.judge(items)
        lengths = [len(text.split()) for text, _ in items]
        presence = []
        for several in zip(
            batch.logits or (),
            words.presence,
            batch.distances or (),
            lengths,
            strict=True,
        ):
            presence.append(self._join.presence(*several))

        counts = {**batch.counts, **words.counts}
        return replace(batch, presence=tuple(presence), counts=counts)

    def _encoded(self, items: Items) -> JudgedBatch:
        """What the encoder says: the mean of its logits over the readings of a text."""
        vocabulary = Vocabulary()
        asked: list[tuple[str, Sequence[str]]] = []
        readings = []

        for text, units in items:
            length = len(text.split())
            ways = []
            if length <= WHOLE:
                ways.append([(text, units)])
            if length > SHORT:
                ways.append(_excerpts(text, units, vocabulary))

            rows = []
            for way in ways:
                rows.append(slice(len(asked), len(asked) + len(way)))
                asked += way
            readings.append(rows)

        pairs = sum(len(units) for _, units in items)
        each = sum(len(units) for _, units in asked) / max(1, pairs)
        batch = self._asked(asked, each)
        presence = []
        logits = []
        distances = []

        for rows in readings:
            read = []
            far = []
            for part in rows:
                several = (batch.logits or ())[part]
                read.append(np.concatenate([np.zeros((0, 3)), *several]))
                far.append(np.concatenate([[], *(batch.distances or ())[part]]))
            logits.append(np.mean(read, axis=0))
            distances.append(np.min(far, axis=0))
            # An empty summary has no logits, and no unit.
            presence.append(np.nan_to_num(presence_of(logits[-1], self.mode)))

        return replace(
            batch,
            presence=tuple(presence),
            logits=tuple(logits),
            distances=tuple(distances),
            # The user's pairs, not those that were asked.
            counts={**batch.counts, "pairs": pairs},
        )

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that decides, and whether the summary contradicts a unit; see
        `Explainer`.

        The sentences that hold most of a unit's words are asked about alone: a present
        unit is shown with the one that entails it most, an absent one (below .5) with
        the one that holds most of its words. That is contradicted if the encoder says
        so of the whole summary with at least .8, or with .5 where a number or a denial
        differs.
        """
        batch = self.judge(items)
        vocabulary = Vocabulary()
        best = [np.full(len(units), -1) for _, units in items]
        asked = []
        parts = []
        places = []

        for (text, units), row, values in zip(items, best, batch.presence, strict=True):
            spans = sentence_spans(text)
            sentences = [plain_text(text[start:end]) for start, end in spans]
            for n in np.flatnonzero(values >= 0.5).tolist():
                likely = likely_sentences(sentences, units[n], vocabulary, EXCERPT)
                asked.append((text, [units[n]]))
                parts.append([spans[sentence] for sentence in likely])
                places.append((row, n, likely))

        judge = super().judge
        decisive = best_parts(lambda some: judge(as_read(some)), asked, parts)[1]
        for (row, n, likely), [part] in zip(places, decisive, strict=True):
            row[n] = likely[part]

        evidence = word_evidence(items, batch.presence, best=best)
        shown = []
        for found, logits in zip(evidence, batch.logits or (), strict=True):
            shown.append(tuple(map(_with_conflict, found, _denied(logits).tolist())))
        return tuple(shown)


def _with_rows(
    batch: JudgedBatch, rows: JudgedBatch, places: Sequence[tuple[int, int, bool]]
) -> JudgedBatch:
    """What is said of texts, and, at some places, of a row: (item, unit, whether it is
    read alone)."""
    presence = [values.copy() for values in batch.presence]
    logits = [values.copy() for values in batch.logits or ()]
    said = zip(places, rows.presence, rows.logits or (), strict=True)
    for (item, unit, alone), [value], [row] in said:
        if alone or value > presence[item][unit]:
            presence[item][unit] = value
            logits[item][unit] = row

    counts = dict(batch.counts)
    for key in ("from_cache", "judged"):
        counts[key] += rows.counts[key]
    return replace(batch, presence=tuple(presence), logits=tuple(logits), counts=counts)


def _excerpts(
    text: str, units: Sequence[str], words: Vocabulary
) -> list[tuple[str, Sequence[str]]]:
    """Of a long text, for each unit, the sentences that hold most of its words."""
    sentences = split_sentences(text)
    excerpts: list[tuple[str, Sequence[str]]] = []
    for unit in units:
        likely = likely_sentences(sentences, unit, words, EXCERPT)
        excerpt = " ".join(sentences[number] for number in likely)
        excerpts.append((excerpt, [unit]))
    return excerpts


def _with_conflict(evidence: Evidence, denied: float) -> Evidence:
    """The evidence with a conflict if the encoder agrees, or sees one that words do not
    show."""
    sure = 0.5 if evidence.conflict else 0.8
    contradicted = evidence.presence < 0.5 and bool(evidence.words) and denied >= sure
    return replace(
        evidence, conflict=(evidence.conflict or "contradicted") if contradicted else ""
    )
