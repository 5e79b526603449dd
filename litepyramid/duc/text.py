"""The text of a pyramid file: which references stand in it, and where its labels do."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

MAX_PATTERN_TEXT = 50_000
REACH = 20_000
_RULE = re.compile(r"[-=_*]{3,}")
_PLAIN_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|[^\\()|{}]", re.DOTALL)


class Packed:
    """A text without its white space, since DUCView drops the line breaks inside a part's label.

    Args:
        text: The text that the offsets of parts count in.
    """

    def __init__(self, text: str) -> None:
        self.places = [place for place, char in enumerate(text) if not char.isspace()]
        self.text = "".join(text.split())

    def find(self, label: str, start: int, end: int | None) -> tuple[int | None, int | None]:
        """Where a label stands: at the offsets that the file gives, else nearest to them.

        It is looked for within 20,000 characters (`REACH`) on either side, which is more than the
        references of a pyramid are long.

        Example:
            >>> text = Packed("It rained.\\nThe river rose.")
            >>> text.find("rained.The", 3, 14), text.find("river", 0, 5), text.find("sea", 0, 3)
            ((3, 14), (15, 20), (None, None))
        """
        wanted = "".join(label.split())
        size = len(wanted)
        here = bisect_left(self.places, start)
        stop = bisect_left(self.places, start + len(label) if end is None else end)
        if stop - here == size and self.text.startswith(wanted, here):
            return start, end
        after = self.text.find(wanted, here, here + size + REACH)
        before = self.text.rfind(wanted, max(0, here - REACH), here + size)
        found = [index for index in (before, after) if index >= 0]
        if not found:
            return None, None
        best = min(found, key=lambda index: abs(self.places[index] - start))
        return self.places[best], self.places[best + size - 1] + 1


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
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for i in range(len(lines) - 2):
        above, title, below = (lines[i + k].strip() for k in range(3))
        if _RULE.fullmatch(above) and _RULE.fullmatch(below) and title:
            starts.append((offsets[i], offsets[i + 3] - 1))
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
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            return re.compile("".join(out)) if out else None
    except re.error:
        return None


def split_text(
    text: str, starts: list[tuple[int, int]]
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...], list[list[int]]]:
    """The lines of each reference below its heading, the headings' titles, where each line ends."""
    references, titles = [], []
    ends: list[list[int]] = []
    stops = [*(start for start, _ in starts[1:]), len(text)]
    for (start, place), stop in zip(starts, stops, strict=False):
        heading = (line.strip() for line in text[start:place].split("\n"))
        titles.append(next((h for h in heading if h and not _RULE.fullmatch(h)), ""))
        lines: list[str] = []
        ends.append([])
        for line in text[place:stop].split("\n"):
            place += len(line) + 1
            if line.strip():
                lines.append(" ".join(line.split()))
                ends[-1].append(place - 1)
        references.append(tuple(lines))
    return tuple(references), tuple(titles), ends
