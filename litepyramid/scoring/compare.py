"""Which systems differ significantly: differences, intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.coerce import check_path
from litepyramid.progress import track
from litepyramid.scoring.changes import ChangeResult, Settings, compare_runs, read_groups
from litepyramid.scoring.drift import DriftResult, drift
from litepyramid.scoring.history import History, day, is_history, read_history
from litepyramid.scoring.inference import (
    MEASURES,
    flip_p_values,
    scores_sha,
    smallest_flip_p,
    too_few_inputs,
)
from litepyramid.scoring.pyramid import metric_title
from litepyramid.scoring.result import ScoreResult, read_saved, scored_and_labelled
from litepyramid.stats import (
    adjust_p_values,
    blocks,
    by_id,
    check_samples,
    check_seed,
    is_whole,
    mean_of_scored,
    system_intervals,
    system_means,
)
from litepyramid.tables import Cell, Column, Result, Table
from litepyramid.text import counted, cut
from litepyramid.types import ScoreMatrix, ScoresLike, Signature

_LISTED = 10  # pairs; more are shown as a matrix


@dataclass(frozen=True, slots=True)
class PairComparison:
    """One pair of systems: mean of first − second over the inputs that both are scored on.

    Attributes:
        first: The better system (the earlier one if they are equal).
        second: The other one; with `against` always that system.
        difference: In points of the score.
        low: Lower end of the paired bootstrap interval.
        high: Upper end.
        p: Two-sided p-value of "no difference" (`flip_p_values`).
        p_holm: The same after Holm's correction over all pairs.
        inputs: How many inputs.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    inputs: int


