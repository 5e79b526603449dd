import json

import numpy as np
import pytest

from litepyramid.easiness.curve import budget_curve
from litepyramid.easiness.evaluate import cross_fit, read_folds, seeded_folds
from litepyramid.easiness.features import FeatureTable
from litepyramid.easiness.mix import mix, stu_count
from litepyramid.easiness.regressor import Settings
from litepyramid.easiness.scores import Easiness
from litepyramid.easiness.sums import FoldJudges, human_scores, judge_sentences
from litepyramid.errors import InputError
from litepyramid.figures.base import save_figure
from litepyramid.figures.correlations import curve_figure
from litepyramid.judges.base import JudgedBatch
from litepyramid.judges.lexical.recall import RecallJudge
from litepyramid.meta.core.levels import level_correlation
from litepyramid.tables import render
from litepyramid.types import InputUnits, SystemLabels, SystemSummaries, Unit
from litepyramid.units.align import Sentence

WORDS = [
    "cat",
    "dog",
    "sat",
    "ran",
    "mat",
    "rain",
    "fell",
    "wind",
    "blew",
    "hard",
    "soft",
    "red",
    "blue",
    "old",
    "new",
    "house",
]


@pytest.fixture(scope="module")
def world():
    """Six inputs with three sentences each, five systems, units with weights, all seeded."""
    rng = np.random.default_rng(4)

    def text(n):
        return " ".join(rng.choice(WORDS, n))

    names = [f"i{k}" for k in range(6)]
    sentences = tuple(Sentence(name, 0, s, text(6)) for name in names for s in range(3))

    def unit(kind, s):
        if kind == "stu":
            return Unit(text(3), 1.0, kind, 0, s)
        weight = int(rng.integers(1, 4))
        places = tuple((0, (s + k) % 3) for k in range(weight)) if weight > 1 else ()
        return Unit(text(3), float(weight), kind, 0, s, places)

    def units(kind, least):
        return [
            InputUnits(
                name,
                tuple(unit(kind, s) for s in range(3) for _ in range(int(rng.integers(least, 3)))),
            )
            for name in names
        ]

    scus, stus = units("scu", 1), units("stu", 1)
    systems = [
        SystemSummaries(f"s{k}", tuple(names), tuple(text(4 + 2 * k) for _ in names))
        for k in range(5)
    ]
    human = rng.random((5, 6))
    easiness = Easiness(sentences, rng.random(18))
    return sentences, scus, stus, systems, human, easiness


@pytest.fixture(scope="module")
def sums(world):
    sentences, scus, stus, systems, *_ = world
    return judge_sentences(systems, scus, stus, sentences, RecallJudge())


@pytest.mark.parametrize("by", ["easiness", "reversed", "gold"])
@pytest.mark.parametrize("share", [0, 0.3, 0.5, 1])
def test_the_curve_is_what_mixing_judging_and_correlating_give(world, sums, by, share):
    sentences, scus, stus, systems, human, easiness = world
    curve = budget_curve(sums, human, easiness=easiness, gold=easiness, shares=[share], seeds=0)
    mixed = mix(scus, stus, sentences, stu_count(share, 18), by=by, easiness=easiness)
    scores = np.empty((5, 6))
    for column, entry in enumerate(mixed.units):
        weights = [unit.weight for unit in entry.units]
        for row, system in enumerate(systems):
            presence = RecallJudge().judge([(system.texts[column], entry.texts)]).presence[0]
            scores[row, column] = np.average(presence, weights=weights)
    for level in ("system", "summary"):
        expected = level_correlation(scores, human, level, "pearson").value
        (point,) = curve.line(by, level, "pearson")
        assert point.value == pytest.approx(expected)


