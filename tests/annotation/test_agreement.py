"""Agreement against the reference library, and what must hold for any table of
answers."""

import math

import krippendorff
import numpy as np
import pytest
from cases import cases
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


WORKED = """
1   2 3 3 2 1 4 1 2 nan nan nan
1   2 3 3 2 2 4 1 2   5 nan   3
nan 3 3 3 2 3 4 2 2   5   1 nan
1   2 3 3 2 4 4 1 2   5   1 nan
"""


def test_alpha_of_the_worked_example():
    """Krippendorff 2011, section C: any number of observers, nominal, missing data:
    .743."""
    table = np.loadtxt(WORKED.splitlines())
    assert krippendorff_alpha(table) == pytest.approx(0.743, abs=5e-4)


def votes_of(column):
    """How many more workers said 1 than 0, and how many said anything."""
    votes = column[~np.isnan(column)].tolist()
    return votes.count(1.0) - votes.count(0.0), len(votes)


@given(tables())
def test_majority_by_counting(table):
    for column, label in zip(table.T, majority_labels(table), strict=True):
        lead, votes = votes_of(column)
        if votes:
            assert label == (lead > 0)
        else:
            assert math.isnan(label)


@given(tables())
def test_disagreement_by_counting(table):
    compared, disagreed = disagreement(table)
    for worker, answers in enumerate(table):
        others = np.delete(table, worker, axis=0)
        n = 0
        bad = 0
        for item, answer in enumerate(answers):
            lead, _ = votes_of(others[:, item])
            if not math.isnan(answer) and lead != 0:
                n += 1
                bad += (lead > 0) != (answer == 1.0)
        assert (compared[worker], disagreed[worker]) == (n, bad)


def dropped(result):
    return [worker.worker for worker in result.workers if worker.dropped]


def undecided(result):
    return [worker.worker for worker in result.workers if worker.undecided]


TIES = """
0 1     | 1
0 .5    | 1
.5 .5   | 0
.5 1    | 0
0 .5 1  | 0
"""


@pytest.mark.parametrize(("answers", "ties"), cases(TIES))
def test_a_tie_is_an_answer_more_that_would_be_another_label(answers, ties):
    table = np.loadtxt(answers.split(), ndmin=2)
    result = agree(table, [*"abc"][: len(table)])
    assert result.counts["ties (not present)"] == int(ties)


@given(tables())
def test_every_answer_is_accounted_for(table):
    names = [f"w{number}" for number in range(len(table))]
    result = agree(table, names, min_compared=1)
    noisy = dropped(result)
    rest = table[[name not in noisy for name in names]]
    assert len(rest) >= min(2, len(names))  # of two, nobody can say who is wrong
    assert result.counts["answers"] == (~np.isnan(table)).sum()
    assert result.counts["answers kept"] == (~np.isnan(rest)).sum()
    assert result.labels.tolist() == pytest.approx(majority_labels(rest), nan_ok=True)
    for worker in result.workers:
        assert (worker.share > 0.5) == (worker.dropped or worker.undecided)


def test_noisy_workers_are_found_worst_first_and_labels_recover():
    """With two noisy workers of five, the majority is still the good ones'."""
    rng = np.random.default_rng(1)
    truth = (rng.random(300) < 0.5).astype(float)
    wrong = rng.random((5, 300)) < [[0.05], [0.05], [0.05], [0.9], [0.7]]
    table = np.where(wrong, 1 - truth, truth)
    result = agree(table, [*"abcde"])
    assert dropped(result) == ["d", "e"]
    assert 0.85 < result.workers[0].share < 0.95
    assert result.alpha > result.alpha_all
    assert (result.labels == truth).mean() > 0.97
    assert dropped(agree(table, [*"abcde"], noisy_above=1)) == []


def test_nobody_is_dropped_on_little_evidence():
    table = [
        [1, 0, 1],
        [0, 1, 0],
        [0, 1, 0],
    ]
    few = agree(table, ["x", "y", "z"])
    enough = agree(table, ["x", "y", "z"], min_compared=3)
    assert dropped(few) == []
    assert dropped(enough) == ["x"]
    assert few.signature != enough.signature


TRUTH = np.array([1.0, 0.0] * 10)


def test_of_two_workers_nobody_knows_who_is_wrong():
    result = agree([TRUTH, 1 - TRUTH], ["good", "bad"])
    assert dropped(result) == []
    assert sorted(undecided(result)) == ["bad", "good"]
    assert "a third worker is needed" in " ".join(result.to_table().split())
    assert undecided(agree([TRUTH, TRUTH, 1 - TRUTH], ["a", "b", "c"])) == []


def test_two_answers_to_an_item_are_enough_beside_several_others():
    whole = np.tile(TRUTH, 3)
    table = np.full((4, 60), np.nan)
    table[0] = 1 - whole
    for number, answers in enumerate(table[1:]):
        answers[20 * number :][:20] = TRUTH
    result = agree(table, ["noisy", "a", "b", "c"])
    assert dropped(result) == ["noisy"]
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
