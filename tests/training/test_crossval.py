"""Folds, cross-validation and out-of-the-box tests, with judges whose answers are known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import litepyramid as lp
from litepyramid.easiness.gold import Easiness
from litepyramid.easiness.mix import mix_units
from litepyramid.embedded.example import load_example
from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset, load_dataset
from litepyramid.judges.base import JudgedBatch
from litepyramid.judges.nli.modes import presence
from litepyramid.judges.registry import judge as make_judge
from litepyramid.tables import render
from litepyramid.training.crossval import (
    RefitTrainer,
    cross_validate,
    out_of_the_box,
    unit_variants,
)
from litepyramid.training.folds import make_folds
from litepyramid.training.validation_result import fold_mean
from litepyramid.types import InputUnits, SystemLabels, SystemSummaries, Unit
from litepyramid.units.align import sentences_of

WORDS = [f"word{i}" for i in range(40)]


def synthetic(inputs=10, systems=6, seed=0, name="synthetic"):
    """Labels follow from the text: a unit is present if its word is in the summary."""
    rng = np.random.default_rng(seed)
    scus, texts, labels = [], [[] for _ in range(systems)], [[] for _ in range(systems)]
    for i in range(inputs):
        words = list(rng.choice(WORDS, 5, replace=False))
        scus.append(InputUnits(f"i{i}", tuple(Unit(w) for w in words)))
        for n in range(systems):
            kept = [w for w in words if rng.random() < (n + 1) / (systems + 1)]
            texts[n].append(" ".join(kept))
            labels[n].append(tuple(int(w in kept) for w in words))
    ids = tuple(entry.input for entry in scus)
    return Dataset(
        name,
        tuple(scus),
        summaries=tuple(SystemSummaries(f"s{n}", ids, tuple(texts[n])) for n in range(systems)),
        labels=tuple(SystemLabels(f"s{n}", ids, tuple(labels[n])) for n in range(systems)),
    )


class WordJudge:
    """Logits that say "entailment" when the unit's word is in the summary."""

    def judge(self, items):
        logits = tuple(
            np.array([[4.0, 0, 0] if u in s.split() else [-4.0, 1, 1] for u in units])
            if s
            else np.full((len(units), 3), np.nan)
            for s, units in items
        )
        values = tuple(
            np.zeros(len(units)) if not s else presence(row, "p2c")
            for row, (s, units) in zip(logits, items, strict=True)
        )
        return JudgedBatch(values, {"judge": "words", "mode": "p2c"}, {}, logits)


class Recorder:
    """A trainer that remembers what it was given."""

    def __init__(self):
        self.seen = []

    def train(self, data, fold):
        self.seen.append((fold, data))
        return WordJudge()


@pytest.mark.parametrize("by", ["examples", "systems"])
def test_folds_part_the_data_and_training_never_sees_the_held_out(by):
    data = synthetic()
    folds = make_folds(data, by, 3, seed=4)
    held = [name for f in folds for name in (f.inputs if by == "examples" else f.systems)]
    assert sorted(held) == sorted(data.inputs if by == "examples" else data.systems)
    for fold in folds:
        if by == "examples":
            assert not set(fold.inputs) & set(fold.train_inputs)
            assert fold.train_systems == fold.systems == data.systems
        else:
            assert not set(fold.systems) & set(fold.train_systems)
            assert fold.train_inputs == fold.inputs == data.inputs
    assert make_folds(data, by, 3, seed=4) == folds
    assert make_folds(data, by, 3, seed=5) != folds


def test_published_folds_are_used(realsumm):
    data = load_dataset("realsumm", realsumm)
    folds = make_folds(data, "examples", 5)
    assert tuple(set(f.inputs) for f in folds) == tuple(map(set, data.example_folds))
    assert [len(f.systems) for f in make_folds(data, "systems", 5)] == [5] * 5
    assert len(make_folds(data, "examples", 4)) == 4


def test_training_gets_the_labels_of_its_part_alone():
    data = synthetic()
    trainer = Recorder()
    cross_validate(data, trainer, by="examples", folds=5)
    assert [fold for fold, _ in trainer.seen] == [1, 2, 3, 4, 5]
    for fold, items in trainer.seen:
        units = {entry.texts for entry in data.scus}
        seen = {texts for _, texts in items.items}
        assert len(units - seen) == 2, fold
        assert items.pairs == 8 * 6 * 5


def test_a_judge_that_is_always_right_correlates_perfectly_in_label_modes():
    result = cross_validate(synthetic(), Recorder(), folds=5)
    for mode in ("l3c", "l2c"):
        for level in ("system", "summary"):
            assert result.mean("trained", "lite2", level, "pearson", mode).mean == pytest.approx(1)
    assert result.quality_mean("trained", "accuracy").mean == 1
    assert {s.mode for s in result.scores} == {"p3c", "l3c", "p2c", "l2c"}


