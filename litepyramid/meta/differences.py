"""What a difference between two systems' scores is worth: how often people agree with
its sign."""

from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Unpack

import numpy as np

from litepyramid.data.score_tables import read_scores
from litepyramid.errors import InputError
from litepyramid.meta.alignment import (
    Judged,
    align_each,
    aligned_notes,
    check_number,
    signature_of,
)
from litepyramid.meta.core import draws
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.meta.system_pairs import PairCounts, SystemPairs, decimals
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
    ScoresLike,
    Signature,
    Texts,
)

_ABOUT = 0.2  # of the pairs, those that are "about" a difference


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
    sides: Judged
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

    table = read_scores(scores, human, **sources)
    sides = align_each(table)
    entries = []
    for side in sides:
        pairs = SystemPairs.of(side.scores, side.Z)
        about, unsigned = pairs_about(pairs, difference, side.metrics[0])
        agreed, weights = resampled_pairs(side, pairs, samples, seed)

        shares = _agreeing_shares(pairs, about, agreed, weights)
        low, high = _agreement_interval(about, shares, confidence)

        every = np.ones(len(pairs))
        reached = reached_at(pairs, pairs.signs > 0, every, target)
        drawn = []
        for sample in zip(agreed, weights, strict=True):
            drawn.append(reached_at(pairs, *sample, target))
        reached_low, reached_high = _reached_interval(drawn, confidence)

        entry = Difference(
            metric=side.metrics[0],
            sides=side,
            about=about,
            low=low,
            high=high,
            failed=int(np.isnan(shares).sum()),
            unsigned=unsigned,
            largest=float(pairs.gaps[-1]),
            reached=reached,
            reached_low=reached_low,
            reached_high=reached_high,
        )
        entries.append(entry)

    signature = signature_of(
        table,
        sides,
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


# One metric
# ------------------------------------------------------------------------------------


def pairs_about(
    pairs: SystemPairs, difference: float, metric: str
) -> tuple[PairCounts, int]:
    """The fifth of all pairs whose differences are nearest to one, as few differ by
    exactly so much; and how many pairs tie in the metric, and have no sign to agree
    with."""
    signed = pairs.gaps[pairs.gaps > 0]
    if not signed.size:
        raise InputError(f"'{metric}' gives every system the same score")

    size = max(1, round(_ABOUT * len(pairs)))
    nearest = np.argsort(np.abs(signed - difference), kind="stable")[:size]
    lower = float(signed[nearest.min()])
    upper = float(signed[nearest.max()])
    return pairs.count(lower, upper), len(pairs) - signed.size


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
    sides: Judged, pairs: SystemPairs, samples: int, seed: int
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


def _agreeing_shares(
    pairs: SystemPairs, about: PairCounts, agreed: BoolArray, weights: FloatArray
) -> FloatArray:
    """(k,) the share of agreeing pairs among those about the difference, sample by
    sample; NaN where none of them was drawn."""
    inside = pairs.within(about.lower, about.upper)
    drawn = weights[:, inside] * (pairs.gaps[inside] > 0)
    agreeing = drawn * agreed[:, inside]
    with undefined():
        return np.asarray(agreeing.sum(axis=1) / drawn.sum(axis=1))


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


def _reached_interval(reached: list[float], confidence: float) -> Ends:
    """The ends of the interval of where the target is reached; one that is infinite
    where too many samples never reach it."""
    tail = (1 - confidence) / 2
    never = np.nan_to_num(reached, nan=inf)
    low, high = np.quantile(never, (tail, 1 - tail), method="inverted_cdf")
    return float(low), float(high)


def _percent(share: float) -> str:
    return "–" if isnan(share) else f"{100 * share:.0f} %"
