"""Figures of scores: the numbers of the result, nothing covered or cut, one column wide."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

import litepyramid as lp
from litepyramid.figures.base import save_figure
from litepyramid.figures.scores import calibration_figure, comparison_figure, score_figure
from litepyramid.judges.calibration import calibrate
from litepyramid.scoring.combine import combine
from litepyramid.types import ScoreMatrix, Signature

pytest.importorskip("matplotlib")
from matplotlib import image
from matplotlib.transforms import Bbox

ODD = ["price $ and \\bad{ $", "the same long name with an end of its own: " * 3, "x" * 300]


def scored(systems, inputs=20, labels=True):
    """Systems whose presence falls from the first to the last, with names of every length."""
    rng = np.random.default_rng(1)
    names = [*ODD[: systems - 1], *(f"system_{n}_of_many" for n in range(systems))][:systems]
    units = [[f"fact {m} {u}" for u in range(8)] for m in range(inputs)]
    true = {
        name: [(rng.random(8) < 0.9 - 0.8 * n / systems).astype(int).tolist() for _ in units]
        for n, name in enumerate(names)
    }

    class Own:
        at = 0

        def judge(self, items):
            from litepyramid.judges.base import JudgedBatch

            all_ = [np.array(own, dtype=float) for name in names for own in true[name]]
            found = all_[self.at : self.at + len(items)]
            self.at += len(items)
            return JudgedBatch(tuple(0.15 + 0.7 * own for own in found), {"judge": "own"})

    summaries = {name: [f"{name} {m}." for m in range(inputs)] for name in names}
    return lp.score(summaries, units, judge=Own(), samples=100, labels=true if labels else None)


def combined(result):
    human = result.human_matrix
    values = human.values.copy()
    values[:, np.random.default_rng(2).permutation(values.shape[1])[:5]] = np.nan
    return combine(result.matrix, replace(human, values=values))


@pytest.fixture(scope="module", params=[3, 25])
def result(request):
    return scored(request.param)


def ink(text):
    """The box of a label: matplotlib's is as high as a line, whatever stands in it."""
    box = text.get_window_extent()
    middle, size = (box.p0 + box.p1) / 2, np.array([box.width, box.height])
    upright = text.get_rotation() == 90
    lines = text.get_text().count("\n") + 1
    size[0 if upright else 1] *= 0.6 if lines == 1 else 0.85
    return Bbox([middle - size / 2, middle + size / 2])


def check(figure, tmp_path, width=3.5):
    """One column wide, nothing at the edge, no label over another."""
    save_figure(figure, tmp_path / "f.png", Signature.of(judge="own"))
    pixels = image.imread(tmp_path / "f.png")
    for edge in (pixels[:3], pixels[-3:], pixels[:, :3], pixels[:, -3:]):
        assert edge.min() == 1.0
    assert pixels.shape[1] <= width * 160
    figure.set_dpi(500)  # labels measured in fine pixels
    figure.draw_without_rendering()
    for axes in figure.axes:
        for ticks in (axes.get_xticklabels(), axes.get_yticklabels()):
            boxes = [ink(t) for t in ticks if t.get_text() and t.get_visible()]
            for one, other in pairwise(boxes):
                assert not one.overlaps(other)
        assert axes.get_window_extent().width > 5
    for one, other in combinations([a for a in figure.axes if a.get_visible()], 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent())
    names = [axes.xaxis.label.get_window_extent() for axes in figure.axes]
    assert not any(one.overlaps(other) for one, other in combinations(names, 2))
    for legend in figure.legends:
        for axes in figure.axes:
            assert not legend.get_window_extent().overlaps(axes.get_tightbbox())


def dots(axes, marker):
    """Where the points of that kind are, from above."""
    found = [line for line in axes.lines if line.get_marker() == marker and len(line.get_xdata())]
    found.sort(key=lambda line: line.get_ydata()[0])
    return [float(line.get_xdata()[0]) for line in found]


def test_systems_from_best_to_worst_with_people_beside_them(result, tmp_path):
    figure = score_figure(result)
    axes, side = figure.axes
    scores = sorted(result.scores.values(), reverse=True)
    assert dots(axes, "o") == scores
    assert sorted(dots(axes, "D")) == sorted(result.human_scores.values())
    ends = {tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2}
    assert ends == set(result.intervals)
    assert len(dots(side, "o")) == sum(map(len, result.groups))
    check(figure, tmp_path)
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["Lite²Pyramid", "human"]


def test_without_labels_there_are_no_people():
    axes = score_figure(scored(3, labels=False)).axes[0]
    assert dots(axes, "D") == []


