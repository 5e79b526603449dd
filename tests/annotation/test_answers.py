"""Answers that are half done, given twice, unknown, or broken: nothing is lost or goes unsaid."""

import csv
import json
import xml.etree.ElementTree as ET

import pytest
import sample

import litepyramid as lp
from litepyramid.annotation.answers import collect_labels, collect_units
from litepyramid.annotation.export import write_export
from litepyramid.annotation.forms import (
    NO_FACT,
    Response,
    ResponseFile,
    labelling_configuration,
    read_responses,
)
from litepyramid.annotation.plan import plan_budget
from litepyramid.annotation.tasks import judging_tasks, read_tasks, write_tasks, writing_tasks
from litepyramid.easiness.gold import Easiness
from litepyramid.errors import InputError
from litepyramid.tables import render


def wrote(task, *scus, worker="Ann", finished=True):
    return Response(task.id, worker, f"at {worker}", scus=scus, finished=finished)


def judged(task, answers, worker="Ann"):
    return Response(task.id, worker, f"at {worker}", presence=answers)


def collected(tasks, *responses, **kinds):
    return collect_units(tasks, ResponseFile(responses), **kinds)


def texts(result, name):
    return next(e.texts for e in result.units if e.input == name)


def test_half_done_plan_falls_back_on_stus(tasks, stus):
    bridge, ferry, _ = tasks.writing
    result = collected(
        tasks, wrote(bridge, "A fact."), wrote(ferry, "Half", finished=False), others=stus
    )
    assert texts(result, "bridge") == (
        "A fact.",
        *sample.STUS["bridge", 1],
        *sample.STUS["bridge", 2],
    )
    assert texts(result, "ferry") == (*sample.STUS["ferry", 0], *sample.STUS["ferry", 1])
    assert (result.scus, result.fallen_back, result.progress.done) == (1, 2, 1)
    assert result.progress.started == ("ferry, reference 1, sentence 1",)
    assert result.progress.open == ("räd, reference 1, sentence 1",)
    text = render(result, "table")
    assert "Done: 1 of 3 tasks." in text
    assert "Started but not done (1): ferry, reference 1, sentence 1." in text
    assert json.loads(render(result, "json"))["progress"]["open"] == list(result.progress.open)


def test_later_answer_of_a_worker_counts_and_is_named(tasks):
    task = tasks.writing[0]
    result = collected(tasks, wrote(task, "Old."), wrote(task, "New."))
    assert texts(result, "bridge") == ("New.",)
    assert result.progress.duplicates == ("bridge, reference 1, sentence 1 by Ann (at Ann)",)
    kept = collected(tasks, wrote(task, "Done."), wrote(task, "Draft", finished=False))
    assert texts(kept, "bridge") == ("Done.",)
    assert kept.progress.done == len(kept.progress.duplicates) == 1


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_answer_saved_later_counts_whatever_the_order_of_the_files(tmp_path, tasks, order):
    """Browsers call the second download "answers (1).json", which sorts before the first."""
    names = ["answers.json", "answers (1).json"]
    for name, time, scu in zip(
        names,
        ("2026-03-01T09:00:00.000Z", "2026-03-01T10:30:00+01:00"),
        ("Old.", "New."),
        strict=True,
    ):
        row = {"task": tasks.writing[0].id, "finished": True, "scus": [scu]}
        data = {"format": "litepyramid-answers", "worker": " Ann ", "saved": time, "answers": [row]}
        (tmp_path / name).write_text(json.dumps(data), encoding="utf-8")
    result = collect_units(tasks, read_responses([tmp_path / names[i] for i in order]))
    assert texts(result, "bridge") == ("New.",)
    assert result.progress.duplicates == (
        "bridge, reference 1, sentence 1 by Ann (answers.json, answer 1)",
    )


def test_several_writers(tasks):
    task = tasks.writing[0]
    both = (wrote(task, "One.", "Two."), wrote(task, "Two.", "Three.", worker="Bob"))
    first = collected(tasks, *both)
    assert texts(first, "bridge") == ("One.", "Two.")
    assert first.several == ("bridge, reference 1, sentence 1: Ann, Bob",)
    assert texts(collected(tasks, *both, writers="all"), "bridge") == ("One.", "Two.", "Three.")


