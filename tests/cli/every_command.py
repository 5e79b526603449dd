"""The examples of every command, run one after the other in the current folder.

Standard output of each goes to ``out/NUMBER.txt``. Run as a program it runs them all.
"""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.cli.app import COMMANDS, app, function_of
from litepyramid.cli.maker import documentation

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "annotation"), str(ROOT / "duc")]
# What others need comes first: the demo's files, units, a plan, its tasks, a saved result.
LEFT_OUT = (["demo", "--save"], ["finetune", "mini"], ["meta", "range"])  # tried elsewhere
FIRST = ("demo", "units", "easiness", "score", "budget", "convert")


def functions() -> dict[str, Callable[..., Any]]:
    """Every command, as its words, and the function behind it."""
    order = sorted(COMMANDS, key=lambda name: FIRST.index(name) if name in FIRST else 99)
    return {
        " ".join([name, *([below] if isinstance(verb, dict) else [])]): function_of(target)
        for name, verb in ((name, COMMANDS[name][1]) for name in order)
        for below, target in (verb.items() if isinstance(verb, dict) else [("", verb)])
    }


def examples() -> Iterator[tuple[str, list[str]]]:
    """The examples of every command: its words, and what a user types after ``litepyramid``."""
    for name, function in functions().items():
        text = documentation(function).examples.replace("\\\n", " ")
        for line in text.splitlines():
            if line.startswith("$ litepyramid "):
                yield name, shlex.split(line.removeprefix("$ litepyramid "))


def prepare() -> None:
    """Writes what the examples take to be there: pyramids, a data set, a table of scores."""
    import duc_files

    rng = np.random.default_rng(0)
    Path("duc2006").mkdir()
    duc_files.pyr(Path("duc2006/D0901-A.pyr"))
    parts = ["The Lune bridge is shut."]
    duc_files.pan(Path("duc2006/D0901-A.7.pan"), {"3": [["Lune bridge is shut"]]}, parts)
    Path("data").mkdir()
    for name in ("summaries", "labels"):
        Path("data", name).symlink_to(Path("example", name).resolve())
    Path("data/units.jsonl").symlink_to(Path("example/scus.jsonl").resolve())
    rows = [
        f"s{i},d{j},{metric},{i + rng.normal():.3f}"
        for metric in ("rouge", "lite2", "human")
        for i in range(8)
        for j in range(10)
    ]
    for name in ("table", "all", "news", "chat"):
        Path(f"{name}.csv").write_text("\n".join(["system,input,metric,score", *rows]))


def answer(tasks: Path, file: Path) -> None:
    """What people do between export and import: the file of a page on which all is done."""
    from litepyramid.annotation.export import read_tasks

    sent = read_tasks(tasks)
    answers = [{"task": t.id, "scus": ["It is so."], "finished": True} for t in sent.writing]
    answers += [
        {"task": t.id, "presence": dict.fromkeys(map(str, range(len(t.units))), True)}
        for t in sent.judging
    ]
    page = {"format": "litepyramid-answers", "worker": "Ann", "answers": answers}
    file.write_text(json.dumps(page))


def main() -> None:
    """Runs them all; the first that fails is named."""
    app(["demo", "--save", "example"], standalone_mode=False)
    Path("out").mkdir()
    prepare()
    for number, (name, words) in enumerate(examples()):
        if words[:2] in LEFT_OUT:
            continue
        if words[:2] == ["compare", "old.json"]:
            for copy in ("old.json", "new.json"):
                Path(copy).write_bytes(Path("scores.json").read_bytes())
        words = [word.replace("*", "ann") for word in words]
        if name == "budget import":
            answer(Path(words[2]), Path(words[3]))
        path = Path("out", f"{number:02}.txt")
        with path.open("w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
            print("$", *words)
            try:
                app(words, standalone_mode=False)
            except Exception as error:
                raise SystemExit(f"{' '.join(words)}: {error!r}") from error


if __name__ == "__main__":
    main()
