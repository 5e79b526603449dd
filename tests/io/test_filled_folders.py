"""Folders of results: all or nothing, nothing of others touched, no name that leads elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from litepyramid.errors import InputError
from litepyramid.io.folders import MANIFEST, check_names, filled_folder

KIND = "things"


def fill(goal: Path, files: dict[str, str], **options: object) -> None:
    with filled_folder(goal, KIND, **options) as new:
        for name, text in files.items():
            (new / name).parent.mkdir(exist_ok=True)
            (new / name).write_text(text)


def contents(goal: Path) -> dict[str, bytes]:
    files = (p for p in goal.rglob("*") if p.is_file())
    return {p.relative_to(goal).as_posix(): p.read_bytes() for p in files}


def listed(goal: Path) -> list[str]:
    return sorted(path.name for path in goal.iterdir())


def visible(goal: Path) -> dict[str, str]:
    return {n: data.decode() for n, data in contents(goal).items() if n != MANIFEST}


def test_only_what_was_written_is_replaced_or_removed(tmp_path):
    goal = tmp_path / "a" / "goal"
    fill(goal, {"labels/x": "1", "labels/y": "2", "all": "3"})
    (goal / "labels" / "mine").write_text("mine")
    (goal / "notes").write_text("mine")
    fill(goal, {"labels/x": "4", "all": "3"})
    assert visible(goal) == {"labels/x": "4", "all": "3", "labels/mine": "mine", "notes": "mine"}
    fill(goal, {"new": "5"}, keep=True)
    fill(goal, {"new": "6"}, keep=True)
    assert visible(goal)["new"] == "6"
    assert "all" in visible(goal)
    before = contents(goal)
    for files, what in (
        ({"notes": "ours"}, "already exists"),
        ({"notes/a": "ours"}, "cannot be written"),
    ):
        with pytest.raises(InputError, match=what):
            fill(goal, files)
        assert contents(goal) == before
    (goal / "all").write_text("changed")
    for files in ({"all": "7"}, {}):
        with pytest.raises(InputError, match="all: was changed since it was written"):
            fill(goal, files)
        assert visible(goal)["all"] == "changed"
    assert listed(tmp_path) == ["a"]
    assert listed(goal.parent) == ["goal"]


def test_an_error_anywhere_leaves_everything_as_it_was(tmp_path, monkeypatch):
    goal = tmp_path / "goal"
    old = {"agreement": "1", "labels/a": "1", "labels/b": "1", "units": "1"}
    new = {"agreement": "2", "labels/a": "2", "labels/c": "2", "units": "2"}
    fill(goal, old)
    before = contents(goal)
    rename, failed = Path.rename, 0
    for stop in range(20):
        calls = 0

        def fails(self: Path, target: Path, stop: int = stop) -> Path:
            nonlocal calls
            calls += 1
            if calls == stop + 1:
                raise OSError(28, "No space left on device")
            return rename(self, target)

        monkeypatch.setattr(Path, "rename", fails)
        try:
            fill(goal, new)
        except InputError:
            failed += 1
        else:
            break
        finally:
            monkeypatch.undo()
        assert contents(goal) == before
        assert listed(tmp_path) == ["goal"]
    assert failed == 8  # four files out, four in
    assert visible(goal) == new


def test_what_cannot_be_put_back_is_not_thrown_away(tmp_path, monkeypatch):
    goal = tmp_path / "goal"
    fill(goal, {"a": "old", "b": "old"})
    rename, calls = Path.rename, 0

    def breaks(self: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", breaks)
    with pytest.raises(InputError, match="cannot be restored") as error:
        fill(goal, {"a": "new", "b": "new"})
    monkeypatch.undo()
    aside = Path(str(error.value).split(" are in ")[1].removesuffix("."))
    assert contents(aside) == {"b": b"old"}
    assert visible(goal)["a"] == "old"
    fill(goal, {"a": "new", "b": "new"})  # and the next run makes it whole


def fill_until(stop: int, goal: Path, files: dict[str, str]) -> None:
    """Fills the folder, but ends the process before the move of that number."""
    rename, left = Path.rename, iter(range(stop))

    def dies(self: Path, target: Path) -> Path:
        if next(left, None) is None:
            os._exit(9)
        return rename(self, target)

    Path.rename = dies  # type: ignore[method-assign]
    fill(goal, files)
    os._exit(0)


def test_a_kill_loses_nothing_and_leaves_no_mixture(tmp_path):
    """Each move may be the last: what is there lacks its last files, and the next run mends it."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    old = {"agreement": "1", "labels/a": "1", "labels/b": "1", "units": "1"}
    new = {"agreement": "2", "labels/a": "2", "labels/c": "2", "units": "2"}
    for stop in range(9):
        goal = tmp_path / str(stop)
        fill(goal, old)
        child = os.fork()
        if not child:
            fill_until(stop, goal, new)
        assert os.waitpid(child, 0)[1] == (0 if stop == 8 else 9 << 8)
        there = {n: text for n, text in visible(goal).items() if not n.startswith(".")}
        aside = [text for name, text in visible(goal).items() if "/old/" in name]
        assert "units" not in there or len(set(there.values())) == 1
        assert [*there.values(), *aside].count("1") == (4 if stop < 8 else 0)
        fill(goal, new)
        assert {n: t for n, t in visible(goal).items() if not n.startswith(".")} == new


