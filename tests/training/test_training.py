"""Fine-tuning on a tiny random model: it learns, resumes to the same weights,
round-trips; mini."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
from cases import refused, same
from running import ROOT
from tiny_models import make_checkpoint
from training_data import files_of, synthetic_pairs

import litepyramid as lp
from litepyramid.data.door import opened
from litepyramid.disk import locked
from litepyramid.errors import InputError, ModelError
from litepyramid.judges.evaluate import brier_score
from litepyramid.judges.labelled import LabelledPair
from litepyramid.judges.nli.checkpoint import THREE, ClassOrder
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.training.pairs import (
    CONTRADICTION,
    NEUTRAL,
    as_sources,
    digest,
    encode_pairs,
    label_shares,
    make_loss,
    read_pairs,
    weighted_pairs,
)
from litepyramid.training.run import train_transformer
from litepyramid.training.settings import FinetuneSettings, as_settings

pytest.importorskip("accelerate", reason="the extra train is not installed")
torch = pytest.importorskip("torch")


def shares(labels, head="presence"):
    return torch.tensor(label_shares(list(labels), head), dtype=torch.float32)


def test_presence_loss_and_its_gradient_are_those_of_the_formula():
    torch.manual_seed(0)
    logits = torch.randn(7, 3, requires_grad=True)
    labels = torch.tensor([0, 1, 1, 0, 1, 0, 0])
    loss = make_loss("presence", ClassOrder(THREE, (2, 0, 1)))
    whole = loss({"logits": logits}, shares(labels))
    # A part of the pairs on each device, as many numbers as shares in all.
    first = loss({"logits": logits[:4]}, shares(labels)[:4], 14)
    second = loss({"logits": logits[4:]}, shares(labels)[4:], 14)
    torch.testing.assert_close(first + second, whole)

    n, c, e = logits.T
    p = torch.exp(e) / (torch.exp(e) + torch.exp(n + c))
    expected = -(labels * torch.log(p) + (1 - labels) * torch.log(1 - p)).mean()
    torch.testing.assert_close(whole, expected)
    gradients = [torch.autograd.grad(one, logits)[0] for one in (whole, expected)]
    torch.testing.assert_close(*gradients)


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


def items_of(pairs):
    return [(pair.premise, [pair.unit]) for pair in pairs]


def labels_of(pairs):
    return np.array([pair.label for pair in pairs])


def accuracy(folder, pairs) -> float:
    judged = NLIJudge(str(folder), cache=None).judge(items_of(pairs))
    present = np.concatenate(judged.presence) >= 0.5
    return float((present == (labels_of(pairs) > 0)).mean())


@pytest.mark.parametrize("head", ["presence", "two-class"])
def test_it_learns_presence_and_the_folder_round_trips(matching, tmp_path, head):
    settings = replace(FAST, head=head)
    if head == "two-class":
        settings = replace(
            settings,
            batches="length",
            bf16=True,
            schedule="constant",
        )
    goal = tmp_path / "tuned"
    out = train_transformer(str(matching), synthetic_pairs(320, 1), goal, settings)
    assert out.updates == 80
    assert accuracy(goal, synthetic_pairs(100, 2)) > 0.9

    names = {path.name for path in goal.iterdir()}
    assert "model.safetensors" in names
    assert not any(name.endswith((".bin", ".pt", ".pth", ".pkl")) for name in names)
    judge = NLIJudge(str(goal), cache=None)
    assert (judge.mode, judge.checkpoint.order.two) == ("p2c", head == "two-class")


ORDERS = [["absent", "present"], ["entailment", "not_entailment"]]


def tuned_by_nothing(base, goal, **settings):
    """The card of a folder that differs from its base by next to nothing."""
    given = replace(FAST, head="two-class", epochs=1, learning_rate=1e-12, **settings)
    train_transformer(str(base), synthetic_pairs(16, 1), goal, given)
    return json.loads((goal / "litepyramid.json").read_text("utf-8"))


def presence_of(folder, **settings):
    items = [(p, [h]) for p, h, *_ in synthetic_pairs(20, 4)]
    with NLIJudge(str(folder), cache=None, device="cpu", **settings) as judge:
        return np.concatenate(judge.judge(items).presence)


@pytest.mark.parametrize("labels", ORDERS)
def test_a_head_of_present_and_absent_is_kept_by_its_labels(
    tokenizer, tmp_path, labels
):
    base = make_checkpoint(tmp_path / "base", tokenizer, labels=labels)
    card = tuned_by_nothing(base, tmp_path / "goal")
    assert card["head"].startswith("kept: present=")
    same(presence_of(tmp_path / "goal"), presence_of(base), 1e-5)
    assert np.ptp(presence_of(base)) > 0.1


def test_a_head_of_unknown_classes_is_kept_by_a_map_or_is_new(tokenizer, tmp_path):
    base = make_checkpoint(tmp_path / "base", tokenizer, labels=["LABEL_0", "LABEL_1"])
    label_map = "present=0,absent=1"
    card = tuned_by_nothing(base, tmp_path / "kept", label_map=label_map)
    assert card["head"] == "kept: present=0,absent=1"
    kept = presence_of(base, label_map=label_map)
    same(presence_of(tmp_path / "kept"), kept, 1e-5)

    card = tuned_by_nothing(base, tmp_path / "new")
    assert card["head"] == "new: present=1,absent=0"
    new = presence_of(tmp_path / "new")
    assert min(np.abs(new - kept).max(), np.abs(new - (1 - kept)).max()) > 0.05
    card = tuned_by_nothing(base, tmp_path / "again")
    same(presence_of(tmp_path / "again"), new, 1e-6)


def test_three_classes_are_no_head_of_two(base, tmp_path):
    card = tuned_by_nothing(base, tmp_path / "goal")
    assert card["head"] == "new: present=1,absent=0"
    assert lp.judge(str(tmp_path / "goal")).checkpoint.order.two


def test_bfloat16_needs_no_gpu(base, tmp_path):
    settings = replace(FAST, bf16=True, device="auto", epochs=1)
    out = train_transformer(str(base), synthetic_pairs(8, 1), tmp_path / "x", settings)
    assert out.updates == 1


def test_early_stopping_keeps_the_best_epoch(base, tmp_path):
    settings = replace(
        FAST,
        epochs=3,
        early_stop=1,
        held_out=0.1,
        learning_rate=1e-12,
    )
    out = train_transformer(
        str(base),
        synthetic_pairs(32, 1),
        tmp_path / "x",
        settings,
        development=synthetic_pairs(20, 3),
        evaluation={"one": synthetic_pairs(8, 4)},
    )
    assert out.updates == 2 * 2
    assert {row.set for row in out.history} == {"one"}


# Two epochs of five updates; the loss is asked for each, and for both sets after an
# epoch.
RUN = replace(
    FAST,
    epochs=2,
    learning_rate=1e-3,
    batch_size=8,
    save_steps=3,
)
ONE = synthetic_pairs(8, 2)
SETS = {"one": ONE, "soft": [ONE[0]._replace(label=0.25), *ONE[1:]]}


def train(base, goal):
    return train_transformer(base, synthetic_pairs(40, 5), goal, RUN, evaluation=SETS)


def ending(number, end):
    """`make_loss` whose loss ends the run when it is asked so many times."""

    def make(*given):
        loss = make_loss(*given)
        asked = iter(range(1, number))

        def counted(*args, **named):
            if next(asked, None) is None:
                end()
            return loss(*args, **named)

        return counted

    return make


KILLED = """
import os, sys
base, goal, *sys.path[:0] = sys.argv[1:]
from test_training import ending, train
from litepyramid.training import trainer

