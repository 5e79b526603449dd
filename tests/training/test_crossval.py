"""Folds, cross-validation and out-of-the-box tests, with judges whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from training_data import synthetic

import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset, load
from litepyramid.judges.base import JudgedBatch
from litepyramid.judges.nli.modes import presence
from litepyramid.tables import render
from litepyramid.training.crossval import (
    cross_validate,
    fold_mean,
    make_folds,
    out_of_the_box,
    unit_variants,
)
from litepyramid.units.extract import extract


class WordJudge:
    """Logits that say "entailment" when the unit's word is in the summary; none if it is empty."""

    def judge(self, items):
        logits = tuple(
            np.array(
                [[4.0, 0, 0] if u in s.split() else [-4.0, 1, 1] if s else [np.nan] * 3 for u in us]
            )
            for s, us in items
        )
        values = tuple(np.nan_to_num(presence(row, "p2c")) for row in logits)
        return JudgedBatch(values, {"judge": "words", "mode": "p2c"}, {}, logits)


class Recorder:
    """A trainer that remembers what it was given."""

    def __init__(self):
        self.seen = []

    def __call__(self, data, fold):
        self.seen.append((fold, data))
        return WordJudge()


@pytest.mark.parametrize("by", ["examples", "systems"])
def test_folds_part_the_data_and_training_never_sees_the_held_out(by):
    data = synthetic()
    folds, again, other = (make_folds(data, by, 3, seed=seed) for seed in (4, 4, 5))
    assert again == folds != other
    names = ("inputs", "systems") if by == "examples" else ("systems", "inputs")
    held = [name for fold in folds for name in getattr(fold, names[0])]
    assert sorted(held) == sorted(getattr(data, names[0]))
    for fold in folds:
        assert not {*getattr(fold, names[0])} & {*getattr(fold, f"train_{names[0]}")}
        train = getattr(fold, f"train_{names[1]}")
        assert train == getattr(fold, names[1]) == getattr(data, names[1])


def test_published_folds_are_used(realsumm):
    data = load(realsumm)
    folds = make_folds(data, "examples", 5)
    assert tuple(set(f.inputs) for f in folds) == tuple(map(set, data.example_folds))
    assert [len(f.systems) for f in make_folds(data, "systems", 5)] == [5] * 5
    assert len(make_folds(data, "examples", 4)) == 4


def test_training_gets_the_labels_of_its_part_and_a_judge_that_is_right_correlates_perfectly():
    data, trainer = synthetic(), Recorder()
    result = cross_validate(data, trainer, folds=5)
    assert [fold for fold, _ in trainer.seen] == [1, 2, 3, 4, 5]
    units = {entry.texts for entry in data.scus}
    for _, pairs in trainer.seen:
        assert len(units - {texts for _, texts in pairs.by_summary()[0]}) == 2
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
    ((fold, pairs),) = trainer.seen
    texts = [text for one in train for summaries in one.summaries for text in summaries.texts]
    assert (fold, len(pairs.pairs)) == (0, 5 * sum(map(bool, texts)))
    assert result.mean("trained", "lite2", "system", "pearson", "l3c").mean == pytest.approx(1)
    assert "trained_on:one+two" in str(result.signature)
    with pytest.raises(InputError, match="trained on and tested on"):
        out_of_the_box(train, train[0], trainer)


@pytest.fixture(scope="module")
def whole():
    """The example with STUs."""
    one = load_example()
    data = {name: getattr(one, name) for name in ("summaries", "labels", "references")}
    return Dataset("example", one.scus, stus=extract(one.references).units, **data)


def test_units_that_are_validated(whole):
    """The easiest sentences carry STUs, by what the other folds' sentences tell of easiness."""
    assert list(unit_variants(synthetic())) == ["lite2"]
    mixed = unit_variants(whole, folds=2)
    assert list(mixed) == ["lite2", "lite2.5", "lite3"]
    assert {unit.kind for entry in mixed["lite2.5"] for unit in entry.units} == {"scu", "stu"}
    assert mixed["lite2.5"] != unit_variants(whole, folds=None)["lite2.5"]
    none, everything = (unit_variants(whole, stu_share=x, folds=None) for x in (0.0, 1.0))
    assert [e.texts for e in none["lite2.0"]] == [e.texts for e in whole.scus]
    assert [e.texts for e in everything["lite2.10"]] == [e.texts for e in mixed["lite3"]]
    with pytest.raises(InputError, match="2"):
        unit_variants(whole, stu_share=2)


def test_the_verb_gives_the_authors_three_scores_and_names_all_in_its_signature(whole):
    result = lp.crossval("lexical", whole, folds=2)
    assert {score.units for score in result.scores} == {"lite2", "lite2.5", "lite3"}
    assert set(result.judges) == {"trained", "recall"}
    assert max(map(len, render(result, "table").splitlines())) <= 80
    small = synthetic(inputs=6, systems=3)
    ways = [{}, {"settings": ["seed=1"]}, {"folds": 3}, {"by": "systems"}, {}]
    one, *others = (lp.crossval("lexical", small, **{"folds": 2, **way}) for way in ways)
    assert one.signature == others.pop().signature
    assert len({str(other.signature) for other in (one, *others)}) == 4
    with pytest.raises(InputError):
        lp.crossval("lexical", small, by="words")


def test_english_judges_are_trained_on_english_alone(tmp_path):
    """`lexical` and `mini`, which know no other words."""
    small = synthetic(inputs=4, systems=2)
    text = "Der Sturm traf die Stadt am Montag, und zwei Menschen starben, sagte die Polizei. "
    summaries = tuple(
        replace(s, texts=tuple(f"{text * 2} {t}" for t in s.texts)) for s in small.summaries
    )
    german = replace(small, summaries=summaries)
    for base in ("lexical", "mini"):
        with pytest.raises(InputError, match="German"):
            lp.finetune(base, german, output=tmp_path / "x")
        with pytest.raises(InputError, match="German"):
            lp.crossval(base, german, output=tmp_path / "x", folds=2)
    assert not (tmp_path / "x").exists()
