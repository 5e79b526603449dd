"""From people's answers to units and labels; nothing is lost, and oddities are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from litepyramid.annotation.agreement import AgreementResult, agree
from litepyramid.annotation.forms import Response, ResponseFile, read_responses
from litepyramid.annotation.tasks import TaskSet, read_tasks
from litepyramid.errors import InputError, choose
from litepyramid.files import check_names, check_output, new_folder, write_json, write_jsonl
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
_LISTED = 5


@dataclass(frozen=True)
class Completion:
    """What became of the responses: how many tasks are done, and the names of all others.

    Attributes:
        tasks: Number of tasks that went out.
        done: How many are answered in full.
        started: Tasks that are answered in part, or whose answer is a draft.
        open: Tasks that nobody has answered.
        unknown: Responses to tasks that did not go out; left out.
        duplicates: Responses set aside because the same worker gave a later one, which counts.
        extra: Answers to units that a task does not have; left out.
        notes: What the readers left out.
    """

    tasks: int
    done: int
    started: tuple[str, ...]
    open: tuple[str, ...]
    unknown: tuple[str, ...]
    duplicates: tuple[str, ...]
    extra: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """The same for people; what did not happen is not mentioned."""
        return (
            f"Done: {self.done} of {counted(self.tasks, 'task')}.",
            *_listed("Started but not done", self.started),
            *_listed("Not started", self.open),
            *_listed("Left out: answers to unknown tasks", self.unknown),
            *_listed("Set aside: the same worker answered again", self.duplicates),
            *_listed("Left out: answers to units that are not in the task", self.extra),
            *self.notes,
        )


@dataclass(frozen=True)
class Answers(Result):
    """What people's answers gave, `WrittenUnits` or `JudgedLabels`.

    The units are those of every input that has any, or of the inputs whose labels are complete.
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
        notes += _listed("Done, no fact, so no unit", self.no_fact)
        what = "Answers that give facts and “no fact” at once, counted as started"
        notes += _listed(what, self.contradictory)
        notes += _listed("Several workers wrote for", self.several)
        if self.fallen_back:
            what = "STUs" if self.earlier_scus is None else "what they had"
            notes.append(f"Sentences not done yet, so carrying {what}: {self.fallen_back}.")
        notes += _listed("Left out: inputs without a unit", self.without)
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
        notes += _listed("Left out: inputs not complete in every system", self.incomplete)
        if not self.units:
            notes.append("No input is complete yet, so there is nothing to score.")
        columns = (Column("system"), Column("inputs"), Column("labels"), Column("present"))
        labels = Table("Presence labels", columns, tuple(rows), tuple(notes))
        return [labels, *self.agreement.to_tables()]

    def to_json(self) -> dict[str, Any]:
        """Everything but the texts, with the labels by system and input."""
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


def collect_units(
    tasks: TaskSet,
    answers: ResponseFile,
    *,
    others: Sequence[InputUnits] | None = None,
    writers: Writers = "first",
    drafts: bool = False,
) -> WrittenUnits:
    """Makes units of the SCUs that people wrote; every other sentence carries its STUs.

    A sentence that people found no fact in is done and carries neither. `others` are STUs of the
    same inputs, or, if there is an SCU among them, the units of an earlier import.
    """
    rows, unknown, duplicates = _sorted(tasks, answers)
    scus: dict[Place, list[str]] = {}
    names: dict[str, list[str]] = {
        key: [] for key in ("started", "open", "no_fact", "contradictory", "several")
    }
    for task in tasks.writing:
        responses = [r for r in rows.get(task.id, {}).values() if r.scus or r.no_fact]
        contradictory = [r for r in responses if r.contradictory]
        names["contradictory"] += [f"{task.name} by {r.worker} ({r.source})" for r in contradictory]
        finished = [r for r in responses if r.done or drafts]
        if not finished:
            names["started" if responses else "open"].append(task.name)
            continue
        if len(finished) > 1:
            who = [r.worker if r.scus else f"{r.worker} (no fact)" for r in finished]
            names["several"].append(f"{task.name}: {', '.join(who)}")
        counting = finished if writers == "all" else finished[:1]
        texts = list(dict.fromkeys(text for r in counting for text in r.scus))
        scus[task.input, task.reference, task.sentence] = texts
        if not texts:
            names["no_fact"].append(task.name)
    earlier = any(unit.kind == "scu" for entry in others or () for unit in entry.units)
    units = _merged(tasks, scus, others, earlier)
    kinds = [unit.kind for entry in units for unit in entry.units]
    now = sum(map(len, scus.values()))
    named = {key: tuple(several) for key, several in names.items()}
    return WrittenUnits(
        units=tuple(entry for entry in units if entry.units),
        progress=Completion(
            tasks=len(tasks.writing),
            done=len(scus),
            started=named.pop("started"),
            open=named.pop("open"),
            unknown=unknown,
            duplicates=duplicates,
            notes=answers.notes,
        ),
        signature=Signature.of(
            tasks=tasks.digest, writers=writers, drafts="yes" if drafts else None,
            **data_hashes(units=[entry for entry in units if entry.units]),
        ),
        scus=now,
        earlier_scus=kinds.count("scu") - now if earlier else None,
        stus=kinds.count("stu"),
        fallen_back=0 if others is None else len(tasks.writing) - len(scus),
        without=tuple(entry.input for entry in units if not entry.units),
        **named,
    )  # fmt: skip