def test_random_is_a_mean_over_seeded_rankings(world, sums):
    *_, human, easiness = world
    first = budget_curve(sums, human, easiness=easiness, seeds=20, seed=7)
    again = budget_curve(sums, human, easiness=easiness, seeds=20, seed=7)
    other = budget_curve(sums, human, easiness=easiness, seeds=20, seed=8)
    half = [c.line("random", "summary", "pearson")[5] for c in (first, again, other)]
    assert half[0] == half[1] != half[2]
    assert half[0].low <= half[0].value <= half[0].high
    assert half[0].sd > 0
    ends = first.line("random", "summary", "pearson")
    for end in (ends[0], ends[-1]):
        assert end.sd == pytest.approx(0, abs=1e-12)
        (same,) = [p for p in first.line("easiness", "summary", "pearson") if p.share == end.share]
        assert same.value == pytest.approx(end.value)


def test_folds_average_the_correlations_of_their_inputs(world, sums):
    *_, human, easiness = world
    folds = {f"i{k}": k % 2 for k in range(6)}
    curve = budget_curve(sums, human, easiness=easiness, seeds=0, shares=[0.5], folds=folds)
    (point,) = curve.line("easiness", "system", "pearson")
    chosen = np.zeros(18, dtype=bool)
    chosen[np.argsort(-easiness.values, kind="stable")[:9]] = True
    scores = sums.scores(chosen)
    parts = [level_correlation(scores[:, c], human[:, c]).value for c in ([0, 2, 4], [1, 3, 5])]
    assert point.value == pytest.approx(np.mean(parts))
    with pytest.raises(InputError, match="input 'i5' is in no fold"):
        budget_curve(sums, human, folds={f"i{k}": 0 for k in range(5)})


class Constant:
    """Finds every unit present to the same degree."""

    def __init__(self, value):
        self.value = value

    def judge(self, items):
        values = tuple(np.full(len(units), self.value) for _, units in items)
        return JudgedBatch(values, {"judge": f"constant {self.value}", "mode": "own"})


def test_each_fold_is_judged_by_its_own_judge(world):
    sentences, scus, stus, systems, *_ = world
    folds = {f"i{k}": k % 3 for k in range(6)}
    judges = FoldJudges(lambda fold: Constant(fold / 10), folds)
    found = judge_sentences(systems, scus, stus, sentences, judges)
    scores = found.scores(np.zeros(18, dtype=bool))
    assert scores == pytest.approx(np.tile([0.1, 0.2, 0.3], 2)[None].repeat(5, axis=0))
    assert found.signature == {"judge": "constant 0.1,constant 0.2,constant 0.3", "mode": "own"}
    with pytest.raises(InputError, match="input 'i5' is in no fold"):
        judge_sentences(
            systems, scus, stus, sentences, FoldJudges(Constant, {f"i{k}": 0 for k in range(5)})
        )


