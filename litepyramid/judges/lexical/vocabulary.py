"""English as the lexical judges see it: tokens, stems, function words, negations, sentences.

The word lists are written for this project: facts of English, no data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError

IdArray = NDArray[np.int32]


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


def _forms(table: str) -> dict[str, str]:
    """Forms and their base, of groups such as ``take took taken;``."""
    groups = (group.split() for group in table.split(";"))
    return {form: base for base, *forms in groups for form in forms}


FUNCTION_WORDS = _words(
    """
a about after also am an and any are as at be because been before being both but by ca can could d
did do does doing done each either for from had has have having he her here hers herself him
himself his i if in into is it its itself just ll m may me might mine must my myself of off on
onto or our ours ourselves over re s shall she should since so some such t than that the their
theirs them themselves then there these they this those though through to too under until up upon
ve very was we were what when where whether which while who whom whose why will with wo would you
your yours yourself
"""
)
NEGATIONS = _words(
    """
barely cannot hardly n't neither never no nobody none nor not nothing nowhere without
"""
)
ABBREVIATIONS = _words(
    """
apr aug capt co col corp dec dr feb gen gov inc jan jr jul jun lt ltd mar mr mrs ms nov oct prof
rep sen sep sept sgt sr st vs
"""
)
IRREGULAR = _forms(
    """
arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent;
bite bit bitten; bleed bled; blow blew blown; break broke broken; bring brought; build built;
burn burnt; buy bought; catch caught; choose chose chosen; come came; creep crept; deal dealt;
dig dug; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven;
eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled;
fly flew flown; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
freeze froze frozen; get got gotten; give gave given; go went gone; grow grew grown; hang hung;
hear heard; hide hid hidden; hold held; keep kept; know knew known; lay laid; lead led;
lean leant; learn learnt; leave left; lend lent; lose lost; make made; mean meant;
meet met; pay paid; prove proven; ride rode ridden; ring rang rung; rise rose risen; run ran;
say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; shine shone;
shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat;
sleep slept; slide slid; speak spoke spoken; spend spent; spin spun; stand stood;
steal stole stolen; stick stuck; strike struck stricken; swear swore sworn; sweep swept;
swim swam swum; swing swung; take took taken; teach taught; tear tore torn; tell told;
think thought; throw threw thrown; understand understood; wake woke woken; wear wore worn;
weep wept; win won; withdraw withdrew withdrawn; write wrote written; child children;
man men; woman women; person people persons; foot feet; tooth teeth; mouse mice; wife wives;
life lives; knife knives; half halves; thief thieves; policeman policemen; good better best;
bad worse worst; u.k british britain; usa us american america; percent %; million mn; billion bn
"""
)
_NUMBERS = _forms(  # ``one`` stays a word, for it is rarely a number
    """
0 zero; 2 two twice; 3 three; 4 four; 5 five; 6 six; 7 seven; 8 eight; 9 nine; 10 ten; 11 eleven;
12 twelve; 13 thirteen; 14 fourteen; 15 fifteen; 16 sixteen; 17 seventeen; 18 eighteen; 19 nineteen;
20 twenty; 30 thirty; 40 forty; 50 fifty; 60 sixty; 70 seventy; 80 eighty; 90 ninety; 100 hundred;
1000 thousand; 1st first; 2nd second; 3rd third; 4th fourth; 5th fifth; 6th sixth; 7th seventh;
8th eighth; 9th ninth; 10th tenth
"""
)

_TOKEN = re.compile(
    r"</?[a-z]{1,5}>"  # marks such as <t> or <unk> are not words
    r"|n't\b"
    r"|\d+(?:st|nd|rd|th)\b|\d[\d,.]*\d|\d"
    r"|per\s?cent\b|%"
    r"|(?:[^\W\d_]\.){2,}"  # U.S.
    r"|[^\W\d_]+?(?=n't\b)|[^\W\d_]+"
    r"|[.!?\n]+",
    re.IGNORECASE,
)
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'"})
_SCALES = {"m": "million", "k": "1000"}
_COUNTRIES = {"us": "usa", "uk": "british"}

CONTENT, NEGATION, NUMBER, STOP, CAPITAL = 1, 2, 4, 8, 16
SCOPE = 2
"""How many words a negation reaches forward."""
MOST_ALIKE = 100_000_000


def _plain(text: str) -> str:
    """`text` with straight apostrophes and without accents."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text.translate(_QUOTES))
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def alike_stems(stems: Sequence[str], least: float = 0.45) -> list[tuple[int, ...]]:
    """Per stem the numbers of the stems spelt alike, its own among them.

    Alike are stems of at least 4 letters, no function words or negations, with the same first
    letter and a Dice coefficient of letter trigrams (ends marked) of at least `least`.

    Example:
        >>> alike_stems(["nepal", "nepales", "nation", "naval"])
        [(0, 1), (0, 1), (2,), (3,)]
    """
    alike: list[tuple[int, ...]] = [(i,) for i in range(len(stems))]
    by_letter: dict[str, list[int]] = {}
    for i, stem in enumerate(stems):
        if len(stem) >= 4 and stem.isalpha() and stem not in FUNCTION_WORDS | NEGATIONS:
            by_letter.setdefault(stem[0], []).append(i)
    for letter, block in by_letter.items():
        marked = [f"^{stems[i]}$" for i in block]
        grams = [{text[k : k + 3] for k in range(len(text) - 2)} for text in marked]
        rows_of: dict[str, list[int]] = {}
        for row, some in enumerate(grams):
            for gram in some:
                rows_of.setdefault(gram, []).append(row)
        if sum(len(rows) ** 2 for rows in rows_of.values()) > MOST_ALIKE:
            problem = f"{len(block)} different words in '{letter}', too many of them spelt alike"
            raise InputError(problem, hint="If this is really text, use the judge recall.")
        numbers, sizes = np.array(block), np.array([len(some) for some in grams])
        sharing = {gram: np.array(rows) for gram, rows in rows_of.items()}
        for row, some in enumerate(grams):
            common = np.bincount(np.concatenate([sharing[gram] for gram in some]))
            enough = 2 * common >= least * (sizes[row] + sizes[: len(common)])
            alike[block[row]] = tuple(numbers[: len(common)][enough].tolist())
    return alike