def test_unknown_tasks_are_named(tasks):
    stray = Response("w-000000000000", "Ann", "file.json, answer 7", scus=("Lost.",))
    result = collected(tasks, stray, wrote(tasks.writing[0], "A fact."))
    assert result.progress.unknown == ("w-000000000000 (file.json, answer 7)",)
    with pytest.raises(InputError, match=r"no answer belongs.*w-000000000000"):
        collected(tasks, stray)


def full(judging, worker, flip=False):
    return [
        judged(
            t,
            {i: sample.truth(t.system, t.input, u) != flip for i, u in enumerate(t.units)},
            worker,
        )
        for t in judging.judging
    ]


def test_half_done_judging_keeps_every_answer(judging):
    first, second, *_ = judging.judging
    rows = [judged(first, {0: True}), *full(judging, "Bob")[1:], judged(second, {9: True})]
    result = collect_labels(judging, ResponseFile(tuple(rows)))
    assert result.incomplete == ("bridge",)
    assert [e.input for e in result.units] == ["ferry", "räd"]
    assert {e.inputs for e in result.labels} == {("ferry", "räd")}
    assert result.progress.started == ("alpha on bridge",)
    assert result.progress.extra == ("beta on bridge: 10 (at Ann)",)
    given = 1 + sum(len(task.units) for task in judging.judging[1:])
    assert result.agreement.kept_answers == result.agreement.answers == given
    assert "Left out: inputs not complete" in render(result, "table")


def test_second_answer_adds_to_the_first(judging):
    """A worker who hands in a task twice loses nothing that only the first one answered."""
    task = judging.judging[0]
    first = judged(task, {0: True, 1: True})
    later = judged(task, {1: False, 2: False})
    result = collect_labels(judging, ResponseFile((first, later)))
    assert result.agreement.labels[:3].tolist() == [1.0, 0.0, 0.0]
    assert result.progress.duplicates == ("alpha on bridge by Ann (at Ann)",)


def test_noisy_worker_is_dropped_with_numbers(judging):
    rows = full(judging, "Ann") + full(judging, "Bob") + full(judging, "Eve", flip=True)
    result = collect_labels(judging, ResponseFile(tuple(rows)))
    assert [w.worker for w in result.agreement.workers if w.dropped] == ["Eve"]
    assert result.agreement.alpha == 1.0
    text = render(result, "table")
    assert "Eve" in text
    assert "1 of 3 workers dropped" in text
    kept = collect_labels(judging, ResponseFile(tuple(rows)), noisy_above=None)
    assert kept.agreement.alpha < 1
    assert [e.labels for e in kept.labels] == [e.labels for e in result.labels]


def test_empty_summaries_are_not_asked_about_and_contain_nothing(judging):
    assert judging.blank == (("beta", "ferry"),)
    assert ("beta", "ferry") not in {(t.system, t.input) for t in judging.judging}
    result = collect_labels(judging, ResponseFile(tuple(full(judging, "Ann"))))
    beta = next(e for e in result.labels if e.system == "beta")
    assert beta.labels[1] == (0, 0, 0, 0)
    summaries = next(e for e in result.summaries if e.system == "beta")
    assert summaries.texts[1] == ""


def test_task_file_round_trip(tmp_path, tasks, judging):
    for kind in (tasks, judging):
        path = tmp_path / "tasks.json"
        write_tasks(path, kind)
        assert read_tasks(tmp_path) == kind
        data = json.loads(path.read_text(encoding="utf-8"))
        first, *others = data[kind.kind]
        field = "text" if "text" in first else "summary"
        changed = {**data, kind.kind: [{**first, field: "Another."}, *others]}
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(InputError, match=f"the text of {first['id']} differs"):
            read_tasks(path)
        data[kind.kind] = others
        path.write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(InputError, match=r"digest differs|not one summary of every system"):
            read_tasks(path)
        for text in ("{", "[]", '{"format": "litepyramid-tasks"}'):
            path.write_text(text, encoding="utf-8")
            with pytest.raises(InputError, match=r"task file|tasks\.json that"):
                read_tasks(path)


def export(task, result, **more):
    row = {"id": 1, "completed_by": 3, "was_cancelled": False, "result": result, **more}
    return [{"id": 9, "data": {"task_id": task}, "annotations": [row]}]


def choice(name, value):
    return {"from_name": name, "to_name": "u", "type": "choices", "value": {"choices": [value]}}


