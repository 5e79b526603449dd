"""The NLI judge gives what a plain loop gives: pair by pair, padded to 400, as the original."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tiny_models import make_checkpoint, train_tokenizer

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.nli.labels import THREE
from litepyramid.judges.nli.modes import NAMES, presence

torch = pytest.importorskip("torch", reason="the extra nli is not installed")

from litepyramid.judges.nli.judge import TransformersJudge  # noqa: E402


def plain_loop(folder, items, max_length=400, truncation=True):
    """Each pair alone, cut and padded to `max_length`; raw logits in the model's own order."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    out, cut = [], 0
    for summary, units in items:
        rows = []
        for unit in units:
            cut += len(tokenizer(summary, unit)["input_ids"]) > max_length
            pair = tokenizer(
                summary,
                unit,
                truncation=truncation,
                max_length=max_length,
                padding="max_length",
                return_tensors="pt",
            )
            with torch.no_grad():
                rows.append(model(**pair).logits[0].numpy())
        out.append(np.array(rows).reshape(len(units), model.config.num_labels))
    return out, cut


@pytest.fixture(scope="module")
def judge_of(tiny):
    judges = []

    def make(folder=None, **options):
        options.setdefault("cache", None)
        judges.append(TransformersJudge(str(folder or tiny), device="cpu", **options))
        return judges[-1]

    yield make
    for judge in judges:
        judge.close()


def test_logits_equal_those_of_a_plain_loop(tiny, judge_of, items):
    said = judge_of().judge(items)
    expected, cut = plain_loop(tiny, items)
    for index, (summary, units) in enumerate(items):
        assert said.logits[index].shape == (len(units), 3)
        if summary:
            np.testing.assert_allclose(said.logits[index], expected[index], atol=1e-5)
    assert np.isnan(said.logits[2]).all()
    assert (said.presence[2] == 0).all()
    assert cut == said.counts["truncated"] > 0
    assert said.counts["pairs"] == sum(len(units) for _, units in items)
    assert said.counts["empty"] == 4
    assert said.counts["judged"] == 10  # 4 + 2 + 4: repeats are judged once
    assert (
        np.ptp(np.concatenate(said.logits)[:, 0][~np.isnan(np.concatenate(said.logits)[:, 0])])
        > 0.1
    )


def test_all_realsumm_pairs_equal_a_plain_loop(realsumm, tmp_path, judge_of):
    summaries = (realsumm / "summaries/abs_bart_out.summary").read_text().split("\n")
    units = [line.split("\t") for line in (realsumm / "SCUs.txt").read_text().split("\n")]
    items = list(zip(summaries, units, strict=True))
    assert len(items) == 100
    tokenizer = train_tokenizer(summaries, 1500)
    folder = make_checkpoint(tmp_path / "m", tokenizer, labels=THREE)
    expected, cut = plain_loop(folder, items)
    judge = judge_of(folder)
    said = judge.judge(items)
    assert said.counts["pairs"] == sum(map(len, units)) > 1000
    assert said.counts["truncated"] == cut
    for mine, theirs in zip(said.logits, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)
    e, n, c = np.concatenate(expected).astype(float).T
    powers = np.exp(np.stack([e, n, c]))
    formulas = {
        "p3c": powers[0] / powers.sum(axis=0),
        "l3c": (e > np.maximum(n, c)).astype(float),
        "p2c": np.exp(e) / (np.exp(e) + np.exp(n + c)),
        "l2c": (e >= n + c).astype(float),
    }
    for mode in NAMES:
        mine = np.concatenate([presence(logits, mode) for logits in said.logits])
        np.testing.assert_allclose(mine, formulas[mode], atol=1e-5)
        assert 0 < formulas[mode].mean() < 1


