"""The language of texts, told by script and function words; words in any script.

The word lists were written for this project. Of 35,101 single English claims (training sets for
presence judges), 4 are taken for another language; sets of 20 sentences: tests/test_language.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain, pairwise

from litepyramid.errors import InputError

_LETTERS_A_WORD = {"CJK": 1.5, "KANA": 2.0, "HANGUL": 2.5}
"""About how many characters make a word where that is fewer than five."""
_UNSPACED = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0ec0-\u0ec6\u0edc-\u0edf"
    "\u1000-\u102a\u1780-\u17b3\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
)
"""Letters of the scripts that write no spaces between words: Thai to Han."""
_IGNORED = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))

_FUNCTION_WORDS: dict[str, dict[str, str]] = {
    "LATIN": {
        "en": """the of and to in that is was for with on as by at from it his he are be have has
            had not they which were this their been who said after will would its when about up
            out there but or more than into over also could what she her him them if we you all can
            did before during because while where how a i s t against between being only other some
            such through under until my your me two man men an""",
        "de": """der die das und den dem des ein eine einen einem einer eines ist sind war wurde
            wurden wird werden nicht auch auf mit von für im zu zum zur bei nach aus sich dass als
            wie es sie er ihr sein seine ihre haben hat hatte kann noch nur oder aber vor über bis
            durch gegen um wenn mehr unter seit in an am will man""",
        "es": """el los las del que en por con para una se su sus al lo como más pero fue ha han es
            son está este esta entre sobre cuando también desde hasta sin ya muy no y o a la de un
            le les dos años tras si había fueron""",
        "fr": """le les des du et est dans pour que qui une sur pas avec au aux ce cette sont par
            plus il elle ils ont été être ses son sa leur leurs mais ou où après avant selon ne se
            en la de un l d qu à a deux entre sans on cet comme""",
        "it": """il gli della di che è per con non una sono del dei delle nel nella alla al dal
            dalla ha hanno anche più come ma lo la le un si da su sul sulla tra stato stata dopo
            questo questa ai i e a in l dell degli nei era due""",
        "pt": """o os as do da dos das em no na nos nas que uma um com para por não foi é são mais
            seu sua ao à pelo pela como mas também entre já está ser até depois se sobre de e a
            foram dois aos""",
        "nl": """de het een van en in is dat op te zijn voor met die niet aan er om ook als maar bij
            door naar uit nog werd werden worden wordt heeft hebben deze dit over tot hun haar kan
            meer geen na tegen was had of we ze hij onder twee""",
        "sv": """och att det som en är på av för den till med inte har de ett om var från efter vid
            kan ska sig men eller under mellan också när mot hade blev sin sitt sina där två i
            genom""",
        "da": """og at det som en er på af for den til med ikke har de et om var fra efter ved kan
            skal sig men eller under mellem også når mod havde blev sin sit sine hvor to i nogle
            ifølge""",
        "nb": """og at det som en er på av for den til med ikke har de et om var fra etter ved kan
            skal seg men eller under mellom også når mot hadde ble sin sitt sine hvor to i noen
            ifølge""",
        "pl": """i w na się z do nie że jest to o przez od po jak dla są był była było oraz ale
            który która które za także przed ze już tylko może pod roku lat ich jego tym a""",
        "cs": """a v na se z do ne že je to o od po jak pro jsou byl byla bylo ale který která které
            za také před ze už jen může pod roku let jejich jeho tím při podle nebo aby s si k""",
        "tr": """ve bir bu için ile da de olarak olan daha çok en kadar sonra gibi ancak ise ne göre
            her olduğu değil var yok dedi iki o tarafından arasında üzerinde""",
        "fi": """ja on ei se että oli hän mutta myös joka jotka kun kuin sen ovat tai jo vain
            mukaan sekä olivat ole nyt eivät jälkeen kanssa vuoden""",
        "id": """yang dan di dari untuk dengan pada tidak ini itu ke dalam akan oleh telah adalah
            sebagai juga karena mereka ia bahwa setelah lebih atau para tersebut seorang""",
    },
    "CYRILLIC": {
        "ru": "и в не на что с по из для к как от это был было были он она они о у после также",
        "uk": "і в не на що з по із для до як від це був було були він вона вони про у після та й",
        "bg": "и в не на че с по от за да се е са до като бе бяха той тя те през след но ще при",
    },
    "ARABIC": {
        "ar": "في من على إلى أن عن مع هذا هذه التي الذي بعد كان كانت لم لا ما بين قال قد",
        "fa": "و در به از که این را با است برای آن شد بود یک تا بر خود می کرد شده نیز هم",
        "ur": "کے میں کی ہے سے اور کا کو نے پر یہ کہ ہیں تھا تھی گیا اس بھی کر ایک",
    },
    "DEVANAGARI": {"hi": ""},
    "CJK": {"zh": ""}, "KANA": {"ja": ""}, "HANGUL": {"ko": ""}, "GREEK": {"el": ""},
    "HEBREW": {"he": ""}, "THAI": {"th": ""}, "BENGALI": {"bn": ""}, "TAMIL": {"ta": ""},
    "TELUGU": {"te": ""}, "GEORGIAN": {"ka": ""}, "ARMENIAN": {"hy": ""},
}  # fmt: skip
_LETTERS = {
    "de": "äöüß", "es": "ñ", "fr": "çèêœ", "it": "ìòù", "pt": "ãõç", "sv": "äöå", "da": "æøå",
    "nb": "æøå", "pl": "ąćęłńśźż", "cs": "ěřůčšž", "tr": "çğışü", "fi": "äö", "uk": "іїєґ",
    "ru": "ыэё", "bg": "ъ", "ar": "ةىيك", "fa": "پچگکی", "ur": "ٹڈڑےںہ",
}  # fmt: skip
"""Letters that count for a language, half as much as a function word."""
_NAMES = {
    "en": "English", "de": "German", "es": "Spanish", "fr": "French", "it": "Italian",
    "pt": "Portuguese", "nl": "Dutch", "sv": "Swedish", "da": "Danish", "nb": "Norwegian",
    "pl": "Polish", "cs": "Czech", "tr": "Turkish", "fi": "Finnish", "id": "Indonesian",
    "ru": "Russian", "uk": "Ukrainian", "bg": "Bulgarian", "ar": "Arabic", "fa": "Persian",
    "ur": "Urdu", "hi": "Hindi", "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "el": "Greek",
    "he": "Hebrew", "th": "Thai", "bn": "Bengali", "ta": "Tamil", "te": "Telugu",
    "ka": "Georgian", "hy": "Armenian", "und": "an unknown language", "any": "any language",
}  # fmt: skip
LANGUAGES = tuple(code for code in _NAMES if code not in {"und", "any"})
"""Codes (ISO 639-1) of the languages that `detect_language` can tell."""

SPACELESS = frozenset({"zh", "ja", "th"})
"""Languages that write no spaces between words."""

_ENGLISH = ("en",)
_JUDGES = (
    "Use a multilingual NLI model (MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7), "
    "an LLM (llm:MODEL), or recall, the overlap of words."
)
_UNITS = "Extract units by srl 'sentences' (each sentence is a unit), 'stanza', or by llm:MODEL."
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
"""From this many words on, Latin text with hardly a function word of the table is unknown."""
_LONG_PART = 100
"""From this many characters on, a part of a data set may not be in another language."""
_DENYING = """not no nicht kein keine keinen nie ne pas non não nem niet geen inte ikke není ei
    değil yok tidak не ні لم لا ما نه نہیں 不 没 没有 未"""
DENIALS = frozenset(_DENYING.split())
"""Words that deny, in several languages."""


def detect_language(texts: Sequence[str]) -> str:
    """The language that most of a set of texts is written in.

    The script with the most words comes first; among the languages of one script, the one whose
    function words are used most, a word of n languages counting 1/n. Words with a capital are left
    out, since names hold foreign articles ("Los Angeles"). Latin text is English unless at least
    two different words of another language say otherwise, and so is text without letters. Time is
    linear in the length of the texts.

    Args:
        texts: Summaries, references or units; told as a whole, not one by one.

    Returns:
        A code of `LANGUAGES`; "und" for a script or, from 100 words on, a Latin-script language
        that is not in the table.

    Example:
        >>> detect_language(["Der Bürgermeister wurde nicht getroffen.", "Er ist in Sicherheit."])
        'de'
        >>> detect_language(["Los Angeles beats Real Madrid"]), detect_language(["市长辞职了。"])
        ('en', 'zh')
    """
    return _tell(texts)[0]


def other_languages(texts: Iterable[str], language: str) -> dict[str, int]:
    """How many texts of a set are clearly in another language, by code, the most frequent first.

    A text without clear evidence (a headline, a name) is taken to be in the set's language.

    Example:
        >>> mixed = ["It was on the table.", "Es war nicht auf dem Tisch.", "Paris Berlin"]
        >>> other_languages(mixed, "en")
        {'de': 1}
    """
    told = (_tell([text]) for text in texts)
    counts = Counter(code for code, clear in told if clear and code not in {language, "und"})
    if language == "ja":
        del counts["zh"]  # a heading without kana
    return dict(counts.most_common())


def language_of(parts: Mapping[str, Sequence[str]], language: str | None = None) -> str:
    """The language of data: what the user says, else that of their parts, which must agree.

    A part with fewer than 100 characters, or without clear evidence, goes with the others. "any"
    asks for no check: it stays "any" unless all is in English.

    Raises:
        InputError: There is no such language, or two parts are in different ones.
    """
    if language is not None and not isinstance(language, str):
        raise InputError(f"a language is a {type(language).__name__}", expected="a code such as de")
    if language and language != "any":
        if language not in LANGUAGES:
            codes = [code for code in LANGUAGES if _NAMES[code].lower() == language.lower()]
            raise InputError(
                f"unknown language '{language}'",
                expected=f"any, or one of {', '.join(LANGUAGES)}",
                hint=f"Did you mean {codes[0]}?" if codes else None,
            )
        return language
    told = {name: _tell(texts) for name, texts in parts.items() if texts}
    clear = {name: code for name, (code, sure) in told.items() if sure or code == "und"}
    if {"und"} < {*clear.values()}:  # made-up words and names go with what is clear
        clear = {name: code for name, code in clear.items() if code != "und"}
    long = {name: code for name, code in clear.items() if sum(map(len, parts[name])) >= _LONG_PART}
    codes = list(dict.fromkeys((long or clear).values()))
    codes = codes or [_tell([*chain.from_iterable(parts.values())])[0]]
    if language == "any":
        return "en" if set(clear.values()) <= {"en"} and codes == ["en"] else "any"
    if len(set(long.values())) > 1:
        pairs = pairwise(long.items())
        (first, one), (second, other) = next((a, b) for a, b in pairs if a[1] != b[1])
        raise InputError(
            f"the {first} are in {name_of(one)}, the {second} in {name_of(other)}",
            expected="one language",
            hint="Translate one of them, or insist with --language any.",
        )
    return codes[0]


def check_language(
    part: str, language: str, name: str, languages: Collection[str] | None = None
) -> None:
    """Raises InputError if a part (a key of `SERVED`) does not serve a language, with the remedy.

    `name` is what the message calls the part; `languages` are those that it serves, if they are
    not those of the table. "any" always passes.
    """
    served, remedy = SERVED.get(part, (LANGUAGES, ""))
    if language in {"any", *(languages or served)} or part not in SERVED:
        return
    names = ", ".join(map(name_of, languages or served)) if len(served) < 9 else "other languages"
    raise InputError(
        f"{name} reads {names} only; these texts are in {name_of(language)}",
        hint=f"{remedy} If the language is another one, name it; --language any insists.",
    )


def language_notes(texts: Sequence[str], language: str) -> tuple[str, ...]:
    """What a reader should know of the language of some texts; nothing if all are in English."""
    notes: tuple[str, ...] = ()
    if language not in {"en", "any"}:
        notes = (f"The texts are in {name_of(language)}.",)
    long = language != "any" and sum(map(len, texts)) >= _LONG_PART
    others = other_languages(texts, language) if long else {}
    if others:
        listed = ", ".join(f"{name_of(code)} {count}" for code, count in others.items())
        count = sum(others.values())
        are = "1 text of" if count == 1 else f"{count} texts of"
        notes += (f"In another language: {are} {len(texts)} ({listed}).",)
    return notes


def function_words(language: str) -> frozenset[str]:
    """Words of a language that carry no content; words of denial are not among them."""
    tables = (table[language] for table in _FUNCTION_WORDS.values() if language in table)
    return frozenset(next(tables, "").split()) - DENIALS


def signed(language: str) -> dict[str, str]:
    """The field of a signature that tells the language: none for English."""
    return {} if language in {"", "en"} else {"language": language}


def name_of(code: str) -> str:
    """The English name of a language, for messages and prompts; the code if it is unknown.

    Example:
        >>> name_of("de"), name_of("eo")
        ('German', 'eo')
    """
    return _NAMES.get(code, code)


def words(text: str, *, bigrams: bool = False) -> list[str]:
    """The words of a text in any script, casefolded, in Unicode's compatibility form (NFKC).

    A word is a run of letters and digits with their combining marks. Scripts without spaces (Han,
    kana, Thai, Lao, Khmer, Burmese) give their characters, or pairs of neighbours with `bigrams`;
    soft hyphens and joiners are dropped.

    Example:
        >>> words("Die GROẞE Straße, 2½ km"), words("हिन्दी में")
        (['die', 'grosse', 'strasse', '21', '2', 'km'], ['हिन्दी', 'में'])
        >>> words("GDP在2019年增长"), words("增长了 5%", bigrams=True)
        (['gdp', '在', '2019', '年', '增', '长'], ['增长', '长了', '5'])
    """
    plain = unicodedata.normalize("NFKC", text.casefold()).translate(_IGNORED)
    found = []
    unspaced, character, runs = _patterns()
    for run in runs.findall(plain):
        if not unspaced.match(run):
            found.append(run)
        else:
            parts = character.findall(run)
            pairs = bigrams and len(parts) > 1
            found += map("".join, pairwise(parts)) if pairs else parts
    return found


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A letter without spaces around it; the same with its marks; runs of either kind of letter."""
    codes = range(0x300, 0x1F000)
    marks = "".join(chr(c) for c in codes if unicodedata.category(chr(c))[0] == "M")
    character = f"[{_UNSPACED}][{marks}]*"
    runs = rf"(?:{character})+|(?:(?![{_UNSPACED}])[^\W_][{marks}]*)+"
    return re.compile(f"[{_UNSPACED}]"), re.compile(character), re.compile(runs)


