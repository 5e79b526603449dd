"""ONNX models: logits equal to torch, the same in any company; and mini, the one that
ships."""

import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from cases import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from running import ROOT

from litepyramid.errors import ModelError
from litepyramid.judges import mini as module
from litepyramid.judges.evaluate import brier_score, load_contrast, roc_auc
from litepyramid.judges.lexical.features import Vocabulary
from litepyramid.judges.nli import nli_judge
from litepyramid.judges.nli.asking import AskingBackend, Question, graph_inputs
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.judges.registry import judge
from litepyramid.progress import bar
from litepyramid.sentences import split_sentences


def logits(folder, items, **settings):
    with NLIJudge(str(folder), cache=None, **settings) as one:
        return one.judge(items)


@pytest.mark.parametrize(
    "settings",
    [
        {"max_length": 48},
        {
            "long": "split",
            "max_length": 64,
            "mode": "p3c",
        },
    ],
)
def test_logits_equal_those_of_torch(tiny, exported, items, settings):
    mine = logits(exported, items, **settings)
    theirs = logits(tiny, items, device="cpu", **settings)
    np.testing.assert_allclose(
        *map(np.concatenate, (mine.logits, theirs.logits)), atol=1e-4
    )
    assert mine.counts == theirs.counts
    assert mine.signature["dtype"] == "onnx"
    assert mine.signature["mode"] == theirs.signature["mode"]


def test_numbers_do_not_depend_on_company_order_or_threads(exported, items):
    whole = logits(exported, items, threads=1).logits
    alone = logits(exported, items[:1], threads=2).logits
    turned = logits(exported, items[::-1], threads=3).logits
    np.testing.assert_equal(alone[0], whole[0])
    np.testing.assert_equal(turned[::-1], whole)


def test_a_folder_with_both_runs_onnx_on_the_cpu_and_torch_on_request(
    tiny, exported, tmp_path
):
    shutil.copytree(tiny, tmp_path, dirs_exist_ok=True)
    shutil.copy(exported / "model.onnx", tmp_path)
    assert NLIJudge(str(tmp_path), cache=None).checkpoint.onnx is not None
    assert NLIJudge(str(tmp_path), cache=None, backend="torch").checkpoint.onnx is None
    with refused("ONNX model"):
        NLIJudge(
            str(exported),
            cache=None,
            backend="onnx",
            device="cuda",
        )
    with refused("no folder 'owner/name'", ModelError):
        NLIJudge("owner/name", cache=None, backend="onnx")


