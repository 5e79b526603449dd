"""ONNX models: logits equal to torch, the same in any company; and mini, the one that
ships."""

import json
import math
import shutil
import subprocess
import sys
from functools import partial
from itertools import chain

import numpy as np
import pytest
from cases import refused, same
from hypothesis import given, settings
from hypothesis import strategies as st
from running import ROOT

from litepyramid.errors import ModelError
from litepyramid.judges import mini as module
from litepyramid.judges.evaluate import brier_score, roc_auc
from litepyramid.judges.labelled import labelled_summaries, load_contrast
from litepyramid.judges.lexical.features import Vocabulary
from litepyramid.judges.nli.asking import (
    LENGTH,
    AskingBackend,
    Question,
    graph_inputs,
    word_distances,
)
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.judges.registry import judge
from litepyramid.sentences import split_sentences


def logits(folder, items, **settings):
    with NLIJudge(str(folder), cache=None, **settings) as one:
        return one.judge(items)


@pytest.mark.parametrize("long", ["cut", "split"])
def test_logits_equal_those_of_torch(tiny, exported, items, long):
    mine = logits(
        exported,
        items,
        long=long,
        max_length=56,
    )
    theirs = logits(
        tiny,
        items,
        long=long,
        max_length=56,
        device="cpu",
    )
    same(np.concatenate(mine.logits), np.concatenate(theirs.logits), 1e-4)
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
    folder = shutil.copytree(tiny, tmp_path / "both")
    shutil.copy(exported / "model.onnx", folder)
    assert NLIJudge(str(folder), cache=None).checkpoint.onnx is not None
    assert NLIJudge(str(folder), cache=None, backend="torch").checkpoint.onnx is None
    with refused("ONNX model"):
        NLIJudge(
            str(folder),
            cache=None,
            backend="onnx",
            device="cuda",
        )
    with refused("no folder 'owner/name'", ModelError):
        NLIJudge("owner/name", cache=None, backend="onnx")


def readings(text, unit):
    """What mini reads of a text for a unit: it whole, an excerpt of it, or both."""
    length = len(text.split())
    whole = [text] if length <= module.WHOLE else []
    if length <= module.SHORT:
        return whole
    sentences = split_sentences(text)
    likely = module.likely_sentences(sentences, unit, Vocabulary(), module.EXCERPT)
    return [*whole, " ".join(sentences[n] for n in likely)]


JOIN = {
    "bias": 0.5,
    "lexical": 0.7,
    "distance": 3.0,
    "yes": 0.4,
    "no": 0.1,
    "floor": -1.0,
    "rise": 2.0,
    "far": 0.6,
    "doubt": -0.5,
}


def joined(row, lexical, distance, words):
    """The join's formula for one pair, in plain numbers."""
    if lexical == 0:
        return 0.0
    powers = [math.exp(value) for value in row]
    odds = powers[0] / (powers[1] + powers[2])
    entailed = max(-8.0, min(8.0, math.log(odds)))
    said = max(-8.0, min(8.0, math.log(lexical / (1 - lexical))))
    trust = min(1.0, 30 / words) ** 2

    yes = 0.5 + 0.7 * said - 3.0 * distance + 0.4 * trust * max(0.0, entailed)
    yes += 0.1 * min(0.0, entailed)
    ceiling = -1.0 + 2.0 * distance + 0.6 * (1 - trust)
    ceiling += math.log(1 + math.exp(entailed + 0.5))
    # The soft minimum of two logits, of the sharpness 2.
    low = -math.log(math.exp(-2 * yes) + math.exp(-2 * ceiling)) / 2
    return 1 / (1 + math.exp(-low))


