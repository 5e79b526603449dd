"""No result depends on the order of a set: every command under two hash seeds, byte by byte."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import every_command
import pytest


def test_every_command_gives_the_same_under_another_hash_seed(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    runs = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        env = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": str(every_command.ROOT.parent),
            "LITEPYRAMID_CACHE": str(tmp_path / f"{seed}.sqlite"),
        }
        command = [sys.executable, every_command.__file__]
        runs.append(
            subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True)
        )
    for run in runs:
        _, said = run.communicate()
        assert run.returncode == 0, said
    # A path in a message is no difference.
    one, other = (
        {
            str(path.relative_to(tmp_path / seed)): re.sub(
                rb"\S*litepyramid-demo\S*",
                b"HERE",
                path.read_bytes().replace(str(tmp_path / seed).encode(), b"HERE"),
            )
            for path in (tmp_path / seed).rglob("*")
            if path.is_file()
        }
        for seed in ("1", "2")
    )
    assert one.keys() == other.keys()
    assert len(one) > 60
    assert [name for name in one if one[name] != other[name]] == []
