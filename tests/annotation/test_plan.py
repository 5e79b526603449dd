"""What people should annotate: the budget, the order, what is expected of it; label
power."""

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from cases import refused, same
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import litepyramid as lp
from litepyramid.annotation.budget_plan import read_plan, writing_hours
from litepyramid.annotation.label_power import FACTS, SPREAD, TOGETHER
from litepyramid.annotation.plan import plan_budget
from litepyramid.data.records import InputUnits, Unit, Units
from litepyramid.data.scores import Scores
from litepyramid.easiness.gold import Easiness
from litepyramid.easiness.mix import mix_units
from litepyramid.language import words
from litepyramid.scoring.estimates import prediction_powered
from litepyramid.units.align import Sentence

DATA = Path(__file__).resolve().parents[1] / "data"


def easiness(values):
    sentences = tuple(
        Sentence(f"i{n // 3}", 0, n % 3, f"Sentence {n}.") for n in range(len(values))
    )
    return Easiness(sentences, np.array(values, dtype=float))


shares = st.floats(0, 1)
known = st.lists(shares, min_size=1, max_size=20)
values = st.lists(shares | st.just(math.nan), min_size=1, max_size=20)


@given(values, st.data())
def test_a_plan_takes_the_hardest_and_splits_as_the_mix_of_units_does(drawn, data):
    """A plan of N sentences is the mix in which the other n - N carry STUs."""
    e = easiness(drawn)
    count = data.draw(st.integers(0, len(drawn)))
    by = data.draw(st.sampled_from(["easiness", "reversed", "random"]))
    plan = plan_budget(e, count, by=by, seed=5)
    annotate = plan.values("annotate")
    assert plan.count == count
    assert [s.rank for s in plan.chosen()] == list(range(1, count + 1))
    filled = np.where(np.isnan(e.values), -1.0, e.values)
    if by == "easiness" and 0 < count < len(drawn):
        assert filled[annotate].max() <= filled[~annotate].min()

    def units(kind):
        rows = {}
        for s in e.sentences:
            unit = Unit(s.text, 1.0, kind, s.reference, s.sentence)
            rows.setdefault(s.input, []).append(unit)
        return Units.of([InputUnits(name, tuple(own)) for name, own in rows.items()])

    sides = units("scu"), units("stu"), e.sentences
    mixed = mix_units(*sides, len(drawn) - count, by=by, easiness=e, seed=5)
    assert annotate.tolist() == (~mixed.carries_stus).tolist()


@given(known, st.data())
def test_expectations_are_ordered(drawn, data):
    count = data.draw(st.integers(0, len(drawn)))
    plan = plan_budget(easiness(drawn), count)
    expected = plan.expected()
    worst = plan_budget(easiness(drawn), count, by="reversed").expected()
    rising = [
        worst["plan"],
        expected["random"],
        expected["plan"],
        expected["everybody"],
    ]
    assert expected["nobody"] <= expected["random"] + 1e-9
    for less, more in pairwise(rising):
        assert less <= more + 1e-9


def test_expectation_by_hand():
    plan = plan_budget(easiness([0.9, 0.3, 0.6]), 1)
    assert [s.text for s in plan.chosen()] == ["Sentence 1."]
    assert plan.expected() == pytest.approx(
        {
            "nobody": 0.6,
            "earlier": 0.6,
            "random": 1 / 3 + 0.4,
            "plan": 2.5 / 3,
            "everybody": 1.0,
        }
    )


IMPOSSIBLE = """\
{}
{"human_share": 0.5, "sentences": 1}
{"human_share": 1.1}
{"human_share": "x"}
{"human_share": NaN}
{"sentences": 101}
{"sentences": -1}
{"sentences": "5"}
{"sentences": 2.5}
{"sentences": true}
{"human_share": "130%"}
{"human_share": "%"}
{"hours": 0}
{"hours": "6@5"}
{"hours": "two"}
{"hours": 6, "sentences": 1}
"""


@pytest.mark.parametrize("budget", IMPOSSIBLE.splitlines())
def test_impossible_budgets(budget):
    with refused():
        lp.plan(["Es regnete. Wir gingen."], language="de", **json.loads(budget))


