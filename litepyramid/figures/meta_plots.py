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

_NAMES = 7  # size of metrics' names beside a matrix
_BANDS = 4  # lines up to which bands of deviations can still be distinguished
_NAMED = 2 * len(COLOURS)  # curves up to which a legend names each


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
    figure, axes = panels(
        number,
        number,
        3.6 + 2.0 / number,
        height,
        sharey=True,
    )

    step = 0.8 / len(groups)
    for axis, (xlabel, intervals) in zip(axes, marks.items(), strict=True):
        _zero_line(axis, intervals)

        for mark in intervals:
            at = groups.index(mark.group)
            # The groups of a line stand below one another, around its middle.
            y = lines.index(mark.line) + (at - (len(groups) - 1) / 2) * step
            _one_interval(
                axis,
                mark,
                y,
                step,
                COLOURS[at % len(COLOURS)],
            )

        axis.set_ylim(len(lines) - 0.4, -0.6)
        axis.set_xlabel(xlabel, fontsize=9)
        axis.tick_params(labelsize=8.5)

    axes[0].set_yticks(range(len(lines)), lines)
    for at, group in enumerate(groups):
        colour = COLOURS[at % len(COLOURS)]
        axes[0].plot(
            [],
            [],
            "o-",
            color=colour,
            label=group,
            markersize=4,
        )

    legend_below(figure, axes[0])
    title(figure, heading)
    return figure


def rank_plot(
    marks: Sequence[IntervalMark],
    ranks: Sequence[int | None],
    xlabel: str,
    heading: str,
) -> Any:
    """An interval a line, best first; lines of one rank stand on one ground, with its
    number on the right."""
    figure, (axes,) = panels(1, 1, 5.6, 1.1 + 0.26 * len(marks))
    _zero_line(axes, marks)
    for y, mark in enumerate(marks):
        _one_interval(axes, mark, y, 1.0, BLUE)

    for number, rank in enumerate(dict.fromkeys(ranks)):
        lines = [y for y, one in enumerate(ranks) if one == rank]
        if number % 2 == 0:
            axes.axhspan(
                lines[0] - 0.5,
                lines[-1] + 0.5,
                color="0.95",
                linewidth=0,
                zorder=0,
            )
        axes.text(
            1.01,
            (lines[0] + lines[-1]) / 2,
            "no rank" if rank is None else f"rank {rank}",
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=8.5,
        )

    axes.set_ylim(len(marks) - 0.5, -0.5)
    axes.set_yticks(range(len(marks)), [mark.line for mark in marks])
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(xlabel, fontsize=9)
    axes.tick_params(labelsize=8.5)
    title(figure, heading)
    return figure


def _zero_line(axes: Any, intervals: Sequence[IntervalMark]) -> None:
    """Draws 0 where it is near: far from all intervals it would squeeze them."""
    ends = []
    for mark in intervals:
        ends += [end for end in (mark.low, mark.high) if not isnan(end)]

    if not ends or min(ends) <= 0.3 * max(ends):
        axes.axvline(0, color="0.5", linewidth=0.8)


def _one_interval(
    axes: Any, mark: IntervalMark, y: float, step: float, colour: str
) -> None:
    """A dot, a line, and behind them how the samples are spread."""
    samples = np.asarray(mark.samples, dtype=np.float64)
    samples = samples[~np.isnan(samples)]
    # A histogram of one value would be a bar of no width.
    if samples.size and np.ptp(samples) > 1e-9:
        counts, edges = np.histogram(samples, bins=40)
        half = counts / counts.max() * step * 0.45
        middle = (edges[:-1] + edges[1:]) / 2
        axes.fill_between(
            middle,
            y - half,
            y + half,
            color=colour,
            alpha=0.22,
            linewidth=0,
        )

    axes.plot(
        [mark.low, mark.high],
        [y, y],
        color=colour,
        linewidth=1.6,
        solid_capstyle="butt",
    )
    axes.plot(
        [mark.value],
        [y],
        "o",
        color=colour,
        markersize=4,
    )


def significance_plot(
    tests: Mapping[str, tuple[Any, Any]],
    names: Sequence[str],
    across: int,
    heading: str,
    blue: str,
    framed: str = "",
) -> Any:
    """A panel for each key: (K, K) significant tests, blue; corrected ones (or None)
    framed. `blue` and `framed` say in the legend what these squares mean."""
    size = 1.0 + max(1.4, 0.2 * len(names)) + max(map(len, names)) / 18
    figure, axes = panels(
        len(tests),
        across,
        size,
        size,
        "compressed",
        sharex=True,
        sharey=True,
    )
    for axis, (name, (raw, corrected)) in zip(axes, tests.items(), strict=True):
        _matrix(axis, names, raw, corrected)
        axis.set_title(name, fontsize=9)

    # Nothing is drawn by these: they are the squares of the legend.
    axes[0].plot(
        [],
        [],
        "s",
        color=BLUE,
        label=blue,
    )
    if framed:
        axes[0].plot(
            [],
            [],
            "s",
            mfc="none",
            mec=YELLOW,
            mew=1.3,
            label=framed,
        )

    legend_below(figure, axes[0], _NAMES)
    title(figure, heading)
    return figure


