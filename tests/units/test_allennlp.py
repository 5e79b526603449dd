"""Tags and logits of SRL-BERT archives: equal to AllenNLP's, whatever the batches."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from litepyramid.errors import InputError

pytest.importorskip("torch")
pytest.importorskip("transformers")

from allennlp_archives import SIZES, members, random_weights, write_archive

from litepyramid.units.parsers.allennlp.srl_bert import load_srl_bert, tag_predicates

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
    model = load_srl_bert(folder / f"{name}.tar.gz")
    results = tag_predicates(
        model,
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


@pytest.fixture
def model(tmp_path):
    return load_srl_bert(write_archive(tmp_path / "m.tar.gz", members()))


def test_the_order_of_the_answer_is_the_order_of_the_question(model):
    results = tag_predicates(model, SENTENCES, VERBS)
    assert [[frame.verb for frame in frames] for frames in results] == VERBS
    for words, verbs, frames in zip(SENTENCES, VERBS, results, strict=True):
        assert all(len(frame.tags) == len(words) and not frame.outside for frame in frames)
        for verb, frame in zip(verbs, frames, strict=True):
            assert tag_predicates(model, [words], [[verb]]) == [[frame]]
    assert results[1][0] == results[1][2]


def test_the_predicate_is_seen(model):
    alone = tag_predicates(model, [SENTENCES[0]] * 2, [[0], [3]], keep_logits=True)
    assert np.abs(alone[0][0].logits - alone[1][0].logits).max() > 0.01


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
    weights = random_weights()
    answers = []
    for name in ("tiny-uncased", "tiny-cased"):
        path = write_archive(tmp_path / f"{name}.tgz", members(name=name, weights=weights))
        frames = tag_predicates(
            load_srl_bert(path), [["Dog"], ["dog"]], [[0], [0]], keep_logits=True
        )
        answers.append(np.allclose(frames[0][0].logits, frames[1][0].logits, atol=1e-5))
    assert answers == [True, False]


def test_a_long_sentence_is_cut_to_a_window_around_each_predicate(model):
    words = ["a", "b", "c"] * 15  # 45 pieces; the BERT has 24 positions, so 22 of them fit
    first, middle, last = tag_predicates(model, [words], [[0, 20, 44]])[0]
    assert (first.outside, middle.outside, last.outside) == (23, 23, 23)
    assert set(first.tags[22:]) == {"O"}
    assert set(last.tags[:23]) == {"O"}
    assert set(middle.tags[:9]) | set(middle.tags[31:]) == {"O"}
    (alone,) = tag_predicates(model, [words[9:31]], [[11]])[0]
    assert middle.tags[9:31] == alone.tags
    fits = tag_predicates(model, [words[:22]], [[5]])[0][0]
    assert fits.outside == 0


def test_exact_decoding_is_another_one(tmp_path):
    path = write_archive(tmp_path / "m.tgz", members(weights=random_weights(scale=0.02)))
    words = [w for w in SENTENCES if w]
    verbs = [list(range(len(w))) for w in words]
    published = tag_predicates(load_srl_bert(path), words, verbs)
    exact = tag_predicates(load_srl_bert(path, decoding="exact"), words, verbs)
    assert published != exact
    with pytest.raises(InputError, match="unknown decoding 'other'"):
        load_srl_bert(path, decoding="other")


def test_sizes_come_from_the_weights_where_the_archive_only_names_its_bert(tmp_path):
    stated = tag_predicates(
        load_srl_bert(write_archive(tmp_path / "a.tgz", members())), SENTENCES, VERBS
    )
    config = {"tiny-bert-uncased/config.json": json.dumps(SIZES).encode()}
    named = members(bert_model="tiny-bert-uncased", extra=config)
    found = load_srl_bert(write_archive(tmp_path / "b.tgz", named))
    assert tag_predicates(found, SENTENCES, VERBS) == stated
    published = members(name="bert_uncased_L-2_H-16_A-2", bert_model="bert_uncased_L-2_H-16_A-2")
    known = load_srl_bert(write_archive(tmp_path / "c.tgz", published))
    assert tag_predicates(known, SENTENCES, VERBS) == stated
