"""Grounding models: logits equal a plain loop over the texts that the model cards
describe."""

import json
import shutil
from dataclasses import asdict, replace

import numpy as np
import pytest
from cases import refused, same
from tiny_models import TEXT

from litepyramid.judges.nli.checkpoint import cards
from litepyramid.judges.nli.nli_judge import NLIJudge

torch = pytest.importorskip("torch", reason="the extra nli is not installed")

ITEMS = [
    (
        TEXT[1] + " " + TEXT[4],
        ["The village was cut off.", TEXT[3], "It {premise} rained."],
    ),
    (" ".join(TEXT), ["A bridge is closed.", "Nobody was hurt."]),
    ("", ["A bridge is closed."]),
]
NAMES = [name for name, card in cards().items() if card.template]


TEXTS = {  # what the cards of the models say
    "Flan-T5": "predict: {0}</s>{1}",
    "MiniCheck": "{0}</s>{1}",
    "FactCG": "{0}\n\nChoose your answer: based on the paragraph above can we conclude that "
    '"{1}"?\n\nOPTIONS:\n- Yes\n- No\nI think the answer is ',
    "": "premise: {0} hypothesis: {1}",
}


def card(folder, name, source):
    shutil.copytree(source, folder)
    fields = asdict(replace(cards()[name], max_length=None))
    (folder / "litepyramid.json").write_text(json.dumps(fields))
    return str(folder)


def judge_of(folder, **options):
    return NLIJudge(
        str(folder),
        device="cpu",
        cache=None,
        **options,
    )


@pytest.fixture(scope="module")
def tiny_t5(tmp_path_factory, tiny_tokenizer):
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(tiny_tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=1,
        pad_token_id=1,
        eos_token_id=2,
        tie_word_embeddings=False,
        initializer_factor=3.0,
    )
    model = T5ForConditionalGeneration(config)
    with torch.no_grad():
        model.lm_head.weight.normal_(std=0.1)
    folder = tmp_path_factory.mktemp("t5") / "t5"
    model.save_pretrained(folder)
    tiny_tokenizer.save_pretrained(folder)

    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_model_reads_one_text_and_may_write_its_answer(
    name, tmp_path, tiny_two, tiny_t5, tiny_tokenizer
):
    import transformers

    writes = cards()[name].answers is not None
    form = next(TEXTS[part] for part in TEXTS if part in name)
    folder = card(tmp_path / "m", name, tiny_t5 if writes else tiny_two)
    auto = "Seq2SeqLM" if writes else "SequenceClassification"
    kind = getattr(transformers, f"AutoModelFor{auto}")
    model = kind.from_pretrained(folder, dtype=torch.float32).eval()
    more = {"decoder_input_ids": torch.tensor([[1]])} if writes else {}
    said = judge_of(folder, batch_tokens=2_000).judge(ITEMS)
    assert said.presence[2].tolist() == [0]

    expected = []
    for document, claims in ITEMS[:2]:
        for claim in claims:
            whole = tiny_tokenizer(form.format(document, claim), return_tensors="pt")
            with torch.no_grad():
                output = model(**whole, **more).logits[0]
            absent, present = (output[0][[3, 209]] if writes else output).tolist()
            expected.append([present, absent, 0])

    same(np.concatenate(said.logits[:2]), expected, 1e-4)
    present, absent, _ = np.exp(expected).T
    same(np.concatenate(said.presence[:2]), present / (present + absent), 1e-4)
    assert np.ptp(present / absent) > 1e-3
    assert said.counts["truncated"] == 0
    assert said.signature["mode"] == "p2c"
    assert len(said.signature["template"]) == 8


def test_a_long_summary_is_cut_to_what_fits_and_the_claim_is_whole(
    tmp_path, tiny_two, tiny_tokenizer
):
    folder = card(tmp_path / "m", NAMES[0], tiny_two)
    judge = judge_of(folder, max_length=60)
    long = " ".join(TEXT)
    claim = "Nobody was hurt."
    said = judge.judge([(long, [claim])])
    assert said.counts["truncated"] == 1
    fits = []
    for n in range(len(long)):
        length = len(tiny_tokenizer(f"{long[:n]}</s>{claim}").input_ids)
        fits.append(length <= 60)
    best = np.flatnonzero(fits)[-1]
    cut = judge_of(folder).judge([(long[:best], [claim])])
    same(said.logits[0], cut.logits[0], 1e-5)
    with refused("leaves no room"):
        judge.judge([(long, [" ".join(TEXT)])])


@pytest.mark.parametrize("name", [None, NAMES[0]])
def test_a_split_summary_has_the_presence_of_its_best_part(name, tmp_path, tiny_two):
    folder = card(tmp_path / "m", name, tiny_two) if name else tiny_two
    options = {
        "max_length": 80,
        "label_map": None if name else "present=1,absent=0",
    }
    units = ["A bridge is closed.", "Nobody was hurt."]
    items = [(" ".join(TEXT * 2), units), (TEXT[5], units), ITEMS[2]]
    split = judge_of(folder, long="split", **options)
    cut = judge_of(folder, **options)
    said = split.judge(items)
    assert said.counts.items() >= {"truncated": 0, "split": 2, "pairs": 5}.items()
    [spans, *_] = split._parts(items)
    each = cut.judge([(items[0][0][a:b], units) for a, b in spans])
    assert len(spans) > 2
    assert each.counts["truncated"] == 0
    same(said.presence[0], np.max(each.presence, axis=0), 1e-6)
    assert cut.judge(items).counts["truncated"] == 2
    same(said.logits[1], cut.judge(items[1:2]).logits[0], 1e-6)
