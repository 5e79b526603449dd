"""Texts as judges read them: one form of characters, and numbers and dates by value.

A judge is asked about a unit in the words of the summary: each number of the unit whose
value the summary holds is spelled as the summary spells it (4,000, 4000, 4k and four
thousand). Nothing else changes, and all spellings of a unit get one answer.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from litepyramid.text import without_markup

# Soft hyphens, spaces and joiners of no width, marks of direction: none is read.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069"
    "\ufeff]"
)
# Between letters of Latin, Greek and Cyrillic joiners change nothing.
_JOINERS = re.compile("(?<=[\u0000-\u052f])[\u200c\u200d](?=[\u0000-\u052f])")

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_MONTHS = (
    "january february march april may june july august september october november "
    "december"
)

SMALL = {word: value for value, word in enumerate(_ONES.split())}
TENS = {word: 10 * value for value, word in enumerate(_TENS.split(), start=2)}
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "k": 10**3,
    "million": 10**6,
    "mn": 10**6,
    "billion": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
    "tn": 10**12,
}
MONTHS = {word: value for value, word in enumerate(_MONTHS.split(), start=1)}
MONTHS |= {word[:3]: value for word, value in MONTHS.items()} | {"sept": 9}

_SUFFIXES = ("k", "mn", "bn", "tn")
_PRONOUN = re.compile(r"\s(?:of|another|who|that|or|day|thing)\b", re.IGNORECASE)
_BEFORE_PRONOUN = re.compile(
    r"\b(?:no|any|every|each|this|that|the|which|another)\s$", re.IGNORECASE
)
_LONGEST = 40  # characters of a number in digits
_TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|[A-Za-z]+")

_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b(?![.,:/]\d|%)"
_STOP = r"(?:\.(?=,?\s[12]\d{3}\b))?"  # of an abbreviation, not of the sentence
_YEAR = r"(?P<after>,?\s(?P<year>[12]\d{3})\b)?"
_DATES = (
    re.compile(r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?![\w-])"),
    re.compile(rf"\b{_MONTH}\.?\s{_DAY}{_YEAR}", re.IGNORECASE),
    re.compile(
        rf"(?<![\w.,:/-]){_DAY}(?:\sof)?\s{_MONTH}{_STOP}{_YEAR}", re.IGNORECASE
    ),
)


def as_read(
    items: Sequence[tuple[str, Sequence[str]]], *, numbers: bool = True
) -> list[tuple[str, Sequence[str]]]:
    """Summaries and units as the embedded judges read them: as `plain_text`, and, in
    English, numbers of units as the summary spells them (`respelled`).

    Example:
        >>> as_read([("Some 4,000 left.", ["Four thousand left."])])
        [('Some 4,000 left.', ['4,000 left.'])]
    """
    read: list[tuple[str, Sequence[str]]] = []
    for summary, units in items:
        premise = plain_text(summary)
        asked = [*map(plain_text, units)]
        # Without a number or a date in the summary no unit can change.
        if numbers and _spellings(premise):
            asked = [respelled(unit, premise) for unit in asked]
        read.append((premise, asked))
    return read


def normalized(text: str) -> str:
    r"""The text in Unicode's NFKC, without invisible characters.

    Example:
        >>> normalized("１２ Cafe\u0301s, a soft\u00adhyphen")
        '12 Cafés, a softhyphen'
    """
    if text.isascii():
        return text

    composed = unicodedata.normalize("NFKC", text)
    return _JOINERS.sub("", _INVISIBLE.sub("", composed))


def plain_text(text: str) -> str:
    """The text as the embedded judges read it: `normalized`, without the marks of
    Markdown."""
    return normalized(without_markup(text))


class Quantity(NamedTuple):
    """A number or a date, and where it stands in a text; of a date, `year` if it has
    one."""

    start: int
    end: int
    value: Decimal | tuple[int, int]
    year: str = ""


@lru_cache(maxsize=1 << 16)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The numbers and dates of a text, in their order.

    Example:
        >>> text = "On May 3 some 4,000 people, a dozen dogs and $3.2bn."
        >>> [(text[q.start : q.end], q.value) for q in quantities(text)]
        [('May 3', (5, 3)), ('4,000', Decimal('4000')), ('a dozen', Decimal('12')),
         ('3.2bn', Decimal('3200000000.0'))]
    """
    dates = list(_dates(text))

    # The numbers of a date are no numbers of their own.
    rest = []
    end = 0
    for date in dates:
        rest += [text[end : date.start], "\0" * (date.end - date.start)]
        end = date.end
    numbers = _numbers("".join([*rest, text[end:]]))

    return tuple(sorted([*dates, *numbers], key=lambda quantity: quantity.start))


def respelled(unit: str, summary: str) -> str:
    """The unit, with the numbers and dates that the summary holds spelled as there.

    The summary's first spelling of a value counts.

    Example:
        >>> respelled("Four thousand people left on 3 May.", "On May 3rd, 4,000 left.")
        '4,000 people left on May 3rd.'
    """
    asked = quantities(unit)
    if not asked:
        return unit

    spellings = _spellings(summary)
    pieces = []
    end = 0

    for quantity in asked:
        # Five is the summary's 5, and 3 May its May 3rd; a year must be the same.
        spelling = spellings.get((quantity.value, quantity.year))
        if spelling is None:
            continue

        pieces += [unit[end : quantity.start], spelling]
        end = quantity.end

    return "".join([*pieces, unit[end:]])


