"""Tasks as people see them: a page, files for Label Studio, or a sheet."""

import csv
import io
from pathlib import Path
from typing import Literal

from litepyramid.annotation.tasks import JudgingTask, Kind, TaskSet, WritingTask
from litepyramid.checked import guarded
from litepyramid.disk import write, write_json
from litepyramid.pages import fill_page, fill_template
from litepyramid.types import Fields, Texts
from litepyramid.units.spelling import untokenized

Form = Literal["page", "label-studio", "csv"]
PACKAGE = "litepyramid.annotation"
NO_FACT = "No fact in this sentence"
"""What people tick where there is nothing to write."""

SHEETS: dict[Kind, Texts] = {
    "writing": ("task_id", "before", "sentence", "after", "facts", "no_fact", "worker"),
    "judging": ("task_id", "summary", "number", "fact", "present", "worker"),
}
"""The columns of a sheet."""


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
    write(folder / f"page{suffix}.html", [render_page(tasks)])
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
    # The same for every part.
    write(folder / names[1], [configuration], force=True)
    return names


def _write_sheet(tasks: TaskSet, folder: Path, suffix: str) -> list[str]:
    """A row for each sentence (facts go into one cell), or for each fact to judge."""
    columns = [*SHEETS[tasks.kind]]
    columns[1:1] = ["question"] if tasks.asked else []
    sheet = io.StringIO()
    sheet.write("\ufeff")  # so that spreadsheets read it as UTF-8
    writer = csv.DictWriter(
        sheet,
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

    write(folder / f"sheet{suffix}.csv", [sheet.getvalue()])
    return [f"sheet{suffix}.csv"]


WRITERS = {
    "page": _write_page,
    "label-studio": _write_label_studio,
    "csv": _write_sheet,
}
"""Functions of (tasks, folder, suffix) that write the tasks and return the files'
names."""
