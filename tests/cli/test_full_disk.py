"""A full disk, a killed process, a closed stream: one error, and old files stay.

``LITEPYRAMID_ATTEMPTS=all`` kills each command at twenty moments, else at two.
"""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cases import cases
from running import ROOT, run_here

from litepyramid.cli.app import app
from litepyramid.errors import LitepyramidError

fork = multiprocessing.get_context("fork")
KILLS = 20 if os.environ.get("LITEPYRAMID_ATTEMPTS") == "all" else 2
SUMMARIES = "example/summaries -u example/scus.jsonl"
SCORE = f"score {SUMMARIES} -j recall -n 50"
COMMANDS = {
    "old.json": f"{SCORE} -o old.json",
    "old.html": "report scores.json -o old.html",
    "old.csv": "metrics example/summaries -r example/references.jsonl -m rouge-1 -o old.csv --force",
    "old.png": "meta interval scores.json --samples 40 -o old.png",
    "old.md": "changes scores.json new.json -o old.md",
    "tasks": f"budget export {SUMMARIES} -o tasks",
    "judge": f"finetune lexical {SUMMARIES} -l example/labels -o judge",
}
"""By the name of what it writes, a command."""


def contents(path: Path) -> dict[Path, bytes]:
    """What a file holds, or the files in a folder; nothing if it is not there."""
    files = [path, *path.rglob("*")]
    return {file: file.read_bytes() for file in files if file.is_file()}


def restore(goal: Path, old: dict[Path, bytes]):
    """Puts back what was under a name before a command wrote it."""
    if goal.is_dir():
        shutil.rmtree(goal)
    goal.unlink(missing_ok=True)
    for file, content in old.items():
        file.write_bytes(content)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The example and two results, with an old file under the name of each new one."""
    folder = tmp_path_factory.mktemp("full")
    steps = [
        "demo --save example",
        f"{SCORE} -l example/labels -o scores.json",
        f"{SCORE} -o new.json",
    ]

    # Each once in this process: what they import is then there in those that are killed.
    for step in (*steps, *COMMANDS.values()):
        done = run_here(step.split(), folder, {})
        assert done.returncode == 0, done.stderr

    for name in COMMANDS:
        goal = folder / name
        if goal.is_dir():
            restore(goal, {})
        else:
            goal.write_bytes(goal.read_bytes() + b"\n")

    return folder


def run_without_disk(command: str, folder: Path, pipe):
    """Runs a command in a process that can write no byte into any file."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    done = run_here(command.split(), folder, {})
    pipe.send((done.returncode, done.stderr))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_error_and_old_files_stay(prepared, name):
    pytest.importorskip("resource", reason="this system has no limits of processes")
    before = contents(prepared)
    here, there = fork.Pipe()
    arguments = (COMMANDS[name], prepared, there)
    fork.Process(target=run_without_disk, args=arguments).start()

    status, said = here.recv()
    assert (status, said.count("\n")) == (2, 1), said
    assert "cannot be" in said
    assert contents(prepared) == before


def run_and_count(command: str, folder: Path, kill_at: int, counted):
    """Runs a command whose process is killed at the n-th line of what writes files."""

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.endswith("litepyramid/disk.py"):
            return None

        if event == "line":
            counted.value += 1

        if counted.value == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

        return trace

    sys.settrace(trace)
    run_here(command.split(), folder, {})


@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_leaves_the_old_or_the_whole(prepared, name):
    goal = prepared / name
    old = contents(goal)

    def run(kill_at: int) -> int:
        counted = fork.Value("i", 0)
        arguments = (COMMANDS[name], prepared, kill_at, counted)
        process = fork.Process(target=run_and_count, args=arguments)
        process.start()
        process.join()
        return int(counted.value)

    # The moments lie among the last lines before the result is there, and after it.
    moments = run(kill_at=-1)
    whole = contents(goal)
    assert old != whole
    assert moments > 2

    step = max(1, min(40, moments // KILLS))
    for number in range(KILLS):
        restore(goal, old)
        run(kill_at=max(1, moments - number * step))
        left = contents(goal)
        assert left in (old, whole), (name, number)

    restore(goal, old)


CLOSED = """
--help | >/dev/full
cache  | >&-
cache  | <&- >&-
--help | >&- 2>&-
"""


@pytest.mark.parametrize(("command", "stream"), cases(CLOSED))
def test_a_standard_output_that_takes_nothing(command, stream):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    done = subprocess.run(
        f"{sys.executable} -m litepyramid {command} {stream}",
        shell=True,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    said = "" if "2>" in stream else "litepyramid: standard output: cannot be used ("
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == bool(said)


LONG = """
score a.txt --units a.txt -o LONG.json
score LONG --units a.txt
score a.txt --units a.txt --judge LONG
score a.txt --units a.txt --judge m -J cache=LONG
score a.txt --units a.txt --judge m -J cache=.
units extract a.txt --srl allennlp:LONG
demo --save LONG
budget import LONG a.txt -o out
meta interval scores.csv -o LONG.png
easiness predict a.txt --regressor LONG
finetune LONG a.txt -o out
"""


@pytest.mark.parametrize("command", LONG.strip().splitlines())
def test_names_too_long_and_folders_for_files(tmp_path, monkeypatch, command):
    (tmp_path / "a.txt").write_text("A cat sat.\n")
    (tmp_path / "scores.csv").write_text("system,input,m,h\ns1,i1,0,1\ns2,i1,1,2\n")
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(LitepyramidError):
        app(command.replace("LONG", "x" * 300).split(), standalone_mode=False)
    assert contents(tmp_path) == before