def test_mini_is_a_folder_with_the_words_beside_it(items, tmp_path, monkeypatch):
    folder = shutil.copytree(module.FOLDER, tmp_path / "mini")
    (folder / "join.json").write_text(json.dumps(JOIN))
    monkeypatch.setattr(module, "FOLDER", folder)
    # Texts that are read whole, whole and in excerpts, and in excerpts alone.
    text, units = items[0]
    for times in (5, 11):
        items.append((" ".join([text] * times), units))
    assert {len(readings(text, "")) for text, _ in items[-2:]} == {1, 2}

    alone = judge("mini", cache=None, mode="p3c").judge(items)
    assert alone.counts["pairs"] == sum(len(units) for _, units in items)
    for (text, units), rows, distances in zip(
        items, alone.logits, alone.distances, strict=True
    ):
        for unit, row, distance in zip(units, rows, distances, strict=True):
            asked = [(reading, [unit]) for reading in readings(text, unit)]
            plain = logits(folder, asked, mode="p3c")
            mean = np.mean(np.concatenate(plain.logits), axis=0)
            assert np.array_equal(mean, row, equal_nan=True)
            assert min(np.concatenate(plain.distances)) == distance

    mini = judge("mini", cache=None)
    presence = np.concatenate(mini.judge(items).presence)
    lexical = judge("lexical").judge(items).presence
    expected = []
    for (text, _), *columns in zip(
        items, alone.logits, lexical, alone.distances, strict=True
    ):
        for row in zip(*columns, strict=True):
            expected.append(joined(*row, len(text.split())))
    same(presence, expected, 1e-7)

    evidence = chain.from_iterable(mini.explain(items))
    assert [one.presence for one in evidence] == presence.tolist()


def test_the_join_is_part_of_what_a_judge_is(tmp_path, monkeypatch):
    """Another join is another revision, and finds no judgement of this one."""
    known = judge("mini", cache=None).signature()["revision"]
    folder = shutil.copytree(module.FOLDER, tmp_path / "mini")
    monkeypatch.setattr(module, "FOLDER", folder)
    assert judge("mini", cache=None).signature()["revision"] == known
    (folder / "join.json").write_text(json.dumps(JOIN))
    assert judge("mini", cache=None).signature()["revision"] != known


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
    pairs = [*labelled_summaries(load_contrast())][::12]
    items = [(pair.text, pair.units.texts) for pair in pairs]
    labels = np.concatenate([pair.labels for pair in pairs])
    ours = np.concatenate(mini.judge(items).presence)
    words = np.concatenate(judge("lexical").judge(items).presence)
    assert roc_auc(ours, labels) > 0.6
    assert brier_score(ours, labels) < brier_score(words, labels)


def test_a_pair_has_the_same_presence_in_any_company_without_torch(mini):
    items = [(SUMMARY, [*UNITS, "?!"]), ("", UNITS[:1]), ("…", UNITS[:1])]
    whole = mini.judge([*items, (UNITS[0], UNITS)])
    # As `lexical`, where no word is.
    assert [row[-1] for row in whole.presence[:3]] == [0.0] * 3
    assert whole.counts["wordless"] == 3
    assert {*whole.signature} >= {"revision", "lexical", "mode"}

    run = [sys.executable, "-c", LIGHT, SUMMARY, UNITS[1]]
    done = subprocess.run(
        run,
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
    )
    assert float(done.stdout) == whole.presence[0][1]


def test_a_long_text_is_read_where_the_units_words_are(mini):
    noise = "".join(f"Guest {n} paid for {n} nights at the hotel. " for n in range(200))
    texts = f"{noise} {SUMMARY} {noise}", f"{noise} {SUMMARY}", noise
    batch = mini.judge([(text, UNITS[:1]) for text in texts])
    there, also, without = batch.presence
    assert there > 0.6 > 0.2 > without
    assert abs(there - also) < 0.1
    assert np.array_equal(batch.logits[0], batch.logits[1])
    assert batch.counts["truncated"] == 0
    [[present, *_, absent]] = mini.explain([(texts[0], UNITS)])
    assert texts[0][slice(*present.span)] == "The ferry sank on Tuesday."
    assert (present.missing, present.conflict) == ((), "")
    assert (absent.sentence, absent.conflict) == (-1, "")


