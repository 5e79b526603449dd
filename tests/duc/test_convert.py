"""Units, nuggets, assignments and answers to our files."""

import numpy as np
import pytest
from cases import refused, same

import litepyramid as lp
from litepyramid.data.records import InputUnits, Unit
from litepyramid.scoring.pyramid import NUGGET_SCORES

NUGGETS = """\
{"query": "what hit Oslo", "qid": "q1", "nuggets": [{"text": "A storm hit Oslo", "importance": "vital"}, {"text": "Two people died", "importance": "okay"}]}
{"query": "who won", "qid": "q2", "nuggets": [{"text": "Norway won", "importance": "okay"}, {"text": "Played in Bergen", "importance": "failed"}]}
"""
ASSIGNED = """\
{"query": "what hit Oslo", "qid": "q1", "run_id": "a", "answer_text": "A storm hit Oslo.", "nuggets": [{"text": "A storm hit Oslo", "importance": "vital", "assignment": "support"}, {"text": "Two people died", "importance": "okay", "assignment": "not_support"}]}
{"query": "who won", "qid": "q2", "run_id": "a", "answer_text": "Norway.", "nuggets": [{"text": "Norway won", "importance": "okay", "assignment": "partial_support"}, {"text": "Played in Bergen", "importance": "okay", "assignment": "not_support"}]}
{"query": "what hit Oslo", "qid": "q1", "run_id": "b", "answer_text": "Two died.", "nuggets": [{"text": "A storm hit Oslo", "importance": "vital", "assignment": "partial_support"}, {"text": "Two people died", "importance": "okay", "assignment": "support"}]}
"""
ANSWERS = """\
{"topic_id": "q1", "run_id": "a", "answer": [{"text": "A storm hit Oslo.", "citations": []}, {"text": "Two people died.", "citations": []}]}
{"topic_id": "q2", "run_id": "a", "answer": []}
"""
ANSWERS_2026 = """\
{"metadata": {"narrative_id": 17, "run_id": "mine", "team_id": "t"}, "answer": [{"text": "A storm hit Oslo.", "citations": [0, 2]}], "references": ["d1"]}
"""


def written(folder, text, name="file.jsonl"):
    path = folder / name
    path.write_text(text)
    return path


def test_assignments_are_everything(tmp_path):
    path = written(tmp_path, ASSIGNED)
    whole = lp.convert([path], to="scores")
    assert [(s.system, s.texts) for s in whole.summaries] == [
        ("a", ("A storm hit Oslo.", "Norway.")),
        ("b", ("Two died.",)),
    ]
    assert whole.labels[0].labels == ((1, 0), (0.5, 0))
    whole.save(tmp_path / "scores.csv")
    table = lp.read_scores(tmp_path / "scores.csv")
    assert set(table.metrics) == set(NUGGET_SCORES)
    for name, of_a, of_b in (
        ("strict_vital_score", [1.0, 0.0], 0.0),
        ("strict_all_score", [0.5, 0.0], 0.5),
        ("vital_score", [1.0, 0.0], 0.5),
        ("all_score", [0.5, 0.25], 0.75),
    ):
        # System b has no answer to q2.
        same(table.matrix(name).values, [of_a, [of_b, np.nan]])


@pytest.mark.parametrize(
    ("text", "system", "inputs"),
    [(ANSWERS, "a", ("q1", "q2")), (ANSWERS_2026, "mine", ("17",))],
)
def test_answers_are_summaries(tmp_path, text, system, inputs):
    (summaries,) = lp.convert(written(tmp_path, text), to="summaries").summaries
    assert (summaries.system, summaries.inputs) == (system, inputs)
    assert summaries.texts[0].startswith("A storm hit Oslo.")


@pytest.mark.parametrize(
    "text",
    [
        NUGGETS.replace('"vital"', '"very"'),
        NUGGETS.replace('"q2"', '"q1"'),
        ASSIGNED.replace('"partial_support"', '"failed"'),
        ASSIGNED.replace('"Two people died"', '"Ten died"', 1),
        ASSIGNED.replace('"run_id": "a"', '"run_id": null', 1),
        '{"qid": "q1", "nuggets": []}',
        '{"topic_id": "q1", "run_id": "a", "answer": [{"txt": "x"}]}',
        NUGGETS + '{"input": "x"}\n',
    ],
)
def test_broken_lines_are_errors_with_file_and_line(tmp_path, text):
    path = written(tmp_path, text)
    with refused() as error:
        lp.convert([path])
    assert error.value.path == str(path)
    assert error.value.line


def test_units_go_either_way(tmp_path):
    rows = '{"input": "a", "units": [{"text": "x", "weight": 3, "sentence": 1}, "y"]}\n'
    path = written(tmp_path, rows, "scus.jsonl")
    result = lp.convert(path)
    note = "A line file (.txt) would hold the texts alone, no weight, sentence."
    assert result.notes[1] == note
    result.save(tmp_path / "scus.txt")
    lp.convert(path, to="ids").save(tmp_path / "ids.txt")
    assert (tmp_path / "scus.txt").read_text() == "x\ty\n"
    back = lp.convert(tmp_path / "scus.txt", ids=tmp_path / "ids.txt").units
    assert back == (InputUnits("a", (Unit("x"), Unit("y"))),)


def test_a_folder_of_other_files_is_read(tmp_path):
    """Not as if every folder were one of .pyr and .pan files."""
    written(tmp_path, NUGGETS, "a.jsonl")
    written(tmp_path, ANSWERS, "b.jsonl")
    whole = lp.convert(tmp_path)
    assert (whole.counts["unit"].total(), whole.counts["summary"].total()) == (4, 2)
    assert [unit.importance for unit in whole.units[0].units] == ["vital", "okay"]
    assert whole.units[1].texts == ("Norway won", "Played in Bergen")
    (tmp_path / "empty").mkdir()
    with refused("no files in this folder"):
        lp.convert(tmp_path / "empty")


def test_a_score_without_a_metric_is_none(tmp_path):
    row = '{"system": "a", "input": "1", "summary": "It rained.", "scores": 0.5}'
    result = lp.convert([written(tmp_path, row)])
    assert (result.to, result.scores) == ("summaries", None)


@pytest.mark.parametrize(
    ("text", "to"),
    [
        (NUGGETS, "scores"),
        (NUGGETS, "labels"),
        (ANSWERS, "units"),
        (NUGGETS, "nothing"),
    ],
)
def test_what_cannot_be_converted_is_an_error(tmp_path, text, to):
    with refused():
        lp.convert([written(tmp_path, text)], to=to)
