"""Exports of tools: what they hold comes to its place, the rest is counted by name."""

import json

import pytest
from cases import cases, refused, write_lines
from tool_files import FILES, objects_of

import litepyramid as lp
from litepyramid.checked import number

# What each file is told to be, and what it holds.
EXPORTS = json.loads((FILES.parent / "exports.json").read_text())
QUESTIONS = ["When was the bridge closed?", "Who runs the ferry?"]


def lines_of(rows, folder, **options):
    """The lines of the table that some rows of a tool become."""
    return lp.convert([write_lines(folder / "rows.jsonl", rows)], **options).lines


def column(lines, name):
    return [line.get(name) for line in lines]


@pytest.mark.parametrize("name", EXPORTS)
def test_what_an_export_holds_comes_to_its_place(name):
    export = EXPORTS[name]
    held = lp.convert([FILES / name])
    assert held.notes[0].endswith(export["told"])

    answers = {}
    for line in held.lines:
        if "summary" in line:
            answers.setdefault(line["system"], []).append(line["summary"])
    assert answers == export["answers"]
    documents = [line for line in held.lines if line.get("documents")]
    assert len(documents) == export["documents"]
    assert all(("references" in line) == export["references"] for line in held.lines)

    for metric, values in export["scores"].items():
        scores = column(lp.convert([FILES / name], to="scores").lines, metric)
        assert [score for score in scores if score is not None] == values


@pytest.mark.parametrize("name", EXPORTS)
def test_the_table_is_all_that_score_needs(name, tmp_path):
    held = lp.convert([FILES / name])
    held.save(tmp_path / "answers.jsonl")
    if not any({"references", "units"} & line.keys() for line in held.lines):
        return
    if not EXPORTS[name]["answers"]:
        assert lp.load(units=tmp_path / "answers.jsonl").units
        return
    result = lp.score(tmp_path / "answers.jsonl", judge="recall", samples=50)
    assert {*result.scores} == {*EXPORTS[name]["answers"]}


# Who speaks, the labels that are numbers now, and the filter of lm-eval that is none.
ROLES = ("human", "ai", "user", "assistant", "developer", "tool", "none")
ROLES += ("support", "partial_support", "not_support")


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


TABLES = [name for name in EXPORTS if not name.startswith(("promptfoo", "inspect"))]


@pytest.mark.parametrize("name", TABLES)
def test_nothing_leaves_an_export_uncounted(name):
    """Every value is in one of our rows, or its name is among what was left out."""
    held = lp.convert([FILES / name])
    shown = repr(held.lines)
    counted = " ".join(held.left_out)
    numbers = set()
    for line in (
        lp.convert([FILES / name], to="scores").lines if "score" in counted else ()
    ):
        numbers.update([value for value in line.values() if not isinstance(value, str)])

    for path, value in leaves(objects_of(name)):
        # A column without a name is the index of a frame.
        told = any(not part or part in counted for part in path)
        is_score = value in numbers or number(value) in numbers
        is_shown = any(text in shown for text in texts_in(str(value)))
        assert value in ROLES or path[-1] == "type" or told or is_score or is_shown, (
            path,
            value,
        )


BY_HAND = """
langsmith.csv   | input=example_id,question=inputs.question,summary=outputs.answer,reference=reference.answer
lm_eval.jsonl   | input=doc_id,question=doc.question,summary=filtered_resps.0,reference=target
phoenix_spans.csv | question=attributes.input.value,summary=attributes.output.value
"""


@pytest.mark.parametrize(("name", "columns"), cases(BY_HAND))
def test_a_preset_can_be_written_by_hand(name, columns):
    """For a tool that is not known the columns are given to any command."""
    if "filtered_resps.0" in columns:
        pytest.importorskip(
            "litepyramid.data.headers", reason="the door takes no lists"
        )
    given = lp.load(FILES / name, columns=columns, nulls="missing")
    texts = [text for row in given.summaries.texts for text in row]
    assert texts == column(lp.convert([FILES / name]).lines, "summary")


def test_a_user_names_columns_in_place_of_those_that_are_recognised(tmp_path):
    rows = objects_of("openai_evals.json")["data"]
    for row in rows:
        row["datasource_item"]["right label"] = row["datasource_item"].pop("ideal")
    usual = lp.convert([FILES / "openai_evals.json"]).lines
    columns = "reference=datasource_item.right label"
    assert column(lines_of(rows, tmp_path, columns=columns), "references") == column(
        usual, "references"
    )
    with refused("no column 'datasource_item.ideal'.*datasource_item.right label"):
        lines_of(rows, tmp_path, columns={"reference": "datasource_item.ideal"})

    unknown = [{"n": 1, "asked": {"q": "Why?"}, "told": ["So."], "gold": "Because."}]
    columns = "input=n,question=asked.q,summary=told.0,reference=gold"
    (line,) = lines_of(unknown, tmp_path, columns=columns)
    about = {"system": "rows", "input": "1", "question": "Why?"}
    assert line == {**about, "references": ["Because."], "summary": "So."}


