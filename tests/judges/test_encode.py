"""Encoding a pair from its two texts gives what the model's tokenizer gives for the pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import TEXT

from litepyramid.errors import InputError
from litepyramid.judges.nli.backends import as_tokenizer
from litepyramid.judges.nli.encode import encode, plan_batches

transformers = pytest.importorskip("transformers", reason="the extra nli is not installed")


def word_pieces():
    """BERT's: lower case, word pieces, token types."""
    words = sorted({word.strip(".,;").lower() for text in TEXT for word in text.split()})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", ";", *words, "##s", "a"]
    return transformers.BertTokenizer(
        vocab={piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    )


@pytest.fixture(params=["roberta", "bert", "left"])
def tokenizer(request, tiny_tokenizer):
    if request.param == "bert":
        return word_pieces()
    if request.param == "left":
        made = word_pieces()
        made.padding_side = made.truncation_side = "left"
        return made
    return tiny_tokenizer


def test_batches_are_what_the_tokenizer_gives(tokenizer):
    pairs = [
        (text, unit)
        for text in ("Rain.", *TEXT, " ".join(TEXT))
        for unit in (TEXT[5][:30], "A é – 字.")
    ]
    encoder = encode(as_tokenizer(tokenizer), 48, pairs)
    whole = [len(tokenizer(*pair)["input_ids"]) for pair in pairs]
    assert encoder.truncated.tolist() == [length > 48 for length in whole]
    assert encoder.lengths.tolist() == [min(length, 48) for length in whole]
    assert 0 < encoder.truncated.sum() < len(pairs)
    batch = encoder.batch(range(len(pairs)))
    expected = tokenizer(
        [text for text, _ in pairs],
        [unit for _, unit in pairs],
        truncation="only_first",
        max_length=48,
        padding=True,
        return_tensors="np",
        return_token_type_ids="token_type_ids" in batch,
    )
    np.testing.assert_array_equal(batch["input_ids"], expected["input_ids"])
    np.testing.assert_array_equal(batch["attention_mask"], expected["attention_mask"])
    if "token_type_ids" in batch:
        np.testing.assert_array_equal(batch["token_type_ids"], expected["token_type_ids"])


def test_a_unit_without_room_for_a_summary_is_named(tokenizer):
    with pytest.raises(InputError, match=r"The river rose.*Split the unit"):
        encode(as_tokenizer(tokenizer), 10, [("A.", TEXT[1])])


@given(st.lists(st.integers(1, 60), max_size=80), st.integers(1, 200))
def test_every_pair_is_in_one_batch_within_the_budget(lengths, budget):
    batches = plan_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget
    flat = [lengths[index] for batch in batches for index in batch]
    assert flat == sorted(lengths, reverse=True)
