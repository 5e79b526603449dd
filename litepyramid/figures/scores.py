"""Figures for a column of a paper: systems, their differences, a judge's calibration, labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from litepyramid.figures.base import BLUE, GREEN, ORANGE, legend_below, new_figure, plain_axes
from litepyramid.scoring.combine import CombinedPair, CombinedScores
from litepyramid.scoring.groups import group_letters
from litepyramid.scoring.pyramid import metric_title
from litepyramid.text import cut

if TYPE_CHECKING:
    from litepyramid.judges.calibration import CalibrationResult
    from litepyramid.scoring.compare import PairComparison, SystemComparison
    from litepyramid.scoring.direction import DirectionResult
    from litepyramid.scoring.label_power import LabelPower
    from litepyramid.scoring.result import ScoreResult

_WIDTH, _ROW, _CELL = 3.3, 0.155, 0.088
"""Inches: a column of a paper, a line of its text, the smallest cell of a matrix."""
_SIZE, _LONGEST, _LISTED, _LETTERS = 7, 28, 10, 8
_OTHERS = (ORANGE, GREEN)


def score_figure(result: ScoreResult | DirectionResult | CombinedScores) -> Any:
    """One line per system, best first, with its interval; to the right, one column per rank group.

    Diamonds are the human scores, where labels are given; for F1, precision and recall. Of labels
    and judge combined, the interval of the labels alone stands below.

    Args:
        result: A result of `score`, `precision` or `combine`.

    Returns:
        A matplotlib figure, 3.3 inches wide.
    """
    table: Any = result.to_tables()[0]
    if both := isinstance(result, CombinedScores):
        groups = {entry.system: entry.groups for entry in result.systems}
        labels = ["labels and judge", "labels alone"]
    else:
        groups = dict(zip(result.systems, result.groups, strict=True))
        labels = [metric_title(result.matrix.metric), *(c.name for c in table.columns[5:])]
    number = max([1, *(group for own in groups.values() for group in own)])
    figure = new_figure(_WIDTH, 0.6 + _ROW * len(table.rows) * (1.5 if both else 1))
    ratios = (2, min(0.14 * number + 0.1, 0.9))
    axes, side = figure.subplots(1, 2, sharey=True, width_ratios=ratios)
    _lines(axes, [row[1] for row in table.rows])
    before: tuple[int, ...] = ()
    for y, (_, name, *numbers) in enumerate(table.rows):
        told = [None if y else label for label in labels]
        _interval(axes, y - 0.18 * both, *numbers[:3], label=told[0])
        if both:
            _interval(axes, y + 0.2, *numbers[3:6], color=ORANGE, marker="s", label=told[1])
        else:
            look = {"marker": "D", "linestyle": "none", "markersize": 3.4, "mfc": "none"}
            for colour, value, label in zip(_OTHERS, numbers[3:], told[1:], strict=False):
                axes.plot(np.nan if value is None else value, y, color=colour, label=label, **look)
        for group in groups[name]:
            side.plot(group, y, "o", color="0.35", markersize=2)
            if group in before:
                side.plot([group] * 2, [y - 1, y], color="0.35", linewidth=0.7)
        before = groups[name]
    said = "human score" if both else "score"
    axes.set_xlabel(f"{said}, {100 * result.confidence:g} % intervals", fontsize=_SIZE)
    side.spines[:].set_visible(False)
    side.set_xlim(0.2, number + 0.8)
    shown = range(1, number + 1, 1 + number // _LETTERS)
    side.set_xticks(shown, [group_letters([group]) for group in shown], fontsize=5)
    side.tick_params(length=0, pad=1, labelleft=False)
    side.set_xlabel("groups", fontsize=_SIZE)
    legend_below(figure, axes)
    return figure


def comparison_figure(result: SystemComparison | CombinedScores) -> Any:
    """Differences of systems: a line per pair with its interval; a matrix for more than ten pairs.

    Filled dots and coloured squares are significant after Holm's correction. The matrix has the
    best system first, and a square for the row's score minus the column's. Compared with one
    system (`against`), the others are lines however many there are. Of labels and judge combined,
    the interval of the labels alone stands below.

    Args:
        result: A result of `compare` or of `combine`.

    Returns:
        A matplotlib figure, 3.3 inches wide; wider for more than 25 systems in a matrix.
    """
    both = isinstance(result, CombinedScores)
    against = None if isinstance(result, CombinedScores) else result.against
    pairs: Sequence[PairComparison | CombinedPair] = result.pairs
    if against is None and len(pairs) > _LISTED:
        return _matrix(result)
    figure = new_figure(_WIDTH, 0.6 + _ROW * len(pairs) * (1 if against else 2))
    axes = figure.subplots()
    _lines(axes, [
        pair.first if against else f"{_short(pair.first)}\n− {_short(pair.second)}"
        for pair in pairs
    ])  # fmt: skip
    axes.axvline(0, color="0.5", linewidth=0.8)
    for y, pair in enumerate(pairs):
        look = {} if pair.p_holm < result.alpha else {"mfc": "white"}
        _interval(axes, y - 0.15 * both, pair.difference, pair.low, pair.high, **look)
        if isinstance(pair, CombinedPair):
            numbers = (pair.alone, pair.alone_low, pair.alone_high)
            _interval(axes, y + 0.2, *numbers, color=ORANGE, marker="s")
    what = "human score" if both else metric_title(result.metric)
    from_ = f" from {_short(against)}\n" if against else " "
    axes.set_xlabel(f"difference{from_}in {what}", fontsize=_SIZE)
    for sign, look in (("<", {}), ("≥", {"mfc": "white"})):
        label = f"p {sign} {result.alpha:g} (Holm)"
        axes.plot([], [], "o-", color=BLUE, markersize=3.4, label=label, **look)
    if both:
        axes.plot([], [], "s-", color=ORANGE, markersize=3.4, label="labels alone")
    legend_below(figure, axes)
    return figure


def _matrix(result: SystemComparison | CombinedScores) -> Any:
    names = [*result.scores] if isinstance(result, CombinedScores) else list(result.systems)
    places, count = {name: place for place, name in enumerate(names)}, len(names)
    values, clear = np.full((count, count), np.nan), np.zeros((count, count), dtype=bool)
    for pair in result.pairs:
        row, column = places[pair.first], places[pair.second]
        sign = 1 if row < column else -1  # missing inputs may turn a pair round
        at = (min(row, column), max(row, column))
        values[at], clear[at] = sign * pair.difference, pair.p_holm < result.alpha
    side = max(_WIDTH, 1.1 + _CELL * count)
    figure = new_figure(side, side - 0.7)
    axes = figure.subplots()
    most = float(np.nanmax(np.abs(values))) or 1.0
    shown = np.where(clear, values, np.nan)
    image = axes.imshow(shown, vmin=-most, vmax=most, cmap="RdBu", aspect="auto")
    down, across = np.nonzero(~(np.isnan(values) | clear))
    axes.plot(across, down, ".", color="0.6", markersize=2.5, markeredgewidth=0)
    size = min(_SIZE, 72 * (side - 1.1) / count * 0.8)
    axes.set_yticks(range(count), [f"{_short(name)}  {n}" for n, name in enumerate(names, 1)])
    axes.set_xticks(range(count), range(1, count + 1), rotation=90 if count > 9 else 0)
    axes.tick_params(length=0, labelsize=size, pad=2, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    bar = axes.inset_axes((0.04, 0.14, 0.42, 0.035))
    figure.colorbar(image, cax=bar, orientation="horizontal")
    bar.set_xlim(min(0.0, float(np.nanmin(values))), most)
    bar.tick_params(labelsize=6, length=2)
    bar.set_title(f"row − column\n· p ≥ {result.alpha:g} (Holm)", fontsize=_SIZE, loc="left")
    return figure


def calibration_figure(result: CalibrationResult) -> Any:
    """A judge against labels: on the left its reliability, on the right its ROC curve.

    Left, one dot per bin: the share that people find present over the judge's mean presence, larger
    for more pairs; on the diagonal, presence is right as a probability. Right, the share of the
    present units that get at least some presence, over that of the absent ones; labels of .5 are
    in the area (AUC) alone.

    Args:
        result: A result of `evaluate_judge` or `calibrate`.

    Returns:
        A matplotlib figure, 3.3 inches wide.
    """
    figure = new_figure(_WIDTH, 1.9)
    left, right = figure.subplots(1, 2)
    bins = [b for b in result.bins if b.pairs]
    sizes = [4 + 60 * b.pairs / max(x.pairs for x in bins) for b in bins]
    x, y = ([getattr(b, name) for b in bins] for name in ("predicted", "observed"))
    left.plot(x, y, color=BLUE, linewidth=0.8)
    left.scatter(x, y, s=sizes, color=BLUE, linewidth=0, zorder=3, clip_on=False)
    right.plot(
        *zip(*result.roc, strict=True) if result.roc else ((), ()), color=BLUE, linewidth=1.3
    )
    for axes, said, names in (
        (left, f"Brier {result.brier:.3f}", ("judge's presence", "present by people")),
        (right, f"AUC {result.auc:.3f}", ("false positive rate", "true positive rate")),
    ):
        plain_axes(axes)
        axes.plot([0, 1], [0, 1], color="0.5", linewidth=0.8, linestyle="--", zorder=1)
        axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), aspect="equal")
        axes.set_xticks((0, 0.5, 1), ("0", ".5", "1"), fontsize=_SIZE)
        axes.set_yticks((0, 0.5, 1), ("0", ".5", "1"), fontsize=_SIZE)
        axes.set_xlabel(names[0], fontsize=_SIZE)
        axes.set_ylabel(names[1], fontsize=_SIZE)
        axes.set_title(said, fontsize=_SIZE + 1)
    return figure


def label_power_figure(result: LabelPower) -> Any:
    """Power by the number of labelled inputs, from the labels alone and with the judge."""
    figure = new_figure(4.6, 3.0)
    axes = figure.subplots()
    plain_axes(axes)
    labels = [row.labels for row in result.rows]
    lines = (
        ("labels and judge", BLUE, "o-", [row.combined for row in result.rows], result.combined),
        ("labels alone", ORANGE, "s--", [row.alone for row in result.rows], result.alone),
    )
    for name, colour, look, curve, needed in lines:
        said = f"{name}: {needed}" if needed else f"{name}: more than {labels[-1]}"
        axes.plot(labels, curve, look, color=colour, markersize=3.5, label=said)
    axes.axhline(result.power, color="0.5", linewidth=0.9, linestyle=":")
    axes.set(xscale="log", ylim=(0, 1.02), xlabel="labelled inputs")
    axes.set_xticks(labels[::2], [str(n) for n in labels[::2]])
    axes.minorticks_off()
    axes.set_ylabel(f"power to detect {result.difference:g} (α = {result.alpha:g})", fontsize=9)
    legend_below(figure, axes)
    return figure


def _lines(axes: Any, names: list[str]) -> None:
    """One line per name, from above."""
    plain_axes(axes)
    axes.set_yticks(range(len(names)), [n if "\n" in n else _short(n) for n in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0, pad=2)
    axes.tick_params(labelsize=_SIZE)


def _interval(axes: Any, y: float, value: float, low: float, high: float, **look: Any) -> None:
    look = {"color": BLUE, "marker": "o", "label": None} | look
    axes.plot([low, high], [y, y], color=look["color"], linewidth=1.3, solid_capstyle="butt")
    axes.plot(value, y, linestyle="none", markersize=3.4, **look)


def _short(name: str) -> str:
    """A name of a line's length: what sets names apart is often at the end."""
    shown = cut(name, 1000)
    return shown if len(shown) <= _LONGEST else f"{shown[:15]}…{shown[-12:]}"
