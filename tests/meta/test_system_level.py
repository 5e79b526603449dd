"""Close pairs, stable rankings, whole test sets: published values, scipy, scikit-learn,
loops."""

import math
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from by_scipy import tau_of_means
from cases import cases, refused, same
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.isotonic import IsotonicRegression

from litepyramid.data.scores import Scores
from litepyramid.meta import delta, difference, stability
from litepyramid.meta.differences import reached_at, resampled_pairs
from litepyramid.meta.rankings import usual_sizes
from litepyramid.meta.system_pairs import SystemPairs
from litepyramid.stats import percentile_interval

PUBLISHED = """
summeval | expert_relevance_* | rouge-1_f1     | 0.5   | 16 | 0.5   | 29 | 0.379
ddr21    | litepyramid_recall | rouge-1_recall | 0.005 | 24 | 0.754 | 15 | -0.067
"""
"""Pairs nearer than `upper` are close: how many, and their τ; the systems, and the τ of
all."""


@pytest.mark.parametrize("case", cases(PUBLISHED))
def test_published_values(request, case):
    table, human, metric, *numbers = case
    upper, systems, tau, pairs, close = map(float, numbers)
    scores = request.getfixturevalue(table)
    (found,) = delta(scores, human, metrics=metric, upper=upper).metrics

    every = found.curve[-1]
    assert len(found.sides.systems) == systems
    assert every.pairs == systems * (systems - 1) / 2
    assert every.tau == pytest.approx(tau, abs=5e-4)
    assert found.bounds.pairs == pairs
    assert round(found.bounds.tau, 3) == close


SCORES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4)),
    min_size=2,
    max_size=9,
)


def kind_of(metric, human):
    """Of a pair of systems, by the differences of their scores."""
    if metric == human == 0:
        return "tied_both"
    if metric == 0:
        return "tied_metric"
    if human == 0:
        return "tied_human"
    return "agreed" if metric * human > 0 else "disagreed"


@given(SCORES, st.integers(0, 6), st.integers(0, 6))
def test_counts_are_those_of_a_loop_over_pairs(scores, lower, width):
    X, Z = np.array(scores, dtype=float).T[..., None]
    pairs = SystemPairs.of(X, Z)
    same(pairs.count().tau, tau_of_means(X, Z))

    kinds = Counter()
    for one, other in combinations(scores, 2):
        metric = one[0] - other[0]
        human = one[1] - other[1]
        if lower <= abs(metric) <= lower + width:
            kinds[kind_of(metric, human)] += 1

    counts = pairs.count(lower, lower + width)
    assert counts.pairs == kinds.total()
    for kind in ("agreed", "disagreed", "tied_metric", "tied_human", "tied_both"):
        assert getattr(counts, kind) == kinds[kind]
    answered = kinds["agreed"] + kinds["disagreed"] + kinds["tied_human"]
    assert math.isnan(counts.agreement) == (answered == 0)


def test_ends_are_closed_and_rounding_does_not_open_them():
    x = np.array([[0.1], [0.1 + 0.2], [0.6]])
    pairs = SystemPairs.of(x, x)
    assert pairs.count(0.2, 0.3).pairs == 2
    assert pairs.count(0.3, 0.5).pairs == 2
    equal = np.array([[0.3], [0.1 + 0.2]])
    assert SystemPairs.of(equal, x[:2]).gaps[0] == 0


@pytest.mark.parametrize(("rule", "third"), [("paper", 83), ("authors", 84)])
def test_shares_by_both_rules(rule, third):
    scores = np.arange(24.0)[:, None]
    ends = SystemPairs.of(scores**1.1, scores).ends(rule)
    assert ends[:3] == [28, 56, third]
    assert ends[-1] == 276


# What a difference is worth
# --------------------------------------------------------------------


def noisy_table(table_of, noise: float):
    """A metric, and people who differ from it by this much a system."""
    rng = np.random.default_rng(0)
    quality = np.arange(14.0)[:, None]
    people = quality + noise * rng.normal(size=(14, 1))
    metric, human = rng.normal(size=(2, 14, 30))
    return table_of(m=quality + metric, human=people + human)


def test_about_are_the_nearest_pairs_and_the_interval_is_the_wider_of_two(table_of):
    (entry,) = difference(noisy_table(table_of, 2.0), 2.0, samples=300).metrics
    about = entry.about
    pairs = SystemPairs.of(entry.sides.scores, entry.sides.Z)
    distances = np.sort(np.abs(pairs.gaps - 2.0))
    assert about.pairs == round(0.2 * len(pairs))
    farthest = max(2 - about.lower, about.upper - 2)
    assert farthest == pytest.approx(distances[about.pairs - 1])

    agreed, weights = resampled_pairs(entry.sides, pairs, 300, 12345)
    inside = pairs.within(about.lower, about.upper)
    weights = weights[:, inside]
    with np.errstate(invalid="ignore"):
        shares = (weights * agreed[:, inside]).sum(axis=1) / weights.sum(axis=1)
    low, high = percentile_interval(shares, 0.95)
    wilson = binomtest(about.agreed, about.pairs).proportion_ci(0.95, "wilson")
    assert entry.low == min(low, wilson.low)
    assert entry.high == max(high, wilson.high)


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=12))
def test_where_agreement_is_reached_is_scikit_learns_fit(rows):
    # Pairs with equal gaps come in any order, and have one answer.
    rows = sorted(rows, key=lambda row: row[0])
    gaps, agreed = np.array(rows, dtype=float).T
    fit = IsotonicRegression().fit_transform(gaps, agreed)
    good = gaps[fit >= 0.75 - 1e-9]

    none = np.zeros(len(rows), dtype=int)
    pairs = SystemPairs(gaps, agreed, none > 0, none, none, slack=1e-12)
    reached = reached_at(pairs, agreed > 0, np.ones(len(rows)), 0.75)
    same(reached, good[0] if good.size else math.nan)


