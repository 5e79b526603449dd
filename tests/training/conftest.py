"""Tiny models to fine-tune; tests of them are skipped without the extra."""

import pytest
from tiny_models import make_checkpoint, make_matching_bert, train_tokenizer
from training_data import WORDS, synthetic, synthetic_pairs

TEXTS = [text for pair in synthetic_pairs(50, 0) for text in pair[:2]]


@pytest.fixture(scope="session")
def dataset():
    return synthetic(systems=4)


@pytest.fixture(scope="session")
def tokenizer():
    pytest.importorskip("accelerate", reason="the extra train is not installed")
    return train_tokenizer([*TEXTS, *WORDS], 400)


@pytest.fixture(scope="session")
def base(tmp_path_factory, tokenizer):
    """A random three-class model, with dropout, whose classes stand in an unusual
    order."""
    return make_checkpoint(
        tmp_path_factory.mktemp("base") / "model",
        tokenizer,
        labels=["contradiction", "entailment", "neutral"],
        hidden_size=16,
        intermediate_size=32,
        initializer_range=0.05,
    )


@pytest.fixture(scope="session")
def matching(tmp_path_factory):
    """A model that learns in seconds which words stand in both texts."""
    folder = tmp_path_factory.mktemp("matching") / "bert"
    return make_matching_bert(folder, TEXTS, vocabulary=300)
