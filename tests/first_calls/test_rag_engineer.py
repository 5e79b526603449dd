"""Twenty first calls of an engineer of a RAG product, with exports of other tools."""

import json
from pathlib import Path

import pytest
from calls import CHEAP, follow, follow_line

import litepyramid as lp

FILES = Path(__file__).resolve().parents[1] / "data" / "formats"
WITH_REFERENCES = [
    *("ragas.jsonl", "ragas_old.csv", "deepeval.json", "openai_evals.json"),
    *("openai_log.jsonl", "langsmith.csv", "phoenix.json"),
]
ROWS = [
    {
        "id": "q1",
        "version": "v1",
        "question": "When will the bridge open again?",
        "answer": "It opens in 2029.",
        "facts": ["It opens in 2029."],
    },
    {
        "id": "q2",
        "version": "v1",
        "question": "Who runs the ferry?",
        "answer": None,
        "facts": ["Lune Boats runs it.", "It runs twice a day."],
    },
]


@pytest.mark.parametrize("name", WITH_REFERENCES)
def test_an_export_is_scored_as_it_is(name, cli):
    printed = cli(
        "score",
        FILES / name,
        "--judge",
        "recall",
        "-n",
        40,
    ).stdout
    assert "1 system on 2 inputs" in printed


@pytest.mark.parametrize("name", ["trulens.csv", "phoenix_spans.csv"])
def test_answers_alone_are_scored_on_facts(name):
    data = lp.load(summaries=FILES / name)
    facts = [["The bridge was closed on Monday."], ["Lune Boats runs the ferry."]]
    result = lp.score(FILES / name, facts, **CHEAP)
    assert result.systems == data.systems
    assert max(result.scores.values()) > 0


@pytest.mark.parametrize("name", ["ragas.jsonl", "deepeval.json", "langsmith.csv"])
def test_an_export_is_told_whole(name, cli):
    printed = cli("convert", FILES / name).stdout
    assert "2 summaries" in printed
    assert "documents" in printed


def test_examples_with_facts_are_units_for_answers():
    answers = {"mine": {"e1": "It was closed on Monday.", "e2": "Lune Boats."}}
    result = lp.score(answers, FILES / "langsmith_examples.jsonl", **CHEAP)
    assert result["mine"] > 0


def test_faithfulness_to_the_contexts(cli):
    export = FILES / "ragas_old.csv"
    printed = cli(
        "precision",
        export,
        "--documents",
        export,
        "--judge",
        "recall",
        "-n",
        40,
    ).stdout
    assert "faithfulness" in printed


def test_rows_of_our_own_with_facts():
    result = follow(lambda **options: lp.score(ROWS, **CHEAP, **options))
    assert result.scores == {"v1": 0.5}
    assert any("missing" in note for note in result.notes)


def test_lines_of_our_own_with_facts(tmp_path, cli):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    printed = follow_line(
        cli,
        "score",
        path,
        "--judge",
        "recall",
        "-n",
        40,
    )
    assert "v1" in printed


def test_two_exports_are_two_systems(tmp_path):
    text = (FILES / "ragas.jsonl").read_text()
    for name in ("monday", "friday"):
        (tmp_path / f"{name}.jsonl").write_text(text)
    files = [tmp_path / "friday.jsonl", tmp_path / "monday.jsonl"]
    result = lp.score(files, **CHEAP)
    assert result.systems == ("friday", "monday")


def test_the_gate_compares_two_exports(tmp_path, cli):
    export = FILES / "ragas_old.csv"
    for name in ("old", "new"):
        output = tmp_path / f"{name}.json"
        cli(
            "score",
            export,
            "--judge",
            "recall",
            "-n",
            40,
            "-o",
            output,
        )

    printed = cli("changes", tmp_path / "old.json", tmp_path / "new.json").stdout
    assert "ragas_old" in printed


def test_scores_of_an_export_are_read_as_scores():
    table = lp.read_scores(FILES / "trulens.csv")
    assert table.metrics == ("Groundedness",)
    assert table.systems == ("rag v1", "rag v2")


def test_the_export_in_memory():
    rows = json.loads((FILES / "deepeval.json").read_text())
    assert lp.score(rows, **CHEAP)["system"] > 0
