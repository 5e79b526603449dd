"""The language of texts, told by script and function words; words in any script.

The word lists were written for this project. Of 35,101 single English claims (training
sets for presence judges), 4 are taken for another language; sets of 20 sentences:
tests/test_language.py.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

from litepyramid.errors import InputError
from litepyramid.text import counted

_LETTERS_A_WORD = {
    "CJK": 1.5,
    "KANA": 2.0,
    "HANGUL": 2.5,
}
"""About how many characters make a word where that is fewer than five."""
_UNSPACED = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0ec0-\u0ec6\u0edc-\u0edf"
    "\u1000-\u102a\u1780-\u17b3\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003fffd"
)
"""Letters of the scripts that write no spaces between words: Thai to Han."""
_IGNORED = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))

_LINES = Path(__file__).with_name("languages.tsv").read_text("utf-8").splitlines()
_TABLE = [line.split("\t") for line in _LINES[1:]]
"""Code (ISO 639-1), script, English name, telling letters, function words of each
language."""
LANGUAGES = tuple(code for code, *_ in _TABLE)
_NAMES = {code: name for code, _, name, *_ in _TABLE}
_NAMES |= {"und": "an unknown language", "any": "any language"}
_LETTERS = {code: frozenset(letters) for code, _, _, letters, _ in _TABLE}
"""Letters that count for a language, half as much as a function word."""
_WORDS = {code: text.split() for code, *_, text in _TABLE}
_SCRIPTS: defaultdict[str, list[str]] = defaultdict(list)
for _code, _script_name, *_ in _TABLE:
    _SCRIPTS[_script_name].append(_code)

SPACELESS = frozenset({"zh", "ja", "th"})
"""Languages that write no spaces between words."""

_ENGLISH = ("en",)
_JUDGES = (
    "Use a multilingual NLI model "
    "(MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7), an LLM "
    "(llm:MODEL), or recall, the overlap of words."
)
_UNITS = (
    "Extract units by srl 'sentences' (each sentence is a unit), 'stanza', or by "
    "llm:MODEL."
)
_METRICS = "Use rouge-u-1, rouge-u-2 or rouge-u-l (Unicode words), chrf or bertscore."
SERVED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "judge": (_ENGLISH, _JUDGES),
    "parser": (_ENGLISH, _UNITS),
    "coreference": (_ENGLISH, "Use coref 'none'."),
    "regressor": (_ENGLISH, "Give the sentences' easiness, or mix at random."),
    **dict.fromkeys(("rouge-1", "rouge-2", "rouge-l", "meteor"), (_ENGLISH, _METRICS)),
    "bleu": (tuple(code for code in LANGUAGES if code not in SPACELESS), _METRICS),
}
"""What serves some languages only: which, and what to use for others."""

_BETWEEN = r"""\s'’.,;:!?"()\[\]«»“”„।،؟؛¿¡…/"""
_PIECE = re.compile(f"[^{_BETWEEN}]+")
_ENGLISH_ENDING = re.compile(r"[a-z]{3}(?:ed|ing)$")
_LONG_SET = 100
"""From this many words on, Latin text with hardly a function word of the table is
unknown."""
_LONG_PART = 100
"""From this many characters on, a part of a data set may not be in another language."""
_DENYING = """not no nicht kein keine keinen nie ne pas non não nem niet geen inte ikke
    není ei değil yok tidak не ні لم لا ما نه نہیں 不 没 没有 未"""
DENIALS = frozenset(_DENYING.split())
"""Words that deny, in several languages."""


def other_languages(texts: Iterable[str], language: str) -> dict[str, int]:
    """How many texts are clearly in another language, by code, the most frequent
    first."""
    counts: Counter[str] = Counter()
    for text in texts:
        code, clear = _tell([text])
        if clear and code not in {language, "und"}:
            counts[code] += 1

    if language == "ja":
        del counts["zh"]  # a heading without kana
    return dict(counts.most_common())