def test_a_share_may_be_written_as_a_percentage(folder):
    def count(share):
        references = folder / "references.jsonl"
        easiness = folder / "easiness.jsonl"
        return lp.plan(references, human_share=share, easiness=easiness).count

    assert count("30%") == count("0.3") == count(0.3)
    assert count("12.5 %") == count(0.125)


@pytest.mark.parametrize("pace", ["", "@30+60", "@5+10"])
def test_hours_are_enough_for_the_sentences_and_for_no_more(folder, pace):
    options = {"easiness": folder / "easiness.jsonl", "by": "reversed"}
    references = folder / "references.jsonl"
    for hours in (0.02, 0.05, 0.1, 100):
        plan = lp.plan(references, hours=f"{hours}{pace}", **options)
        assert writing_hours(plan.chosen(), plan.seconds) <= hours
        if plan.count < len(plan.sentences):
            more = lp.plan(references, sentences=plan.count + 1, **options)
            assert more.chosen()[:-1] == plan.chosen()
            assert writing_hours(more.chosen(), plan.seconds) > hours
    assert plan.count == len(plan.sentences)


def test_plan_file_round_trip(tmp_path):
    plan = plan_budget(easiness([0.9, math.nan, 0.3, 0.6]), 2)
    path = tmp_path / "plan.json"
    plan.save(path)
    assert "1 sentence has no easiness" in " ".join(plan.notes)
    assert [*read_plan(path).json_parts()] == [*plan.json_parts()]
    data = json.loads(path.read_text())
    data["sentences"][0]["annotate"] = True
    path.write_text(json.dumps(data))
    assert read_plan(path).count == 3


def test_easiness_is_predicted_or_given(folder):
    """By the embedded regressor, on given STUs, as values, by a regressor in a file."""
    references = folder / "references.jsonl"
    stus = folder / "stus.jsonl"

    def plan(**sources):
        return lp.plan(references, sentences=2, **sources)

    predicted = lp.easiness.predict(references, stus=stus)
    first = plan(stus=stus)
    assert first.values("easiness").tolist() == predicted.values.tolist()
    lp.EasinessRegressor.embedded().save(folder / "regressor.json")
    loaded = plan(easiness=folder / "regressor.json", stus=stus)
    assert loaded.chosen() == first.chosen()
    assert plan(easiness=predicted).chosen() == first.chosen()


@given(known, st.data())
def test_the_signature_changes_with_the_numbers(drawn, data):
    before = plan_budget(easiness(drawn), 1).signature
    place = data.draw(st.integers(0, len(drawn) - 1))
    other = drawn.copy()
    other[place] = data.draw(shares)
    changed = plan_budget(easiness(other), 1).signature
    assert (changed == before) == (other == drawn)
    assert plan_budget(easiness(drawn), 0).signature != before


@given(values, st.data())
def test_plans_after_each_other_choose_what_one_plan_chooses(drawn, data):
    e = easiness(drawn)
    first = data.draw(st.integers(0, len(drawn)))
    second = data.draw(st.integers(0, len(drawn) - first))
    by = data.draw(st.sampled_from(["easiness", "reversed"]))
    one = plan_budget(e, first, by=by)
    two = plan_budget(e, second, by=by, after=[one])
    whole = plan_budget(e, first + second, by=by)
    annotate = two.values("annotate")
    earlier = two.values("earlier")
    assert not (annotate & earlier).any()
    assert (annotate | earlier).tolist() == whole.values("annotate").tolist()
    both = [s.key for s in (*one.chosen(), *two.chosen())]
    assert both == [s.key for s in whole.chosen()]
    same(two.expected()["plan"], whole.expected()["plan"])
    same(two.expected()["earlier"], one.expected()["plan"])


def test_plans_of_other_references_are_refused(easiness):
    stray = Easiness((Sentence("ferry", 0, 1, "Other."),), np.array([0.1]))
    earlier = plan_budget(stray, 1)
    with refused(r"sentence 2 .* 'ferry'.*'Other\.'"):
        plan_budget(easiness, 1, after=[earlier])


