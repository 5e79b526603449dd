"""Which sentences people should write SCUs for, and the expected quality."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from litepyramid.checked import as_type
from litepyramid.easiness.gold import Easiness
from litepyramid.easiness.mix import By, carriers, human_count, ranking
from litepyramid.easiness.predict import sentence_easiness
from litepyramid.easiness.regressor import EasinessRegressor
from litepyramid.errors import InputError, choose
from litepyramid.files import read_document
from litepyramid.io.coerce import as_names, as_references, as_units
from litepyramid.stats import mean_of_scored
from litepyramid.tables import HIDDEN, Column, Result, Table, record, row
from litepyramid.text import counted, place
from litepyramid.types import FloatArray, Signature, UnitKind, fingerprint
from litepyramid.units.align import Sentence

BoolArray = NDArray[np.bool_]
FORMAT = "litepyramid-plan"

SCUS_PER_WORD = 0.21
"""SCUs per word of a reference sentence in REALSumm: 1056 SCUs, 5013 words, 368 sentences."""


@dataclass(frozen=True)
class BudgetPlan(Result):
    """Which reference sentences people annotate; the others carry STUs.

    Attributes:
        sentences: n sentences, in the order of the references.
        annotate: (n,) bool, whether people write SCUs for a sentence.
        easiness: (n,) float64, how well STUs are expected to stand in for its SCUs (predicted
            ROUGE-1 F1, ZB21 §3.3); NaN without a prediction.
        rank: (n,) int64, the order in which to annotate, from 1, most valuable first.
        earlier: (n,) bool, whether an earlier plan gave the sentence to people.
        questions: What the texts of an input answer, if anything.
    """

    sentences: tuple[Sentence, ...]
    annotate: BoolArray = field(metadata=HIDDEN)
    easiness: FloatArray = field(metadata=HIDDEN)
    rank: NDArray[np.int64] = field(metadata=HIDDEN)
    by: str
    earlier: BoolArray = field(metadata=HIDDEN)
    questions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    signature: Signature = field(default_factory=lambda: Signature(()))

    @property
    def count(self) -> int:
        """How many sentences people annotate."""
        return int(self.annotate.sum())

    def chosen(self) -> tuple[Sentence, ...]:
        """The sentences to annotate, most valuable first."""
        order = np.argsort(self.rank, kind="stable")
        return tuple(self.sentences[i] for i in order if self.annotate[i])

    def expected(self) -> dict[str, float]:
        """How well the units are expected to stand in for SCUs everywhere, 0 to 1.

        The mean over sentences of 1 where people write the SCUs and of the easiness where STUs
        stand in: if nobody annotates (Lite3), of earlier plans alone, of as many sentences at
        random, of this plan, and if everybody does (Lite2). Earlier plans count in all but the
        first. NaN without any easiness.
        """
        scored = ~np.isnan(self.easiness)
        if not scored.any():
            return dict.fromkeys(("nobody", "earlier", "random", "plan", "everybody"), math.nan)
        values, earlier = self.easiness[scored], self.earlier[scored]
        share = self.count / max(1, int((~self.earlier).sum()))
        before = float(np.where(earlier, 1.0, values).mean())
        return {
            "nobody": float(values.mean()),
            "earlier": before,
            "random": share + (1 - share) * before,
            "plan": float(np.where(earlier | self.annotate[scored], 1.0, values).mean()),
            "everybody": 1.0,
        }

    def curve(self) -> FloatArray:
        """Expected quality after 0, 1, … sentences in the order of the plan; (n + 1,)."""
        values = self.easiness[np.argsort(self.rank, kind="stable")]
        scored = ~np.isnan(values)
        gain = np.concatenate([[0.0], np.cumsum(np.where(scored, 1 - values, 0.0))])
        quality: FloatArray = mean_of_scored(values) + gain / max(1, int(scored.sum()))
        return quality

    def to_tables(self) -> Sequence[Table]:
        """The budget, its expected quality, and the first sentences to annotate."""
        groups = {
            "people (SCUs)": self.annotate,
            "people, earlier plans": self.earlier & ~self.annotate,
            "machine (STUs)": ~self.annotate & ~self.earlier,
            "all": np.ones(len(self.sentences), dtype=bool),
        }
        if not groups["people, earlier plans"].any():
            del groups["people, earlier plans"]
        rows = []
        for name, mask in groups.items():
            texts = [s for s, chosen in zip(self.sentences, mask, strict=True) if chosen]
            counts = (len(texts), len(texts) / len(mask), len({s.input for s in texts}))
            easiness = mean_of_scored(self.easiness[mask])
            rows.append((name, *counts, sum(_words(s.text) for s in texts), easiness))
        columns = (
            Column("by"), Column("sentences"), Column("share", "", 2), Column("inputs"),
            Column("words"), Column("easiness", "mean easiness"),
        )  # fmt: skip
        scus = SCUS_PER_WORD * sum(_words(s.text) for s in self.chosen())
        notes = (
            f"Expect about {counted(round(scus), 'SCU')} to be written: "
            f"{SCUS_PER_WORD} per word, as in REALSumm.",
            *self.notes,
            f"Signature: {self.signature}",
        )
        budget = Table("Who covers which sentences", columns, tuple(rows), notes)
        return [budget, self._expected_table(), *self._first_table()]

    def _expected_table(self) -> Table:
        names = {
            "nobody": "nobody (Lite3)",
            **({"earlier": "earlier plans alone"} if self.earlier.any() else {}),
            "random": f"{counted(self.count, 'sentence')} at random",
            "plan": f"this plan ({counted(self.count, 'sentence')})",
            "everybody": "everybody (Lite2)",
        }
        expected = self.expected()
        rows = tuple((name, expected[key], 1 - expected[key]) for key, name in names.items())
        columns = (Column("annotators"), Column("kept"), Column("lost"))
        note = "kept: expected mean ROUGE-1 F1 of the units used with the SCUs people would write."
        return Table("Expected quality, by who annotates", columns, rows, (note,))

    def _first_table(self, limit: int = 5) -> list[Table]:
        value = dict(zip(self.sentences, self.easiness.tolist(), strict=True))
        rows = [
            row(s, rank=n, reference=s.reference + 1, sentence=s.sentence + 1, easiness=value[s])
            for n, s in enumerate(self.chosen()[:limit], start=1)
        ]
        several = any(s.reference for s in self.sentences)
        reference = (Column("reference", "ref."),) if several else ()
        columns = ("rank", "input", *reference, Column("sentence", "sent."), "easiness", "text")
        return [Table.of("First sentences to annotate", columns, rows)] if rows else []

    def to_json(self) -> dict[str, Any]:
        """The whole plan: what `read_plan` reads."""
        names = ("annotate", "earlier", "rank", "easiness")
        arrays = [getattr(self, name).tolist() for name in names]
        sentences = [
            {**record(s), **dict(zip(names, values, strict=True))}
            for s, *values in zip(self.sentences, *arrays, strict=True)
        ]
        head = {"format": FORMAT, "version": 1, "by": self.by, "annotate": self.count}
        return {**head, **record(self), "expected": self.expected(), "sentences": sentences}

    def to_figure(self) -> Any:
        """What each further sentence that people annotate buys: by the plan's order, at random."""
        from litepyramid.figures import drawing

        figure = drawing.new_figure(5.2, 3.2)
        axes = figure.subplots()
        drawing.plain_axes(axes)
        total, quality = len(self.sentences), self.curve()
        orders = {"random": "in random order", "reversed": "easiest first"}
        label = f"this plan: {orders.get(self.by, 'hardest first')}"
        axes.plot(range(total + 1), quality, color=drawing.BLUE, label=label)
        ends = ([0, total], [quality[0], quality[-1]])
        axes.plot(*ends, "--", color="0.45", label="sentences at random")
        done = int((self.annotate | self.earlier).sum())
        axes.plot([done], [quality[done]], "o", color=drawing.ORANGE)
        text = f"{counted(done, 'sentence')}: {quality[done]:.2f}"
        offset = {"xytext": (6, -12), "textcoords": "offset points"}
        axes.annotate(text, (done, quality[done]), **offset, fontsize=8.5)
        axes.set_xlabel(f"sentences that people annotate, of {total}")
        axes.set_ylabel("expected quality of the units")
        axes.set_xlim(0, total)
        drawing.legend_below(figure, axes)
        return figure


