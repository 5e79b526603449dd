"""Pyramid files of DUC and TAC written out as the files that the other commands read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litepyramid.duc.peers import PyramidFolder
from litepyramid.errors import InputError
from litepyramid.files import check_output, write_jsonl, writing
from litepyramid.io.folders import check_names, filled_folder
from litepyramid.io.labels import write_labels
from litepyramid.io.units import write_units
from litepyramid.tables import HIDDEN, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import SystemSummaries


@dataclass(frozen=True, slots=True)
class Converted(Result):
    """What was written.

    Attributes:
        rows: Per input: SCUs, contributors, references, annotated summaries.
        inputs: The inputs' names.
        files: The files and folders written.
        notes: What a user must know.
    """

    rows: tuple[tuple[int, int, int, int], ...] = field(metadata=HIDDEN)
    inputs: tuple[str, ...]
    files: tuple[Path, ...]
    notes: tuple[str, ...]

    def to_tables(self) -> Sequence[Table]:
        """One row per input."""
        columns = (
            Column("input"),
            Column("scus", "SCUs"),
            Column("contributors"),
            Column("references"),
            Column("annotations", "annotated summaries"),
        )
        rows = tuple((name, *row) for name, row in zip(self.inputs, self.rows, strict=True))
        notes = (*self.notes, *(f"Wrote {path}" for path in self.files))
        return [Table(f"Pyramids of {counted(len(rows), 'input')}", columns, rows, notes)]

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        names = ("scus", "contributors", "references", "annotations")
        rows = (dict(zip(names, row, strict=True)) for row in self.rows)
        return {**record(self), "inputs": dict(zip(self.inputs, rows, strict=True))}


def convert(
    folder: PyramidFolder,
    units: Path,
    *,
    labels: Path | None = None,
    summaries: Path | None = None,
    references: Path | None = None,
) -> Converted:
    """Writes the units with their weights and, where wanted, what else the files hold.

    Args:
        folder: The pyramids and annotations.
        units: The unit file to write; missing folders are made.
        labels: Folder for presence labels, one file per system.
        summaries: Folder for the annotated summaries, one file per system.
        references: File for the references, one line per sentence.

    Raises:
        InputError: There is nothing to write to one of them, it cannot be written, or it is one
            of the files that were read.
    """
    if (labels or summaries) and not folder.annotations:
        raise InputError("no annotated summary", expected="at least one .pan file")
    check_names(folder.systems, hint="Use --names.")
    read = {p.path for p in (*folder.pyramids, *(a.pyramid for a in folder.annotations))}
    for path in (units, references):
        if path is not None:
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            check_output(path, *read)
    notes = list(folder.notes)
    with ExitStack() as folders:

        def filled(goal: Path, kind: str) -> Path:
            return folders.enter_context(filled_folder(goal, kind, systems=(".",)))

        if labels is not None:
            new = filled(labels, "labels")
            for labelled in folder.labels():
                write_labels(new / f"{labelled.system}.jsonl", labelled)
        if summaries is not None:
            new = filled(summaries, "summaries")
            for texts in folder.summaries():
                write_summaries(new, texts)
    if references is not None:
        write_jsonl(
            references,
            [
                {"input": entry.input, "references": list(map(list, entry.references))}
                for entry in folder.references()
            ],
        )
    write_units(units, folder.units())
    missing = len(folder.systems) * len(folder.inputs) - len(folder.annotations)
    if folder.annotations and missing:
        said = counted(missing, "summary is not annotated", "summaries are not annotated")
        notes.append(f"{said}: their systems' files lack the input.")
    return Converted(
        rows=tuple(
            (
                len(p.scus),
                p.contributors,
                len(p.references),
                sum(a.pyramid.input == p.input for a in folder.annotations),
            )
            for p in folder.pyramids
        ),
        inputs=folder.inputs,
        files=tuple(path for path in (units, labels, summaries, references) if path),
        notes=tuple(notes),
    )


def write_summaries(folder: Path, summaries: SystemSummaries) -> None:
    """Writes one system's summaries as JSON Lines into a folder, the file named after it."""
    rows: Iterable[tuple[str, str]] = zip(summaries.inputs, summaries.texts, strict=True)
    write_jsonl(
        folder / f"{summaries.system}.jsonl",
        [{"input": name, "summary": " ".join(text.split())} for name, text in rows],
    )
