"""Tasks for people, made of a plan or of summaries, and the file that keeps them."""

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from litepyramid.annotation.budget_plan import BudgetPlan
from litepyramid.annotation.sampling import Chances, Sampling, draw_facts
from litepyramid.checked import as_type
from litepyramid.data.records import Fact, Summaries, Units
from litepyramid.disk import write_json
from litepyramid.errors import InputError
from litepyramid.files import read_document
from litepyramid.scoring.sampled import Spread
from litepyramid.tables import record
from litepyramid.types import Names, Texts
from litepyramid.units.align import Sentence

Kind = Literal["writing", "judging"]
FORMAT = "litepyramid-tasks"
TASK_FILE = "tasks.json"
_HEAD = ("format", "version", "digest")


@dataclass(frozen=True)
class WritingTask:
    """Write the SCUs of one sentence, shown between those before and after it."""

    input: str
    reference: int
    sentence: int
    text: str
    before: Texts
    after: Texts
    question: str | None = None

    @property
    def name(self) -> str:
        """How messages speak of it."""
        return (
            f"{self.input}, reference {self.reference + 1}, sentence "
            f"{self.sentence + 1}"
        )

    @property
    def id(self) -> str:
        """What its content makes: another sentence has another id."""
        asked = [self.question] if self.question else []
        return "w-" + _digest(
            [self.input, self.reference, self.sentence, self.text, *asked]
        )


@dataclass(frozen=True)
class JudgingTask:
    """Mark which facts one summary contains; people are not shown the system.

    `facts` are in the order in which people see them; of a sample they are those that
    were drawn, with their `probabilities`.
    """

    system: str
    input: str
    summary: str
    facts: tuple[Fact, ...]
    probabilities: tuple[float, ...] = ()
    question: str | None = None

    @property
    def units(self) -> Texts:
        """The texts of the facts."""
        return tuple([fact.text for fact in self.facts])

    @property
    def name(self) -> str:
        """How messages speak of it."""
        return f"{self.system} on {self.input}"

    @property
    def id(self) -> str:
        """What its content makes."""
        asked = [[self.question]] if self.question else []
        return "j-" + _digest(
            [self.system, self.input, self.summary, *self.units, *asked]
        )


