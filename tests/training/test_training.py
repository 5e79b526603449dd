"""Fine-tuning on a tiny random model: it learns, resumes to the same weights,
round-trips; mini."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from cases import refused, write_lines
from tiny_models import make_checkpoint
from training_data import files_of, synthetic_pairs

import litepyramid as lp
from litepyramid.errors import InputError, ModelError
from litepyramid.files import locked
from litepyramid.judges.nli.backends import read_onnx_tokenizer
from litepyramid.judges.nli.checkpoint import THREE, ClassOrder
from litepyramid.judges.nli.modes import p2c
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.training.onnx_models import load_onnx_classifier
from litepyramid.training.packs import (
    as_packs,
    encode_packs,
    packed_classifier,
    padded,
)
from litepyramid.training.pairs import (
    CONTRADICTION,
    NEUTRAL,
    TrainingPairs,
    as_source,
    encode_pairs,
    label_shares,
    make_loss,
    read_pairs,
)
from litepyramid.training.run import train_transformer
from litepyramid.training.settings import FinetuneSettings, as_settings

torch = pytest.importorskip("torch", reason="the extra train is not installed")
pytest.importorskip("accelerate", reason="the extra train is not installed")

ROOT = Path(__file__).resolve().parents[2]


def shares(labels, head="presence"):
    return torch.tensor(label_shares(list(labels), head), dtype=torch.float32)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_presence_loss_and_its_gradient_are_those_of_the_formula(order):
    torch.manual_seed(0)
    logits = torch.randn(7, 3, dtype=torch.float64).float().requires_grad_()
    labels = torch.tensor([0, 1, 1, 0, 1, 0, 0])
    loss = make_loss("presence", ClassOrder(THREE, order))
    found = loss({"logits": logits}, shares(labels))
    # A part of the pairs on each device, as many numbers as shares in all.
    parts = (
        loss({"logits": logits[s]}, shares(labels)[s], 14)
        for s in (slice(4), slice(4, 7))
    )

    torch.testing.assert_close(sum(parts), found)
    (gradient,) = torch.autograd.grad(found, logits)
    e, n, c = (logits[:, index] for index in order)
    p = torch.exp(e) / (torch.exp(e) + torch.exp(n + c))
    expected = -(labels * torch.log(p) + (1 - labels) * torch.log(1 - p)).mean()
    (expected_gradient,) = torch.autograd.grad(expected, logits)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradient, expected_gradient)
    ours = p2c(logits.detach().numpy()[:, list(order)])
    np.testing.assert_allclose(p.detach().numpy(), ours, atol=1e-6)


def test_three_class_loss_of_a_class_and_of_mere_absence():
    torch.manual_seed(0)
    logits = torch.randn(5, 3)
    labels = [1, NEUTRAL, CONTRADICTION, 0, 0.25]
    loss = make_loss("three-class", ClassOrder(THREE, (2, 0, 1)))
    p = torch.softmax(logits[:, [2, 0, 1]], dim=1)
    e, n, c = p.T
    terms = [e[0], n[1], c[2], (n + c)[3], e[4] ** 0.25 * (n + c)[4] ** 0.75]
    expected = -torch.stack([torch.log(term) for term in terms]).mean()
    torch.testing.assert_close(
        loss({"logits": logits}, shares(labels, "three-class")), expected
    )


FAST = FinetuneSettings(
    epochs=4,
    learning_rate=2e-3,
    batch_size=16,
    held_out=0,
    save_steps=1000,
    device="cpu",
    onnx=False,
)


def accuracy(folder, data: TrainingPairs) -> float:
    judged = NLIJudge(str(folder), cache=None).judge([(p, [h]) for p, h in data.pairs])
    present = np.concatenate(judged.presence) >= 0.5
    return float((present == np.array(data.labels, dtype=bool)).mean())


@pytest.mark.parametrize(
    "other",
    [
        {},
        {
            "head": "two-class",
            "batches": "length",
            "bf16": True,
            "schedule": "constant",
        },
    ],
)
def test_it_learns_presence_and_the_folder_round_trips(matching, tmp_path, other):
    run = (
        str(matching),
        synthetic_pairs(320, 1),
        tmp_path / "tuned",
        replace(FAST, **other),
    )
    out = train_transformer(*run)
    assert out.updates == 80
    assert accuracy(out.folder, synthetic_pairs(100, 2)) > 0.9
    names = {path.name for path in out.folder.iterdir()}
    assert "model.safetensors" in names
    assert not any(name.endswith((".bin", ".pt", ".pth", ".pkl")) for name in names)
    assert not (tmp_path / "tuned.training").exists()
    judge = NLIJudge(str(out.folder), cache=None)
    assert (judge.mode, judge.checkpoint.order.two) == ("p2c", "head" in other)


def test_early_stopping_keeps_the_best_epoch(base, tmp_path):
    settings = replace(
        FAST,
        epochs=3,
        early_stop=1,
        held_out=0.1,
        learning_rate=1e-12,
    )
    sets = {
        "development": synthetic_pairs(20, 3),
        "evaluation": {"one": synthetic_pairs(8, 4)},
    }
    out = train_transformer(
        str(base),
        synthetic_pairs(32, 1),
        tmp_path / "x",
        settings,
        **sets,
    )
    assert out.updates == 2 * 2
    assert {row.set for row in out.history} == {"one"}


SETTINGS = replace(
    FAST,
    epochs=2,
    learning_rate=1e-3,
    batch_size=8,
    save_steps=3,
)
KILLED = """
import sys, time
sys.path[:0] = {paths!r}
import torch
torch.set_num_threads(1)
from test_training import SETTINGS, make_loss, synthetic_pairs
from litepyramid.training import run, trainer

