"""What every interval and test over scores shares: draws, percentiles, p-values,
corrections."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, Literal

import numpy as np

from litepyramid.blas import single_threaded
from litepyramid.errors import InputError
from litepyramid.text import counted, cut
from litepyramid.types import BoolArray, Ends, FloatArray, IntArray, Names

PValueRule = Literal["plus_one", "paper"]
Correction = Literal["none", "bonferroni", "holm", "benjamini-hochberg"]

SMALLEST_TAIL = 1e-12
"""Below this, `flip_tails` cannot tell one probability from another."""

MOST_SAMPLES = 1_000_000
"""More samples than this are refused: they take hours and change no digit that is
shown."""

EQUAL_WITHIN = 1e-9
"""Two scores that are no farther apart are equal but for rounding."""

_ROUNDING = 1e-11
_CELLS = 4_000_000  # numbers held at once
_LARGEST = 6  # columns of a row's largest values, whose signs are counted
# Of one row, and of rows over which a mean is taken:
_COUNTED = (24, 13)  # columns up to which every assignment of signs is counted
_STEPS = (64, 16)  # steps of the lattice in the others' root mean square
_SUMS = 2048  # held at once of a row that rounding could decide


def blocks(number: int, width: int) -> Iterator[slice]:
    """Slices of `number` rows of `width` numbers, as many at once as memory should
    hold."""
    step = max(1, _CELLS // max(1, width))
    return (slice(start, min(number, start + step)) for start in range(0, number, step))


def undefined() -> np.errstate:
    """Within it 0/0 is NaN without a warning: what is not defined has no value."""
    return np.errstate(invalid="ignore", divide="ignore")


@single_threaded
def resampled_means(X: FloatArray, counts: FloatArray | IntArray) -> FloatArray:
    """Every system's average under every draw of the inputs."""
    scored = ~np.isnan(X)
    complete = bool(scored.all())
    values = np.where(scored, X, 0.0).T
    result = np.empty((len(counts), len(X)))
    for block in blocks(len(counts), X.shape[1]):
        some = counts[block].astype(float)
        # With gaps each system is divided by the draws that it has scores of.
        total = some.sum(axis=1, keepdims=True) if complete else some @ scored.T
        with undefined():
            result[block] = some @ values / total
    return result


def check_samples(
    samples: int,
    *,
    seed: int = 0,
    confidence: float | None = None,
    alpha: float | None = None,
    tests: int = 1,
) -> None:
    """Checks a seed, and that k samples are enough for an interval or a test.

    A percentile interval takes k ≥ 2 / (1 - confidence): one sample in either tail. A
    test takes k ≥ 1 / alpha - 1, else p = (c + 1) / (k + 1) could never be as small as
    alpha; Bonferroni's and Holm's corrections of m tests m / alpha - 1.
    """
    check_whole("samples", samples, 1, MOST_SAMPLES)
    check_whole("seed", seed, 0)
    # A little less than the formula, which binary fractions put just above a number.
    if confidence is not None:
        check_share("confidence", confidence)
        needed = ceil(2 / (1 - confidence) * (1 - _ROUNDING))
        if needed > MOST_SAMPLES:
            raise InputError(
                f"confidence is {confidence}",
                expected=f"at most {1 - 2 / MOST_SAMPLES}: no more than "
                f"{MOST_SAMPLES:,} samples are drawn",
            )
        if samples < needed:
            raise InputError(
                counted(samples, "sample"),
                expected=f"at least {needed} for an interval at {100 * confidence:g} %",
            )

    if alpha is not None:
        check_share("alpha", alpha)
        needed = ceil(tests / alpha * (1 - _ROUNDING) - 1)
        if samples < needed:
            together = "a test" if tests == 1 else f"{tests} tests, corrected together,"
            raise InputError(
                f"{counted(samples, 'sample')}: no test could pass",
                expected=f"at least {needed} for {together} at the level {alpha:g}",
            )


