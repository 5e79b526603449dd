"""What people should annotate: the budget, the order, what is expected of it."""

import json
import math

import numpy as np
import pytest
import sample
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.annotation.budget import sentence_budget
from litepyramid.annotation.plan import (
    BudgetPlan,
    plan_budget,
    read_plan,
    write_plan,
)
from litepyramid.easiness.files import sentence_easiness
from litepyramid.easiness.mix import mix, stu_count
from litepyramid.easiness.scores import Easiness
from litepyramid.errors import InputError
from litepyramid.io.units import read_units
from litepyramid.tables import render
from litepyramid.units.align import Sentence


def easiness(values):
    sentences = tuple(
        Sentence(f"i{n // 3}", 0, n % 3, f"Sentence {n}.") for n in range(len(values))
    )
    return Easiness(sentences, np.array(values, dtype=float))


values = st.lists(st.one_of(st.floats(0, 1), st.just(math.nan)), min_size=1, max_size=20)


@given(values, st.data())
def test_budget_is_exact_and_takes_the_hardest(given_values, data):
    e = easiness(given_values)
    count = data.draw(st.integers(0, len(given_values)))
    plan = plan_budget(e, count)
    assert plan.count == count == len(plan.chosen())
    filled = np.where(np.isnan(e.values), -1.0, e.values)
    if 0 < count < len(given_values):
        assert filled[plan.annotate].max() <= filled[~plan.annotate].min()
    assert sorted(plan.rank.tolist()) == list(range(1, len(given_values) + 1))
    assert set(plan.rank[plan.annotate]) == set(range(1, count + 1))


@given(values, st.data())
def test_plan_splits_as_the_mix_of_units_does(given_values, data):
    """A plan of N sentences is the mix in which the other n - N carry STUs."""
    from litepyramid.types import InputUnits, Unit

    e = easiness(given_values)
    count = data.draw(st.integers(0, len(given_values)))
    by = data.draw(st.sampled_from(["easiness", "reversed", "random"]))
    names = dict.fromkeys(s.input for s in e.sentences)

    def units(kind):
        return [
            InputUnits(
                name,
                tuple(
                    Unit(s.text, 1.0, kind, s.reference, s.sentence)
                    for s in e.sentences
                    if s.input == name
                ),
            )
            for name in names
        ]

    total = len(given_values)
    mixed = mix(units("scu"), units("stu"), e.sentences, total - count, by=by, easiness=e, seed=5)
    plan = plan_budget(e, count, by=by, seed=5)
    assert plan.annotate.tolist() == (~mixed.carries_stus).tolist()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.data())
def test_expectations_are_ordered(given_values, data):
    count = data.draw(st.integers(0, len(given_values)))
    expected = plan_budget(easiness(given_values), count).expected()
    low, random, plan, high = (expected[k] for k in ("nobody", "random", "plan", "everybody"))
    assert low - 1e-9 <= random <= plan + 1e-9
    assert plan <= high + 1e-9
    worst = plan_budget(easiness(given_values), count, by="reversed").expected()["plan"]
    assert worst <= random + 1e-9


def test_expectation_by_hand():
    plan = plan_budget(easiness([0.9, 0.3, 0.6]), 1, per_sentence=0.5)
    assert [s.text for s in plan.chosen()] == ["Sentence 1."]
    assert plan.expected() == pytest.approx(
        {"nobody": 0.6, "earlier": 0.6, "random": 1 / 3 + 0.4, "plan": 2.5 / 3, "everybody": 1.0}
    )
    text = render(plan, "table")
    assert "Cost: 1 sentence x 0.50 = 0.50" in text
    assert max(map(len, text.splitlines())) <= 80


def test_unknown_easiness_counts_as_hardest_and_is_said():
    plan = plan_budget(easiness([0.2, math.nan]), 1)
    assert plan.annotate.tolist() == [False, True]
    assert "1 sentence has no easiness" in " ".join(plan.notes)
    unknown = plan_budget(easiness([math.nan, math.nan]), 1, by="random", seed=1)
    assert all(math.isnan(v) for v in unknown.expected().values())
    assert unknown.notes == ()  # nothing counts as the hardest where order is drawn
    assert json.loads(render(unknown, "json"))["expected"]["plan"] is None


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        ({"sentences": 7}, 7),
        ({"sentences": 0}, 0),
        ({"human_share": 0.29}, 29),
        ({"human_share": 1.0}, 100),
        ({"cost": 10, "per_sentence": 0.1}, 100),
        ({"cost": 0.3, "per_sentence": 0.1}, 3),
        ({"cost": 1e9, "per_sentence": 0.1}, 100),
        ({"cost": 0, "per_sentence": 0.1}, 0),
    ],
)
def test_ways_of_saying_the_budget(kinds, count):
    assert sentence_budget(100, **kinds) == count


@pytest.mark.parametrize(
    ("kinds", "what"),
    [
        ({}, "in 0 ways"),
        ({"sentences": 1, "human_share": 0.5}, "in 2 ways"),
        ({"sentences": 101}, "from 0 to 100"),
        ({"sentences": -1}, "from 0 to 100"),
        ({"human_share": 1.1}, "from 0 to 1"),
        ({"cost": 5}, "without a price"),
        ({"cost": 5, "per_sentence": 0}, "above 0"),
        ({"cost": 5, "per_sentence": math.nan}, "above 0"),
        ({"cost": -5, "per_sentence": 1}, "0 or more"),
        ({"sentences": 5, "per_sentence": -1}, "above 0"),
        ({"human_share": 0.5, "per_sentence": math.inf}, "above 0"),
        ({"cost": math.inf, "per_sentence": 1}, "0 or more"),
    ],
)
def test_impossible_budgets(kinds, what):
    with pytest.raises(InputError, match=what):
        sentence_budget(100, **kinds)