def _matrix(axes: Any, names: Sequence[str], raw: Any, corrected: Any) -> None:
    """The squares of one panel."""
    count = len(names)
    axes.set(
        xlim=(-0.5, count - 0.5),
        ylim=(count - 0.5, -0.5),
        aspect="equal",
    )

    _squares(
        axes,
        np.eye(count),
        1,
        color="0.85",
        linewidth=0,
    )
    _squares(
        axes,
        raw,
        1,
        color=BLUE,
        linewidth=0,
    )
    if corrected is not None:
        _squares(
            axes,
            corrected,
            0.76,
            fill=False,
            edgecolor=YELLOW,
            lw=1.3,
        )

    if not np.any(raw):
        look = {
            "facecolor": "white",
            "edgecolor": "0.7",
            "boxstyle": "round",
        }
        axes.text(
            0.5,
            0.5,
            "no significant\ndifference",
            transform=axes.transAxes,
            ha="center",
            va="center",
            fontsize=9,
            color="0.25",
            bbox=look,
        )

    axes.set_xticks(
        range(count),
        names,
        rotation=90,
        fontsize=_NAMES,
    )
    axes.set_yticks(range(count), names, fontsize=_NAMES)
    # The grid runs between the squares, not through them.
    axes.grid(visible=False)
    axes.set_xticks(np.arange(count + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(count + 1) - 0.5, minor=True)
    axes.grid(
        which="minor",
        color="0.9",
        linewidth=0.5,
    )

    axes.tick_params(which="both", length=0)


def _squares(axes: Any, flags: Any, side: float, **look: Any) -> None:
    """A square of that side in each cell that is flagged."""
    from matplotlib.patches import Rectangle

    for row, column in zip(*np.nonzero(flags), strict=True):
        corner = (column - side / 2, row - side / 2)
        axes.add_patch(Rectangle(corner, side, side, **look))


def line_plot(
    lines: Sequence[Line], xlabel: str, ylabel: str, level: float = 0.0
) -> Any:
    """Curves in one panel, with a line at a level."""
    figure, (axes,) = panels(1, 1, 6.0, 3.8)
    axes.axhline(
        level,
        color="0.5",
        linewidth=0.9,
        linestyle=":",
    )
    _draw_lines(axes, lines, xlabel, ylabel)
    legend_below(figure, axes)
    return figure


def line_panels(blocks: Sequence[tuple[Sequence[Line], str, str]], many: str) -> Any:
    """Panels side by side: curves, and the names of both axes.

    More curves than a legend could name are grey; `many` says what they are.
    """
    figure, axes = panels(len(blocks), len(blocks), 4.8, 3.8)
    for axis, (lines, xlabel, ylabel) in zip(axes, blocks, strict=True):
        if len(lines) <= _NAMED:
            _draw_lines(axis, lines, xlabel, ylabel)
        else:
            _draw_median(axis, lines, many)
            _name_axes(axis, lines, xlabel, ylabel)
    legend_below(figure, axes[0])
    return figure


def _draw_median(axes: Any, lines: Sequence[Line], many: str) -> None:
    """All curves in grey, and where they have points in common their median."""
    by_x: dict[float, list[float]] = {}
    for number, line in enumerate(lines):
        name = f"{many} ({len(lines)})" if number == 0 else None
        axes.plot(line.x, line.y, color="0.72", linewidth=0.6, label=name)
        for x, y in zip(line.x, line.y, strict=True):
            by_x.setdefault(float(x), []).append(float(y))

    shared = {x: y for x, y in sorted(by_x.items()) if 2 * len(y) > len(lines)}
    if shared:
        medians = [np.median(y) for y in shared.values()]
        axes.plot([*shared], medians, "o-", color=BLUE, markersize=3.5, label="median")


def _draw_lines(axes: Any, lines: Sequence[Line], xlabel: str, ylabel: str) -> None:
    """Curves, with bands of deviations where they are few enough to tell apart."""
    # Of many bands nobody sees which belongs to which curve.
    banded = len(lines) <= _BANDS
    for i, line in enumerate(lines):
        colour = COLOURS[i % len(COLOURS)]
        axes.plot(
            line.x,
            line.y,
            style(i),
            color=colour,
            markersize=3.5,
            label=line.name,
        )

        if len(line.deviation) and banded:
            y = np.asarray(line.y)
            deviation = np.nan_to_num(np.asarray(line.deviation))
            # They are of shares, which are neither below 0 nor above 1.
            low = np.maximum(0, y - deviation)
            high = np.minimum(1, y + deviation)
            axes.fill_between(
                line.x,
                low,
                high,
                color=colour,
                alpha=0.13,
                linewidth=0,
            )

    _name_axes(axes, lines, xlabel, ylabel)


def _name_axes(axes: Any, lines: Sequence[Line], xlabel: str, ylabel: str) -> None:
    _x_scale(axes, lines)
    axes.set_xlabel(xlabel, fontsize=9)
    axes.set_ylabel(ylabel, fontsize=9)
    axes.tick_params(labelsize=8.5)


def _x_scale(axes: Any, lines: Sequence[Line]) -> None:
    """A logarithmic scale for numbers that span a lot, whole ticks for whole
    numbers."""
    from matplotlib.ticker import MaxNLocator

    x = np.concatenate([np.asarray(line.x, dtype=np.float64) for line in lines])
    if not x.size:
        return
    # Numbers of inputs: on an even scale the small ones would be one dot.
    if x.min() > 0 and x.max() > 20 * x.min() and x.max() > 1000:
        axes.set_xscale("log")
    elif np.all(x == np.round(x)):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
