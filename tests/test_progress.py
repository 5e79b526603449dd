"""Bars are for people at a terminal; Ctrl-C says what was kept and how to go on."""

from __future__ import annotations

import csv
import io
import os
import re
import signal
import subprocess
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
    shown = slow(0.6)
    assert re.search(r"judging: +\d+%\|.*\| [23]/3 \[.* pairs/s\]", shown)
    assert shown.rpartition("\r")[0].rpartition("\r")[2].strip() == ""


def test_no_bar_without_a_terminal_or_when_turned_off(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert slow(0.6) == ""
    monkeypatch.setattr(sys, "stderr", Terminal())
    with bar(1, "judging", "pairs", shown=False) as hidden:
        hidden.update()
    assert sys.stderr.getvalue() == ""


@pytest.fixture
def scores(tmp_path):
    """Two metrics and a human score of six systems on eight inputs."""
    path = tmp_path / "scores.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("system", "input", "metric", "score"))
        for system in range(6):
            for i in range(8):
                for m, metric in enumerate(("human", "m", "n")):
                    rows.writerow((system, i, metric, (system * 7 + i * 5 + m * 3) % 11))
    return path


def test_ctrl_c_keeps_the_journal_and_the_run_goes_on(scores, tmp_path, cli):
    journal = tmp_path / "run.jsonl"
    command = ["meta", "simulate", "coverage", scores, "-m", "m", "--samples", "100"]
    command += ["--journal", journal, "-f", "csv"]
    run = subprocess.Popen(
        [sys.executable, "-m", "litepyramid", *map(str, command), "--trials", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
        assert run.poll() is None, run.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, "")
    done = journal.read_bytes().count(b"\n") - 1
    kept = f"{done} finished parts kept in {journal}"
    said = f"litepyramid: interrupted; {kept}; run again to continue\n"
    assert err == said
    went_on = cli(*command, "--trials", 20).stdout
    assert journal.read_bytes().count(b"\n") == done + 1
    journal.unlink()
    assert cli(*command, "--trials", 20).stdout == went_on


def stop(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_without_a_journal_names_it(scores, cli, monkeypatch):
    monkeypatch.setattr("litepyramid.meta.simulate.interval_coverage._halves", stop)
    done = cli("meta", "simulate", "coverage", scores, status=130)
    assert done.stderr == (
        "litepyramid: interrupted; nothing was kept (--journal FILE saves finished parts)\n"
    )


def test_ctrl_c_leaves_an_earlier_output_as_it_was(tmp_path, cli, monkeypatch):
    (tmp_path / "r.txt").write_text("A storm hit Oslo.\n")
    (tmp_path / "u.jsonl").write_text("old")
    monkeypatch.setattr("litepyramid.units.extract.sentence_stus", stop)
    done = cli("units", "extract", "r.txt", "-o", "u.jsonl", cwd=tmp_path, status=130)
    assert (done.stdout, done.stderr) == ("", "litepyramid: interrupted; nothing was kept\n")
    assert (tmp_path / "u.jsonl").read_text() == "old"
