"""From data sets to a judge with a card, as the commands do it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tiny_models import make_checkpoint, train_tokenizer

import litepyramid as lp
from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.judges.registry import judge as make_judge
from litepyramid.training.crossval import cross_validate, make_contest
from litepyramid.training.finetune import finetune
from litepyramid.training.pairs import labelled_pairs, split_dataset
from litepyramid.training.run import FinetuneSettings
from litepyramid.types import InputUnits, SystemLabels, SystemSummaries, Unit

CPU = {"device": "cpu", "onnx": False}
COLOURS = ("red", "blue", "green")


@pytest.fixture(scope="session")
def dataset() -> Dataset:
    """Ten inputs, four systems; a unit's label says whether the summary has its colour."""
    rng = np.random.default_rng(0)
    scus, texts, labels = [], [[] for _ in range(4)], [[] for _ in range(4)]
    for i in range(10):
        scus.append(InputUnits(f"i{i}", tuple(Unit(f"{c} won") for c in COLOURS)))
        for n in range(4):
            said = [c for c in COLOURS if rng.random() < 0.3 + 0.15 * n]
            texts[n].append(f"the {' and '.join(said)} car won" if said else "nobody came")
            labels[n].append(tuple(int(c in said) for c in COLOURS))
    ids = tuple(entry.input for entry in scus)
    return Dataset(
        "colours",
        tuple(scus),
        summaries=tuple(SystemSummaries(f"s{n}", ids, tuple(texts[n])) for n in range(4)),
        labels=tuple(SystemLabels(f"s{n}", ids, tuple(labels[n])) for n in range(4)),
    )


@pytest.fixture(scope="session")
def base(tmp_path_factory, dataset):
    pytest.importorskip("accelerate", reason="the extra train is not installed")
    tokenizer = train_tokenizer([t for s in dataset.summaries for t in s.texts], 300)
    return make_checkpoint(
        tmp_path_factory.mktemp("base") / "model",
        tokenizer,
        labels=["entailment", "neutral", "contradiction"],
        hidden_size=16,
        intermediate_size=32,
    )


