"""The texts that are summarised: one document an input, or several."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from litepyramid.io.inputs import read_entries
from litepyramid.io.references import split_marks
from litepyramid.types import InputDocuments

_TITLES = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "st", "gen", "col", "lt", "sgt", "capt", "sen", "rep", "gov",
     "rev", "vs", "u.s", "u.k", "e.g", "i.e")
)  # fmt: skip
_END = re.compile(r"""(?<=[.?!])((?:\s?(?:''|"|”|’|\)|\]))*)\s+""")


def read_documents(
    path: str | Path, ids: Sequence[str] | None = None, *, columns: Mapping[str, str] | None = None
) -> list[InputDocuments]:
    """Reads the documents of every input, as sentences.

    A JSON line is ``{"input": id, "documents": [document, …]}``; a document is its text or a list
    of its sentences. A line of a line file is one document, or several with tabs between them. A
    text may mark its sentences with ``<t> … </t>``; without marks it is cut after ``.``, ``?``
    and ``!`` before white space. Documents stand one after the other.

    Raises:
        InputError: An empty document or sentence, marks that do not close … with file and line.
    """
    result = []
    for entry in read_entries(path, "document", ids, columns):
        sentences: list[str] = []
        for value in entry.values:
            parts, marked = split_marks(value, path=path, line=entry.line)
            sentences += parts if marked else cut_sentences(parts[0])
        result.append(InputDocuments(entry.input, tuple(sentences)))
    return result


def cut_sentences(text: str) -> list[str]:
    """Sentences of a text by their end marks alone; closing quotes stay with their sentence.

    A full stop after a title (Dr., Gen., U.S. …) or an initial ends none, and a piece without
    letters or digits goes to the sentence before it. Good enough to make extracts from; units are
    extracted with a better splitter.

    Example:
        >>> cut_sentences("It rained . `` really ? '' said Dr. J. Doe . we left")
        ['It rained .', "`` really ? ''", 'said Dr. J. Doe .', 'we left']
    """

    def cut(match: re.Match[str]) -> str:
        before = text[max(0, match.start() - 40) : match.start()]
        word = before.rstrip(". ").rsplit(None, 1)[-1:] if before.endswith(".") else []
        inside = word and (word[0].lower() in _TITLES or (len(word[0]) == 1 and word[0].isalpha()))
        return match.group() if inside else match.group(1) + "\n"

    sentences: list[str] = []
    for line in _END.sub(cut, text).split("\n"):
        part = line.strip()
        if sentences and part and not any(char.isalnum() for char in part):
            sentences[-1] += f" {part}"
        elif part:
            sentences.append(part)
    return sentences
