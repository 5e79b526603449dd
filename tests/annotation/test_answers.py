"""Answers that are half done, given twice, unknown, or broken: nothing is lost or goes
unsaid."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
import sample
from cases import cases, refused
from sample import full, judged, one_task, page_of, sheet_in
from test_round_trip import check_judged

import litepyramid as lp
from litepyramid.annotation.answers import collect_labels, collect_units
from litepyramid.annotation.export import write_export
from litepyramid.annotation.forms import NO_FACT
from litepyramid.annotation.plan import plan_budget
from litepyramid.annotation.responses import Response, read_responses
from litepyramid.annotation.tasks import read_tasks, write_tasks, writing_tasks
from litepyramid.easiness.gold import Easiness


def wrote(task, *scus, worker="Ann", **more):
    return Response(task.id, worker, f"at {worker}", scus=scus, **more)


def of_sentence(result, task):
    """The texts of the units of a task's sentence."""
    place = (task.reference, task.sentence)
    texts = []
    for entry in result.units:
        for unit in entry.units:
            if entry.input == task.input and (unit.reference, unit.sentence) == place:
                texts.append(unit.text)
    return texts


def test_half_done_plan_falls_back_on_stus(tasks, stus):
    bridge, ferry, cafe = tasks.writing
    rows = [wrote(bridge, "A fact."), wrote(ferry, "Half", finished=False)]
    result = collect_units(tasks, rows, stus)
    machine = [*sample.STUS["bridge", 1], *sample.STUS["bridge", 2]]
    assert result.units["bridge"].texts == tuple(sorted(["A fact.", *machine]))
    assert of_sentence(result, ferry) == sample.STUS["ferry", 0]
    assert result.written == 1
    assert result.fallen_back == 2
    assert result.done == 1
    assert result.named["started"] == [ferry.name]
    assert result.named["open"] == [cafe.name]

    note = "Started but not done (1): ferry, reference 1, sentence 1."
    assert note in result.to_table()


def test_the_answer_saved_later_counts_whatever_the_order_of_the_files(tmp_path, tasks):
    """Browsers call the second download "answers (1).json", which sorts before the
    first."""
    task = tasks.writing[0]
    old = tmp_path / "answers.json"
    new = tmp_path / "answers (1).json"
    times = {old: "2026-03-01T09:00:00.000Z", new: "2026-03-01T10:30:00+01:00"}
    for path, saved in times.items():
        row = {"task": task.id, "finished": True, "scus": [path.name]}
        path.write_text(page_of(row, worker=" Ann ", saved=saved))

    for paths in ([old, new], [new, old]):
        result = lp.import_answers(tasks, paths)
        assert of_sentence(result, task) == [new.name]
        duplicate = f"{task.name} by Ann (answers.json, answer 1)"
        assert result.named["duplicates"] == [duplicate]

    answers = [wrote(task, "Done."), wrote(task, "Draft", finished=False)]
    assert of_sentence(collect_units(tasks, answers), task) == ["Done."]


def test_several_writers_and_unknown_tasks(tasks):
    task = tasks.writing[0]
    stray = Response("w-000000000000", "Ann", "file.json, answer 7", scus=("Lost.",))
    one = wrote(task, "One.", "Two.")
    other = wrote(task, "Two.", "Three.", worker="Bob")
    rows = [stray, one, other]
    first = collect_units(tasks, rows)
    assert of_sentence(first, task) == ["One.", "Two."]
    assert first.named["several"] == ["bridge, reference 1, sentence 1: Ann, Bob"]
    assert first.named["unknown"] == ["w-000000000000 (file.json, answer 7)"]
    every = collect_units(tasks, rows, writers="all")
    assert of_sentence(every, task) == ["One.", "Three.", "Two."]
    with refused(r"no answer belongs.*w-000000000000"):
        collect_units(tasks, [stray])


