"""No file that a command reads is replaced by what it writes, whatever both are called.

Every parameter that can name something to read, against every one that names something
to write: both taken from the commands. ``LITEPYRAMID_ATTEMPTS=all`` tries each pair by
every spelling, else each by one.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from cases import refused
from running import run_here

import litepyramid as lp
from litepyramid.cli.app import COMMANDS, function_of
from litepyramid.cli.maker import _command, documentation, make_command

SPELLINGS = (
    "plain", "dot", "absolute", "symlink", "hard link", "through ..", "trailing slash",
    "double slash", "linked folder", "home", "case",
)  # fmt: skip
FORMS = ("{}", "{}:topic", "cache={}", "KIND:{}", "a=b:{}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with somebody's file, which has other names too."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "empty").mkdir()
    (data / "other.jsonl").write_text('{"input": "a"}\n')
    (tmp_path / "link").symlink_to(data)
    monkeypatch.chdir(data)
    monkeypatch.setenv("HOME", str(data))
    return data


def spelled(folder: Path, name: str, spelling: str) -> str:
    """The name of a file in the folder, written in another way."""
    whole = folder / name

    if spelling == "symlink":
        (folder / f"linked-{name}").unlink(missing_ok=True)
        (folder / f"linked-{name}").symlink_to(whole)
        return f"linked-{name}"

    if spelling == "hard link":
        (folder / f"hard-{name}").unlink(missing_ok=True)
        (folder / f"hard-{name}").hardlink_to(whole)
        return f"hard-{name}"

    return {
        "plain": name,
        "dot": f"./{name}",
        "absolute": str(whole),
        "through ..": f"empty/../{name}",
        "trailing slash": f"{name}/",
        "double slash": f"{folder}//{name}",
        "linked folder": str(folder.parent / "link" / name),
        "home": f"~/{name}",
        "case": name.swapcase(),
    }[spelling]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a command, as the command line has it."""

    name: str
    flag: str | None
    text: bool
    written: bool
    required: bool
    choices: tuple[Any, ...]
    help: str


def parameters(name) -> list[Parameter]:
    """The parameters of a command, in its order, by its function's signature."""
    function = function_of(name)
    made: Any = make_command(name, function)
    by_name = {one.name: one for one in made.params}
    entries = []

    command = _command(function, documentation(function).arguments)

    for entry in command.parameters:
        kind, shown = get_args(entry.annotation)
        option = by_name[entry.name]
        flag = max(option.opts, key=len) if option.opts[0][0] == "-" else None
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        text = kind in (str, Path, list[str], list[Path])
        written = entry.name == "output" or command.filled.get(entry.name) == "side"
        whole = (flag, text, written, option.required, choices, shown.help or "")
        entries.append(Parameter(entry.name, *whole))

    return entries


def words(
    name: str, reads: Parameter, value: str, writes: Parameter, output: str
) -> list[str]:
    """A command line in which one parameter names a file to read, another one to
    write."""
    line = name.split()
    given = {reads.name: value, writes.name: output}

    for one in parameters(name):
        filler = one.choices[0] if one.choices else "other.jsonl" if one.text else "1"

        if one.name in given or one.required:
            line += [one.flag] * bool(one.flag)
            line += [given.get(one.name, filler)]

    return line


def pairs() -> Iterator[tuple[str, Parameter, Parameter]]:
    """Each command, with what it reads and what it writes."""
    for name in COMMANDS:
        texts = [one for one in parameters(name) if one.text]
        outputs = [one for one in texts if one.written]

        for reads, writes in product(texts, outputs):
            if reads not in outputs:
                yield name, reads, writes


PAIRS = [*pairs()]
ALL = os.environ.get("LITEPYRAMID_ATTEMPTS") == "all"


def attempts(number: int) -> list[tuple[str, str, str]]:
    """Spellings of the file to read and to write, and the form of the first."""
    every = [("plain", other) for other in SPELLINGS]
    every += [(other, "plain") for other in SPELLINGS]
    tried = [(*both, form) for form, both in product(FORMS, every)]
    return tried if ALL else [tried[number * 7 % len(tried)]]


def test_the_signatures_say_what_is_read_and_written():
    named = {(name, reads.name, writes.name) for name, reads, writes in PAIRS}

    assert len(named) > 100
    assert ("changes", "by", "output") in named
    assert ("score", "judge_settings", "output") in named
    assert ("units extract", "references", "parses") in named


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_no_file_that_is_read_is_replaced(folder, number):
    name, reads, writes = PAIRS[number]
    ending = ".json" if re.search(r"\.json\b", writes.help) else ".jsonl"
    goal = folder / f"mine{ending}"
    goal.write_text('{"input": "a", "topic": "mine"}\n')
    before = goal.read_bytes(), goal.stat().st_ino

    for one, other, form in attempts(number):
        twin = folder / spelled(folder, goal.name, "case")
        if "case" in (one, other) and not twin.exists():
            continue  # this disk takes it for another name

        value = form.format(spelled(folder, goal.name, one))
        output = spelled(folder, goal.name, other)
        line = words(name, reads, value, writes, output)
        done = run_here(line, folder, {})

        assert (goal.read_bytes(), goal.stat().st_ino) == before, line

        # The reason is the file, not that the command could not run at all.
        if other != "home":
            assert done.returncode == 2
            reasons = ("would be overwritten", "is a link", "already exists")
            assert any(reason in done.stderr for reason in reasons), done.stderr