@dataclass(frozen=True, slots=True)
class SystemComparison(Result):
    """Pairs of systems, the largest difference first.

    Attributes:
        systems: The systems compared, best first, with their mean `scores`.
        family: How many pairs Holm's correction covers.
        against: The system that all others are compared with; None for all pairs.
        left_out: How many systems are not among the `top` ones.
        alpha: Significance level, 1 less the confidence.
        smallest_p: The smallest p that a pair with the most inputs can have (`smallest_flip_p`).
    """

    metric: str
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    pairs: tuple[PairComparison, ...]
    family: int
    against: str | None
    left_out: int
    alpha: float
    smallest_p: float
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per pair; more than ten pairs as a matrix of differences, best system first."""
        pairs = self.pairs
        if self.against is not None:
            columns, rows = self._against_rows(self.against)
            title = f"differences from {self.against}"
        elif len(pairs) > _LISTED:
            columns, rows = self._matrix()
            title = f"differences between {len(self.systems)} systems"
        else:
            listed = self.to_csv_table()
            columns, rows, title = listed.columns, listed.rows, "differences between systems"
        significant = sum(pair.p_holm < self.alpha for pair in pairs)
        fewest, most = min(p.inputs for p in pairs), max(p.inputs for p in pairs)
        over = f" over {counted(self.family, 'pair')}" if self.family > len(pairs) else ""
        differ = "differs" if 1 in (significant, len(pairs)) else "differ"
        notes = [
            f"{significant} of {counted(len(pairs), 'pair')} {differ} significantly "
            f"(α = {self.alpha:g}, Holm's correction{over}). Two-sided sign-flip "
            f"test over inputs, exact; with {counted(most, 'input')} p can be as small as "
            f"{self.smallest_p:.2g}.",
            *too_few_inputs(most, self.family, self.alpha),
        ]
        if len(pairs) > _LISTED and self.against is None:
            notes.insert(
                0,
                "Each cell: score of the row's system minus score of the column's; * significant. "
                "Intervals and p-values are in the JSON and CSV; they are shown of few systems, or "
                "against one.",
            )
        if self.left_out:
            many = counted(self.left_out, "system is", "systems are")
            notes.append(f"{many} not shown: not among the best.")
        if fewest < most:
            notes.append(f"Some pairs share fewer inputs than others (fewest: {fewest}).")
        return [
            Table(
                f"{metric_title(self.metric)}: {title} on {counted(most, 'input')}",
                columns,
                rows,
                (*notes, str(self.signature)),
                repeated=3 if columns[0].name == "rank" else 2,
            )
        ]

    def to_csv_table(self) -> Table:
        """One row per pair."""
        differ = len({p.inputs for p in self.pairs}) > 1
        return Table.of("", ["first", "second", *MEASURES, *["inputs"] * differ], self.pairs)

    def _against_rows(
        self, against: str
    ) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
        """One row per system, with its difference from `against`."""
        by_system = {pair.first: pair for pair in self.pairs}
        rows: list[tuple[Cell, ...]] = []
        for system, score in zip(self.systems, self.scores, strict=True):
            p = by_system.get(system)
            measures = (p.difference, p.low, p.high, p.p, p.p_holm) if p else (None,) * 5
            rows.append((system, score, *measures))
        return (Column("system"), Column("score"), *MEASURES), tuple(rows)

    def _matrix(self) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
        """Systems by systems, above the diagonal: differences, a star where significant."""
        ranks = {system: rank for rank, system in enumerate(self.systems)}
        cells = [[""] * len(ranks) for _ in ranks]
        for p in self.pairs:
            star = "*" if p.p_holm < self.alpha else ""
            row, column = ranks[p.first], ranks[p.second]
            sign = 1 if row < column else -1  # missing inputs may turn a pair round
            shown = f"{sign * p.difference:z.3f}".replace("0.", ".", 1) + star
            cells[min(row, column)][max(row, column)] = shown
        columns = [Column("rank", "#"), Column("system"), Column("score")]
        columns += [Column(str(rank + 1)) for rank in range(1, len(ranks))]
        rows: list[tuple[Cell, ...]] = [
            (rank + 1, system, score, *cells[rank][1:])
            for rank, (system, score) in enumerate(zip(self.systems, self.scores, strict=True))
        ]
        return tuple(columns), tuple(rows)

    def to_figure(self) -> Any:
        """Differences with intervals, a line per pair; a matrix for more than ten pairs."""
        from litepyramid.figures.score_plots import difference_figure, difference_matrix

        what = metric_title(self.metric)
        if self.against is None and len(self.pairs) > _LISTED:
            return difference_matrix(self.systems, self.pairs, self.alpha, what)
        return difference_figure(self.pairs, self.alpha, what, against=self.against)


def compare(
    scores: ScoresLike,
    *more: ScoresLike,
    metric: str | None = None,
    against: str | None = None,
    top: int | None = None,
    pair: Sequence[str] = (),
    baseline: str | None = None,
    by: str | Mapping[str, str] | None = None,
    across_judges: bool = False,
    judge_drift: bool = False,
    fail_if: Literal["worse"] | None = None,
    fail_under: float | None = None,
    fail_if_lost: int | None = None,
    margin: float | None = None,
    present: float = 0.5,
    lost_by: float = 0.2,
    date: str | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
) -> SystemComparison | ChangeResult | DriftResult | History:
    """Compare systems on the same inputs; or runs: which facts were lost and gained.

    Of one result or table, pairs of systems. Of several saved results, each system with itself in
    the first run: difference, interval, facts. By an exact sign-flip test over inputs (p of
    `flip_p_values`), with Holm's correction over all that is tested. The exit status is 1 if a run
    fails.

    Args:
        scores: A result of `score` or a table of scores; or results, OLD NEW …
        *more: Further results.
        metric: Which metric, of several.
        against: Only the pairs of this system.
        top: Only so many best systems.
        pair: Systems of two runs, as OLD=NEW; repeat.
        baseline: The run to compare the others with.
        by: Group inputs by FILE:COLUMN of a table.
        across_judges: Compare though judge or units differ.
        judge_drift: Compare judges of the same summaries.
        fail_if: ``worse``: fail if significantly so.
        fail_under: Fail if a system scores less.
        fail_if_lost: Fail if a system lost so many facts.
        margin: Fail if worse by this is not ruled out.
        present: Present is from here on.
        lost_by: Facts lost fell by this.
        date: Date of the new run in a history.jsonl.
        samples: Of the bootstrap.
        confidence: Of the intervals.
        seed: Of the bootstrap.

    Returns:
        Pairs of systems; of runs a `ChangeResult`, or with `judge_drift` a `DriftResult`; of a
        history, which ``-o FILE.jsonl`` has written, its `History`.

    Raises:
        InputError: Nothing to compare, or what differs between the runs.

    Example:
        >>> import litepyramid as lp
        >>> units = [["It rained."], ["We left."]]
        >>> texts = {"a": ["It rained.", "We left."], "b": ["It rained.", "We slept."]}
        >>> result = lp.score(texts, units, judge="recall")
        >>> compare(result).pairs[0].difference
        0.5
        >>> worse = lp.score({"a": ["It rained.", "We slept."]}, units, judge="recall")
        >>> compare(result, worse).changes[0].lost[0].text
        'We left.'

    Command line:
        $ litepyramid compare scores.json --against lead
        $ litepyramid compare old.json new.json --fail-if worse -o changes.html
    """
    check_samples(samples, confidence=confidence)
    check_seed(seed)
    how = Settings(
        pair, across_judges, present, lost_by, None if by is None else read_groups(by),
        fail_if, fail_under, fail_if_lost, margin, samples, confidence, seed,
    )  # fmt: skip
    sources = [*(scores if isinstance(scores, list | tuple) else [scores]), *more]
    if len(sources) == 1 and is_history(sources[0]):
        return read_history(sources[0])
    several = sources if len(sources) > 1 else []
    results = [read_saved(check_path(s) if isinstance(s, str | Path) else s) for s in several]
    runs = [result for result in results if result is not None]
    if runs and len(runs) == len(sources):
        _unused({"metric": metric, "against": against, "top": top}, "runs", "systems of one result")
        return _runs(sources, runs, how, baseline, date, judge_drift=judge_drift)
    options = {
        "pair": pair, "baseline": baseline, "by": by, "across_judges": across_judges,
        "judge_drift": judge_drift, "fail_if": fail_if, "fail_under": fail_under,
        "fail_if_lost": fail_if_lost, "margin": margin, "date": date,
    }  # fmt: skip
    _unused(options, "systems", "several results that score has saved")
    matrix, _, signature = scored_and_labelled(sources if more else scores, metric)
    return _compare_systems(matrix, signature, against, top, how)


def _runs(
    sources: Sequence[Any],
    runs: Sequence[ScoreResult],
    how: Settings,
    baseline: str | None,
    date: str | None,
    *,
    judge_drift: bool,
) -> ChangeResult | DriftResult:
    """Compares runs with one of them, named by their files."""
    paths = [Path(one) if isinstance(one, str | Path) else None for one in sources]
    names = [f"run {n}" if path is None else path.stem for n, path in enumerate(paths, 1)]
    if len(set(names)) < len(names):
        names = [str(path or name) for path, name in zip(paths, names, strict=True)]
    known = [(name, str(path), path and path.stem) for name, path in zip(names, paths, strict=True)]
    first = next((n for n, own in enumerate(known) if baseline in own), None if baseline else 0)
    if first is None:
        raise InputError(f"no run '{baseline}'", expected=f"one of {', '.join(names)}")
    order = [first, *(n for n in range(len(runs)) if n != first)]
    if date is not None and len(runs) > 2:
        raise InputError("one date of several runs", expected="that of one new run")
    dates = [day(date if n and len(runs) == 2 else None, paths[i]) for n, i in enumerate(order)]
    names, runs = [names[i] for i in order], [runs[i] for i in order]
    if judge_drift:
        if len(runs) > 2:
            raise InputError(f"{len(runs)} runs", expected="two, to compare their judges")
        return drift(names, runs, how)
    return compare_runs(names, runs, dates, how)


def _unused(options: Mapping[str, Any], what: str, of: str) -> None:
    """Raises InputError where an option was given that is of the other comparison."""
    if wrong := [name for name, value in options.items() if value not in (None, False, ())]:
        raise InputError(f"'{wrong[0]}' where {what} are compared", expected=f"{of}")


def _compare_systems(
    scores: ScoreMatrix,
    signature: Signature,
    against: str | None,
    top: int | None,
    how: Settings,
) -> SystemComparison:
    """Compares the systems of a matrix, in the order of their names and inputs."""
    rows, columns = by_id(scores.systems), by_id(scores.inputs)
    systems = tuple(scores.systems[i] for i in rows)
    values = scores.values[np.ix_(rows, columns)]
    if len(values) < 2:
        raise InputError(f"{counted(len(values), 'system')}", expected="at least two to compare")
    if against is not None and against not in scores.systems:
        raise InputError(f"no system '{against}'", expected=f"one of {', '.join(scores.systems)}")
    if top is not None and (not is_whole(top) or top < (2 if against is None else 1)):
        raise InputError(f"the {cut(repr(top))} best systems", expected="at least two to compare")
    means = system_means(values)
    order = [int(i) for i in np.argsort(-means, kind="stable")]
    shown_systems = order[:top]
    if against is None:
        pairs = np.array(list(combinations(sorted(shown_systems), 2)))
        worse = means[pairs[:, 1]] > means[pairs[:, 0]]
        pairs[worse] = pairs[worse][:, ::-1]
    else:
        base = systems.index(against)
        pairs = np.array([(i, base) for i in order if i != base])
        shown_systems = [i for i in order if i in {base, *shown_systems}]
    p = flip_p_values(values, pairs)
    if np.isnan(p).any():
        i, j = pairs[int(np.argmax(np.isnan(p)))]
        raise InputError(
            f"systems '{systems[i]}' and '{systems[j]}' share no scored input",
            expected="scores of the same inputs",
        )
    corrected = adjust_p_values(p, "holm")
    family, shown = len(pairs), np.isin(pairs[:, 0], shown_systems)
    pairs, p, corrected = pairs[shown], p[shown], corrected[shown]
    results = []
    for block in track(list(blocks(len(pairs), how.samples)), "resampling", "blocks of pairs"):
        differences = values[pairs[block, 0]] - values[pairs[block, 1]]
        intervals = system_intervals(differences, **how.bootstrap)
        tested = zip(pairs[block], differences, intervals, p[block], corrected[block], strict=True)
        results += [
            PairComparison(
                systems[i], systems[j], mean_of_scored(row), *interval, float(one), float(holm),
                int((~np.isnan(row)).sum()),
            )
            for (i, j), row, interval, one, holm in tested
        ]  # fmt: skip
    results.sort(key=lambda pair: (-pair.difference, pair.first, pair.second))
    about = Signature.of(
        test="sign-flip", scores_sha=scores_sha(scores), against=against, top=top, **how.bootstrap
    )
    fields = {**dict(signature.fields), **dict(about.fields)}
    smallest = smallest_flip_p(max(pair.inputs for pair in results))
    return SystemComparison(
        scores.metric,
        tuple(systems[i] for i in shown_systems),
        tuple(float(means[i]) for i in shown_systems),
        tuple(results),
        family,
        against,
        len(order) - len(shown_systems),
        how.alpha,
        smallest,
        Signature(tuple(fields.items())),
    )
