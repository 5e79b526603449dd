"""Figures of few labels: what labels alone find, and what they find with the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from litepyramid.figures.base import BLUE, ORANGE, legend_below, new_figure, plain_axes

if TYPE_CHECKING:
    from litepyramid.scoring.label_power import LabelPower


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
    axes.set_xscale("log")
    axes.set_xticks(labels[::2], [str(n) for n in labels[::2]])
    axes.minorticks_off()
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("labelled inputs")
    axes.set_ylabel(f"power to detect {result.difference:g} (α = {result.alpha:g})", fontsize=9)
    legend_below(figure, axes)
    return figure
