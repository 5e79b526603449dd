"""The audit of a judge: oracles for its numbers, faults put into a made-up judge."""

import json

import numpy as np
import pytest
from made_up import made_up
from sklearn import metrics

import litepyramid as lp
from litepyramid.annotation.export import read_tasks
from litepyramid.annotation.responses import PAGE_FORMAT
from litepyramid.errors import InputError
from litepyramid.scoring.audit import WORST
from litepyramid.types import SystemLabels, SystemSummaries


def values_of(found):
    return {figure.name: figure.value for figure in found.figures}


def test_numbers_are_those_of_other_packages():
    result = made_up(3)
    found = lp.audit(result)
    presence = result.presence.ravel()
    labels = result.labels.ravel()
    values = values_of(found)
    assert values["AUC"] == pytest.approx(metrics.roc_auc_score(labels, presence))
    assert values["Brier score"] == pytest.approx(
        metrics.brier_score_loss(labels, presence)
    )
    kappa = metrics.cohen_kappa_score(labels, presence >= 0.5)
    assert values["Cohen's κ at .5"] == pytest.approx(kappa)
    sensitivity = metrics.recall_score(labels, presence >= 0.5)
    assert values["sensitivity at .5"] == pytest.approx(sensitivity)
    rows = iter(result.presence.reshape(-1, 8))
    data = lp.load(result.units, **texts_and_labels(result))
    evaluated = lp.evaluate(lambda summary, units: next(rows), data)
    assert values["calibration slope"] == pytest.approx(
        evaluated.sets[0].slope, abs=1e-3
    )
    assert values["calibration error"] == pytest.approx(
        evaluated.sets[0].calibration_error
    )


def texts_and_labels(result):
    summaries = []
    labels = []
    for n, name in enumerate(result.systems):
        summaries.append(SystemSummaries(name, result.inputs, result.summaries[n]))
        rows = result.labels[n].reshape(-1, 8).astype(int)
        labels.append(
            SystemLabels(name, result.inputs, tuple(map(tuple, rows.tolist())))
        )
    return {"summaries": summaries, "labels": labels}


def test_intervals_by_inputs_are_those_of_a_bootstrap():
    result = made_up(4)
    auc = lp.audit(result).figures[0]
    rng = np.random.default_rng(0)
    draws = []
    presence = result.presence.reshape(4, 60, 8)
    labels = result.labels.reshape(4, 60, 8)

    for _ in range(200):
        some = rng.integers(60, size=60)
        draws.append(
            metrics.roc_auc_score(labels[:, some].ravel(), presence[:, some].ravel())
        )

    low, high = np.quantile(draws, (0.025, 0.975))
    assert auc.high - auc.low == pytest.approx(high - low, rel=0.2)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("length", "length of summary"),
        ("lenient", "all pairs"),
        ("negation", "unit has"),
    ],
)
def test_a_fault_is_named(fault, kind):
    for seed in range(1):
        found = lp.audit(made_up(100 + seed, fault))
        assert found.failing[0].kind == kind


def test_a_good_judge_fails_nowhere():
    """At most 5 % false alarms: of 200 seeds, run by hand, 4."""
    alarms = 0
    for seed in range(6):
        alarms += bool(lp.audit(made_up(seed)).failing)
    assert alarms <= 1


def test_the_order_of_systems_changes_nothing():
    result = made_up(5)
    found = lp.audit(result)
    data = texts_and_labels(result)
    turned = {key: rows[::-1] for key, rows in data.items()}
    rows = iter(result.presence[::-1].reshape(-1, 8))
    again = lp.score(
        lp.load(result.units, **turned),
        judge=lambda summary, units: next(rows),
        samples=100,
    )

    other = lp.audit(again)
    assert (other.figures, other.cells) == (found.figures, found.cells)
    assert (
        other.signature.to_json()["scores_sha"]
        == found.signature.to_json()["scores_sha"]
    )


def test_the_page_holds_hostile_texts_as_text(tmp_path):
    rows = iter([[0.9, 0.1]] * 12)
    summaries = {"s<b>": [f"<script>alert({i})</script> It rained." for i in range(12)]}
    units = [["It rained.", "<img src=x>"]] * 12
    labels = {"s<b>": [[0, 1] if i % 3 else [1, 0] for i in range(12)]}
    data = lp.load(units, summaries=summaries, labels=labels)
    found = lp.audit(lp.score(data, judge=lambda summary, facts: next(rows)))
    assert len(found.worst) == min(WORST, 24)
    found.save(tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page


def test_how_people_agree_stands_beside_the_judge(tmp_path):
    """Two people judged everything, or a sample: their κ is scikit-learn's, from Python
    and from the folder that was imported."""
    rng = np.random.default_rng(3)
    inputs = [f"i{m:02}" for m in range(12)]
    units = [[f"Fact {name} {u}." for u in range(4)] for name in inputs]
    texts = {name: [f"{name} says something." for _ in inputs] for name in ("a", "b")}

    for sampling in (None, lp.Sampling(60)):
        folder = tmp_path / f"tasks{sampling is None}"
        lp.export(texts, folder, units=units, ids=inputs, sample=sampling)
        tasks = read_tasks(folder)
        said = {"Ann": [], "Bob": []}
        for worker, answers in said.items():
            rows = []
            for task in tasks.judging:
                labels = (rng.random(len(task.units)) < 0.7).tolist()
                if worker == "Bob":  # agrees on most
                    first = said["Ann"][len(answers) : len(answers) + len(labels)]
                    again = rng.random(len(labels)) < 0.8
                    labels = np.where(again, first, labels).tolist()
                answers += labels
                presence = {str(n): bool(label) for n, label in enumerate(labels)}
                rows.append({"task": task.id, "finished": True, "presence": presence})
            content = {
                "format": PAGE_FORMAT,
                "worker": worker,
                "answers": rows,
            }
            (tmp_path / f"{worker}.json").write_text(json.dumps(content))

        judged = tmp_path / f"judged{sampling is None}"
        paths = [tmp_path / f"{worker}.json" for worker in said]
        imported = lp.import_answers(folder, paths, output=judged)
        labels = None if sampling else imported.labels
        scored = lp.score(
            texts,
            units,
            ids=inputs,
            labels=labels,
            judge="recall",
            samples=50,
        )
        expected = metrics.cohen_kappa_score(said["Ann"], said["Bob"])

        for source in (imported, judged):
            values = values_of(lp.audit(scored, labels=source))
            assert values["people's own Cohen's κ"] == pytest.approx(expected)
            assert values["people's own α"] == pytest.approx(imported.agreement.alpha)


def test_labels_are_needed():
    with pytest.raises(InputError):
        lp.audit(lp.score(["It rained."], units=[["It rained."]], judge="recall"))
