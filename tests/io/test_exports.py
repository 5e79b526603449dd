"""Exports of six tools: question, answer, contexts and references to their places, the
rest counted by name."""

import json

import numpy as np
import pytest
from cases import quick_score, refused, write_lines
from tool_files import FILES, objects_of

import litepyramid as lp
from litepyramid.checked import number
from litepyramid.io.coerce import as_documents
from litepyramid.io.readers import read_rows

# The tool of each file, and what it holds; the scores are those of the first system.
EXPORTS = json.loads((FILES.parent / "exports.json").read_text())
QUESTIONS = ["When was the bridge closed?", "Who runs the ferry?"]


@pytest.mark.parametrize("name", EXPORTS)
def test_what_an_export_holds_comes_to_its_place(name):
    export = EXPORTS[name]
    held = lp.convert(FILES / name)
    assert held.made == export["tool"]
    assert held.documents == export["contexts"]

    data = lp.load(summaries=FILES / name, nulls="missing")
    answers = {}
    for own in data.summaries:
        texts = zip(own.inputs, own.texts, strict=True)
        answers[own.system] = [None if of in own.missing else t for of, t in texts]
    assert answers == export["answers"]

    if export["references"]:
        first, second = data.references
        assert first.question == QUESTIONS[0]
        assert QUESTIONS[1] in second.question
        assert first.references[0][0].startswith("It was closed on Monday.")
        assert second.references[0][0].startswith("Lune Boats")

    for metric, values in export["scores"].items():
        matrix = held.scores.matrix(metric)
        assert [v for v in matrix.values[0].tolist() if v == v] == values
        assert matrix.systems == tuple(answers)


ROLES = ("human", "ai", "user", "assistant", "developer")


def leaves(value, path=()):
    """Every value in an object, with the names on the way to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, path)
    elif value not in (None, ""):
        yield path, value


def texts_in(cell):
    """Its text, or the longer ones of the list that it holds."""
    if cell.startswith("["):
        return [text for text in cell.split('"') if len(text) > 12]
    return [cell]


@pytest.mark.parametrize("name", [*EXPORTS, "langsmith_examples.jsonl"])
def test_nothing_leaves_an_export_uncounted(name):
    """Every value is in one of our rows, or its name is among what was left out."""
    table = read_rows(FILES / name)
    rows = [row.values for row in table.rows]
    held = repr(rows)
    counted = " ".join(table.left_out)
    numbers = set()
    for row in rows:
        numbers.update(map(float, row.get("scores", {}).values()))

    for path, value in leaves(objects_of(name)):
        if value in ROLES:
            continue
        names = [part.strip() or "column 1" for part in path]
        told = any(part in counted for part in names)
        held_number = value in numbers or number(value) in numbers
        shown = any(text in held for text in texts_in(str(value)))
        assert told or shown or held_number, (path, value)


def test_expected_facts_are_units():
    data = lp.load(FILES / "langsmith_examples.jsonl")
    assert [len(entry.units) for entry in data.units] == [2, 1]
    answers = {"mine": {"e1": "On Monday.", "e2": "Lune Boats runs it."}}
    result = lp.score(answers, FILES / "langsmith_examples.jsonl", judge="recall")
    assert 0 < result.scores["mine"] < 1


def test_contexts_are_what_precision_judges_against():
    documents = as_documents(FILES / "ragas.jsonl")
    assert documents["ragas", QUESTIONS[0]].startswith("The bridge at Lune")


def test_exports_in_memory_are_those_of_files():
    pandas = pytest.importorskip("pandas")
    rows = objects_of("ragas.jsonl")
    for data in (rows, pandas.DataFrame(rows), objects_of("deepeval.json")):
        loaded = lp.load(summaries=data, nulls="missing")
        assert loaded.summaries[0].texts[0] == "On Monday."
        assert loaded.references[0].question == QUESTIONS[0]


def test_a_question_in_ninety_lists_takes_no_time(tmp_path):
    deep = "Who?"
    for _ in range(90):
        deep = [deep]
    row = {"user_input": deep, "response": "Yes.", "reference": "Yes."}
    data = lp.load(summaries=write_lines(tmp_path / "deep.jsonl", [row]))
    assert data.references[0].question == "Who?"


def test_two_runs_of_one_set_meet_by_their_questions(tmp_path):
    rows = objects_of("ragas_old.csv")
    one = [{**row, "system": "a"} for row in rows]
    other = [{**row, "system": "b"} for row in reversed(rows)]
    first, second = lp.load(summaries=[*one, *other]).summaries
    assert first.texts == second.texts


ASKED = [
    *("Who runs the ferry?", "Who runs the ferry? (2)", "17", "*", "Who?\nWhen?"),
    *("Who? When?", "long " * 40 + "this?", "long " * 40 + "that?"),
]


def write_run(path, questions):
    """An export without ids, whose answers and scores tell the questions apart."""
    rows = []
    for question in questions:
        place = len(question) + (question == ASKED[-1])
        answer = f"It is {place} metres high."
        row = {"user_input": question, "response": answer, "reference": answer}
        rows.append({**row, "faithfulness": place / 1000})
    return write_lines(path, rows)


def test_files_in_other_orders_pair_by_their_questions(tmp_path):
    old = write_run(tmp_path / "old.jsonl", ASKED)
    new = write_run(tmp_path / "new.jsonl", ASKED[::-1])
    less = write_run(tmp_path / "less.jsonl", ASKED[:1:-1])

    for other, shared in ((new, 8), (less, 6)):
        values = lp.read_scores([old, other]).values[0]
        both = values[:, ~np.isnan(values).any(axis=0)]
        assert both.shape == (2, shared)
        assert (both[0] == both[1]).all()

    data = lp.load(summaries=[old, new])
    assert data.inputs[0] == ASKED[0]
    assert data.summaries[0].texts == data.summaries[1].texts
    runs = [quick_score(run) for run in (old, less)]
    (change,) = lp.changes(*runs).changes
    assert change.inputs == 6
    assert change.worse == change.better == 0


def test_no_two_questions_get_one_name(tmp_path):
    twice = [*ASKED, *ASKED]
    names = lp.load(summaries=write_run(tmp_path / "twice.jsonl", twice)).inputs
    assert len(set(names)) == 16
    # Somebody may ask what names another question, too.
    asked = [*twice, *(name for name in names if name not in ASKED)]
    more = lp.load(summaries=write_run(tmp_path / "more.jsonl", asked)).inputs
    assert len(set(more)) == len(asked) > 24


def test_answers_without_questions_go_by_their_number():
    row = {"input": "", "actual_output": "Yes."}
    data = lp.load(summaries=[row, row, {**row, "input": "2"}])
    names = data.summaries[0].inputs
    assert names[:2] == ("1", "2")
    assert names[2].startswith("2 (")


def test_a_table_of_ours_loses_no_column_without_a_word(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("input,reference,output\nq1,It rained.,Yes.\nq2,We left.,\n")
    assert lp.convert(path).left_out == {"values of output": 1}
    with refused("columns summary=output"):
        lp.score(path, judge="recall")


def test_one_question_with_two_right_answers_is_two_inputs_in_any_order():
    rows = []
    for answer in ("Oslo.", "Rome.", "Oslo."):
        rows.append({"user_input": "Where?", "response": answer, "reference": answer})
    forward = lp.load(rows).references
    backward = lp.load(rows[::-1]).references
    assert len({entry.input for entry in forward}) == 3
    told = {entry.input: entry.references for entry in forward}
    assert told == {entry.input: entry.references for entry in backward}
