"""The tasks that people are given, and the file that stores them until answers come back."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
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
    def id(self) -> str:
        """What its content makes: another sentence has another id."""
        asked = [self.question] if self.question else []
        return "w-" + _digest([self.input, self.reference, self.sentence, self.text, *asked])


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """Mark which units one summary contains; people are not shown the system."""

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
    def id(self) -> str:
        """What its content makes."""
        asked = [[self.question]] if self.question else []
        return "j-" + _digest([self.system, self.input, self.summary, *self.units, *asked])


@dataclass(frozen=True)
class TaskSet:
    """All tasks that were exported together; `record` of it is the task file.

    There are writing tasks with all `sentences` of the references, or judging tasks with all
    `units` and `systems`, and with the (system, input) of `blank` summaries, which contain no unit:
    nobody is asked. `asked`: whether any input has a question, which is shown.
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
    sentences = tuple(Sentence(*s.key, s.text) for s in plan.sentences)
    references: defaultdict[tuple[str, int], list[Sentence]] = defaultdict(list)
    for s in sentences:
        references[s.input, s.reference].append(s)
    tasks = []
    for s in plan.chosen():
        around = references[s.input, s.reference]
        i = around.index(Sentence(*s.key, s.text))
        before, after = (tuple(o.text for o in part) for part in (around[:i], around[i + 1 :]))
        tasks.append(WritingTask(*s.key, s.text, before, after, plan.questions.get(s.input)))
    asked = any(task.question for task in tasks)
    return TaskSet("writing", title, tuple(tasks), sentences=sentences, asked=asked)


def judging_tasks(
    summaries: Sequence[SystemSummaries],
    units: Sequence[InputUnits],
    title: str = "Which facts does the summary contain?",
) -> TaskSet:
    """One task for each summary, input by input: all units of its input are judged against it."""
    systems = tuple(s.system for s in summaries)
    check_unique(systems, "system")
    for s in summaries:
        if s.inputs != tuple(entry.input for entry in units):
            raise InputError(f"the inputs of system '{s.system}' are not those of the units")
        if s.missing:
            what = f"system '{s.system}' has no summary of input '{s.missing[0]}'"
            raise InputError(what, hint="Leave the input out, or let it count as empty.")
    tasks = [
        JudgingTask(s.system, entry.input, s.texts[i], entry.texts, entry.question)
        for i, entry in enumerate(units)
        for s in summaries
    ]
    judging = tuple(task for task in tasks if task.summary.strip())
    if not judging:
        raise InputError("there is no summary to judge", expected="at least one that is not empty")
    return TaskSet(
        "judging",
        title,
        judging=judging,
        units=tuple(units),
        systems=systems,
        blank=tuple((task.system, task.input) for task in tasks if not task.summary.strip()),
        asked=any(task.question for task in judging),
    )


def write_tasks(path: str | Path, tasks: TaskSet) -> None:
    """Writes the tasks as JSON, all or nothing; answers can be read with it years later."""
    head = {"format": FORMAT, "version": 1, "digest": tasks.digest}
    write_json(path, {**head, **record(tasks)})


def read_tasks(path: str | Path) -> TaskSet:
    """Reads what `write_tasks` wrote, unchanged; a folder stands for the ``tasks.json`` in it."""
    if not isinstance(path, str | Path):
        raise InputError(f"tasks are a {type(path).__name__}", expected="the folder of the export")
    path = Path(path) / TASK_FILE if file_type(path) == "folder" else Path(path)
    hint = "the tasks.json that `litepyramid budget export` writes next to the tasks"
    data: dict[str, Any] = read_document(path, FORMAT, "a task file", hint)
    tasks: TaskSet = as_type(TaskSet, data, what="a broken task file", path=path)
    units = {entry.input: entry for entry in tasks.units}
    cells = Counter([*tasks.blank, *((t.system, t.input) for t in tasks.judging)])
    if cells == Counter(product(tasks.systems, units)):
        judging = tuple(
            replace(t, units=units[t.input].texts, question=units[t.input].question)
            for t in tasks.judging
        )
        tasks = replace(tasks, judging=judging)
        if tasks.digest == data.get("digest"):
            return tasks
    what = "the tasks are not those that were exported (their digest differs)"
    hint = "Take the file that `litepyramid budget export` wrote, unchanged."
    raise InputError(what, path=path, hint=hint)


def _digest(content: Sequence[Any]) -> str:
    text = json.dumps(content, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
