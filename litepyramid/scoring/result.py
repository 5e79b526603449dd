"""The result of `score`: scores of systems, down to each unit's presence; saved and
read again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, product, takewhile
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import InputError, choose, located, require
from litepyramid.io.saved import BROKEN, EXPECTED, SavedScores, saved_scores
from litepyramid.io.scores import read_scores, select_matrix
from litepyramid.judges.base import Evidence, Explainer, Judge
from litepyramid.scoring.consistency import check_result, result_sha
from litepyramid.scoring.inference import flip_p_values, group_letters, too_few_inputs
from litepyramid.scoring.pyramid import (
    NUGGET_SCORES,
    ScoringRule,
    UnitLayout,
    metric_title,
    nugget_scores,
    rubric_scores,
)
from litepyramid.stats import (
    adjust_p_values,
    all_pairs,
    by_id,
    check_samples,
    mean_of_scored,
    system_intervals,
    system_means,
)
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted, cut
from litepyramid.types import (
    FloatArray,
    InputUnits,
    IntArray,
    ResultLike,
    ScoreMatrix,
    Signature,
)

FrameRows = Literal["systems", "inputs", "units", "tags"]

BOUNDS = (0.25, 0.75)
"""A fact of at most this presence is missing, of at least that present, without labels
to tell."""

_SURE = 0.8  # share of labels that must say so for a verdict
_TAG_ROWS = 60  # shown of a table by tag
_WORDING = {
    "empty_summaries": "empty summary: it holds|empty summaries: they hold|no unit",
    "missing_summaries": "summary is|summaries are|missing; they are not scored",
    "truncated": "pair was|pairs were|truncated to the judge's maximum length",
    "split": "pair was|pairs were|judged in parts of the summary; the best counts",
    "missing": "pair has|pairs have|no judgement",
    "summaries_not_scored": "summary is|summaries are|not scored, for lack of judgements",
    "summaries_without_precision": "summary has|summaries have|no unit, and no precision",
    "systems_without_labels": "system has|systems have|no human labels",
    "labels_not_used": "set of labels is|sets of labels are|of systems not scored here",
    "inputs_with_fewer_units_than_sample": "input has|inputs have|fewer units than the sample",
    "inputs_without_labels": (
        "input has|inputs have|no human labels: the human score is over the others"
    ),
    "units_without_labels": "unit of a labelled summary has|units of labelled summaries have|no label",
    "inputs_not_scored": "input has|inputs have|no score: the ideal summary holds no SCU",
}


@dataclass(frozen=True, kw_only=True)
class SystemScores(Result):
    """Scores of N systems on M inputs, as `score` and `precision` give them.

    Attributes:
        metric: ``lite2pyramid``, ``lite2.xpyramid``, ``lite3pyramid`` …, by the units'
            kinds; or
            ``precision``, ``f1``, ``faithfulness``.
        name: Its name next to other metrics; `metric` unless the user chooses another.
        values: (N, M) scores of summaries; NaN = not scored.
        intervals: N (low, high) bootstrap intervals of the system scores over inputs.
        groups: For each system, its rank groups (best is 1); systems that do not differ
            significantly share one.
        counts: What was counted along the way: pairs, empty summaries, truncated pairs
            …
        samples: Bootstrap samples of the intervals, drawn with `seed`.
        signature: Everything needed to reproduce the numbers.
    """

    metric: str
    name: str
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    values: FloatArray
    intervals: tuple[tuple[float, float], ...]
    groups: tuple[tuple[int, ...], ...]
    counts: Mapping[str, int]
    confidence: float
    samples: int
    seed: int
    signature: Signature

    def __getitem__(self, system: str) -> float:
        """The score of one system."""
        if system not in self.systems:
            choose("system", system, self.systems)
        return self.scores[system]

    @property
    def matrix(self) -> ScoreMatrix:
        """The summary scores with names, as `compare` and meta-evaluation take them."""
        return ScoreMatrix(self.name, self.systems, self.inputs, self.values)

    @property
    def scores(self) -> dict[str, float]:
        """System scores, means over the scored inputs (ZB21 §3.1)."""
        return self._means(self.values)

    @property
    def order(self) -> list[int]:
        """Places of the systems, best first; those without a score last."""
        return [int(i) for i in np.argsort(-system_means(self.values), kind="stable")]

    @property
    def beside(self) -> dict[str, dict[str, float]]:
        """What is shown beside each system's score, by name."""
        return {}

    def _means(self, values: FloatArray) -> dict[str, float]:
        return dict(zip(self.systems, system_means(values).tolist(), strict=True))

    def system_rows(self) -> list[dict[str, Any]]:
        """Best first, each system's group, score, interval, and what is beside it."""
        means = {"score": self.scores, **self.beside}
        ends = self.intervals
        return [
            {"group": group_letters(self.groups[n]), "system": name}
            | {"low": ends[n][0], "high": ends[n][1]}
            | {key: column[name] for key, column in means.items()}
            for n, name in ((n, self.systems[n]) for n in self.order)
        ]

    def to_tables(self) -> Sequence[Table]:
        """One row per system, best first."""
        named = "" if self.name == self.metric else f"{self.name}: "
        systems = counted(len(self.systems), "system")
        inputs = counted(len(self.inputs), "input")
        title = f"{named}{metric_title(self.metric)} of {systems} on {inputs}"
        low = Column("low", f"{100 * self.confidence:g} % low")
        names: list[Column | str] = [
            "group",
            "system",
            Column("score", bar=True),
            low,
            "high",
            *self.beside,
        ]

        notes = (*self._notes(), str(self.signature))
        return [Table.of(title, names, self.system_rows(), notes)]

    def _notes(self) -> list[str]:
        """A sentence for each thing that was counted during scoring."""
        words = {
            key: text.split("|")
            for key, text in _WORDING.items()
            if self.counts.get(key)
        }
        return [
            f"{counted(self.counts[key], one, many)} {rest}."
            for key, (one, many, rest) in words.items()
        ]

    def to_figure(self) -> Any:
        """One line per system, best first: score, interval, rank groups, what is beside
        it."""
        from litepyramid.figures.score_plots import score_figure

        rows = self.system_rows()
        names = [name for name in self.beside if name != "clipped"]
        return score_figure(
            [row["system"] for row in rows],
            [(row["score"], row["low"], row["high"]) for row in rows],
            [self.groups[n] for n in self.order],
            label=metric_title(self.metric),
            points={name: [row[name] for row in rows] for name in names},
            confidence=self.confidence,
        )

    def _document(self) -> dict[str, Any]:
        """What is saved but for the scores by input; systems in their order."""
        means = {"score": self.scores, **self.beside}
        ends = zip(self.systems, self.intervals, self.groups, strict=True)
        systems = [
            {"system": name, **{key: column[name] for key, column in means.items()}}
            | {
                "low": low,
                "high": high,
                "groups": groups,
            }
            for name, (low, high), groups in ends
        ]
        return {
            "metric": self.metric,
            "name": self.name,
            "systems": systems,
            "confidence": self.confidence,
            "samples": self.samples,
            "seed": self.seed,
            "counts": dict(self.counts),
            "signature": self.signature.to_json(),
        }


