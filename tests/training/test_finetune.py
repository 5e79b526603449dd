"""From data sets to a judge with a card, as the commands do it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tiny_models import make_checkpoint, train_tokenizer

from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.io.labels import write_labels
from litepyramid.io.units import write_units
from litepyramid.judges.registry import make_judge
from litepyramid.training.crossval import cross_validate
from litepyramid.training.finetune import finetune
from litepyramid.training.folds import labelled_items
from litepyramid.training.pairs import split_datasets
from litepyramid.training.settings import FinetuneSettings
from litepyramid.training.trainers import FinetuneTrainer, make_contest
from litepyramid.types import InputUnits, SystemLabels, SystemSummaries, Unit

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
        tuple(SystemSummaries(f"s{n}", ids, tuple(texts[n])) for n in range(4)),
        tuple(SystemLabels(f"s{n}", ids, tuple(labels[n])) for n in range(4)),
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
    train, held = split_datasets([dataset], 0.2, seed=1)
    assert len(held[0].inputs) == 2
    assert len(train[0].items) == 8 * 4
    assert split_datasets([dataset], 0.2, seed=1)[1] == held
    assert split_datasets([dataset], 0.2, seed=2)[1] != held
    assert split_datasets([dataset], 0.0, seed=1)[1] == []


@pytest.mark.parametrize("base", ["lexical", "reading"])
def test_a_refit_makes_a_judge_with_a_card(base, dataset, tmp_path):
    result = finetune(base, [dataset], tmp_path / "judge", FinetuneSettings(held_out=0.3))
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
    assert batch.signature["judge"] == base
    assert batch.signature["revision"] != make_judge(base).model.revision
    with pytest.raises(InputError, match="already exists"):
        finetune(base, [dataset], tmp_path / "judge")
    with pytest.raises(InputError, match="nothing to learn from"):
        finetune("lexical", [], tmp_path / "other")


def test_what_cannot_be_trained_is_refused(dataset, tmp_path):
    finetune("reading", [dataset], tmp_path / "judge")
    for base in ("recall", "llm:some", str(tmp_path / "judge")):
        with pytest.raises(InputError, match="cannot be trained"):
            finetune(base, [dataset], tmp_path / "new")
        with pytest.raises(InputError, match="cannot be trained"):
            make_contest(base, None, [])


def test_transformer_card_and_early_stop(base, dataset, tmp_path):
    settings = FinetuneSettings(epochs=2, learning_rate=1e-3, held_out=0.2, early_stop=1)
    result = finetune(str(base), [dataset], tmp_path / "judge", settings, device="cpu")
    assert result.card["kind"] == "presence"
    assert result.card["mode"] == "p2c"
    assert result.card["updates"] > 0
    assert set(result.card["held_out"][0]["correlations"]) == {
        f"lite2_{level}_{c}" for level in ("system", "summary") for c in ("pearson", "spearman")
    }
    assert not list((tmp_path / "judge").glob("*.bin"))
    assert "score with --judge" in result.to_tables()[-1].notes[-1]


def test_a_card_is_json_however_few_the_updates(base, dataset, tmp_path):
    settings = FinetuneSettings(epochs=0.02, batch_size=4)
    result = finetune(str(base), [dataset], tmp_path / "judge", settings, device="cpu")
    text = (tmp_path / "judge" / "litepyramid.json").read_text(encoding="utf-8")
    card = json.loads(text, parse_constant=pytest.fail)
    assert card["loss"] > 0
    assert card["updates"] < settings.log_steps
    assert repr(result) == f"<FinetuneResult: {result.to_tables()[0].title}>"


@pytest.mark.parametrize("kind", ["lexical", "transformer"])
def test_a_run_stopped_while_it_is_evaluated_goes_on(kind, request, dataset, tmp_path, monkeypatch):
    """It said "already exists" for ever."""
    base = kind if kind == "lexical" else str(request.getfixturevalue("base"))
    settings = FinetuneSettings(epochs=1, learning_rate=1e-3, held_out=0.2)
    goal = tmp_path / "judge"

    def stop(*_args, **_options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("litepyramid.training.finetune.validate", stop)
        with pytest.raises(KeyboardInterrupt):
            finetune(base, [dataset], goal, settings, device="cpu")
    before = {p.name: p.read_bytes() for p in goal.iterdir() if p.name != "litepyramid.json"}
    with pytest.raises(InputError, match="already exists"):
        finetune(base, [dataset], goal, replace(settings, seed=1), device="cpu")
    result = finetune(base, [dataset], goal, settings, device="cpu")
    assert {name: (goal / name).read_bytes() for name in before} == before
    assert len(result.held_out) == len(result.card["held_out"]) == 1
    whole = finetune(base, [dataset], tmp_path / "whole", settings, device="cpu")
    assert {**result.card} == {**whole.card}
    with pytest.raises(InputError, match="already exists"):
        finetune(base, [dataset], goal, settings, device="cpu")
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "base0") == ["judge", "whole"]


def test_what_is_no_judge_of_ours_is_left_alone(dataset, tmp_path):
    for card in (None, "{}", "[]", "{", '{"held_out": []}', '{"base": "lexical"}'):
        goal = tmp_path / "mine"
        goal.mkdir(exist_ok=True)
        if card is not None:
            (goal / "litepyramid.json").write_text(card)
        with pytest.raises(InputError, match="already exists"):
            finetune("lexical", [dataset], goal)
        assert [p.read_text() for p in goal.iterdir()] == ([] if card is None else [card])


def test_nli_alone_makes_a_zero_shot_judge(base, tmp_path):
    path = tmp_path / "nli.jsonl"
    rows = [{"premise": "red", "hypothesis": "red won", "label": label} for label in "enc"] * 4
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    settings = FinetuneSettings(head="three-class", epochs=1, batch_size=4)
    result = finetune(str(base), [], tmp_path / "nli", settings, nli=[path], device="cpu")
    assert (result.card["kind"], result.card["mode"]) == ("zero-shot", "l3c")
    assert result.held_out == ()
    assert result.card["data"]["nli_files"] == ["nli.jsonl"]


def test_cross_validation_trains_each_fold_once(base, dataset, tmp_path, monkeypatch):
    settings = FinetuneSettings(epochs=1, learning_rate=1e-3)
    trainer = FinetuneTrainer(str(base), tmp_path / "folds", settings, {"device": "cpu"})
    first = cross_validate(dataset, trainer, folds=2)
    assert sorted(path.name for path in (tmp_path / "folds").iterdir()) == ["fold1", "fold2"]
    assert {s.mode for s in first.scores} == {"p3c", "l3c", "p2c", "l2c"}

    def fail(*_args, **_options):
        raise AssertionError("trained again")

    monkeypatch.setattr("litepyramid.training.trainers.train_transformer", fail)
    again = cross_validate(dataset, trainer, folds=2)
    assert [s.value for s in again.scores] == pytest.approx(
        [s.value for s in first.scores], nan_ok=True
    )
    other = replace(trainer, settings=replace(settings, seed=1))
    with pytest.raises(InputError, match="another base, other data or settings"):
        cross_validate(dataset, other, folds=2)


def test_ctrl_c_says_how_many_folds_were_trained(cli, base, realsumm, tmp_path, monkeypatch):
    def stop(*_args, **_options):
        (tmp_path / "fold1").mkdir()
        (tmp_path / "fold1" / "config.json").touch()
        (tmp_path / "fold2.training").mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr("litepyramid.training.trainers.train_transformer", stop)
    run = ["crossval", f"realsumm={realsumm}", "--base", base, "--models", tmp_path]
    said = cli(*run, status=130).stderr
    assert said == (
        f"litepyramid: interrupted; 1 trained fold kept in {tmp_path}; run again to continue\n"
    )


def test_settings_go_to_every_nli_model_of_a_cross_validation(base, dataset, tmp_path):
    options = {"device": "cpu", "max_length": 40, "cache": tmp_path / "kept.sqlite"}
    settings = FinetuneSettings(epochs=1, learning_rate=1e-3)
    for template in (None, str(base) + "{fold}"):
        trainer, judges = make_contest(
            str(base), template, ["recall", str(base)], folder=tmp_path / "folds",
            settings=settings, revision=None, label_map={"entailment": "0", "neutral": "1"},
            **options,
        )  # fmt: skip
        assert trainer.options["max_length"] == 40
        assert judges[str(base)].max_length == 40
    judge = FinetuneTrainer(str(base), tmp_path / "folds", settings, options).train(
        labelled_items(dataset), 1
    )
    assert judge.max_length == 40
    judge.judge([("the red car won", ["red won"])])
    assert (tmp_path / "kept.sqlite").exists()
    card = json.loads((tmp_path / "folds" / "fold1" / "litepyramid.json").read_text())
    assert card["settings"]["max_length"] == 40
    _, judges = make_contest("lexical", None, [str(base)], mode="p3c", max_length=30)
    assert (judges[str(base)].mode, judges[str(base)].max_length) == ("p3c", 30)


def test_settings_that_no_judge_takes_are_refused(tmp_path):
    with pytest.raises(InputError, match="no judge of this cross-validation takes device, mode"):
        make_contest("lexical", None, ["recall"], device="cpu", mode="p2c", cache=None)
    make_contest("lexical", None, ["recall"], cache=None)


def test_finetune_command_on_own_files(cli, dataset, tmp_path):
    write_units(tmp_path / "units.jsonl", dataset.scus)
    (tmp_path / "labels").mkdir()
    (tmp_path / "summaries").mkdir()
    for system, labels in zip(dataset.summaries, dataset.labels, strict=True):
        write_labels(tmp_path / "labels" / f"{system.system}.jsonl", labels)
        (tmp_path / "summaries" / f"{system.system}.txt").write_text(
            "".join(text + "\n" for text in system.texts), encoding="utf-8"
        )
    own = (
        "--summaries", tmp_path / "summaries", "--units", tmp_path / "units.jsonl",
        "--labels", tmp_path / "labels",
    )  # fmt: skip
    out = cli("finetune", "lexical", *own, "-o", tmp_path / "judge", process=True).stdout
    assert "own: correlation with the human score" in out
    scored = cli(
        "score", tmp_path / "summaries", "--units", tmp_path / "units.jsonl",
        "--judge", tmp_path / "judge",
    ).stdout  # fmt: skip
    assert "judge:lexical" in scored
    (tmp_path / "labels" / "s0.jsonl").write_text(
        '{"input": "i0", "labels": [1]}\n', encoding="utf-8"
    )
    done = cli("finetune", "lexical", *own, "-o", tmp_path / "new", status=2)
    assert "s0.jsonl" in done.stderr
    assert not (tmp_path / "new").exists()
    assert "not all given" in cli(
        "finetune", "lexical", *own[:4], "-o", tmp_path / "new", status=2
    ).stderr  # fmt: skip


def test_out_of_the_box_command(cli, realsumm, tmp_path):
    done = cli("crossval", "--train-on", f"realsumm={realsumm}", status=2)
    assert "expected" in done.stderr.lower()
    done = cli(
        "crossval", "--train-on", f"realsumm={realsumm}", "--test-on", f"realsumm={realsumm}",
        status=2,
    )  # fmt: skip
    assert "trained on and tested on" in done.stderr
    done = cli("crossval", f"realsumm={realsumm}", "--device", "cpu", status=2)
    assert "no judge of this cross-validation takes device" in done.stderr
