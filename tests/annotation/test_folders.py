"""Folders that answers need, or that hold something else, are not overwritten."""

import json
from dataclasses import replace

import pytest
from test_answers import full, judged

import litepyramid as lp
from litepyramid.annotation.collect import collect_labels
from litepyramid.annotation.forms.export import export_tasks
from litepyramid.annotation.forms.responses import ResponseFile
from litepyramid.annotation.sources import write_judged
from litepyramid.annotation.tasks import _judging_id, read_tasks, write_tasks
from litepyramid.errors import InputError
from litepyramid.io.folders import MANIFEST
from litepyramid.tables import render


def names(path):
    """The files in a folder, without its list of what was written."""
    files = (p for p in path.rglob("*") if p.is_file() and p.name != MANIFEST)
    return sorted(p.relative_to(path).as_posix() for p in files)


def contents(path):
    return {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_tasks_that_went_out_are_not_replaced(tmp_path, tasks, judging):
    out = tmp_path / "out"
    export_tasks(tasks, out, "page")
    with pytest.raises(InputError, match="holds other tasks"):
        export_tasks(judging, out, "page")
    (out / "tasks.json").write_text("{}")
    with pytest.raises(InputError, match="holds other tasks"):
        export_tasks(tasks, out, "page")
    (out / "tasks.json").unlink()
    export_tasks(judging, out, "page")
    assert read_tasks(out) == judging


def test_same_tasks_in_another_form_or_other_parts(tmp_path, judging):
    first = export_tasks(judging, tmp_path / "out", "page", parts=2)
    assert first.stale == ()
    again = export_tasks(judging, tmp_path / "out", "page")
    assert [p.name for p in again.stale] == ["page-1.html", "page-2.html"]
    assert "Still there from an earlier export" in render(again, "table")
    assert export_tasks(judging, tmp_path / "out", "mturk").stale == ()
    assert read_tasks(tmp_path / "out") == judging


def test_summaries_without_units_are_named(folder):
    with pytest.raises(InputError, match="together with --units"):
        lp.export_tasks([folder / "summaries"], folder / "out")


def test_labels_are_not_mixed_into_what_is_there(folder, judging):
    result = collect_labels(judging, ResponseFile(tuple(full(judging, "Ann"))))
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    with pytest.raises(InputError, match="holds other files"):
        write_judged(folder, result)
    with pytest.raises(InputError, match="is not a folder"):
        write_judged(folder / "scus.jsonl", result)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_a_later_import_replaces_the_earlier_one(tmp_path, judging):
    out = tmp_path / "new" / "judged"
    rows = tuple(full(judging, "Ann"))
    write_judged(out, collect_labels(judging, ResponseFile(rows)))
    everything = names(out)
    assert "labels/alpha.jsonl" in everything
    (out / "notes.txt").write_text("mine")
    some = collect_labels(judging, ResponseFile(rows))
    fewer = replace(some, labels=some.labels[1:], summaries=some.summaries[1:])
    write_judged(out, fewer)
    gone = {f"{kind}/{some.labels[0].system}.jsonl" for kind in ("labels", "summaries")}
    assert names(out) == sorted([*(set(everything) - gone), "notes.txt"])
    assert names(out.parent) == [f"judged/{name}" for name in names(out)]


def test_what_others_put_among_the_labels_is_never_touched(tmp_path, judging, cli):
    """Answers kept beside the labels vanished at the next import."""
    sent, out = tmp_path / "sent", tmp_path / "out"
    export_tasks(judging, sent, "page")
    rows = [
        {"task": task.id, "finished": True, "presence": {str(i): True for i in range(9)}}
        for task in judging.judging
    ]
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"format": "litepyramid-answers", "answers": rows}), "utf-8")
    cli("budget", "import", sent, answers, "-o", out)
    kept = out / "labels" / "answers.json"
    answers.rename(kept)
    before = contents(tmp_path)
    said = cli("budget", "import", sent, kept, "-o", out, status=2).stderr
    assert "contains other files ('answers.json'), which would be read as systems" in said
    assert contents(tmp_path) == before
    kept.rename(answers)
    labels = out / "labels" / "alpha.jsonl"
    labels.write_text(labels.read_text("utf-8").replace("1", "0"), "utf-8")  # corrected by hand
    before = contents(tmp_path)
    said = cli("budget", "import", sent, answers, "-o", out, status=2).stderr
    assert "labels/alpha.jsonl: was changed since it was written" in said
    assert contents(tmp_path) == before
    said = cli("budget", "import", sent, answers, "-o", sent, status=2).stderr
    assert "holds tasks of litepyramid" in said
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "agreement.json").write_text("{}")
    said = cli("budget", "import", sent, answers, "-o", mine, status=2).stderr
    assert "holds other files" in said
    assert (mine / "agreement.json").read_text() == "{}"