@dataclass(frozen=True, kw_only=True)
class ScoreResult(SystemScores):
    """Scores of systems, down to each unit's presence.

    Attributes:
        rule: How presence became scores.
        presence: (N, U) presence of every unit, input after input.
        labels: (N, L) human labels of the labelled units, NaN rows for systems without
            labels; None if there are none.
        label_units: M inputs with the L units that labels refer to; None without
            labels.
        human: (N, M) human scores, with NaN likewise; None without labels.
        summaries: (N, M) the texts that were judged; None if only presence was given.
        references: M inputs with their references, each a tuple of sentences; None
            without them.
        evidence: (N, U) where the judge found each unit; None if it was not asked.
        ceiling: The mean score of the references on their own units, by the same judge;
            None if the units were not extracted from references.
        notes: What was noticed in the data.
        opinions: (J, N, U) presences by each of several judges; None of a single one.
        judge: The judge, to find evidence when a page is made; not saved.
    """

    rule: ScoringRule
    units: tuple[InputUnits, ...]
    presence: FloatArray
    labels: FloatArray | None
    label_units: tuple[InputUnits, ...] | None
    human: FloatArray | None
    summaries: tuple[tuple[str, ...], ...] | None = None
    references: tuple[tuple[tuple[str, ...], ...], ...] | None = None
    evidence: tuple[tuple[Evidence, ...], ...] | None = None
    ceiling: float | None = None
    notes: tuple[str, ...] = ()
    opinions: FloatArray | None = None
    judge: Judge | None = field(default=None, compare=False)

    @property
    def human_matrix(self) -> ScoreMatrix | None:
        """The human scores with names; None without labels."""
        if self.human is None:
            return None
        return ScoreMatrix("human", self.systems, self.inputs, self.human)

    @property
    def human_scores(self) -> dict[str, float]:
        """Human system scores; NaN for a system without labels, empty if there are no
        labels."""
        return {} if self.human is None else self._means(self.human)

    @property
    def beside(self) -> dict[str, dict[str, float]]:
        """The clipped and the human scores."""
        means = {"clipped": self.clipped, "human": self.human_scores}
        return {name: column for name, column in means.items() if column}

    @property
    def clipped(self) -> dict[str, float]:
        """Of a rubric scored by points, each system's mean within 0 and 1, as
        HealthBench's."""
        clipped = {
            name: float(np.clip(score, 0, 1)) for name, score in self.scores.items()
        }
        return clipped if self.rule.name == "points" else {}

    @cached_property
    def tags(self) -> list[dict[str, Any]]:
        """Scores on the units of each tag: a row a tag and system, best system first.

        An input counts where it has units of the tag (in a rubric, some with positive
        points).
        """
        rule = self.rule
        layout = UnitLayout.of(self.units)
        every = [set(unit.tags) for entry in self.units for unit in entry.units]
        tags = set[str]().union(*every) if rule.signed or rule.name == "lite" else ()
        rows = []
        by_input = by_id(self.inputs)
        by_system = by_id(self.systems)

        for tag in sorted(tags):
            chosen = np.array([tag in unit_tags for unit_tags in every])
            values = rubric_scores(
                self.presence,
                layout,
                normalized=rule.name == "normalized",
                chosen=chosen,
            )
            counts = (
                layout.sums(np.asarray(chosen & (layout.weights > 0), dtype=np.float64))
                > 0
            )
            values = values[:, [m for m in by_input if counts[m]]]
            if not values.size:
                continue
            ends = system_intervals(
                values[by_system],
                samples=self.samples,
                confidence=self.confidence,
                seed=self.seed,
            )

            means = system_means(values).tolist()
            for n in self.order:
                low, high = ends[by_system.index(n)]
                row = {
                    "tag": tag,
                    "system": self.systems[n],
                    "inputs": values.shape[1],
                }
                row |= {
                    "units": int(chosen.sum()),
                    "score": means[n],
                    "low": low,
                    "high": high,
                }
                more = (
                    {"clipped": float(np.clip(means[n], 0, 1))} if self.clipped else {}
                )
                rows.append(row | more)

        return rows

    @property
    def measures(self) -> dict[str, FloatArray]:
        """The four `nugget_scores`, and as ``human_…`` those of labels: (N, M) by name.

        None of units that do not say how important they are.
        """
        measures: dict[str, FloatArray] = {}
        sides = (
            ("", self.presence, self.units),
            ("human_", self.labels, self.label_units),
        )
        for prefix, values, units in sides:
            if (
                values is not None
                and units
                and any(u.importance for e in units for u in e.units)
            ):
                scores = nugget_scores(values, UnitLayout.of(units))
                measures |= {prefix + name: score for name, score in scores.items()}

        return measures

    def to_tables(self) -> Sequence[Table]:
        """One row per system, best first; then the scores of nuggets, and those by
        tag."""
        (table,) = super().to_tables()
        title = f"{table.title} ({counted(self.presence.shape[1], 'unit')})"
        return [replace(table, title=title), *self._nugget_table(), *self._tag_table()]

    def _notes(self) -> list[str]:
        notes = []
        if pairs := len(self.systems) * (len(self.systems) - 1) // 2:
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

        return [*notes, *super()._notes(), *self.notes]

    def _nugget_table(self) -> list[Table]:
        means = {
            name: system_means(values).tolist()
            for name, values in self.measures.items()
        }
        rows = [
            {"system": self.systems[n], "by": by}
            | {name: means[prefix + name][n] for name in NUGGET_SCORES}
            for n in self.order
            for by, prefix in (("judge", ""), ("people", "human_"))
            if prefix + NUGGET_SCORES[0] in means
        ]
        scores = [Column(name, name.replace("_", " ")) for name in NUGGET_SCORES]
        notes = ["Strict: only labels of 1; for the judge, presence of .75 or more."]

        if none := sum(
            all(unit.importance != "vital" for unit in e.units) for e in self.units
        ):
            inputs = counted(none, "input has", "inputs have")
            notes.append(f"{inputs} no vital nugget and a vital score of 0.")

        title = "Nugget scores, mean over inputs"
        return [Table.of(title, ["system", "by", *scores], rows, notes)] if rows else []

    def _tag_table(self) -> list[Table]:
        rows = self.tags
        clipped = ["clipped"] * bool(self.clipped)
        columns = ["tag", "system", "inputs", "score", "low", "high", *clipped]
        more = [
            f"{len(rows) - _TAG_ROWS} more rows in the JSON and in to_frame('tags')."
        ]
        notes = more * (len(rows) > _TAG_ROWS)

        return (
            [Table.of("Scores by tag", columns, rows[:_TAG_ROWS], notes)]
            if rows
            else []
        )

    def to_csv_table(self) -> Table:
        """One row per system and input: its score, the system's interval, units,
        missing ones."""
        missing = UnitLayout.of(self.units).sums(
            np.isnan(self.presence).astype(np.float64)
        )
        names = "system input metric score low high human units missing"
        rows = [
            (
                *(
                    system,
                    entry.input,
                    self.name,
                    float(self.values[n, m]),
                    *self.intervals[n],
                ),
                None if self.human is None else float(self.human[n, m]),
                *(len(entry.units), int(missing[n, m])),
            )
            for n, system in enumerate(self.systems)
            for m, entry in enumerate(self.units)
        ]
        return Table("", tuple(map(Column, names.split())), tuple(rows))

    def unit_table(self) -> Table:
        """One row per system and unit: presence, label, and the judge's evidence; how
        far apart several judges are."""
        labels = self.labels if self.label_units in (None, self.units) else None
        units = [
            (m, u, unit)
            for m, e in enumerate(self.units)
            for u, unit in enumerate(e.units)
        ]
        rows = []

        for n, system in enumerate(self.systems):
            for at, (m, u, unit) in enumerate(units):
                label = None if labels is None else float(labels[n, at])
                why: tuple[str | float | None, ...] = (None, None, None)
                if (
                    self.evidence
                    and self.summaries
                    and self.evidence[n][at].sentence >= 0
                ):
                    evidence = self.evidence[n][at]
                    quote = self.summaries[n][m][slice(*evidence.span)]
                    why = (quote, "; ".join(evidence.missing), evidence.conflict)
                cells = (
                    unit.text,
                    unit.weight,
                    unit.kind,
                    float(self.presence[n, at]),
                    label,
                )
                # How far apart several judges are.
                if self.opinions is not None:
                    why = (*why, float(np.ptp(self.opinions[:, n, at])))
                rows.append((system, self.inputs[m], u + 1, *cells, *why))

        names = "system input unit text weight kind presence label evidence missing conflict"
        if self.opinions is not None:
            names += " disagreement"
        return Table("", tuple(map(Column, names.split())), tuple(rows))

    def to_frame(self, rows: FrameRows = "systems") -> Any:
        """A pandas frame with a row a system, best first; or a system and input, unit,
        tag."""
        choose("rows", rows, get_args(FrameRows))
        pandas = require("pandas", extra="tables", purpose="a data frame")
        if rows == "tags":
            return pandas.DataFrame(self.tags)
        tables = {"inputs": self.to_csv_table, "units": self.unit_table}
        table = tables[rows]() if rows in tables else self.to_tables()[0]
        return pandas.DataFrame(
            table.rows, columns=[column.name for column in table.columns]
        )

    def to_json(self) -> dict[str, Any]:
        """Everything, down to each unit's presence in each summary, with the texts."""
        entries = self.json_entries()
        return {
            k: list(v) if isinstance(v, Iterator) else v for k, v in entries.items()
        }

    def json_entries(self) -> dict[str, Any]:
        """`to_json` with iterators for ``scores`` and units."""
        units = {
            key: (e.to_json() for e in entries)
            for key, entries in self._units().items()
        }
        return {
            **self._document(),
            "scores": self._rows(),
            **units,
        }

    def _document(self) -> dict[str, Any]:
        optional = {
            "rule": str(self.rule),
            "ceiling": self.ceiling,
            "notes": self.notes or None,
            "tags": self.tags or None,
            "references": self.references,
        }
        document = super()._document()
        document["checksum"] = result_sha(self)
        return document | {
            key: value for key, value in optional.items() if value is not None
        }

    def _rows(self) -> Iterator[dict[str, Any]]:
        bounds = UnitLayout.of(self.units).bounds
        labelled = UnitLayout.of(self.label_units or self.units).bounds
        measures = self._other_measures()

        for n, m in product(range(len(self.systems)), range(len(self.inputs))):
            row = {
                "system": self.systems[n],
                "input": self.inputs[m],
                "score": self.values[n, m],
            }
            row["presence"] = self.presence[n, slice(*bounds[m])]
            if self.human is not None and self.labels is not None:
                row |= {
                    "human": self.human[n, m],
                    "labels": self.labels[n, slice(*labelled[m])],
                }

            if self.summaries is not None:
                row["summary"] = self.summaries[n][m]
            if self.opinions is not None:
                row["opinions"] = self.opinions[:, n, slice(*bounds[m])].T
            if self.evidence is not None:
                row["evidence"] = [
                    *map(_evidence_json, self.evidence[n][slice(*bounds[m])])
                ]

            if measures:
                row["measures"] = {
                    name: values[n, m] for name, values in measures.items()
                }

            yield row

    def _other_measures(self) -> dict[str, FloatArray]:
        return {
            name: values for name, values in self.measures.items() if name != self.name
        }

    def _units(self) -> dict[str, tuple[InputUnits, ...]]:
        other = self.label_units
        more = {} if other is None or other == self.units else {"label_units": other}
        return {"units": self.units, **more}

    def with_evidence(self) -> Self:
        """The result with the evidence of the judge that scored, for each unit."""
        from litepyramid.judges.explain import gather

        if self.judge is None or self.summaries is None:
            raise InputError(
                "evidence without the judge or the texts",
                expected="a result of score with both",
            )

        items = [
            (t, e.texts)
            for row in self.summaries
            for t, e in zip(row, self.units, strict=True)
        ]
        questions = [entry.question for entry in self.units] * len(self.systems)
        evidence = iter(gather(self.judge, items, questions))
        rows = (islice(evidence, len(self.units)) for _ in self.systems)
        return replace(self, evidence=tuple(tuple(chain(*row)) for row in rows))

    def to_html(self, path: str | Path | None = None) -> str:
        """The result as one self-contained page (`reports.score_page`), written to
        `path`.

        A judge that explains itself is asked for its evidence, if that is not there
        yet.
        """
        from litepyramid.judges.parallel import single
        from litepyramid.reports.score_page import write_page

        explains = self.judge is not None and isinstance(single(self.judge), Explainer)
        find = explains and self.evidence is None and self.summaries is not None
        data = _page_data(self.with_evidence() if find else self)
        return write_page(self.to_tables()[0].title, data, path)


