"""Close pairs, stable rankings, whole test sets: published values, scipy, scikit-learn,
loops."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from cases import refused
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, kendalltau
from sklearn.isotonic import IsotonicRegression

from litepyramid import meta
from litepyramid.meta import delta, difference, stability
from litepyramid.meta.close_systems import SystemPairs, reached_at, resampled_pairs
from litepyramid.meta.rankings import usual_sizes
from litepyramid.stats import percentile_interval
from litepyramid.types import ScoreTable


@pytest.mark.parametrize(
    ("table", "human", "metric", "upper", "systems", "tau", "close"),
    [
        ("summeval", "expert_relevance_*", "rouge-1_f1", 0.5, 16, 0.5, (29, 0.379)),
        (
            "ddr21",
            "litepyramid_recall",
            "rouge-1_recall",
            0.005,
            24,
            0.754,
            (15, -0.067),
        ),
    ],
)
def test_published_values(request, table, human, metric, upper, systems, tau, close):
    scores = request.getfixturevalue(table)
    found = delta(scores, human, metrics=metric, upper=upper).metrics[0]
    every = found.curve[-1]
    assert (len(found.sides.systems), every.pairs) == (
        systems,
        systems * (systems - 1) / 2,
    )
    assert every.tau == pytest.approx(tau, abs=5e-4)
    assert (found.bounds.pairs, round(found.bounds.tau, 3)) == close


SCORES = st.lists(
    st.tuples(st.integers(0, 5).map(float), st.integers(0, 4).map(float)),
    min_size=2,
    max_size=9,
)


@given(SCORES, st.integers(0, 6), st.integers(0, 6))
def test_counts_are_those_of_a_loop_over_pairs(scores, lower, width):
    pairs = SystemPairs.of(*np.array(scores).T[..., None])
    counts = pairs.count(lower, lower + width)
    kinds = dict.fromkeys(((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)), 0)
    for (a, b), (c, d) in combinations(scores, 2):
        if lower <= abs(a - c) <= lower + width:
            kinds[int(np.sign((a - c) * (b - d))), int(a == c), int(b == d)] += 1

    p, q, t, u, both = kinds.values()
    assert (counts.agreed, counts.disagreed, counts.tied_metric) == (p, q, t)
    assert (counts.tied_human, counts.tied_both, counts.pairs) == (
        u,
        both,
        sum(kinds.values()),
    )
    tau = kendalltau(*np.array(scores).T).statistic
    assert pairs.count().tau == pytest.approx(tau, nan_ok=True)
    assert math.isnan(counts.agreement) == (p + q + u == 0)


def test_ends_are_closed_and_rounding_does_not_open_them():
    x = np.array([[0.1], [0.1 + 0.2], [0.6]])
    pairs = SystemPairs.of(x, x)
    assert pairs.count(0.2, 0.3).pairs == 2
    assert pairs.count(0.3, 0.5).pairs == 2
    assert SystemPairs.of(np.array([[0.3], [0.1 + 0.2]]), x[:2]).gaps[0] == 0


def test_shares_by_both_rules():
    pairs = SystemPairs.of(np.arange(24.0)[:, None] ** 1.1, np.arange(24.0)[:, None])
    assert pairs.ends()[:3] == [28, 56, 83]
    assert pairs.ends("authors")[:3] == [28, 56, 84]
    assert pairs.ends()[-1] == pairs.ends("authors")[-1] == 276


# What a difference is worth
# --------------------------------------------------------------------


def noisy_table(table_of, noise: float):
    rng = np.random.default_rng(0)
    quality = np.arange(14.0)[:, None]
    metric = quality + rng.normal(size=(14, 30))
    human = quality + noise * rng.normal(size=(14, 1)) + rng.normal(size=(14, 30))
    return table_of(m=metric, human=human)


def test_about_are_the_nearest_pairs_and_the_interval_is_the_wider_of_two(table_of):
    entry = difference(noisy_table(table_of, 2.0), 2.0, samples=300).metrics[0]
    about = entry.about
    pairs = SystemPairs.of(entry.sides.scores, entry.sides.Z)
    nearest = np.sort(np.abs(pairs.gaps - 2.0))[: round(0.2 * len(pairs))]
    assert about.pairs == len(nearest)
    assert max(2 - about.lower, about.upper - 2) == pytest.approx(nearest[-1])
    agreed, weights = resampled_pairs(entry.sides, pairs, 300, 12345)
    weights = weights * ((pairs.gaps >= about.lower) & (pairs.gaps <= about.upper))
    with np.errstate(invalid="ignore"):
        shares = (weights * agreed).sum(axis=1) / weights.sum(axis=1)
    low, high = percentile_interval(shares, 0.95)
    wilson = binomtest(about.agreed, about.pairs).proportion_ci(0.95, "wilson")
    assert (entry.low, entry.high) == (min(low, wilson.low), max(high, wilson.high))


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=12))
def test_where_agreement_is_reached_is_scikit_learns_fit(rows):
    # Pairs with equal gaps come in any order, and have one answer.
    rows = sorted(rows, key=lambda row: row[0])
    gaps = np.array([gap for gap, _ in rows], dtype=float)
    agreed = np.array([hit for _, hit in rows])
    fit = IsotonicRegression().fit_transform(gaps, agreed.astype(float))
    good = np.flatnonzero(fit >= 0.75 - 1e-9)
    expected = gaps[good[0]] if good.size else math.nan
    none = np.zeros(len(rows), dtype=int)
    pairs = SystemPairs(gaps, agreed.astype(float), none > 0, none, none, slack=1e-12)
    reached = reached_at(pairs, agreed, np.ones(len(rows)), 0.75)
    assert reached == pytest.approx(expected, nan_ok=True)


def test_sentences_say_what_to_do(table_of):
    result = difference(noisy_table(table_of, 0.2), 3, samples=100)
    text = result.sentences()[0]
    assert text.startswith(
        "When two systems differ by 3 on m, people agreed with the sign 100 %"
    )
    assert "agreement reaches 95 % at a difference of" in text
    assert text in result.to_table().replace("\n", " ")
    assert result.to_json()["sentences"] == [text]

    for noise, size, end in (
        (40.0, 0.1, "no better than chance"),
        (1, 99, "No two systems here differ by more"),
    ):
        result = difference(noisy_table(table_of, noise), size, samples=100)
        assert end in result.sentences()[0]


def test_mistakes_are_named():
    x = [1, 2, 3], [1, 2, 3]
    other = [
        {
            "system": 0,
            "input": 0,
            "metric": "k",
            "score": 1,
        }
    ]
    for run, message in (
        (lambda: difference([1, 2], 0, [1, 2]), "difference of 0"),
        (lambda: difference([1, 1, 1], 1, [1, 2, 3]), "every system the same score"),
        (lambda: delta([1], [1]), "too few scores"),
        (lambda: delta(*x, lower=2, upper=1), "lower end"),
        (lambda: delta(*x, full=other), "share no metric"),
        (lambda: stability(*x, sizes=[0]), "number from 1"),
        (lambda: stability(*x, sizes=[3]), "at most the number"),
        (lambda: meta.testset(*x, full=None), "a table of them"),
    ):
        with refused(message):
            run()


# Stability of rankings
# ------------------------------------------------------------------------


def noisy(systems: int = 8, inputs: int = 40, noise: float = 2.0) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.arange(systems)[:, None] * 0.5 + noise * rng.normal(
        size=(systems, inputs)
    )


def test_it_is_what_a_loop_gives(table_of):
    X = noisy()
    point = stability(table_of(m=X), sizes=[15], samples=600).points[0]
    rng = np.random.default_rng(9)
    taus = []
    scores = []

    for _ in range(600):
        one, two = (X[:, rng.integers(40, size=15)].mean(axis=1) for _ in range(2))
        taus.append(kendalltau(one, two).statistic)
        scores.append(one)

    assert point.tau == pytest.approx(np.mean(taus), abs=6 * np.std(taus) / 600**0.5)
    assert point.deviation == pytest.approx(np.std(taus), rel=0.08)
    assert point.error**2 == pytest.approx(np.var(scores, axis=0).mean(), rel=0.08)


def test_published_region(ddr21):
    """DDR22 Fig. 3: judged-only curves are at .6 to .85 or so when M = 100."""
    metrics = ["rouge-1_recall", "bertscore_recall", "qa-eval_f1"]
    result = stability(
        ddr21,
        "litepyramid_recall",
        metrics=metrics,
        sizes=[100],
        samples=100,
    )
    assert all(0.6 < point.tau < 0.88 for point in result.points)


def test_sizes_do_not_depend_on_each_other_and_holes_are_no_inputs(table_of):
    X = noisy()
    two, one = (
        stability(table_of(m=X), sizes=s, samples=50).points for s in ([5, 9], [9])
    )
    assert one == two[1:]
    assert usual_sizes(3) == [1, 2, 3]
    X[2, 5] = np.nan
    X[:, 7] = np.nan
    (point,) = stability(table_of(m=X), sizes=[39, 40], samples=50).points
    assert (point.systems, point.available, point.inputs) == (8, 39, 39)


# Whole test sets
# ------------------------------------------------------------------------------


def simulated(table_of, inputs: int = 2000):
    """A noisy metric scored on all inputs, sure people on the first few."""
    rng = np.random.default_rng(1)
    quality = np.arange(12.0)[:, None]
    metric = quality + 4 * rng.normal(size=(12, inputs))
    human = quality + 0.5 * rng.normal(size=(12, 40))
    return table_of(m=metric[:, :40], human=human), table_of(m=metric)


def test_values_are_correlations_of_both_averages(table_of):
    judged, full = simulated(table_of)
    result = meta.testset(judged, full=full, samples=50)
    human = judged.matrix("human").values.mean(axis=1)
    for one in result.intervals:
        for value, table in ((one.judged, judged), (one.full, full)):
            expected = kendalltau(
                table.matrix("m").values.mean(axis=1), human
            ).statistic
            assert value == pytest.approx(expected)
    assert [i.sampling for i in result.intervals] == ["systems", "inputs", "both"]


def test_the_same_inputs_on_both_sides_are_still_drawn_apart(table_of):
    """On one table the judged side shares the draw and is exact; the other is not."""
    rng = np.random.default_rng(0)
    values = np.arange(12.0)[:, None] + 3 * rng.normal(size=(12, 30))
    judged = table_of(m=values, human=values)
    full = table_of(m=values)
    one = meta.testset(
        judged,
        full=full,
        sampling=["inputs"],
        samples=200,
    ).intervals[0]
    assert (one.judged_low, one.judged_high) == (1.0, 1.0)
    assert one.full_low < 0.95


def test_left_out_systems_are_named(table_of):
    judged, full = simulated(table_of, inputs=200)
    fewer = ScoreTable(("m",), full.systems[2:], full.inputs, full.values[:, 2:])
    result = meta.testset(judged, full=fewer, samples=60)
    assert result.sides[0].left_out_test == ("0000", "0001")
    assert "only in one of the tables: 0000, 0001" in result.to_table().replace(
        "\n", " "
    )
    tau = kendalltau(
        full.values[0, 2:].mean(axis=1), judged.values[1, 2:].mean(axis=1)
    ).statistic
    (entry,) = delta(judged, full=fewer).metrics
    assert entry.curve[-1].tau == pytest.approx(tau)
    assert entry.sides.test.shape == (10, 200)

    # What people judged of the systems left out alone is no input any more.
    values = judged.values.copy()
    values[:, 2:, 3:] = np.nan
    result = meta.testset(replace(judged, values=values), full=fewer, samples=60)
    assert result.sides[0].inputs == judged.inputs[:3]
