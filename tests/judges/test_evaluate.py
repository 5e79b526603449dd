"""Evaluation of judges: equality with scikit-learn; sets of pairs, contrasts."""

import gzip
from collections import Counter

import numpy as np
import pytest
from cases import cases, refused, same
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

from litepyramid.data.door import opened
from litepyramid.embedded.example import load_example
from litepyramid.judges.evaluate import (
    brier_score,
    calibrate,
    calibration_slope,
    evaluate,
    roc_auc,
)
from litepyramid.judges.fairness import recalibrated
from litepyramid.judges.labelled import load_contrast
from litepyramid.language import language_of, other_languages
from litepyramid.training.pairs import read_pairs

pairs = st.lists(
    st.tuples(st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 1]), st.integers(0, 1)),
    min_size=2,
)


@given(pairs)
def test_auc_and_brier_equal_scikit_learn(rows):
    presence, labels = zip(*rows, strict=True)
    brier = brier_score_loss(
        labels,
        presence,
        pos_label=1,
        labels=[0, 1],
    )
    same(brier_score(presence, labels), brier)
    auc = roc_auc_score(labels, presence) if len({*labels}) == 2 else np.nan
    same(roc_auc(presence, labels), auc)


@pytest.mark.parametrize("bins", [1, 7, 10, 100])
def test_every_bin_begins_at_its_low_end(bins):
    presence = np.arange(bins + 1) / bins
    table = calibrate(presence, np.arange(bins + 1) % 2, bins=bins).bins
    assert [one.pairs for one in table] == [1] * (bins - 1) + [2]


@given(pairs, st.randoms(use_true_random=False))
def test_weighted_recalibration_is_that_of_scikit_learn(rows, random):
    presence, labels = np.array(rows, dtype=float).T
    weights = np.array([random.choice([0.0, 0.5, 1.0, 4.0]) for _ in rows])
    weights[0] = 1.0
    p, slope = recalibrated(presence, labels, weights)
    there = weights > 0
    if np.isnan(slope):
        assert len({*presence[there]}) < 2 or len({*labels[there]}) < 2
        return

    if np.isinf(slope):
        low, high = (presence[there & (labels == label)] for label in (0, 1))
        if slope < 0:
            low, high = high, low
        assert low.max() <= high.min()
        return

    inside = np.clip(presence, 0.001, 0.999)
    logits = np.log(inside / (1 - inside))[:, None]
    oracle = LogisticRegression(C=np.inf, tol=1e-8, solver="newton-cholesky")
    oracle.fit(logits[there], labels[there], weights[there])
    assert slope == pytest.approx(oracle.coef_[0, 0], rel=1e-4, abs=1e-5)
    same(p, oracle.predict_proba(logits)[:, 1], 1e-5)


def test_what_has_no_slope_and_what_is_missing():
    assert np.isnan(calibration_slope([0.5, 0.5], [0, 1]))
    assert np.isnan(calibration_slope([0.5, 0.7], [1, 1]))
    result = calibrate([0.9, 0.3, np.nan], [1, np.nan, 0])
    assert (result.pairs, result.missing) == (1, 1)


@given(pairs, st.integers(1, 12))
def test_the_reliability_table_holds_every_pair(rows, bins):
    presence, labels = map(np.array, zip(*rows, strict=True))
    table = calibrate(presence, labels, bins=bins).bins
    assert sum(one.pairs for one in table) == len(rows)
    filled = [one for one in table if one.pairs]
    same(sum(one.pairs * one.observed for one in filled), labels.sum(), 1e-9)
    same(sum(one.pairs * one.predicted for one in filled), presence.sum(), 1e-9)
    for one in filled:
        assert one.low - 1e-9 <= one.predicted <= one.high + 1e-9


@pytest.mark.parametrize(
    ("presence", "labels"),
    [([0.5], [1, 0]), ([0.5], [2]), ([1.5], [1]), ([0.5], [np.nan])],
)
def test_what_is_refused(presence, labels):
    with refused():
        calibrate(presence, labels)


PAIRS = b"""
{"premise": "A storm hit Oslo.", "hypothesis": "A storm hit.", "present": 1}
{"premise": "A storm hit Oslo.", "hypothesis": "A ferry sank.", "present": 0}
"""
HALF = b'{"premise": "A storm hit.", "hypothesis": "Oslo burned.", "present": 0.5}'