def language_of(parts: Mapping[str, Sequence[str]], language: str | None = None) -> str:
    """The language of data: what the user says, else that of their parts, which must
    agree.

    A part with fewer than 100 characters, or without clear evidence, goes with the
    others. "any" asks for no check: it stays "any" unless all is in English.
    """
    if language is not None and not isinstance(language, str):
        raise InputError(
            f"a language is a {type(language).__name__}", expected="a code such as de"
        )

    if language and language != "any":
        _check_code(language)
        return language

    clear = {}
    for name, texts in parts.items():
        code, sure = _tell(texts) if texts else ("", False)
        if sure or code == "und":
            clear[name] = code

    # Made-up words and names go with what is clear.
    if set(clear.values()) > {"und"}:
        clear = {name: code for name, code in clear.items() if code != "und"}

    long = {}
    for name, code in clear.items():
        if sum(map(len, parts[name])) >= _LONG_PART:
            long[name] = code

    codes = list(dict.fromkeys((long or clear).values()))
    if not codes:
        everything = list(chain.from_iterable(parts.values()))
        codes = [_tell(everything)[0]]

    if language == "any":
        english = set(clear.values()) <= {"en"} and codes == ["en"]
        return "en" if english else "any"

    if len(set(long.values())) > 1:
        raise _in_two_languages(long)
    return codes[0]


def _check_code(language: str) -> None:
    """Raises InputError, with the code where a name was meant, if a code is unknown."""
    if language in LANGUAGES:
        return
    codes = [code for code in LANGUAGES if _NAMES[code].lower() == language.lower()]
    raise InputError(
        f"unknown language '{language}'",
        expected=f"any, or one of {', '.join(LANGUAGES)}",
        hint=f"Did you mean {codes[0]}?" if codes else None,
    )


def _in_two_languages(codes: Mapping[str, str]) -> InputError:
    """The error about the first two neighbouring parts of different languages."""
    differing = (pair for pair in pairwise(codes.items()) if pair[0][1] != pair[1][1])
    (first, one), (second, other) = next(differing)
    return InputError(
        f"the {first} are in {name_of(one)}, the {second} in {name_of(other)}",
        expected="one language",
        hint="Translate one of them, or insist with --language any.",
    )


def reads(part: str, language: str, languages: Collection[str] | None = None) -> bool:
    """Whether a part (of `SERVED`) serves a language, or the user insists that it
    does."""
    served, _ = SERVED.get(part, (LANGUAGES, ""))
    return part not in SERVED or language in {"any", *(languages or served)}


def check_language(
    part: str, language: str, name: str, languages: Collection[str] | None = None
) -> None:
    """Raises InputError, with the remedy, if a part (of `SERVED`) does not serve a
    language."""
    if reads(part, language, languages):
        return

    served, remedy = SERVED[part]
    names = (
        ", ".join(map(name_of, languages or served))
        if len(served) < 9
        else "other languages"
    )
    raise InputError(
        f"{name} reads {names} only; these texts are in {name_of(language)}",
        hint=f"{remedy} If the language is another one, name it (--language en); "
        "--language any insists.",
    )


def language_notes(texts: Sequence[str], language: str) -> tuple[str, ...]:
    """What a reader should know of the language of some texts; nothing if all are in
    English."""
    if language == "any":
        told, _ = _tell(texts)
        if told == "en":
            return ()
        return (
            f"These texts are in {name_of(told)}; what was made for English alone "
            "(parser, judge, regressor) read them as if they were English.",
        )

    notes = []
    if language != "en":
        notes.append(f"The texts are in {name_of(language)}.")

    # Of a few words nobody can tell the language.
    enough = sum(map(len, texts)) >= _LONG_PART
    others = other_languages(texts, language) if enough else {}
    if others:
        listed = ", ".join(f"{name_of(code)} {count}" for code, count in others.items())
        number = counted(sum(others.values()), "text")
        notes.append(f"In another language: {number} of {len(texts)} ({listed}).")

    return tuple(notes)


def function_words(language: str) -> frozenset[str]:
    """Words of a language that carry no content; words of denial are not among them."""
    return frozenset(_WORDS.get(language, ())) - DENIALS


def signed(language: str) -> dict[str, str]:
    """The field of a signature that tells the language: none for English."""
    return {} if language in {"", "en"} else {"language": language}


def name_of(code: str) -> str:
    """The English name of a language, for messages and prompts; the code if it is
    unknown."""
    return _NAMES.get(code, code)