def _evidence_json(evidence: Evidence) -> dict[str, Any] | None:
    if evidence.sentence < 0:
        return None
    names = ("sentence", "span", "presence", "conflict", "missing")
    values = {name: getattr(evidence, name) for name in names}
    return {name: value for name, value in values.items() if value not in ("", ())}


# The page
# ------------------------------------------------------------------------------------


def _page_data(result: ScoreResult) -> dict[str, Any]:
    """What the page's script draws; presences are in thousandths, labels in halves, -1
    is none."""
    from litepyramid.judges.evaluate import calibrate

    notes = result.to_tables()[0].notes
    labels = result.labels if result.label_units in (None, result.units) else None
    calibration = None
    evidence = None

    if (
        labels is not None
        and (both := ~np.isnan(labels) & ~np.isnan(result.presence)).any()
    ):
        calibration = calibrate(
            result.presence[both], labels[both], signature=result.signature
        )

    if (
        result.evidence is not None and result.summaries is not None
    ):  # 0: nothing was found
        evidence = [
            [
                [*e.span, e.conflict, cut(", ".join(e.missing), 200)]
                if e.sentence >= 0
                else 0
                for e in row
            ]
            for row in result.evidence
        ]

    rows = {row["system"]: row for row in result.system_rows()}
    references = result.references or [None] * len(result.units)
    return {
        "percent": f"{100 * result.confidence:g} %",
        "signature": result.signature,
        "notes": notes[:-1],
        "groups": next((note for note in notes if "share a group" in note), ""),
        "systems": [
            {"clipped": None, **rows[name], "inputs": list(values),}
            for name, values in zip(result.systems, result.values, strict=True)
        ],
        "order": result.order,
        "ceiling": result.ceiling,
        "bounds": BOUNDS if calibration is None else verdict_bounds(calibration.bins),
        "inputs": [
            {**entry.to_json(), "references": own or None}
            for entry, own in zip(result.units, references, strict=True)
        ],
        "presence": _scaled(result.presence, 1000),
        "labels": None if labels is None else _scaled(labels, 2),
        "texts": result.summaries,
        "evidence": evidence,
        "pairs": _pairs(result),
        "tags": result.tags,
        "calibration": calibration and {
            "bins": [[b.predicted, b.observed, b.pairs] for b in calibration.bins if b.pairs],
            "pairs": calibration.pairs, "auc": calibration.auc, "brier": calibration.brier,
            "constant": calibration.brier_constant,
        },
    }  # fmt: skip


