"""Estimates from facts drawn with unequal probabilities: a plain loop, simulations, people."""

import csv
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from cases import refused

import litepyramid as lp
from litepyramid.annotation.answers import _sampled
from litepyramid.annotation.export import read_tasks
from litepyramid.annotation.sampling import draw_facts
from litepyramid.scoring.estimates import Drawn, estimate
from litepyramid.scoring.sampled import SampledFact, SampledLabels, system_draws
from litepyramid.types import InputUnits, SystemSummaries, Unit

SYSTEMS = ("a", "b", "c")


def made(seed=0, inputs=40, noise=0.3):
    """A result with 4 to 9 facts an input, and the truth by system, input and fact."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 10, inputs)
    units = []
    for i, size in enumerate(sizes):
        facts = []
        for u in range(size):
            facts.append(Unit(f"fact w{i}x{u}", float(rng.integers(1, 4))))
        units.append(InputUnits(f"i{i:02}", tuple(facts)))

    names = tuple(entry.input for entry in units)
    truth = {}
    presence = []
    summaries = []
    for s, system in enumerate(SYSTEMS):
        quality = np.repeat(rng.beta(2 + s, 3, inputs), sizes)
        label = (rng.random(len(quality)) < quality).astype(float)
        judged = 0.3 + 0.4 * label + noise * rng.standard_normal(len(label))
        ends = np.cumsum(sizes)[:-1]
        presence += np.split(np.clip(judged, 0, 1), ends)
        texts = []
        for entry, labels in zip(units, np.split(label, ends), strict=True):
            words = ["A summary"]
            for text, there in zip(entry.texts, labels.tolist(), strict=True):
                truth[system, entry.input, text] = there
                # Of most of what is there the words are there too.
                if there and rng.random() < 0.8:
                    words.append(text)
            texts.append(" ".join(words))
        summaries.append(SystemSummaries(system, names, tuple(texts)))

    rows = iter(presence)
    data = lp.load(units, summaries=summaries)
    result = lp.score(data, judge=lambda summary, texts: next(rows))
    return result, summaries, units, truth


def labelled(drawn, units, truth, spread="facts", skip=lambda fact, rng: False, seed=0):
    rng = np.random.default_rng(seed)
    texts = {entry.input: entry.texts for entry in units}
    facts = []
    for (system, name), chances in drawn.items():
        for place, probability in chances.items():
            key = system, name, texts[name][place]
            label = None if skip(key, rng) else truth[key]
            facts.append(SampledFact(*key, probability, label))
    return SampledLabels(spread, tuple(facts))


def human_scores(units, truth):
    scores = {}
    for system in SYSTEMS:
        by_input = []
        for entry in units:
            weights = [unit.weight for unit in entry.units]
            labels = [truth[system, entry.input, text] for text in entry.texts]
            by_input.append(np.average(labels, weights=weights))
        scores[system] = float(np.mean(by_input))
    return scores


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
    row = estimate(drawn)[0]

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
    for values, name in ((terms[0], "alone_error"), (corrected, "error")):
        centre = np.average(values, weights=open_)
        variance = n / (n - 1) * (open_ * (values - centre) ** 2).sum() / n**2
        if name == "error" and row.weight == 0:
            continue
        assert getattr(row, name) == pytest.approx(variance)

    assert row.alone == pytest.approx(terms[0].mean())


def test_probabilities_add_up_and_are_kept():
    """Each system gets its share; a fact is drawn as often as its probability says."""
    result, summaries, units, _ = made()
    hits = Counter()
    chances = {}

    for seed in range(80):
        drawn = draw_facts(summaries, units, lp.Sampling(90, by=result, seed=seed))
        counts = Counter()
        for (system, name), some in drawn.items():
            counts[system] += len(some)
            for place, chance in some.items():
                hits[system, name, place] += 1
                chances[system, name, place] = chance
        assert counts == dict.fromkeys(SYSTEMS, 30)

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
    result, summaries, units, truth = made()
    keys = [(entry.input, text) for entry in units for text in entry.texts]
    presence = {}
    for system, row in zip(result.systems, result.presence, strict=True):
        for key, value in zip(keys, row, strict=True):
            presence[system, *key] = value

    def skip(key, rng):
        return rng.random() < 4 * skips * presence[key] * (1 - presence[key])

    goal = human_scores(units, truth)
    by = result if spread != "inputs" else None
    values = []
    covered = []
    pairs = []

    for seed in range(50):
        sampling = lp.Sampling(labels, spread=spread, by=by, seed=seed)
        drawn = draw_facts(summaries, units, sampling)
        sample = labelled(drawn, units, truth, spread, skip, seed)
        combined = lp.combine(result, labels=sample, assume_random=True)
        for entry in combined.systems:
            covered.append(entry.low <= goal[entry.system] <= entry.high)
        values.append([combined.scores[name] - goal[name] for name in SYSTEMS])
        for pair in combined.pairs:
            true = goal[pair.first] - goal[pair.second]
            pairs.append(pair.low <= true <= pair.high)

    errors = np.array(values)
    slack = 3.5 * errors.std(axis=0) / 50**0.5 + 0.004
    assert (np.abs(errors.mean(axis=0)) < slack).all()
    assert 0.9 < np.mean(covered) <= 0.99
    assert 0.9 < np.mean(pairs) <= 0.995


def test_all_facts_labelled_give_the_labels_own_scores():
    result, summaries, units, truth = made()
    most = len(SYSTEMS) * sum(len(entry.units) for entry in units)
    sample = labelled(draw_facts(summaries, units, lp.Sampling(most)), units, truth)
    combined = lp.combine(result, labels=sample)
    assert combined.target == "population"
    assert combined.scores == pytest.approx(human_scores(units, truth))

    # Nothing is open, so it does not matter how they were drawn.
    whole = lp.combine(result, labels=SampledLabels("inputs", sample.facts))
    for one, other in zip(combined.systems, whole.systems, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
    for one, other in zip(combined.pairs, whole.pairs, strict=True):
        assert (one.low, one.p) == pytest.approx((other.low, other.p))


@pytest.mark.parametrize("rule", ["sample-3", "modified-2"])
def test_whole_inputs_are_scored_by_any_rule_as_the_judge_was(rule):
    result, summaries, units, truth = made()
    keys = [(entry.input, text) for entry in units for text in entry.texts]
    presence = {}
    split = {}
    ends = np.cumsum([len(entry.units) for entry in units])[:-1]
    for system, row in zip(result.systems, result.presence, strict=True):
        presence |= {(system, *key): v for key, v in zip(keys, row, strict=True)}
        split[system] = np.split(row, ends)

    data = lp.load(units, summaries=summaries, presence=split)
    result = lp.score(data, rule=rule, samples=40)
    drawn = draw_facts(summaries, units, lp.Sampling(inputs=40))
    facts = labelled(drawn, units, truth, "inputs").facts

    # People who say what the judge says give the judge's scores.
    echo = labelled(drawn, units, presence, "inputs")
    assert lp.combine(result, labels=echo).scores == pytest.approx(result.scores)

    skipped = (replace(facts[0], label=None), *facts[1:])
    assert lp.combine(result, labels=SampledLabels("inputs", skipped)).systems
    assert lp.audit(result, labels=SampledLabels("inputs", skipped)).systems


def with_empty(share):
    """A system that says all facts of some of 40 inputs, and nothing of the others."""
    units = []
    texts = []
    for i in range(40):
        facts = tuple([Unit(f"Fact {i} {u} holds.") for u in range(3)])
        units.append(InputUnits(f"i{i:02}", facts))
        empty = i % 10 < 10 * share
        texts.append("" if empty else " ".join(units[-1].texts))
    names = tuple(entry.input for entry in units)
    return [SystemSummaries("a", names, tuple(texts))], units


def answered(folder, label=1.0):
    """The sample that was exported, all facts answered alike."""
    tasks = read_tasks(folder)
    rows = [np.full(len(task.units), label) for task in tasks.judging]
    return _sampled(tasks, rows)


@pytest.mark.parametrize("how", [{"inputs": 20}, {"labels": 60}])
def test_empty_summaries_of_drawn_inputs_count(how, tmp_path):
    summaries, units = with_empty(0.5)
    result = lp.score(summaries, units, judge="recall", samples=40)
    lp.export(summaries, tmp_path / "t", units=units, sample=lp.Sampling(**how))
    combined = lp.combine(result, labels=answered(tmp_path / "t"), assume_random=True)
    assert combined.scores == {"a": pytest.approx(0.5)}


def test_nobody_was_asked_about_empty_summaries(tmp_path):
    """Half of the asked facts are skipped: the others stand for twice as many."""
    summaries, units = with_empty(0.8)
    result = lp.score(summaries, units, judge="recall", samples=40)
    lp.export(summaries, tmp_path / "t", units=units, sample=lp.Sampling(24))
    facts = []
    for n, fact in enumerate(answered(tmp_path / "t").facts):
        facts.append(replace(fact, label=None if fact.label and n % 2 else fact.label))
    draws = system_draws(result, SampledLabels("facts", tuple(facts)))[0]
    assert draws.drawn.probability.tolist() == pytest.approx([0.5] * 12)


def test_labels_that_one_system_has_no_facts_for_go_to_the_others():
    _, summaries, units, _ = made()
    empty = replace(summaries[0], system="z", texts=("",) * 39 + ("It rained.",))
    drawn = draw_facts([*summaries, empty], units, lp.Sampling(200))
    counts = Counter()
    for (system, _), some in drawn.items():
        counts[system] += len(some)
    assert counts["z"] == len(units[-1].units)
    assert counts.total() == 200


def test_too_few_facts_are_refused_and_foreign_ones_too():
    result, summaries, units, truth = made()
    few = labelled(draw_facts(summaries, units, lp.Sampling(12)), units, truth)
    fact = SampledFact("a", "i00", "unheard of", 0.5, 1.0)
    for sample in (few, SampledLabels("facts", (fact,))):
        with refused():
            lp.combine(result, labels=sample)


@pytest.mark.parametrize("spread", ["facts", "summaries", "inputs"])
def test_from_export_to_combine(tmp_path, spread):
    """A person leaves out some facts and skips others; the rest comes with its chances."""
    result, summaries, units, truth = made()
    goal = tmp_path / "judging"
    drawing = lp.Sampling(300, spread=spread)
    lp.export(summaries, goal, units=units, sample=drawing, form="csv")
    tasks = {task.id: task for task in read_tasks(goal).judging}
    with (goal / "sheet.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))

    rng = np.random.default_rng(2)
    for row in rows:
        task = tasks[row["task_id"]]
        said = "yes" if truth[task.system, task.input, row["fact"]] else "no"
        row["present"] = rng.choice([said, "skip", ""], p=[0.9, 0.06, 0.04])

    path = tmp_path / "answers.csv"
    with path.open("w") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    answers = lp.import_answers(goal, [path], output=tmp_path / "judged")

    told = Counter(row["present"] for row in rows)
    assert len(answers.named["refused"]) == told["skip"]
    assert answers.sample.unanswered == told["skip"] + told[""]
    read = lp.combine(result, labels=tmp_path / "judged")
    assert read.systems == lp.combine(result, labels=answers).systems
    assert str(answers.sample.unanswered) in read.notes[0]
    for name, score in human_scores(units, truth).items():
        assert read.scores[name] == pytest.approx(score, abs=0.15)
