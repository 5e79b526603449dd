"""Texts as one line."""

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
