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
    assert "units:scu|judge:reading" in out


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
    out = cli("demo", process=True, TMPDIR=str(tmp_path)).stdout
    assert "1. Score" in out
    (page,) = tmp_path.glob("*/litepyramid-demo.html")
    assert f"\n{page}\n" in out
    assert '"texts":[[' in page.read_text(encoding="utf-8")
    out = out.replace(str(page), "")
    assert "2. Compare" in out
    assert "3. No SCUs?" in out
    assert "Lite³Pyramid of 4 systems" in out
    assert "4. Budget" in out
    assert "5. Meta-evaluate" in out
    assert max(map(len, out.splitlines())) <= 80
    cli("demo", "--save", tmp_path / "example")
    assert (tmp_path / "example" / "summaries" / "lead.jsonl").is_file()
    again = cli("demo", "--save", tmp_path / "example", status=2, process=True)
    assert "already exists" in again.stderr


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


def test_one_table_with_columns_of_other_names(cli, tmp_path):
    path = tmp_path / "rag.csv"
    rows = [("doc", "model", "answer", "fact", "supported")]
    for model, answer in (("x", "It rained all day."), ("y", "The sun shone.")):
        for doc in (1, 2):
            rows += [(doc, model, answer, "It rained.", int(model == "x"))]
            rows += [(doc, model, answer, "Roads closed.", 0)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    columns = "input=doc,system=model,summary=answer,unit=fact,label=supported"
    tables = (path, "--units", path, "--labels", path)
    out = cli("score", *tables, "--columns", columns, "--judge", "recall", "-f", "json").stdout
    found = {row["system"]: (row["score"], row["human"]) for row in json.loads(out)["systems"]}
    assert found == {"x": (0.5, 0.5), "y": (0.0, 0.0)}
    done = cli("score", *tables, status=2)
    assert "rag.csv:1: a table without any known column" in done.stderr
    done = cli("score", *tables, "--columns", "summery=answer", status=2)
    assert "the columns 'summery=answer' cannot be read at 'summery=answer'" in done.stderr


def test_stus_by_the_name_of_their_file(cli, example, tmp_path):
    stus = tmp_path / "STUs.txt"
    units = (example / "scus.jsonl", "-o", stus, "--to", "lines")
    cli("units", "convert", *units)
    one = (example / "summaries", "--units", stus, "--ids", ids(example, tmp_path))
    assert "Lite³Pyramid of" in cli("score", *one).stdout
    assert "Lite²Pyramid of" in cli("score", *one, "--kind", "scu").stdout
    labels = ("--labels", example / "labels", "--label-units", example / "scus.jsonl")
    done = cli("score", *one, *labels, "-f", "json").stdout
    result = json.loads(done)
    assert result["metric"] == "lite3pyramid"
    assert result["label_units"][0]["units"][0]["kind"] == "scu"
    base = cli(
        "score", example / "summaries", "--units", example / "scus.jsonl", *labels[:2], "-f", "json"
    )
    human = [row["human"] for row in json.loads(base.stdout)["systems"]]
    assert [row["human"] for row in result["systems"]] == human
    done = cli("score", *one, *labels[2:], status=2)
    assert "--label-units without --labels" in done.stderr


def ids(example, folder):
    path = folder / "ids.txt"
    rows = map(json.loads, (example / "scus.jsonl").read_text(encoding="utf-8").splitlines())
    path.write_text("".join(row["input"] + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "SUMMARIES", "--references", "BROKEN", "--confidence", "95"], "between 0 and 1"),
        (["score", "SUMMARIES", "absent", "--references", "BROKEN"], "absent: no such file or"),
        (["score", "SUMMARIES", "--references", "BROKEN", "--labels", "absent"], "absent: no such"),
        (["score", "BROKEN", "--references", "REFERENCES", "--srl", "stanza"], "broken:1: 1 line"),
        (["score", "SUMMARIES", "--references", "BROKEN", "-j", "lexcial"], "you mean 'lexical'?"),
        (["compare", "SUMMARIES", "--references", "BROKEN", "--alpha", "5"], "between 0 and 1"),
        (["budget", "plan", "BROKEN"], "the budget is given in 0 ways"),
        (["budget", "plan", "BROKEN", "--sentences", "3", "--scus", "absent"], "absent: no such"),
        (["budget", "curve", "SUMMARIES", "-r", "BROKEN", "-s", "BROKEN"], "from one place"),
        (["units", "mix", "-r", "BROKEN", "-s", "BROKEN"], "0 sizes of the mix are given"),
    ],
)
def test_what_can_be_seen_early_is_said_before_the_parsing(
    cli, example, tmp_path, arguments, message
):
    (tmp_path / "broken").write_text("<t> never closed\n")
    places = {"SUMMARIES": example / "summaries", "BROKEN": tmp_path / "broken"}
    places["REFERENCES"] = example / "references.jsonl"
    assert message in cli(*[places.get(a, a) for a in arguments], status=2).stderr


def test_named_results_of_two_judges_in_one_table(cli, example, tmp_path):
    base = ("score", example / "summaries", "--units", example / "scus.jsonl", "-f", "json")
    cli(*base, "-o", tmp_path / "1.json")
    cli(*base, "--judge", "recall", "--labels", example / "labels", "-o", tmp_path / "2.json")
    files = (tmp_path / "1.json", tmp_path / "2.json")
    out = cli("meta", "correlate", *files, "-f", "csv").stdout
    assert "lite2pyramid[reading]" in out
    assert "lite2pyramid[recall]" in out
    cli(*base, "--name", "mine", "-o", tmp_path / "1.json")
    out = cli("meta", "correlate", *files, "-f", "csv").stdout
    assert "mine" in out
    assert "[" not in out
    assert cli(*base[:-2], "--name", "mine").stdout.startswith("mine: Lite²Pyramid of 4 systems")
