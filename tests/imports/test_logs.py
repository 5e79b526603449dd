"""Logs, rubrics and labelled data sets, whose rows are made before a preset reads them."""

import json

import pytest
from cases import cases, refused, write_lines
from tool_files import FILES, objects_of

import litepyramid as lp

RUBRICS = json.loads((FILES.parent / "rubrics.json").read_text())


def saved(files, folder, **options):
    """The file that some files are converted to."""
    path = folder / "saved.jsonl"
    lp.convert(files, **options).save(path)
    return path


@pytest.mark.parametrize("name", RUBRICS)
def test_rubrics_are_units_with_a_sign_tags_and_a_question(name, tmp_path):
    held = lp.convert([FILES / name])
    weights = {}
    for line in held.lines:
        units = {unit["text"]: unit["weight"] for unit in line["units"]}
        weights[line["input"]] = [*units.values()]
    first = held.lines[0]
    assert RUBRICS[name] == {
        "weights": weights,
        "tags": first["units"][0]["tags"],
        "question": first.get("question"),
        "left_out": held.left_out,
    }
    units = lp.load(units=saved([FILES / name], tmp_path)).units
    assert {*units.inputs} == {*weights}


def test_one_rubric_is_that_of_every_answer(tmp_path):
    rubric = saved([FILES / "autorubric.json"], tmp_path)
    answers = [
        {"input": "no", "summary": "Oslo.", "prompt": "Norway's capital?"},
        {"input": "is", "summary": "Oslo.", "prompt": "Iceland's capital?"},
    ]
    data = lp.load(answers, rubric)
    assert [len(entry.units) for entry in data.units] == [3, 3]
    assert data.units["no"].question == "Norway's capital?"
    result = lp.score(data, judge=lambda summary, units: [1.0] * 3, rule="points")
    assert result.scores == {"system": pytest.approx(7 / 12)}

    # Together they are one table.
    path = write_lines(tmp_path / "answers.jsonl", answers)
    lines = lp.convert([FILES / "autorubric.json", path]).lines
    assert [len(line["units"]) for line in lines] == [3, 3]


def test_a_log_of_inspect_is_answers_with_repeats(tmp_path):
    path = FILES / "inspect.json"
    held = lp.convert([path])
    lines = [
        (line["input"], line.get("repeat"), line["summary"]) for line in held.lines
    ]
    assert lines == [
        ("2", None, "Ana."),
        ("2", 2, ""),
        ("q1", None, "On Monday."),
        ("q1", 2, None),
    ]
    assert {line["system"] for line in held.lines} == {"openai/small"}
    assert held.lines[0]["references"] == ["Ana.", "Ana Lund."]
    assert held.lines[0]["question"] == "system: Be brief.\n\nuser: Who steered?"
    for left_out in ("settings of the run", "metadata.source", "error.message"):
        assert left_out in held.left_out

    # Repeats are averaged, and no system of their own.
    (first, second) = lp.convert([path], to="scores").lines
    assert (first["model_graded_fact"], second["model_graded_fact"]) == (0.25, 1.0)
    table = saved([path], tmp_path)
    result = lp.score(table, judge=lambda text, units: [float(bool(text))], samples=50)
    assert result.scores == {"openai/small": 0.5}
    assert "2 answers to an input" in " ".join(result.notes)
    missing = lp.score(
        table,
        judge=lambda text, units: [float(bool(text))],
        samples=50,
        nulls="missing",
    )
    assert missing.scores == {"openai/small": 0.75}
    missing.save(tmp_path / "scores.json")
    assert lp.report(tmp_path / "scores.json").scores == missing.scores


def test_runs_of_one_model_in_two_logs_stay_apart(tmp_path):
    text = (FILES / "inspect.json").read_text()
    second = tmp_path / "monday.json"
    second.write_text(text.replace("On Monday.", "Monday."))
    lines = lp.convert([FILES / "inspect.json", second]).lines
    names = ["openai/small", "openai/small (monday)"]
    assert sorted({line["system"] for line in lines}) == names


# promptfoo
# ------------------------------------------------------------------------------------


def promptfoo(
    variables, expected=(), answers=("Bo.",), provider="p", prompts=1, repeats=1
):
    """A result for each provider, prompt and test."""
    results = []
    for test, own in enumerate([*variables] * repeats):
        for place in range(prompts):
            result = {"promptIdx": place, "testIdx": test, "vars": own}
            result |= {"provider": {"id": provider}, "score": 1, "namedScores": {}}
            result["testCase"] = {"assert": [*expected]}
            answer = answers[(test * prompts + place) % len(answers)]
            results.append({**result, "response": {"output": answer}})
    return results


ASKED = {"question": "Who runs the ferry?"}
RUBRIC = {"type": "llm-rubric", "value": "Is polite to {{who}}", "weight": 2}


def test_the_gold_answer_counts_and_no_instruction_to_a_judge(tmp_path):
    gold = "Lune Boats runs the ferry. A ticket costs 4 euros."
    rows = promptfoo([{**ASKED, "ground_truth": gold}], [RUBRIC], [gold])
    held = lp.convert([write_lines(tmp_path / "p.jsonl", rows)])
    assert held.lines[0]["references"] == [gold]
    assert held.left_out["criteria"] == 1
    assert "units" not in held.lines[0]
    held.save(tmp_path / "answers.jsonl")
    assert lp.score(tmp_path / "answers.jsonl", samples=50).scores["p"] > 0.8


def test_criteria_are_units_where_there_is_no_gold_answer(tmp_path):
    rows = promptfoo(
        [{**ASKED, "who": "Ana"}], [{"type": "assert-set", "assert": [RUBRIC]}]
    )
    (line,) = lp.convert([write_lines(tmp_path / "p.jsonl", rows)]).lines
    unit = {"text": "Is polite to Ana", "weight": 2, "tags": ["llm-rubric"]}
    assert line["units"] == [unit]


