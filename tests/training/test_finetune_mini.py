"""The judge that ships can be trained again, and what comes of it judges without torch."""

import json
import shutil
import subprocess
import sys
from itertools import cycle

import numpy as np
import pytest
from test_training import accuracy
from training_data import files_of, synthetic_pairs

torch = pytest.importorskip("torch", reason="the extra train is not installed")
pytest.importorskip("onnx", reason="the extra train is not installed")

import litepyramid as lp  # noqa: E402
from litepyramid.errors import ModelError  # noqa: E402
from litepyramid.judges.nli.nli_judge import NLIJudge  # noqa: E402
from litepyramid.training.onnx_models import load_onnx_classifier  # noqa: E402
from litepyramid.training.pairs import encode_pairs  # noqa: E402

CHOSEN = {"epochs": 4, "learning_rate": 2e-3, "batch_size": 16, "held_out": 0, "device": "cpu"}


@pytest.fixture(scope="module")
def mini(matching, tmp_path_factory):
    """A judge with the token types of mini, of an encoder without a head, trained by one verb."""
    from transformers import BertModel

    encoder, folder = (tmp_path_factory.mktemp(name) / name for name in ("encoder", "mini"))
    shutil.copytree(matching, encoder)
    model = BertModel.from_pretrained(encoder)
    model.config.match_from = 5
    model.save_pretrained(encoder)
    absent = cycle("nc")
    path = files_of(folder.with_name("nli.jsonl"), synthetic_pairs(400, 1),
                    lambda label: {"label": "e" if label else next(absent)})  # fmt: skip
    settings = {**CHOSEN, "match": True, "head": "three-class"}
    lp.finetune(str(encoder), output=folder, pairs=[path], settings=settings)
    return folder


def test_it_is_onnx_alone_and_judges_without_torch(mini):
    names = {path.name for path in mini.iterdir()}
    assert {"model.onnx", "tokenizer.json", "config.json", "litepyramid.json"} <= names
    assert not any(name.endswith((".safetensors", ".bin")) for name in names)
    config = json.loads((mini / "config.json").read_text())
    assert (config["type_vocab_size"], config["match_types"]) == (4, True)
    assert accuracy(mini, synthetic_pairs(100, 2)) > 0.9
    code = (
        "import sys; sys.modules['torch'] = None; import litepyramid as lp;"
        f"print(lp.judge({str(mini)!r}, cache=None).judge([('red', ['red'])]).presence)"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_the_weights_are_those_of_the_file(mini):
    """The rebuilt model, given the marked token types, has the logits of the graph."""
    from transformers import AutoTokenizer

    model = load_onnx_classifier(mini).eval()
    data = synthetic_pairs(20, 4)
    rows = encode_pairs(AutoTokenizer.from_pretrained(mini), data, 64, "three-class", 5)
    assert {t for row in rows for t in row["token_type_ids"]} == {0, 1, 2, 3}
    judged = NLIJudge(str(mini), cache=None).judge([(p, [h]) for p, h in data.pairs])
    for row, logits in zip(rows, judged.logits, strict=True):
        values = {k: torch.tensor([v]) for k, v in row.items() if k != "labels"}
        with torch.inference_mode():
            np.testing.assert_allclose(logits, model(**values).logits.numpy(), atol=1e-3)


def test_mini_is_tuned_on_ones_own_labels(mini, tmp_path, monkeypatch):
    """Here an item is present if its word is absent: only new labels can say so."""
    monkeypatch.setattr("litepyramid.training.onnx_models.FOLDER", mini)
    pairs = synthetic_pairs(400, 5)
    path = files_of(tmp_path / "mine.jsonl", pairs, lambda label: {"present": 1 - label})
    result = lp.finetune(
        "mini", output=tmp_path / "tuned", pairs=[path], evaluate=[path], settings=CHOSEN
    )
    assert (result.card["kind"], result.card["mode"]) == ("presence", "p3c")
    assert result.card["settings"]["head"] == "three-class"
    assert result.history[-1].accuracy > 0.9
    assert accuracy(tmp_path / "tuned", synthetic_pairs(100, 2)) < 0.1


def test_what_cannot_be_rebuilt_is_one_error(mini, tmp_path):
    for name in ("tokenizer.json", "tokenizer_config.json", "config.json", "litepyramid.json"):
        (tmp_path / name).write_bytes((mini / name).read_bytes())
    path = files_of(tmp_path / "p.jsonl", synthetic_pairs(2, 0), lambda _: {"present": 1})
    for content in (b"", b"no model", (mini / "model.onnx").read_bytes()[:5000]):
        (tmp_path / "model.onnx").write_bytes(content)
        with pytest.raises(ModelError):
            lp.finetune(str(tmp_path), output=tmp_path / "x", pairs=[path], settings=CHOSEN)
