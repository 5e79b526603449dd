"""Tiny random models with tokenizers of their own, for tests that need a real checkpoint."""

from __future__ import annotations

import json
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
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaTokenizer

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    model = json.loads(bpe.to_str())["model"]
    return RobertaTokenizer(vocab=model["vocab"], merges=[tuple(m) for m in model["merges"]])


def make_checkpoint(folder: Path, tokenizer, *, labels, seed: int = 0, **config):
    """A random RoBERTa classifier in `folder`, with weights large enough that logits differ."""
    import torch
    from transformers import RobertaConfig, RobertaForSequenceClassification

    settings = {
        "hidden_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 96,
        "initializer_range": 0.3,
        **config,
    }
    torch.manual_seed(seed)
    model = RobertaForSequenceClassification(
        RobertaConfig(
            vocab_size=len(tokenizer),
            max_position_embeddings=514,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: index for index, label in enumerate(labels)},
            pad_token_id=1,
            bos_token_id=0,
            eos_token_id=2,
            **settings,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
