"""Close systems: how well a metric orders them, and what a difference is worth (DDR22).

Both verbs look at all pairs of systems, the closest for the metric first.
"""

from dataclasses import dataclass
from math import ceil, floor, inf, isinf, isnan, log10, nan, sqrt
from typing import Any, Literal, Self, Unpack

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.meta.alignment import (
    Aligned,
    align_each,
    aligned_notes,
    check_number,
    score_table,
    signature_of,
)
from litepyramid.meta.core import draws
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.stats import (
    check_samples,
    check_share,
    percentile_interval,
    resampled_means,
    sums_by,
    system_means,
    undefined,
)
from litepyramid.tables import Column, Result, Table, record, row
from litepyramid.text import counted
from litepyramid.types import (
    BoolArray,
    Ends,
    Fields,
    FloatArray,
    FullSources,
    HumanLike,
    IntArray,
    ScoresLike,
    Signature,
    Texts,
)

ShareRule = Literal["paper", "authors"]
_SHARES = 10  # of the pairs, in the curve of `delta`
_ABOUT = 0.2  # of the pairs, those that are "about" a difference

# Pairs of systems
# -----------------------------------------------------------------------------


@dataclass(frozen=True)
class PairCounts:
    """What people say of the pairs of systems that differ by `lower` to `upper` in the
    metric.

    `agreed` is P, pairs that metric and people put in the same order, `disagreed` Q;
    `tied_metric` T, tied by the metric alone, `tied_human` U, by people alone;
    `tied_both` count nowhere.
    `tau` is r_SYSΔ(ℓ, u) = (P − Q) / √((P + Q + T)(P + Q + U)) (DDR22 eq. 1),
    `agreement` P / (P + Q + U), of the pairs that the metric orders; 0/0 is NaN.
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

    `gaps` are |Δx|, exactly 0 for a tie; `signs` 1 where people have the metric's
    order, −1 the opposite one, 0 where either ties; `one` and `two` the systems.
    Differences that differ by no more than `slack` are the same number, rounded.
    """

    gaps: FloatArray
    signs: FloatArray
    human_ties: BoolArray
    one: IntArray
    two: IntArray
    slack: float

    @classmethod
    def of(cls, X: FloatArray, Z: FloatArray) -> Self:
        """The pairs by the averages of (N, any number) scores of the metric and of
        people."""
        one, two = np.triu_indices(len(X), 1)
        # X may be over other inputs than Z: averages are all that the two share.
        dx = _differences(X, one, two)
        dz = _differences(Z, one, two)

        # Stable, so that pairs with equal gaps keep the order of the systems' names.
        order = np.argsort(np.abs(dx), kind="stable")
        dx = dx[order]
        dz = dz[order]
        return cls(
            gaps=np.abs(dx),
            signs=np.sign(dx) * np.sign(dz),
            human_ties=dz == 0,
            one=one[order],
            two=two[order],
            slack=mean_tolerance(X),
        )

    def __len__(self) -> int:
        return len(self.gaps)

    def within(self, lower: float, upper: float) -> slice:
        """The pairs with ℓ ≤ |Δx| ≤ u, both ends included."""
        if not 0 <= lower <= upper:
            raise InputError(
                f"differences from {lower} to {upper}",
                expected="0 ≤ lower end ≤ upper end",
            )
        # A bound that a difference reaches but for rounding is reached: the interval is
        # closed.
        start = np.searchsorted(self.gaps, lower - self.slack, side="left")
        stop = np.searchsorted(self.gaps, upper + self.slack, side="right")
        return slice(int(start), int(stop))

    def count(self, lower: float = 0.0, upper: float = inf) -> PairCounts:
        """What r_SYSΔ(ℓ, u) is made of."""
        inside = self.within(lower, upper)
        signs = self.signs[inside]
        human_ties = self.human_ties[inside]
        metric_ties = self.gaps[inside] == 0

        p = int((signs > 0).sum())
        q = int((signs < 0).sum())
        t = int((metric_ties & ~human_ties).sum())
        u = int((human_ties & ~metric_ties).sum())

        # Pairs that both sides tie say nothing of agreement, and count nowhere (eq. 1).
        ordered = p + q + u
        below = (p + q + t) * ordered
        return PairCounts(
            lower=lower,
            upper=upper,
            pairs=len(signs),
            agreed=p,
            disagreed=q,
            tied_metric=t,
            tied_human=u,
            tied_both=int((metric_ties & human_ties).sum()),
            tau=(p - q) / sqrt(below) if below else nan,
            agreement=p / ordered if ordered else nan,
        )

    def ends(self, rule: ShareRule = "paper") -> list[int]:
        """How many of the closest pairs each tenth holds: ⌈pairs · i / 10⌉, or i ⌈pairs
        / 10⌉."""
        choose("rule for shares", rule, ShareRule)
        total = len(self)
        tenth = ceil(total / _SHARES)

        ends = []
        for i in range(1, _SHARES + 1):
            end = tenth * i if rule == "authors" else ceil(total * i / _SHARES)
            # The authors round the size of a tenth up, so their last ones may go beyond
            # all pairs.
            ends.append(min(total, end))
        return ends


