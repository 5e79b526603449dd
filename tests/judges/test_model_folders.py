"""Two folders that give other presences never have one name, and nothing outside of a
folder is read."""

import json
import os
import shutil

import numpy as np
import pytest
from cases import cases, refused

from litepyramid.errors import ModelError
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.judges.nli.onnx_file import MESSAGES, check_one_file

torch = pytest.importorskip("torch", reason="the extra nli is not installed")
onnx = pytest.importorskip("onnx", reason="onnx is not installed")
safetensors = pytest.importorskip("safetensors.torch", reason="no safetensors")

ITEMS = [("The river rose in the night.", ["The river rose.", "She won the race."])]


def judged(folder, **settings):
    """The presence and the signature that a folder gives."""
    options = {"cache": None, "device": "cpu", "mode": "p3c"} | settings
    with NLIJudge(str(folder), **options) as judge:
        batch = judge.judge(ITEMS)
    return batch.presence[0], batch.signature


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")


def merge(path, **values):
    write(path, json.loads(path.read_text("utf-8")) | values)


def double(path, name):
    """Doubles one weight of a file."""
    weights = safetensors.load_file(path)
    weights[name] *= 2
    safetensors.save_file(weights, path, metadata={"format": "pt"})


@pytest.fixture
def folder(tiny, tmp_path):
    return shutil.copytree(tiny, tmp_path / "model")


@pytest.fixture
def sharded(folder):
    """The same model, its head in a subfolder."""
    whole = safetensors.load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    places = {}
    for place in ("rest.safetensors", "head/part.safetensors"):
        some = {k: v for k, v in whole.items() if ("classifier" in k) == ("/" in place)}
        (folder / place).parent.mkdir(exist_ok=True)
        safetensors.save_file(some, folder / place, metadata={"format": "pt"})
        places |= dict.fromkeys(some, place)
    index = {"metadata": {}, "weight_map": places}
    write(folder / "model.safetensors.index.json", index)
    return folder


def as_slow_tokenizer(folder):
    """Vocabulary and merges as files of their own."""
    core = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]
    (folder / "tokenizer.json").unlink()
    write(folder / "vocab.json", core["vocab"])
    lines = [" ".join(pair) for pair in core["merges"]]
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(lines) + "\n")


def test_a_shard_in_a_subfolder_is_part_of_the_name(sharded, tiny):
    presence, signature = judged(sharded)
    np.testing.assert_array_equal(presence, judged(tiny)[0])
    double(sharded / "head/part.safetensors", "classifier.out_proj.weight")
    changed, now = judged(sharded)
    assert np.abs(changed - presence).max() > 0.01
    assert now["revision"] != signature["revision"]


def test_vocabularies_are_part_of_the_name(folder):
    as_slow_tokenizer(folder)
    _, signature = judged(folder)
    merges = folder / "merges.txt"
    merges.write_text("\n".join(merges.read_text().split("\n")[:40]) + "\n")
    assert judged(folder)[1]["revision"] != signature["revision"]


def test_a_cache_does_not_give_the_judgements_of_another_folder(sharded, tmp_path):
    cache = tmp_path / "c.sqlite"
    presence, _ = judged(sharded, cache=cache)
    double(sharded / "head/part.safetensors", "classifier.out_proj.weight")
    assert np.abs(judged(sharded, cache=cache)[0] - presence).max() > 0.01


def test_what_no_loader_reads_is_no_part_of_the_name(folder, tmp_path):
    presence, signature = judged(folder)
    (folder / "README.md").write_text("Better than ever.")
    (folder / ".gitattributes").write_text("*.bin")
    (folder / "optimizer.pt").write_bytes(b"\0")
    (folder / ".git").mkdir()
    (folder / ".git" / "config.json").write_text("{}")
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / "model")
    (moved / "back").symlink_to(moved)
    for same_model in (folder, moved):
        again, same_name = judged(same_model)
        np.testing.assert_array_equal(again, presence)
        assert same_name == signature
    assert str(tmp_path) not in "".join(signature.values())


