"""Pyramid files of DUC and TAC written out as the files that the other commands read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from litepyramid.duc.peers import PyramidFolder
from litepyramid.errors import InputError
from litepyramid.files import check_output, write_jsonl, writing
from litepyramid.io.folders import check_names, filled_folder
from litepyramid.io.labels import write_labels
from litepyramid.io.units import write_units
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import SystemSummaries


@dataclass(frozen=True, slots=True)
class Converted(Result):
    """What was written.

    Attributes:
        inputs: Per input: SCUs, contributors, references, annotated summaries.
        files: The files and folders written.
        notes: What a user must know.
    """

    inputs: dict[str, dict[str, int]]
    files: tuple[Path, ...]
    notes: tuple[str, ...]

    def to_tables(self) -> Sequence[Table]:
        """One row per input."""
        columns = (
            *("input", Column("scus", "SCUs"), "contributors", "references"),
            Column("annotations", "annotated summaries"),
        )
        rows = [{"input": name, **counts} for name, counts in self.inputs.items()]
        notes = (*self.notes, *(f"Wrote {path}" for path in self.files))
        return [Table.of(f"Pyramids of {counted(len(rows), 'input')}", columns, rows, notes)]


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
        entries = folder.references()
        rows = [{"input": e.input, "references": list(map(list, e.references))} for e in entries]
        write_jsonl(references, rows)
    write_units(units, folder.units())
    missing = len(folder.systems) * len(folder.inputs) - len(folder.annotations)
    if folder.annotations and missing:
        said = counted(missing, "summary is not annotated", "summaries are not annotated")
        notes.append(f"{said}: their systems' files lack the input.")
    annotated = Counter(a.pyramid.input for a in folder.annotations)
    inputs = {
        p.input: {
            "scus": len(p.scus),
            "contributors": p.contributors,
            "references": len(p.references),
            "annotations": annotated[p.input],
        }
        for p in folder.pyramids
    }
    written = tuple(path for path in (units, labels, summaries, references) if path)
    return Converted(inputs, written, tuple(notes))


def write_summaries(folder: Path, summaries: SystemSummaries) -> None:
    """Writes one system's summaries as JSON Lines into a folder, the file named after it."""
    texts = zip(summaries.inputs, summaries.texts, strict=True)
    rows = [{"input": name, "summary": " ".join(text.split())} for name, text in texts]
    write_jsonl(folder / f"{summaries.system}.jsonl", rows)
