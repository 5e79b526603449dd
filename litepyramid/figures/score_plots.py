"""Figures for a column of a paper: systems, their differences, a judge's calibration,
power."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from litepyramid.figures.drawing import (
    BLUE,
    GREEN,
    ORANGE,
    legend_below,
    new_figure,
    panels,
    plain_axes,
)
from litepyramid.text import cut

Point = tuple[float, float, float]
"""A value, and the ends of its interval."""

_WIDTH = 3.3  # inches, a column of a paper
_ROW = 0.155  # inches, a line
_CELL = 0.088  # inches, a cell of a matrix
_SIZE = 7  # of letters
_LONGEST = 28  # characters of a name
_LETTERS = 8  # rank groups that are named, of many


def score_figure(
    names: Sequence[str],
    scores: Sequence[Point],
    groups: Sequence[Sequence[int]],
    *,
    label: str,
    confidence: float,
    points: Mapping[str, Sequence[float]] | None = None,
    below: Sequence[Point] | None = None,
    below_label: str = "",
    what: str = "score",
) -> Any:
    """One line per system, best first, with its interval; to the right, one column per
    rank group.

    `scores` are called `label`, `what` is the name of the axis; `points` are more
    values by name, as diamonds, `below` a second value with its interval, called
    `below_label`.
    """
    # A system without a score is in no group.
    number = max([1, *itertools.chain.from_iterable(groups)])
    lines = len(names) * (1.5 if below else 1)
    figure = new_figure(_WIDTH, 0.6 + _ROW * lines)
    beside = min(0.14 * number + 0.1, 0.9)
    axes, side = figure.subplots(
        1,
        2,
        sharey=True,
        width_ratios=(2, beside),
    )

    _lines(axes, names)
    _intervals(
        axes,
        scores,
        lift=0.18 if below else 0.0,
        label=label,
    )
    if below:
        _intervals(
            axes,
            below,
            lift=-0.2,
            color=ORANGE,
            marker="s",
            label=below_label,
        )

    marked = (points or {}).items()
    for colour, (name, values) in zip((ORANGE, GREEN), marked, strict=False):
        axes.plot(
            values,
            range(len(values)),
            "D",
            color=colour,
            label=name,
            linestyle="none",
            markersize=3.4,
            mfc="none",
        )

    _rank_groups(side, groups, number)
    ends = f"{100 * confidence:g} % intervals"
    if points or below:
        axes.set_xlabel(f"{what}, {ends}", fontsize=_SIZE)
        legend_below(figure, axes, _SIZE)
    else:  # a legend of one entry would say no more than the axis
        axes.set_xlabel(f"{label}\n{ends}", fontsize=_SIZE)
    return figure


def _rank_groups(axes: Any, groups: Sequence[Sequence[int]], number: int) -> None:
    """A column per rank group: a dot for each system in it, joined to its neighbour."""
    for y, of_system in enumerate(groups):
        for group in of_system:
            axes.plot(
                group,
                y,
                "o",
                color="0.35",
                markersize=2,
            )
            if y and group in groups[y - 1]:
                axes.plot(
                    [group] * 2,
                    [y - 1, y],
                    color="0.35",
                    linewidth=0.7,
                )

    # Of many groups only some are named, or the letters would touch.
    named = range(1, number + 1, 1 + number // _LETTERS)
    letters = [chr(ord("a") + n - 1) if n <= 26 else str(n) for n in named]
    axes.set_xticks(named, letters, fontsize=5)
    axes.set_xlim(0.2, number + 0.8)
    axes.set_xlabel("groups", fontsize=_SIZE)
    axes.tick_params(
        length=0,
        pad=1,
        labelleft=False,
    )

    axes.spines[:].set_visible(False)


def difference_figure(
    names: Sequence[Sequence[str]],
    pairs: Sequence[Any],
    alpha: float,
    what: str,
    against: str | None,
) -> Any:
    """A line per pair of systems: difference and interval, filled where p < α by Holm.

    `names` are those of both systems of a pair, or of one where all are compared with
    `against`; `pairs` have difference, low, high and p_holm.
    """
    lines = len(pairs) * (1 if against else 2)
    figure = new_figure(_WIDTH, 0.6 + _ROW * lines)
    axes = figure.subplots()
    _lines(axes, ["\n− ".join(map(_short, both)) for both in names])
    axes.axvline(0, color="0.5", linewidth=0.8)

    looks = {True: {}, False: {"mfc": "white"}}
    for y, pair in enumerate(pairs):
        point = (pair.difference, pair.low, pair.high)
        _intervals(
            axes,
            [point],
            lift=-y,
            **looks[pair.p_holm < alpha],
        )

    for significant, sign in ((True, "<"), (False, "≥")):
        label = f"p {sign} {alpha:g} (Holm)"
        axes.plot(
            [],
            [],
            "o-",
            label=label,
            color=BLUE,
            markersize=3.4,
            **looks[significant],
        )

    other = f" from {_short(against)}\n" if against else " "
    axes.set_xlabel(f"difference{other}in {what}", fontsize=_SIZE)
    legend_below(figure, axes, _SIZE)
    return figure


def difference_matrix(
    names: Sequence[str],
    cells: Iterable[tuple[int, int, float, bool]],
    alpha: float,
    what: str,
) -> Any:
    """A square per pair of systems: the row's score minus the column's, best system
    first.

    `cells` are row, column, difference and whether p < α by Holm, which a dot marks.
    """
    count = len(names)
    values = np.full((count, count), np.nan)
    significant = np.zeros((count, count), dtype=bool)
    for row, column, difference, clear in cells:
        values[row, column] = difference
        significant[row, column] = clear

    side = max(_WIDTH, 1.1 + _CELL * count)
    figure = new_figure(side, side - 0.2)
    axes = figure.subplots()
    # Even on both sides, so that white is no difference.
    most = float(np.nanmax(np.abs(values))) or 1.0
    image = axes.imshow(
        values,
        vmin=-most,
        vmax=most,
        cmap="RdBu",
        aspect="auto",
    )

    cell_points = 72 * (side - 1.1) / count
    _dots(axes, values, significant, cell_points)

    numbered = [f"{_short(name)}  {n}" for n, name in enumerate(names, 1)]
    axes.set_yticks(range(count), numbered)
    axes.set_xticks(range(count), range(1, count + 1), rotation=90 if count > 9 else 0)
    size = min(_SIZE, 0.8 * cell_points)
    axes.tick_params(
        length=0,
        labelsize=size,
        pad=2,
        labeltop=True,
        labelbottom=False,
    )
    axes.spines[:].set_visible(False)

    bar = figure.colorbar(
        image,
        ax=axes,
        orientation="horizontal",
        aspect=40,
        pad=0.03,
    )
    bar.outline.set_visible(False)
    # Only the colours that occur: above the diagonal few differences are negative.
    bar.ax.set_xlim(min(0.0, float(np.nanmin(values))), most)
    bar.ax.tick_params(labelsize=_SIZE - 1, length=2)
    marked = "dot: p <" if significant.any() else "no pair has p <"
    bar.set_label(f"{what}: row − column\n{marked} {alpha:g} (Holm)", fontsize=_SIZE)

    return figure


def _dots(axes: Any, values: Any, significant: Any, cell_points: float) -> None:
    """A dot in each significant cell, white where the cell is dark."""
    down, across = np.nonzero(significant)
    dark = np.abs(values[down, across]) > 0.6 * np.nanmax(np.abs(values))
    area = max(1.0, min(16.0, (0.3 * cell_points) ** 2))
    colours = np.where(dark, "white", "black").tolist()
    axes.scatter(
        across,
        down,
        s=area,
        linewidth=0,
        color=colours,
    )


def calibration_figure(bins: Sequence[Any], brier: float, auc: float) -> Any:
    """How reliable a judge is: a dot per bin (mean presence, share present, pairs)."""
    figure, (axes,) = panels(1, 1, _WIDTH, 2.4)

    predicted, observed, pairs = np.transpose(bins)
    # Areas, so that what is seen is the number of pairs.
    sizes = 4 + 60 * pairs / pairs.max()
    axes.plot(
        predicted,
        observed,
        color=BLUE,
        linewidth=0.8,
    )
    axes.scatter(
        predicted,
        observed,
        s=sizes,
        color=BLUE,
        linewidth=0,
        zorder=3,
        clip_on=False,
    )
    axes.plot(
        [0, 1],
        [0, 1],
        color="0.5",
        linewidth=0.8,
        linestyle="--",
        zorder=1,
    )

    axes.set(
        xlim=(-0.04, 1.04),
        ylim=(-0.04, 1.04),
        aspect="equal",
    )
    for ticks in (axes.set_xticks, axes.set_yticks):
        ticks((0, 0.5, 1), ("0", ".5", "1"), fontsize=_SIZE)
    axes.set_xlabel("judge's presence", fontsize=_SIZE)
    axes.set_ylabel("present by the labels", fontsize=_SIZE)
    axes.set_title(f"Brier {brier:.3f}, AUC {auc:.3f}", fontsize=_SIZE + 1)

    return figure


def _lines(axes: Any, names: Sequence[str]) -> None:
    """One line per name, from above."""
    plain_axes(axes)
    axes.set_yticks(range(len(names)), [n if "\n" in n else _short(n) for n in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(
        axis="y",
        length=0,
        pad=2,
    )
    axes.tick_params(labelsize=_SIZE)


def _intervals(axes: Any, points: Sequence[Point], *, lift: float, **look: Any) -> None:
    """A dot and a line for each value, from above; `lift` lines higher."""
    look = {
        "color": BLUE,
        "marker": "o",
        "label": None,
    } | look
    for y, (value, low, high) in enumerate(points):
        height = y - lift
        axes.plot(
            [low, high],
            [height, height],
            color=look["color"],
            linewidth=1.3,
            solid_capstyle="butt",
        )
        axes.plot(
            value,
            height,
            linestyle="none",
            markersize=3.4,
            **look,
        )
        look["label"] = None  # one entry in the legend for all of them


def _short(name: str) -> str:
    """A name of a line's length: what sets names apart is often at the end."""
    shown = cut(name, 1000)
    return shown if len(shown) <= _LONGEST else f"{shown[:15]}…{shown[-12:]}"
