"""The result of `score`: scores of systems, down to each unit's presence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, Literal, Self

import numpy as np

from litepyramid.data.facts import Facts
from litepyramid.data.records import InputUnits, Summaries, Units
from litepyramid.data.saved import checksum_of
from litepyramid.data.scores import HUMAN, Scores
from litepyramid.errors import InputError, choose
from litepyramid.judges.base import Evidence, Explainer, Judge
from litepyramid.scoring.inference import too_few_inputs, too_many_pairs
from litepyramid.scoring.page_data import page_data
from litepyramid.scoring.pyramid import (
    NUGGET_SCORES,
    SIGNED,
    ScoringRule,
    nugget_scores,
    rubric_scores,
)
from litepyramid.scoring.system_scores import SystemScores
from litepyramid.stats import system_intervals, system_means
from litepyramid.tables import Column, Table, frame
from litepyramid.text import counted
from litepyramid.types import BoolArray, Fields, FloatArray, Texts

FrameRows = Literal["systems", "inputs", "units", "tags"]

_TAG_ROWS = 60  # shown of a table by tag


@dataclass(frozen=True, kw_only=True)
class ScoreResult(SystemScores):
    """Scores of systems, down to each unit's presence.

    Attributes:
        rule: How presence became scores.
        facts: The presence of every unit in every system's summary.
        labels: People's labels, with the units that they are of, NaN rows for systems
            without labels; None if there are none.
        human: (N, M) human scores, with NaN likewise; None without labels.
        summaries: The texts that were judged; None if only presence was given.
        references: By input the references, each a tuple of sentences; empty without
            them.
        evidence: N rows of U: where the judge found each unit; None if it was not
            asked.
        plan: What each source was taken for, and by what they were joined.
        ceiling: The mean score of the references on their own units, by the same judge;
            None if the units were not extracted from references.
        opinions: (J, N, U) presences by each of several judges; None of a single one.
        judge: The judge, to find evidence when a page is made; not saved.
    """

    rule: ScoringRule
    facts: Facts
    labels: Facts | None
    human: FloatArray | None
    summaries: Summaries | None = None
    references: Mapping[str, tuple[Texts, ...]] = field(default_factory=dict)
    evidence: tuple[tuple[Evidence, ...], ...] | None = None
    plan: Texts = field(default=(), compare=False)
    ceiling: float | None = None
    opinions: FloatArray | None = None
    judge: Judge | None = field(default=None, compare=False)

    @property
    def units(self) -> Units:
        """The units of every input."""
        return self.facts.units

    @property
    def presence(self) -> FloatArray:
        """(N, U) presence of every unit; NaN where there is no judgement."""
        return self.facts.values

    @property
    def labels_here(self) -> FloatArray | None:
        """(N, U) labels of the units that were judged; None where people labelled
        others, or none."""
        if self.labels is None or self.labels.units.facts != self.units.facts:
            return None
        return self.labels.values

    @property
    def table(self) -> Scores:
        """The summary scores with names, human ones too where people labelled any."""
        scores = {self.name: self.values}
        if self.human is not None:
            scores[HUMAN] = self.human
        return Scores.of(scores, self.systems, self.inputs)

    @property
    def human_scores(self) -> dict[str, float]:
        """Human system scores; NaN for a system without labels, empty if there are no
        labels."""
        return {} if self.human is None else self._means(self.human)

    @property
    def beside(self) -> dict[str, dict[str, float]]:
        """The clipped and the human scores: a column each of the table and the page."""
        means = {"clipped": self.clipped, "human": self.human_scores}
        return {name: column for name, column in means.items() if column}

    @property
    def clipped(self) -> dict[str, float]:
        """Of a rubric scored by points, each system's mean within 0 and 1, as
        HealthBench's."""
        if self.rule.name != "points":
            return {}

        clipped = np.clip([*self.scores.values()], 0, 1).tolist()
        return dict(zip(self.systems, clipped, strict=True))

    @cached_property
    def tags(self) -> list[Fields]:
        """Scores on the units of each tag: a row a tag and system, best system first.

        An input counts where it has units of the tag (in a rubric, some with positive
        points).
        """
        # Other rules are no sums over units, of which a tag could take a part.
        if self.rule.name not in ("lite", *SIGNED):
            return []
        units = self.units.every
        tags = {tag for unit in units for tag in unit.tags}

        rows = []
        for tag in sorted(tags):
            chosen = np.array([tag in unit.tags for unit in units])
            rows += self._rows_of_tag(tag, chosen)
        return rows

    def _rows_of_tag(self, tag: str, chosen: BoolArray) -> list[Fields]:
        """The scores on the (U,) chosen units, best system first; none without an
        input."""
        units = self.units
        normalized = self.rule.name == "normalized"
        values = rubric_scores(
            self.presence, units, normalized=normalized, chosen=chosen
        )
        positive = (chosen & (units.weights > 0)).astype(float)
        values = values[:, units.sums(positive) > 0]
        if not values.size:
            return []

        ends = system_intervals(
            values,
            samples=self.samples,
            confidence=self.confidence,
            seed=self.seed,
        )
        means = system_means(values).tolist()

        rows = []
        for n in self.order:
            low, high = ends[n]
            row = {
                "tag": tag,
                "system": self.systems[n],
                "inputs": values.shape[1],
                "units": int(chosen.sum()),
                "score": means[n],
                "low": low,
                "high": high,
            }
            if self.clipped:
                row["clipped"] = float(np.clip(means[n], 0, 1))
            rows.append(row)

        return rows

    @property
    def measures(self) -> dict[str, FloatArray]:
        """The four `nugget_scores`, and as ``human_…`` those of labels: (N, M) by name.

        None of units that do not say how important they are.
        """
        measures = {}
        for prefix, facts in (("", self.facts), ("human_", self.labels)):
            # Units of which none says how important it is are no nuggets.
            if facts is not None and facts.units.vital is not None:
                for name, scores in nugget_scores(facts.values, facts.units).items():
                    measures[prefix + name] = scores
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
                "Systems that share a group do not differ significantly (α = .05, "
                "sign-flip test, Holm's correction)."
            )
            notes += too_few_inputs(len(self.units), pairs)
            notes += too_many_pairs(pairs, len(self.units))

        if self.clipped:
            notes.append("clipped: the mean within 0 and 1, as HealthBench reports it.")
        if self.ceiling is not None:
            notes.append(
                f"By this judge the references themselves score {self.ceiling:.3f} "
                "on their own units: compare with that, not with 1."
            )

        return [*notes, *super()._notes()]

    def _nugget_table(self) -> list[Table]:
        """A row a system by the judge, and one by people where they labelled it."""
        means = {}
        for name, values in self.measures.items():
            means[name] = system_means(values).tolist()

        rows = []
        for n in self.order:
            for by, prefix in (("judge", ""), ("people", "human_")):
                # Without labels there is no row of people.
                if prefix + NUGGET_SCORES[0] not in means:
                    continue
                row = {"system": self.systems[n], "by": by}
                for name in NUGGET_SCORES:
                    row[name] = means[prefix + name][n]
                rows.append(row)

        if not rows:
            return []

        notes = ["Strict: only labels of 1; for the judge, presence of .75 or more."]
        without = 0
        for entry in self.units:
            without += all(unit.importance != "vital" for unit in entry.units)
        if without:
            inputs = counted(without, "input has", "inputs have")
            notes.append(f"{inputs} no vital nugget and a vital score of 0.")

        scores = [Column(name, name.replace("_", " ")) for name in NUGGET_SCORES]
        title = "Nugget scores, mean over inputs"
        return [Table.of(title, ["system", "by", *scores], rows, notes)]

    def _tag_table(self) -> list[Table]:
        """A row a tag and system, as many as can be shown."""
        rows = self.tags
        if not rows:
            return []

        columns = ["tag", "system", "inputs", "score", "low", "high"]
        if self.clipped:
            columns.append("clipped")
        notes = []
        if (more := len(rows) - _TAG_ROWS) > 0:
            notes.append(f"{more} more rows in the JSON and in to_frame('tags').")
        return [Table.of("Scores by tag", columns, rows[:_TAG_ROWS], notes)]

    def to_csv_table(self) -> Table:
        """One row per system and input: its score, its units, missing ones."""
        unjudged = np.isnan(self.presence).astype(float)
        missing = self.units.sums(unjudged)
        rows = []

        for n, system in enumerate(self.systems):
            for m, entry in enumerate(self.units):
                human = None if self.human is None else float(self.human[n, m])
                rows.append(
                    {
                        "system": system,
                        "input": entry.input,
                        "metric": self.name,
                        "score": float(self.values[n, m]),
                        "human": human,
                        "units": len(entry.units),
                        "missing": int(missing[n, m]),
                    }
                )

        return Table.of("", rows[0], rows)

    def unit_table(self) -> Table:
        """One row per system and unit: presence, label, and the judge's evidence; how
        far apart several judges are."""
        labels = self.labels_here
        rows = []

        for n, system in enumerate(self.systems):
            place = 0  # of the unit among those of all inputs
            for m, entry in enumerate(self.units):
                for number, unit in enumerate(entry.units, 1):
                    row = {
                        "system": system,
                        "input": entry.input,
                        "number": number,
                        "unit": unit.text,
                        "weight": unit.weight,
                        "kind": unit.kind,
                        "presence": float(self.presence[n, place]),
                        "label": None if labels is None else float(labels[n, place]),
                    }
                    row |= self._reasons(n, m, place)
                    if self.opinions is not None:
                        row["disagreement"] = float(np.ptp(self.opinions[:, n, place]))
                    rows.append(row)
                    place += 1

        return Table.of("", rows[0], rows)

    def _reasons(self, system: int, column: int, place: int) -> Fields:
        """What the judge saw of one unit: the sentence, what it lacks, what speaks
        against it."""
        if self.evidence and self.summaries:
            evidence = self.evidence[system][place]
            if evidence.sentence >= 0:
                summary = self.summaries.texts[system][column] or ""
                return {
                    "evidence": summary[slice(*evidence.span)],
                    "missing": "; ".join(evidence.missing),
                    "conflict": evidence.conflict,
                }
        return dict.fromkeys(("evidence", "missing", "conflict"))

    def to_frame(self, rows: FrameRows = "systems") -> Any:
        """A pandas frame with a row a system, best first; or a system and input, unit,
        tag."""
        choose("rows", rows, FrameRows)
        if rows == "tags":
            return frame(self.tags)
        tables = {"inputs": self.to_csv_table, "units": self.unit_table}
        table = tables[rows]() if rows in tables else self.to_tables()[0]
        return table.to_frame()

    def json_entries(self) -> Fields:
        """Everything, down to each unit's presence in each summary, with the texts."""
        return {**self._entries(), "checksum": checksum_of(self._entries())}

    def _entries(self) -> Fields:
        entries = self._document()
        entries["scores"] = self._rows()
        entries["units"] = map(InputUnits.to_json, self.units)
        if self.labels is not None and self.labels_here is None:
            entries["label_units"] = map(InputUnits.to_json, self.labels.units)
        return entries

    def _document(self) -> Fields:
        """What is saved but for rows and units; what is empty is left out."""
        document = super()._document()
        document["rule"] = str(self.rule)
        for name in ("plan", "ceiling", "tags", "references"):
            value = getattr(self, name)
            if value not in (None, {}, [], ()):
                document[name] = value

        return document

    def _rows(self) -> Iterator[Fields]:
        """One row a system and input: `data.saved.SavedRow`."""
        measures = self.measures
        measures.pop(self.name, None)  # which is the score itself
        parts = pairwise(self.units.offsets.tolist())
        labelled = self.labels.units if self.labels is not None else self.units
        label_parts = pairwise(labelled.offsets.tolist())
        places = [*zip(self.inputs, parts, label_parts, strict=True)]

        for n, system in enumerate(self.systems):
            for m, (input_, part, label_part) in enumerate(places):
                cells = slice(*part)
                row = {
                    "system": system,
                    "input": input_,
                    "score": self.values[n, m],
                    "presence": self.presence[n, cells],
                }
                if self.human is not None and self.labels is not None:
                    row["human"] = self.human[n, m]
                    row["labels"] = self.labels.values[n, slice(*label_part)]

                if self.summaries is not None:
                    row["summary"] = self.summaries.texts[n][m]
                if self.opinions is not None:
                    row["opinions"] = self.opinions[:, n, cells].T
                if self.evidence is not None:
                    row["evidence"] = list(map(_evidence_json, self.evidence[n][cells]))
                if measures:
                    row["measures"] = {key: of[n, m] for key, of in measures.items()}
                yield row

    def with_evidence(self) -> Self:
        """The result with the evidence of the judge that scored, for each unit."""
        from litepyramid.judges.explain import gather

        if self.judge is None or self.summaries is None:
            raise InputError(
                "evidence without the judge or the texts",
                expected="a result of score with both",
            )

        items = self.summaries.items(self.units)
        questions = [entry.question for entry in self.units] * len(self.systems)
        # One item a summary; the page and the JSON want all units of a system in a row.
        by_summary = iter(gather(self.judge, items, questions))

        evidence = []
        for _ in self.systems:
            of_system = islice(by_summary, len(self.units))
            evidence.append(tuple(chain.from_iterable(of_system)))

        return replace(self, evidence=tuple(evidence))

    def to_html(self) -> str:
        """The result as one self-contained page (`reports.score_page`).

        A judge that explains itself is asked for its evidence, if that is not there
        yet.
        """
        from litepyramid.judges.parallel import single
        from litepyramid.reports.score_page import made_page

        shown = self
        # A model that cannot say where it read a fact leaves the page without
        # underlines.
        explains = self.judge is not None and isinstance(single(self.judge), Explainer)
        if explains and self.evidence is None and self.summaries is not None:
            shown = self.with_evidence()
        return made_page(self.to_tables()[0].title, page_data(shown))


def _evidence_json(evidence: Evidence) -> Fields | None:
    """What is saved of it; null where the judge found nothing."""
    if evidence.sentence < 0:
        return None

    values = {}
    for name in ("sentence", "span", "presence", "conflict", "missing"):
        value = getattr(evidence, name)
        if value not in ("", ()):
            values[name] = value
    return values
