"""Self-contained HTML pages: scores, which fact is in which summary; what changed
between runs."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from litepyramid.errors import InputError
from litepyramid.pages import fill_page
from litepyramid.text import legible

LARGEST = 40_000_000
"""Characters of a page that browsers still open in a few seconds."""

_SHARED = ("report.css", "parts.js")


def made_page(title: str, data: Mapping[str, Any], page: str = "report") -> str:
    """The page ``report`` or ``changes``.

    Nothing is loaded from anywhere: styles, script and data are inside, and a content
    security policy allows its own script and styles by their hash and nothing else. The
    script makes no HTML of any text, so a hostile summary cannot do anything.
    InputError if it is over `LARGEST`.
    """
    shared = [name for name in _SHARED if not name.startswith(page)]
    notes = [legible(note) for note in data["notes"]]
    drawn = compact(
        {
            **data,
            "signature": str(data["signature"]),
            "notes": notes,
        }
    )
    text = fill_page(
        "litepyramid.reports",
        page,
        drawn,
        shared=shared,
        title=legible(title),
    )
    # A lone surrogate cannot be written to a file.
    text = text.encode("utf-8", "replace").decode()

    if len(text) > LARGEST:
        raise InputError(
            f"a page of {len(text) / 1e6:.0f} MB",
            expected=f"at most {LARGEST / 1e6:.0f} MB, for a browser to open it",
            hint="Score only some inputs or systems for the page.",
        )

    return text


def compact(value: Any) -> Any:
    """Records as JSON values, numbers with five decimals, NaN as null."""
    if isinstance(value, float):
        return round(float(value), 5) if value == value else None
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: compact(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [compact(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else value
