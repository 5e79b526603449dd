"""First calls of an engineer of a RAG product, with exports of other tools; more of
them in `tests/imports`."""

import json
from pathlib import Path

import pytest
from calls import follow, follow_line
from cases import quick_score, write_lines

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
def test_an_export_is_converted_and_scored(name, cli, tmp_path):
    cli("convert", FILES / name, "-o", tmp_path / "answers.jsonl")
    printed = cli(f"score answers.jsonl {SCORE}", cwd=tmp_path).stdout
    assert "1 system on 2 inputs" in printed


def test_an_export_that_is_scored_as_it_is_says_to_convert_it(cli):
    assert "litepyramid convert" in cli("score", FILES / "ragas.jsonl", status=2).stderr


def test_rows_of_our_own_with_facts(tmp_path, cli):
    result = follow(lambda **options: quick_score(ROWS, **options))
    assert result.scores == {"v1": 0.5}
    assert any("missing" in note for note in result.notes)

    path = write_lines(tmp_path / "answers.jsonl", ROWS)
    assert "v1" in follow_line(cli, f"score {path} {SCORE}")
