"""The workflow that docs/ci.md offers for pasting: its commands, run by a shell."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "ci.md").read_text()
WORKFLOW = re.search(r"```yaml\n(.*?)```", TEXT, re.DOTALL)[1]


def shell(script, folder):
    """What a step of the workflow does, with `litepyramid` on the path."""
    tool = folder / "litepyramid"
    tool.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m litepyramid "$@"\n'
    )
    tool.chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    env["LITEPYRAMID_CACHE"] = "judgements.sqlite"
    command = ["bash", "-e", "-c", script]

    return subprocess.run(
        command,
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_the_workflow_passes_what_is_unchanged_and_fails_what_is_worse(cli, tmp_path):
    cli("demo --save example", cwd=tmp_path)
    example = tmp_path / "example"
    (example / "summaries").rename(tmp_path / "summaries")
    (example / "scus.jsonl").rename(tmp_path / "scus.jsonl")
    cli("score summaries --units scus.jsonl -o baseline.json", cwd=tmp_path)
    block = re.search(r"run: \|\n((?: {10}.*\n)+)", WORKFLOW)[1]
    done = shell(block, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "PASS: 0 facts lost, 0 gained" in done.stderr
    lead = tmp_path / "summaries" / "lead.jsonl"
    lead.write_text((tmp_path / "summaries" / "offtopic.jsonl").read_text(), "utf-8")
    done = shell(block, tmp_path)
    assert done.returncode == 1, done.stderr
    assert "`lead` is significantly worse" in done.stderr
    assert "FAIL" in (tmp_path / "summary.md").read_text().splitlines()[1]


def test_the_workflow_is_yaml():
    yaml = pytest.importorskip("yaml")
    steps = yaml.safe_load(WORKFLOW)["jobs"]["facts"]["steps"]
    assert sum("run" in step for step in steps) == 3
