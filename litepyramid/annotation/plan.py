"""Which sentences people should write SCUs for, and the expected quality."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.annotation.budget import check_count, check_price
from litepyramid.checked import built, check_shape, shape_of
from litepyramid.easiness.mix import By, carriers, ranking
from litepyramid.easiness.scores import Easiness
from litepyramid.errors import InputError
from litepyramid.files import read_document, write_json
from litepyramid.stats import mean_of_scored
from litepyramid.tables import HIDDEN, Column, Result, Table, plain, record, row
from litepyramid.text import counted, place
from litepyramid.types import FloatArray, Signature
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
        earlier: (n,) bool, whether an earlier plan gave it to people.
        easiness: (n,) float64, how well STUs are expected to stand in for its SCUs (predicted
            ROUGE-1 F1, ZB21 §3.3); NaN if not known.
        rank: (n,) int64, the order in which to annotate, from 1, most valuable first.
        by: How sentences were chosen.
        per_sentence: What one sentence costs; None if no price was given.
        notes: What a user must know.
        signature: How to reproduce it.
    """

    sentences: tuple[Sentence, ...]
    annotate: BoolArray = field(metadata=HIDDEN)
    easiness: FloatArray = field(metadata=HIDDEN)
    rank: NDArray[np.int64] = field(metadata=HIDDEN)
    by: str
    earlier: BoolArray = field(metadata=HIDDEN)
    per_sentence: float | None = None
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
        stand in: of nobody's work (Lite3), of earlier plans alone, of as many sentences at random,
        of this plan and of everybody's (Lite2). Earlier plans count in all but the first. NaN
        where no easiness is known.
        """
        known = ~np.isnan(self.easiness)
        if not known.any():
            return dict.fromkeys(("nobody", "earlier", "random", "plan", "everybody"), math.nan)
        values, earlier = self.easiness[known], self.earlier[known]
        share = self.count / max(1, int((~self.earlier).sum()))
        before = float(np.where(earlier, 1.0, values).mean())
        return {
            "nobody": float(values.mean()),
            "earlier": before,
            "random": share + (1 - share) * before,
            "plan": float(np.where(earlier | self.annotate[known], 1.0, values).mean()),
            "everybody": 1.0,
        }

    def to_tables(self) -> Sequence[Table]:
        """The budget, its expected quality, and the first sentences to annotate."""
        total = len(self.sentences)
        before = self.earlier & ~self.annotate
        groups = [("people (SCUs)", self.annotate)]
        groups += [("people, earlier plans", before)] if before.any() else []
        groups += [("machine (STUs)", ~self.annotate & ~self.earlier)]
        rows = []
        for name, mask in (*groups, ("all", np.ones(total, dtype=bool))):
            texts = [s for s, chosen in zip(self.sentences, mask, strict=True) if chosen]
            rows.append(
                {
                    "by": name,
                    "sentences": len(texts),
                    "share": len(texts) / total,
                    "inputs": len({s.input for s in texts}),
                    "words": sum(_words(s.text) for s in texts),
                    "easiness": mean_of_scored(self.easiness[mask]),
                }
            )
        columns = (
            *("by", "sentences", Column("share", digits=2), "inputs", "words"),
            Column("easiness", "mean easiness"),
        )
        budget = Table.of("Who covers which sentences", columns, rows, self._budget_notes())
        return [budget, self._expected_table(), *self._first_table()]

    def _budget_notes(self) -> tuple[str, ...]:
        texts = self.chosen()
        scus = SCUS_PER_WORD * sum(_words(s.text) for s in texts)
        notes = [
            f"Expect about {counted(round(scus), 'SCU')} to be written: "
            f"{SCUS_PER_WORD} per word, as in REALSumm."
        ]
        if self.per_sentence is not None:
            left = int((~self.earlier).sum())
            some = f"the {counted(left, 'sentence')} left"
            which = "all of them" if left == len(self.sentences) else some
            notes.append(
                f"Cost: {counted(self.count, 'sentence')} x {_money(self.per_sentence)} = "
                f"{_money(self.count * self.per_sentence)}; {which} would cost "
                f"{_money(left * self.per_sentence)}."
            )
        return (*notes, *self.notes, f"Signature: {self.signature}")

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
        several = any(s.reference for s in self.sentences)
        value = dict(zip(self.sentences, self.easiness.tolist(), strict=True))
        rows = [
            row(s, rank=n, reference=s.reference + 1, sentence=s.sentence + 1, easiness=value[s])
            for n, s in enumerate(self.chosen()[:limit], start=1)
        ]
        columns = (
            *("rank", "input"),
            *((Column("reference", "ref."),) if several else ()),
            Column("sentence", "sent."),
            *("easiness", "text"),
        )
        return [Table.of("First sentences to annotate", columns, rows)] if rows else []

    def to_json(self) -> dict[str, Any]:
        """The whole plan: what `read_plan` reads."""
        names = ("annotate", "earlier", "rank", "easiness")
        columns = [getattr(self, name).tolist() for name in names]
        sentences = [
            {**record(s), **dict(zip(names, values, strict=True))}
            for s, *values in zip(self.sentences, *columns, strict=True)
        ]
        head = {"format": FORMAT, "version": 1, "by": self.by, "annotate": self.count}
        return {**head, **record(self), "expected": self.expected(), "sentences": sentences}


def plan_budget(
    easiness: Easiness,
    count: int,
    *,
    by: By = "easiness",
    seed: int | None = None,
    per_sentence: float | None = None,
    cost: float | None = None,
    after: Sequence[BudgetPlan] = (),
) -> BudgetPlan:
    """Gives people the `count` sentences for which extracted units are worst.

    All sentences of all inputs are ranked together by easiness and the hardest are annotated: the
    same split as `easiness.mix.mix` makes with the other sentences carrying STUs (ZB21 §3.3).

    Args:
        easiness: Predicted (or gold) easiness of every sentence.
        count: How many sentences people annotate; `sentence_budget` gives it.
        by: ``easiness`` or ``gold`` the hardest first (by the values in `easiness`), ``reversed``
            the easiest first, ``random`` any order.
        seed: Seed of the random order; needed for it.
        per_sentence: What one sentence costs, for the report.
        cost: What there is to spend, to say what is left of it.
        after: Earlier plans of the same references: the sentences that they give to people, and
            those of the plans before them, are not chosen again.

    Raises:
        InputError: There are no sentences, the budget or the price is impossible, the seed is
            missing, or an earlier plan has a sentence that is not there.

    Example:
        >>> import numpy as np
        >>> s = (Sentence("a", 0, 0, "It rained."), Sentence("a", 0, 1, "The old, rusty bridge."))
        >>> plan = plan_budget(Easiness(s, np.array([0.9, 0.3])), 1)
        >>> [x.text for x in plan.chosen()], round(plan.expected()["plan"], 2)
        (['The old, rusty bridge.'], 0.95)
    """
    total = len(easiness.sentences)
    if not total:
        raise InputError("no sentences to plan for", expected="at least one reference sentence")
    earlier = in_plans(easiness.sentences, after)
    check_count(count, total - int(earlier.sum()))
    check_price(per_sentence)
    if by == "random" and seed is None:
        raise InputError(
            "a random plan needs a seed", hint="Give one, so that the result can be reproduced."
        )
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
    if cost is not None and per_sentence is not None:
        left = Decimal(str(cost)) - count * Decimal(str(per_sentence))
        if left > 0:
            notes.append(f"Of the budget of {_money(cost)}, {_money(float(left))} is left.")
    return BudgetPlan(
        sentences=easiness.sentences,
        annotate=~carriers(order, total - count),
        easiness=easiness.values,
        rank=rank,
        by=by,
        earlier=earlier,
        per_sentence=per_sentence,
        notes=tuple(notes),
        signature=Signature.of(
            plan=by,
            annotate=f"{count}/{total}",
            earlier=int(earlier.sum()) if after else None,
            easiness=dict(easiness.signature.fields).get("easiness"),
            seed=seed if by == "random" else None,
        ),
    )


def in_plans(sentences: Sequence[Sentence], plans: Sequence[BudgetPlan]) -> BoolArray:
    """Whether each sentence is one that a plan, or a plan before it, gave to people: (n,) bool.

    Raises:
        InputError: A plan gave people a sentence that is none of these.
    """
    given = {
        s
        for plan in plans
        for s, flag in zip(plan.sentences, plan.annotate | plan.earlier, strict=True)
        if flag
    }
    missing = given - set(sentences)
    if missing:
        s = min(missing, key=lambda s: s.key)
        raise InputError(
            f"an earlier plan gave people {place(*s.key)}, which does not exist",
            expected=f"the sentence '{s.text}'",
            hint="Plan with the same references, split into sentences in the same way.",
        )
    return np.array([s in given for s in sentences], dtype=np.bool_)


def write_plan(path: str | Path, plan: BudgetPlan) -> None:
    """Writes the plan as JSON, all or nothing."""
    write_json(path, plain(plan.to_json()))


def read_plan(path: str | Path) -> BudgetPlan:
    """Reads what `write_plan` wrote; "annotate" may have been changed by hand since.

    Raises:
        InputError: It is not a plan, or a broken one: an "annotate" is neither true nor false ….
    """
    expected = "what `litepyramid budget plan -o` writes"
    data = read_document(path, FORMAT, "a budget plan", expected)
    check_shape(data, _PLAN, what="a broken budget plan", path=path)
    rows = data["sentences"]
    if not rows:
        raise InputError("a budget plan without sentences", path=path, expected=expected)
    for given in rows:
        if not isinstance(given["annotate"], bool):
            raise InputError(
                f'"annotate" is {json.dumps(given["annotate"])} for '
                f"{place(*built(Sentence, given).key)}",
                path=path,
                expected="true or false",
            )
    values = [math.nan if r["easiness"] is None else r["easiness"] for r in rows]
    fields = tuple((k, str(v)) for k, v in data["signature"].items() if k != "version")
    return BudgetPlan(
        sentences=tuple(built(Sentence, row) for row in rows),
        annotate=np.array([r["annotate"] for r in rows], dtype=np.bool_),
        easiness=np.array(values, dtype=np.float64),
        rank=np.array([r["rank"] for r in rows], dtype=np.int64),
        by=data["by"],
        earlier=np.array([r.get("earlier") is True for r in rows], dtype=np.bool_),
        per_sentence=data["per_sentence"],
        notes=tuple(data["notes"]),
        signature=Signature(fields),
    )


_PLAN = {
    "sentences": [
        {
            **shape_of(Sentence),
            "annotate": object,
            "earlier?": bool,
            "easiness": (None, float),
            "rank": int,
        }
    ],
    "by": str,
    "per_sentence": (None, float),
    "notes": [str],
    "signature": {str: object},
}


def _words(text: str) -> int:
    return len(re.findall(r"\w+", text))


def _money(value: float) -> str:
    return f"{value:.2f}"
