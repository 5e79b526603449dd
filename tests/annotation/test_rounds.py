"""Annotation in rounds: plan, import, plan more, import onto it; the same as all in one round."""

import json

import numpy as np
import pytest
import sample
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.annotation.collect import collect_units
from litepyramid.annotation.forms.responses import Response, ResponseFile
from litepyramid.annotation.plan import plan_budget, read_plan, write_plan
from litepyramid.annotation.tasks import read_tasks, writing_tasks
from litepyramid.easiness.scores import Easiness
from litepyramid.errors import InputError
from litepyramid.io.units import read_units
from litepyramid.tables import render
from litepyramid.units.align import Sentence


def answer(task):
    return Response(task.id, "Ann", "here", tuple(sample.SCUS[task.input, task.sentence]))


def collected(tasks, *responses, **kinds):
    return collect_units(tasks, ResponseFile(responses), **kinds)


def page(path, tasks, none=()):
    """Writes the answers of somebody who does all tasks and finds no fact in `none`."""
    rows = []
    for task in tasks.writing:
        place = (task.input, task.sentence)
        scus = [] if place in none else sample.SCUS[place]
        rows.append({"task": task.id, "finished": True, "scus": scus, "no_fact": place in none})
    data = {"format": "litepyramid-answers", "worker": "Ann", "answers": rows}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_two_rounds_from_the_command_line(folder, cli):
    """Plan, export, import; then more sentences, onto the first import's units."""
    stus, values = folder / "stus.jsonl", folder / "easiness.jsonl"
    plan = ["budget", "plan", folder / "references.jsonl", "--easiness", values]
    none = [("ferry", 0)]
    cli(*plan, "--sentences", 2, "-o", folder / "plan1.json")
    cli("budget", "export", folder / "plan1.json", "-o", folder / "round1")
    first = page(folder / "a1.json", read_tasks(folder / "round1"), none)
    cli("budget", "import", folder / "round1", first, "--stus", stus, "-o", folder / "units1.jsonl")

    after = ["--after", folder / "plan1.json"]
    text = cli(*plan, "--sentences", 2, *after, "-o", folder / "plan2.json").stdout
    assert "people, earlier plans" in text
    cli("budget", "export", folder / "plan2.json", "-o", folder / "round2")
    second = read_tasks(folder / "round2")
    assert [(t.input, t.sentence) for t in second.writing] == [("räd", 0), ("bridge", 1)]
    text = cli(
        *("budget", "import", folder / "round2", page(folder / "a2.json", second)),
        *("--onto", folder / "units1.jsonl", "-o", folder / "units2.jsonl"),
    ).stdout
    assert "people, earlier" in text
    cli("score", folder / "summaries", "--units", folder / "units2.jsonl")

    # The same as all four sentences in one round.
    cli(*plan, "--sentences", 4, "-o", folder / "plan.json")
    cli("budget", "export", folder / "plan.json", "-o", folder / "round")
    answers = page(folder / "a.json", read_tasks(folder / "round"), none)
    cli("budget", "import", folder / "round", answers, "--stus", stus, "-o", folder / "units.jsonl")
    found = (folder / "units2.jsonl").read_text(encoding="utf-8")
    assert found == (folder / "units.jsonl").read_text(encoding="utf-8")
    # A third round needs only the latest plan.
    left = cli(*plan, "--sentences", 3, "--after", folder / "plan2.json", status=2).stderr
    assert "a budget of 3 sentences. Expected from 0 to 2." in left


@given(
    st.lists(st.one_of(st.just(np.nan), st.floats(0, 1)), min_size=1, max_size=12),
    st.data(),
)
def test_plans_after_each_other_choose_what_one_plan_chooses(values, data):
    sentences = tuple(Sentence("a", 0, i, f"Sentence {i}.") for i in range(len(values)))
    easiness = Easiness(sentences, np.array(values))
    first = data.draw(st.integers(0, len(values)))
    second = data.draw(st.integers(0, len(values) - first))
    by = data.draw(st.sampled_from(["easiness", "reversed"]))
    one = plan_budget(easiness, first, by=by)
    two = plan_budget(easiness, second, by=by, after=[one])
    whole = plan_budget(easiness, first + second, by=by)
    assert not (two.annotate & two.earlier).any()
    assert (two.annotate | two.earlier).tolist() == whole.annotate.tolist()
    assert one.chosen() + two.chosen() == whole.chosen()
    for key in ("nobody", "plan", "everybody"):
        assert two.expected()[key] == pytest.approx(whole.expected()[key], nan_ok=True)
    assert two.expected()["earlier"] == pytest.approx(one.expected()["plan"], nan_ok=True)