def plan(  # references, SCUs and STUs are the data, one, so seven
    references: Any,
    *,
    human_share: float | None = None,
    sentences: int | None = None,
    by: By = "easiness",
    easiness: Any = None,
    scus: Any = None,
    stus: Any = None,
    after: Sequence[Any] = (),
    seed: int = 12345,
    **names: Any,
) -> BudgetPlan:
    """Choose the sentences that people should write SCUs for: those that suit STUs worst.

    All sentences of all inputs are ranked together by easiness, and the hardest are annotated:
    the same split as `litepyramid.mix` makes with the other sentences carrying STUs.

    Args:
        references: The references of every input.
        human_share: Share of the sentences that people annotate; or give a number of them.
        sentences: Number of sentences that people annotate.
        by: How they are chosen: the hardest by predicted easiness or by gold easiness, the
            easiest (reversed), or at random.
        easiness: Easiness of every sentence, or an easiness regressor; predicted by the embedded
            regressor if not given.
        scus: Human units of the same inputs, for gold easiness.
        stus: The STUs that will be used; extracted if not given (gold easiness needs them).
        after: Earlier plans whose sentences are not chosen again.
        seed: Seed of the random choice.
        **names: `ids`, `columns` and `language`, as for `load`.

    Returns:
        The plan; saved as .json it is read by `export`, as .pdf, .png or .svg it shows how much
        each further sentence buys.

    Raises:
        InputError: No budget is given, or both, or it is impossible.

    Example:
        >>> texts = ["It rained. The old, rusty bridge at Lune was closed on Monday."]
        >>> [sentence.text for sentence in plan(texts, sentences=1).chosen()]
        ['The old, rusty bridge at Lune was closed on Monday.']

    Command line:
        $ litepyramid budget plan example/references.jsonl --human-share 0.5 -o plan.json
    """
    _count(10**9, human_share, sentences)  # before the references are parsed
    several: Sequence[Any] = after if isinstance(after, list | tuple) else [after]
    before = [one if isinstance(one, BudgetPlan) else read_plan(one) for one in several]
    choose("by", by, get_args(By))
    values, questions = _easiness(references, by, easiness, names, scus=scus, stus=stus)
    taken = in_plans(values.sentences, before)
    count = _count(len(values.sentences), human_share, sentences, int(taken.sum()))
    made = plan_budget(values, count, by=by, seed=seed, after=before)
    return replace(made, questions=questions)


