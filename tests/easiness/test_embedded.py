import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from litepyramid.easiness.curve import budget_curve
from litepyramid.easiness.evaluate import cross_fit, read_folds, seeded_folds
from litepyramid.easiness.predict import EMBEDDED, predict_easiness
from litepyramid.easiness.prepare import WITH_STUS, prepare, prepare_gold
from litepyramid.easiness.regressor import PAPER, REFINED, SHIPPED, fit, load_regressor, predict
from litepyramid.easiness.sums import human_scores, judge_sentences
from litepyramid.errors import InputError
from litepyramid.io.inputs import read_ids
from litepyramid.io.labels import read_labels
from litepyramid.io.references import read_references
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
from litepyramid.judges.registry import make_judge
from litepyramid.types import InputReferences, InputUnits, Unit

CENTRED = replace(REFINED, rounds=0)
HIGHLIGHTS = Path(__file__).parents[2] / "models" / "highlights"


@pytest.fixture(scope="module")
def measured(realsumm):
    ids = read_ids(realsumm / "ids.txt")
    references = read_references(realsumm / "references.txt", ids)
    scus = read_units(realsumm / "SCUs.txt", ids)
    prepared, gold = prepare_gold(references, scus)
    folds = read_folds(realsumm / "by_examples")
    done = cross_fit(prepared.features, gold, folds, CENTRED, load_regressor(EMBEDDED))
    return ids, scus, prepared, gold, done


def test_the_embedded_regressor_knows_its_features():
    regressor = load_regressor(EMBEDDED)
    prepared = prepare([InputReferences("a", (("It rained .", "We left ."),), (True,))])
    assert regressor.feature_set == WITH_STUS
    assert regressor.names == prepared.features.names
    assert regressor.about["data"] == "litepyramid highlights (MIT)"
    assert EMBEDDED.stat().st_size < 2_000_000


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
    assert done.mae(done.mean) == pytest.approx(0.1265, abs=0.0005)
    assert done.mae(done.predicted.values) == pytest.approx(0.1070, abs=0.0005)
    assert done.gain >= 0.15
    assert done.correlations[0] == pytest.approx(0.53, abs=0.01)


def test_refining_keeps_the_gain_that_its_own_sentences_alone_do_not_give(measured, realsumm):
    _, _, prepared, gold, _ = measured
    folds = read_folds(realsumm / "by_examples")
    start = load_regressor(EMBEDDED)
    refined = cross_fit(prepared.features, gold, folds, REFINED, start)
    alone = cross_fit(prepared.features, gold, folds, PAPER)
    assert refined.gain == pytest.approx(0.150, abs=0.006)
    assert alone.gain == pytest.approx(0.076, abs=0.01)
    assert "start:embedded" in str(refined.predicted.signature)
    assert "start" not in dict(alone.predicted.signature.fields)


def test_the_embedded_regressor_is_centred_on_people(measured):
    _, _, prepared, gold, _ = measured
    keep = ~np.isnan(gold.values)
    regressor = load_regressor(EMBEDDED)
    missed = gold.values - predict(regressor, prepared.features)
    assert missed[keep].mean() == pytest.approx(0, abs=1e-4)
    assert 0 < regressor.offset < 0.05
    assert regressor.about["centred_on"] == "REALSumm (CC BY 4.0), 363 sentences"


def test_other_draws_of_folds_give_the_same_gain(measured):
    ids, _, prepared, gold, _ = measured
    start = load_regressor(EMBEDDED)
    for seed in range(3):
        done = cross_fit(prepared.features, gold, seeded_folds(ids, 5, seed), CENTRED, start)
        assert done.gain > 0.145


def test_the_embedded_file_is_the_regressor_that_the_highlights_give():
    references = read_references(HIGHLIGHTS / "references.jsonl")
    prepared, gold = prepare_gold(references, read_units(HIGHLIGHTS / "scus.jsonl"))
    assert len(gold.values) == 7920
    assert not np.isnan(gold.values).any()
    found = predict(load_regressor(EMBEDDED), prepared.features)
    again = fit(prepared.features, gold.values, SHIPPED, scus=gold.scus)
    offset = load_regressor(EMBEDDED).offset
    assert predict(again, prepared.features) == pytest.approx(found - offset, abs=1e-3)


def test_the_highlights_are_whole():
    references = read_references(HIGHLIGHTS / "references.jsonl")
    scus = read_units(HIGHLIGHTS / "scus.jsonl", only=True)
    assert [entry.input for entry in references] == [entry.input for entry in scus]
    texts = [entry.references[0] for entry in references]
    assert len(set(texts)) == len(texts) == 2004
    assert sum(len(entry.units) for entry in scus) == 20553
    for entry, sentences in zip(scus, texts, strict=True):
        assert {unit.sentence for unit in entry.units} == set(range(len(sentences)))


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
        assert at["easiness"] > at["random"] + 0.004
        assert at["reversed"] < at["random"] - 0.004
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
