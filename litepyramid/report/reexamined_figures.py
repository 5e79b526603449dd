"""The figures of DDR22: r_SYSΔ, rankings' stability, judged against all inputs."""

from __future__ import annotations

from math import isinf, isnan, nan
from typing import TYPE_CHECKING, Any

from litepyramid.report.figure import COLOURS, new_figure, plain_axes, style

_ACROSS = 4
_BANDS = 8

if TYPE_CHECKING:
    from litepyramid.meta.deltas import DeltaResult, MetricDelta
    from litepyramid.meta.differences import DifferenceResult
    from litepyramid.meta.rankings import StabilityResult
    from litepyramid.meta.testset import FullSetResult


def delta_figure(result: DeltaResult) -> Any:
    """Above, τ-b over the closest pairs (Fig. 6, 9); below, over every range (Fig. 10, 11)."""
    columns = min(_ACROSS, len(result.metrics))
    blocks = -(-len(result.metrics) // columns)
    figure = new_figure(4.4 * columns + 0.6, 7.6 * blocks)
    grid = figure.subplots(2 * blocks, columns, squeeze=False, height_ratios=(3, 4) * blocks)
    taus = [c.tau for entry in result.metrics for c in entry.curve if not isnan(c.tau)]
    bottom = min([-0.1, *taus])
    image = None
    for place, entry in enumerate(result.metrics):
        row, column = 2 * (place // columns), place % columns
        _curve(grid[row][column], entry, bottom, first=column == 0)
        image = _heat(grid[row + 1][column], entry, result)
    for place in range(len(result.metrics), blocks * columns):
        for row in (0, 1):
            grid[2 * (place // columns) + row][place % columns].set_visible(False)
    bar = figure.colorbar(image, ax=grid[1].tolist(), shrink=0.8, pad=0.01)
    bar.set_label("τ-b")
    return figure


def _curve(axes: Any, entry: MetricDelta, bottom: float, *, first: bool) -> None:
    plain_axes(axes)
    shares = [100 * i / len(entry.curve) for i in range(1, len(entry.curve) + 1)]
    taus = [cell.tau for cell in entry.curve]
    axes.axhline(0, color="0.5", linewidth=0.8)
    axes.plot(shares, taus, "o-", color=COLOURS[0], markersize=5)
    for share, cell in zip(shares, entry.curve, strict=True):
        axes.annotate(
            f"{cell.upper:.2g}" if cell.upper < 10 else f"{cell.upper:.0f}",
            (share, 0 if isnan(cell.tau) else cell.tau),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
            color="0.25",
        )
    axes.set_ylim(bottom - 0.1, 1.05)
    axes.set_xticks(shares, [f"{share:.0f}" for share in shares])
    axes.set_xlabel("% of pairs, closest first (above the points: largest difference)", fontsize=8)
    if first:
        axes.set_ylabel("r_SYSΔ(0, u), Kendall's τ-b")
    axes.set_title(entry.metric, fontsize=11)


def _heat(axes: Any, entry: MetricDelta, result: DeltaResult) -> Any:
    size = len(entry.heat)
    taus = [[nan if c is None or result.masked(c) else c.tau for c in row] for row in entry.heat]
    image = axes.imshow(taus, vmin=-1, vmax=1, cmap="RdBu")
    for i, row in enumerate(entry.heat):
        for j, cell in enumerate(row):
            if cell is None or result.masked(cell) or isnan(cell.tau):
                continue
            dark = abs(cell.tau) > 0.6
            axes.text(
                j, i - 0.12, f"{cell.tau:.2f}".replace("0.", "."), ha="center", va="center",
                fontsize=7, color="white" if dark else "black",
            )  # fmt: skip
            axes.text(
                j, i + 0.28, str(cell.pairs), ha="center", va="center", fontsize=5,
                color="white" if dark else "0.3",
            )  # fmt: skip
    names = [f"{100 * i // size}" for i in range(size + 1)]
    axes.set_xticks(range(size), names[1:], fontsize=8)
    axes.set_yticks(range(size), names[:-1], fontsize=8)
    axes.set_xlabel("to % of pairs (small: number of pairs)", fontsize=8)
    axes.set_ylabel("from % of pairs", fontsize=8)
    axes.spines[:].set_visible(False)
    return image


def stability_figure(result: StabilityResult) -> Any:
    """τ-b between two rankings against M, with ±1 standard deviation (Fig. 3)."""
    figure = new_figure(6.4, 4.4)
    axes = figure.subplots()
    plain_axes(axes)
    for i, curve in enumerate(result.curves):
        colour = "black" if curve.human else COLOURS[i % len(COLOURS)]
        sizes = [p.inputs for p in curve.points]
        means = [p.mean for p in curve.points]
        axes.plot(sizes, means, "o--" if curve.human else style(i), color=colour, markersize=3.5,
                  label=curve.name)  # fmt: skip
        if len(result.curves) <= _BANDS:
            axes.fill_between(
                sizes,
                [p.mean - p.deviation for p in curve.points],
                [min(1.0, p.mean + p.deviation) for p in curve.points],
                color=colour,
                alpha=0.13,
                linewidth=0,
            )
    largest = max(p.inputs for curve in result.curves for p in curve.points)
    if largest > 1000:
        axes.set_xscale("log")
    axes.set_ylim(None, 1.0)
    axes.set_xlabel("M, inputs that each ranking is made from")
    axes.set_ylabel("Kendall's τ-b between two rankings")
    if len(result.curves) > _BANDS:
        figure.legend(loc="outside center right", frameon=False, fontsize=7)
    else:
        axes.legend(frameon=False, loc="lower right", fontsize=9)
    return figure


def difference_figure(result: DifferenceResult) -> Any:
    """Agreement of people with the sign of differences, against their size."""
    columns = min(_ACROSS, len(result.metrics))
    rows = -(-len(result.metrics) // columns)
    figure = new_figure(max(6.4, 4.8 * columns), 0.4 + 3.8 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(result.metrics) :]:
        axes.set_visible(False)
    for axes, entry in zip(grid, result.metrics, strict=False):
        plain_axes(axes)
        gaps, fit, agreed = entry.curve
        low = [g for g, a in zip(gaps, agreed, strict=True) if not a]
        high = [g for g, a in zip(gaps, agreed, strict=True) if a]
        axes.plot(low, [0.0] * len(low), "|", color=COLOURS[1], markersize=9, alpha=0.7,
                  label="pair: people disagree, or tie")  # fmt: skip
        axes.plot(high, [1.0] * len(high), "|", color=COLOURS[0], markersize=9, alpha=0.7,
                  label="pair: people agree")  # fmt: skip
        axes.step(gaps, fit, where="post", color="black", linewidth=1.6, label="isotonic fit")
        axes.axhline(result.target, color="0.6", linewidth=0.8, linestyle=":")
        axes.axvline(result.difference, color=COLOURS[2], linewidth=1.2, linestyle="--",
                     label=f"your difference, {result.difference:g}")  # fmt: skip
        about = entry.about
        if not isnan(about.low):
            axes.errorbar(
                [result.difference], [about.counts.agreement],
                [[about.counts.agreement - about.low], [about.high - about.counts.agreement]],
                fmt="o", color=COLOURS[2], capsize=3,
            )  # fmt: skip
        if not isnan(entry.reached) and not isinf(entry.reached):
            axes.axvline(entry.reached, color="0.35", linewidth=0.9)
        axes.set_xscale("log")
        axes.set_ylim(-0.06, 1.06)
        axes.set_xlabel(f"difference on {entry.metric}")
        axes.set_title(entry.metric, fontsize=11)
    grid[0].set_ylabel("share that agree with the sign")
    figure.legend(
        *grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=4,
        frameon=False, fontsize=8,
    )  # fmt: skip
    return figure


def full_set_figure(result: FullSetResult) -> Any:
    """Intervals of r_SYS on judged inputs and on all, a panel a way of sampling (Fig. 4, 7, 8)."""
    samplings = list(dict.fromkeys(i.sampling for i in result.intervals))
    metrics = list(dict.fromkeys(i.metric for i in result.intervals))
    figure = new_figure(1.8 + 2.9 * len(samplings), 1.5 + 0.55 * len(metrics))
    row = figure.subplots(1, len(samplings), squeeze=False, sharey=True, sharex=True)[0]
    for axes, sampling in zip(row, samplings, strict=True):
        plain_axes(axes)
        for i in result.intervals:
            if i.sampling != sampling:
                continue
            for side, shift, colour in ((i.judged, -0.14, COLOURS[1]), (i.full, 0.14, COLOURS[0])):
                at = metrics.index(i.metric) + shift
                axes.plot([side.low, side.high], [at, at], color=colour, linewidth=3, alpha=0.75)
                axes.plot([side.value], [at], "o", color=colour, markersize=6)
        axes.set_title(f"BOOT-{sampling.upper()}", fontsize=10)
        axes.set_xlabel(f"r_SYS ({result.coefficient})")
        axes.set_yticks(range(len(metrics)), metrics)
        axes.set_ylim(len(metrics) - 0.5, -0.5)
    figure.legend(
        [row[0].plot([], [], color=colour, linewidth=3)[0] for colour in (COLOURS[1], COLOURS[0])],
        ["metric on judged inputs", "metric on the whole test set"],
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    return figure
