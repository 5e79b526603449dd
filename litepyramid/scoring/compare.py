"""Which systems differ significantly: differences, intervals and tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    TestedDifference,
    as_differences,
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
    system_means,
)
from litepyramid.tables import Cell, Column, Result, Table, row
from litepyramid.text import counted, cut
from litepyramid.types import ScoreMatrix, ScoresLike, Signature

_LISTED = 10  # pairs; more are shown as a matrix
_OF_RUNS = (
    *("pair", "baseline", "by", "across_judges", "judge_drift", "fail_if", "fail_under"),
    *("fail_if_lost", "margin", "date"),
)


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
        family: How many pairs Holm's correction covers.
        against: The system that all others are compared with; None for all pairs.
        left_out: How many systems are not among the `top` ones.
        alpha: Significance level, 1 less the confidence.
    """

    metric: str
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    pairs: tuple[PairComparison, ...]
    family: int
    against: str | None
    left_out: int
    alpha: float
    signature: Signature

    @property
    def _many(self) -> bool:
        """Whether the pairs are shown as a matrix."""
        return self.against is None and len(self.pairs) > _LISTED

    def to_tables(self) -> Sequence[Table]:
        """One row per pair; more than ten pairs as a matrix of differences, best system first."""
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
            title, table = (
                f"from {self.against}",
                Table.of("", ["system", "score", *MEASURES], rows),
            )
        significant = sum(pair.p_holm < self.alpha for pair in pairs)
        fewest, most = min(p.inputs for p in pairs), max(p.inputs for p in pairs)
        over = f" over {counted(self.family, 'pair')}" if self.family > len(pairs) else ""
        differ = "differs" if 1 in (significant, len(pairs)) else "differ"
        notes = [
            f"{significant} of {counted(len(pairs), 'pair')} {differ} significantly "
            f"(α = {self.alpha:g}, Holm's correction{over}). Two-sided sign-flip "
            f"test over inputs, exact; with {counted(most, 'input')} p can be as small as "
            f"{smallest_flip_p(most):.2g}.",
            *too_few_inputs(most, self.family, self.alpha),
        ]
        if self._many:
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
        title = f"{metric_title(self.metric)}: differences {title} on {counted(most, 'input')}"
        notes.append(str(self.signature))
        return [replace(table, title=title, notes=tuple(notes), repeated=2 + self._many)]

    def to_csv_table(self) -> Table:
        """One row per pair."""
        differ = len({p.inputs for p in self.pairs}) > 1
        return Table.of("", ["first", "second", *MEASURES, *["inputs"] * differ], self.pairs)

    def _cells(self) -> Iterator[tuple[int, int, float, bool]]:
        """The pairs above the diagonal: ranks of two systems, difference, whether significant."""
        ranks = {system: rank for rank, system in enumerate(self.systems)}
        for p in self.pairs:
            at, other = ranks[p.first], ranks[p.second]
            sign = 1 if at < other else -1  # missing inputs may turn a pair round
            clear = p.p_holm < self.alpha
            yield min(at, other), max(at, other), sign * p.difference, clear

    def _matrix(self) -> Table:
        """Systems by systems, above the diagonal: differences, a star where significant."""
        others = [str(rank) for rank in range(2, len(self.systems) + 1)]
        rows: list[dict[str, Cell]] = [
            {"rank": rank, "system": system, "score": score, **dict.fromkeys(others, "")}
            for rank, (system, score) in enumerate(zip(self.systems, self.scores, strict=True), 1)
        ]
        for at, other, difference, clear in self._cells():
            shown = f"{difference:z.3f}".replace("0.", ".", 1)
            rows[at][str(other + 1)] = shown + "*" * clear
        return Table.of("", [Column("rank", "#"), "system", "score", *others], rows)

    def to_figure(self) -> Any:
        """Differences with intervals, a line per pair; a matrix for more than ten pairs."""
        from litepyramid.figures.score_plots import difference_figure, difference_matrix

        what = metric_title(self.metric)
        if self._many:
            return difference_matrix(self.systems, self._cells(), self.alpha, what)
        names = [(p.first, p.second)[: 1 if self.against else 2] for p in self.pairs]
        return difference_figure(names, self.pairs, self.alpha, what, against=self.against)


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
        pair, baseline, None if by is None else read_groups(by), across_judges, judge_drift,
        fail_if, fail_under, fail_if_lost, margin, date, present, lost_by,
        samples, confidence, seed,
    )  # fmt: skip
    sources = _sources(scores, *more)
    if _kind(sources) is History:
        return read_history(sources[0])
    several = sources if len(sources) > 1 else []
    runs = [read_saved(check_path(s) if isinstance(s, str | Path) else s) for s in several]
    saved = [run for run in runs if run is not None]
    if saved:
        _unused({"metric": metric, "against": against, "top": top}, "runs", "systems of one result")
        if len(saved) < len(sources):
            other = next(s for s, run in zip(sources, runs, strict=True) if run is None)
            what = f"{cut(other)} beside a saved result, and is none"
            raise InputError(what, expected="saved results alone, or tables of scores alone")
        return _runs(sources, saved, how)
    options = {name: getattr(how, name) for name in _OF_RUNS}
    _unused(options, "systems", "several results that score has saved")
    matrix, _, signature = scored_and_labelled(sources if more else scores, metric)
    return _compare_systems(matrix, signature, against, top, how)


