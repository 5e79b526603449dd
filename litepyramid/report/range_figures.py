"""The figures of P19: agreement by scoring range, disagreement, and eq. 1."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Any

from litepyramid.report.figure import COLOURS, new_figure, plain_axes, style

if TYPE_CHECKING:
    from litepyramid.meta.range_curves import RangePoint
    from litepyramid.meta.range_result import ScoringRangeResult

_NAMED = 14
_TITLES = {"judged": "judged summaries (A)", "whole": "whole range (W)", "top": "top range (T)"}


def range_figure(result: ScoringRangeResult) -> Any:
    """Above, τ-b of every two metrics by range (Table 1); below, Fig. 2 and Fig. 3."""
    ranges = [name for name in _TITLES if any(a.range == name for a in result.agreement)]
    figure = new_figure(10.5, 7.2)
    upper, lower = figure.subfigures(2, 1, height_ratios=(1, 1.05))
    row = upper.subplots(1, len(ranges), squeeze=False)[0]
    for axes, name in zip(row, ranges, strict=True):
        image = _matrix(axes, result, name)
    upper.colorbar(image, ax=row.tolist(), shrink=0.85, pad=0.01).set_label("Kendall's τ-b")
    left, right = lower.subplots(1, 2)
    plain_axes(left)
    for i, curve in enumerate(result.disagreement):
        kept = [p for p in curve.points if p.number >= 30 and not isnan(p.value)]
        at = [p.low if result.rule == "code" else (p.low + p.high) / 2 for p in kept]
        left.plot(
            at, [100 * p.value for p in kept], style(i), markersize=4,
            color=COLOURS[i % len(COLOURS)], label=f"{curve.one} / {curve.other}",
        )  # fmt: skip
    left.set_ylim(0, None)
    left.set_xlabel("average score of the pair" + (" above" if result.rule == "code" else ""))
    left.set_ylabel("% of pairs in opposite orders")
    if len(result.disagreement) <= 4:
        left.legend(frameon=False, fontsize=8)
    elif len(result.disagreement) <= _NAMED:
        lower.legend(
            *left.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=7,
            frameon=False,
        )  # fmt: skip
    plain_axes(right)
    points = [p for p in result.better if p.number >= 5 and not isnan(p.value)]
    middles = [(p.low + p.high) / 2 for p in points]
    right.plot(middles, [p.value for p in points], "o-", color=COLOURS[0], markersize=4)
    right.fill_between(
        middles,
        [max(0.0, p.value - _deviation(p)) for p in points],
        [min(1.0, p.value + _deviation(p)) for p in points],
        color=COLOURS[0],
        alpha=0.15,
        linewidth=0,
    )
    right.set_ylim(0, 1)
    right.set_xlabel("average score of a summary")
    right.set_ylabel("F/N: better on all / on one")
    return figure


def _deviation(point: RangePoint) -> float:
    return 0.0 if isnan(point.deviation) else point.deviation


def _matrix(axes: Any, result: ScoringRangeResult, name: str) -> Any:
    size = len(result.metrics)
    taus = [[1.0 if i == j else nan for j in range(size)] for i in range(size)]
    number = 0.0
    for a in result.agreement:
        if a.range == name:
            i, j = result.metrics.index(a.one), result.metrics.index(a.other)
            taus[i][j] = taus[j][i] = a.tau
            number = a.summaries
    image = axes.imshow(taus, vmin=-1, vmax=1, cmap="RdBu")
    for i in range(size):
        for j in range(size):
            if i != j and not isnan(taus[i][j]):
                axes.text(
                    j, i, f"{taus[i][j]:.2f}", ha="center", va="center",
                    color="white" if abs(taus[i][j]) > 0.6 else "black",
                    fontsize=max(4, 12 - size // 2),
                )  # fmt: skip
    axes.set_xticks(range(size), result.metrics, fontsize=8, rotation=25, ha="right")
    axes.set_yticks(range(size), result.metrics, fontsize=8)
    axes.spines[:].set_visible(False)
    axes.set_title(f"{_TITLES[name]}\n{number:.0f} summaries a topic", fontsize=10)
    return image
