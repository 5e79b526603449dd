"""rouge-score's words, kept line by line so that a search that mixes sentences cuts each once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

Tokens = tuple[str, ...]


def line_tokenizer(stem: bool, lines: int = 1 << 16) -> Callable[[str], Tokens]:
    r"""rouge-score's tokenizer with a memory of the lines it has cut.

    It lower-cases, keeps runs of ``a-z0-9`` and, with `stem`, stems words of more than three
    letters (Porter). White space always parts words, so the words of a text are those of its
    lines, one after the other.

    Args:
        stem: Whether to stem.
        lines: How many different lines to remember.

    Example:
        >>> line_tokenizer(stem=True)("Two cats\nwere sleeping.")
        ('two', 'cat', 'were', 'sleep')
    """
    from rouge_score.tokenize import tokenize  # type: ignore[import-untyped]

    stemmer = _RememberingStemmer() if stem else None

    @lru_cache(maxsize=lines)
    def cut(line: str) -> Tokens:
        return tuple(tokenize(line, stemmer))

    def words(text: str) -> Tokens:
        if "\n" not in text:
            return cut(text)
        return tuple(word for line in text.split("\n") for word in cut(line))

    return words


class _RememberingStemmer:
    """NLTK's Porter stemmer, each word stemmed once."""

    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer  # type: ignore[import-untyped]

        self.stem = lru_cache(maxsize=1 << 16)(PorterStemmer().stem)
