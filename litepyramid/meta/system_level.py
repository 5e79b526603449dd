"""The system level re-examined (Deutsch, Dror & Roth 2022): close systems, rankings,
test sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, inf, isinf, isnan, log10, nan, sqrt
from typing import Any, Literal, Self, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError, choose
from litepyramid.meta.alignment import (
    Aligned,
    align_each,
    check_number,
    score_table,
    scores_sha,
    signature_of,
    unaligned,
)
from litepyramid.meta.core import draws
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.draws import (
    SAMPLINGS,
    Sampling,
    drawn_counts,
    piece_generator,
)
from litepyramid.meta.core.levels import (
    COEFFICIENTS,
    Coefficient,
    correlate_rows,
    level_correlation,
    mean_tolerance,
)
from litepyramid.progress import track
from litepyramid.stats import (
    MOST_SAMPLES,
    blocks,
    check_samples,
    check_seed,
    check_share,
    check_whole,
    described,
    is_whole,
    percentile_interval,
    resampled_means,
    system_means,
)
from litepyramid.tables import Column, Result, Table, record, row
from litepyramid.text import counted, cut
from litepyramid.types import (
    FloatArray,
    FullSources,
    HumanLike,
    ScoresLike,
    ScoreSources,
    Signature,
    several,
)

ShareRule = Literal["paper", "authors"]
_SHARES = 10  # of the pairs, in the curve of `delta`
_ABOUT = 0.2  # of the pairs, those that are "about" a difference

# Pairs of systems
# -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PairCounts:
    """What people say of the pairs of systems that differ by `lower` to `upper` in the
    metric.

    `agreed` is P, pairs that metric and people put in the same order, `disagreed` Q; `tied_metric`
    T, tied by the metric alone, `tied_human` U, by people alone; `tied_both` count
    nowhere.
    `tau` is r_SYSΔ(ℓ, u) = (P − Q) / √((P + Q + T)(P + Q + U)) (DDR22 eq. 1), `agreement`
    P / (P + Q + U), of the pairs that the metric orders; 0/0 is NaN.
    """

    lower: float
    upper: float
    pairs: int
    agreed: int
    disagreed: int
    tied_metric: int
    tied_human: int
    tied_both: int
    tau: float
    agreement: float


@dataclass(frozen=True)
class SystemPairs:
    """All P = N(N − 1)/2 pairs of systems, the closest for the metric first, (P,) each.

    `gaps` are |Δx|, exactly 0 for a tie; `signs` 1 where people have the metric's order, −1 the
    opposite one, 0 where either ties; `one` and `two` the systems. Differences that
    differ by no more than `slack` are the same number, rounded.
    """

    gaps: FloatArray
    signs: NDArray[np.int8]
    human_ties: NDArray[np.bool_]
    one: NDArray[np.intp]
    two: NDArray[np.intp]
    slack: float

    @classmethod
    def of(cls, X: FloatArray, Z: FloatArray) -> Self:
        """The pairs by the averages of (N, any number) scores of the metric and of
        people."""
        x, z, slack = system_means(X), system_means(Z), mean_tolerance(X)
        one, two = np.triu_indices(len(x), 1)
        dx, dz = x[one] - x[two], z[one] - z[two]
        dx[np.abs(dx) <= slack] = 0.0
        dz[np.abs(dz) <= mean_tolerance(Z)] = 0.0
        order = np.argsort(np.abs(dx), kind="stable")
        signs = (np.sign(dx) * np.sign(dz)).astype(np.int8)
        return cls(
            np.abs(dx)[order],
            signs[order],
            (dz == 0)[order],
            one[order],
            two[order],
            slack,
        )

    def __len__(self) -> int:
        return len(self.gaps)

    def within(self, lower: float = 0.0, upper: float = inf) -> slice:
        """The pairs with ℓ ≤ |Δx| ≤ u, both ends included."""
        if not 0 <= lower <= upper:
            raise InputError(
                f"differences from {lower} to {upper}",
                expected="0 ≤ lower end ≤ upper end",
            )
        start = np.searchsorted(self.gaps, lower - self.slack, side="left")
        stop = np.searchsorted(self.gaps, upper + self.slack, side="right")
        return slice(int(start), int(stop))

    def count(self, lower: float = 0.0, upper: float = inf) -> PairCounts:
        """What r_SYSΔ(ℓ, u) is made of."""
        inside = self.within(lower, upper)
        signs, human, metric = (
            self.signs[inside],
            self.human_ties[inside],
            self.gaps[inside] == 0,
        )
        kinds = signs > 0, signs < 0, metric & ~human, human & ~metric, metric & human
        p, q, t, u, both = (int(flags.sum()) for flags in kinds)
        below = (p + q + t) * (p + q + u)
        tau = (p - q) / sqrt(below) if below else nan
        agreement = p / (p + q + u) if p + q + u else nan
        return PairCounts(lower, upper, len(signs), p, q, t, u, both, tau, agreement)

    def ends(self, rule: ShareRule = "paper") -> list[int]:
        """How many of the closest pairs each tenth holds: ⌈pairs · i / 10⌉, or i ⌈pairs
        / 10⌉."""
        choose("rule for shares", rule, get_args(ShareRule))
        total, tenth = len(self), ceil(len(self) / _SHARES)
        numbers = range(1, _SHARES + 1)
        ends = [
            tenth * i if rule == "authors" else ceil(total * i / _SHARES)
            for i in numbers
        ]
        return [min(total, end) for end in ends]


def decimals(largest: float) -> int:
    """Decimals that show a difference as fine as a thousandth of the largest, at most
    4."""
    return min(4, max(0, 3 - floor(log10(largest)))) if largest > 0 else 3


def _notes(sides: Sequence[Aligned], signature: Signature, *more: str) -> list[str]:
    """What each metric was computed from (once, where alike), more notes, and the
    signature."""
    alike = len({*map(str, sides)}) == 1
    used = [str(one) if alike else f"{one.metrics[0]}: {one}" for one in sides]
    return [*dict.fromkeys(used), *more, f"Signature: {signature}"]


# r_SYSΔ
# ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MetricDelta:
    """r_SYSΔ of one metric: of the pairs within the bounds, and of the closest 10, 20 …
    100 %."""

    metric: str
    sides: Aligned
    bounds: PairCounts | None
    curve: tuple[PairCounts, ...]


@dataclass(frozen=True)
class DeltaResult(Result):
    """r_SYSΔ of several metrics against one human score."""

    metrics: tuple[MetricDelta, ...]
    human: str
    signature: Signature

    def to_tables(self) -> list[Table]:
        """The given bounds and the curve of every metric: one row per range of
        differences."""
        digits = decimals(min(entry.curve[-1].upper for entry in self.metrics))
        columns = (
            *(
                "metric",
                Column("which", "pairs"),
                Column("lower", "from", digits=digits),
            ),
            *(
                Column("upper", "up to", digits=digits),
                Column("pairs", "number"),
                "agreed",
            ),
            *(Column("disagreed", "not"), "tied", Column("tau", "τ-b", signed=True)),
        )
        rows = []
        for entry in self.metrics:
            ranges = [("given", entry.bounds)] if entry.bounds else []
            ranges += [
                (f"{100 * i // _SHARES} %", c) for i, c in enumerate(entry.curve, 1)
            ]
            for which, c in ranges:
                tied = c.tied_metric + c.tied_human + c.tied_both
                upper = "any" if isinf(c.upper) else c.upper
                rows.append(
                    row(c, metric=entry.metric, which=which, upper=upper, tied=tied)
                )
        title = "r_SYSΔ: Kendall's τ over pairs that are this close in the metric"
        notes = _notes([entry.sides for entry in self.metrics], self.signature)
        return [Table.of(title, columns, rows, notes)]

    def to_figure(self) -> Any:
        """τ-b over the closest tenths of the pairs, a line per metric (DDR22 Fig.
        6)."""
        from litepyramid.figures.meta_plots import Line, line_plot

        x = [100 * i // _SHARES for i in range(1, _SHARES + 1)]
        lines = [Line(e.metric, x, [c.tau for c in e.curve]) for e in self.metrics]
        return line_plot(
            lines, "closest pairs of systems, %", f"Kendall's τ-b with {self.human}"
        )


def delta(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    lower: float = 0.0,
    upper: float | None = None,
    rule: ShareRule = "paper",
    **sources: Unpack[FullSources],
) -> DeltaResult:
    """Correlate metrics with human scores over pairs of systems with close scores.

    r_SYSΔ(ℓ, u) is Kendall's τ-b over the pairs of systems whose average scores differ
    by ℓ to u by the metric (Deutsch, Dror & Roth 2022, section 4): for given bounds,
    and for the closest 10, 20 … 100 % of the pairs. The interval is closed; 0/0 is NaN.

    Args:
        scores: Tables of scores, with people's; not changed.
        human: The human score; "human" if neither this nor the table says which.
        lower: The smallest difference of a pair, in the metric's units.
        upper: The largest; without it and `lower` only shares of the pairs are shown.
        rule: paper: tenths of all pairs, rounded up; authors: as in the authors' code.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns;
            full, from which the metrics' averages are then taken.

    Raises:
        InputError: An unknown name, bounds that are no interval, or nothing scored by
            both sides.

    Example:
        >>> entry = delta([1, 4, 2], [1, 2, 3], upper=1).metrics[0]
        >>> entry.bounds.tau, round(entry.curve[-1].tau, 3)
        (1.0, 0.333)

    Command line:
        $ litepyramid meta delta table.csv --upper 0.05
        $ litepyramid meta delta table.csv --metric rouge -o delta.pdf
    """
    check_number("lower", lower)
    if upper is not None:
        check_number("upper", upper)
    table = score_table(scores, human, **sources)
    every = align_each(table)
    bounded = upper is not None or lower > 0
    entries = []
    for sides in every:
        pairs = SystemPairs.of(sides.scores, sides.Z)
        bounds = (
            pairs.count(lower, inf if upper is None else upper) if bounded else None
        )
        curve = [
            pairs.count(0.0, float(pairs.gaps[end - 1])) for end in pairs.ends(rule)
        ]
        entries.append(MetricDelta(sides.metrics[0], sides, bounds, tuple(curve)))
    ends = {"lower": f"{lower:g}", "upper": None if upper is None else f"{upper:g}"}
    signature = signature_of(every, [("system", "kendall")], rule=rule, **ends)
    return DeltaResult(tuple(entries), every[0].human, signature)


# What a difference is worth
# --------------------------------------------------------------------


def reached_at(
    gaps: FloatArray, agreed: NDArray[np.bool_], weights: FloatArray, target: float
) -> float:
    """The smallest difference at which people agree as often as `target`, by an
    isotonic fit.

    Only pairs with a difference and a weight count; NaN where the target is never
    reached.
    """
    from scipy.optimize import isotonic_regression

    used = (gaps > 0) & (weights > 0)
    if not used.any():
        return nan
    fit = isotonic_regression(agreed[used].astype(np.float64), weights=weights[used]).x
    good = np.flatnonzero(fit >= target - 1e-12)
    return float(gaps[used][good[0]]) if good.size else nan


def resampled_pairs(
    sides: Aligned, pairs: SystemPairs, samples: int, seed: int
) -> tuple[NDArray[np.bool_], FloatArray]:
    """(k, P) whether people agree, and how often the pair is drawn, on draws of
    both."""
    drawn = draws.counts(seed, draws.SYSTEMS, len(sides.systems), 0, samples)
    counts = draws.counts(seed, draws.INPUTS, len(sides.inputs), 0, samples)
    x, z = system_means(sides.scores), resampled_means(sides.Z, counts)
    one, two = pairs.one, pairs.two
    dz = z[:, one] - z[:, two]
    dz[np.abs(dz) <= mean_tolerance(sides.Z)] = 0.0
    weights = np.where(np.isnan(dz), 0.0, drawn[:, one] * drawn[:, two])
    return (x[one] - x[two]) * dz > 0, weights


@dataclass(frozen=True)
class Difference:
    """What a difference of one metric is worth.

    `about` are the pairs whose difference is nearest to the one asked for; ``about.agreement`` is
    the share in which people agree with the metric's sign, from `low` to `high`;
    `failed` bootstrap samples have no such pair. `unsigned` pairs tie in the metric;
    `largest` is the largest difference in the table. `reached` is the smallest
    difference at which people agree as often as the target, or NaN; `reached_high` is
    infinite where too many samples never reach it.
    """

    metric: str
    sides: Aligned
    about: PairCounts
    low: float
    high: float
    failed: int
    unsigned: int
    largest: float
    reached: float
    reached_low: float
    reached_high: float


@dataclass(frozen=True)
class DifferenceResult(Result):
    """What a `difference`, in the metric's units, means, metric by metric."""

    metrics: tuple[Difference, ...]
    difference: float
    target: float
    confidence: float
    signature: Signature

    def sentences(self) -> tuple[str, ...]:
        """One actionable sentence per metric."""
        return tuple(map(self._sentence, self.metrics))

    def _sentence(self, entry: Difference) -> str:
        c, (low, high) = entry.about, map(_percent, (entry.low, entry.high))
        text = (
            f"When two systems differ by {self.difference:.3g} on {entry.metric}, people agreed "
            f"with the sign {_percent(c.agreement)} of the time ({100 * self.confidence:g} % "
            f"interval {low}-{high}, {counted(c.pairs, 'pair that differs', 'pairs that differ')} "
            f"by {c.lower:.3g} to {c.upper:.3g}); agreement "
        )
        goal = f"{100 * self.target:g} %"
        if isnan(entry.reached):
            text += f"does not reach {goal} at any difference in this table"
        else:
            end = "no end" if entry.reached_high == inf else f"{entry.reached_high:.3g}"
            text += (
                f"reaches {goal} at a difference of {entry.reached:.3g} "
                f"(interval {entry.reached_low:.3g} to {end})"
            )
        if self.difference > entry.largest:
            text += f". No two systems here differ by more than {entry.largest:.3g}"
        elif entry.low <= 0.5 <= entry.high:
            text += ". So a difference like yours may be no better than chance"
        return text + "."

    def to_tables(self) -> list[Table]:
        """The numbers behind the sentences, and the sentences."""
        digits = decimals(min(entry.largest for entry in self.metrics))
        columns = (
            *(
                "metric",
                Column("lower", "from", digits),
                Column("upper", "to", digits),
                "pairs",
            ),
            *(
                Column("agreement", "agreed", 2),
                Column("low", digits=2),
                Column("high", digits=2),
            ),
            Column("reached", f"{100 * self.target:g} % at", digits),
        )
        rows = [row(entry, **row(entry.about)) for entry in self.metrics]
        uncounted = []
        for e in self.metrics:
            ties = counted(e.unsigned, "pair ties", "pairs tie")
            empty = counted(e.failed, "sample")
            if e.unsigned:
                uncounted.append(f"{e.metric}: {ties} in the metric and have no sign.")
            if e.failed:
                uncounted.append(f"{e.metric}: {empty} contained no such pair.")
        used = _notes(
            [entry.sides for entry in self.metrics], self.signature, *uncounted
        )
        title = f"What a difference of {self.difference:.3g} means"
        return [Table.of(title, columns, rows, [*self.sentences(), *used])]

    def to_json(self) -> dict[str, Any]:
        """Sentences and numbers."""
        return record(self) | {"sentences": self.sentences()}


