"""One self-contained HTML page of scores: which fact is in which summary, and why."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.files import atomic_write
from litepyramid.pages import fill_page
from litepyramid.text import legible

LARGEST = 40_000_000
"""Characters of a page that browsers still open in a few seconds."""


_SHARED = ("report.css", "parts.js")


def rounded(value: float | None, digits: int = 5) -> float | None:
    """A number of a page's data; None for NaN."""
    return None if value is None or value != value else round(float(value), digits)


def utf16(text: str, index: int) -> int:
    """A place in a text as a browser counts: a character beyond U+FFFF is two.

    Example:
        >>> utf16("a\U0001f600b", 2)
        3
    """
    return len(text[:index].encode("utf-16-le", "surrogatepass")) // 2


def write_page(
    title: str, data: Mapping[str, Any], path: str | Path | None = None, *, page: str = "report"
) -> str:
    """The page of systems, differences, facts by summary, calibration; or of changes.

    Nothing is loaded from anywhere: styles, script and data are inside, and a content security
    policy allows its own script and styles by their hash and nothing else. The script makes no
    HTML of any text, so a hostile summary cannot do anything.

    Args:
        title: What the scores are.
        data: What the script draws, as `scoring.facts.page_data` makes it.
        path: Write the page here, all or nothing.
        page: The template: ``report`` or ``changes``.

    Raises:
        InputError: The page would be larger than `LARGEST`.
    """
    shared = [name for name in _SHARED if not name.startswith(page)]
    text = fill_page("litepyramid.reports", page, data, shared=shared, title=legible(title))
    # A lone surrogate cannot be written to a file.
    text = text.encode("utf-8", "replace").decode()
    if len(text) > LARGEST:
        raise InputError(
            f"a page of {len(text) / 1e6:.0f} MB",
            path=path,
            expected=f"at most {LARGEST / 1e6:.0f} MB, for a browser to open it",
            hint="Score only some inputs or systems for the page.",
        )
    if path is not None:
        with atomic_write(path) as file:
            file.write(text)
    return text