def verdict_bounds(bins: Sequence[Any]) -> tuple[float, float]:
    """Presence up to which facts are missing, and from which they are present, by the
    labels.

    The widest ranges from 0 and from 1 in whose calibration bins four of five labels
    say so;
    `BOUNDS` where there is no such bin.
    """
    bins = [one for one in bins if one.pairs]
    missing = takewhile(lambda one: one.observed <= 1 - _SURE, bins)
    present = takewhile(lambda one: one.observed >= _SURE, reversed(bins))
    low = max((one.high for one in missing), default=BOUNDS[0])
    return low, min((one.low for one in present), default=BOUNDS[1])


def _scaled(values: FloatArray, by: int) -> IntArray:
    whole = np.where(np.isnan(values), -1.0, np.rint(np.nan_to_num(values) * by))
    return whole.astype(np.int64)


def _pairs(result: ScoreResult) -> list[list[Any]] | None:
    """The matrix of differences, best system first: [difference, significant] or
    None."""
    order = result.order
    if len(order) < 2 or np.isnan(system_means(result.values)).any():
        return None
    values = result.values[order]
    places = all_pairs(len(order))
    p = adjust_p_values(flip_p_values(values, places), "holm")
    cells: list[list[Any]] = [[None] * len(order) for _ in order]

    for (i, j), clear in zip(
        places.tolist(), (p < 1 - result.confidence).tolist(), strict=True
    ):
        difference = mean_of_scored(values[i] - values[j])
        cells[i][j], cells[j][i] = [difference, clear], [-difference, clear]

    return cells


