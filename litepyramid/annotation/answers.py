"""From people's answers to units and labels; nothing is lost, and oddities are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from litepyramid.annotation.agreement import AgreementResult, agree
from litepyramid.annotation.forms import label_studio, page, sheet
from litepyramid.annotation.responses import (
    Completion,
    ResponseFile,
    listed,
    nothing_belongs,
    sort_responses,
)
from litepyramid.annotation.tasks import TaskSet, read_tasks
from litepyramid.checked import parse_json
from litepyramid.errors import InputError, choose
from litepyramid.files import (
    check_names,
    check_output,
    new_folder,
    read_text,
    write_json,
    write_jsonl,
)
from litepyramid.io.coerce import as_labels, as_units
from litepyramid.io.write import write_labels, write_units
from litepyramid.tables import Column, Result, Table, plain, record
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    InputUnits,
    OutPath,
    Signature,
    SystemLabels,
    SystemSummaries,
    Unit,
    data_hashes,
    fingerprint,
)
from litepyramid.units.align import Place, align_all

Writers = Literal["first", "all"]


@dataclass(frozen=True)
class Answers(Result):
    """What people's answers gave: `WrittenUnits` or `JudgedLabels`.

    Attributes:
        units: The units: of every input that has any, or of the inputs whose labels are complete.
        progress: What became of the responses.
        signature: The settings, and hashes of the data.
    """

    units: tuple[InputUnits, ...]
    progress: Completion
    signature: Signature


@dataclass(frozen=True)
class WrittenUnits(Answers):
    """Units with the SCUs that people wrote.

    Attributes:
        scus: How many SCUs were written for sentences that are done.
        earlier_scus: How many SCUs stay from an earlier import; None if nothing was added to one.
        stus: How many STUs stand in for the other sentences.
        fallen_back: Sentences that people should do and have not: they carry STUs, or what the
            earlier import has for them.
        no_fact: Sentences that are done and, as people say, state no fact: they carry no unit.
        contradictory: Answers that give facts and say that there are none, as "task by worker
            (source)"; they count as started.
        several: Sentences that several workers wrote SCUs for, as "task: workers".
        without: Inputs left without a unit, so left out.
    """

    forms: ClassVar[Mapping[str, str]] = {".jsonl": "write_lines"}

    scus: int
    earlier_scus: int | None
    stus: int
    fallen_back: int
    no_fact: tuple[str, ...]
    contradictory: tuple[str, ...]
    several: tuple[str, ...]
    without: tuple[str, ...]

    def write_lines(self, path: Path) -> None:
        """Writes the units as JSON Lines."""
        write_units(path, self.units)

    def to_tables(self) -> Sequence[Table]:
        """Units by kind, and the progress in notes."""
        notes = list(self.progress.sentences())
        if self.progress.started:
            notes.append("Started answers are taken on request (drafts).")
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
class JudgedLabels(Answers):
    """Presence labels that people gave.

    Attributes:
        labels: One entry per system, of the inputs that are complete.
        summaries: Their summaries, so that scoring can run on just these inputs.
        incomplete: Inputs left out because a summary still lacks an answer to a unit.
        agreement: Majority, workers, alpha, over every answer including those of such inputs.
    """

    labels: tuple[SystemLabels, ...]
    summaries: tuple[SystemSummaries, ...]
    incomplete: tuple[str, ...]
    agreement: AgreementResult

    def to_tables(self) -> Sequence[Table]:
        """The labels by system, then the workers."""
        rows = []
        for entry in self.labels:
            flat = [label for row in entry.labels for label in row]
            share = sum(flat) / len(flat) if flat else float("nan")
            rows.append((entry.system, len(entry.inputs), len(flat), share))
        notes = list(self.progress.sentences())
        notes += listed("Left out: inputs not complete in every system", self.incomplete)
        if not self.units:
            notes.append("No input is complete yet, so there is nothing to score.")
        columns = (Column("system"), Column("inputs"), Column("labels"), Column("present"))
        labels = Table("Presence labels", columns, tuple(rows), tuple(notes))
        return [labels, *self.agreement.to_tables()]

    def to_json(self) -> dict[str, Any]:
        """Everything, with the labels."""
        labels = {e.system: dict(zip(e.inputs, e.labels, strict=True)) for e in self.labels}
        agreement = {k: v for k, v in self.agreement.to_json().items() if k != "labels"}
        return {
            "labels": labels,
            "incomplete": self.incomplete,
            "agreement": agreement,
            "progress": record(self.progress),
            "signature": self.signature.to_json(),
        }


def import_answers(
    tasks: Any,
    answers: Sequence[str | Path],
    *,
    output: OutPath | None = None,
    units: Any = None,
    writers: Writers = "first",
    drafts: bool | None = None,
    noisy_above: float | None = 0.5,
    gold: Any = None,
) -> Answers:
    """Import complete or partial answers: SCUs become units, yes and no become labels.

    Labels are the majority of the workers (a tie is "not present"), noisy ones dropped, of those
    inputs for which every summary has every answer.

    Args:
        tasks: The folder of the export, or its tasks.json.
        answers: Files of answers: the page's JSON, Label Studio's JSON, or filled-in sheets.
        output: Where to write: a file of units (writing), or a new or empty folder for units,
            summaries, labels and agreement (judging).
        units: Writing: STUs for all sentences without finished SCUs; or the units of an earlier
            import, to add to.
        writers: Writing: whose SCUs count if several people wrote some.
        drafts: Count answers that are not marked as finished; by default only in judging.
        noisy_above: Judging: drop workers who contradict the others more often; 1 drops nobody.
        gold: Judging: gold labels of some summaries, to compare workers with.

    Raises:
        InputError: The answers are for other tasks, or cannot be read.

    Command line:
        $ litepyramid budget import tasks answers.json --units stus.jsonl -o scus.jsonl
        $ litepyramid budget import judging answers-*.json -o judged
    """
    choose("writers", writers, ("first", "all"))
    exported = tasks if isinstance(tasks, TaskSet) else read_tasks(tasks)
    responses = read_responses(answers)
    if exported.kind == "writing":
        if output is not None:
            check_output(output, *([answers] if isinstance(answers, str | Path) else answers))
        others = None if units is None else as_units(units, kind="stu")
        written = collect_units(
            exported, responses, others=others, writers=writers, drafts=bool(drafts)
        )
        if output is not None and written.units:
            write_units(output, written.units)
        return written
    if units is not None:
        raise InputError("units with tasks of judging presence", expected="tasks of writing SCUs")
    judged = collect_labels(
        exported,
        responses,
        noisy_above=noisy_above,
        drafts=drafts is None or drafts,
        gold=() if gold is None else as_labels(gold, exported.units, partial=True),
    )
    if output is not None:
        write_judged(Path(output), judged)
    return judged


def read_responses(paths: Sequence[str | Path]) -> ResponseFile:
    """Reads answers in any form, recognised by their content."""
    several = [paths] if isinstance(paths, str | Path) else paths
    if not isinstance(several, Sequence) or not all(isinstance(p, str | Path) for p in several):
        raise InputError(f"answers are {type(paths).__name__}", expected="files of answers")
    if not several:
        raise InputError("no answers given", expected="at least one file")
    files = []
    for path in map(Path, several):
        text = read_text(path)
        if text.lstrip()[:1] in ("[", "{"):
            data = parse_json(text, path=path)
            reader = page if isinstance(data, dict) else label_studio
            files.append(reader.parse_answers(data, path))
        else:
            files.append(sheet.parse_answers(text, path))
    return ResponseFile(
        tuple(response for file in files for response in file.responses),
        tuple(note for file in files for note in file.notes),
    )


def collect_units(
    tasks: TaskSet,
    answers: ResponseFile,
    *,
    others: Sequence[InputUnits] | None = None,
    writers: Writers = "first",
    drafts: bool = False,
) -> WrittenUnits:
    """Makes units of the SCUs that people wrote; every other sentence carries its STUs.

    A sentence that people found no fact in is done and carries neither. An answer that gives facts
    and says that there are none is one that was started.

    Args:
        tasks: The writing tasks that went out.
        answers: What came back, perhaps half of it.
        others: STUs of the same inputs for the sentences that are not done or are left to the
            machine; or, if there is an SCU among them, the units of an earlier import, each with
            its sentence. Without them only SCUs come back.
        writers: Whose SCUs to take where several wrote: the ``first`` in the order of the files,
            or ``all`` of them with the same text taken once.
        drafts: Whether to take answers that were not marked as finished.
    """
    rows, unknown, duplicates = sort_responses(tasks, answers)
    if not rows:
        raise nothing_belongs(tasks, unknown)
    scus: dict[Place, list[str]] = {}
    started: list[str] = []
    untouched: list[str] = []
    no_fact: list[str] = []
    contradictory: list[str] = []
    several: list[str] = []
    for task in tasks.writing:
        responses = [r for r in rows.get(task.id, {}).values() if r.scus or r.no_fact]
        odd = [r for r in responses if r.contradictory]
        contradictory += [f"{task.name} by {r.worker} ({r.source})" for r in odd]
        finished = [r for r in responses if r.done or drafts]
        if not finished:
            (started if responses else untouched).append(task.name)
            continue
        if len(finished) > 1:
            names = [r.worker if r.scus else f"{r.worker} (no fact)" for r in finished]
            several.append(f"{task.name}: {', '.join(names)}")
        taken = finished if writers == "all" else finished[:1]
        texts = dict.fromkeys(text for r in taken for text in r.scus)
        scus[task.input, task.reference, task.sentence] = list(texts)
        if not texts:
            no_fact.append(task.name)
    earlier = any(unit.kind == "scu" for entry in others or () for unit in entry.units)
    units, without = _filled(tasks, scus, others, earlier)
    kinds = [unit.kind for entry in units for unit in entry.units]
    now = sum(map(len, scus.values()))
    return WrittenUnits(
        units=units,
        progress=Completion(
            tasks=len(tasks.writing),
            done=len(scus),
            started=tuple(started),
            open=tuple(untouched),
            unknown=unknown,
            duplicates=duplicates,
            notes=answers.notes,
        ),
        scus=now,
        earlier_scus=kinds.count("scu") - now if earlier else None,
        stus=kinds.count("stu"),
        fallen_back=0 if others is None else len(started) + len(untouched),
        no_fact=tuple(no_fact),
        contradictory=tuple(contradictory),
        several=tuple(several),
        without=without,
        signature=Signature.of(
            tasks=tasks.digest, writers=writers, drafts="yes" if drafts else None,
            **data_hashes(units=units),
        ),
    )  # fmt: skip


def _filled(
    tasks: TaskSet,
    written: Mapping[Place, Sequence[str]],
    others: Sequence[InputUnits] | None,
    earlier: bool,
) -> tuple[tuple[InputUnits, ...], tuple[str, ...]]:
    """The units of all inputs: SCUs by their sentences, then STUs as they came; inputs without."""
    names = dict.fromkeys(s.input for s, _ in tasks.sentences)
    base = [] if others is None else list(others)
    if earlier:
        _check_placed(base)
    elif others is not None:
        missing = [name for name in names if name not in {entry.input for entry in base}]
        if missing:
            raise InputError(
                f"input '{missing[0]}' has no STUs",
                hint="Give the STUs of the references that the plan was made from.",
            )
    sentences = [s for s, _ in tasks.sentences]
    scus: dict[Place, list[Unit]] = {}
    machine: dict[str, list[Unit]] = {name: [] for name in names}
    for aligned in align_all([entry for entry in base if entry.input in names], sentences):
        name = aligned.units.input
        for unit in aligned.units.units:
            key = (name, unit.reference or 0, unit.sentence or 0)
            if key not in written:
                (machine[name] if unit.kind == "stu" else scus.setdefault(key, [])).append(unit)
    human: dict[str, list[Unit]] = {name: [] for name in names}
    for s in sentences:
        texts = written.get(s.key, ())
        human[s.input] += [Unit(t, 1.0, "scu", s.reference, s.sentence) for t in texts]
        human[s.input] += scus.get(s.key, [])
    entries = [InputUnits(name, tuple(human[name] + machine[name])) for name in names]
    if earlier:
        entries += [entry for entry in base if entry.input not in names]
    return (
        tuple(entry for entry in entries if entry.units),
        tuple(entry.input for entry in entries if not entry.units),
    )


def _check_placed(units: Sequence[InputUnits]) -> None:
    for entry in units:
        for unit in entry.units:
            if any(e.reference is None or e.sentence is None for e in unit.entries()):
                raise InputError(
                    f"unit '{unit.text}' of input '{entry.input}' does not say its sentence",
                    expected="only STUs, or units that `litepyramid budget import` wrote",
                )


def collect_labels(
    tasks: TaskSet,
    answers: ResponseFile,
    *,
    noisy_above: float | None = 0.5,
    min_compared: int = 10,
    drafts: bool = True,
    gold: Sequence[SystemLabels] = (),
) -> JudgedLabels:
    """Makes presence labels of yes and no answers: noisy workers dropped, majority, tie = absent.

    Args:
        tasks: The judging tasks that went out.
        answers: The answers; each counts by itself, even if its task is incomplete.
        noisy_above: See `agreement.agree`.
        min_compared: See `agreement.agree`.
        drafts: Whether to take answers that were not marked as finished.
        gold: Gold labels of some summaries, that workers are compared with (`agreement.agree`).

    Returns:
        Labels of the inputs that are complete: each unit of each system's summary has an answer
        from a worker who was not dropped. Empty summaries contain nothing and are complete.
    """
    rows, unknown, duplicates = sort_responses(tasks, answers)
    offsets = np.cumsum([0] + [len(t.units) for t in tasks.judging])
    workers = list(dict.fromkeys(worker for by_worker in rows.values() for worker in by_worker))
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
                    extra.append(f"{task.name}: {index + 1} ({response.source})")
    if np.isnan(table).all():
        raise nothing_belongs(tasks, unknown)
    truth = {
        (entry.system, name): row
        for entry in gold
        for name, row in zip(entry.inputs, entry.labels, strict=True)
        if row
    }
    checks = [truth.get((t.system, t.input), (np.nan,) * len(t.units)) for t in tasks.judging]
    agreement = agree(
        table,
        workers,
        noisy_above=noisy_above,
        min_compared=min_compared,
        gold=np.concatenate(checks) if truth else None,
    )
    started: list[str] = []
    untouched: list[str] = []
    for task, start, end in zip(tasks.judging, offsets, offsets[1:], strict=False):
        missing = np.isnan(agreement.labels[start:end])
        if missing.any():
            (untouched if missing.all() else started).append(task.name)
    progress = Completion(
        tasks=len(tasks.judging),
        done=len(tasks.judging) - len(started) - len(untouched),
        started=tuple(started),
        open=tuple(untouched),
        unknown=unknown,
        duplicates=duplicates,
        extra=tuple(extra),
        notes=answers.notes,
    )
    return _labels(tasks, agreement, offsets[1:-1], progress)


def _labels(
    tasks: TaskSet, agreement: AgreementResult, ends: Any, progress: Completion
) -> JudgedLabels:
    """The labels of the inputs that are complete."""
    texts = {(t.system, t.input): t.summary for t in tasks.judging}
    sizes = {entry.input: len(entry.units) for entry in tasks.units}
    labels: dict[tuple[str, str], FloatArray] = {
        (system, name): np.zeros(sizes[name]) for system, name in tasks.blank
    }
    labels |= dict(zip(texts, np.split(agreement.labels, ends), strict=True))
    complete = tuple(
        entry
        for entry in tasks.units
        if not any(np.isnan(labels[system, entry.input]).any() for system in tasks.systems)
    )
    names = tuple(entry.input for entry in complete)
    return JudgedLabels(
        units=complete,
        labels=tuple(
            SystemLabels(s, names, tuple(tuple(map(int, labels[s, name])) for name in names))
            for s in tasks.systems
        ),
        summaries=tuple(
            SystemSummaries(s, names, tuple(texts.get((s, name), "") for name in names))
            for s in tasks.systems
        ),
        incomplete=tuple(e.input for e in tasks.units if e.input not in set(names)),
        agreement=agreement,
        progress=progress,
        signature=Signature(
            (
                ("tasks", tasks.digest),
                ("inputs_sha", fingerprint(names)),
                *agreement.signature.fields,
            )
        ),
    )


def write_judged(folder: Path, judged: JudgedLabels) -> None:
    """Writes a folder that can be scored: units.jsonl, summaries/, labels/, agreement.json.

    If no input is complete, there is nothing to score and agreement.json is all there is.

    Raises:
        InputError: The folder is not empty, or cannot be written to; or a system's name cannot be
            that of a file.
    """
    check_names(labels.system for labels in judged.labels)
    with new_folder(folder) as new:
        write_json(new / "agreement.json", plain(judged.agreement.to_json()))
        if not judged.units:
            return
        (new / "labels").mkdir()
        (new / "summaries").mkdir()
        write_units(new / "units.jsonl", judged.units)
        for entry in judged.labels:
            write_labels(new / "labels" / f"{entry.system}.jsonl", entry)
        for texts in judged.summaries:
            pairs = zip(texts.inputs, texts.texts, strict=True)
            rows = [{"input": name, "summary": " ".join(text.split())} for name, text in pairs]
            write_jsonl(new / "summaries" / f"{texts.system}.jsonl", rows)
