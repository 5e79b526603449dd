"""The order in which Python walks through a set changes no byte of what commands
write."""

import os
import subprocess
import sys
from pathlib import Path

from running import ROOT, run_here

COMMANDS = """
demo --save example
units extract example/references.jsonl -o stus.jsonl
easiness predict example/references.jsonl --stus stus.jsonl -o easy.jsonl
units mix example/scus.jsonl stus.jsonl --easiness easy.jsonl --stu-share 0.5 -o mixed.jsonl
score example/summaries -u mixed.jsonl -j lexical -n 100 -o mixed.json
score example/summaries -u example/scus.jsonl -l example/labels -j lexical -o scores.json -o p.html
compare scores.json -o compared.json
combine scores.json -o combined.json
precision example/summaries -r example/references.jsonl --judge recall -n 100 -o precision.json
meta interval scores.json -n 50 -o interval.json
budget plan example/references.jsonl --easiness easy.jsonl --human-share 0.5 -o plan.json
budget export plan.json -o tasks
finetune lexical example/summaries -u example/scus.jsonl -l example/labels -o tuned
"""
RUN = """
import sys
from litepyramid.cli.app import app
for command in sys.argv[1].strip().splitlines():
    app(command.split(), standalone_mode=False)
"""


def written(folder: Path) -> dict[str, bytes]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_two_hash_seeds_write_the_same_bytes(tmp_path):
    """That of this process is another one each time, unless somebody chose it."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    here = tmp_path / "here"
    there = tmp_path / "there"
    here.mkdir()
    there.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", RUN, COMMANDS],
        cwd=there,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHONHASHSEED": seed,
            "LITEPYRAMID_CACHE": str(tmp_path / "there.sqlite"),
        },
        check=False,
    )
    assert done.returncode == 0, done.stderr

    cache = {"LITEPYRAMID_CACHE": str(tmp_path / "here.sqlite")}
    for command in COMMANDS.strip().splitlines():
        assert run_here(command.split(), here, cache).returncode == 0, command

    first = written(here)
    second = written(there)
    assert len(first) > 20
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