def _merged(
    tasks: TaskSet,
    written: Mapping[Place, Sequence[str]],
    others: Sequence[InputUnits] | None,
    earlier: bool,
) -> list[InputUnits]:
    """The units of all inputs, perhaps none: SCUs by their sentences, then STUs as they came."""
    names = dict.fromkeys(s.input for s in tasks.sentences)
    base = {entry.input: entry for entry in others or ()}
    for entry in base.values() if earlier else ():
        for unit in entry.units:
            if any(e.reference is None or e.sentence is None for e in unit.entries()):
                raise InputError(
                    f"unit '{unit.text}' of input '{entry.input}' does not say its sentence",
                    expected="only STUs, or units that `litepyramid budget import` wrote",
                )
    missing = [name for name in names if name not in base]
    if missing and others is not None and not earlier:
        hint = "Give the STUs of the references that the plan was made from."
        raise InputError(f"input '{missing[0]}' has no STUs", hint=hint)
    scus: dict[Place, list[Unit]] = {
        key: [Unit(text, 1.0, "scu", *key[1:]) for text in texts] for key, texts in written.items()
    }
    machine: dict[str, list[Unit]] = {name: [] for name in names}
    for aligned in align_all([base[name] for name in names if name in base], tasks.sentences):
        name = aligned.units.input
        for unit in aligned.units.units:
            key = (name, unit.reference or 0, unit.sentence or 0)
            if key not in written:
                (machine[name] if unit.kind == "stu" else scus.setdefault(key, [])).append(unit)
    human: dict[str, list[Unit]] = {name: [] for name in names}
    for s in tasks.sentences:
        human[s.input] += scus.get(s.key, [])
    questions = {t.input: t.question for t in tasks.writing}
    questions |= {name: entry.question for name, entry in base.items() if entry.question}
    entries = [
        InputUnits(name, tuple(human[name] + machine[name]), questions.get(name)) for name in names
    ]
    return entries + [entry for name, entry in base.items() if earlier and name not in names]


def collect_labels(
    tasks: TaskSet,
    answers: ResponseFile,
    *,
    noisy_above: float | None = 0.5,
    min_compared: int = 10,
    drafts: bool = True,
    gold: Sequence[SystemLabels] = (),
) -> JudgedLabels:
    """Makes presence labels of yes and no answers, see `agreement.agree`.

    Each answer counts by itself, even if its task is incomplete; labels are of the inputs of which
    each unit of each system's summary has an answer. Empty summaries contain nothing.
    """
    rows, unknown, duplicates = _sorted(tasks, answers)
    offsets = np.cumsum([0] + [len(t.units) for t in tasks.judging])
    workers = list(dict.fromkeys(worker for by_worker in rows.values() for worker in by_worker))
    table = np.full((len(workers), int(offsets[-1])), np.nan)
    extra = []
    for task, offset in zip(tasks.judging, offsets, strict=False):
        for worker, response in rows.get(task.id, {}).items():
            if not response.finished and not drafts:
                continue
            for index, present in response.presence.items():
                if 0 <= index < len(task.units):
                    table[workers.index(worker), offset + index] = present
                else:
                    extra.append(f"{task.name}: {index + 1} ({response.source})")
    if np.isnan(table).all():
        raise _foreign(tasks, unknown)
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
    by_task = np.split(agreement.labels, offsets[1:-1])
    missing = [np.isnan(row) for row in by_task]
    named = [(task.name, row) for task, row in zip(tasks.judging, missing, strict=True)]
    progress = Completion(
        tasks=len(tasks.judging),
        done=sum(not row.any() for row in missing),
        started=tuple(name for name, row in named if row.any() and not row.all()),
        open=tuple(name for name, row in named if row.all()),
        unknown=unknown,
        duplicates=duplicates,
        extra=tuple(extra),
        notes=answers.notes,
    )
    return _labels(tasks, agreement, by_task, progress)


