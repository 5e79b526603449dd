"""No file that a command reads is replaced by what it writes, whatever both are called.

Every parameter that can name something to read, against every one that names something
to write: both taken from the commands. What is refused is refused before the work.
"""

import json
import re
from functools import cache
from itertools import product
from pathlib import Path
from typing import Literal, NamedTuple, get_args, get_origin

import pytest
from cases import cases, quick_score, refused
from running import run_here

import litepyramid as lp
from litepyramid.cli import maker
from litepyramid.cli.app import COMMANDS, function_of

SPELLINGS = dict(
    cases(
        """
plain          | NAME
dot            | ./NAME
absolute       | FOLDER/NAME
symlink        | soft-NAME
hard link      | hard-NAME
through ..     | empty/../NAME
trailing slash | NAME/
double slash   | FOLDER//NAME
linked folder  | FOLDER/../link/NAME
home           | ~/NAME
case           | SWAPPED
"""
    )
)
FORMS = ("{}", "{}:topic", "cache={}", "KIND:{}", "a=b:{}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with somebody's file, which has other names too; no command does its
    work there."""
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
    text = SPELLINGS[spelling].replace("SWAPPED", name.swapcase())
    text = text.replace("NAME", name).replace("FOLDER", str(folder))

    if spelling in ("symlink", "hard link"):
        link = folder / text
        link.unlink(missing_ok=True)
        make = link.symlink_to if spelling == "symlink" else link.hardlink_to
        make(folder / name)

    return text


class Parameter(NamedTuple):
    """A parameter of a command, and what a user would type for it."""

    name: str
    flag: list[str]
    filler: str
    required: bool
    written: bool
    json: bool


@cache
def parameters(name: str) -> list[Parameter]:
    """The parameters of a command, in its order, as the command line has them."""
    command = maker._command(function_of(name), {})
    entries = []

    for entry in command.parameters:
        kind, shown = get_args(entry.annotation)
        choices = [str(one) for one in get_args(kind) if get_origin(kind) is Literal]
        text = kind in (str, Path, list[str], list[Path])
        filler = choices[0] if choices else "other.jsonl" if text else "1"
        decls = (shown.default, *(shown.param_decls or ()))  # typer's, in `Annotated`
        flags = sorted([one for one in decls if isinstance(one, str)], key=len)[-1:]
        written = entry.name == "output" or command.filled.get(entry.name) == "side"
        parts = (flags, filler, entry.default is entry.empty, written)
        json = re.search(r"\.json\b", shown.help) is not None
        entries.append(Parameter(entry.name, *parts, json))

    return entries


PAIRS = {}
for _name in COMMANDS:
    _texts = [one for one in parameters(_name) if one.filler == "other.jsonl"]
    for _reads, _writes in product(_texts, _texts):
        if _writes.written and not _reads.written:
            PAIRS[f"{_name}: {_reads.name}, {_writes.name}"] = (_name, _reads, _writes)


def refusal(folder, monkeypatch, pair, spellings=("plain", "plain"), form="{}"):
    """Why a command does not write over the file that it was told to read, and before
    its work; none if this disk takes the two names for two files."""
    name, reads, writes = PAIRS[pair]
    goal = folder / f"mine{'.json' if writes.json else '.jsonl'}"
    goal.write_text('{"input": "a", "topic": "mine"}\n')
    before = goal.read_bytes(), goal.stat().st_ino
    if "case" in spellings and not (folder / goal.name.swapcase()).exists():
        return ""

    read, written = (spelled(folder, goal.name, one) for one in spellings)
    given = {reads.name: form.format(read), writes.name: written}
    line = name.split()
    for one in parameters(name):
        if one.name in given or one.required:
            line += [*one.flag, given.get(one.name, one.filler)]

    # Whatever would be seen in the end: the work must not begin.
    monkeypatch.setattr(maker, "_called", lambda *_: pytest.fail(f"began: {line}"))
    done = run_here(line, folder, {})
    assert (goal.read_bytes(), goal.stat().st_ino) == before, line
    assert done.returncode == 2, line
    return done.stderr


def test_the_signatures_say_what_is_read_and_written():
    assert len(PAIRS) > 100
    assert "changes: by, output" in PAIRS
    assert "score: judge_settings, output" in PAIRS
    assert "units extract: references, parses" in PAIRS


@pytest.mark.parametrize("pair", PAIRS)
def test_no_file_that_is_read_is_replaced(folder, monkeypatch, pair):
    reasons = ("would be overwritten", "is read by this command")
    said = refusal(folder, monkeypatch, pair)
    assert any(reason in said for reason in reasons)


@pytest.mark.parametrize("form", FORMS)
def test_whatever_both_are_called(folder, monkeypatch, form):
    for other in SPELLINGS:
        # A shell replaces ~; where it did not, it is a folder of that name.
        for both in (("plain", other), (other, "plain"))[other == "home" :]:
            pair = "score: judge_settings, output"
            said = refusal(folder, monkeypatch, pair, both, form)
            reasons = ("would be overwritten", "is a link")
            assert not said or any(reason in said for reason in reasons), both


def test_the_same_output_twice_is_an_error(folder, cli):
    (folder / "s.txt").write_text("A cat sat.\n")
    lines = ["units extract s.txt --srl sentences --parses b.json -o ./b.json"]
    for place in ("", "./", "empty/../", f"{folder}/"):
        lines.append(f"score s.txt -u s.txt -j recall -o b.json -o {place}b.json")

    for line in lines:
        cli(line, status=2, cwd=folder)
        assert not (folder / "b.json").exists()


# From Python ------------------------------------------------------------------------


@pytest.fixture
def sources(folder):
    """Files that a user reads, named as results are saved, in the current folder."""
    texts = {"a": "A cat sat.", "b": "It rained."}
    units = [{"input": name, "units": [text]} for name, text in texts.items()]
    (folder / "units.json").write_text(json.dumps(units))
    rows = [{"input": name, "references": [text]} for name, text in texts.items()]
    (folder / "references.json").write_text(json.dumps(rows))
    rows = [{"input": name, "summary": text} for name, text in texts.items()]
    for name in ("old.json", "new.json"):
        (folder / name).write_text(json.dumps(rows))

    rows = ["system,input,rouge,human"]
    rows += [f"s{n},i{m},{n * m % 5},{n + m}" for n in range(4) for m in range(4)]
    (folder / "scores.csv").write_text("\n".join(rows))
    for name in ("first.json", "second.json"):
        quick_score(TEXTS, "units.json").save(name)
    return folder


TEXTS = [Path("old.json"), Path("new.json")]


def made_of_files():
    """Results, each with one of the files that it was made of."""
    data = lp.load(units="units.json", data=TEXTS, references="references.json")
    scored = quick_score(data)
    table = lp.read_scores("scores.csv")

    yield scored, "units.json"
    yield scored, "new.json"
    yield quick_score(TEXTS, data.units), "units.json"
    yield lp.extract(data.references, srl="sentences"), "references.json"
    yield lp.plan("references.json", sentences=1, by="length"), "references.json"
    yield lp.convert(["references.json"]), "references.json"
    yield lp.score_metrics(data, metrics=["rouge-1"]), "units.json"
    yield lp.meta.correlate("scores.csv"), "scores.csv"
    yield lp.meta.interval(table, samples=50), "scores.csv"


def test_no_result_replaces_what_it_was_made_of(sources):
    for result, file in made_of_files():
        goal = sources / file
        before = goal.read_bytes(), goal.stat().st_ino

        for spelling in ("plain", "hard link", "linked folder"):
            with refused("would be overwritten", lp.LitepyramidError):
                result.save(spelled(sources, file, spelling))

        assert (goal.read_bytes(), goal.stat().st_ino) == before, result

    for _ in range(2):  # nothing was made of it
        result.save(sources / "elsewhere.json")


def test_every_method_that_writes_is_guarded(sources):
    (sources / "r.jsonl").write_text('{"input": "a", "references": ["A cat sat."]}')
    stus = lp.extract("r.jsonl", srl="sentences", parses=Path("p.jsonl"))
    tasks = lp.plan("references.json", sentences=1, by="length")
    lp.export(tasks, sources / "tasks")
    answers = sources / "answers.json"
    answers.write_text('{"format": "litepyramid-answers", "answers": []}')

    # What a verb itself writes does not replace what its arguments were made of.
    def write_units(goal):
        lp.import_answers("tasks", [answers], output=goal, units=stus)

    def write_parses(goal):
        lp.extract(stus.references, srl="sentences", parses=goal)

    for write, file in (
        (write_units, "r.jsonl"),
        (write_parses, "r.jsonl"),
        (write_parses, "other.jsonl"),  # which holds no parses
    ):
        before = (sources / file).read_bytes()
        with refused("would be overwritten", lp.LitepyramidError):
            write(sources / file)
        assert (sources / file).read_bytes() == before