def difference(
    scores: ScoresLike,
    difference: float,
    human: HumanLike = "human",
    *,
    target: float = 0.95,
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    **sources: Unpack[FullSources],
) -> DifferenceResult:
    """Tell how often people agree with the sign of a difference between two systems'
    scores.

    "About" the difference is the fifth of all pairs of systems nearest to it. A tie in
    the human scores does not count as agreement; pairs that tie in the metric have no
    sign, are left out, and counted. The interval is the wider of two: a bootstrap over
    systems and judged inputs, in which the metric's differences are fixed, and Wilson's
    for independent pairs. The difference at which agreement reaches the target comes
    from an isotonic fit.

    Args:
        scores: Tables of scores, with people's; not changed.
        difference: The difference, above 0, in the metric's units.
        human: The human score; "human" if neither this nor the table says which.
        full: A table of the metrics' scores on the whole test set, as for delta.
        target: The agreement to reach.
        samples: Bootstrap samples.
        seed: Seed of the bootstrap.
        confidence: Confidence level of the intervals.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns;
            full, from which the metrics' averages are then taken.

    Raises:
        InputError: A number out of range; fewer than two systems; unknown names.

    Example:
        >>> x, human = [0, 2, 4, 6, 8, 10, 12, 14], [0, 1, 2, 3, 4, 5, 6, 7]
        >>> print(difference(x, 2, human, samples=50).sentences()[0])
        When two systems differ by 2 on x, people agreed with the sign 100 % of the time
        (...

    Command line:
        $ litepyramid meta difference table.csv 0.05
        $ litepyramid meta difference table.csv 0.05 --metric rouge -o difference.json
    """
    check_number("difference", difference)
    if not difference > 0:
        raise InputError(f"a difference of {difference}", expected="a number above 0")
    check_share("target", target)
    check_seed(seed)
    check_samples(samples, confidence=confidence)
    table = score_table(scores, human, **sources)
    every = align_each(table)
    entries = tuple(
        _worth(sides, difference, target, samples, seed, confidence) for sides in every
    )
    signature = signature_of(
        every, (), difference=f"{difference:g}", target=f"{target:g}",
        confidence=f"{confidence:g}", samples=samples, seed=seed,
    )  # fmt: skip
    return DifferenceResult(entries, difference, target, confidence, signature)


