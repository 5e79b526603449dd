"""English as the lexical judges see it: tokens, stems, function words, negations, sentences.

The word lists are written for this project: facts of English, no data.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError

IdArray = NDArray[np.int32]

_FUNCTION = """
a about after also am an and any are as at be because been before being both but by ca can could d
did do does doing done each either for from had has have having he her here hers herself him
himself his i if in into is it its itself just ll m may me might mine must my myself of off on
onto or our ours ourselves over re s shall she should since so some such t than that the their
theirs them themselves then there these they this those though through to too under until up upon
ve very was we were what when where whether which while who whom whose why will with wo would you
your yours yourself
"""

_NEGATION = """
barely cannot hardly n't neither never no nobody none nor not nothing nowhere without
"""

_ABBREVIATION = """
apr aug capt co col corp dec dr feb gen gov inc jan jr jul jun lt ltd mar mr mrs ms nov oct prof
rep sen sep sept sgt sr st vs
"""

_CARDINALS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty
"""
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}

_IRREGULAR = """
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

FUNCTION_WORDS = frozenset(_FUNCTION.split())
NEGATIONS = frozenset(_NEGATION.split())
ABBREVIATIONS = frozenset(_ABBREVIATION.split())

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
_SLAB = 5_000_000


def _irregular_forms() -> dict[str, str]:
    """Irregular English forms and their base: ``took`` to ``take``, ``children`` to ``child``."""
    groups = (group.split() for group in _IRREGULAR.split(";"))
    return {form: base for base, *forms in groups for form in forms}


def _number_words() -> dict[str, str]:
    """Numbers in words and in digits; ``one`` stays a word, for it is rarely a number."""
    cardinals = {word: str(value) for value, word in enumerate(_CARDINALS.split()) if value != 1}
    tens = {word: str(30 + 10 * i) for i, word in enumerate(_TENS.split())}
    ordinals = {
        word: f"{value}{_SUFFIXES.get(value, 'th')}"
        for value, word in enumerate(_ORDINALS.split(), start=1)
    }
    return cardinals | tens | ordinals | {"hundred": "100", "thousand": "1000", "twice": "2"}


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
    from scipy.sparse import csr_array

    alike: list[tuple[int, ...]] = [(i,) for i in range(len(stems))]
    by_letter: dict[str, list[int]] = {}
    bare = FUNCTION_WORDS | NEGATIONS
    for i, stem in enumerate(stems):
        if len(stem) >= 4 and stem.isalpha() and stem not in bare:
            by_letter.setdefault(stem[0], []).append(i)
    for block in by_letter.values():
        if len(block) == 1:
            continue
        columns: dict[str, int] = {}
        rows, cols, sizes = [], [], []
        for row, i in enumerate(block):
            marked = f"^{stems[i]}$"
            grams = {marked[k : k + 3] for k in range(len(marked) - 2)}
            rows += [row] * len(grams)
            cols += [columns.setdefault(gram, len(columns)) for gram in grams]
            sizes.append(len(grams))
        work = sum(count * count for count in Counter(cols).values())
        if work > MOST_ALIKE:
            raise InputError(
                f"{len(block)} different words in '{stems[block[0]][0]}', too many of them spelt "
                "alike for the lexical judge",
                hint="If this is really text, use the judge recall or an NLI model.",
            )
        ones = np.ones(len(rows), dtype=np.float32)
        grams_of = csr_array((ones, (rows, cols)), shape=(len(block), len(columns)))
        size = np.array(sizes)
        step = max(1, len(block) * _SLAB // work)
        for first in range(0, len(block), step):
            common = (grams_of[first : first + step] @ grams_of.T).tocoo()
            left, right = common.row + first, common.col
            enough = 2 * common.data >= least * (size[left] + size[right])
            others: dict[int, list[int]] = {}
            for one, other in zip(left[enough].tolist(), right[enough].tolist(), strict=True):
                others.setdefault(one, []).append(block[other])
            for one, numbers in others.items():
                alike[block[one]] = tuple(sorted(numbers))
    return alike


@dataclass(frozen=True, slots=True)
class EncodedText:
    """One text as arrays over its n words; punctuation is left out.

    Attributes:
        ids: (n,) int32, the word's stem as a number of the vocabulary.
        flags: (n,) int32, a sum of CONTENT, NEGATION, NUMBER and CAPITAL.
        starts: (sentences,) int32, where each sentence begins; empty with no words.
        negated: (n,) bool, a negation stands at most `SCOPE` words before, in the same sentence.
    """

    ids: IdArray
    flags: IdArray
    starts: IdArray
    negated: NDArray[np.bool_]


class Vocabulary:
    """Numbers for stems, filled while texts are encoded. Every distinct word is stemmed once.

    Two words share a number if they have one stem (Snowball English) after numbers are written
    as digits and irregular forms as their base.

    Attributes:
        stems: The stems in the order of their numbers.

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
        self._forms = _irregular_forms()
        self._numbers = _number_words()
        self._words: dict[str, tuple[int, int]] = {}
        self._ids: dict[str, int] = {}
        self._texts: dict[str, EncodedText] = {}
        self._tokens: dict[str, int] = {}

    def encode(self, text: str) -> EncodedText:
        """`text` as arrays; the same text is encoded once."""
        if text not in self._texts:
            self._texts[text] = self._encode(text)
        return self._texts[text]

    def number(self, token: str) -> int:
        """The number of the stem of one token, of its digits if it has any; -1 for punctuation.

        Example:
            >>> words = Vocabulary()
            >>> words.number("£23million") == words.number("23"), words.number("--")
            (True, -1)
        """
        if token not in self._tokens:
            pieces = sorted(_TOKEN.findall(_plain(token)), key=lambda piece: not piece[0].isdigit())
            self._tokens[token] = self._look_up(pieces[0])[0] if pieces else -1
        return self._tokens[token]

    def _encode(self, text: str) -> EncodedText:
        ids: list[int] = []
        flags: list[int] = []
        starts: list[int] = []
        fresh, before = True, ""
        for raw in _TOKEN.findall(_plain(text)):
            if raw not in self._words:
                self._words[raw] = self._look_up(raw)
            number, flag = self._words[raw]
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
        """Number and flags of a token."""
        if raw[0] in ".!?\n":
            return -1, STOP
        if raw[0] == "<":
            return -1, 0
        word = "".join(raw.lower().split())
        if "." in word and not word[0].isdigit():
            joined = word.replace(".", "")
            word = _COUNTRIES.get(joined, joined)
        elif raw in ("US", "UK"):
            word = _COUNTRIES[word]
        word = self._numbers.get(word, word)
        if word[0].isdigit():
            return self._number(word.replace(",", "").rstrip(".")), CONTENT | NUMBER
        if word in NEGATIONS:
            return self._number(word), NEGATION
        if word in FUNCTION_WORDS:
            return self._number(word), 0
        flag = CONTENT | CAPITAL if raw[0].isupper() else CONTENT
        return self._number(self._stem(self._forms.get(word, word))), flag

    def _number(self, stem: str) -> int:
        if stem not in self._ids:
            self._ids[stem] = len(self._ids)
            self.stems.append(stem)
        return self._ids[stem]
