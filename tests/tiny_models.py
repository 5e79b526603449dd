"""Tiny random models with tokenizers of their own, for tests that need a real
checkpoint."""

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
THREE = ("entailment", "neutral", "contradiction")


def train_tokenizer(texts: list[str], size: int):
    """A byte-level BPE trained on `texts`, as RoBERTa's tokenizer."""
    import tokenizers
    import transformers

    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(texts, trainer)
    learned = json.loads(bpe.to_str())["model"]
    merges = [tuple(merge) for merge in learned["merges"]]

    return transformers.RobertaTokenizer(vocab=learned["vocab"], merges=merges)


def names_of(labels) -> dict[str, dict]:
    """What a configuration says of labels: their names by number, and back."""
    numbers = {label: number for number, label in enumerate(labels)}
    return {"id2label": dict(enumerate(labels)), "label2id": numbers}


def make_checkpoint(
    folder: Path, tokenizer, *, labels, seed: int = 0, **config
) -> Path:
    """A random RoBERTa classifier in `folder`, with weights large enough that logits
    differ."""
    import torch
    from transformers import RobertaConfig, RobertaForSequenceClassification

    settings = {
        "hidden_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 96,
        "initializer_range": 0.3,
        "max_position_embeddings": 514,
        "bos_token_id": 0,
        "pad_token_id": 1,
        "eos_token_id": 2,
        "vocab_size": len(tokenizer),
        **names_of(labels),
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = RobertaForSequenceClassification(
            RobertaConfig(**{**settings, **config})
        )

    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_matching_bert(
    folder: Path, texts: list[str], *, size: int = 64, vocabulary: int = 4000
):
    """A tiny random BERT that begins by looking for its words on the other side of the
    pair.

    Its first attention layer compares words by what they are and prefers the other
    segment; all else is random. So it can learn in seconds what a random model needs
    many pairs for: which words of a hypothesis its premise holds.
    """
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        BertTokenizerFast,
    )

    folder.mkdir(parents=True)
    pieces = BertWordPieceTokenizer()
    pieces.train_from_iterator(texts, vocab_size=vocabulary, show_progress=False)
    pieces.save_model(str(folder))
    tokenizer = BertTokenizerFast.from_pretrained(str(folder))
    torch.manual_seed(0)
    settings = {
        "vocab_size": len(tokenizer),
        "hidden_size": size,
        "num_hidden_layers": 2,
        "num_attention_heads": 1,
        "intermediate_size": 2 * size,
        "initializer_range": 0.05,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        **names_of(THREE),
    }

    model = BertForSequenceClassification(BertConfig(**settings))
    with torch.no_grad():
        embeddings = model.bert.embeddings
        embeddings.word_embeddings.weight.normal_()
        embeddings.position_embeddings.weight.mul_(0.2)
        embeddings.token_type_embeddings.weight[0, 0] = 3.0
        embeddings.token_type_embeddings.weight[1, 0] = -3.0
        attention = model.bert.encoder.layer[0].attention.self
        for side, sign in ((attention.query, -0.7), (attention.key, 0.7)):
            side.weight.copy_(torch.eye(size))
            side.weight[0, 0] = sign

    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
