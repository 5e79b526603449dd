"""Tasks for people, written as a page, for Label Studio, or as a sheet."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.annotation.forms import WRITERS, Form
from litepyramid.annotation.plan import BudgetPlan, read_plan, reader_options
from litepyramid.annotation.tasks import (
    TASK_FILE,
    TaskSet,
    judging_tasks,
    write_tasks,
    writing_tasks,
)
from litepyramid.checked import as_type
from litepyramid.errors import InputError, choose
from litepyramid.files import check_names, file_type, new_folder
from litepyramid.io.coerce import as_summaries, as_units
from litepyramid.io.dataset import Dataset
from litepyramid.tables import HIDDEN, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import InputUnits, OutPath, Signature, SystemSummaries


@dataclass(frozen=True, slots=True)
class ExportResult(Result):
    """What was written.

    Attributes:
        files: The files; last the task file, which is needed for the answers.
        sample: Of how many inputs these are a random sample; None if they are all.
        seed: The seed of the sample.
    """

    tasks: TaskSet = field(metadata=HIDDEN)
    form: Form
    files: tuple[Path, ...]
    sample: int | None = None
    seed: int | None = None

    @property
    def signature(self) -> Signature:
        """The tasks' identity."""
        return Signature.of(tasks=self.tasks.digest, form=self.form, seed=self.seed)

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
        }
        notes = [f"Wrote {path}" for path in self.files]
        if self.sample is not None:
            notes.append(
                f"The inputs are a random sample of {counted(self.sample, 'input')} (seed "
                f"{self.seed}): labels of them can be combined with a judge's scores of all."
            )
        notes.append(f"Keep {TASK_FILE}: `litepyramid budget import` needs it.")
        rows = tuple((what, number) for what, number in counts.items() if number)
        return [Table("Tasks", (Column("what"), Column("number")), rows, tuple(notes))]

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        inputs = [*dict.fromkeys(task.input for task in self.tasks.tasks)]
        about = {"kind": self.tasks.kind, "tasks": len(self.tasks.ids), "inputs": inputs}
        return {**about, **record(self), "signature": self.signature.to_json()}


def export(
    work: Any,
    output: OutPath,
    *,
    units: Any = None,
    inputs: int | None = None,
    form: Form = "page",
    parts: int = 1,
    title: str | None = None,
    seed: int = 12345,
    **names: Any,
) -> ExportResult:
    """Export tasks for people: SCU writing from a plan, presence judging from summaries.

    Args:
        work: A plan (people write SCUs); or, with units, the summaries to judge.
        output: New or empty folder for the tasks; importing the answers needs it again.
        units: The units that people look for in the summaries.
        inputs: Judge a random sample of this many inputs, with the summaries of all systems.
        form: page (one web page that works offline), label-studio, or csv (a sheet to fill in).
        parts: Number of pages or files to split the tasks into.
        title: What people see above the tasks.
        seed: Seed of the random sample.
        **names: `ids` and `columns`, as for `load`.

    Raises:
        InputError: The folder is not empty, or the summaries do not fit the units.

    Command line:
        $ litepyramid budget plan example/references.jsonl --human-share 0.5 -o plan.json
        $ litepyramid budget export plan.json -o tasks
        $ litepyramid budget export example/summaries --units example/scus.jsonl -o judging
    """
    choose("form", form, tuple(WRITERS))
    heading = {} if title is None else {"title": as_type(str, title, what="title")}
    sample = None
    if units is None and not isinstance(work, Dataset):
        is_file = isinstance(work, str | Path)
        if not isinstance(work, BudgetPlan) and (not is_file or file_type(work) == "folder"):
            raise InputError(
                "no plan, and no units to judge",
                path=work if is_file else None,
                expected="one plan; or summaries together with their units",
            )
        if inputs is not None:
            raise InputError("a sample of inputs of a plan", expected="summaries and units")
        tasks = writing_tasks(read_plan(work) if is_file else work, **heading)
    else:
        if units is None:
            entries, systems = work.units, work.summaries
        else:
            readers = reader_options(names)
            entries = as_units(units, **readers)
            systems = as_summaries(work, [entry.input for entry in entries], **readers)
        if inputs is not None:
            sample = len(entries)
            entries, systems = _sample(entries, systems, inputs, seed)
        tasks = judging_tasks(systems, entries, **heading)
    files = write_export(tasks, output, form, parts)
    return ExportResult(tasks, form, files, sample, None if sample is None else seed)


def _sample(
    units: Sequence[InputUnits], summaries: Sequence[SystemSummaries], number: int, seed: int
) -> tuple[list[InputUnits], list[SystemSummaries]]:
    """A random sample of the inputs; the order of the file does not change which."""
    if not 1 <= as_type(int, number, what="inputs") <= len(units):
        raise InputError(f"a sample of {number}", expected=f"from 1 to {len(units)} inputs")
    names = sorted(entry.input for entry in units)
    rng = np.random.default_rng(seed)
    drawn = {names[i] for i in rng.choice(len(names), number, replace=False)}
    places = [i for i, entry in enumerate(units) if entry.input in drawn]
    order = tuple(units[i].input for i in places)
    return [units[i] for i in places], [
        SystemSummaries(
            s.system, order, tuple(s.texts[i] for i in places), tuple(drawn & {*s.missing})
        )
        for s in summaries
    ]


def write_export(
    tasks: TaskSet, output: str | Path, form: Form = "page", parts: int = 1
) -> tuple[Path, ...]:
    """Writes the tasks in one form, and the task file that answers are read with."""
    total = len(tasks.ids)
    if not 1 <= as_type(int, parts, what="parts") <= total:
        raise InputError(f"{counted(parts, 'part')}", expected=f"from 1 to {total}, one task each")
    check_names(tasks.systems)  # the labels' files will be called so
    written: list[str] = []
    with new_folder(Path(output)) as folder:
        for n in range(parts):
            some = tasks.part(n * total // parts, (n + 1) * total // parts)
            written += WRITERS[form](some, folder, f"-{n + 1}" if parts > 1 else "")
        write_tasks(folder / TASK_FILE, tasks)
    return tuple(Path(output) / name for name in dict.fromkeys([*written, TASK_FILE]))