def test_contexts_and_facts_are_found_among_variables(tmp_path):
    own = {**ASKED, "context": ["A ferry."], "facts": ["Bo runs it."], "n": 1}
    rows = promptfoo([own])
    held = lp.convert([write_lines(tmp_path / "p.jsonl", rows)])
    assert held.lines[0]["documents"] == ["A ferry."]
    assert held.lines[0]["units"] == [{"text": "Bo runs it."}]
    assert held.left_out["vars.n"] == 1


def test_a_test_that_is_run_again_is_a_repeat_and_another_one_is_another_input(
    tmp_path,
):
    own = [{**ASKED, "n": 1}, {**ASKED, "n": 2}]
    rows = promptfoo(own, repeats=2)
    lines = lp.convert([write_lines(tmp_path / "p.jsonl", rows)]).lines
    assert len({line["input"] for line in lines}) == 2
    assert [line.get("repeat") for line in lines] == [None, 2] * 2
    assert all(line["input"].startswith(ASKED["question"]) for line in lines)


def test_prompts_of_one_provider_are_systems(tmp_path):
    rows = promptfoo([{"topic": "ferries"}, {"topic": "roads"}], prompts=2)
    lines = lp.convert([write_lines(tmp_path / "p.jsonl", rows)]).lines
    assert {line["system"] for line in lines} == {"p (0)", "p (1)"}
    assert {line["question"] for line in lines} == {
        '{"topic": "ferries"}',
        '{"topic": "roads"}',
    }
    other = write_lines(tmp_path / "p.jsonl", rows[::-1])
    assert lp.convert([other]).lines == lines


# A cell of promptfoo's table, and the answer in it.
CELLS = r"""
[PASS] (1.00) On Monday. | On Monday.
[FAIL] (0.00) Expected output to equal "Bo."⏎---⏎Nobody. | Nobody.
[FAIL] (0.50, style: 0.50)⏎⏎Nobody.⏎---⏎[1] A note.⏎⏎Fail Reason: Expected "Bo." | [1] A note.
[PASS] (1.00)⏎⏎On⏎Monday.⏎⏎Pass Reason: All assertions passed | On⏎Monday.
On Monday. [PASS] (1.00) | On Monday. [PASS] (1.00)
"""


@pytest.mark.parametrize(("cell", "answer"), cases(CELLS))
def test_a_verdict_and_its_reason_are_no_answer(cell, answer, tmp_path):
    path = tmp_path / "p.csv"
    quoted = cell.replace('"', '""')
    path.write_text(f'question,expected,[m] x\nWho?,Bo.,"{quoted}"\n')
    (line,) = lp.convert([path]).lines
    assert (line["summary"], line["system"]) == (answer, "m")
    assert line["references"] == ["Bo."]


# Labelled data sets
# ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "labels"),
    [("rose.jsonl", [[1, 0], [1, 1]] * 2), ("qapyramid.json", [[0], [1], [0], [0]])],
)
def test_rose_and_qapyramid(tmp_path, name, labels):
    path = FILES / name
    lines = lp.convert([path]).lines
    assert [line["labels"] for line in lines] == labels
    data = lp.load(saved([path], tmp_path))
    assert (data.inputs, data.systems) == (("e0", "e1"), ("a", "b"))
    assert data.labels.values.tolist() == [
        labels[0] + labels[1],
        labels[2] + labels[3],
    ]

    rows = objects_of(name)
    units = "reference_acus" if "reference_acus" in rows[0] else "QAs"
    part = [rows[0], {**rows[1], units: []}]
    held = lp.convert([write_lines(tmp_path / "part.jsonl", part)])
    assert len(held.lines) == 2
    assert held.left_out["inputs without units, summaries or labels"] == 1
    wrong = [{**rows[0], units: ["x", "y", "z"]}]
    with refused("labels?") as error:
        lp.convert([write_lines(tmp_path / "wrong.jsonl", wrong)])
    assert error.value.line == 1


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    cases(
        """
healthbench.jsonl | "points": 9 | "points": NaN | :2: weight
healthbench.jsonl | "points": 9 | "points": -9 | :2: no unit of input 'hb-2'
healthbench.jsonl | "criterion": "Is rude." | "criterion": 3 | :2: unit 2 is 3
prbench.jsonl | "critically_important_weight": 10 | "x": 1 | no weight of the class
autorubric.json | "weight": 2 | "weight": "much" | weight
inspect.json | "samples": [ | "samples": [3, | broken samples
inspect.json | "metadata": {"units" | "metadata": {"units": 3, "x" | a unit is 3
promptfoo.json | "vars": {"question" | "vars": ["question"], "x": {"y" | broken vars
"""
    ),
)
def test_what_is_broken_is_one_error(tmp_path, name, old, new, message):
    text = (FILES / name).read_text()
    assert old in text
    path = tmp_path / name
    path.write_text(text.replace(old, new))
    with refused(message):
        lp.convert([path])


def test_a_rubric_of_prbench_without_turns(tmp_path):
    """It ended with a traceback."""
    weights = {"weight_class": "important", "important_weight": 4}
    rubric = [{"title": "Names the law", "annotations": weights}]
    row = {"task": "t", "rubric": rubric, "prompt_0": None}
    path = write_lines(tmp_path / "p.jsonl", [row, {**row, "task": "u"}])
    before = path.read_text("utf-8")
    path.write_text(
        before.replace('"prompt_0"', '"prompt"').replace("prompt", "prompt_0", 1)
    )
    assert lp.convert(path).lines