def _sources(scores: Any, *more: Any) -> list[Any]:
    return [*(scores if isinstance(scores, list | tuple) else [scores]), *more]


def _kind(scores: Any, judge_drift: bool = False, **_: Any) -> type[Result]:
    """What `compare` gives for these arguments, as far as can be seen before it compares."""
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
    names = [f"run {n}" if path is None else path.stem for n, path in enumerate(paths, 1)]
    if len(set(names)) < len(names):
        names = [str(path or name) for path, name in zip(paths, names, strict=True)]
    known = zip(names, map(str, paths), (path and path.stem for path in paths), strict=True)
    base = how.baseline
    first = next((n for n, own in enumerate(known) if base in own), None if base else 0)
    if first is None:
        raise InputError(f"no run '{base}'", expected=f"one of {', '.join(names)}")
    order = [first, *(n for n in range(len(runs)) if n != first)]
    if how.date is not None and len(runs) > 2:
        raise InputError("one date of several runs", expected="that of one new run")
    if how.judge_drift and len(runs) > 2:
        raise InputError(f"{len(runs)} runs", expected="two, to compare their judges")
    dates = [day(how.date if n and len(runs) == 2 else None, paths[i]) for n, i in enumerate(order)]
    names, runs = [names[i] for i in order], [runs[i] for i in order]
    return drift(names, runs, how) if how.judge_drift else compare_runs(names, runs, dates, how)


def _unused(options: Mapping[str, Any], what: str, of: str) -> None:
    """Raises InputError where an option was given that is of the other comparison."""
    if wrong := [name for name, value in options.items() if value not in (None, False, ())]:
        raise InputError(f"'{wrong[0]}' where {what} are compared", expected=of)


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
        entries = as_differences(differences, p[block], **how.bootstrap)
        results += [
            PairComparison(first=systems[i], second=systems[j], p_holm=holm, **own)
            for (i, j), holm, own in zip(
                pairs[block].tolist(), corrected[block].tolist(), entries, strict=True
            )
        ]
    results.sort(key=lambda pair: (-pair.difference, pair.first, pair.second))
    about = {"test": "sign-flip", "scores_sha": scores_sha(scores), "against": against, "top": top}
    return SystemComparison(
        metric=scores.metric,
        systems=tuple(systems[i] for i in shown_systems),
        scores=tuple(float(means[i]) for i in shown_systems),
        pairs=tuple(results),
        family=family,
        against=against,
        left_out=len(order) - len(shown_systems),
        alpha=how.alpha,
        signature=Signature.of(**dict(signature.fields) | about | how.bootstrap),
    )