def test_held_out_inputs_are_never_learned_from(dataset):
    (train, held), again, other = (
        split_dataset(dataset, 0.2, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    assert len(held) == 2
    assert len(train.pairs) == 8 * 4 * 3
    assert again[1] == held != other[1]
    assert split_dataset(dataset, 0.0, np.random.default_rng(1))[1] == ()


def test_a_refit_makes_a_judge_with_a_card(dataset, tmp_path):
    result = finetune("lexical", dataset, output=tmp_path / "judge", settings=["held_out=0.3"])
    card = json.loads((tmp_path / "judge" / "litepyramid.json").read_text(encoding="utf-8"))
    assert card["data"]["sets"] == ["colours"]
    assert len(card["data"]["sha256"]) == 64
    assert card["settings"]["held_out"] == 0.3
    assert card["versions"]["litepyramid"]
    (held,) = card["held_out"]
    assert len(held["inputs"]) == 3
    assert held["accuracy"] == result.held_out[0].quality_mean("tuned", "accuracy").mean
    assert 0 <= held["brier"] <= 1
    judge = make_judge(str(tmp_path / "judge"))
    batch = judge.judge([("the red car won", ["red won"])])
    assert batch.presence[0].shape == (1,)
    assert batch.signature["judge"] == "lexical"
    assert batch.signature["revision"] != make_judge("lexical").model.revision
    with pytest.raises(InputError, match="already exists"):
        finetune("lexical", dataset, output=tmp_path / "judge")
    with pytest.raises(InputError, match="nothing to learn from"):
        finetune("lexical", output=tmp_path / "other")


def test_what_cannot_be_trained_is_refused(dataset, tmp_path):
    finetune("lexical", dataset, output=tmp_path / "judge")
    for base in ("recall", "llm:some", str(tmp_path / "judge")):
        with pytest.raises(InputError, match="cannot be trained"):
            finetune(base, dataset, output=tmp_path / "new")
        with pytest.raises(InputError, match="cannot be trained"):
            lp.crossval(base, dataset)


def test_transformer_card_and_early_stop(base, dataset, tmp_path):
    settings = FinetuneSettings(
        device="cpu", onnx=False, epochs=2, learning_rate=1e-3, held_out=0.2, early_stop=1
    )
    result = finetune(str(base), dataset, output=tmp_path / "judge", settings=settings)
    assert result.card["kind"] == "presence"
    assert result.card["mode"] == "p2c"
    assert result.card["updates"] > 0
    assert set(result.card["held_out"][0]["correlations"]) == {
        f"lite2_{level}_{c}" for level in ("system", "summary") for c in ("pearson", "spearman")
    }
    assert not list((tmp_path / "judge").glob("*.bin"))
    assert str(tmp_path / "judge") in result.to_tables()[-1].notes[-1]


@pytest.mark.parametrize("kind", ["lexical", "transformer"])
def test_a_run_stopped_while_it_is_evaluated_goes_on(kind, request, dataset, tmp_path, monkeypatch):
    """It said "already exists" for ever."""
    base = kind if kind == "lexical" else str(request.getfixturevalue("base"))
    settings = FinetuneSettings(
        device="cpu", onnx=False, epochs=1, learning_rate=1e-3, held_out=0.2
    )
    goal = tmp_path / "judge"

    def stop(*_args, **_options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("litepyramid.training.finetune.validate", stop)
        with pytest.raises(KeyboardInterrupt):
            finetune(base, dataset, output=goal, settings=settings)
    before = {p.name: p.read_bytes() for p in goal.iterdir() if p.name != "litepyramid.json"}
    with pytest.raises(InputError, match="already exists"):
        finetune(base, dataset, output=goal, settings=replace(settings, seed=1))
    result = finetune(base, dataset, output=goal, settings=settings)
    assert {name: (goal / name).read_bytes() for name in before} == before
    assert len(result.held_out) == len(result.card["held_out"]) == 1
    whole = finetune(base, dataset, output=tmp_path / "whole", settings=settings)
    assert {**result.card} == {**whole.card}
    with pytest.raises(InputError, match="already exists"):
        finetune(base, dataset, output=goal, settings=settings)
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "base0") == ["judge", "whole"]


def test_nli_alone_makes_a_zero_shot_judge(base, tmp_path):
    path = tmp_path / "nli.jsonl"
    rows = [{"premise": "red", "hypothesis": "red won", "label": label} for label in "enc"] * 4
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = FinetuneSettings(
        device="cpu", onnx=False, head="three-class", epochs=1, batch_size=4
    )
    result = finetune(str(base), output=tmp_path / "nli", settings=settings, pairs=[path])
    assert (result.card["kind"], result.card["mode"]) == ("zero-shot", "l3c")
    assert result.held_out == ()
    assert result.card["data"]["pair_files"] == ["nli.jsonl"]


def test_cross_validation_trains_each_fold_once(base, dataset, tmp_path, monkeypatch):
    settings = FinetuneSettings(**CPU, epochs=1, learning_rate=1e-3)
    trainer, _ = make_contest(str(base), [], tmp_path / "folds", settings)
    first = cross_validate(dataset, trainer, folds=2)
    assert sorted(path.name for path in (tmp_path / "folds").iterdir()) == ["fold1", "fold2"]
    assert {s.mode for s in first.scores} == {"p3c", "l3c", "p2c", "l2c"}

    def fail(*_args, **_options):
        raise AssertionError("trained again")

    monkeypatch.setattr("litepyramid.training.crossval.train_transformer", fail)
    again = cross_validate(dataset, trainer, folds=2)
    assert [s.value for s in again.scores] == pytest.approx(
        [s.value for s in first.scores], nan_ok=True
    )
    other, _ = make_contest(str(base), [], tmp_path / "folds", replace(settings, seed=1))
    with pytest.raises(InputError, match="another base, other data or settings"):
        cross_validate(dataset, other, folds=2)


def test_ctrl_c_tells_how_many_folds_were_trained(base, dataset, tmp_path, monkeypatch):
    def stop(*_args, **_options):
        (tmp_path / "fold1").mkdir()
        (tmp_path / "fold1" / "config.json").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr("litepyramid.training.crossval.train_transformer", stop)
    with pytest.raises(KeyboardInterrupt) as stopped:
        lp.crossval(str(base), dataset, output=tmp_path, folds=2)
    assert stopped.value.__notes__ == [f"1 trained fold kept in {tmp_path}"]


def test_settings_go_to_every_judge_of_a_cross_validation(base, dataset, tmp_path):
    settings = FinetuneSettings(device="cpu", epochs=1, learning_rate=1e-3, max_length=40)
    options = {"mode": "p3c", "cache": str(tmp_path / "kept.sqlite")}
    trainer, judges = make_contest(
        str(base), ["recall", str(base)], output=tmp_path / "f", settings=settings, options=options
    )
    assert judges[str(base)].mode == "p3c"
    judge = trainer(labelled_pairs(dataset), 1)
    assert (judge.max_length, judge.mode) == (40, "p3c")
    judge.judge([("the red car won", ["red won"])])
    assert (tmp_path / "kept.sqlite").exists()
    card = json.loads((tmp_path / "f" / "fold1" / "litepyramid.json").read_text())
    assert card["settings"]["max_length"] == 40
    ready, _ = make_contest(str(tmp_path / "f" / "fold{fold}"), [], options={"mode": "l2c"})
    assert ready(labelled_pairs(dataset), 1).mode == "l2c"
    with pytest.raises(InputError, match="no judge of this cross-validation takes mode"):
        make_contest("lexical", ["recall"], options={"mode": "p2c"})


def test_mixtures_of_data_sets_and_pairs(base, dataset, tmp_path):
    """Weights are in the card and in what is learned; evaluation sets in table and card."""
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"premise": f"the {c} car won", "hypothesis": "red won", "present": c == "red"}
        for c in COLOURS * 4
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = {"epochs": 1, "device": "cpu", "onnx": False, "held_out": 0.2}
    result = lp.finetune(
        str(base), [(dataset, 0.5)], output=tmp_path / "judge", pairs=[f"{path}=3"],
        evaluate=[path, dataset], settings=settings,
    )  # fmt: skip
    assert result.card["data"]["weights"] == [0.5, 3]
    assert result.card["data"]["pairs"] == 8 * 4 * 3 // 2 + 12 * 3
    assert [(row.epoch, row.set) for row in result.history] == [(1, "pairs.jsonl"), (1, "colours")]
    assert result.to_tables()[0].title == "After every epoch"
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
    if "base" in wrong or "data" in wrong or "settings" in wrong:
        with pytest.raises(InputError):
            lp.crossval(wrong.get("base", "lexical"), wrong.get("data", dataset), **{
                key: value for key, value in wrong.items() if key == "settings"})  # fmt: skip


def test_what_is_no_judge_of_ours_is_left_alone(dataset, tmp_path):
    for card in (None, "{}", "[]", "{", '{"held_out": []}', '{"base": "lexical"}'):
        goal = tmp_path / "mine"
        goal.mkdir(exist_ok=True)
        if card is not None:
            (goal / "litepyramid.json").write_text(card)
        with pytest.raises(InputError, match="already exists"):
            finetune("lexical", dataset, output=goal)
        assert [p.read_text() for p in goal.iterdir()] == ([] if card is None else [card])