def test_several_sets_give_one_table(tmp_path):
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"]
    files[0].write_bytes(PAIRS.strip() + b"\n" + HALF)
    files[1].write_bytes(gzip.compress(PAIRS.strip()))

    def always(summary, units):
        return [1.0] * len(units)

    result = evaluate(
        always,
        [load_example()],
        pairs=files,
        contrast=True,
    )

    assert result.names == ("own", "a", "b", "contrast")
    assert [row[0] for row in result.to_tables()[0].rows] == [*result.names]
    assert [one.pairs for one in result.sets] == [344, 3, 2, 986]
    _, a, b, _ = result.sets
    assert (b.auc, b.brier, b.accuracy) == (0.5, 0.5, 0.5)
    assert a.signature != b.signature
    # Who always says present is right on those that are.
    contrast = load_contrast()
    kinds = np.array([unit.tags[0] for unit in contrast.units.every])
    assert {kind.name for kind in result.phenomena} == {*kinds}
    for kind in result.phenomena:
        labels = contrast.labels.values[0, kinds == kind.name]
        assert kind.pairs == len(labels)
        assert kind.accuracy == pytest.approx(labels.mean())


def test_one_data_set_has_one_hash():
    result = evaluate("recall", load_example())
    assert result.signature == result.sets[0].signature
    assert str(result.signature) in result.to_tables()[1].notes


BROKEN = r"""
{"premise": "a"}                                     | p\.jsonl:1
{"premise": "a", "hypothesis": "b", "present": "x"}  | p\.jsonl:1
{"premise": "a", "hypothesis": "b", "present": 2}    | p\.jsonl:1
{"premise": "a", "hypothesis": "b", "present": 0.7}  | p\.jsonl:1: .* 0\.5
"""


@pytest.mark.parametrize(("row", "says"), cases(BROKEN))
def test_broken_pairs(tmp_path, row, says):
    path = tmp_path / "p.jsonl"
    path.write_text(f"{row}\n")
    with refused(says):
        evaluate("recall", pairs=[path])


def test_nothing_to_evaluate_on():
    with refused("nothing to evaluate on"):
        evaluate("recall")


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh"])
def test_sixty_contrasts_of_five_kinds_in_their_language(code):
    ours = load_contrast(code)
    (summaries,) = ours.summaries.texts
    (labels,) = ours.labels.values.tolist()
    units = [unit.text for unit in ours.units.every]
    named = [unit.tags[0] for unit in ours.units.every]
    assert len({*zip(summaries, units, strict=True)}) == 60
    kinds = Counter(named)
    assert set(kinds) == {"verbatim", "negation", "number", "roles", "paraphrase"}
    assert min(kinds.values()) >= 10
    assert 27 <= sum(labels) <= 33

    # Each kind, and each summary, with either label.
    for names in (named, summaries):
        rows = {*zip(names, labels, strict=True)}
        assert len(rows) == 2 * len({*names})
    for texts in (summaries, units):
        assert language_of({"texts": texts}) == code
        assert sum(other_languages(texts, code).values()) <= 3


@pytest.mark.parametrize(
    "table",
    [
        'premise,hypothesis,present\nsnow,snow,true\nsnow,rain,0.0\nice,snow,"0"\n',
        "Premise;Hypothesis;Label\nsnow;snow;e\nsnow;rain;N\nice;snow;contradiction\n",
    ],
)
def test_pairs_may_be_a_table(tmp_path, table):
    path = tmp_path / "pairs.csv"
    path.write_text(table)
    (result,) = evaluate("recall", pairs=[path]).sets
    assert (result.pairs, result.base_rate, result.accuracy) == (3, 1 / 3, 1)
    assert len(read_pairs(opened(path, "pairs"))) == 3
    path.write_text("premise,hypothesis,present,label\nice,ice,1,e\nice,sea,0,n\n")
    assert evaluate("recall", pairs=[path]).sets[0].accuracy == 1
    for wrong in ("\nsnow,snow", ",present,label\nsnow,snow,0,e"):
        path.write_text(f"premise,hypothesis{wrong}\n")
        with refused(r"pairs\.csv:2"):
            evaluate("recall", pairs=[path])