def _easiness(
    references: Any, by: By, easiness: Any, names: dict[str, Any], **sources: Any
) -> tuple[Easiness, dict[str, str]]:
    """Of every sentence, and the inputs' questions; `easiness` as of `plan`."""
    if unknown := sorted(names.keys() - {"ids", "columns", "language"}):
        raise InputError(f"unknown option '{unknown[0]}'", expected="ids, columns or language")
    language = names.get("language")
    names = as_names(names.get("ids"), names.get("columns"))
    kinds: dict[str, UnitKind] = {"scus": "scu", "stus": "stu"}
    units = {
        name: as_units(sources[name], kind=kind, only=True, **names)
        for name, kind in kinds.items()
        if sources.get(name) is not None
    }
    if not isinstance(easiness, Easiness | EasinessRegressor | str | Path | None):
        raise InputError(
            f"easiness is a {type(easiness).__name__}",
            expected="the easiness of sentences, a regressor, or a file of either",
        )
    entries = as_references(references, **names)
    values = sentence_easiness(
        entries,
        by=by,
        easiness=easiness,
        language=language,
        **units,
    )
    return values, {e.input: e.question for e in entries if e.question}


def _count(total: int, human_share: float | None, sentences: int | None, earlier: int = 0) -> int:
    """How many sentences people annotate; the rest of a share is rounded down as in a mix."""
    if (human_share is None) == (sentences is None):
        raise InputError(
            "no budget, or two of them",
            expected="a share of the sentences (human_share), or a number (sentences)",
        )
    if human_share is not None:
        as_type(float, human_share, what="human_share")
        sentences = human_count(human_share, total)
    count: int = as_type(int, sentences, what="sentences")
    if count > total - earlier:
        left = f"from 0 to {total - earlier}"
        raise InputError(f"a budget of {counted(count, 'sentence')}", expected=left)
    return count


