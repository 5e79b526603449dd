"""Grounding models: logits equal a plain loop over the texts that the model cards describe."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from tiny_models import TEXT

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.nli.checkpoint import CARDS

torch = pytest.importorskip("torch", reason="the extra nli is not installed")

from litepyramid.judges.nli.nli_judge import NLIJudge  # noqa: E402

ITEMS = [
    (TEXT[1] + " " + TEXT[4], ["The village was cut off.", TEXT[3], "It {premise} rained."]),
    (" ".join(TEXT), ["A bridge is closed.", "Nobody was hurt."]),
    ("", ["A bridge is closed."]),
]


def text(name: str, document: str, claim: str) -> str:
    """What the cards of the models say, in words."""
    if "Flan-T5" in name:
        return f"predict: {document}</s>{claim}"
    if "MiniCheck" in name:
        return "</s>".join([document, claim])
    if "FactCG" in name:
        return (
            f'{document}\n\nChoose your answer: based on the paragraph above can we conclude that "'
            f'{claim}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is '
        )
    return f"premise: {document} hypothesis: {claim}"


def card(folder, name, source=None):
    own = CARDS[name]
    if source:
        shutil.copytree(source, folder)
    fields = {name: getattr(own, name) for name in ("kind", "order", "template", "answers")}
    (folder / "litepyramid.json").write_text(json.dumps(fields))
    return str(folder)


def judge_of(folder, **options):
    return NLIJudge(str(folder), device="cpu", cache=None, **options)


def tiny_t5(folder, tokenizer):
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
        decoder_start_token_id=1, pad_token_id=1, eos_token_id=2, tie_word_embeddings=False,
        initializer_factor=3.0,
    )  # fmt: skip
    model = T5ForConditionalGeneration(config)
    with torch.no_grad():
        model.lm_head.weight.normal_(std=0.1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model.eval()


CLASSIFIERS = [name for name in CARDS if CARDS[name].template and not CARDS[name].answers]
WRITERS = [name for name in CARDS if CARDS[name].answers]


def check(folder, name, outputs, tokenizer, close=1e-5, **options):
    said = judge_of(folder, **options).judge(ITEMS)
    for (document, claims), logits, presence in zip(ITEMS, said.logits, said.presence, strict=True):
        for claim, row, value in zip(claims, logits, presence, strict=True):
            if not document:
                assert value == 0
                continue
            whole = tokenizer(text(name, document, claim), return_tensors="pt")
            absent, present = outputs(whole)
            np.testing.assert_allclose(row, [present, absent, 0], atol=close)
            share = np.exp(present) / (np.exp(present) + np.exp(absent))
            assert value == pytest.approx(share, abs=close)
    assert np.ptp(np.concatenate(said.presence)) > 1e-3
    assert said.counts["truncated"] == 0
    return said.signature


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_classifier_reads_one_text(name, tmp_path, tiny_two, tiny_tokenizer):
    from transformers import RobertaForSequenceClassification

    folder = card(tmp_path / "m", name, tiny_two)
    model = RobertaForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()

    def outputs(whole):
        with torch.no_grad():
            return model(**whole).logits[0].tolist()

    signature = check(folder, name, outputs, tiny_tokenizer)
    assert signature["mode"] == "p2c"
    assert len(signature["template"]) == 8


@pytest.mark.parametrize("name", WRITERS)
def test_a_model_that_writes_is_asked_for_its_first_token(name, tmp_path, tiny_tokenizer):
    model = tiny_t5(tmp_path, tiny_tokenizer)
    card(tmp_path, name)

    def outputs(whole):
        with torch.no_grad():
            logits = model(
                input_ids=whole["input_ids"],
                attention_mask=whole["attention_mask"],
                decoder_input_ids=torch.tensor([[1]]),
            ).logits[0, 0]
        return logits[3].item(), logits[209].item()

    check(tmp_path, name, outputs, tiny_tokenizer, 1e-4, batch_tokens=2_000)


def test_a_long_summary_is_cut_to_what_fits_and_the_claim_is_whole(
    tmp_path, tiny_two, tiny_tokenizer
):
    folder = card(tmp_path / "m", CLASSIFIERS[0], tiny_two)
    judge = judge_of(folder, max_length=60)
    long, claim = " ".join(TEXT), "Nobody was hurt."
    said = judge.judge([(long, [claim])])
    assert said.counts["truncated"] == 1
    best = max(
        (n for n in range(1, len(long)) if len(tiny_tokenizer(f"{long[:n]}</s>{claim}").input_ids)
         <= 60),
    )  # fmt: skip
    cut = judge_of(folder).judge([(long[:best], [claim])])
    np.testing.assert_allclose(said.logits[0], cut.logits[0], atol=1e-5)
    with pytest.raises(InputError, match="leaves no room"):
        judge.judge([(long, [" ".join(TEXT)])])


def test_a_model_that_needs_code_of_the_hub_is_refused(tmp_path, tiny_two):
    folder = shutil.copytree(tiny_two, tmp_path / "m")
    config = {"model_type": "HHEMv2Config", "auto_map": {"AutoConfig": "code.HHEMv2Config"}}
    (folder / "config.json").write_text(
        json.dumps({**config, "id2label": {"0": "absent", "1": "present"}})
    )
    (folder / "code.py").write_text("raise SystemExit('was run')")
    with pytest.raises(ModelError, match="custom code"):
        judge_of(folder).judge(ITEMS)


@pytest.mark.parametrize("name", [None, CLASSIFIERS[0]])
def test_a_split_summary_has_the_presence_of_its_best_part(name, tmp_path, tiny_two):
    folder = card(tmp_path / "m", name, tiny_two) if name else tiny_two

    def judge(**options):
        map_ = None if name else "present=1,absent=0"
        return judge_of(folder, max_length=80, label_map=map_, **options)

    units = ["A bridge is closed.", "Nobody was hurt."]
    items = [(" ".join(TEXT * 2), units), (TEXT[5], units), ITEMS[2]]
    said = judge(long="split").judge(items)
    assert said.counts["truncated"] == 0
    assert said.counts["split"] == 2
    assert said.counts["pairs"] == 5
    text = items[0][0]
    one = judge(long="split")
    spans = one._parts([(text, units)])[0]
    each = judge().judge([(text[a:b], units) for a, b in spans])
    assert len(spans) > 2
    np.testing.assert_allclose(said.presence[0], np.max(each.presence, axis=0), atol=1e-6)
    assert judge().judge(items).counts["truncated"] == 2
    whole = judge(long="split").judge(items[1:2])
    np.testing.assert_allclose(whole.logits[0], judge().judge(items[1:2]).logits[0], atol=1e-6)
