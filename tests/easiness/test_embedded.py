from dataclasses import replace

import numpy as np
import pytest
from cases import refused

from litepyramid.easiness import EasinessRegressor, fit, predict
from litepyramid.easiness.predict import prepare_gold
from litepyramid.easiness.regressor import (
    EMBEDDED,
    PAPER,
    REFINED,
    cross_fit,
    predict_trees,
)
from litepyramid.errors import ModelError
from litepyramid.io.coerce import as_references, as_units
from litepyramid.io.inputs import read_ids
from litepyramid.types import InputReferences, InputUnits, Unit
from litepyramid.units.extract import extract

CENTRED = replace(REFINED, rounds=0)


@pytest.fixture(scope="module")
def measured(realsumm):
    ids = read_ids(realsumm / "ids.txt")
    references = as_references(realsumm / "references.txt", ids)
    scus = as_units(realsumm / "SCUs.txt", ids, kind="scu")
    stus = extract(references, srl="embedded", rules="zb21").units
    prepared, gold = prepare_gold(references, scus, stus=stus)
    files = sorted((realsumm / "by_examples").iterdir())
    folds = {name: n for n, file in enumerate(files) for name in read_ids(file)}
    return ids, prepared, gold, folds


def gain(measured, settings, start, folds=None):
    """By how much the error of cross-fitted easiness is below that of the folds'
    means."""
    _, prepared, gold, authors = measured
    folds = folds or authors
    predicted = cross_fit(prepared, gold, folds, settings, start).values
    fold = np.array([folds[s.input] for s in gold.sentences])
    scored = ~np.isnan(gold.values)
    mean = np.array([gold.values[(fold != f) & scored].mean() for f in fold])
    error, constant = (
        np.abs(v - gold.values)[scored].mean() for v in (predicted, mean)
    )

    return 1 - error / constant, error, constant


def test_prediction_is_the_same_from_the_extractor_and_from_its_units():
    references = [
        InputReferences(
            "a", (("Ann Bray , 34 , sold the house .", "She left ."),), (True,)
        ),
        InputReferences("b", (("It rained. The match was off.",),), (False,)),
    ]
    first = predict(references)
    assert [s.text for s in first.sentences][2:] == ["It rained.", "The match was off."]
    stus = extract(references).units
    again = predict(references, stus=stus, regressor=EMBEDDED)
    assert first.values.tolist() == again.values.tolist()
    poor = (Unit("Ann", kind="stu", reference=0, sentence=0),)
    worse = [InputUnits("a", poor), InputUnits("b", poor)]

    assert predict(references, stus=worse).values[0] < first.values[0]
    with refused("input 'b' has no STUs"):
        predict(references, stus=worse[:1])


def test_error_on_realsumm_is_as_the_card_says(measured):
    assert (~np.isnan(measured[2].values)).sum() == 363
    below, error, constant = gain(measured, CENTRED, EasinessRegressor.embedded())
    assert constant == pytest.approx(0.1294, abs=0.0005)
    assert error == pytest.approx(0.1116, abs=0.0005)
    assert below >= 0.135


def test_refining_keeps_the_gain_that_its_own_sentences_alone_do_not_give(measured):
    assert gain(measured, REFINED, EasinessRegressor.embedded())[0] >= 0.13
    assert 0.03 < gain(measured, PAPER, None)[0] < 0.1


def test_the_embedded_regressor_is_centred_on_people(measured):
    _, prepared, gold, _ = measured
    regressor = EasinessRegressor.embedded()
    missed = gold.values - predict_trees(regressor, prepared)
    assert np.nanmean(missed) == pytest.approx(0, abs=1e-4)
    assert regressor.about["centred_on"] == "REALSumm (CC BY 4.0), 363 sentences"
    assert regressor.about["parser"] == dict(prepared.signature.fields)["parser"]


def test_fit_and_predict_take_what_people_have(tmp_path):
    texts = ["A cat sat. A dog ran.", "It rained. We left."]
    scus = [["A cat sat", "A dog ran fast"], ["It rained", "They left"]]
    regressor = fit(texts, scus, rounds=2)
    regressor.save(tmp_path / "r.json")

    with refused(r"Expected \.json"):  # what could not be read again
        regressor.save(tmp_path / "r.csv")

    again, first = (
        predict(texts, regressor=r) for r in (tmp_path / "r.json", regressor)
    )
    assert again.values.tolist() == first.values.tolist()
    assert again.signature == first.signature
    centred = fit(texts, scus, start="embedded", rounds=0)
    assert centred.about["start"].startswith("embedded (7920")
    assert predict(texts, regressor=centred).signature != again.signature
    with refused("constituency trees"):
        fit(texts, scus, features="constituency")
    (tmp_path / "old.ubj").write_bytes(b"{L" + bytes(20))
    with refused("fit it again", ModelError):
        predict(texts, regressor=tmp_path / "old.ubj")
    with refused("a regressor is a int"):
        predict(texts, regressor=3)


def test_it_knows_the_easiness_of_facts_too(realsumm):
    """It was trained on triplets; asked with facts, it orders sentences as well."""
    ids = read_ids(realsumm / "ids.txt")
    references = as_references(realsumm / "references.txt", ids)
    facts = extract(references).units
    scus = as_units(realsumm / "SCUs.txt", ids, kind="scu")
    prepared, gold = prepare_gold(references, scus, stus=facts)
    predicted = predict_trees(EasinessRegressor.embedded(), prepared)
    scored = ~np.isnan(gold.values)

    assert np.corrcoef(predicted[scored], gold.values[scored])[0, 1] > 0.48
