"""The figures of DDR21 §5: coverage of intervals (Table 1), power of tests (Fig. 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litepyramid.report.figure import COLOURS, new_figure, plain_axes

if TYPE_CHECKING:
    from litepyramid.meta.held_out import CoverageResult
    from litepyramid.meta.power_result import PowerResult


def _label(method: str) -> str:
    return method.capitalize() if method in ("fisher", "williams") else method.upper()


def coverage_figure(result: CoverageResult) -> Any:
    """A point a method with ±2 standard errors, beside the line of what coverage should be."""
    panels = list(dict.fromkeys((r.metric, r.level) for r in result.rows))
    methods = list(dict.fromkeys(r.method for r in result.rows))
    metrics = list(dict.fromkeys(metric for metric, _ in panels))
    levels = list(dict.fromkeys(level for _, level in panels))
    height = 0.7 + (0.35 * len(methods) + 0.7) * len(metrics)
    figure = new_figure(1.6 + 3.4 * len(levels), height)
    grid = figure.subplots(len(metrics), len(levels), squeeze=False, sharex=True, sharey=True)
    for i, metric in enumerate(metrics):
        for j, level in enumerate(levels):
            axes = grid[i][j]
            plain_axes(axes)
            axes.axvline(result.confidence, color="black", linewidth=1)
            for r in result.rows:
                if (r.metric, r.level) != (metric, level):
                    continue
                colour = COLOURS[methods.index(r.method) % len(COLOURS)]
                axes.errorbar(
                    [r.coverage], [methods.index(r.method)], xerr=[2 * r.error], fmt="o",
                    color=colour, capsize=3,
                )  # fmt: skip
                axes.annotate(
                    f"{r.coverage:.2f}", (r.coverage, methods.index(r.method)), xytext=(0, 6),
                    textcoords="offset points", ha="center", fontsize=8,
                )  # fmt: skip
            axes.set_title(f"{metric}, {level} level", fontsize=10)
            axes.set_ylim(len(methods) - 0.5, -0.7)
            axes.set_yticks(range(len(methods)), [_label(m) for m in methods])
    for axes in grid[-1]:
        axes.set_xlabel("share of intervals that hold the other half's r", fontsize=9)
    return figure


def power_figure(result: PowerResult) -> Any:
    """Power against the amount, a line a test, a panel a level (Fig. 3)."""
    levels = list(dict.fromkeys(r.level for r in result.rows))
    methods = list(dict.fromkeys(r.method for r in result.rows))
    figure = new_figure(0.8 + 4.2 * len(levels), 3.9)
    row = figure.subplots(1, len(levels), squeeze=False, sharey=True)[0]
    for axes, level in zip(row, levels, strict=True):
        plain_axes(axes)
        for i, method in enumerate(methods):
            kept = [r for r in result.rows if (r.level, r.method) == (level, method)]
            axes.errorbar(
                [100 * r.amount if result.kind == "words" else r.amount for r in kept],
                [r.power for r in kept],
                yerr=[r.error for r in kept],
                fmt="-" + "os^Dv<>"[i % 7],
                markersize=5,
                capsize=2,
                color=COLOURS[i % len(COLOURS)],
                label=_label(method),
            )
        if result.kind == "noise":
            axes.set_xscale("log", base=2)
            amounts = sorted({r.amount for r in result.rows})
            axes.set_xticks(amounts, [f"{a:g}" for a in amounts])
            axes.set_xlabel("noise, in standard deviations of the scores")
        else:
            axes.set_xlabel("k, % of the words that the worse metric sees")
        axes.set_title(f"{level} level", fontsize=11)
    row[0].set_ylim(-0.03, 1.03)
    row[0].set_ylabel(f"power at α = {result.settings.alpha:g}")
    row[0].legend(frameon=False, fontsize=9)
    return figure
