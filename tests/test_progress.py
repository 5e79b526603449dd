"""Bars are for people at a terminal; Ctrl-C leaves earlier results as they were."""

import io
import re
import sys
import time

import pytest

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


def stop(*_: object, **__: object):
    raise KeyboardInterrupt


def test_ctrl_c_leaves_an_earlier_output_as_it_was(tmp_path, cli, monkeypatch):
    (tmp_path / "u.jsonl").write_text("old")
    monkeypatch.setattr("litepyramid.units.extract.as_references", stop)
    done = cli("units extract r.txt -o u.jsonl", cwd=tmp_path, status=130)
    assert (done.stdout, (tmp_path / "u.jsonl").read_text()) == ("", "old")


class Clock:
    """A clock that goes as fast as the test says."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr("litepyramid.progress.time.monotonic", lambda: self.now)
        monkeypatch.delenv("TQDM_DISABLE", raising=False)

    def work(self, shown, steps, seconds):
        for _ in range(steps):
            self.now += seconds
            shown.update()


def test_without_a_terminal_a_line_every_ten_seconds(monkeypatch):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with bar(100, "judging", "pairs") as shown:
        clock.work(shown, 50, 0.5)
    lines = sys.stderr.getvalue().splitlines()
    assert lines == [
        "judging: 20 of 100 pairs, 2 a second, 40 s left",
        "judging: 40 of 100 pairs, 2 a second, 30 s left",
    ]


def test_what_is_counted_is_the_pair_of_the_user(monkeypatch):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with bar(200, "judging", "pairs", each=2.0) as shown:
        clock.work(shown, 40, 0.25)
    assert sys.stderr.getvalue() == "judging: 20 of 100 pairs, 2 a second, 40 s left\n"


@pytest.mark.parametrize(("pairs", "told"), [(300, 0), (5000, 1)])
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_where_judging_takes_long_faster_ways_are_told_once(
    monkeypatch, pairs, told, stream
):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(sys, "stderr", stream())
    with bar(pairs, "judging", "pairs", judging=True) as shown:
        clock.work(shown, 100, 0.1)
    text = sys.stderr.getvalue()
    assert text.count("--judge lexical") == text.count("GPU") == told


def test_processes_that_judge_a_part_say_nothing(monkeypatch):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setenv("TQDM_DISABLE", "1")
    with bar(5000, "judging", "pairs", judging=True) as shown:
        clock.work(shown, 200, 0.1)
    assert sys.stderr.getvalue() == ""
