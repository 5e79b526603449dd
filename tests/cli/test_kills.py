"""A command that is killed while it writes leaves what was there, or the whole result.

``LITEPYRAMID_ATTEMPTS=all`` kills each command at twenty moments, else at two.
"""

import multiprocessing
import os
import signal
import sys
from pathlib import Path

import pytest
from running import run_here

KILLS = 20 if os.environ.get("LITEPYRAMID_ATTEMPTS") == "all" else 2
SCORE = "score example/summaries -u example/scus.jsonl -j recall -n 50"
COMMANDS = {
    "old.json": f"{SCORE} -o old.json",
    "old.html": "report scores.json -o old.html",
    "old.jsonl": "convert example/scus.jsonl -o old.jsonl",
    "history.jsonl": "changes scores.json new.json -o history.jsonl",
    "old.csv": "metrics example/summaries -r example/references.jsonl -m rouge-1 "
    "-o old.csv",
    "tasks": "budget export example/summaries -u example/scus.jsonl -o tasks",
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    steps = ["demo --save example", f"{SCORE} -o scores.json", f"{SCORE} -o new.json"]

    # Each once in this process: what they import is then there in those that are killed.
    for step in (*steps, *COMMANDS.values()):
        done = run_here(step.split(), folder, {})
        assert done.returncode == 0, done.stderr

    for name in COMMANDS:
        if name == "tasks":
            restore(folder / name, None)
        elif name == "history.jsonl":
            first = (folder / name).read_bytes().splitlines(keepends=True)[0]
            restore(folder / name, {"": first})
        else:
            restore(folder / name, {"": b"old"})

    return folder


def contents(goal) -> dict[str, bytes] | None:
    """What is under a name, be it a file or a folder."""
    if goal.is_file():
        return {"": goal.read_bytes()}
    if not goal.exists():
        return None

    return {path.name: path.read_bytes() for path in goal.iterdir()}


def run_and_count(command: list[str], folder: Path, kill_at: int, counted):
    """Runs a command whose process is killed at the n-th line of what writes files."""

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.endswith("litepyramid/files.py"):
            return None

        if event == "line":
            counted.value += 1

        if counted.value == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

        return trace

    sys.settrace(trace)
    run_here(command, folder, {})


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_leaves_the_old_or_the_whole(prepared, name):
    goal = prepared / name
    command = COMMANDS[name].split()
    old = contents(goal)
    fork = multiprocessing.get_context("fork")

    def run(kill_at: int) -> int:
        counted = fork.Value("i", 0)
        process = fork.Process(
            target=run_and_count, args=(command, prepared, kill_at, counted)
        )
        process.start()
        process.join()
        return int(counted.value)

    # The moments lie among the last lines before the result is there, and after it.
    moments = run(kill_at=-1)
    whole = contents(goal)
    assert whole is not None
    assert moments > 2

    for number in range(KILLS):
        restore(goal, old)
        run(kill_at=max(1, moments - number * max(1, min(40, moments // KILLS))))
        left = contents(goal)
        assert left in (old, whole), (name, number)


def restore(goal: Path, old: dict[str, bytes] | None):
    """Puts back what was under a name before a command wrote it."""
    if goal.is_dir():
        for path in goal.iterdir():
            path.unlink()
        goal.rmdir()
    else:
        goal.unlink(missing_ok=True)

    if old is not None:
        goal.write_bytes(old[""])
