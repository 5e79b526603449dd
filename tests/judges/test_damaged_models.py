"""Whatever is wrong with a model's folder, it is one `ModelError`, soon, and within the memory."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from litepyramid.errors import LitepyramidError, ModelError
from litepyramid.judges.registry import judge as make_judge

pytest.importorskip("torch", reason="the extra nli is not installed")

DEEP = "[" * 200_000


def edit(folder: Path, file: str, changes: Any) -> None:
    """Puts text or bytes in place of a file, or sets what is named in its JSON."""
    path = folder / file
    if isinstance(changes, str | bytes):
        path.write_bytes(changes.encode() if isinstance(changes, str) else changes)
        return
    data = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for place, value in changes.items():
        *above, last = place.split(".")
        inner = data
        for name in above:
            inner = inner[name]
        inner[last] = value
    path.write_text(json.dumps(data), "utf-8")


CASES = [
    ("config.json", {"num_hidden_layers": 10**6}, "at most 256 layers"),
    ("config.json", {"hidden_size": 10**6}, "cannot be loaded"),
    ("config.json", {"vocab_size": 10**9}, "cannot be loaded"),
    ("config.json", {"model_type": "no-such-model"}, "cannot be"),
    ("config.json", {"id2label": ["entailment", "neutral", "contradiction"]}, "id2label is"),
    ("config.json", {"max_position_embeddings": -5}, "max_position_embeddings is -5"),
    ("config.json", {"pad_token_id": "x"}, "pad_token_id is"),
    ("config.json", DEEP, "nested too deeply"),
    ("config.json", b"\xff\xfe{}", "byte 0xff is not UTF-8"),
    ("config.json", "[]", "not a configuration"),
    ("tokenizer.json", DEEP, "tokenizer of"),
    ("tokenizer.json", {"model.vocab": {"<s>": -1}}, "tokenizer of"),
    ("tokenizer.json", {"model.vocab.Ġthe": 10**6}, "the model failed|tokenizer"),
    ("tokenizer_config.json", {"tokenizer_class": ["x"]}, "tokenizer of"),
    ("model.safetensors", b"\xff" * 100, "cannot be loaded"),
    ("litepyramid.json", DEEP, "not valid JSON"),
    ("litepyramid.json", {"order": [[1], 2, "x"]}, "not a judge's card"),
    ("litepyramid.json", {"template": "{premise}"}, "without placeholders"),
    ("litepyramid.json", {"answers": [1, 2]}, "answers without a template"),
]


def judged(folder: Path) -> None:
    with make_judge(str(folder), cache=None, device="cpu") as judge:
        judge.judge([("The river rose in the night.", ["The river rose."])])


@pytest.mark.parametrize(("file", "changes", "says"), CASES, ids=range(len(CASES)))
def test_one_error_says_what_is_wrong(tiny, tmp_path, file, changes, says):
    folder = tmp_path / "model"
    shutil.copytree(tiny, folder)
    edit(folder, file, changes)
    with pytest.raises(ModelError, match=says) as error:
        judged(folder)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 700 + len(str(folder))


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_folder_in_place_of_a_file(tiny, tmp_path, file):
    folder = shutil.copytree(tiny, tmp_path / "model")
    (folder / file).unlink()
    (folder / file).mkdir()
    with pytest.raises(LitepyramidError):
        judged(folder)


def test_weights_that_give_no_numbers(tiny, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(tiny, tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    weights["classifier.out_proj.bias"].fill_(float("inf"))
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(ModelError, match="are not finite numbers"):
        judged(folder)