def check_whole(what: str, value: Any, least: int = 1, most: int | None = None) -> None:
    """Raises InputError unless a value is a whole number within bounds."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        to = "" if most is None else f" to {most:,}"
        raise InputError(
            f"{what} is {cut(repr(value))}", expected=f"a whole number from {least}{to}"
        )


def check_share(what: str, value: float) -> None:
    """Raises InputError unless a value such as a level is between 0 and 1, both left
    out."""
    if not isinstance(value, float | int) or not 0 < value < 1:
        raise InputError(f"{what} is {cut(value)}", expected="a number between 0 and 1")


def number_of(what: str, value: int | str, total: int | None = None) -> int:
    """How many of `total` things a number or a share of them means, at least one.

    Raises:
        InputError: It is neither a number from 1 to the total, nor a share above 0 %
            and up to 100 %.

    Example:
        >>> number_of("inputs", 20, 100), number_of("inputs", "20%", 12)
        (20, 2)
    """
    text = str(value).replace(" ", "")
    number = 0
    if text.isdecimal():
        number = int(text)
    elif re.fullmatch(r"\d+(\.\d+)?%", text, re.ASCII):
        percent = float(text[:-1])
        if 0 < percent <= 100:
            number = max(1, round((total or 1) * percent / 100))

    if number < 1 or number > (total or number):
        most = f" to {total:,}" if total else ""
        raise InputError(
            f"{what}: {cut(repr(value))}",
            expected=f"a whole number from 1{most}, or a share up to 100%, as in 20%",
        )
    return number


def percentile_interval(samples: FloatArray, confidence: float = 0.95) -> Ends:
    """The central `confidence` of the samples by linear interpolation, NaN samples left
    out."""
    return _percentile_intervals(samples[:, None], confidence)[0]


def _percentile_intervals(samples: FloatArray, confidence: float) -> list[Ends]:
    """`percentile_interval` of each column of (k, n) samples."""
    check_share("confidence", confidence)
    quantiles = [(1 - confidence) / 2, (1 + confidence) / 2]
    # numpy's quantiles of rows that lie together take half the time.
    columns = np.ascontiguousarray(samples.T)
    failed = np.isnan(columns)
    ends = np.full((2, len(columns)), np.nan)
    whole = ~failed.any(axis=1)
    if columns.size:
        ends[:, whole] = np.quantile(columns[whole], quantiles, axis=1)
    for n in np.nonzero(~whole & ~failed.all(axis=1))[0]:
        ends[:, n] = np.quantile(columns[n][~failed[n]], quantiles)
    return [(float(low), float(high)) for low, high in ends.T]


def system_intervals(
    values: FloatArray, *, samples: int, confidence: float, seed: int
) -> list[Ends]:
    """The percentile bootstrap interval over inputs of each system's mean score.

    All systems share the drawn inputs; cells of the (N, M) scores that are NaN are left
    out.
    """
    inputs = values.shape[1]
    if inputs == 1:  # every sample is this one
        return [(value, value) for value in values[:, 0].tolist()]
    share = np.full(inputs, 1.0 / inputs)
    intervals = []

    for rows in blocks(len(values), samples):
        # Anew for each block: all systems see the same draws.
        rng = np.random.default_rng(seed)
        means = []
        for part in blocks(samples, inputs):
            drawn = rng.multinomial(inputs, share, part.stop - part.start)
            means.append(resampled_means(values[rows], drawn))
        intervals += _percentile_intervals(np.concatenate(means), confidence)

    return intervals


def by_id(names: Sequence[str]) -> list[int]:
    """The places of names in their order, which is that of all that is random or
    tied."""
    return sorted(range(len(names)), key=names.__getitem__)


def resampled_p_value(
    observed: float, samples: FloatArray, rule: PValueRule = "plus_one"
) -> float:
    """How often a statistic under the null hypothesis is as large as the observed one.

    ``plus_one`` is (c + 1) / (k + 1), c the samples at least as large: never 0, and the
    rule under which a Monte-Carlo test keeps its level (Davison & Hinkley 1997, eq.
    4.11). ``paper`` is DDR21's Algorithm 2, c / k with c the samples strictly larger.
    Differences below 1e-11 are rounding: such samples are equal to the observed one.
    """
    if np.isnan(observed):
        return float("nan")
    return float(p_values_of(*as_large(observed, samples, rule), rule))


def p_values_of(
    larger: int | IntArray, kept: int | IntArray, rule: PValueRule = "plus_one"
) -> FloatArray:
    """The p-values of `resampled_p_value` from c and k; NaN where k is 0."""
    k = np.where(np.equal(kept, 0), np.nan, kept)
    more = int(rule == "plus_one")
    return np.asarray((larger + more) / (k + more))


def as_large(observed: float, samples: FloatArray, rule: PValueRule) -> tuple[int, int]:
    """c, the samples as large as the observed value by a rule, and k, those that have a
    value."""
    kept = samples[~np.isnan(samples)]
    # Values that are equal but for rounding are ties: the paper's rule leaves them out.
    if rule == "paper":
        return int((kept > observed + _ROUNDING).sum()), kept.size
    return int((kept >= observed - _ROUNDING).sum()), kept.size


@single_threaded
def flip_tails(values: FloatArray, *, cosets: bool = False) -> FloatArray:
    """P(Σ ±|v| ≥ Σ v) of each row: the share of all 2^M ways to set the signs that
    reach its sum.

    The one-sided p-value of the sign-flip test, exact: no number of samples bounds it
    from below. Up to 24 columns every way is counted. Beyond, so are the signs of the
    six largest |v| of a row; each other one becomes a whole number a of steps, 1/64 of
    their root mean square, or where they are all multiples of some larger step, as
    ratings are, of that one, and nothing is rounded. Σ ±a has the characteristic
    function Π cos(a ω), and Fourier's sum gives P to 1e-12, which is added. Rounding
    treats both signs alike, so the test stays exact: its statistic is the rounded sum.
    Where so many sums lie near the observed one that rounding could decide, they are
    counted (`_merged_tail`). For cosets, over which a mean is taken, it is 13 columns,
    and 1/16, and nothing more.
    """
    # Else the order of inputs decides which of equal sizes are among the largest.
    values = np.sort(np.where(np.isnan(values), 0.0, values), axis=1)
    columns = values.shape[1]

    if columns <= _COUNTED[cosets]:
        size = np.abs(values)
        sums = values.sum(axis=1)
        if cosets:
            sums[:] = sums[0]
        # Sums that are equal but for rounding reach the observed one.
        bounds = (sums - 1e-12 * size.sum(axis=1)).tolist()
        return np.array([_counted_tail(*row) for row in zip(size, bounds, strict=True)])

    # The largest are counted: their size would make the others' steps too long.
    order = np.argsort(-np.abs(values), axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    large, small = np.split(values, [_LARGEST], axis=1)
    size = np.abs(small)
    steps = _steps(size, _STEPS[cosets])
    # Halves go up: which way they would go else, the last bit of a value decides.
    whole = np.floor(size / steps[:, None] + 0.5 + 1e-9)
    observed = large.sum(axis=1) + steps * (np.sign(small) * whole).sum(axis=1)
    if cosets:
        # Every coset is measured against the one observed sum, in steps of its own.
        observed[:] = observed[0]

    # What the others must reach, by the signs of the largest.
    left = observed[:, None] - np.abs(large) @ _every_sign(_LARGEST).T
    reach = np.ceil(left / steps[:, None] - 1e-6)
    reaches = reach[:, None]
    if not cosets:
        # Three standard deviations of what rounding moves a sum by.
        moved = size / steps[:, None] - whole
        off = np.ceil(3 * np.sqrt((moved**2).sum(axis=1, keepdims=True)) - 1e-3)
        reaches = np.stack([reach, reach - off, reach + off], axis=1)

    tails = np.empty(reaches.shape[:2])
    for block in blocks(len(values), 8 * _STEPS[cosets] * ceil(columns**0.5)):
        tails[block] = _lattice_tails(whole[block].astype(int), reaches[block])

    if cosets:
        return np.asarray(tails[:, 0])

    tail, most, least = tails.T
    # Small tails of smooth sums change more from step to step.
    for row in np.flatnonzero(most - least > 0.06 * least**0.9 + 1e-9):
        tail[row] = _merged_tail(values[row])
    return np.asarray(tail)


def _counted_tail(size: FloatArray, bound: float) -> float:
    """The share of all ways to set signs whose sum reaches a bound.

    Every sum is one of the left half's and one of the right half's: of these only 2^12
    each are held, and how many of the right ones suffice is looked up.
    """
    half = len(size) // 2
    left = _every_sign(half) @ size[:half]
    right = np.sort(_every_sign(len(size) - half) @ size[half:])
    reached = right.size - np.searchsorted(right, bound - left)
    return float(reached.mean() / right.size)


@cache
def _every_sign(columns: int) -> FloatArray:
    """(2^columns, columns) all ways to set signs."""
    ways = np.arange(2**columns)[:, None] >> np.arange(columns)
    return np.asarray(1 - 2 * (ways & 1), dtype=float)


def _steps(size: FloatArray, parts_of_rms: int) -> FloatArray:
    """(n,) the step to which `flip_tails` rounds each row of (n, M) absolute values."""
    number = np.maximum((size > 0).sum(axis=1), 1)
    steps = np.sqrt((size**2).sum(axis=1) / number) / parts_of_rms
    least = np.where(size > 0, size, np.inf).min(axis=1)
    least[np.isinf(least)] = 1.0
    # A common step is a half, a third … of the smallest value, or that value itself.
    for parts in range(1, 7):
        step = least / parts
        ratio = size / step[:, None]
        fits = (step >= steps) & (np.abs(ratio - np.rint(ratio)) < 1e-6).all(axis=1)
        steps = np.where(fits, step, steps)
    return np.asarray(steps)


def _merged_tail(values: FloatArray) -> float:
    """`_counted_tail` of any row, value by value, the largest first.

    Sums that reach the observed one, or fail, whatever the signs of the rest are
    settled; of others equal ones are merged, and if there are more than 2,048 near
    ones, in steps of 1/1,024 of the rest.
    """
    size = np.abs(values)
    slack = 1e-12 * size.sum()
    bound = values.sum() - slack
    rests = np.cumsum(size[::-1])[::-1] - size
    sums: FloatArray = np.zeros(1)
    share: FloatArray = np.ones(1)
    tail = 0.0

    for value, rest in zip(size.tolist(), rests.tolist(), strict=True):
        sums = np.concatenate([sums - value, sums + value])
        share = np.concatenate([share, share]) / 2
        reached = sums - rest >= bound
        tail += float(share[reached].sum())
        unsettled = ~reached & (sums + rest >= bound)
        # Two rows in order, which a stable sort merges at once.
        order = np.argsort(sums[unsettled], kind="stable")
        sums = sums[unsettled][order]
        share = share[unsettled][order]
        for width, most in ((slack, 0), (2 * rest / _SUMS, _SUMS)):
            if len(sums) > most:
                first = np.flatnonzero(np.diff(np.floor(sums / width), prepend=-np.inf))
                total = np.add.reduceat(share, first)
                sums = np.add.reduceat(share * sums, first) / total
                share = total

    return tail


def _lattice_tails(whole: IntArray, reach: FloatArray) -> FloatArray:
    """P(S ≥ reach) for S = Σ ±a, (n, M) whole numbers a: (n, r) means over the last
    axis of (n, r, k) reaches.

    S = 2m + 1 if Σ a is odd, else 2m. The inverse Fourier transform of its
    characteristic function Π cos(a ω) at ω_f = π f / length gives the probability of
    every m. Where m wraps around, beyond ±length / 2, it has less than 1e-12
    (Hoeffding); an odd length keeps cos(a ω) from 0.
    """
    rows = len(whole)
    largest = int(whole.max()) + 1
    keys = whole + np.arange(0, rows * largest, largest)[:, None]
    numbers = np.bincount(keys.ravel(), minlength=rows * largest).reshape(rows, largest)
    numbers = numbers.astype(float)
    odd = whole.sum(axis=1, keepdims=True) % 2
    length = ceil(7.6 * np.sqrt((whole * whole).sum(axis=1).max())) + 2 | 1
    half = length // 2
    spectrum = np.ones((rows, half + 1), dtype=complex)

    for part in blocks(half, max(largest, rows)):
        waves = np.pi * np.arange(part.start + 1, part.stop + 1) / length
        cosines = np.cos(np.arange(largest)[:, None] * waves)
        negative = cosines < 0
        # A product of many cosines: their logarithms add up, their signs are counted.
        sizes = numbers @ np.log(np.abs(cosines, out=cosines), out=cosines)
        signs = 1 - 2 * ((numbers @ negative) % 2)
        moved = np.where(odd, np.exp(1j * waves), 1.0)
        spectrum[:, part.start + 1 : part.stop + 1] = np.exp(sizes) * signs * moved

    # From m = half down to -half: the share of all m that are at least so large.
    mass = np.fft.fftshift(np.fft.irfft(spectrum, length), axes=1)
    above = np.cumsum(mass[:, ::-1], axis=1)
    above = np.concatenate([np.zeros((rows, 1)), above], axis=1)
    least = np.ceil((reach - odd[:, None]) / 2).astype(int)
    number = np.clip(half - least + 1, 0, length).reshape(rows, -1)
    tails = np.clip(np.take_along_axis(above, number, axis=1), 0.0, 1.0)

    return np.asarray(tails.reshape(reach.shape).mean(axis=2) + SMALLEST_TAIL)


def adjust_p_values(p: FloatArray, method: Correction) -> FloatArray:
    """P-values corrected for having made all these tests together; NaN entries are not
    tests.

    Bonferroni min(1, m p); Holm's step-down (Holm 1979); Benjamini-Hochberg's false
    discovery rate (scipy).
    """
    adjusted = np.array(p, dtype=float)
    tests = ~np.isnan(adjusted)
    kept = adjusted[tests]
    m = kept.size

    if method == "bonferroni":
        adjusted[tests] = np.minimum(1.0, m * kept)
    elif method == "holm":
        order = np.argsort(kept, kind="stable")
        # No test passes that stands behind one that does not.
        steps = np.maximum.accumulate((m - np.arange(m)) * kept[order])
        kept[order] = np.minimum(1.0, steps)
        adjusted[tests] = kept
    elif method == "benjamini-hochberg" and m:
        from scipy.stats import false_discovery_control

        adjusted[tests] = false_discovery_control(kept, method="bh")

    return adjusted


def all_pairs(count: int) -> IntArray:
    """(count (count - 1) / 2, 2) places: every two of `count`, the earlier one
    first."""
    return np.stack(np.triu_indices(count, 1), axis=1)


def mean_of_scored(values: FloatArray) -> float:
    """The mean of the values that are not NaN, the same bits in any order; NaN where
    there is none."""
    scored = values[~np.isnan(values)]
    return ordered_sum(scored) / scored.size if scored.size else float("nan")


def described(values: FloatArray) -> tuple[float, float, int]:
    """Mean, standard deviation (with n - 1) and number of the values that are not
    NaN."""
    scored = values[~np.isnan(values)]
    deviation = float(scored.std(ddof=1)) if scored.size > 1 else float("nan")
    return mean_of_scored(scored), deviation, scored.size


def system_means(values: FloatArray) -> FloatArray:
    """The mean of each row over the inputs that are scored; NaN where none is.

    Scores are summed from the smallest on: neither the order of inputs nor that of
    systems changes a bit.
    """
    return np.array([mean_of_scored(row) for row in values], dtype=float)


@dataclass(frozen=True)
class Repeats:
    """Values of systems that did each thing several times (`average_repeats`).

    Attributes:
        systems: N names, in order.
        means: (N, M) mean over the repeats that have a value; NaN where none has.
        spread: (N,) standard deviation of a single repeat around the mean of its input,
            pooled over inputs; NaN where no input has two.
        most: (N,) how many repeats there are of the input that has most.
    """

    systems: Names
    means: FloatArray
    spread: FloatArray
    most: IntArray


def average_repeats(values: FloatArray, systems: Sequence[str]) -> Repeats:
    r"""Averages the repeats of a system on each input, so that these count once.

    Repeats of an input are no inputs of their own: they vary less, and a test over them
    would find differences that are none. The spread of a system is

    .. math:: s = \sqrt{\sum_{m,r} (x_{mr} - \bar x_m)^2 \Big/ \sum_m (R_m - 1)}

    over its inputs m and their :math:`R_m` repeats r.

    Args:
        values: (R, M) values of R runs on M inputs, or units; NaN where there is none.
        systems: (R,) the system that each run is a repeat of.

    Example:
        >>> average_repeats(np.array([[0.0, 1.0], [1.0, 1.0]]), ["a", "a"]).means
        array([[0.5, 1. ]])
    """
    names = tuple(sorted({*systems}))
    means = np.full((len(names), values.shape[1]), np.nan)
    spread = np.full(len(names), np.nan)
    most = np.zeros(len(names), dtype=np.int64)

    for n, name in enumerate(names):
        # Sorted, the sum has the same bits however the repeats are numbered.
        own = values[[r for r, system in enumerate(systems) if system == name]]
        own = np.sort(own, axis=0)
        scored = ~np.isnan(own)
        repeats = scored.sum(axis=0)
        with undefined():
            means[n] = np.where(scored, own, 0.0).sum(axis=0) / repeats
            apart = np.where(scored, own - means[n], 0.0)
            spread[n] = np.sqrt((apart**2).sum() / np.maximum(repeats - 1, 0).sum())
        most[n] = repeats.max(initial=0)
    return Repeats(names, means, spread, most)


def ordered_sum(values: FloatArray) -> float:
    """The sum of some numbers, from the smallest on: the same bits in any order."""
    return float(np.sort(values).sum())


def t_reach(confidence: float, freedom: float | FloatArray) -> Any:
    """How many standard errors a two-sided interval reaches on each side, by Student's
    t; an array for several degrees of freedom."""
    from scipy.special import stdtrit

    reach = stdtrit(freedom, 0.5 + confidence / 2)
    return reach if np.ndim(freedom) else float(reach)


def unseen_share(confidence: float, count: Any) -> Any:
    """What share of all may be otherwise if none of `count` is: the exact form of the
    rule of three."""
    return 1 - (1 - confidence) ** (1 / count)


def t_p_values(t: FloatArray, freedom: FloatArray) -> FloatArray:
    """Two-sided p-values of Student's t."""
    from scipy.special import stdtr

    return 2 * stdtr(freedom, -np.abs(t))


def sums_by(
    groups: IntArray, values: FloatArray | BoolArray, count: int = 0
) -> FloatArray:
    """Sums of values by their group's number, of at least `count` groups."""
    return np.bincount(groups, values, minlength=count).astype(float)
