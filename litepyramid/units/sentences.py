"""Sentences and tokens of a reference, with nothing to download.

A reference's own marks come first. Text without marks is split by spaCy's rules for sentence ends:
on the REALSumm references, whose marks are the truth, they find 99.6 % of the boundaries with no
false one (F1 .998), pysbd 95.5 % with 1.2 % false ones (F1 .972); on the raw text of UD English
EWT, where many sentences have no full stop, F1 is .854 and .845 (scripts/compare_splitters.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from litepyramid.errors import InputError, ModelError
from litepyramid.text import cut
from litepyramid.types import InputReferences
from litepyramid.units.parses import LONGEST, ParsedReference, ParsedSentence

Splitter = Callable[[str], list[str]]


def tokenizer() -> Callable[[str], tuple[str, ...]]:
    """A function from a text to its words, by spaCy's rules for English (Penn style, "do n't").

    Text whose words have spaces between them already is split at hyphens and the like alone.

    Example:
        >>> tokenizer()("She didn't pay  $5, he said.")
        ('She', 'did', "n't", 'pay', '$', '5', ',', 'he', 'said', '.')
    """
    import spacy

    tokenize = spacy.blank("en").tokenizer

    def tokens(text: str) -> tuple[str, ...]:
        return tuple(token.text for token in tokenize(_parted(" ".join(text.split()))))

    return tokens


def _parted(text: str) -> str:
    """The text with a space wherever 200 characters had none: spaCy takes n² time for n of them."""
    return re.sub(r"\S{200}(?=\S)", r"\g<0> ", text)


def _rules() -> Splitter:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 10**9
    return lambda text: [sentence.text.strip() for sentence in nlp(_parted(text)).sents]


def _punkt() -> Splitter:
    from importlib import import_module

    try:
        punkt: Any = import_module("nltk.tokenize.punkt").PunktTokenizer("english")
    except LookupError:
        raise ModelError(
            "the data of NLTK's Punkt splitter is not installed",
            hint='Run python -m nltk.downloader punkt_tab, or use the splitter "rules".',
        ) from None
    return lambda text: list(punkt.tokenize(text))


SPLITTERS: dict[str, Callable[[], Splitter]] = {"punkt": _punkt, "rules": _rules}
"""Sentence splitters by name: spaCy's rules (the default), or NLTK's Punkt."""


def make_splitter(name: str) -> Splitter:
    """The sentence splitter called `name`.

    Raises:
        InputError: Unknown splitter.
        ModelError: Punkt is asked for and its data is not installed.

    Example:
        >>> make_splitter("rules")("Mr. Bray left. Who cares?")
        ['Mr. Bray left.', 'Who cares?']
    """
    if name not in SPLITTERS:
        raise InputError(
            f"unknown splitter '{name}'", hint=f"Choose {' or '.join(sorted(SPLITTERS))}."
        )
    return SPLITTERS[name]()


def tokenized(
    references: Sequence[InputReferences], splitter: Splitter
) -> tuple[ParsedReference, ...]:
    """Every reference as sentences of tokens, in order.

    Args:
        references: As `read_references` gives them.
        splitter: Splits those that have no marks of their own.

    Raises:
        InputError: A sentence has more than 1,000 words.
    """
    tokens = tokenizer()

    def sentences(name: str, texts: Sequence[str], marked: bool) -> Iterator[ParsedSentence]:
        for text in texts:
            for sentence in [text] if marked else splitter(text):
                words = tokens(sentence)
                if len(words) > LONGEST:
                    raise InputError(
                        f"a sentence of {len(words)} words in a reference of input '{name}' "
                        f"('{cut(sentence, 40)}')",
                        expected=f"at most {LONGEST}",
                        hint="Mark its sentences with <t> and </t>.",
                    )
                if words:
                    yield ParsedSentence(words)

    return tuple(
        ParsedReference(entry.input, index, tuple(sentences(entry.input, texts, marked)))
        for entry in references
        for index, (texts, marked) in enumerate(zip(entry.references, entry.marked, strict=True))
    )
