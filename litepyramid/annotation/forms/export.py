"""The forms that tasks can take, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from litepyramid.annotation.forms.label_studio import export_label_studio
from litepyramid.annotation.forms.mturk import export_mturk
from litepyramid.annotation.forms.page import export_page
from litepyramid.annotation.tasks import TaskSet, part_of, read_tasks, write_tasks
from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.io.folders import check_names, filled_folder
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import Signature

Form = Literal["page", "label-studio", "mturk"]
FORMS: dict[Form, Callable[[TaskSet, Path, str], list[Path]]] = {
    "page": export_page,
    "label-studio": export_label_studio,
    "mturk": export_mturk,
}
PARTS: dict[Form, str] = {
    "page": "page*.html",
    "label-studio": "label_studio_tasks*.json",
    "mturk": "mturk_tasks*.csv",
}
TASK_FILE = "tasks.json"


@dataclass(frozen=True, slots=True)
class ExportResult(Result):
    """What was written.

    Attributes:
        tasks: The tasks.
        form: Their form.
        files: The files; last the task file, which is needed for the answers.
        stale: Pages or batches of an earlier export of these tasks that are still in the folder.
    """

    tasks: TaskSet
    form: Form
    files: tuple[Path, ...]
    stale: tuple[Path, ...] = ()

    @property
    def signature(self) -> Signature:
        """The tasks' identity."""
        return Signature.of(tasks=self.tasks.digest, form=self.form)

    def to_tables(self) -> Sequence[Table]:
        """Numbers and files."""
        tasks = self.tasks
        counts: tuple[tuple[str, int], ...]
        if tasks.kind == "writing":
            inputs = len({t.input for t in tasks.writing})
            counts = (("sentences to write SCUs for", len(tasks.writing)), ("inputs", inputs))
        else:
            questions = sum(len(t.units) for t in tasks.judging)
            counts = (
                ("summaries to judge", len(tasks.judging)),
                ("questions", questions),
                ("systems", len(tasks.systems)),
                ("inputs", len(tasks.units)),
                ("empty summaries, skipped", len(tasks.blank)),
            )
        notes = [f"Wrote {path}" for path in self.files]
        if self.stale:
            names = ", ".join(path.name for path in self.stale)
            notes.append(f"Still there from an earlier export of the same tasks: {names}.")
        notes.append(f"Keep {self.files[-1].name}: `litepyramid budget import` needs it.")
        return [Table("Tasks", (Column("what"), Column("number")), counts, tuple(notes))]

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "kind": self.tasks.kind,
            "form": self.form,
            "tasks": len(self.tasks.ids),
            "digest": self.tasks.digest,
            "files": [str(path) for path in self.files],
            "stale": [str(path) for path in self.stale],
        }


def export_tasks(
    tasks: TaskSet,
    folder: str | Path,
    form: Form,
    *,
    parts: int = 1,
    shares: Sequence[Sequence[int]] | None = None,
) -> ExportResult:
    """Writes the tasks in one form, and the task file that answers are read with.

    Args:
        tasks: What people are to do.
        folder: Where to; it is made if it does not exist. It may hold the same tasks in another
            form, or dealt out otherwise.
        form: ``page``, ``label-studio`` or ``mturk``.
        parts: Split the tasks into this many sets of files of about equal size, in order; the one
            task file reads the answers to all of them.
        shares: Instead, the tasks of each set by index; they may overlap.

    Raises:
        InputError: There is no such form, there are fewer tasks than parts, the folder holds
            other tasks (without their task file nobody's answers to them could be read) or a file
            of yours that would be overwritten, or it cannot be written to.
    """
    if form not in FORMS:
        raise InputError(f"unknown form '{form}'", expected=", ".join(FORMS))
    total = len(tasks.ids)
    if not 1 <= parts <= total:
        raise InputError(f"{counted(parts, 'part')}", expected=f"from 1 to {total}, one task each")
    dealt = shares or [range(n * total // parts, (n + 1) * total // parts) for n in range(parts)]
    folder = Path(folder)
    _check_tasks(folder, tasks)
    check_names(tasks.systems)  # the labels' files will be called so
    written: list[Path] = []
    with filled_folder(folder, "tasks", keep=True) as new:
        for number, indices in enumerate(dealt, start=1):
            suffix = f"-{number}" if parts > 1 or shares else ""
            written += FORMS[form](part_of(tasks, indices), new, suffix)
        write_tasks(new / TASK_FILE, tasks)
    files = dict.fromkeys(folder / path.name for path in (*written, new / TASK_FILE))
    stale = sorted(set(folder.glob(PARTS[form])) - set(files))
    return ExportResult(tasks, form, tuple(files), tuple(stale))


def _check_tasks(folder: Path, tasks: TaskSet) -> None:
    """Raises InputError if the folder holds the task file of other tasks."""
    path = folder / TASK_FILE
    if file_type(path) is None:
        return
    try:
        same = read_tasks(path).digest == tasks.digest
    except InputError:
        same = False
    if not same:
        raise InputError(
            "holds other tasks, whose answers could no longer be read",
            path=folder,
            expected="a folder of its own for every set of tasks",
            hint="Name another folder, or delete this one if nobody was given its tasks.",
        )