def test_the_same_output_twice_is_an_error(folder, cli):
    (folder / "s.txt").write_text("A cat sat.\n")
    for twin in ("b.json", "./b.json", "empty/../b.json", f"{folder}/b.json"):
        line = f"score s.txt -u s.txt -j recall -o b.json -o {twin}"
        cli(line, status=2, cwd=folder)
        assert not (folder / "b.json").exists()

    line = "units extract s.txt --srl sentences --parses p.jsonl -o ./p.jsonl"
    cli(line, status=2, cwd=folder)
    assert not (folder / "p.jsonl").exists()


def test_parses_are_an_output_like_the_others(folder):
    """From Python too: the references stay, and so does a file of another kind."""
    references = folder / "r.jsonl"
    references.write_text('{"input": "a", "references": ["A cat sat."]}\n')
    table = folder / "t.csv"
    table.write_text("a,b\n")

    for goal in (references, table, folder / "empty", folder / "other.jsonl"):
        with pytest.raises(lp.LitepyramidError):
            lp.extract(references, srl="sentences", parses=goal)

    assert '"A cat sat."' in references.read_text()
    assert table.read_text() == "a,b\n"
    assert (folder / "other.jsonl").read_text() == '{"input": "a"}\n'

    for _ in range(2):
        lp.extract(references, srl="sentences", parses=folder / "p.jsonl")


# From Python ------------------------------------------------------------------------


@pytest.fixture
def sources(folder):
    """Files that a user reads, named as results are saved, in the current folder."""
    (folder / "units.json").write_text(
        '[{"input": "a", "units": ["A cat sat."]}, {"input": "b", "units": ["It rained."]}]'
    )
    (folder / "references.jsonl").write_text(
        '{"input": "a", "references": ["A cat sat."]}\n'
        '{"input": "b", "references": ["It rained."]}\n'
    )
    for name in ("old.txt", "new.txt"):
        (folder / name).write_text("A cat sat.\nIt rained.\n")

    rows = ["system,input,rouge,human"]
    rows += [f"s{n},i{m},{n * m % 5},{n + m}" for n in range(4) for m in range(4)]
    (folder / "scores.csv").write_text("\n".join(rows))
    page = folder / "units.html"
    page.write_bytes((folder / "units.json").read_bytes())

    score = {"judge": "recall", "samples": 50}
    for name in ("first", "second"):
        texts = [Path("old.txt"), Path("new.txt")]
        lp.score(texts, "units.json", **score).save(f"{name}.json")
    return folder


def made_of_files() -> dict[str, tuple[Any, str]]:
    """By name a result, and one of the files that it was made of."""
    texts = [Path("old.txt"), Path("new.txt")]
    options: dict[str, Any] = {"judge": "recall", "samples": 50}
    data = lp.load("units.json", summaries=texts, references="references.jsonl")
    scored = lp.score(data, **options)

    return {
        "units": (scored, "units.json"),
        "summaries": (scored, "new.txt"),
        "frames of one result": (lp.score(texts, data.units, **options), "units.json"),
        "a page": (lp.score(texts, "units.html", **options), "units.html"),
        "data": (data, "units.json"),
        "references": (
            lp.extract(data.references, srl="sentences"),
            "references.jsonl",
        ),
        "a plan": (lp.plan("references.jsonl", sentences=1, by="length"), "units.json"),
        "conversion": (lp.convert(["references.jsonl"]), "references.jsonl"),
        "metrics": (lp.score_metrics(data, metrics=["rouge-1"]), "units.json"),
        "a comparison": (lp.compare("first.json", samples=50), "first.json"),
        "changes": (lp.changes("first.json", "second.json"), "second.json"),
        "a saved result": (lp.report("first.json"), "first.json"),
        "correlations": (lp.meta.correlate("scores.csv"), "scores.csv"),
        "a table": (
            lp.meta.interval(lp.read_scores("scores.csv"), samples=50),
            "scores.csv",
        ),
        "a list": (lp.read_scores([lp.report("first.json")]), "first.json"),
    }


def test_no_result_replaces_what_it_was_made_of(sources):
    spellings = ("plain", "dot", "absolute", "hard link", "through ..", "linked folder")

    for name, (result, file) in made_of_files().items():
        goal = sources / file
        before = goal.read_bytes(), goal.stat().st_ino
        if name == "a plan":  # of other files: these it may replace
            result.save(goal)
            assert goal.read_bytes() != before[0]
            goal.write_bytes(before[0])
            continue
        if name == "a list":  # a table has no `save`; what is made of it has
            result = lp.meta.normality(result, "lite2pyramid")

        for spelling in spellings:
            with refused("would be overwritten", lp.LitepyramidError):
                result.save(spelled(sources, file, spelling))

        assert (goal.read_bytes(), goal.stat().st_ino) == before, name
        result.save(sources / f"elsewhere{goal.suffix}")
        result.save(sources / f"elsewhere{goal.suffix}")  # nothing was made of it


def test_every_method_that_writes_is_guarded(sources):
    changed = lp.changes("first.json", "second.json")
    audited = lp.score({"x": ["A cat.", "It rained."]}, "units.html", judge="recall")

    for write in (changed.to_html, changed.to_markdown):
        with refused("would be overwritten", lp.LitepyramidError):
            write(sources / "first.json")
    with refused("would be overwritten", lp.LitepyramidError):
        audited.to_html(sources / "units.html")

    # What a verb itself writes does not replace what its arguments were made of.
    data = lp.load(references="references.jsonl")
    stus = lp.extract("references.jsonl", srl="sentences")
    tasks = lp.plan(data.references, sentences=1, by="length")
    lp.export(tasks, sources / "tasks")
    answers = sources / "answers.json"
    answers.write_text('{"format": "litepyramid-answers", "answers": []}')
    with refused("would be overwritten", lp.LitepyramidError):
        goal = sources / "references.jsonl"
        lp.import_answers("tasks", [answers], output=goal, units=stus)
