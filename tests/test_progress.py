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


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_a_bar_is_shown_on_a_terminal_after_a_second_and_cleared(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    for _ in track(range(3), "judging", "pairs"):
        pass
    assert stream.getvalue() == ""

    for _ in track(range(3), "judging", "pairs"):
        time.sleep(0.51)
    shown = stream.getvalue()
    if not stream.isatty():
        assert shown == ""
    else:
        assert re.search(r"judging: +\d+%\|.*\| [23]/3 \[.* pairs/s\]", shown)
        assert shown.rpartition("\r")[0].rpartition("\r")[2].strip() == ""


def stop(*_: object, **__: object):
    raise KeyboardInterrupt


def test_ctrl_c_leaves_an_earlier_output_as_it_was(tmp_path, cli, monkeypatch):
    (tmp_path / "u.tex").write_text("% Made by litepyramid\n")
    monkeypatch.setattr("litepyramid.units.extract.read_references", stop)
    done = cli("units extract r.txt -o u.tex", cwd=tmp_path, status=130)
    assert done.stdout == ""
    assert (tmp_path / "u.tex").read_text() == "% Made by litepyramid\n"


@pytest.fixture
def work(monkeypatch):
    """Judges so many pairs, a step in so many seconds; gives what was told."""
    now = 0.0
    monkeypatch.setattr("litepyramid.progress.time.monotonic", lambda: now)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)

    def told(pairs, steps, seconds, stream=io.StringIO, **options):
        nonlocal now
        monkeypatch.setattr(sys, "stderr", stream())
        with bar(pairs, "judging", "pairs", **options) as shown:
            for _ in range(steps):
                now += seconds
                shown.update()
        return sys.stderr.getvalue()

    return told


def test_without_a_terminal_a_line_every_ten_seconds(work):
    first = "judging: 20 of 100 pairs, 2 a second, 40 s left\n"
    second = "judging: 40 of 100 pairs, 2 a second, 30 s left\n"
    assert work(100, 50, 0.5) == first + second
    # What is counted is the pair of the user.
    assert work(200, 40, 0.25, each=2.0) == first


@pytest.mark.parametrize(("pairs", "times"), [(300, 0), (5000, 1)])
@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_where_judging_takes_long_faster_ways_are_told_once(work, pairs, times, stream):
    told = work(pairs, 100, 0.1, stream, judging=True)
    assert told.count("--judge lexical") == told.count("GPU") == times


def test_who_judges_a_part_or_is_told_to_says_nothing(work, monkeypatch):
    assert work(100, 50, 0.5, Terminal, shown=False) == ""
    monkeypatch.setenv("TQDM_DISABLE", "1")
    assert work(5000, 200, 0.1, judging=True) == ""
