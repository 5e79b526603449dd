"""Conversion to our files: pyramids of DUC and TAC, nuggets, rubrics, logs, forms of units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from litepyramid.duc.names import is_pyramid_file
from litepyramid.duc.peers import as_paths, read_pyramid_files, score_peers
from litepyramid.errors import InputError, choose
from litepyramid.files import atomic_write, file_type, stem, write_jsonl
from litepyramid.io.coerce import as_names, as_references, as_units, presence_label
from litepyramid.io.inputs import Entry, aligned, entries_of
from litepyramid.io.rows import Rows, located, read_rows
from litepyramid.io.scores import read_scores
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


@dataclass(frozen=True)
class Converted(Result):
    """What some files hold, as our records; `save` writes the part that was asked for.

    Attributes:
        to: Which part `save` writes.
        made: The tool or data set that the files are of, if they are not ours.
        units: The units of every input.
        references: The references, if the files hold them.
        summaries: The summaries of every system, if the files hold them.
        labels: Presence labels of every system, if the files hold them.
        scores: The scores that a log holds; or by the labels: modified and original Pyramid scores
            of peer annotations, the four scores of nuggets, else the human score.
        left_out: What was left out, with its count.
        notes: What a user must know.
    """

    forms: ClassVar = {".jsonl": "write_lines", ".txt": "write_texts", ".csv": "write_csv"}

    to: Target
    made: str = ""
    units: tuple[InputUnits, ...] = ()
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

    @property
    def inputs(self) -> tuple[str, ...]:
        """The ids of all inputs that the files name."""
        listed = [entry.input for entry in self.units] + [entry.input for entry in self.references]
        listed += [name for entry in self.summaries for name in entry.inputs]
        return tuple(dict.fromkeys(listed))

    @property
    def headline(self) -> str:
        """What the files hold, and what was left out: said beside a file that is written."""
        return " ".join(note for table in self.to_tables() for note in table.notes)

    def rows(self) -> list[dict[str, Any]]:
        """The lines of the part that was asked for."""
        asked = {entry.input: entry.question for entry in self.references}
        asked |= {entry.input: entry.question for entry in self.units}

        def line(name: str, **values: Any) -> dict[str, Any]:
            question = {"question": asked[name]} if asked.get(name) else {}
            return {"input": name, **question, **values}

        if self.to == "units":
            return [entry.to_json() for entry in self.units]
        if self.to == "ids":
            return [{"input": name} for name in self.inputs]
        if self.to == "references":
            texts = [
                [r if m else r[0] for r, m in zip(e.references, e.marked, strict=True)]
                for e in self.references
            ]
            return [
                line(entry.input, references=own)
                for entry, own in zip(self.references, texts, strict=True)
            ]
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
        if self.to == "labels":
            return [
                {"system": entry.system, "input": name, "labels": row}
                for entry in self.labels
                for name, row in zip(entry.inputs, entry.labels, strict=True)
            ]
        return [
            {"system": e.system, **line(name, summary=None if name in e.missing else text)}
            for e in self.summaries
            for name, text in zip(e.inputs, e.texts, strict=True)
        ]

    def to_tables(self) -> Sequence[Table]:
        """What the files hold, counts by input, and what was left out."""
        units = {entry.input: entry for entry in self.units}
        references = {entry.input: len(entry.references) for entry in self.references}
        annotated = Counter(name for entry in self.labels for name in entry.inputs)
        answered = Counter(name for entry in self.summaries for name in entry.inputs)
        rows = [
            {
                "input": name,
                "units": len(units[name].units) if name in units else 0,
                "weight": sum(unit.weight for unit in units[name].units) if name in units else 0.0,
                "references": references.get(name, 0),
                "summaries": answered[name],
                "labelled": annotated[name],
            }
            for name in self.inputs
        ]
        columns = (
            *("input", "units", Column("weight", "sum of weights", digits=0), "references"),
            *("summaries", Column("labelled", "labelled summaries")),
        )
        scored = 0 if self.scores is None else int((~np.isnan(self.scores.values)).sum())
        holds = [
            counted(sum(len(entry.units) for entry in self.units), "unit"),
            counted(sum(references.values()), "reference"),
            f"{counted(answered.total(), 'summary', 'summaries')} of "
            f"{counted(len(self.summaries), 'system')}",
            counted(annotated.total(), "labelled summary", "labelled summaries"),
            counted(scored, "score"),
        ]
        lost = (f"Left out: {count} {what}." for what, count in self.left_out.items())
        missing = sum(len(entry.missing) for entry in self.summaries)
        null = (f"Missing (null): {counted(missing, 'summary', 'summaries')}.",) if missing else ()
        title = f"{counted(len(self.rows()), 'line')} of {self.to}"
        title += f" from {self.made}" if self.made else ""
        held = f"Holds {', '.join(part for part in holds if part[:2] != '0 ')}."
        return [Table.of(title, columns, rows, (held, *null, *self.notes, *lost))]

    def write_lines(self, path: Path) -> None:
        """Writes JSON Lines; labels and summaries name their system in every line."""
        write_jsonl(path, self.rows())

    def write_texts(self, path: Path) -> None:
        """Writes a line an input: units with tabs between them, or ids."""
        if self.to == "units":
            write_units(path, self.units, "lines")
        elif self.to == "ids":
            with atomic_write(path) as file:
                file.writelines(f"{name}\n" for name in self.inputs)
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
    to: Target | None = None,
    ids: Any = None,
    names: str | None = None,
    complete: bool = False,
) -> Converted:
    """Say what files of other tools hold, and convert it to our files.

    Reads .pyr and .pan files of DUC and TAC; nuggets, assignments and answers of TREC RAG, claims
    of NuggetBank; rubrics of HealthBench, ResearchRubrics, PRBench and autorubric; logs of inspect
    and results of promptfoo (both JSON); RoSE and QAPyramid; our own tables and unit files in
    either form. Each is recognised by its content. What has no place in our files is counted.

    Args:
        files: Files, or folders of .pyr and .pan files; several are combined.
        to: What to write: units, references, summaries, labels, scores or ids; the first of these
            that the files hold, if not given.
        ids: Ids of a line file's inputs: a list, or a file of them.
        names: Regular expression with the groups "input" and "system", for .pyr and .pan files
            whose names are not NIST's.
        complete: Leave out systems that were not annotated on every input (.pan files).

    Returns:
        All that the files hold; `save` writes the part named by `to` as .jsonl, units also as
        .txt, scores as .csv. Of nuggets, scores are the four of nuggetizer.

    Raises:
        InputError: A file is broken, two contradict each other, or they do not hold `to`.

    Command line:
        $ litepyramid convert duc2006 -o scus.jsonl
        $ litepyramid convert duc2006 --to labels -o labels.jsonl
        $ litepyramid convert example/scus.jsonl -o scus.txt
    """
    if to is not None:
        choose("to", to, get_args(Target))
    paths = as_paths(files)
    if any(file_type(path) == "folder" or is_pyramid_file(path) for path in paths):
        result = _from_pyramids(paths, to or "units", names, complete)
    else:
        tables = [read_rows(path) for path in paths]
        if any(table.form == "lines" for table in tables):
            if len(paths) > 1:
                raise InputError(f"{len(paths)} unit files", expected="one", path=paths[1])
            units = as_units(paths[0], **as_names(ids, None))
            result = Converted(to or "units", units=tuple(units))
        else:
            result = _from_tables(tables, to or "units")
    if to is None:
        parts = (replace(result, to=part) for part in get_args(Target))
        result = next((part for part in parts if part.rows()), result)
    if not result.rows():
        what = f"no {result.to} to write"
        raise InputError(what, path=paths[0], expected=f"files with {result.to}")
    weighted = sum(unit.weight != 1 for entry in result.units for unit in entry.units)
    if weighted and result.to == "units":
        note = f"A line file holds no weights: {weighted} differ from 1."
        result = replace(result, notes=(*result.notes, note))
    return result


def _from_pyramids(
    paths: Sequence[Path], to: Target, names: str | None, complete: bool
) -> Converted:
    folder = read_pyramid_files(paths, names=names)
    folder = folder.complete() if complete else folder
    return Converted(
        to,
        "DUC's pyramids",
        folder.units(),
        folder.references() if to == "references" else (),
        folder.summaries(),
        folder.labels(),
        score_peers(folder).scores if to == "scores" else None,
        notes=folder.notes,
    )


def _from_tables(tables: Sequence[Rows], to: Target) -> Converted:
    """What several files of rows hold together."""
    units: dict[str, InputUnits] = {}
    references: dict[str, InputReferences] = {}
    answers: dict[str, dict[str, str | None]] = {}
    labels: dict[str, dict[str, tuple[float, ...]]] = {}
    scores: list[dict[str, Any]] = []
    left_out: Counter[str] = Counter()
    labelled: list[tuple[Rows, Entry]] = []
    for table in tables:
        left_out.update(table.left_out)
        table = _renamed_runs(table, answers)
        with located(table.path):
            for entry in as_units(part) if (part := _part(table, "unit")) else ():
                _put(units, entry.input, entry)
            for text in as_references(part) if (part := _part(table, "reference")) else ():
                _put(references, text.input, text)
            for own in entries_of(part, "summary") if (part := _part(table, "summary")) else ():
                rows = answers.setdefault(own.system or stem(table.path), {})
                _put(rows, own.input, own.values[0])
        if part := _part(table, "label"):
            labelled += [(table, entry) for entry in entries_of(part, "label")]
        for row in table.rows:
            of = {"system": row.values.get("system"), "input": row.values.get("input")}
            own_scores = row.values.get("scores") or {}
            scores += [{**of, "metric": k, "score": v} for k, v in own_scores.items()]
    for table, cell in labelled:
        texts = units[cell.input].texts if cell.input in units else ()
        values = aligned(cell, "label", texts, table.path)
        with located(table.path, cell.line):
            row_labels = tuple(map(presence_label, values))
            _put(labels.setdefault(cell.system or stem(table.path), {}), cell.input, row_labels)
    return Converted(
        to,
        ", ".join(dict.fromkeys(table.made for table in tables if table.made)),
        tuple(units.values()),
        tuple(references.values()),
        tuple(
            SystemSummaries(
                system,
                tuple(rows),
                tuple([text or "" for text in rows.values()]),
                tuple([name for name, text in rows.items() if text is None]),
            )
            for system, rows in answers.items()
        ),
        tuple(SystemLabels(s, tuple(rows), tuple(rows.values())) for s, rows in labels.items()),
        read_scores(scores) if scores else _label_scores(units, labels),
        dict(left_out),
    )


def _renamed_runs(table: Rows, seen: Iterable[str]) -> Rows:
    """A log whose systems are also in another log, with its file's name after theirs."""
    if not table.runs or not {str(row.values.get("system")) for row in table.rows} & {*seen}:
        return table

    def renamed(values: dict[str, Any]) -> dict[str, Any]:
        return {**values, "system": f"{values.get('system')} ({stem(table.path)})"}

    return replace(table, rows=[row._replace(values=renamed(row.values)) for row in table.rows])


