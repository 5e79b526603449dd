"""Figures of correlations: the budget curve (ZB21), intervals, tests and simulations (DDR21)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from litepyramid.figures.base import (
    BLUE,
    COLOURS,
    GREEN,
    ORANGE,
    YELLOW,
    legend_below,
    panels,
    title,
)
from litepyramid.meta.core.coefficients import best_first
from litepyramid.meta.correlations import SYMBOLS
from litepyramid.meta.intervals import method_name
from litepyramid.meta.system_level.sign_agreement import wilson_interval

if TYPE_CHECKING:
    from litepyramid.easiness.curve import CurveResult
    from litepyramid.meta.comparisons import ComparisonResult, LevelComparison
    from litepyramid.meta.intervals import Interval, IntervalResult
    from litepyramid.meta.simulate.interval_coverage import CoverageResult
    from litepyramid.meta.simulate.test_power import PowerResult

_LEVELS = {"summary": BLUE, "system": ORANGE, "global": GREEN}
_WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "easiness": ("predicted easiness", {"color": BLUE, "marker": "o", "linewidth": 2.0}),
    "random": ("random", {"color": YELLOW, "marker": "d", "linestyle": "--"}),
    "reversed": ("reversed", {"color": ORANGE, "marker": "v", "linestyle": ":"}),
    "gold": ("gold easiness", {"color": GREEN, "marker": "s", "linestyle": "-."}),
}


def curve_figure(result: CurveResult) -> Any:
    """Share of STUs across, correlation with the human score up (ZB21 Fig. 2, 4).

    One panel per level and coefficient. The grey band is the sampling interval of the first line:
    how much the correlation would vary with other systems and inputs. The random line is the mean
    over its rankings with a band of one standard deviation, a bar if there is one share.
    """
    figure, axes = panels(len(result.panels), 2, 4.6, 3.2)
    for axis, (level, coefficient) in zip(axes, result.panels, strict=True):
        for by in result.ways:
            line = result.line(by, level, coefficient)
            x = [100 * p.share for p in line]
            label, look = _WAYS[by]
            if by == "random":
                label = f"random, mean ± sd of {result.seeds}"
                ends = ([p.value + sign * p.sd for p in line] for sign in (-1, 1))
                _band(axis, x, *ends, color=YELLOW, alpha=0.22)
            elif by == next((way for way in result.ways if way != "random"), None):
                low, high = zip(*(p.interval for p in line), strict=True)
                named = f"{100 * result.confidence:g} % sampling interval (BOOT-BOTH)"
                _band(axis, x, low, high, color="0.5", alpha=0.16, label=named)
            axis.plot(x, [p.value for p in line], label=label, markersize=4, **look)
        axis.set_title(f"{level.capitalize()} level", fontsize=10)
        axis.set(xlabel="sentences that carry STUs (%)", xlim=(0, 100))
        said = f"{coefficient.capitalize()} {SYMBOLS[coefficient]} with the human score"
        axis.set_ylabel(said, fontsize=9)
    legend_below(figure, axes[0])
    return figure


def _band(axes: Any, x: Any, low: Any, high: Any, **look: Any) -> None:
    """Between two lines; a bar where there is one point: a band over it has no width."""
    if len(x) > 1:
        axes.fill_between(x, low, high, linewidth=0, **look)
    else:
        axes.vlines(x, low, high, linewidth=6, **look)


def interval_figure(result: IntervalResult) -> Any:
    """One line per metric, best first; a colour per level, a panel per coefficient (DDR21 Fig. 4).

    Behind each line the samples that it was made from.
    """
    coefficients = list(dict.fromkeys(i.coefficient for i in result.intervals))
    levels = list(dict.fromkeys(i.level for i in result.intervals))
    first = [
        i for i in result.intervals if (i.coefficient, i.level) == (coefficients[0], levels[0])
    ]
    metrics = [first[n].metric for n in best_first([i.value for i in first])]
    number = len(coefficients)
    height = 1.2 + 0.32 * len(metrics)
    figure, axes = panels(number, number, 3.6 + 2.0 / number, height, sharey=True)
    step = 0.8 / len(levels)
    for axis, coefficient in zip(axes, coefficients, strict=True):
        axis.axvline(0, color="0.5", linewidth=0.8)
        for found in result.intervals:
            if found.coefficient == coefficient:
                offset = (levels.index(found.level) - (len(levels) - 1) / 2) * step
                _one_interval(axis, found, metrics.index(found.metric) + offset, step)
        xlabel = f"{coefficient} ({SYMBOLS[coefficient]})"
        axis.set(xlabel=xlabel, ylim=(len(metrics) - 0.4, -0.6))
    axes[0].set_yticks(range(len(metrics)), metrics, fontsize=8.5)
    for level in levels:
        axes[0].plot([], [], "o-", color=_LEVELS[level], label=f"{level} level")
    legend_below(figure, axes[0])
    percent = f"{100 * result.confidence:g} % {result.method.upper()}"
    title(figure, f"Correlation with {result.intervals[0].human}, {percent}")
    return figure


def _one_interval(axes: Any, found: Interval, y: float, step: float) -> None:
    colour = _LEVELS[found.level]
    drawn = found.drawn[~np.isnan(found.drawn)]
    if drawn.size and np.ptp(drawn) > 1e-9:
        counts, edges = np.histogram(drawn, bins=40)
        half = counts / counts.max() * step * 0.45
        middle = (edges[:-1] + edges[1:]) / 2
        axes.fill_between(middle, y - half, y + half, color=colour, alpha=0.22, linewidth=0)
    axes.plot([found.low, found.high], [y, y], color=colour, linewidth=1.6, solid_capstyle="butt")
    axes.plot([found.value], [y], "o", color=colour, markersize=4)


def significance_figure(result: ComparisonResult) -> Any:
    """A blue square: the row's metric is better than the column's; an orange frame: corrected too.

    A row of panels per coefficient, a column per level; the metrics in the same order everywhere,
    by their correlation in the first panel (DDR21 Fig. 5, 6).
    """
    levels = list(dict.fromkeys(c.level for c in result.comparisons))
    order = best_first(result.comparisons[0].correlations)
    size = 1.0 + max(1.4, 0.2 * len(result.metrics)) + max(map(len, result.metrics)) / 18
    figure, axes = panels(
        len(result.comparisons), len(levels), size, size, "compressed", sharex=True, sharey=True
    )
    for axis, comparison in zip(axes, result.comparisons, strict=True):
        _matrix(axis, comparison, result, order)
    sign = "better than" if result.alternative == "greater" else "different from"
    text = f"blue: row {sign} column, p ≤ {result.alpha:g}"
    if result.correction != "none":
        within = "row" if result.grouping == "metric" else "panel"
        text += f"; orange frame: also with {result.correction} over each {within}"
    title(figure, f"{result.method.upper()}, correlation with {result.human}", text)
    return figure


def _matrix(axes: Any, c: LevelComparison, result: ComparisonResult, order: Any) -> None:
    from matplotlib.patches import Rectangle

    raw = (c.p_values <= result.alpha)[np.ix_(order, order)]
    corrected = (c.corrected <= result.alpha)[np.ix_(order, order)] & (result.correction != "none")
    count = len(order)
    names = [result.metrics[i] for i in order]
    axes.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5), aspect="equal")
    marks: tuple[tuple[Any, float, dict[str, Any]], ...] = (
        (np.eye(count), 1, {"color": "0.85", "linewidth": 0}),
        (raw, 1, {"color": BLUE, "linewidth": 0}),
        (corrected, 0.76, {"fill": False, "edgecolor": YELLOW, "lw": 1.3}),
    )
    for flags, side, look in marks:
        for i, j in zip(*np.nonzero(flags), strict=True):
            axes.add_patch(Rectangle((j - side / 2, i - side / 2), side, side, **look))
    axes.set_xticks(range(count), names, rotation=90, fontsize=7)
    axes.set_yticks(range(count), names, fontsize=7)
    axes.grid(visible=False)
    for ticks in (axes.set_xticks, axes.set_yticks):
        ticks(np.arange(count + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="0.9", linewidth=0.5)
    axes.tick_params(which="both", length=0)
    axes.set_title(f"{c.level} level, {c.coefficient}", fontsize=9)


def coverage_figure(result: CoverageResult) -> Any:
    """A point a method with Wilson's interval, and what coverage should be (DDR21 Table 1)."""
    kinds = list(dict.fromkeys((r.metric, r.level) for r in result.rows))
    methods = list(dict.fromkeys(r.method for r in result.rows))
    across = len({level for _, level in kinds})
    height = 1.1 + 0.35 * len(methods)
    figure, axes = panels(len(kinds), across, 4.2, height, sharex=True, sharey=True)
    for axis, (metric, level) in zip(axes, kinds, strict=True):
        axis.axvline(result.confidence, color="black", linewidth=1)
        for r in result.rows:
            if (r.metric, r.level) == (metric, level) and r.trials:
                y = methods.index(r.method)
                look = {"color": COLOURS[y % len(COLOURS)], "mfc": "auto" if r.best else "white"}
                ends = _wilson([r.coverage], [r.trials])
                axis.errorbar([r.coverage], [y], xerr=ends, fmt="o", capsize=3, **look)
                axis.annotate(
                    f"{r.coverage:.2f}", (r.coverage, y), xytext=(0, 6),
                    textcoords="offset points", ha="center", fontsize=8,
                )  # fmt: skip
        axis.set_title(f"{metric}, {level} level", fontsize=10)
        axis.set_ylim(len(methods) - 0.5, -0.7)
        axis.set_yticks(range(len(methods)), [method_name(m) for m in methods])
    axes[0].set_xlim(None, 1.02)
    for axis in axes[-across:]:
        axis.set_xlabel("share of intervals that contain the other half's r", fontsize=9)
    said = "With Wilson's 95 % interval over trials; filled: nearest to the line, significantly"
    title(figure, said)
    return figure


