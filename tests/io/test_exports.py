"""Exports of six tools: question, answer, contexts and references to their places, the
rest counted by name."""

import json

import numpy as np
import pandas
import pytest
from cases import cases, quick_score, refused, write_lines
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

    data = lp.load(data=FILES / name, nulls="missing")
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
    rows = objects_of("ragas.jsonl")
    for data in (rows, pandas.DataFrame(rows), objects_of("deepeval.json")):
        loaded = lp.load(data=data, nulls="missing")
        assert loaded.summaries[0].texts[0] == "On Monday."
        assert loaded.references[0].question == QUESTIONS[0]


def test_a_question_in_ninety_lists_takes_no_time(tmp_path):
    deep = "Who?"
    for _ in range(90):
        deep = [deep]
    row = {"user_input": deep, "response": "Yes.", "reference": "Yes."}
    data = lp.load(data=write_lines(tmp_path / "deep.jsonl", [row]))
    assert data.references[0].question == "Who?"


def test_two_runs_of_one_set_meet_by_their_questions(tmp_path):
    rows = objects_of("ragas_old.csv")
    one = [{**row, "system": "a"} for row in rows]
    other = [{**row, "system": "b"} for row in reversed(rows)]
    first, second = lp.load(data=[*one, *other]).summaries
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

    data = lp.load(data=[old, new])
    assert data.inputs[0] == ASKED[0]
    assert data.summaries[0].texts == data.summaries[1].texts
    runs = [quick_score(run) for run in (old, less)]
    (change,) = lp.changes(*runs).changes
    assert change.inputs == 6
    assert change.worse == change.better == 0


def test_no_two_questions_get_one_name(tmp_path):
    twice = [*ASKED, *ASKED]
    names = lp.load(data=write_run(tmp_path / "twice.jsonl", twice)).inputs
    assert len(names) == len(ASKED)
    # Somebody may ask what names another question, too.
    asked = [*twice, *(name for name in names if name not in ASKED)]
    more = lp.load(data=write_run(tmp_path / "more.jsonl", asked)).inputs
    assert len(set(more)) == len(set(asked)) > 12


def test_answers_without_questions_go_by_their_number():
    row = {"input": "", "actual_output": "Yes."}
    data = lp.load(data=[row, row, {**row, "input": "2"}])
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
    assert len({entry.input for entry in forward}) == 2
    told = {entry.input: entry.references for entry in forward}
    assert told == {entry.input: entry.references for entry in backward}


def ragas_rows(answers, **more):
    """Rows of ragas, whose questions are numbered."""
    rows = []
    for place, answer in enumerate(answers):
        row = {"user_input": f"Question {place}?", "response": answer}
        rows.append({**row, "reference": f"It is {place}.", **more})
    return rows


def test_a_question_asked_again_is_another_sample_of_its_input():
    rows = [*ragas_rows(["Yes.", "No."]), *ragas_rows(["Yes.", "Never."], again=1)]
    data = lp.load(data=[*rows, *rows])
    assert data.inputs == ("Question 0?", "Question 1?")
    assert [(own.system, own.texts) for own in data.summaries] == [
        ("system", ("Yes.", "No.")),
        ("system (2)", ("Yes.", "Never.")),
    ]
    assert data.left_out["rows that say the same again"] == 4

    # One that comes again alone is another input.
    (own,) = lp.load(data=rows[:2] + ragas_rows(["Never."])).summaries
    assert own.texts == ("Yes.", "No.", "Never.")


def test_repetitions_of_an_example_are_samples_of_its_id():
    about = {
        "input": {"question": "Why?"},
        "output": "So.",
        "reference_output": {"answer": "So."},
    }
    rows = []
    for time in (1, 2, 3):
        for name in (0, 1):
            rows.append({**about, "example_id": name, "repetition_number": time})
    data = lp.load(data=rows)
    assert data.inputs == ("0", "1")
    assert data.systems == ("system", "system (2)", "system (3)")


# What a model put out, and its answer.
OUTPUTS = """
{"messages": [{"type": "human", "content": "Who runs it?"}, {"type": "ai", "content": "", "tool_calls": [{"name": "search"}]}, {"type": "tool", "content": "Lune Boats runs the ferry."}, {"type": "ai", "content": "I do not know."}]} | I do not know.
{"output": {"messages": [{"role": "assistant", "content": "Bo."}]}} | Bo.
{"output": [{"type": "text", "text": "A"}, {"type": "text", "text": "b."}]} | A⏎b.
{"output": [{"type": "reasoning", "summary": []}, {"role": "assistant", "content": [{"type": "output_text", "text": "Lune."}]}]} | Lune.
{"role": "assistant", "content": "Lune."} | Lune.
{"choices": [{"index": 0, "message": {"content": "Bo."}}], "n": 1} | Bo.
{"verdict": "yes", "grade": 2} | {"grade": 2, "verdict": "yes"}
"""


