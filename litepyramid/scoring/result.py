"""The result of `score`: scores of systems, down to each unit's presence; saved and read again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.checked import as_type, json_parts
from litepyramid.errors import InputError, choose, require
from litepyramid.files import file_type, read_json, read_text
from litepyramid.io.scores import read_scores, select_matrix
from litepyramid.judges.base import Evidence, Explainer, Judge
from litepyramid.scoring.inference import group_letters, too_few_inputs
from litepyramid.scoring.pyramid import (
    NUGGET_SCORES,
    ScoringRule,
    UnitLayout,
    metric_title,
    nugget_scores,
    rubric_scores,
)
from litepyramid.stats import by_id, system_intervals, system_means
from litepyramid.tables import Cell, Column, Result, Table, plain
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    InputUnits,
    IntArray,
    ResultLike,
    ScoreMatrix,
    Signature,
)

Rows = Literal["systems", "inputs", "units", "tags"]
_TAG_ROWS = 60  # shown of a table by tag
_EXPECTED = "a JSON or npz file that `litepyramid score -o` wrote"
_UNITS = ("units", "label_units")
_WORDING = {
    "empty_summaries": ("empty summary: it holds", "empty summaries: they hold", "no unit."),
    "missing_summaries": ("summary is", "summaries are", "missing; they are not scored."),
    "truncated": ("pair was", "pairs were", "truncated to the judge's maximum length."),
    "split": ("pair was", "pairs were", "judged in parts of the summary; the best counts."),
    "missing": ("pair has", "pairs have", "no judgement."),
    "summaries_not_scored": ("summary is", "summaries are", "not scored, for lack of judgements."),
    "summaries_without_precision": ("summary has", "summaries have", "no unit, and no precision."),
    "systems_without_labels": ("system has", "systems have", "no human labels."),
    "labels_not_used": ("set of labels is", "sets of labels are", "of systems not scored here."),
    "inputs_with_fewer_units_than_sample": (
        *("input has", "inputs have"),
        "fewer units than the sample.",
    ),
    "inputs_without_labels": (
        *("input has", "inputs have"),
        "no human labels: the human score is over the others.",
    ),
    "inputs_not_scored": (
        *("input has", "inputs have"),
        "no score: the ideal summary holds no SCU.",
    ),
}


def count_notes(counts: Mapping[str, int]) -> list[str]:
    """A sentence for each thing that was counted during scoring.

    Example:
        >>> count_notes({"pairs": 9, "truncated": 1})
        ["1 pair was truncated to the judge's maximum length."]
    """
    return [
        f"{counted(counts[key], one, many)} {rest}"
        for key, (one, many, rest) in _WORDING.items()
        if counts.get(key)
    ]


@dataclass(frozen=True)
class ScoreResult(Result):
    """Scores of systems, down to each unit's presence.

    Attributes:
        metric: ``lite2pyramid``, ``lite2.xpyramid``, ``lite3pyramid`` …, by the units' kinds.
        name: Its name next to other metrics; `metric` unless the user chooses another.
        systems: N names; `units` are those of M inputs.
        presence: (N, U) presence of every unit, input after input.
        values: (N, M) summary scores.
        intervals: N (low, high) bootstrap intervals of the system scores over inputs.
        groups: For each system, its rank groups (best is 1); systems that do not differ
            significantly share one.
        labels: (N, L) human labels of the labelled units, NaN rows for systems without labels; None
            if there are none.
        label_units: M inputs with the L units that labels refer to; None without labels.
        human: (N, M) human scores, with NaN likewise; None without labels.
        counts: What was counted along the way: pairs, empty summaries, truncated pairs …
        confidence: Confidence level of the intervals.
        signature: Everything needed to reproduce the numbers.
        spans: For each summary, system after system, the part that contains most of each unit, if
            long summaries were judged in parts (`JudgedBatch.spans`); else None.
        summaries: (N, M) the texts that were judged; None if only presence was given.
        references: M inputs with their references, each a tuple of sentences; None without them.
        evidence: (N, U) where the judge found each unit; None if it was not asked.
        ceiling: The mean score of the references on their own units, by the same judge; None if
            the units were not extracted from references.
        notes: What was noticed in the data.
        judge: The judge, to find evidence when a page is made; not saved.
    """

    metric: str
    name: str
    systems: tuple[str, ...]
    units: tuple[InputUnits, ...]
    presence: FloatArray = field(repr=False)
    values: FloatArray = field(repr=False)
    intervals: tuple[tuple[float, float], ...]
    groups: tuple[tuple[int, ...], ...]
    labels: FloatArray | None = field(repr=False)
    label_units: tuple[InputUnits, ...] | None
    human: FloatArray | None = field(repr=False)
    counts: Mapping[str, int]
    confidence: float
    signature: Signature
    spans: tuple[IntArray, ...] | None = field(default=None, repr=False)
    summaries: tuple[tuple[str, ...], ...] | None = field(default=None, repr=False)
    references: tuple[tuple[tuple[str, ...], ...], ...] | None = field(default=None, repr=False)
    evidence: tuple[tuple[Evidence, ...], ...] | None = field(default=None, repr=False)
    ceiling: float | None = None
    notes: tuple[str, ...] = ()
    judge: Judge | None = field(default=None, repr=False, compare=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        """M ids."""
        return tuple(entry.input for entry in self.units)

    @property
    def matrix(self) -> ScoreMatrix:
        """The summary scores with names, for meta-evaluation."""
        return ScoreMatrix(self.name, self.systems, self.inputs, self.values)

    @property
    def human_matrix(self) -> ScoreMatrix | None:
        """The human scores with names; None without labels."""
        if self.human is None:
            return None
        return ScoreMatrix("human", self.systems, self.inputs, self.human)

    @property
    def scores(self) -> dict[str, float]:
        """System scores, means over inputs (ZB21 §3.1)."""
        return dict(zip(self.systems, system_means(self.values).tolist(), strict=True))

    @property
    def human_scores(self) -> dict[str, float]:
        """Human system scores; NaN for a system without labels, empty if there are no labels."""
        if self.human is None:
            return {}
        return dict(zip(self.systems, system_means(self.human).tolist(), strict=True))

    @property
    def order(self) -> list[int]:
        """Places of the systems, best first; those without a score last."""
        return [int(i) for i in np.argsort(-system_means(self.values), kind="stable")]

    @property
    def rule(self) -> ScoringRule:
        """How presence became scores."""
        rule = dict(self.signature.fields).get("rule", "lite")
        return ScoringRule.of(rule.removesuffix("refs"))

    @property
    def clipped(self) -> dict[str, float]:
        """Of a rubric scored by points, each system's mean within 0 and 1, as HealthBench's."""
        clipped = {name: float(np.clip(score, 0, 1)) for name, score in self.scores.items()}
        return clipped if self.rule.name == "points" else {}

    @cached_property
    def tags(self) -> list[dict[str, Any]]:
        """Scores on the units of each tag: a row a tag and system, best system first.

        An input counts where it has units of the tag (in a rubric, some with positive points).
        """
        rule, layout = self.rule, UnitLayout.of(self.units)
        every = [set(unit.tags) for entry in self.units for unit in entry.units]
        tags = set[str]().union(*every) if rule.signed or rule.name == "lite" else ()
        settings = dict(self.signature.fields)
        samples, seed = int(settings.get("samples", 1000)), int(settings.get("seed", 0))
        rows, by_input, by_system = [], by_id(self.inputs), by_id(self.systems)
        for tag in sorted(tags):
            chosen = np.array([tag in unit_tags for unit_tags in every])
            values = rubric_scores(
                self.presence, layout, normalized=rule.name == "normalized", chosen=chosen
            )
            counts = layout.sums(np.asarray(chosen & (layout.weights > 0), dtype=np.float64)) > 0
            values = values[:, [m for m in by_input if counts[m]]]
            if not values.size:
                continue
            ends = system_intervals(
                values[by_system], samples=samples, confidence=self.confidence, seed=seed
            )
            means = system_means(values).tolist()
            for n in self.order:
                low, high = ends[by_system.index(n)]
                row = {"tag": tag, "system": self.systems[n], "inputs": values.shape[1]}
                row |= {"units": int(chosen.sum()), "score": means[n], "low": low, "high": high}
                more = {"clipped": float(np.clip(means[n], 0, 1))} if self.clipped else {}
                rows.append(row | more)
        return rows

    @property
    def measures(self) -> dict[str, FloatArray]:
        """The four `nugget_scores`, and as ``human_…`` those of labels: (N, M) by name.

        None of units that do not say how important they are, nor the score itself again.
        """
        measures: dict[str, FloatArray] = {}
        sides = (("", self.presence, self.units), ("human_", self.labels, self.label_units))
        for prefix, values, units in sides:
            if values is not None and units and any(u.importance for e in units for u in e.units):
                scores = nugget_scores(values, UnitLayout.of(units))
                measures |= {prefix + name: score for name, score in scores.items()}
        return measures

    def to_tables(self) -> Sequence[Table]:
        """One row per system, best first; then the scores of nuggets, and those by tag."""
        scores, clipped, human = self.scores, self.clipped, self.human_scores
        low = Column("low", f"{100 * self.confidence:g} % low")
        names: list[Column | str] = ["group", "system", "score", low, "high"]
        names += ["clipped"] * bool(clipped) + ["human"] * (self.human is not None)
        rows = [
            {
                "group": group_letters(self.groups[i]), "system": name, "score": scores[name],
                "low": self.intervals[i][0], "high": self.intervals[i][1],
                "clipped": clipped.get(name), "human": human.get(name),
            }
            for i, name in ((i, self.systems[i]) for i in self.order)
        ]  # fmt: skip
        named = "" if self.name == self.metric else f"{self.name}: "
        title = (
            f"{named}{metric_title(self.metric)} of {counted(len(self.systems), 'system')} on "
            f"{counted(len(self.units), 'input')} ({counted(self.presence.shape[1], 'unit')})"
        )
        table = Table.of(title, names, rows, (*self._notes(), str(self.signature)))
        return [table, *self._nugget_table(), *self._tag_table()]

    def _notes(self) -> list[str]:
        notes = []
        pairs = len(self.systems) * (len(self.systems) - 1) // 2
        if pairs:
            notes.append(
                "Systems that share a group do not differ significantly (α = .05, sign-flip test, "
                "Holm's correction)."
            )
            notes += too_few_inputs(len(self.units), pairs)
        if self.clipped:
            notes.append("clipped: the mean within 0 and 1, as HealthBench reports it.")
        if self.ceiling is not None:
            notes.append(
                f"By this judge the references themselves score {self.ceiling:.3f} on their own "
                "units: compare with that, not with 1."
            )
        return [*notes, *count_notes(self.counts), *self.notes]

    def _nugget_table(self) -> list[Table]:
        means = {name: system_means(values) for name, values in self.measures.items()}
        rows: list[tuple[Cell, ...]] = [
            (self.systems[i], by, *(float(means[prefix + name][i]) for name in NUGGET_SCORES))
            for i in self.order
            for by, prefix in (("judge", ""), ("people", "human_"))
            if prefix + NUGGET_SCORES[0] in means
        ]
        columns = [Column("system"), Column("by")]
        columns += [Column(name, name.replace("_", " ")) for name in NUGGET_SCORES]
        notes = ["Strict: only labels of 1; for the judge, presence of .75 or more."]
        none = sum(all(unit.importance != "vital" for unit in e.units) for e in self.units)
        if none:
            inputs = counted(none, "input has", "inputs have")
            notes.append(f"{inputs} no vital nugget and a vital score of 0.")
        title = "Nugget scores, mean over inputs"
        return [Table(title, tuple(columns), tuple(rows), tuple(notes))] if rows else []

    def _tag_table(self) -> list[Table]:
        rows = self.tags
        columns = [
            "tag",
            "system",
            "inputs",
            "score",
            "low",
            "high",
            *["clipped"] * bool(self.clipped),
        ]
        more = [f"{len(rows) - _TAG_ROWS} more rows in the JSON and in to_frame('tags')."]
        notes = more * (len(rows) > _TAG_ROWS)
        return [Table.of("Scores by tag", columns, rows[:_TAG_ROWS], notes)] if rows else []

    def to_csv_table(self) -> Table:
        """One row per system and input: its score, the system's interval, units, missing ones."""
        rows = []
        missing = UnitLayout.of(self.units).sums(np.isnan(self.presence).astype(np.float64))
        for n, system in enumerate(self.systems):
            for m, entry in enumerate(self.units):
                human = None if self.human is None else float(self.human[n, m])
                row = (system, entry.input, self.name, float(self.values[n, m]))
                counts = (len(entry.units), int(missing[n, m]))
                rows.append((*row, *self.intervals[n], human, *counts))
        names = ("system", "input", "metric", "score", "low", "high", "human", "units", "missing")
        return Table("", tuple(map(Column, names)), tuple(rows))

    def unit_table(self) -> Table:
        """One row per system and unit: presence, label, and the judge's evidence."""
        bounds = UnitLayout.of(self.units).bounds
        labels = self.labels if self.label_units in (None, self.units) else None
        rows = []
        for n, system in enumerate(self.systems):
            for m, (start, end) in enumerate(bounds):
                for u, unit in zip(range(start, end), self.units[m].units, strict=True):
                    label = None if labels is None else float(labels[n, u])
                    cells = (unit.text, unit.weight, unit.kind, float(self.presence[n, u]), label)
                    rows.append(
                        (system, self.inputs[m], u - start + 1, *cells, *self._why(n, m, u))
                    )
        names = "system input unit text weight kind presence label evidence missing conflict"
        return Table("", tuple(map(Column, names.split())), tuple(rows))

    def _why(self, n: int, m: int, u: int) -> tuple[str | None, ...]:
        """The sentence that is the evidence, the words that are not in it, what contradicts it."""
        if self.evidence is None or self.summaries is None or self.evidence[n][u].sentence < 0:
            return None, None, None
        evidence = self.evidence[n][u]
        quote = self.summaries[n][m][slice(*evidence.span)]
        return quote, "; ".join(evidence.missing), evidence.conflict

    def to_frame(self, rows: Rows = "systems") -> Any:
        """A pandas frame with one row for each of the systems, best first, the inputs, units, tags.

        Args:
            rows: ``systems``: score, interval, rank group; ``inputs``: a row per system and input;
                ``units``: a row per system and unit, with presence, label and evidence; ``tags``: a
                row per tag and system.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        choose("rows", rows, get_args(Rows))
        pandas = require("pandas", extra="tables", purpose="a data frame")
        if rows == "tags":
            return pandas.DataFrame(self.tags)
        if rows == "systems":
            table = self.to_tables()[0]
        else:
            table = self.to_csv_table() if rows == "inputs" else self.unit_table()
        return pandas.DataFrame(table.rows, columns=[column.name for column in table.columns])

    def to_json(self) -> dict[str, Any]:
        """Everything, down to each unit's presence in each summary, with the texts."""
        return {
            k: list(v) if isinstance(v, Iterator) else v for k, v in self.json_entries().items()
        }

    def json_entries(self) -> dict[str, Any]:
        """`to_json` with iterators for ``scores`` and units."""
        return {
            **self._document(),
            "scores": self._rows(),
            **{key: (entry.to_json() for entry in units) for key, units in self._units().items()},
        }

    def _document(self) -> dict[str, Any]:
        means = {"score": self.scores, "clipped": self.clipped, "human": self.human_scores}
        systems = [
            {"system": name, **{key: own[name] for key, own in means.items() if own}}
            | {"low": low, "high": high, "groups": groups}
            for name, (low, high), groups in zip(
                self.systems, self.intervals, self.groups, strict=True
            )
        ]
        document: dict[str, Any] = {
            "metric": self.metric,
            "name": self.name,
            "systems": systems,
            "confidence": self.confidence,
            "counts": dict(self.counts),
            "signature": self.signature.to_json(),
        }
        if self.ceiling is not None:
            document["ceiling"] = self.ceiling
        if self.notes:
            document["notes"] = self.notes
        if self.tags:
            document["tags"] = self.tags
        if self.references is not None:
            document["references"] = [
                {"input": name, "references": texts}
                for name, texts in zip(self.inputs, self.references, strict=True)
            ]
        return document

    def _rows(self) -> Iterator[dict[str, Any]]:
        bounds = UnitLayout.of(self.units).bounds
        labelled = UnitLayout.of(self.label_units or self.units).bounds
        measures = {name: v for name, v in self.measures.items() if name != self.name}
        for n, system in enumerate(self.systems):
            for m, (start, end) in enumerate(bounds):
                row: dict[str, Any] = {
                    "system": system,
                    "input": self.units[m].input,
                    "score": self.values[n, m],
                    "presence": self.presence[n, start:end],
                }
                if self.spans:
                    row["spans"] = self.spans[n * len(bounds) + m]
                if self.human is not None and self.labels is not None:
                    row["human"] = self.human[n, m]
                    row["labels"] = self.labels[n, slice(*labelled[m])]
                if self.summaries is not None:
                    row["summary"] = self.summaries[n][m]
                if self.evidence is not None:
                    row["evidence"] = [_evidence_json(e) for e in self.evidence[n][start:end]]
                if measures:
                    row["measures"] = {name: v[n, m] for name, v in measures.items()}
                yield row

    def _units(self) -> dict[str, tuple[InputUnits, ...]]:
        other = self.label_units
        more = {} if other is None or other == self.units else {"label_units": other}
        return {"units": self.units, **more}

    def to_npz(self, path: str | Path) -> None:
        """Writes what `to_json` holds with the scores as arrays (`io.columns.write_columns`)."""
        from litepyramid.io.columns import write_columns

        texts: dict[str, Iterable[str]] = {
            key: (json.dumps(entry.to_json(), ensure_ascii=False) + "\n" for entry in units)
            for key, units in self._units().items()
        }
        document = {**self._document(), "inputs": self.inputs}
        if self.summaries is not None:
            document["summaries"] = self.summaries
        if self.evidence is not None:
            document["evidence"] = [list(map(_evidence_json, row)) for row in self.evidence]
        texts["result"] = json_parts(document, plain)
        measures = {name: v for name, v in self.measures.items() if name != self.name}
        arrays = {"score": self.values, "presence": self.presence}
        write_columns(
            path, texts, {**measures, **arrays, "human": self.human, "labels": self.labels}
        )

    def with_evidence(self, judge: Judge | None = None) -> ScoreResult:
        """The result with the evidence of a judge, or of the one that scored, for each unit."""
        from litepyramid.judges.explain import gather

        judge = judge or self.judge
        if judge is None or self.summaries is None:
            raise InputError(
                "evidence without the judge or the texts", expected="a result of score with both"
            )
        items = [
            (text, entry.texts)
            for texts in self.summaries
            for text, entry in zip(texts, self.units, strict=True)
        ]
        questions = [entry.question for entry in self.units] * len(self.systems)
        evidence, inputs = gather(judge, items, questions), len(self.units)
        rows = (evidence[start : start + inputs] for start in range(0, len(evidence), inputs))
        return replace(self, evidence=tuple(tuple(e for own in row for e in own) for row in rows))

    def to_html(self, path: str | Path | None = None) -> str:
        """The result as one self-contained page (`reports.score_page`), written to `path`.

        A judge that explains itself is asked for its evidence, if that is not there yet.
        """
        from litepyramid.judges.parallel import single
        from litepyramid.reports.score_page import write_page
        from litepyramid.scoring.facts import page_data

        explains = self.judge is not None and isinstance(single(self.judge), Explainer)
        find = explains and self.evidence is None and self.summaries is not None
        shown = self.with_evidence() if find else self
        return write_page(self.to_tables()[0].title, page_data(shown), path)

    def to_figure(self) -> Any:
        """One line per system, best first: score, interval, human score, rank groups."""
        from litepyramid.figures.score_plots import score_figure

        human, order = self.human_scores, self.order
        return score_figure(
            [self.systems[i] for i in order],
            [(self.scores[self.systems[i]], *self.intervals[i]) for i in order],
            [self.groups[i] for i in order],
            label=metric_title(self.metric),
            points={"human": [human[self.systems[i]] for i in order]} if human else {},
            confidence=self.confidence,
        )