def test_label_studio_oddities(tmp_path):
    path = tmp_path / "e.json"

    def read(data):
        path.write_text(json.dumps(data), encoding="utf-8")
        return read_responses([path])

    assert read([]).responses == ()
    assert read_responses(str(path)).responses == ()
    found = read(
        export("t", [choice("presence_0", "Yes"), choice("other", "x"), {"id": "relation"}])
    )
    assert [(r.task, r.worker, dict(r.presence)) for r in found.responses] == [
        ("t", "3", {0: True})
    ]
    skipped = read(export("t", [], was_cancelled=True))
    assert skipped.responses == ()
    assert skipped.notes == ("e.json: 1 skipped annotation was left out.",)
    drafts = [{"result": [choice("presence_1", "No")], "user": "ann"}]
    draft = read([{"id": 9, "data": {"task_id": "t"}, "annotations": [], "drafts": drafts}])
    assert [(r.worker, r.finished) for r in draft.responses] == [("ann", False)]
    only_ids = read([{"id": 9, "data": {"task_id": "t"}, "annotations": [], "drafts": [17]}])
    assert only_ids.responses == ()
    nameless = read(export(None, [choice("presence_0", "Yes")]))
    assert nameless.responses[0].task == "no task_id (e.json, task 9)"
    with pytest.raises(InputError, match="Yes or No"):
        read(export("t", [choice("presence_0", "Maybe")]))
    with pytest.raises(InputError, match="not a Label Studio export"):
        read([1])
    path.write_text("[", encoding="utf-8")
    with pytest.raises(InputError, match=r"e\.json:1: not valid JSON"):
        read_responses([path])


def no_fact(task, *scus, worker="Ann", finished=True):
    return Response(task.id, worker, f"at {worker}", scus, finished=finished, no_fact=True)


def of_sentence(result, task):
    entry = next((e for e in result.units if e.input == task.input), None)
    units = entry.units if entry else ()
    return [u.text for u in units if (u.reference, u.sentence) == (task.reference, task.sentence)]


def test_sentences_without_a_fact_are_done(tasks, stus):
    bridge, ferry, cafe = tasks.writing
    result = collected(tasks, no_fact(bridge), wrote(ferry, "A fact."), others=stus)
    assert of_sentence(result, bridge) == []
    assert of_sentence(result, ferry) == ["A fact."]
    assert of_sentence(result, cafe) == sample.STUS["räd", 0]
    assert (result.progress.done, result.fallen_back) == (2, 1)
    assert result.no_fact == (bridge.name,)
    assert json.loads(render(result, "json"))["no_fact"] == [bridge.name]


def test_facts_and_no_fact_contradict_each_other(tasks, stus):
    bridge = tasks.writing[0]
    both = no_fact(bridge, "A fact.")
    result = collected(tasks, both, others=stus)
    assert of_sentence(result, bridge) == sample.STUS["bridge", 0]
    assert result.progress.started == (bridge.name,)
    assert result.contradictory == (f"{bridge.name} by Ann (at Ann)",)
    assert of_sentence(collected(tasks, both, others=stus, drafts=True), bridge) == ["A fact."]
    # What the worker had handed in before still counts.
    earlier = collected(tasks, wrote(bridge, "Old."), both, others=stus)
    assert of_sentence(earlier, bridge) == ["Old."]


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


def sheet(task, *scus):
    lines = "\n".join(scus)
    return f'task_id,sentence,facts,no_fact,worker\r\n{task.id},x,"{lines}",x,W\r\n'


@pytest.mark.parametrize("form", [page, label_studio, json_min, sheet])
def test_every_form_of_answers(folder, tasks, stus, form):
    bridge = tasks.writing[0]
    path = folder / "answers"
    path.write_text(form(bridge), encoding="utf-8", newline="")
    result = collect_units(tasks, read_responses([path]), others=stus)
    assert result.no_fact == (bridge.name,)
    assert of_sentence(result, bridge) == []
    path.write_text(form(bridge, "One.", "Two."), encoding="utf-8", newline="")
    result = collect_units(tasks, read_responses([path]), others=stus)
    assert (result.no_fact, len(result.contradictory)) == ((), 1)


def test_label_studio_asks_for_it(tasks):
    root = ET.fromstring(labelling_configuration(tasks))
    choices = root.find("Choices")
    assert (choices.get("name"), choices.get("toName")) == ("no_fact", "sentence")
    assert [c.get("value") for c in choices] == [NO_FACT]
    assert root.find("TextArea").get("required") is None  # could never be left empty


