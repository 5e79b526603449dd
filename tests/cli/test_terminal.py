"""A terminal shows tables in colour; everything else gets plain text."""

import os
import re
import sys

import pytest
from cases import quick_score

from litepyramid.cli import main

pty = pytest.importorskip("pty")
CODES = re.compile("\x1b\\[[0-9;]*m")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("terminal") / "scores.json"
    summaries = {"whole": ["It rained."], "nothing": ["We left."]}
    quick_score(summaries, [["It rained."]]).save(path)
    return path


def shown_in_a_terminal(path, **environment):
    """What `report` writes to a terminal of 80 columns."""
    process, terminal = pty.fork()
    if not process:
        for number, name in enumerate(("stdin", "stdout", "stderr")):
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))
        sys.argv = ["litepyramid", "report", str(path)]
        os.environ.update({"COLUMNS": "80", "TERM": "xterm"} | environment)
        try:
            main()
        except SystemExit as stop:
            os._exit(stop.code)

    pieces = []
    try:
        while piece := os.read(terminal, 65536):
            pieces.append(piece)
    except OSError:  # Linux says so when the other end is closed
        pass

    assert os.waitpid(process, 0)[1] == 0
    os.close(terminal)
    return b"".join(pieces).decode().replace("\r\n", "\n")


def test_a_terminal_has_colour_within_its_width(saved):
    shown = shown_in_a_terminal(saved, NO_COLOR="")
    plain = CODES.sub("", shown)

    assert shown != plain
    assert max(map(len, plain.splitlines())) <= 80


def test_no_color_is_what_a_pipe_gets(saved, cli):
    piped = cli("report", saved)
    shown = shown_in_a_terminal(saved, NO_COLOR="1")
    assert shown == piped.stdout + piped.stderr
    assert "\x1b" not in shown