# A file, what it says then, and what the error names.
REFUSED = """
adapter_config.json | {"peft_type": "LORA"} | merge_and_unload
config.json | {"configuration_files": ["config.4.0.0.json"]} | configuration_files
config.json | {"transformers_weights": "../other.safetensors"} | no file of
config.json | {"transformers_weights": "other.bin"} | other.bin
config.json | {"transformers_weights": ["model.safetensors"]} | safetensors
model.safetensors.index.json | {"weight_map": {"a": "../other.safetensors"}} | no file of
model.safetensors.index.json | {"weight_map": {"a": ".hidden.safetensors"}} | no file of
model.safetensors.index.json | {"weight_map": {"a": "OUT/other.safetensors"}} | no file of
model.safetensors.index.json | {"weight_map": {"a": "link/../other.safetensors"}} | no file of
model.safetensors.index.json | {"weight_map": {"a": "pytorch_model.bin"}} | pytorch_model.bin
model.safetensors.index.json | {"weight_map": {"a": 3}} | names the weights 3
model.safetensors.index.json | {"weight_map": ["model.safetensors"]} | names the weights
tokenizer_config.json | {"fast_tokenizer_files": ["../tokenizer.4.0.json"]} | no file of
tokenizer_config.json | {"vocab_file": "OUT/vocab.json"} | no file of
"""


@pytest.mark.parametrize(("file", "changes", "says"), cases(REFUSED))
def test_what_leads_elsewhere_is_refused(folder, tmp_path, file, changes, says):
    shutil.copy(folder / "model.safetensors", tmp_path / "other.safetensors")
    shutil.copy(folder / "model.safetensors", folder / ".hidden.safetensors")
    (tmp_path / "elsewhere").mkdir()
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("tokenizer.4.0.json", "vocab.json"):
        shutil.copy(folder / "tokenizer.json", tmp_path / name)
    path = folder / file
    values = json.loads(path.read_text("utf-8")) if path.exists() else {}
    text = json.dumps(values | json.loads(changes)).replace("OUT", str(tmp_path))
    path.write_text(text, "utf-8")
    with refused(says, ModelError):
        judged(folder)


def test_a_link_of_a_folder_counts_as_what_it_leads_to(folder, tmp_path):
    weights = tmp_path / "blob"
    (folder / "model.safetensors").rename(weights)
    (folder / "model.safetensors").symlink_to(weights)
    _, signature = judged(folder)
    double(weights, "classifier.out_proj.weight")
    assert judged(folder)[1]["revision"] != signature["revision"]


def test_old_paths_that_lead_nowhere_do_no_harm(folder):
    _, signature = judged(folder)
    merge(folder / "tokenizer_config.json", tokenizer_file="/home/of/someone/x.json")
    assert judged(folder)[1]["mode"] == signature["mode"]


@pytest.mark.parametrize("kind", ["tiny", "exported"])
def test_a_folder_that_changes_before_its_model_is_loaded(request, tmp_path, kind):
    folder = shutil.copytree(request.getfixturevalue(kind), tmp_path / "model")
    judge = NLIJudge(str(folder), cache=None, device="cpu")
    merge(folder / "config.json", layer_norm_eps=1e-3)
    with refused("changed since", ModelError):
        judge.judge(ITEMS)


def test_classes_that_the_model_does_not_name_are_part_of_the_signature(
    tiny_two, tmp_path
):
    folder = shutil.copytree(tiny_two, tmp_path / "model")
    signatures = []
    for order in (["present", "absent"], ["absent", "present"]):
        write(folder / "litepyramid.json", {"order": order})
        signatures.append(judged(folder, mode="p2c")[1])
    for label_map in ("present=0,absent=1", "present=1,absent=0"):
        signatures.append(judged(folder, mode="p2c", label_map=label_map)[1])
    assert signatures[0] == signatures[2] != signatures[1] == signatures[3]


# ONNX: the numbers of no tensor lie in another file
# ------------------------------------------------------------------------------------


def external():
    tensor = onnx.TensorProto(name="w", dims=[1], data_type=1)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="other.bin")
    return tensor


def in_attribute(node, field, value):
    attribute = node.attribute.add(name="value")
    if field in ("t", "g", "sparse_tensor"):
        getattr(attribute, field).CopyFrom(value)
    else:
        getattr(attribute, field).append(value)


def graph_of(tensor):
    return onnx.GraphProto(name="inner", initializer=[tensor])


def sparse(model, tensor):
    model.graph.sparse_initializer.add().indices.CopyFrom(tensor)


