"""Judges made of data sets: folds, cross-validation, out-of-the-box tests, judges with
a card."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from cases import refused, write_lines
from scipy import stats
from training_data import synthetic

import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.io.dataset import Dataset
from litepyramid.io.loading import load
from litepyramid.judges.base import JudgedBatch
from litepyramid.judges.nli.modes import presence
from litepyramid.judges.registry import judge as make_judge
from litepyramid.training.crossval import (
    cross_validate,
    make_contest,
    make_folds,
    out_of_the_box,
    unit_variants,
)
from litepyramid.training.finetune import finetune
from litepyramid.training.pairs import labelled_pairs, split_dataset
from litepyramid.training.settings import FinetuneSettings
from litepyramid.training.validation import fold_mean
from litepyramid.units.extract import extract

FAST = FinetuneSettings(
    device="cpu", onnx=False, epochs=1, learning_rate=1e-3, held_out=0.2
)


class WordJudge:
    """Logits that say "entailment" when the unit's word is in the summary; none if it
    is empty."""

    def judge(self, items):
        logits = []
        for summary, units in items:
            rows = []
            for unit in units:
                there = unit in summary.split()
                row = [4.0, 0, 0] if there else [-4.0, 1, 1]
                rows.append(row if summary else [np.nan] * 3)
            logits.append(np.array(rows))
        values = tuple(np.nan_to_num(presence(row, "p2c")) for row in logits)
        return JudgedBatch(values, {"judge": "words", "mode": "p2c"}, {}, tuple(logits))


def stop(*_args, **_options):
    raise KeyboardInterrupt


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
    data = synthetic()
    trainer = Recorder()
    result = cross_validate(data, trainer, folds=5)
    assert [fold for fold, _ in trainer.seen] == [1, 2, 3, 4, 5]

    units = {frozenset(entry.texts) for entry in data.scus}
    for _, pairs in trainer.seen:
        items, _ = pairs.by_summary()
        assert len(units - {frozenset(texts) for _, texts in items}) == 2

    for mode, level in product(("l3c", "l2c"), ("system", "summary")):
        mean = result.mean("trained", "lite2", level, "pearson", mode).mean
        assert mean == pytest.approx(1)
    assert result.quality_mean("trained", "accuracy").mean == 1
    assert {s.mode for s in result.scores} == {"p3c", "l3c", "p2c", "l2c"}


def test_fold_values_are_those_of_the_fold_alone():
    data = synthetic(inputs=8)
    result = cross_validate(data, Recorder(), folds=4, seed=3)

    fold = make_folds(data, "examples", 4, seed=3)[1]
    columns = [data.inputs.index(name) for name in fold.inputs]
    human = np.empty((len(data.labels), len(columns)))
    scores = np.zeros(human.shape)
    p = presence(np.array([[4.0, 0, 0], [-4.0, 1, 1]]), "p2c")
    for n, m in np.ndindex(human.shape):
        labels = np.array(data.labels[n].labels[columns[m]])
        human[n, m] = labels.mean()
        if data.summaries[n].texts[columns[m]]:
            scores[n, m] = np.where(labels, *p).mean()
    expected = stats.pearsonr(scores.mean(axis=1), human.mean(axis=1)).statistic
    (found,) = (
        s.value
        for s in result.scores
        if (s.fold, s.mode, s.level, s.coefficient) == (2, "p2c", "system", "pearson")
    )
    assert found == pytest.approx(expected, abs=1e-12)


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
    filled = 0
    for one in train:
        for summaries in one.summaries:
            filled += sum(map(bool, summaries.texts))
    assert (fold, len(pairs.pairs)) == (0, 5 * filled)
    mean = result.mean("trained", "lite2", "system", "pearson", "l3c").mean
    assert mean == pytest.approx(1)
    assert "trained_on:one+two" in str(result.signature)

    with refused("trained on and tested on"):
        out_of_the_box(train, replace(train[0], name="another"), trainer)
    # A folder of the same name is another data set.
    out_of_the_box(train, synthetic(seed=3, name="one"), trainer)


@pytest.fixture(scope="module")
def whole():
    """The example with STUs."""
    one = load_example()
    data = {name: getattr(one, name) for name in ("summaries", "labels", "references")}
    return Dataset("example", one.scus, stus=extract(one.references).units, **data)


def test_units_that_are_validated(whole):
    """The easiest sentences carry STUs, by what the other folds' sentences tell of
    easiness."""
    assert list(unit_variants(synthetic())) == ["lite2"]
    mixed = unit_variants(whole, folds=4)
    assert list(mixed) == ["lite2", "lite2.5", "lite3"]
    kinds = {unit.kind for entry in mixed["lite2.5"] for unit in entry.units}
    assert kinds == {"scu", "stu"}
    assert mixed["lite2.5"] != unit_variants(whole, folds=None)["lite2.5"]


def test_the_verb_gives_the_authors_three_scores_and_names_all_in_its_signature(whole):
    result = lp.crossval("lexical", whole, folds=2)
    assert {score.units for score in result.scores} == {"lite2", "lite2.5", "lite3"}
    assert set(result.judges) == {"trained", "recall"}
    assert max(map(len, result.to_table().splitlines())) <= 80
    small = synthetic(inputs=6, systems=3)
    ways = [{}, {"settings": ["seed=1"]}, {"folds": 3}, {"by": "systems"}, {}]
    one, *others = (
        lp.crossval("lexical", small, **{"folds": 2, **way}) for way in ways
    )
    assert one.signature == others.pop().signature
    assert len({str(other.signature) for other in (one, *others)}) == 4
    with refused():
        lp.crossval("lexical", small, by="words")


def test_folds_too_small_for_any_correlation_are_told_as_such():
    result = lp.crossval("lexical", synthetic(systems=3), by="systems", folds=3)
    assert "24 correlations are not defined" in result.to_table()
    assert len(result.to_json()["folds"]) == 24


def test_english_judges_are_trained_on_english_alone(tmp_path):
    """`lexical` and `mini`, which know no other words."""
    small = synthetic(inputs=4, systems=2)
    text = "Der Sturm traf die Stadt am Montag, und zwei Menschen starben, sagte die Polizei. "
    summaries = tuple(replace(s, texts=(text * 2,) * 4) for s in small.summaries)
    german = replace(small, summaries=summaries)
    for base, verb in product(("lexical", "mini"), (lp.finetune, lp.crossval)):
        with refused("German"):
            verb(base, german, output=tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_held_out_inputs_are_never_learned_from(dataset):
    (train, held), again, other = (
        split_dataset(dataset, 0.2, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    units = {entry.texts for entry in dataset.scus if entry.input in held}
    assert len(held) == len(units - {texts for _, texts in train.by_summary()[0]}) == 2
    assert again[1] == held != other[1]
    assert split_dataset(dataset, 0.0, np.random.default_rng(1))[1] == ()


def test_a_refit_makes_a_judge_with_a_card(dataset, tmp_path):
    goal = tmp_path / "judge"
    result = finetune("lexical", dataset, output=goal, settings=["held_out=0.3"])

    card = json.loads((goal / "litepyramid.json").read_text(encoding="utf-8"))
    assert (card["data"]["sets"], len(card["data"]["sha256"])) == (["synthetic"], 64)
    assert card["settings"]["held_out"] == 0.3
    (held,) = card["held_out"]
    assert len(held["inputs"]) == 3
    assert held["accuracy"] == result.held_out[0].quality_mean("tuned", "accuracy").mean
    assert "3 held-out inputs" in result.to_tables()[-1].title
    batch = make_judge(str(goal)).judge([("the red car won", ["red won"])])
    assert batch.signature["judge"] == "lexical"
    assert batch.signature["revision"] != make_judge("lexical").model.revision

    other = tmp_path / "other"
    with refused("nothing to learn from"):
        finetune("lexical", output=other)
    with refused(r"of one name .* \(synthetic, synthetic\)"):
        finetune("lexical", dataset, output=other, evaluate=[dataset, dataset])
    for base in ("recall", "llm:some", str(goal)):
        for verb in (finetune, lp.crossval):
            with refused("cannot be trained"):
                verb(base, dataset, output=other)


@pytest.mark.parametrize("kind", ["lexical", "transformer"])
def test_a_run_stopped_while_it_is_evaluated_goes_on(
    kind, request, dataset, tmp_path, monkeypatch
):
    """It said "already exists" for ever."""
    base = kind if kind == "lexical" else str(request.getfixturevalue("base"))
    goal = tmp_path / "judge"

    def tuned(output=goal, settings=FAST):
        return finetune(base, dataset, output=output, settings=settings)

    with monkeypatch.context() as patched:
        patched.setattr("litepyramid.training.finetune.validate", stop)
        with pytest.raises(KeyboardInterrupt):
            tuned()

    before = {path.name: path.read_bytes() for path in goal.iterdir()}
    del before["litepyramid.json"]
    with refused("already exists"):
        tuned(settings=replace(FAST, seed=1))
    result = tuned()
    assert {name: (goal / name).read_bytes() for name in before} == before
    assert {**result.card} == {**tuned(tmp_path / "whole").card}
    with refused("already exists"):
        tuned()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["judge", "whole"]


def test_cross_validation_trains_each_fold_once(base, dataset, tmp_path, monkeypatch):
    folder = tmp_path / "folds"

    def crossed(settings=FAST):
        trainer, _ = make_contest(str(base), [], folder, settings)
        return cross_validate(dataset, trainer, folds=2)

    first = crossed()
    assert sorted(path.name for path in folder.iterdir()) == ["fold1", "fold2"]
    assert {s.mode for s in first.scores} == {"p3c", "l3c", "p2c", "l2c"}

    monkeypatch.setattr("litepyramid.training.crossval.train_transformer", stop)
    values = [s.value for s in first.scores]
    again = [s.value for s in crossed().scores]
    assert again == pytest.approx(values, nan_ok=True)
    with refused("another base, other data or settings"):
        crossed(replace(FAST, seed=1))

    (folder / "fold2").rename(tmp_path / "moved")
    settings = ["device=cpu", "epochs=1", "learning_rate=0.001"]
    with pytest.raises(KeyboardInterrupt) as stopped:
        lp.crossval(str(base), dataset, output=folder, folds=2, settings=settings)
    assert stopped.value.__notes__ == [f"1 trained fold kept in {folder}"]


def test_settings_go_to_every_judge_of_a_cross_validation(base, dataset, tmp_path):
    pairs = labelled_pairs(dataset)
    settings = replace(FAST, max_length=40)
    cache = tmp_path / "kept.sqlite"
    options = {"mode": "p3c", "cache": str(cache)}
    names = ["recall", str(base)]

    trainer, judges = make_contest(str(base), names, tmp_path / "f", settings, options)

    assert judges[str(base)].mode == "p3c"
    judge = trainer(pairs, 1)
    assert (judge.max_length, judge.mode) == (40, "p3c")
    judge.judge([("the red car won", ["red won"])])
    assert cache.exists()
    trained = str(tmp_path / "f" / "fold{fold}")
    ready, _ = make_contest(trained, [], options={"mode": "l2c"})
    assert ready(pairs, 1).mode == "l2c"

    with refused("takes mode"):
        make_contest("lexical", ["recall"], options={"mode": "p2c"})
    with refused("leaves no models"):
        lp.crossval("lexical", dataset, folds=2, output=tmp_path / "result.json")


def test_mixtures_of_data_sets_and_pairs(base, dataset, tmp_path, capfd):
    """Weights are in the card and in what is learned; evaluation sets in table and
    card."""
    texts = {"premise": "it", "hypothesis": "won"}
    path = write_lines(
        tmp_path / "pairs.jsonl", [texts | {"present": i % 2} for i in range(12)]
    )
    goal = tmp_path / "judge"

    result = lp.finetune(
        str(base),
        [(dataset, 0.5)],
        output=goal,
        pairs=[f"{path}=3"],
        evaluate=[path, dataset],
        settings=FAST,
    )

    card = result.card
    train, _ = split_dataset(dataset, 0.2, np.random.default_rng(FAST.seed))
    assert card["data"]["weights"] == [0.5, 3]
    assert card["data"]["pairs"] == round(len(train.pairs) / 2) + 12 * 3
    assert (card["kind"], card["mode"]) == ("presence", "p2c")
    assert f"fine-tuning: {card['updates']} updates" in capfd.readouterr().err
    assert len(card["held_out"][0]["correlations"]) == 4
    sets = [(row.epoch, row.set) for row in result.history]
    assert sets == [(1, "pairs.jsonl"), (1, "synthetic")]
    assert str(goal) in result.to_tables()[-1].notes[-1]
    with refused("unknown setting"):
        lp.finetune(str(base), dataset, output=tmp_path / "x", settings=["speed=3"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"base": 3},
        {"data": 3},
        {"pairs": 3},
        {"pairs": [3]},
        {"evaluate": [3]},
        {"settings": 3},
        {"pairs": ["none.jsonl"]},
        {"units": 3},
    ],
)
def test_wrong_types_are_one_error(dataset, tmp_path, wrong):
    arguments = {"base": "lexical", "data": dataset, **wrong}
    verbs = [lp.finetune]
    if wrong.keys() & {"base", "data", "settings"}:
        verbs.append(lp.crossval)
    for verb in verbs:
        with refused():
            verb(**arguments, output=tmp_path / "x")


def test_what_is_no_judge_of_ours_is_left_alone(dataset, tmp_path):
    goal = tmp_path / "mine"
    goal.mkdir()
    for card in ("{}", "[]", "{", '{"held_out": []}', '{"base": "lexical"}'):
        (goal / "litepyramid.json").write_text(card)
        with refused("already exists"):
            finetune("lexical", dataset, output=goal)
        assert [p.read_text() for p in goal.iterdir()] == [card]