# Saved results
# -------------------------------------------------------------------------------


def read_result(path: str | Path) -> ScoreResult:
    """Reads the JSON in which a result of `score` was saved; InputError if it is
    broken, or something else."""
    if (result := read_saved(path)) is None:
        raise InputError(BROKEN, path=path, expected=EXPECTED)
    return result


def read_saved(result: Any) -> ScoreResult | None:
    """A result of `score` as it is, or read from its file; None of anything else."""
    if isinstance(result, ScoreResult):
        return result

    if not isinstance(result, str | Path):
        return None

    saved = saved_scores(result)
    return None if saved is None or not saved.units else _restored(saved, result)


def _restored(saved: SavedScores, path: str | Path) -> ScoreResult:
    """The result that was saved."""
    units = saved.units
    label_units = saved.label_units or units
    if len(saved.references or units) != len(units):
        raise InputError(BROKEN, path=path, expected="references of each input")

    with located(path):
        check_samples(saved.samples, confidence=saved.confidence)
        rule = ScoringRule.of(saved.rule)

    labels = saved.per_unit("labels", label_units, path)
    evidence = saved.per_unit("evidence", units, path)
    opinions = saved.per_unit("opinions", units, path)
    ends = np.array([(entry.low, entry.high) for entry in saved.systems], np.float64)
    fields = [pair for pair in saved.signature.items() if pair[0] != "version"]

    result = ScoreResult(
        metric=saved.metric,
        name=saved.name,
        systems=saved.names,
        inputs=saved.inputs,
        values=saved.column("score"),
        intervals=tuple([(low, high) for low, high in ends.tolist()]),
        groups=tuple([entry.groups for entry in saved.systems]),
        counts=saved.counts,
        confidence=saved.confidence,
        samples=saved.samples,
        seed=saved.seed,
        signature=Signature(tuple(fields)),
        rule=rule,
        units=units,
        presence=saved.presence(path),
        labels=None if labels is None else np.array(labels, dtype=np.float64),
        label_units=None if labels is None else label_units,
        human=None if labels is None else saved.column("human"),
        summaries=saved.texts("summary"),
        references=saved.references,
        evidence=None if evidence is None else _evidence(evidence, path),
        opinions=None if opinions is None else _opinions(opinions, path),
        ceiling=saved.ceiling,
        notes=saved.notes,
    )

    means = [entry.score for entry in saved.systems]

    with located(path):
        check_result(result, saved.checksum, means)

    return result


