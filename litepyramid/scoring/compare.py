"""Which systems differ significantly: differences, intervals and tests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from litepyramid.data.records import InputUnits
from litepyramid.errors import InputError
from litepyramid.progress import track
from litepyramid.scoring.comparable import differences, versions_of
from litepyramid.scoring.inference import (
    MEASURES,
    MOST_TESTED,
    TestedDifference,
    as_differences,
    flip_p_values,
    short_intervals,
    smallest_flip_p,
    too_few_inputs,
    too_many_pairs,
    with_holm,
)
from litepyramid.scoring.pyramid import metric_title
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.saved_result import one_metric, read_saved
from litepyramid.stats import (
    all_pairs,
    blocks,
    check_samples,
    system_means,
)
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted, cut
from litepyramid.types import Names, ScoresLike, Signature, Texts

_LISTED = 10  # pairs; more are shown as a matrix
_OF_MATRIX = (
    "Each cell: score of the row's system minus score of the column's; * significant. "
    "Intervals and p-values are in the JSON and CSV; they are shown of few systems, or "
    "against one."
)


@dataclass(frozen=True, kw_only=True)
class PairComparison(TestedDifference):
    """One pair of systems, the difference first − second.

    Attributes:
        first: The better system (the earlier one if they are equal).
        second: The other one; with `against` always that system.
    """

    first: str
    second: str


@dataclass(frozen=True)
class SystemComparison(Result):
    """Pairs of systems, the largest difference first.

    Attributes:
        systems: The systems compared, best first, with their mean `scores`.
        against: The system that all others are compared with; None for all pairs.
        alpha: Significance level, 1 less the confidence.
        unscored: Systems that are left out, without any score.
    """

    metric: str
    systems: Names
    scores: tuple[float, ...]
    pairs: tuple[PairComparison, ...]
    against: str | None
    alpha: float
    unscored: Names
    signature: Signature

    @property
    def _many(self) -> bool:
        """Whether the pairs are shown as a matrix."""
        return self.against is None and len(self.pairs) > _LISTED

    def to_tables(self) -> Sequence[Table]:
        """One row per pair; more than ten pairs as a matrix of differences, best system
        first."""
        title = "between systems"
        table = self.to_csv_table()
        if self._many:
            title = f"between {len(self.systems)} systems"
            table = self._matrix()
        elif self.against is not None:
            title = f"from {self.against}"
            table = self._from_one()

        inputs = counted(max(pair.inputs for pair in self.pairs), "input")
        title = f"{metric_title(self.metric)}: differences {title} on {inputs}"
        repeated = 3 if self._many else 2
        notes = self._notes()
        return [replace(table, title=title, notes=notes, repeated=repeated)]

    def _notes(self) -> Texts:
        """What the test says, and how far it can say anything."""
        significant = sum(pair.p_holm < self.alpha for pair in self.pairs)
        fewest = min(pair.inputs for pair in self.pairs)
        most = max(pair.inputs for pair in self.pairs)
        # 1 of 6 pairs differs, 2 of 6 differ, and so does 1 of 1.
        differ = "differs" if 1 in (significant, len(self.pairs)) else "differ"

        notes = [_OF_MATRIX] if self._many else []
        notes.append(
            f"{significant} of {counted(len(self.pairs), 'pair')} {differ} "
            f"significantly (α = {self.alpha:g}, Holm's correction). Two-sided "
            f"sign-flip test over inputs; with {counted(most, 'input')} p can "
            f"be as small as {smallest_flip_p(most):.2g}."
        )
        notes += too_few_inputs(most, len(self.pairs), self.alpha)
        notes += short_intervals(fewest)
        if self.unscored:
            notes.append(f"Left out, without a score: {cut(', '.join(self.unscored))}.")

        if fewest < most:
            notes.append(
                f"Some pairs share fewer inputs than others (fewest: {fewest})."
            )

        return (*notes, str(self.signature))

    def to_csv_table(self) -> Table:
        """One row per pair."""
        columns: list[Column | str] = ["first", "second", *MEASURES]
        if len({pair.inputs for pair in self.pairs}) > 1:
            columns.append("inputs")
        return Table.of("", columns, self.pairs)

    def _from_one(self) -> Table:
        """One row per system, best first, with its difference from `against`."""
        measured = {pair.first: row(pair) for pair in self.pairs}
        empty = dict.fromkeys(column.name for column in MEASURES)
        rows = []

        for system, score in zip(self.systems, self.scores, strict=True):
            values = measured.get(system, empty)
            rows.append({"system": system, "score": score, **values})

        return Table.of("", ["system", "score", *MEASURES], rows)

    def _cells(self) -> Iterator[tuple[int, int, float, bool]]:
        """The pairs above the diagonal: ranks of two systems, difference, whether
        significant."""
        ranks = {system: rank for rank, system in enumerate(self.systems)}
        for pair in self.pairs:
            first = ranks[pair.first]
            second = ranks[pair.second]
            clear = pair.p_holm < self.alpha
            if first < second:
                yield first, second, pair.difference, clear
            else:  # missing inputs may turn a pair round
                yield second, first, -pair.difference, clear

    def _matrix(self) -> Table:
        """Systems by systems, above the diagonal: differences, a star where
        significant."""
        others = [str(rank) for rank in range(2, len(self.systems) + 1)]
        rows = []
        for rank, system in enumerate(self.systems, 1):
            row = {"rank": rank, "system": system, "score": self.scores[rank - 1]}
            rows.append(row | dict.fromkeys(others, ""))

        for first, second, difference, clear in self._cells():
            shown = f"{difference:z.3f}".replace("0.", ".", 1)
            rows[first][str(second + 1)] = f"{shown}*" if clear else shown

        return Table.of("", [Column("rank", "#"), "system", "score", *others], rows)

    def to_figure(self) -> Any:
        """Differences with intervals, a line per pair; a matrix for more than ten
        pairs."""
        from litepyramid.figures.score_plots import difference_figure, difference_matrix

        what = metric_title(self.metric)
        if self._many:
            return difference_matrix(self.systems, self._cells(), self.alpha, what)

        names = []
        for pair in self.pairs:
            both = (pair.first, pair.second)
            names.append(both[:1] if self.against else both)

        return difference_figure(
            names,
            self.pairs,
            self.alpha,
            what,
            against=self.against,
        )


def compare(
    scores: ScoresLike,
    *,
    metric: str | None = None,
    against: str | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
) -> SystemComparison:
    """Compare the systems of one result or table on the same inputs.

    Every pair of systems: the difference of their mean scores, its bootstrap interval,
    and a sign-flip test over inputs with Holm's correction over all pairs.
    Inputs that only one of a pair has a score of are left out of the pair. Time grows
    with pairs × inputs, of which at most 20 million are taken.

    Args:
        scores: A result of `score`, or a table of scores.
        metric: Which metric, of several.
        against: Only the pairs of this system.
        samples: Of the bootstrap.
        confidence: Of the intervals; tests are at 1 less this.
        seed: Of the bootstrap.

    Returns:
        Pairs of systems, the largest difference first.

    Raises:
        InputError: Nothing to compare: one system, other inputs, several runs.

    Example:
        >>> import litepyramid as lp
        >>> units = [["It rained."], ["We left."]]
        >>> texts = {"a": ["It rained.", "We left."], "b": ["It rained.", "We slept."]}
        >>> compare(lp.score(texts, units, judge="recall")).pairs[0].difference
        0.5

    Command line:
        $ litepyramid compare scores.json
        $ litepyramid compare scores.json --against lead -o from-lead.pdf
    """
    check_samples(samples, seed=seed, confidence=confidence)
    _check_one_run(scores)
    table, signature = one_metric(scores, metric)
    table.need_inputs("tests")

    # Who has no score at all, such as a system that nobody labelled, is left out.
    means = system_means(table.values[0])
    scored = ~np.isnan(means)
    systems = tuple(compress(table.systems, scored))
    values = table.values[0, scored]
    means = means[scored]
    order = [int(i) for i in np.argsort(-means, kind="stable")]
    if len(systems) < 2:
        raise InputError(
            f"{counted(len(systems), 'system')} with scores",
            expected="at least two to compare",
        )

    if against is None:
        pairs = all_pairs(len(systems))
        worse = means[pairs[:, 1]] > means[pairs[:, 0]]
        # Every pair begins with its better system.
        pairs[worse] = pairs[worse][:, ::-1]
    elif against in systems:
        base = systems.index(against)
        pairs = np.array([(i, base) for i in order if i != base])
    else:
        raise InputError(
            f"no system '{against}'", expected=f"one of {', '.join(systems)}"
        )

    if too_many_pairs(len(pairs), values.shape[1]):
        inputs = counted(values.shape[1], "input")
        raise InputError(
            f"{counted(len(pairs), 'pair')} of systems on {inputs}",
            expected=f"at most {MOST_TESTED:,} pairs × inputs",
            hint="Compare all with one system: --against SYSTEM.",
        )

    p = flip_p_values(values, pairs)
    for i, j in pairs[np.isnan(p)]:
        raise InputError(
            f"systems '{systems[i]}' and '{systems[j]}' share no scored input",
            expected="scores of the same inputs",
        )

    bootstrap = {
        "samples": samples,
        "confidence": confidence,
        "seed": seed,
    }
    compared = []
    # A block of pairs at once: its bootstrap samples are what memory must hold.
    parts = list(blocks(len(pairs), samples))

    for part in track(parts, "resampling", "blocks of pairs"):
        differences = values[pairs[part, 0]] - values[pairs[part, 1]]
        tested = as_differences(differences, p[part], **bootstrap)
        for (i, j), entry in zip(pairs[part].tolist(), tested, strict=True):
            names = {"first": systems[i], "second": systems[j]}
            compared.append(PairComparison(**names, **entry))

    # Over all pairs at once; a block knows only its own.
    compared = with_holm(compared)
    compared.sort(key=lambda pair: (-pair.difference, pair.first, pair.second))

    about = {
        **versions_of(signature),
        "test": "sign-flip",
        "scores_sha": table.sha,
        "against": against,
    }
    return SystemComparison(
        metric=table.metrics[0],
        systems=tuple([systems[i] for i in order]),
        scores=tuple([float(means[i]) for i in order]),
        pairs=tuple(compared),
        against=against,
        alpha=round(1 - confidence, 12),
        unscored=tuple(compress(table.systems, ~scored)),
        signature=Signature.of(**dict(signature.fields) | about | bootstrap),
    )


def _check_one_run(scores: Any) -> None:
    """Refuses several results of the same systems: they are runs, not one table; and
    those of several judges, or of other units, which are two scales."""
    if not isinstance(scores, list | tuple):
        return

    seen: set[str] = set()
    of_metric: dict[str, list[ScoreResult]] = {}
    for source in scores:
        run = read_saved(source)
        # Tables may repeat systems, with other metrics or inputs.
        if not isinstance(run, ScoreResult):
            return
        if seen & {*run.systems}:
            raise InputError(
                f"{len(scores)} results of the same systems",
                expected="one result, or a table of scores",
                hint="What changed between runs: litepyramid changes OLD NEW.",
            )
        seen |= {*run.systems}
        of_metric.setdefault(run.name, []).append(run)

    for first, *others in of_metric.values():
        for other in others:
            _check_one_scale(first, other)


def _check_one_scale(first: ScoreResult, other: ScoreResult) -> None:
    """Refuses two results whose scores mean two things."""
    if changed := differences(first.signature, other.signature):
        told = "; ".join(changed.values())
        raise InputError(
            f"results that were not made in the same way ({told})",
            expected="the same judge, settings and rule for all systems",
        )

    for entry in other.units:
        if entry.input in first.units and _asked(first.units[entry.input]) != _asked(
            entry
        ):
            raise InputError(
                f"results with different units of input '{cut(entry.input)}'",
                expected="the same units for all systems",
            )


def _asked(entry: InputUnits) -> tuple[Any, ...]:
    """What a summary of an input is asked for."""
    units = [(unit.text, unit.weight, unit.importance) for unit in entry.units]
    return entry.question, units
