"""Folders that answers need, or that hold something else, are not written over."""

import pytest
from test_answers import full, judged

from litepyramid.annotation.collect import collect_labels
from litepyramid.annotation.export import export_tasks
from litepyramid.annotation.responses import ResponseFile
from litepyramid.annotation.sources import write_judged, writing_tasks_from
from litepyramid.annotation.tasks import read_tasks
from litepyramid.errors import InputError
from litepyramid.report.table import render


def names(path):
    return sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file())


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
        writing_tasks_from([folder / "summaries"])


def test_labels_are_not_mixed_into_what_is_there(folder, judging):
    result = collect_labels(judging, ResponseFile(tuple(full(judging, "Ann"))))
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    with pytest.raises(InputError, match="holds other files"):
        write_judged(folder, result)
    with pytest.raises(InputError, match="is no folder"):
        write_judged(folder / "scus.jsonl", result)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_a_later_import_replaces_the_earlier_one(tmp_path, judging):
    out = tmp_path / "new" / "judged"
    rows = tuple(full(judging, "Ann"))
    write_judged(out, collect_labels(judging, ResponseFile(rows)))
    everything = names(out)
    assert "labels/alpha.jsonl" in everything
    (out / "labels" / "renamed.jsonl").write_text("of an earlier export")
    (out / "notes.txt").write_text("mine")
    write_judged(out, collect_labels(judging, ResponseFile(rows)))
    assert names(out) == sorted([*everything, "notes.txt"])
    assert names(out.parent) == [f"judged/{name}" for name in names(out)]


def test_nothing_complete_leaves_nothing_that_looks_scorable(tmp_path, judging):
    out = tmp_path / "judged"
    write_judged(out, collect_labels(judging, ResponseFile(tuple(full(judging, "Ann")))))
    some = ResponseFile((judged(judging.judging[0], {0: True}),))
    result = collect_labels(judging, some)
    assert result.units == ()
    assert "No input is complete yet" in render(result, "table")
    write_judged(out, result)
    assert names(out) == ["agreement.json"]