trainer.make_loss = ending(5, lambda: os.kill(os.getpid(), 9))
train(base, goal)
"""


def stop():
    raise KeyboardInterrupt


def test_a_run_that_was_killed_and_stopped_ends_with_the_same_weights_and_figures(
    base, tmp_path, monkeypatch
):
    from safetensors.torch import load_file

    base = str(base)
    goal = tmp_path / "goal"
    whole = train(base, tmp_path / "whole")
    assert whole.resumed_from == 0
    sets = [(row.epoch, row.set) for row in whole.history]
    assert sets == [(1, "one"), (1, "soft"), (2, "one"), (2, "soft")]
    judge = NLIJudge(str(whole.folder), cache=None)
    batch = judge.judge(items_of(ONE))
    brier = brier_score(np.concatenate(batch.presence), labels_of(ONE))
    assert whole.history[2].brier == pytest.approx(brier, abs=1e-5)

    paths = map(str, (ROOT, ROOT / "tests", ROOT / "tests" / "training"))
    code = [sys.executable, "-c", KILLED, base, str(goal), *paths]
    killed = subprocess.run(code, stderr=subprocess.PIPE, text=True)
    assert killed.returncode == -9, killed.stderr
    assert not goal.exists()

    with monkeypatch.context() as patched:
        patched.setattr("litepyramid.training.trainer.make_loss", ending(6, stop))
        with pytest.raises(KeyboardInterrupt) as stopped:
            train(base, goal)
    kept = f"6 of 10 updates kept in {tmp_path / 'goal.training'}"
    assert stopped.value.__notes__ == [kept]

    again = train(base, goal)
    assert again.resumed_from == 6
    assert again.history == whole.history
    first, second = (
        load_file(one.folder / "model.safetensors") for one in (whole, again)
    )
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(value, second[name]), name
    assert {path.name for path in tmp_path.iterdir()} == {"whole", "goal"}


def test_what_is_refused(base, tmp_path, tokenizer):
    def fails(what, goal="new", model=base, data=ONE):
        with refused(what, (InputError, ModelError)):
            train_transformer(str(model), data, tmp_path / goal, FAST)

    (tmp_path / "there").mkdir()
    fails("already exists", "there")
    fails("no labelled pairs", data=[])
    two = make_checkpoint(tmp_path / "two", tokenizer, labels=["present", "absent"])
    fails("needs three", model=two)
    work = tmp_path / "x.training"
    work.mkdir()
    with locked(work):
        fails("in use by another", "x")
    for file in ("run.json", "notes.txt"):  # of another run
        (work / file).write_text("{}")
        fails("another base, data, settings or version", "x")
        (work / file).unlink()  # it was left alone

    long = [LabelledPair("a", "car " * 60, 1)]
    with refused("tokens"):
        encode_pairs(tokenizer, long, 16, "presence")


def test_settings_as_texts():
    texts = "epochs=3 head=two-class bf16=true onnx=none mode=p2c seed=7"
    settings, others = as_settings(texts.split())
    assert settings == FinetuneSettings(
        epochs=3,
        head="two-class",
        bf16=True,
        seed=7,
    )
    assert others == {"mode": "p2c"}
    assert as_settings({"epochs": 3})[0] == as_settings("epochs=3")[0]

    for wrong in ("epochs", "epochs=x", "epochs=0", "head=four", 3, {"epochs": "no"}):
        with refused():
            as_settings([wrong])


def test_files_of_pairs(tmp_path):
    """Texts are learnt as the judge reads them: on one line."""
    path = tmp_path / "nli.jsonl"
    start = r'{"premise": "It\nrained.\n", "hypothesis": "It\tsnowed."'
    right = ["e", "neutral", "C"], [0, 1, 0.25, True]
    rows = []
    for name, values in zip(("label", "present"), right, strict=True):
        for value in values:
            rows.append(f'{start}, "{name}": {json.dumps(value)}}}')
    path.write_text("\n".join(rows))
    pairs = read_pairs(opened(path, "pairs"))
    labels = [0, 0.25, 1, 1, 1, NEUTRAL, CONTRADICTION]
    assert pairs == [("It rained.", "It snowed.", label) for label in labels]
    assert digest([("A\ncat", "A dog.", 1)]) == digest([("A cat", "A dog.", 1.0)])

    for wrong in ('"label": "x"', '"present": 2', '"present": "maybe"', '"label": 3'):
        path.write_text(f"{start}, {wrong}}}")
        with refused(r"nli\.jsonl:1: "):
            read_pairs(opened(path, "pairs"))


def test_a_mixture_takes_each_source_as_often_as_its_weight_says(tmp_path):
    plain = files_of(tmp_path / "a.jsonl", ONE, lambda one: {"present": one})
    equals = files_of(tmp_path / "pairs=a.jsonl", ONE, lambda one: {"present": one})
    sources = as_sources([f"{plain}=2.5", (plain, 3), str(equals)])
    assert [(one.name, one.weight) for one in sources] == [
        ("a.jsonl", 2.5),
        ("a.jsonl", 3),
        ("pairs=a.jsonl", 1),
    ]
    for weight in (0, -1, float("nan"), 1001):
        with refused("weight"):
            as_sources((plain, weight))
    for text in ("0", "x", "nan"):
        with refused():
            as_sources(f"{plain}={text}")

    pairs = [LabelledPair(*texts, 1) for texts in zip("abcd", "efgh", strict=True)]
    assert weighted_pairs(pairs, 1, np.random.default_rng(1)) == pairs
    drawn = weighted_pairs(pairs, 2.5, np.random.default_rng(1))
    assert sorted(map(drawn.count, pairs)) == [2, 2, 3, 3]


@pytest.fixture(scope="module")
def mini(matching, tmp_path_factory):
    """A judge that reads as mini does, of an encoder without a head, trained by one
    verb."""
    from transformers import BertModel

    work = tmp_path_factory.mktemp("mini")
    encoder = shutil.copytree(matching, work / "encoder")
    model = BertModel.from_pretrained(encoder)
    model.config.match_from = 5
    model.save_pretrained(encoder)

    absent = cycle("nc")
    path = files_of(
        work / "nli.jsonl",
        synthetic_pairs(400, 1),
        lambda label: {"label": "e" if label else next(absent)},
    )
    settings = replace(FAST, head="three-class", packed=True)
    folder = work / "mini"
    lp.finetune(
        str(encoder),
        output=folder,
        pairs=[path],
        settings=settings,
    )
    return folder


def test_it_is_onnx_alone_and_judges_without_torch(mini):
    assert not [*mini.glob("*.safetensors"), *mini.glob("*.bin")]
    card = json.loads((mini / "litepyramid.json").read_text())
    assert (card["kind"], card["mode"], card["held_out"]) == ("zero-shot", "l3c", [])
    assert card["data"]["pair_files"] == ["nli.jsonl"]
    assert accuracy(mini, synthetic_pairs(100, 2)) > 0.9

    code = """
