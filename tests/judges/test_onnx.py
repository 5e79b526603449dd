"""ONNX models: logits equal to torch, the same for any company and threads; one error if broken."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from running import ROOT

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


def test_numbers_do_not_depend_on_company_order_or_threads(exported, items, monkeypatch):
    units = items[0][1]
    texts = [" ".join(text.split()[: 3 + n]) for n in range(12) for text, _ in items[:2]]
    many = [(text, units) for text in texts]
    whole = logits(exported, many, threads=1)
    for settings, some in (
        ({"threads": 2}, many),
        ({"threads": 1}, many[::-1]),
        ({"threads": 3}, many[7:9]),
        ({"threads": 1}, [(many[15][0], units[2:3])]),
    ):
        again = logits(exported, some, **settings)
        at = {(t, u): row for (t, us), rows in zip(some, again.logits, strict=True)
              for u, row in zip(us, rows, strict=True)}  # fmt: skip
        for (text, us), rows in zip(many, whole.logits, strict=True):
            for unit, row in zip(us, rows, strict=True):
                if (text, unit) in at:
                    np.testing.assert_array_equal(at[text, unit], row)


def test_it_runs_without_torch(exported, items, tmp_path):
    code = (
        "import json, sys\n"
        "sys.modules.update(dict.fromkeys(('torch', 'transformers')))\n"
        "from litepyramid.judges.registry import judge\n"
        "batch = judge(sys.argv[1], cache=None, mode='p2c').judge(json.loads(sys.argv[2]))\n"
        "print(json.dumps([row.tolist() for row in batch.presence]))\n"
    )
    run = [sys.executable, "-c", code, str(exported), json.dumps(items)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT)
    mine = logits(exported, items, mode="p2c")
    assert json.loads(done.stdout) == [row.tolist() for row in mine.presence]


def test_a_folder_with_both_runs_onnx_on_the_cpu_and_torch_on_request(tiny, exported, tmp_path):
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    shutil.copy(exported / "model.onnx", tmp_path)
    assert NLIJudge(str(tmp_path), cache=None).checkpoint.onnx is not None
    assert NLIJudge(str(tmp_path), cache=None, backend="torch").checkpoint.onnx is None
    with pytest.raises(InputError, match="ONNX model"):
        NLIJudge(str(exported), cache=None, backend="onnx", device="cuda")
    with pytest.raises(ModelError, match="no folder 'owner/name'"):
        NLIJudge("owner/name", cache=None, backend="onnx")


def node(op, domain="", **attributes):
    return onnx.helper.make_node(op, ["input_ids"], ["logits"], domain=domain, **attributes)


def write(path, nodes, inputs=("input_ids",), external=False, shape=("n", 3)):
    """A hand-made model."""
    helper, types = onnx.helper, onnx.TensorProto
    weights = []
    if external:
        weights = [helper.make_tensor("w", types.FLOAT, [2], b"\0" * 8, raw=True)]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info(name, types.INT64, ["n", "t"]) for name in inputs],
        [helper.make_tensor_value_info("logits", types.FLOAT, shape)], weights,
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


def broken(folder, kind):
    path = folder / "model.onnx"
    if kind == "empty":
        path.write_bytes(b"")
    elif kind == "cut short":
        path.write_bytes(path.read_bytes()[:3000])
    elif kind == "external":
        write(path, [node("Cast", to=1)], external=True)
    elif kind == "custom":
        write(path, [node("Evil", "com.acme")])
    elif kind == "inputs":
        write(path, [node("Cast", to=1)], inputs=("input_ids", "pixel_values"))
    elif kind == "shape":
        write(path, [node("Shape")])
    elif kind == "one number a token":
        write(path, [node("Size")], shape=())
    elif kind == "tokenizer":
        (folder / "tokenizer.json").write_text("{")
    elif kind == "no config":
        (folder / "config.json").unlink()
    elif kind == "labels":
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"id2label": {"0": "cat"}}))
    elif kind == "folder":
        path.unlink()
        path.mkdir()


@pytest.mark.parametrize(
    "kind",
    ["empty", "cut short", "external", "custom", "inputs", "shape", "one number a token",
     "tokenizer", "no config", "labels", "folder"],
)  # fmt: skip
def test_a_damaged_or_foreign_model_is_one_error(exported, tmp_path, kind):
    folder = tmp_path / "m"
    shutil.copytree(exported, folder)
    broken(folder, kind)
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
    (folder / "stack.json").write_text('{"bias": 0.5, "encoder": 0.0, "lexical": 1.0}')
    stacked = judge("mini", cache=None).judge(items)
    words = judge("lexical").judge(items)
    for a, b, c, d in zip(
        alone.presence, plain.presence, stacked.presence, words.presence, strict=True
    ):
        np.testing.assert_array_equal(a, b)
        inside = np.clip(d, 1e-6, 1 - 1e-6)
        odds = np.exp(0.5) * inside / (1 - inside)
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
    with pytest.raises(InputError, match="takes no endpoint"):
        judge("mini", endpoint="http://x")