def filled_sheet(path, rows, answers):
    for row, answer in zip(rows, answers, strict=True):
        row.update(answer)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_sheets(folder, tasks, judging):
    out = folder / "writing"
    write_export(tasks, out, "csv")
    with (out / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    filled_sheet(folder / "Ann.csv", rows, [{"facts": "One.\n\n Two  words."}, {}, {}])
    (response,) = read_responses([folder / "Ann.csv"]).responses
    assert (response.worker, response.scus) == ("Ann", ("One.", "Two words."))
    out = folder / "judging"
    write_export(judging, out, "csv")
    with (out / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    told = [sample.truth(t.system, t.input, unit) for t in judging.judging for unit in t.units]
    answers = [{"present": "yes" if x else "No", "worker": "Bob"} for x in told]
    filled_sheet(folder / "b.csv", rows, answers)
    result = collect_labels(judging, read_responses([folder / "b.csv"]))
    assert result.agreement.labels.tolist() == [float(x) for x in told]
    assert result.progress.done == len(judging.judging)
    for wrong in ({"present": "perhaps"}, {"number": "0"}, {"number": "x"}):
        filled_sheet(folder / "b.csv", rows[:1], [wrong])
        with pytest.raises(InputError, match=r"b\.csv:2: "):
            read_responses([folder / "b.csv"])
        rows[0] |= {"number": "1", "present": "yes"}
    (folder / "b.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="not a filled-in sheet"):
        read_responses([folder / "b.csv"])


@pytest.mark.parametrize("text", ["=1+1", "@cmd", "+a", "-b"])
def test_a_sheet_holds_no_formulas(tmp_path, text):
    from litepyramid.types import InputUnits, SystemSummaries, Unit

    units = [InputUnits("a", (Unit(text),))]
    tasks = judging_tasks([SystemSummaries("s", ("a",), (text,))], units)
    write_export(tasks, tmp_path / "out", "csv")
    with (tmp_path / "out" / "sheet.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert not any(cell.startswith(tuple("=+-@")) for cell in row.values())


def test_what_is_not_done_keeps_what_it_had(easiness, stus):
    one = writing_tasks(plan_budget(easiness, 2))
    bridge, ferry = one.writing

    def answer(task):
        return wrote(task, *sample.SCUS[task.input, task.sentence])

    base = collected(one, answer(bridge), others=stus)
    again = collected(one, answer(ferry), others=base.units)
    whole = collected(one, answer(bridge), answer(ferry), others=stus)
    assert again.units == whole.units
    assert (again.scus, again.earlier_scus, again.stus) == (3, 3, whole.stus)
    # A sentence that is done again has its new SCUs alone.
    new = collected(one, wrote(bridge, "New."), others=base.units)
    assert [u.text for u in new.units[0].units if u.kind == "scu"][:1] == ["New."]
    # Inputs that the tasks do not know stay.
    ferries = [i for i, s in enumerate(easiness.sentences) if s.input == "ferry"]
    some = Easiness(tuple(easiness.sentences[i] for i in ferries), [0.1, 0.9])
    two = writing_tasks(plan_budget(some, 1))
    result = collected(two, answer(two.writing[0]), others=base.units)
    assert {e.input: e for e in result.units}["bridge"] == base.units[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"answers": 3}, {"answers": []}, {"answers": ["none.json"]}, {"tasks": 3},
        {"tasks": "none"}, {"writers": "some"}, {"units": 3}, {"noisy_above": "x", "judged": 1},
        {"noisy_above": 2, "judged": 1}, {"units": [["x"]], "judged": 1}, {"gold": 3, "judged": 1},
    ],
)  # fmt: skip
def test_wrong_types_are_one_error(folder, tasks, judging, wrong):
    chosen = judging if wrong.pop("judged", 0) else tasks
    task = (*chosen.writing, *chosen.judging)[0]
    row = {"task": task.id, "finished": True}
    row |= {"presence": {"0": True}} if chosen is judging else {"scus": ["A."]}
    data = {"format": "litepyramid-answers", "worker": "W", "answers": [row]}
    (folder / "a.json").write_text(json.dumps(data))
    arguments = {"tasks": chosen, "answers": [folder / "a.json"], **wrong}
    with pytest.raises(InputError):
        lp.import_answers(arguments.pop("tasks"), arguments.pop("answers"), **arguments)
