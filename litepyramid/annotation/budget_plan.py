"""A plan of annotation: its sentences, its budget, and the expected quality."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.annotation.sampling import minutes, reading_time
from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import read_document
from litepyramid.identity import fingerprint
from litepyramid.language import words
from litepyramid.stats import mean_of_scored
from litepyramid.tables import Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import Fields, Signature, Texts
from litepyramid.units.align import Sentence

FORMAT = "litepyramid-plan"

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
        hours = writing_hours(self.chosen(), self.seconds)
        notes = (
            f"Expect about {counted(scus, 'SCU')} to be written: {SCUS_PER_WORD} per "
            "word, as in REALSumm.",
            f"Time: about {hours:.1f} hours ({60 * hours:.0f} minutes), at {reading:g} "
            f"seconds to read a sentence and {writing:g} to write an SCU (your own: "
            "--hours 6@30+60).",
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


def read_plan(source: BudgetPlan | str | Path) -> BudgetPlan:
    """A plan as it is, or from its file; its "annotate" may have been changed by hand
    since."""
    if isinstance(source, BudgetPlan):
        return source

    expected = (
        "the .json that `litepyramid budget plan -o` writes (to judge presence, "
        "summaries and their units: --units)"
    )
    path, data = read_document(source, FORMAT, "a budget plan", expected)
    made = as_type(BudgetPlan, data, what="a broken budget plan", path=path)
    if not made.sentences:
        raise InputError(
            "a budget plan without sentences", path=path, expected=expected
        )
    return made


def _words(sentences: Sequence[Sentence]) -> int:
    return sum(len(words(sentence.text)) for sentence in sentences)


def writing_hours(sentences: Sequence[Sentence], seconds: str) -> float:
    """What reading sentences and writing their SCUs takes."""
    return minutes(seconds, len(sentences), SCUS_PER_WORD * _words(sentences)) / 60
