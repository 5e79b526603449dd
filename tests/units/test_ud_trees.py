"""Written UD trees in four languages, and the units that should be made of them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from litepyramid.units.parsers.embedded.frames import Word, free_frames
from litepyramid.units.parsers.stanza import StanzaBackend
from litepyramid.units.parses import ParsedReference, ParsedSentence
from litepyramid.units.triplets import sentence_stus

FOLDER = Path(__file__).parents[1] / "data" / "ud"
UNITS: dict[str, list[str]] = json.loads((FOLDER / "units.json").read_text(encoding="utf-8"))


def read_trees(code: str) -> dict[str, list[list[str]]]:
    """By sentence id, its rows of ten columns, words only."""
    trees = {}
    for block in (FOLDER / f"{code}.conllu").read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        about = dict(line[2:].split(" = ", 1) for line in lines if line.startswith("# "))
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        trees[about["sent_id"]] = [row for row in rows if row[0].isdigit()]
    return trees


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh"])
def test_frames_of_written_trees(code):
    for name, rows in read_trees(code).items():
        heads = [int(r[6]) - 1 if r[6] != "0" else i for i, r in enumerate(rows)]
        tree = [Word(r[1], r[3], h, r[7], r[4], r[5]) for r, h in zip(rows, heads, strict=True)]
        sentence = ParsedSentence(tuple(word.text for word in tree), free_frames(tree))
        joint = "" if code == "zh" else " "

        def write(indices, joint=joint, sentence=sentence):
            return joint.join(sentence.tokens[i] for i in indices)

        assert sentence_stus(sentence, render=write) == UNITS[name]


def test_stanza_in_german_gives_its_own_words():
    rows = read_trees("de")["de-1"]
    sentence = SimpleNamespace(
        words=[
            SimpleNamespace(text=r[1], upos=r[3], head=int(r[6]), deprel=r[7], xpos="", feats=r[5])
            for r in rows
        ]
    )
    backend = StanzaBackend(pipeline=lambda text: SimpleNamespace(sentences=[sentence]))
    asked = ParsedReference("1", 0, (ParsedSentence(("Der", "Text.")),))
    (parsed,) = backend.in_language("de").parse([asked]).references
    assert parsed.sentences[0].tokens == tuple(row[1] for row in rows)
    assert sentence_stus(parsed.sentences[0]) == UNITS["de-1"]