def test_progress_counts_the_users_pairs_where_a_text_is_read_twice(
    exported, tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "FOLDER", shutil.copytree(exported, tmp_path / "mini"))
    told = []

    def watched(total, *names, each, **settings):
        told.append((total, each))
        return bar(total, *names, each=each, **settings)

    monkeypatch.setattr(nli_judge, "bar", watched)
    twice = "The ferry sank. " * (module.SHORT // 3 + 1)
    batch = judge("mini", cache=None).judge(
        [(twice, ["It sank."]), ("It sank.", ["a"])]
    )

    assert batch.counts["pairs"] == 2
    assert told == [(3, 1.5)]


def test_mini_is_a_folder_with_the_words_beside_it(
    exported, items, tmp_path, monkeypatch
):
    folder = shutil.copytree(exported, tmp_path / "mini")
    monkeypatch.setattr(module, "FOLDER", folder)
    # Texts that are read whole, whole and in excerpts, and in excerpts alone.
    text, units = items[0]
    lengths = [len(text.split())]
    for words in (module.SHORT, module.WHOLE):
        times = words // lengths[0] + 1
        items = [*items, (" ".join([text] * times), units)]
        lengths.append(len(items[-1][0].split()))
    assert lengths[0] <= module.SHORT < lengths[1] <= module.WHOLE < lengths[2]

    alone = judge("mini", cache=None, mode="p3c").judge(items)

    for (text, units), rows in zip(items, alone.logits, strict=True):
        sentences = split_sentences(text)
        for unit, row in zip(units, rows, strict=True):
            likely = module.likely_sentences(
                sentences, unit, Vocabulary(), module.EXCERPT
            )
            excerpt = " ".join(sentences[n] for n in likely)

            readings = []
            if len(text.split()) <= module.WHOLE:
                readings.append(text)
            if len(text.split()) > module.SHORT:
                readings.append(excerpt)
            asked = [(reading, [unit]) for reading in readings]
            plain = logits(exported, asked, mode="p3c").logits
            mean = np.mean([rows[0] for rows in plain], axis=0)
            assert np.array_equal(mean, row, equal_nan=True)

    weights = {
        "bias": 0.5,
        "encoder": 0.0,
        "lexical": 1.0,
        "contradiction": 0.25,
    }
    (folder / "stack.json").write_text(json.dumps(weights))
    mini = judge("mini", cache=None)
    presence = mini.judge(items).presence
    words = judge("lexical").judge(items).presence

    for stacked, lexical, rows in zip(presence, words, alone.logits, strict=True):
        inside = np.clip(lexical, 1e-6, 1 - 1e-6)
        against = np.exp(rows[:, 2]) / np.exp(rows[:, :2]).sum(axis=1)
        odds = np.exp(0.5) * inside / (1 - inside) / np.maximum(1, against) ** 0.25
        np.testing.assert_allclose(stacked, np.where(lexical > 0, odds / (1 + odds), 0))

    evidence = mini.explain(items)
    for (text, units), row, values in zip(items, evidence, presence, strict=True):
        assert [e.presence for e in row] == values.tolist()
        for unit, e in zip(units, row, strict=True):
            assert not e.conflict or e.presence < 0.5
            assert {word for word, _ in e.words} | set(e.missing) <= set(
                re.findall(r"\w+", unit)
            )
            assert (e.sentence >= 0) == bool(text[slice(*e.span)])


SUMMARY = "The ferry sank on Tuesday. Nobody died in the accident, the mayor said."
UNITS = [
    "The ferry sank.",
    "Two people died.",
    "The ferry sank on Monday.",
    "A bank was robbed.",
]
LIGHT = """
import sys; sys.modules.update(dict.fromkeys(("torch", "transformers")))
from litepyramid.judges.registry import judge
from litepyramid.sentences import split_sentences
mini = judge("mini", cache=None, threads=2)
assert not {"onnxruntime", "tokenizers", "scipy"} & {*sys.modules}
print(repr(float(mini.judge([(sys.argv[1], [sys.argv[2]])]).presence[0][0])))
"""


@pytest.fixture(scope="module")
def mini():
    return judge("mini", cache=None)


def test_it_is_small_enough_to_ship_and_beats_words_on_contrasts(mini):
    assert sum(path.stat().st_size for path in module.FOLDER.iterdir()) < 25_000_000
    pairs = load_contrast()
    items = pairs.items[::12]
    labels = pairs.labels[::12]
    ours, words = (
        np.concatenate(one.judge(items).presence) for one in (mini, judge("lexical"))
    )
    assert roc_auc(ours, labels) > 0.6
    assert brier_score(ours, labels) < brier_score(words, labels)


def test_a_pair_has_the_same_presence_in_any_company_without_torch(mini):
    whole = mini.judge(
        [
            (SUMMARY, [*UNITS, "?!"]),
            ("", UNITS[:1]),
            ("…", UNITS[:1]),
            (UNITS[0], UNITS),
        ]
    )
    assert [row[-1] for row in whole.presence[:3]] == [
        0.0
    ] * 3  # as `lexical`, where no word is
    assert whole.counts["wordless"] == 3
    run = [sys.executable, "-c", LIGHT, SUMMARY, UNITS[1]]
    done = subprocess.run(
        run,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert float(done.stdout) == whole.presence[0][1]
    assert whole.signature["judge"] == "mini"
    assert {*whole.signature} >= {"revision", "lexical", "mode"}


def test_a_long_text_is_read_where_the_units_words_are(mini, monkeypatch):
    real = NLIJudge.judge
    noise = " ".join(
        f"Guest {n} of the hotel paid for {n} nights." for n in range(2, 200)
    )
    texts = f"{noise} {SUMMARY} {noise}", f"{noise} {SUMMARY}", noise
    batch = mini.judge([(text, UNITS[:1]) for text in texts])
    there, also, without = batch.presence
    assert there > 0.6 > 0.2 > without
    assert abs(there - also) < 0.1
    assert np.array_equal(batch.logits[0], batch.logits[1])
    assert batch.counts["truncated"] == 0
    asked = []
    monkeypatch.setattr(
        NLIJudge, "judge", lambda *given: asked.append(given[1]) or real(*given)
    )
    [row] = mini.explain([(texts[0], UNITS[:1])])
    assert texts[0][slice(*row[0].span)] == "The ferry sank on Tuesday."
    assert sum(map(len, asked)) < 20


def test_it_shows_the_sentence_that_decides(mini):
    [evidence] = mini.explain([(SUMMARY, UNITS)])
    present, *_, absent = evidence
    assert (present.sentence, present.missing, present.conflict) == (0, (), "")
    assert absent.presence < 0.5
    assert (absent.sentence, absent.conflict) == (-1, "")


WORDS = [
    "the",
    "ferry",
    "sank",
    "on",
    "tuesday",
    "nobody",
    "died",
    "mayor",
    "was",
    "12",
]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join),
    st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join),
        min_size=2,
        max_size=9,
        unique=True,
    ),
    st.randoms(),
)
def test_a_judgement_is_the_same_in_any_company(mini, summary, units, draw):
    """Bit by bit: alone, in another order, beside other summaries."""
    [whole] = mini.judge([(summary, units)]).logits
    rows = dict(zip(units, whole.tolist(), strict=True))

    shuffled = draw.sample(units, len(units))
    some = shuffled[: draw.randint(1, len(units))]
    items = [("Another one.", units), (summary, some), (summary, units[:1])]
    _, again, first = mini.judge(items).logits
    assert again.tolist() == [rows[unit] for unit in some]
    assert first.tolist() == [rows[units[0]]]