def words(text: str, *, bigrams: bool = False) -> list[str]:
    """The words of a text in any script, casefolded, in Unicode's compatibility form
    (NFKC).

    A word is a run of letters and digits with their combining marks. Scripts without
    spaces (Han, kana, Thai, Lao, Khmer, Burmese) give their characters, or pairs of
    neighbours with `bigrams`; soft hyphens and joiners are dropped.
    """
    # Case first: folding some letters gives forms that NFKC then joins.
    plain = unicodedata.normalize("NFKC", text.casefold()).translate(_IGNORED)
    unspaced, character, runs = _patterns()

    words = []
    for run in runs.findall(plain):
        if not unspaced.match(run):
            words.append(run)
            continue
        characters = character.findall(run)
        if bigrams and len(characters) > 1:
            words += map("".join, pairwise(characters))
        else:
            words += characters

    return words


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A letter without spaces around it; the same with its marks; runs of either kind
    of letter."""
    points = map(chr, range(0x300, 0x1F000))
    marks = "".join(c for c in points if unicodedata.category(c).startswith("M"))
    character = f"[{_UNSPACED}][{marks}]*"
    runs = rf"(?:{character})+|(?:(?![{_UNSPACED}])[^\W_][{marks}]*)+"
    return re.compile(f"[{_UNSPACED}]"), re.compile(character), re.compile(runs)


@cache
def _languages_of(script: str) -> dict[str, tuple[str, ...]]:
    """By function word, the languages of a script that use it."""
    table: dict[str, tuple[str, ...]] = {}
    for code in _SCRIPTS[script]:
        for word in _WORDS[code]:
            table[word] = (*table.get(word, ()), code)
    return table


@cache
def _script(char: str) -> str:
    """The script of a letter, by the first word of its Unicode name; "" if not in the
    table."""
    name = unicodedata.name(unicodedata.normalize("NFKC", char)[0], "")
    # CJK UNIFIED IDEOGRAPH, LATIN SMALL LETTER …: the first word is the script.
    first = re.split("[ -]", name)[0]
    first = _SAME_SCRIPT.get(first, first)
    return first if first in _SCRIPTS else ""


_SAME_SCRIPT = {
    "HIRAGANA": "KANA",
    "KATAKANA": "KANA",
    "IDEOGRAPHIC": "CJK",
}


def _tell(texts: Sequence[str]) -> tuple[str, bool]:
    """The language of a set, and whether there is clear evidence of it; "und" if it is
    unknown.

    The script with the most words comes first; among the languages of one script, the
    one whose function words are used most, a word of n languages counting 1/n. Latin
    text is English unless at least two different words of another language say
    otherwise, and so is text without letters.
    """
    sizes: defaultdict[str, float] = defaultdict(float)
    for char, count in Counter(chain.from_iterable(texts)).items():
        if char.isalpha():
            script = _script(char)
            sizes[script] += count / _LETTERS_A_WORD.get(script, 5.0)

    if not sizes:
        return "en", False

    # Japanese is written in Han characters too; Chinese has no kana.
    if sizes["KANA"] > 0.05 * sizes["CJK"]:
        sizes["KANA"] += sizes.pop("CJK", 0.0)

    script = max(sizes, key=sizes.__getitem__)
    if not script:
        return "und", False
    codes = _SCRIPTS[script]
    return (codes[0], True) if len(codes) == 1 else _by_words(texts, script, codes)


def _by_words(
    texts: Sequence[str], script: str, codes: Sequence[str]
) -> tuple[str, bool]:
    """The language of a script with several, the first where nothing says otherwise.

    A word counts for the languages that it is a function word of, half as much for
    those that have one of its letters, and a quarter for English by its ending.
    """
    function_words = _languages_of(script)
    used: Counter[str] = Counter()
    # Names hold foreign articles ("Los Angeles"): in capitals only a text's first word.
    for text in texts:
        first, *rest = _PIECE.findall(text) or [""]
        used[first.lower()] += 1
        used.update(word for word in rest if word == word.lower())

    points = dict.fromkeys(codes, 0.0)
    kinds = dict.fromkeys(codes, 0)

    for word, count in used.items():
        users: Sequence[str] = function_words.get(word, ())
        share = 1.0
        if not users and not word.isascii():
            users = [code for code in codes if not _LETTERS[code].isdisjoint(word)]
            share = 0.5
        elif not users and script == "LATIN" and _ENGLISH_ENDING.search(word):
            users = _ENGLISH
            share = 0.25

        for code in users:
            points[code] += share * count / len(users)
            kinds[code] += code == "en" or "en" not in users

    best, second, *_ = sorted(codes, key=points.__getitem__, reverse=True)
    # Neighbours share words: Norwegian and Danish differ in few.
    clear = points[best] > 1.5 * points[second]
    if script != "LATIN":
        return best, clear

    # A long text with hardly a function word is in a language that is not in the table.
    size = sum(count for word, count in used.items() if word.isalpha())
    if size >= _LONG_SET and points[best] < 0.04 * size:
        return "und", False
    # One foreign word may be a quotation; English is what nothing else is shown to be.
    return (best, clear) if kinds[best] > 1 else ("en", False)
