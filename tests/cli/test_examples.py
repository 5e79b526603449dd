"""Every help page shows two examples or more, and they run, in the order of the commands."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from litepyramid.annotation.tasks import read_tasks
from litepyramid.cli.app import app


def pages(command, path=()):
    """Every help page: the words that lead to it, and its text."""
    yield path, command.help or ""
    for name, below in getattr(command, "commands", {}).items():
        yield from pages(below, (*path, name))


sys.path.append(str(Path(__file__).parents[1] / "duc"))

PAGES = dict(pages(get_command(app)))


def examples(text: str) -> list[str]:
    """The commands after a dollar sign, lines that go on joined."""
    return re.findall(r"^\s*\$ (.*)$", re.sub(r"\\\n\s*", " ", text), re.MULTILINE)


def prepare(folder: Path) -> None:
    """What the examples take to be there: the demo's files, pyramids, a data set, documents."""
    import duc_files

    rng = np.random.default_rng(0)
    (folder / "duc").mkdir()
    duc_files.pyr(folder / "duc" / "D0901-A.pyr")
    parts = ["The Lune bridge is shut."]
    duc_files.pan(folder / "duc" / "D0901-A.7.pan", {"3": [["Lune bridge is shut"]]}, parts)
    for data in (folder / "data", folder / "other"):
        data.mkdir()
        for name in ("summaries", "labels"):
            (data / name).symlink_to(folder / "example" / name)
        (data / "units.jsonl").symlink_to(folder / "example" / "scus.jsonl")
    rows = [
        f"s{i},d{j},{metric},{i + rng.normal():.3f}"
        for metric in ("rouge", "lite2", "human")
        for i in range(8)
        for j in range(10)
    ]
    (folder / "table.csv").write_text("\n".join(["system,input,metric,score", *rows]))
    words = [f"w{i}" for i in range(30)]
    lines = [" . ".join(" ".join(rng.choice(words, 6)) for _ in range(9)) for _ in range(3)]
    (folder / "documents.txt").write_text("".join(f"{line} .\n" for line in lines))


def answer(folder: Path, tasks: str, file: str) -> None:
    """What people do between export and import: the JSON of a page on which every task is done."""
    sent = read_tasks(folder / tasks)
    answers = [{"task": t.id, "scus": ["It is so."], "finished": True} for t in sent.writing]
    answers += [
        {"task": t.id, "presence": dict.fromkeys(map(str, range(len(t.units))), True)}
        for t in sent.judging
    ]
    (folder / file).parent.mkdir(exist_ok=True)
    page = {"format": "litepyramid-answers", "worker": "Ann", "answers": answers}
    (folder / file).write_text(json.dumps(page))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: " ".join(path) or "litepyramid")
def test_a_help_page_has_two_examples_that_fit(path):
    found = examples(PAGES[path])
    assert len(found) >= 2
    assert any(" ".join(("litepyramid", *path)) in line for line in found)
    lines = inspect.cleandoc(PAGES[path]).splitlines()[1:]
    assert max(map(len, lines)) <= 78


def test_the_examples_run(cli, tmp_path):
    cli("demo", "--save", "example", cwd=tmp_path)
    prepare(tmp_path)
    for path, text in PAGES.items():
        if path == ("budget", "import"):
            answer(tmp_path, "tasks", "answers.json")
            answer(tmp_path, "judging", "answers/ann.json")
        for line in examples(text):
            words = shlex.split(line)
            env = {"LITEPYRAMID_CACHE": str(tmp_path / "cache.sqlite")}
            while "=" in words[0]:
                env |= [words.pop(0).split("=", 1)]
            if words[1:] == ["demo", "--save", "example"]:
                continue
            files = [
                found
                for word in words[1:]
                for found in (sorted(tmp_path.glob(word)) if "*" in word else [word])
            ]
            cli(*files, cwd=tmp_path, **env)
