"""Which sentences people should write SCUs for."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from litepyramid.annotation.budget_plan import (
    WRITING,
    BudgetPlan,
    PlannedSentence,
    read_plan,
    writing_hours,
)
from litepyramid.annotation.sampling import reading_time
from litepyramid.checked import as_type, number
from litepyramid.data.data import load
from litepyramid.data.records import InputReferences
from litepyramid.easiness.gold import Easiness
from litepyramid.easiness.mix import as_share, human_count, ranking
from litepyramid.easiness.predict import (
    EasinessLike,
    opened_easiness,
    sentence_easiness,
)
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.language import check_language, name_of, reads, words
from litepyramid.stats import check_whole
from litepyramid.tables import plain
from litepyramid.text import counted, cut, place
from litepyramid.types import ColumnsLike, TextsLike, UnitsLike
from litepyramid.units.align import Sentence, sentences_of
from litepyramid.units.extract import references_language

PlanBy = Literal["easiness", "random", "reversed", "length"]


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
        >>> chosen = plan(texts, sentences=1, by="length").chosen()
        >>> [sentence.text for sentence in chosen]
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
    share = None if human_share is None else as_share(human_share)
    time, pace = (None, WRITING) if hours is None else _time(hours)
    if sentences is not None:
        check_whole("sentences", sentences, 0)
    choose("by", by, PlanBy)
    no_effect(plan, by != "random", f"by {by}", seed=seed)
    before = [*map(read_plan, as_type(list[Any], after, what="after"))]

    data = load(references=references, stus=stus, ids=ids, columns=columns)
    data.require("references")
    told = references_language(data.references, language)

    easiness = opened_easiness(easiness)
    unread = easiness is None and not reads("regressor", told)
    if unread or isinstance(easiness, Easiness):
        no_effect(plan, True, "where nothing is predicted", stus=stus)

    if unread:
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
    hours = [writing_hours([s], pace) for s in ranked if not s.earlier]
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

    sentences = []
    for n, sentence in enumerate(easiness.sentences):
        planned = PlannedSentence(
            *sentence.key,
            sentence.text,
            rank=int(rank[n]),
            annotate=bool(rank[n] <= count),
            easiness=plain(easiness.values[n]),
            earlier=bool(earlier[n]),
        )
        sentences.append(planned)

    return BudgetPlan(
        sentences=tuple(sentences),
        by=by,
        seed=seed if by == "random" else None,
        source=dict(easiness.signature.fields).get("easiness"),
        notes=tuple(notes),
    )
