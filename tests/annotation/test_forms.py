"""Any text survives every form, and no text can become markup, script or a template's column."""

import csv
import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import sample
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.annotation.answers import collect_labels
from litepyramid.annotation.export import (
    NO_FACT,
    judging_tasks,
    read_tasks,
    render_page,
    write_export,
)
from litepyramid.io.coerce import as_units
from litepyramid.types import InputUnits, SystemSummaries, Unit

text = st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(lambda s: s.strip())
nasty = st.sampled_from(
    ["</script>", "<!--", "${task_id}", "@DATA@", "&amp;", "a\u2028b", "]]>", "'\"`", "\\u003c"]
)
texts = st.lists(st.one_of(text, nasty, st.builds("{} {}".format, text, nasty)), min_size=2)


def tasks_of(words):
    units = InputUnits("a", tuple(Unit(w.strip()) for w in words[1:]))
    return judging_tasks([SystemSummaries("s", ("a",), (words[0],))], [units])


def data_in(page):
    return page.split('id="data">', 1)[1].split("</script>", 1)[0]


@given(texts)
@settings(max_examples=30)
def test_page_and_task_file_hold_any_text_as_data_alone(tmp_path_factory, words):
    tasks = tasks_of(words)
    page = render_page(tasks)
    data = data_in(page)
    assert "<" not in data
    (task,) = json.loads(data)["tasks"]
    assert task["summary"] == words[0]
    assert task["units"] == list(tasks.judging[0].units)
    other = render_page(tasks_of(["x", "y"]))
    assert page.split(data) == other.split(data_in(other))
    folder = tmp_path_factory.mktemp("tasks")
    write_export(tasks, folder / "out", "csv")
    assert read_tasks(folder / "out") == tasks
    with (folder / "out" / "sheet.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) == 1 + len(tasks.judging[0].units)


TITLE = 'A <b>"title"</b> & more {{ title }}'


def test_titles_are_escaped_and_label_studio_names_what_the_tasks_hold(folder):
    units = folder / "scus.jsonl"
    lp.export(folder / "summaries", folder / "out", units=units, form="label-studio", title=TITLE)
    page = render_page(read_tasks(folder / "out"))
    assert "<title>A &lt;b&gt;&#34;title&#34;&lt;/b&gt; &amp; more {{ title }}</title>" in page
    assert "<b>" not in page
    root = ET.parse(folder / "out" / "label_studio_config.xml").getroot()
    assert root.find("Header").get("value") == TITLE
    repeater = root.find("Repeater")
    assert repeater.get("on") == "$units"
    choices = repeater.find("Choices")
    assert choices.get("name") == "presence_{{idx}}"
    assert choices.get("toName") == repeater.find("Text").get("name")
    assert [c.get("value") for c in choices] == ["Yes", "No"]
    lp.export(lp.plan(folder / "references.jsonl", sentences=1), folder / "w", form="label-studio")
    writing = ET.parse(folder / "w" / "label_studio_config.xml").getroot()
    (no_fact,) = writing.find("Choices")
    assert (writing.find("Choices").get("name"), no_fact.get("value")) == ("no_fact", NO_FACT)
    assert writing.find("TextArea").get("required") is None  # could never be left empty
    rows = json.loads((folder / "out" / "label_studio_tasks.json").read_text(encoding="utf-8"))
    assert set(rows[0]["data"]) == {"task_id", "input", "summary", "units"}
    assert set(rows[0]["data"]["units"][0]) == {"text"}


QUESTION = 'When <b>did</b> it "close"?\n\nuser: & why?'


@pytest.mark.parametrize("form", ["page", "label-studio", "csv"])
def test_the_question_is_shown_in_every_form(folder, form):
    """Of both kinds of tasks; where no input has one, nothing is said of it."""
    units = [replace(e, question=QUESTION if e.input == "ferry" else None) for e in
             as_units(folder / "scus.jsonl")]  # fmt: skip
    references = [{"input": name, "references": [texts], "question": QUESTION}
                  for name, texts in sample.REFERENCES.items()]  # fmt: skip
    sample.jsonl(folder / "asked.jsonl", references)
    plan = lp.plan(folder / "asked.jsonl", sentences=2, easiness=folder / "easiness.jsonl")
    lp.export(folder / "summaries", folder / "judging", units=units, form=form)
    lp.export(plan, folder / "writing", form=form)
    lp.export(folder / "summaries", folder / "plain", units=folder / "scus.jsonl", form=form)
    for name in ("judging", "writing"):
        tasks = read_tasks(folder / name)
        expected = {t.id: QUESTION if t.input == "ferry" or name == "writing" else None
                    for t in tasks.tasks}  # fmt: skip
        assert {t.id: t.question for t in tasks.tasks} == expected
        assert shown_questions(folder / name, form) == {k: v or "" for k, v in expected.items()}
    assert not any(shown_questions(folder / "plain", form).values())
    tasks = read_tasks(folder / "judging")
    judged = collect_labels(tasks, sample.full(tasks))
    assert [e.question for e in judged.units] == [e.question for e in units]


def shown_questions(folder, form):
    if form == "csv":
        with (folder / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
            return {row["task_id"]: row.get("question", "") for row in csv.DictReader(file)}
    if form == "page":
        data = json.loads(data_in((folder / "page.html").read_text()))
        return {task["id"]: task["question"] for task in data["tasks"]}
    root = ET.parse(folder / "label_studio_config.xml").getroot()
    if next(root.iter("Text")).get("value") != "$question":
        return {}
    rows = json.loads((folder / "label_studio_tasks.json").read_text(encoding="utf-8"))
    return {row["data"]["task_id"]: row["data"]["question"] for row in rows}
