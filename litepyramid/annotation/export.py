"""Tasks for people: made of a plan or of summaries; a page, for Label Studio, or a
sheet."""

import csv
import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from litepyramid.annotation.plan import BudgetPlan, read_plan
from litepyramid.annotation.sampling import (
    SampleLike,
    Sampling,
    draw_facts,
    minutes,
    reading_time,
)
from litepyramid.checked import as_type, guarded
from litepyramid.data.data import load
from litepyramid.data.records import Fact, Summaries, Unit, Units
from litepyramid.errors import InputError, choose
from litepyramid.files import (
    atomic_write,
    check_names,
    file_type,
    new_folder,
    read_document,
    write_json,
)
from litepyramid.pages import fill_page, fill_template
from litepyramid.scoring.sampled import Spread
from litepyramid.tables import HIDDEN, Result, Table, hidden, record
from litepyramid.text import counted
from litepyramid.types import Fields, Names, OutPath, Signature, Texts
from litepyramid.units.align import Sentence
from litepyramid.units.spelling import untokenized

Kind = Literal["writing", "judging"]
Form = Literal["page", "label-studio", "csv"]
FORMAT = "litepyramid-tasks"
TASK_FILE = "tasks.json"
_HEAD = ("format", "version", "digest")
PACKAGE = "litepyramid.annotation"
NO_FACT = "No fact in this sentence"
"""What people tick where there is nothing to write."""

