"""The NLI judge gives what a plain loop gives: pair by pair, padded to 400, as the
original.

And encoding a pair from its two texts gives what the model's tokenizer gives for the
pair.
"""

import json
import re
import shutil
import subprocess
import sys
from itertools import chain, product

import numpy as np
import pytest
from cases import refused, same
from hypothesis import given
from hypothesis import strategies as st
from running import ROOT
from tiny_models import TEXT

from litepyramid.errors import ModelError
from litepyramid.judges.nli.backends import TorchBackend, as_tokenizer
from litepyramid.judges.nli.encode import encode, plan_batches
from litepyramid.judges.nli.nli_judge import NLIJudge

transformers = pytest.importorskip("transformers", reason="the extra nli is absent")
torch = pytest.importorskip("torch")


def plain_loop(folder, items, max_length=400, truncation=True):
    """Each pair alone, cut and padded to `max_length`; raw logits in the model's own
    order."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    kind = transformers.AutoModelForSequenceClassification
    model = kind.from_pretrained(folder, dtype=torch.float32).eval()
    out = []
    cut = 0

    for summary, units in items:
        rows = np.empty((len(units), 3))
        for row, unit in zip(rows, units, strict=True):
            cut += len(tokenizer(summary, unit)["input_ids"]) > max_length
            pair = tokenizer(
                summary,
                unit,
                return_tensors="pt",
                truncation=truncation,
                max_length=max_length,
                padding="max_length",
            )
            with torch.no_grad():
                row[:] = model(**pair).logits[0]
        out.append(rows)

    return out, cut


@pytest.fixture(scope="module")
def judge_of(tiny):
    def make(folder=tiny, **options):
        return NLIJudge(str(folder), **{"cache": None, "device": "cpu"} | options)

    return make


def test_logits_equal_those_of_a_plain_loop(tiny, judge_of, items):
    said = judge_of().judge(items)
    expected, cut = plain_loop(tiny, items)
    expected[2][:] = np.nan  # an empty summary
    same(np.concatenate(said.logits), np.concatenate(expected), 1e-5)
    assert (said.presence[2] == 0).all()
    assert said.counts == {
        "pairs": 19,
        "judged": 10,  # repeats once
        "from_cache": 0,
        "truncated": cut,
        "empty": 4,
    }
    assert cut > 0
    assert np.ptp(said.logits[0][:, 0]) > 0.1

    alone = judge_of(batch_tokens=1).judge(items)
    same(np.concatenate(alone.logits), np.concatenate(expected), 1e-5)
    label_map = "entailment=1,neutral=2,contradiction=0"
    mapped = judge_of(label_map=label_map).judge(items[:1])
    same(mapped.logits[0], said.logits[0][:, [1, 2, 0]], 1e-5)


def test_the_default_mode_follows_the_model(tiny, tiny_two, tmp_path, judge_of):
    assert judge_of().mode == "l3c"
    tuned = shutil.copytree(tiny, tmp_path / "tuned")
    card = tuned / "litepyramid.json"
    card.write_text('{"kind": "presence", "base": "x"}')
    assert judge_of(tuned).mode == "p2c"
    card.write_text('{"mode": "l2c"}')
    assert judge_of(tuned).mode == "l2c"
    assert judge_of(tuned, mode="p3c").mode == "p3c"

    with refused("needs three classes"):
        judge_of(tiny_two, mode="p3c", label_map="present=1,absent=0")
    card.write_text('{"kind": "other"}')
    with refused('kind is "other"', ModelError):
        judge_of(tuned)


def test_only_the_summary_is_cut(tiny, judge_of, items):
    short = judge_of(max_length=40).judge(items)
    expected, cut = plain_loop(tiny, items, max_length=40, truncation="only_first")
    assert short.counts["truncated"] == cut > 4
    same(short.logits[4], expected[4], 1e-5)
    long_unit = " ".join(["a river"] * 40)
    with refused(r"the unit 'a river .*…' leaves no room.*max_length"):
        judge_of(max_length=40).judge([("A summary.", [long_unit])])


def test_models_that_cannot_judge(tiny, tmp_path, judge_of, items):
    from safetensors.torch import load_file, save_file

    headless = shutil.copytree(tiny, tmp_path / "headless")
    weights = load_file(headless / "model.safetensors")
    encoder = {k: v for k, v in weights.items() if not k.startswith("classifier")}
    save_file(encoder, headless / "model.safetensors", metadata={"format": "pt"})
    pickled = shutil.copytree(tiny, tmp_path / "pickled")
    torch.save(weights, pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()

    for folder, says in (
        ("./nowhere", "no folder or hub model './nowhere'"),
        (tmp_path, "has no config.json"),
        (headless, "lacks 4 weights"),
        (pickled, r"pickled ones \(.bin\).*save_pretrained"),
    ):
        with refused(says, ModelError):
            judge_of(folder).judge(items)

    with refused("no GPU is found .'cuda:7'.*cpu"):
        judge_of(device="cuda:7").judge(items)
    with refused("revision"):
        judge_of(revision="main")


FROM_CACHE = """
import json, sys
from litepyramid.judges.registry import judge
items = json.loads(sys.argv[3])
values = {}
for mode in ("p3c", "l3c", "p2c", "l2c"):
    with judge(sys.argv[1], mode=mode, cache=sys.argv[2]) as one:
        batch = one.judge(items)
    values[mode] = [p.tolist() for p in batch.presence]
