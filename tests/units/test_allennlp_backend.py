"""``allennlp:ARCHIVE`` as a backend: predicates by a tagger or from a file, frames in place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from litepyramid.errors import InputError, ModelError
from litepyramid.units.parsers.backends import open_backend
from litepyramid.units.parses import (
    Frame,
    ParsedReference,
    ParsedSentence,
    write_parses,
)

pytest.importorskip("torch")
pytest.importorskip("transformers")

from allennlp_archives import members, write_archive

from litepyramid.units.parsers.allennlp.srl_bert import (
    AllenNlpBackend,
    load_srl_bert,
    open_allennlp,
    tag_predicates,
)

OWN = Path(__file__).resolve().parents[1] / "data" / "allennlp"
TAGS = {"barked": "VERB", "was": "AUX"}


def tagger(sentences):
    return [[TAGS.get(word, "NOUN") for word in words] for words in sentences]


def reference(name: str, *sentences: str) -> ParsedReference:
    return ParsedReference(name, 0, tuple(ParsedSentence(tuple(s.split())) for s in sentences))


REFERENCES = [
    reference("a", "the dog barked .", "who was the cat who barked"),
    reference("b", "the cat ."),
]


@pytest.fixture
def archive(tmp_path):
    return write_archive(tmp_path / "srl.tar.gz", members())


def test_verbs_and_auxiliaries_get_frames(archive):
    batch = AllenNlpBackend(archive, tagger=tagger).parse(REFERENCES)
    sentences = [s for r in batch.references for s in r.sentences]
    assert [[f.verb for f in s.frames] for s in sentences] == [[2], [1, 5], []]
    direct = tag_predicates(
        load_srl_bert(archive), [s.tokens for s in sentences], [[2], [1, 5], []]
    )
    assert [[f.tags for f in s.frames] for s in sentences] == [[f.tags for f in r] for r in direct]
    assert batch.signature["srl"].startswith("allennlp:srl.tar.gz@")
    assert batch.signature["decoding"] == "allennlp"
    assert batch.counts == {}


def test_predicates_of_a_file(archive, tmp_path):
    row = ("O",) * 4
    named = ParsedReference(
        "a", 0, (ParsedSentence(("a", "b", "c", "."), (Frame(3, row), Frame(0, row))),)
    )
    write_parses(tmp_path / "verbs.jsonl", [named])
    batch = open_allennlp(f"{archive},verbs={tmp_path / 'verbs.jsonl'}").parse(REFERENCES[:1])
    (sentence,) = batch.references[0].sentences
    assert [frame.verb for frame in sentence.frames] == [3, 0]
    assert sentence.tokens == ("a", "b", "c", ".")
    assert re.fullmatch("file:[0-9a-f]{8}", batch.signature["verbs"])


def test_options(archive):
    assert open_allennlp("a,b.tar.gz,bert=x").archive == "a,b.tar.gz"
    found = open_allennlp("a.tar.gz,decoding=exact,device=cuda")
    assert (found.archive, found.decoding, found.device) == ("a.tar.gz", "exact", "cuda")
    with pytest.raises(InputError, match="unknown option 'beam=3'"):
        open_allennlp("a.tar.gz,beam=3")
    with pytest.raises(InputError, match="unknown decoding 'beam'"):
        open_allennlp("a.tar.gz,decoding=beam")
    with pytest.raises(InputError, match=r"needs a path\. Expected allennlp:ARCHIVE"):
        open_backend("allennlp")
    with pytest.raises(ModelError, match="cannot be put on the device 'nowhere'"):
        AllenNlpBackend(archive, tagger=tagger, device="nowhere").parse(REFERENCES)