@pytest.fixture(scope="module", autouse=True)
def _fewer_inputs_are_tried():
    """Power is computed for 2,000 numbers of inputs, not for 100,000."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("litepyramid.annotation.label_power.MOST", 2_000)
        yield


def power_of(values, difference):
    """What it takes by a pilot of three systems on twenty inputs."""
    judge, human = values
    inputs = [f"i{n:02}" for n in range(20)]
    pilot = Scores.of({"judge": judge, "human": human}, "abc", inputs)
    return lp.label_power(pilot, difference=difference)


def test_a_difference_is_one_on_the_scale_of_the_pilot():
    values = np.random.default_rng(3).integers(1, 6, (2, 3, 20)).astype(float)
    result = power_of(values, 0.5)
    assert power_of(3 * values, 1.5).alone == result.alone
    values[0, 0, 0] += 0.5
    assert power_of(values, 0.5).signature != result.signature
    for wrong in (0, 1.5, math.nan):
        with refused("a difference of"):
            lp.label_power(difference=wrong)


def test_power_is_that_of_simulated_tests():
    """Of the t-test of the labels alone, by scipy; with the judge, of drawn labels and
    scores that `prediction_powered` estimates."""
    result = lp.label_power(difference=0.1)
    for row in result.rows:
        shift = 0.1 / SPREAD * np.sqrt(row.labels)
        reach = stats.t.ppf(0.975, row.labels - 1)
        # Two-sided: both tails of scipy's.
        power = stats.nct.sf(reach, row.labels - 1, shift)
        power += stats.nct.sf(reach, row.labels - 1, -shift)
        assert row.alone == pytest.approx(power, abs=1e-6)

    rng = np.random.default_rng(1)
    covariance = SPREAD**2 * np.array([[1, TOGETHER], [TOGETHER, 1]])
    for row in result.rows[3:9:2]:
        n = row.labels
        both = rng.multivariate_normal([0.1, 0.1], covariance, size=(600, 10 * n))
        both[:, n:, 0] = np.nan
        found = prediction_powered(*both.transpose(2, 0, 1), target="population")
        share = (found.interval(0.95)[0] > 0).mean()
        assert row.combined == pytest.approx(share, abs=0.07)

    first = result.rows[0]
    needed = lp.label_power(difference=0.1, power=first.alone).alone
    assert needed == first.labels


def test_beyond_the_inputs_that_are_tried_labels_still_add_up():
    result = lp.label_power(difference=0.001)
    labels = {way.way: way.labels for way in result.ways}
    reach = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    inputs = (reach * SPREAD / 0.001) ** 2
    alone = labels["inputs, labels alone"]
    assert result.alone is None
    assert alone == pytest.approx(2 * inputs * FACTS, rel=1e-4)
    assert min(labels, key=labels.get) == "facts, with the judge"
    assert labels["inputs, with the judge"] < alone


def test_a_test_finds_no_less_than_its_level_and_a_pilot_must_vary():
    """However small the difference, and few the labels."""
    power = [row.alone for row in lp.label_power(difference=0.001).rows]
    assert min(power) >= 0.05
    assert [lp.label_power().alone, lp.label_power().combined] == [208, 167]

    values = np.stack([np.full(20, 0.4), np.full(20, 0.5)])
    inputs = [f"i{n}" for n in range(20)]
    table = Scores.of({"judge": values, "human": values}, "ab", inputs)
    with refused("differ more on one input than on another"):
        lp.label_power(table)


@pytest.mark.parametrize(("code", "name"), [("de", "German"), ("zh", "Chinese")])
def test_texts_that_the_regressor_cannot_read_are_planned_by_length(code, name):
    texts = json.loads((DATA / "languages.json").read_text("utf-8"))[code]
    references = {
        "b": " ".join(texts[:3]),
        "a": " ".join(texts[3:6]),
    }
    plan = lp.plan(references, human_share=0.5)
    chosen = []
    rest = []
    for sentence in plan.sentences:
        lengths = chosen if sentence.annotate else rest
        lengths.append(len(words(sentence.text)))
    assert min(chosen) >= max(rest)
    assert any(name in note and "longest" in note for note in plan.notes)
    assert len(plan.to_tables()) == 1  # there is no quality to expect

    turned = dict(reversed(references.items()))
    assert lp.plan(turned, human_share=0.5).signature == plan.signature
    assert lp.plan(references, sentences=2, by="random").count == 2
    with refused(name):
        lp.plan(references, sentences=2, by="reversed")
