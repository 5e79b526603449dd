"""What a difference between two systems' scores is worth, in a sentence (after DDR22 §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.meta.system_level.paired_scores import PairCounts, Sides, decimals, sides_of
from litepyramid.meta.system_level.sign_agreement import (
    ResampledPairs,
    fitted,
    reaching,
    wilson_interval,
)
from litepyramid.stats import check_samples, percentile_interval
from litepyramid.tables import Column, Result, Table, hidden, record, row
from litepyramid.text import counted
from litepyramid.types import Signature

IntervalRule = Literal["wider", "bootstrap", "wilson"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often people agreed with a metric over some pairs of systems.

    Attributes:
        counts: The pairs, by what people say of them; `counts.agreement` is the share.
        low: Lower end of the interval of the share; NaN where there is no pair.
        high: Upper end.
        failed: Bootstrap samples without any such pair.
    """

    counts: PairCounts
    low: float
    high: float
    failed: int


@dataclass(frozen=True)
class Difference:
    """What a difference of one metric is worth.

    Attributes:
        metric: Its name.
        sides: Which systems and inputs were used.
        about: The pairs whose difference is nearest to the one asked for.
        up_to: All pairs that differ by at most that: r_SYSΔ(0, d).
        largest: The largest difference in the table.
        reached: The smallest difference at which people agree as often as the target, by a
            fit that lets agreement only rise with the difference; NaN where it is never reached.
        reached_low: Lower end of its bootstrap interval.
        reached_high: Upper end; infinite where too many samples never reach it.
        beyond: The pairs that differ by at least `reached`; None where it is NaN.
        curve: The pairs' differences, ascending, the fit at each, and whether people agree.
    """

    metric: str
    sides: Sides
    about: Agreement
    up_to: Agreement
    largest: float
    reached: float
    reached_low: float
    reached_high: float
    beyond: Agreement | None
    curve: tuple[tuple[float, ...], tuple[float, ...], tuple[bool, ...]] = hidden(repr=False)


@dataclass(frozen=True)
class DifferenceResult(Result):
    """What a difference means, metric by metric.

    Attributes:
        metrics: One entry per metric.
        human: The human score.
        difference: d, in the metric's units.
        target: The agreement to reach, for example .95.
        confidence: Confidence level of the intervals.
        samples: Bootstrap samples.
        seed: Seed of the bootstrap.
        signature: Names everything that the numbers depend on.
    """

    metrics: tuple[Difference, ...]
    human: str
    difference: float
    target: float
    confidence: float
    samples: int
    seed: int
    signature: Signature

    def sentences(self) -> tuple[str, ...]:
        """One actionable sentence per metric."""
        return tuple(self._sentence(entry) for entry in self.metrics)

    def _sentence(self, entry: Difference) -> str:
        about, d = entry.about, _short(self.difference)
        c = about.counts
        text = (
            f"When two systems differ by {d} on {entry.metric}, people agreed with the sign "
            f"{_percent(c.agreement)} of the time ({100 * self.confidence:g} % interval "
            f"{_percent(about.low)}-{_percent(about.high)}, "
            f"{counted(c.pairs, 'pair that differs', 'pairs that differ')} by "
            f"{_short(c.lower)} to {_short(c.upper)}); "
        )
        goal = f"{100 * self.target:g} %"
        if isnan(entry.reached) or entry.beyond is None:
            text += f"agreement does not reach {goal} at any difference in this table"
        else:
            end = "no end" if entry.reached_high == inf else _short(entry.reached_high)
            text += (
                f"agreement reaches {goal} at a difference of {_short(entry.reached)} on "
                f"(interval {_short(entry.reached_low)} to {end}, "
                f"{counted(entry.beyond.counts.pairs, 'pair')})"
            )
        if self.difference > entry.largest:
            text += f". No two systems here differ by more than {_short(entry.largest)}"
        elif about.low <= 0.5 <= about.high:
            text += ". So a difference like yours may be no better than chance"
        return text + "."

    def to_tables(self) -> list[Table]:
        """The numbers behind the sentences, and the sentences."""
        digits = min(4, decimals(min(entry.largest for entry in self.metrics)))
        columns = (
            *("metric", Column("which", "pairs"), Column("lower", "from", digits=digits)),
            *(Column("upper", "to", digits=digits), Column("pairs", "number")),
            *(Column("agreement", "agreed", 2), Column("low", digits=2), Column("high", digits=2)),
        )
        rows = []
        for entry in self.metrics:
            named = {"about": entry.about, "up to": entry.up_to, "beyond": entry.beyond}
            for which, found in named.items():
                if found is not None:
                    c = found.counts
                    rows.append(
                        row(found, **row(c), metric=entry.metric, which=which)
                        | {"agreement": c.agreement, "upper": min(c.upper, entry.largest)}
                    )
        notes = [*self.sentences()]
        for entry in self.metrics:
            ties = entry.up_to.counts.tied_metric + entry.up_to.counts.tied_both
            text = f"{entry.metric}: {entry.sides.describe()}"
            if ties:
                equal = "tied in the metric and"
                said = counted(ties, f"pair is {equal} has", f"pairs are {equal} have")
                text += f" {said} no sign."
            if entry.about.failed:
                text += f" {counted(entry.about.failed, 'sample')} contained no such pair."
            notes.append(text)
        title = f"What a difference of {_short(self.difference)} means"
        notes.append(f"Signature: {self.signature}")
        return [Table.of(title, columns, rows, notes)]

    def to_json(self) -> dict[str, Any]:
        """Sentences and numbers."""
        found = record(self)
        for entry, sentence in zip(found["metrics"], self.sentences(), strict=True):
            entry["sentence"] = sentence
        return found


