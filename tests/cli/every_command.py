"""Runs every command once, in one process, in the current folder: what it writes is the test's.

Standard output goes to ``out/NUMBER.txt``. A command that is not in `COMMANDS` is an error.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "annotation"), str(ROOT / "duc")]

EASY = "ex/references.jsonl -s ex/scus.jsonl -t stus.jsonl"
META = "table.csv -m m -m n"
COMMANDS = f"""
demo --save ex
demo
datasets
cache path
cache info
cache clear -y
units extract ex/references.jsonl -o stus.jsonl
units convert ex/scus.jsonl -o scus.txt --write-ids ids.txt
easiness fit {EASY} -o own.ubj --min-child-weight 1
easiness predict ex/references.jsonl -t stus.jsonl -o easiness.jsonl
easiness evaluate {EASY}
units mix {EASY.replace("ex/ref", "-r ex/ref")} --stu-sentences 20 --by random -o mixed.jsonl
score ex/summaries -u ex/scus.jsonl -l ex/labels -f json -o scores.json
score ex/summaries -r ex/references.jsonl --judge recall
compare ex/summaries -u mixed.jsonl --samples 2000 --judge lexical
judge evaluate ex/summaries -u ex/scus.jsonl -l ex/labels --judge lexical
judge explain Storms storm
judge agree scores.json scores.json
finetune lexical -o judge --summaries ex/summaries -u ex/scus.jsonl -l ex/labels
crossval folder=set --folds 3
budget plan ex/references.jsonl --sentences 9 --by random -o plan.json
budget export plan.json -o tasks --to label-studio
budget import tasks answers.json -o annotated.jsonl --stus stus.jsonl
report scores.json -o report.html
budget plan scores.json --for presence --inputs 6 --annotators 2 -o labels-plan.json
budget export ex/summaries -u ex/scus.jsonl --plan labels-plan.json -o judging
budget power --difference 0.1 --samples 200 --figure power.svg
budget curve ex/summaries {EASY.replace("ex/ref", "-r ex/ref")} -l ex/labels --seeds 3 --figure \
curve.svg
pyramid duc
units from-pyr duc -o pyr.jsonl --labels pyr-labels --summaries pyr-summaries
meta correlate scores.json
metrics ex/summaries -r ex/references.jsonl -o rouge.csv
meta rank {META} --samples 50
convert ex/scus.jsonl -o nuggets.jsonl --to nuggets
meta interval {META} -k 50 --figure interval.pdf
meta compare {META} -k 60 --figure compare.png
meta normality table.csv
meta testset {META} --full table.csv -k 50
meta delta {META} --figure delta.svg
meta stability {META} -k 20
meta simulate coverage {META} -n 4 -k 50
meta simulate power table.csv -m m -n 4 -k 50
meta generate documents.txt -r documents.txt --scores made.csv --texts made.jsonl --words 24 \
--population 30 --generations 4
meta range made.csv --top best --best 5 --figure range.svg
"""


def names(command: Any, before: str = "") -> Iterator[str]:
    """The paths of all commands of the application."""
    for name, below in getattr(command, "commands", {}).items():
        yield from names(below, f"{before}{name} ")
    if not hasattr(command, "commands"):
        yield before.strip()


def prepare() -> None:
    """Writes a table of scores, documents, a pyramid, and the example as a data set."""
    import duc_files
    import numpy as np

    rng = np.random.default_rng(0)
    rows = [
        f"s{i},d{j},{metric},{i + rng.normal():.3f}"
        for metric in ("m", "n", "human")
        for i in range(8)
        for j in range(10)
    ]
    Path("table.csv").write_text("\n".join(["system,input,metric,score", *rows]))
    words = [f"w{i}" for i in range(30)]
    lines = [" . ".join(" ".join(rng.choice(words, 6)) for _ in range(9)) for _ in range(3)]
    Path("documents.txt").write_text("".join(f"{line} .\n" for line in lines))
    Path("duc").mkdir()
    duc_files.pyr(Path("duc/D0901-A.pyr"))
    parts = ["The Lune bridge is shut."]
    duc_files.pan(Path("duc/D0901-A.7.pan"), {"3": [["Lune bridge is shut"]]}, parts)


def halfway(command: str) -> None:
    """What a person does between two commands."""
    import sample

    if command.startswith("units convert"):
        Path("set").mkdir()
        for name in ("summaries", "labels"):
            Path("set", name).symlink_to(Path("ex", name).resolve())
        Path("set/units.jsonl").symlink_to(Path("ex/scus.jsonl").resolve())
    elif command.startswith("budget export"):
        sent = json.loads(Path("tasks/label_studio_tasks.json").read_text())
        answers = sample.label_studio(sent, lambda data, _: {"scus": [f"It is {data['task_id']}."]})
        Path("answers.json").write_text(json.dumps(answers))


def main() -> None:
    """Runs them all; the first that fails is named."""
    from litepyramid.cli.app import app

    Path("out").mkdir()
    prepare()
    lines = COMMANDS.replace("\\\n", "").strip().splitlines()
    every = list(names(get_command(app)))
    if missing := [n for n in every if not any(f"{line} ".startswith(f"{n} ") for line in lines)]:
        sys.exit(f"no example of: {', '.join(missing)}")
    for number, line in enumerate(lines):
        path = Path("out", f"{number:02}.txt")
        with path.open("w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
            print("$", line)
            try:
                app(line.split(), standalone_mode=False)
            except Exception as error:
                raise SystemExit(f"{line}: {error!r}") from error
        halfway(line)


if __name__ == "__main__":
    main()
