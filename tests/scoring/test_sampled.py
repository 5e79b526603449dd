"""Estimates from facts drawn with unequal probabilities: a plain loop, simulations, people."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cases import quick_score, refused
from made_up import answer_tasks, by_fact, made_up_data

import litepyramid as lp
from litepyramid.annotation.sampling import draw_facts
from litepyramid.scoring.estimates import Drawn, Estimates, estimate
from litepyramid.scoring.sampled import SampledLabels, system_draws

SYSTEMS = ("s0", "s1", "s2")


@cache
def made():
    """Data whose labels are the truth, and their result."""
    data = made_up_data(0, systems=3, inputs=40, uneven=True)
    return data, quick_score(data)


def draw(*number, **options):
    data, _ = made()
    return draw_facts(data.summaries, data.units, lp.Sampling(*number, **options))


def labelled(drawn, values, spread="facts", skip=lambda key: False):
    """What people say who see in each fact what `values` say, and skip some."""
    cells = {}
    for (system, fact), chance in drawn.items():
        key = system, fact.input, fact.text
        cells[system, fact] = np.nan if skip(key) else values[key], chance
    return SampledLabels.of(spread, cells, made()[0].units)


def test_a_plain_loop_gives_the_same():
    rng = np.random.default_rng(1)
    n = 12
    inputs = 20
    human = rng.random(n)
    judge = rng.random(n)
    share = rng.random(n) / 4
    chance = 0.1 + 0.8 * rng.random(n)
    mean = 0.4
    drawn = Drawn(
        human[None], judge[None], share, chance, np.array([mean]), 1.0, inputs
    )
    (row,) = zip(*estimate(drawn), strict=True)
    row = Estimates(*row)

    total = sum(share / chance) / inputs
    terms = []
    for values in (human, judge):
        ratio = sum(values / chance) / inputs / total
        terms.append(n / inputs * (values - ratio * share) / chance + ratio)

    open_ = 1 - chance
    slopes = []
    for j in range(n):
        others = np.arange(n) != j
        cov = np.cov(terms[0][others], terms[1][others], aweights=open_[others], ddof=0)
        slopes.append(cov[0, 1] / cov[1, 1])

    corrected = terms[0] - np.array(slopes) * (terms[1] - mean)
    for values, name in ((terms[0], "alone_variance"), (corrected, "variance")):
        centre = np.average(values, weights=open_)
        variance = n / (n - 1) * (open_ * (values - centre) ** 2).sum() / n**2
        if name == "variance" and row.weight == 0:
            continue
        assert getattr(row, name) == pytest.approx(variance)

    assert row.alone == pytest.approx(terms[0].mean())


def test_probabilities_add_up_and_are_kept():
    """Each system gets its share; a fact is drawn as often as its probability says."""
    _, result = made()
    hits = Counter()
    chances = {}

    for seed in range(80):
        drawn = draw(90, by=result, seed=seed)
        assert Counter([system for system, _ in drawn]) == dict.fromkeys(SYSTEMS, 30)
        hits.update(drawn.keys())
        chances |= drawn

    rates = np.array([hits[key] / 80 for key in chances])
    chance = np.array([*chances.values()])
    spread = np.sqrt(chance * (1 - chance) / 80)
    assert abs(np.mean((rates - chance) / spread)) < 0.15


@pytest.mark.parametrize(
    ("spread", "labels", "skips"),
    [
        ("facts", 120, 0.0),
        ("facts", 150, 0.2),
        ("summaries", 360, 0.1),
        ("inputs", 240, 0.0),
    ],
)
def test_intervals_cover_and_estimates_are_unbiased(spread, labels, skips):
    """Also where people skip facts of which the judge is unsure, whatever the truth."""
    _, result = made()
    truth = by_fact(result, result.labels.values)
    presence = by_fact(result, result.presence)
    rng = np.random.default_rng(0)

    def skip(key):
        return rng.random() < 4 * skips * presence[key] * (1 - presence[key])

    goal = result.human_scores
    by = result if spread != "inputs" else None
    errors = []
    covered = []
    pairs = []

    for seed in range(50):
        drawn = draw(labels, spread=spread, by=by, seed=seed)
        sample = labelled(drawn, truth, spread, skip)
        combined = lp.combine(result, labels=sample, assume_random=True)
        for entry in combined.systems:
            covered.append(entry.low <= goal[entry.system] <= entry.high)
        errors.append([combined.scores[name] - goal[name] for name in SYSTEMS])
        for pair in combined.pairs:
            true = goal[pair.first] - goal[pair.second]
            pairs.append(pair.low <= true <= pair.high)

    slack = 3.5 * np.std(errors, axis=0) / 50**0.5 + 0.004
    assert (np.abs(np.mean(errors, axis=0)) < slack).all()
    assert 0.9 < np.mean(covered) <= 0.99
    assert 0.9 < np.mean(pairs) <= 0.995


def test_all_facts_labelled_give_the_labels_own_scores():
    _, result = made()
    sample = labelled(draw(result.presence.size), by_fact(result, result.labels.values))
    combined = lp.combine(result, labels=sample)
    assert combined.target == "population"
    assert combined.scores == pytest.approx(result.human_scores)

    # Nothing is open, so it does not matter how they were drawn.
    whole = lp.combine(result, labels=replace(sample, spread="inputs"))
    for one, other in zip(combined.pairs, whole.pairs, strict=True):
        assert (one.low, one.p) == pytest.approx((other.low, other.p))


@pytest.mark.parametrize("rule", ["sample-3", "modified-2"])
def test_whole_inputs_are_scored_by_any_rule_as_the_judge_was(rule):
    data, _ = made()
    result = quick_score(data, rule=rule)

    # People who say what the judge says give the judge's scores.
    echo = labelled(draw(inputs=40), by_fact(result, result.presence), "inputs")
    assert lp.combine(result, labels=echo).scores == pytest.approx(result.scores)

    truth = by_fact(result, result.labels.values)
    first = next(iter(truth))
    skipped = labelled(draw(inputs=40), truth, "inputs", lambda key: key == first)
    assert lp.combine(result, labels=skipped).systems
    assert lp.audit(result, labels=skipped).systems
    # An audit counts mistakes: of shares there are none.
    with refused("a label 0"):
        lp.audit(result, labels=echo)


def with_empty(share):
    """A system that says all facts of some of 40 inputs, and nothing of the others; and
    labels that say so."""
    units = {}
    texts = {}
    for i in range(40):
        facts = [f"Fact {i} {u} holds." for u in range(3)]
        units[f"i{i:02}"] = facts
        texts[f"i{i:02}"] = "" if i % 10 < 10 * share else " ".join(facts)
    result = quick_score({"a": texts}, units)
    return result, by_fact(result, result.presence)


@pytest.mark.parametrize("how", [{"inputs": 20}, {"labels": 60}])
def test_empty_summaries_of_drawn_inputs_count(how, tmp_path):
    result, labels = with_empty(0.5)
    answers = answer_tasks(tmp_path, result, {"Ann": labels}, **how)
    combined = lp.combine(result, labels=answers, assume_random=True)
    assert combined.scores == {"a": pytest.approx(0.5)}


@pytest.mark.parametrize("how", [{"inputs": 20}, {"labels": 60}])
def test_missing_summaries_score_zero_in_a_sample_too(how, tmp_path):
    """As `score` reads them, which the labels of a sample stand beside."""
    empty, labels = with_empty(0.5)
    texts = {cell: text or None for cell, text in empty.summaries.cells()}
    summaries = lp.Summaries.of(texts)
    result = quick_score(summaries, empty.units)
    assert result.scores == empty.scores

    exported = replace(result, summaries=summaries)
    answers = answer_tasks(tmp_path, exported, {"Ann": labels}, **how)
    combined = lp.combine(result, labels=answers, assume_random=True)
    assert combined.scores == {"a": pytest.approx(0.5)}


def test_nobody_was_asked_about_empty_summaries(tmp_path):
    """A third of the asked facts is skipped: the others stand for these too."""
    result, labels = with_empty(0.7)
    for key in labels:
        if " 1 holds" in key[-1]:
            labels[key] = None
    answers = answer_tasks(tmp_path, result, {"Ann": labels}, labels=36)
    draws = system_draws(result, answers.sample)[0]
    assert draws.drawn.probability.tolist() == pytest.approx([2 / 3] * 24)


def test_labels_that_one_system_has_no_facts_for_go_to_the_others():
    data, _ = made()
    last = data.inputs[-1]
    texts = dict(data.summaries.cells())
    texts |= {("z", name): "It rained." if name == last else "" for name in data.inputs}
    summaries = lp.Summaries.of(texts)
    drawn = draw_facts(summaries, data.units, lp.Sampling(200))
    counts = Counter([system for system, _ in drawn])
    assert counts["z"] == len(data.units[last].units)
    assert counts.total() == 200


def test_too_few_facts_are_refused_and_foreign_ones_too():
    _, result = made()
    few = labelled(draw(12), by_fact(result, result.labels.values))
    units = lp.Units.of([lp.InputUnits("i00", (lp.Unit("unheard of"),))])
    foreign = SampledLabels.of("facts", {("s0", units.facts[0]): (1.0, 0.5)}, units)
    for sample in (few, foreign):
        with refused():
            lp.combine(result, labels=sample)


def test_labels_of_an_older_summary_are_refused(tmp_path):
    """What people saw in one text they may not see in the next."""
    result, labels = with_empty(0.2)
    answer_tasks(tmp_path, result, {"Ann": labels}, labels=60)
    sample = tmp_path / "judged"
    texts = dict(result.summaries.cells())
    lp.combine(quick_score(lp.Summaries.of(texts), result.units), labels=sample)
    texts["a", "i07"] = "Nothing."
    newer = quick_score(lp.Summaries.of(texts), result.units)
    for function in (lp.combine, lp.audit):
        with refused("another summary of 'a' on 'i07'"):
            function(newer, labels=sample)


@pytest.mark.parametrize("labels", [3, 8])
def test_too_few_labels_for_a_summary_of_each_system_are_refused(labels):
    """A summary has six facts and a half."""
    with refused("too few for a whole summary"):
        draw(labels, spread="summaries")
    drawn = draw(21, spread="summaries")
    assert {system for system, _ in drawn} == {*SYSTEMS}


@pytest.mark.parametrize("spread", ["facts", "summaries", "inputs"])
def test_from_export_to_combine(tmp_path, spread):
    """A person skips some facts; the rest comes with its chances."""
    _, result = made()
    rng = np.random.default_rng(2)
    labels = {}
    for key, label in by_fact(result, result.labels.values).items():
        labels[key] = None if rng.random() < 0.1 else label

    answers = answer_tasks(tmp_path, result, {"Ann": labels}, labels=300, spread=spread)

    unanswered = answers.sample.unanswered
    assert 10 < unanswered == len(answers.named["refused"]) < 60
    read = lp.combine(result, labels=tmp_path / "judged")
    assert read.systems == lp.combine(result, labels=answers).systems
    assert str(unanswered) in read.notes[0]
    assert read.scores == pytest.approx(result.human_scores, abs=0.15)


def unsure(_summary, facts):
    return [0.5] * len(facts)


def test_a_text_with_two_weights_keeps_its_labels_apart(tmp_path):
    """Only this fact is there, once of weight 1 and once of 9: 10 of 14."""
    same = "Same fact."
    units = {}
    labels = {}
    for i in range(12):
        others = [f"Other {i} {u}." for u in range(4)]
        units[f"i{i:02}"] = [
            {"text": same, "weight": 1},
            {"text": same, "weight": 9},
            *others,
        ]
        labels |= {("a", f"i{i:02}", text): text == same for text in [same, *others]}
    texts = {"a": dict.fromkeys(units, "A summary.")}
    result = quick_score(texts, units, judge=unsure)

    means = []
    for seed in range(30):
        folder = tmp_path / str(seed)
        folder.mkdir()
        people = answer_tasks(folder, result, {"Ann": labels}, labels=40, seed=seed)
        means.append(lp.combine(result, labels=people).scores["a"])
    assert np.mean(means) == pytest.approx(10 / 14, abs=0.03)


def test_what_labels_all_the_same_leave_open_of_a_system_is_open_of_its_difference():
    """Of a system every drawn fact is there; of the other every one, or every second."""
    units = {f"i{i:02}": [f"F{i}x{u}" for u in "0123"] for i in range(20)}
    texts = {name: dict.fromkeys(units, "A summary.") for name in "ab"}
    data = lp.load(units=units, data=texts)
    result = quick_score(data, judge=unsure)
    drawn = draw_facts(data.summaries, data.units, lp.Sampling(40))

    for every in (1, 2):
        cells = {}
        for (system, fact), chance in drawn.items():
            label = float(system == "a" or len(cells) % every == 0)
            cells[system, fact] = label, chance
        sample = SampledLabels.of("facts", cells, data.units)
        combined = lp.combine(result, labels=sample)
        systems = {one.system: one for one in combined.systems}
        pair = combined.pairs[0]
        # The ends at which no scale cuts them off.
        reach = [one.score - one.low for one in systems.values()]
        assert 1 - systems["a"].low == pytest.approx(1 - 0.05**0.05)
        assert pair.difference - pair.low == pytest.approx(np.hypot(*reach))