def _worth(
    sides: Aligned, d: float, target: float, samples: int, seed: int, confidence: float
) -> Difference:
    from scipy.stats import binomtest

    pairs = SystemPairs.of(sides.scores, sides.Z)
    signed = pairs.gaps[pairs.gaps > 0]
    if not signed.size:
        raise InputError(f"'{sides.metrics[0]}' gives every system the same score")
    size = max(1, round(_ABOUT * len(pairs)))
    nearest = np.sort(np.argsort(np.abs(signed - d), kind="stable")[:size])
    about = pairs.count(float(signed[nearest[0]]), float(signed[nearest[-1]]))

    agreed, weights = resampled_pairs(sides, pairs, samples, seed)
    inside = pairs.within(about.lower, about.upper)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = weights[:, inside] * (pairs.gaps[inside] > 0)
        shares = np.asarray((drawn * agreed[:, inside]).sum(axis=1) / drawn.sum(axis=1))
    ordered = about.agreed + about.disagreed + about.tied_human
    ends = [end for end in percentile_interval(shares, confidence) if not isnan(end)]
    if ordered:
        ends += binomtest(about.agreed, ordered).proportion_ci(
            confidence, method="wilson"
        )
    gaps = pairs.gaps
    drawn_ends = [
        reached_at(gaps, *one, target) for one in zip(agreed, weights, strict=True)
    ]
    tails = (1 - confidence) / 2, 1 - (1 - confidence) / 2
    first, last = np.quantile(
        np.nan_to_num(drawn_ends, nan=inf), tails, method="inverted_cdf"
    ).tolist()
    reached = reached_at(gaps, pairs.signs > 0, np.ones(len(pairs)), target)
    failed, unsigned = int(np.isnan(shares).sum()), len(pairs) - signed.size
    low, high = float(min(ends, default=nan)), float(max(ends, default=nan))
    return Difference(
        sides.metrics[0], sides, about, low, high, failed, unsigned, float(gaps[-1]), reached,
        first, last,
    )  # fmt: skip


