"""Texts in other languages: nothing that reads English only scores them silently."""

from functools import partial
from types import SimpleNamespace

import pytest
from cases import SENTENCES, cases, quick_score, refused

import litepyramid as lp
from litepyramid.data.data import as_data
from litepyramid.errors import InputError
from litepyramid.judges.llm.llm_judge import Prompt
from litepyramid.judges.nli.checkpoint import cards
from litepyramid.judges.registry import in_language
from litepyramid.language import language_of, name_of

TWELVE = ["ar", "de", "es", "fr", "hi", "it", "ja", "nl", "pt", "ru", "sv", "zh"]

# By language units, a summary that carries them, and nonsense of about its length.
EXAMPLE = {
    code: (units.split(" / "), good, nonsense)
    for code, units, good, nonsense in cases(
        """
en | A storm hit Oslo on Monday. / Two people died. / The airport was closed.\
   | On Monday a heavy storm hit Oslo; two people died, and the airport had to be closed.\
   | Bananas are cheap this year, says a shop keeper who has sold fruit for twenty years.
de | Ein Sturm traf Oslo am Montag. / Zwei Menschen starben. / Der Flughafen war zu.\
   | Am Montag hat ein schwerer Sturm Oslo getroffen; zwei Menschen starben, der Flughafen wurde geschlossen.\
   | Bananen sind in diesem Jahr billig, sagt ein Händler, der seit Jahren Obst verkauft.
es | Una tormenta golpeó Oslo el lunes. / Murieron dos personas. / El aeropuerto cerró.\
   | El lunes, una fuerte tormenta golpeó la ciudad de Oslo: dos personas murieron y cerraron el aeropuerto.\
   | Los plátanos son baratos este año, dice un tendero que vende fruta desde hace años.
fr | Une tempête a frappé Oslo lundi. / Deux personnes sont mortes. / L'aéroport a fermé.\
   | Lundi, une forte tempête a frappé la ville d'Oslo : deux personnes sont mortes et l'aéroport a été fermé.\
   | Les bananes ne sont pas chères cette année, dit un marchand qui vend des fruits.
zh | 周一暴风雨袭击了奥斯陆。 / 两人死亡。 / 机场关闭。\
   | 奥斯陆周一遭到暴风雨袭击，造成两人死亡，机场也被迫关闭。\
   | 一位卖了二十年水果的店主说，今年的香蕉特别便宜。
"""
    )
}


def parts(code: str):
    """What must refuse: each a function that scores texts of this language, insisting
    or not."""
    units = [SENTENCES[code][:3]]
    text = " ".join(SENTENCES[code][:5])
    english = SimpleNamespace(judge=lp.judge("recall").judge, languages=("en",))
    few = partial(lp.score, [text], units, samples=40)
    return {
        "lexical": partial(few, judge="lexical"),
        "model of English": partial(few, judge=english),
        "rouge": partial(
            lp.score_metrics, [text], references=[text], metrics="rouge-1"
        ),
        "regressor": partial(lp.easiness.predict, [text], stus=units),
        "explain": partial(lp.explain, text, units[0], judge="lexical"),
    }


@pytest.mark.parametrize("code", TWELVE)
def test_nothing_that_reads_english_only_scores_other_languages_silently(code):
    for name, score in parts(code).items():
        with pytest.raises(InputError) as error:
            score()
        assert f"these texts are in {name_of(code)}" in str(error.value), name
        assert "--language any" in str(error.value)


def test_any_language_insists_and_is_signed():
    for name, score in parts("de").items():
        result = score(language="any")
        if name != "explain":
            assert "language:any" in str(result.signature), name


def test_english_is_unchanged_and_unsigned():
    units, good, nonsense = EXAMPLE["en"]
    summaries = {"good": [good], "nonsense": [nonsense]}
    plain = lp.score(summaries, [units], samples=40)
    assert "language" not in str(plain.signature)
    assert plain.notes == ()
    for told in ("en", "any"):
        insisted = lp.score(summaries, [units], samples=40, language=told)
        assert str(insisted.signature) == str(plain.signature)
        assert insisted.scores == plain.scores


