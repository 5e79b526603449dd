"""Figures of meta-evaluation: intervals, tests of pairs, and curves."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from litepyramid.figures.drawing import (
    BLUE,
    COLOURS,
    YELLOW,
    legend_below,
    panels,
    style,
    title,
)
from litepyramid.types import FloatArray

_BANDS = 4  # lines up to which bands of deviations can still be distinguished


class IntervalMark(NamedTuple):
    """One interval: whose line it stands on, what its colour means, ends, and samples
    if any."""

    line: str
    group: str
    value: float
    low: float
    high: float
    samples: Any = ()


class Line(NamedTuple):
    """One curve: its name, points, and a deviation on either side."""

    name: str
    x: Sequence[float] | FloatArray
    y: Sequence[float] | FloatArray
    deviation: Sequence[float] = ()


def interval_plot(
    marks: Mapping[str, Sequence[IntervalMark]],
    lines: Sequence[str],
    groups: Sequence[str],
    heading: str,
) -> Any:
    """Intervals line by line, a colour per group, a panel for each key of `marks`."""
    number = len(marks)
    height = 1.3 + 0.32 * len(lines)
    figure, axes = panels(number, number, 3.6 + 2.0 / number, height, sharey=True)
    step = 0.8 / len(groups)
    for axis, (xlabel, own) in zip(axes, marks.items(), strict=True):
        ends = [end for mark in own for end in (mark.low, mark.high) if not isnan(end)]
        if not ends or min(ends) <= 0.3 * max(ends):
            axis.axvline(0, color="0.5", linewidth=0.8)
        for mark in own:
            at = groups.index(mark.group)
            y = lines.index(mark.line) + (at - (len(groups) - 1) / 2) * step
            _one_interval(axis, mark, y, step, COLOURS[at % len(COLOURS)])
        axis.set_ylim(len(lines) - 0.4, -0.6)
        axis.set_xlabel(xlabel, fontsize=9)
        axis.tick_params(labelsize=8.5)
    axes[0].set_yticks(range(len(lines)), lines)
    for at, group in enumerate(groups):
        axes[0].plot(
            [], [], "o-", color=COLOURS[at % len(COLOURS)], label=group, markersize=4
        )
    legend_below(figure, axes[0])
    title(figure, heading)
    return figure


def _one_interval(
    axes: Any, mark: IntervalMark, y: float, step: float, colour: str
) -> None:
    samples = np.asarray(mark.samples, dtype=np.float64)
    samples = samples[~np.isnan(samples)]
    if samples.size and np.ptp(samples) > 1e-9:
        counts, edges = np.histogram(samples, bins=40)
        half = counts / counts.max() * step * 0.45
        middle = (edges[:-1] + edges[1:]) / 2
        axes.fill_between(
            middle, y - half, y + half, color=colour, alpha=0.22, linewidth=0
        )
    axes.plot(
        [mark.low, mark.high],
        [y, y],
        color=colour,
        linewidth=1.6,
        solid_capstyle="butt",
    )
    axes.plot([mark.value], [y], "o", color=colour, markersize=4)


def significance_plot(
    tests: Mapping[str, tuple[Any, Any]],
    names: Sequence[str],
    across: int,
    *headings: str,
) -> Any:
    """A panel for each key: (K, K) significant tests, blue; corrected ones (or None)
    framed."""
    size = 1.0 + max(1.4, 0.2 * len(names)) + max(map(len, names)) / 18
    figure, axes = panels(
        len(tests), across, size, size, "compressed", sharex=True, sharey=True
    )
    for axis, (name, (raw, corrected)) in zip(axes, tests.items(), strict=True):
        _matrix(axis, names, raw, corrected)
        axis.set_title(name, fontsize=9)
    title(figure, *headings)
    return figure


def _matrix(axes: Any, names: Sequence[str], raw: Any, corrected: Any) -> None:
    from matplotlib.patches import Rectangle

    count = len(names)
    axes.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5), aspect="equal")
    looks: list[tuple[Any, float, dict[str, Any]]] = [
        (np.eye(count), 1, {"color": "0.85", "linewidth": 0}),
        (raw, 1, {"color": BLUE, "linewidth": 0}),
        (corrected, 0.76, {"fill": False, "edgecolor": YELLOW, "lw": 1.3}),
    ]
    for flags, side, look in looks[: 2 if corrected is None else 3]:
        for i, j in zip(*np.nonzero(flags), strict=True):
            axes.add_patch(Rectangle((j - side / 2, i - side / 2), side, side, **look))
    if not np.any(raw):
        axes.text(
            0.5, 0.5, "no significant\ndifference", transform=axes.transAxes, ha="center",
            va="center", fontsize=9, color="0.25",
            bbox={"facecolor": "white", "edgecolor": "0.7", "boxstyle": "round"},
        )  # fmt: skip
    axes.set_xticks(range(count), names, rotation=90, fontsize=7)
    axes.set_yticks(range(count), names, fontsize=7)
    axes.grid(visible=False)
    for ticks in (axes.set_xticks, axes.set_yticks):
        ticks(np.arange(count + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="0.9", linewidth=0.5)
    axes.tick_params(which="both", length=0)


def line_plot(
    lines: Sequence[Line], xlabel: str, ylabel: str, level: float = 0.0
) -> Any:
    """Curves in one panel, with a line at a level."""
    figure, (axes,) = panels(1, 1, 6.0, 3.8)
    axes.axhline(level, color="0.5", linewidth=0.9, linestyle=":")
    _draw_lines(axes, lines, xlabel, ylabel)
    legend_below(figure, axes)
    return figure


def line_panels(blocks: Sequence[tuple[Sequence[Line], str, str]]) -> Any:
    """Panels side by side: curves, and the names of both axes."""
    figure, axes = panels(len(blocks), len(blocks), 4.8, 3.8)
    for axis, block in zip(axes, blocks, strict=True):
        _draw_lines(axis, *block)
    if len(blocks[0][0]) <= 2 * len(COLOURS):
        legend_below(figure, axes[0])
    return figure


def _draw_lines(axes: Any, lines: Sequence[Line], xlabel: str, ylabel: str) -> None:
    from matplotlib.ticker import MaxNLocator

    for i, line in enumerate(lines):
        colour = COLOURS[i % len(COLOURS)]
        axes.plot(
            line.x, line.y, style(i), color=colour, markersize=3.5, label=line.name
        )
        if len(line.deviation) and len(lines) <= _BANDS:
            y, deviation = np.asarray(line.y), np.nan_to_num(np.asarray(line.deviation))
            low, high = y - deviation, np.minimum(1, y + deviation)
            axes.fill_between(line.x, low, high, color=colour, alpha=0.13, linewidth=0)
    x = np.array([value for line in lines for value in line.x], dtype=np.float64)
    if x.size and x.min() > 0 and x.max() > 20 * x.min() and x.max() > 1000:
        axes.set_xscale("log")
    elif x.size and np.all(x == np.round(x)):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(xlabel, fontsize=9)
    axes.set_ylabel(ylabel, fontsize=9)
    axes.tick_params(labelsize=8.5)
