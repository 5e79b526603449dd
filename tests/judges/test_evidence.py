"""Why a judge judged so: sentences, spans, words, conflicts."""

from __future__ import annotations

import pytest

from litepyramid.errors import InputError
from litepyramid.judges.explain import explain
from litepyramid.judges.registry import judge as make_judge

SUMMARY = "It rained  all day. In Hull, the firm sold 4,000 jars.\nIt did not sell the shop ."


@pytest.mark.parametrize("name", ["recall", "lexical"])
def test_evidence_goes_with_the_verdict(name):
    judge = make_judge(name)
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


def test_a_judge_without_reasons_shows_its_best_sentence_in_a_table_that_is_not_empty():
    def holds(summary, units):
        return [float(unit in summary) for unit in units]

    result = explain(SUMMARY, ["It rained", "Nobody came."], judge=holds)
    assert [e.sentence for e in result.evidence] == [0, -1]
    assert all(table.rows for table in result.to_tables())
    assert "no sentence of the summary holds it" in result.to_tables()[1].notes


@pytest.mark.parametrize(("summary", "unit"), [("", "a"), ("a", " "), (3, "a"), ("a", [])])
def test_nothing_to_explain_is_one_error(summary, unit):
    with pytest.raises(InputError):
        explain(summary, unit)
