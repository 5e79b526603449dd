"""Few labels from the command line and from Python: combined, planned, exported, simulated."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.annotation.dealing import deal
from litepyramid.annotation.presence_plan import plan_presence, read_presence_plan
from litepyramid.errors import InputError
from litepyramid.scoring.label_power import label_power
from litepyramid.types import ScoreMatrix


@pytest.fixture
def example(cli, tmp_path):
    """The example with labels of five of its twelve inputs, and its scores."""
    cli("demo", "--save", "ex", cwd=tmp_path)
    some = {1, 4, 5, 8, 11}
    (tmp_path / "some").mkdir()
    for path in (tmp_path / "ex/labels").iterdir():
        lines = path.read_text().splitlines()
        kept = [line for n, line in enumerate(lines) if n in some]
        (tmp_path / "some" / path.name).write_text("\n".join(kept) + "\n")
    return tmp_path


SCORED = ("score", "ex/summaries", "-u", "ex/scus.jsonl", "-j", "recall", "--samples", "100")


def test_labels_of_some_inputs(example, cli):
    cli(*SCORED, "-l", "some", cwd=example, status=2)
    done = cli(*SCORED, "-l", "some", "--combine", "-f", "json", cwd=example)
    found = json.loads(done.stdout)
    assert found["labels"] == 5
    assert found["inputs"] == 12
    assert found["signature"]["combine"] == "cross-fit"
    result = lp.score(
        str(example / "ex/summaries"),
        str(example / "ex/scus.jsonl"),
        labels=str(example / "some"),
        partial_labels=True,
        judge="recall",
        samples=100,
    )
    combined = lp.combine(result)
    assert [entry["score"] for entry in found["systems"]] == list(combined.scores.values())
    result.save(example / "s.json")
    done = cli("compare", "s.json", "--combine", "-f", "json", cwd=example)
    assert json.loads(done.stdout)["systems"] == found["systems"]
    assert "7 inputs have no human labels" in result.to_table()
    table = cli("compare", "s.json", "--combine", cwd=example, COLUMNS="80").stdout
    assert max(map(len, table.splitlines())) <= 80


def test_a_table_of_scores_with_a_human_column(cli, tmp_path):
    rng = np.random.default_rng(1)
    rows = ["system,input,metric,score"]
    for system in "ab":
        for number in range(30):
            value = rng.random()
            rows.append(f"{system},{number},judge,{value / 2:.4f}")
            if number % 3 == 1:
                rows.append(f"{system},{number},people,{value:.4f}")
    (tmp_path / "t.csv").write_text("\n".join(rows))
    options = ("compare", "t.csv", "--metric", "judge", "--combine", "--human", "people")
    found = json.loads(cli(*options, "-f", "json", cwd=tmp_path).stdout)
    assert found["labels"] == 10
    assert all(1.9 < entry["weight"] < 2.1 for entry in found["systems"])
    wide = json.loads(cli(*options, "--target", "population", "-f", "json", cwd=tmp_path).stdout)
    for one, other in zip(found["systems"], wide["systems"], strict=True):
        assert other["high"] - other["low"] > one["high"] - one["low"]
    cli("compare", "t.csv", "--metric", "judge", "--combine", cwd=tmp_path, status=2)


def test_a_plan_of_labels_goes_out_and_comes_back(example, cli):
    cli(*SCORED, "-f", "json", "-o", "s.json", cwd=example)
    options = ("--for", "presence", "--inputs", "6", "--annotators", "3", "--per-task", "2")
    shown = cli("budget", "plan", "s.json", *options, "-o", "plan.json", cwd=example).stdout
    assert "are a sample" in shown
    plan = read_presence_plan(example / "plan.json")
    assert plan.count == 6
    cli(
        "budget", "export", "ex/summaries", "-u", "ex/scus.jsonl", "--plan", "plan.json",
        "-o", "tasks", cwd=example,
    )  # fmt: skip
    assert sorted(p.name for p in (example / "tasks").glob("*.html")) == [
        "page-1.html", "page-2.html", "page-3.html",
    ]  # fmt: skip
    tasks = json.loads((example / "tasks/tasks.json").read_text())["tasks"]
    assert {task["input"] for task in tasks} == set(plan.chosen)
    (example / "planned").mkdir()
    for path in (example / "ex/labels").iterdir():
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        kept = [json.dumps(row) for row in lines if row["input"] in plan.chosen]
        (example / "planned" / path.name).write_text("\n".join(kept) + "\n")
    done = cli(
        *SCORED, "-l", "planned", "--combine", "--plan", "plan.json", "-f", "json", cwd=example
    )
    assert "design" in json.loads(done.stdout)["signature"]
    cli(*SCORED, "-l", "some", "--combine", "--plan", "plan.json", cwd=example, status=2)
    for wrong in (["--inputs", "3"], [], ["--inputs", "6", "--by", "gold"], ["--cost", "9"]):
        cli("budget", "plan", "s.json", "--for", "presence", *wrong, cwd=example, status=2)
    data = json.loads((example / "plan.json").read_text())
    for change in ({"label": []}, {"inclusion": ["x"] * 12}, {"format": "x"}, {"by": "y"}):
        (example / "broken.json").write_text(json.dumps({**data, **change}))
        with pytest.raises(InputError):
            read_presence_plan(example / "broken.json")


def test_every_input_has_the_chance_that_the_plan_says():
    scores = ScoreMatrix("m", ("a",), tuple(map(str, range(20))), np.arange(20.0)[None] / 20)
    drawn = np.zeros(20)
    for seed in range(600):
        plan = plan_presence(scores, inputs=7, seed=seed)
        drawn += plan.label
    assert np.abs(drawn / 600 - plan.inclusion).max() < 0.09
    assert plan.inclusion.sum() == pytest.approx(7)


@given(
    st.integers(1, 60), st.integers(1, 7), st.integers(1, 7), st.integers(0, 10), st.integers(0, 99)
)
def test_tasks_are_dealt_out_in_balance(tasks, annotators, per_task, checks, seed):
    per_task = min(per_task, annotators)
    own = deal(tasks, annotators, per_task, checks, seed)
    times = Counter(task for share in own for task in share)
    common = {task for task in range(tasks) if all(task in share for share in own)}
    assert len(own) == annotators
    assert set(times) == set(range(tasks))
    assert all(len(set(share)) == len(share) for share in own)
    assert all(n == per_task or task in common for task, n in times.items())
    sizes = [len(share) for share in own]
    assert max(sizes) - min(sizes) <= 1
    if 1 < per_task < annotators and not checks and tasks >= 30:
        met = [len(set(a) & set(b)) for a, b in combinations(own, 2)]
        assert max(met) - min(met) <= max(4, tasks // 5)


def test_a_width_or_a_price_buys_as_many_as_it_must(example, cli):
    cli(*SCORED, "-f", "json", "-o", "s.json", cwd=example)
    plan = lp.plan_labels(str(example / "s.json"), width=0.25)
    assert 2 * plan.half <= 0.25
    assert 2 * lp.plan_labels(str(example / "s.json"), inputs=plan.count - 1).half > 0.25
    bought = lp.plan_labels(str(example / "s.json"), cost=20, per_judgement=0.1, seconds=6)
    assert bought.answers * 0.1 <= 22
    assert "hours" in bought.to_table()


def test_power_is_that_of_the_t_test():
    power = pytest.importorskip("statsmodels.stats.power")
    found = label_power(0.1, samples=2000, inputs=150)
    for row in found.rows:
        expected = power.TTestPower().power(0.1 / 0.256, row.labels, 0.05)
        assert row.alone == pytest.approx(expected, abs=0.035)
        assert row.combined >= row.alone - 0.03
    exact = power.TTestPower().solve_power(0.1 / 0.256, alpha=0.05, power=0.8)
    assert found.alone == pytest.approx(exact, rel=0.1)


def test_power_from_the_command_line(example, cli):
    cli(*SCORED, "-l", "ex/labels", "-f", "json", "-o", "s.json", cwd=example)
    options = ("budget", "power", "--difference", "0.2", "--pilot", "s.json", "--samples", "100")
    shown = cli(*options, "--figure", "p.svg", cwd=example).stdout
    assert "pairs of the pilot's systems" in shown
    assert (example / "p.svg").read_text(encoding="utf-8").count("<svg") == 1
    for difference in ("0", "-0.1", "1"):
        cli("budget", "power", "--difference", difference, cwd=example, status=2)
