"""Files to one table under our columns, or to a part of it."""

import pytest
from cases import cases, refused, same, write_lines
from tool_files import FILES

import litepyramid as lp
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
    first = lp.convert([path]).lines[0]
    assert (first["system"], first["summary"]) == ("a", "A storm hit Oslo.")
    assert first["question"] == "what hit Oslo"
    lp.convert([path]).save(tmp_path / "answers.jsonl")
    data = lp.load(tmp_path / "answers.jsonl", nulls="missing")
    same(data.labels.values, [[1, 0, 0.5, 0], [0.5, 1, float("nan"), float("nan")]])
    assert data.units.vital.tolist() == [True, False, False, False]

    whole = lp.convert([path], to="scores")
    assert {*whole.lines[0]} == {"system", "input", *NUGGET_SCORES}
    for name, of_a, of_b in (
        ("strict_vital_score", [1.0, 0.0], 0.0),
        ("strict_all_score", [0.5, 0.0], 0.5),
        ("vital_score", [1.0, 0.0], 0.5),
        ("all_score", [0.5, 0.25], 0.75),
    ):
        # System b has no answer to q2.
        assert [line[name] for line in whole.lines] == [*of_a, of_b]
    whole.save(tmp_path / "scores.csv")
    head, row, *_ = (tmp_path / "scores.csv").read_text().splitlines()
    assert head == "system,input," + ",".join(NUGGET_SCORES)
    assert row == "a,q1,1.0,0.5,1.0,0.5"


@pytest.mark.parametrize(
    ("text", "system", "inputs"),
    [(ANSWERS, "a", ["q1", "q2"]), (ANSWERS_2026, "mine", ["17"])],
)
def test_answers_are_summaries(tmp_path, text, system, inputs):
    held = lp.convert([written(tmp_path, text)], to="summaries")
    assert [(line["system"], line["input"]) for line in held.lines] == [
        (system, name) for name in inputs
    ]
    assert held.lines[0]["summary"].startswith("A storm hit Oslo.")


def test_nuggets_and_answers_are_one_table(tmp_path):
    nuggets = written(tmp_path, NUGGETS, "a.jsonl")
    answers = written(tmp_path, ANSWERS.splitlines()[0], "b.jsonl")
    held = lp.convert([nuggets, answers])
    (line,) = held.lines
    assert [unit["text"] for unit in line["units"]] == [
        "A storm hit Oslo",
        "Two people died",
    ]
    assert held.left_out["inputs without answers"] == 1
    assert len(lp.convert([nuggets, answers], to="units").lines) == 2
    assert lp.convert([tmp_path]).lines == held.lines
    (tmp_path / "empty").mkdir()
    with refused("no files in this folder"):
        lp.convert([tmp_path / "empty"])


@pytest.mark.parametrize(
    "text",
    [
        NUGGETS.replace('"vital"', '"very"'),
        NUGGETS.replace('"q2"', '"q1"'),
        ASSIGNED.replace('"partial_support"', '"failed"'),
        ASSIGNED.replace('"Two people died"', '"Ten died"', 1),
        '{"topic_id": "q1", "run_id": "a", "answer": [3, true]}',
        NUGGETS + "[]\n",
    ],
)
def test_broken_lines_are_errors_with_file_and_line(tmp_path, text):
    path = written(tmp_path, text)
    with refused() as error:
        lp.convert([path])
    assert error.value.path == str(path)
    assert error.value.line


def test_rows_that_cannot_be_scored_are_counted(tmp_path):
    rows = []
    for name, reference in (("Who?", "Bo."), ("When?", None), ("Why?", "So.")):
        row = {"user_input": name, "response": "Yes.", "retrieved_contexts": []}
        rows.append({**row, "reference": reference})
    held = lp.convert([write_lines(tmp_path / "rows.jsonl", rows)])
    assert [line["input"] for line in held.lines] == ["Who?", "Why?"]
    assert held.left_out["rows without references"] == 1

    rows = [{**row, "facts": ["Bo."]} for row in rows]
    held = lp.convert([write_lines(tmp_path / "rows.jsonl", rows)])
    assert len(held.lines) == 3
    assert held.left_out["references, which other rows lack"] == 2


def test_units_go_either_way(tmp_path):
    rows = '{"input": "a", "units": [{"text": "x", "weight": 3, "sentence": 1}, "y"]}\n'
    path = written(tmp_path, rows, "scus.jsonl")
    lp.convert([path], to="units").save(tmp_path / "scus.txt")
    lp.convert([path], to="ids").save(tmp_path / "ids.txt")
    assert (tmp_path / "scus.txt").read_text() == "x\ty\n"
    back = lp.convert([tmp_path / "scus.txt"], ids=tmp_path / "ids.txt").lines
    lost = lp.convert([path], to="units").notes[-1]
    assert lost.endswith("has no place for weight, sentence.")
    units = [{"text": "x", "weight": 1.0, "kind": "scu"}]
    assert back == [{"input": "a", "units": [*units, {**units[0], "text": "y"}]}]


def test_a_table_of_ours_is_one_still(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "input,reference,summary,n\nq1,It rained.,Yes.,1\nq2,We left.,No.,2\n"
    )
    lines = lp.convert([path]).lines
    about = {"system": "table", "input": "q1", "references": ["It rained."]}
    assert lines[0] == {**about, "summary": "Yes."}
    table = lp.convert([path], to="summaries")
    table.save(tmp_path / "again.jsonl")
    assert lp.convert([tmp_path / "again.jsonl"]).lines == table.lines


@pytest.mark.parametrize(
    ("name", "to", "message"),
    cases(
        """
langsmith_examples.jsonl | scores    | no scores to write
langsmith_examples.jsonl | labels    | no labels to write
trec_answers.jsonl       | units     | no units to write
trec_answers.jsonl       | nothing   | unknown to 'nothing'
"""
    ),
)
def test_what_cannot_be_converted_is_an_error(name, to, message):
    with refused(message):
        lp.convert([FILES / name], to=to)


def test_forms_that_cannot_hold_a_part_are_refused(tmp_path):
    held = lp.convert([FILES / "ragas.jsonl"])
    for name in ("answers.csv", "answers.txt"):
        with refused("jsonl"):
            held.save(tmp_path / name)


def test_samples_of_a_model_lie_in_its_folder(tmp_path):
    """Both models of a task were called samples_task and its date."""
    row = {"doc_id": 1, "doc": {"question": "Who?"}, "target": "Ann"}
    for model in ("one", "two"):
        (tmp_path / model).mkdir()
        path = tmp_path / model / "samples_task_2026.jsonl"
        write_lines(path, [{**row, "filtered_resps": ["Ann."], "filter": "none"}])
    lines = lp.convert([tmp_path / "one", tmp_path / "two"]).lines
    assert [line["system"] for line in lines] == ["one", "two"]


def test_a_table_of_unknown_names_is_told_how_its_answers_are_read(tmp_path):
    row = {"gold": "It rained.", "prediction": "It rained here.", "model": "one"}
    path = write_lines(tmp_path / "rows.jsonl", [row])
    columns = "reference=gold,system=model,summary=prediction"
    with refused("--columns .*summary=prediction"):
        lp.convert([path])
    assert lp.convert([path], columns=columns).lines[0]["system"] == "one"