@lru_cache(maxsize=1 << 12)
def _spellings(text: str) -> Mapping[tuple[Decimal | tuple[int, int], str], str]:
    """The first spelling of every value of a text; a date counts with its year, and for
    whoever asks without one."""
    first: dict[tuple[Decimal | tuple[int, int], str], str] = {}
    for quantity in quantities(text):
        spelling = text[quantity.start : quantity.end]
        first.setdefault((quantity.value, quantity.year), spelling)
        first.setdefault((quantity.value, ""), spelling)
    return first


def _dates(text: str) -> Iterator[Quantity]:
    """Days of a year: 2020-05-03, May 3, 3rd of May 2020."""
    end = 0
    found = []
    for pattern in _DATES:
        found += list(pattern.finditer(text))

    for match in sorted(found, key=lambda match: match.start()):
        name = match["month"].lower()
        month = int(name) if name.isdigit() else MONTHS[name]
        day = int(match["day"])
        # Two patterns may find one date; 31 is no month.
        if match.start() < end or not (1 <= month <= 12 and 1 <= day <= 31):
            continue

        end = match.end()
        yield Quantity(match.start(), end, (month, day), match["year"] or "")


def _numbers(text: str) -> Iterator[Quantity]:
    """Numbers in digits and in words, one after the other."""
    tokens = list(_TOKEN.finditer(text))
    place = 0
    while place < len(tokens):
        first = tokens[place]
        read = _in_digits if first[0][0].isdigit() else _in_words
        value, after = read(text, tokens, place)
        if value is not None:
            yield Quantity(first.start(), tokens[after - 1].end(), value)
        place = after


def _in_digits(
    text: str, tokens: list[re.Match[str]], place: int
) -> tuple[Decimal | None, int]:
    """A number in digits, perhaps with a scale (3.2 billion), and the token after
    it."""
    token = tokens[place]
    before = text[max(0, token.start() - 2) : token.start()]
    # 1990s, v2.1 and 12:30 are no quantities.
    glued = before[-1:].isalnum() or (before[-1:] in ".,:/" and before[:1].isdigit())
    goes_on = re.match(r"[.,:/]\d", text[token.end() : token.end() + 2])
    if glued or goes_on or token.end() - token.start() > _LONGEST:
        return None, place + 1

    value = Decimal(token[0].replace(",", ""))
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    if following is None:
        return value, place + 1

    gap = text[token.end() : following.start()]
    word = following[0].lower()
    if word in SCALES and (gap in (" ", "-") or (not gap and word in _SUFFIXES)):
        return value * SCALES[word], place + 2

    # 4th, 5m and 747s are no numbers.
    return (None if not gap else value), place + 1


def _in_words(
    text: str, tokens: list[re.Match[str]], place: int
) -> tuple[Decimal | None, int]:
    """A number in words (two hundred and five, a dozen), and the token after it."""
    # No number is spelled in more words.
    words = [token[0].lower() for token in tokens[place : place + 12]]
    total = 0
    current = 0
    after = 0

    # "a" and "half a" count before a scale alone.
    if words[0] == "half" and words[1:2] in (["a"], ["an"]):
        after = 2
    elif words[0] in ("a", "an"):
        after = 1

    if after:
        scale = words[after] if after < len(words) else ""
        if SCALES.get(scale, 0) < 12 or scale in _SUFFIXES:
            return None, place + 1
        value = Decimal(SCALES[scale]) / (2 if after == 2 else 1)
        return value, place + after + 1

    last = ""
    while after < len(words):
        word = words[after]
        if after and not _joined(text, tokens, place + after):
            break

        if word == "and" and last == "scale":
            number = words[after + 1] if after + 1 < len(words) else ""
            if number not in SMALL and number not in TENS:
                break
            after += 1
            word = number

        if word in SMALL and (
            last in ("", "scale") or (last == "tens" and 0 < SMALL[word] < 10)
        ):
            current += SMALL[word]
            last = "small"
        elif word in TENS and last in ("", "scale"):
            current += TENS[word]
            last = "tens"
        elif word in SCALES and word not in _SUFFIXES and last:
            scale_value = SCALES[word]
            if scale_value <= 100:
                current *= scale_value
            else:
                total, current = total + current * scale_value, 0
            last = "scale"
        else:
            break

        after += 1

    if not last or (words[:after] == ["one"] and _is_pronoun(text, tokens[place])):
        return None, place + 1
    return Decimal(total + current), place + after


def _joined(text: str, tokens: list[re.Match[str]], place: int) -> bool:
    """Whether only a space or a hyphen stands before a token."""
    return text[tokens[place - 1].end() : tokens[place].start()] in (" ", "-")


def _is_pronoun(text: str, token: re.Match[str]) -> bool:
    """Whether "one" counts nothing: one of them, no one, the one."""
    if _PRONOUN.match(text, token.end()):
        return True
    before = text[max(0, token.start() - 12) : token.start()]
    return _BEFORE_PRONOUN.search(before) is not None
