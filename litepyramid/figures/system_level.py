"""Figures of systems and summaries: close pairs, stability, test sets (DDR22), ranges (P19)."""

from __future__ import annotations

from math import isinf, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from litepyramid.figures.base import (
    BLUE,
    COLOURS,
    GREEN,
    ORANGE,
    R_DELTA,
    R_SYS,
    legend_below,
    new_figure,
    panels,
    plain_axes,
    squares,
    style,
    title,
)
from litepyramid.stats import system_means

if TYPE_CHECKING:
    from litepyramid.meta.ranges.scoring_ranges import ScoringRangeResult
    from litepyramid.meta.system_level.deltas import DeltaResult, MetricDelta
    from litepyramid.meta.system_level.differences import DifferenceResult
    from litepyramid.meta.system_level.ranking_stability import StabilityResult
    from litepyramid.meta.system_level.test_set import FullSetResult

_ACROSS, _BANDS, _NAMED = 4, 8, 14
_RANGES = {"judged": "judged summaries (A)", "whole": "whole range (W)", "top": "top range (T)"}


def delta_figure(result: DeltaResult) -> Any:
    """Above, τ-b over the closest pairs (DDR22 Fig. 6, 9); below, every range (Fig. 10, 11)."""
    columns = min(_ACROSS, len(result.metrics))
    blocks = -(-len(result.metrics) // columns)
    figure = new_figure(4.4 * columns + 0.6, 7.6 * blocks)
    grid = figure.subplots(2 * blocks, columns, squeeze=False, height_ratios=(3, 4) * blocks)
    bottom = min([-0.1, *(c.tau for e in result.metrics for c in e.curve if not isnan(c.tau))])
    pairs = list(zip(grid[::2].ravel(), grid[1::2].ravel(), strict=True))
    for (upper, lower), entry in zip(pairs, result.metrics, strict=False):
        _curve(upper, entry, bottom)
        image = _heat(lower, entry, result)
    for surplus in pairs[len(result.metrics) :]:
        for axes in surplus:
            axes.set_visible(False)
    figure.colorbar(image, ax=grid[1].tolist(), shrink=0.8, pad=0.01).set_label("τ-b")
    return figure


def _curve(axes: Any, entry: MetricDelta, bottom: float) -> None:
    plain_axes(axes)
    shares = [100 * i / len(entry.curve) for i in range(1, len(entry.curve) + 1)]
    axes.axhline(0, color="0.5", linewidth=0.8)
    axes.plot(shares, [cell.tau for cell in entry.curve], "o-", color=BLUE, markersize=5)
    for share, cell in zip(shares, entry.curve, strict=True):
        axes.annotate(
            f"{cell.upper:.2g}" if cell.upper < 10 else f"{cell.upper:.0f}",
            (share, 0 if isnan(cell.tau) else cell.tau), xytext=(0, 7),
            textcoords="offset points", ha="center", fontsize=7.5, color="0.25",
        )  # fmt: skip
    axes.set(xlim=(0, 105), ylim=(bottom - 0.1, 1.05))
    axes.set_xticks(shares, [f"{share:.0f}" for share in shares])
    axes.set_xlabel("% of pairs, closest first (above the points: u, the largest difference)",
                    fontsize=8)  # fmt: skip
    axes.set_ylabel(f"{R_DELTA}$(0, u)$, Kendall's τ-b")
    axes.set_title(entry.metric, fontsize=11)


def _heat(axes: Any, entry: MetricDelta, result: DeltaResult) -> Any:
    cells, size = entry.heat, len(entry.heat)

    def said(i: int, j: int) -> list[tuple[str, float, float]]:
        cell = cells[i][j]
        text = "" if cell is None else f"{cell.tau:.2f}".replace("0.", ".")
        return [(text, 7, -0.12), (f"{cell.pairs if cell else 0}", 5, 0.28)]

    taus = [[nan if c is None or result.masked(c) else c.tau for c in row] for row in cells]
    names = [f"{100 * i // size}" for i in range(size + 1)]
    image = squares(axes, taus, names[1:], names[:-1], said)
    axes.set_xlabel("to % of pairs (small: number of pairs)", fontsize=8)
    axes.set_ylabel("from % of pairs", fontsize=8)
    return image


def system_scores_figure(result: DeltaResult | DifferenceResult) -> Any:
    """How far apart systems are: a point per system, a line per metric and people (DDR22 Fig. 5).

    A metric's averages are over the whole test set where the result was given it.
    """
    rows = [(result.human, result.metrics[0].sides.Z)]
    rows += [(entry.metric, entry.sides.scores_used) for entry in result.metrics]
    figure, axes = panels(len(rows), 1, 6.4, 0.75)
    for i, (axis, (name, scores)) in enumerate(zip(axes, rows, strict=True)):
        averages = system_means(scores)
        axis.plot(averages, [0] * len(averages), "o", color=COLOURS[i % len(COLOURS)], alpha=0.6)
        axis.set_yticks([0], [name], fontsize=9)
        axis.tick_params(axis="y", length=0)
        axis.tick_params(axis="x", labelsize=8)
        axis.set_ylim(-1, 1)
    axes[-1].set_xlabel("average score of a system")
    return figure


def stability_figure(result: StabilityResult) -> Any:
    """τ-b between two rankings against M, with ±1 standard deviation (DDR22 Fig. 3)."""
    figure, (axes,) = panels(1, 1, 6.4, 4.6)
    # Named from the most to the least stable at the end.
    for i, curve in enumerate(sorted(result.curves, key=lambda c: -c.points[-1].mean)):
        colour = "black" if curve.human else COLOURS[i % len(COLOURS)]
        sizes = [p.inputs for p in curve.points]
        axes.plot(sizes, [p.mean for p in curve.points], "o--" if curve.human else style(i),
                  color=colour, markersize=3.5, label=curve.metric)  # fmt: skip
        if len(result.curves) <= _BANDS:
            low = [p.mean - p.deviation for p in curve.points]
            high = [min(1.0, p.mean + p.deviation) for p in curve.points]
            axes.fill_between(sizes, low, high, color=colour, alpha=0.13, linewidth=0)
    if max(p.inputs for curve in result.curves for p in curve.points) > 1000:
        axes.set_xscale("log")
    axes.set(ylim=(None, 1.0), xlabel="M, inputs that each ranking is made from")
    axes.set_ylabel("Kendall's τ-b between two rankings")
    legend_below(figure, axes)
    return figure


def difference_figure(result: DifferenceResult) -> Any:
    """Agreement of people with the sign of differences, against their size."""
    figure, grid = panels(len(result.metrics), _ACROSS, 4.8, 3.9)
    for axes, entry in zip(grid, result.metrics, strict=True):
        gaps, fit, agreed = entry.curve
        for side, colour, label in ((0, ORANGE, "people disagree, or tie"),
                                    (1, BLUE, "people agree")):  # fmt: skip
            at = [gap for gap, a in zip(gaps, agreed, strict=True) if a == side]
            axes.plot(at, [side] * len(at), "|", color=colour, markersize=9, alpha=0.7,
                      label=f"pair: {label}")  # fmt: skip
        axes.step(gaps, fit, where="post", color="black", linewidth=1.6, label="isotonic fit")
        axes.axhline(result.target, color="0.6", linewidth=0.8, linestyle=":")
        axes.axvline(result.difference, color=GREEN, linewidth=1.2, linestyle="--",
                     label=f"your difference, {result.difference:g}")  # fmt: skip
        about = entry.about
        if not isnan(about.low):
            share = about.counts.agreement
            axes.errorbar([result.difference], [share], [[share - about.low], [about.high - share]],
                          fmt="o", color=GREEN, capsize=3)  # fmt: skip
        if not isnan(entry.reached) and not isinf(entry.reached):
            axes.axvline(entry.reached, color="0.35", linewidth=0.9)
        axes.set(xscale="log", ylim=(-0.06, 1.06), xlabel=f"difference on {entry.metric}")
        axes.set_title(entry.metric, fontsize=11)
        axes.set_ylabel("share that agree with the sign")
    legend_below(figure, grid[0])
    return figure


def full_set_figure(result: FullSetResult) -> Any:
    """Intervals of r_SYS on judged inputs and on all, a panel a way of sampling (Fig. 4, 7, 8)."""
    samplings = list(dict.fromkeys(i.sampling for i in result.intervals))
    metrics = list(dict.fromkeys(i.metric for i in result.intervals))
    height = 1.5 + 0.55 * len(metrics)
    figure, axes = panels(len(samplings), 3, 3.5, height, sharex=True, sharey=True)
    for axis, sampling in zip(axes, samplings, strict=True):
        for i in result.intervals:
            if i.sampling == sampling:
                y = metrics.index(i.metric)
                _two_sides(axis, y, (i.judged.low, i.judged.high), (i.full.low, i.full.high))
                axis.plot([i.judged.value], [y - 0.14], "o", color=ORANGE, markersize=6)
                axis.plot([i.full.value], [y + 0.14], "o", color=BLUE, markersize=6)
        axis.set_title(f"BOOT-{sampling.upper()}", fontsize=10)
        axis.set_yticks(range(len(metrics)), metrics)
        axis.set(xlabel=f"{R_SYS} ({result.coefficient})", ylim=(len(metrics) - 0.5, -0.5))
    legend_below(figure, axes[0])
    return figure


def score_intervals_figure(result: FullSetResult) -> Any:
    """Intervals of every system's average, on judged inputs and on all (DDR22 Fig. 2)."""
    longest = max(len(v.intervals) for v in result.variances)
    figure, axes = panels(len(result.variances), 3, 4.4, 1.2 + 0.22 * longest)
    for axis, entry in zip(axes, result.variances, strict=True):
        ordered = sorted(entry.intervals, key=lambda row: -(row[3] + row[4]))
        for y, (_, *ends) in enumerate(ordered):
            _two_sides(axis, y, ends[:2], ends[2:])
        axis.set_yticks(range(len(ordered)), [row[0] for row in ordered], fontsize=7)
        below = f"average {entry.metric} of a system"
        axis.set(ylim=(len(ordered) - 0.5, -0.5), xlabel=below)
    legend_below(figure, axes[0])
    title(figure, f"{100 * result.confidence:g} % bootstrap intervals over inputs")
    return figure


def _two_sides(axes: Any, y: float, judged: Any, full: Any) -> None:
    """An interval on the judged inputs above one on all, named once for the legend."""
    for ends, shift, colour, label in (
        (judged, -0.14, ORANGE, "metric on judged inputs"),
        (full, 0.14, BLUE, "metric on the whole test set"),
    ):
        axes.plot(ends, [y + shift] * 2, color=colour, linewidth=3, alpha=0.75,
                  label=label if y == 0 else None)  # fmt: skip


def range_figure(result: ScoringRangeResult) -> Any:
    """Above, τ-b of every two metrics by range (P19 Table 1); below, Fig. 2 and Fig. 3."""
    ranges = [name for name in _RANGES if any(a.range == name for a in result.agreement)]
    figure = new_figure(10.5, 7.2)
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.05))
    row = upper.subplots(1, len(ranges), squeeze=False)[0]
    for axes, name in zip(row, ranges, strict=True):
        image = _agreement(axes, result, name)
    upper.colorbar(image, ax=row.tolist(), shrink=0.85, pad=0.01).set_label("Kendall's τ-b")
    left, right = lower.subplots(1, 2)
    plain_axes(left)
    for i, curve in enumerate(result.disagreement):
        kept = [p for p in curve.points if p.number >= 30 and not isnan(p.value)]
        at = [p.low if result.rule == "code" else (p.low + p.high) / 2 for p in kept]
        look = {"color": COLOURS[i % len(COLOURS)], "label": f"{curve.one} / {curve.other}"}
        left.plot(at, [100 * p.value for p in kept], style(i), markersize=4, **look)
    left.set_ylim(0, None)
    left.set_xlabel("average score of the pair" + (" above" if result.rule == "code" else ""))
    left.set_ylabel("% of pairs in opposite orders")
    if len(result.disagreement) <= _NAMED:
        legend_below(lower, left)
    plain_axes(right)
    points = [p for p in result.better if p.number >= 5 and not isnan(p.value)]
    middles = [(p.low + p.high) / 2 for p in points]
    values, spread = (np.array([getattr(p, n) for p in points]) for n in ("value", "deviation"))
    right.plot(middles, values, "o-", color=BLUE, markersize=4)
    low, high = (np.clip(values + sign * np.nan_to_num(spread), 0, 1) for sign in (-1, 1))
    right.fill_between(middles, low, high, color=BLUE, alpha=0.15, linewidth=0)
    right.set(ylim=(0, 1), xlabel="average score of a summary")
    right.set_ylabel("F/N: better on all / on one")
    return figure


def _agreement(axes: Any, result: ScoringRangeResult, name: str) -> Any:
    size = len(result.metrics)
    taus = np.where(np.eye(size), 1.0, nan)
    found = [a for a in result.agreement if a.range == name]
    for a in found:
        i, j = result.metrics.index(a.one), result.metrics.index(a.other)
        taus[i, j] = taus[j, i] = a.tau

    def said(i: int, j: int) -> list[tuple[str, float, float]]:
        return [] if i == j else [(f"{taus[i, j]:.2f}", max(4, 12 - size // 2), 0)]

    image = squares(axes, taus, result.metrics, result.metrics, said)
    axes.set_xticks(range(size), result.metrics, fontsize=8, rotation=25, ha="right")
    axes.set_title(f"{_RANGES[name]}\n{found[-1].summaries:.0f} summaries per topic", fontsize=10)
    return image
