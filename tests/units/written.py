"""Frames and trees as the tests write them, in a line each."""

from pathlib import Path

import pytest

from litepyramid.units.parsers.embedded.frames import Word
from litepyramid.units.parses import Frame, ParsedSentence

FOLDER = Path(__file__).parents[1] / "data" / "ud"


def blocks(name):
    """Cases of a file: a comment that names it, a line of words, a line for each
    result."""
    cases = []
    for block in (FOLDER / name).read_text().strip().split("\n\n"):
        title, words, expected = block.split("\n", 2)
        cases.append(pytest.param(words, expected.split("\n"), id=title[2:]))
    return cases


def framed(text: str) -> ParsedSentence:
    """'word/TAG/TAG word/TAG/TAG …', a tag for each frame."""
    tokens, *rows = zip(*(part.split("/") for part in text.split()), strict=True)
    frames = [Frame(tags.index("B-V") if "B-V" in tags else 0, tags) for tags in rows]
    return ParsedSentence(tokens, tuple(frames))


def tree(text: str) -> list[Word]:
    """'word/UPOS/relation/head …' with heads from 1, 0 for the root; plural nouns end
    in s and get NNS."""
    words = []
    for number, part in enumerate(text.split()):
        form, upos, relation, head = part.rsplit("/", 3)
        above = int(head) - 1 if head != "0" else number
        xpos = "NNS" if upos == "NOUN" and form.endswith("s") else "NN"
        words.append(Word(form, upos, above, relation, xpos))
    return words
