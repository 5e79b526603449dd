"""The audit of a judge: oracles for its numbers, faults put into a made-up judge."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from cases import cases, quick_score, refused
from made_up import answer_tasks, by_fact, made_up, of_presence
from sklearn import metrics

import litepyramid as lp
from litepyramid.judges.evaluate import calibrate, roc_auc
from litepyramid.scoring.audit import WORST
from litepyramid.scoring.sampled import SampledLabels


def values_of(found):
    return {figure.name: figure.value for figure in found.figures}


def test_numbers_are_those_of_other_packages():
    result = made_up(3)
    values = values_of(lp.audit(result))

    presence = result.presence.ravel()
    labels = result.labels.values.ravel()
    present = presence >= 0.5
    assert values["AUC"] == pytest.approx(metrics.roc_auc_score(labels, presence))
    brier = metrics.brier_score_loss(labels, presence)
    assert values["Brier score"] == pytest.approx(brier)
    kappa = metrics.cohen_kappa_score(labels, present)
    assert values["Cohen's κ at .5"] == pytest.approx(kappa)
    sensitivity = metrics.recall_score(labels, present)
    assert values["sensitivity at .5"] == pytest.approx(sensitivity)
    oracle = calibrate(presence, labels)
    assert values["calibration slope"] == pytest.approx(oracle.slope, abs=1e-3)
    assert values["calibration error"] == pytest.approx(oracle.calibration_error)


def test_a_perfect_judge_has_the_figures_of_one_and_intervals_inside_their_range():
    rng = np.random.default_rng(0)
    labels = rng.choice([0.0, 0.5, 1.0], (1, 30, 4))
    values = values_of(lp.audit(of_presence(labels, labels)))
    assert values["AUC"] == roc_auc(labels[0], labels[0]) == 1
    for name in ("sensitivity", "specificity", "Cohen's κ"):
        assert values[f"{name} at .5"] == pytest.approx(1), name

    present = (labels > 0.2).astype(float)
    noisy = np.clip(0.9 * present + 0.05 + rng.normal(0, 0.1, labels.shape), 0, 1)
    result = of_presence(noisy, present)
    figures = {figure.name: figure for figure in lp.audit(result).figures}
    # The error of a score has no interval here.
    known = {name: f for name, f in figures.items() if not math.isnan(f.low)}
    assert len(known) > 10
    for name, figure in known.items():
        assert figure.low <= figure.value <= figure.high
        if name != "calibration slope":
            assert -1 <= figure.low <= figure.high <= 1

    # 30 inputs without a mistake do not prove that there is none.
    assert figures["sensitivity at .5"].value == pytest.approx(1)
    assert figures["sensitivity at .5"].low == pytest.approx(0.05 ** (1 / 30))


def test_intervals_by_inputs_are_those_of_a_bootstrap():
    result = made_up(4)
    auc = lp.audit(result).figures[0]

    rng = np.random.default_rng(0)
    presence = result.presence.reshape(4, 60, 8)
    labels = result.labels.values.reshape(4, 60, 8)
    draws = []
    for _ in range(200):
        some = rng.integers(60, size=60)
        sides = labels[:, some].ravel(), presence[:, some].ravel()
        draws.append(metrics.roc_auc_score(*sides))

    low, high = np.quantile(draws, (0.025, 0.975))
    assert auc.high - auc.low == pytest.approx(high - low, rel=0.2)


@pytest.mark.parametrize(
    ("fault", "kind"),
    cases("""
        length   | length of summary
        lenient  | all pairs
        negation | unit has
    """),
)
def test_a_fault_is_named(fault, kind):
    assert lp.audit(made_up(100, fault)).failing[0].kind == kind


def test_a_good_judge_fails_nowhere():
    """At most 5 % false alarms: of 200 seeds, run by hand, 6."""
    alarms = 0
    for seed in range(6):
        alarms += bool(lp.audit(made_up(seed)).failing)

    assert alarms <= 1


def test_the_page_holds_hostile_texts_as_text(tmp_path):
    summaries = {"s<b>": ["<script>alert(1)</script> It rained."] * 12}
    units = [["It rained.", "<img src=x>"]] * 12
    labels = {"s<b>": [[0, 1], [1, 0], [1, 0]] * 4}
    found = lp.audit(quick_score(summaries, units, labels=labels))
    assert len(found.worst) == WORST
    found.save(tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page


@pytest.mark.parametrize("sampling", [{}, {"labels": 60}])
def test_how_people_agree_stands_beside_the_judge(tmp_path, sampling):
    """Two people judged everything, or a sample: their κ is scikit-learn's, from Python
    and from the folder that was imported."""
    result = made_up(3, systems=2, inputs=12)
    differs = np.random.default_rng(3).random(result.labels.values.shape) < 0.1
    ann = by_fact(result, result.labels.values)
    bob = by_fact(result, np.abs(result.labels.values - differs))

    imported = answer_tasks(tmp_path, result, {"Ann": ann, "Bob": bob}, **sampling)

    judged = [*ann]
    if sampling:
        sample = imported.sample
        judged = []
        for n, column in np.argwhere(sample.drawn).tolist():
            fact = sample.labels.units.facts[column]
            judged.append((sample.labels.systems[n], fact.input, fact.text))
    kappa = metrics.cohen_kappa_score(
        [ann[f] for f in judged], [bob[f] for f in judged]
    )
    for source in (imported, tmp_path / "judged"):
        values = values_of(lp.audit(result, labels=source))
        assert values["people's own Cohen's κ"] == pytest.approx(kappa)
        assert values["people's own α"] == pytest.approx(imported.agreement.alpha)


def test_labels_are_needed():
    with refused():
        lp.audit(quick_score(["It rained."], [["It rained."]]))


def sampled(result, share, spread):
    """The labels of a result, of the first share of its inputs, as drawn by chance."""
    inputs = result.inputs[: round(share * len(result.inputs))]
    labels = result.labels.of_inputs(inputs)
    drawn = np.full(labels.values.shape, share)
    return SampledLabels(spread, labels, replace(labels, values=drawn))


def test_what_one_summary_errs_by_is_told_by_whole_ones_alone():
    """Facts of a summary err together, which single ones do not show."""
    rng = np.random.default_rng(0)
    labels = (rng.random((1, 40, 10)) < 0.5).astype(float)
    shift = rng.choice([-0.2, 0.2], (1, 40, 1))
    result = of_presence(0.25 + 0.5 * labels + shift, labels)
    name = "error of one summary's score"

    known = values_of(lp.audit(result))[name]
    assert known > 0.2
    for spread in ("inputs", "summaries"):
        values = values_of(lp.audit(result, labels=sampled(result, 0.999, spread)))
        assert values[name] == pytest.approx(known)

    found = lp.audit(result, labels=sampled(result, 0.5, "facts"))
    assert name not in values_of(found)
    assert "one summary" not in found.verdict


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_how_many_labels_are_needed_does_not_go_by_how_many_there_are(share):
    result = made_up(5, inputs=100)
    found = lp.audit(result, labels=sampled(result, share, "inputs"))
    needed = next(effect for effect in found.effects if "±.05" in effect)
    assert int(re.search(r"about (\d+) inputs", needed)[1]) == pytest.approx(33, abs=9)


@pytest.mark.parametrize("presence", [1.0, 0.9, 0.7])
def test_a_bias_that_is_the_same_everywhere_is_found(presence):
    """Each input has a fact that is there and one that is not."""
    units = [[f"Fact {i} {j}." for j in range(2)] for i in range(20)]
    labels = {"a": [[1.0, 0.0]] * 20, "b": [[1.0, 0.0]] * 20}
    judged = {name: [[presence] * 2] * 20 for name in labels}
    result = lp.score(units=units, presence=judged, labels=labels)

    found = lp.audit(result)
    worst = found.cells[0]
    bias = presence - 0.5
    # That none of twenty inputs errs the other way.
    assert worst.p == pytest.approx((1 - bias) ** 20)
    assert worst.difference == pytest.approx(bias)
    leniency = next(one for one in found.figures if one.name == "leniency")
    for one in (worst, leniency, *found.systems):
        assert one.high - one.low == pytest.approx(2 * (1 - 0.05**0.05))