def test_the_grid_of_logits_hides_nothing(mini):
    """Before they are rounded, logits are the same bits alone and in company too."""
    backend = AskingBackend(module.FOLDER / "model.onnx", "once", 104)
    summary = [101, *range(2000, 2050), 102]
    units = [[101, *range(2000 + 7 * n, 2003 + 9 * n), 102] for n in range(6)]
    past = backend.read(summary)

    def raw(some):
        inputs = graph_inputs(some, [[1] * len(unit) for unit in some], len(summary))
        return backend.session.run(["logits"], {**inputs, **past})[0]

    whole = raw(units)
    for number, unit in enumerate(units):
        assert np.array_equal(raw([unit])[0], whole[number])
    asked = backend.ask(Question(summary, units))
    assert np.array_equal(asked, np.rint(asked * 1000).astype(np.float32) / 1000)


def test_linear_layers_are_exact_in_integers(tmp_path):
    """The quantised product against numpy's whole numbers, at the farthest values."""
    onnx = pytest.importorskip("onnx", reason="the extra train is not installed")
    from litepyramid.judges.nli.backends import onnx_session
    from litepyramid.training.packed_onnx import Graph, quantised

    rng = np.random.default_rng(3)
    weights = rng.normal(size=(1536, 40)).astype(np.float32)
    weights[:, 0] = 9.0  # all at the farthest: sums of 16 bits would overflow beyond
    values = rng.normal(size=(7, 1536)).astype(np.float32)
    values[0] = 5.0
    bias = rng.normal(size=40).astype(np.float32)

    whole, scale = quantised(weights)
    assert np.abs(whole).max() == 63
    np.testing.assert_allclose(whole * scale, weights, atol=scale.max() / 2 + 1e-6)

    graph = Graph(onnx)
    graph.constants()
    name = graph.linear(graph.rows("x"), "layer", weights, bias)
    info = onnx.helper.make_tensor_value_info
    kind = onnx.TensorProto.FLOAT
    model = graph.written([info("x", kind, [7, 1536])], [info(name, kind, [7, 40])])
    path = tmp_path / "layer.onnx"
    path.write_bytes(model.SerializeToString())
    [result] = onnx_session(path).run([name], {"x": values})

    row_scale = np.abs(values).max(axis=1, keepdims=True) * np.float32(1 / 127)
    rows = np.rint(values / row_scale).astype(np.int64)
    product = (rows @ whole.astype(np.int64)).astype(np.float32)
    assert np.array_equal(result, product * row_scale * scale + bias)
