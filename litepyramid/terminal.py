"""Tables as text for a terminal: as wide as it is, and no number is ever cut."""

import re
import shutil
from collections.abc import Sequence
from unicodedata import east_asian_width

_NARROWEST = 40  # columns of a terminal that tables are made for at least
_FOLDED = 16  # to which a column of texts is folded before a table is split
_GAP = 3  # spaces between columns
_BOLD = "\x1b[1m{}\x1b[0m"
_DIM = "\x1b[2m{}\x1b[0m"


def terminal_width() -> int:
    """The columns of the terminal, or those that COLUMNS says, else 80."""
    return max(_NARROWEST, shutil.get_terminal_size((80, 24)).columns)


def width_of(text: str) -> int:
    """The columns that a text takes: two for each wide letter of East Asia.

    Example:
        >>> width_of("ab"), width_of("北京")
        (2, 4)
    """
    return len(text) + sum(east_asian_width(letter) in "WF" for letter in text)


def folded(text: str, width: int) -> list[str]:
    """A text in lines of at most so many columns, broken at spaces where there are
    some.

    Example:
        >>> folded("two words", 5), folded("unbroken", 5)
        (['two', 'words'], ['unbro', 'ken'])
    """
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width_of(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if width_of(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
    return lines


def table_lines(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    repeated: int,
    width: int,
    *,
    colour: bool = False,
) -> list[str]:
    """The lines of a table; one that is too wide is split by columns, the first ones
    repeated."""
    needed = []
    for i, title in enumerate(titles):
        longest = max([width_of(row[i]) for row in rows], default=0)
        narrowest = longest if numeric[i] else min(longest, _FOLDED)
        needed.append(max([narrowest, *map(width_of, title.split())]))

    lines: list[str] = []
    for part in _parts(needed, repeated, width) if titles else ():
        shown = rows
        # A row of a further part that says nothing there is left out.
        if lines:
            shown = [row for row in rows if any(row[i] for i in part[repeated:])]
        more = _part(titles, shown, numeric, needed, part, width, colour)
        lines += ["", *more] if lines else more
    return lines


def _parts(needed: Sequence[int], repeated: int, width: int) -> list[list[int]]:
    """The columns of each part: the repeated ones, and those that fit next to them."""
    first = list(range(min(repeated, len(needed))))
    parts = [[*first]]
    for column in range(len(first), len(needed)):
        taken = _taken([needed[i] for i in (*parts[-1], column)])
        if taken > width and parts[-1] != first:
            parts.append([*first])
        parts[-1].append(column)
    return parts


def _taken(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1) + 2


def _part(
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    needed: Sequence[int],
    part: Sequence[int],
    width: int,
    colour: bool,
) -> list[str]:
    """Some columns of a table, texts folded as far as the width asks."""
    widths = {}
    for i in part:
        cells = [width_of(row[i]) for row in rows]
        widths[i] = max([needed[i], width_of(titles[i]), *cells])
    # What is too wide is taken from the widest column that can be folded.
    while _taken([*widths.values()]) > width:
        wide = [i for i in part if widths[i] > needed[i]]
        if not wide:
            break
        widest = max(wide, key=widths.__getitem__)
        widths[widest] -= 1

    head = _row([titles[i] for i in part], part, widths, numeric)
    whole = "─" * min(width, _taken([*widths.values()]))
    lines = [_BOLD.format(line) if colour else line for line in head]
    lines.append(_DIM.format(whole) if colour else whole)
    for row in rows:
        lines += _row([row[i] for i in part], part, widths, numeric)
    return lines


def _row(
    cells: Sequence[str],
    part: Sequence[int],
    widths: dict[int, int],
    numeric: Sequence[bool],
) -> list[str]:
    """One row in as many lines as its longest cell takes."""
    columns = []
    for i, cell in zip(part, cells, strict=True):
        # A number is never folded: nobody could read it.
        lines = [cell] if numeric[i] and " " not in cell else folded(cell, widths[i])
        columns.append(lines)

    rows = []
    for n in range(max(map(len, columns))):
        line = []
        for i, lines in zip(part, columns, strict=True):
            text = lines[n] if n < len(lines) else ""
            space = " " * max(0, widths[i] - width_of(text))
            line.append(space + text if numeric[i] else text + space)
        rows.append(f" {(' ' * _GAP).join(line)}".rstrip())
    return rows


def wrap_note(note: str, width: int) -> list[str]:
    """A note in lines of at most `width`, broken at spaces and after the bars of a
    signature."""
    indent = " " * (len(note) - len(note.lstrip(" ")))
    lines = [indent]
    for piece in re.findall(r"[^ |]*[ |]|[^ |]+", note.lstrip(" ")):
        if width_of(lines[-1] + piece.rstrip()) > width and lines[-1].strip():
            lines.append(indent)
        lines[-1] += piece
    return [line.rstrip() for line in lines]
