"""Files of other tools: each is recognised by its content, nothing leaves it
uncounted."""

import json

import pytest
from cases import cases, refused
from tool_files import FILES, objects_of

import litepyramid as lp
from litepyramid.io.coerce import as_summaries, as_units
from litepyramid.types import SystemSummaries

RUBRICS = json.loads((FILES.parent / "rubrics.json").read_text())


@pytest.mark.parametrize("name", RUBRICS)
def test_rubrics_are_units_with_a_sign_tags_and_a_question(tmp_path, name):
    data = lp.load(FILES / name)
    weights = {}
    for entry in data.units:
        weights[entry.input] = [unit.weight for unit in entry.units]
    first = data.units[0]
    assert RUBRICS[name] == {
        "weights": weights,
        "tags": [*first.units[0].tags],
        "question": first.question,
        "left_out": data.left_out,
    }

    assert lp.load(objects_of(name)).units == data.units
    lp.convert(FILES / name).save(tmp_path / "units.jsonl")
    assert tuple(as_units(tmp_path / "units.jsonl")) == data.units


def test_one_rubric_is_that_of_every_answer():
    answers = [
        {"input": "no", "summary": "Oslo.", "prompt": "Norway's capital?"},
        {"input": "is", "summary": "Oslo.", "prompt": "Iceland's capital?"},
    ]
    data = lp.load(FILES / "autorubric.json", data=answers)
    assert [len(entry.units) for entry in data.units] == [3, 3]
    assert [entry.question for entry in data.units] == [a["prompt"] for a in answers]
    result = lp.score(data, judge=lambda summary, units: [1.0] * 3, rule="points")
    assert result.scores == {"system": pytest.approx(7 / 12)}


RUBRIC = [{"weight": 1, "requirement": "Rain fell"}]


def test_one_rubric_is_that_of_an_input_that_only_one_system_answered():
    rows = [
        {"system": "a", "input": "p", "summary": "Rain fell."},
        {"system": "b", "input": "p", "summary": "Rain fell."},
        {"system": "b", "input": "q", "summary": "Snow fell."},
    ]
    options = {"judge": "recall", "rule": "points"}
    for answers, inputs in ((rows, ("p", "q")), (rows[::-1], ("q", "p"))):
        result = lp.score(answers, RUBRIC, nulls="missing", **options)
        assert result.inputs == inputs
        assert result.scores == {"a": 1.0, "b": 0.75}
        with refused("no summary of input 'q' of system 'a'"):
            lp.score(answers, RUBRIC, **options)


def test_one_rubric_is_taken_wherever_units_are(tmp_path):
    answers = {"a": {"p": "Rain fell.", "q": "Snow fell."}}
    data = lp.load({"p": ["Rain fell."], "q": ["It snowed."]}, data=answers)
    options = {"judge": "recall", "rule": "points"}
    usual = lp.score(answers, RUBRIC, **options)
    assert lp.score(data, RUBRIC, **options).scores == usual.scores

    about = {"system": "a", "unit": "Rain fell"}
    told = [
        {**about, "input": "p", "label": 1, "presence": 1},
        {**about, "input": "q", "label": 0, "presence": 0},
    ]
    labelled = lp.load(units=data.units, data=answers, label_units=RUBRIC, labels=told)
    assert labelled.label_units == usual.units
    assert labelled.labels[0].labels == ((1,), (0,))

    assert lp.score(presence=told, units=RUBRIC, rule="points").scores == {"a": 0.5}
    written = lp.export(answers, units=RUBRIC, output=tmp_path / "out")
    assert [task.input for task in written.tasks.judging] == ["p", "q"]


def test_a_log_of_inspect_is_answers_by_run():
    path = FILES / "inspect.json"
    data = lp.load(path)
    assert data.systems == ("openai/small", "openai/small (epoch 2)")
    assert [s.texts for s in data.summaries] == [("On Monday.", "Ana."), ("", "")]
    first, second = data.references
    assert first.references == (("It was closed on Monday.",),)
    assert second.references == (("Ana.",), ("Ana Lund.",))
    assert first.question == "When was the bridge closed?"
    assert second.question == "system: Be brief.\n\nuser: Who steered?"

    assert "1 answer is missing" in data.notes[0]
    assert lp.load(path, nulls="missing").summaries[1].missing == ("q1",)
    table = lp.read_scores(path)
    assert table.matrix("model_graded_fact").values[0].tolist() == [1.0, 0.5]
    assert table.matrix("parts_style").values[0, 0] == 0.5
    held = lp.convert(path)
    holds = "Holds 2 units, 3 references, 4 summaries, 2 systems, 4 scores."
    assert holds in held.to_table()
    for left_out in ("scores' explanation", "metadata's source"):
        assert held.left_out[left_out] == 1
    assert lp.load(objects_of("inspect.json")).inputs == ("q1", "2")