@dataclass(frozen=True)
class TaskSet:
    """All tasks that were exported together; `record` of it is the task file.

    There are writing tasks with all `sentences` of the references, or judging tasks
    with all `units` and `systems`.

    Attributes:
        blank: System and input of empty summaries, which contain no unit: nobody is
            asked.
        asked: Whether any input has a question, which is shown.
        spread: What was drawn, of a sample.
        repeats: Of one of several answers of a system to an input, by the name that
            stands for its system here: that system, and which answer.
    """

    kind: Kind
    title: str
    writing: tuple[WritingTask, ...] = ()
    judging: tuple[JudgingTask, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    units: Units = field(default_factory=Units)
    systems: Names = ()
    blank: tuple[tuple[str, str], ...] = ()
    asked: bool = False
    spread: Spread | None = None
    repeats: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def tasks(self) -> tuple[WritingTask | JudgingTask, ...]:
        """The tasks of either kind."""
        return (*self.writing, *self.judging)

    @property
    def ids(self) -> Names:
        """The tasks' ids in order."""
        return tuple(task.id for task in self.tasks)

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with anything of the tasks."""
        return _digest([record(self)])


def writing_tasks(
    plan: BudgetPlan, title: str = "Write the facts of a sentence"
) -> TaskSet:
    """One task for each sentence that the plan gives to people, most valuable first."""
    if not plan.count:
        raise InputError("the plan gives people no sentence to annotate")
    sentences = tuple(Sentence(*s.key, s.text) for s in plan.sentences)
    references = defaultdict(list)
    for s in sentences:
        references[s.input, s.reference].append(s)
    tasks = []

    for s in plan.chosen():
        around = references[s.input, s.reference]
        i = around.index(Sentence(*s.key, s.text))
        texts = tuple([other.text for other in around])
        tasks.append(
            WritingTask(
                *s.key,
                s.text,
                texts[:i],
                texts[i + 1 :],
                plan.questions.get(s.input),
            )
        )

    asked = any(task.question for task in tasks)
    return TaskSet(
        "writing",
        title,
        tuple(tasks),
        sentences=sentences,
        asked=asked,
    )


def judging_tasks(
    summaries: Summaries,
    units: Units,
    title: str = "Which facts does the summary contain?",
    sampling: Sampling | None = None,
    repeats: Mapping[str, tuple[str, str]] | None = None,
) -> TaskSet:
    """One task for each summary: all units of its input, or those of a sample.

    Without a sample they come input by input. Nobody is asked about summaries that are
    empty or missing; in a sample both hold no fact, as missing ones score 0.
    """
    if summaries.inputs != units.inputs:
        raise InputError("the inputs of the summaries are not those of the units")
    if repeats and sampling is not None:
        raise InputError(
            "a sample of several answers of a system to an input",
            expected="one answer of each, or all answers judged (without --labels)",
        )
    texts = {}
    blank = []
    for cell, text in summaries.cells():
        if text and text.strip():
            texts[cell] = text
        elif text is not None or sampling is not None:
            blank.append(cell)
    if not texts:
        raise InputError(
            "there is no summary to judge", expected="at least one that is not empty"
        )

    cells = [(system, name) for name in units.inputs for system in summaries.systems]
    chances: Chances = {}
    if sampling is not None:
        chances = draw_facts(summaries, units, sampling)
        cells = [*dict.fromkeys([(system, fact.input) for system, fact in chances])]
        # Those of a drawn input are drawn too.
        if sampling.way == "inputs":
            blank = [cell for cell in blank if cell in cells]

    facts = in_reference_order(units)
    judging = []
    for system, name in [cell for cell in cells if cell in texts]:
        asked = facts[name]
        if chances:
            asked = [fact for fact in asked if (system, fact) in chances]
        task = JudgingTask(
            system,
            name,
            texts[system, name],
            facts=tuple(asked),
            probabilities=tuple([chances[system, f] for f in asked if chances]),
            question=units[name].question,
        )
        judging.append(task)

    named = {name for _, name in (*cells, *blank)}
    return TaskSet(
        "judging",
        title,
        judging=tuple(judging),
        units=units.of_inputs(named),
        systems=summaries.systems,
        blank=tuple(blank),
        asked=any(task.question for task in judging),
        spread=None if sampling is None else sampling.way,
        repeats={**(repeats or {})},
    )


def in_reference_order(units: Units) -> dict[str, list[Fact]]:
    """The facts of each input as the references have them: by reference, sentence and
    text; those of which that is not known come last."""
    places = {}
    for fact, unit in zip(units.facts, units.every, strict=True):
        known = []
        for entry in unit.entries():
            numbers = entry.reference, entry.sentence
            known.append([math.inf if n is None else n for n in numbers])
        places[fact] = min(known)

    facts: dict[str, list[Fact]] = {}
    for fact in sorted(places, key=lambda fact: (places[fact], fact)):
        facts.setdefault(fact.input, []).append(fact)
    return facts


def write_tasks(path: str | Path, tasks: TaskSet) -> None:
    """Writes the tasks as JSON, all or nothing; answers can be read with it years
    later."""
    head = dict(zip(_HEAD, (FORMAT, 1, tasks.digest), strict=True))
    write_json(path, head | record(tasks))


def read_tasks(source: TaskSet | str | Path) -> TaskSet:
    """Tasks as they are, or what `write_tasks` wrote, unchanged; a folder stands for
    the ``tasks.json`` in it."""
    if isinstance(source, TaskSet):
        return source

    expected = "the folder that `litepyramid budget export` wrote, or its tasks.json"
    path, data = read_document(source, FORMAT, "a task file", expected, TASK_FILE)
    content = {key: data[key] for key in data if key not in _HEAD}
    if data.get("digest") != _digest([content]):
        raise InputError(
            "the tasks are not those that were exported (their digest differs)",
            path=path,
            hint="Take the file that `litepyramid budget export` wrote, unchanged.",
        )

    return as_type(TaskSet, data, what="a broken task file", path=path)


def _digest(content: Sequence[Any]) -> str:
    text = json.dumps(content, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
