"""Figures of scores: the numbers of the result, nothing covered or cut, one column
wide."""

import numpy as np
import pytest
from cases import quick_score

import litepyramid as lp
from litepyramid import tables
from litepyramid.data.scores import Scores
from litepyramid.figures.drawing import new_figure
from litepyramid.judges.evaluate import calibrate
from litepyramid.scoring.combine import combine
from litepyramid.scoring.compare import compare

pytest.importorskip("matplotlib")
from figure_checks import Drawn, check
from matplotlib import image

ODD = [
    "price $ and \\bad{ $",
    "the same long name with an end of its own: " * 3,
    "x" * 300,
]


def scored(systems):
    """Systems whose presence falls from the first to the last, with names of every
    length."""
    names = [f"system_{n}_of_many" for n in range(systems)]
    odd = ODD[: systems - 1]
    names[: len(odd)] = odd
    falling = 0.9 - 0.8 * np.arange(systems) / systems
    drawn = np.random.default_rng(1).random((systems, 20, 8))
    true = drawn < falling[:, None, None]

    def by_name(values):
        return dict(zip(names, values.tolist(), strict=True))

    units = []
    for m in range(20):
        units.append([f"fact {m} {u}" for u in range(8)])
    return quick_score(
        units=units,
        presence=by_name(0.15 + 0.7 * true),
        labels=by_name(true.astype(int)),
    )


@pytest.fixture(scope="module", params=[3, 25])
def result(request):
    return scored(request.param)


def dots(axes, marker):
    """Where the points of that kind are, from above."""
    points = []
    for line in axes.lines:
        if line.get_marker() == marker:
            points += zip(line.get_ydata(), line.get_xdata(), strict=True)
    return [float(x) for _, x in sorted(points)]


def test_systems_from_best_to_worst_with_people_beside_them(result, tmp_path):
    figure = result.to_figure()
    axes, side = figure.axes
    scores = sorted(result.scores.values(), reverse=True)
    assert dots(axes, "o") == scores
    assert sorted(dots(axes, "D")) == sorted(result.human_scores.values())
    ends = set()
    for line in axes.lines:
        if len(line.get_xdata()) == 2:
            ends.add(tuple(line.get_xdata()))
    assert ends == set(result.intervals)
    assert len(dots(side, "o")) == sum(map(len, result.groups))
    check(figure, tmp_path)
    legend = figure.legends[0].get_texts()
    names = [text.get_text() for text in legend]
    assert names == ["Lite²Pyramid", "human"]


def test_differences_of_pairs_or_of_many(result, tmp_path):
    comparison = lp.compare(result, samples=100)
    figure = comparison.to_figure()
    check(figure, tmp_path)
    axes = figure.axes[0]

    if len(comparison.systems) == 3:
        differences = [pair.difference for pair in comparison.pairs]
        assert dots(axes, "o") == differences
        unclear = [pair.p_holm >= comparison.alpha for pair in comparison.pairs]
        hollow = []
        for line in axes.lines:
            if line.get_marker() == "o" and len(line.get_xdata()):
                hollow.append(line.get_markerfacecolor() == "white")
        assert hollow == unclear
    else:
        first, *others = result.systems
        against = lp.compare(result, against=first, samples=100).to_figure()
        check(against, tmp_path)
        assert len(against.axes[0].get_yticks()) == len(others)
        shown = np.ma.filled(axes.images[0].get_array(), np.nan)
        clear = 0
        for pair in comparison.pairs:
            clear += pair.p_holm < comparison.alpha
        assert np.isfinite(shown).sum() == len(comparison.pairs)
        assert len(axes.collections[0].get_offsets()) == clear > 10
        # The best system and the worst differ most.
        assert shown[0, -1] == pytest.approx(comparison.pairs[0].difference)


def test_a_matrix_without_a_significant_pair_is_not_blank(tmp_path):
    values = np.random.default_rng(0).random((8, 4))
    for own in (values, np.zeros_like(values)):  # a tie of all systems too
        scores = Scores.of({"m": own}, "abcdefgh", "1234")
        figure = compare(scores, samples=100).to_figure()
        check(figure, tmp_path)
        shown = np.ma.filled(figure.axes[0].images[0].get_array(), np.nan)
        assert np.isfinite(shown).sum() == 28
        assert "no pair has p < 0.05" in figure.axes[1].get_xlabel()


def test_labels_and_judge_beside_the_labels_alone(result, tmp_path):
    human = result.human.copy()
    human[:, 3:8] = np.nan
    scores = {"judge": result.values, "human": human}
    combined = combine(Scores.of(scores, result.systems, result.inputs))
    figure = combined.to_figure()
    check(figure, tmp_path)
    axes = figure.axes[0]
    scores = [entry.score for entry in combined.systems]
    assert dots(axes, "o") == scores
    alone = [entry.alone for entry in combined.systems]
    assert dots(axes, "s") == alone


def test_reliability(result, tmp_path):
    found = calibrate(result.presence + 0.01, result.labels.values)
    figure = found.to_figure()
    check(figure, tmp_path)
    bins = []
    for one in found.bins:
        if one.pairs:
            bins.append((one.predicted, one.observed))
    drawn = figure.axes[0].collections[0].get_offsets()
    np.testing.assert_allclose(drawn, bins)


def test_files_carry_the_signature_and_truetype_fonts(tmp_path):
    result = scored(3)
    for kind in ("png", "pdf", "svg"):
        result.save(tmp_path / f"f.{kind}")
        data = (tmp_path / f"f.{kind}").read_bytes()
        assert b"judge:given" in data
        assert b"litepyramid 0" in data
    result.save(tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == data
    pdf = (tmp_path / "f.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


def test_a_missing_font_is_told_once(tmp_path, monkeypatch):
    result = quick_score({"模型": ["It rained."]}, [["It rained."]])
    monkeypatch.setattr(tables, "_FONTS", ("DejaVu Sans",))
    with pytest.warns(UserWarning, match="no installed font") as told:
        result.save(tmp_path / "scores.png")
    assert len(told) == 1


def test_a_figure_too_large_for_the_program_is_drawn_coarser(tmp_path):
    Drawn(new_figure(0.5, 500.0)).save(tmp_path / "tall.png")
    assert max(image.imread(tmp_path / "tall.png").shape) <= 65_536