def ragas_rows(answers, **more):
    """Rows of ragas, whose questions are numbered."""
    rows = []
    for place, answer in enumerate(answers):
        row = {"user_input": f"Question {place}?", "response": answer}
        rows.append({**row, "reference": f"It is {place}.", **more})
    return rows


# Names of inputs
# ------------------------------------------------------------------------------------

ASKED = [
    *("Who runs the ferry?", "Who runs the ferry? (2)", "17", "*", "Who?\nWhen?"),
    *("Who? When?", "long " * 40 + "this?", "long " * 40 + "that?"),
]


def asked_rows(questions):
    """Rows without ids, whose answers tell the questions apart."""
    rows = []
    for question in questions:
        answer = f"It is {len(question) + (question == ASKED[-1])} metres high."
        row = {"user_input": question, "response": answer, "reference": answer}
        rows.append(row)
    return rows


def test_files_in_other_orders_pair_by_their_questions(tmp_path):
    old = lines_of(asked_rows(ASKED), tmp_path)
    assert lines_of(asked_rows(ASKED[::-1]), tmp_path) == old
    less = lines_of(asked_rows(ASKED[:1:-1]), tmp_path)
    assert [line for line in old if line in less] == less
    assert ASKED[0] in column(old, "input")


def test_no_two_questions_get_one_name(tmp_path):
    names = column(lines_of(asked_rows(ASKED), tmp_path), "input")
    assert len({*names}) == len(ASKED)
    # Somebody may ask what names another question, too.
    asked = [*ASKED, *(name for name in names if name not in ASKED)]
    more = column(lines_of(asked_rows(asked), tmp_path), "input")
    assert len({*more}) == len(asked) > 12


def test_answers_without_questions_go_by_their_number(tmp_path):
    row = {"input": "", "actual_output": "Yes."}
    names = column(lines_of([row, row, {**row, "input": "2"}], tmp_path), "input")
    assert names[:2] == ["1", "2"]
    assert names[2].startswith("2 (")


def test_one_question_with_two_right_answers_is_two_inputs_in_any_order(tmp_path):
    rows = []
    for answer in ("Oslo.", "Rome."):
        rows.append({"user_input": "Where?", "response": answer, "reference": answer})
    lines = lines_of(rows, tmp_path)
    assert lines_of(rows[::-1], tmp_path) == lines
    assert len({*column(lines, "input")}) == 2


def test_an_id_of_0_is_one(tmp_path):
    rows = []
    for name in (0, 1):
        item = {"question": QUESTIONS[name], "ideal": "So."}
        rows.append({"datasource_item_id": name, "datasource_item": item, "sample": {}})
    assert column(lines_of(rows, tmp_path), "input") == ["0", "1"]


def test_one_id_of_two_questions_is_refused(tmp_path):
    rows = ragas_rows(["Yes.", "No."], id=7)
    with refused("question") as error:
        lines_of(rows, tmp_path)
    assert error.value.line == 2


# Repeats
# ------------------------------------------------------------------------------------


def test_what_a_system_answers_again_is_a_repeat_of_its_input(tmp_path):
    rows = [*ragas_rows(["Yes.", "No."]), *ragas_rows(["Never."], again=1)]
    lines = lines_of(rows, tmp_path)
    assert [(line["input"], line.get("repeat"), line["summary"]) for line in lines] == [
        ("Question 0?", None, "Yes."),
        ("Question 0?", 2, "Never."),
        ("Question 1?", None, "No."),
    ]


def test_repetitions_of_an_example_are_repeats(tmp_path):
    about = {"input": {"question": "Why?"}, "output": "So.", "reference_output": "So."}
    rows = []
    for time in (1, 2, 3):
        for name in (0, 1):
            rows.append({**about, "example_id": name, "repetition_number": time})
    lines = lines_of(rows, tmp_path)
    assert column(lines, "input") == ["0"] * 3 + ["1"] * 3
    assert {*column(lines, "system")} == {"rows"}


def test_a_list_of_texts_is_an_answer_for_each_repeat(tmp_path):
    row = {"doc_id": 3, "doc": {"question": "Why?"}, "target": "So."}
    lines = lines_of([{**row, "filtered_resps": [["So.", "Thus."]]}], tmp_path)
    assert column(lines, "summary") == ["So.", "Thus."]
    assert column(lines, "repeat") == [None, 2]
    with refused(r"the answer is \[-1.5, true\].* Expected a text"):
        lines_of([{**row, "filtered_resps": [[-1.5, True]]}], tmp_path)


