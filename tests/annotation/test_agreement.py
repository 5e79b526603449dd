"""Agreement against the reference library, and what must hold for any table of
answers."""

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from litepyramid.annotation.agreement import (
    agree,
    cohen_kappa,
    disagreement,
    krippendorff_alpha,
    majority_labels,
)

NAN = float("nan")


def tables(values=(0.0, 1.0, NAN), workers=6, items=12):
    shape = st.tuples(st.integers(1, workers), st.integers(1, items))
    return shape.flatmap(
        lambda s: arrays(np.float64, s, elements=st.sampled_from(values))
    )


def reference(table):
    """The library's alpha; NaN where it finds no two categories."""
    kept = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    if np.unique(kept[~np.isnan(kept)]).size < 2:
        return math.nan
    return krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")


@given(st.one_of(tables(), tables(values=(1.0, 2.0, 3.0, 7.0, NAN))))
def test_alpha_is_the_librarys(table):
    assert krippendorff_alpha(table) == pytest.approx(
        reference(table), abs=1e-12, nan_ok=True
    )


def test_alpha_of_the_worked_example():
    """Krippendorff 2011, section C: any number of observers, nominal, missing data:
    .743."""
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
    assert krippendorff_alpha(table) == pytest.approx(0.743, abs=5e-4)


@given(tables())
def test_majority_by_counting(table):
    for column, label in zip(table.T, majority_labels(table), strict=True):
        votes = column[~np.isnan(column)].tolist()
        if not votes:
            assert math.isnan(label)
        else:
            assert label == (votes.count(1.0) > votes.count(0.0))


@given(tables())
def test_disagreement_by_counting(table):
    compared, disagreed = disagreement(table)
    for worker, row in enumerate(table):
        others = np.delete(table, worker, axis=0)
        n = bad = 0
        for item, own in enumerate(row):
            votes = others[:, item][~np.isnan(others[:, item])].tolist()
            lead = votes.count(1.0) - votes.count(0.0)
            if math.isnan(own) or lead == 0:
                continue
            n += 1
            bad += (lead > 0) != (own == 1.0)
        assert (compared[worker], disagreed[worker]) == (n, bad)


def named(result, flag):
    """The workers who are dropped, or undecided."""
    return [w.worker for w in result.workers if getattr(w, flag)]


@pytest.mark.parametrize(
    ("answers", "ties"),
    [((0, 1), 1), ((0, 0.5), 1), ((0.5, 0.5), 0), ((0.5, 1), 0), ((0, 0.5, 1), 0)],
)
def test_a_tie_is_an_answer_more_that_would_be_another_label(answers, ties):
    table = [[answer] for answer in answers]
    names = [str(n) for n in range(len(answers))]
    assert agree(table, names).counts["ties (not present)"] == ties


@given(tables())
def test_every_answer_is_accounted_for(table):
    names = [f"w{i}" for i in range(table.shape[0])]
    result = agree(table, names, min_compared=1)
    dropped = named(result, "dropped")
    rest = table[[name not in dropped for name in names]]
    assert result.counts["answers"] == (~np.isnan(table)).sum()
    assert result.counts["answers kept"] == (~np.isnan(rest)).sum()
    for worker in result.workers:
        assert (worker.share > 0.5) == (worker.dropped or worker.undecided)
    assert len(rest) >= min(2, len(names))  # of two, nobody can say who is wrong
    labels = majority_labels(rest) if rest.size else np.full(table.shape[1], np.nan)
    np.testing.assert_array_equal(result.labels, labels)


def test_noisy_workers_are_found_worst_first_and_labels_recover():
    """With two noisy workers of five, the majority is still the good ones'."""
    rng = np.random.default_rng(1)
    truth = (rng.random(300) < 0.5).astype(float)
    flip = np.array([0.05, 0.05, 0.05, 0.9, 0.7])[:, None]
    table = np.where(rng.random((5, 300)) < flip, 1 - truth, truth)
    result = agree(table, list("abcde"))
    assert named(result, "dropped") == ["d", "e"]
    assert 0.85 < result.workers[0].share < 0.95
    assert result.alpha > result.alpha_all
    assert (result.labels == truth).mean() > 0.97
    assert named(agree(table, list("abcde"), noisy_above=1), "dropped") == []


def test_nobody_is_dropped_on_little_evidence_or_one_word_against_another():
    table = [[1, 0, 1], [0, 1, 0], [0, 1, 0]]
    few = agree(table, ["x", "y", "z"])
    enough = agree(table, ["x", "y", "z"], min_compared=3)
    assert named(few, "dropped") == []
    assert named(enough, "dropped") == ["x"]
    assert few.signature != enough.signature

    truth = np.array([1.0, 0.0] * 10)
    result = agree([truth, 1 - truth], ["good", "bad"])
    assert named(result, "dropped") == []
    assert sorted(named(result, "undecided")) == ["bad", "good"]
    assert "a third worker is needed" in " ".join(result.to_table().split())
    assert named(agree([truth, truth, 1 - truth], ["a", "b", "c"]), "undecided") == []

    # Two answers to an item are enough if a worker is paired with several others.
    whole = np.tile(truth, 3)
    table = np.full((4, 60), np.nan)
    table[0] = 1 - whole
    for worker in (1, 2, 3):
        table[worker, 20 * worker - 20 : 20 * worker] = truth
    result = agree(table, ["noisy", "a", "b", "c"])
    assert named(result, "dropped") == ["noisy"]
    assert result.labels.tolist() == whole.tolist()


@given(tables((0.0, 0.5, 1.0, NAN)))
def test_kappa_is_that_of_scikit_learn(table):
    from sklearn.metrics import cohen_kappa_score

    pair = table[:2]
    both = pair[:, ~np.isnan(pair).any(axis=0)]
    found = cohen_kappa(pair)
    if len(pair) < 2 or len(np.unique(both)) < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(cohen_kappa_score(*(2 * both)))
        assert math.isnan(cohen_kappa([*pair, pair[0]]))