@pytest.mark.parametrize(("outputs", "answer"), cases(OUTPUTS))
def test_an_answer_is_what_the_assistant_said_last(outputs, answer):
    row = {
        "example_id": "e",
        "inputs": {"question": "Who?"},
        "outputs": json.loads(outputs),
    }
    row["reference_outputs"] = {
        "messages": [
            {"role": "user", "content": "Who?"},
            {"role": "assistant", "content": "Lune Boats."},
        ]
    }
    data = lp.load(data=[row])
    assert data.summaries[0].texts == (answer,)
    assert data.references[0].references == (("Lune Boats.",),)


def test_answers_that_are_json_or_empty_are_answers():
    answers = ['{"answer": "In May."}', {"answer": "In June.", "sure": True}, "", None]
    data = lp.load(data=ragas_rows(answers), nulls="missing")
    (own,) = data.summaries
    assert own.texts == ('{"answer": "In May."}', "In June.", "", "")
    assert own.missing == ("Question 3?",)


def test_questions_that_are_objects_name_their_inputs():
    rows = []
    for topic in ("ferries", "roads"):
        row = {"input": {"topic": topic, "n": 1}, "actual_output": f"On {topic}."}
        rows.append({**row, "expected_output": "A text."})
    forward, backward = (lp.load(data=r) for r in (rows, rows[::-1]))
    assert forward.inputs == tuple(reversed(backward.inputs))
    assert forward.references[0].question == '{"n": 1, "topic": "ferries"}'
    item = {"id": "d", "input": {"question": "Why?", "lang": "en"}}
    (entry,) = lp.load([{**item, "expectedOutput": "So."}]).references
    assert entry.question == "Why?"


def test_truths_among_scores_are_numbers(tmp_path):
    feedback = [{"key": "correct", "score": True}, {"key": "style", "score": "good"}]
    row = {"example_id": "e", "inputs": {"question": "Who?"}, "feedback": feedback}
    row |= {"outputs": {"answer": "Bo."}, "reference_outputs": {"answer": "Bo."}}
    held = lp.convert(write_lines(tmp_path / "rows.jsonl", [row]))
    assert held.scores.matrix("correct").values.tolist() == [[1.0]]
    assert held.left_out["values of feedback.score"] == 1


def test_the_latest_run_of_deepeval_is_read(tmp_path):
    path = tmp_path / "latest.json"
    run = objects_of("deepeval.json")
    path.write_text(json.dumps({"testRunData": run, "testRunLink": None}, indent=1))
    usual = lp.convert(FILES / "deepeval.json")
    assert lp.convert(path).left_out == usual.left_out
    assert lp.load(data=path).summaries[0].texts[0] == "On Monday."


def test_a_log_holds_answers_before_what_graders_said_of_them(tmp_path):
    events = objects_of("openai_log.jsonl")
    graded = {**events[1], "data": {"prompt": "Is it so?", "sampled": ["Yes."]}}
    metrics = {**events[1], "type": "metrics", "data": {"accuracy": 1.0}}
    events[1]["data"]["sampled"] = ["On Monday.", "On Tuesday."]
    path = write_lines(
        tmp_path / "log.jsonl", [*events[:3], graded, metrics, *events[3:]]
    )
    data = lp.load(data=path)
    assert data.summaries[0].texts == ("On Monday.", "The town.")
    assert len(data.references) == 2
    assert data.left_out["sampling events after the first of a sample"] == 1
    assert data.left_out["answers after the first of a sample"] == 1


def test_columns_name_what_an_export_holds_in_its_objects(tmp_path):
    rows = objects_of("openai_evals.json")["data"]
    usual = lp.load(data=rows)
    for row in rows:
        row["datasource_item"]["right label"] = row["datasource_item"].pop("ideal")
    path = write_lines(tmp_path / "items.jsonl", rows)
    columns = "reference=datasource_item.right label"
    data = lp.load(data=path, columns=columns)
    assert data.references == usual.references
    with refused("no column 'datasource_item.ideal'.*datasource_item.right label"):
        lp.load(data=path, columns="reference=datasource_item.ideal")
    for row in rows:
        item = row["datasource_item"]
        row["datasource_item"] = {"item": {**item, "ideal": item["right label"]}}
    assert lp.load(data=rows).references == usual.references


def test_a_frame_of_spans_is_recognised_by_its_index(tmp_path):
    spans = pandas.DataFrame(
        {
            "attributes.input.value": QUESTIONS,
            "attributes.output.value": ["On Monday.", "The town."],
        },
        index=pandas.Index(["s1", "s2"], name="context.span_id"),
    )
    assert lp.load(data=spans).summaries[0].inputs == tuple(QUESTIONS)
    spans.to_csv(tmp_path / "spans.csv", index=False)
    with refused("Add --columns summary=attributes.output.value"):
        lp.load(data=tmp_path / "spans.csv")
