"""Judges made of data sets: folds, cross-validation, out-of-the-box tests, judges with
a card."""

import json
from dataclasses import replace
from itertools import chain, product

import numpy as np
import pytest
from cases import WordJudge, refused, write_lines
from scipy import stats
from training_data import synthetic

import litepyramid as lp
from litepyramid.data.records import Summaries, Units
from litepyramid.embedded.example import load_example
from litepyramid.judges.nli.modes import presence
from litepyramid.judges.registry import judge as make_judge
from litepyramid.training.crossval import (
    cross_validate,
    make_contest,
    make_folds,
    out_of_the_box,
    unit_variants,
)
from litepyramid.training.pairs import (
    by_summary,
    labelled_pairs,
    split_data,
    without,
)
from litepyramid.training.settings import FinetuneSettings
from litepyramid.training.validation import fold_mean
from litepyramid.units.extract import extract

FAST = FinetuneSettings(
    device="cpu", onnx=False, epochs=1, learning_rate=1e-3, held_out=0.2
)


def stop(*_args, **_options):
    raise KeyboardInterrupt


class Recorder(dict):
    """A trainer that remembers what it was given for each fold."""

    def __call__(self, data, fold):
        self[fold] = data
        return WordJudge()


@pytest.mark.parametrize("by", ["examples", "systems"])
def test_folds_part_the_data_and_training_never_sees_the_held_out(by):
    data = synthetic()
    folds = make_folds(data, by, 3, seed=4)
    assert make_folds(data, by, 3, seed=4) == folds != make_folds(data, by, 3, seed=5)

    held = []
    for fold in folds:
        sides = [(fold.inputs, fold.train_inputs, data.inputs)]
        sides.append((fold.systems, fold.train_systems, data.systems))
        if by == "systems":
            sides.reverse()
        (test, train, names), whole = sides
        held += test
        assert not {*test} & {*train}
        assert len({*whole}) == 1
    assert sorted(held) == sorted(names)


def test_published_folds_are_used(realsumm):
    data = lp.load(realsumm)
    folds = make_folds(data, "examples", 5)
    assert [{*fold.inputs} for fold in folds] == [*map(set, data.example_folds)]
    assert [len(f.systems) for f in make_folds(data, "systems", 5)] == [5] * 5
    assert len(make_folds(data, "examples", 4)) == 4


def test_training_gets_the_labels_of_its_part_and_a_judge_that_is_right_correlates_perfectly():
    data = synthetic()
    trainer = Recorder()
    result = cross_validate(data, trainer, folds=5)
    assert [*trainer] == [1, 2, 3, 4, 5]

    for fold in make_folds(data, "examples", 5):
        assert trainer[fold.number] == labelled_pairs(data, fold.train_inputs)

    for mode, level in product(("l3c", "l2c"), ("system", "summary")):
        mean = result.mean("trained", "lite2", level, "pearson", mode).mean
        assert mean == pytest.approx(1)
    assert result.quality_mean("trained", "accuracy").mean == 1
    assert {s.mode for s in result.scores} == {"p3c", "l3c", "p2c", "l2c"}


def test_fold_values_are_those_of_the_fold_alone():
    data = synthetic(inputs=8)
    result = cross_validate(
        data,
        Recorder(),
        folds=4,
        seed=3,
    )

    fold = make_folds(data, "examples", 4, seed=3)[1]
    columns = [data.inputs.index(name) for name in fold.inputs]
    human = data.labels.values.reshape(6, 8, 5)[:, columns]
    scores = np.where(human, *presence([[2.0, -1, 0], [-2.0, 1, 0]], "p2c"))
    scores[~human.any(axis=2)] = 0  # an empty summary
    expected = stats.pearsonr(scores.mean(axis=(1, 2)), human.mean(axis=(1, 2)))

    values = []
    for s in result.scores:
        if (s.fold, s.mode, s.level, s.coefficient) == (2, "p2c", "system", "pearson"):
            values.append(s.value)
    assert values == [pytest.approx(expected.statistic, abs=1e-12)]


