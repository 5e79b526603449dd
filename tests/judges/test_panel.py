"""Several judges as one, and one language model asked several times."""

import json
import random

import numpy as np
import pytest
from cases import quick_score, refused, same
from llm_server import asked

import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.judges.base import EstimateOnly
from litepyramid.judges.panel import PanelJudge, independent_judges
from litepyramid.judges.registry import parse_settings


@pytest.mark.parametrize(("join", "middle"), [("mean", np.mean), ("median", np.median)])
def test_presence_is_the_middle_of_all_and_opinions_stay(tmp_path, join, middle):
    data = load_example()
    result = quick_score(data, judge=lp.judge("recall+lexical", join=join))
    recall = quick_score(data).presence
    each = np.array([recall, quick_score(data, judge="lexical").presence])
    assert np.array_equal(result.opinions, each)
    same(result.presence, middle(each, axis=0))
    same(result.to_frame("units")["disagreement"], np.ptp(each, axis=0).ravel())

    result.save(tmp_path / "r.json")
    again = lp.report(tmp_path / "r.json")
    assert np.array_equal(again.opinions, result.opinions)
    assert again.signature == result.signature
    assert "independent ones, by the correlation" in str(lp.audit(again).effects)


def test_how_many_judges_they_are_worth():
    rng = np.random.default_rng(0)
    alone = rng.standard_normal((4, 20_000))
    assert independent_judges(alone) == pytest.approx(4, abs=0.1)
    shared = alone + np.sqrt(3) * rng.standard_normal(20_000)  # correlation 3/4
    assert independent_judges(shared) == pytest.approx(4 / 3.25, abs=0.05)


def test_settings_go_to_the_judges_that_take_them():
    name = "recall+llm:some-model"
    settings = parse_settings(["endpoint=http://localhost:1/v1", "join=median"], name)
    panel = lp.judge(name, **settings, cache=None)
    assert isinstance(panel, PanelJudge)
    assert (panel.names, panel.join) == (("recall", "llm:some-model"), "median")
    with refused():
        lp.judge("recall+lexical", endpoint="http://localhost:1/v1")
    with refused():
        lp.judge("recall+lexical", join="sum")
    with refused("one judge twice"):
        lp.judge("recall + recall")


UNITS = [[f"Fact {m} {u}." for u in range(4)] for m in range(8)]
TEXTS = {s: [f"{s} says something of {m}." for m in range(8)] for s in "abc"}


def said(seed, summary, unit):
    """What the endpoint answers: sure of half of the facts, otherwise by its seed."""
    sure = random.Random(f"{summary} {unit}").random()
    if sure < 0.5:
        return float(sure < 0.3)
    return float(random.Random(f"{seed} {summary} {unit}").random() < 0.6)


def varying(number, body):
    summary, units = asked(body)
    answers = [said(body["seed"], summary, unit) for unit in units]
    assert body["temperature"] == 0.7
    names = {1.0: "yes", 0.0: "no"}
    return json.dumps({str(n): names[one] for n, one in enumerate(answers, 1)})


def test_a_model_asked_again_whose_answers_vary(fake):
    """Against what the endpoint said: mean, spread, flips, and an interval that
    includes how scores vary."""
    fake.act = varying
    judge = lp.judge(
        "llm:m",
        endpoint=fake.url,
        cache=None,
        repeats=5,
        parameters={"temperature": 0.7},
    )
    result = lp.score(TEXTS, UNITS, judge=judge, samples=400)

    seeds = sorted({body["seed"] for body in fake.bodies})
    assert len(seeds) == 5
    expected = np.empty((5, 3, 8, 4))
    for k, n, m, u in np.ndindex(expected.shape):
        text = TEXTS[result.systems[n]][m]
        expected[k, n, m, u] = said(seeds[k], text, UNITS[m][u])

    same(result.opinions.reshape(expected.shape), expected)
    same(result.presence.reshape(3, 8, 4), expected.mean(axis=0))
    scores = expected.mean(axis=(2, 3))
    same([*result.scores.values()], scores.mean(axis=0))

    flips = 100 * (np.ptp(expected, axis=0) > 0).mean()
    spread = scores.std(axis=0, ddof=1).mean()
    assert 10 < flips < 60
    (note,) = [note for note in result.notes if "asked 5 times" in note]
    assert f"{flips:.1f} % of facts flip" in note
    assert f"varies by {spread:.3f}" in note

    # The same presences as those of one judge: only what lies between answers is more.
    rows = iter(result.presence.reshape(-1, 4))
    plain = lp.score(TEXTS, UNITS, judge=lambda text, units: next(rows), samples=400)
    middle = scores.mean(axis=0)[:, None]
    # Student's t with 4 degrees of freedom.
    reach = 2.776 * scores.std(axis=0, ddof=1)[:, None] / np.sqrt(5)
    inner = np.abs(middle - plain.intervals)
    same(np.abs(middle - result.intervals), np.hypot(inner, reach), 1e-4)


def test_what_varies_much_is_read_again_and_stays_a_share(fake, tmp_path):
    """Wider than the scores of the inputs, which are all the same here."""
    fake.act = lambda number, body: json.dumps(
        {"1": "no" if body["seed"] % 2 else "yes"}
    )
    judge = lp.judge("llm:m", repeats=2, endpoint=fake.url, cache=None)
    result = quick_score({"a": ["x", "y"]}, [["Rain."], ["Sun."]], judge=judge)
    assert result.intervals == ((0.0, 1.0),)

    result.save(tmp_path / "r.json")
    assert lp.report(tmp_path / "r.json").intervals == result.intervals


def test_the_estimate_is_of_all_that_are_asked(fake):
    def estimate(name, **options):
        options |= {"endpoint": fake.url, "cache": None, "estimate": True}
        with pytest.raises(EstimateOnly) as unsent:
            lp.judge(name, **options).judge([("It rained.", ["Rain.", "Sun."])])
        return unsent.value.result

    one = estimate("llm:m")
    assert estimate("llm:m", repeats=3) == one + one + one
    both = estimate("recall+llm:m+llm:n")
    assert (both.model, both.pairs, both.requests) == ("m+n", 4, 2)
    assert both.tokens_in == 2 * one.tokens_in