def _percent(share: float) -> str:
    return "–" if isnan(share) else f"{100 * share:.0f} %"


# Stability of rankings
# ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StabilityPoint:
    """How stable one metric's ranking of systems is, made from M `inputs` of those
    `available`.

    `tau` and `deviation` (with k − 1) are of Kendall's τ-b between two rankings, each from M inputs
    of its own; `error` is the standard deviation of a system's average score.
    """

    metric: str
    inputs: int
    tau: float
    deviation: float
    samples: int
    error: float
    systems: int
    available: int


@dataclass(frozen=True)
class StabilityResult(Result):
    """Stability of rankings, metric by metric, a point for each number of inputs."""

    points: tuple[StabilityPoint, ...]
    samples: int
    signature: Signature

    def to_tables(self) -> list[Table]:
        """Every point of every metric."""
        columns = (
            *(
                "metric",
                Column("inputs", "M"),
                Column("tau", "τ-b"),
                Column("deviation", "±1 sd"),
            ),
            *(Column("error", "sd of a score", digits=4), "samples"),
        )
        sizes = sorted({(p.systems, p.available) for p in self.points})
        notes = [
            "τ-b between two rankings of the systems, each from M inputs drawn with "
            f"replacement; mean and standard deviation of {counted(self.samples, 'time')}.",
            *(
                f"{counted(n, 'system')}, {counted(m, 'input')} to draw from."
                for n, m in sizes
            ),
            f"Signature: {self.signature}",
        ]
        return [Table.of("Stability of rankings", columns, self.points, notes)]