def _evidence_json(evidence: Evidence) -> dict[str, Any] | None:
    if evidence.sentence < 0:
        return None
    names = ("sentence", "span", "presence", "conflict", "missing")
    values = {name: getattr(evidence, name) for name in names}
    return {name: value for name, value in values.items() if value not in ("", ())}


@dataclass(frozen=True, slots=True)
class _SavedSystem:
    system: str
    groups: tuple[int, ...]
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class _SavedRow:
    system: str
    input: str
    presence: list[float | None]
    score: float | None = None
    human: float | None = None
    labels: list[float | None] | None = None
    summary: str | None = None
    evidence: list[Evidence | None] | None = None
    spans: list[tuple[int, int]] | None = None


@dataclass(frozen=True, slots=True)
class _SavedReferences:
    input: str
    references: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Saved:
    """What `ScoreResult._document` holds, and the rows of JSON or the texts beside arrays."""

    metric: str
    name: str
    systems: list[_SavedSystem]
    confidence: float
    counts: dict[str, int]
    signature: dict[str, str]
    scores: list[_SavedRow] = field(default_factory=list)
    units: tuple[InputUnits, ...] = ()
    label_units: tuple[InputUnits, ...] = ()
    references: tuple[_SavedReferences, ...] | None = None
    summaries: tuple[tuple[str, ...], ...] | None = None
    evidence: list[list[Evidence | None]] | None = None
    ceiling: float | None = None
    notes: tuple[str, ...] = ()


