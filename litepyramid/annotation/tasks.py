"""The tasks that people are given, and the file that stores them until answers come back."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from litepyramid.annotation.plan import BudgetPlan
from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import file_type, read_document, write_json
from litepyramid.tables import HIDDEN, record
from litepyramid.types import InputUnits, SystemSummaries, check_unique
from litepyramid.units.align import Sentence

Kind = Literal["writing", "judging"]
FORMAT = "litepyramid-tasks"
TASK_FILE = "tasks.json"


@dataclass(frozen=True, slots=True)
class WritingTask:
    """Write the SCUs of one sentence.

    Attributes:
        id: Made from the content: another sentence has another id.
        input: The input's id.
        reference: Index of the reference, from 0.
        sentence: Index of the sentence, from 0.
        text: The sentence.
        before: The sentences before it in its reference.
        after: The sentences after it.
    """

    id: str
    input: str
    reference: int
    sentence: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def name(self) -> str:
        """How messages speak of it."""
        return f"{self.input}, reference {self.reference + 1}, sentence {self.sentence + 1}"


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """Mark which units one summary contains; people are not shown the system."""

    id: str
    system: str
    input: str
    summary: str
    units: tuple[str, ...] = field(default=(), metadata=HIDDEN)

    @property
    def name(self) -> str:
        """How messages speak of it."""
        return f"{self.system} on {self.input}"


@dataclass(frozen=True)
class TaskSet:
    """All tasks of one kind that were exported together.

    Attributes:
        kind: ``"writing"`` SCUs or ``"judging"`` presence.
        title: What people see above them.
        writing: The tasks, if the kind is writing.
        judging: The tasks, if the kind is judging.
        sentences: For writing, all sentences of the references with whether people annotate each.
        units: For judging, the units with their weights.
        systems: For judging, the systems in order.
        blank: For judging, (system, input) of the empty summaries: they contain no unit, so
            nobody is asked.
    """

    kind: Kind
    title: str
    writing: tuple[WritingTask, ...] = ()
    judging: tuple[JudgingTask, ...] = ()
    sentences: tuple[tuple[Sentence, bool], ...] = ()
    units: tuple[InputUnits, ...] = ()
    systems: tuple[str, ...] = ()
    blank: tuple[tuple[str, str], ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The tasks' ids in order."""
        return tuple(t.id for t in self.writing) + tuple(t.id for t in self.judging)

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with any task."""
        return _digest([self.kind, *self.ids])


def writing_tasks(plan: BudgetPlan, title: str = "Write the facts of a sentence") -> TaskSet:
    """One task for each sentence that the plan gives to people, most valuable first."""
    if not plan.count:
        raise InputError("the plan gives people no sentence to annotate")
    texts: dict[tuple[str, int], list[Sentence]] = {}
    for s in plan.sentences:
        texts.setdefault((s.input, s.reference), []).append(s)
    tasks = []
    for s in plan.chosen():
        text = texts[s.input, s.reference]
        index = text.index(s)
        around = (tuple(x.text for x in some) for some in (text[:index], text[index + 1 :]))
        tasks.append(WritingTask(_writing_id(*s.key, s.text), *s.key, s.text, *around))
    flags = tuple((s, bool(f)) for s, f in zip(plan.sentences, plan.annotate, strict=True))
    return TaskSet("writing", title, writing=tuple(tasks), sentences=flags)


def judging_tasks(
    summaries: Sequence[SystemSummaries],
    units: Sequence[InputUnits],
    title: str = "Which facts does the summary contain?",
) -> TaskSet:
    """One task for each summary: all units of its input are judged against it.

    Tasks go input by input, so that a worker who does several meets the same facts again.

    Raises:
        InputError: A system's inputs are not those of the units, two systems have one name, or
            all summaries are empty.
    """
    check_unique([s.system for s in summaries], "system")
    names = tuple(entry.input for entry in units)
    for s in summaries:
        if s.inputs != names:
            raise InputError(f"the inputs of system '{s.system}' are not those of the units")
    tasks = []
    blank = []
    for i, entry in enumerate(units):
        for s in summaries:
            if not s.texts[i].strip():
                blank.append((s.system, entry.input))
                continue
            content = (s.system, entry.input, s.texts[i], entry.texts)
            tasks.append(JudgingTask(_judging_id(*content), *content))
    if not tasks:
        raise InputError("there is no summary to judge", expected="at least one that is not empty")
    return TaskSet(
        "judging",
        title,
        judging=tuple(tasks),
        units=tuple(units),
        systems=tuple(s.system for s in summaries),
        blank=tuple(blank),
    )


def some_tasks(tasks: TaskSet, indices: Sequence[int]) -> TaskSet:
    """Some of the tasks, by index."""
    if tasks.kind == "writing":
        return replace(tasks, writing=tuple(tasks.writing[i] for i in indices))
    return replace(tasks, judging=tuple(tasks.judging[i] for i in indices))


def write_tasks(path: str | Path, tasks: TaskSet) -> None:
    """Writes the tasks as JSON, all or nothing; answers can be read with it years later."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": 1,
        "kind": tasks.kind,
        "title": tasks.title,
        "digest": tasks.digest,
        "tasks": [record(task) for task in (*tasks.writing, *tasks.judging)],
    }
    if tasks.kind == "writing":
        data["sentences"] = [{**record(s), "annotate": flag} for s, flag in tasks.sentences]
    else:
        data["units"] = [entry.to_json() for entry in tasks.units]
        data["systems"] = tasks.systems
        data["blank"] = tasks.blank
    write_json(path, data)


