"""Stanza's own documents, read from CoNLL-U, in; frames, trees and clusters out."""

import pytest
from cases import refused
from written import FOLDER

from litepyramid.errors import ModelError
from litepyramid.units.parses import (
    ParsedReference,
    ParsedSentence,
    read_parses,
    write_parses,
)
from litepyramid.units.triplets import sentence_stus

stanza = pytest.importorskip("stanza")

from stanza.models.coref.coref_chain import CorefChain, CorefMention  # noqa: E402
from stanza.utils.conll import CoNLL  # noqa: E402

from litepyramid.units.parsers.stanza import StanzaBackend, open_stanza  # noqa: E402


def mayor(tokens):
    """Two sentences, and who is who in them."""
    document = CoNLL.conll2doc(FOLDER / "mayor.conllu", ignore_gapping=False)
    unwritten = CorefMention(1, (2, 1), (2, 1))
    mentions = [CorefMention(0, 0, 5), unwritten, CorefMention(1, 0, 1)]
    alone = [unwritten, CorefMention(1, 3, 5)]
    document.coref = [
        CorefChain(0, mentions, "The mayor", 0),
        CorefChain(1, alone, "the town", 0),
    ]
    return document


CLUSTERS = (((0, 5), (7, 8)),)


@pytest.fixture
def reference():
    sentences = []
    for sentence in mayor(None).sentences:
        words = [word.text for word in sentence.words]
        sentences.append(ParsedSentence(tuple(words)))
    return ParsedReference("a", 0, tuple(sentences))


def test_frames_trees_and_clusters(tmp_path, reference):
    asked = []

    def pipeline(tokens):
        asked.append(tokens)
        return mayor(tokens)

    batch = StanzaBackend(pipeline=pipeline).parse([reference])
    assert asked == [[list(sentence.tokens) for sentence in reference.sentences]]
    assert batch.signature["srl"].startswith("stanza-")
    write_parses(tmp_path / "p.jsonl", batch.references)
    (parsed,) = read_parses(tmp_path / "p.jsonl")
    assert parsed.clusters == CLUSTERS

    first, second = parsed.sentences
    assert first.frames[0].tags[5] == "B-V"
    tags = "B-FREE B-FREE1 B-V B-FREE2 B-FREE2 O"
    assert second.frames[0].tags == tuple(tags.split())
    assert [word.deprel for word in second.words][:3] == ["nsubj", "advmod", "root"]
    assert first.tree == (
        "(S (NP (NP (DT The) (NN mayor)) (PRN (-LRB- -LRB-) (NNP Ann) (-RRB- -RRB-)))"
        " (VP (VBD left)) (. .))"
    )
    assert second.tree is None


def test_only_what_is_asked_for(reference):
    (only,) = StanzaBackend((), pipeline=mayor).parse([reference]).references
    assert only.sentences[0].tree is None
    assert only.sentences[0].frames
    assert only.clusters is None

    backend = StanzaBackend(pipeline=mayor)
    (linked,) = backend.link([reference]).references
    assert linked.clusters == CLUSTERS
    assert linked.sentences == reference.sentences
    with refused("gives other tokens for reference 1 of input 'a'", ModelError):
        backend.parse([ParsedReference("a")])


@pytest.mark.parametrize("language", ["de", "es", "fr", "zh"])
def test_other_languages_have_frames_of_stanzas_own_words(language):
    """The units of each tree stand before it in the file."""
    document = CoNLL.conll2doc(FOLDER / f"{language}.conllu")
    asked = [ParsedSentence(("A", "sentence."))] * len(document.sentences)
    backend = StanzaBackend(pipeline=lambda text: document).in_language(language)
    batch = backend.parse([ParsedReference("1", 0, tuple(asked))])
    for tree, parsed in zip(
        document.sentences,
        batch.references[0].sentences,
        strict=True,
    ):
        units = [f"# unit = {unit}" for unit in sentence_stus(parsed)]
        assert units == [line for line in tree.comments if "# unit" in line]


def test_the_backends_name():
    assert open_stanza("").also == ("constituency", "coref")
    assert open_stanza("none").also == ()
    assert open_stanza("coref,models=m") == StanzaBackend(("coref",), "m")
    for wrong in ("models=", "ner", "constituency,x"):
        with refused("unknown option"):
            open_stanza(wrong)


def test_models_that_cannot_be_had(tmp_path, monkeypatch, reference):
    def no_network(*args, **kwargs):
        raise ConnectionError("no network")

    monkeypatch.setattr("stanza.pipeline.core.download_resources_json", no_network)
    with refused(r"cannot be loaded \(no network\)", ModelError):
        StanzaBackend(("constituency",), tmp_path).parse([reference])