def _wilson(shares: Sequence[float], trials: Sequence[int]) -> Any:
    """How far Wilson's intervals reach below and above shares: they end at 0 and 1."""
    ends = [wilson_interval(round(p * n), n, 0.95) for p, n in zip(shares, trials, strict=True)]
    return np.abs(np.reshape(ends, (-1, 2)).T - shares)


def power_figure(result: PowerResult) -> Any:
    """Power against the amount, one line per test, one panel per level (DDR21 Fig. 3)."""
    levels = list(dict.fromkeys(r.level for r in result.rows))
    methods = list(dict.fromkeys(r.method for r in result.rows))
    figure, axes = panels(len(levels), len(levels), 4.4, 3.9, sharey=True)
    for axis, level in zip(axes, levels, strict=True):
        for i, method in enumerate(methods):
            kept = [r for r in result.rows if (r.level, r.method) == (level, method) and r.trials]
            power = [r.power for r in kept]
            axis.errorbar(
                [100 * r.amount if result.kind == "words" else r.amount for r in kept],
                power,
                yerr=_wilson(power, [r.trials for r in kept]),
                fmt="-" + "os^Dv<>"[i % 7],
                markersize=5,
                capsize=2,
                color=COLOURS[i % len(COLOURS)],
                label=method_name(method),
            )
        axis.set_xlabel("k, % of the words that the worse metric sees")
        if result.kind == "noise":
            axis.set_xscale("log", base=2)
            amounts = sorted({r.amount for r in result.rows})
            axis.set_xticks(amounts, [f"{a:g}" for a in amounts])
            axis.set_xlabel("noise, in standard deviations of the scores")
        axis.set_title(f"{level} level", fontsize=11)
    axes[0].set(ylim=(-0.03, 1.03), ylabel=f"power at α = {result.settings.alpha:g}")
    legend_below(figure, axes[0])
    title(figure, "With Wilson's 95 % interval over trials")
    return figure
