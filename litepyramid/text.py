"""Texts as one line, and numbers of things."""

from __future__ import annotations

import re

_BREAKS = frozenset("\t\n\r")


def one_line(text: str) -> str:
    r"""The text with every white space that holds a tab or a line break as one space.

    So a text from JSON is the text that a line file would hold; all other white space stays.

    Example:
        >>> one_line(" It rained.\n\n\tThe  river rose. ")
        ' It rained. The  river rose. '
    """
    if _BREAKS.isdisjoint(text):
        return text
    return re.sub(r"\s+", lambda run: run[0] if _BREAKS.isdisjoint(run[0]) else " ", text)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with what it counts, in the singular or the plural.

    Args:
        number: How many.
        one: What one is called; what is said of it may follow.
        many: What several are called; `one` with an s if it is not given.

    Example:
        >>> counted(1, "unit"), counted(0, "unit"), counted(2, "summary is", "summaries are")
        ('1 unit', '0 units', '2 summaries are')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"