def _labels(
    tasks: TaskSet, agreement: AgreementResult, by_task: Sequence[FloatArray], progress: Completion
) -> JudgedLabels:
    """The labels of the inputs that are complete."""
    texts = {(t.system, t.input): t.summary for t in tasks.judging}
    sizes = {entry.input: len(entry.units) for entry in tasks.units}
    labels = {cell: np.zeros(sizes[cell[1]]) for cell in tasks.blank}
    labels |= dict(zip(texts, by_task, strict=True))
    complete = tuple(
        entry
        for entry in tasks.units
        if not any(np.isnan(labels[system, entry.input]).any() for system in tasks.systems)
    )
    names = tuple(entry.input for entry in complete)
    hashes = (("tasks", tasks.digest), ("inputs_sha", fingerprint(names)))
    return JudgedLabels(
        complete,
        progress,
        Signature((*hashes, *agreement.signature.fields)),
        tuple(
            SystemLabels(s, names, tuple(tuple(map(int, labels[s, name])) for name in names))
            for s in tasks.systems
        ),
        tuple(
            SystemSummaries(s, names, tuple(texts.get((s, name), "") for name in names))
            for s in tasks.systems
        ),
        tuple(e.input for e in tasks.units if e.input not in names),
        agreement,
    )


def write_judged(folder: Path, judged: JudgedLabels) -> None:
    """Writes a folder that can be scored: units.jsonl, summaries/, labels/, agreement.json.

    If no input is complete, there is nothing to score and agreement.json is all there is.
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


def _sorted(
    tasks: TaskSet, answers: ResponseFile
) -> tuple[dict[str, dict[str, Response]], tuple[str, ...], tuple[str, ...]]:
    """By task id and worker the response that counts; those to unknown tasks, those set aside.

    Of a worker's two the later saved, or read, counts, but one that is done before a draft.
    """
    by_id = {task.id: task for task in tasks.tasks}
    rows: dict[str, dict[str, Response]] = {}
    unknown: list[str] = []
    duplicates: list[str] = []
    for response in answers.responses:
        task = by_id.get(response.task)
        if task is None:
            unknown.append(f"{response.task} ({response.source})")
            continue
        by_worker = rows.setdefault(task.id, {})
        before = by_worker.get(response.worker)
        if before is not None:
            if before.saved and response.saved and response.saved < before.saved:
                before, response = response, before
            if response.presence:
                # An earlier answer to a unit that the later one leaves out counts.
                response = replace(response, presence={**before.presence, **response.presence})
            elif before.done and not response.done:
                before, response = response, before
            duplicates.append(f"{task.name} by {before.worker} ({before.source})")
        by_worker[response.worker] = response
    others = tuple(dict.fromkeys(unknown))
    if not rows:
        raise _foreign(tasks, others)
    return rows, others, tuple(dict.fromkeys(duplicates))


def _foreign(tasks: TaskSet, unknown: Sequence[str]) -> InputError:
    """The error for answers none of which belongs to the tasks."""
    return InputError(
        "no answer belongs to these tasks",
        expected=f"answers to the {counted(len(tasks.ids), f'{tasks.kind} task')} in tasks.json",
        hint=_listed("Answers to unknown tasks", unknown)[0] if unknown else None,
    )


def _listed(what: str, names: Sequence[str]) -> list[str]:
    """A sentence with the first names, and how many more there are; none if there is none."""
    more = len(names) - _LISTED
    rest = f"; and {more} more, all of them in the .json" if more > 0 else ""
    return [f"{what} ({len(names)}): {'; '.join(names[:_LISTED])}{rest}."] if names else []
