"""Conversion of files of other tools to one table under our columns, or a part."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import ClassVar, Literal

import numpy as np

from litepyramid.data.data import Data
from litepyramid.data.facts import Facts
from litepyramid.data.records import Unit
from litepyramid.data.written import unit_lines
from litepyramid.disk import jsonl
from litepyramid.duc.peers import (
    PyramidFolder,
    as_paths,
    pyramid_files,
    read_pyramid_files,
    score_peers,
)
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.files import files_in, stem
from litepyramid.imports.one_table import (
    FileRow,
    checked,
    filled,
    rows_of,
    scoreable,
    table_of,
)
from litepyramid.imports.reading import imported
from litepyramid.scoring.pyramid import lite_pyramid_scores, nugget_scores
from litepyramid.tables import Result, Table, hidden
from litepyramid.text import counted
from litepyramid.types import ColumnsLike, Fields, FloatArray, Names, Texts, TextsLike

Target = Literal["table", "units", "references", "summaries", "labels", "scores", "ids"]
_COLUMNS: dict[Target, Names] = {
    "units": ("input", "question", "units"),
    "references": ("input", "question", "reference", "references"),
    "summaries": ("system", "repeat", "input", "question", "summary"),
    "labels": ("system", "repeat", "input", "units", "labels"),
    "ids": ("input",),
    "scores": ("system", "repeat", "input", "units", "labels"),
}
"""The columns of a part."""
Score = tuple[str, str, str, float]
"""A system, an input, a metric, and a value."""


@dataclass(frozen=True)
class Converted(Result):
    """What some files hold, under our columns; `save` writes the table, or a part.

    Attributes:
        to: What `save` writes.
        lines: The lines that are written.
        told: What the files were read as, with the columns of their presets.
        left_out: What was left out, counted.
        data: What they hold, as the door reads it.
    """

    forms: ClassVar = {".jsonl": "_lines", ".txt": "_texts"}

    to: Target
    lines: Sequence[Fields]
    told: Texts
    left_out: Mapping[str, int]
    data: Data = hidden()

    @property
    def notes(self) -> Texts:
        """What the files were read as, and what was left out."""
        left_out = [f"{what} ({number})" for what, number in self.left_out.items()]
        note = [f"Left out: {', '.join(left_out)}."] if left_out else []
        if self.to == "units" and (lost := self._beside_texts()):
            note.append(f"A line file (.txt) has no place for {', '.join(lost)}.")
        return (*self.told, *note)

    def _beside_texts(self) -> list[str]:
        """What units say beside their texts."""
        units = self.data.units.every
        lost = []
        for field in fields(Unit)[1:]:
            if any(getattr(unit, field.name) != field.default for unit in units):
                lost.append(field.name)
        asked = any(entry.question for entry in self.data.units)
        return [*lost, "question"] if asked else lost

    def to_tables(self) -> Sequence[Table]:
        """How many lines have each column."""
        counts: Counter[str] = Counter()
        for line in self.lines:
            counts.update([name for name in line if line[name] is not None])
        title = f"{counted(len(self.lines), 'line')} of {self.to}"
        return [Table.of(title, ("column", "lines"), counts.items(), self.notes)]

    def to_csv_table(self) -> Table:
        """The scores, a column each."""
        if self.to != "scores":
            raise InputError(f"{self.to} as CSV", expected="a name in .jsonl")
        names = [*dict.fromkeys([name for line in self.lines for name in line])]
        rows = [tuple([line.get(name) for name in names]) for line in self.lines]
        return Table.of("scores", names, rows)

    def _lines(self) -> Iterator[str]:
        """JSON Lines."""
        return jsonl(self.lines)

    def _texts(self) -> list[str]:
        """A line an input: its units with tabs between them, or its id."""
        if self.to == "units":
            return unit_lines(self.data.units)
        if self.to == "ids":
            return [f"{line['input']}\n" for line in self.lines]
        raise InputError(f"{self.to} as a line file", expected="a name in .jsonl")


def convert(
    files: Sequence[str | Path],
    *,
    to: Target = "table",
    columns: ColumnsLike | None = None,
    ids: TextsLike | None = None,
    names: str | None = None,
    complete: bool = False,
) -> Converted:
    """Convert files of other tools to one table that `score` reads.

    Reads .pyr and .pan files of DUC and TAC; nuggets, assignments and answers of TREC
    RAG; rubrics of HealthBench, ResearchRubrics, PRBench and autorubric; logs of
    inspect, results of promptfoo; samples of lm-eval; exports of ragas, DeepEval,
    TruLens, OpenAI's evals, LangSmith and Phoenix; RoSE and QAPyramid; our own tables
    and unit files in either form. Each is recognised by its content. It says which
    columns were read, and counts what has no place in ours.

    Args:
        files: Files, or folders of files; several are combined.
        to: What to write: the table with everything, or its units, references,
            summaries, labels, scores or ids alone.
        columns: Own names of columns, as NAME=COLUMN,… or a dict, in place of those
            that are recognised: reference=metadata.gold.
        ids: Ids of a line file's inputs: a list, or a file of them.
        names: Regular expression with the groups "input" and "system", for .pyr and
            .pan files whose names are not NIST's.
        complete: Leave out systems that were not annotated on every input (.pan files).

    Returns:
        The lines, which `save` writes as .jsonl, units and ids also as .txt, scores as
        .csv. Of nuggets, scores are the four of nuggetizer, of repeats their mean.

    Raises:
        InputError: A file is broken, two contradict each other, or they do not hold
            what is to be written.

    Command line:
        $ litepyramid convert log.json -o answers.jsonl
        $ litepyramid convert duc2006 --to labels -o labels.jsonl
        $ litepyramid convert example/scus.jsonl --to units -o scus.txt
    """
    choose("to", to, Target)
    paths = as_paths(files)
    is_duc = any(map(pyramid_files, paths))
    no_effect(convert, is_duc, "on files of DUC", columns=columns, ids=ids)
    why = "but on .pyr and .pan files"
    no_effect(convert, not is_duc, why, names=names, complete=complete)
    if is_duc:
        folder = read_pyramid_files(paths, names=names)
        return _of_pyramids(folder.complete() if complete else folder, to, paths[0])

    rows: list[FileRow] = []
    told = []
    counts: Counter[str] = Counter()
    systems: set[str] = set()
    for path in files_in(paths, "files"):
        file = imported(path, _own_columns(columns), ids)
        counts.update(file.left_out)
        told.append(f"{path.name}: {counted(len(file.rows), 'row')}, {file.told}.")
        own = {str(cells["system"]) for _, cells in file.rows if "scores" in cells}
        for line, cells in file.rows:
            # Two logs of one model are two runs: the file tells them apart.
            renamed = {}
            if "system" in cells and own & systems:
                renamed["system"] = f"{cells['system']} ({stem(path)})"
            rows.append(FileRow(path, line, {**cells, **renamed}))
        systems |= own

    scores = []
    for row in rows:
        for metric, value in row.cells.get("scores", {}).items():
            scores.append((row.cells["system"], row.input, metric, value))
    if to != "scores":
        counts["scores (--to scores)"] += len(scores)
    return _converted(rows, to, tuple(told), counts, scores)


def _of_pyramids(folder: PyramidFolder, to: Target, path: Path) -> Converted:
    """What pyramids and peer annotations hold."""
    labels = folder.labels()
    data = Data(
        units=labels.units,
        summaries=folder.summaries(),
        labels=labels,
        references=folder.references(),
    )
    scores = []
    if to == "scores":
        table = score_peers(folder).scores
        by_metric = dict(zip(table.metrics, table.values, strict=True))
        scores = [*_cells(table.systems, table.inputs, by_metric)]
    rows = [FileRow(path, 1, cells) for cells in rows_of(data)]
    return _converted(rows, to, folder.notes, Counter(), scores)


def _converted(
    rows: Sequence[FileRow],
    to: Target,
    told: Texts,
    counts: Counter[str],
    scores: Sequence[Score],
) -> Converted:
    """The lines of what is to be written."""
    names = _COLUMNS.get(to, ())
    chosen = [row.only(names) for row in rows] if names else rows
    table, unanswered = table_of(chosen)
    left_out = counts + Counter({"inputs without answers": unanswered})
    if to == "table":
        table, partial = scoreable(table)
        left_out += partial
    elif to != "ids":
        table = [row for row in table if names[-1] in row.cells]
    table = filled(table)
    data = checked(table) if table and to != "ids" else Data()
    lines: Sequence[Fields] = [{**row.cells} for row in table]
    if to == "scores":
        found = data.labels
        if found and not scores:
            systems = tuple(map(data.system_of, found.systems))
            scores = [*_cells(systems, found.inputs, _label_scores(found))]
        lines = _score_lines(scores)
    if not lines:
        raise InputError(f"no {to} to write", expected=f"files with {to}")
    return Converted(to, lines, told, dict(sorted(left_out.items())), data)


def _own_columns(columns: ColumnsLike | None) -> Mapping[str, str]:
    """Columns as a user names them, by ours."""
    if not isinstance(columns, str):
        return dict(columns or {})
    pairs = [part.partition("=") for part in columns.split(",")]
    return {ours.strip(): name.strip() for ours, _, name in pairs}


def _label_scores(labels: Facts) -> Mapping[str, FloatArray]:
    """(N, M) scores of the labelled answers: of nuggets the four by which TREC ranks,
    else the human score."""
    scores = {"human": lite_pyramid_scores(labels.values, labels.units)}
    if labels.units.vital is not None:
        scores = nugget_scores(labels.values, labels.units)
    # An answer that nobody labelled has no score of nuggets either.
    missing = labels.units.sums(np.isnan(labels.values)) > 0
    return {name: np.where(missing, np.nan, values) for name, values in scores.items()}


def _cells(
    systems: Names, inputs: Names, scores: Mapping[str, FloatArray]
) -> Iterator[Score]:
    """Each of (N, M) scores."""
    for metric, values in scores.items():
        for n, m in np.ndindex(values.shape):
            yield systems[n], inputs[m], metric, float(values[n, m])


def _score_lines(scores: Iterable[Score]) -> list[Fields]:
    """A line for each system and input, the scores of repeats averaged."""
    several: dict[tuple[str, str], dict[str, list[float]]] = {}
    for system, name, metric, value in scores:
        metrics = several.setdefault((system, name), defaultdict(list))
        if value == value:
            metrics[metric].append(value)

    lines = []
    for (system, name), metrics in sorted(several.items()):
        means = {metric: fmean(values) for metric, values in metrics.items()}
        lines += [{"system": system, "input": name, **means}] if means else []
    return lines
