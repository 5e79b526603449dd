"""Models of the kinds that people fine-tune, as small as can be, through everything:
scored, fine-tuned, stopped and continued, run as ONNX."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from cases import same
from running import ROOT
from tiny_models import names_of
from training_data import synthetic, synthetic_pairs

import litepyramid as lp
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.training.run import train_transformer
from litepyramid.training.settings import FinetuneSettings

pytest.importorskip("accelerate", reason="the extra train is not installed")
pytest.importorskip("onnx", reason="onnx is not installed")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

THREE = ("entailment", "neutral", "contradiction")
PAIRS = synthetic_pairs(24, 0)
TEXTS = [text for pair in synthetic_pairs(60, 0) for text in pair[:2]]

# Each kind as its hub models are: the names of its special tokens (beginning, padding,
# end, unknown, mask), what splits its words, its tokenizer, and its configuration.
ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
KINDS = {
    "bert": (BERT, "WordPiece", "BertTokenizer", {}),
    "mpnet": (
        ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"],
        "WordPiece",
        "MPNetTokenizer",
        {},
    ),
    "roberta": (ROBERTA, "BPE", "RobertaTokenizer", {"type_vocab_size": 1}),
    "xlm-roberta": (ROBERTA, "Unigram", "XLMRobertaTokenizer", {"type_vocab_size": 1}),
    "deberta-v2": (
        ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"],
        "Unigram",
        "DebertaV2Tokenizer",
        {
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_biased_input": False,
            "type_vocab_size": 0,
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
            "position_buckets": 16,
            "max_relative_positions": -1,
        },
    ),
    "modernbert": (
        BERT,
        "BPE",
        "PreTrainedTokenizerFast",
        {"global_attn_every_n_layers": 2, "local_attention": 16},
    ),
}


def vocabulary(model, special):
    """A vocabulary trained on a few texts."""
    core = tokenizers.Tokenizer(getattr(tokenizers.models, model)())
    core.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    options = {"special_tokens": special, "show_progress": False, "vocab_size": 300}
    if model == "BPE":
        core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        options["initial_alphabet"] = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    elif model == "WordPiece":
        core.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    else:
        options["unk_token"] = next(one for one in special if "unk" in one.lower())
    name = f"{model.replace('BPE', 'Bpe')}Trainer"
    trainer = getattr(tokenizers.trainers, name)(**options)
    core.train_from_iterator(TEXTS, trainer)
    return core


def tokenizer_of(kind):
    special, model, name, _ = KINDS[kind]
    core = vocabulary(model, special)
    if name == "PreTrainedTokenizerFast":
        core.post_processor = tokenizers.processors.BertProcessing(
            ("[SEP]", core.token_to_id("[SEP]")), ("[CLS]", core.token_to_id("[CLS]"))
        )
        return transformers.PreTrainedTokenizerFast(
            tokenizer_object=core,
            model_input_names=["input_ids", "attention_mask"],
            **dict(
                zip(
                    ("pad_token", "unk_token", "cls_token", "sep_token"),
                    BERT,
                    strict=False,
                )
            ),
        )

    learned = json.loads(core.to_str())["model"]
    parts = {"vocab": learned["vocab"]}
    if model == "BPE":
        parts["merges"] = [tuple(pair) for pair in learned["merges"]]
    if model == "Unigram":
        parts["vocab"] = [tuple(piece) for piece in learned["vocab"]]
    return getattr(transformers, name)(**parts)


def checkpoint(folder, kind):
    """A random classifier of that kind, with its tokenizer."""
    tokenizer = tokenizer_of(kind)
    config = transformers.AutoConfig.for_model(
        kind,
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=130,
        pad_token_id=tokenizer.pad_token_id,
        initializer_range=0.3,
        **names_of(THREE),
        **KINDS[kind][3],
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


SETTINGS = FinetuneSettings(
    epochs=2,
    learning_rate=1e-3,
    batch_size=4,
    save_steps=3,
    held_out=0,
    max_length=64,
    onnx=True,
)
STOPPED = """
import sys
sys.path[:0] = ["tests", "tests/training"]
import os, signal
from transformers import Trainer
from litepyramid.training.run import train_transformer
from dataclasses import replace
from test_real_models import PAIRS, SETTINGS
step = Trainer.training_step
def stopping(self, *arguments, **named):
    if self.state.global_step == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return step(self, *arguments, **named)
Trainer.training_step = stopping
train_transformer(sys.argv[1], PAIRS, sys.argv[2], replace(SETTINGS, onnx=False))
"""


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_this_kind_goes_through_everything(tmp_path, kind):
    base = checkpoint(tmp_path / "base", kind)
    data = synthetic(systems=2)
    options = {"cache": None, "max_length": 64}

    first = lp.score(data, judge=lp.judge(str(base), mode="p3c", **options), samples=50)
    assert np.ptp(first.presence) > 0.01

    goal = tmp_path / "goal"
    train_transformer(str(base), PAIRS, goal, SETTINGS)

    # As ONNX it says what it says by torch; in bfloat16 nearly so.
    presence = {}
    for how in ({}, {"backend": "torch"}, {"dtype": "bfloat16"}):
        with NLIJudge(str(goal), device="cpu", **options, **how) as judge:
            result = lp.score(data, judge=judge, samples=50)
        presence[dict(result.signature.fields)["dtype"]] = result.presence
    assert presence.keys() == {"onnx", "float32", "bfloat16"}
    same(presence["onnx"], presence["float32"], 1e-4)
    same(presence["bfloat16"], presence["float32"], 0.1)


def test_a_real_model_that_was_stopped_ends_with_the_weights_of_a_run_in_one_go(
    tmp_path,
):
    base = checkpoint(tmp_path / "base", "mpnet")
    whole, goal = tmp_path / "whole", tmp_path / "goal"
    settings = replace(SETTINGS, onnx=False)
    train_transformer(str(base), PAIRS, whole, settings)
    run = [sys.executable, "-c", STOPPED, str(base), str(goal)]
    stopped = subprocess.run(run, cwd=ROOT, check=False, capture_output=True)
    assert stopped.returncode == -9
    assert train_transformer(str(base), PAIRS, goal, settings).resumed_from == 3
    expected = weights(whole)
    for name, value in weights(goal).items():
        assert torch.equal(value, expected[name]), name
