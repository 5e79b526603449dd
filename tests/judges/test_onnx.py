"""ONNX models: logits equal to torch, the same for any company and threads; one error if broken."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.judges.registry import judge

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


@pytest.fixture(scope="module")
def exported(tiny, tiny_tokenizer, tmp_path_factory):
    """The tiny checkpoint as ONNX, with its tokenizer and configuration."""
    from transformers import AutoModelForSequenceClassification

    from litepyramid.training.onnx_models import export_onnx

    folder = tmp_path_factory.mktemp("onnx") / "model"
    shutil.copytree(tiny, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    model = AutoModelForSequenceClassification.from_pretrained(tiny).float()
    export_onnx(model, tiny_tokenizer, folder / "model.onnx")
    return folder


def logits(folder, items, **settings):
    with NLIJudge(str(folder), cache=None, **settings) as one:
        return one.judge(items)


@pytest.mark.parametrize(
    "settings", [{"max_length": 48}, {"long": "split", "max_length": 64, "mode": "p3c"}]
)
def test_logits_equal_those_of_torch(tiny, exported, items, settings):
    mine = logits(exported, items, **settings)
    theirs = logits(tiny, items, device="cpu", **settings)
    for a, b in zip(mine.logits, theirs.logits, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
    assert mine.counts == theirs.counts
    assert mine.signature["dtype"] == "onnx"
    assert mine.signature["mode"] == theirs.signature["mode"]


def test_numbers_do_not_depend_on_company_order_or_threads(exported, items):
    units = items[0][1]
    many = [(" ".join(text.split()[: 3 + n]), units) for n in range(12) for text, _ in items[:2]]

    def rows(some, **settings):
        batch = logits(exported, some, **settings)
        pairs = zip(some, batch.logits, strict=True)
        return {(t, u): row.tolist() for (t, us), values in pairs
                for u, row in zip(us, values, strict=True)}  # fmt: skip

    whole = rows(many, threads=1)
    for threads, some in (
        (2, many),
        (1, many[::-1]),
        (3, many[7:9]),
        (1, [(many[15][0], units[2:3])]),
    ):
        assert rows(some, threads=threads).items() <= whole.items()


def test_a_folder_with_both_runs_onnx_on_the_cpu_and_torch_on_request(tiny, exported, tmp_path):
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    shutil.copy(exported / "model.onnx", tmp_path)
    assert NLIJudge(str(tmp_path), cache=None).checkpoint.onnx is not None
    assert NLIJudge(str(tmp_path), cache=None, backend="torch").checkpoint.onnx is None
    with pytest.raises(InputError, match="ONNX model"):
        NLIJudge(str(exported), cache=None, backend="onnx", device="cuda")
    with pytest.raises(ModelError, match="no folder 'owner/name'"):
        NLIJudge("owner/name", cache=None, backend="onnx")


def write(path, op, domain="", inputs=("input_ids",), external=False, shape=("n", 3), **attributes):
    """A hand-made model of one node."""
    helper, types = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node(op, ["input_ids"], ["logits"], domain=domain, **attributes)], "g",
        [helper.make_tensor_value_info(name, types.INT64, ["n", "t"]) for name in inputs],
        [helper.make_tensor_value_info("logits", types.FLOAT, shape)],
        [helper.make_tensor("w", types.FLOAT, [2], b"\0" * 8, raw=True)] if external else [],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    if external:
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = types.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", "/etc/passwd"
    path.write_bytes(model.SerializeToString())


def folder_in_place(path):
    path.unlink()
    path.mkdir()


BROKEN = {
    "empty": ("model.onnx", lambda path: path.write_bytes(b"")),
    "cut short": ("model.onnx", lambda path: path.write_bytes(path.read_bytes()[:3000])),
    "folder": ("model.onnx", folder_in_place),
    "external": ("model.onnx", lambda path: write(path, "Cast", external=True, to=1)),
    "custom": ("model.onnx", lambda path: write(path, "Evil", "com.acme")),
    "inputs": ("model.onnx", lambda path: write(path, "Cast", inputs=("input_ids", "x"), to=1)),
    "shape": ("model.onnx", lambda path: write(path, "Shape")),
    "one number": ("model.onnx", lambda path: write(path, "Size", shape=())),
    "tokenizer": ("tokenizer.json", lambda path: path.write_text("{")),
    "settings": ("tokenizer_config.json", lambda path: path.write_text("[1]")),
    "no config": ("config.json", lambda path: path.unlink()),
    "labels": ("config.json", lambda path: path.write_text('{"id2label": {"0": "cat"}}')),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_damaged_or_foreign_model_is_one_error(exported, tmp_path, kind):
    folder = shutil.copytree(exported, tmp_path / "m")
    file, damage = BROKEN[kind]
    damage(folder / file)
    with pytest.raises(ModelError) as error:
        logits(folder, [("The river rose.", ["It rose."])])
    assert "\n" not in str(error.value)


def test_mini_is_the_folder_that_ships_with_the_words_beside_it(
    exported, items, tmp_path, monkeypatch
):
    import litepyramid.judges.mini as module

    folder = tmp_path / "mini"
    shutil.copytree(exported, folder)
    monkeypatch.setattr(module, "FOLDER", folder)
    alone = judge("mini", cache=None, mode="p3c").judge(items)
    plain = logits(exported, items, mode="p3c")
    assert alone.signature["judge"] == "mini"
    weights = {"bias": 0.5, "encoder": 0.0, "lexical": 1.0, "contradiction": 0.25}
    (folder / "stack.json").write_text(json.dumps(weights))
    stacked = judge("mini", cache=None).judge(items)
    words = judge("lexical").judge(items)
    for a, b, c, d, rows in zip(
        alone.presence, plain.presence, stacked.presence, words.presence, alone.logits, strict=True
    ):
        np.testing.assert_array_equal(a, b)
        inside = np.clip(d, 1e-6, 1 - 1e-6)
        against = np.exp(rows[:, 2]) / np.exp(rows[:, :2]).sum(axis=1)
        odds = np.exp(0.5) * inside / (1 - inside) / np.maximum(1, against) ** 0.25
        np.testing.assert_allclose(c[d > 0], (odds / (1 + odds))[d > 0])
    mini = judge("mini", cache=None)
    for (text, units), row, values in zip(
        items, mini.explain(items), stacked.presence, strict=True
    ):
        assert [e.presence for e in row] == values.tolist()
        for unit, e in zip(units, row, strict=True):
            assert not e.conflict or e.presence < 0.5
            assert {word for word, _ in e.words} | set(e.missing) <= set(re.findall(r"\w+", unit))
            assert (e.sentence >= 0) == bool(text[slice(*e.span)])