def test_sentences_say_what_to_do(table_of):
    for noise, size, end in (
        (0.2, 3, "agreement reaches 95 % at a difference of"),
        (40, 0.1, "no better than chance"),
        (1, 99, "No two systems here differ by more"),
    ):
        result = difference(noisy_table(table_of, noise), size, samples=100)
        (text,) = result.to_json()["sentences"]
        assert text.startswith(f"When two systems differ by {size} on m, people agreed")
        assert end in text
        assert text in result.to_table().replace("\n", " ")


def test_mistakes_are_named():
    scores = [1, 2, 3]
    other = [{"system": 0, "input": 0, "metric": "k", "score": 1}]
    for verb, metric, options, message in (
        (difference, scores, {"difference": 0}, "difference of 0"),
        (difference, [1, 1, 1], {"difference": 1}, "every system the same score"),
        (delta, scores, {"lower": 2, "upper": 1}, "lower end"),
        (delta, scores, {"full": other}, "share no metric"),
        (stability, scores, {"sizes": [0]}, "number from 1"),
        (stability, scores, {"sizes": [3]}, "none for inputs"),
    ):
        with refused(message):
            verb(metric, human=scores, **options)
    with refused("too few scores"):
        delta([1], [1])


# Stability of rankings
# ------------------------------------------------------------------------


@pytest.fixture
def noisy():
    """Systems whose order is hardly seen on few inputs."""
    rng = np.random.default_rng(3)
    quality = np.arange(8)[:, None]
    return quality * 0.5 + 2 * rng.normal(size=(8, 40))


def test_it_is_what_a_loop_gives(table_of, noisy):
    (point,) = stability(table_of(m=noisy), sizes=[15], samples=600).points
    rng = np.random.default_rng(9)
    taus = []
    means = []
    for _ in range(600):
        one = noisy[:, rng.integers(40, size=15)]
        two = noisy[:, rng.integers(40, size=15)]
        taus.append(tau_of_means(one, two))
        means.append(one.mean(axis=1))

    deviation = np.std(taus)
    assert point.tau == pytest.approx(np.mean(taus), abs=deviation / 4)
    assert point.deviation == pytest.approx(deviation, rel=0.08)
    variance = np.var(means, axis=0).mean()
    assert point.error**2 == pytest.approx(variance, rel=0.08)


def test_published_region(ddr21):
    """DDR22 Fig. 3: judged-only curves are at .6 to .85 or so when M = 100."""
    result = stability(
        ddr21,
        "litepyramid_recall",
        metrics=["rouge-1_recall", "bertscore_recall", "qa-eval_f1"],
        sizes=[100],
        samples=100,
    )
    for point in result.points:
        assert 0.6 < point.tau < 0.88


def test_sizes_do_not_depend_on_each_other_and_holes_are_no_inputs(table_of, noisy):
    table = table_of(m=noisy)
    (one,) = stability(table, sizes=[9], samples=50).points
    _, again = stability(table, sizes=[5, 9], samples=50).points
    assert one == again
    assert usual_sizes(3) == [1, 2, 3]

    noisy[2, 5] = np.nan
    noisy[:, 7] = np.nan
    (point,) = stability(
        table_of(m=noisy),
        sizes=[39, 40],
        samples=50,
    ).points
    assert point.systems == 8
    assert point.available == point.inputs == 39


# Whole test sets
# ------------------------------------------------------------------------------


def test_left_out_systems_are_named(table_of):
    judged = noisy_table(table_of, 2)
    metric = judged["m"][2:]
    wide = np.concatenate([metric, metric[::-1] / 2], axis=1)
    full = Scores.of({"m": wide}, judged.systems[2:], [f"{n:02}" for n in range(60)])
    result = delta(judged, full=full)
    (entry,) = result.metrics
    assert entry.sides.left_out_test == judged.systems[:2]
    shown = result.to_table().replace("\n", " ")
    assert "only in one of the tables: 0000, 0001" in shown
    assert entry.sides.test.shape == (12, 60)
    same(entry.curve[-1].tau, tau_of_means(wide, judged["human"][2:]))

    # What people judged of the systems left out alone is no input any more.
    values = judged.values.copy()
    values[:, 2:, 3:] = np.nan
    (entry,) = delta(replace(judged, values=values), full=full).metrics
    assert entry.sides.inputs == judged.inputs[:3]
