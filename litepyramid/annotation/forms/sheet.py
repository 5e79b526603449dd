"""A sheet to fill in: tasks as CSV out, the same CSV in again."""

from __future__ import annotations

import csv
from pathlib import Path

from litepyramid.annotation.responses import Response, ResponseFile, scu_lines, truth
from litepyramid.annotation.tasks import TaskSet
from litepyramid.checked import guarded
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, stem
from litepyramid.io.rows import csv_rows

_WRITING = ("task_id", "before", "sentence", "after", "facts", "no_fact", "worker")
_JUDGING = ("task_id", "summary", "number", "fact", "present", "worker")


def export_sheet(tasks: TaskSet, folder: Path, suffix: str = "") -> list[Path]:
    """Writes a row for each sentence (facts go into one cell), or for each fact to judge."""
    path = folder / f"sheet{suffix}.csv"
    rows: list[tuple[object, ...]] = [_WRITING if tasks.kind == "writing" else _JUDGING]
    for t in tasks.writing:
        rows.append((t.id, " ".join(t.before), t.text, " ".join(t.after), "", "", ""))
    for j in tasks.judging:
        rows += [(j.id, j.summary, n, text, "", "") for n, text in enumerate(j.units, start=1)]
    with atomic_write(path) as file:
        file.write("\ufeff")  # so that spreadsheets read it as UTF-8
        cells = ([guarded(x) if isinstance(x, str) else x for x in row] for row in rows)
        csv.writer(file, lineterminator="\r\n").writerows(cells)
    return [path]


def parse_answers(text: str, path: Path) -> ResponseFile:
    """Reads a sheet that somebody filled in; without a worker's name, the file's name is it.

    Raises:
        InputError: It has not these columns, or an answer is neither yes nor no.
    """
    columns, rows = csv_rows(path, text)
    judging = {"task_id", "number", "present"} <= set(columns)
    if not judging and not {"task_id", "facts"} <= set(columns):
        raise InputError(
            "is not a filled-in sheet",
            path=path,
            expected=f"a CSV with the columns {', '.join(_JUDGING)}; or {', '.join(_WRITING)}",
            hint="Answers of Label Studio and of the offline page are JSON.",
        )
    responses: dict[tuple[str, str], Response] = {}
    for line, row, _ in rows:
        worker = " ".join(row.get("worker", "").split()) or stem(path)
        task = row["task_id"].strip() or f"no task_id ({path.name}:{line})"
        new = Response(task, worker, f"{path.name}:{line}")
        response = responses.setdefault((task, worker), new)
        if judging:
            number, cell = row["number"].strip(), row["present"].strip()
            if not (number.isascii() and number.isdigit() and 0 < int(number[:10]) < 10**9):
                raise InputError(f"the number {number!r}", path=path, line=line, expected="1, 2 …")
            if cell:
                presence = {**response.presence, int(number) - 1: _yes(cell, path, line)}
                new = Response(task, worker, response.source, presence=presence)
                responses[task, worker] = new
        else:
            tick = row.get("no_fact", "").strip()
            responses[task, worker] = Response(
                task,
                worker,
                response.source,
                scus=response.scus + scu_lines(row["facts"]),
                no_fact=response.no_fact or (bool(tick) and _yes(tick, path, line)),
            )
    return ResponseFile.of(list(responses.values()), path)


def _yes(cell: str, path: Path, line: int) -> bool:
    answer = True if cell.lower() == "x" else truth(cell)
    if answer is None:
        raise InputError(f"the answer {cell!r}", path=path, line=line, expected="yes or no")
    return answer