def test_half_done_judging_keeps_every_answer(judging):
    first, second, *_ = judging.judging
    rows = [
        judged(first, {0: True}),
        *full(judging, "Bob")[1:],
        judged(second, {9: True}),
    ]
    result = collect_labels(judging, rows)
    assert result.named["incomplete"] == ["bridge"]
    assert result.labels.inputs == result.units.inputs == ("ferry", "räd")
    assert result.named["started"] == ["alpha on bridge"]
    assert result.named["extra"] == ["beta on bridge: 10 (at Ann)"]
    counts = result.agreement.counts
    answers = 1 + sum(len(task.units) for task in judging.judging[1:])
    assert counts["answers"] == counts["answers kept"] == answers
    # A worker who hands in a task twice loses nothing that only the first one answered.
    one = judged(first, {0: True, 1: True})
    other = judged(first, {1: False, 2: False})
    result = collect_labels(judging, [one, other])
    assert result.agreement.labels[:3].tolist() == [1.0, 0.0, 0.0]
    assert result.named["duplicates"] == ["alpha on bridge by Ann (at Ann)"]


def test_a_later_draft_does_not_hide_an_answer_that_was_handed_in(judging):
    first = judging.judging[0]
    draft = replace(judged(first, {0: False}), finished=False)
    rows = [judged(first, {0: True, 1: True}), draft]
    result = collect_labels(judging, rows, drafts=False)
    assert result.agreement.labels[:2].tolist() == [1.0, 1.0]
    assert collect_labels(judging, rows).agreement.labels[:2].tolist() == [0.0, 1.0]


def test_task_file_round_trip(tmp_path, tasks, judging):
    path = tmp_path / "tasks.json"
    for kind in (tasks, judging):
        path.unlink(missing_ok=True)
        write_tasks(path, kind)
        assert read_tasks(tmp_path) == kind
        data = json.loads(path.read_text(encoding="utf-8"))
        first, *others = data[kind.kind]
        field = "text" if kind is tasks else "summary"
        for changed in (
            {kind.kind: [{**first, field: "Another."}, *others]},
            {kind.kind: others},
            {"systems": [*data["systems"], "x"]},
        ):
            path.write_text(json.dumps(data | changed), encoding="utf-8")
            with refused("not those that were exported"):
                read_tasks(path)


ODDITIES = """\
a control of others and a relation | 3 | {0: True}
a fact that was skipped | 3 | {2: None}
a task that was skipped | 3 | {} | skipped
a draft | a | {1: False} | not finished
no task_id (label_studio.json, task 9) | 3 | {0: True}
"""


def test_label_studio_oddities(folder):
    """A draft may be no more than its id."""
    path = folder / "label_studio.json"
    shown = ""
    for response in read_responses([str(path)]):
        shown += f"{response.task} | {response.worker} | {response.presence}"
        shown += " | skipped" * response.skipped
        shown += " | not finished" * (not response.finished)
        shown += "\n"
    assert shown == ODDITIES

    path.write_text(path.read_text().replace("Yes", "Maybe"))
    with refused("yes, no or skip"):
        read_responses([path])


def test_a_task_that_was_skipped_is_named(tasks):
    skipped = Response(tasks.ids[0], "Ann", "e.json", skipped=True)
    result = collect_units(tasks, [skipped, wrote(tasks.writing[1], "A.")])
    assert result.named["skipped"] == [f"{tasks.ids[0]} (e.json)"]


def test_sentences_without_a_fact_are_done(tasks, stus):
    bridge, ferry, cafe = tasks.writing
    answers = [wrote(bridge, no_fact=True), wrote(ferry, "A fact.")]
    result = collect_units(tasks, answers, stus)
    assert of_sentence(result, bridge) == []
    assert of_sentence(result, ferry) == ["A fact."]
    assert of_sentence(result, cafe) == sample.STUS["räd", 0]
    assert (result.done, result.fallen_back) == (2, 1)
    assert result.named["no_fact"] == [bridge.name]

    # Facts and no fact contradict each other; what the worker had handed in before
    # still counts.
    both = wrote(bridge, "A fact.", no_fact=True)
    result = collect_units(tasks, [both], stus)
    assert of_sentence(result, bridge) == sample.STUS["bridge", 0]
    assert result.named["started"] == [bridge.name]
    assert result.named["contradictory"] == [f"{bridge.name} by Ann (at Ann)"]
    drafts = collect_units(tasks, [both], stus, drafts=True)
    assert of_sentence(drafts, bridge) == ["A fact."]
    earlier = collect_units(tasks, [wrote(bridge, "Old."), both], stus)
    assert of_sentence(earlier, bridge) == ["Old."]