SHEETS: dict[Kind, Texts] = {
    "writing": ("task_id", "before", "sentence", "after", "facts", "no_fact", "worker"),
    "judging": ("task_id", "summary", "number", "fact", "present", "worker"),
}
"""The columns of a sheet."""


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
        missing: System and input of missing summaries.
        asked: Whether any input has a question, which is shown.
        spread: What was drawn, of a sample.
    """

    kind: Kind
    title: str
    writing: tuple[WritingTask, ...] = ()
    judging: tuple[JudgingTask, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    units: Units = field(default_factory=Units)
    systems: Names = ()
    blank: tuple[tuple[str, str], ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    asked: bool = False
    spread: Spread | None = None

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
) -> TaskSet:
    """One task for each summary: all units of its input, or those of a sample.

    Without a sample they come input by input. Nobody is asked about summaries that are
    empty, or missing.
    """
    if summaries.inputs != units.inputs:
        raise InputError("the inputs of the summaries are not those of the units")
    texts = {}
    blank = []
    missing = []
    for cell, text in summaries.cells():
        if text is None:
            missing.append(cell)
        elif text.strip():
            texts[cell] = text
        else:
            blank.append(cell)
    if not texts:
        raise InputError(
            "there is no summary to judge", expected="at least one that is not empty"
        )

    cells = [(system, name) for name in units.inputs for system in summaries.systems]
    chances: dict[tuple[str, Fact], float] = {}
    if sampling is not None:
        drawing = draw_facts(summaries, units, sampling)
        chances = drawing.chances()
        cells = [*drawing.tasks]
        # Those of a drawn input are drawn too.
        if sampling.way == "inputs":
            blank = [cell for cell in blank if cell in cells]
            missing = [cell for cell in missing if cell in cells]

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

    named = {name for _, name in (*cells, *blank, *missing)}
    return TaskSet(
        "judging",
        title,
        judging=tuple(judging),
        units=units.of_inputs(named),
        systems=summaries.systems,
        blank=tuple(blank),
        missing=tuple(missing),
        asked=any(task.question for task in judging),
        spread=None if sampling is None else sampling.way,
    )


def in_reference_order(units: Units) -> dict[str, list[Fact]]:
    """The facts of each input as the references have them: by reference, sentence and
    text; those of which that is not known come last."""

    def place(pair: tuple[Fact, Unit]) -> tuple[float, float, Fact]:
        fact, unit = pair
        reference, sentence = min(map(_known, unit.entries()))
        return reference, sentence, fact

    facts: dict[str, list[Fact]] = {}
    for fact, _ in sorted(zip(units.facts, units.every, strict=True), key=place):
        facts.setdefault(fact.input, []).append(fact)
    return facts


def _known(unit: Unit) -> tuple[float, float]:
    """The reference and the sentence of a unit; infinite where they are not known."""
    places = unit.reference, unit.sentence
    reference, sentence = [math.inf if n is None else n for n in places]
    return reference, sentence


def write_tasks(path: str | Path, tasks: TaskSet) -> None:
    """Writes the tasks as JSON, all or nothing; answers can be read with it years
    later."""
    head = dict(zip(_HEAD, (FORMAT, 1, tasks.digest), strict=True))
    write_json(path, head | record(tasks))


def read_tasks(path: str | Path) -> TaskSet:
    """Reads what `write_tasks` wrote, unchanged; a folder stands for the ``tasks.json``
    in it."""
    if not isinstance(path, str | Path):
        raise InputError(
            f"tasks are a {type(path).__name__}", expected="the folder of the export"
        )

    path = Path(path) / TASK_FILE if file_type(path) == "folder" else Path(path)
    hint = "the tasks.json that `litepyramid budget export` writes next to the tasks"
    data = read_document(path, FORMAT, "a task file", hint)
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


def _shown(task: WritingTask | JudgingTask) -> Fields:
    """The texts of a task as people see them, never as rows of tokens.

    There is no system: people should not know whose summary they judge.
    """
    row: Fields = {"question": task.question or ""}
    if isinstance(task, JudgingTask):
        row["summary"] = untokenized(task.summary)
        row["units"] = [untokenized(text) for text in task.units]
        return row
    row["before"] = untokenized(" ".join(task.before))
    row["text"] = untokenized(task.text)
    row["after"] = untokenized(" ".join(task.after))
    return row


def render_page(tasks: TaskSet) -> str:
    """The page, with styles, script and tasks inside; it works offline and loads
    nothing."""
    rows = [{"id": task.id, **_shown(task)} for task in tasks.tasks]
    data = {
        "kind": tasks.kind,
        "digest": tasks.digest,
        "title": tasks.title,
        "tasks": rows,
    }
    data["no_fact"] = NO_FACT

    return fill_page(
        PACKAGE,
        "page",
        data,
        title=tasks.title,
        kind=tasks.kind,
        no_fact=NO_FACT,
    )


def _write_page(tasks: TaskSet, folder: Path, suffix: str) -> list[str]:
    with atomic_write(folder / f"page{suffix}.html") as file:
        file.write(render_page(tasks))
    return [f"page{suffix}.html"]


def _write_label_studio(tasks: TaskSet, folder: Path, suffix: str) -> list[str]:
    """The tasks to import into a Label Studio project, and the project's configuration:
    paste it under Settings, Labeling Interface, Code."""
    data = []
    for task in tasks.tasks:
        row = _shown(task)
        # One configuration for all tasks: it has a field for questions, or none.
        if not tasks.asked:
            del row["question"]
        if "units" in row:
            row["units"] = [{"text": text} for text in row["units"]]
        else:
            text = row.pop("text")
            parts = row.pop("before"), f"»{text}«", row.pop("after")
            row |= {"sentence": text, "context": " ".join(filter(None, parts))}
        data.append({"data": {"task_id": task.id, "input": task.input, **row}})

    names = [f"label_studio_tasks{suffix}.json", "label_studio_config.xml"]
    write_json(folder / names[0], data)
    configuration = fill_template(
        PACKAGE,
        f"label_studio_{tasks.kind}.xml",
        title=tasks.title,
        kind=tasks.kind,
        no_fact=NO_FACT,
        asked=tasks.asked,
    )
    with atomic_write(folder / names[1]) as file:
        file.write(configuration)
    return names


def _write_sheet(tasks: TaskSet, folder: Path, suffix: str) -> list[str]:
    """A row for each sentence (facts go into one cell), or for each fact to judge."""
    columns = [*SHEETS[tasks.kind]]
    columns[1:1] = ["question"] if tasks.asked else []
    with atomic_write(folder / f"sheet{suffix}.csv") as file:
        file.write("\ufeff")  # so that spreadsheets read it as UTF-8
        writer = csv.DictWriter(
            file,
            columns,
            restval="",
            extrasaction="ignore",
            lineterminator="\r\n",
        )
        writer.writeheader()

        for task in tasks.tasks:
            row = {"task_id": task.id, **_shown(task)}
            row["sentence"] = row.pop("text", "")
            rows = [row]
            if "units" in row:
                facts = enumerate(row.pop("units"), start=1)
                rows = [{**row, "number": str(n), "fact": text} for n, text in facts]
            for cells in rows:
                writer.writerow({name: guarded(cell) for name, cell in cells.items()})

    return [f"sheet{suffix}.csv"]


WRITERS = {
    "page": _write_page,
    "label-studio": _write_label_studio,
    "csv": _write_sheet,
}
"""Functions of (tasks, folder, suffix) that write the tasks and return the files'
names."""


@dataclass(frozen=True)
class ExportResult(Result):
    """What was written.

    Attributes:
        files: The files; last the task file, which is needed for the answers.
        sampling: How the facts were drawn; None if they are all.
        ways: What as many labels cost in minutes, by how they are spread.
    """

    tasks: TaskSet = field(metadata=HIDDEN)
    form: Form
    files: tuple[Path, ...]
    sampling: Sampling | None = hidden(default=None)
    ways: Mapping[str, float] = field(default_factory=dict)

    @property
    def signature(self) -> Signature:
        """The tasks' identity."""
        seed = None if self.sampling is None else self.sampling.seed
        return Signature.of(
            tasks=self.tasks.digest,
            form=self.form,
            seed=seed,
        )

    def to_tables(self) -> Sequence[Table]:
        """Numbers and files."""
        tasks = self.tasks
        counts = {
            "sentences to write SCUs for": len(tasks.writing),
            "summaries to judge": len(tasks.judging),
            "questions": sum(len(t.units) for t in tasks.judging),
            "systems": len(tasks.systems),
            "inputs": len({t.input for t in tasks.tasks}),
            "empty summaries, skipped": len(tasks.blank),
            "missing summaries, left out": len(tasks.missing),
        }
        notes = [f"Wrote {path}" for path in self.files]

        if self.sampling is not None:
            notes.append(
                f"A random sample (seed {self.sampling.seed}): `litepyramid combine "
                "--labels` combines its labels with a judge's scores of everything."
            )
            times = [f"{time:.0f} minutes as {way}" for way, time in self.ways.items()]
            reading, judging = reading_time(self.sampling.seconds)
            notes.append(
                f"Time to answer: about {', or '.join(times)}, at {reading:g} "
                f"seconds to read a summary and {judging:g} to judge a fact. "
                "`litepyramid budget label-power` says how many labels each way "
                "needs."
            )

        notes.append(f"Keep {TASK_FILE}: `litepyramid budget import` needs it.")
        rows = [row for row in counts.items() if row[1]]
        return [Table.of("Tasks", ("what", "number"), rows, notes)]


