"""Which sentences people should write SCUs for, and the expected quality."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from litepyramid.annotation.sampling import minutes, reading_time
from litepyramid.checked import as_type, number
from litepyramid.data.data import load
from litepyramid.data.records import InputReferences
from litepyramid.easiness.gold import Easiness
from litepyramid.easiness.mix import carriers, human_count, ranking
from litepyramid.easiness.predict import EasinessLike, sentence_easiness
from litepyramid.errors import InputError, choose
from litepyramid.files import read_document
from litepyramid.identity import fingerprint
from litepyramid.language import check_language, name_of, reads, words
from litepyramid.stats import check_whole, mean_of_scored
from litepyramid.tables import Column, Result, Table, plain, record
from litepyramid.text import counted, cut, place
from litepyramid.types import (
    ColumnsLike,
    Fields,
    Signature,
    Texts,
    TextsLike,
    UnitsLike,
)
from litepyramid.units.align import Sentence, sentences_of
from litepyramid.units.extract import references_language

FORMAT = "litepyramid-plan"

PlanBy = Literal["easiness", "random", "reversed", "length"]

SCUS_PER_WORD = 0.21
"""SCUs per word of a reference sentence in REALSumm: 1056 SCUs, 5013 words, 368
sentences."""

WRITING = "20+40"
"""Seconds to read a sentence, and to write each of its SCUs: a guess, measured
nowhere."""


@dataclass(frozen=True)
class PlannedSentence(Sentence):
    """A sentence of a plan.

    Attributes:
        rank: When to annotate it, from 1, most valuable first.
        annotate: Whether people write SCUs for it.
        easiness: How well STUs are expected to stand in for its SCUs (predicted ROUGE-1
            F1, ZB21 §3.3); None without a prediction.
        earlier: Whether an earlier plan gave it to people.
    """

    rank: int
    annotate: bool
    easiness: float | None = None
    earlier: bool = False


@dataclass(frozen=True)
class BudgetPlan(Result):
    """Which reference sentences people annotate; the others carry STUs.

    Attributes:
        sentences: In the order of their ids.
        by: How they were chosen; `seed`, if at random.
        source: Where the easiness comes from, as signatures say it.
        questions: What the texts of an input answer, if anything.
        seconds: What it takes to read a sentence, and to write an SCU.
    """

    sentences: tuple[PlannedSentence, ...]
    by: str
    seed: int | None = None
    source: str | None = None
    questions: Mapping[str, str] = field(default_factory=dict)
    seconds: str = WRITING
    notes: Texts = ()

    @property
    def signature(self) -> Signature:
        """What was chosen of which sentences, and how."""
        rows = []
        for s in self.sentences:
            value = -1.0 if s.easiness is None else s.easiness
            rows.append([*s.key, s.text, value, s.earlier])
        return Signature.of(
            plan=self.by,
            annotate=f"{self.count}/{len(self.sentences)}",
            earlier=sum(s.earlier for s in self.sentences) or None,
            easiness=self.source,
            sentences_sha=fingerprint(rows),
            seed=self.seed,
        )

    @property
    def count(self) -> int:
        """How many sentences people annotate."""
        return sum(s.annotate for s in self.sentences)

    def chosen(self) -> tuple[PlannedSentence, ...]:
        """The sentences to annotate, most valuable first."""
        chosen = [s for s in self.sentences if s.annotate]
        return tuple(sorted(chosen, key=lambda s: s.rank))

    def values(self, name: str) -> NDArray[Any]:
        """(n,) ``rank``, ``annotate``, ``earlier``, or ``easiness`` (NaN: none) of
        every one."""
        dtype = np.float64 if name == "easiness" else None
        return np.array([getattr(s, name) for s in self.sentences], dtype=dtype)

    def expected(self) -> dict[str, float]:
        """How well the units are expected to stand in for SCUs everywhere, 0 to 1.

        The mean over sentences of 1 where people write the SCUs and of the easiness
        where STUs stand in: if nobody annotates (Lite3), of earlier plans alone, of as
        many sentences at random, of this plan, and if everybody does (Lite2). Earlier
        plans count in all but the first. NaN without any easiness.
        """
        scored = ~np.isnan(self.values("easiness"))
        easiness = self.values("easiness")[scored]
        earlier = self.values("earlier")
        share = self.count / max(1, int((~earlier).sum()))
        before = mean_of_scored(np.where(earlier[scored], 1.0, easiness))
        human = (earlier | self.values("annotate"))[scored]

        return {
            "nobody": mean_of_scored(easiness),
            "earlier": before,
            "random": share + (1 - share) * before,
            "plan": mean_of_scored(np.where(human, 1.0, easiness)),
            "everybody": mean_of_scored(np.ones(len(easiness))),
        }

    def to_tables(self) -> Sequence[Table]:
        """The budget and its expected quality."""
        others = [s for s in self.sentences if not s.annotate]
        earlier = [s for s in others if s.earlier]
        groups: dict[str, Sequence[PlannedSentence]] = {
            "people (SCUs)": self.chosen(),
            "people, earlier plans": earlier,
            "machine (STUs)": [s for s in others if not s.earlier],
            "all": self.sentences,
        }
        rows = []
        for name, several in groups.items():
            if not several:
                continue
            values = np.array([s.easiness for s in several], np.float64)
            number = len(several)
            share = number / len(self.sentences)
            inputs = len({s.input for s in several})
            easiness = mean_of_scored(values)
            rows.append((name, number, share, inputs, _words(several), easiness))

        columns = (
            "by",
            "sentences",
            Column("share", digits=2),
            "inputs",
            "words",
            Column("easiness", "mean easiness"),
        )
        scus = round(SCUS_PER_WORD * _words(self.chosen()))
        reading, writing = reading_time(self.seconds)
        notes = (
            f"Expect about {counted(scus, 'SCU')} to be written: {SCUS_PER_WORD} per "
            "word, as in REALSumm.",
            f"Time: about {_hours(self.chosen(), self.seconds):.1f} hours, at "
            f"{reading:g} seconds to read a sentence and {writing:g} to write an SCU "
            "(your own: --hours 6@30+60).",
            *self.notes,
            f"Signature: {self.signature}",
        )

        budget = Table.of("Who covers which sentences", columns, rows, notes)
        if np.isnan(self.values("easiness")).all():
            return [budget.without("easiness")]

        planned = counted(self.count, "sentence")
        names = {
            "nobody": "nobody (Lite3)",
            "earlier": "earlier plans alone",
            "random": f"{planned} at random",
            "plan": f"this plan ({planned})",
            "everybody": "everybody (Lite2)",
        }
        if not earlier:
            del names["earlier"]
        expected = self.expected()
        quality = []
        for key, name in names.items():
            quality.append((name, expected[key], 1 - expected[key]))
        heads = ("annotators", "kept", "lost")
        note = (
            "kept: expected mean ROUGE-1 F1 of the units used with the SCUs people "
            "would write."
        )

        return [
            budget,
            Table.of("Expected quality, by who annotates", heads, quality, [note]),
        ]

    def json_entries(self) -> Fields:
        """The whole plan: what `read_plan` reads."""
        head = {
            "format": FORMAT,
            "version": 1,
            "expected": self.expected(),
        }
        return {
            **head,
            **record(self),
            "signature": self.signature.to_json(),
        }


def plan(  # references, STUs and what names them are the data, one, so eight
    references: TextsLike | None,
    *,
    human_share: float | str | None = None,
    sentences: int | None = None,
    hours: float | str | None = None,
    by: PlanBy = "easiness",
    easiness: EasinessLike | None = None,
    stus: UnitsLike | None = None,
    after: Sequence[BudgetPlan | str | Path] = (),
    seed: int = 12345,
    ids: TextsLike | None = None,
    columns: ColumnsLike | None = None,
    language: str | None = None,
) -> BudgetPlan:
    """Choose the sentences that people should write SCUs for: those that suit STUs
    worst.

    All sentences of all inputs are ranked together by easiness, and the hardest are
    annotated: the same split as `litepyramid.mix` makes with the other sentences
    carrying STUs. In other languages than English, which the embedded regressor cannot
    read, the longest sentences come first.

    Args:
        references: The references of every input.
        human_share: Share of the sentences that people annotate, as .3 or 30%; or give
            a number of them, or hours.
        sentences: Number of sentences that people annotate.
        hours: Hours that people have, at a guessed 20 seconds to read a sentence and 40
            to write an SCU; at your own pace as in 6@30+60.
        by: How they are chosen: the hardest by easiness, the easiest (reversed), the
            longest (length; the earlier of two equal ones), or at random.
        easiness: Easiness of every sentence, or an easiness regressor; predicted by the
            embedded regressor if not given.
        stus: The STUs that will be used; extracted if not given.
        after: Earlier plans whose sentences are not chosen again.
        seed: Seed of the random choice.
        ids: Ids of the inputs, where rows are matched by order.
        columns: Own names of columns, as NAME=COLUMN,… or a dict.
        language: Code such as de; told by the texts if not given. "any" insists.

    Returns:
        The plan; saved as .json it is read by `export`.

    Raises:
        InputError: No budget is given, or several, or it is impossible.

    Example:
        >>> texts = ["It rained. The old, rusty bridge at Lune was closed on Monday."]
        >>> [sentence.text for sentence in plan(texts, sentences=1).chosen()]
        ['The old, rusty bridge at Lune was closed on Monday.']

    Command line:
        $ litepyramid budget plan example/references.jsonl --sentences 5 -o plan.json
        $ litepyramid budget plan example/references.jsonl --hours 2 -o plan.json
    """
    budgets = [one for one in (human_share, sentences, hours) if one is not None]
    if len(budgets) != 1:
        raise InputError(
            "no budget, or two of them",
            expected="a share of the sentences (human_share, --human-share), a number "
            "(sentences, --sentences), or hours (hours, --hours)",
        )

    check_whole("seed", seed, 0)
    share = None if human_share is None else _share(human_share)
    time, pace = (None, WRITING) if hours is None else _time(hours)
    if sentences is not None:
        check_whole("sentences", sentences, 0)
    choose("by", by, PlanBy)
    several: Sequence[Any] = after if isinstance(after, list | tuple) else [after]
    before = [one if isinstance(one, BudgetPlan) else read_plan(one) for one in several]

    data = load(references=references, stus=stus, ids=ids, columns=columns)
    data.require("references")
    told = references_language(data.references, language)

    if easiness is None and not reads("regressor", told):
        if by == "reversed":
            check_language("regressor", told, "the easiness regressor")
        by = "length" if by == "easiness" else by
        values = _no_easiness(data.references, by, told)
    else:
        values = sentence_easiness(
            data.references,
            easiness=easiness,
            language=told,
            stus=data.stus.of_kind("stu") or None,
        )

    def planned(count: int) -> BudgetPlan:
        return plan_budget(values, count, by=by, seed=seed, after=before)

    count = sentences or 0
    if share is not None:
        count = human_count(share, len(values.sentences))
    if time is not None:
        count = _affordable(planned(0), time, pace)
    asked = {e.input: e.question for e in data.references if e.question}
    return replace(planned(count), questions=asked, seconds=pace)


def _share(value: float | str) -> float:
    """A share of the sentences: .3, or 30%."""
    text = str(value).strip()
    share = number(text.removesuffix("%"))
    if share is None:
        raise InputError(
            f"the share is {cut(repr(value))}", expected="a number from 0 to 1, or 30%"
        )
    if text.endswith("%"):
        share /= 100
    human_count(share, 0)  # is it a share?
    return share


def _time(hours: float | str) -> tuple[float, str]:
    """Hours, and the seconds that reading and writing take, perhaps with them."""
    text, _, pace = str(hours).partition("@")
    time = number(text)
    if time is None or not 0 < time < 1e6:
        raise InputError(
            f"the hours are {cut(repr(hours))}",
            expected=f"a number, perhaps with the seconds to read a sentence and to "
            f"write an SCU: 6, or 6@{WRITING}",
        )
    reading_time(pace or WRITING)
    return time, pace or WRITING


def _affordable(plan: BudgetPlan, time: float, pace: str) -> int:
    """How many sentences people do in some hours, most valuable first."""
    ranked = sorted(plan.sentences, key=lambda s: s.rank)
    hours = [_hours([s], pace) for s in ranked if not s.earlier]
    return int((np.cumsum(hours) <= time).sum())


def _no_easiness(
    references: Sequence[InputReferences], by: PlanBy, language: str
) -> Easiness:
    """The sentences of references that the embedded regressor cannot read."""
    sentences = sentences_of(references)
    note = (
        f"The easiness regressor reads English only; these texts are in "
        f"{name_of(language)}. The quality to expect is not known"
    )
    if by == "length":
        note += "; the longest sentences come first, and of equal ones the earlier"
    return Easiness(sentences, np.full(len(sentences), np.nan), notes=(f"{note}.",))


def _shortest_first(sentences: Sequence[Sentence]) -> NDArray[np.int64]:
    """The sentences in the order in which they are left to STUs: the shortest first."""
    lengths = [len(words(sentence.text)) for sentence in sentences]

    order = reversed(range(len(sentences)))
    places = sorted(order, key=lambda i: (lengths[i], -sentences[i].sentence))
    return np.array(places, dtype=np.int64)


def plan_budget(
    easiness: Easiness,
    count: int,
    *,
    by: PlanBy = "easiness",
    seed: int = 12345,
    after: Sequence[BudgetPlan] = (),
) -> BudgetPlan:
    """Gives people the `count` sentences for which extracted units are worst; see
    `plan`."""
    total = len(easiness.sentences)
    if not total:
        raise InputError(
            "no sentences to plan for", expected="at least one reference sentence"
        )

    places = [(s.key, s.text) for s in easiness.sentences]
    taken = set()
    for before in after:
        for s in before.sentences:
            if s.annotate or s.earlier:
                taken.add((s.key, s.text))

    if missing := taken - {*places}:
        key, text = min(missing)
        raise InputError(
            f"an earlier plan gave people {place(*key)}, which does not exist",
            expected=f"the sentence '{text}'",
            hint="Plan with the same references, split into sentences in the same way.",
        )

    if not 0 <= count <= total - len(taken):
        expected = f"from 0 to {total - len(taken)}"
        raise InputError(f"a budget of {counted(count, 'sentence')}", expected=expected)

    earlier = np.array([one in taken for one in places], dtype=np.bool_)
    if by == "length":
        order = _shortest_first(easiness.sentences)
    else:
        order = ranking(by, easiness.values, seed)

    # What earlier plans gave away comes last of all, so it is never chosen again.
    order = np.concatenate([order[earlier[order]], order[~earlier[order]]])
    rank = np.empty(total, dtype=np.int64)
    rank[order[::-1]] = np.arange(1, total + 1)
    unknown = np.isnan(easiness.values)
    notes = list(easiness.notes)
    if unknown.any() and by not in ("random", "length"):
        have = counted(int(unknown.sum()), "sentence has", "sentences have")
        notes.append(f"{have} no easiness; they count as the hardest.")

    values = list(map(plain, easiness.values.tolist()))  # NaN is None
    columns = (
        rank.tolist(),
        (~carriers(order, total - count)).tolist(),
        values,
        earlier.tolist(),
    )
    sentences = []
    for sentence, *planned in zip(easiness.sentences, *columns, strict=True):
        sentences.append(PlannedSentence(*sentence.key, sentence.text, *planned))

    return BudgetPlan(
        sentences=tuple(sentences),
        by=by,
        seed=seed if by == "random" else None,
        source=dict(easiness.signature.fields).get("easiness"),
        notes=tuple(notes),
    )


def read_plan(path: str | Path) -> BudgetPlan:
    """Reads a saved plan; its "annotate" may have been changed by hand since."""
    if not isinstance(path, str | Path):
        raise InputError(
            f"a plan is a {type(path).__name__}", expected="a BudgetPlan or its file"
        )

    expected = "the .json that `litepyramid budget plan -o` writes"
    data = read_document(path, FORMAT, "a budget plan", expected)
    made = as_type(
        BudgetPlan,
        data,
        what="a broken budget plan",
        path=path,
    )

    if not made.sentences:
        raise InputError(
            "a budget plan without sentences", path=path, expected=expected
        )

    return made


def _words(sentences: Sequence[Sentence]) -> int:
    return sum(len(words(sentence.text)) for sentence in sentences)


def _hours(sentences: Sequence[Sentence], seconds: str) -> float:
    """What reading sentences and writing their SCUs takes."""
    return minutes(seconds, len(sentences), SCUS_PER_WORD * _words(sentences)) / 60
