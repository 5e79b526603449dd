"""Reference summaries: one input per line, sentences marked or not, one reference or several."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.io.inputs import read_entries
from litepyramid.types import InputReferences

_MARK = re.compile(r"<t>(.*?)</t>", re.DOTALL)


def read_references(
    path: str | Path, ids: Sequence[str] | None = None, *, columns: Mapping[str, str] | None = None
) -> list[InputReferences]:
    """Reads the references of every input.

    A JSON line is ``{"input": id, "references": [reference, …]}``; a reference is its text or a
    list of its sentences. A row of a table has the columns ``input`` and ``reference``; several
    references are several rows. A line of a line file is one reference, or several with tabs
    between them. A text may mark its sentences with ``<t> … </t>``.

    Raises:
        InputError: An empty reference or sentence, marks that do not close … with file and line.
    """
    result = []
    for entry in read_entries(path, "reference", ids, columns):
        parsed = [split_marks(value, path=path, line=entry.line) for value in entry.values]
        result.append(
            InputReferences(
                entry.input, tuple(p[0] for p in parsed), tuple(marked for _, marked in parsed)
            )
        )
    return result


def split_marks(
    reference: str | list[Any], *, path: str | Path | None = None, line: int | None = None
) -> tuple[tuple[str, ...], bool]:
    """The sentences of a reference as its own marks give them, and whether it had any.

    Example:
        >>> split_marks("<t> It rained . </t> <t> We left . </t>")
        (('It rained .', 'We left .'), True)
        >>> split_marks("It rained. We left.")
        (('It rained. We left.',), False)
    """
    if isinstance(reference, list):
        if not reference or not all(isinstance(s, str) and s.strip() for s in reference):
            raise InputError(
                "a reference without sentences, or with an empty one",
                path=path,
                line=line,
                expected="a list of sentences",
            )
        return tuple(sentence.strip() for sentence in reference), True
    if not isinstance(reference, str) or not reference.strip():
        raise InputError("empty reference", path=path, line=line, expected="some text")
    if "<t>" not in reference and "</t>" not in reference:
        return (reference.strip(),), False
    closed, end, open_ = reference.rpartition(
        "</t>"
    )  # else each mark that does not close is sought
    closed += end
    sentences = tuple(s.strip() for s in _MARK.findall(closed) if s.strip())
    rest = (_MARK.sub("", closed) + open_).strip()
    if rest or not sentences:
        raise InputError(
            f"text outside the sentence marks ({rest[:40]!r})",
            path=path,
            line=line,
            expected="every sentence between <t> and </t>",
        )
    return sentences, True
