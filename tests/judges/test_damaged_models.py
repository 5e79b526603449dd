"""Whatever is wrong with a model's folder, it is one `ModelError`, soon, and within the
memory."""

import json
import shutil

import pytest
from cases import cases, refused

from litepyramid.errors import ModelError
from litepyramid.judges.registry import judge as make_judge

pytest.importorskip("torch", reason="the extra nli is not installed")
onnx = pytest.importorskip("onnx", reason="onnx is not installed")


def elsewhere(graph):
    """Its first weights are said to lie in another file."""
    tensor = graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")


def unknown_operator(graph):
    graph.node[0].op_type = "Evil"


def more_inputs(graph):
    graph.input.append(graph.input[0])
    graph.input[-1].name = "x"


def other_outputs(graph):
    graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64


def edit(path, changes):
    """Puts bytes or (None) a folder in place of a file, or sets what is named in its
    JSON."""
    if isinstance(changes, bytes):
        path.write_bytes(changes)
    elif changes is None:
        path.unlink()
        path.mkdir()
    else:
        data = json.loads(path.read_text("utf-8")) if path.exists() else {}
        for place, value in changes.items():
            *above, last = place.split(".")
            inner = data
            for name in above:
                inner = inner[name]
            inner[last] = value
        path.write_text(json.dumps(data), "utf-8")


# A file, what is changed in it (null: it is a folder), and the error.
CHANGES = """
config.json | {"num_hidden_layers": 1000000} | at most 256 layers
config.json | {"vocab_size": 1000000000} | cannot be loaded
config.json | {"model_type": "no-such-model"} | cannot be
config.json | {"model_type": "HHEMv2", "auto_map": {"AutoConfig": "code.HHEMv2"}} | custom code
config.json | {"id2label": ["entailment", "neutral", "contradiction"]} | id2label is
config.json | {"id2label": {"0": "cat"}} | 0=cat
config.json | {"max_position_embeddings": -5} | max_position_embeddings is -5
config.json | null | config.json
tokenizer.json | {"model.vocab": {"<s>": -1}} | tokenizer of
tokenizer.json | {"model.vocab.Ġthe": 1000000} | the model failed|tokenizer
tokenizer.json | null | no tokenizer
tokenizer_config.json | {"tokenizer_class": ["x"]} | tokenizer of
model.safetensors | null | no weights
litepyramid.json | {"order": [[1], 2, "x"]} | not a judge's card
litepyramid.json | {"template": "{premise}"} | without placeholders
litepyramid.json | {"answers": [1, 2]} | answers without a template
"""
GRAPHS = [
    (elsewhere, "not in one file"),
    (unknown_operator, "cannot be loaded"),
    (more_inputs, "the model failed"),
    (other_outputs, "cannot be loaded"),
]


def judged(folder):
    with make_judge(str(folder), cache=None, device="cpu") as judge:
        judge.judge([("The river rose in the night.", ["The river rose."])])


def one_error(model, tmp_path, file, changes, says):
    folder = shutil.copytree(model, tmp_path / "model")
    edit(folder / file, changes)
    with refused(says, ModelError) as error:
        judged(folder)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 700 + len(str(folder))


@pytest.mark.parametrize(("file", "changes", "says"), cases(CHANGES))
def test_one_error_says_what_is_wrong(tiny, tmp_path, file, changes, says):
    one_error(tiny, tmp_path, file, json.loads(changes), says)


def test_bytes_that_are_no_weights(tiny, tmp_path):
    one_error(tiny, tmp_path, "model.safetensors", b"\xff" * 100, "cannot be loaded")


def test_a_graph_without_bytes(exported, tmp_path):
    one_error(exported, tmp_path, "model.onnx", b"", "the file is empty")


@pytest.mark.parametrize(("change", "says"), GRAPHS)
def test_one_error_says_what_is_wrong_with_a_graph(exported, tmp_path, change, says):
    model = onnx.load(exported / "model.onnx")
    change(model.graph)
    content = model.SerializeToString()
    one_error(exported, tmp_path, "model.onnx", content, says)


def test_weights_that_give_no_numbers(tiny, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(tiny, tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    weights["classifier.out_proj.bias"].fill_(float("inf"))
    save_file(weights, folder / "model.safetensors")
    with refused("are not finite numbers", ModelError):
        judged(folder)