@dataclass(frozen=True, slots=True)
class _Sentence:
    input: str
    reference: int
    sentence: int
    text: str
    annotate: bool


@dataclass(frozen=True, slots=True)
class _Writing:
    title: str
    tasks: tuple[WritingTask, ...]
    sentences: tuple[_Sentence, ...]


@dataclass(frozen=True, slots=True)
class _Judging:
    title: str
    tasks: tuple[JudgingTask, ...]
    units: tuple[InputUnits, ...]
    systems: tuple[str, ...]
    blank: tuple[tuple[str, str], ...]


def read_tasks(path: str | Path) -> TaskSet:
    """Reads what `write_tasks` wrote; a folder stands for the ``tasks.json`` in it.

    Raises:
        InputError: It is not a task file, or was changed since: a text no longer has its task's id,
            or the tasks no longer have the file's digest.
    """
    if not isinstance(path, str | Path):
        raise InputError(f"tasks are a {type(path).__name__}", expected="the folder of the export")
    path = Path(path)
    if file_type(path) == "folder":
        path = path / TASK_FILE
    expected = "the tasks.json that `litepyramid budget export` writes next to the tasks"
    data = read_document(path, FORMAT, "a task file", expected)
    tasks = _parse(data, path)
    ids = [_writing_id(t.input, t.reference, t.sentence, t.text) for t in tasks.writing]
    ids += [_judging_id(t.system, t.input, t.summary, t.units) for t in tasks.judging]
    changed = [name for name, made in zip(tasks.ids, ids, strict=True) if name != made]
    if changed or tasks.digest != data.get("digest"):
        raise InputError(
            f"the tasks are not those that were exported (the text of {changed[0]} differs)"
            if changed
            else "the tasks are not those that were exported (their digest differs)",
            path=path,
            hint="Take the file that `litepyramid budget export` wrote, unchanged.",
        )
    return tasks


def _parse(data: dict[str, Any], path: Path) -> TaskSet:
    broken = "a broken task file"
    if data.get("kind") == "writing":
        writing = as_type(_Writing, data, what=broken, path=path)
        sentences = tuple(
            (Sentence(s.input, s.reference, s.sentence, s.text), s.annotate)
            for s in writing.sentences
        )
        return TaskSet("writing", writing.title, writing=writing.tasks, sentences=sentences)
    if data.get("kind") != "judging":
        raise InputError(f"{broken} (its kind)", path=path, expected="writing or judging")
    judging = as_type(_Judging, data, what=broken, path=path)
    texts = {entry.input: entry.texts for entry in judging.units}
    cells = Counter([*judging.blank, *((t.system, t.input) for t in judging.tasks)])
    if cells != Counter(product(judging.systems, texts)):
        what = "not one summary of every system for each input that has units"
        raise InputError(f"{broken} ({what})", path=path)
    return TaskSet(
        "judging",
        judging.title,
        judging=tuple(replace(t, units=texts[t.input]) for t in judging.tasks),
        units=judging.units,
        systems=judging.systems,
        blank=judging.blank,
    )


def _writing_id(name: str, reference: int, sentence: int, text: str) -> str:
    return "w-" + _digest([name, reference, sentence, text])


def _judging_id(system: str, name: str, summary: str, units: Sequence[str]) -> str:
    return "j-" + _digest([system, name, summary, *units])


def _digest(content: Iterable[Any]) -> str:
    text = json.dumps(list(content), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