def test_what_is_left_of_the_money_is_said():
    values = easiness([0.2, 0.4, 0.6])
    for cost, left in ((2.5, "0.50"), (10, "7.00"), (0.5, "0.50")):
        count = sentence_budget(3, cost=cost, per_sentence=1)
        plan = plan_budget(values, count, per_sentence=1, cost=cost)
        assert f"Of the budget of {cost:.2f}, {left} is left." in plan.notes
    even = plan_budget(values, 3, per_sentence=0.1, cost=0.3)
    assert even.notes == ()
    with pytest.raises(InputError, match="above 0"):
        plan_budget(values, 1, per_sentence=0)


def test_several_references_are_told_apart():
    s = (Sentence("a", 0, 0, "One."), Sentence("a", 1, 0, "Two."))
    plan = plan_budget(Easiness(s, np.array([0.9, 0.1])), 2)
    assert "ref." in render(plan, "table")
    assert "ref." not in render(plan_budget(easiness([0.5]), 1), "table")


def test_random_plan_says_what_to_expect(tmp_path, cli):
    folder = sample.write(tmp_path)
    arguments = ["budget", "plan", folder / "references.jsonl", "--sentences", 2, "-f", "json"]
    found = json.loads(cli(*arguments, "--by", "random").stdout)
    best = json.loads(cli(*arguments).stdout)
    assert found["expected"]["nobody"] == best["expected"]["nobody"]
    assert found["expected"]["plan"] <= best["expected"]["plan"]


@pytest.mark.parametrize("value", ["true", 1, None])
def test_hand_made_changes_that_are_no_yes_or_no_are_refused(tmp_path, value):
    path = tmp_path / "plan.json"
    write_plan(path, plan_budget(easiness([0.9, 0.3]), 1))
    data = json.loads(path.read_text())
    data["sentences"][0]["annotate"] = True
    path.write_text(json.dumps(data))
    assert read_plan(path).count == 2
    data["sentences"][0]["annotate"] = value
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=r'"annotate" is .* for sentence 1 of reference 1'):
        read_plan(path)


def test_peoples_share_and_the_stus_share_are_one_split():
    for total in range(1, 60):
        for human, stu in ((0.1, 0.9), (0.29, 0.71), (0.5, 0.5), (0.7, 0.3), (1, 0)):
            people = sentence_budget(total, human_share=human)
            assert people + stu_count(stu, total) == total


def test_bad_plans_are_refused():
    with pytest.raises(InputError, match="seed"):
        plan_budget(easiness([0.5]), 1, by="random")
    with pytest.raises(InputError, match="no sentences"):
        plan_budget(Easiness((), np.zeros(0)), 0)
    with pytest.raises(InputError, match="from 0 to 1"):
        plan_budget(easiness([0.5]), 2)


def test_plan_file_round_trip(tmp_path):
    plan = plan_budget(easiness([0.9, math.nan, 0.3, 0.6]), 2, per_sentence=1.5)
    path = tmp_path / "plan.json"
    write_plan(path, plan)
    again = read_plan(path)
    assert isinstance(again, BudgetPlan)
    assert render(again, "json") == render(plan, "json")
    for text in ("[]", "{", '{"format": "litepyramid-plan"}', '{"format": "x"}'):
        path.write_text(text)
        with pytest.raises(InputError, match="budget plan"):
            read_plan(path)


def test_gold_order_needs_both_kinds_of_units(tmp_path):
    folder = sample.write(tmp_path)
    references = folder / "references.jsonl"
    gold = sentence_easiness(
        references, by="gold", scus=folder / "scus.jsonl", stus=folder / "stus.jsonl"
    )
    plan = plan_budget(gold, 2, by="gold")
    assert plan.count == 2
    assert not np.isnan(gold.values).any()
    with pytest.raises(InputError, match="needs both"):
        sentence_easiness(references, by="gold", scus=folder / "scus.jsonl")
    assert len(read_units(folder / "stus.jsonl")) == 3


def test_missing_values_are_an_error(tmp_path):
    folder = sample.write(tmp_path)
    lines = (folder / "easiness.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "easiness.jsonl").write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="no easiness for sentence 1"):
        sentence_easiness(folder / "references.jsonl", easiness=folder / "easiness.jsonl")


def test_prediction_by_a_regressor_on_given_stus(tmp_path):
    """Predicted easiness is that of `predict_easiness` on the same references and STUs."""
    from litepyramid.easiness.predict import predict_easiness
    from litepyramid.io.references import read_references

    folder = sample.write(tmp_path)
    references, stus = folder / "references.jsonl", folder / "stus.jsonl"
    found = sentence_easiness(references, stus=stus)
    expected = predict_easiness(read_references(references), stus=read_units(stus, kind="stu"))
    assert found.values.tolist() == expected.values.tolist()
    plan = plan_budget(found, 2)
    assert plan.chosen()[0].text == found.sentences[int(np.argmin(found.values))].text
    assert dict(plan.signature.fields)["easiness"] == "embedded"


def test_default_plan_from_the_command_line(tmp_path, cli):
    """No values given: the embedded regressor predicts them, on marked and unmarked references."""
    folder = sample.write(tmp_path)
    text = cli("budget", "plan", folder / "references.jsonl", "--human-share", "0.5").stdout
    assert "this plan (3 sentences)" in text
    plain = folder / "plain.txt"
    plain.write_text("It rained on Monday. The old bridge, shut since May, fell.\nMr. Bray left.\n")
    found = json.loads(cli("budget", "plan", plain, "--sentences", 1, "-f", "json").stdout)
    assert len(found["sentences"]) == 3
    assert found["expected"]["nobody"] < found["expected"]["plan"] < 1
