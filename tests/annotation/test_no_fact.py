"""Sentences without a fact: done with no SCU, whatever form the answer has."""

import json
import xml.etree.ElementTree as ET

import pytest
import sample

from litepyramid.annotation.collect import collect_units
from litepyramid.annotation.forms.guide import NO_FACT
from litepyramid.annotation.forms.label_studio import labelling_configuration
from litepyramid.annotation.forms.mturk import template
from litepyramid.annotation.forms.read import read_responses
from litepyramid.annotation.forms.responses import Response, ResponseFile
from litepyramid.annotation.tasks import write_tasks
from litepyramid.errors import InputError
from litepyramid.io.units import read_units
from litepyramid.tables import render


def said(task, *scus, no_fact=True, worker="Ann", finished=True):
    return Response(task.id, worker, f"at {worker}", scus, finished=finished, no_fact=no_fact)


def collected(tasks, *responses, **kinds):
    return collect_units(tasks, ResponseFile(responses), **kinds)


def of_sentence(result, task):
    entry = next((e for e in result.units if e.input == task.input), None)
    units = entry.units if entry else ()
    place = (task.reference, task.sentence)
    return [u.text for u in units if (u.reference, u.sentence) == place]


def test_done_without_a_unit(tasks, stus):
    bridge, ferry, cafe = tasks.writing
    result = collected(tasks, said(bridge), said(ferry, "A fact.", no_fact=False), stus=stus)
    assert of_sentence(result, bridge) == []
    assert of_sentence(result, ferry) == ["A fact."]
    assert of_sentence(result, cafe) == sample.STUS["räd", 0]
    assert (result.progress.done, result.fallen_back) == (2, 1)
    assert result.no_fact == (bridge.name,)
    assert f"Done, no fact, so no unit (1): {bridge.name}." in render(result, "table")
    assert json.loads(render(result, "json"))["no_fact"] == [bridge.name]
    assert [e.input for e in collected(tasks, said(bridge)).units] == []


def test_a_draft_is_begun_and_keeps_its_stus(tasks, stus):
    bridge = tasks.writing[0]
    draft = said(bridge, finished=False)
    result = collected(tasks, draft, stus=stus)
    assert of_sentence(result, bridge) == sample.STUS["bridge", 0]
    assert result.progress.started == (bridge.name,)
    assert of_sentence(collected(tasks, draft, stus=stus, drafts=True), bridge) == []


def test_facts_and_no_fact_contradict_each_other(tasks, stus):
    bridge = tasks.writing[0]
    both = said(bridge, "A fact.")
    result = collected(tasks, both, stus=stus)
    assert of_sentence(result, bridge) == sample.STUS["bridge", 0]
    assert result.progress.started == (bridge.name,)
    assert result.contradictory == (f"{bridge.name} by Ann (at Ann)",)
    shown = " ".join(render(result, "table").split())
    assert f"“no fact” at once, counted as started (1): {result.contradictory[0]}." in shown
    taken = collected(tasks, both, stus=stus, drafts=True)
    assert of_sentence(taken, bridge) == ["A fact."]
    assert taken.contradictory == result.contradictory
    # What the worker had handed in before still counts.
    earlier = collected(tasks, said(bridge, "Old.", no_fact=False), both, stus=stus)
    assert of_sentence(earlier, bridge) == ["Old."]


def test_several_writers_who_disagree_are_named(tasks):
    bridge = tasks.writing[0]
    rows = said(bridge), said(bridge, "A fact.", no_fact=False, worker="Bob")
    first = collected(tasks, *rows)
    assert first.several == (f"{bridge.name}: Ann (no fact), Bob",)
    assert (of_sentence(first, bridge), first.no_fact) == ([], (bridge.name,))
    everybody = collected(tasks, *rows, writers="all")
    assert (of_sentence(everybody, bridge), everybody.no_fact) == (["A fact."], ())


def page(task, *scus):
    row = {"task": task.id, "finished": True, "scus": scus, "no_fact": True}
    return json.dumps({"format": "litepyramid-answers", "worker": "W", "answers": [row]})


def label_studio(task, *scus):
    answers = {"no_fact": [NO_FACT]} | ({"scus": list(scus)} if scus else {})
    rows = [{"data": {"task_id": task.id}}]
    return json.dumps(sample.label_studio(rows, lambda *_: answers))


def json_min(task, *scus):
    written = {"scus": {"text": scus}} if scus else {}
    return json.dumps([{"task_id": task.id, "annotator": 4, "no_fact": NO_FACT, **written}])


def turk(column, value):
    def text(task, *scus):
        lines = "\n".join(scus)
        return (
            f"WorkerId,Input.task_id,Answer.scus,Answer.{column}\r\n"
            f'W,{task.id},"{lines}",{value}\r\n'
        )

    return text


def turk_json(task, *scus):
    body = json.dumps([{"no_fact": {"yes": True}, "scus": "\n".join(scus)}]).replace('"', '""')
    return f'WorkerId,Input.task_id,Answer.taskAnswers\r\nW,{task.id},"{body}"\r\n'


@pytest.mark.parametrize(
    "form",
    [page, label_studio, json_min, turk("no_fact", "yes"), turk("no_fact.yes", "true"), turk_json],
)
def test_every_form_of_answers(folder, tasks, stus, form):
    bridge = tasks.writing[0]
    path = folder / "answers"
    path.write_text(form(bridge), encoding="utf-8", newline="")
    result = collect_units(tasks, read_responses([path]), stus=stus)
    assert result.no_fact == (bridge.name,)
    assert of_sentence(result, bridge) == []
    path.write_text(form(bridge, "One.", "Two."), encoding="utf-8", newline="")
    result = collect_units(tasks, read_responses([path]), stus=stus)
    assert (result.no_fact, len(result.contradictory)) == ((), 1)


def test_boxes_that_are_not_ticked(folder, tasks):
    bridge = tasks.writing[0]
    path = folder / "answers.csv"
    path.write_text(turk("no_fact.yes", "false")(bridge, "One."), encoding="utf-8", newline="")
    (found,) = read_responses([path]).responses
    assert (found.scus, found.no_fact) == (("One.",), False)
    path.write_text(turk("no_fact", "perhaps")(bridge), encoding="utf-8", newline="")
    with pytest.raises(InputError, match=r"answers\.csv:2: no_fact is 'perhaps'\. Expected yes"):
        read_responses([path])


def test_forms_ask_for_it(tasks):
    root = ET.fromstring(labelling_configuration(tasks))
    choices = root.find("Choices")
    assert (choices.get("name"), choices.get("toName")) == ("no_fact", "sentence")
    assert [c.get("value") for c in choices] == [NO_FACT]
    # A required text box could never be left empty.
    assert root.find("TextArea").get("required") is None
    assert 'name="no_fact"' in template(tasks)


def test_from_the_command_line(folder, tasks, cli):
    out = folder / "out"
    out.mkdir()
    write_tasks(out / "tasks.json", tasks)
    path = folder / "answers.json"
    path.write_text(page(tasks.writing[0]), encoding="utf-8")
    units = folder / "units.jsonl"
    text = cli("budget", "import", out, path, "--stus", folder / "stus.jsonl", "-o", units).stdout
    assert "Done: 1 of 3 tasks." in text
    assert "no fact, so no unit (1)" in text
    found = next(e for e in read_units(units) if e.input == "bridge")
    assert {u.sentence for u in found.units} == {1, 2}
