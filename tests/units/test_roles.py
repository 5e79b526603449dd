"""The embedded role labeller: its best paths, its word pieces, and its frames."""

import gzip
import json
import zlib
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from written import framed

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
    """Whether every I- follows a tag of its own role."""
    for before, tag in pairwise(["O", *tags]):
        if tag[0] == "I" and before[2:] != tag[2:]:
            return False
    return True


def test_the_best_path_is_the_best_of_all_well_formed_ones():
    generator = np.random.default_rng(7)
    scores = []
    for length in (1, 3, 4):
        chances = generator.dirichlet(np.full(5, 0.5), size=length)
        scores.append(np.log(chances).astype(np.float32))

    for values, path in zip(scores, best_paths(scores, LABELS), strict=True):
        best = -np.inf
        for row in product(range(5), repeat=len(values)):
            total = values[range(len(row)), row].sum()
            if total > best and well_formed([LABELS[label] for label in row]):
                best = total
                expected = row
        assert tuple(path) == expected


def test_word_pieces_are_those_of_the_judge():
    table, scale = word_vectors(MINI)
    weights = read_packed(MINI, 384)["bert.embeddings.word_embeddings.weight"]

    assert np.array_equal(table * scale[:, None], weights)


def test_the_judge_has_the_word_pieces_that_the_labeller_was_trained_with():
    """Else it must be trained anew, or have a table of its own."""
    table, _ = word_vectors(MINI)
    settings = json.loads((MINI.parents[1] / "roles/roles.json").read_text())

    assert zlib.crc32(table.tobytes()) == settings["words"]


def test_the_frames_of_a_plain_sentence(labeller):
    expected = framed(
        "Ann/B-ARG0/O gave/B-V/O Bob/B-ARG2/O a/B-ARG1/O book/I-ARG1/O "
        "on/B-ARGM-TMP/O Monday/I-ARGM-TMP/O ,/O/O but/O/O "
        "he/O/B-ARG0 did/O/O n't/O/B-ARGM-NEG read/O/B-V it/O/B-ARG1 ./O/O"
    )
    assert labeller.frames([expected.tokens]) == [expected.frames]


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

    long = ["Ann", "Reed", "and", "Bob", "Lee", "left", "Oslo", "for", "Rome", "."] * 52
    (frames,) = labeller.frames([long], [[5, 515]])
    for frame, verb in zip(frames, [5, 515], strict=True):
        assert (frame.verb, frame.tags[verb]) == (verb, "B-V")
        assert len(frame.tags) == 520


def test_nothing_to_read_and_no_labeller(labeller, tmp_path):
    assert labeller.frames([]) == []
    with pytest.raises(ModelError):
        RoleLabeller(tmp_path)


def test_units_of_roles():
    result = lp.extract(
        ["Ann, who lives in Oslo, was not seen on Monday. She left."], srl="roles"
    )
    assert dict(result.signature.fields)["srl"].startswith("roles-")
    texts = " ".join(result.units[0].texts)
    assert "was not seen on Monday" in texts
    assert "Ann left" in texts


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


def f1(pairs):
    """Of pairs of what is found and what is right."""
    common = sum(len(found & right) for found, right in pairs)
    return 2 * common / sum(len(found) + len(right) for found, right in pairs)


def test_spans_and_predicates_of_a_treebank(labeller, data):
    """Some of the sentences of `models/README.md`'s figures, which are of all."""
    with gzip.open(data / "propbank_ewt/test.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines][::20]

    gold = []
    for row in rows:
        frames = {}
        for frame in row["frames"]:
            spans = arguments(frame["tags"])
            if frame["pos"].startswith("VB") and spans:
                frames[frame["verb"]] = spans
        gold.append(frames)

    words = [row["words"] for row in rows]
    verbs = []
    for right, frames in zip(gold, labeller.frames(words), strict=True):
        verbs.append(({frame.verb for frame in frames}, {*right}))
    assert f1(verbs) > 0.95

    spans = []
    told = labeller.frames(words, [sorted(right) for right in gold])
    for right, frames in zip(gold, told, strict=True):
        assert [frame.verb for frame in frames] == sorted(right)
        spans += [(arguments(frame.tags), right[frame.verb]) for frame in frames]
    assert f1(spans) > 0.75
