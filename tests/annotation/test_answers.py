"""Answers that are half done, given twice, unknown, or broken: nothing is lost or goes unsaid."""

import csv
import io
import json
import re

import pytest
import sample

from litepyramid.annotation.collect import collect_labels, collect_units
from litepyramid.annotation.forms.export import export_tasks
from litepyramid.annotation.forms.read import read_responses
from litepyramid.annotation.forms.responses import Response, ResponseFile
from litepyramid.annotation.plan import plan_budget
from litepyramid.annotation.tasks import judging_tasks, read_tasks, write_tasks, writing_tasks
from litepyramid.easiness.files import sentence_easiness
from litepyramid.errors import InputError
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
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
        tasks, wrote(bridge, "A fact."), wrote(ferry, "Half", finished=False), stus=stus
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


def test_drafts_can_be_taken(tasks, stus):
    draft = wrote(tasks.writing[1], "Half", finished=False)
    result = collected(tasks, draft, stus=stus, drafts=True)
    assert texts(result, "ferry") == ("Half", *sample.STUS["ferry", 1])
    assert "--drafts" not in render(result, "table")
    assert "--drafts" in render(collected(tasks, draft, stus=stus), "table")


def test_without_stus_only_scus_come_back(tasks):
    result = collected(tasks, wrote(tasks.writing[0], "A fact.", "Another."))
    assert [e.input for e in result.units] == ["bridge"]
    assert result.without == ("ferry", "räd")
    assert [(u.reference, u.sentence, u.kind) for u in result.units[0].units] == [(0, 0, "scu")] * 2


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


def test_stus_of_other_inputs_are_refused(tasks, stus):
    with pytest.raises(InputError, match="input 'bridge' has no STUs"):
        collected(tasks, wrote(tasks.writing[0], "A fact."), stus=stus[1:])


def test_kinds_do_not_mix(tasks, judging):
    with pytest.raises(InputError, match="not SCU writing tasks"):
        collect_units(judging, ResponseFile(()))
    with pytest.raises(InputError, match="not presence judging tasks"):
        collect_labels(tasks, ResponseFile(()))


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


def test_rounds_of_one_random_answer_draw_from_the_workers_who_are_kept(judging):
    rows = ResponseFile(tuple(full(judging, "Ann") + full(judging, "Bob", flip=True)))
    eve = ResponseFile((*rows.responses, *full(judging, "Cleo"), *full(judging, "Dan")))
    result = collect_labels(judging, eve, rounds=3)  # Bob is dropped, the others agree
    assert result.rounds == (result.labels,) * 3
    result = collect_labels(judging, rows, rounds=3, noisy_above=None)
    assert len({result.labels, *result.rounds}) == 4
    assert result.rounds == collect_labels(judging, rows, rounds=3).rounds
    assert result.rounds != collect_labels(judging, rows, rounds=3, seed=1).rounds
    assert "One random answer per item, in labels-round1 to 3." in render(result, "table")


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
        first = data["tasks"][0]
        field = "text" if "text" in first else "summary"
        changed = {**data, "tasks": [{**first, field: "Another."}, *data["tasks"][1:]]}
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(InputError, match=f"the text of {first['id']} differs"):
            read_tasks(path)
        data["tasks"] = data["tasks"][1:]
        path.write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(InputError, match=r"digest differs|not one summary of every system"):
            read_tasks(path)
        for text in ("{", "[]", '{"format": "litepyramid-tasks"}'):
            path.write_text(text, encoding="utf-8")
            with pytest.raises(InputError, match=r"task file|tasks\.json that"):
                read_tasks(path)


def test_ids_follow_the_content(folder, judging):
    changed = folder / "summaries" / "alpha.jsonl"
    changed.write_text(changed.read_text(encoding="utf-8").replace("9,000", "8,000"), "utf-8")
    again = judging_tasks(read_summaries([folder / "summaries"]), read_units(folder / "scus.jsonl"))
    differing = [
        a.name for a, b in zip(again.judging, judging.judging, strict=True) if a.id != b.id
    ]
    assert differing == ["alpha on bridge"]
    assert len(set(judging.ids)) == len(judging.ids)


def test_export_forms(tmp_path, tasks):
    with pytest.raises(InputError, match="page, label-studio, mturk"):
        export_tasks(tasks, tmp_path, "paper")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a folder"):
        export_tasks(tasks, tmp_path / "file", "page")
    values = tmp_path / "easiness.jsonl"
    nobody = plan_budget(sentence_easiness(tmp_path / "references.jsonl", easiness=values), 0)
    with pytest.raises(InputError, match="people no sentence"):
        writing_tasks(nobody)


@pytest.mark.parametrize("form", ["page", "label-studio", "mturk"])
def test_parts_hold_every_task_once(tmp_path, judging, form):
    result = export_tasks(judging, tmp_path / "out", form, parts=3)
    parts = [p for p in result.files if p.stem[-2:] in ("-1", "-2", "-3")]
    assert len(parts) == 3
    found = [task for p in parts for task in re.findall(r"j-[0-9a-f]{12}", p.read_text("utf-8"))]
    assert sorted(found) == sorted(judging.ids)
    assert read_tasks(tmp_path / "out") == judging
    with pytest.raises(InputError, match="from 1 to 8"):
        export_tasks(judging, tmp_path, form, parts=9)


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


def test_page_answers_that_are_broken(tmp_path):
    path = tmp_path / "a.json"
    head = {"format": "litepyramid-answers", "worker": "Ann"}
    for body, what in (
        ({"x": 1}, "no answers that can be read"),
        ({**head}, "broken answers"),
        ({**head, "answers": [{"task": "t", "presence": {"0": "yes"}}]}, "broken answers"),
        ({**head, "answers": [{"task": "t", "presence": {"a": True}}]}, "broken answers"),
        ({**head, "answers": [7]}, "broken answers"),
    ):
        path.write_text(json.dumps(body), encoding="utf-8")
        with pytest.raises(InputError, match=what):
            read_responses([path])
    with pytest.raises(InputError, match="no answers given"):
        read_responses([])


def test_mturk_oddities(tmp_path):
    path = tmp_path / "r.csv"

    def read(*rows):
        buffer = io.StringIO()
        names = [
            "WorkerId",
            "AssignmentStatus",
            "Input.task_id",
            "Answer.scus",
            "Answer.presence_0",
        ]
        writer = csv.DictWriter(buffer, [*names, "Answer.taskAnswers", "Reject"], restval="")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(buffer.getvalue(), encoding="utf-8")
        return read_responses([path])

    row = {"WorkerId": "W", "AssignmentStatus": "Approved", "Input.task_id": "t"}
    found = read({**row, "Answer.scus": "One.\n\n  Two  words. "})
    assert found.responses[0].scus == ("One.", "Two words.")
    assert found.responses[0].place == "r.csv:2"
    rejected = read(
        {**row, "AssignmentStatus": "Rejected", "Answer.scus": "x"},
        {**row, "Answer.scus": "x", "Reject": "x"},
    )
    assert rejected.responses == ()
    assert rejected.notes == ("r.csv: 2 rejected assignments were left out.",)
    assert read({**row}).responses == ()
    with pytest.raises(InputError, match=r"r\.csv:2: presence_0 is 'perhaps'"):
        read({**row, "Answer.presence_0": "perhaps"})
    with pytest.raises(InputError, match="taskAnswers"):
        read({**row, "Answer.taskAnswers": "oops"})
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="not a results file"):
        read_responses([path])