def test_fold_means_and_intervals():
    values = [0.5, 0.6, 0.65]
    mean = fold_mean(values)
    oracle = stats.t.interval(
        0.95,
        2,
        loc=np.mean(values),
        scale=stats.sem(values),
    )
    assert (mean.low, mean.high) == pytest.approx(oracle)
    assert np.isnan(fold_mean([0.5]).low)
    assert fold_mean([float("nan")]).undefined == 1


def test_out_of_the_box_trains_on_all_of_the_others():
    trainer = Recorder()
    train = [synthetic(seed=1, name="one"), synthetic(seed=2, name="two")]

    result = out_of_the_box(train, synthetic(name="test"), trainer)

    # Of few words two data sets may make the same summary by chance.
    tested = chain.from_iterable(synthetic().summaries.texts)
    pairs = [*chain.from_iterable(map(labelled_pairs, train))]
    assert trainer == {0: without(pairs, tested)[0]}
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
    example = load_example()
    return replace(example, stus=Units.of(extract(example.references).units))


def test_units_that_are_validated(whole):
    """The easiest sentences carry STUs, by what the other folds' sentences tell of
    easiness."""
    assert list(unit_variants(synthetic())) == ["lite2"]
    mixed = unit_variants(whole, folds=4)
    assert list(mixed) == ["lite2", "lite2.5", "lite3"]
    kinds = {unit.kind for entry in mixed["lite2.5"] for unit in entry.units}
    assert kinds == {"scu", "stu"}
    assert mixed["lite2.5"] != unit_variants(whole, folds=None)["lite2.5"]


def test_the_verb_gives_the_authors_three_scores(whole):
    result = lp.crossval("lexical", whole, folds=2)
    assert {score.units for score in result.scores} == {"lite2", "lite2.5", "lite3"}
    assert set(result.judges) == {"trained", "recall"}
    assert max(map(len, result.to_table().splitlines())) <= 80


def test_what_changes_a_fold_is_in_the_signature():
    small = synthetic(inputs=4, systems=3)

    def signature(folds=2, **options):
        result = lp.crossval(
            "lexical",
            small,
            folds=folds,
            **options,
        )
        return str(result.signature)

    one = signature()
    assert signature() == one
    others = {signature(settings=["seed=1"]), signature(3), signature(by="systems")}
    assert len(others - {one}) == 3
    with refused():
        signature(by="words")


def test_folds_too_small_for_any_correlation_are_told_as_such():
    result = lp.crossval(
        "lexical",
        synthetic(systems=3),
        by="systems",
        folds=3,
    )
    assert "24 correlations are not defined" in result.to_table()
    assert len(result.to_json()["folds"]) == 24


