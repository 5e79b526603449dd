"""The figures of DDR21: confidence intervals (Fig. 4) and which differences hold (Fig. 5, 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litepyramid.meta.correlations import SYMBOLS
from litepyramid.report.figure import COLOURS, new_figure, plain_axes

if TYPE_CHECKING:
    from litepyramid.meta.comparisons import ComparisonResult, LevelComparison
    from litepyramid.meta.intervals import Interval, IntervalResult

_LEVEL_COLOURS = {"summary": COLOURS[0], "system": COLOURS[1], "global": COLOURS[2]}


def interval_figure(result: IntervalResult) -> Any:
    """A line a metric, a colour a level, a panel a coefficient; behind them the samples."""
    coefficients = list(dict.fromkeys(i.coefficient for i in result.intervals))
    metrics = list(dict.fromkeys(i.metric for i in result.intervals))
    levels = list(dict.fromkeys(i.level for i in result.intervals))
    figure = new_figure(2.0 + 3.6 * len(coefficients), 1.4 + 0.32 * len(metrics))
    panels = figure.subplots(1, len(coefficients), squeeze=False, sharey=True)[0]
    step = 0.8 / len(levels)
    for axes, coefficient in zip(panels, coefficients, strict=True):
        plain_axes(axes)
        axes.axvline(0, color="0.5", linewidth=0.8)
        for found in result.intervals:
            if found.coefficient == coefficient:
                offset = (levels.index(found.level) - (len(levels) - 1) / 2) * step
                _one_interval(axes, found, metrics.index(found.metric) + offset, step)
        axes.set_xlabel(f"{coefficient} ({SYMBOLS[coefficient]})")
        axes.set_ylim(len(metrics) - 0.4, -0.6)
    panels[0].set_yticks(range(len(metrics)), metrics, fontsize=8.5)
    for level in levels:
        panels[-1].plot([], [], "o-", color=_LEVEL_COLOURS[level], label=f"{level} level")
    figure.legend(loc="outside upper right", ncols=len(levels), frameon=False, fontsize=8.5)
    percent = f"{100 * result.confidence:g} % {result.method.upper()}"
    figure.suptitle(
        f"Correlation with {result.intervals[0].against}, {percent}",
        fontsize=9.5,
        x=0.01,
        ha="left",
    )
    return figure


def _one_interval(axes: Any, found: Interval, y: float, step: float) -> None:
    colour = _LEVEL_COLOURS[found.level]
    samples = found.samples[~np.isnan(found.samples)]
    if samples.size:
        counts, edges = np.histogram(samples, bins=40)
        middle = (edges[:-1] + edges[1:]) / 2
        half = counts / counts.max() * step * 0.45
        axes.fill_between(middle, y - half, y + half, color=colour, alpha=0.22, linewidth=0)
    axes.plot([found.low, found.high], [y, y], color=colour, linewidth=1.6, solid_capstyle="butt")
    axes.plot([found.value], [y], "o", color=colour, markersize=4)


def significance_figure(result: ComparisonResult) -> Any:
    """A blue square: the row's metric is better than the column's; an orange frame: corrected too.

    A row of panels a coefficient, a column a level; the metrics in the same order everywhere, by
    their correlation in the first panel.
    """
    levels = list(dict.fromkeys(c.level for c in result.comparisons))
    coefficients = list(dict.fromkeys(c.coefficient for c in result.comparisons))
    order = np.argsort(-np.nan_to_num(result.comparisons[0].correlations, nan=-2), kind="stable")
    size = 1.2 + 0.2 * len(result.metrics)
    figure = new_figure(1.4 + size * len(levels), 1.7 + size * len(coefficients))
    panels = figure.subplots(
        len(coefficients), len(levels), squeeze=False, sharex=True, sharey=True
    )
    for comparison in result.comparisons:
        row, column = coefficients.index(comparison.coefficient), levels.index(comparison.level)
        _matrix(panels[row][column], comparison, result, order)
    sign = "better than" if result.alternative == "greater" else "different from"
    within = "row" if result.grouping == "metric" else "panel"
    text = f"blue: row {sign} column, p ≤ {result.alpha:g}"
    if result.correction != "none":
        text += f"; orange frame: also with {result.correction} over each {within}"
    method = f"{result.method.upper()}, correlation with {result.against}"
    figure.suptitle(f"{method}\n{text}", fontsize=9, x=0.01, ha="left")
    return figure


def _matrix(axes: Any, c: LevelComparison, result: ComparisonResult, order: Any) -> None:
    from matplotlib.patches import Rectangle

    raw = (c.p_values <= result.alpha)[np.ix_(order, order)]
    corrected = (c.corrected <= result.alpha)[np.ix_(order, order)] & (result.correction != "none")
    count = len(order)
    for i in range(count):
        axes.add_patch(Rectangle((i - 0.5, i - 0.5), 1, 1, color="0.85", linewidth=0))
    for i, j in zip(*np.nonzero(raw), strict=True):
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, color=COLOURS[0], linewidth=0))
    for i, j in zip(*np.nonzero(corrected), strict=True):
        axes.add_patch(
            Rectangle(
                (j - 0.38, i - 0.38), 0.76, 0.76, fill=False, edgecolor=COLOURS[4], linewidth=1.3
            )
        )
    names = [result.metrics[i] for i in order]
    axes.set_xlim(-0.5, count - 0.5)
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_xticks(range(count), names, rotation=90, fontsize=7)
    axes.set_yticks(range(count), names, fontsize=7)
    axes.set_xticks(np.arange(count + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(count + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", length=0)
    axes.set_title(f"{c.level} level, {c.coefficient}", fontsize=9)