def stability(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    sizes: Sequence[int] | None = None,
    samples: int = 1000,
    seed: int = 12345,
    **sources: Unpack[ScoreSources],
) -> StabilityResult:
    """Measure how far a ranking of systems would change with other inputs.

    For each number of inputs: draw so many with replacement, average, rank; repeat with
    another draw; compute Kendall's τ-b between the two rankings. Mean and standard
    deviation over
    `samples` repeats (Deutsch, Dror & Roth 2022, section 3). Every metric gets the same draws.

    Args:
        scores: Tables of scores; not changed.
        human: The human score, shown last; several names, or a pattern, mean the mean
            of several raters. Without it, human scores are treated like other metrics.
        sizes: Numbers of inputs; by default ten steps to the number there are.
        samples: Repeats at each size.
        seed: Seed of the draws.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns.

    Raises:
        InputError: Unknown names; fewer than two systems; a size below 1.

    Example:
        >>> x = [[1, 2, 3], [5, 6, 7], [9, 9, 9]]
        >>> stability(x, x, sizes=[2], samples=20).points[0].tau
        1.0

    Command line:
        $ litepyramid meta stability table.csv --samples 1000
        $ litepyramid meta stability table.csv --size 5 --size 10 -o stability.csv
    """
    check_whole("samples", samples, 2, MOST_SAMPLES)
    check_seed(seed)
    whole_numbers = isinstance(sizes, Sequence) and all(
        is_whole(m) and m >= 1 for m in sizes
    )
    if sizes is not None and not (sizes and whole_numbers):
        raise InputError(
            f"sizes {cut(repr(sizes))}", expected="numbers of inputs, 1 or more"
        )
    table = score_table(scores, human, **sources)
    people, machines, raters = unaligned(table)
    points = tuple(
        point
        for name, X in track(
            [*machines.items(), *people.items()], "ranking systems", "metrics"
        )
        for point in _points(name, X, sizes, samples, seed)
    )
    if not points:
        raise InputError(
            f"sizes {list(sizes or ())}", expected="at most the number of inputs"
        )
    signature = Signature.of(
        coefficient="kendall", human="+".join(raters) or None,
        sizes=None if sizes is None else "+".join(map(str, sizes)), samples=samples, seed=seed,
        scores_sha=scores_sha(table, [*machines], raters),
    )  # fmt: skip
    return StabilityResult(points, samples, signature)