def read_result(path: str | Path) -> ScoreResult:
    """Reads the JSON or npz in which a result of `score` was saved; InputError if it is broken."""
    from litepyramid.io.columns import read_columns

    path, what = Path(path), "not a saved result of score"
    arrays: dict[str, FloatArray | None]
    if columns := read_columns(path):
        saved = as_type(_Saved, columns.document, what=what, path=path)
        units, presence = columns.presence()
        label_units = columns.units("label_units") or units
        labels = columns.read("labels", sum(len(entry.units) for entry in label_units))
        arrays = {"values": columns.read("score"), "human": columns.read("human")}
        summaries, evidence, spans = saved.summaries, saved.evidence, None
    else:
        saved = as_type(_Saved, read_json(path, _EXPECTED), what=what, path=path)
        units, label_units = saved.units, saved.label_units or saved.units
        rows = _rows_by_system(saved, units, path)
        presence = _flat([[row.presence for row in own] for own in rows], units, "presence", path)
        grid = [[row.labels for row in own] for own in rows]
        labels = None
        if all(cell is not None for own in grid for cell in own):
            labels = _flat(grid, label_units, "labels", path)
        arrays = {
            "values": _array([[row.score for row in own] for own in rows]),
            "human": None if labels is None else _array([[r.human for r in own] for own in rows]),
        }
        texts = tuple(tuple(row.summary for row in own) for own in rows)
        summaries = texts if all(t is not None for own in texts for t in own) else None  # type: ignore[assignment]
        shown = [[row.evidence for row in own] for own in rows]
        evidence = None
        if all(cell is not None for own in shown for cell in own):
            evidence = [[e for cell in own for e in cell or ()] for own in shown]
        places = [row.spans for own in rows for row in own]
        spans = None
        if places and all(cell is not None for cell in places):
            spans = tuple(np.array(cell, dtype=np.int64).reshape(-1, 2) for cell in places)
    if arrays["values"] is None or len(saved.systems) != len(presence):
        raise InputError(what, path=path, expected=_EXPECTED)
    inputs = tuple(entry.input for entry in units)
    if saved.references and tuple(entry.input for entry in saved.references) != inputs:
        raise InputError(what, path=path, expected="references of each input, in order")
    fields = tuple((key, text) for key, text in saved.signature.items() if key != "version")
    return ScoreResult(
        metric=saved.metric,
        name=saved.name,
        systems=tuple(entry.system for entry in saved.systems),
        units=tuple(units),
        presence=presence,
        values=arrays["values"],
        intervals=tuple((_number(entry.low), _number(entry.high)) for entry in saved.systems),
        groups=tuple(entry.groups for entry in saved.systems),
        labels=labels,
        label_units=None if labels is None else tuple(label_units),
        human=arrays["human"],
        counts=saved.counts,
        confidence=saved.confidence,
        signature=Signature(fields),
        spans=spans,
        summaries=summaries,
        references=tuple(e.references for e in saved.references) if saved.references else None,
        evidence=_checked_evidence(evidence, summaries, units, path),
        ceiling=saved.ceiling,
        notes=saved.notes,
    )


