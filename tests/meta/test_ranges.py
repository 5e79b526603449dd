"""Agreement by scoring range: scipy topic by topic, eq. 1 by counting, both rules."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from cases import refused
from scipy.stats import kendalltau

from litepyramid import meta
from litepyramid.data.scores import Scores
from litepyramid.meta.core.range_curves import better, opposite_orders


@pytest.fixture(scope="module")
def table():
    """Two metrics that agree on bad summaries alone, one that always does, and
    people, who judged the first ten."""
    rng = np.random.default_rng(0)
    quality = rng.random((60, 4))
    blur = rng.normal(size=(2, 60, 4)) * 0.4 * quality**2
    always = 0.01 * blur[1] - np.exp(-quality)
    human = quality.copy()
    human[10:] = np.nan

    return Scores.of(
        {"a": quality, "b": quality + blur[0], "c": always, "human": human},
        [f"system-{i:02}" for i in range(60)],
        ["t0", "t1", "t2", "t3"],
    )


def scoring_range(table, human="human", **settings):
    """P19's defaults: the top is above a baseline, the row 10."""
    return meta.range(table, human, **({"baseline": "system-10"} | settings))


def found(result, which: str, one: str, other: str):
    for agreement in result.agreement:
        if (agreement.range, agreement.one, agreement.other) == (which, one, other):
            return agreement
    return None


def mean_tau(table: Scores, one: str, other: str, rows) -> float:
    """Of the rows of each topic."""
    x = table[one]
    z = table[other]
    taus = []
    for topic, chosen in enumerate(rows):
        taus.append(kendalltau(x[chosen, topic], z[chosen, topic]).statistic)
    return pytest.approx(np.mean(taus))


def test_ranges_are_scipys_tau_over_their_rows(table):
    above = []
    for topic in np.moveaxis(table.values[:3], 2, 0):
        higher = topic > topic[:, [10]]
        higher[:, :10] = False
        above.append(np.flatnonzero(higher.any(axis=0)))

    result = scoring_range(table)
    for which, rows in (
        ("judged", [range(10)] * 4),
        ("whole", [range(11, 60)] * 4),
        ("top", above),
    ):
        for one, other in combinations("abc", 2):
            tau = found(result, which, one, other).tau
            assert tau == mean_tau(table, one, other, rows)

    top = found(result, "top", "a", "b")
    assert found(result, "whole", "a", "b").tau > top.tau
    size = np.mean([len(rows) for rows in above])
    assert top.summaries == size
    assert result.above == pytest.approx(size / 49)


def test_the_best_of_all_metrics_or_of_the_two_with_repeats(table):
    order = np.argsort(-table.values[:3, 10:], axis=1)
    best = 10 + np.moveaxis(order[:, :8], 2, 0)

    of_all = meta.range(table, "human", best=8)
    union = [np.unique(topic) for topic in best]
    top = found(of_all, "top", "a", "b")
    assert top.tau == mean_tau(table, "a", "b", union)

    of_two = meta.range(table, "human", best=8, rule="code")
    twice = [topic[:2].ravel() for topic in best]
    top = found(of_two, "top", "a", "b")
    assert top.tau == mean_tau(table, "a", "b", twice)
    assert top.summaries == 16


@pytest.mark.parametrize("rule", ["text", "code"])
def test_eq_1_is_what_counting_gives(rule):
    part = np.random.default_rng(1).random((3, 12))
    points, unbeaten = better([part], 3000, rule, np.random.default_rng(2))
    shares = []
    beaten = []

    for scores in part.T:
        higher = scores < part.T
        on_one = higher.any(axis=1).sum()
        on_all = higher.all(axis=1).sum()
        beaten.append(on_one)
        below = on_one if rule == "text" else 12
        shares.append(on_all / below if below else np.nan)

    total = sum(point.value * point.number for point in points if point.number)
    assert total / 3000 == pytest.approx(np.mean(shares), abs=0.02)
    assert sum(point.number for point in points) + unbeaten == 3000
    assert min(beaten) > 0 or unbeaten > 0


def test_a_score_from_0_begins_at_0_by_the_code():
    """Its steps: i (max - min) / 15, whatever the lowest is; all pairs count, tied ones
    too."""
    part = np.array([[0.2, 0.8, 0.5], [0.3, 0.1, 0.3]])
    rng = np.random.default_rng(0)
    points = opposite_orders([part], 0, 1, 4000, "code", rng)
    starts = [point.low for point in points]
    assert starts == pytest.approx(np.arange(15) * (0.8 - 0.2) / 15)
    assert points[0].number == 4000
    # Of the nine pairs (0, 1) and (1, 2), both ways round, are opposite.
    assert points[0].value == pytest.approx(4 / 9, abs=0.03)


def test_js_2_is_left_out_of_eq_1_by_the_code(table):
    scores = {"a": table["a"], "b": table["b"], "human": table["human"]}
    scores["js-2"] = table["c"]
    named = Scores.of(scores, table.systems, table.inputs)
    assert scoring_range(named).better_metrics == ("a", "b", "js-2")
    code = scoring_range(named, rule="code")
    assert code.better_metrics == ("a", "b")
    assert min(point.low for point in code.better) >= 0
    two = scoring_range(named, metrics=["a", "b"], rule="code")
    assert str(code.better) == str(two.better)


def test_small_topics_and_rows_without_scores(table):
    values = table.values.copy()
    values[1, 25:, 2] = np.nan
    values[0, 10, 3] = np.nan
    gaps = replace(table, values=values)
    assert scoring_range(gaps).dropped == ("t3",)
    assert meta.range(gaps, "human", best=5, rule="code").dropped == ("t2",)

    judged = gaps.take(table.systems[:10], table.inputs)
    agreement = meta.range(judged, best=4).agreement
    assert {one.range for one in agreement} == {"judged", "top"}


def test_mistakes_are_named(table):
    with refused("at least two"):
        scoring_range(table, metrics="a")
    with refused("no row 'lead'"):
        scoring_range(table, baseline="lead")
