"""What all figures share: made without global state, written all or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.extras import require

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#595959")
"""Colours that people with any colour vision can tell apart (Okabe & Ito 2008), in order."""

FORMATS = (".pdf", ".png", ".svg")


def new_figure(width: float, height: float) -> Any:
    """An empty matplotlib figure of that size in inches.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    figure = require("matplotlib.figure", extra="report", purpose="a figure")
    return figure.Figure(figsize=(width, height), layout="constrained")


def check_figure(path: str | Path | None) -> None:
    """Raises at once, before long work, if a figure could not be written to `path`.

    Raises:
        InputError: The file is of a kind that is not written, or its folder does not exist.
        MissingExtraError: matplotlib is not installed.
    """
    if path is None:
        return
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"no figure of the kind '{path.suffix}'", path=path, expected=", ".join(FORMATS)
        )
    if not path.parent.is_dir():
        raise InputError("the folder does not exist", path=path, hint="Make it first.")
    require("matplotlib.figure", extra="report", purpose="a figure")


def save_figure(figure: Any, path: str | Path) -> None:
    """Writes a figure as PDF, PNG or SVG by its name, without a date in it."""
    from litepyramid.io.files import atomic_write

    check_figure(path)
    form = Path(path).suffix.lower().removeprefix(".")
    dated = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}[form]
    with atomic_write(path, binary=True) as file:
        figure.savefig(file, format=form, dpi=160, metadata=dated)


def plain_axes(axes: Any) -> None:
    """Takes off what carries no data: the upper and right frame; adds a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)


def style(number: int) -> str:
    """Marker and line of the curve of that number: another one when the colours begin anew.

    Example:
        >>> style(0), style(len(COLOURS))
        ('o-', 's--')
    """
    return ("o-", "s--", "^:", "D-.")[number // len(COLOURS) % 4]
