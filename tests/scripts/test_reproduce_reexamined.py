"""scripts/reproduce_reexamined.py on a folder laid out as DDR22's, and on P19's tables as JSON."""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "reproduce_reexamined.py"


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("reproduce_reexamined", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_whole_test_set_gives_the_authors_curve(script, tmp_path, monkeypatch, capsys) -> None:
    rng = np.random.default_rng(0)
    metric = np.arange(9.0)[:, None] + rng.normal(size=(9, 40)) * 4
    people = np.arange(9)[:, None, None] + rng.integers(0, 9, size=(9, 6, 3))
    path = tmp_path / "summeval" / "all" / "metrics.jsonl.gz"
    path.parent.mkdir(parents=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for i, j in np.ndindex(9, 40):
            metrics = {"ROUGE-1": metric[i, j]}
            if j < 6:  # judged by three people
                metrics["ground-truth"] = people[i, j].tolist()
            row = {"instance_id": str(j), "summarizer_id": f"M{i}", "metrics": metrics}
            file.write(json.dumps(row) + "\n")
    x, z = metric.mean(axis=1), people.mean(axis=(1, 2))
    pairs = sorted(
        (abs(x[i] - x[j]), np.sign((x[i] - x[j]) * (z[i] - z[j])))
        for i, j in combinations(range(9), 2)
    )
    size = math.ceil(len(pairs) / 10)
    ends = [min(len(pairs), size * k) for k in range(1, 11)]
    curve = [np.mean([sign for _, sign in pairs[:end]]) for end in ends]
    expected = " ".join(f"{tau:.2f}".replace("0.", ".", 1) for tau in curve)
    monkeypatch.setattr(script, "FIG_6", {("summeval", "ROUGE-1"): expected})
    assert script.fig_6(tmp_path) == [("summeval", "ROUGE-1", expected, expected)]
    assert script.whole_test_sets(tmp_path)
    assert "1 of 1 curves are as published." in capsys.readouterr().out
    monkeypatch.setattr(script, "FIG_6", {("realsumm", "QAEval"): expected})
    assert not script.whole_test_sets(tmp_path)
    assert "no realsumm/all/metrics.jsonl.gz" in capsys.readouterr().out.replace("\n", " ")


def test_p19s_tables_as_json_lines(script, tmp_path, capsys) -> None:
    rng = np.random.default_rng(1)
    rows = []
    for topic in ("D0801", "D0802"):
        for number in range(60):
            quality = rng.random()
            scores = {"JS_2_fitness": quality - 1, "ROUGE_2_fitness": quality + rng.random() / 9}
            rows.append({"instance_id": topic, "summarizer_id": str(number), "metrics": scores})
    path = tmp_path / "p19.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    script.ranges(tmp_path, [path], 1)
    said = capsys.readouterr().out
    assert len([line for line in said.splitlines() if " whole " in line and "+" in line]) == 2
    assert "Metrics: ROUGE_2_fitness." in said