def test_table_json_and_figure(world, sums, tmp_path):
    *_, human, easiness = world
    curve = budget_curve(sums, human, easiness=easiness, gold=easiness, seeds=5, shares=[0, 0.5, 1])
    table = render(curve, "table")
    assert "reversed" in table
    assert max(map(len, table.splitlines())) <= 80
    points = json.loads(render(curve, "json"))["points"]
    assert len(points) == 3 * 2 * 4
    assert len(render(curve, "csv").splitlines()) == 1 + 3 * 2
    pytest.importorskip("matplotlib")
    for name, start in (("c.png", b"\x89PNG"), ("c.pdf", b"%PDF"), ("c.svg", b"<?xml")):
        save_figure(curve_figure(curve), tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    with pytest.raises(InputError, match=r"c\.gif: unknown figure format '\.gif'"):
        save_figure(curve_figure(curve), tmp_path / "c.gif")


def test_one_share_shows_the_random_rankings_too(world, sums, tmp_path):
    """A line through one point and a band of no width cannot be seen."""
    pytest.importorskip("matplotlib")
    *_, human, easiness = world
    curve = budget_curve(sums, human, easiness=easiness, seeds=5, shares=[0.5])
    save_figure(curve_figure(curve), tmp_path / "one.svg")
    text = (tmp_path / "one.svg").read_text(encoding="utf-8")
    # a bar of one standard deviation in either panel: a line with both ends at the same share
    assert text.count("stroke: #e69f00; stroke-opacity: 0.22; stroke-width: 6") == 2


def test_what_cannot_be_drawn_is_named(world, sums):
    *_, human, easiness = world
    with pytest.raises(InputError, match="the human scores have the shape"):
        budget_curve(sums, human[:, :5], easiness=easiness)
    with pytest.raises(InputError, match="nothing to draw"):
        budget_curve(sums, human, seeds=0)
    with pytest.raises(InputError, match=r"the share is 1\.5"):
        budget_curve(sums, human, easiness=easiness, shares=[1.5])


def test_human_scores_are_weighted_means_of_labels(world):
    _, scus, _, systems, *_ = world
    labels = [
        SystemLabels(s.system, s.inputs, tuple((1,) + (0,) * (len(e.units) - 1) for e in scus))
        for s in systems
    ]
    found = human_scores(labels, scus, [s.system for s in systems])
    expected = [e.units[0].weight / sum(u.weight for u in e.units) for e in scus]
    assert found == pytest.approx(np.tile(expected, (5, 1)))
    with pytest.raises(InputError, match="system 's0' has no labels"):
        human_scores(labels[1:], scus, ["s0"])


def cross_fitted():
    rng = np.random.default_rng(2)
    sentences = tuple(Sentence(f"i{k // 4}", 0, k % 4, "…") for k in range(80))
    length = rng.integers(4, 30, 80)
    gold = 1 - length / 40 + rng.normal(0, 0.05, 80)
    gold[3] = np.nan
    features = FeatureTable("mine", ("length",), length[:, None])
    return features, Easiness(sentences, gold)


def test_no_sentence_is_predicted_by_a_regressor_that_saw_it():
    features, gold = cross_fitted()
    folds = {f"i{k}": k % 5 for k in range(20)}
    done = cross_fit(features, gold, folds)
    changed = gold.values.copy()
    changed[0:3] += 5.0  # sentences of input i0, in fold 0
    other = cross_fit(features, Easiness(gold.sentences, changed), folds)
    here = done.folds == 0
    assert done.predicted.values[here].tolist() == other.predicted.values[here].tolist()
    assert done.mean[here].tolist() == other.mean[here].tolist()
    assert done.predicted.values[~here].tolist() != other.predicted.values[~here].tolist()


def test_errors_by_hand_and_gain():
    features, gold = cross_fitted()
    done = cross_fit(features, gold, {f"i{k}": k % 5 for k in range(20)}, Settings(rounds=60))
    keep = ~np.isnan(gold.values)
    expected = np.abs(done.predicted.values - gold.values)[keep].mean()
    assert done.mae(done.predicted.values) == pytest.approx(expected)
    assert done.gain > 0.5
    assert "1 sentence without an SCU has no gold" in render(done, "table")
    assert not np.isnan(done.predicted.values[3])
    data = json.loads(render(done, "json"))
    assert data["errors"][-1]["sentences"] == 79
    assert data["sentences"][3]["gold"] is None


def test_folds_from_files(tmp_path, realsumm):
    folds = read_folds(realsumm / "by_examples")
    assert sorted(np.bincount(list(folds.values()))) == [20] * 5
    with pytest.raises(InputError, match="is not a folder"):
        read_folds(tmp_path / "none")
    (tmp_path / "a").write_text("x\ny\n")
    with pytest.raises(InputError, match="holds 1 file\\."):
        read_folds(tmp_path)
    (tmp_path / "b").write_text("y\n")
    with pytest.raises(InputError, match="input 'y' is in two folds"):
        read_folds(tmp_path)


def test_seeded_folds_are_even_and_repeatable():
    folds = seeded_folds([f"i{k}" for k in range(23)], 5, seed=3)
    assert sorted(np.bincount(list(folds.values()))) == [4, 4, 5, 5, 5]
    assert folds == seeded_folds([f"i{k}" for k in range(23)], 5, seed=3)
    assert folds != seeded_folds([f"i{k}" for k in range(23)], 5, seed=4)
    with pytest.raises(InputError, match="5 folds of 2 inputs"):
        seeded_folds(["a", "b"], 5, seed=1)
