"""The order in which Python walks through a set changes no byte of what commands
write."""

import os
import subprocess
import sys
from pathlib import Path

from running import ROOT

COMMANDS = """
demo --save example
units extract example/references.jsonl -o stus.jsonl
units mix example/scus.jsonl stus.jsonl -r example/references.jsonl --stu-share 0.5 -o mixed.jsonl
score example/summaries -u mixed.jsonl -j lexical -n 100 -o mixed.json
score example/summaries -u example/scus.jsonl -l example/labels -j lexical -o scores.json -o p.html
compare scores.json -o compared.json
combine scores.json -o combined.json
precision example/summaries -r example/references.jsonl --judge recall -n 100 -o precision.json
meta interval scores.json -n 50 -o interval.json
budget plan example/references.jsonl --human-share 0.5 -o plan.json
budget export plan.json -o tasks
finetune lexical example/summaries -u example/scus.jsonl -l example/labels -o tuned
"""
RUN = """
import sys
from litepyramid.cli.app import app
for command in sys.argv[1].strip().splitlines():
    app(command.split(), standalone_mode=False)
"""


def written(folder: Path, seed: str) -> dict[str, bytes]:
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", RUN, COMMANDS], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed,
             "LITEPYRAMID_CACHE": str(folder.parent / f"{seed}.sqlite"),}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_two_hash_seeds_write_the_same_bytes(tmp_path):
    first = written(tmp_path / "a", "1")
    second = written(tmp_path / "b", "2")
    assert len(first) > 20
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []
