"""Nothing that a command reads is ever overwritten, whatever option names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_type_hints

import pytest
import typer
from typer.testing import CliRunner

from litepyramid.cli.app import app
from litepyramid.cli.outputs import MADE, WRITTEN, check_outputs
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
    for name in ("SCUs.txt", "summaries/a.summary", "labels/a.label", "pyramids/a/x.pyr",
                 "kept.pyr", "judge/lexical.json", "judge2/tokenizer/vocab.txt", "m.tar.gz",
                 "a,b.tar.gz", "berts/b/vocab.txt", "old.ubj", "fold1/config.json",
                 "tasks/tasks.json", "plan.json"):  # fmt: skip
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text("mine", encoding="utf-8")
    (tmp_path / "data" / "pyramids" / "b.PAN").hardlink_to(tmp_path / "data" / "kept.pyr")
    (tmp_path / "data" / "pyramids" / "loop").symlink_to(tmp_path / "data" / "pyramids")
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
        ("pyramid data/pyramids --scores data/pyramids/a/x.pyr", "data/pyramids/a/x.pyr"),
        ("pyramid data/pyramids --scores data/kept.pyr", "data/kept.pyr"),
        ("pyramid data/pyramids -o data/pyramids/loop/a/x.pyr", "data/pyramids/a/x.pyr"),
        ("units from-pyr data/pyramids -o data/pyramids/a/x.pyr", "data/pyramids/a/x.pyr"),
        ("units from-pyr data/kept.pyr -o u.jsonl --references data/kept.pyr", "data/kept.pyr"),
        ("crossval folder=data -o data/SCUs.txt", "data/SCUs.txt"),
        ("crossval folder=data -o data/labels/a.label", "data/labels/a.label"),
        ("crossval folder=data --base data/judge -o data/judge/lexical.json", "data/judge"),
        ("crossval x --train-on a=data --test-on b=data -o data/labels/a.label", "data/labels"),
        ("crossval x --checkpoints data/fold{fold} -o data/fold1/config.json", "data/fold1"),
        ("score summaries -r references.jsonl --srl allennlp:data/m.tar.gz -o data/m.tar.gz", "."),
        (
            "score summaries -r references.jsonl --srl allennlp:data/a,b.tar.gz,bert=data/berts "
            "-o data/a,b.tar.gz",
            "data/a,b.tar.gz",
        ),
        (
            "units extract references.jsonl --srl allennlp:m.tar.gz,decoding=exact,bert=data/berts "
            "-o data/berts/b/vocab.txt",
            "data/berts/b/vocab.txt",
        ),
        ("units extract references.jsonl --srl allennlp:x,verbs=link.jsonl -o link.jsonl", "."),
        ("score summaries -u units.jsonl --judge data/judge -o data/judge/lexical.json", "."),
        ("score summaries -u units.jsonl -j data/judge2 -o data/judge2/tokenizer/vocab.txt", "."),
        ("easiness fit references.jsonl -s units.jsonl --start data/old.ubj -o data/old.ubj", "."),
        ("meta simulate coverage scores.csv --journal scores.csv", "scores.csv"),
        ("score summaries -u units.jsonl -j m --cache units.jsonl", "units.jsonl"),
        ("budget export data/plan.json -o data/plan.json", "data/plan.json"),
        ("budget import data/tasks units.jsonl -o units.jsonl", "units.jsonl"),
        ("budget import data/tasks units.jsonl -o data/tasks/tasks.json", "data/tasks/tasks.json"),
        ("finetune lexical --data folder=data -o data/SCUs.txt", "data/SCUs.txt"),
    ],
)
def test_no_input_is_overwritten(folder: Path, cli: Any, command: str, lost: str) -> None:
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    said = cli(*command.split(), status=2, cwd=folder).stderr
    assert "would be overwritten, and is one of the files to read" in said
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
    assert "would be overwritten" not in cli(*score, cwd=folder).stderr


def test_two_results_need_two_files(tmp_path: Path) -> None:
    written = {"output": tmp_path / "x", "write_ids": tmp_path / "." / "x"}
    with pytest.raises(InputError, match="two results, --output and --write-ids"):
        check_outputs(written, {})
    check_outputs({"output": Path("/dev/null"), "scores": Path("/dev/null")}, {})


def test_values_that_name_no_file_are_passed_over(tmp_path: Path) -> None:
    read = {"judge": "x" * 5000, "seed": 3, "metric": ["a\0b", ""], "summaries": None}
    check_outputs({"output": tmp_path / "x"}, read)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("units from-pyr data -o u --labels L --summaries L", "the file of two results, --labels"),
        ("units from-pyr data -o L/15.jsonl --labels L", "is inside the folder of --labels"),
        ("units from-pyr data -o u --labels L --summaries L/s", "is inside the folder of --labels"),
        ("units from-pyr data -o u --labels l/x --summaries L/X", "the file of two results"),
        ("units from-pyr data -o u --references ./u", "--output and --references"),
        ("meta simulate coverage scores.csv --journal j -o j", "the file of two results"),
        ("score summaries -u units.jsonl --cache c -o c", "the file of two results"),
        ("cache info --cache c -o c", "the file of two results"),
    ],
)
def test_no_result_is_in_the_way_of_another(
    folder: Path, cli: Any, command: str, words: str
) -> None:
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert words in cli(*command.split(), status=2, cwd=folder).stderr
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_results_may_be_renewed_in_the_folder_that_is_read(folder: Path) -> None:
    """Whoever works in the folder of the data writes results there, again and again."""
    result = folder / "data" / "result.json"
    result.write_text("{}")
    read = {"data": f"folder={folder}/data", "files": [folder / "data"]}
    check_outputs({"output": result}, {**read, "tasks": folder / "data"})
    check_outputs({"output": folder / "data" / "tasks" / "u"}, {"tasks": folder / "data" / "tasks"})


def test_groups_below_groups_are_protected(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("kept")
    found = CliRunner().invoke(app, ["meta", "simulate", "coverage", str(path), "-o", str(path)])
    assert isinstance(found.exception, InputError)
    assert "would be" in str(found.exception)
    assert path.read_text() == "kept"


def commands(group: typer.Typer) -> list[Any]:
    found = [c.callback for c in group.registered_commands]
    for below in group.registered_groups:
        found += commands(below.typer_instance)
    return found


def test_every_option_that_takes_a_file_to_write_is_marked() -> None:
    names = {"output", "figure", "write_ids", "texts", "journal", "cache", "models", "save"}
    for callback in commands(app):
        for name, hint in get_type_hints(callback, include_extras=True).items():
            if name in names:
                assert {WRITTEN, MADE} & set(hint.__metadata__), (callback.__name__, name)