@dataclass(frozen=True, slots=True)
class EncodedText:
    """One text as arrays over its n words, without punctuation.

    Attributes:
        ids: The word's stem as a number of the vocabulary.
        flags: A sum of CONTENT, NEGATION, NUMBER and CAPITAL.
        starts: (sentences,) where each sentence begins; empty with no words.
        negated: A negation stands at most `SCOPE` words before, in the same sentence.
    """

    ids: IdArray
    flags: IdArray
    starts: IdArray
    negated: NDArray[np.bool_]


class Vocabulary:
    """Numbers for stems, filled while texts are encoded. Every distinct word is stemmed once.

    Two words share a number if they have one stem (Snowball English) after numbers are written
    as digits and irregular forms as their base. `stems` are in the order of their numbers.

    Example:
        >>> words = Vocabulary()
        >>> text = words.encode("The U.S. children took twenty-one trips, didn't they?")
        >>> [words.stems[i] for i in text.ids]
        ['the', 'usa', 'child', 'take', '20', 'one', 'trip', 'did', "n't", 'they']
    """

    def __init__(self) -> None:
        import Stemmer  # type: ignore[import-not-found, unused-ignore]

        self.stems: list[str] = []
        self._stem = Stemmer.Stemmer("english").stemWord
        self._ids: dict[str, int] = {}
        self._words: dict[str, tuple[int, int]] = {}
        self._texts: dict[str, EncodedText] = {}

    def encode(self, text: str) -> EncodedText:
        """`text` as arrays; the same text is encoded once."""
        if text not in self._texts:
            self._texts[text] = self._encode(text)
        return self._texts[text]

    def number(self, token: str) -> int:
        """The number of the stem of one token, of its digits if it has any; -1 for punctuation."""
        pieces = sorted(_TOKEN.findall(_plain(token)), key=lambda piece: not piece[0].isdigit())
        return self._look_up(pieces[0])[0] if pieces else -1

    def _encode(self, text: str) -> EncodedText:
        ids: list[int] = []
        flags: list[int] = []
        starts: list[int] = []
        fresh, before = True, ""
        for raw in _TOKEN.findall(_plain(text)):
            number, flag = self._look_up(raw)
            if flag & STOP:
                ends = not (raw == "." and (len(before) == 1 or before.lower() in ABBREVIATIONS))
                fresh = fresh or ends
                continue
            if number < 0:
                continue
            if raw in _SCALES and flags and flags[-1] & NUMBER:
                number, flag = self._number(self._stem(_SCALES[raw])), CONTENT
            if fresh:
                starts.append(len(ids))
                fresh = False
            ids.append(number)
            flags.append(flag)
            before = raw
        negated = np.zeros(len(ids), dtype=np.bool_)
        for first, end in zip(starts, [*starts[1:], len(ids)], strict=False):
            for index in range(first, end):
                if flags[index] & NEGATION:
                    negated[index + 1 : min(index + 1 + SCOPE, end)] = True
        numbers, kinds, firsts = (np.array(v, dtype=np.int32) for v in (ids, flags, starts))
        return EncodedText(numbers, kinds, firsts, negated)

    def _look_up(self, raw: str) -> tuple[int, int]:
        """Number and flags of a token, found out once."""
        if raw not in self._words:
            stem, flag = self._read(raw)
            self._words[raw] = self._number(stem) if stem else -1, flag
        return self._words[raw]

    def _read(self, raw: str) -> tuple[str, int]:
        """Stem and flags of a token."""
        if raw[0] in ".!?\n":
            return "", STOP
        if raw[0] == "<":
            return "", 0
        word = "".join(raw.lower().split())
        if "." in word and not word[0].isdigit():
            joined = word.replace(".", "")
            word = _COUNTRIES.get(joined, joined)
        elif raw in ("US", "UK"):
            word = _COUNTRIES[word]
        word = _NUMBERS.get(word, word)
        if word[0].isdigit():
            return word.replace(",", "").rstrip("."), CONTENT | NUMBER
        if word in NEGATIONS:
            return word, NEGATION
        if word in FUNCTION_WORDS:
            return word, 0
        flag = CONTENT | CAPITAL if raw[0].isupper() else CONTENT
        return self._stem(IRREGULAR.get(word, word)), flag

    def _number(self, stem: str) -> int:
        if stem not in self._ids:
            self._ids[stem] = len(self._ids)
            self.stems.append(stem)
        return self._ids[stem]
