"""A full disk, a closed stream or a folder that cannot be written: one error, old files
kept."""

import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import ROOT, run_here

from litepyramid.annotation.export import read_tasks
from litepyramid.cli.app import app
from litepyramid.errors import LitepyramidError

SUMMARIES = "example/summaries -u example/scus.jsonl"
COMMANDS = [
    f"score {SUMMARIES} --judge recall -o old.json",
    f"finetune lexical {SUMMARIES} -l example/labels -o judge",
    f"budget export {SUMMARIES} -o new",
    "budget import tasks answers.json -o out",
    "meta interval scores.json --samples 40 -o old.png",
]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The example, and what its commands make of it, with an old file under each goal's
    name."""
    folder = tmp_path_factory.mktemp("full")

    for line in (
        "demo --save example",
        f"score {SUMMARIES} -l example/labels --judge recall -o scores.json",
        f"budget export {SUMMARIES} -o tasks",
        # Matplotlib writes down once which fonts there are.
        "meta interval scores.json --samples 40 -o old.png",
    ):
        assert run_here(line.split(), folder, {}).returncode == 0

    task = read_tasks(folder / "tasks").judging[0]
    present = dict.fromkeys(map(str, range(len(task.units))), True)
    answer = {"task": task.id, "presence": present, "finished": True}
    page = {"format": "litepyramid-answers", "worker": "Ann", "answers": [answer]}
    (folder / "answers.json").write_text(json.dumps(page))
    (folder / "old.json").write_text("old")

    return folder


def contents(folder) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def run_without_disk(command: str, folder: Path, pipe):
    """Runs a command in a process that can write no byte into any file."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    done = run_here(command.split(), folder, {})
    pipe.send((done.returncode, done.stderr))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk_is_one_error_and_old_files_stay(prepared, command):
    pytest.importorskip("resource", reason="this system has no limits of processes")
    before = contents(prepared)
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe()
    fork.Process(target=run_without_disk, args=(command, prepared, there)).start()

    status, said = here.recv()
    assert (status, said.count("\n")) == (2, 1), said
    assert "cannot be" in said
    assert contents(prepared) == before


@pytest.mark.parametrize(
    ("command", "stream"),
    [
        ("--help", ">/dev/full"),
        ("cache", ">&-"),
        ("cache", "<&- >&-"),
        ("--help", ">&- 2>&-"),
    ],
)
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
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 2, done.stderr
    said = "" if "2>" in stream else "litepyramid: standard output: cannot be used ("
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == bool(said)


def test_a_folder_that_cannot_be_written(tmp_path, cli):
    """/proc is such a folder whoever runs the tests."""
    if not Path("/proc/self").exists():
        pytest.skip("no /proc")
    summaries = tmp_path / "a.txt"
    summaries.write_text("A cat sat.\n")
    score = f"score {summaries} --units {summaries} -j recall -o /proc/x.json"
    for command in (score, "demo --save /proc/x", "demo --save /proc/x/y"):
        error = cli(command, status=2).stderr
        assert error.startswith("litepyramid: /proc/x"), error
        assert error.count("\n") == 1


LONG = "x" * 300


@pytest.mark.parametrize(
    "command",
    [
        f"score a.txt --units a.txt -o {LONG}.json",
        f"score {LONG} --units a.txt",
        f"score a.txt --units a.txt --judge {LONG}",
        f"score a.txt --units a.txt --judge m -J cache={LONG}",
        f"units extract a.txt --srl allennlp:{LONG}",
        f"demo --save {LONG}",
        f"budget import {LONG} a.txt -o out",
        f"meta interval scores.csv -o {LONG}.png",
        f"easiness predict a.txt --regressor {LONG}",
        f"finetune {LONG} a.txt -o out",
        "score a.txt --units a.txt --judge m -J cache=.",
    ],
)
def test_names_too_long_and_folders_for_files(tmp_path, monkeypatch, command):
    (tmp_path / "a.txt").write_text("A cat sat.\n")
    rows = ["system,input,m,h"]
    for n in range(9):
        rows.append(f"s{n % 3},i{n // 3},{n % 4},{n % 5}")
    (tmp_path / "scores.csv").write_text("\n".join(rows))
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(LitepyramidError):
        app(command.split(), standalone_mode=False)
    assert contents(tmp_path) == before