def test_fold_values_are_those_of_the_fold_alone():
    data = synthetic(inputs=8)
    result = cross_validate(data, Recorder(), folds=4, seed=3)
    fold = make_folds(data, "examples", 4, seed=3)[1]
    columns = [data.inputs.index(name) for name in fold.inputs]
    human = np.array([[np.mean(entry.labels[i]) for i in columns] for entry in data.labels])
    p = presence(np.array([[4.0, 0, 0], [-4.0, 1, 1]]), "p2c")
    empty = np.array([[not s.texts[i] for i in columns] for s in data.summaries])
    scores = np.where(empty, 0.0, human * p[0] + (1 - human) * p[1])
    expected = stats.pearsonr(scores.mean(axis=1), human.mean(axis=1)).statistic
    found = [
        s.value
        for s in result.scores
        if (s.fold, s.mode, s.level, s.coefficient) == (2, "p2c", "system", "pearson")
    ]
    assert found == [pytest.approx(expected, abs=1e-12)]


def test_fold_means_and_intervals():
    values = [0.5, 0.6, 0.65]
    found = fold_mean(values)
    oracle = stats.t.interval(0.95, 2, loc=np.mean(values), scale=stats.sem(values))
    assert (found.low, found.high) == pytest.approx(oracle)
    assert np.isnan(fold_mean([0.5]).low)
    assert fold_mean([float("nan")]).undefined == 1


def test_out_of_the_box_trains_on_all_of_the_others():
    trainer = Recorder()
    train = [synthetic(seed=1, name="one"), synthetic(seed=2, name="two")]
    result = out_of_the_box(train, synthetic(name="test"), trainer)
    ((fold, items),) = trainer.seen
    assert fold == 0
    assert items.pairs == 2 * 10 * 6 * 5
    assert result.mean("trained", "lite2", "system", "pearson", "l3c").mean == pytest.approx(1)
    assert "trained_on:one+two" in str(result.signature)
    with pytest.raises(InputError, match="trained on and tested on"):
        out_of_the_box(train, train[0], trainer)


def test_lexical_on_realsumm_beats_recall(realsumm):
    data = load_dataset("realsumm", realsumm)
    result = cross_validate(
        data, RefitTrainer("lexical"), baselines={"recall": make_judge("recall")}
    )
    assert result.quality_mean("recall", "auc").mean == pytest.approx(0.821, abs=0.0015)
    assert result.quality_mean("recall", "brier").mean == pytest.approx(0.191, abs=0.0015)
    assert result.quality_mean("trained", "auc").mean > 0.835
    assert result.quality_mean("trained", "brier").mean < 0.165
    text = render(result, "table")
    assert max(map(len, text.splitlines())) <= 80
    assert len(json.loads(render(result, "json"))["means"]) == 2 * 2 * 4


def test_units_that_are_validated():
    plain = synthetic()
    assert list(unit_variants(plain)) == ["lite2"]
    whole = whole_example()
    found = unit_variants(whole, stu_share=0.5, folds=3)
    assert list(found) == ["lite2", "lite2.5", "lite3"]
    kinds = {unit.kind for entry in found["lite2.5"] for unit in entry.units}
    assert kinds == {"scu", "stu"}
    none, everything = (unit_variants(whole, stu_share=x, folds=None) for x in (0.0, 1.0))
    assert [e.texts for e in none["lite2.0"]] == [e.texts for e in whole.scus]
    assert [e.texts for e in everything["lite2.10"]] == [e.texts for e in found["lite3"]]
    with pytest.raises(InputError, match="a share of 2"):
        unit_variants(whole, stu_share=2)


def whole_example():
    one = load_example()
    return Dataset(
        "example",
        one.scus,
        summaries=one.summaries,
        labels=one.labels,
        references=one.references,
    )


def test_a_mix_goes_by_easiness_that_is_given():
    """As the paper's by folds: predicted elsewhere, by regressors that saw no held-out input."""
    data = whole_example()
    sentences = sentences_of(data.references)
    values = np.random.default_rng(3).random(len(sentences))
    given = Easiness(sentences, values)
    found = unit_variants(data, folds=3, easiness=given)
    hand = mix_units(data.scus, found["lite3"], sentences, len(sentences) // 2, easiness=given)
    assert tuple(found["lite2.5"]) == hand.units
    assert found["lite2.5"] != unit_variants(data, folds=3)["lite2.5"]


def test_the_verb_gives_the_authors_three_scores_and_names_all_in_its_signature():
    data = whole_example()
    result = lp.crossval("lexical", data, folds=2)
    assert {score.units for score in result.scores} == {"lite2", "lite2.5", "lite3"}
    assert set(result.judges) == {"trained", "recall"}
    assert lp.crossval("lexical", data, folds=2).signature == result.signature
    others = [
        lp.crossval("lexical", data, folds=2, settings=["seed=1"]),
        lp.crossval("lexical", data, folds=3),
        lp.crossval("lexical", data, folds=2, by="systems"),
    ]
    assert len({str(other.signature) for other in (result, *others)}) == 4
    with pytest.raises(InputError):
        lp.crossval("lexical", data, by="words")
