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
    """Write the SCUs of one sentence, shown between those before and after it."""

    id: str
    input: str
    reference: int
    sentence: int
    text: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    question: str | None = None

    @property
    def name(self) -> str:
        """How messages speak of it."""
        return f"{self.input}, reference {self.reference + 1}, sentence {self.sentence + 1}"

    @property
    def content_id(self) -> str:
        """The id that its content makes: another sentence has another id."""
        asked = [self.question] if self.question else []
        return "w-" + _digest([self.input, self.reference, self.sentence, self.text, *asked])


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """Mark which units one summary contains; people are not shown the system."""

    id: str
    system: str
    input: str
    summary: str
    units: tuple[str, ...] = field(default=(), metadata=HIDDEN)
    question: str | None = field(default=None, metadata=HIDDEN)

    @property
    def name(self) -> str:
        """How messages speak of it."""
        return f"{self.system} on {self.input}"

    @property
    def content_id(self) -> str:
        """The id that its content makes."""
        asked = [[self.question]] if self.question else []
        return "j-" + _digest([self.system, self.input, self.summary, *self.units, *asked])


@dataclass(frozen=True)
class TaskSet:
    """All tasks of one kind that were exported together; `record` of it is the task file.

    Attributes:
        kind: ``"writing"`` SCUs or ``"judging"`` presence; there are tasks of this kind alone.
        title: What people see above them.
        sentences: For writing, all sentences of the references.
        units: For judging, the units with their weights.
        systems: For judging, the systems in order.
        blank: For judging, (system, input) of the empty summaries: they contain no unit, so
            nobody is asked.
        asked: Whether any input has a question, which is shown.
    """

    kind: Kind
    title: str
    writing: tuple[WritingTask, ...] = ()
    judging: tuple[JudgingTask, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    units: tuple[InputUnits, ...] = ()
    systems: tuple[str, ...] = ()
    blank: tuple[tuple[str, str], ...] = ()
    asked: bool = False

    @property
    def tasks(self) -> tuple[WritingTask | JudgingTask, ...]:
        """The tasks of either kind."""
        return (*self.writing, *self.judging)

    @property
    def ids(self) -> tuple[str, ...]:
        """The tasks' ids in order."""
        return tuple(task.id for task in self.tasks)

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with any task."""
        return _digest([self.kind, *self.ids])

    def part(self, start: int, stop: int) -> TaskSet:
        """The tasks of one part of the pages or files."""
        return replace(self, writing=self.writing[start:stop], judging=self.judging[start:stop])


def writing_tasks(plan: BudgetPlan, title: str = "Write the facts of a sentence") -> TaskSet:
    """One task for each sentence that the plan gives to people, most valuable first."""
    if not plan.count:
        raise InputError("the plan gives people no sentence to annotate")
    references: dict[tuple[str, int], list[Sentence]] = {}
    for s in plan.sentences:
        references.setdefault((s.input, s.reference), []).append(s)
    tasks = []
    for s in plan.chosen():
        texts = [other.text for other in references[s.input, s.reference]]
        i = references[s.input, s.reference].index(s)
        context = tuple(texts[:i]), tuple(texts[i + 1 :])
        task = WritingTask("", *s.key, s.text, *context, plan.questions.get(s.input))
        tasks.append(replace(task, id=task.content_id))
    asked = any(task.question for task in tasks)
    return TaskSet("writing", title, tuple(tasks), sentences=plan.sentences, asked=asked)


def judging_tasks(
    summaries: Sequence[SystemSummaries],
    units: Sequence[InputUnits],
    title: str = "Which facts does the summary contain?",
) -> TaskSet:
    """One task for each summary: all units of its input are judged against it.

    Tasks go input by input, so that a worker who does several meets the same facts again.
    """
    check_unique([s.system for s in summaries], "system")
    names = tuple(entry.input for entry in units)
    for s in summaries:
        if s.inputs != names:
            raise InputError(f"the inputs of system '{s.system}' are not those of the units")
        if s.missing:
            what = f"system '{s.system}' has no summary of input '{s.missing[0]}'"
            raise InputError(what, hint="Leave the input out, or let it count as empty.")
    tasks, blank = [], []
    for i, entry in enumerate(units):
        for s in summaries:
            if not s.texts[i].strip():
                blank.append((s.system, entry.input))
                continue
            task = JudgingTask("", s.system, entry.input, s.texts[i], entry.texts, entry.question)
            tasks.append(replace(task, id=task.content_id))
    if not tasks:
        raise InputError("there is no summary to judge", expected="at least one that is not empty")
    return TaskSet(
        "judging",
        title,
        judging=tuple(tasks),
        units=tuple(units),
        systems=tuple(s.system for s in summaries),
        blank=tuple(blank),
        asked=any(task.question for task in tasks),
    )


def write_tasks(path: str | Path, tasks: TaskSet) -> None:
    """Writes the tasks as JSON, all or nothing; answers can be read with it years later."""
    head = {"format": FORMAT, "version": 1, "digest": tasks.digest}
    write_json(path, {**head, **record(tasks)})


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
    hint = "the tasks.json that `litepyramid budget export` writes next to the tasks"
    data: dict[str, Any] = read_document(path, FORMAT, "a task file", hint)
    broken = "a broken task file"
    tasks: TaskSet = as_type(TaskSet, data, what=broken, path=path)
    units = {entry.input: entry for entry in tasks.units}
    cells = Counter([*tasks.blank, *((t.system, t.input) for t in tasks.judging)])
    if cells != Counter(product(tasks.systems, units)):
        what = "not one summary of every system for each input that has units"
        raise InputError(f"{broken} ({what})", path=path)
    judging = tuple(
        replace(task, units=units[task.input].texts, question=units[task.input].question)
        for task in tasks.judging
    )
    tasks = replace(tasks, judging=judging)
    changed = [task.id for task in tasks.tasks if task.id != task.content_id]
    if changed or tasks.digest != data.get("digest"):
        what = f"the text of {changed[0]} differs" if changed else "their digest differs"
        raise InputError(
            f"the tasks are not those that were exported ({what})",
            path=path,
            hint="Take the file that `litepyramid budget export` wrote, unchanged.",
        )
    return tasks


def _digest(content: Iterable[Any]) -> str:
    text = json.dumps(list(content), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