@pytest.mark.parametrize("code", list(EXAMPLE))
def test_recall_ranks_a_good_summary_above_nonsense(code):
    units, good, nonsense = EXAMPLE[code]
    summaries = {"good": [good], "nonsense": [nonsense]}
    result = quick_score(summaries, [units])
    assert result.scores["good"] > 0.5 > 0.2 > result.scores["nonsense"]
    assert ("The texts are in" in result.to_table()) == (code != "en")
    assert ("language" in str(result.signature)) == (code != "en")


def test_a_denial_counts_in_german():
    texts = {"denied": ["Er wurde nicht getroffen."], "told": ["Er wurde getroffen."]}
    scores = quick_score(texts, [["Er wurde nicht getroffen."]]).scores
    assert scores["denied"] == 1 > scores["told"]


def test_evidence_of_recall_in_chinese():
    units, good, _ = EXAMPLE["zh"]
    evidence = lp.explain(f"今天很冷。{good}", units[1], judge="recall").evidence[0]
    assert evidence.sentence == 1
    assert ("两人", "两人") in evidence.words


def test_mixed_sets_are_counted_and_different_parts_refused():
    german = SENTENCES["de"][:12]
    french = SENTENCES["fr"][:3]
    units = [[text] for text in german]
    texts = [*german[:9], *french]
    result = quick_score(texts, units)
    assert any("French 3" in note and "of 24" in note for note in result.notes)
    with refused("units are in German, the summaries in French"):
        lp.score([" ".join(SENTENCES["fr"][:9])], [german], judge="recall")


def test_a_language_that_is_told_is_not_questioned():
    read = as_data(["Es regnet."], [["Es regnet."]])
    assert as_data(read, language="en").language == "en"
    read = as_data(["It rained."], [["It rained."]], language="de")
    assert read.with_language().language == "de"
    with refused("Did you mean de"):
        language_of({}, "German")


def test_rouge_of_identical_hindi_texts():
    texts = [" ".join(SENTENCES["hi"][:3])]
    names = ["rouge-u-1_f1", "rouge-u-2_f1", "rouge-u-l_f1"]
    result = lp.score_metrics(texts, references=texts, metrics=names)
    assert result.scores.values.ravel().tolist() == [1.0, 1.0, 1.0]
    with refused("bleu reads other languages"):
        lp.score_metrics(
            ["市长在周一辞职了。"], references=["市长辞职了。"], metrics=["bleu"]
        )


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh"])
def test_contrast_set_in_other_languages(code):
    with refused("en, de, es, fr or zh"):
        lp.evaluate("recall", contrast=True, language="it")
    result = lp.evaluate("recall", contrast=True, language=code)
    assert result.names == (f"contrast.{code}",)
    assert result.sets[0].pairs == 60
    assert 0.4 < result.sets[0].auc < 0.7  # counting words tells little there
    assert f"language:{code}" in str(result.signature)
    with refused("the judge lexical reads English only"):
        lp.evaluate("lexical", contrast=True, language=code)


def test_prompts_say_the_language_and_english_ones_do_not():
    prompt = Prompt("p", "You judge.\n\n{summary} {units}\n", {"yes": 1.0, "no": 0.0})
    assert prompt.in_language("en") == prompt == prompt.in_language("any")
    assert "in German." in prompt.in_language("de").request(
        "Es regnet.", ["Es regnet."]
    )
    judge = lp.judge("llm:m", endpoint="http://127.0.0.1:9/v1", cache=None)
    assert in_language(judge, "en") is judge
    assert in_language(judge, "de").signature()["prompt"] != judge.signature()["prompt"]


def test_cards_tell_the_languages_of_models():
    multilingual = "MoritzLaurer/mDeBERTa-v3-base-xnli-multilingual-nli-2mil7"
    assert cards()[multilingual].languages == ()
    assert {card.languages for card in cards().values()} == {("en",), ()}
    unknown = SimpleNamespace(judge=lp.judge("recall").judge, languages=None)
    units, good, _ = EXAMPLE["de"]
    result = lp.score([good], [units], judge=unknown, samples=40)
    assert "It is not known whether this model reads German." in result.notes