def export(
    work: Any,
    output: OutPath,
    *,
    units: Any = None,
    sample: SampleLike = None,
    form: Form = "page",
    parts: int = 1,
    title: str | None = None,
    ids: Any = None,
    columns: Any = None,
) -> ExportResult:
    """Export tasks for people: SCU writing from a plan, presence judging from
    summaries.

    Args:
        work: A plan (people write SCUs); or, with units, the summaries to judge.
        output: New or empty folder for the tasks; importing the answers needs it again.
        units: The units that people look for in the summaries.
        sample: Judge a sample of the facts: a `Sampling`.
        form: page (one web page that works offline), label-studio, or csv (a sheet to
            fill in).
        parts: Number of pages or files to split the tasks into.
        title: What people see above the tasks.
        ids: Ids of the inputs, where rows are matched by order.
        columns: Own names of columns, as NAME=COLUMN,… or a dict.

    Raises:
        InputError: The folder is not empty, or the summaries do not fit the units.

    Command line:
        $ litepyramid budget plan example/references.jsonl --sentences 5 -o plan.json
        $ litepyramid budget export plan.json -o tasks
        $ litepyramid budget export example/summaries -u example/scus.jsonl -o judging
        $ litepyramid budget export example/summaries --units example/scus.jsonl \
          --labels 100 --by scores.json -o sample
    """
    choose("form", form, Form)
    heading = {} if title is None else {"title": as_type(str, title, what="title")}
    if not isinstance(sample, Sampling | None):
        what = f"a sample is a {type(sample).__name__}"
        raise InputError(what, expected="a Sampling: litepyramid.Sampling(100)")

    ways = {}
    if units is None:
        is_file = isinstance(work, str | Path)
        if not isinstance(work, BudgetPlan) and (
            not is_file or file_type(work) == "folder"
        ):
            raise InputError(
                "no plan, and no units to judge",
                path=work if is_file else None,
                expected="one plan; or summaries together with their units",
            )

        if sample is not None:
            raise InputError("a sample of a plan", expected="summaries and units")
        tasks = writing_tasks(read_plan(work) if is_file else work, **heading)
    else:
        # People cannot judge what nobody wrote: missing ones are counted.
        data = load(work, units, ids=ids, columns=columns, nulls="missing")
        tasks = judging_tasks(
            data.summaries,
            data.units,
            sampling=sample,
            **heading,
        )
        if sample is not None:
            ways = _ways(tasks, data.units, sample)

    files = write_export(tasks, output, form, parts)
    return ExportResult(
        tasks,
        form,
        files,
        sample,
        ways,
    )


def _ways(tasks: TaskSet, units: Units, sampling: Sampling) -> dict[str, float]:
    """Minutes for the labels of a sample, as they are spread and in whole summaries."""
    labels = sum(len(task.units) for task in tasks.judging)
    facts = len(units.facts) / len(units)
    ways: dict[str, float] = {}
    ways[sampling.way] = minutes(sampling.seconds, len(tasks.judging), labels)
    if sampling.way == "facts":
        whole = minutes(sampling.seconds, labels / facts, labels)
        ways["whole summaries or inputs"] = whole
    return ways


def write_export(
    tasks: TaskSet, output: str | Path, form: Form = "page", parts: int = 1
) -> tuple[Path, ...]:
    """Writes the tasks in one form, and the task file that answers are read with."""
    total = len(tasks.ids)
    if not 1 <= as_type(int, parts, what="parts") <= total:
        raise InputError(
            f"{counted(parts, 'part')}", expected=f"from 1 to {total}, one task each"
        )

    check_names(tasks.systems)  # the labels' files will be called so
    written = []
    with new_folder(Path(output)) as folder:
        for n in range(parts):
            span = slice(n * total // parts, (n + 1) * total // parts)
            some = replace(
                tasks, writing=tasks.writing[span], judging=tasks.judging[span]
            )
            written += WRITERS[form](some, folder, f"-{n + 1}" if parts > 1 else "")
        write_tasks(folder / TASK_FILE, tasks)

    return tuple(Path(output) / name for name in dict.fromkeys([*written, TASK_FILE]))
