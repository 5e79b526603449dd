"""Conversion to our files: pyramids of DUC and TAC, nuggets, rubrics, logs, forms of
units."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from litepyramid.data.records import InputReferences, InputUnits, Unit
from litepyramid.disk import write_jsonl
from litepyramid.duc.peers import (
    as_paths,
    pyramid_files,
    read_pyramid_files,
    score_peers,
)
from litepyramid.errors import InputError, choose
from litepyramid.files import files_in
from litepyramid.identity import fingerprint
from litepyramid.io.coerce import (
    as_names,
    as_references,
    as_units,
    labels_of,
    write_units,
)
from litepyramid.io.inputs import entries_of
from litepyramid.io.readers import read_rows
from litepyramid.io.rows import COLUMNS, Rows, joined
from litepyramid.io.scores import read_scores, write_scores
from litepyramid.scoring.pyramid import UnitLayout, lite_pyramid_scores, nugget_scores
from litepyramid.tables import Column, Result, Table, hidden
from litepyramid.text import counted
from litepyramid.types import Fields, Names, ScoreTable, Signature, Texts, TextsLike

Target = Literal["units", "references", "summaries", "labels", "scores", "ids"]


_READ = frozenset((*COLUMNS, "id", "scores", "tags"))
"""Columns of our own tables."""
_WITH_DOCUMENTS = "inputs with documents"


@dataclass(frozen=True)
class Converted(Result):
    """What some files hold, as our records; `save` writes the part that was asked for.

    Attributes:
        to: Which part `save` writes.
        made: The tool or data set that the files are of, if they are not ours.
        summaries: The summaries of every system, of the inputs that it has any of.
        labels: Presence labels of every system.
        scores: The scores that a log holds; or by the labels: modified and original
            Pyramid scores of peer annotations, the four scores of nuggets, else the
            human score.
        left_out: What was left out, with its count.
        documents: The number of inputs with texts that `precision` judges against:
            documents, the contexts of an answer.
        remarks: What else a user must know.
    """

    forms: ClassVar = {
        ".jsonl": "_write_lines",
        ".txt": "_write_texts",
        ".csv": "_write_csv",
    }

    to: Target
    made: str = ""
    units: tuple[InputUnits, ...] = ()
    references: tuple[InputReferences, ...] = ()
    summaries: tuple[SystemSummaries, ...] = ()
    labels: tuple[SystemLabels, ...] = ()
    scores: ScoreTable | None = hidden(default=None)
    left_out: Mapping[str, int] = field(default_factory=dict)
    remarks: Texts = ()
    documents: int = 0

    @property
    def signature(self) -> Signature:
        """What was converted."""
        hashes = data_hashes(units=self.units)
        return Signature.of(
            to=self.to,
            rows_sha=fingerprint(self.rows()),
            **hashes,
        )

    @property
    def inputs(self) -> Names:
        """The ids of all inputs that the files name."""
        return tuple(dict.fromkeys(chain.from_iterable(self.counts.values())))

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """How much of each kind there is of each input."""
        units = Counter[str]()
        for entry in self.units:
            units[entry.input] = len(entry.units)

        references = Counter[str]()
        for texts in self.references:
            references[texts.input] = len(texts.references)

        return {
            "unit": units,
            "reference": references,
            "summary": _named(self.summaries),
            "labelled summary": _named(self.labels),
        }

    @property
    def notes(self) -> Texts:
        """What the files hold, and what was left out."""
        holds = []
        for what, counts in self.counts.items():
            plural = what.replace("summary", "summaries") if "summary" in what else None
            holds.append(counted(counts.total(), what, plural))
        holds.append(counted(len(self.summaries), "system"))
        holds.append(counted(self.documents, "input with documents", _WITH_DOCUMENTS))
        scores = () if self.scores is None else self.scores.values
        holds.append(counted(int((~np.isnan(scores)).sum()), "score"))
        held = f"Holds {', '.join(part for part in holds if part[:2] != '0 ')}."
        notes = [held]
        if missing := sum(len(entry.missing) for entry in self.summaries):
            notes.append(f"Missing (null): {counted(missing, 'summary', 'summaries')}.")
        notes += self.remarks
        for what, count in self.left_out.items():
            notes.append(f"Left out: {count} {what}.")
        return tuple(notes)

    def rows(self) -> list[Fields]:
        """The lines of the part that was asked for."""
        return list(self._lines())

    def _lines(self) -> Iterator[Fields]:
        questions: defaultdict[str, Fields] = defaultdict(dict)
        both: list[InputReferences | InputUnits] = [*self.references, *self.units]
        for asked in both:
            if asked.question:
                questions[asked.input] = {"question": asked.question}

        if self.to == "units":
            for units in self.units:
                yield units.to_json()

        elif self.to == "ids":
            for name in self.inputs:
                yield {"input": name}

        elif self.to == "references":
            for entry in self.references:
                # A reference whose sentences nobody marked is one text.
                texts: list[Any] = []
                for text, marked in zip(entry.references, entry.marked, strict=True):
                    texts.append(text if marked else text[0])
                question = questions[entry.input]
                yield {"input": entry.input, **question, "references": texts}

        elif self.to == "labels":
            for rated in self.labels:
                for name, row in zip(rated.inputs, rated.labels, strict=True):
                    yield {"system": rated.system, "input": name, "labels": row}

        elif self.to == "summaries":
            for answers in self.summaries:
                for name, answer in zip(answers.inputs, answers.texts, strict=True):
                    of = {"system": answers.system, "input": name, **questions[name]}
                    yield of | {"summary": None if name in answers.missing else answer}

        elif self.scores is not None:
            table = self.scores
            for k, i, j in np.argwhere(~np.isnan(table.values)):
                of = {"system": table.systems[i], "input": table.inputs[j]}
                yield of | {table.metrics[k]: float(table.values[k, i, j])}

    def to_tables(self) -> Sequence[Table]:
        """How much there is of each input, what the files hold, and what was left
        out."""
        counts = self.counts
        rows: list[tuple[Any, ...]] = []
        for name in self.inputs:
            numbers = [of_kind[name] for of_kind in counts.values()]
            rows.append((name, *numbers))
        title = f"{counted(len(self.rows()), 'line')} of {self.to}"
        title += f" from {self.made}" if self.made else ""
        columns = map(Column, ("input", *counts))
        return [Table(title, tuple(columns), tuple(rows), self.notes)]

    def _write_lines(self, path: Path) -> None:
        """Writes JSON Lines; labels and summaries name their system in every line."""
        write_jsonl(path, self.rows())

    def _write_texts(self, path: Path) -> None:
        """Writes a line an input: units with tabs between them, or ids."""
        if self.to == "units":
            write_units(path, self.units, "lines")
        elif self.to == "ids":
            with atomic_write(path) as file:
                file.writelines(f"{name}\n" for name in self.inputs)
        else:
            raise InputError(
                f"{self.to} as a line file", path=path, expected="a name in .jsonl"
            )

    def _write_csv(self, path: Path) -> None:
        """Writes scores as CSV."""
        if self.to != "scores" or self.scores is None:
            raise InputError(
                f"{self.to} as CSV", path=path, expected="a name in .jsonl"
            )
        write_scores(path, self.scores)


def _named(systems: Sequence[SystemSummaries | SystemLabels]) -> Counter[str]:
    """How many systems there are of each input."""
    counts: Counter[str] = Counter()
    for entry in systems:
        counts.update(entry.inputs)
    return counts


def convert(
    files: Sequence[str | Path],
    *,
    to: Target | None = None,
    ids: TextsLike | None = None,
    names: str | None = None,
    complete: bool = False,
) -> Converted:
    """Say what files of other tools hold, and convert it to our files.

    Reads .pyr and .pan files of DUC and TAC; nuggets, assignments and answers of TREC
    RAG; rubrics of HealthBench, ResearchRubrics, PRBench and autorubric; logs of
    inspect and results of promptfoo (both JSON); exports of ragas, DeepEval, TruLens,
    OpenAI's evals, LangSmith and Phoenix; RoSE and QAPyramid; our own tables and
    unit files in either form. Each is recognised by its content. What has no place in
    our files is counted.

    Args:
        files: Files, or folders of files; several are combined.
        to: What to write: units, references, summaries, labels, scores or ids; the
            first of these that the files hold, if not given.
        ids: Ids of a line file's inputs: a list, or a file of them.
        names: Regular expression with the groups "input" and "system", for .pyr and
            .pan files whose names are not NIST's.
        complete: Leave out systems that were not annotated on every input (.pan files).

    Returns:
        All that the files hold; `save` writes the part named by `to` as .jsonl, units
        also as .txt, scores as .csv. Of nuggets, scores are the four of nuggetizer.

    Raises:
        InputError: A file is broken, two contradict each other, or they do not hold
            `to`.

    Command line:
        $ litepyramid convert duc2006 -o scus.jsonl
        $ litepyramid convert duc2006 --to labels -o labels.jsonl
        $ litepyramid convert example/scus.jsonl -o scus.txt
    """
    if to is not None:
        choose("to", to, Target)
    paths = as_paths(files)
    if any(map(pyramid_files, paths)):
        folder = read_pyramid_files(paths, names=names)
        folder = folder.complete() if complete else folder
        result = Converted(
            to or "units",
            "DUC's pyramids",
            folder.units(),
            folder.references() if to == "references" else (),
            folder.summaries(),
            folder.labels(),
            score_peers(folder).scores if to == "scores" else None,
            remarks=folder.notes,
        )
    else:
        tables = [read_rows(path) for path in files_in(paths, "files")]
        if any(table.form == "lines" for table in tables):
            if len(tables) > 1:
                raise InputError(
                    f"{len(tables)} unit files", expected="one", path=tables[1].path
                )
            units = as_units(tables[0], **as_names(ids, None))
            result = Converted(to or "units", units=tuple(units))
        else:
            result = _from_tables(tables, to or "units")

    # What was asked for by name stays, even if it is not there: that is an error.
    if to is None:
        parts = (replace(result, to=part) for part in get_args(Target))
        result = next((part for part in parts if part.rows()), result)

    if not result.rows():
        what = f"no {result.to} to write"
        raise InputError(what, path=paths[0], expected=f"files with {result.to}")

    # Lines of text are a form that people ask for; weights would go without a word.
    lost = _beside_texts(result.units)
    if lost and result.to == "units":
        note = f"A line file (.txt) would hold the texts alone, no {', '.join(lost)}."
        result = replace(result, remarks=(*result.remarks, note))

    return result


def _beside_texts(units: Sequence[InputUnits]) -> list[str]:
    """The fields of units that say something, besides their texts and kind."""
    bare = asdict(Unit(""))
    del bare["text"], bare["kind"]
    told = dict.fromkeys(bare, False)
    for entry in units:
        for unit in entry.units:
            for name in bare:
                told[name] |= getattr(unit, name) != bare[name]
    return [name for name in told if told[name]]


def _from_tables(tables: Sequence[Rows], to: Target) -> Converted:
    """What several files of rows hold together."""
    whole = joined(tables)

    def part(what: str) -> Rows | None:
        # Some files name a column by one thing, some by all that a cell may hold.
        rows = [row for row in whole.rows if row.values.keys() & {what, f"{what}s"}]
        return replace(whole, rows=rows) if rows else None

    units = as_units(rows) if (rows := part("unit")) else []
    references = as_references(rows) if (rows := part("reference")) else []
    answers: defaultdict[str, dict[str, str | None]] = defaultdict(dict)

    for entry in entries_of(rows, "summary") if (rows := part("summary")) else ():
        answers[entry.system or ""][entry.input] = entry.values[0]
        if any(value != entry.values[0] for value in entry.values):
            raise entry.error(
                f"input '{entry.input}' occurs twice with different contents"
            )

    texts = {entry.input: entry.texts for entry in units}
    labels: defaultdict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    for entry in entries_of(rows, "label") if (rows := part("label")) else ():
        if entry.input not in texts:
            raise entry.error(
                f"labels of input '{entry.input}'", "the file of its units too"
            )
        labels[entry.system or ""][entry.input] = labels_of(entry, texts[entry.input])

    summaries = []
    for system, by_input in answers.items():
        shown = tuple([text or "" for text in by_input.values()])
        missing = tuple([name for name, text in by_input.items() if text is None])
        summaries.append(SystemSummaries(system, tuple(by_input), shown, missing))

    rated = []
    for system, of_inputs in labels.items():
        rated.append(SystemLabels(system, tuple(of_inputs), tuple(of_inputs.values())))

    scores = []
    for row in whole.rows:
        listed = row.values.get("scores")
        of = {name: row.values.get(name) for name in ("system", "input")}
        for metric, score in listed.items() if isinstance(listed, dict) else ():
            scores.append(
                {
                    **of,
                    "metric": metric,
                    "score": score,
                }
            )

    return Converted(
        to,
        ", ".join(dict.fromkeys(table.made for table in tables if table.made)),
        tuple(units),
        tuple(references),
        tuple(summaries),
        tuple(rated),
        read_scores(scores) if scores else _label_scores(units, labels),
        {**whole.left_out, **_unknown_columns(tables)},
        documents=len({row.values.get("input") for row in documents.rows})
        if (documents := part("document"))
        else 0,
    )


def _unknown_columns(tables: Sequence[Rows]) -> Counter[str]:
    """How many cells of our own tables stand in columns that we do not know."""
    counts: Counter[str] = Counter()
    for table in tables:
        if table.made:
            continue
        for name in table.names:
            if name not in _READ:
                cells = [cell for cell in table.cells(name) if cell not in (None, "")]
                counts[f"values of {name}"] += len(cells)
    return +counts


def _label_scores(
    units: Sequence[InputUnits], labels: Mapping[str, Mapping[str, tuple[float, ...]]]
) -> ScoreTable | None:
    """The scores of every labelled answer by its labels; NaN where there is none."""
    if not labels:
        return None
    inputs = tuple(dict.fromkeys(chain.from_iterable(labels.values())))
    # Input by input, since systems may be labelled on different ones.
    layouts = {entry.input: UnitLayout.of([entry]) for entry in units}
    values: Fields = {}

    for s, rows in enumerate(labels.values()):
        for name, row in rows.items():
            labelled = np.array(row)
            layout = layouts[name]
            # Nuggets have four scores of their own, by which TREC ranks.
            scores = {"human": lite_pyramid_scores(labelled, layout)}
            if layout.vital is not None:
                scores = nugget_scores(labelled, layout)
            for metric, score in scores.items():
                table = values.setdefault(
                    metric,
                    np.full((len(labels), len(inputs)), np.nan),
                )
                table[s, inputs.index(name)] = score[0]

    return ScoreTable(
        tuple(values), tuple(labels), inputs, np.stack(list(values.values()))
    )
