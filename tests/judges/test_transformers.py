"""The NLI judge gives what a plain loop gives: pair by pair, padded to 400, as the
original.

And encoding a pair from its two texts gives what the model's tokenizer gives for the
pair.
"""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from cases import refused, same
from hypothesis import given
from hypothesis import strategies as st
from running import ROOT
from tiny_models import TEXT

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.nli.backends import TorchBackend, as_tokenizer
from litepyramid.judges.nli.encode import encode, plan_batches
from litepyramid.judges.nli.nli_judge import NLIJudge

torch = pytest.importorskip("torch", reason="the extra nli is not installed")
transformers = pytest.importorskip(
    "transformers", reason="the extra nli is not installed"
)


def plain_loop(folder, items, max_length=400, truncation=True):
    """Each pair alone, cut and padded to `max_length`; raw logits in the model's own
    order."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    kind = transformers.AutoModelForSequenceClassification
    model = kind.from_pretrained(folder, dtype=torch.float32).eval()
    options = {
        "truncation": truncation,
        "max_length": max_length,
        "padding": "max_length",
    }
    out = []
    cut = 0

    for summary, units in items:
        rows = []
        for unit in units:
            cut += len(tokenizer(summary, unit)["input_ids"]) > max_length
            with torch.no_grad():
                pair = tokenizer(summary, unit, return_tensors="pt", **options)
                rows.append(model(**pair).logits[0].numpy())
        out.append(np.array(rows).reshape(len(units), model.config.num_labels))

    return out, cut


@pytest.fixture(scope="module")
def judge_of(tiny):
    judges = []

    def make(folder=None, **options):
        options = {"cache": None, "device": "cpu"} | options
        judges.append(NLIJudge(str(folder or tiny), **options))
        return judges[-1]

    yield make
    for judge in judges:
        judge.close()


def test_logits_equal_those_of_a_plain_loop(tiny, judge_of, items):
    said = judge_of().judge(items)
    expected, cut = plain_loop(tiny, items)
    for index, (summary, units) in enumerate(items):
        assert said.logits[index].shape == (len(units), 3)
        if summary:
            same(said.logits[index], expected[index], 1e-5)

    assert np.isnan(said.logits[2]).all()
    assert (said.presence[2] == 0).all()
    counts = {
        "pairs": sum(len(units) for _, units in items),
        "truncated": cut,
        "empty": 4,
    }
    assert said.counts == {
        **counts,
        "judged": 10,
        "from_cache": 0,
    }  # repeats are judged once
    assert cut > 0
    assert (
        np.ptp([rows[0, 0] for rows in said.logits if len(rows) and rows[0, 0] > -9])
        > 0.1
    )

    alone = judge_of(batch_tokens=1).judge(items).logits
    same(*map(np.concatenate, (said.logits, alone)), 1e-5)
    mapped = judge_of(label_map="entailment=1,neutral=2,contradiction=0").judge(
        items[:1]
    )
    same(mapped.logits[0], said.logits[0][:, [1, 2, 0]], 1e-5)


def test_the_default_mode_follows_the_model(tiny, tiny_two, tmp_path, judge_of):
    assert judge_of().mode == "l3c"
    tuned = shutil.copytree(tiny, tmp_path / "tuned")
    for card, mode in (
        ('{"kind": "presence", "base": "x"}', "p2c"),
        ('{"mode": "l2c"}', "l2c"),
    ):
        (tuned / "litepyramid.json").write_text(card)
        assert judge_of(tuned).mode == mode

    assert judge_of(tuned, mode="p3c").mode == "p3c"
    with refused("needs three classes"):
        judge_of(tiny_two, mode="p3c", label_map="present=1,absent=0")
    (tuned / "litepyramid.json").write_text('{"kind": "other"}')
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

    folder = shutil.copytree(tiny, tmp_path / "headless")
    weights = load_file(folder / "model.safetensors")
    encoder = {k: v for k, v in weights.items() if not k.startswith("classifier")}
    save_file(encoder, folder / "model.safetensors", metadata={"format": "pt"})
    pickled = shutil.copytree(tiny, tmp_path / "pickled")
    torch.save(weights, pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()

    for settings, says in (
        ({"folder": "./nowhere"}, "no folder or hub model './nowhere'"),
        ({"folder": tmp_path}, "has no config.json"),
        ({"folder": folder}, "lacks 4 weights"),
        ({"folder": pickled}, r"pickled ones \(.bin\).*save_pretrained"),
        ({"device": "cuda:7"}, "unknown device 'cuda:7'.*cpu"),
        ({"revision": "main"}, "revision"),
    ):
        with refused(says, (InputError, ModelError)):
            judge_of(**settings).judge(items)


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
    done = subprocess.run(
        run,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    values, counts, signature, torch_loaded = json.loads(done.stdout)
    assert not torch_loaded
    assert values["l3c"] == [p.tolist() for p in first.presence]
    before = first.counts
    assert counts == {
        **before,
        "judged": 0,
        "from_cache": before["judged"],
    }
    assert signature == first.signature | {"mode": "l2c"}
    assert len({json.dumps(rows) for rows in values.values()}) == 4


def test_what_changes_a_logit_is_judged_anew(tiny, tmp_path, items, judge_of):
    def judged(folder=tiny, **options):
        with judge_of(folder, cache=tmp_path / "c.sqlite", **options) as judge:
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
    whole = judge_of(batch_tokens=300).judge(items)
    run = TorchBackend.logits
    calls = []

    def stopped(self, batch):
        calls.append(batch)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run(self, batch)

    monkeypatch.setattr(TorchBackend, "logits", stopped)
    with pytest.raises(KeyboardInterrupt) as stop:
        judge_of(cache=tmp_path / "c", batch_tokens=300).judge(items)
    assert "kept in" in stop.value.__notes__[0]
    again = judge_of(cache=tmp_path / "c", batch_tokens=300).judge(items)
    assert again.counts["from_cache"] > 0
    np.testing.assert_equal(whole.logits, again.logits)


def word_pieces():
    """BERT's: lower case, word pieces, token types."""
    words = sorted(
        {word.strip(".,;").lower() for text in TEXT for word in text.split()}
    )
    pieces = [
        *["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", ";"],
        *words,
        "##s",
        "a",
    ]
    return transformers.BertTokenizer(
        vocab={piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    )


@pytest.fixture(params=["roberta", "right", "left"])
def tokenizer(request, tiny_tokenizer):
    if request.param == "roberta":
        return tiny_tokenizer
    made = word_pieces()
    made.padding_side = made.truncation_side = request.param
    return made


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

    for name, values in batch.items():
        np.testing.assert_array_equal(values, expected[name])


@given(st.lists(st.integers(1, 60), max_size=80), st.integers(1, 200))
def test_every_pair_is_in_one_batch_within_the_budget(lengths, budget):
    batches = plan_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(
        range(len(lengths))
    )
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget
    flat = [lengths[index] for batch in batches for index in batch]
    assert flat == sorted(lengths, reverse=True)
