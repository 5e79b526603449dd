"""A judge with random weights and a tokenizer of its own: for tests and for timing, no download."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from litepyramid.errors import require
from litepyramid.judges.nli.checkpoint import THREE

_PURPOSE = "a random NLI model"
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def save_random_judge(
    folder: Path,
    tokenizer: Any,
    *,
    labels: Sequence[str] = THREE,
    seed: int = 0,
    **config: Any,
) -> Path:
    """Writes a random RoBERTa classifier and its tokenizer.

    Args:
        folder: Where to; made if it is not there.
        tokenizer: A tokenizer made by `random_tokenizer`.
        labels: The classes, in the order of the outputs.
        seed: Seed of the weights.
        **config: Fields of `RobertaConfig`: ``hidden_size``, ``num_hidden_layers`` …

    Returns:
        `folder`.

    Raises:
        MissingExtraError: torch or transformers is not installed.
    """
    torch = require("torch", extra="nli", purpose=_PURPOSE)
    transformers = require("transformers", extra="nli", purpose=_PURPOSE)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = transformers.RobertaForSequenceClassification(
            transformers.RobertaConfig(
                vocab_size=len(tokenizer),
                max_position_embeddings=514,
                id2label=dict(enumerate(labels)),
                label2id={label: index for index, label in enumerate(labels)},
                bos_token_id=0,
                pad_token_id=1,
                eos_token_id=2,
                **config,
            )
        )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def random_tokenizer(texts: Iterable[str], vocabulary: int) -> Any:
    """RoBERTa's tokenizer, a byte-level BPE, with merges learned from `texts`.

    Args:
        texts: What it learns from.
        vocabulary: The most tokens it may have; the 256 bytes and five special ones are always in.

    Raises:
        MissingExtraError: transformers is not installed.
    """
    tokenizers = require("tokenizers", extra="nli", purpose=_PURPOSE)
    transformers = require("transformers", extra="nli", purpose=_PURPOSE)
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(_SPECIAL),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    learned = json.loads(bpe.to_str())["model"]
    merges = [tuple(merge) for merge in learned["merges"]]
    return transformers.RobertaTokenizer(vocab=learned["vocab"], merges=merges)
