"""Nothing that a command reads is ever written over, whatever option names it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from litepyramid.cli.app import app
from litepyramid.cli.outputs import WRITTEN, check_outputs, protect
from litepyramid.errors import InputError

REFERENCES = '{"input": "a", "references": [["A cat sat on the mat .", "It purred ."]]}\n'
UNITS = '{"input": "a", "units": [{"text": "A cat sat.", "kind": "scu"}]}\n'
SUMMARY = '{"input": "a", "summary": "A cat sat."}\n'
SCORES = "system,input,metric,score\n" + "".join(
    f"s{i},i{j},{metric},{(i * j + i) % 5}\n"
    for i in range(3)
    for j in range(3)
    for metric in ("m", "human")
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (
        ("references.jsonl", REFERENCES),
        ("units.jsonl", UNITS),
        ("scores.csv", SCORES),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "summaries").mkdir()
    (tmp_path / "summaries" / "alpha.jsonl").write_text(SUMMARY, encoding="utf-8")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "units.jsonl")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        ("units extract references.jsonl -o references.jsonl", "references.jsonl"),
        ("units extract references.jsonl --parses references.jsonl", "references.jsonl"),
        ("units extract references.jsonl --srl units.jsonl --parses link.jsonl", "units.jsonl"),
        ("units convert units.jsonl -o link.jsonl", "units.jsonl"),
        ("units convert units.jsonl --write-ids units.jsonl", "units.jsonl"),
        ("score summaries --units units.jsonl -o ./units.jsonl", "units.jsonl"),
        ("score summaries --units units.jsonl -o summaries/alpha.jsonl", "summaries/alpha.jsonl"),
        ("compare scores.csv -o scores.csv", "scores.csv"),
        ("meta correlate scores.csv -o scores.csv", "scores.csv"),
        ("meta interval scores.csv -o scores.csv", "scores.csv"),
        (
            "meta generate references.jsonl -r references.jsonl --scores references.jsonl",
            "references.jsonl",
        ),
    ],
)
def test_no_input_is_written_over(folder: Path, cli: Any, command: str, lost: str) -> None:
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    said = cli(*command.split(), status=2, cwd=folder).stderr
    assert "would be written over, and is one of the files to read" in said
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before
    assert (folder / lost).exists()


def test_places_that_cannot_be_written_are_seen_before_the_work(folder: Path, cli: Any) -> None:
    for output, words in (("summaries", "is a folder"), ("no/x.json", "does not exist")):
        said = cli("score", "none", "--units", "none", "-o", output, status=2, cwd=folder).stderr
        assert words in said


def test_results_may_go_anywhere_else(folder: Path, cli: Any) -> None:
    score = ("score", "summaries", "--units", "units.jsonl", "-f", "json")
    for output in ("result.json", "result.json", "/dev/stdout"):  # its own result may be renewed
        cli(*score, "-o", output, cwd=folder)
    assert "would be written over" not in cli(*score, cwd=folder).stderr


def test_two_results_need_two_files(tmp_path: Path) -> None:
    written = {"output": tmp_path / "x", "write_ids": tmp_path / "." / "x"}
    with pytest.raises(InputError, match="two results, --output and --write-ids"):
        check_outputs(written, {})
    check_outputs({"output": Path("/dev/null"), "scores": Path("/dev/null")}, {})


def test_values_that_name_no_file_are_passed_over(tmp_path: Path) -> None:
    read = {"judge": "x" * 5000, "seed": 3, "metric": ["a\0b", ""], "summaries": None}
    check_outputs({"output": tmp_path / "x"}, read)


def test_groups_below_groups_are_protected(tmp_path: Path) -> None:
    root, below = typer.Typer(), typer.Typer()

    @below.command()
    def copy(source: Path, goal: Annotated[Path, typer.Option("--goal"), WRITTEN]) -> None:
        goal.write_text("written")

    @below.command()
    def nothing() -> None:
        """Only so that the group has two commands."""

    root.add_typer(below, name="below")
    protect(root)
    path = tmp_path / "a"
    path.write_text("kept")
    found = CliRunner().invoke(root, ["below", "copy", str(path), "--goal", str(path)])
    assert isinstance(found.exception, InputError)
    assert path.read_text() == "kept"


def commands(group: typer.Typer) -> list[Any]:
    found = [c.callback for c in group.registered_commands]
    for below in group.registered_groups:
        found += commands(below.typer_instance)
    return found


def test_every_option_that_takes_a_file_to_write_is_marked() -> None:
    # These write a folder, or check what they write themselves.
    own = {"export", "import_answers", "finetune", "fit", "predict"}
    names = {"output", "figure", "write_ids", "texts"}
    for callback in commands(app):
        for name, hint in get_type_hints(callback, include_extras=True).items():
            if name in names and callback.__name__ not in own:
                assert WRITTEN in hint.__metadata__, (callback.__name__, name)
