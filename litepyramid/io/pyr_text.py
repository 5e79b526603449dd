"""The text of a pyramid file: which references stand in it, and where its labels do."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_PATTERN_TEXT = 200_000
_RULE = re.compile(r"[-=_*]{3,}")
_PLAIN_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|[^\\()|{}]", re.DOTALL)


def packed(text: str) -> str:
    """The text without white space: DUCView drops the line breaks inside a part's label."""
    return "".join(text.split())


def nearest(text: str, label: str, start: int) -> tuple[int | None, int | None]:
    """Where the label really stands, closest to the offset that the file gives."""
    places = [place for place, char in enumerate(text) if not char.isspace()]
    squeezed, wanted = packed(text), packed(label)
    found = [m.start() for m in re.finditer(re.escape(wanted), squeezed)]
    if not found:
        return None, None
    best = min(found, key=lambda index: abs(places[index] - start))
    return places[best], places[best + len(wanted) - 1] + 1


def heading_places(text: str, lines: Sequence[str], pattern: str) -> list[tuple[int, int]]:
    """Per reference, where its heading starts and where it ends; [] if it cannot be told.

    The file's own pattern is used first; it comes from others, so it is only run if it can be
    made free of backtracking (no groups, every repetition possessive). Else a heading is a line
    between two rules of dashes.
    """
    safe = _possessive(pattern)
    if safe is not None and len(text) <= MAX_PATTERN_TEXT:
        # DUCView's pattern may begin with an optional rule: no match is empty.
        found = [(m.start(), m.end()) for m in safe.finditer(text) if m.end() > m.start()]
        if len(found) > 1:
            return found
    starts = []
    offset = 0
    offsets = []
    for line in lines:
        offsets.append(offset)
        offset += len(line) + 1
    for i in range(len(lines) - 2):
        above, title, below = (lines[i + k].strip() for k in range(3))
        if _RULE.fullmatch(above) and _RULE.fullmatch(below) and title:
            starts.append((offsets[i], offsets[i + 2] + len(lines[i + 2])))
    return starts


def _possessive(pattern: str) -> re.Pattern[str] | None:
    """The pattern with every repetition possessive; None if it is empty, odd or has groups."""
    pattern = pattern.strip("\r\n")
    out: list[str] = []
    place = 0
    while place < len(pattern):
        atom = _PLAIN_CLASS.match(pattern, place)
        if atom is None or atom[0] in "*+?" or (atom[0][0] == "\\" and atom[0][1].isdigit()):
            return None
        place = atom.end()
        out.append(atom[0])
        if place < len(pattern) and pattern[place] in "*+?":
            out.append(pattern[place] + "+")
            place += 1
            if place < len(pattern) and pattern[place] in "?+":
                return None
    try:
        return re.compile("".join(out)) if out else None
    except re.error:
        return None


def split_text(
    text: str, starts: list[tuple[int, int]]
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The lines of each reference below its heading, and the titles in the headings."""
    references, titles = [], []
    for index, (start, end) in enumerate(starts):
        last = starts[index + 1][0] if index + 1 < len(starts) else len(text)
        lines = (" ".join(line.split()) for line in text[end:last].split("\n"))
        references.append(tuple(line for line in lines if line))
        heading = (line.strip() for line in text[start:end].split("\n"))
        titles.append(next((h for h in heading if h and not _RULE.fullmatch(h)), ""))
    return tuple(references), tuple(titles)
