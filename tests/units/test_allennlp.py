"""SRL-BERT archives: tags and logits equal to AllenNLP's, whatever the batches; the backend."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import InputError, ModelError
from litepyramid.units.extract import open_backend
from litepyramid.units.parses import Frame, ParsedReference, ParsedSentence, write_parses

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from allennlp_archives import SIZES, members, random_weights, write_archive  # noqa: E402

from litepyramid.units.parsers.allennlp import (  # noqa: E402
    AllenNlpBackend,
    decode,
    load_srl_bert,
    open_allennlp,
    tag_predicates,
    transitions,
)

OWN = Path(__file__).resolve().parents[1] / "data" / "allennlp"
SENTENCES = [
    ["the", "quick", "dog", "barked", "at", "a", "cat", "."],
    ["who", "was", "the", "cat"],
    [],
    [*["Dog", "barks", "quickly", "at"], *["the"] * 3, "dog", "who", "barked", "at", "b", "c", "."],
    ["a"],
]
VERBS = [[3], [1, 3, 1], [], [0, 1, 13], []]


def check_against(folder: Path, name: str, batch_pieces: int) -> None:
    rows = [json.loads(line) for line in (folder / f"{name}.expected.jsonl").open()]
    results = tag_predicates(
        load_srl_bert(folder / f"{name}.tar.gz"),
        [row["words"] for row in rows],
        [row["verb_indices"] for row in rows],
        keep_logits=True,
        batch_pieces=batch_pieces,
    )
    for row, frames in zip(rows, results, strict=True):
        assert [frame.verb for frame in frames] == row["verb_indices"]
        for tags, frame in zip(row["tags"], frames, strict=True):
            assert ["O" if tag.startswith("@@") else tag for tag in tags] == list(frame.tags)
        for logits, frame in zip(row.get("wordpiece_logits", ()), frames, strict=False):
            assert np.shape(logits) == frame.logits.shape
            assert np.abs(logits - frame.logits).max() < 1e-4


@pytest.mark.parametrize("batch_pieces", [1, 300, 1000])
@pytest.mark.parametrize("name", ["srl-bert-129-labels", "srl-bert-25-labels"])
def test_tags_and_logits_are_allennlps(name, batch_pieces):
    check_against(OWN, name, batch_pieces)


@pytest.mark.parametrize("name", ["srl-bert-14-labels", "srl-bert-37-labels"])
def test_tags_and_logits_are_allennlps_on_its_own_fixtures(data, name):
    check_against(data / "allennlp_fixtures", name, 1000)


def labels_of(roles: int) -> list[str]:
    return ["O", *(f"{prefix}-R{i}" for i in range(roles) for prefix in "BI")]


def step_by_step(probabilities: torch.Tensor, labels: list[str]) -> list[int]:
    """One sequence, every transition, one topk a step: what AllenNLP does."""
    size = len(labels) + 2
    allowed = torch.zeros(size, size)
    for i, j in itertools.product(range(len(labels)), repeat=2):
        if labels[j][0] == "I" and labels[i] not in (labels[j], "B" + labels[j][1:]):
            allowed[i, j] = -torch.inf
    for j, label in enumerate(labels):
        if label[0] == "I":
            allowed[-2, j] = -torch.inf
    allowed[-2:, -2:] = -torch.inf
    allowed[-1, :] = -torch.inf
    allowed[:, -2] = -torch.inf
    score = torch.zeros(size)
    score[-2] = 100000.0
    pointers = []
    for row in [*probabilities, None]:
        best, index = torch.topk(score.unsqueeze(1) + allowed, k=1, dim=0)
        pointers.append(index[0])
        if row is not None:
            score = torch.cat([row, torch.full((2,), -torch.inf)]) + best[0]
    path = [size - 1]
    for index in reversed(pointers):
        path.append(int(index[path[-1]]))
    return path[-2:0:-1]


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    roles=st.sampled_from([1, 3, 6, 40]),
    scale=st.sampled_from([0.0, 0.001, 0.1, 1.0, 8.0]),  # at 0 all is tied
)
def test_a_batch_is_decoded_as_its_rows_are_one_by_one(seed, roles, scale):
    rng = np.random.default_rng(seed)
    labels = labels_of(roles)
    lengths = [int(n) for n in rng.integers(1, 12, size=4)]
    logits = torch.tensor(rng.normal(0, scale, (4, max(lengths), len(labels))), dtype=torch.float32)
    probabilities = torch.softmax(logits, -1)
    expected = [step_by_step(probabilities[r, :n], labels) for r, n in enumerate(lengths)]
    assert decode(logits, lengths, transitions(labels)) == expected


@pytest.fixture
def archive(tmp_path):
    return write_archive(tmp_path / "srl.tar.gz", members())


@pytest.fixture
def model(archive):
    return load_srl_bert(archive)


def test_the_order_of_the_answer_is_the_order_of_the_question(model):
    results = tag_predicates(model, SENTENCES, VERBS)
    assert [[frame.verb for frame in frames] for frames in results] == VERBS
    for words, verbs, frames in zip(SENTENCES, VERBS, results, strict=True):
        assert all(len(frame.tags) == len(words) and not frame.outside for frame in frames)
        for verb, frame in zip(verbs, frames, strict=True):
            assert tag_predicates(model, [words], [[verb]]) == [[frame]]


@pytest.mark.parametrize(
    ("sentences", "verbs", "says"),
    [
        ([["a"]], [], "0 lists of predicates for 1 sentence"),
        ([["a"], ["a", "b"]], [[0], [2]], "sentence 2 has a predicate at word 2"),
        ([["a"]], [[-1]], "Expected an index from 0 to 0"),
        ([["a", "b " * 30]], [[1]], "word 1 of sentence 1 is longer"),
    ],
)
def test_bad_predicates(model, sentences, verbs, says):
    with pytest.raises(InputError, match=says):
        tag_predicates(model, sentences, verbs)


def test_case_is_the_names_matter(tmp_path):
    answers = []
    for name in ("tiny-uncased", "tiny-cased"):
        model = load_srl_bert(write_archive(tmp_path / f"{name}.tgz", members(name=name)))
        frames = tag_predicates(model, [["Dog"], ["dog"]], [[0], [0]], keep_logits=True)
        answers.append(np.allclose(frames[0][0].logits, frames[1][0].logits, atol=1e-5))
    assert answers == [True, False]


def test_a_long_sentence_is_cut_to_a_window_around_each_predicate(model):
    words = ["a", "b", "c"] * 15  # 45 pieces; the BERT has 24 positions, so 22 of them fit
    first, middle, last = tag_predicates(model, [words], [[0, 20, 44]])[0]
    assert (first.outside, middle.outside, last.outside) == (23, 23, 23)
    assert {*first.tags[22:], *last.tags[:23], *middle.tags[:9], *middle.tags[31:]} == {"O"}
    (alone,) = tag_predicates(model, [words[9:31]], [[11]])[0]
    assert middle.tags[9:31] == alone.tags
    assert tag_predicates(model, [words[:22]], [[5]])[0][0].outside == 0


def test_sizes_come_from_the_weights_where_the_archive_only_names_its_bert(tmp_path, model):
    stated = tag_predicates(model, SENTENCES, VERBS)
    config = {"tiny-bert-uncased/config.json": json.dumps(SIZES).encode()}
    named = members(bert_model="tiny-bert-uncased", extra=config)
    read = load_srl_bert(write_archive(tmp_path / "b.tgz", named))
    assert tag_predicates(read, SENTENCES, VERBS) == stated
    name = "bert_uncased_L-2_H-128_A-2"
    files = members(name=name, bert_model=name, weights=random_weights(hidden_size=128))
    published = load_srl_bert(write_archive(tmp_path / "c.tgz", files))
    assert published.encoder.config.num_attention_heads == 2


def reference(*sentences: str) -> ParsedReference:
    return ParsedReference("a", 0, tuple(ParsedSentence(tuple(s.split())) for s in sentences))


def test_verbs_and_auxiliaries_get_frames(archive, model):
    batch = AllenNlpBackend(archive).parse([reference("the dog barked .", "it was the cat .")])
    sentences = batch.references[0].sentences
    assert [[f.verb for f in s.frames] for s in sentences] == [[2], [1]]
    direct = tag_predicates(model, [s.tokens for s in sentences], [[2], [1]])
    assert [[f.tags for f in s.frames] for s in sentences] == [[f.tags for f in r] for r in direct]
    assert batch.signature["srl"].startswith("allennlp:srl.tar.gz@")
    assert (batch.signature["decoding"], batch.counts) == ("allennlp", {})


def test_predicates_of_a_file(archive, tmp_path):
    frames = (Frame(3, ("O",) * 4), Frame(0, ("O",) * 4))
    named = ParsedReference("a", 0, (ParsedSentence(("a", "b", "c", "."), frames),))
    write_parses(tmp_path / "verbs.jsonl", [named])
    spec = f"allennlp:{archive},verbs={tmp_path / 'verbs.jsonl'}"
    batch = open_backend(spec).parse([reference("the dog barked .")])
    (sentence,) = batch.references[0].sentences
    assert [frame.verb for frame in sentence.frames] == [3, 0]
    assert sentence.tokens == ("a", "b", "c", ".")
    assert re.fullmatch("file:[0-9a-f]{8}", batch.signature["verbs"])


def test_options(archive):
    assert open_allennlp("a.tar.gz,device=cuda") == AllenNlpBackend("a.tar.gz", device="cuda")
    with pytest.raises(InputError, match="unknown option 'beam=3'"):
        open_allennlp("a.tar.gz,beam=3")
    with pytest.raises(InputError, match=r"needs a path\. Expected allennlp:ARCHIVE"):
        open_backend("allennlp")
    with pytest.raises(ModelError, match="cannot be put on the device 'nowhere'"):
        load_srl_bert(archive, device="nowhere")
