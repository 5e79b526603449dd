from dataclasses import replace

import numpy as np
import pytest
from cases import refused
from train.easiness import CENTRED, measure

import litepyramid as lp
from litepyramid.data.records import InputReferences, InputUnits, Unit
from litepyramid.easiness import EasinessRegressor, fit, predict
from litepyramid.easiness.predict import prepare, prepare_gold
from litepyramid.easiness.regressor import (
    EMBEDDED,
    PAPER,
    REFINED,
    cross_fit,
    predict_trees,
)
from litepyramid.errors import ModelError
from litepyramid.units.align import sentences_of
from litepyramid.units.extract import extract, tokenized


@pytest.fixture(scope="module")
def measured(realsumm):
    """Features, gold easiness, and the authors' folds."""
    folds = {}
    for n, names in enumerate(lp.load(realsumm).example_folds):
        folds |= dict.fromkeys(names, n)
    return *prepared(realsumm, "facts"), folds


def prepared(realsumm, rules):
    data = lp.load(realsumm)
    stus = extract(data.references, rules=rules).units
    return prepare_gold(data.references, data.units, stus=stus)


def gain(measured, settings, start):
    """The error of cross-fitted easiness, that of the folds' means, by how much it is
    lower."""
    features, gold, folds = measured
    predicted = cross_fit(features, gold, folds, settings, start).values
    return measure(predicted, gold, folds)[:3]


def test_prediction_is_the_same_from_the_extractor_and_from_its_units():
    tokens = ("Ann Bray , 34 , sold the house .", "She left .")
    references = [
        InputReferences("a", (tokens,), (True,)),
        InputReferences("b", (("It rained. The match was off.",),), (False,)),
    ]
    first = predict(references)
    assert [s.text for s in first.sentences][2:] == ["It rained.", "The match was off."]
    stus = extract(references).units
    again = predict(
        references,
        stus=stus,
        regressor=EMBEDDED,
    )
    assert first.values.tolist() == again.values.tolist()

    poor = (Unit("Ann", kind="stu", reference=0, sentence=0),)
    worse = [InputUnits("a", poor), InputUnits("b", poor)]
    assert predict(references, stus=worse).values[0] < first.values[0]
    with refused("no unit of input 'b'"):
        predict(references, stus=worse[:1])


def test_error_on_realsumm_is_as_the_card_says(measured):
    assert (~np.isnan(measured[1].values)).sum() == 363
    error, constant, below = gain(measured, CENTRED, EasinessRegressor.embedded())
    assert constant == pytest.approx(0.1361, abs=0.001)
    assert error == pytest.approx(0.1146, abs=0.001)
    assert below >= 0.14


def test_refining_keeps_the_gain_that_its_own_sentences_alone_do_not_give(measured):
    assert gain(measured, REFINED, EasinessRegressor.embedded())[2] >= 0.13
    assert 0.03 < gain(measured, PAPER, None)[2] < 0.12


def test_the_embedded_regressor_is_centred_on_people(measured):
    features, gold, _ = measured
    regressor = EasinessRegressor.embedded()
    missed = gold.values - predict_trees(regressor, features)
    assert np.nanmean(missed) == pytest.approx(0, abs=1e-4)
    assert regressor.about["centred_on"] == "REALSumm (CC BY 4.0), 363 sentences"
    assert regressor.about["parser"] == dict(features.signature.fields)["parser"]


def test_fit_and_predict_take_what_people_have(tmp_path):
    texts = ["A cat sat. A dog ran.", "It rained. We left."]
    scus = [["A cat sat", "A dog ran fast"], ["It rained", "They left"]]
    regressor = fit(texts, scus, rounds=2)
    regressor.save(tmp_path / "r.json")

    with refused(r"Expected \.json"):  # what could not be read again
        regressor.save(tmp_path / "r.csv")

    first = predict(texts, regressor=regressor)
    again = predict(texts, regressor=tmp_path / "r.json")
    assert again.values.tolist() == first.values.tolist()
    assert again.signature == first.signature
    centred = fit(
        texts,
        scus,
        start="embedded",
        rounds=0,
    )
    assert centred.about["start"].startswith("embedded (7920")
    assert predict(texts, regressor=centred).signature != again.signature
    with refused("constituency trees"):
        fit(texts, scus, features="constituency")
    (tmp_path / "old.ubj").write_bytes(b"{L" + bytes(20))
    with refused("fit it again", ModelError):
        predict(texts, regressor=tmp_path / "old.ubj")
    with refused("a regressor is a int"):
        predict(texts, regressor=3)


def test_it_knows_the_easiness_of_triplets_too(realsumm):
    """It was trained on facts; asked with triplets, it orders sentences as well."""
    features, gold = prepared(realsumm, "zb21")
    predicted = predict_trees(EasinessRegressor.embedded(), features)
    scored = ~np.isnan(gold.values)

    assert np.corrcoef(predicted[scored], gold.values[scored])[0, 1] > 0.48


def test_trees_are_of_these_references_and_of_all():
    texts = {"a": ["Cats slept. Dogs ran.", "Ann sang. Bob left."], "b": ["Rain fell."]}
    references = lp.load(references=texts).references
    parses = []
    for parse in tokenized(references):
        sentences = []
        for sentence in parse.sentences:
            sentences.append(replace(sentence, tree=f"(S (X {sentence.tokens[0]}))"))
        parses.append(replace(parse, sentences=tuple(sentences)))

    whole = prepare(references, "constituency", parses=parses)
    keys = [sentence.key for sentence in whole.sentences]
    assert keys == [sentence.key for sentence in sentences_of(references)]
    for missing in range(3):
        with refused("no parse of reference"):
            some = parses[:missing] + parses[missing + 1 :]
            prepare(references, "constituency", parses=some)
    with refused("is 'Rain fell .' here, 'Snow melted .' in the references"):
        others = lp.load(references=texts | {"b": ["Snow melted."]}).references
        prepare(others, "constituency", parses=parses)