import sys
sys.modules["torch"] = None
import litepyramid as lp
lp.judge(sys.argv[1], cache=None).judge([("red", ["red"])])
"""
    subprocess.run([sys.executable, "-c", code, str(mini)], check=True)


def test_a_judge_that_is_tuned_by_next_to_nothing_says_what_it_said(mini, tmp_path):
    """Its weights are read from the graph and written again, rounded to 8 bits."""
    goal = tmp_path / "same"
    settings = replace(
        FAST,
        epochs=1,
        learning_rate=1e-12,
        head="auto",
    )
    train_transformer(str(mini), ONE, goal, settings)

    items = items_of(synthetic_pairs(20, 4))
    first, second = (
        NLIJudge(str(one), cache=None).judge(items).logits for one in (mini, goal)
    )
    same(np.concatenate(first), np.concatenate(second), 0.15)
    assert np.ptp(first) > 1


def test_mini_is_tuned_on_ones_own_labels(mini, tmp_path, monkeypatch):
    """Here an item is present if its word is absent: only new labels can say so."""
    monkeypatch.setattr("litepyramid.training.onnx_models.FOLDER", mini)
    pairs = synthetic_pairs(400, 5)
    path = files_of(tmp_path / "own.jsonl", pairs, lambda one: {"present": 1 - one})
    result = lp.finetune(
        "mini",
        output=tmp_path / "tuned",
        pairs=[path],
        evaluate=[path],
        settings=replace(FAST, head="auto"),
    )
    assert (result.card["kind"], result.card["mode"]) == ("presence", "p3c")
    assert result.card["settings"]["head"] == "three-class"
    assert result.history[-1].accuracy > 0.9
    assert accuracy(tmp_path / "tuned", synthetic_pairs(100, 2)) < 0.1


def test_what_cannot_be_rebuilt_is_one_error(mini, tmp_path):
    folder = shutil.copytree(mini, tmp_path / "mini")
    model = folder / "model.onnx"
    for content in (b"", b"no model", model.read_bytes()[:5000]):
        model.write_bytes(content)
        with refused(error=ModelError):
            train_transformer(str(folder), ONE, tmp_path / "x", FAST)