def page(task, no_fact, *scus):
    row = {"task": task.id, "finished": True, "scus": scus, "no_fact": no_fact}
    return page_of(row)


def label_studio(task, no_fact, *scus):
    answers = {"no_fact": [NO_FACT] * no_fact}
    if scus:
        answers["scus"] = list(scus)
    return sample.label_studio([{"data": {"task_id": task.id}}], lambda _: answers)


def json_min(task, no_fact, *scus):
    row = {"task_id": task.id, "annotator": 4}
    if no_fact:
        row["no_fact"] = NO_FACT
    if scus:
        row["scus"] = scus[0] if len(scus) == 1 else {"text": scus}
    return json.dumps([row])


def sheet(task, no_fact, *scus):
    lines = "\n".join(scus)
    tick = "x" * no_fact
    return (
        f'task_id,sentence,facts,no_fact,worker\r\n{task.id},x,"{lines}",{tick},W\r\n'
    )


@pytest.mark.parametrize("form", [page, label_studio, json_min, sheet])
def test_every_form_of_answers(folder, tasks, form):
    bridge = tasks.writing[0]
    path = folder / "answers"

    def imported(no_fact, *scus):
        path.write_text(form(bridge, no_fact, *scus), encoding="utf-8", newline="")
        return lp.import_answers(tasks, [path], units=folder / "stus.jsonl")

    assert imported(True).named["no_fact"] == [bridge.name]
    assert len(imported(True, "One.", "Two.").named["contradictory"]) == 1
    for scus in (["One."], ["One.", "Two."]):
        assert of_sentence(imported(False, *scus), bridge) == scus


MARKED = """
1. One.⏎2) Two. | One.⏎Two.
- One.⏎•Two.⏎* Three. | One.⏎Two.⏎Three.
2029. was dry. | 2029. was dry.
One.⏎2. Two. | One.⏎2. Two.
-5 degrees.⏎1.5 m. | -5 degrees.⏎1.5 m.
- 1. One.⏎- 2. Two. | One.⏎Two.
"""


@pytest.mark.parametrize(("boxes", "facts"), cases(MARKED))
def test_list_marks_are_no_part_of_a_fact(tmp_path, boxes, facts):
    path = tmp_path / "a.json"
    path.write_text(page_of({"task": "t", "scus": boxes.split("\n")}))
    assert read_responses([path])[0].scus == tuple(facts.split("\n"))


def test_not_applicable_is_no_fact_and_named(tasks, stus):
    bridge, ferry, cafe = tasks.writing
    answers = [
        wrote(bridge, "N/A"),
        wrote(ferry, "None.", no_fact=True),
        wrote(cafe, "-", "A fact."),
    ]
    result = collect_units(tasks, answers, stus)
    assert of_sentence(result, bridge) == sample.STUS["bridge", 0]
    assert of_sentence(result, ferry) == []
    assert of_sentence(result, cafe) == ["A fact."]
    assert (result.done, result.named["open"]) == (2, [bridge.name])
    assert result.named["nothing"][0] == f"{bridge.name} by Ann (at Ann)"


def filled_sheet(path, rows):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_sheets(folder, tasks, judging):
    write_export(tasks, folder / "writing", "csv")
    rows = sheet_in(folder / "writing")
    rows[0]["facts"] = "One.\n\n Two  words."
    (response,) = read_responses([filled_sheet(folder / "Ann.csv", rows)])
    assert (response.worker, response.scus) == ("Ann", ("One.", "Two words."))

    write_export(judging, folder / "judging", "csv")
    rows = sheet_in(folder / "judging")
    for row in rows:
        present = sample.truth(row["summary"], row["fact"])
        row |= {"present": "yes" if present else "No", "worker": "Bob"}
    path = filled_sheet(folder / "b.csv", rows)
    check_judged(folder, judging, [path])
    for wrong in ({"present": "perhaps"}, {"number": "0"}, {"number": "x"}):
        with refused(r"b\.csv:2: "):
            read_responses([filled_sheet(path, [rows[0] | wrong])])


