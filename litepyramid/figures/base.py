"""What all figures share: made without global state, written all or nothing, signed."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litepyramid.errors import InputError, require
from litepyramid.files import atomic_write, check_output

if TYPE_CHECKING:
    from litepyramid.types import Signature

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#595959")
"""Colours that people with any colour vision can tell apart (Okabe & Ito 2008), in order."""
BLUE, ORANGE, GREEN, _PINK, YELLOW = COLOURS[:5]

FORMATS = (".pdf", ".png", ".svg")

R_SYS = r"$r_\mathrm{SYS}$"
R_DELTA = r"$r_{\mathrm{SYS}\Delta}$"
_MATH = (R_SYS, R_DELTA)
_DOTS, _MOST_DOTS = 160, 60_000
_CHARACTERS = 14
"""Letters of a title's or a legend's size in an inch, about."""


def new_figure(width: float, height: float, layout: str = "constrained") -> Any:
    """An empty matplotlib figure of that size in inches.

    Args:
        width: In inches.
        height: In inches.
        layout: matplotlib's; ``"compressed"`` for panels of a fixed aspect.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
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
    axes = figure.subplots(rows, columns, squeeze=False, **shared).ravel()
    for surplus in axes[number:]:
        surplus.set_visible(False)
    for axis in axes[:number]:
        plain_axes(axis)
    return figure, axes[:number]


def check_figure(path: str | Path | None) -> None:
    """Raises at once, before long work, if a figure could not be written to `path`.

    Raises:
        InputError: The file is of a kind that is not written, or cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    if path is None:
        return
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"unknown figure format '{path.suffix}'", path=path, expected=", ".join(FORMATS)
        )
    check_output(path)
    require("matplotlib.figure", extra="report", purpose="a figure")


def save_figure(figure: Any, path: str | Path, signature: Signature | None = None) -> None:
    """Writes a figure as PDF (TrueType fonts), PNG or SVG by its name, without a date in it.

    Args:
        figure: A matplotlib figure.
        path: The file.
        signature: Goes into the file's metadata, as its subject (PDF) or description.
    """
    from litepyramid._version import __version__

    check_figure(path)
    matplotlib = require("matplotlib", extra="report", purpose="a figure")
    text = require("matplotlib.text", extra="report", purpose="a figure")
    for shown in figure.findobj(text.Text):
        if shown.get_text():  # people's names may hold dollar signs; only our own are formulas
            shown.set_parse_math(shown.get_text().startswith(_MATH))
    form = Path(path).suffix.lower().removeprefix(".")
    name, said = f"litepyramid {__version__}", None if signature is None else str(signature)
    metadata = {
        "png": {"Software": name, "Description": said},
        "pdf": {"Creator": name, "Subject": said, "CreationDate": None},
        "svg": {"Creator": name, "Description": said, "Date": None},
    }[form]
    kept = {key: value for key, value in metadata.items() if value or key.endswith("Date")}
    dots = min(_DOTS, _MOST_DOTS / max(figure.get_size_inches()))
    fixed = {"pdf.fonttype": 42, "svg.hashsalt": "litepyramid"}
    with atomic_write(path, binary=True) as file, matplotlib.rc_context(fixed):
        figure.savefig(
            file, format=form, dpi=dots, metadata=kept, bbox_inches="tight", pad_inches=0.06
        )


def plain_axes(axes: Any) -> None:
    """Removes the upper and right frame and adds a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)


def title(figure: Any, *lines: str) -> None:
    """Lines above the whole figure, folded to its width."""
    width = max(30, int(figure.get_figwidth() * _CHARACTERS))
    folded = [p for line in lines for p in textwrap.wrap(line, width, break_on_hyphens=False)]
    figure.suptitle("\n".join(folded), fontsize=9.5, x=0.01, ha="left")


def legend_below(figure: Any, axes: Any) -> None:
    """A legend of what is drawn in `axes` below the whole figure, in as many columns as fit.

    A figure, unlike a part of one, grows by the legend's lines.
    """
    handles, labels = axes.get_legend_handles_labels()
    each = max(map(len, labels)) / _CHARACTERS + 0.5
    columns = max(1, min(len(labels), int(figure.bbox.width / figure.dpi / each)))
    if hasattr(figure, "set_figheight"):
        figure.set_figheight(figure.get_figheight() + 0.19 * -(-len(labels) // columns))
    figure.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8.5
    )


def squares(axes: Any, values: Any, across: Any, down: Any, said: Any) -> Any:
    """A matrix from -1 (red) to 1 (blue), with a text in each cell that has a value.

    Args:
        axes: Where.
        values: Rows of numbers, NaN where there is none.
        across: Names of the columns.
        down: Names of the rows.
        said: Gives the texts of a row and a column, each with its size and how far below the
            middle it stands.
    """
    image = axes.imshow(values, vmin=-1, vmax=1, cmap="RdBu")
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if value == value:
                for text, size, lower in said(i, j):
                    axes.text(j, i + lower, text, ha="center", va="center", fontsize=size,
                              color="white" if abs(value) > 0.6 else "black")  # fmt: skip
    axes.set_xticks(range(len(across)), across, fontsize=8)
    axes.set_yticks(range(len(down)), down, fontsize=8)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    return image


def style(number: int) -> str:
    """Marker and line of the curve of that number: another one when the colours repeat.

    Example:
        >>> style(0), style(len(COLOURS))
        ('o-', 's--')
    """
    return ("o-", "s--", "^:", "D-.", "v-", "P--", "X:")[number // len(COLOURS) % 7]