def difference(
    scores: Any,
    d: float,
    human: str | Sequence[str] = "human",
    *,
    metrics: str | Sequence[str] | None = None,
    full: Any = None,
    target: float = 0.95,
    window: float = 0.2,
    interval: IntervalRule = "wider",
    confidence: float = 0.95,
    samples: int = 1000,
    seed: int = 12345,
    scale: float = 1.0,
) -> DifferenceResult:
    """How often people agree with the sign of a difference of `d` between two systems.

    "About d" are the pairs whose difference is nearest to d, a share `window` of all; with their
    smallest and largest difference they are the pairs of r_SYSΔ(ℓ, u). A tie in the human scores
    does not count as agreement; pairs that tie in the metric have no sign, are left out, and
    counted.

    The interval: the metric's differences are fixed, because users know those of their own
    systems; systems and judged inputs are resampled together, because pairs share systems and human
    averages depend on the inputs. If all pairs agree, the bootstrap interval has no width; Wilson's
    interval for independent pairs does. ``"wider"`` takes the lower of the lower and the higher of
    the upper ends.

    The difference at which agreement reaches the target comes from an isotonic fit: the
    monotone curve of agreement against the size of Δ with the least squared error.

    Args:
        scores: The judged table; see `delta`.
        d: The difference, above 0, in the metric's units times `scale`.
        human: The human score; several names mean the mean of several raters.
        metrics: Names or patterns; None for all others.
        full: A table with the metric's scores on the whole test set; see `delta`.
        target: The agreement to reach.
        window: Share of all pairs that are "about d".
        interval: ``"wider"``, ``"bootstrap"`` or ``"wilson"``.
        confidence: Confidence level of the intervals.
        samples: Bootstrap samples.
        seed: Seed of the bootstrap.
        scale: The metric's scores are multiplied by this: 100 turns a table of 0-1 into points.

    Raises:
        InputError: `d`, `target` or `window` out of range; fewer than two systems; unknown names.

    Example:
        >>> from litepyramid.types import ScoreTable
        >>> people = np.arange(8.0)[:, None] * np.ones(3)
        >>> table = ScoreTable(("m", "human"), tuple("abcdefgh"), ("1", "2", "3"),
        ...                    np.stack([people * 2, people]))
        >>> print(difference(table, 2, samples=50).sentences()[0])
        When two systems differ by 2 on m, people agreed with the sign 100 % of the time (...
    """
    for what, value, top in (("difference", d, inf), ("target", target, 1), ("window", window, 1)):
        if not 0 < value <= top:
            raise InputError(
                f"a {what} of {value}", expected="a number above 0" + (", at most 1" * (top == 1))
            )
    choose("interval", interval, get_args(IntervalRule))
    check_samples(samples, confidence=confidence)
    found = []
    every, hashes = sides_of(scores, human, metrics=metrics, full=full, scale=scale)
    for sides in every:
        resampled = ResampledPairs.of(sides, sides.pairs(), samples, seed)
        found.append(_worth(sides, d, target, window, interval, confidence, resampled))
    signature = Signature.of(
        human=every[0].human,
        difference=f"{d:g}",
        target=f"{target:g}",
        window=f"{window:g}",
        interval=interval,
        confidence=f"{confidence:g}",
        samples=samples,
        seed=seed,
        scale=None if scale == 1 else f"{scale:g}",
        **hashes,
    )
    return DifferenceResult(
        tuple(found), every[0].human, d, target, confidence, samples, seed, signature
    )


def _worth(
    sides: Sides,
    d: float,
    target: float,
    window: float,
    interval: IntervalRule,
    confidence: float,
    resampled: ResampledPairs,
) -> Difference:
    pairs = resampled.pairs
    signed = pairs.gaps[pairs.gaps > 0]
    if not signed.size:
        raise InputError(f"'{sides.metric}' gives every system the same score")
    size = max(1, round(window * len(pairs)))
    nearest = np.sort(np.argsort(np.abs(signed - d), kind="stable")[:size])
    low, high = float(signed[nearest[0]]), float(signed[nearest[-1]])

    def agreement(lower: float, upper: float) -> Agreement:
        counts = pairs.count(lower, upper)
        ends, failed = [], 0
        if interval != "wilson":
            shares = resampled.agreement(lower, upper)
            failed = int(np.isnan(shares).sum())
            ends.append(percentile_interval(shares, confidence))
        if interval != "bootstrap":
            ordered = counts.agreed + counts.disagreed + counts.tied_human
            ends.append(wilson_interval(counts.agreed, ordered, confidence))
        ends = [pair for pair in ends if not isnan(pair[0])] or [(nan, nan)]
        return Agreement(counts, min(a for a, _ in ends), max(b for _, b in ends), failed)

    reached = reaching(pairs, target)
    gaps, fit, agreed = (tuple(values.tolist()) for values in fitted(pairs))
    spread = np.array([inf if isnan(y) else y for y in resampled.reaching(target)])
    tail = (1 - confidence) / 2
    reached_low, reached_high = np.quantile(spread, [tail, 1 - tail], method="inverted_cdf")
    return Difference(
        metric=sides.metric,
        sides=sides,
        about=agreement(low, high),
        up_to=agreement(0.0, d),
        largest=float(pairs.gaps[-1]),
        reached=reached,
        reached_low=float(reached_low),
        reached_high=float(reached_high),
        beyond=None if isnan(reached) else agreement(reached, inf),
        curve=(gaps, fit, agreed),
    )


def _short(value: float) -> str:
    """Three significant digits.

    Example:
        >>> _short(0.123456), _short(11.4), _short(0.5)
        ('0.123', '11.4', '0.5')
    """
    return f"{value:.3g}"


def _percent(share: float) -> str:
    return "–" if isnan(share) else f"{100 * share:.0f} %"