@pytest.mark.parametrize(
    ("head", "mark", "encoding"),
    [
        ("", ";", "utf-8-sig"),
        ("", "\t", "utf-16"),
        ("sep=;\r\n", ";", "utf-8"),
    ],
)
def test_sheets_as_spreadsheets_save_them(tmp_path, head, mark, encoding):
    sheet = "Task_ID,Number,PRESENT\r\nt,1,1.0\r\nt,2.0,0.0"
    text = head + sheet.replace(",", mark)
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    (response,) = read_responses([path])
    assert response.presence == {0: True, 1: False}


def test_a_sheet_holds_no_formulas(tmp_path):
    facts = ("=1+1", "@cmd", "+a", "-b")
    write_export(one_task("=1+1", facts), tmp_path / "out", "csv")
    for row in sheet_in(tmp_path / "out"):
        for cell in row.values():
            assert cell[:1] not in tuple("=+-@")


def test_what_is_not_done_keeps_what_it_had(easiness, stus):
    one = writing_tasks(plan_budget(easiness, 2))
    bridge = one.writing[0]
    base = collect_units(one, [wrote(bridge, *sample.SCUS["bridge", 0])], stus)
    # A sentence that is done again has its new SCUs alone.
    new = collect_units(one, [wrote(bridge, "New.")], base.units)
    assert of_sentence(new, bridge) == ["New."]
    # Inputs that the tasks do not know stay; a second round adds to the first.
    sentences = [s for s in easiness.sentences if s.input == "ferry"]
    ferries = Easiness(tuple(sentences), np.array([0.1, 0.9]))
    two = writing_tasks(plan_budget(ferries, 1))
    (ferry,) = two.writing
    result = collect_units(two, [wrote(ferry, "A fact.")], base.units)
    assert result.units["bridge"] == base.units["bridge"]
    assert of_sentence(result, ferry) == ["A fact."]


WRONG = """
writing | answers     | 3
writing | answers     | []
writing | answers     | ["none.json"]
writing | tasks       | 3
writing | tasks       | "none"
writing | writers     | "some"
writing | units       | 3
judging | noisy_above | "x"
judging | noisy_above | 2
judging | units       | [["x"]]
"""


def test_wrong_types_are_one_error(folder, tasks, judging):
    rows = [
        {"task": tasks.ids[0], "finished": True, "scus": ["A."]},
        {"task": judging.ids[0], "presence": {"0": True}},
    ]
    path = folder / "a.json"
    path.write_text(page_of(*rows))
    for kind, option, value in cases(WRONG):
        work = tasks if kind == "writing" else judging
        usual = {"tasks": work, "answers": [path]}
        assert lp.import_answers(**usual)
        with refused():
            lp.import_answers(**usual | {option: json.loads(value)})


SHEET = """\
task_id,number,present,worker
{one},1,1.0,
{one},2.0,0.0,
"""
OF_CY = """\
task_id,number,present,worker
{one},1,yes,Cy
{two},1,no,
{two},1,yes,
"""


def test_who_gives_no_name_is_told_apart_by_file(tmp_path, judging):
    one, two = judging.ids[:2]
    row = {"task": two, "presence": {"0": True, "1": None}}
    page = page_of(row, worker=" ")
    texts = {
        "ann/sheet.csv": SHEET,
        "bob/sheet.csv": SHEET,
        "cy/sheet.csv": OF_CY,
    }
    files = [tmp_path / "x.json", tmp_path / "y.json"]
    for path in files:
        path.write_text(page)
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(text.format(one=one, two=two))
        files.append(path)

    result = lp.import_answers(judging, files)
    workers = [w.worker for w in result.agreement.workers]
    assert sorted(workers) == ["Cy", "ann/sheet", "bob/sheet", "x", "y"]
    assert sorted(result.named["unnamed"]) == ["ann/sheet", "bob/sheet", "x", "y"]
    (place,) = result.named["opposite"]
    assert "by Cy: fact 1 (sheet.csv:4)" in place
    assert result.agreement.counts["answers"] == 2 + 2 + 2 + 1 + 1
