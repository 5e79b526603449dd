import json
from dataclasses import replace

import numpy as np
import pytest

from litepyramid.easiness.curve import budget_curve, human_scores, judge_sentences
from litepyramid.easiness.evaluate import cross_fit, read_folds
from litepyramid.easiness.predict import EMBEDDED, predict_easiness
from litepyramid.easiness.prepare import WITH_STUS, prepare, prepare_gold
from litepyramid.easiness.regressor import Settings, load_regressor, predict
from litepyramid.errors import InputError
from litepyramid.io.inputs import read_ids
from litepyramid.io.labels import read_labels
from litepyramid.io.references import read_references
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
from litepyramid.presence.judges import make_judge
from litepyramid.types import InputReferences, InputUnits, Unit

SHIPPED = Settings(forest=8, subsample=0.6, colsample=0.4, min_child_weight=5)


@pytest.fixture(scope="module")
def measured(realsumm):
    ids = read_ids(realsumm / "ids.txt")
    references = read_references(realsumm / "references.txt", ids)
    scus = read_units(realsumm / "SCUs.txt", ids)
    prepared, gold = prepare_gold(references, scus)
    done = cross_fit(prepared.features, gold, read_folds(realsumm / "by_examples"), SHIPPED)
    return ids, scus, prepared, gold, done


def test_the_embedded_regressor_knows_its_features():
    regressor = load_regressor(EMBEDDED)
    prepared = prepare([InputReferences("a", (("It rained .", "We left ."),), (True,))])
    assert regressor.feature_set == WITH_STUS
    assert regressor.names == prepared.features.names
    assert regressor.about["data"] == "REALSumm (CC BY 4.0)"
    assert EMBEDDED.stat().st_size < 1_000_000


def test_prediction_is_the_same_from_the_extractor_and_from_its_units():
    references = [
        InputReferences("a", (("Ann Bray , 34 , sold the house .", "She left ."),), (True,)),
        InputReferences("b", (("It rained. The match was off.",),), (False,)),
    ]
    first = predict_easiness(references)
    assert [s.text for s in first.sentences][2:] == ["It rained.", "The match was off."]
    again = predict_easiness(references, stus=prepare(references).stus, regressor=EMBEDDED)
    assert first.values.tolist() == again.values.tolist()
    worse = [InputUnits(n, (Unit("Ann", reference=0, sentence=0),)) for n in "ab"]
    assert predict_easiness(references, stus=worse).values[0] < first.values[0]
    with pytest.raises(InputError, match="input 'b' has no STUs"):
        predict_easiness(references, stus=worse[:1])


def test_error_on_realsumm_is_as_the_card_says(measured):
    *_, gold, done = measured
    assert (~np.isnan(gold.values)).sum() == 363
    assert done.mae(done.mean) == pytest.approx(0.1291, abs=0.0015)
    assert done.mae(done.predicted.values) == pytest.approx(0.1177, abs=0.0025)
    assert done.gain > 0.07
    assert done.correlations[0] > 0.35


def test_sentences_of_many_scus_teach_more(measured, realsumm):
    _, _, prepared, gold, _ = measured
    folds = read_folds(realsumm / "by_examples")
    weighted = cross_fit(prepared.features, gold, folds, replace(SHIPPED, scu_prior=2))
    assert int(gold.scus.sum()) == 1056
    assert ((gold.scus == 0) == np.isnan(gold.values)).all()
    assert weighted.mae(weighted.predicted.values) == pytest.approx(0.1160, abs=0.0025)
    assert "scu-prior=2" in str(weighted.predicted.signature)


def test_the_embedded_file_is_the_regressor_that_the_script_trains(measured):
    _, _, prepared, gold, done = measured
    found = predict(load_regressor(EMBEDDED), prepared.features)
    keep = ~np.isnan(gold.values)
    assert np.abs(found - gold.values)[keep].mean() < done.mae(done.predicted.values)


def test_half_stus_by_easiness_keep_the_summary_level_best(measured, realsumm):
    ids, scus, prepared, gold, done = measured
    systems = read_summaries([realsumm / "summaries"], ids, ids)
    labels = read_labels([realsumm / "labels"], scus, ids)
    sums = judge_sentences(systems, scus, prepared.stus, prepared.sentences, make_judge("lexical"))
    human = human_scores(labels, scus, sums.systems)
    row = [s.system for s in systems].index("abs_bart_out")
    assert human[row].mean() == 0.48349483849483854
    curve = budget_curve(
        sums, human, easiness=done.predicted, gold=gold, shares=[0.5], seeds=30,
        levels=["summary"], coefficients=["pearson", "spearman"],
    )  # fmt: skip
    for coefficient in ("pearson", "spearman"):
        at = {by: curve.line(by, "summary", coefficient)[0].value for by in curve.ways}
        assert at["easiness"] >= at["random"] > at["reversed"]
        assert at["gold"] > at["random"]


def test_mix_needs_nothing_but_references_and_scus(cli, tmp_path):
    (tmp_path / "r.txt").write_text("<t> A cat sat . </t> <t> The dog ran home . </t>\n")
    (tmp_path / "s.txt").write_text("A cat sat.\tThe dog ran.\n")
    options = ["-r", "r.txt", "-s", "s.txt", "--scu-sentences", 1, "-f", "json"]
    done = json.loads(cli("units", "mix", *options, cwd=tmp_path).stdout)
    assert done["counts"]["stu_sentences"] == 1
    assert all(0 < s["easiness"] < 1 for s in done["sentences"])
    table = cli("easiness", "predict", "r.txt", cwd=tmp_path).stdout
    assert "The dog ran home" in table
    assert "features:dependency+stus" in table.replace("\n", "")
