"""From people's answers to units and labels; nothing is lost, and oddities are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from litepyramid.annotation.agreement import AgreementResult, agree, random_labels
from litepyramid.annotation.completion import (
    Completion,
    listed,
    nothing_belongs,
    sort_responses,
)
from litepyramid.annotation.fill import fill
from litepyramid.annotation.forms.responses import ResponseFile
from litepyramid.annotation.tasks import TaskSet
from litepyramid.errors import InputError
from litepyramid.tables import Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import FloatArray, InputUnits, Signature, SystemLabels, SystemSummaries

Writers = Literal["first", "all"]


@dataclass(frozen=True)
class WrittenUnits(Result):
    """Units with the SCUs that people wrote.

    Attributes:
        units: The units of every input that has any: SCUs of the sentences that are done, and
            STUs of all others where STUs were given.
        progress: What became of the responses.
        scus: How many SCUs were written for sentences that are done.
        earlier_scus: How many SCUs stay from an earlier import; None if nothing was added to one.
        stus: How many STUs stand in for the other sentences.
        fallen_back: Sentences that people should do and have not: they carry STUs, or what the
            earlier import has for them.
        no_fact: Sentences that are done and, as people say, state no fact: they carry no unit.
        contradictory: Answers that give facts and say that there are none, as "task by worker
            (place)"; they count as begun.
        several: Sentences that several workers wrote SCUs for, as "task: workers".
        without: Inputs left without a unit, so left out.
        signature: The settings.
    """

    units: tuple[InputUnits, ...]
    progress: Completion
    scus: int
    earlier_scus: int | None
    stus: int
    fallen_back: int
    no_fact: tuple[str, ...]
    contradictory: tuple[str, ...]
    several: tuple[str, ...]
    without: tuple[str, ...]
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """Units by kind, and the progress in notes."""
        notes = list(self.progress.sentences())
        if self.progress.started:
            notes.append("To include started answers: --drafts.")
        notes += listed("Done, no fact, so no unit", self.no_fact)
        what = "Answers that give facts and “no fact” at once, counted as started"
        notes += listed(what, self.contradictory)
        notes += listed("Several workers wrote for", self.several)
        if self.fallen_back:
            what = "STUs" if self.earlier_scus is None else "what they had"
            notes.append(f"Sentences not done yet, so carrying {what}: {self.fallen_back}.")
        notes += listed("Left out: inputs without a unit", self.without)
        rows: list[tuple[str, str, int]] = [("SCU", "people", self.scus)]
        if self.earlier_scus is not None:
            rows.append(("SCU", "people, earlier", self.earlier_scus))
        rows.append(("STU", "machine", self.stus))
        columns = (Column("kind"), Column("written_by", "written by"), Column("units"))
        title = f"Units of {counted(len(self.units), 'input')}"
        return [Table(title, columns, tuple(rows), (*notes, f"Signature: {self.signature}"))]


@dataclass(frozen=True)
class JudgedLabels(Result):
    """Presence labels that people gave.

    Attributes:
        units: The units of the inputs that are complete.
        labels: One entry per system, of those inputs.
        summaries: Their summaries, so that scoring can run on just these inputs.
        incomplete: Inputs left out because a summary still lacks an answer to a unit.
        agreement: Majority, workers, alpha, over every answer including those of such inputs.
        progress: What became of the responses.
        rounds: Labels as above of one random answer per item instead of the majority, by round.
    """

    units: tuple[InputUnits, ...]
    labels: tuple[SystemLabels, ...]
    summaries: tuple[SystemSummaries, ...]
    incomplete: tuple[str, ...]
    agreement: AgreementResult
    progress: Completion
    rounds: tuple[tuple[SystemLabels, ...], ...] = ()

    @property
    def signature(self) -> Signature:
        """How the answers became labels."""
        return self.agreement.signature

    def to_tables(self) -> Sequence[Table]:
        """The labels by system, then the workers."""
        rows = []
        for entry in self.labels:
            flat = [label for row in entry.labels for label in row]
            share = sum(flat) / len(flat) if flat else float("nan")
            rows.append((entry.system, len(entry.inputs), len(flat), share))
        notes = list(self.progress.sentences())
        notes += listed("Left out: inputs not complete in every system", self.incomplete)
        if self.rounds:
            said = "One random answer per item, in labels-round1"
            notes.append(f"{said} to {len(self.rounds)}." if len(self.rounds) > 1 else f"{said}.")
        if not self.units:
            notes.append("No input is complete yet, so there is nothing to score.")
        columns = (Column("system"), Column("inputs"), Column("labels"), Column("present"))
        labels = Table("Presence labels", columns, tuple(rows), tuple(notes))
        return [labels, *self.agreement.to_tables()]

    def to_json(self) -> dict[str, Any]:
        """Everything, with the labels."""
        labels, *rounds = (
            {entry.system: dict(zip(entry.inputs, entry.labels, strict=True)) for entry in entries}
            for entries in (self.labels, *self.rounds)
        )
        return {
            "labels": labels,
            "rounds": rounds,
            "incomplete": self.incomplete,
            "agreement": {k: v for k, v in self.agreement.to_json().items() if k != "labels"},
            "progress": record(self.progress),
        }


def collect_units(
    tasks: TaskSet,
    answers: ResponseFile,
    *,
    stus: Sequence[InputUnits] | None = None,
    onto: Sequence[InputUnits] | None = None,
    writers: Writers = "first",
    drafts: bool = False,
) -> WrittenUnits:
    """Makes units of the SCUs that people wrote; every other sentence carries its STUs.

    A sentence that people found no fact in is done and carries neither. An answer that gives facts
    and says that there are none is one that was begun.

    Args:
        tasks: The writing tasks that went out.
        answers: What came back, perhaps half of it.
        stus: STUs of the same inputs: they stand for the sentences that the plan leaves to the
            machine, and for those that nobody has done yet. Without them only SCUs come back.
        onto: Instead of STUs the units of an earlier import, each with its sentence: what they
            have stays for every sentence that is not done here.
        writers: Whose SCUs to take where several wrote: the ``first`` in the order of the files,
            or ``all`` of them with the same text taken once.
        drafts: Whether to take answers that were not marked as finished.

    Raises:
        InputError: The tasks are not writing tasks, no answer belongs to them, the STUs are of
            other inputs; or as `fill.fill`.
    """
    if tasks.kind != "writing":
        raise InputError("these are not SCU writing tasks", expected="writing tasks")
    rows, unknown, duplicates = sort_responses(tasks, answers)
    if not rows:
        raise nothing_belongs(tasks, unknown)
    scus: dict[tuple[str, int, int], list[str]] = {}
    started: list[str] = []
    open_: list[str] = []
    no_fact: list[str] = []
    contradictory: list[str] = []
    several: list[str] = []
    for task in tasks.writing:
        given = [r for r in rows.get(task.id, {}).values() if r.scus or r.no_fact]
        odd = [r for r in given if r.contradictory]
        contradictory += [f"{task.name} by {r.worker} ({r.place})" for r in odd]
        finished = [r for r in given if r.done or drafts]
        if not finished:
            (started if given else open_).append(task.name)
            continue
        if len(finished) > 1:
            names = [r.worker if r.scus else f"{r.worker} (no fact)" for r in finished]
            several.append(f"{task.name}: {', '.join(names)}")
        taken = finished if writers == "all" else finished[:1]
        texts = dict.fromkeys(text for r in taken for text in r.scus)
        scus[task.input, task.reference, task.sentence] = list(texts)
        if not texts:
            no_fact.append(task.name)
    units, without = fill(tasks, scus, stus=stus, onto=onto)
    kinds = [unit.kind for entry in units for unit in entry.units]
    now = sum(map(len, scus.values()))
    return WrittenUnits(
        units=units,
        progress=Completion(
            tasks=len(tasks.writing),
            done=len(scus),
            started=tuple(started),
            open=tuple(open_),
            unknown=unknown,
            duplicates=duplicates,
            notes=answers.notes,
        ),
        scus=now,
        earlier_scus=None if onto is None else kinds.count("scu") - now,
        stus=kinds.count("stu"),
        fallen_back=0 if stus is None and onto is None else len(started) + len(open_),
        no_fact=tuple(no_fact),
        contradictory=tuple(contradictory),
        several=tuple(several),
        without=without,
        signature=Signature.of(
            tasks=tasks.digest, writers=writers, drafts="yes" if drafts else None
        ),
    )


def collect_labels(
    tasks: TaskSet,
    answers: ResponseFile,
    *,
    noisy_above: float | None = 0.5,
    min_compared: int = 10,
    drafts: bool = True,
    rounds: int = 0,
    seed: int = 12345,
    gold: Sequence[SystemLabels] = (),
) -> JudgedLabels:
    """Makes presence labels of yes and no answers: noisy workers dropped, majority, tie = absent.

    Args:
        tasks: The judging tasks that went out.
        answers: The answers; each counts by itself, even if its task is incomplete.
        noisy_above: See `agreement.agree`.
        min_compared: See `agreement.agree`.
        drafts: Whether to take answers that were not marked as finished.
        rounds: How often to draw one answer an item too, from the workers who were kept.
        seed: Seed of these draws.
        gold: Known labels of some summaries, that workers are compared with (`agreement.agree`).

    Returns:
        Labels of the inputs that are complete: each unit of each system's summary has an answer
        from a worker who was kept. Empty summaries contain nothing and are complete.

    Raises:
        InputError: The tasks are not judging tasks, or there is no answer at all.
    """
    if tasks.kind != "judging":
        raise InputError("these are not presence judging tasks", expected="judging tasks")
    rows, unknown, duplicates = sort_responses(tasks, answers)
    offsets = np.cumsum([0] + [len(t.units) for t in tasks.judging])
    workers = list(dict.fromkeys(worker for found in rows.values() for worker in found))
    row_of = {worker: row for row, worker in enumerate(workers)}
    table = np.full((len(workers), int(offsets[-1])), np.nan)
    extra = []
    for task, offset in zip(tasks.judging, offsets, strict=False):
        for worker, response in rows.get(task.id, {}).items():
            if not response.finished and not drafts:
                continue
            for index, present in response.presence.items():
                if 0 <= index < len(task.units):
                    table[row_of[worker], offset + index] = present
                else:
                    extra.append(f"{task.name}: {index + 1} ({response.place})")
    if np.isnan(table).all():
        raise nothing_belongs(tasks, unknown)
    known = {
        (entry.system, name): row
        for entry in gold
        for name, row in zip(entry.inputs, entry.labels, strict=True)
        if row
    }
    checks = [known.get((t.system, t.input), (np.nan,) * len(t.units)) for t in tasks.judging]
    agreement = agree(
        table,
        workers,
        noisy_above=noisy_above,
        min_compared=min_compared,
        gold=np.concatenate(checks) if known else None,
    )
    dropped = {w.worker for w in agreement.workers if w.dropped}
    kept = [row for worker, row in row_of.items() if worker not in dropped]
    drawn = random_labels(table[kept], rounds, np.random.default_rng(seed))
    started: list[str] = []
    open_: list[str] = []
    for task, start, end in zip(tasks.judging, offsets, offsets[1:], strict=False):
        missing = np.isnan(agreement.labels[start:end])
        if missing.any():
            (open_ if missing.all() else started).append(task.name)
    return _labels(
        tasks,
        [agreement.labels, *drawn],
        agreement,
        Completion(
            tasks=len(tasks.judging),
            done=len(tasks.judging) - len(started) - len(open_),
            started=tuple(started),
            open=tuple(open_),
            unknown=unknown,
            duplicates=duplicates,
            extra=tuple(extra),
            notes=answers.notes,
        ),
    )


def _labels(
    tasks: TaskSet, by_round: Sequence[FloatArray], agreement: AgreementResult, progress: Completion
) -> JudgedLabels:
    texts = {(t.system, t.input): t.summary for t in tasks.judging}
    sizes = {entry.input: len(entry.units) for entry in tasks.units}
    blank = {(system, name): np.zeros(sizes[name]) for system, name in tasks.blank}
    ends = np.cumsum([sizes[name] for _, name in texts])[:-1]
    found, *rounds = (
        {**blank, **dict(zip(texts, np.split(labels, ends), strict=True))} for labels in by_round
    )
    complete = tuple(
        entry
        for entry in tasks.units
        if not any(np.isnan(found[system, entry.input]).any() for system in tasks.systems)
    )
    names = tuple(entry.input for entry in complete)

    def of_systems(found: Mapping[tuple[str, str], FloatArray]) -> tuple[SystemLabels, ...]:
        return tuple(
            SystemLabels(s, names, tuple(tuple(map(int, found[s, name])) for name in names))
            for s in tasks.systems
        )

    return JudgedLabels(
        units=complete,
        labels=of_systems(found),
        rounds=tuple(map(of_systems, rounds)),
        summaries=tuple(
            SystemSummaries(s, names, tuple(texts.get((s, name), "") for name in names))
            for s in tasks.systems
        ),
        incomplete=tuple(e.input for e in tasks.units if e.input not in set(names)),
        agreement=agreement,
        progress=progress,
    )