def test_labels_of_one_random_answer_can_be_scored_and_go_with_the_import(tmp_path, judging, cli):
    sent, out = tmp_path / "sent", tmp_path / "out"
    export_tasks(judging, sent, "page")
    answers = []
    for worker in ("Ann", "Bob"):
        said = {str(i): worker == "Ann" for i in range(9)}
        rows = [{"task": t.id, "finished": True, "presence": said} for t in judging.judging]
        file = tmp_path / f"{worker}.json"
        data = {"format": "litepyramid-answers", "worker": worker, "answers": rows}
        file.write_text(json.dumps(data), "utf-8")
        answers.append(file)
    done = cli("budget", "import", sent, *answers, "-o", out, "--random-rounds", 2)
    assert "One random answer per item, in labels-round1 to 2." in done.stdout
    kinds = ("labels", "labels-round1", "labels-round2")
    systems = names(out / "summaries")
    assert [names(out / kind) for kind in kinds] == [systems] * 3
    read = [contents(out / kind) for kind in kinds]
    assert len({tuple(files.values()) for files in read}) == 3
    scored = ["score", out / "summaries", "-u", out / "units.jsonl", "--labels"]
    assert cli(*scored, out / "labels-round2").stdout != cli(*scored, out / "labels").stdout
    cli("budget", "import", sent, *answers, "-o", out)
    assert not (out / "labels-round1").exists()


@pytest.mark.parametrize("name", ["../../mine", "/tmp/litepyramid-mine", "a/b", "..", "x" * 300])
def test_a_system_cannot_lead_out_of_the_folder(tmp_path, judging, name, cli):
    first = judging.systems[0]
    renamed = replace(
        judging,
        systems=(name, *judging.systems[1:]),
        judging=tuple(
            replace(task, system=name, id=_judging_id(name, task.input, task.summary, task.units))
            if task.system == first
            else task
            for task in judging.judging
        ),
        blank=tuple((name if s == first else s, i) for s, i in judging.blank),
    )
    write_tasks(tmp_path / "tasks.json", renamed)
    answers = tmp_path / "answers.json"
    rows = [{"task": t.id, "presence": {str(i): True for i in range(9)}} for t in renamed.judging]
    answers.write_text(json.dumps({"format": "litepyramid-answers", "answers": rows}), "utf-8")
    before = contents(tmp_path.parent)
    said = cli("budget", "import", tmp_path, answers, "-o", tmp_path / "out", status=2).stderr
    assert "cannot name a file" in said
    assert contents(tmp_path.parent) == before
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="cannot name a file"):
        export_tasks(renamed, tmp_path / "sent", "page")


def test_a_page_of_your_own_is_not_replaced(tmp_path, tasks):
    (tmp_path / "out").mkdir()
    page = tmp_path / "out" / "page.html"
    page.write_text("mine")
    with pytest.raises(InputError, match=r"page\.html: already exists, and would be overwritten"):
        export_tasks(tasks, tmp_path / "out", "page")
    assert names(tmp_path / "out") == ["page.html"]
    assert page.read_text() == "mine"


def test_nothing_complete_leaves_nothing_that_looks_scorable(tmp_path, judging):
    out = tmp_path / "judged"
    write_judged(out, collect_labels(judging, ResponseFile(tuple(full(judging, "Ann")))))
    some = ResponseFile((judged(judging.judging[0], {0: True}),))
    result = collect_labels(judging, some)
    assert result.units == ()
    assert "No input is complete yet" in render(result, "table")
    write_judged(out, result)
    assert names(out) == ["agreement.json"]
