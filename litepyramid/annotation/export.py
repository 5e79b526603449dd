"""Tasks for people, written as a page, for Label Studio, or as a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.annotation.forms.label_studio import export_label_studio
from litepyramid.annotation.forms.page import export_page
from litepyramid.annotation.forms.sheet import export_sheet
from litepyramid.annotation.plan import BudgetPlan, read_plan
from litepyramid.annotation.tasks import (
    TASK_FILE,
    TaskSet,
    judging_tasks,
    some_tasks,
    write_tasks,
    writing_tasks,
)
from litepyramid.checked import as_type
from litepyramid.errors import InputError, choose
from litepyramid.files import check_names, file_type, new_folder
from litepyramid.io.coerce import as_names, as_summaries, as_units
from litepyramid.io.dataset import Dataset
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import InputUnits, OutPath, Signature, SystemSummaries

Form = Literal["page", "label-studio", "csv"]
_FORMS = {"page": export_page, "label-studio": export_label_studio, "csv": export_sheet}


@dataclass(frozen=True, slots=True)
class ExportResult(Result):
    """What was written.

    Attributes:
        tasks: The tasks.
        form: Their form.
        files: The files; last the task file, which is needed for the answers.
        sample: Of how many inputs these are a random sample; None if they are all.
        seed: The seed of the sample.
    """

    tasks: TaskSet
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
        counts: tuple[tuple[str, int], ...]
        if tasks.kind == "writing":
            inputs = len({t.input for t in tasks.writing})
            counts = (("sentences to write SCUs for", len(tasks.writing)), ("inputs", inputs))
        else:
            counts = (
                ("summaries to judge", len(tasks.judging)),
                ("questions", sum(len(t.units) for t in tasks.judging)),
                ("systems", len(tasks.systems)),
                ("inputs", len(tasks.units)),
                ("empty summaries, skipped", len(tasks.blank)),
            )
        notes = [f"Wrote {path}" for path in self.files]
        if self.sample is not None:
            drawn = f"{len(tasks.units)} of {counted(self.sample, 'input')}"
            notes.append(
                f"The inputs are a random sample, {drawn} (seed {self.seed}): labels of them can "
                "be combined with a judge's scores of all."
            )
        notes.append(f"Keep {TASK_FILE}: `litepyramid budget import` needs it.")
        return [Table("Tasks", (Column("what"), Column("number")), counts, tuple(notes))]

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "kind": self.tasks.kind,
            "form": self.form,
            "tasks": len(self.tasks.ids),
            "digest": self.tasks.digest,
            "files": [str(path) for path in self.files],
            "inputs": [entry.input for entry in self.tasks.units],
            "seed": self.seed,
        }


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
    choose("form", form, get_args(Form))
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
        entries, systems = _judged(work, units, names)
        if inputs is not None:
            sample = len(entries)
            entries, systems = _sample(entries, systems, inputs, seed)
        tasks = judging_tasks(systems, entries, **heading)
    files = write_export(tasks, output, form, parts)
    drawn = {} if sample is None else {"sample": sample, "seed": seed}
    return ExportResult(tasks, form, files, **drawn)


def _judged(
    work: Any, units: Any, names: dict[str, Any]
) -> tuple[list[InputUnits], list[SystemSummaries]]:
    if isinstance(work, Dataset) and units is None:
        return list(work.units), list(work.summaries)
    readers = as_names(names.pop("ids", None), names.pop("columns", None))
    if names:
        raise InputError(f"unknown option '{min(names)}'", expected="ids or columns")
    entries = list(as_units(units, **readers))
    return entries, list(as_summaries(work, [entry.input for entry in entries], **readers))


def _sample(
    units: Sequence[InputUnits], summaries: Sequence[SystemSummaries], number: int, seed: int
) -> tuple[list[InputUnits], list[SystemSummaries]]:
    """A random sample of the inputs; the order of the file does not change which."""
    if not 1 <= as_type(int, number, what="inputs") <= len(units):
        raise InputError(f"a sample of {number}", expected=f"from 1 to {len(units)} inputs")
    names = sorted(entry.input for entry in units)
    rng = np.random.default_rng(seed)
    drawn = {names[i] for i in rng.choice(len(names), number, replace=False)}
    return [entry for entry in units if entry.input in drawn], [
        SystemSummaries(
            s.system,
            tuple(name for name in s.inputs if name in drawn),
            tuple(t for name, t in zip(s.inputs, s.texts, strict=True) if name in drawn),
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
    output = Path(output)
    written: list[Path] = []
    with new_folder(output) as folder:
        for n in range(parts):
            indices = range(n * total // parts, (n + 1) * total // parts)
            suffix = f"-{n + 1}" if parts > 1 else ""
            written += _FORMS[form](some_tasks(tasks, indices), folder, suffix)
        write_tasks(folder / TASK_FILE, tasks)
        written.append(folder / TASK_FILE)
    return tuple(dict.fromkeys(output / path.name for path in written))
