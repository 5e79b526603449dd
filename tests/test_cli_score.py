"""The score, compare and demo commands, run as a user runs them."""

from __future__ import annotations

import csv
import io
import json

import pytest


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    from litepyramid.embedded.example import save_example

    return save_example(tmp_path_factory.mktemp("demo") / "example")


def test_score_table_fits_80_columns(cli, example):
    out = cli(
        "score", example / "summaries", "--units", example / "scus.jsonl",
        "--labels", example / "labels",
    ).stdout  # fmt: skip
    assert max(map(len, out.splitlines())) <= 80
    rows = [line.split() for line in out.splitlines() if line.strip()]
    ranked = [row[1] for row in rows if row[0] in {"a", "b", "c", "ab", "bc"}]
    assert set(ranked) == {"abstractive", "lead", "offtopic", "swapped"}
    assert ranked[-1] == "offtopic"
    assert "units:scu|judge:lexical" in out


def test_score_json_csv_latex(cli, example, tmp_path):
    base = ("score", example / "summaries", "--units", example / "scus.jsonl")
    data = json.loads(cli(*base, "--format", "json").stdout)
    assert {s["system"] for s in data["systems"]} == {"abstractive", "lead", "offtopic", "swapped"}
    rows = list(csv.DictReader(io.StringIO(cli(*base, "--format", "csv").stdout)))
    by_name = {row["system"]: float(row["score"]) for row in rows}
    assert by_name == {s["system"]: s["score"] for s in data["systems"]}
    latex = cli(*base, "--format", "latex").stdout
    assert latex.count(r"\\") == 5
    assert r"95 \% low" in latex
    out = tmp_path / "r.json"
    assert cli(*base, "--format", "json", "-o", out).stdout == ""
    assert json.loads(out.read_text(encoding="utf-8")) == data


def test_compare_from_summaries_and_from_a_saved_result(cli, example, tmp_path):
    saved = tmp_path / "r.json"
    units = ("--units", example / "scus.jsonl")
    cli("score", example / "summaries", *units, "--format", "json", "-o", saved)
    first = json.loads(cli("compare", example / "summaries", *units, "-f", "json").stdout)
    second = json.loads(cli("compare", saved, "-f", "json").stdout)
    assert first["pairs"] == second["pairs"]
    assert len(first["pairs"]) == 6
    assert "abstractive" in cli("compare", saved).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "SUMMARIES"], "neither units nor references given"),
        (["score", "absent", "--units", "UNITS"], "absent: no such file or folder"),
        (["score", "SUMMARIES", "--units", "absent.txt"], "absent.txt: no such file"),
        (["score", "SUMMARIES", "--units", "UNITS", "--labels", "absent"], "no such file"),
        (["compare", "UNITS"], "scus.jsonl"),
        (["score", "SUMMARIES", "--units", "UNITS", "--confidence", "95"], "between 0 and 1"),
    ],
)
def test_a_mistake_is_one_message_and_status_2(cli, example, arguments, message):
    places = {"SUMMARIES": example / "summaries", "UNITS": example / "scus.jsonl"}
    done = cli(*[places.get(a, a) for a in arguments], status=2)
    assert message in done.stderr
    assert done.stderr.startswith("litepyramid: ")
    assert done.stdout == ""


@pytest.mark.parametrize(
    "option",
    [("--seed", "-1"), ("--samples", "100000000000"), ("--sample-size", "0")],
)
def test_numbers_out_of_range_are_refused(cli, example, option):
    units = ("--units", example / "scus.jsonl")
    assert option[0] in cli("score", example / "summaries", *units, *option, status=2).stderr
    done = cli("compare", example / "summaries", *units, "--alpha", "5", status=2)
    assert "alpha is 5" in done.stderr


def test_a_failed_run_keeps_an_earlier_output(cli, example, tmp_path):
    out = tmp_path / "r.json"
    out.write_text("kept", encoding="utf-8")
    cli("score", example / "summaries", "--units", "absent", "-o", out, status=2)
    assert out.read_text(encoding="utf-8") == "kept"


def test_demo_shows_the_main_jobs(cli, tmp_path):
    out = cli("demo", process=True).stdout
    assert "1. Score" in out
    assert "2. Compare" in out
    assert "3. No SCUs?" in out
    assert "Lite³Pyramid of 4 systems" in out
    assert "4. Budget" in out
    assert "5. Meta-evaluate" in out
    assert max(map(len, out.splitlines())) <= 80
    cli("demo", "--save", tmp_path / "example")
    assert (tmp_path / "example" / "summaries" / "lead.jsonl").is_file()
    again = cli("demo", "--save", tmp_path / "example", status=2, process=True)
    assert "is there already" in again.stderr


def test_import_is_light(cli):
    import subprocess
    import sys

    code = (
        "import sys, litepyramid, litepyramid.cli.app;"
        "print(sorted({'torch', 'spacy', 'scipy', 'pandas', 'xgboost'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_version_and_help(cli):
    from litepyramid import __version__

    assert cli("--version", process=True).stdout.strip() == f"litepyramid {__version__}"
    for command in ("score", "compare", "demo"):
        assert command in cli("--help").stdout
