"""Evaluation of judges: equality with scikit-learn; sets of pairs, contrasts."""

import gzip
from collections import Counter

import numpy as np
import pytest
from cases import cases, refused, write_lines
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

from litepyramid.embedded.example import load_example
from litepyramid.judges.evaluate import (
    brier_score,
    calibrate,
    calibration_slope,
    evaluate,
    load_contrast,
    recalibrated,
    roc_auc,
)
from litepyramid.language import language_of, other_languages, words

pairs = st.lists(
    st.tuples(st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 1]), st.integers(0, 1)),
    min_size=2,
)


@given(pairs)
def test_auc_and_brier_equal_scikit_learn(rows):
    presence, labels = map(list, zip(*rows, strict=True))
    assert brier_score(presence, labels) == pytest.approx(
        brier_score_loss(labels, presence, pos_label=1, labels=[0, 1]), abs=1e-12
    )
    if len(set(labels)) == 2:
        assert roc_auc(presence, labels) == pytest.approx(
            roc_auc_score(labels, presence)
        )
    else:
        assert np.isnan(roc_auc(presence, labels))


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

    sides = [presence[there & (labels == label)] for label in (0, 1)]
    if abs(slope) == 100:
        low, high = sides if slope > 0 else sides[::-1]
        assert low.max() <= high.min()
        return

    inside = np.clip(presence, 0.001, 0.999)
    logits = np.log(inside / (1 - inside))[:, None]
    fitted = LogisticRegression(C=np.inf, tol=1e-8, solver="newton-cholesky").fit(
        logits[there], labels[there], weights[there]
    )
    assert slope == pytest.approx(fitted.coef_[0, 0], rel=1e-4, abs=1e-5)
    np.testing.assert_allclose(p, fitted.predict_proba(logits)[:, 1], atol=1e-5)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_slope_of_separated_labels_is_its_bound(sign):
    for low, high in ((0.1, 0.9), (0.4, 0.6), (0.49, 0.51), (0, 1), (0.2, 0.2)):
        presence = [low, low, low, high, high, 0.95]
        slope = calibration_slope(presence, np.array([0, 0, 0, 1, 1, 1])[::sign])
        assert slope == 100 * sign


def test_what_has_no_slope_and_what_is_missing():
    assert np.isnan(calibration_slope([0.5, 0.5], [0, 1]))
    assert np.isnan(calibration_slope([0.5, 0.7], [1, 1]))
    result = calibrate([0.9, 0.3, np.nan], [1, np.nan, 0])
    assert (result.pairs, result.missing) == (1, 1)


@given(pairs, st.integers(1, 12))
def test_the_reliability_table_holds_every_pair(rows, bins):
    presence, labels = map(np.array, zip(*rows, strict=True))
    result = calibrate(presence, labels, bins=bins)
    assert sum(b.pairs for b in result.bins) == len(rows)
    filled = [b for b in result.bins if b.pairs]
    assert sum(b.pairs * b.observed for b in filled) == pytest.approx(labels.sum())
    assert sum(b.pairs * b.predicted for b in filled) == pytest.approx(presence.sum())
    assert all(b.low - 1e-9 <= b.predicted <= b.high + 1e-9 for b in filled)


@pytest.mark.parametrize(
    ("presence", "labels"),
    [([0.5], [1, 0]), ([0.5], [2]), ([1.5], [1]), ([0.5], [np.nan])],
)
def test_what_is_refused(presence, labels):
    with refused():
        calibrate(presence, labels)


def test_several_sets_give_one_table(tmp_path):
    labels = {"A storm hit.": 1, "A ferry sank.": 0, "Oslo burned.": 0.5}
    premise = "A storm hit Oslo."
    rows = []
    for unit, label in labels.items():
        rows.append({"premise": premise, "hypothesis": unit, "present": label})
    files = [write_lines(tmp_path / "a.jsonl", rows), tmp_path / "b.jsonl.gz"]
    two = write_lines(tmp_path / "two.jsonl", rows[:2])
    files[1].write_bytes(gzip.compress(two.read_bytes()))

    def always(summary, units):
        return [1.0] * len(units)

    result = evaluate(always, [load_example()], pairs=files, contrast=True)

    assert result.names == ("own", "a", "b", "contrast")
    assert [one.pairs for one in result.sets] == [344, 3, 2, 824]
    b = result.sets[2]
    assert (b.auc, b.brier, b.accuracy) == (0.5, 0.5, 0.5)
    assert result.sets[1].signature != b.signature
    assert sum(kind.pairs for kind in result.phenomena) == 824
    contrast = load_contrast()
    for kind in result.phenomena:  # who always says present is right on those that are
        labels = contrast.labels[[name == kind.name for name in contrast.kinds]]
        assert kind.accuracy == pytest.approx(labels.mean())


def test_one_data_set_has_one_hash():
    result = evaluate("recall", load_example())
    assert result.signature == result.sets[0].signature


BROKEN = r"""
{"premise": "a"}                                     | p\.jsonl:1
{"premise": "a", "hypothesis": "b", "present": "1"}  | p\.jsonl:1
{"premise": "a", "hypothesis": "b", "present": 2}    | one label of 0
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
def test_sixty_contrasts_of_five_kinds_in_their_language_and_the_same_words_on_both_sides(
    code,
):
    ours = load_contrast(code)
    summaries = [text for text, _ in ours.items]
    units = [unit for _, [unit] in ours.items]
    assert len({*zip(summaries, units, strict=True)}) == 60
    kinds = Counter(ours.kinds)
    assert set(kinds) == {"verbatim", "negation", "number", "roles", "paraphrase"}
    assert min(kinds.values()) >= 10
    assert 27 <= ours.labels.sum() <= 33
    # Each kind, and each summary, with either label.
    for names in (ours.kinds, summaries):
        rows = {*zip(names, ours.labels.tolist(), strict=True)}
        assert len(rows) == 2 * len({*names})

    for texts in (summaries, units):
        assert language_of({"texts": texts}) == code
        assert sum(other_languages(texts, code).values()) <= 3

    shares = []
    for unit, text in zip(units, summaries, strict=True):
        asked = {*words(unit)}
        shares.append(len(asked & {*words(text)}) / len(asked))
    assert np.mean(shares) > 0.5
