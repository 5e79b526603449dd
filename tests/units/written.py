"""Frames and trees as the tests write them, in a line each, and as chance does."""

from pathlib import Path

import pytest
from hypothesis import strategies as st

from litepyramid.units.parses import Frame, ParsedSentence
from litepyramid.units.trees import Word

FOLDER = Path(__file__).parents[1] / "data" / "ud"

WORDS = [
    "Ann",
    "Lee",
    "man",
    "dogs",
    "it",
    "she",
    "his",
    "They",
    "its",
    "who",
    "which",
    "was",
    "has",
    "can",
    "wanted",
    "said",
    "made",
    "to",
    "from",
    "of",
    "in",
    "if",
    "not",
    "there",
    ",",
    ":",
    "'",
    ".",
]
ROLES = ["ARG0", "ARG1", "R-ARG0", "ARGM-TMP", "ARGM-NEG", "ARGM-MOD", "C-ARG1", "V"]
RELATIONS = [
    "nsubj",
    "nsubj:pass",
    "obj",
    "obl",
    "xcomp",
    "ccomp",
    "advcl",
    "acl",
    "acl:relcl",
    "conj",
    "cop",
    "aux",
    "aux:pass",
    "mark",
    "case",
    "cc",
    "parataxis",
    "advmod",
    "punct",
    "expl",
    "root",
    "nmod",
    "nmod:poss",
    "flat",
]
CLASSES = ["VERB", "NOUN", "PROPN", "PRON", "AUX", "ADV", "PUNCT"]


def blocks(name):
    """Cases of a file: a comment that names it, a line of words, a line for each
    result."""
    cases = []
    for block in (FOLDER / name).read_text().strip().split("\n\n"):
        title, words, *expected = block.split("\n")
        cases.append(pytest.param(words, expected, id=title[2:]))
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


@st.composite
def any_frames(draw) -> ParsedSentence:
    """Any words with any frames."""
    tokens = tuple(draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12)))
    tag = st.builds("{}-{}".format, st.sampled_from("BI"), st.sampled_from(ROLES))
    row = st.lists(st.just("O") | tag, min_size=len(tokens), max_size=len(tokens))
    frames = []
    for tags in draw(st.lists(row, max_size=4)):
        verb = draw(st.integers(0, len(tokens) - 1))
        tags[verb] = "B-V"
        frames.append(Frame(verb, tuple(tags)))
    return ParsedSentence(tokens, tuple(frames))


def any_trees() -> st.SearchStrategy[list[Word]]:
    """Any words with any heads, circles among them."""
    word = st.builds(
        Word,
        st.sampled_from(WORDS),
        st.sampled_from(CLASSES),
        st.integers(-1, 11),
        st.sampled_from(RELATIONS),
        st.sampled_from(["NN", "NNS", ""]),
    )
    return st.lists(word, min_size=1, max_size=12)
