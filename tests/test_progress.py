"""Bars are for people at a terminal; Ctrl-C leaves earlier results as they were."""

import io
import re
import sys
import time

from litepyramid.progress import bar, track


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def slow(seconds: float) -> str:
    for _ in track(range(3), "judging", "pairs"):
        time.sleep(seconds)
    return sys.stderr.getvalue()


def test_a_bar_is_shown_on_a_terminal_after_a_second_and_cleared(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert slow(0.0) == ""
    shown = slow(0.51)
    assert re.search(r"judging: +\d+%\|.*\| [23]/3 \[.* pairs/s\]", shown)
    assert shown.rpartition("\r")[0].rpartition("\r")[2].strip() == ""


def test_no_bar_without_a_terminal_or_when_turned_off(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert slow(0.51) == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bar(1, "judging", "pairs", shown=False) as hidden:
        hidden.update()
    assert sys.stderr.getvalue() == ""


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_leaves_an_earlier_output_as_it_was(tmp_path, cli, monkeypatch):
    (tmp_path / "u.jsonl").write_text("old")
    monkeypatch.setattr("litepyramid.units.extract.as_references", stop)
    done = cli("units", "extract", "r.txt", "-o", "u.jsonl", cwd=tmp_path, status=130)
    assert (done.stdout, (tmp_path / "u.jsonl").read_text()) == ("", "old")
