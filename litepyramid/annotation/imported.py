"""What people's answers gave: units or labels, and what became of each answer."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from litepyramid.annotation.agreement import AgreementResult
from litepyramid.data.facts import Facts
from litepyramid.data.records import Summaries, Units
from litepyramid.disk import jsonl
from litepyramid.scoring.sampled import SampledLabels
from litepyramid.stats import mean_of_scored
from litepyramid.tables import HIDDEN, Column, Result, Table, hidden, plain
from litepyramid.text import counted
from litepyramid.types import Fields, Signature, Texts

LISTED = 5
"""So many of a kind are named in notes."""

_HEADINGS = {
    "started": "Started but not done",
    "open": "Not started",
    "unknown": "Left out: answers to unknown tasks",
    "skipped": "Left out: skipped by the worker",
    "refused": "Skipped by the worker",
    "extra": "Left out: answers to units that are not in the task",
    "duplicates": "Set aside: the same worker answered again",
    "opposite": "Answered with yes and no by one worker, the later counts",
    "unnamed": "Workers without a name, named as their file",
    "no_fact": "Done, no fact, so no unit",
    "contradictory": "Answers that give facts and “no fact” at once, counted as "
    "started",
    "nothing": "Left out: “n/a”, “none” or “-” in place of a fact",
    "several": "Several workers wrote for",
    "without": "Left out: inputs without a unit",
    "incomplete": "Left out: inputs not complete in every system",
}
"""What can become of tasks, answers and inputs, by the key under which `Answers.named`
has it."""


@dataclass(frozen=True)
class Answers(Result):
    """What people's answers gave, `WrittenUnits` or `JudgedLabels`.

    Attributes:
        units: Of every input that has any, or of the inputs whose labels are complete.
        tasks: How many tasks went out.
        done: How many are answered in full.
        named: All tasks, answers and inputs that something is to be said of, by its key
            in the module's `_HEADINGS`.
        output: What was written, as notes.
    """

    units: Units
    tasks: int
    done: int
    named: Mapping[str, Sequence[str]]
    signature: Signature
    output: Texts = field(default=(), kw_only=True, metadata=HIDDEN)

    def progress(self) -> list[str]:
        """What became of tasks and answers, for people; what did not happen is not
        mentioned."""
        notes = [*self.output, f"Done: {self.done} of {counted(self.tasks, 'task')}."]
        for key, heading in _HEADINGS.items():
            if names := self.named.get(key):
                more = len(names) - LISTED
                rest = (
                    f"; and {more} more, all of them in the .json" if more > 0 else ""
                )
                notes.append(
                    f"{heading} ({len(names)}): {'; '.join(names[:LISTED])}{rest}."
                )
        return notes

    def json_entries(self) -> Fields:
        """What there is, units as a file of units has them."""
        units = [entry.to_json() for entry in self.units]
        return {**super().json_entries(), "units": units}


@dataclass(frozen=True)
class WrittenUnits(Answers):
    """Units with the SCUs that people wrote.

    Attributes:
        written: How many SCUs were written now.
        fallen_back: Sentences that people should do and have not: they carry STUs, or
            what the earlier import has for them.
    """

    forms: ClassVar[Mapping[str, str]] = {".jsonl": "_lines"}

    written: int
    fallen_back: int

    def _lines(self) -> Iterator[str]:
        """The units as JSON Lines."""
        return jsonl(entry.to_json() for entry in self.units)

    def to_tables(self) -> Sequence[Table]:
        """Units by kind, and the progress in notes."""
        notes = self.progress()
        if self.fallen_back:
            notes.append(
                f"Not done yet, so carrying STUs, or what they had: {self.fallen_back}."
            )

        kinds = Counter([unit.kind for unit in self.units.every])
        rows = [
            ("SCU", "people", self.written),
            ("SCU", "people, earlier", kinds["scu"] - self.written),
            ("STU", "machine", kinds["stu"]),
        ]
        notes.append(f"Signature: {self.signature}")
        columns = ("kind", Column("written_by", "written by"), "units")
        title = f"Units of {counted(len(self.units), 'input')}"
        return [Table.of(title, columns, rows, notes)]


@dataclass(frozen=True)
class JudgedLabels(Answers):
    """Presence labels that people gave.

    Attributes:
        labels: Of all systems, on the inputs that are complete; NaN where a summary is
            missing.
        summaries: Their summaries, so that scoring can run on just these inputs.
        agreement: Majority (facts by system and input), workers, alpha, over every
            answer including those of other inputs.
        sample: All labels with their probabilities, of a sample: what `combine` takes.
        repeats: Of one of several answers to an input its system, and which it is.
    """

    labels: Facts = field(metadata=HIDDEN)
    summaries: Summaries = field(metadata=HIDDEN)
    agreement: AgreementResult
    sample: SampledLabels | None = hidden(default=None)
    repeats: Mapping[str, tuple[str, str]] = hidden(default_factory=dict)

    def to_tables(self) -> Sequence[Table]:
        """The labels by system, then the workers."""
        shown = self.labels if self.sample is None else self.sample.labels
        labelled = ~np.isnan(shown.values)
        inputs = (shown.units.sums(labelled) > 0).sum(axis=1)
        rows = []
        for n, system in enumerate(shown.systems):
            share = mean_of_scored(shown.values[n])
            rows.append((system, int(inputs[n]), int(labelled[n].sum()), share))

        notes = self.progress()
        if self.sample is not None:
            drawn = counted(int(self.sample.drawn.sum()), "fact was", "facts were")
            notes.append(
                f"{drawn} drawn, {self.sample.unanswered} have no label; shares are "
                "of the sample, `litepyramid combine --labels` tells those of all "
                "facts."
            )

        columns = ("system", "inputs", "labels", "present")
        table = Table.of("Presence labels", columns, rows, notes)
        return [table, *self.agreement.to_tables()]

    def json_entries(self) -> Fields:
        """What there is, labels by system as files of labels have them."""
        labels = {name: label_rows(self.labels, name) for name in self.labels.systems}
        return {**super().json_entries(), "labels": labels}


def label_rows(labels: Facts, system: str) -> list[Fields]:
    """One row an input: its labels in the order of its units."""
    rows = []
    for name, values in labels.units.split(labels.of_system(system)).items():
        rows.append({"input": name, "labels": plain(values)})
    return rows
