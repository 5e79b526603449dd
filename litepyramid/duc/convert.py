"""Conversion to our files: DUC and TAC pyramids, TREC's nuggets, units in either form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from litepyramid.duc.names import is_pyramid_file
from litepyramid.duc.peers import as_paths, read_pyramid_files, score_peers
from litepyramid.duc.trec import TrecFiles, is_trec, read_trec
from litepyramid.errors import InputError, choose
from litepyramid.files import atomic_write, file_type, write_jsonl
from litepyramid.io.coerce import as_names, as_units
from litepyramid.io.write import write_scores, write_units
from litepyramid.scoring.pyramid import UnitLayout, lite_pyramid_scores, nugget_scores
from litepyramid.tables import HIDDEN, Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import (
    InputReferences,
    InputUnits,
    ScoreTable,
    Signature,
    SystemLabels,
    SystemSummaries,
    data_hashes,
    fingerprint,
)

Target = Literal["units", "references", "summaries", "labels", "scores", "ids"]
_SOURCES: dict[Target, str] = {
    "units": "pyramids, nuggets, claims, or units",
    "references": ".pyr or .pan files",
    "summaries": ".pan files, answers, or assignments with their answers",
    "labels": ".pan files, or assignments",
    "scores": ".pan files, or assignments",
    "ids": "pyramids, nuggets, claims, or units",
}


@dataclass(frozen=True)
class Converted(Result):
    """What some files hold, as our records; `save` writes the part that was asked for.

    Attributes:
        to: Which part `save` writes.
        units: The units of every input.
        references: The references, if the files hold them.
        summaries: The summaries of every system, if the files hold them.
        labels: Presence labels of every system, if the files hold them.
        scores: Scores by the labels, if there are any: modified and original Pyramid scores of
            peer annotations, the four scores of nuggets, else the human score.
        left_out: What was left out, with its count.
        notes: What a user must know.
    """

    forms: ClassVar = {".jsonl": "write_lines", ".txt": "write_texts", ".csv": "write_csv"}

    to: Target
    units: tuple[InputUnits, ...]
    references: tuple[InputReferences, ...] = ()
    summaries: tuple[SystemSummaries, ...] = ()
    labels: tuple[SystemLabels, ...] = ()
    scores: ScoreTable | None = field(default=None, metadata=HIDDEN)
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def signature(self) -> Signature:
        """What was converted."""
        hashes = data_hashes(units=self.units)
        return Signature.of(to=self.to, rows_sha=fingerprint(self.rows()), **hashes)

    def rows(self) -> list[dict[str, Any]]:
        """The lines of the part that was asked for."""
        if self.to == "units":
            return [entry.to_json() for entry in self.units]
        if self.to == "ids":
            return [{"input": entry.input} for entry in self.units]
        if self.to == "references":
            return [{"input": e.input, "references": e.references} for e in self.references]
        if self.to == "scores":
            table = self.scores or ScoreTable((), (), (), np.empty((0, 0, 0)))
            return [
                {
                    "system": table.systems[i],
                    "input": table.inputs[j],
                    table.metrics[k]: float(table.values[k, i, j]),
                }
                for k, i, j in np.argwhere(~np.isnan(table.values))
            ]
        columns = (
            [("summary", e.system, e.inputs, e.texts) for e in self.summaries]
            if self.to == "summaries"
            else [("labels", e.system, e.inputs, e.labels) for e in self.labels]
        )
        return [
            {"system": system, "input": name, key: value}
            for key, system, names, values in columns
            for name, value in zip(names, values, strict=True)
        ]

    def to_tables(self) -> Sequence[Table]:
        """Counts by input, and what was left out."""
        references = {entry.input: len(entry.references) for entry in self.references}
        annotated = Counter(name for entry in self.labels for name in entry.inputs)
        rows = [
            {
                "input": entry.input,
                "units": len(entry.units),
                "weight": sum(unit.weight for unit in entry.units),
                "references": references.get(entry.input, 0),
                "labelled": annotated[entry.input],
            }
            for entry in self.units
        ]
        columns = (
            *("input", "units", Column("weight", "sum of weights", digits=0), "references"),
            Column("labelled", "labelled summaries"),
        )
        lost = (f"Left out: {count} {what}." for what, count in self.left_out.items())
        title = f"{counted(len(self.rows()), 'line')} of {self.to}"
        return [Table.of(title, columns, rows, (*self.notes, *lost))]

    def write_lines(self, path: Path) -> None:
        """Writes JSON Lines; labels and summaries name their system in every line."""
        write_jsonl(path, self.rows())

    def write_texts(self, path: Path) -> None:
        """Writes a line an input: units with tabs between them, or ids."""
        if self.to == "units":
            write_units(path, self.units, "lines")
        elif self.to == "ids":
            with atomic_write(path) as file:
                file.writelines(f"{entry.input}\n" for entry in self.units)
        else:
            raise InputError(f"{self.to} as a line file", path=path, expected="a name in .jsonl")

    def write_csv(self, path: Path) -> None:
        """Writes scores as CSV."""
        if self.to != "scores" or self.scores is None:
            raise InputError(f"{self.to} as CSV", path=path, expected="a name in .jsonl")
        write_scores(path, self.scores)


def convert(
    files: Sequence[str | Path],
    *,
    to: Target = "units",
    ids: Any = None,
    names: str | None = None,
    complete: bool = False,
) -> Converted:
    """Convert DUC, TAC and TREC files to units, labels, summaries, references or scores.

    Reads .pyr and .pan files of DUC and TAC, nuggets, assignments and answers of TREC RAG, claims
    of NuggetBank, and unit files in either form (JSON Lines, or an input per line). What cannot be
    written is counted. Of nuggets, scores are the four of nuggetizer.

    Args:
        files: Files, or folders of .pyr and .pan files; several are combined.
        to: What to write: units, references, summaries, labels, scores or ids.
        ids: Ids of a line file's inputs: a list, or a file of them.
        names: Regular expression with the groups "input" and "system", for .pyr and .pan files
            whose names are not NIST's.
        complete: Leave out systems that were not annotated on every input (.pan files).

    Returns:
        All that the files hold; `save` writes the part named by `to` as .jsonl, units also as
        .txt, scores as .csv.

    Raises:
        InputError: A file is broken, two contradict each other, or they do not hold `to`.

    Command line:
        $ litepyramid convert duc2006 -o scus.jsonl
        $ litepyramid convert duc2006 --to labels -o labels.jsonl
        $ litepyramid convert example/scus.jsonl -o scus.txt
    """
    choose("to", to, tuple(_SOURCES))
    paths = as_paths(files)
    if any(file_type(path) == "folder" or is_pyramid_file(path) for path in paths):
        result = _from_pyramids(paths, to, names, complete)
    elif any(is_trec(path) for path in paths):
        result = _from_trec(read_trec(paths), to)
    elif len(paths) == 1:
        units = as_units(paths[0], **as_names(ids, None))
        weighted = sum(unit.weight != 1 for entry in units for unit in entry.units)
        note = f"A line file holds no weights: {weighted} differ from 1."
        result = Converted(to, tuple(units), notes=(note,) if weighted else ())
    else:
        raise InputError(f"{len(paths)} unit files", expected="one", path=paths[1])
    if not result.rows():
        raise InputError(f"nothing to write {to} from", path=paths[0], expected=_SOURCES[to])
    return result


def _from_pyramids(
    paths: Sequence[Path], to: Target, names: str | None, complete: bool
) -> Converted:
    folder = read_pyramid_files(paths, names=names)
    folder = folder.complete() if complete else folder
    return Converted(
        to,
        folder.units(),
        folder.references() if to == "references" else (),
        folder.summaries(),
        folder.labels(),
        score_peers(folder).scores if to == "scores" else None,
        notes=folder.notes,
    )


def _from_trec(files: TrecFiles, to: Target) -> Converted:
    return Converted(
        to,
        tuple(files.units.values()),
        summaries=files.summaries(),
        labels=files.system_labels(),
        scores=_nugget_table(files) if files.labels else None,
        left_out=dict(+files.left_out),
    )


def _nugget_table(files: TrecFiles) -> ScoreTable:
    """The scores of every labelled answer; NaN where there is none."""
    systems = tuple(dict.fromkeys(system for system, _ in files.labels))
    inputs = tuple(dict.fromkeys(name for _, name in files.labels))
    values: dict[str, Any] = {}
    for (system, name), labels in files.labels.items():
        layout = UnitLayout.of([files.units[name]])
        scores = {"human": lite_pyramid_scores(labels, layout)}
        if layout.vital is not None:
            scores = nugget_scores(labels, layout)
        for metric, score in scores.items():
            table = values.setdefault(metric, np.full((len(systems), len(inputs)), np.nan))
            table[systems.index(system), inputs.index(name)] = score[0]
    return ScoreTable(tuple(values), systems, inputs, np.stack(list(values.values())))
