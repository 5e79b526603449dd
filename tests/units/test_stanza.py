"""Stanza's own result objects, built by hand, in; frames, trees and clusters out."""

from types import SimpleNamespace

import pytest
from cases import refused

from litepyramid.errors import ModelError
from litepyramid.units.parses import (
    ParsedReference,
    ParsedSentence,
    read_parses,
    write_parses,
)

stanza = pytest.importorskip("stanza")

from stanza.models.common.doc import Document  # noqa: E402
from stanza.models.constituency.parse_tree import Tree  # noqa: E402
from stanza.models.coref.coref_chain import CorefChain, CorefMention  # noqa: E402

from litepyramid.units.parsers.stanza import StanzaBackend, clusters_of, open_stanza  # noqa: E402

MAYOR = """
The DET DT 2 det
mayor NOUN NN 6 nsubj
( PUNCT -LRB- 4 punct
Ann PROPN NNP 2 appos
) PUNCT -RRB- 4 punct
left VERB VBD 0 root
. PUNCT . 6 punct
"""
SHE = """
She PRON PRP 3 nsubj
never ADV RB 3 advmod
praised VERB VBD 0 root
the DET DT 5 det
town NOUN NN 3 obj
. PUNCT . 3 punct
"""


def sentence(table: str) -> list[dict]:
    rows = [line.split() for line in table.strip().splitlines()]
    return [
        {
            "id": i,
            "text": t,
            "upos": u,
            "xpos": x,
            "head": int(h),
            "deprel": d,
        }
        for i, (t, u, x, h, d) in enumerate(rows, start=1)
    ]


def leaf(tag: str, word: str) -> Tree:
    return Tree(tag, Tree(word))


def document() -> Document:
    doc = Document([sentence(MAYOR), sentence(SHE)])
    mayor = Tree("NP", [leaf("DT", "The"), leaf("NN", "mayor")])
    ann = Tree("PRN", [leaf("-LRB-", "("), leaf("NNP", "Ann"), leaf("-RRB-", ")")])
    left = Tree("VP", leaf("VBD", "left"))
    doc.sentences[0].constituency = Tree(
        "ROOT", Tree("S", [Tree("NP", [mayor, ann]), left, leaf(".", ".")])
    )
    mentions = [CorefMention(0, 0, 5), CorefMention(1, 0, 1)]
    alone = [CorefMention(1, 3, 5)]
    doc.coref = [
        CorefChain(0, mentions, "The mayor", 0),
        CorefChain(1, alone, "town", 0),
    ]

    return doc


def reference() -> ParsedReference:
    tables = (MAYOR, SHE)
    sentences = (ParsedSentence(tuple(w["text"] for w in sentence(t))) for t in tables)
    return ParsedReference("a", 0, tuple(sentences))


def test_frames_trees_and_clusters(tmp_path):
    asked = []

    def pipeline(tokens):
        asked.append(tokens)
        return document()

    batch = StanzaBackend(pipeline=pipeline).parse([reference()])
    assert asked == [[list(s.tokens) for s in reference().sentences]]
    write_parses(tmp_path / "p.jsonl", batch.references)
    (parsed,) = read_parses(tmp_path / "p.jsonl")
    first, second = parsed.sentences
    assert first.frames[0].tags[5] == "B-V"
    assert second.frames[0].tags == (
        "B-ARG0",
        "B-ARGM-NEG",
        "B-V",
        "B-ARG1",
        "I-ARG1",
        "O",
    )

    assert first.tree == (
        "(S (NP (NP (DT The) (NN mayor)) (PRN (-LRB- -LRB-) (NNP Ann) (-RRB- -RRB-)))"
        " (VP (VBD left)) (. .))"
    )
    assert second.tree is None
    assert parsed.clusters == (((0, 5), (7, 8)),)
    assert batch.signature["srl"].startswith("stanza-")


def test_only_what_is_asked_for():
    (only,) = (
        StanzaBackend((), pipeline=lambda tokens: document())
        .parse([reference()])
        .references
    )
    assert only.sentences[0].tree is None
    assert only.sentences[0].frames
    assert only.clusters is None
    linked = StanzaBackend(pipeline=lambda tokens: document()).link([reference()])
    assert linked.references[0].clusters == (((0, 5), (7, 8)),)
    assert linked.references[0].sentences == reference().sentences

    with refused("gives other tokens for reference 1 of input 'a'", ModelError):
        StanzaBackend(pipeline=lambda tokens: document()).parse([ParsedReference("a")])


def test_mentions_of_words_that_are_not_written_are_left_out():
    mentions = [
        CorefMention(0, 0, 2),
        CorefMention(1, (2, 1), (2, 1)),
        CorefMention(1, 0, 1),
    ]
    chains = [
        CorefChain(0, mentions, "The mayor", 0),
        CorefChain(1, mentions[:2], "the town", 0),
    ]
    assert clusters_of(SimpleNamespace(coref=chains), reference()) == (
        ((0, 2), (7, 8)),
    )


def test_the_backends_name():
    assert open_stanza("").also == ("constituency", "coref")
    assert open_stanza("none").also == ()
    assert open_stanza("coref,models=m") == StanzaBackend(("coref",), "m")
    for wrong in ("models=", "ner", "constituency,x"):
        with refused("unknown option"):
            open_stanza(wrong)


def test_models_that_cannot_be_had(tmp_path, monkeypatch):
    def no_network(*args, **kwargs):
        raise ConnectionError("no network")

    monkeypatch.setattr("stanza.pipeline.core.download_resources_json", no_network)
    with refused(r"cannot be loaded \(no network\)", ModelError):
        StanzaBackend(("constituency",), tmp_path).parse([reference()])