def usual_sizes(available: int) -> list[int]:
    """Ten even steps, the first of which is at most 10, then doubles of 100 up to all
    inputs."""
    first = min(100, available)
    steps = {max(1, round(first * i / 10)) for i in range(1, 11)}
    doubles = (first << n for n in range(available.bit_length()))
    return sorted({*steps, *(size for size in doubles if size < available), available})


def _points(
    name: str, X: FloatArray, sizes: Sequence[int] | None, samples: int, seed: int
) -> Iterator[StabilityPoint]:
    scored = ~np.isnan(X)
    X = X[scored.any(axis=1)][:, scored.any(axis=0)]
    if len(X) < 2:
        scores = f"'{name}' scores {counted(len(X), 'system')}"
        raise InputError(scores, expected="at least two to rank")
    available, slack = X.shape[1], mean_tolerance(X)
    for size in (
        usual_sizes(available)
        if sizes is None
        else [m for m in sizes if m <= available]
    ):
        rng = piece_generator(seed, "stability", str(size))
        parts = [
            part.stop - part.start for part in blocks(samples, max(size, available))
        ]
        one, two = (
            np.concatenate(
                [
                    resampled_means(X, drawn_counts(rng, available, size, k))
                    for k in parts
                ]
            )
            for _ in "12"
        )
        both = ~(np.isnan(one) | np.isnan(two))
        taus = correlate_rows(
            np.where(both, one, 0.0), np.where(both, two, 0.0), "kendall",
            None if both.all() else both.astype(np.float64), x_tolerance=slack, z_tolerance=slack,
        )  # fmt: skip
        variance = np.nanmean(np.nanvar(np.concatenate([one, two]), axis=0, ddof=1))
        yield StabilityPoint(
            name, size, *described(taus), variance**0.5, len(X), available
        )


# Whole test sets
# ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FullSetInterval:
    """r_SYS of one metric with one way of sampling, on the judged inputs and on all.

    The interval on `judged` inputs shares its draws with people; that of `full` draws
    each side over inputs of its own, and is `narrower` by a share; `failed` samples are
    left out of both.
    """

    metric: str
    sampling: Sampling
    judged: float
    judged_low: float
    judged_high: float
    full: float
    full_low: float
    full_high: float
    failed: int
    narrower: float


