"""Plan, export, fill in, import, score: as scored directly; no text becomes markup or
script."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import sample
from cases import cases, refused, same, write_lines
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.annotation.answers import collect_labels, write_judged
from litepyramid.annotation.export import write_export
from litepyramid.annotation.forms import NO_FACT, render_page
from litepyramid.annotation.plan import plan_budget
from litepyramid.annotation.tasks import judging_tasks, read_tasks
from litepyramid.data.records import Unit
from litepyramid.easiness.mix import mix_units
from litepyramid.units.spelling import untokenized

SENT = "label_studio_tasks.json"
PEOPLE = ("ann@example.org", "bob@example.org", "cy@example.org")


def check_written(folder, easiness, tasks, paths):
    """Imports, and compares units and scores with the direct way."""
    stus = lp.load(units=folder / "stus.jsonl", kind="stu").units
    written = lp.import_answers(tasks, paths, units=stus)
    assert written.done == len(tasks.writing) == 3
    assert [*written.named["unknown"], *written.named["duplicates"]] == []
    scus = lp.load(units=folder / "scus.jsonl").units
    sides = scus, stus, easiness.sentences
    mixed = mix_units(*sides, len(easiness.sentences) - 3, easiness=easiness)
    assert written.units == lp.Units.of(mixed.units)


def check_judged(folder, judging, paths, workers=1):
    """Imports, and compares units and labels with those of the careful judge."""
    out = folder / "judged"
    judged = lp.import_answers(judging, paths, output=out)
    assert judged.done == len(judging.judging) == 8
    assert judged.named["incomplete"] == []
    assert len(judged.agreement.workers) == workers
    assert judged.agreement.alpha == 1.0 or workers == 1
    data = lp.load(out / "summaries", out / "units.jsonl", labels=out / "labels")
    assert data.units == lp.load(units=folder / "scus.jsonl").units
    assert data.labels.keys == judged.labels.keys
    assert data.summaries == judged.summaries
    same(data.labels.values, judged.labels.values)
    assert f"Wrote {out / 'units.jsonl'}" in judged.progress()

    # Nobody is asked about an empty summary.
    expected = np.zeros(judged.labels.values.shape)
    for task in judging.judging:
        for fact, present in zip(task.facts, sample.truths(task), strict=True):
            column = judged.units.facts.index(fact)
            expected[judging.systems.index(task.system), column] = present
    same(judged.labels.values, expected)


def test_label_studio_presence(folder, judging):
    write_export(judging, folder / "tasks", "label-studio")
    sent = (folder / "tasks" / SENT).read_text("utf-8")

    def answer(data):
        answers = {}
        for number, unit in enumerate(data["units"]):
            present = sample.truth(data["summary"], unit["text"])
            answers[f"presence_{number}"] = ["Yes" if present else "No"]
        return answers

    path = folder / "export.json"
    path.write_text(sample.label_studio(json.loads(sent), answer, PEOPLE))
    check_judged(folder, judging, [path], len(PEOPLE))


@pytest.mark.parametrize(
    "name", ["../../mine", "/tmp/litepyramid-mine", "a/b", "..", "x" * 300]
)
def test_a_system_cannot_lead_out_of_the_folder(tmp_path, name):
    tasks = sample.one_task("It rained.", ["It rained."], name)
    result = collect_labels(tasks, sample.full(tasks))
    with refused("cannot name a file"):
        write_judged(tmp_path / "out", result)
    with refused("cannot name a file"):
        write_export(tasks, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["page", "label-studio", "csv"])
def test_parts_hold_every_task_once(tmp_path, judging, form):
    parts = []
    for path in write_export(judging, tmp_path / "out", form, parts=3):
        if path.stem.endswith(("-1", "-2", "-3")):
            parts.append(path.read_text("utf-8"))
    assert len(parts) == 3
    for task in judging.judging:
        assert sum(task.id in text for text in parts) == 1


def test_facts_come_in_the_order_of_the_references():
    """By reference, sentence and text; one of several sentences with the first of
    them."""
    units = [
        Unit("A", reference=1, sentence=0),
        Unit("B", reference=0, sentence=2),
        Unit("C", reference=0, sentence=1),
        Unit("D"),
        Unit("E", places=((1, 1), (0, 0))),
        Unit("F", reference=0, sentence=1),
        Unit("G", reference=0),
    ]
    texts = lp.Summaries.of({("s", "a"): "A summary."})
    tasks = judging_tasks(texts, lp.Units.of([lp.InputUnits("a", tuple(units))]))
    assert "".join(tasks.judging[0].units) == "ECFBGAD"


TOKENS = "Thailand , researchers say , is n't ` dry ' ."
AS_WRITTEN = "Thailand, researchers say, isn't 'dry'."


@pytest.mark.parametrize("form", ["page", "label-studio", "csv"])
def test_people_see_no_tokens(tmp_path, form):
    """Neither those who judge, nor those who write."""
    references = {"a": f"<t> {TOKENS} </t> <t> It rained . </t>"}
    plan = lp.plan(references, sentences=1, by="length", language="any")
    lp.export(plan, tmp_path / "writing", form=form)
    texts = {"s": {"a": TOKENS}}
    lp.export(texts, tmp_path / "judging", units={"a": [TOKENS]}, form=form)

    for name in ("writing", "judging"):
        files = [*(tmp_path / name).glob("[!t]*")]
        shown = "".join([path.read_text("utf-8") for path in files])
        assert AS_WRITTEN in shown
        assert TOKENS not in shown
        # Who wrote them is asked by the texts as they were.
        assert TOKENS in (tmp_path / name / "tasks.json").read_text("utf-8")


MISSING = {
    "s": {"a": "It rained.", "b": None},
    "t": {"a": "It rained.", "b": "We left."},
    "u": {"a": "", "b": "We left."},
}


def test_missing_summaries_are_left_out_and_counted(tmp_path):
    """They stay missing: nobody labels them, and nobody is asked."""
    units = {"a": ["It rained.", "It was cold."], "b": ["We left."]}
    made = lp.export(MISSING, tmp_path / "tasks", units=units)
    assert made.missing == 1
    assert "missing summaries, left out" in made.to_table()
    asked = {(task.system, task.input) for task in made.tasks.judging}
    assert asked == {("s", "a"), ("t", "a"), ("t", "b"), ("u", "b")}

    judged = collect_labels(made.tasks, sample.full(made.tasks))
    write_judged(tmp_path / "judged", judged)
    assert judged.named["incomplete"] == []
    expected = {"s": [1, 0, np.nan], "t": [1, 0, 1], "u": [0, 0, 1]}
    for system, labels in expected.items():
        same(judged.labels.of_system(system), labels)

    sources = [tmp_path / "judged" / name for name in ("summaries", "units.jsonl")]
    labels = tmp_path / "judged" / "labels"
    data = lp.load(*sources, labels=labels, nulls="missing")
    assert data.summaries == judged.summaries
    assert data.summaries.of_system("s")["b"] is None
    same(data.labels.values, judged.labels.values)


WRONG = """
writing | work   | 3
writing | work   | "none.json"
writing | form   | "paper"
writing | title  | 3
writing | units  | 3
writing | parts  | 0
writing | parts  | "2"
judging | sample | 3
judging | parts  | 9
"""


def test_wrong_types_are_one_error(folder, easiness):
    usual = {
        "writing": {"work": plan_budget(easiness, 1)},
        "judging": {"work": folder / "summaries", "units": folder / "scus.jsonl"},
    }
    mistakes = [("writing", "sample", lp.Sampling(1))]
    mistakes.append(("judging", "sample", lp.Sampling(900)))
    for kind, option, value in cases(WRONG):
        mistakes.append((kind, option, json.loads(value)))

    for kind, option, value in mistakes:
        with refused():
            lp.export(**usual[kind] | {option: value}, output=folder / "out")
        assert not (folder / "out").exists()


def test_a_share_of_the_inputs_is_judged(folder, tmp_path):
    """A share counts inputs or labels; an input drawn is judged for every system."""

    def exported(name, sample=None):
        options = {"units": folder / "scus.jsonl", "form": "label-studio"}
        work, out = folder / "summaries", tmp_path / name
        return lp.export(work, out, sample=sample, **options).tasks

    every = exported("all")
    inputs = len(every.units)
    tasks = exported("half", lp.Sampling(inputs="50%"))
    assert len(tasks.units) == round(inputs / 2)
    drawn = {entry.input for entry in tasks.units}
    whole = {task.name for task in every.judging if task.input in drawn}
    assert {task.name for task in tasks.judging} == whole
    for task in tasks.judging:
        assert {*task.probabilities} == {len(drawn) / inputs}

    tasks = exported("some", lp.Sampling("50%"))
    asked = [unit for task in tasks.judging for unit in task.units]
    questions = sum(len(task.units) for task in every.judging)
    assert len(asked) == round(questions / 2)
    shown = []
    for row in json.loads((tmp_path / "some" / SENT).read_text("utf-8")):
        shown += [unit["text"] for unit in row["data"]["units"]]
    assert shown == asked

    first, *others = sample.full(tasks)
    table = collect_labels(tasks, others).to_table()
    assert f"{len(first.presence)} have no label" in " ".join(table.split())


IMPOSSIBLE = """\
{}
{"labels": 2, "inputs": 1}
{"labels": 0}
{"labels": 1.5}
{"inputs": 0.2}
{"inputs": 1, "spread": "summaries"}
{"inputs": "0%"}
{"inputs": "120%"}
{"inputs": "-5%"}
{"inputs": "nan%"}
"""


@pytest.mark.parametrize("size", IMPOSSIBLE.splitlines())
def test_a_sample_of_an_impossible_size(size):
    with refused():
        lp.Sampling(**json.loads(size))


text = st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(str.strip)
NASTY = "</script> <!-- ${task_id} @DATA@ &amp; a\u2028b ]]> '\"` \\u003c"
nasty = st.sampled_from(NASTY.split(" "))
texts = st.lists(text | nasty | st.builds("{} {}".format, text, nasty), min_size=2)


def data_in(page):
    return page.split('id="data">', 1)[1].split("</script>", 1)[0]


@given(texts)
@settings(max_examples=30)
def test_page_and_task_file_hold_any_text_as_data_alone(tmp_path_factory, words):
    summary, *facts = words
    tasks = sample.one_task(summary, map(str.strip, facts))
    page = render_page(tasks)
    data = data_in(page)
    assert "<" not in data
    (task,) = json.loads(data)["tasks"]
    units = [*map(untokenized, tasks.judging[0].units)]
    assert (task["summary"], task["units"]) == (untokenized(summary), units)
    other = render_page(sample.one_task("x", ["y"]))
    assert page.split(data) == other.split(data_in(other))

    folder = tmp_path_factory.mktemp("tasks") / "out"
    write_export(tasks, folder, "csv")
    assert read_tasks(folder) == tasks
    assert len(sample.sheet_in(folder)) == len(units)


TITLE = 'A <b>"title"</b> & more {{ title }}'


def test_titles_are_escaped_and_label_studio_names_what_the_tasks_hold(folder):
    out = folder / "out"
    options = {"form": "label-studio", "title": TITLE}
    lp.export(folder / "summaries", out, units=folder / "scus.jsonl", **options)

    page = render_page(read_tasks(out))
    escaped = "A &lt;b&gt;&#34;title&#34;&lt;/b&gt; &amp; more {{ title }}"
    assert f"<title>{escaped}</title>" in page
    assert "<b>" not in page
    root = ET.parse(out / "label_studio_config.xml").getroot()
    assert root.find("Header").get("value") == TITLE
    repeater = root.find("Repeater")
    choices = repeater.find("Choices")
    assert repeater.get("on") == "$units"
    assert choices.get("name") == "presence_{{idx}}"
    assert choices.get("toName") == repeater.find("Text").get("name")
    assert [c.get("value") for c in choices] == ["Yes", "No", "Skip"]
    (first, *_) = json.loads((out / SENT).read_text("utf-8"))
    assert set(first["data"]) == {"task_id", "input", "summary", "units"}
    assert set(first["data"]["units"][0]) == {"text"}


def test_label_studio_asks_for_facts_or_for_a_tick(folder, tasks):
    write_export(tasks, folder / "out", "label-studio")
    root = ET.parse(folder / "out" / "label_studio_config.xml").getroot()
    choices = root.find("Choices")
    assert choices.get("name") == "no_fact"
    assert [c.get("value") for c in choices] == [NO_FACT]
    assert root.find("TextArea").get("required") is None  # could never be left empty


QUESTION = 'When <b>did</b> it "close"?\n\nuser: & why?'


@pytest.mark.parametrize("form", ["page", "label-studio", "csv"])
def test_the_question_is_shown_in_every_form(folder, form):
    """Of both kinds of tasks."""
    rows = [entry.to_json() for entry in lp.load(units=folder / "scus.jsonl").units]
    for row in rows:
        row |= {"question": QUESTION} if row["input"] == "ferry" else {}
    units = lp.load(units=rows).units
    references = [
        row | {"question": QUESTION} for row in sample.rows("references.jsonl")
    ]
    asked = write_lines(folder / "asked.jsonl", references)
    plan = lp.plan(asked, sentences=2, easiness=folder / "easiness.jsonl")
    lp.export(folder / "summaries", folder / "judging", units=units, form=form)
    lp.export(plan, folder / "writing", form=form)

    for name in ("judging", "writing"):
        tasks = read_tasks(folder / name).tasks
        shown = {}
        for task in tasks:
            has_one = task.input == "ferry" or name == "writing"
            assert task.question == (QUESTION if has_one else None)
            shown[task.id] = task.question or ""
        assert shown_questions(folder / name, form) == shown

    tasks = read_tasks(folder / "judging")
    judged = collect_labels(tasks, sample.full(tasks))
    assert [e.question for e in judged.units] == [e.question for e in units]


def shown_questions(folder, form):
    """The question that is shown with each task."""
    shown = {}
    if form == "csv":
        for row in sample.sheet_in(folder):
            shown[row["task_id"]] = row["question"]
    elif form == "page":
        page = (folder / "page.html").read_text()
        for task in json.loads(data_in(page))["tasks"]:
            shown[task["id"]] = task["question"]
    else:
        root = ET.parse(folder / "label_studio_config.xml").getroot()
        assert next(root.iter("Text")).get("value") == "$question"
        rows = (folder / SENT).read_text(encoding="utf-8")
        for row in json.loads(rows):
            shown[row["data"]["task_id"]] = row["data"]["question"]
    return shown


def contents(path):
    return {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_only_new_or_empty_folders_are_written(folder, judging, tasks):
    """By export and by import: what somebody has there is never touched, nor are the
    answers."""
    answers = folder / "answers.json"
    link = folder / "link.json"
    row = {"task": tasks.writing[0].id, "finished": True, "scus": ["A."]}
    answers.write_text(sample.page_of(row))
    link.symlink_to(answers)
    result = collect_labels(judging, sample.full(judging))
    (folder / "empty").mkdir()
    write_judged(folder / "empty", result)
    write_export(judging, folder / "tasks")
    before = contents(folder)

    for goal in (folder, folder / "empty", folder / "tasks", folder / "scus.jsonl"):
        with refused():
            write_judged(goal, result)
        with refused():
            write_export(judging, goal)

    for output in (answers, link):
        with refused():
            lp.import_answers(tasks, [answers], output=output)

    assert contents(folder) == before