def test_an_error_while_filling_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="Is a directory"):
        fill(tmp_path / "goal", {"x": "1", ".": "2"})
    assert listed(tmp_path) == []


def test_a_manifest_that_leads_elsewhere_is_not_followed(tmp_path):
    goal, mine = tmp_path / "goal", tmp_path / "mine"
    mine.write_text("x")
    fill(goal, {"a": "x"})
    sha = json.loads((goal / MANIFEST).read_text())["files"]["a"]
    for name in ("../mine", str(mine), "."):
        (goal / MANIFEST).write_text(json.dumps({"kind": KIND, "files": {name: sha}}))
        with pytest.raises(InputError, match="damaged"):
            fill(goal, {})
    for text in ("{", "[]", '{"kind": 1}', '{"kind": "things", "files": [1]}'):
        (goal / MANIFEST).write_text(text)
        with pytest.raises(InputError, match="damaged"):
            fill(goal, {})
    assert mine.read_text() == "x"
    (goal / MANIFEST).unlink()
    (goal / "labels").symlink_to(tmp_path)
    with pytest.raises(InputError, match="leads out of its folder"):
        fill(goal, {"labels/mine": "y"})
    assert mine.read_text() == "x"


def test_other_kinds_and_no_folders_are_refused(tmp_path):
    fill(tmp_path / "goal", {"a": "1"})
    with (
        pytest.raises(InputError, match="holds things of litepyramid"),
        filled_folder(tmp_path / "goal", "others"),
    ):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a folder"):
        fill(tmp_path / "file", {})
    with pytest.raises(InputError, match="cannot be written"):
        fill(tmp_path / "file" / "below", {"a": "1"})
    with pytest.raises(InputError, match="cannot be written"):
        fill(tmp_path / ("x" * 300), {"a": "1"})


@pytest.mark.parametrize(
    "names",
    [
        [""], ["."], [".."], [".hidden"], ["a/b"], ["/a"], ["a\\b"], ["a\0"], ["a\n"], ["\ud800"],
        ["x" * 201], ["é" * 101], ["a", "A"], ["é", "e\u0301"], ["STRASSE", "straße"],
    ],
)  # fmt: skip
def test_names_that_can_be_no_file_of_their_own(names):
    with pytest.raises(InputError, match=r"cannot name a file|would be the same file") as error:
        check_names(["fine", *names])
    assert len(str(error.value)) < 400
    assert str(error.value).isprintable()


def test_names_that_can(tmp_path):
    names = ["x" * 200, "é" * 100, "a b", "1", "gpt-4:high", "名前", "a.b"]
    check_names(names)
    fill(tmp_path / "goal", dict.fromkeys(names, ""))