def test_what_a_later_plan_expects_by_hand(tmp_path):
    sentences = tuple(Sentence("a", 0, i, f"Sentence {i}.") for i in range(4))
    easiness = Easiness(sentences, np.array([0.2, 0.4, 0.6, 0.8]))
    one = plan_budget(easiness, 1, per_sentence=2)
    two = plan_budget(easiness, 1, per_sentence=2, after=[one])
    assert two.expected() == pytest.approx(
        # at random: one of the three that are left, so a third of what is lost is won
        {
            "nobody": 0.5,
            "earlier": 0.7,
            "random": 0.7 + 0.3 / 3,
            "plan": 0.85,
            "everybody": 1.0,
        }
    )
    text = render(two, "table")
    assert "the 3 sentences left would cost 6.00" in text
    assert "earlier" not in render(one, "table")
    write_plan(tmp_path / "plan.json", two)
    assert read_plan(tmp_path / "plan.json").earlier.tolist() == [True, False, False, False]


def test_plans_of_other_references_are_refused(easiness):
    stray = Easiness((Sentence("ferry", 0, 1, "Other."),), np.array([0.1]))
    with pytest.raises(InputError, match=r"sentence 2 of reference 1 of input 'ferry'.*'Other\.'"):
        plan_budget(easiness, 1, after=[plan_budget(stray, 1)])
    assert plan_budget(easiness, 1, after=[plan_budget(stray, 0)]).count == 1


def test_what_is_not_done_keeps_what_it_had(easiness, stus):
    one = writing_tasks(plan_budget(easiness, 2))
    bridge, ferry = one.writing
    base = collected(one, answer(bridge), stus=stus)
    again = collected(one, answer(ferry), onto=base.units)
    whole = collected(one, answer(bridge), answer(ferry), stus=stus)
    assert again.units == whole.units
    assert (again.scus, again.earlier_scus, again.stus) == (3, 3, whole.stus)
    assert "carrying what they had: 1" in render(again, "table")
    # A sentence that is done again has its new SCUs alone.
    new = collected(one, Response(bridge.id, "Ann", "here", ("New.",)), onto=base.units)
    texts = [u.text for u in new.units[0].units if (u.kind, u.sentence) == ("scu", 0)]
    assert texts == ["New."]


def test_inputs_that_the_tasks_do_not_know_stay(easiness, stus):
    one = writing_tasks(plan_budget(easiness, 1))
    base = collected(one, answer(one.writing[0]), stus=stus).units
    kept = tuple(s for s in easiness.sentences if s.input == "ferry")
    two = writing_tasks(plan_budget(Easiness(kept, np.array([0.1, 0.9])), 1))
    result = collected(two, answer(two.writing[0]), onto=base)
    assert {e.input: e for e in result.units}["bridge"] == base[0]
    assert {e.input for e in result.units} == {e.input for e in base}


def test_the_wrong_file_is_noticed(folder, easiness, stus, cli):
    one = writing_tasks(plan_budget(easiness, 1))
    base = collected(one, answer(one.writing[0]), stus=stus).units
    with pytest.raises(InputError, match="--stus or --onto"):
        collected(one, answer(one.writing[0]), stus=stus, onto=base)
    mixed, bare = folder / "mixed.jsonl", folder / "bare.jsonl"
    from litepyramid.io.units import write_units

    write_units(mixed, base)
    with pytest.raises(InputError, match=r"kind 'scu'.*--onto"):
        read_units(mixed, kind="stu", only=True)
    assert tuple(read_units(mixed, kind=None)) == base
    # Units of which nobody says what they are could be of either kind.
    bare.write_text('{"input": "bridge", "units": ["It rained."]}\n')
    with pytest.raises(InputError, match="unit 1 has no kind"):
        read_units(bare, kind=None)
    lines = folder / "lines.txt"
    lines.write_text("It rained.\n")
    with pytest.raises(InputError, match="unit 1 has no kind"):
        read_units(lines, kind=None)
    bare.write_text('{"input": "bridge", "units": [{"text": "It rained.", "kind": "scu"}]}\n')
    with pytest.raises(InputError, match="does not say its sentence"):
        collected(one, answer(one.writing[0]), onto=read_units(bare, kind=None))
