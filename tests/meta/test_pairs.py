"""r_SYSΔ: published values, scipy over the same pairs, closed ends, 0/0."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.system_level.deltas import delta
from litepyramid.meta.system_level.paired_scores import SystemPairs

SUMMEVAL = ("expert_relevance_annotator1", "expert_relevance_annotator2",
            "expert_relevance_annotator3")  # fmt: skip


@pytest.fixture(scope="module")
def summeval(data):
    return read_scores(data / "summeval" / "metric_scores.csv")


@pytest.fixture(scope="module")
def realsumm_table(data):
    return read_scores(data / "realsumm" / "metric_scores_ddr21.csv")


def test_published_values_on_summeval(summeval) -> None:
    found = delta(summeval, SUMMEVAL, metrics="rouge-1_f1", bounds=(0, 0.5)).metrics[0]
    assert (len(found.sides.systems), found.overall.pairs) == (16, 120)
    assert found.overall.tau == pytest.approx(0.500, abs=5e-4)
    assert found.bounds is not None
    assert (found.bounds.pairs, round(found.bounds.tau, 3)) == (29, 0.379)


@pytest.mark.parametrize(("bounds", "scale"), [((0, 0.005), 1.0), ((0, 0.5), 100.0)])
def test_published_values_on_realsumm(realsumm_table, bounds, scale) -> None:
    result = delta(
        realsumm_table, "litepyramid_recall", metrics="rouge-1_recall", bounds=bounds, scale=scale
    )
    found = result.metrics[0]
    assert (len(found.sides.systems), found.overall.pairs) == (24, 276)
    assert found.overall.tau == pytest.approx(0.754, abs=5e-4)
    assert found.bounds is not None
    assert (found.bounds.pairs, round(found.bounds.tau, 3)) == (15, -0.067)


def test_close_pairs_are_ranked_far_worse_than_all(summeval, realsumm_table) -> None:
    """The shape of DDR22 Fig. 6: closest 20 % against 100 %."""
    others = ("bertscore_recall", "qa-eval_f1")
    results = [
        *delta(summeval, SUMMEVAL, metrics=["rouge-1_f1", *others]).metrics,
        *delta(realsumm_table, "litepyramid_recall", metrics=["rouge-1_recall", *others]).metrics,
    ]
    for entry in results:
        close, everything = entry.curve[1], entry.curve[-1]
        assert close.pairs == math.ceil(0.2 * everything.pairs)
        assert everything == entry.overall.__class__(
            **{**_fields(entry.overall), "upper": everything.upper}
        )
        assert close.tau < everything.tau - 0.15


def _fields(counts):
    return {name: getattr(counts, name) for name in counts.__slots__}


SCORES = st.lists(
    st.tuples(st.integers(0, 5).map(float), st.integers(0, 4).map(float)), min_size=2, max_size=9
)


@given(SCORES)
def test_all_pairs_give_scipys_tau(scores) -> None:
    x, z = np.array(scores).T
    expected = kendalltau(x, z).statistic
    assert SystemPairs.of(x, z).count().tau == pytest.approx(expected, nan_ok=True)


@given(SCORES, st.integers(0, 6), st.integers(0, 6))
def test_counts_are_those_of_a_loop_over_pairs(scores, lower, width) -> None:
    x, z = np.array(scores).T
    counts = SystemPairs.of(x, z).count(lower, lower + width)
    agreed = disagreed = tied_metric = tied_human = tied_both = 0
    for (a, b), (c, d) in combinations(scores, 2):
        if not lower <= abs(a - c) <= lower + width:
            continue
        agreed += (a - c) * (b - d) > 0
        disagreed += (a - c) * (b - d) < 0
        tied_metric += a == c and b != d
        tied_human += a != c and b == d
        tied_both += a == c and b == d
    assert (agreed, disagreed, tied_metric, tied_human, tied_both) == (
        counts.agreed, counts.disagreed, counts.tied_metric, counts.tied_human, counts.tied_both,
    )  # fmt: skip
    assert counts.pairs == sum((agreed, disagreed, tied_metric, tied_human, tied_both))
    below = (agreed + disagreed + tied_metric) * (agreed + disagreed + tied_human)
    if below:
        assert counts.tau == pytest.approx((agreed - disagreed) / math.sqrt(below))
    else:
        assert math.isnan(counts.tau)
    assert math.isnan(counts.agreement) == (agreed + disagreed + tied_human == 0)


def test_ends_are_closed_and_rounding_does_not_open_them() -> None:
    x = np.array([0.1, 0.1 + 0.2, 0.6])
    pairs = SystemPairs.of(x, x, x_slack=1e-12)
    assert pairs.count(0.2, 0.3).pairs == 2
    assert pairs.count(0.3, 0.5).pairs == 2
    assert SystemPairs.of(np.array([0.3, 0.1 + 0.2]), np.arange(2.0), x_slack=1e-12).gaps[0] == 0


def test_shares_by_both_rules() -> None:
    pairs = SystemPairs.of(np.arange(24.0) ** 1.1, np.arange(24.0))
    assert pairs.ends(10)[:3] == [28, 56, 83]
    assert pairs.ends(10, "authors")[:3] == [28, 56, 84]
    assert pairs.ends(10)[-1] == pairs.ends(10, "authors")[-1] == 276
    for wrong in ({"buckets": 0}, {"buckets": 10, "rule": "theirs"}):
        with pytest.raises(InputError):
            pairs.ends(**wrong)
    with pytest.raises(InputError, match="lower end"):
        pairs.within(2, 1)


def table_of(**columns):
    return read_scores(
        {"system": f"s{i}", "input": j, "metric": metric, "score": value + j}
        for metric, values in columns.items()
        for i, value in enumerate(values)
        for j in range(2)
    )


def test_heat_map_cells_are_ranges_of_tenths() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=12)
    entry = delta(table_of(m=x, human=x + rng.normal(size=12))).metrics[0]
    assert [cell.pairs for cell in entry.heat[0]] == [c.pairs for c in entry.curve]
    assert entry.heat[3][1] is None
    ends = entry.sides.pairs().ends(10)
    assert entry.heat[2][5].pairs == ends[5] - ends[1]
    assert sum(entry.heat[i][i].pairs for i in range(10)) == 66


def as_the_authors_do(x, z) -> dict[tuple[int, int], tuple[int, float]]:
    """Pairs and τ of each cell that the heat map of DDR22's code fills, by loops of our own."""
    pairs = sorted((abs(a - b), (a - b) * (c - d)) for (a, c), (b, d) in
                   combinations(zip(x, z, strict=True), 2))  # fmt: skip
    size = math.ceil(len(pairs) * 0.1)
    highs = [pairs[min(end, len(pairs)) - 1][0] for end in range(size, len(pairs) + size, size)]
    cells = {}
    for i, low in enumerate([0.0, *highs[:-1]]):
        for j, high in enumerate(highs):
            inside = [sign for gap, sign in pairs if low <= gap <= high]
            if low < high and len(inside) >= 5:
                p, q = sum(s > 0 for s in inside), sum(s < 0 for s in inside)
                assert p + q == len(inside)  # no ties in these data: then τ is (P - Q)/(P + Q)
                cells[i, j] = len(inside), (p - q) / (p + q)
    return cells