@cache
def _languages_of(script: str) -> dict[str, tuple[str, ...]]:
    """By function word, the languages of a script that use it."""
    table: dict[str, tuple[str, ...]] = {}
    for code, text in _FUNCTION_WORDS[script].items():
        for word in text.split():
            table[word] = (*table.get(word, ()), code)
    return table


@cache
def _script(char: str) -> str:
    """The script of a letter, by the first word of its Unicode name; "" if not in the table."""
    name = unicodedata.name(unicodedata.normalize("NFKC", char)[0], "").replace("-", " ")
    first = name.split(" ")[0]
    first = {"HIRAGANA": "KANA", "KATAKANA": "KANA", "IDEOGRAPHIC": "CJK"}.get(first, first)
    return first if first in _FUNCTION_WORDS else ""


def _tell(texts: Sequence[str]) -> tuple[str, bool]:
    """The language of a set, and whether there is clear evidence of it."""
    sizes: defaultdict[str, float] = defaultdict(float)
    for char, count in Counter(chain.from_iterable(texts)).items():
        if char.isalpha():
            script = _script(char)
            sizes[script] += count / _LETTERS_A_WORD.get(script, 5.0)
    if not sizes:
        return "en", False
    if sizes["KANA"] > 0.05 * sizes["CJK"]:
        sizes["KANA"] += sizes.pop("CJK", 0.0)
    script = max(sizes, key=sizes.__getitem__)
    if not script:
        return "und", False
    codes = tuple(_FUNCTION_WORDS[script])
    return (codes[0], True) if len(codes) == 1 else _by_words(texts, script, codes)