def plan_budget(
    easiness: Easiness,
    count: int,
    *,
    by: By = "easiness",
    seed: int | None = None,
    after: Sequence[BudgetPlan] = (),
) -> BudgetPlan:
    """Gives people the `count` sentences for which extracted units are worst; see `plan`.

    Example:
        >>> s = (Sentence("a", 0, 0, "It rained."), Sentence("a", 0, 1, "The old, rusty bridge."))
        >>> plan = plan_budget(Easiness(s, np.array([0.9, 0.3])), 1)
        >>> [x.text for x in plan.chosen()], round(plan.expected()["plan"], 2)
        (['The old, rusty bridge.'], 0.95)
    """
    total = len(easiness.sentences)
    if not total:
        raise InputError("no sentences to plan for", expected="at least one reference sentence")
    earlier = in_plans(easiness.sentences, after)
    if not 0 <= count <= total - int(earlier.sum()):
        raise InputError(f"a budget of {counted(count, 'sentence')}", expected=f"at most {total}")
    if by == "random" and seed is None:
        raise InputError("a random plan needs a seed")
    rng = np.random.default_rng(seed) if by == "random" else None
    order = ranking(by, easiness.values, total, rng)
    order = np.concatenate([order[earlier[order]], order[~earlier[order]]])
    rank = np.empty(total, dtype=np.int64)
    rank[order[::-1]] = np.arange(1, total + 1)
    unknown = int(np.isnan(easiness.values).sum())
    notes = list(easiness.notes)
    if unknown and by != "random":
        have = counted(unknown, "sentence has", "sentences have")
        notes.append(f"{have} no easiness; they count as the hardest.")
    values = np.where(np.isnan(easiness.values), -1.0, easiness.values).tolist()
    rows = zip(easiness.sentences, values, earlier.tolist(), strict=True)
    return BudgetPlan(
        sentences=easiness.sentences,
        annotate=~carriers(order, total - count),
        easiness=easiness.values,
        rank=rank,
        by=by,
        earlier=earlier,
        notes=tuple(notes),
        signature=Signature.of(
            plan=by,
            annotate=f"{count}/{total}",
            earlier=int(earlier.sum()) if after else None,
            easiness=dict(easiness.signature.fields).get("easiness"),
            sentences_sha=fingerprint(sorted([*s.key, s.text, value, e] for s, value, e in rows)),
            seed=seed if by == "random" else None,
        ),
    )


def in_plans(sentences: Sequence[Sentence], plans: Sequence[BudgetPlan]) -> BoolArray:
    """Whether each sentence is one that a plan, or a plan before it, gave to people: (n,) bool."""
    planned = {
        s
        for plan in plans
        for s, flag in zip(plan.sentences, plan.annotate | plan.earlier, strict=True)
        if flag
    }
    missing = planned - set(sentences)
    if missing:
        s = min(missing, key=lambda s: s.key)
        raise InputError(
            f"an earlier plan gave people {place(*s.key)}, which does not exist",
            expected=f"the sentence '{s.text}'",
            hint="Plan with the same references, split into sentences in the same way.",
        )
    return np.array([s in planned for s in sentences], dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class _Row:
    input: str
    reference: int
    sentence: int
    text: str
    annotate: bool
    rank: int
    easiness: float | None = None
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class _File:
    sentences: list[_Row]
    by: str
    signature: dict[str, Any]
    questions: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_plan(path: str | Path) -> BudgetPlan:
    """Reads a saved plan; its "annotate" may have been changed by hand since.

    Raises:
        InputError: It is not a plan, or a broken one.
    """
    if not isinstance(path, str | Path):
        raise InputError(f"a plan is a {type(path).__name__}", expected="a BudgetPlan or its file")
    expected = "the .json that `litepyramid budget plan -o` writes"
    data = read_document(path, FORMAT, "a budget plan", expected)
    file = as_type(_File, data, what="a broken budget plan", path=path)
    rows = file.sentences
    if not rows:
        raise InputError("a budget plan without sentences", path=path, expected=expected)
    values = [math.nan if row.easiness is None else row.easiness for row in rows]
    fields = tuple((k, str(v)) for k, v in file.signature.items() if k != "version")
    return BudgetPlan(
        sentences=tuple(Sentence(r.input, r.reference, r.sentence, r.text) for r in rows),
        annotate=np.array([row.annotate for row in rows], dtype=np.bool_),
        easiness=np.array(values, dtype=np.float64),
        rank=np.array([row.rank for row in rows], dtype=np.int64),
        by=file.by,
        earlier=np.array([row.earlier for row in rows], dtype=np.bool_),
        questions=file.questions,
        notes=tuple(file.notes),
        signature=Signature(fields),
    )


def _words(text: str) -> int:
    return len(re.findall(r"\w+", text))