def test_differences_of_pairs_or_of_many(result, tmp_path):
    found = lp.compare(result, samples=100)
    figure = comparison_figure(found)
    check(figure, tmp_path)
    axes = figure.axes[0]
    if len(found.systems) == 3:
        assert dots(axes, "o")[-3:] == [pair.difference for pair in found.pairs]
        hollow = [line.get_markerfacecolor() == "white" for line in axes.lines
                  if line.get_marker() == "o" and len(line.get_xdata())]  # fmt: skip
        assert hollow == [pair.p_holm >= found.alpha for pair in found.pairs]
    else:
        shown = np.ma.filled(axes.images[0].get_array(), np.nan)
        clear = [pair for pair in found.pairs if pair.p_holm < found.alpha]
        assert np.isfinite(shown).sum() == len(clear)
        best, worst = found.systems[0], found.systems[-1]
        difference = next(p for p in clear if (p.first, p.second) == (best, worst)).difference
        assert shown[0, -1] == pytest.approx(difference)
        assert len(axes.lines[0].get_xdata()) == len(found.pairs) - len(clear)


def test_against_one_system_there_is_a_line_for_each_other(result, tmp_path):
    found = lp.compare(result, against=result.systems[0], samples=100)
    figure = comparison_figure(found)
    check(figure, tmp_path)
    assert len(figure.axes[0].get_yticks()) == len(result.systems) - 1


def test_labels_and_judge_beside_the_labels_alone(result, tmp_path):
    found = combined(result)
    for figure in (score_figure(found), comparison_figure(found)):
        check(figure, tmp_path)
    axes = score_figure(found).axes[0]
    assert dots(axes, "o") == [entry.score for entry in found.systems]
    assert dots(axes, "s") == [entry.alone for entry in found.systems]


def test_reliability_and_roc(result, tmp_path):
    found = calibrate(result.presence + 0.01, result.labels)
    figure = calibration_figure(found)
    check(figure, tmp_path)
    left, right = figure.axes
    assert len(left.collections[0].get_offsets()) == sum(b.pairs > 0 for b in found.bins) == 2
    x, y = right.lines[0].get_data()
    assert np.trapezoid(y, x) == pytest.approx(found.auc)
    check(calibration_figure(calibrate([0.5, 0.25], [1, 1])), tmp_path)


def test_the_roc_curve_is_that_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    presence, labels = rng.integers(0, 12, 400) / 12, rng.integers(0, 2, 400)
    found = np.array(calibrate(presence, labels).roc)
    false, true, _ = metrics.roc_curve(labels, presence, drop_intermediate=False)
    np.testing.assert_allclose(found, np.stack([false, true], axis=1))
    halves = calibrate([*presence, 0.3], [*labels, 0.5])
    np.testing.assert_array_equal(np.array(halves.roc), found)


def test_real_systems_fit_into_a_column(realsumm, tmp_path):
    scores = lp.compare(realsumm / "metric_scores.csv", metric="rouge_1_f_score", samples=100)
    check(comparison_figure(scores), tmp_path)


def test_a_tie_of_all_systems_is_drawn(tmp_path):
    matrix = ScoreMatrix("m", tuple("abcdef"), tuple("1234"), np.zeros((6, 4)))
    from litepyramid.scoring.compare import compare_systems

    check(comparison_figure(compare_systems(matrix, samples=100)), tmp_path)


def test_f1_stands_beside_precision_and_recall(tmp_path):
    both = {"samples": 100, "judge": "recall"}
    summaries = {"a": ["A storm hit Oslo. Two died."], "b": ["Oslo slept."]}
    recall = lp.score(summaries, [["A storm hit Oslo.", "Two people died."]], **both)
    given = {"references": ["A storm hit Oslo. Two people died."], "recall": recall, **both}
    figure = score_figure(found := lp.precision(summaries, **given))
    check(figure, tmp_path)
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sorted(told) == ["f1", "precision", "recall"]
    assert dots(figure.axes[0], "o") == sorted(found.scores.values(), reverse=True)


def test_from_the_command_line(cli, tmp_path):
    cli("demo", "--save", "ex", cwd=tmp_path)
    given = ("ex/summaries", "-u", "ex/scus.jsonl")
    labels = ("-l", "ex/labels")
    cli("score", *given, *labels, "--figure", "a.pdf", cwd=tmp_path)
    cli("compare", *given, "--against", "lead", "--figure", "b.svg", cwd=tmp_path)
    cli("judge", "evaluate", *given, *labels, "--figure", "c.pdf", cwd=tmp_path)
    for name in ("a.pdf", "c.pdf"):
        pdf = (tmp_path / name).read_bytes()
        assert b"/FontFile2" in pdf
        assert b"/Type3" not in pdf
        assert b"litepyramid 0" in pdf
    assert "<!-- lead -->" not in (svg := (tmp_path / "b.svg").read_text("utf-8"))
    assert "<!-- abstractive -->" in svg
    cli("score", *given, "--figure", "a.gif", cwd=tmp_path, status=2)
    said = cli("judge", "evaluate", "--contrast", "--figure", "d.pdf", cwd=tmp_path, status=2)
    assert "--figure" in said.stderr
    assert not (tmp_path / "d.pdf").exists()