def _opinions(rows: list[list[Any]], path: str | Path) -> FloatArray:
    """The (J, N, U) presences by several judges."""
    if len({len(values) for row in rows for values in row}) > 1:
        raise InputError(BROKEN, path=path, expected="a presence by each judge")
    return np.array(rows, dtype=np.float64).transpose(2, 0, 1)


def _evidence(
    rows: list[list[Any]], path: str | Path
) -> tuple[tuple[Evidence, ...], ...]:
    """The evidence of each unit; null is a unit of which the judge found nothing."""
    nothing = Evidence(0.0)
    checked = as_type(list[list[Evidence | None]], rows, what=BROKEN, path=path)
    return tuple([tuple([cell or nothing for cell in row]) for row in checked])


def scored_and_labelled(
    scores: Any, metric: str | None = None, human: str | None = None
) -> tuple[ScoreMatrix, Any, Signature]:
    """The scores of one metric, those of people if `human` names them, and how they
    were made."""
    if isinstance(scores, ScoreMatrix):
        scores = scores, None
    if isinstance(scores, tuple) and isinstance(scores[0], ScoreMatrix):
        return *scores, Signature.of(metric=scores[0].metric)
    result = read_saved(scores) or scores
    matrix = getattr(result, "matrix", None)

    if isinstance(matrix, ScoreMatrix) and metric in (None, matrix.metric):
        people = getattr(result, "human_matrix", None)
        if human is not None and people is None:
            raise InputError(
                "no human labels", expected="a result that was scored with labels"
            )
        return matrix, people, result.signature

    table = read_scores(scores)
    matrix = select_matrix(table, metric)
    people = None if human is None else table.matrix(human)
    return matrix, people, Signature.of(metric=matrix.metric)


def report(result: ResultLike) -> ScoreResult:
    """Show a saved result of ``score`` again: its table, page, figure, or another form.

    Nothing is judged: a page shows the evidence that the result was saved with.

    Args:
        result: The JSON in which a result of ``score`` was saved.

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
    if (saved := read_saved(result)) is None:
        raise InputError(f"{cut(result)} is no result of score", expected=EXPECTED)
    return saved
