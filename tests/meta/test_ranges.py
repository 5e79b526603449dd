"""Agreement by scoring range: scipy topic by topic, eq. 1 by counting, both rules."""

from itertools import combinations

import numpy as np
import pytest
from cases import refused
from scipy.stats import kendalltau

from litepyramid import meta
from litepyramid.meta.ranges import better, opposite_orders
from litepyramid.types import ScoreTable

RULES = ("text", "code")


@pytest.fixture(scope="module")
def table():
    """Two metrics that agree on bad summaries alone, one that always does, and
    people."""
    rng = np.random.default_rng(0)
    quality = rng.random((60, 4))
    blur = rng.normal(size=(2, 60, 4)) * 0.4 * quality**2
    values = np.stack(
        [quality, quality + blur[0], -np.exp(-quality) + 0.01 * blur[1], quality]
    )
    values[3, 10:] = np.nan
    systems = [*(f"people-{i}" for i in range(10)), "lexrank"]
    systems += [f"extract-{i}" for i in range(11, 60)]
    inputs = tuple(f"t{i}" for i in range(4))
    return ScoreTable(("a", "b", "c", "human"), tuple(systems), inputs, values)


def scoring_range(table, human="human", **settings):
    """P19's defaults: the top is above LexRank."""
    return meta.range(table, human, **({"baseline": "lexrank"} | settings))


def found(result, which: str, one: str, other: str):
    return next(
        a for a in result.agreement if (a.range, a.one, a.other) == (which, one, other)
    )


def mean_tau(table: ScoreTable, one: str, other: str, rows) -> float:
    x = table.matrix(one).values
    z = table.matrix(other).values
    return float(
        np.mean(
            [
                kendalltau(x[rows(t), t], z[rows(t), t]).statistic
                for t in range(x.shape[1])
            ]
        )
    )


def test_ranges_are_scipys_tau_over_their_rows(table):
    result = scoring_range(table)
    values = table.values[:3]

    def above(topic):
        rows = np.arange(11, 60)
        return rows[(values[:, 11:, topic] > values[:, 10, topic][:, None]).any(axis=0)]

    for one, other in combinations("abc", 2):
        for which, rows in {
            "judged": lambda t: np.arange(10),
            "whole": lambda t: np.arange(11, 60),
            "top": above,
        }.items():
            assert found(result, which, one, other).tau == pytest.approx(
                mean_tau(table, one, other, rows)
            )

    assert found(result, "whole", "a", "b").tau > found(result, "top", "a", "b").tau
    sizes = [len(above(t)) for t in range(4)]
    assert found(result, "top", "a", "b").summaries == np.mean(sizes)
    assert result.above == pytest.approx(sum(sizes) / (4 * 49))


def test_a_column_human_is_the_human_score(table):
    named = meta.range(table, "human", best=8)
    assert meta.range(table, best=8).to_json() == named.to_json()


def test_the_best_of_all_metrics_or_of_the_two_with_repeats(table):
    values = table.values[:, 10:]

    def best(metric, topic):
        return np.argsort(-values[metric, :, topic], kind="stable")[:8]

    text, code = (meta.range(table, "human", best=8, rule=rule) for rule in RULES)
    union = mean_tau(
        table,
        "a",
        "b",
        lambda t: 10 + np.unique(np.concatenate([best(m, t) for m in range(3)])),
    )
    twice = mean_tau(
        table, "a", "b", lambda t: 10 + np.concatenate([best(0, t), best(1, t)])
    )
    assert found(text, "top", "a", "b").tau == pytest.approx(union)
    assert found(code, "top", "a", "b").tau == pytest.approx(twice)
    assert found(code, "top", "a", "b").summaries == 16


@pytest.mark.parametrize("rule", RULES)
def test_eq_1_is_what_counting_gives(rule):
    part = np.random.default_rng(1).random((3, 12))
    points, unbeaten = better([part], 3000, rule, np.random.default_rng(2))
    shares = []
    beaten = []

    for s in range(12):
        on_one = [any(part[m, x] > part[m, s] for m in range(3)) for x in range(12)]
        on_all = [all(part[m, x] > part[m, s] for m in range(3)) for x in range(12)]
        beaten.append(sum(on_one))
        below = sum(on_one) if rule == "text" else 12
        shares.append(sum(on_all) / below if below else np.nan)

    found_mean = sum(p.value * p.number for p in points if p.number) / 3000
    assert found_mean == pytest.approx(np.mean(shares), abs=0.02)
    assert sum(p.number for p in points) + unbeaten == 3000
    assert min(beaten) > 0 or unbeaten > 0


def test_a_score_from_0_begins_at_0_by_the_code(table):
    """Its steps: i (max - min) / 15, whatever the lowest is; all pairs count, tied ones
    too."""
    part = np.array([[0.2, 0.8, 0.5], [0.3, 0.1, 0.3]])
    points = opposite_orders(
        [part],
        0,
        1,
        4000,
        "code",
        np.random.default_rng(0),
    )
    assert [p.low for p in points] == pytest.approx(
        [i * (0.8 - 0.2) / 15 for i in range(15)]
    )
    assert points[0].number == 4000
    # Of the nine pairs (0, 1) and (1, 2), both ways round, are opposite.
    assert points[0].value == pytest.approx(4 / 9, abs=0.03)


def test_js_2_is_left_out_of_eq_1_by_the_code(table):
    named = ScoreTable(
        ("a", "b", "js-2", "human"), table.systems, table.inputs, table.values
    )
    code = scoring_range(named, rule="code")
    assert code.better_metrics == ("a", "b")
    assert min(p.low for p in code.better) >= 0
    two = scoring_range(named, metrics=["a", "b"], rule="code")
    assert str(code.better) == str(two.better)
    assert scoring_range(named).better_metrics == ("a", "b", "js-2")


def test_small_topics_and_rows_without_scores(table):
    values = table.values.copy()
    values[1, 25:, 2] = np.nan
    values[0, 10, 3] = np.nan
    gaps = ScoreTable(table.metrics, table.systems, table.inputs, values)
    assert scoring_range(gaps).dropped == ("t3",)
    assert meta.range(gaps, "human", best=5, rule="code").dropped == ("t2",)
    judged = ScoreTable(table.metrics, table.systems[:10], table.inputs, values[:, :10])
    assert {a.range for a in meta.range(judged, "human", best=4).agreement} == {
        "judged",
        "top",
    }


def test_mistakes_are_named(table):
    for changes, message in (
        ({"metrics": "a"}, "at least two"),
        ({"baseline": "lead"}, "no row 'lead'"),
    ):
        with refused(message):
            scoring_range(table, **changes)
