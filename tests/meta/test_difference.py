"""What a difference means: the share, its interval, and where agreement is reached."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.isotonic import IsotonicRegression

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.system_level.differences import difference
from litepyramid.meta.system_level.paired_scores import SystemPairs
from litepyramid.meta.system_level.sign_agreement import reaching, wilson_interval
from litepyramid.stats import resampled_means
from litepyramid.tables import render


def table_of(noise: float, systems: int = 14, inputs: int = 30, seed: int = 0):
    rng = np.random.default_rng(seed)
    quality = np.arange(systems, dtype=float)
    scores = {
        "m": quality[:, None] + rng.normal(size=(systems, inputs)),
        "human": quality[:, None] + noise * rng.normal(size=(systems, 1))
        + rng.normal(size=(systems, inputs)),
    }  # fmt: skip
    return read_scores(
        {"system": f"s{i}", "input": j, "metric": name, "score": values[i, j]}
        for name, values in scores.items()
        for i in range(systems)
        for j in range(inputs)
    )


def test_a_good_metric_is_believed_from_a_smaller_difference() -> None:
    good, bad = (difference(table_of(noise), 3, samples=200).metrics[0] for noise in (0.2, 4.0))
    assert good.about.counts.agreement == 1
    assert good.about.low > 0.75
    assert bad.about.counts.agreement < 0.9
    assert bad.about.low < bad.about.counts.agreement < bad.about.high
    assert math.isnan(bad.reached) or bad.reached > good.reached


def test_about_are_the_nearest_pairs_and_the_window_is_their_range() -> None:
    entry = difference(table_of(1.0), 3.0, samples=50, window=0.1).metrics[0]
    pairs = entry.sides.pairs()
    nearest = np.sort(np.abs(pairs.gaps - 3.0))[: round(0.1 * len(pairs))]
    counts = entry.about.counts
    assert counts.pairs == len(nearest)
    assert max(3 - counts.lower, counts.upper - 3) == pytest.approx(nearest[-1])
    assert entry.up_to.counts == pairs.count(0, 3.0)
    assert entry.beyond is None or entry.beyond.counts.lower == entry.reached


def test_the_interval_is_the_wider_of_two() -> None:
    results = {
        rule: difference(table_of(2.0), 2.0, samples=300, interval=rule).metrics[0].about
        for rule in ("wider", "bootstrap", "wilson")
    }
    assert results["wider"].low == min(results["bootstrap"].low, results["wilson"].low)
    assert results["wider"].high == max(results["bootstrap"].high, results["wilson"].high)
    counts = results["wilson"].counts
    expected = binomtest(counts.agreed, counts.pairs).proportion_ci(0.95, "wilson")
    assert (results["wilson"].low, results["wilson"].high) == (expected.low, expected.high)
    assert all(math.isnan(end) for end in wilson_interval(0, 0, 0.95))


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=12))
def test_where_agreement_is_reached_is_scikit_learns_fit(rows) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    gaps = np.array([gap for gap, _ in rows], dtype=float) + np.arange(len(rows)) * 1e-6
    agreed = np.array([hit for _, hit in rows])
    pairs = SystemPairs(
        gaps, np.where(agreed, 1, -1).astype(np.int8), np.zeros(len(rows), bool),
        np.zeros(len(rows), np.intp), np.zeros(len(rows), np.intp), 0.0,
    )  # fmt: skip
    fit = IsotonicRegression().fit_transform(gaps, agreed.astype(float))
    good = np.flatnonzero(fit >= 0.75 - 1e-9)
    expected = gaps[good[0]] if good.size else math.nan
    assert reaching(pairs, 0.75) == pytest.approx(expected, nan_ok=True)


def test_sentences_say_what_to_do() -> None:
    result = difference(table_of(0.2), 3, samples=100)
    text = result.sentences()[0]
    assert text.startswith("When two systems differ by 3 on m, people agreed with the sign 100 %")
    assert "agreement reaches 95 % at a difference of" in text
    assert text in render(result, "table").replace("\n", " ")
    assert result.to_json()["metrics"][0]["sentence"] == text
    noisy = difference(table_of(40.0), 0.1, samples=100).sentences()[0]
    assert "no better than chance" in noisy
    assert (
        "No two systems here differ by more"
        in difference(table_of(1), 99, samples=40).sentences()[0]
    )


def test_a_seed_fixes_the_interval() -> None:
    ends = [difference(table_of(2.0), 2.0, samples=99, seed=s).metrics[0].about for s in (1, 1, 2)]
    assert ends[0] == ends[1] != ends[2]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"d": 0}, "difference of 0"),
        ({"d": 1, "target": 1.5}, "at most 1"),
        ({"d": 1, "window": 0}, "window"),
        ({"d": 1, "interval": "t"}, "wilson"),
        ({"d": 1, "samples": 39}, "at least 40 for an interval at 95 %"),
    ],
)
def test_mistakes_are_named(changes, said) -> None:
    with pytest.raises(InputError, match=said):
        difference(table_of(1.0), **changes)


def test_a_constant_metric_is_named() -> None:
    rows = [
        {"system": s, "input": 1, "metric": m, "score": v}
        for m, values in {"m": [1, 1], "human": [1, 2]}.items()
        for s, v in zip("ab", values, strict=True)
    ]
    with pytest.raises(InputError, match="every system the same score"):
        difference(read_scores(rows), 1)


def test_resampled_means_are_means_of_repeated_inputs() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((4, 6))
    X[1, 2] = X[3] = np.nan
    counts = rng.integers(0, 3, (5, 6))
    expected = [[np.nanmean(np.repeat(x, c)) if not np.isnan(x).all() else np.nan for x in X]
                for c in counts]  # fmt: skip
    np.testing.assert_allclose(resampled_means(X, counts), expected, rtol=1e-12)
