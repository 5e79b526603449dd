"""Exports tasks for people: writes them in one form, with the file that keeps them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from litepyramid.annotation.budget_plan import read_plan
from litepyramid.annotation.forms import WRITERS, Form
from litepyramid.annotation.sampling import (
    SampleLike,
    Sampling,
    minutes,
    reading_time,
)
from litepyramid.annotation.tasks import (
    TASK_FILE,
    TaskSet,
    judging_tasks,
    write_tasks,
    writing_tasks,
)
from litepyramid.checked import as_type
from litepyramid.data.data import load
from litepyramid.data.records import Units
from litepyramid.disk import check_names, new_folder
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.tables import HIDDEN, Result, Table, hidden
from litepyramid.text import counted
from litepyramid.types import OutPath, Signature


@dataclass(frozen=True)
class ExportResult(Result):
    """What was written.

    Attributes:
        files: The files; last the task file, which is needed for the answers.
        missing: How many summaries are missing, so that nobody is asked about them.
        sampling: How the facts were drawn; None if they are all.
        ways: What as many labels cost in minutes, by how they are spread.
    """

    tasks: TaskSet = field(metadata=HIDDEN)
    form: Form
    files: tuple[Path, ...]
    missing: int = 0
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
            "systems": len({tasks.repeats.get(s, (s,))[0] for s in tasks.systems}),
            "inputs": len({t.input for t in tasks.tasks}),
            "empty summaries, skipped": len(tasks.blank),
            "missing summaries, left out": self.missing,
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
    no_effect(export, form == "csv", "on a sheet", title=title)
    heading = {} if title is None else {"title": as_type(str, title, what="title")}
    if not isinstance(sample, Sampling | None):
        what = f"a sample is a {type(sample).__name__}"
        raise InputError(what, expected="a Sampling: litepyramid.Sampling(100)")

    ways = {}
    missing = 0
    if units is None:
        if sample is not None:
            raise InputError("a sample of a plan", expected="summaries and units")
        no_effect(export, True, "on a plan", ids=ids, columns=columns)
        tasks = writing_tasks(read_plan(work), **heading)
    else:
        # People cannot judge what nobody wrote: missing ones are counted.
        data = load(work, units, ids=ids, columns=columns, nulls="missing")
        missing = int(data.summaries.missing.sum())
        tasks = judging_tasks(
            data.summaries,
            data.units,
            sampling=sample,
            repeats=data.repeats,
            **heading,
        )
        if sample is not None:
            ways = _ways(tasks, data.units, sample)

    files = write_export(tasks, output, form, parts)
    return ExportResult(
        tasks,
        form,
        files,
        missing,
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