def _by_words(texts: Sequence[str], script: str, codes: tuple[str, ...]) -> tuple[str, bool]:
    """The language of a script with several, the first where nothing says otherwise."""
    table = _languages_of(script)
    letters = {code: frozenset(_LETTERS.get(code, "")) for code in codes}
    used: Counter[str] = Counter()
    for text in texts:
        first, *rest = _PIECE.findall(text) or [""]
        used.update([first.lower(), *(word for word in rest if word == word.lower())])
    points = dict.fromkeys(codes, 0.0)
    kinds = dict.fromkeys(codes, 0)
    for word, count in used.items():
        share, users = 1.0, table.get(word, ())
        if not users and not word.isascii():
            share, users = 0.5, tuple(c for c in codes if not letters[c].isdisjoint(word))
        elif not users and script == "LATIN" and _ENGLISH_ENDING.search(word):
            share, users = 0.25, ("en",)
        for code in users:
            points[code] += share * count / len(users)
            kinds[code] += code == "en" or "en" not in users
    best, second, *_ = sorted(codes, key=points.__getitem__, reverse=True)
    clear = points[best] > 1.5 * points[second]
    if script != "LATIN":
        return best, clear
    size = sum(count for word, count in used.items() if word.isalpha())
    if size >= _LONG_SET and points[best] < 0.04 * size:
        return "und", False
    return (best, clear) if kinds[best] > 1 else ("en", False)