def _part(table: Rows, what: str) -> Rows | None:
    """The rows that hold something; None if there are none."""
    rows = [row for row in table.rows if row.values.keys() & {what, f"{what}s"}]
    return replace(table, rows=rows) if rows else None


def _put(cells: dict[Any, Any], key: Any, value: Any) -> None:
    if cells.setdefault(key, value) != value:
        raise InputError(f"input '{key}' occurs twice with different contents")


def _label_scores(
    units: Mapping[str, InputUnits], labels: Mapping[str, Mapping[str, tuple[float, ...]]]
) -> ScoreTable | None:
    """The scores of every labelled answer by its labels; NaN where there is none."""
    if not labels:
        return None
    inputs = tuple(dict.fromkeys(name for rows in labels.values() for name in rows))
    values: dict[str, Any] = {}
    for s, rows in enumerate(labels.values()):
        for name, row in rows.items():
            layout = UnitLayout.of([units[name]])
            own = np.array(row)
            scores = {"human": lite_pyramid_scores(own, layout)}
            if layout.vital is not None:
                scores = nugget_scores(own, layout)
            for metric, score in scores.items():
                table = values.setdefault(metric, np.full((len(labels), len(inputs)), np.nan))
                table[s, inputs.index(name)] = score[0]
    return ScoreTable(tuple(values), tuple(labels), inputs, np.stack(list(values.values())))
