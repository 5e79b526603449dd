"""The commands of DDR22, DDR21 §5 and P19: what they print, write and refuse."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from litepyramid.cli.app import app
from litepyramid.errors import InputError


@pytest.fixture
def folder(tmp_path):
    """A judged table, a larger one of the metrics alone, and texts to make extracts of."""
    rng = np.random.default_rng(0)
    quality = np.arange(8.0)[:, None]
    metrics = {
        "a": quality + 2 * rng.normal(size=(8, 60)),
        "b": quality + rng.normal(size=(8, 60)),
        "human": quality + rng.normal(size=(8, 60)),
    }
    for name, inputs, kept in (("judged", 12, ["a", "b", "human"]), ("full", 60, ["a", "b"])):
        with (tmp_path / f"{name}.csv").open("w") as file:
            file.write("system,input,metric,score\n")
            for metric in kept:
                for i in range(8):
                    for j in range(inputs):
                        file.write(f"s{i},{j},{metric},{metrics[metric][i, j]:.4f}\n")
    words = [f"w{i}" for i in range(40)]
    lines = [[" ".join(rng.choice(words, 6)) for _ in range(9)] for _ in range(3)]
    (tmp_path / "documents.txt").write_text("".join(" . ".join(x) + " .\n" for x in lines))
    (tmp_path / "references.txt").write_text("".join(f"{x[0]} . {x[4]} .\n" for x in lines))
    return tmp_path


def run(*args, status: int = 0) -> str:
    result = CliRunner().invoke(app, ["meta", *map(str, args)], catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result.stdout


def drawn(path) -> None:
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 5000


def test_delta(folder) -> None:
    table, figure = folder / "judged.csv", folder / "f.png"
    text = run("delta", table, "--to", "2", "--heat", "--figure", figure)
    assert "given" in text
    assert "(row) to another (column)" in text
    drawn(figure)
    rows = list(csv.DictReader(io.StringIO(run("delta", table, "-m", "a", "--format", "csv"))))
    assert [row["which"] for row in rows] == [f"{p} %" for p in range(10, 101, 10)]
    assert rows[-1]["pairs"] == "28"
    found = json.loads(run("delta", table, "--full", folder / "full.csv", "--format", "json"))
    assert found["metrics"][0]["sides"]["test_inputs"] == 60
    assert "tabular" in run("delta", table, "--format", "latex")


def test_a_difference(folder) -> None:
    table, figure = folder / "judged.csv", folder / "f.png"
    args = ("delta", table, "-m", "a", "-d", "1", "-k", "50")
    text = run(*args, "--figure", figure).replace("\n", " ")
    assert "When two systems differ by 1 on a, people agreed with the sign" in text
    drawn(figure)
    assert json.loads(run(*args, "--format", "json"))["metrics"][0]["sentence"] in text
    assert all(len(line) <= 80 for line in run(*args).splitlines())
    run(*args, "--figure", folder / "scores.png", "--plot", "scores")
    assert (folder / "scores.png").read_bytes() != figure.read_bytes()


def test_old_names_of_options_are_taken_and_not_shown(folder) -> None:
    table = folder / "judged.csv"
    asked = run("interval", table, "--human", "b", "--samples", "50", "-m", "a")
    assert run("interval", table, "--against", "b", "-k", "50", "-m", "a") == asked
    shown = run("interval", "--help")
    assert "--human" in shown
    assert "--against" not in shown


def test_a_table_whose_columns_have_other_names(folder) -> None:
    whole = run("correlate", folder / "judged.csv")
    other = folder / "other.csv"
    text = (folder / "judged.csv").read_text()
    other.write_text(text.replace("system,input,metric,score", "model,doc,measure,value", 1))
    names = "system=model,input=doc,metric=measure,score=value"
    assert run("correlate", other, "--columns", names) == whole
    assert run("delta", other, "--full", other, "--columns", names)
    with pytest.raises(InputError, match="--columns"):
        run("correlate", other)


def test_stability(folder) -> None:
    figure = folder / "f.png"
    text = run("stability", folder / "judged.csv", "--full", folder / "full.csv", "-M", "5",
               "-M", "60", "-k", "40", "--figure", figure)  # fmt: skip
    assert text.count("human") == 1
    drawn(figure)
    assert "human" not in run("stability", folder / "full.csv", "--no-human", "-M", "5", "-k", "9")


def test_testset(folder) -> None:
    figure = folder / "f.png"
    args = ("testset", folder / "judged.csv", "--full", folder / "full.csv", "-k", "60")
    text = run(*args, "--figure", figure)
    assert "M_test" in text
    assert "8 systems, 12 judged inputs, 60 test inputs." in text
    drawn(figure)
    found = json.loads(run(*args, "--sampling", "inputs", "--format", "json"))
    assert {i["sampling"] for i in found["intervals"]} == {"inputs"}


def test_simulate(folder) -> None:
    figure, journal = folder / "f.png", folder / "run.jsonl"
    args = ("simulate", "coverage", folder / "judged.csv", "-n", "10", "-k", "40")
    text = run(*args, "--journal", journal, "--figure", figure)
    assert "BOOT-BOTH" in text
    assert text == run(*args, "--journal", journal)
    drawn(figure)
    args = ("simulate", "power", folder / "judged.csv", "-m", "a", "-n", "5", "-k", "20")
    text = run(*args, "--amount", "1", "--figure", figure)
    assert text.count("PERM-BOTH") == 2
    drawn(figure)
    with pytest.raises(InputError, match="no metric to make worse"):
        run("simulate", "power", folder / "judged.csv")


def test_generate_and_range(folder) -> None:
    scores, texts, figure = folder / "s.csv", folder / "t.jsonl", folder / "f.png"
    args = (
        "generate", folder / "documents.txt", "-r", folder / "references.txt", "--words", "22",
        "--population", "25", "--generations", "3", "--scores", scores, "--texts", texts,
        "--journal", folder / "run.jsonl",
    )  # fmt: skip
    text = run(*args)
    assert "3 inputs" in text
    first = scores.read_bytes()
    assert run(*args) == text
    assert scores.read_bytes() == first
    assert texts.read_text().count("\n") > 75
    text = run("range", scores, "--top", "best", "--best", "8", "--figure", figure)
    assert "rouge-2_recall" in text
    drawn(figure)
    found = json.loads(run("range", scores, "--rule", "code", "--format", "json"))
    assert {a["range"] for a in found["agreement"]} == {"whole", "top"}
    assert found["signature"]["rule"] == "code"


def test_mistakes_end_with_status_2(cli, folder) -> None:
    judged = folder / "judged.csv"
    for args, said in (
        (("delta", judged, "--figure", "x.jpg"), "unknown figure format '.jpg'"),
        (("delta", judged, "-d", "-1"), "a difference of -1"),
        (("range", judged), "no row 'lexrank'"),
    ):
        assert said in cli("meta", *args, status=2).stderr