WORDS = "the ferry sank on tuesday nobody died mayor was 12"
SENTENCES = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=40).map(
    " ".join
)


@settings(max_examples=25, deadline=None)
@given(
    SENTENCES,
    st.lists(SENTENCES, min_size=2, max_size=9, unique=True),
    st.randoms(),
)
def test_a_judgement_is_the_same_in_any_company(mini, summary, units, draw):
    """Bit by bit: alone, in another order, beside other summaries."""
    [whole] = mini.judge([(summary, units)]).logits
    rows = dict(zip(units, whole.tolist(), strict=True))

    some = draw.sample(units, draw.randint(1, len(units)))
    items = [("Another one.", units), (summary, some), (summary, units[:1])]
    _, again, first = mini.judge(items).logits
    assert again.tolist() == [rows[unit] for unit in some]
    assert first.tolist() == [rows[units[0]]]


def test_the_grid_of_logits_hides_nothing(mini):
    """Before they are rounded, logits are the same bits alone and in company too."""
    backend = AskingBackend(module.FOLDER / "model.onnx", 104)
    summary = [101, *range(2000, 2050), 102]
    units = [[101, *range(2000 + 7 * n, 2003 + 9 * n), 102] for n in range(6)]
    past, _ = backend.read(summary)

    def raw(some):
        inputs = graph_inputs(some, [[1] * len(unit) for unit in some], len(summary))
        return backend.session.run(["logits"], {**inputs, **past})[0]

    alone = np.concatenate([raw([unit]) for unit in units])
    assert np.array_equal(raw(units), alone)


def test_distances_of_words_equal_those_of_a_slow_reference(mini):
    """Piece by piece, from the graph's own directions and weights."""
    backend = AskingBackend(module.FOLDER / "model.onnx", 104)
    summary = [101, *range(2000, 2040), 102]
    units = [[101, *range(2030, 2036 + n), 102] for n in range(5)] + [[101, 102]]
    words = backend.words(units)
    [read] = backend.words([summary])
    assert np.array_equal(backend.words([units[2]])[0].states, words[2].states)
    assert np.array_equal(backend.read(summary)[1], read.states)

    expected = []
    for unit in words:
        total = 0.0
        for piece, weight in zip(unit.states, unit.weights, strict=True):
            cosines = []
            for other in read.states:
                product = int(np.dot(piece.astype(int), other.astype(int)))
                cosines.append(product / LENGTH**2)
            total += weight * max(0.0, 1.0 - max(cosines)) ** 2
        expected.append(math.sqrt(total / max(1e-9, sum(unit.weights))))

    distances = word_distances(words, read.states)
    same(distances, expected, 1e-12)
    # A unit of which all words stand there in other company is nearer than one
    # of which some do not; one without words is at no distance.
    assert 0 < distances[0] < 0.9
    assert distances[-1] == 0

    asked = backend.ask(Question(summary, units[:5], words[:5]))
    same(asked[:, 3], distances[:5], 1e-3)


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
    bias = weights[0]

    whole, scale = quantised(weights)
    assert np.abs(whole).max() == 63
    same(whole * scale, weights, scale.max() / 2 + 1e-6)

    graph = Graph(onnx)
    graph.constants()
    name = graph.linear(graph.rows("x"), "layer", weights, bias)
    floats = partial(onnx.helper.make_tensor_value_info, elem_type=1)
    inputs = [floats("x", shape=[7, 1536])]
    model = graph.written(inputs, [floats(name, shape=[7, 40])])
    onnx.save(model, tmp_path / "layer.onnx")
    [result] = onnx_session(tmp_path / "layer.onnx").run([name], {"x": values})

    row_scale = np.abs(values).max(axis=1, keepdims=True) * np.float32(1 / 127)
    rows = np.rint(values / row_scale).astype(np.int64)
    product = (rows @ whole.astype(np.int64)).astype(np.float32)
    assert np.array_equal(result, product * row_scale * scale + bias)