def test_filters_of_one_answer_are_systems(tmp_path):
    rows = []
    for name in ("strict", "loose"):
        about = {"doc_id": 3, "target": "So.", "filter": name}
        rows.append({**about, "filtered_resps": [name]})
    assert column(lines_of(rows, tmp_path), "system") == [
        "rows (loose)",
        "rows (strict)",
    ]


# Answers
# ------------------------------------------------------------------------------------

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
def test_an_answer_is_what_the_assistant_said_last(outputs, answer, tmp_path):
    row = {"example_id": "e", "inputs": {"question": "Who?"}}
    row["outputs"] = json.loads(outputs)
    row["reference_outputs"] = {
        "messages": [
            {"role": "user", "content": "Who?"},
            {"role": "assistant", "content": "Lune Boats."},
        ]
    }
    (line,) = lines_of([row], tmp_path)
    assert line["summary"] == answer
    assert line["references"] == ["Lune Boats."]


def test_answers_that_are_json_or_empty_are_answers(tmp_path):
    answers = ['{"answer": "In May."}', {"answer": "In June.", "sure": True}, "", None]
    lines = lines_of(ragas_rows(answers), tmp_path)
    told = ['{"answer": "In May."}', "In June.", "", None]
    assert column(lines, "summary") == told


def test_a_test_set_without_answers_is_no_run(tmp_path):
    """The question of a conversation's column is no answer."""
    rows = [{"user_input": "Why?", "reference": "So."}]
    (line,) = lines_of(rows, tmp_path)
    assert "summary" not in line


def test_a_question_in_many_lists_takes_no_time(tmp_path):
    deep = "Who?"
    for _ in range(45):
        deep = [deep]
    row = {"user_input": deep, "response": "Yes.", "reference": "Yes."}
    (line,) = lines_of([row], tmp_path)
    assert line["question"] == "Who?"


def test_questions_that_are_objects_name_their_inputs(tmp_path):
    rows = []
    for topic in ("ferries", "roads"):
        row = {"input": {"topic": topic, "n": 1}, "actual_output": f"On {topic}."}
        rows.append({**row, "expected_output": "A text."})
    lines = lines_of(rows, tmp_path)
    assert lines_of(rows[::-1], tmp_path) == lines
    assert lines[0]["question"] == '{"n": 1, "topic": "ferries"}'


def test_truths_among_scores_are_numbers(tmp_path):
    feedback = [{"key": "correct", "score": True}, {"key": "style", "score": "good"}]
    row = {"example_id": "e", "inputs": {"question": "Who?"}, "feedback": feedback}
    row |= {"outputs": {"answer": "Bo."}, "reference_outputs": {"answer": "Bo."}}
    (line,) = lines_of([row], tmp_path, to="scores")
    assert line == {"system": "rows", "input": "e", "correct": 1.0}


def test_the_latest_run_of_deepeval_is_read(tmp_path):
    path = tmp_path / "deepeval.json"
    run = objects_of("deepeval.json")
    path.write_text(json.dumps({"testRunData": run, "testRunLink": None}, indent=1))
    usual = lp.convert([FILES / "deepeval.json"])
    assert lp.convert([path]).lines == usual.lines


def test_a_log_holds_answers_before_what_graders_said_of_them(tmp_path):
    events = objects_of("openai_log.jsonl")
    graded = {**events[1], "data": {"prompt": "Is it so?", "sampled": ["Yes."]}}
    metrics = {**events[1], "type": "metrics", "data": {"accuracy": 1.0}}
    held = lines_of([*events[:3], graded, metrics, *events[3:]], tmp_path)
    assert column(held, "summary") == ["On Monday.", "The town."]


def test_a_table_of_promptfoo_is_not_scored_with_its_verdicts(tmp_path):
    """The reason quotes what was expected: two wrong answers scored .64."""
    path = tmp_path / "p.csv"
    cell = '"[FAIL] (0.00) Expected ""In May.""\n---\nNobody."'
    path.write_text(f"question,expected,[m] x\nWhen?,In May.,{cell}\n")
    columns = "input=question,reference=expected,system=*"
    with refused("litepyramid convert"):
        lp.score(path, columns=columns, judge="recall")
    path = tmp_path / "p.json"
    path.write_text('{"evalId": "e", "results": {"results": []}, "config": {}}')
    with refused("litepyramid convert"):
        lp.score(path, judge="recall")