def relabelled(tiny, target, order):
    """The same model with its outputs in another order, and its labels with them."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(tiny, target)
    config = json.loads((target / "config.json").read_text())
    old = [config["id2label"][str(i)] for i in range(3)]
    new = [old[i] for i in order]
    config["id2label"] = {str(i): label.upper() for i, label in enumerate(new)}
    config["label2id"] = {label.upper(): i for i, label in enumerate(new)}
    (target / "config.json").write_text(json.dumps(config))
    weights = load_file(target / "model.safetensors")
    for name in ("classifier.out_proj.weight", "classifier.out_proj.bias"):
        weights[name] = weights[name][list(order)].contiguous()
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    return target


def test_a_permuted_class_order_gives_the_same_scores(tiny, tmp_path, judge_of, items):
    other = relabelled(tiny, tmp_path / "permuted", (2, 0, 1))
    for mode in NAMES:
        mine = judge_of(mode=mode).judge(items)
        theirs = judge_of(other, mode=mode).judge(items)
        for a, b in zip(mine.presence, theirs.presence, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)


def test_two_class_models_have_the_two_class_modes(tmp_path, tiny_tokenizer, judge_of, items):
    folder = make_checkpoint(tmp_path / "two", tiny_tokenizer, labels=["not_present", "present"])
    judge = judge_of(folder)
    assert judge.mode == "p2c"
    said = judge.judge(items[:1])
    [raw], _ = plain_loop(folder, items[:1])
    softmax = np.exp(raw[:, 1]) / np.exp(raw).sum(axis=1)
    np.testing.assert_allclose(said.presence[0], softmax, atol=1e-5)
    with pytest.raises(InputError, match="needs three classes"):
        judge_of(folder, mode="p3c")


def test_the_default_mode_follows_the_model(tiny, tmp_path, judge_of):
    assert judge_of().mode == "l3c"
    tuned = tmp_path / "tuned"
    shutil.copytree(tiny, tuned)
    (tuned / "litepyramid.json").write_text('{"kind": "presence", "base": "x"}')
    assert judge_of(tuned).mode == "p2c"
    (tuned / "litepyramid.json").write_text('{"mode": "l2c"}')
    assert judge_of(tuned).mode == "l2c"
    assert judge_of(tuned, mode="p3c").mode == "p3c"
    (tuned / "litepyramid.json").write_text('{"kind": "other"}')
    with pytest.raises(ModelError, match='kind is "other"'):
        judge_of(tuned)


def test_tabs_and_line_breaks_are_read_as_a_space(judge_of):
    judge = judge_of()
    items = [
        ("The river rose.\n\nIt\train", ["It\nrained"]),
        ("The river rose. It rain", ["It rained"]),
    ]
    judged = judge.judge(items)
    assert judged.counts["judged"] == 1
    assert judged.presence[0] == judged.presence[1]


def test_only_the_summary_is_cut(tiny, judge_of, items):
    short = judge_of(max_length=40).judge(items)
    expected, cut = plain_loop(tiny, items, max_length=40, truncation="only_first")
    assert short.counts["truncated"] == cut > 4
    np.testing.assert_allclose(short.logits[4], expected[4], atol=1e-5)
    long_unit = " ".join(["a river"] * 40)
    with pytest.raises(InputError, match=r"the unit 'a river .*…' has \d+ tokens.*--max-length"):
        judge_of(max_length=40).judge([("A summary.", [long_unit])])


@pytest.mark.parametrize("options", [{"max_length": 513}, {"max_length": 7}, {"dtype": "int4"}])
def test_bad_options_are_named(judge_of, options):
    with pytest.raises(InputError, match=str(next(iter(options.values())))):
        judge_of(**options)


def test_small_batches_and_halved_batches_give_the_same(judge_of, items, monkeypatch):
    whole = judge_of().judge(items)
    small = judge_of(batch_tokens=1).judge(items)
    from litepyramid.judges.nli.forward import Forward

    run, sizes = Forward._run, []

    def scarce(self, batch):
        sizes.append(len(batch["input_ids"]))
        if batch["input_ids"].size > 500:
            raise torch.OutOfMemoryError("out of memory")
        return run(self, batch)

    monkeypatch.setattr(Forward, "_run", scarce)
    halved = judge_of(batch_tokens=10_000).judge(items)
    assert max(sizes) > 4 > min(sizes)
    for other in (small, halved):
        for a, b in zip(whole.logits, other.logits, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)

    def none_left(self, batch):
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(Forward, "_run", none_left)
    with pytest.raises(ModelError, match="does not fit into the memory of cpu"):
        judge_of().judge(items)


def test_two_devices_give_what_one_gives(judge_of, items):
    one = judge_of(batch_tokens=200).judge(items)
    two = judge_of(batch_tokens=200, devices=["cpu", "cpu"])
    said = two.judge(items)
    for a, b in zip(one.logits, said.logits, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
    for worker in two._engine.crew.workers:
        worker.process.kill()
    with pytest.raises(ModelError, match="the process that served cpu ended"):
        two.judge([("A summary.", ["A unit."])])


def test_models_that_cannot_judge(tiny, tmp_path, judge_of, items):
    with pytest.raises(ModelError, match=r"no folder './nowhere'"):
        judge_of("./nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"has no config.json"):
        judge_of(tmp_path / "empty")
    headless = tmp_path / "headless"
    shutil.copytree(tiny, headless)
    from safetensors.torch import load_file, save_file

    weights = load_file(headless / "model.safetensors")
    weights = {k: v for k, v in weights.items() if not k.startswith("classifier")}
    save_file(weights, headless / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lacks 4 weights"):
        judge_of(headless).judge(items)
    with pytest.raises(InputError, match=r"unknown device 'cuda:7'.*cpu"):
        TransformersJudge(str(tiny), device="cuda:7", cache=None).judge(items)
    with pytest.raises(InputError, match="revision"):
        judge_of(revision="main")


def test_int8_is_used_only_where_it_keeps_the_scores(judge_of, items, monkeypatch):
    import litepyramid.judges.nli.engine as module

    exact = np.concatenate(judge_of(mode="p3c").judge(items).presence)
    monkeypatch.setattr(module, "_ALLOWED", 0.05)
    said = judge_of(mode="p3c", dtype="int8").judge(items)
    assert said.signature["dtype"] == "int8"
    values = np.concatenate(said.presence)
    assert 0 < np.abs(values - exact).mean() <= 0.05
    monkeypatch.setattr(module, "_ALLOWED", 1e-9)
    with pytest.raises(ModelError, match="int8 changes presence of 10 pairs"):
        judge_of(dtype="int8").judge(items)


def test_weights_of_older_checkpoints_are_read_without_running_a_pickle(
    tiny, tmp_path, judge_of, items
):
    from safetensors.torch import load_file

    old = tmp_path / "old"
    shutil.copytree(tiny, old)
    weights = load_file(old / "model.safetensors")
    (old / "model.safetensors").unlink()
    torch.save(weights, old / "pytorch_model.bin")
    said = judge_of(old).judge(items)
    for mine, theirs in zip(said.logits, judge_of().judge(items).logits, strict=True):
        np.testing.assert_array_equal(mine, theirs)

    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    torch.save({**weights, "trap": Trap()}, old / "pytorch_model.bin")
    with pytest.raises(ModelError, match="a pickle that holds more than tensors"):
        judge_of(old).judge(items)
    assert not (tmp_path / "sprung").exists()
    (old / "pytorch_model.bin").write_bytes(b"cut short")
    with pytest.raises(ModelError, match=r"pickle|cannot be loaded"):
        judge_of(old).judge(items)


def test_weights_that_are_cut_short_are_an_error(tiny, tmp_path, judge_of, items):
    broken = tmp_path / "broken"
    shutil.copytree(tiny, broken)
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:5000])
    with pytest.raises(ModelError, match="cannot be loaded"):
        judge_of(broken).judge(items)
    (broken / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"the tokenizer of .* cannot be read"):
        judge_of(broken).judge(items)
