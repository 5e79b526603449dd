"""Figures: nothing cut off or covered, any names, signed files, the numbers of the result."""

from __future__ import annotations

import io

import numpy as np
import pytest

from litepyramid.easiness.curve import CurvePoint, CurveResult
from litepyramid.figures.base import R_DELTA, save_figure
from litepyramid.figures.correlations import (
    coverage_figure,
    curve_figure,
    interval_figure,
    power_figure,
    significance_figure,
)
from litepyramid.figures.system_level import (
    delta_figure,
    full_set_figure,
    range_figure,
    score_intervals_figure,
    stability_figure,
    system_scores_figure,
)
from litepyramid.io.scores import read_scores
from litepyramid.meta import compare, coverage, delta, full_test_set, interval, stability
from litepyramid.meta.ranges.scoring_ranges import scoring_range
from litepyramid.meta.simulate.test_power import PowerSettings, power_on_noise
from litepyramid.stats import system_means
from litepyramid.types import ScoreTable, Signature

pytest.importorskip("matplotlib")
from matplotlib import image

SIGNED = Signature.of(judge="lexical", seed=1)


def table(metrics, systems=8, inputs=8):
    rng = np.random.default_rng(0)
    rows = []
    for place, metric in enumerate([*metrics, "human"]):
        noise = 0.3 + (len(metrics) - place) / 3  # the last metric is the best
        for i in range(systems):
            rows += [
                {"system": f"s{i}", "input": j, "metric": metric, "score": i + noise * rng.normal()}
                for j in range(inputs)
            ]
    return read_scores(rows)


NAMES = ["a metric with a very long name", "price $ and \\bad{ $", "m_3", "the_best_one_of_all"]
MANY = [f"metric_number_{i}_of_many" for i in range(20)]


def curve():
    points = []
    for share, value in ((0.0, 0.9), (0.5, 0.89), (1.0, 0.88)):
        points.append(
            CurvePoint("system", "pearson", share, 1, "easiness", value, interval=(0.7, 0.97))
        )
        points.append(CurvePoint("system", "pearson", share, 1, "random", value, 0.01, 0.87, 0.9))
    return CurveResult(tuple(points), 2, 5, 0.95, (), SIGNED, 8, 8)


def drawn():
    """Every figure, with metrics of odd names; those that grow with them, with many too."""
    for names in (NAMES, MANY):
        scores = table(names)
        yield interval_figure(interval(scores, samples=50, level=["system"]))
        yield significance_figure(compare(scores, samples=60, correction="none"))
        yield stability_figure(stability(scores, samples=5, sizes=[2, 4]))
    scores = table(NAMES)
    yield delta_figure(delta(scores, metrics=NAMES[:2]))
    yield system_scores_figure(delta(scores))
    testset = full_test_set(scores, table(NAMES, inputs=12), samples=40)
    yield full_set_figure(testset)
    yield score_intervals_figure(testset)
    yield range_figure(scoring_range(scores, NAMES, top="best", best=3, judged="s1"))
    yield coverage_figure(coverage(table(NAMES[:1]), trials=4, samples=40))
    yield power_figure(
        power_on_noise(table(NAMES), metric="m_3", settings=PowerSettings(trials=3, samples=20))
    )
    yield curve_figure(curve())


def test_nothing_touches_the_edge_and_no_title_covers_a_legend(tmp_path):
    for number, figure in enumerate(drawn()):
        save_figure(figure, tmp_path / "f.png")
        pixels = image.imread(tmp_path / "f.png")
        for edge in (pixels[:3], pixels[-3:], pixels[:, :3], pixels[:, -3:]):
            assert edge.min() == 1.0, f"figure {number} is cut"
        above = figure._suptitle and figure._suptitle.get_window_extent()
        for legend in figure.legends:
            assert not (above and legend.get_window_extent().overlaps(above)), number
            for axes in figure.axes:
                assert not legend.get_window_extent().overlaps(axes.get_window_extent()), number
        for axes in figure.axes:
            assert axes.get_window_extent().height > 30, f"figure {number} has no room"


def test_files_carry_the_signature_and_truetype_fonts(tmp_path):
    for kind in ("png", "pdf", "svg"):
        for name in ("f", "again"):
            figure = system_scores_figure(delta(table(NAMES[:1])))
            save_figure(figure, tmp_path / f"{name}.{kind}", SIGNED)
        found = (tmp_path / f"f.{kind}").read_bytes()
        assert str(SIGNED).encode() in found
        assert b"litepyramid 0" in found
        assert (tmp_path / f"again.{kind}").read_bytes() == found
    pdf = (tmp_path / "f.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_intervals_are_sorted_by_the_first_panel():
    result = interval(table(NAMES), samples=50, level=["system"])
    values = {i.metric: i.value for i in result.intervals}
    axes = interval_figure(result).axes[0]
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert [values[name] for name in shown] == sorted(values.values(), reverse=True)
    assert shown != list(result.intervals[0].metric)


def test_an_interval_without_a_spread_is_a_point():
    x = np.random.default_rng(0).random((9, 6))
    names = tuple("abcdefghi"), tuple("123456")
    scores = ScoreTable(("m", "human"), *names, np.stack([x, 0.3 * x + 0.1]))
    result = interval(scores, samples=50, level="system", coefficient="pearson")
    assert 0 < np.ptp(result.intervals[0].drawn) < 1e-12
    assert not interval_figure(result).axes[0].collections


def test_coverage_ends_at_1_and_the_curve_shows_what_sampling_does():
    result = coverage(table(["m"]), trials=6, samples=40)
    assert any(r.coverage == 1.0 for r in result.rows)
    for axes in coverage_figure(result).axes:
        for bars in axes.collections:
            for segment in bars.get_segments():
                assert 0 <= segment[:, 0].min() <= segment[:, 0].max() <= 1
    low, high = curve_figure(curve()).axes[0].get_ylim()
    assert low <= 0.7
    assert high >= 0.97


def test_what_the_figures_of_systems_show():
    scores = table(NAMES)
    result = delta(scores)
    assert delta_figure(result).axes[0].get_ylabel().startswith(R_DELTA)
    human, first, *_ = system_scores_figure(result).axes
    sides = result.metrics[0].sides
    np.testing.assert_array_equal(human.lines[0].get_xdata(), system_means(sides.Z))
    np.testing.assert_array_equal(first.lines[0].get_xdata(), system_means(sides.X))
    testset = full_test_set(scores, table(NAMES, inputs=12), samples=40)
    axes = score_intervals_figure(testset).axes[0]
    ends = {tuple(line.get_xdata()) for line in axes.lines}
    assert ends == {
        pair for _, a, b, c, d in testset.variances[0].intervals for pair in ((a, b), (c, d))
    }


def test_a_figure_too_large_for_the_program_is_drawn_coarser(tmp_path):
    from litepyramid.figures.base import new_figure

    save_figure(new_figure(2.0, 500.0), tmp_path / "tall.png")
    assert image.imread(io.BytesIO((tmp_path / "tall.png").read_bytes())).shape[0] <= 65_535
