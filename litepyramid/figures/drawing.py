"""What all figures share: made without global state, `Result.save` writes them."""

import textwrap
from typing import Any

from litepyramid.errors import require

# Colours that people with any colour vision can tell apart (Okabe & Ito 2008), in
# order.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#595959")
BLUE, ORANGE, GREEN, _PINK, YELLOW = COLOURS[:5]
_CHARACTERS = 14  # of a title's or a legend's size in an inch, about


def new_figure(width: float, height: float, layout: str = "constrained") -> Any:
    """An empty matplotlib figure of that size in inches; `layout` is matplotlib's."""
    figure = require("matplotlib.figure", extra="report", purpose="a figure")
    return figure.Figure(figsize=(width, height), layout=layout)


def panels(
    number: int,
    across: int,
    width: float,
    height: float,
    layout: str = "constrained",
    **shared: bool,
) -> Any:
    """A figure with that many panels of that size, row by row, and their axes."""
    columns = min(across, number)
    rows = -(-number // columns)
    figure = new_figure(width * columns, height * rows, layout)
    axes = figure.subplots(
        rows,
        columns,
        squeeze=False,
        **shared,
    ).ravel()
    for surplus in axes[number:]:
        surplus.set_visible(False)
    for axis in axes[:number]:
        plain_axes(axis)
    return figure, axes[:number]


def plain_axes(axes: Any) -> None:
    """Removes the upper and right frame and adds a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(
        visible=True,
        color="0.9",
        linewidth=0.8,
    )
    axes.set_axisbelow(True)


def title(figure: Any, heading: str) -> None:
    """A heading above the whole figure, folded to its width."""
    width = max(30, int(figure.get_figwidth() * _CHARACTERS))
    figure.suptitle(
        textwrap.fill(heading, width, break_on_hyphens=False),
        fontsize=9.5,
        x=0.01,
        ha="left",
    )


def legend_below(figure: Any, axes: Any, size: float = 8.5) -> None:
    """A legend of what is drawn in `axes`, below the figure (which grows), in columns
    that fit."""
    handles, labels = axes.get_legend_handles_labels()
    each = max(map(len, labels)) / _CHARACTERS * size / 8.5 + 0.5
    columns = max(1, min(len(labels), int(figure.bbox.width / figure.dpi / each)))
    # A subfigure has no height of its own.
    if hasattr(figure, "set_figheight"):
        figure.set_figheight(figure.get_figheight() + 0.19 * -(-len(labels) // columns))
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=size,
    )


def style(number: int) -> str:
    """Marker and line of the curve of that number: another one when the colours
    repeat."""
    return ("o-", "s--", "^:", "D-.", "v-", "P--", "X:")[number // len(COLOURS) % 7]
