"""Tiny random models with tokenizers of their own, for tests that need a real checkpoint."""

from __future__ import annotations

from pathlib import Path

TEXT = (
    "A judge says how far a fact is carried by a summary.",
    "The river rose in the night and the village was cut off for two days.",
    "Officials said on Monday that the bridge would be closed until the spring.",
    "She won the race, her third of the year, and thanked the crowd in French.",
    "No one was hurt, but 14 houses were lost; the cost is put at 3.2 million.",
    "The midfielder has been told that he can leave the club this summer.",
)


def train_tokenizer(texts: list[str], size: int):
    """A byte-level BPE trained on `texts`, as RoBERTa's tokenizer."""
    from litepyramid.presence.random_model import random_tokenizer

    return random_tokenizer(texts, size)


def make_checkpoint(folder: Path, tokenizer, *, labels, seed: int = 0, **config) -> Path:
    """A random RoBERTa classifier in `folder`, with weights large enough that logits differ."""
    from litepyramid.presence.random_model import save_random_judge

    settings = {
        "hidden_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 96,
        "initializer_range": 0.3,
        **config,
    }
    return save_random_judge(folder, tokenizer, labels=labels, seed=seed, **settings)
