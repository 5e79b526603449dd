"""First calls of an engineer of a RAG product, with exports of other tools; more of
them in `tests/io/test_exports.py`."""

import json
from pathlib import Path

import pytest
from calls import follow, follow_line
from cases import quick_score, write_lines

import litepyramid as lp

FILES = Path(__file__).resolve().parents[1] / "data" / "formats"
WITH_REFERENCES = [
    *("ragas.jsonl", "ragas_old.csv", "deepeval.json", "openai_evals.json"),
    *("openai_log.jsonl", "langsmith.csv", "phoenix.json"),
]
SCORE = "--judge recall -n 40"
ROWS = json.loads(
    """
[{"id": "q1", "version": "v1", "question": "When will the bridge open again?",
  "answer": "It opens in 2029.", "facts": ["It opens in 2029."]},
 {"id": "q2", "version": "v1", "question": "Who runs the ferry?",
  "answer": null, "facts": ["Lune Boats runs it.", "It runs twice a day."]}]
"""
)


@pytest.mark.parametrize("name", WITH_REFERENCES)
def test_an_export_is_scored_as_it_is(name, cli):
    printed = cli(f"score {FILES / name} {SCORE}").stdout
    assert "1 system on 2 inputs" in printed


def test_lists_beside_answers_without_ids_go_by_their_order(tmp_path):
    facts = tmp_path / "facts.txt"
    facts.write_text("The bridge was closed on Monday.\nLune Boats runs the ferry.\n")
    files = [FILES / "phoenix_spans.csv", FILES / "trulens.csv"]
    alone = quick_score(files[1:], facts).scores
    both = quick_score(files, facts).scores
    assert both == quick_score(files[:1], facts).scores | alone
    assert both["phoenix_spans"] == both["rag v1"] > both["rag v2"]

    texts = facts.read_text().splitlines()
    for documents in (facts, texts):
        precise = lp.precision(files[1], documents=documents, judge="recall")
        assert precise.scores == {"rag v1": 1.0, "rag v2": 0.5}


def test_rows_of_our_own_with_facts(tmp_path, cli):
    result = follow(lambda **options: quick_score(ROWS, **options))
    assert result.scores == {"v1": 0.5}
    assert any("missing" in note for note in result.notes)

    path = write_lines(tmp_path / "answers.jsonl", ROWS)
    assert "v1" in follow_line(cli, f"score {path} {SCORE}")
