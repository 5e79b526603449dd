"""The language of sets of texts in the languages of the table, and words in any
script."""

import gzip
import json
import random

import pytest
from cases import SENTENCES, cases
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.language import LANGUAGES, language_of, name_of, other_languages, words


def told(texts):
    """The language of some texts."""
    return language_of({"texts": texts})


ENGLISH = """
Odile Ferrand sold 400 jars of honey
Los Angeles beats Real Madrid 3-1
Angela Merkel visited Rio de Janeiro.
Charles de Gaulle was born in Lille.
Leonardo da Vinci
President resigns
The man is in Thailand.
POLICE ARREST TWO IN LE HAVRE
Kofi Annan said no.
12.5% (2019)
"""


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_sets_of_twenty_sentences_are_told(code):
    rng = random.Random(12345)
    size = min(20, len(SENTENCES[code]))
    codes = [told(rng.sample(SENTENCES[code], size)) for _ in range(100)]
    assert codes.count(code) >= 98


def test_the_sentences_cover_the_table():
    assert {*SENTENCES, "en"} == set(LANGUAGES)
    assert all(name_of(code) != code for code in (*LANGUAGES, "und", "any"))
    assert all(told([text]) == "en" for text in ENGLISH.splitlines())


def test_english_claims_are_english(data):
    claims = []
    for path in sorted((data / "presence").glob("*.dev.jsonl.gz")):
        with gzip.open(path, "rt") as lines:
            claims += [json.loads(line)["hypothesis"] for line in lines]
    if not claims:
        pytest.skip("the presence sets are absent")
    rng = random.Random(12345)
    assert all(told(rng.sample(claims, 20)) == "en" for _ in range(200))
    single = [told([claim]) for claim in rng.sample(claims, 1000)]
    assert single.count("en") >= 999


@given(st.lists(st.text(), max_size=5))
def test_any_text_has_a_language(texts):
    assert told(texts) in {*LANGUAGES, "und"}
    assert set(other_languages(texts, "en")) <= set(LANGUAGES) - {"en"}


def test_languages_outside_the_table_are_unknown():
    swahili = (
        "Baraza la mji limeidhinisha ujenzi wa daraja jipya. Treni ilichelewa saa mbili kwa sababu "
        "mti ulianguka. Watu wengi walilazimika kupanda basi. Meya alisema kwamba hatagombea tena. "
    )
    assert told([swahili * 8]) == "und"
    assert told(["ቤተ መጻሕፍቱ ማክሰኞ ተከፈተ።"]) == "und"


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh", "nl", "it", "pl", "ru"])
def test_texts_of_another_language_are_counted(code):
    english = ENGLISH.splitlines()
    mixed = other_languages(english + SENTENCES[code][:20], "en")
    assert set(mixed) == {code}
    assert mixed[code] >= 12
    assert other_languages(english, "en") == {}
    assert set(other_languages(SENTENCES[code] + english[:1], code)) <= {"en"}


WORDS = """
it's 5:30, e-mail ﬁne   | it s 5 30 e mail fine
Привет, МИР!            | привет мир
قال الوزير: «لا».       | قال الوزير لا
हिन्दी में समाचार।      | हिन्दी में समाचार
می\u200cخواهد          | میخواهد
ข่าวดี                  | ข่ า ว ดี
한국어 뉴스             | 한국어 뉴스
"""


def test_words_of_any_script():
    for text, expected in cases(WORDS):
        assert words(text) == expected.split()

    assert words(" _ — ، ") == []
    pairs = words("東京タワー、333メートル。", bigrams=True)
    assert " ".join(pairs) == "東京 京タ タワ ワー 333 メー ート トル"
