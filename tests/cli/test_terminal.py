"""A terminal shows tables in colour with bars; everything else gets plain text."""

import os
import re
import subprocess
import sys

import pytest
from cases import quick_score

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
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "litepyramid", "report", str(path)],
        stdout=child,
        env=os.environ | {"COLUMNS": "80", "TERM": "xterm"} | environment,
    )
    os.close(child)

    pieces = []
    try:
        while piece := os.read(parent, 65536):
            pieces.append(piece)
    except OSError:  # Linux says so when the other end is closed
        pass

    assert process.wait() == 0
    os.close(parent)
    return b"".join(pieces).decode().replace("\r\n", "\n")


def test_a_terminal_has_colour_and_bars_within_its_width(saved):
    shown = shown_in_a_terminal(saved, NO_COLOR="")
    plain = CODES.sub("", shown)

    assert shown != plain
    assert max(map(len, plain.splitlines())) <= 80
    lengths = {
        line.split()[1]: line.count("█")
        for line in plain.splitlines()
        if line.split()[1:2] in (["whole"], ["nothing"])
    }
    assert lengths["whole"] > 5
    assert lengths["nothing"] == 0


def test_no_color_is_what_a_pipe_gets(saved):
    piped = subprocess.run(
        [sys.executable, "-m", "litepyramid", "report", str(saved)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "80"},
    )
    assert shown_in_a_terminal(saved, NO_COLOR="1") == piped.stdout
    assert "\x1b" not in piped.stdout