def slow(*given):
    loss, updates = make_loss(*given), iter(range(4))
    return lambda *x, **y: loss(*x, **y) if next(updates, None) is not None else time.sleep(600)

trainer.make_loss = slow
run.train_transformer({base!r}, synthetic_pairs(40, 5), {out!r}, SETTINGS)
"""


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def test_a_killed_and_resumed_run_ends_with_the_same_weights(base, tmp_path):
    goal = tmp_path / "killed"
    run = [str(base), synthetic_pairs(40, 5)]
    assert train_transformer(*run, tmp_path / "whole", SETTINGS).resumed_from == 0
    paths = [str(ROOT), str(Path(__file__).parent), str(ROOT / "tests")]
    killed = subprocess.Popen(
        [
            sys.executable,
            "-c",
            KILLED.format(
                paths=paths,
                base=str(base),
                out=str(goal),
            ),
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 240

    while not list(
        (tmp_path / "killed.training").glob("checkpoint-3/trainer_state.json")
    ):
        assert killed.poll() is None, killed.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)

    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert not goal.exists()
    assert train_transformer(*run, goal, SETTINGS).resumed_from == 3
    first = weights(tmp_path / "whole")
    second = weights(tmp_path / "killed")
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(value, second[name]), name


def stopping(*given):
    """`make_loss` whose loss stops the run when it is asked for the ninth time."""
    loss = make_loss(*given)
    asked = iter(range(8))

    def stop(*args, **named):
        if next(asked, None) is None:
            raise KeyboardInterrupt
        return loss(*args, **named)

    return stop


def test_a_stopped_run_says_what_is_kept_and_has_the_figures_of_every_epoch(
    base, tmp_path, monkeypatch
):
    train = synthetic_pairs(32, 1)
    sets = {"one": synthetic_pairs(20, 2)}
    sets["soft"] = TrainingPairs(sets["one"].pairs, (0.25, *sets["one"].labels[1:]))
    settings = replace(
        FAST,
        epochs=3,
        save_steps=2,
    )
    run = [str(base), train]
    whole = train_transformer(*run, tmp_path / "a", settings, evaluation=sets)
    assert [(row.epoch, row.set) for row in whole.history] == [
        (epoch, name) for epoch in (1, 2, 3) for name in ("one", "soft")
    ]
    judge = NLIJudge(str(whole.folder), cache=None)
    batch = judge.judge([(p, [h]) for p, h in sets["one"].pairs])
    expected = float(
        np.mean((np.concatenate(batch.presence) - sets["one"].labels) ** 2)
    )
    assert whole.history[-2].brier == pytest.approx(expected, abs=1e-5)

    with monkeypatch.context() as patched:
        patched.setattr(
            "litepyramid.training.trainer.make_loss", stopping
        )  # 4 are of evaluation
        with pytest.raises(KeyboardInterrupt) as stopped:
            train_transformer(*run, tmp_path / "b", settings, evaluation=sets)

    assert stopped.value.__notes__ == [
        f"4 of 6 updates kept in {tmp_path / 'b.training'}"
    ]
    again = train_transformer(*run, tmp_path / "b", settings, evaluation=sets)
    assert again.resumed_from == 4
    assert again.history == whole.history
    assert [
        path.name for path in tmp_path.iterdir() if path.suffix == ".training"
    ] == []


def test_what_is_refused(base, tmp_path, tokenizer):
    pairs = synthetic_pairs(8, 0)

    def fails(what, goal="new", model=base, data=pairs):
        with refused(what, (InputError, ModelError)):
            train_transformer(str(model), data, tmp_path / goal, FAST)

    (tmp_path / "there").mkdir()
    fails("already exists", "there")
    fails("no labelled pairs", data=TrainingPairs((), ()))
    two = make_checkpoint(tmp_path / "two", tokenizer, labels=["present", "absent"])
    fails("needs three", model=two)
    work = tmp_path / "x.training"
    work.mkdir()
    with locked(work):
        fails("in use by another", "x")

    for file in ("run.json", "notes.txt"):  # of another run
        (work / file).write_text("{}", encoding="utf-8")
        fails("another base, data, settings or version", "x")
        assert [p.name for p in work.iterdir()] == [file]
        (work / file).unlink()

    long = TrainingPairs((("a", "car " * 60),), (1,))
    with refused("tokens"):
        encode_pairs(tokenizer, long, 16, "presence")


def test_settings_as_texts():
    texts = [
        "epochs=3",
        "head=two-class",
        "bf16=true",
        "onnx=none",
        "mode=p2c",
        "seed=7",
    ]
    settings, others = as_settings(texts)
    assert settings == FinetuneSettings(
        epochs=3,
        head="two-class",
        bf16=True,
        seed=7,
    )
    assert others == {"mode": "p2c"}
    assert (
        as_settings({"epochs": 3, "bf16": True})[0]
        == as_settings(["epochs=3", "bf16=true"])[0]
    )

    for wrong in (
        ["epochs"],
        ["epochs=x"],
        ["head=four"],
        ["epochs=0"],
        3,
        [3],
        {"epochs": "no"},
    ):
        with refused():
            as_settings(wrong)


def test_files_of_pairs(tmp_path):
    """Texts are learnt as the judge reads them: on one line."""
    texts = {"premise": "It\nrained.\n", "hypothesis": "It\tsnowed."}
    rows = [{**texts, "label": label} for label in ("e", "neutral", "C")]
    rows += [{**texts, "present": p} for p in (0, 1, 0.25, True)]
    data = read_pairs(write_lines(tmp_path / "nli.jsonl", rows))
    assert data.labels == (1, NEUTRAL, CONTRADICTION, 0, 1, 0.25, 1)
    assert set(data.pairs) == {("It rained.", "It snowed.")}
    digests = {
        TrainingPairs(((text, "A dog."),), (1,)).digest()
        for text in ("A\ncat", "A cat")
    }

    assert len(digests) == 1
    for row in ({"label": "x"}, {"present": 2}, {"present": "maybe"}, {}, {"label": 3}):
        with refused(r"bad\.jsonl:1: "):
            read_pairs(write_lines(tmp_path / "bad.jsonl", [{**texts, **row}]))


def test_a_mixture_takes_each_source_as_often_as_its_weight_says(tmp_path):
    rows = [
        {
            "premise": f"p{i}",
            "hypothesis": "h",
            "present": i % 2,
        }
        for i in range(10)
    ]
    path = write_lines(tmp_path / "a.jsonl", rows)
    assert as_source(f"{path}=2.5").weight == 2.5
    assert as_source("pairs=a.jsonl").name == "pairs=a.jsonl"
    pairs = as_source((path, 2.5)).pairs()
    drawn = pairs.weighted(2.5, np.random.default_rng(1))
    counts = np.unique([premise for premise, _ in drawn.pairs], return_counts=True)[1]
    assert sorted(counts.tolist()) == [2] * 5 + [3] * 5
    assert pairs.weighted(1, np.random.default_rng(1)) == pairs
    for weight in (0, -1, "x", float("nan")):
        with refused("weight"):
            as_source((path, weight))


CHOSEN = {
    "epochs": 4,
    "learning_rate": 2e-3,
    "batch_size": 16,
    "held_out": 0,
    "device": "cpu",
}


@pytest.fixture(scope="module", params=["match", "packed"])
def mini(matching, tmp_path_factory, request):
    """A judge that reads as mini does, or a summary once, of an encoder without a head,
    trained by one verb."""
    pytest.importorskip("onnx", reason="the extra train is not installed")
    from transformers import BertModel

    encoder, folder = (
        tmp_path_factory.mktemp(name) / name for name in ("encoder", "mini")
    )
    shutil.copytree(matching, encoder)
    model = BertModel.from_pretrained(encoder)
    model.config.match_from = 5
    model.save_pretrained(encoder)
    absent = cycle("nc")
    path = files_of(
        folder.with_name("nli.jsonl"),
        synthetic_pairs(400, 1),
        lambda label: {"label": "e" if label else next(absent)},
    )
    settings = {
        **CHOSEN,
        request.param: True,
        "head": "three-class",
    }
    lp.finetune(
        str(encoder),
        output=folder,
        pairs=[path],
        settings=settings,
    )

    return folder


def test_it_is_onnx_alone_and_judges_without_torch(mini):
    names = {path.name for path in mini.iterdir()}
    assert {"model.onnx", "tokenizer.json", "config.json", "litepyramid.json"} <= names
    assert not any(name.endswith((".safetensors", ".bin")) for name in names)
    config = json.loads((mini / "config.json").read_text())
    assert config["type_vocab_size"] == 4
    assert config["reading"] in ("pairs", "once")
    card = json.loads((mini / "litepyramid.json").read_text())
    assert (card["kind"], card["mode"], card["held_out"]) == ("zero-shot", "l3c", [])
    assert card["data"]["pair_files"] == ["nli.jsonl"]
    assert accuracy(mini, synthetic_pairs(100, 2)) > 0.9
    code = (
        "import sys; sys.modules['torch'] = None; import litepyramid as lp;"
        f"print(lp.judge({str(mini)!r}, cache=None).judge([('red', ['red'])]).presence)"
    )

    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_the_weights_are_those_of_the_file(mini):
    """The rebuilt model has the logits of the graph, but for rounding to 8 bits."""
    model = load_onnx_classifier(mini).eval()
    data = synthetic_pairs(20, 4)
    packs = as_packs(data)
    tokenizer = read_onnx_tokenizer(mini)
    with NLIJudge(str(mini), cache=None) as judge:
        items = [(pack.premise, pack.units) for pack in packs]
        judged = np.concatenate(judge.judge(items).logits)

    if model.config.reading == "once":
        batch = padded(
            [
                *encode_packs(
                    tokenizer,
                    packs,
                    64,
                    "three-class",
                    5,
                )
            ]
        )
        real = batch.pop("labels")[..., 0] >= 0
        assert batch["types"].unique().tolist() == [0, 1, 3]
        with torch.inference_mode():
            logits = packed_classifier(model)(**batch)["logits"][real].numpy()
    else:
        pairs = [(pack.premise, unit) for pack in packs for unit in pack.units]
        ordered = TrainingPairs(tuple(pairs), (1.0,) * len(pairs))
        from transformers import AutoTokenizer

        rows = encode_pairs(
            AutoTokenizer.from_pretrained(mini),
            ordered,
            64,
            "three-class",
            5,
        )
        assert {t for row in rows for t in row["token_type_ids"]} == {0, 1, 2, 3}
        logits = []

        for row in rows:
            values = {k: torch.tensor([v]) for k, v in row.items() if k != "labels"}
            with torch.inference_mode():
                logits.append(model(**values).logits[0].numpy())

    np.testing.assert_allclose(judged, logits, atol=0.15)


def test_mini_is_tuned_on_ones_own_labels(mini, tmp_path, monkeypatch):
    """Here an item is present if its word is absent: only new labels can say so."""
    monkeypatch.setattr("litepyramid.training.onnx_models.FOLDER", mini)
    pairs = synthetic_pairs(400, 5)
    path = files_of(
        tmp_path / "mine.jsonl", pairs, lambda label: {"present": 1 - label}
    )
    result = lp.finetune(
        "mini",
        output=tmp_path / "tuned",
        pairs=[path],
        evaluate=[path],
        settings=CHOSEN,
    )
    assert (result.card["kind"], result.card["mode"]) == ("presence", "p3c")
    assert result.card["settings"]["head"] == "three-class"
    assert result.history[-1].accuracy > 0.9
    assert accuracy(tmp_path / "tuned", synthetic_pairs(100, 2)) < 0.1


def test_what_cannot_be_rebuilt_is_one_error(mini, tmp_path):
    for name in (
        "tokenizer.json",
        "tokenizer_config.json",
        "config.json",
        "litepyramid.json",
    ):
        (tmp_path / name).write_bytes((mini / name).read_bytes())

    path = files_of(
        tmp_path / "p.jsonl", synthetic_pairs(2, 0), lambda _: {"present": 1}
    )
    for content in (b"", b"no model", (mini / "model.onnx").read_bytes()[:5000]):
        (tmp_path / "model.onnx").write_bytes(content)
        with refused(error=ModelError):
            lp.finetune(
                str(tmp_path),
                output=tmp_path / "x",
                pairs=[path],
                settings=CHOSEN,
            )