def test_english_judges_are_trained_on_english_alone(tmp_path):
    """`lexical` and `mini`, which know no other words."""
    small = synthetic(inputs=4, systems=2)
    text = "Der Sturm traf die Stadt am Montag, und zwei Menschen starben, sagte die Polizei. "
    texts = dict.fromkeys(product(small.systems, small.inputs), text * 2)
    german = replace(small, summaries=Summaries.of(texts))
    for base, verb in product(("lexical", "mini"), (lp.finetune, lp.crossval)):
        with refused("German"):
            verb(base, german, output=tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_held_out_inputs_are_never_learned_from(dataset):
    def split(share, seed=1):
        return split_data(dataset, share, np.random.default_rng(seed))

    train, held = split(0.2)
    units = {entry.texts for entry in dataset.units.of_inputs(held)}
    assert len(held) == len(units - {texts for _, texts in by_summary(train)[0]}) == 2
    assert split(0.2)[1] == held != split(0.2, seed=2)[1]
    assert split(0.0)[1] == ()


def test_a_refit_makes_a_judge_with_a_card(dataset, tmp_path):
    goal = tmp_path / "judge"
    result = lp.finetune(
        "lexical",
        dataset,
        output=goal,
        settings=["held_out=0.3"],
    )

    card = json.loads((goal / "litepyramid.json").read_text(encoding="utf-8"))
    assert (card["data"]["sets"], len(card["data"]["sha256"])) == (["synthetic"], 64)
    assert card["settings"]["held_out"] == 0.3
    (held,) = card["held_out"]
    assert len(held["inputs"]) == 3
    assert held["accuracy"] == result.held_out[0].quality_mean("tuned", "accuracy").mean
    assert make_judge(str(goal)).model.revision != make_judge("lexical").model.revision

    for base in ("recall", "llm:some", str(goal)):
        for verb in (lp.finetune, lp.crossval):
            with refused("cannot be trained"):
                verb(base, dataset, output=tmp_path / "other")


def test_a_refit_on_everything_says_where_the_judge_is(dataset, tmp_path):
    """A table of no columns ended in a traceback."""
    result = lp.finetune(
        "lexical", dataset, output=tmp_path / "judge", settings=["held_out=0"]
    )
    assert str(tmp_path / "judge") in result.to_table().replace("\n", "")


def test_nothing_to_learn_from_and_sets_of_one_name(dataset, tmp_path):
    with refused("nothing to learn from"):
        lp.finetune("lexical", output=tmp_path / "x")
    with refused(r"of one name .* \(synthetic, synthetic\)"):
        lp.finetune(
            "mini",
            dataset,
            output=tmp_path / "x",
            evaluate=[dataset] * 2,
        )


def test_a_run_stopped_while_it_is_evaluated_goes_on(dataset, tmp_path, monkeypatch):
    """It said "already exists" for ever."""
    goal = tmp_path / "judge"

    def tuned(output=goal, settings=()):
        return lp.finetune("lexical", dataset, output=output, settings=settings)

    with monkeypatch.context() as patched:
        patched.setattr("litepyramid.training.finetune.validate", stop)
        with pytest.raises(KeyboardInterrupt):
            tuned()

    with refused("already exists"):
        tuned(settings=["seed=1"])
    with monkeypatch.context() as patched:
        patched.setattr("litepyramid.training.finetune.save_lexical", stop)
        result = tuned()
    assert {**result.card} == {**tuned(tmp_path / "whole").card}
    with refused("already exists"):
        tuned()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["judge", "whole"]


def test_cross_validation_trains_each_fold_once(base, dataset, tmp_path, monkeypatch):
    """Settings go to the judges of the folds and to those that are compared with."""
    base = str(base)
    folder = tmp_path / "folds"
    cache = tmp_path / "kept.sqlite"
    options = {"mode": "p3c", "cache": str(cache)}
    settings = replace(FAST, max_length=40)
    trainer, judges = make_contest(base, ["recall", base], folder, settings, options)
    assert judges[base].mode == "p3c"

    first = cross_validate(dataset, trainer, folds=2)
    assert sorted(path.name for path in folder.iterdir()) == ["fold1", "fold2"]
    assert {s.mode for s in first.scores} == {"p3c", "l3c", "p2c", "l2c"}
    assert dict(first.judges["trained"])["max_length"] == "40"
    assert cache.exists()
    ready, _ = make_contest(str(folder / "fold{fold}"), [], options={"mode": "l2c"})
    assert ready(labelled_pairs(dataset), 1).mode == "l2c"

    monkeypatch.setattr("litepyramid.training.crossval.train_transformer", stop)
    again = [s.value for s in cross_validate(dataset, trainer, folds=2).scores]
    assert again == pytest.approx([s.value for s in first.scores], nan_ok=True)
    other, _ = make_contest(base, [], folder, FAST)
    with refused("another base, other data or settings"):
        cross_validate(dataset, other, folds=2)

    (folder / "fold2").rename(tmp_path / "moved")
    settings = ["device=cpu", "epochs=1", "learning_rate=0.001", "max_length=40"]
    with pytest.raises(KeyboardInterrupt) as stopped:
        lp.crossval(
            base,
            dataset,
            output=folder,
            folds=2,
            settings=settings,
        )
    assert stopped.value.__notes__ == [f"1 trained fold kept in {folder}"]


def test_settings_that_no_judge_takes_and_models_that_are_none(dataset, tmp_path):
    with refused("takes mode"):
        make_contest("lexical", ["recall"], options={"mode": "p2c"})
    with refused("leaves no models"):
        lp.crossval(
            "lexical",
            dataset,
            folds=2,
            output=tmp_path / "result.json",
        )


def test_mixtures_of_data_sets_and_pairs(base, dataset, tmp_path):
    """Weights are in the card and in what is learned; evaluation sets in the
    history."""
    row = {
        "premise": "it",
        "hypothesis": "won",
        "present": 1,
    }
    path = write_lines(tmp_path / "pairs.jsonl", [row] * 12)

    result = lp.finetune(
        str(base),
        [(dataset, 0.5)],
        output=tmp_path / "judge",
        pairs=[f"{path}=3"],
        evaluate=[path, dataset],
        settings=FAST,
    )

    card = result.card
    train, _ = split_data(dataset, 0.2, np.random.default_rng(FAST.seed))
    assert card["data"]["weights"] == [0.5, 3]
    assert card["data"]["pairs"] == round(len(train) / 2) + 12 * 3
    assert (card["kind"], card["mode"]) == ("presence", "p2c")
    sets = [(row.epoch, row.set) for row in result.history]
    assert sets == [(1, "pairs.jsonl"), (1, "synthetic")]
    assert str(result.folder) in result.to_tables()[-1].notes[-1]
    with refused("unknown setting"):
        lp.finetune(
            str(base),
            dataset,
            output=tmp_path / "x",
            settings=["speed=3"],
        )


@pytest.mark.parametrize(
    "name", ["base", "data", "pairs", "evaluate", "settings", "units"]
)
def test_wrong_types_are_one_error(dataset, tmp_path, name):
    arguments = {
        "base": "lexical",
        "data": dataset,
        "output": tmp_path / "x",
    }
    for value in (3, [3]):
        with refused():
            lp.finetune(**arguments | {name: value})
        if name in ("base", "data", "settings"):
            with refused():
                lp.crossval(**arguments | {name: value})


def test_what_is_no_judge_of_ours_is_left_alone(dataset, tmp_path):
    goal = tmp_path / "mine"
    goal.mkdir()
    for card in ("{}", "[]", "{", '{"held_out": []}', '{"base": "lexical"}'):
        (goal / "litepyramid.json").write_text(card)
        with refused("already exists"):
            lp.finetune("lexical", dataset, output=goal)
        assert [p.read_text() for p in goal.iterdir()] == [card]


UNITS = {}
SUMMARIES = {"a": {}, "b": {}}
LABELS = {"a": {}, "b": {}}
for name in map("i{}".format, range(9)):
    bought, snow, sold = UNITS[name] = [
        f"Bob bought {name} red cars.",
        "Snow fell in Oslo.",
        f"Ann sold {name} houses.",
    ]
    SUMMARIES["a"][name] = f"{bought} {snow}"
    SUMMARIES["b"][name] = sold
    LABELS["a"][name] = [1, 1, 0]
    LABELS["b"][name] = [0, 0, 1]


def cars(systems="ab", units=UNITS, **more):
    """Nine inputs with two summaries each, of which no two are alike."""
    summaries = {system: SUMMARIES[system] for system in systems}
    labels = {system: LABELS[system] for system in systems}
    return lp.load(summaries, units, labels=labels, language="en", **more)


@pytest.mark.parametrize("scored", [2, 3])
def test_labels_are_compared_with_the_units_that_they_are_of(scored, tmp_path):
    """However many units are scored, and in whatever order."""
    turned = {name: units[::-1][:scored] for name, units in UNITS.items()}
    data = cars(units=turned, label_units=UNITS)
    result = lp.crossval("lexical", data, folds=3)
    tuned = lp.finetune("lexical", data, output=tmp_path / "judge")

    assert result.quality == lp.crossval("lexical", cars(), folds=3).quality
    assert result.quality_means("trained")["accuracy"] == 1
    assert {score.units for score in result.scores} == {"lite2"}
    assert tuned.card["held_out"][0]["accuracy"] == 1


@pytest.mark.parametrize("name", ["recall", "mini", "judge.json", "llm:x", "a+b"])
def test_a_judge_may_be_saved_under_the_name_of_another(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    result = lp.finetune("lexical", cars(), output=name)

    other = lp.finetune("lexical", cars(), output="other")
    assert result.card == other.card
    # The note names the folder as it is found.
    folder = str(tmp_path / name)
    assert folder in result.to_tables()[-1].notes[-1]
    assert lp.judge(folder).model == lp.judge("other").model


def test_what_one_source_holds_out_is_learnt_from_no_other(tmp_path):
    one = lp.finetune("lexical", cars(), output=tmp_path / "one")
    two = lp.finetune("lexical", [cars(), cars()], output=tmp_path / "two")
    held_out = {name for row in two.card["held_out"] for name in row["inputs"]}
    assert two.card["data"]["pairs"] == 2 * 6 * (9 - len(held_out))
    assert "so left out" in two.notes[0]

    (away, _) = one.card["held_out"][0]["inputs"]
    rows = []
    for premise in (f"\n{SUMMARIES['a'][away]}", "Snow fell."):
        rows.append({"premise": premise, "hypothesis": "Snow fell.", "present": 1})
    path = write_lines(tmp_path / "pairs.jsonl", rows)
    mixed = lp.finetune("lexical", cars(), output=tmp_path / "mixed", pairs=[path])
    assert mixed.card["data"]["pairs"] == one.card["data"]["pairs"] + 1
    assert mixed.notes == ("1 training pair is of summaries tested on, so left out.",)


def test_summaries_that_are_tested_on_are_not_trained_on():
    trainer = Recorder()
    result = out_of_the_box([cars()], cars("a"), trainer)
    pairs = trainer[0]
    assert len(pairs) == 27
    assert {pair.premise for pair in pairs} == {*SUMMARIES["b"].values()}
    assert result.notes[0].startswith("27 training pairs are of summaries tested on")
    with refused("trained on and tested on"):
        lp.crossval("lexical", cars(), train_on=[cars("a")])


@pytest.mark.parametrize("folds", ["2", None, 2.5, 1])
def test_the_number_of_folds_is_a_whole_one(folds):
    with refused("folds is .* whole number from 2"):
        lp.crossval("lexical", cars(), folds=folds)


def test_the_language_of_files_of_pairs_is_named_as_that_of_data(tmp_path):
    rows = []
    for word in ("zuk", "mip", "dor", "fal"):
        pair = {"premise": f"{word} tal {word} rin", "hypothesis": f"{word} rin"}
        rows += [pair | {"present": 1}, pair | {"premise": "ulm", "present": 0}]
    path = write_lines(tmp_path / "pairs.jsonl", rows * 20)
    with refused("unknown language"):
        lp.finetune("lexical", output=tmp_path / "x", pairs=[path])
    for language in ("en", "any"):
        goal = tmp_path / language
        lp.finetune("lexical", output=goal, pairs=[path], language=language)


def test_lexical_learns_from_any_share_of_presence(tmp_path):
    row = {"premise": "Snow fell in Oslo.", "hypothesis": "Snow fell.", "present": 0.7}
    rows = [row, row | {"hypothesis": "Ann sold houses.", "present": 0.1}]
    path = write_lines(tmp_path / "pairs.jsonl", rows)
    lp.finetune("lexical", output=tmp_path / "judge", pairs=[path])
    judge = lp.judge(str(tmp_path / "judge"))
    units = [one["hypothesis"] for one in rows]
    ((high, low),) = judge.judge([(row["premise"], units)]).presence
    assert low < high
