"""From data sets to a judge with a card, and judges trained by folds, as the commands do it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from training_data import pair_file

import litepyramid as lp
from litepyramid.errors import InputError
from litepyramid.judges.registry import judge as make_judge
from litepyramid.training.crossval import cross_validate, make_contest
from litepyramid.training.finetune import finetune
from litepyramid.training.pairs import labelled_pairs, split_dataset
from litepyramid.training.run import FinetuneSettings

FAST = FinetuneSettings(device="cpu", onnx=False, epochs=1, learning_rate=1e-3, held_out=0.2)


def test_held_out_inputs_are_never_learned_from(dataset):
    (train, held), again, other = (
        split_dataset(dataset, 0.2, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    units = {entry.texts for entry in dataset.scus if entry.input in held}
    assert len(held) == len(units - {texts for _, texts in train.by_summary()[0]}) == 2
    assert again[1] == held != other[1]
    assert split_dataset(dataset, 0.0, np.random.default_rng(1))[1] == ()


def test_a_refit_makes_a_judge_with_a_card(dataset, tmp_path):
    result = finetune("lexical", dataset, output=tmp_path / "judge", settings=["held_out=0.3"])
    card = json.loads((tmp_path / "judge" / "litepyramid.json").read_text(encoding="utf-8"))
    assert (card["data"]["sets"], len(card["data"]["sha256"])) == (["synthetic"], 64)
    assert card["settings"]["held_out"] == 0.3
    (held,) = card["held_out"]
    assert len(held["inputs"]) == 3
    assert held["accuracy"] == result.held_out[0].quality_mean("tuned", "accuracy").mean
    title = "synthetic, 3 held-out inputs: presence of SCUs against human labels"
    assert result.to_tables()[-1].title == title
    batch = make_judge(str(tmp_path / "judge")).judge([("the red car won", ["red won"])])
    assert batch.signature["judge"] == "lexical"
    assert batch.signature["revision"] != make_judge("lexical").model.revision
    with pytest.raises(InputError, match="nothing to learn from"):
        finetune("lexical", output=tmp_path / "other")
    for base in ("recall", "llm:some", str(tmp_path / "judge")):
        with pytest.raises(InputError, match="cannot be trained"):
            finetune(base, dataset, output=tmp_path / "new")
        with pytest.raises(InputError, match="cannot be trained"):
            lp.crossval(base, dataset)


@pytest.mark.parametrize("kind", ["lexical", "transformer"])
def test_a_run_stopped_while_it_is_evaluated_goes_on(kind, request, dataset, tmp_path, monkeypatch):
    """It said "already exists" for ever."""
    base = kind if kind == "lexical" else str(request.getfixturevalue("base"))
    goal = tmp_path / "judge"

    def stop(*_args, **_options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("litepyramid.training.finetune.validate", stop)
        with pytest.raises(KeyboardInterrupt):
            finetune(base, dataset, output=goal, settings=FAST)
    before = {p.name: p.read_bytes() for p in goal.iterdir() if p.name != "litepyramid.json"}
    with pytest.raises(InputError, match="already exists"):
        finetune(base, dataset, output=goal, settings=replace(FAST, seed=1))
    result = finetune(base, dataset, output=goal, settings=FAST)
    assert {name: (goal / name).read_bytes() for name in before} == before
    whole = finetune(base, dataset, output=tmp_path / "whole", settings=FAST)
    assert {**result.card} == {**whole.card}
    with pytest.raises(InputError, match="already exists"):
        finetune(base, dataset, output=goal, settings=FAST)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["judge", "whole"]


def test_nli_alone_makes_a_zero_shot_judge(base, tmp_path):
    rows = [{"premise": "red", "hypothesis": "red won", "label": label} for label in "enc"] * 4
    path = pair_file(tmp_path / "nli.jsonl", rows)
    settings = replace(FAST, head="three-class", batch_size=4)
    result = finetune(str(base), output=tmp_path / "nli", settings=settings, pairs=[path])
    assert (result.card["kind"], result.card["mode"]) == ("zero-shot", "l3c")
    assert result.held_out == ()
    assert result.card["data"]["pair_files"] == ["nli.jsonl"]


def test_cross_validation_trains_each_fold_once(base, dataset, tmp_path, monkeypatch):
    folder = tmp_path / "folds"
    first = cross_validate(dataset, make_contest(str(base), [], folder, FAST)[0], folds=2)
    assert sorted(path.name for path in folder.iterdir()) == ["fold1", "fold2"]
    assert {s.mode for s in first.scores} == {"p3c", "l3c", "p2c", "l2c"}

    def stop(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("litepyramid.training.crossval.train_transformer", stop)
    again = cross_validate(dataset, make_contest(str(base), [], folder, FAST)[0], folds=2)
    assert [s.value for s in again.scores] == pytest.approx(
        [s.value for s in first.scores], nan_ok=True
    )
    other, _ = make_contest(str(base), [], folder, replace(FAST, seed=1))
    with pytest.raises(InputError, match="another base, other data or settings"):
        cross_validate(dataset, other, folds=2)
    (folder / "fold2").rename(tmp_path / "moved")
    settings = ["device=cpu", "epochs=1", "learning_rate=0.001"]
    with pytest.raises(KeyboardInterrupt) as stopped:
        lp.crossval(str(base), dataset, output=folder, folds=2, settings=settings)
    assert stopped.value.__notes__ == [f"1 trained fold kept in {folder}"]


def test_settings_go_to_every_judge_of_a_cross_validation(base, dataset, tmp_path):
    settings = replace(FAST, max_length=40)
    options = {"mode": "p3c", "cache": str(tmp_path / "kept.sqlite")}
    trainer, judges = make_contest(
        str(base), ["recall", str(base)], output=tmp_path / "f", settings=settings, options=options
    )
    assert judges[str(base)].mode == "p3c"
    judge = trainer(labelled_pairs(dataset), 1)
    assert (judge.max_length, judge.mode) == (40, "p3c")
    judge.judge([("the red car won", ["red won"])])
    assert (tmp_path / "kept.sqlite").exists()
    ready, _ = make_contest(str(tmp_path / "f" / "fold{fold}"), [], options={"mode": "l2c"})
    assert ready(labelled_pairs(dataset), 1).mode == "l2c"
    with pytest.raises(InputError, match="no judge of this cross-validation takes mode"):
        make_contest("lexical", ["recall"], options={"mode": "p2c"})


def test_mixtures_of_data_sets_and_pairs(base, dataset, tmp_path, capfd):
    """Weights are in the card and in what is learned; evaluation sets in table and card."""
    rows = [{"premise": "it", "hypothesis": "won", "present": i % 2} for i in range(12)]
    path = pair_file(tmp_path / "pairs.jsonl", rows)
    goal = tmp_path / "judge"
    result = lp.finetune(
        str(base), [(dataset, 0.5)], output=goal, pairs=[f"{path}=3"], evaluate=[path, dataset],
        settings=FAST,
    )  # fmt: skip
    card = result.card
    learned = len(split_dataset(dataset, 0.2, np.random.default_rng(FAST.seed))[0].pairs)
    assert card["data"]["weights"] == [0.5, 3]
    assert card["data"]["pairs"] == round(learned / 2) + 12 * 3
    assert (card["kind"], card["mode"]) == ("presence", "p2c")
    assert f"fine-tuning: {card['updates']} updates" in capfd.readouterr().err
    assert len(card["held_out"][0]["correlations"]) == 4
    sets = [(row.epoch, row.set) for row in result.history]
    assert sets == [(1, "pairs.jsonl"), (1, "synthetic")]
    assert result.to_tables()[0].title == "After every epoch"
    assert str(goal) in result.to_tables()[-1].notes[-1]
    with pytest.raises(InputError, match="unknown setting"):
        lp.finetune(str(base), dataset, output=tmp_path / "x", settings=["speed=3"])


@pytest.mark.parametrize(
    "wrong",
    [{"base": 3}, {"data": 3}, {"pairs": 3}, {"pairs": [3]}, {"evaluate": [3]}, {"settings": 3},
     {"pairs": ["none.jsonl"]}, {"units": 3}],
)  # fmt: skip
def test_wrong_types_are_one_error(dataset, tmp_path, wrong):
    arguments = {"base": "lexical", "data": dataset, **wrong}
    with pytest.raises(InputError):
        lp.finetune(
            arguments.pop("base"), arguments.pop("data"), output=tmp_path / "x", **arguments
        )
    if wrong.keys() & {"base", "data", "settings"}:
        with pytest.raises(InputError):
            lp.crossval(**{"base": "lexical", "data": dataset, **wrong})


def test_what_is_no_judge_of_ours_is_left_alone(dataset, tmp_path):
    goal = tmp_path / "mine"
    goal.mkdir()
    for card in ("{}", "[]", "{", '{"held_out": []}', '{"base": "lexical"}'):
        (goal / "litepyramid.json").write_text(card)
        with pytest.raises(InputError, match="already exists"):
            finetune("lexical", dataset, output=goal)
        assert [p.read_text() for p in goal.iterdir()] == [card]
