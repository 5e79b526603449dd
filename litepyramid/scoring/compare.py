"""Which systems differ significantly: differences, intervals and tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.progress import track
from litepyramid.scoring.changes import (
    ChangeResult,
    History,
    compare_runs,
    day,
    is_history,
    read_groups,
    read_history,
)
from litepyramid.scoring.inference import (
    MEASURES,
    TestedDifference,
    as_differences,
    flip_p_values,
    matrices_sha,
    smallest_flip_p,
    too_few_inputs,
)
from litepyramid.scoring.pyramid import metric_title
from litepyramid.scoring.result import ScoreResult, read_saved, scored_and_labelled
from litepyramid.scoring.runs import DriftResult, Settings, drift
from litepyramid.stats import (
    adjust_p_values,
    all_pairs,
    blocks,
    by_id,
    check_samples,
    check_seed,
    system_means,
)
from litepyramid.tables import Cell, Column, Result, Table, row
from litepyramid.text import counted, cut
from litepyramid.types import ScoreMatrix, ScoresLike, Signature

_LISTED = 10  # pairs; more are shown as a matrix
_OF_MATRIX = (
    "Each cell: score of the row's system minus score of the column's; * significant. Intervals "
    "and p-values are in the JSON and CSV; they are shown of few systems, or against one."
)
_NONE = (None, False, ())  # options that were not given


@dataclass(frozen=True, slots=True, kw_only=True)
class PairComparison(TestedDifference):
    """One pair of systems, the difference first − second.

    Attributes:
        first: The better system (the earlier one if they are equal).
        second: The other one; with `against` always that system.
    """

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class SystemComparison(Result):
    """Pairs of systems, the largest difference first.

    Attributes:
        systems: The systems compared, best first, with their mean `scores`.
        against: The system that all others are compared with; None for all pairs.
        alpha: Significance level, 1 less the confidence.
    """

    metric: str
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    pairs: tuple[PairComparison, ...]
    against: str | None
    alpha: float
    signature: Signature

    @property
    def _many(self) -> bool:
        """Whether the pairs are shown as a matrix."""
        return self.against is None and len(self.pairs) > _LISTED

    def to_tables(self) -> Sequence[Table]:
        """One row per pair; more than ten pairs as a matrix of differences, best system
        first."""
        pairs, title, table = self.pairs, "between systems", self.to_csv_table()
        if self._many:
            title, table = f"between {len(self.systems)} systems", self._matrix()
        elif self.against is not None:
            measured = {pair.first: row(pair) for pair in pairs}
            none = dict.fromkeys(column.name for column in MEASURES)
            rows = [
                {"system": system, "score": score, **measured.get(system, none)}
                for system, score in zip(self.systems, self.scores, strict=True)
            ]
            title = f"from {self.against}"
            table = Table.of("", ["system", "score", *MEASURES], rows)
        significant = sum(pair.p_holm < self.alpha for pair in pairs)
        fewest, most = min(p.inputs for p in pairs), max(p.inputs for p in pairs)
        differ = "differs" if 1 in (significant, len(pairs)) else "differ"
        notes = [_OF_MATRIX] * self._many + [
            f"{significant} of {counted(len(pairs), 'pair')} {differ} significantly "
            f"(α = {self.alpha:g}, Holm's correction). Two-sided sign-flip "
            f"test over inputs, exact; with {counted(most, 'input')} p can be as small as "
            f"{smallest_flip_p(most):.2g}.",
            *too_few_inputs(most, len(pairs), self.alpha),
        ]
        if fewest < most:
            notes.append(
                f"Some pairs share fewer inputs than others (fewest: {fewest})."
            )
        title = f"{metric_title(self.metric)}: differences {title} on {counted(most, 'input')}"
        notes.append(str(self.signature))
        return [
            replace(table, title=title, notes=tuple(notes), repeated=2 + self._many)
        ]

    def to_csv_table(self) -> Table:
        """One row per pair."""
        differ = len({p.inputs for p in self.pairs}) > 1
        return Table.of(
            "", ["first", "second", *MEASURES, *["inputs"] * differ], self.pairs
        )

    def _cells(self) -> Iterator[tuple[int, int, float, bool]]:
        """The pairs above the diagonal: ranks of two systems, difference, whether
        significant."""
        ranks = {system: rank for rank, system in enumerate(self.systems)}
        for p in self.pairs:
            at, other = ranks[p.first], ranks[p.second]
            sign = 1 if at < other else -1  # missing inputs may turn a pair round
            clear = p.p_holm < self.alpha
            yield min(at, other), max(at, other), sign * p.difference, clear

    def _matrix(self) -> Table:
        """Systems by systems, above the diagonal: differences, a star where
        significant."""
        others = [str(rank) for rank in range(2, len(self.systems) + 1)]
        rows: list[dict[str, Cell]] = [
            {
                "rank": rank,
                "system": system,
                "score": score,
                **dict.fromkeys(others, ""),
            }
            for rank, (system, score) in enumerate(
                zip(self.systems, self.scores, strict=True), 1
            )
        ]
        for at, other, difference, clear in self._cells():
            shown = f"{difference:z.3f}".replace("0.", ".", 1)
            rows[at][str(other + 1)] = shown + "*" * clear
        return Table.of("", [Column("rank", "#"), "system", "score", *others], rows)

    def to_figure(self) -> Any:
        """Differences with intervals, a line per pair; a matrix for more than ten
        pairs."""
        from litepyramid.figures.score_plots import difference_figure, difference_matrix

        what = metric_title(self.metric)
        if self._many:
            return difference_matrix(self.systems, self._cells(), self.alpha, what)
        names = [(p.first, p.second)[: 1 if self.against else 2] for p in self.pairs]
        return difference_figure(
            names, self.pairs, self.alpha, what, against=self.against
        )


def compare(
    scores: ScoresLike,
    *more: ScoresLike,
    metric: str | None = None,
    against: str | None = None,
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

    One result or table: every pair of its systems is compared. Several saved results:
    each system is compared with itself in the first run (difference, interval, facts).
    The test is an exact sign-flip test over inputs, with Holm's correction over all
    that is tested. The exit status is 1 if a run fails.

    Args:
        scores: A result of `score` or a table of scores; or results, OLD NEW …
        *more: Further results.
        metric: Which metric, of several.
        against: Only the pairs of this system.
        pair: Systems of two runs, as OLD=NEW; repeat.
        baseline: The run to compare the others with.
        by: Group inputs by FILE:COLUMN of a table.
        across_judges: Compare though judge or units differ.
        judge_drift: Compare judges of the same summaries.
        fail_if: ``worse``: fail if significantly so.
        fail_under: Fail if a system scores less.
        fail_if_lost: Fail if a system lost so many facts.
        margin: Fail if worse by this is not ruled out.
        present: From here on a fact is present.
        lost_by: A lost fact fell by this.
        date: Date of the new run in a history.jsonl.
        samples: Of the bootstrap.
        confidence: Of the intervals.
        seed: Of the bootstrap.

    Returns:
        Pairs of systems; of runs a `ChangeResult`, or with `judge_drift` a
        `DriftResult`; of a history, which ``-o FILE.jsonl`` has written, its `History`.

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
        pair, baseline, None if by is None else read_groups(by), across_judges, judge_drift,
        fail_if, fail_under, fail_if_lost, margin, date, present, lost_by,
        samples, confidence, seed,
    )  # fmt: skip
    sources = _sources(scores, *more)
    if _kind(sources) is History:
        return read_history(sources[0])
    runs = [read_saved(source) for source in sources] if len(sources) > 1 else []
    if saved := [run for run in runs if run is not None]:
        _unused({"metric": metric, "against": against}, "runs", "systems of one result")
        if len(saved) < len(sources):
            other = next(s for s, run in zip(sources, runs, strict=True) if run is None)
            what = f"{cut(other)} beside results of score, and is none"
            raise InputError(
                what, expected="results of score alone, or tables of scores alone"
            )
        return _runs(sources, saved, how)
    of_runs = {f.name: getattr(how, f.name) for f in fields(how) if f.default in _NONE}
    _unused(of_runs, "systems", "several results that score has saved")
    matrix, _, signature = scored_and_labelled(sources if more else scores, metric)
    return _compare_systems(matrix, signature, against, how)


def _sources(scores: Any, *more: Any) -> list[Any]:
    return [*(scores if isinstance(scores, list | tuple) else [scores]), *more]


def _kind(scores: Any, judge_drift: bool = False, **_: Any) -> type[Result]:
    """What `compare` gives for these arguments, as far as can be seen before it
    compares."""
    sources = _sources(scores)
    if len(sources) == 1:
        return History if is_history(sources[0]) else SystemComparison
    return DriftResult if judge_drift else ChangeResult


compare.kind = _kind  # type: ignore[attr-defined]  # so that -o is checked before the work


def _runs(
    sources: Sequence[Any], runs: Sequence[ScoreResult], how: Settings
) -> ChangeResult | DriftResult:
    """Compares runs with one of them, named by their files."""
    paths = [Path(one) if isinstance(one, str | Path) else None for one in sources]
    names = [
        f"run {n}" if path is None else path.stem for n, path in enumerate(paths, 1)
    ]
    if len(set(names)) < len(names):
        names = [str(path or name) for path, name in zip(paths, names, strict=True)]
    known = zip(
        names, map(str, paths), (path and path.stem for path in paths), strict=True
    )
    base = how.baseline
    first = next((n for n, own in enumerate(known) if base in own), None if base else 0)
    if first is None:
        raise InputError(f"no run '{base}'", expected=f"one of {', '.join(names)}")
    order = [first, *(n for n in range(len(runs)) if n != first)]
    if how.date is not None and len(runs) > 2:
        raise InputError("one date of several runs", expected="that of one new run")
    if how.judge_drift and len(runs) > 2:
        raise InputError(f"{len(runs)} runs", expected="two, to compare their judges")
    dates = [
        day(how.date if n and len(runs) == 2 else None, paths[i])
        for n, i in enumerate(order)
    ]
    names, runs = [names[i] for i in order], [runs[i] for i in order]
    return (
        drift(names, runs, how)
        if how.judge_drift
        else compare_runs(names, runs, dates, how)
    )


def _unused(options: Mapping[str, Any], what: str, of: str) -> None:
    """Raises InputError where an option was given that is of the other comparison."""
    if wrong := [name for name, value in options.items() if value not in _NONE]:
        raise InputError(f"'{wrong[0]}' where {what} are compared", expected=of)


def _compare_systems(
    scores: ScoreMatrix, signature: Signature, against: str | None, how: Settings
) -> SystemComparison:
    """Compares the systems of a matrix, in the order of their names and inputs."""
    rows, columns = by_id(scores.systems), by_id(scores.inputs)
    systems = tuple(scores.systems[i] for i in rows)
    values = scores.values[np.ix_(rows, columns)]
    if len(values) < 2:
        raise InputError(
            f"{counted(len(values), 'system')}", expected="at least two to compare"
        )
    if against is not None and against not in scores.systems:
        raise InputError(
            f"no system '{against}'", expected=f"one of {', '.join(scores.systems)}"
        )
    means = system_means(values)
    order = [int(i) for i in np.argsort(-means, kind="stable")]
    if against is None:
        pairs = all_pairs(len(values))
        worse = means[pairs[:, 1]] > means[pairs[:, 0]]
        pairs[worse] = pairs[worse][:, ::-1]
    else:
        base = systems.index(against)
        pairs = np.array([(i, base) for i in order if i != base])
    p = flip_p_values(values, pairs)
    if np.isnan(p).any():
        i, j = pairs[int(np.argmax(np.isnan(p)))]
        raise InputError(
            f"systems '{systems[i]}' and '{systems[j]}' share no scored input",
            expected="scores of the same inputs",
        )
    corrected = adjust_p_values(p, "holm")
    results = []
    for block in track(
        list(blocks(len(pairs), how.samples)), "resampling", "blocks of pairs"
    ):
        differences = values[pairs[block, 0]] - values[pairs[block, 1]]
        entries = as_differences(differences, p[block], **how.bootstrap)
        results += [
            PairComparison(first=systems[i], second=systems[j], p_holm=holm, **own)
            for (i, j), holm, own in zip(
                pairs[block].tolist(), corrected[block].tolist(), entries, strict=True
            )
        ]
    results.sort(key=lambda pair: (-pair.difference, pair.first, pair.second))
    about = {
        "test": "sign-flip",
        "scores_sha": matrices_sha(scores),
        "against": against,
    }
    return SystemComparison(
        metric=scores.metric,
        systems=tuple(systems[i] for i in order),
        scores=tuple(float(means[i]) for i in order),
        pairs=tuple(results),
        against=against,
        alpha=how.alpha,
        signature=Signature.of(**dict(signature.fields) | about | how.bootstrap),
    )
