"""Why a judge judged so: sentences, spans, words, conflicts."""

from __future__ import annotations

import json

import pytest

from litepyramid.errors import InputError
from litepyramid.io.documents import cut_sentences
from litepyramid.judges.base import Explainer
from litepyramid.judges.evidence import explain, sentence_spans
from litepyramid.judges.registry import EMBEDDED, make_judge

SUMMARY = "It rained  all day. In Hull, the firm sold 4,000 jars.\nIt did not sell the shop ."


@pytest.mark.parametrize("name", EMBEDDED)
def test_evidence_goes_with_the_verdict(name):
    judge = make_judge(name)
    assert isinstance(judge, Explainer)
    units = ["The firm sold 400 jars.", "It sold the shop.", "Nobody came.", "?!"]
    items = [(SUMMARY, units), ("", units), (SUMMARY, []), ("?!", units)]
    found = judge.explain(items)
    presence = judge.judge(items).presence
    assert [[e.presence for e in row] for row in found] == [row.tolist() for row in presence]
    first = found[0][0]
    assert first.sentence == 1
    assert SUMMARY[slice(*first.span)] == "In Hull, the firm sold 4,000 jars."
    assert ("jars", "jars") in first.words
    assert "400" in first.missing
    assert all(e.sentence == -1 and not e.words and not e.conflict for e in found[1])
    if name != "recall":
        assert first.conflict == "number 400 ≠ 4,000"
        assert found[0][1].conflict.startswith("denied (")


def test_spans_are_the_sentences():
    text = 'He left . "Why?" Dr. Doe asked. ... Why?   Why? '
    spans = sentence_spans(text)
    cut = ["".join(sentence.split()) for sentence in cut_sentences(text)]
    assert ["".join(text[a:b].split()) for a, b in spans] == cut
    assert spans == sorted(spans)


def test_a_judge_without_reasons_says_so():
    class Silent:
        def judge(self, items):
            raise AssertionError

    with pytest.raises(InputError, match="cannot explain its judgements"):
        explain(Silent(), "a", ["b"])


def test_explain_from_the_command_line(cli, tmp_path):
    (tmp_path / "summary.txt").write_text(SUMMARY)
    (tmp_path / "units.txt").write_text("The firm sold 400 jars.\n\nIt rained.\n")
    shown = cli("judge", "explain", SUMMARY, "The firm sold 400 jars.", "-j", "lexical").stdout
    assert "conflict: number 400 ≠ 4,000" in shown
    files = (tmp_path / "summary.txt", tmp_path / "units.txt")
    read = json.loads(cli("judge", "explain", *files, "-j", "recall", "-f", "json").stdout)
    assert read["units"] == ["The firm sold 400 jars.", "It rained."]
    assert read["evidence"][1]["span"] == [0, 19]
    rows = cli("judge", "explain", *files, "-f", "csv").stdout.splitlines()
    assert rows[0] == "unit,presence,sentence,start,end,words,missing,conflict"
    assert len(rows) == 3
