"""The curve as a figure (ZB21 Fig. 2, 4)."""

from __future__ import annotations

from typing import Any

from litepyramid.easiness.curve import TITLES, CurveResult
from litepyramid.report.figure import new_figure

_STYLE: dict[str, dict[str, Any]] = {
    "easiness": {"color": "#0072b2", "marker": "o", "linewidth": 2.0, "zorder": 4},
    "random": {"color": "#e69f00", "marker": "d", "linestyle": "--", "linewidth": 1.6},
    "reversed": {"color": "#d55e00", "marker": "v", "linestyle": ":", "linewidth": 1.4},
    "gold": {"color": "#009e73", "marker": "s", "linestyle": "-.", "linewidth": 1.2},
}
_LEVEL = {"system": "System level", "summary": "Summary level", "global": "Global"}
_NAME = {"pearson": "Pearson r", "spearman": "Spearman ρ", "kendall": "Kendall τ"}


def curve_figure(result: CurveResult) -> Any:
    """The curve drawn: share of STUs across, correlation with the human score up.

    One panel for each level and coefficient. The random line is the mean over its rankings with a
    band of one standard deviation on either side, a bar if there is one share.

    Args:
        result: What `budget_curve` gives.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    panels = result.panels
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure = new_figure(4.6 * across, 3.4 * down)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for axis, (level, coefficient) in zip(axes, panels, strict=False):
        for by in result.ways:
            line = result.line(by, level, coefficient)
            x = [100 * p.share for p in line]
            label = TITLES[by]
            if by == "random":
                label = f"random, mean ± sd of {result.seeds}"
                low, high = ([p.value + sign * p.sd for p in line] for sign in (-1, 1))
                band = {"color": "#e69f00", "alpha": 0.22}
                if len(line) > 1:
                    axis.fill_between(x, low, high, linewidth=0, **band)
                else:  # a band over one share has no width
                    axis.vlines(x, low, high, linewidth=6, **band)
            axis.plot(x, [p.value for p in line], label=label, markersize=4, **_STYLE[by])
        axis.set_title(_LEVEL[level], fontsize=10)
        axis.set_xlabel("sentences that carry STUs (%)")
        axis.set_ylabel(f"{_NAME.get(coefficient, coefficient)} with the human score")
        axis.set_xlim(0, 100)
        axis.grid(color="#dddddd", linewidth=0.6)
        axis.set_axisbelow(True)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    handles, labels = axes[0].get_legend_handles_labels()
    columns = len(handles) if across > 1 else 2
    figure.legend(
        handles, labels, fontsize=9, frameon=False, loc="outside lower center", ncols=columns
    )
    return figure