def _rows_by_system(
    saved: _Saved, units: Sequence[InputUnits], path: Path
) -> list[list[_SavedRow]]:
    rows = {name: list(own) for name, own in groupby(saved.scores, lambda row: row.system)}
    inputs = [entry.input for entry in units]
    if list(rows) != [entry.system for entry in saved.systems] or any(
        [row.input for row in own] != inputs for own in rows.values()
    ):
        raise InputError(
            "not a saved result of score", path=path, expected="one score a system and input"
        )
    return list(rows.values())


def _checked_evidence(
    evidence: Sequence[Sequence[Evidence | None]] | None,
    summaries: Sequence[Sequence[str]] | None,
    units: Sequence[InputUnits],
    path: Path,
) -> tuple[tuple[Evidence, ...], ...] | None:
    """Saved evidence, each place of it in its summary."""
    if evidence is None or summaries is None:
        return None
    inputs = [m for m, entry in enumerate(units) for _ in entry.units]
    fits = len(evidence) == len(summaries) and all(
        len(row) == len(inputs)
        and len(texts) == len(units)
        and all(
            e is None or e.span[0] <= e.span[1] <= len(texts[m])
            for m, e in zip(inputs, row, strict=True)
        )
        for row, texts in zip(evidence, summaries, strict=True)
    )
    if not fits:
        raise InputError(
            "a saved result with broken evidence", path=path, expected="one place for each unit"
        )
    return tuple(tuple(Evidence(0.0) if e is None else e for e in row) for row in evidence)


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _array(rows: Sequence[Sequence[float | None]]) -> FloatArray:
    return np.array([[_number(value) for value in row] for row in rows], dtype=np.float64)


