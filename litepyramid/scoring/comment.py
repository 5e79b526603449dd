"""A comment for a pull request: Markdown that GitHub shows as it is meant.

Names are code, in which nobody is addressed and nothing is markup; facts and sentences
are text, whose marks are escaped.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from litepyramid.text import counted, cut, written

LONGEST = 60_000
"""Characters of a comment; GitHub takes 65,536."""

_LONGEST_TEXT = 300
_SPARE = 400  # characters for the heads of both lists
_MARKUP = re.compile(r"[&<>|*_`\[\]\\~$!]")
_MENTIONS = re.compile(r"[@#](?=\w)")
_NONE = "no sentence says so"


def code(text: str, longest: int = 80) -> str:
    """A text between code marks, more of them than it holds itself.

    Example:
        >>> code("lead"), code("a`b")
        ('`lead`', '``a`b``')
    """
    text = cut(text, longest)
    # A text that holds a mark is set between more marks.
    runs = re.findall("`+", text)
    marks = "`" * (max(map(len, runs), default=0) + 1)
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{marks}{space}{text}{space}{marks}"


def escaped(text: str, longest: int = 1000) -> str:
    """A text that Markdown shows as it is, and in which nobody is addressed.

    Example:
        >>> escaped("*new* @you")
        '\\\\*new\\\\* @<!-- -->you'
    """
    shown = _MARKUP.sub(lambda mark: f"\\{mark[0]}", cut(text, longest))
    return _MENTIONS.sub(lambda mark: f"{mark[0]}<!-- -->", shown)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table of codes and numbers; a bar inside a cell is escaped."""
    lines = [f"| {' | '.join(header)} |", "|" + " --- |" * len(header)]
    for cells in rows:
        shown = [cell.replace("|", r"\|") for cell in cells]
        lines.append(f"| {' | '.join(shown)} |")
    return lines


def comment(
    head: Sequence[str],
    facts: Mapping[str, Sequence[Mapping[str, Any]]],
    foot: Sequence[str],
) -> str:
    """The whole comment, cut to `LONGEST`: `facts` are lists that open, by their
    kind."""
    lines = [*head]
    # The table and the notes are kept whole; what is cut are the lists of facts.
    room = LONGEST - len("\n".join([*head, *foot])) - _SPARE

    for kind, entries in facts.items():
        if not entries:
            continue

        shown = []
        for entry in entries:
            text = _fact(entry)
            room -= len(text) + 1
            if room < 0:
                break
            shown.append(text)

        if len(shown) < len(entries):
            shown.append(f"- … and {len(entries) - len(shown)} more")
        title = f"{counted(len(entries), 'fact')} {kind}"
        lines += ["", f"<details><summary>{title}</summary>", ""]
        lines += [*shown, "", "</details>"]

    # A head alone may be too long: a run of thousands of systems.
    return "\n".join([*lines, *foot])[:LONGEST]


def _fact(entry: Mapping[str, Any]) -> str:
    """One fact, and below it the sentences that speak of it."""
    system = code(entry["system"])
    input_ = code(entry["input"])
    lines = [f"- {system}, {input_}: **{escaped(entry['text'], _LONGEST_TEXT)}**"]

    with_texts = entry["old_sentence"] or entry["new_sentence"]
    for side in ("old", "new"):
        presence = written(entry[side], 2)
        sentence = escaped(entry[f"{side}_sentence"], _LONGEST_TEXT)
        if with_texts:
            lines.append(f"  - {side} {presence}: {sentence or _NONE}")
        else:
            lines.append(f"  - {side} {presence}")

    return "\n".join(lines)