def function(model, tensor):
    in_attribute(model.functions.add(name="f").node.add(), "t", tensor)


def default_of_a_function(model, tensor):
    attribute = model.functions.add(name="f").attribute_proto.add(name="a")
    attribute.t.CopyFrom(tensor)


def training(model, tensor):
    model.training_info.add().algorithm.initializer.append(tensor)


PLACES = {
    "initializer": lambda model, tensor: model.graph.initializer.append(tensor),
    "sparse": sparse,
    "function": function,
    "default": default_of_a_function,
    "training": training,
}
for name, made in (
    ("t", lambda tensor: tensor),
    ("tensors", lambda tensor: tensor),
    ("g", graph_of),
    ("graphs", graph_of),
    ("sparse_tensor", lambda tensor: onnx.SparseTensorProto(values=tensor)),
    ("sparse_tensors", lambda tensor: onnx.SparseTensorProto(values=tensor)),
):

    def place(model, tensor, name=name, made=made):
        in_attribute(model.graph.node[0], name, made(tensor))

    PLACES[name] = place


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("only", ["location", "data", "both"])
def test_weights_in_another_file_are_refused(exported, tmp_path, place, only):
    model = onnx.load(exported / "model.onnx")
    tensor = external()
    if only == "location":
        tensor.ClearField("external_data")
    if only == "data":
        tensor.ClearField("data_location")
    PLACES[place](model, tensor)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    with refused("not in one file", ModelError):
        check_one_file(path)


def varint(value, length=1):
    """A number as protobuf writes it, in at least so many bytes."""
    data = []
    while value >= 128 or len(data) + 1 < length:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def field(number, content, length=1):
    return varint(number << 3 | 2, length) + varint(len(content), length) + content


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_no_way_of_writing_a_number_hides_a_tensor(exported, tmp_path, length):
    """A second graph is merged with the first one."""
    entry = field(1, b"location", length) + field(2, b"other.bin", length)
    tensor = field(8, b"w", length) + field(13, entry, length)
    evil = field(7, field(5, tensor, length), length)
    content = (exported / "model.onnx").read_bytes() + evil
    read = onnx.load_model_from_string(content).graph.initializer[-1]
    assert read.external_data[0].value == "other.bin"
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with refused("not in one file", ModelError):
        check_one_file(path)


def test_what_is_not_understood_is_refused(exported, tmp_path):
    path = tmp_path / "model.onnx"
    content = (exported / "model.onnx").read_bytes()
    path.write_bytes(content)
    check_one_file(path)
    for more in (
        field(99, b""),
        field(7, field(99, b"")),
        b"\x3b",  # a group
        b"\x3a\xff\xff\xff\x7f",  # longer than the file
        b"\x3a" + b"\xff" * 11,
        b"\x00\x00",
    ):
        path.write_bytes(content + more)
        with refused("understood", ModelError):
            check_one_file(path)


def test_all_messages_of_onnx_are_known():
    """By the package onnx: a field that it adds is looked at before it is let in."""
    for name, message in MESSAGES.items():
        fields = getattr(onnx, name).DESCRIPTOR.fields
        inner = {f.number: f.message_type.name for f in fields if f.message_type}
        assert {f.number for f in fields} == message.plain | {*message.inner}
        assert message.inner == {n: m for n, m in inner.items() if m in MESSAGES}
    known = {m for message in MESSAGES.values() for m in message.inner.values()}
    assert known | {"ModelProto"} == {*MESSAGES}


def test_a_pipe_in_a_folder_does_not_hang(folder):
    os.mkfifo(folder / "vocab.txt")
    with refused("is no file", ModelError):
        judged(folder)


def test_replacements_of_a_normalizer_that_multiply_are_refused(exported, tmp_path):
    folder = shutil.copytree(exported, tmp_path / "model")
    path = folder / "tokenizer.json"
    saved = json.loads(path.read_text("utf-8"))
    longer = {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}
    several = [longer, {**longer, "pattern": {"Regex": "a"}}]
    saved["normalizer"] = {"type": "Sequence", "normalizers": several}
    write(path, saved)
    with refused("110 times", ModelError):
        judged(folder)

    # One of them alone is long, and no bomb.
    write(path, {**saved, "normalizer": longer})
    assert judged(folder)
