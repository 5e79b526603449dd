"""Files of other tools: each is recognised by its content, nothing leaves it
uncounted."""

import json
from pathlib import Path

import pytest
from cases import cases, refused

import litepyramid as lp
from litepyramid.io.coerce import as_summaries, as_units

FILES = Path(__file__).resolve().parents[1] / "data" / "formats"
RUBRICS = {
    "healthbench.jsonl": (
        {"hb-1": [7, 3, -6], "hb-2": [9, -4]},
        ("level:example", "axis:completeness", "theme:emergency_referrals"),
        "My father fainted. What now?",
        {"field ideal_completions_data": 1},
    ),
    "researchrubrics.jsonl": (
        {"rr-1": [5, -3]},
        ("Explicit Criteria", "Transport"),
        "Compare ferries and bridges across the Lune.",
        {},
    ),
    "prbench.jsonl": (
        {"pr-1": [10, 2, -8]},
        ("critically important", "Finance"),
        "user: Is a gift taxed?\n\nassistant: Where?\n\nuser: In Norway.",
        {"annotation criteria_category": 1, "field topic": 1},
    ),
    "autorubric.json": ({"*": [10, 2, -5]}, ("accuracy",), None, {}),
}


@pytest.mark.parametrize("name", RUBRICS)
def test_rubrics_are_units_with_a_sign_tags_and_a_question(tmp_path, name):
    weights, tags, question, left_out = RUBRICS[name]
    data = lp.load(FILES / name)
    assert {e.input: [u.weight for u in e.units] for e in data.units} == weights
    assert data.units[0].units[0].tags == tags
    assert data.units[0].question == question
    assert data.left_out == left_out
    text = (FILES / name).read_text()
    rows = (
        json.loads(text)
        if text[0] == "["
        else [json.loads(r) for r in text.splitlines()]
    )

    assert lp.load(rows).units == data.units  # from Python too
    lp.convert(FILES / name).save(tmp_path / "units.jsonl")
    assert tuple(as_units(tmp_path / "units.jsonl")) == data.units


def test_one_rubric_is_that_of_every_answer():
    answers = [
        {
            "input": name,
            "summary": "Oslo.",
            "prompt": f"{name}'s capital?",
        }
        for name in ("no", "is")
    ]
    data = lp.load(FILES / "autorubric.json", summaries=answers)
    assert [(e.input, e.question, len(e.units)) for e in data.units] == [
        ("no", "no's capital?", 3),
        ("is", "is's capital?", 3),
    ]
    result = lp.score(data, judge=lambda summary, units: [1.0] * 3, rule="points")
    assert result.scores == {"system": pytest.approx(7 / 12)}


RUBRIC = [{"weight": 1, "requirement": "Rain fell"}]


@pytest.mark.parametrize(("step", "inputs"), [(1, ("p", "q")), (-1, ("q", "p"))])
def test_one_rubric_is_that_of_an_input_that_only_one_system_answered(step, inputs):
    rows = [
        {"system": "a", "input": "p", "summary": "Rain fell."},
        {"system": "b", "input": "p", "summary": "Rain fell."},
        {"system": "b", "input": "q", "summary": "Snow fell."},
    ][::step]
    result = lp.score(rows, RUBRIC, judge="recall", rule="points", nulls="missing")
    assert result.inputs == inputs
    assert result.scores == {"a": 1.0, "b": 0.75}
    with refused("no summary of input 'q' of system 'a'"):
        lp.score(rows, RUBRIC, judge="recall", rule="points")


def test_one_rubric_is_taken_wherever_units_are(tmp_path):
    answers = {"a": {"p": "Rain fell.", "q": "Snow fell."}}
    data = lp.load({"p": ["Rain fell."], "q": ["It snowed."]}, summaries=answers)
    options = {"judge": "recall", "rule": "points"}
    usual = lp.score(answers, RUBRIC, **options)
    assert lp.score(data, RUBRIC, **options).scores == usual.scores

    told = [
        {"system": "a", "input": name, "unit": "Rain fell", "label": label}
        for name, label in (("p", 1), ("q", 0))
    ]
    labelled = lp.load(data.units, summaries=answers, label_units=RUBRIC, labels=told)
    assert labelled.label_units == usual.units
    assert labelled.labels[0].labels == ((1,), (0,))

    judged = [{**row, "presence": row["label"]} for row in told]
    assert lp.score(presence=judged, units=RUBRIC, rule="points").scores == {"a": 0.5}
    written = lp.export(answers, units=RUBRIC, output=tmp_path / "out")
    assert [task.input for task in written.tasks.judging] == ["p", "q"]


