"""Words of a unit as the reference writes them: its own spaces, marks where they
belong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from litepyramid.text import word_set

_NO_SPACE_BEFORE = word_set(
    ", . ; : ! ? ) ] } % ... … '' ” ’ n't n’t 's ’s 're ’re 've ’ve 'll ’ll 'd ’d 'm ’m"
)
_NO_SPACE_AFTER = word_set("( [ { $ £ € # `` “ ‘")
_NO_OWNERS = word_set(
    "as is was has does this his its says tells asks calls adds writes reads claims"
)
"""Words in s behind which a lone ' opens a quotation."""
_PAIRED = word_set("' \"")
"""Quotation marks that open and close alike."""
_OPENING = {
    "(": ")",
    "[": "]",
    "``": "''",
    "“": "”",
    "‘": "’",
}

_TOKENIZED = re.compile(r"\w [,.](?:\s|$)")
_APART = re.compile(r"(?<=\w) ' (?=(?:s|re|ve|ll|d|m)\b)")
_MARKS = {
    "``": '"',
    "''": '"',
    "`": "'",
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
}
"""How tokenizers write quotation marks and brackets."""

Word = tuple[str, bool]
"""A word and whether the reference has a space before it."""


def spaces_before(text: str, tokens: Sequence[str]) -> list[bool]:
    """Whether a space stands before each token in the text; True where the token is not
    found there.

    Example:
        >>> spaces_before("It's 5-0.", ["It", "'s", "5", "-", "0", "."])
        [True, False, True, False, False, False]
    """
    spaces = []
    end = 0
    for token in tokens:
        start = text.find(token, end)
        between = text[end:start]

        # What is far away is another word: the tokens were made from another text.
        if start < 0 or between.strip():
            spaces.append(True)
            continue

        spaces.append(bool(between) or start == 0)
        end = start + len(token)

    return spaces


def spelled(words: Sequence[Word]) -> str:
    """The words as one text, without quotation marks and brackets whose partner is
    missing.

    Example:
        >>> words = ["She", "was", "n't", ",", "er"]
        >>> spelled([(word, True) for word in words])
        "She wasn't, er"
    """
    return _joined(_balanced(words))


def untokenized(text: str) -> str:
    """A text as people write it where it is a row of tokens; any other as it is.

    Example:
        >>> untokenized("Thailand , researchers say , is n't ` dry ' ( yet ) .")
        "Thailand, researchers say, isn't 'dry' (yet)."
        >>> untokenized("It cost 4.50, he said.")
        'It cost 4.50, he said.'
    """
    if not _TOKENIZED.search(text):
        return text
    lines = []
    for line in _APART.sub(" '", text).splitlines():
        words = [_MARKS.get(word.upper(), word) for word in line.split()]
        lines.append(_joined([(word, True) for word in words]))
    return "\n".join(lines)


def _joined(words: Sequence[Word]) -> str:
    """The words as one text, marks where they belong."""
    whose = _apostrophes(words)
    text = ""
    glued = True
    open_quotes: set[str] = set()

    for number, (word, space) in enumerate(words):
        closes = word in open_quotes
        attached = word in _NO_SPACE_BEFORE or closes or number in whose
        if text and space and not glued and not attached:
            text += " "
        text += word

        glued = word in _NO_SPACE_AFTER
        if word in _PAIRED and number not in whose:
            glued = not closes
            open_quotes ^= {word}

    return text


def _balanced(words: Sequence[Word]) -> list[Word]:
    """Without quotation marks and brackets whose partner is not among the words."""
    removed = set()
    whose = _apostrophes(words)
    for mark in _PAIRED:
        places = [n for n, (word, _) in enumerate(words) if word == mark]
        places = [n for n in places if n not in whose]
        # Of an odd number nobody can say which one lacks its partner.
        if len(places) % 2:
            removed.update(places)

    for opening, closing in _OPENING.items():
        starts = []
        for n, (word, _) in enumerate(words):
            if word == opening:
                starts.append(n)
            elif word == closing and starts:
                starts.pop()
            # A lone ’ is an apostrophe; the "(" of "4.2(b)" is inside a word.
            elif word == closing and closing != "’":
                inside = any(opening in before[1:] for before, _ in words[:n])
                if not inside:
                    removed.add(n)
        removed.update(starts)

    kept = []
    spaced = False
    for n, (word, space) in enumerate(words):
        if n in removed:
            spaced = True
        else:
            kept.append((word, space or spaced))
            spaced = False

    return kept


def _apostrophes(words: Sequence[Word]) -> list[int]:
    """Where a lone ' is part of the word before it: "the parents' vote".

    It stands behind an s that it touches, and closes no quotation. In a text of tokens,
    where nothing touches, it is the only one, behind what may be a noun.
    """
    marks = [n for n, (word, _) in enumerate(words) if word == "'"]
    behind_s = [n for n in marks if n > 0 and words[n - 1][0].lower().endswith("s")]
    touching = []
    is_open = False

    for n in marks:
        touches = not words[n][1]
        if n in behind_s and touches and not is_open:
            touching.append(n)
        else:
            is_open = not is_open

    if touching or marks != behind_s or len(marks) > 1:
        return touching
    return [n for n in marks if words[n - 1][0].lower() not in _NO_OWNERS]
