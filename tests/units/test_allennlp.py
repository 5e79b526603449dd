"""SRL-BERT archives: tags and logits equal to AllenNLP's, whatever the batches; the backend."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import InputError, ModelError
from litepyramid.units.extract import open_backend
from litepyramid.units.parses import ParsedReference, ParsedSentence

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from allennlp_archives import members, write_archive  # noqa: E402

from litepyramid.units.parsers.allennlp import (  # noqa: E402
    AllenNlpBackend,
    decode,
    forward,
    jobs,
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
    [*["Dog", "barks", "quickly", "at"], *["the"] * 3, "dog", "who", "barked", "at", "b", "a", "."],
    ["a"],
]
VERBS = [[3], [1, 3, 1], [], [0, 1, 13], []]


@pytest.mark.parametrize(
    ("labels", "batch_pieces"), [(14, 300), (37, 1000), (25, 1), (25, 300), (129, 1), (129, 1000)]
)
def test_tags_and_logits_are_allennlps(request, labels, batch_pieces):
    ours = labels in (25, 129)
    folder = OWN if ours else request.getfixturevalue("data") / "allennlp_fixtures"
    name = f"srl-bert-{labels}-labels"
    rows = [json.loads(line) for line in (folder / f"{name}.expected.jsonl").open()]
    words, verbs = ([row[key] for row in rows] for key in ("words", "verb_indices"))
    model = load_srl_bert(folder / f"{name}.tar.gz")
    results, cut = tag_predicates(model, words, verbs, batch_pieces=batch_pieces)
    assert cut == 0
    for row, frames in zip(rows, results, strict=True):
        assert [frame.verb for frame in frames] == row["verb_indices"]
        for tags, frame in zip(row["tags"], frames, strict=True):
            assert ["O" if tag.startswith("@@") else tag for tag in tags] == list(frame.tags)
        expected = row.get("wordpiece_logits", ())
        asked = list(jobs(model, [row["words"]], [row["verb_indices"]]))[: len(expected)]
        for logits, job in zip(expected, asked, strict=True):
            assert np.abs(logits - forward(model, [job])[0].detach().numpy()).max() < 1e-4


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
    results, cut = tag_predicates(model, SENTENCES, VERBS)
    assert ([[frame.verb for frame in frames] for frames in results], cut) == (VERBS, 0)
    for words, verbs, frames in zip(SENTENCES, VERBS, results, strict=True):
        assert all(len(frame.tags) == len(words) for frame in frames)
        for verb, frame in zip(verbs, frames, strict=True):
            assert tag_predicates(model, [words], [[verb]]) == ([[frame]], 0)
    with pytest.raises(InputError, match="longer than the model's 24 word pieces"):
        tag_predicates(model, [["a", "bark" + "s" * 30]], [[1]])


def test_case_is_the_names_matter(tmp_path):
    answers = []
    for name in ("tiny-bert-uncased", "tiny-bert-cased"):
        model = load_srl_bert(write_archive(tmp_path / f"{name}.tgz", members(name)))
        one, other = jobs(model, [["Dog"], ["dog"]], [[0], [0]])
        answers.append(one == other)
    assert answers == [True, False]


def test_a_long_sentence_is_cut_to_a_window_around_each_predicate(model):
    words = ["a", "b", "at"] * 15  # 45 pieces; the BERT has 24 positions, so 22 of them fit
    (frames,), cut = tag_predicates(model, [words], [[0, 20, 44]])
    first, middle, last = (frame.tags for frame in frames)
    assert cut == 3
    assert {*first[22:], *last[:23], *middle[:9], *middle[31:]} == {"O"}
    ((alone,),), cut = tag_predicates(model, [words[9:31]], [[11]])
    assert (middle[9:31], cut) == (alone.tags, 0)


def test_verbs_and_auxiliaries_get_frames(archive, model):
    texts = "the dog barked .", "it was the cat ."
    asked = ParsedReference("a", 0, tuple(ParsedSentence(tuple(t.split())) for t in texts))
    batch = AllenNlpBackend(archive).parse([asked])
    sentences = batch.references[0].sentences
    assert [[f.verb for f in s.frames] for s in sentences] == [[2], [1]]
    direct, _ = tag_predicates(model, [s.tokens for s in sentences], [[2], [1]])
    assert [list(s.frames) for s in sentences] == direct
    assert batch.signature["srl"].startswith("allennlp:srl.tar.gz@")
    assert (batch.signature["decoding"], batch.counts) == ("allennlp", {})


def test_options(archive):
    assert open_allennlp("a.tar.gz,device=cuda") == AllenNlpBackend("a.tar.gz", device="cuda")
    for spec in ("allennlp", "allennlp:a.tar.gz,beam=3", "allennlp:a.tar.gz,bert="):
        with pytest.raises(InputError, match="Expected allennlp:ARCHIVE"):
            open_backend(spec)
    with pytest.raises(ModelError, match="cannot be put on the device 'nowhere'"):
        load_srl_bert(archive, device="nowhere")