def test_runs_of_one_model_in_two_logs_stay_apart(tmp_path):
    text = (FILES / "inspect.json").read_text()
    second = tmp_path / "monday.json"
    second.write_text(text.replace("On Monday.", "Monday."))
    logs = [FILES / "inspect.json", second]
    names = lp.load(data=logs).systems
    assert names[2:] == ("openai/small (monday)", "openai/small (epoch 2) (monday)")
    assert tuple(entry.system for entry in lp.convert(logs).summaries) == names


def test_results_of_promptfoo_are_answers_by_provider(tmp_path):
    path = FILES / "promptfoo.json"
    held = lp.convert(path, to="summaries")
    first = held.units[0]
    assert first.units[0].text == "Says that it was Monday."
    assert first.units[0].weight == 2
    assert first.question == "When was the bridge closed?"
    assert held.references[0].references == (("It was closed on Monday.",),)
    assert held.left_out["assertions of the type contains"] == 2
    held.save(tmp_path / "answers.jsonl")
    small, large = as_summaries(tmp_path / "answers.jsonl")
    question = first.question
    assert small == SystemSummaries("small", (question,), ("On Monday.",))
    assert (large.system, large.missing) == ("openai:large", (question,))
    assert held.scores.matrix("promptfoo").values.ravel().tolist() == [0.9, 0.0]


def test_results_of_promptfoo_pair_by_what_was_asked(tmp_path):
    """Another test before it changes no name, and the same question is told apart."""
    whole = objects_of("promptfoo.json")
    results = whole["results"]["results"]
    for number, question in ((7, "Who closed it?"), (8, "When was the bridge closed?")):
        variables = {"question": question, "n": number}
        test = {**results[0]["testCase"], "vars": variables}
        about = {"testIdx": number, "vars": variables, "testCase": test}
        results.insert(0, {**results[0], **about})

    path = tmp_path / "more.json"
    path.write_text(json.dumps(whole))
    names = {one.inputs for one in lp.load(data=path, nulls="missing").summaries}
    assert len(names) == 1
    ((first, second, third),) = names
    assert second == "Who closed it?"
    assert len({first, third, "When was the bridge closed?"}) == 2


def promptfoo(providers, topics=("ferries", "roads"), prompts=2, repeats=1):
    """promptfoo's results: every provider answers every prompt on every topic."""
    results = []
    for test, topic in enumerate(topics * repeats):
        for place in range(len(providers) * prompts):
            provider, prompt = divmod(place, prompts)
            own = {"promptIdx": place, "testIdx": test, "vars": {"topic": topic}}
            own |= {"provider": {"id": providers[provider]}}
            own |= {"prompt": {"raw": f"{prompt}: {topic}", "label": str(prompt)}}
            own["response"] = {"output": f"{place} {topic} {test // len(topics)}"}
            results.append({**own, "testCase": {}})
    return {"evalId": "e", "results": {"results": results}}


def test_results_of_promptfoo_are_the_same_in_whatever_order_they_came():
    whole = promptfoo(["a", "b"])
    data = lp.load(data=whole)
    assert data.systems == ("a, prompt 1", "a, prompt 2", "b, prompt 1", "b, prompt 2")
    topics = ('{"topic": "ferries"}', '{"topic": "roads"}')
    assert {own.inputs for own in data.summaries} == {topics}
    assert data.summaries[3].texts == ("3 ferries 0", "3 roads 0")

    whole["results"]["results"].reverse()
    assert lp.load(data=whole).summaries == data.summaries
    assert lp.load(data=promptfoo(["a", "b"], prompts=1)).systems == ("a", "b")


def test_a_test_of_promptfoo_that_is_repeated_is_another_sample():
    data = lp.load(data=promptfoo(["a"], prompts=1, repeats=2))
    assert data.systems == ("a", "a (2)")
    assert data.summaries[1].texts == ("0 ferries 1", "0 roads 1")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    cases(
        """
healthbench.jsonl | "points": 9 | "points": 0 | :2: the criterion .* the weight 0
healthbench.jsonl | "points": 9 | "points": NaN | :2: a broken rubric
healthbench.jsonl | "points": 9 | "points": -9 | :2: no unit of input 'hb-2'
healthbench.jsonl | "prompt_id": "hb-2" | "id": "hb-2" | :2: is no line of HealthBench
prbench.jsonl | "critically_detrimental_weight": -8 | "x": 1 | :1: no weight of the
autorubric.json | "weight": 2 | "weight": "much" | has the weight None
inspect.json | "id": 2 | "id": [2] | "input" is
inspect.json | "samples": [ | "samples": [3, | broken samples
inspect.json | "metadata": {"units" | "metadata": {"units": 3, "x" | no "units"
promptfoo.json | "vars": {"question" | "vars": ["question"], "x": {"y" | vars is
"""
    ),
)
def test_what_is_broken_is_one_error(tmp_path, name, old, new, message):
    text = (FILES / name).read_text()
    path = tmp_path / name
    path.write_text(text.replace(old, new))
    with refused(message):
        lp.load(path)