def test_a_log_of_inspect_is_answers_by_run():
    path = FILES / "inspect.json"
    data = lp.load(path)
    assert data.systems == ("openai/small", "openai/small (epoch 2)")
    assert [s.texts for s in data.summaries] == [("On Monday.", "Ana."), ("", "")]
    assert [e.references for e in data.references] == [
        (("It was closed on Monday.",),),
        (("Ana.",), ("Ana Lund.",)),
    ]
    assert [e.question for e in data.units] == [
        "When was the bridge closed?",
        "system: Be brief.\n\nuser: Who steered?",
    ]

    assert "1 answer is missing" in data.notes[0]
    assert lp.load(path, nulls="missing").summaries[1].missing == ("q1",)
    table = lp.read_scores(path)
    assert table.matrix("model_graded_fact").values[0].tolist() == [1.0, 0.5]
    assert table.matrix("parts_style").values[0, 0] == 0.5
    held = lp.convert(path)
    assert (
        "Holds 2 units, 3 references, 4 summaries, 2 systems, 4 scores."
        in held.to_table()
    )

    assert (
        held.left_out["scores' explanation"] == held.left_out["metadata's source"] == 1
    )
    assert lp.load(json.loads(path.read_text())).inputs == ("q1", "2")


def test_runs_of_one_model_in_two_logs_stay_apart(tmp_path):
    second = tmp_path / "monday.json"
    second.write_text(
        (FILES / "inspect.json").read_text().replace("On Monday.", "Monday.")
    )
    names = lp.load(summaries=[FILES / "inspect.json", second]).systems
    assert names[2:] == ("openai/small (monday)", "openai/small (epoch 2) (monday)")
    assert (
        tuple(s.system for s in lp.convert([FILES / "inspect.json", second]).summaries)
        == names
    )


def test_results_of_promptfoo_are_answers_by_provider(tmp_path):
    path = FILES / "promptfoo.json"
    held = lp.convert(path, to="summaries")
    assert held.units[0].units[0].text == "Says that it was Monday."
    assert held.units[0].units[0].weight == 2
    assert held.units[0].question == "When was the bridge closed?"
    assert held.references[0].references == (("It was closed on Monday.",),)
    assert held.left_out["assertions of the type contains"] == 2
    held.save(tmp_path / "answers.jsonl")
    small, large = as_summaries(tmp_path / "answers.jsonl")
    assert (small.system, small.texts, small.missing) == ("small", ("On Monday.",), ())
    question = "When was the bridge closed?"
    assert (large.system, large.missing) == ("openai:large", (question,))
    assert held.scores.matrix("promptfoo").values.ravel().tolist() == [0.9, 0.0]


def test_results_of_promptfoo_pair_by_what_was_asked(tmp_path):
    """Another test before it changes no name, and the same question is told apart."""
    whole = json.loads((FILES / "promptfoo.json").read_text())
    results = whole["results"]["results"]
    for number, question in ((7, "Who closed it?"), (8, "When was the bridge closed?")):
        variables = {"question": question, "n": number}
        test = {**results[0]["testCase"], "vars": variables}
        about = {"testIdx": number, "vars": variables, "testCase": test}
        results.insert(0, {**results[0], **about})

    path = tmp_path / "more.json"
    path.write_text(json.dumps(whole))
    names = {one.inputs for one in lp.load(summaries=path, nulls="missing").summaries}
    assert len(names) == 1
    ((first, second, third),) = names
    assert second == "Who closed it?"
    assert len({first, third, "When was the bridge closed?"}) == 2


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        *cases(
            """
healthbench.jsonl | "points": 9 | "points": 0 | :2: the criterion .* the weight 0
healthbench.jsonl | "points": 9 | "points": NaN | :2: a broken rubric
healthbench.jsonl | "points": 9 | "points": -9 | :2: no unit of input 'hb-2'
prbench.jsonl | "critically_detrimental_weight": -8 | "x": 1 | :1: no weight of the
autorubric.json | "weight": 2 | "weight": "much" | has the weight None
inspect.json | "id": 2 | "id": [2] | "input" is
inspect.json | "samples": [ | "samples": [3, | broken samples
inspect.json | "metadata": {"units" | "metadata": {"units": 3, "x" | no "units"
promptfoo.json | "vars": {"question" | "vars": ["question"], "x": {"y" | vars is
"""
        ),
        (
            "healthbench.jsonl",
            '"prompt_id": "hb-2", ',
            "",
            ":2: is no line of HealthBench",
        ),
    ],
)
def test_what_is_broken_is_one_error(tmp_path, name, old, new, message):
    text = (FILES / name).read_text()
    path = tmp_path / name
    path.write_text(text.replace(old, new))
    with refused(message):
        lp.load(path)
