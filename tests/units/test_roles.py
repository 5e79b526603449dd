"""The embedded role labeller: its best paths, its word pieces, and its frames."""

import gzip
import json
import zlib
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import litepyramid
import litepyramid as lp
from litepyramid.errors import ModelError
from litepyramid.training.packed_onnx import read_packed
from litepyramid.units.parsers.roles import RoleLabeller, best_paths, word_vectors

MINI = Path(litepyramid.__file__).parent / "embedded/mini/model.onnx"
LABELS = ["O", "B-V", "I-V", "B-ARG0", "I-ARG0"]


@pytest.fixture(scope="module")
def labeller():
    return RoleLabeller()


def well_formed(tags):
    before = ["O", *tags]
    return all(
        not tag.startswith("I-") or last[2:] == tag[2:]
        for last, tag in zip(before, tags, strict=False)
    )


def test_the_best_path_is_the_best_of_all_well_formed_ones():
    generator = np.random.default_rng(7)
    scores = [
        np.log(generator.dirichlet(np.full(5, 0.5), size=length)).astype(np.float32)
        for length in (1, 3, 4)
    ]

    for values, path in zip(scores, best_paths(scores, LABELS), strict=True):
        rows = [*product(range(5), repeat=len(values))]
        rows = [row for row in rows if well_formed([LABELS[n] for n in row])]
        sums = [sum(values[i, n] for i, n in enumerate(row)) for row in rows]
        assert tuple(path) == rows[int(np.argmax(sums))]


def test_word_pieces_are_those_of_the_judge():
    table, scale = word_vectors(MINI)
    weights = read_packed(MINI, 384)["bert.embeddings.word_embeddings.weight"]

    assert np.array_equal(table * scale[:, None], weights)


def test_the_judge_has_the_word_pieces_that_the_labeller_was_trained_with():
    """Else it must be trained anew, or have a table of its own."""
    table, _ = word_vectors(MINI)
    settings = json.loads((MINI.parents[1] / "roles/roles.json").read_text())

    assert zlib.crc32(table.tobytes()) == settings["words"]


def roles(sentence, frame):
    found: dict[str, list[str]] = {}
    for word, tag in zip(sentence, frame.tags, strict=True):
        if tag != "O":
            found.setdefault(tag[2:], []).append(word)
    return {role: " ".join(words) for role, words in found.items()}


def test_the_frames_of_a_plain_sentence(labeller):
    text = "Ann gave Bob a book on Monday , but he did n't read it ."
    sentence = text.split()
    gave, read = labeller.frames([sentence])[0]

    assert (sentence[gave.verb], sentence[read.verb]) == ("gave", "read")
    assert roles(sentence, gave) == {
        "ARG0": "Ann",
        "V": "gave",
        "ARG2": "Bob",
        "ARG1": "a book",
        "ARGM-TMP": "on Monday",
    }
    assert roles(sentence, read) == {
        "ARG0": "he",
        "ARGM-NEG": "n't",
        "V": "read",
        "ARG1": "it",
    }


def test_a_sentence_has_its_frames_in_any_company(labeller):
    long = "A very long day ended late , " * 12
    texts = ["Two people died .", "The bridge that the storm hit is closed .", "Oslo ."]
    sentences = [text.split() for text in [*texts, long]]
    together = labeller.frames(sentences)

    assert together == [labeller.frames([words])[0] for words in sentences]
    assert together[2] == ()


def test_what_has_no_word_piece_and_what_has_very_many(labeller):
    signs = ["Ann", "\u200b\u200b", "left", "\u0301"]
    assert [frame.verb for frame in labeller.frames([signs])[0]] == [2]

    names = ["Ann", "Reed", "and", "Bob", "Lee"]
    long = [*names, "left", "Oslo", "for", "Rome", "."] * 52
    frames = labeller.frames([long])[0]
    assert all(len(frame.tags) == 520 for frame in frames)
    verbs = {frame.verb for frame in frames}
    assert len(verbs & set(range(5, 520, 10))) > 40


def test_nothing_to_read_and_no_labeller(labeller, tmp_path):
    assert labeller.frames([]) == []
    with pytest.raises(ModelError):
        RoleLabeller(tmp_path)


def test_units_and_parses(tmp_path):
    text = "Ann, who lives in Oslo, was not seen on Monday. She left."
    path = tmp_path / "parses.jsonl"
    result = lp.extract([text], srl="roles", parses=path)
    again = lp.extract([text], srl=str(path))

    assert dict(result.signature.fields)["srl"].startswith("roles-")
    texts = " ".join(result.units[0].texts)
    assert "was not seen on Monday" in texts
    assert "Ann left" in texts
    assert [u.texts for u in again.units] == [u.texts for u in result.units]


def arguments(tags):
    """The spans of a row of tags, the verb's own left out."""
    found = set()
    for start, tag in enumerate(tags):
        if tag.startswith("B-") and tag != "B-V":
            end = start + 1
            while end < len(tags) and tags[end] == f"I-{tag[2:]}":
                end += 1
            found.add((start, end, tag[2:]))
    return found


def test_spans_and_predicates_of_a_treebank(labeller, data):
    """Some of the sentences of `models/README.md`'s figures, which are of all."""
    path = data / "propbank_ewt/test.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines][::10]

    gold = []
    for row in rows:
        frames = {f["verb"]: f["tags"] for f in row["frames"] if f["pos"][:2] == "VB"}
        gold.append({v: arguments(t) for v, t in frames.items() if arguments(t)})

    words = [row["words"] for row in rows]
    verbs = np.zeros(3)
    for right, frames in zip(gold, labeller.frames(words), strict=True):
        found = {frame.verb for frame in frames}
        verbs += len(found & {*right}), len(found), len(right)

    spans = np.zeros(3)
    told = labeller.frames(words, [sorted(right) for right in gold])
    for right, frames in zip(gold, told, strict=True):
        assert [frame.verb for frame in frames] == sorted(right)
        for frame in frames:
            ours, true = arguments(frame.tags), right[frame.verb]
            spans += len(ours & true), len(ours), len(true)

    assert 2 * verbs[0] / (verbs[1] + verbs[2]) > 0.95
    assert 2 * spans[0] / (spans[1] + spans[2]) > 0.75