def _flat(
    grid: Sequence[Sequence[Any]], units: Sequence[InputUnits], what: str, path: Path
) -> FloatArray:
    """(N, U) values of all units; refused where an input has another number of them."""
    for row in grid:
        for cell, entry in zip(row, units, strict=True):
            if len(cell) != len(entry.units):
                raise InputError(
                    f"{len(cell)} numbers of {what} on input '{entry.input}'",
                    path=path,
                    expected=f"one for each of {counted(len(entry.units), 'unit')}",
                )
    return _array([[value for cell in row for value in cell] for row in grid])


def read_saved(result: Any) -> ScoreResult | None:
    """A result of `score` as it is, or read from its file; None of anything else."""
    from litepyramid.io.columns import read_columns

    if isinstance(result, ScoreResult):
        return result
    if not isinstance(result, str | Path) or file_type(result) != "file":
        return None
    texts = Path(result).suffix == ".json"
    saved = '"presence"' in read_text(result) if texts else read_columns(result) is not None
    return read_result(result) if saved else None


def scored_and_labelled(
    scores: Any, metric: str | None = None, human: str | None = None
) -> tuple[ScoreMatrix, Any, Signature]:
    """The scores of one metric, those of people if `human` names them, and how they were made."""
    if isinstance(scores, ScoreMatrix):
        scores = scores, None
    if isinstance(scores, tuple) and isinstance(scores[0], ScoreMatrix):
        return *scores, Signature.of(metric=scores[0].metric)
    result = read_saved(scores) or scores
    matrix = getattr(result, "matrix", None)
    if isinstance(matrix, ScoreMatrix) and metric in (None, matrix.metric):
        people = getattr(result, "human_matrix", None)
        if human is not None and people is None:
            raise InputError("no human labels", expected="a result that was scored with labels")
        return matrix, people, result.signature
    table = read_scores(scores)
    matrix = select_matrix(table, metric)
    people = None if human is None else table.matrix(human)
    return matrix, people, Signature.of(metric=matrix.metric)


def report(result: ResultLike) -> ScoreResult:
    """Show a saved result of ``score`` again: its table, page, figure, or another form.

    Nothing is judged: a page shows the evidence that the result was saved with.

    Args:
        result: The JSON or npz in which a result of ``score`` was saved.

    Returns:
        The result as `score` gave it; `save` writes it in any form.

    Raises:
        InputError: It is something else, or does not hold together.

    Example:
        >>> import litepyramid as lp
        >>> result = lp.score(["It rained all day."], [["It rained.", "We left."]], judge="recall")
        >>> report(result).scores
        {'system': 0.5}

    Command line:
        $ litepyramid report scores.json -o report.html
        $ litepyramid report scores.json -o figure.pdf
    """
    if isinstance(result, ScoreResult):
        return result
    if isinstance(result, str | Path):
        return read_result(result)
    raise InputError(f"a {type(result).__name__}", expected=f"a result of score, or {_EXPECTED}")