@pytest.mark.parametrize("name", ["summeval", "realsumm"])
def test_heat_maps_by_the_authors_rule(request, name) -> None:
    table = request.getfixturevalue({"summeval": "summeval", "realsumm": "realsumm_table"}[name])
    human = {"summeval": "expert_relevance_*", "realsumm": "litepyramid_recall"}[name]
    same = 0
    for metric in ("rouge-1", "rouge-2", "rouge-l", "bertscore", "qa-eval"):
        kind = (
            "recall" if metric == "bertscore" or (name, metric[:2]) == ("realsumm", "ro") else "f1"
        )
        entry = delta(table, human, metrics=f"{metric}_{kind}", rule="authors").metrics[0]
        sides = entry.sides
        expected = as_the_authors_do(sides.X.mean(axis=1), sides.Z.mean(axis=1))
        found = {
            (i, j): (cell.pairs, pytest.approx(cell.tau))
            for i, row in enumerate(entry.heat)
            for j, cell in enumerate(row)
            if cell is not None and cell.pairs >= 5
        }
        assert expected == found
        same += len(expected)
    assert same == 275
    paper = delta(table, human, metrics=f"{metric}_{kind}").metrics[0]
    assert paper.heat[1][1].pairs < entry.heat[1][1].pairs


def test_a_masked_cell_says_so() -> None:
    result = delta(table_of(m=range(5), human=range(5)), min_pairs=5)
    cell = result.to_json()["metrics"][0]["heat"][9][9]
    assert cell["pairs"] < 5
    assert cell["masked"]
    assert result.masked(None)


def test_few_systems_and_ties() -> None:
    with pytest.raises(InputError, match="at least two"):
        delta(table_of(m=[1], human=[1]))
    entry = delta(table_of(m=[1, 1], human=[1, 2])).metrics[0]
    assert entry.overall.tied_metric == 1
    assert math.isnan(entry.overall.tau)
    with pytest.raises(InputError, match="scale"):
        delta(table_of(m=[1, 2], human=[1, 2]), scale=0)


def test_the_metric_may_come_from_a_larger_table() -> None:
    judged = table_of(m=[1, 2, 3], human=[1, 2, 3])
    full = read_scores(
        {"system": f"s{i}", "input": f"other{j}", "metric": "m", "score": value}
        for i, value in enumerate([3, 1, 2, 9])
        for j in range(5)
    )
    entry = delta(judged, full=full).metrics[0]
    assert entry.overall.tau == pytest.approx(kendalltau([3, 1, 2], [1, 2, 3]).statistic)
    assert entry.sides.left_out_test == ("s3",)
    assert len(entry.sides.test) == 5
    with pytest.raises(InputError, match="no system has scores"):
        delta(judged, full=read_scores(
            [{"system": "z", "input": 1, "metric": "m", "score": 1}]), metrics="m")  # fmt: skip
    with pytest.raises(InputError, match="share no metric"):
        delta(judged, full=table_of(k=[1, 2, 3]))
