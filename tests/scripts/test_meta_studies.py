"""Normality of scores, and whole test sets: published values, scipy, the package."""

import numpy as np
import pytest
from cases import cases, same
from normality import normality, shown
from scipy import stats
from whole_test_sets import shown as sets_shown
from whole_test_sets import two_sets

import litepyramid as lp
from litepyramid.data.scores import Scores

SETS = {
    "realsumm/metric_scores_ddr21.csv": (
        "litepyramid_recall",
        """
litepyramid_recall       | 75 | 0.84
AutoSummENG              | 28 | 0.55
bertscore_recall         | 28 | 0.18
METEOR                   | 30 | 0.61
MoverScore               | 31 | 0.5
qa-eval_f1               | 45 | 0.21
rouge-1_recall           | 30 | 0.91
rouge-2_recall           | 61 | 0.62
rouge-l_recall           | 37 | 0.12
""",
    ),
    "summeval/metric_scores.csv": (
        "expert_relevance_*",
        """
mean(expert_relevance_*) | 32 | 0.52
qa-eval_f1               | 40 | 0.01
rouge-l_f1               | 26 | 0.13
""",
    ),
}
"""DDR21 Table 2: the share of inputs with normal scores in per cent, and p of systems.

The human scores are in row 1: Relevance is the mean of three experts.
"""


@pytest.mark.data
@pytest.mark.parametrize("path", SETS)
def test_published_normality(data, path):
    human, published = SETS[path]
    found = {one.metric: one for one in normality(lp.read_scores(data / path, human))}
    for metric, share, p in cases(published):
        assert round(100 * found[metric].share) == int(share)
        assert round(found[metric].system_p, 2) == float(p)


def test_normality_counts_what_has_no_test():
    values = np.array(
        [[1, 1, 3, np.nan], [2, 1, np.nan, np.nan], [4, 1, 5, 2], [9, 1, 6, 2]]
    )
    (found,) = normality(Scores.of({"human": values}, "abcd", "1234"))
    assert (found.tested, found.constant, found.too_few) == (2, 1, 1)
    p = stats.shapiro([5 / 3, 1.5, 3, 4.5]).pvalue
    assert found.system_p == pytest.approx(p)
    assert "human" in shown([found])


def test_a_metric_on_both_sets():
    rng = np.random.default_rng(4)
    people = rng.normal(size=(6, 1)) + rng.normal(size=(6, 30))
    metric = people + rng.normal(size=(6, 30))
    inputs = [f"{n:02}" for n in range(30)]
    judged = Scores.of({"m": metric, "human": people}, "abcdef", inputs)
    full = Scores.of({"m": np.concatenate([metric, metric + 1], axis=1)}, "abcdef",
                     [f"t{n:02}" for n in range(60)])  # fmt: skip

    (found,) = two_sets(lp.read_scores(judged, full=full), ["both"], samples=70)
    (alone,) = lp.meta.interval(judged, level="system", samples=70).intervals
    assert (found.judged, *found.judged_interval) == (
        alone.value,
        alone.low,
        alone.high,
    )
    means = [values.mean(axis=1) for values in (full["m"], people)]
    same(found.full, stats.kendalltau(*means).statistic)
    assert "both" in sets_shown([found])