@dataclass(frozen=True)
class FullSetResult(Result):
    """r_SYS on judged inputs and on the whole test set, by metric and way of
    sampling."""

    intervals: tuple[FullSetInterval, ...]
    sides: tuple[Aligned, ...]
    coefficient: Coefficient
    signature: Signature

    def to_tables(self) -> list[Table]:
        """The intervals on either set."""
        columns: list[Column | str] = ["metric", Column("sampling", "BOOT-")]
        for side, header in (("judged", "M_jud"), ("full", "M_test")):
            columns += [Column(side, header, 2), Column(f"{side}_low", "low", 2)]
            columns.append(Column(f"{side}_high", "high", 2))
        columns.append(Column("narrower", "less %", 0))
        rows = [row(i, narrower=100 * i.narrower) for i in self.intervals]
        notes = _notes(self.sides, self.signature)
        if failed := sum(i.failed for i in self.intervals):
            notes.insert(0, f"Left out, no correlation: {counted(failed, 'sample')}.")
        title = f"r_SYS ({self.coefficient}) with metrics on judged inputs and on all"
        return [Table.of(title, columns, rows, notes)]


def whole_test_set(
    scores: ScoresLike,
    human: HumanLike = "human",
    *,
    coefficient: Coefficient = "kendall",
    sampling: Sampling | Sequence[Sampling] = SAMPLINGS,
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    **sources: Unpack[FullSources],
) -> FullSetResult:
    """Compare metrics averaged over the judged inputs with metrics averaged over all
    inputs.

    People judge few inputs, but a metric can score the whole test set. Systems are
    correlated by the metric's averages over either set with people's averages. The
    bootstrap resamples each side over its own inputs; on judged inputs alone both sides
    share the draw. Systems are resampled for both sides together (Deutsch, Dror & Roth
    2022, section 3).

    Args:
        scores: Tables of scores, with people's; not changed.
        human: The human score; "human" if neither this nor the table says which.
        full: A table of the metrics' scores on the whole test set. Its systems are
            matched by name; its inputs may have other names.
        metrics: Names or patterns; by default all that both tables have.
        coefficient: The coefficient at system level.
        sampling: What is resampled; one or several.
        samples: Bootstrap samples.
        seed: Seed of the draws; the same for every metric.
        confidence: Confidence level of the intervals.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns;
            full, from which the metrics' averages are then taken.

    Raises:
        InputError: The tables share no metric or no system; fewer than two systems.

    Example:
        >>> rows = [{"system": s, "input": i, "rouge": 3 * s + i, "human": s}
        ...         for s in range(4) for i in range(3)]
        >>> whole_test_set(rows, full=rows, sampling="inputs", samples=40).intervals[0].full
        1.0

    Command line:
        $ litepyramid meta testset table.csv --full all.csv --samples 1000
        $ litepyramid meta testset table.csv --full all.csv --sampling inputs -o testset.csv
    """
    check_seed(seed)
    check_samples(samples, confidence=confidence)
    samplings = several(sampling, "the sampling")
    for one in samplings:
        choose("sampling", one, SAMPLINGS)
    choose("coefficient", coefficient, COEFFICIENTS)
    table = score_table(scores, human, **sources)
    if table.full is None:
        raise InputError("no scores on the whole test set", expected="a table of them")
    every = align_each(table)
    intervals = []
    settings: dict[str, Any] = {"samples": samples, "seed": seed}
    for sides, what in product(every, samplings):
        ends: list[Any] = []
        failed = 0
        for X, paired in ((sides.values[0], True), (sides.scores, False)):
            drawn = bootstrap_samples(
                X,
                sides.Z,
                "system",
                coefficient,
                what,
                paired_inputs=paired,
                **settings,
            )
            ends.append(level_correlation(X, sides.Z, "system", coefficient).value)
            ends += percentile_interval(drawn, confidence)
            failed += int(np.isnan(drawn).sum())
        width = ends[2] - ends[1]
        ends += [failed, 1 - (ends[5] - ends[4]) / width if width else nan]
        intervals.append(FullSetInterval(sides.metrics[0], what, *ends))
    signature = signature_of(
        every, [("system", coefficient)], sampling="+".join(samplings),
        confidence=f"{confidence:g}", **settings,
    )  # fmt: skip
    return FullSetResult(tuple(intervals), tuple(every), coefficient, signature)