print(json.dumps([values, batch.counts, batch.signature, "torch" in sys.modules]))
"""


def test_from_the_cache_in_every_mode_without_torch(tiny, tmp_path, items, judge_of):
    cache = tmp_path / "c.sqlite"
    first = judge_of(cache=cache).judge(items)
    run = [sys.executable, "-c", FROM_CACHE, str(tiny), str(cache), json.dumps(items)]
    done = subprocess.run(run, stdout=subprocess.PIPE, check=True, cwd=ROOT)
    values, counts, signature, torch_loaded = json.loads(done.stdout)
    assert not torch_loaded
    assert values["l3c"] == [p.tolist() for p in first.presence]
    assert counts == first.counts | {"judged": 0, "from_cache": 10}
    assert signature == first.signature | {"mode": "l2c"}
    assert len({json.dumps(rows) for rows in values.values()}) == 4


def test_what_changes_a_logit_is_judged_anew(tiny, tmp_path, items, judge_of):
    def judged(folder=tiny, **options):
        judge = judge_of(folder, cache=tmp_path / "c.sqlite", **options)
        return judge.judge(items).counts["judged"]

    assert judged() > 0
    assert judged() == judged(mode="p2c") == 0
    assert judged(max_length=64) > 0
    assert judged(label_map="entailment=1,neutral=0,contradiction=2") == 0
    copy = shutil.copytree(tiny, tmp_path / "moved")
    assert judged(copy) == 0
    data = bytearray((copy / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (copy / "model.safetensors").write_bytes(data)
    assert judged(copy) > 0


def test_a_run_that_is_ended_goes_on_with_the_same_numbers(
    tmp_path, items, monkeypatch, judge_of
):
    options = {"cache": tmp_path / "c", "batch_tokens": 300}
    whole = judge_of(batch_tokens=300).judge(items)
    run = TorchBackend.logits
    asked = iter(range(2))

    def stopped(self, batch):
        if next(asked, None) is None:
            raise KeyboardInterrupt
        return run(self, batch)

    with monkeypatch.context() as patched:
        patched.setattr(TorchBackend, "logits", stopped)
        with pytest.raises(KeyboardInterrupt) as stop:
            judge_of(**options).judge(items)
    assert "kept in" in stop.value.__notes__[0]
    again = judge_of(**options).judge(items)
    assert again.counts["from_cache"] > 0
    np.testing.assert_equal(whole.logits, again.logits)


def word_pieces():
    """BERT's: lower case, word pieces, token types."""
    words = re.findall(r"\w+", " ".join(TEXT).lower())
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *".,;", "##s", *words]
    distinct = dict.fromkeys(pieces)
    vocabulary = dict(zip(distinct, range(len(distinct)), strict=True))
    return transformers.BertTokenizer(vocab=vocabulary)


@pytest.fixture(params=["roberta", "right", "left"])
def tokenizer(request, tiny_tokenizer):
    if request.param == "roberta":
        return tiny_tokenizer
    made = word_pieces()
    made.padding_side = made.truncation_side = request.param
    return made


def test_batches_are_what_the_tokenizer_gives(tokenizer):
    texts = ("Rain.", *TEXT, " ".join(TEXT))
    pairs = [*product(texts, (TEXT[5][:30], "A é – 字."))]
    encoder = encode(as_tokenizer(tokenizer), 48, pairs)
    assert 0 < encoder.truncated.sum() < len(pairs)
    batch = encoder.batch(range(len(pairs)))
    expected = tokenizer(
        *map(list, zip(*pairs, strict=True)),
        truncation="only_first",
        max_length=48,
        padding=True,
        return_tensors="np",
        return_token_type_ids="token_type_ids" in batch,
    )

    for name, values in batch.items():
        np.testing.assert_array_equal(values, expected[name])


@given(st.lists(st.integers(1, 60), max_size=80), st.integers(1, 200))
def test_every_pair_is_in_one_batch_within_the_budget(lengths, budget):
    batches = plan_batches(lengths, budget)
    order = [*chain.from_iterable(batches)]
    assert sorted(order) == [*range(len(lengths))]
    assert [lengths[i] for i in order] == sorted(lengths, reverse=True)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch[0]] <= budget
