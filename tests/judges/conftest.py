"""Tiny random RoBERTas with a byte-level BPE of their own, made once a session; an
endpoint."""

import shutil
from pathlib import Path

import pytest
from llm_server import KEY, FakeEndpoint
from tiny_models import TEXT, make_checkpoint, train_tokenizer


@pytest.fixture(scope="session")
def tiny_tokenizer():
    pytest.importorskip("torch", reason="the extra nli is not installed")
    return train_tokenizer(list(TEXT), 400)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory, tiny_tokenizer) -> Path:
    """Entailment, neutral, contradiction, in the authors' order."""
    folder = tmp_path_factory.mktemp("tiny") / "roberta"
    return make_checkpoint(
        folder, tiny_tokenizer, labels=["entailment", "neutral", "contradiction"]
    )


@pytest.fixture(scope="session")
def tiny_two(tmp_path_factory, tiny_tokenizer) -> Path:
    """Absent and present, unnamed."""
    folder = tmp_path_factory.mktemp("two") / "roberta"
    return make_checkpoint(folder, tiny_tokenizer, labels=["LABEL_0", "LABEL_1"])


@pytest.fixture(scope="session")
def exported(tiny, tiny_tokenizer, tmp_path_factory) -> Path:
    """The tiny checkpoint as ONNX, with its tokenizer and configuration."""
    pytest.importorskip("onnx", reason="onnx is not installed")
    from transformers import AutoModelForSequenceClassification

    from litepyramid.training.onnx_models import export_onnx

    folder = tmp_path_factory.mktemp("onnx") / "model"
    shutil.copytree(tiny, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    model = AutoModelForSequenceClassification.from_pretrained(tiny).float()
    export_onnx(model, tiny_tokenizer, folder / "model.onnx")
    return folder


@pytest.fixture
def items() -> list[tuple[str, list[str]]]:
    """Summaries with units: repeats, an empty summary, an input without units."""
    text = f"{TEXT[1]} {TEXT[4]}"
    units = ["The village was cut off.", "A bridge is closed.", TEXT[0], TEXT[3]]
    return [
        (text, units),
        (TEXT[2], units[:2] + units[:1]),
        ("", units),
        (TEXT[5], []),
        (" ".join(TEXT * 8), units),
        (text, units),
    ]


@pytest.fixture
def fake(monkeypatch):
    openai = pytest.importorskip("openai", reason="the extra llm is not installed")
    for name in ("INITIAL_RETRY_DELAY", "MAX_RETRY_DELAY"):
        monkeypatch.setattr(openai._base_client, name, 0.01)
    monkeypatch.setenv("LITEPYRAMID_API_KEY", KEY)
    server = FakeEndpoint()
    yield server
    server.close()
