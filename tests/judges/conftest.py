"""A tiny random RoBERTa with a byte-level BPE of its own, made once per test session."""

from __future__ import annotations

from pathlib import Path

import pytest
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


@pytest.fixture
def items() -> list[tuple[str, list[str]]]:
    """Summaries with units: repeats, an empty summary, an input without units."""
    units = ["The village was cut off.", "A bridge is closed.", "Nobody was hurt.", TEXT[3]]
    return [
        (TEXT[1] + " " + TEXT[4], units),
        (TEXT[2], units[:2] + units[:1]),
        ("", units),
        (TEXT[5], []),
        (" ".join(TEXT * 8), units),
        (TEXT[1] + " " + TEXT[4], units),
    ]