def _differences(scores: FloatArray, one: IntArray, two: IntArray) -> FloatArray:
    """The differences of systems' averages; exactly 0 where they are only rounding."""
    means = system_means(scores)
    differences = means[one] - means[two]
    differences[np.abs(differences) <= mean_tolerance(scores)] = 0.0
    return differences


def decimals(largest: float) -> int:
    """Decimals that show a difference as fine as a thousandth of the largest, at most
    4."""
    if largest <= 0:
        return 3
    return min(4, max(0, 3 - floor(log10(largest))))


# r_SYSΔ
# ----------------------------------------------------------------------------


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
            "metric",
            Column("which", "pairs"),
            Column("lower", "from", digits=digits),
            Column("upper", "up to", digits=digits),
            Column("pairs", "number"),
            "agreed",
            Column("disagreed", "not"),
            "tied",
            Column("tau", "τ-b", signed=True),
        )

        rows = []
        for entry in self.metrics:
            ranges = [("given", entry.bounds)] if entry.bounds else []
            for i, counts in enumerate(entry.curve, start=1):
                ranges.append((f"{100 * i // _SHARES} %", counts))

            for which, counts in ranges:
                shown = row(
                    counts,
                    metric=entry.metric,
                    which=which,
                    tied=counts.tied_metric + counts.tied_human + counts.tied_both,
                )
                if isinf(counts.upper):
                    shown["upper"] = "any"
                rows.append(shown)

        title = "r_SYSΔ: Kendall's τ over pairs that are this close in the metric"
        sides = [entry.sides for entry in self.metrics]
        return [Table.of(title, columns, rows, aligned_notes(sides, self.signature))]

    def to_figure(self) -> Any:
        """τ-b over the closest tenths of the pairs, a line per metric (DDR22 Fig.
        6)."""
        from litepyramid.figures.meta_plots import Line, line_plot

        shares = [100 * i // _SHARES for i in range(1, _SHARES + 1)]
        lines = []
        for entry in self.metrics:
            taus = [counts.tau for counts in entry.curve]
            lines.append(Line(entry.metric, shares, taus))
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
    bounded = upper is not None or lower > 0
    every = align_each(score_table(scores, human, **sources))

    entries = []
    for sides in every:
        pairs = SystemPairs.of(sides.scores, sides.Z)
        bounds = None
        if bounded:
            bounds = pairs.count(lower, inf if upper is None else upper)

        curve = []
        for end in pairs.ends(rule):
            curve.append(pairs.count(0.0, float(pairs.gaps[end - 1])))
        entries.append(MetricDelta(sides.metrics[0], sides, bounds, tuple(curve)))

    signature = signature_of(
        every,
        [("system", "kendall")],
        rule=rule,
        lower=f"{lower:g}",
        upper=None if upper is None else f"{upper:g}",
    )
    return DeltaResult(tuple(entries), every[0].human, signature)


# What a difference is worth
# --------------------------------------------------------------------


def reached_at(
    pairs: SystemPairs, agreed: BoolArray, weights: FloatArray, target: float
) -> float:
    """The smallest difference at which people agree as often as `target`, by an
    isotonic fit.

    Only pairs with a difference and a weight count; NaN where the target is never
    reached.
    """
    from scipy.optimize import isotonic_regression

    used = (pairs.gaps > 0) & (weights > 0)
    if not used.any():
        return nan

    # Pairs with one difference have one answer, in whatever order their systems come.
    gaps = pairs.gaps[used]
    first = np.append(True, np.diff(gaps) > pairs.slack)
    of_gap = np.cumsum(first) - 1
    drawn = sums_by(of_gap, weights[used])
    share = sums_by(of_gap, weights[used] * agreed[used]) / drawn

    fit = isotonic_regression(share, weights=drawn).x
    # The fit of a pool of equal answers may fall short of 1 by rounding.
    good = np.flatnonzero(fit >= target - 1e-12)
    return float(gaps[first][good[0]]) if good.size else nan


def resampled_pairs(
    sides: Aligned, pairs: SystemPairs, samples: int, seed: int
) -> tuple[BoolArray, FloatArray]:
    """(k, P) whether people agree, and how often the pair is drawn, on draws of
    both."""
    # The same streams as in `interval`: a system drawn there is drawn here.
    systems, inputs = sides.Z.shape
    drawn = draws.counts(seed, draws.SYSTEMS, systems, 0, samples)
    drawn_inputs = draws.counts(seed, draws.INPUTS, inputs, 0, samples)
    # The metric's differences are what is asked about: they stay, and what people say
    # varies.
    x = system_means(sides.scores)
    z = resampled_means(sides.Z, drawn_inputs)

    one = pairs.one
    two = pairs.two
    dz = z[:, one] - z[:, two]
    dz[np.abs(dz) <= mean_tolerance(sides.Z)] = 0.0

    # A pair is drawn as often as its two systems together.
    weights = np.where(np.isnan(dz), 0.0, drawn[:, one] * drawn[:, two])
    return (x[one] - x[two]) * dz > 0, weights


@dataclass(frozen=True)
class Difference:
    """What a difference of one metric is worth.

    `about` are the pairs whose difference is nearest to the one asked for;
    ``about.agreement`` is the share in which people agree with the metric's sign, from
    `low` to `high`; `failed` bootstrap samples have no such pair. `unsigned` pairs tie
    in the metric; `largest` is the largest difference in the table. `reached` is the
    smallest difference at which people agree as often as the target, or NaN;
    `reached_high` is infinite where too many samples never reach it.
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

    def sentences(self) -> Texts:
        """One actionable sentence per metric."""
        return tuple(map(self._sentence, self.metrics))

    def _sentence(self, entry: Difference) -> str:
        about = entry.about
        differing = counted(about.pairs, "pair that differs", "pairs that differ")
        text = (
            f"When two systems differ by {self.difference:.3g} on {entry.metric}, "
            f"people agreed with the sign {_percent(about.agreement)} of the time "
            f"({100 * self.confidence:g} % interval {_percent(entry.low)}-"
            f"{_percent(entry.high)}, {differing} by {about.lower:.3g} to "
            f"{about.upper:.3g}); agreement "
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

        # Beyond the largest difference the nearest fifth says little of this one.
        if self.difference > entry.largest:
            text += f". No two systems here differ by more than {entry.largest:.3g}"
        elif entry.low <= 0.5 <= entry.high:
            text += ". So a difference like yours may be no better than chance"

        return text + "."

    def to_tables(self) -> list[Table]:
        """The numbers behind the sentences, and the sentences."""
        digits = decimals(min(entry.largest for entry in self.metrics))
        columns = (
            "metric",
            Column("lower", "from", digits),
            Column("upper", "to", digits),
            "pairs",
            Column("agreement", "agreed", 2),
            Column("low", digits=2),
            Column("high", digits=2),
            Column("reached", f"{100 * self.target:g} % at", digits),
        )
        rows = [row(entry, **row(entry.about)) for entry in self.metrics]

        uncounted = []
        for entry in self.metrics:
            if entry.unsigned:
                ties = counted(entry.unsigned, "pair ties", "pairs tie")
                uncounted.append(
                    f"{entry.metric}: {ties} in the metric and have no sign."
                )
            if entry.failed:
                empty = counted(entry.failed, "sample")
                uncounted.append(f"{entry.metric}: {empty} contained no such pair.")

        sides = [entry.sides for entry in self.metrics]
        notes = aligned_notes(sides, self.signature, *uncounted)
        title = f"What a difference of {self.difference:.3g} means"
        return [Table.of(title, columns, rows, [*self.sentences(), *notes])]

    def json_entries(self) -> Fields:
        """Sentences and numbers."""
        return record(self) | {"sentences": self.sentences()}


def difference(
    scores: ScoresLike,
    difference: float,
    human: HumanLike | None = None,
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
    check_samples(samples, seed=seed, confidence=confidence)

    every = align_each(score_table(scores, human, **sources))
    entries = []
    for sides in every:
        pairs = SystemPairs.of(sides.scores, sides.Z)
        if not (pairs.gaps > 0).any():
            raise InputError(f"'{sides.metrics[0]}' gives every system the same score")
        gaps = pairs.gaps
        # A pair that ties in the metric has no sign to agree with.
        signed = gaps[gaps > 0]
        size = max(1, round(_ABOUT * len(pairs)))
        # Few pairs differ by exactly so much: the nearest fifth of all stands for them.
        nearest = np.argsort(np.abs(signed - difference), kind="stable")[:size]
        about = pairs.count(float(signed[nearest.min()]), float(signed[nearest.max()]))

        agreed, weights = resampled_pairs(sides, pairs, samples, seed)
        inside = pairs.within(about.lower, about.upper)
        counts = weights[:, inside] * (gaps[inside] > 0)
        with undefined():
            agreeing = (counts * agreed[:, inside]).sum(axis=1)
            shares = agreeing / counts.sum(axis=1)
        low, high = _agreement_interval(about, shares, confidence)

        reached = []
        for sample_agreed, sample_weights in zip(agreed, weights, strict=True):
            reached.append(reached_at(pairs, sample_agreed, sample_weights, target))
        # A sample that never reaches the target counts as one that reaches it at
        # infinity.
        tail = (1 - confidence) / 2
        first, last = np.quantile(
            np.nan_to_num(reached, nan=inf), (tail, 1 - tail), method="inverted_cdf"
        ).tolist()

        entries.append(
            Difference(
                metric=sides.metrics[0],
                sides=sides,
                about=about,
                low=low,
                high=high,
                failed=int(np.isnan(shares).sum()),
                unsigned=len(pairs) - signed.size,
                largest=float(gaps[-1]),
                reached=reached_at(pairs, pairs.signs > 0, np.ones(len(pairs)), target),
                reached_low=first,
                reached_high=last,
            )
        )

    signature = signature_of(
        every,
        (),
        difference=f"{difference:g}",
        target=f"{target:g}",
        confidence=f"{confidence:g}",
        samples=samples,
        seed=seed,
    )
    return DifferenceResult(
        tuple(entries),
        difference,
        target,
        confidence,
        signature,
    )


def _agreement_interval(
    about: PairCounts, shares: FloatArray, confidence: float
) -> Ends:
    """The wider of the bootstrap's interval and Wilson's; NaN where there is none."""
    from scipy.stats import binomtest

    # Pairs share systems, which Wilson's interval does not know; where all of them
    # agree, no draw of the bootstrap varies. The wider of the two is safe in both
    # cases.
    ends = [end for end in percentile_interval(shares, confidence) if not isnan(end)]
    ordered = about.agreed + about.disagreed + about.tied_human
    if ordered:
        test = binomtest(about.agreed, ordered)
        ends += test.proportion_ci(confidence, method="wilson")
    return float(min(ends, default=nan)), float(max(ends, default=nan))


def _percent(share: float) -> str:
    return "–" if isnan(share) else f"{100 * share:.0f} %"
