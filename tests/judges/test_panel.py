"""Several judges as one, and one language model asked several times."""

import json
import random
from dataclasses import astuple

import numpy as np
import pytest
from cases import refused, write_lines
from llm_server import asked

import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.judges.base import EstimateOnly
from litepyramid.judges.panel import PanelJudge, independent_judges
from litepyramid.judges.registry import parse_settings


@pytest.mark.parametrize(("join", "middle"), [("mean", np.mean), ("median", np.median)])
def test_presence_is_the_middle_of_all_and_opinions_stay(tmp_path, join, middle):
    data = load_example()
    result = lp.score(data, judge=lp.judge("recall+lexical", join=join), samples=100)
    each = [
        lp.score(data, judge=name, samples=100).presence
        for name in ("recall", "lexical")
    ]
    assert np.array_equal(result.opinions, np.array(each))
    assert np.allclose(result.presence, middle(each, axis=0))
    frame = result.to_frame("units")
    assert np.allclose(frame["disagreement"], np.ptp(each, axis=0).ravel())

    result.save(tmp_path / "r.json")
    again = lp.report(tmp_path / "r.json")
    assert np.array_equal(again.opinions, result.opinions)
    assert again.signature == result.signature
    assert any(
        "independent ones, by the correlation" in line
        for line in lp.audit(again).effects
    )


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


def test_repeats_are_one_model_with_seeds_of_their_own():
    panel = lp.judge(
        "llm:some-model",
        repeats=3,
        cache=None,
        endpoint="http://localhost:1/v1",
    )
    assert panel.repeats
    assert panel.names == (
        "llm:some-model #1",
        "llm:some-model #2",
        "llm:some-model #3",
    )


UNITS = [[f"Fact {m} {u}." for u in range(4)] for m in range(8)]
TEXTS = {s: [f"{s} says something of {m}." for m in range(8)] for s in ("a", "b", "c")}


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


def test_a_model_asked_again_whose_answers_vary(fake, cli, tmp_path):
    """From the command line, against what the endpoint said: mean, spread, flips, and
    an interval that includes how scores vary."""
    fake.act = varying
    inputs = [str(m) for m in range(8)]
    (tmp_path / "texts").mkdir()
    for system, texts in TEXTS.items():
        rows = [{"input": m, "summary": t} for m, t in zip(inputs, texts, strict=True)]
        write_lines(tmp_path / "texts" / f"{system}.jsonl", rows)
    rows = [{"input": m, "units": u} for m, u in zip(inputs, UNITS, strict=True)]
    write_lines(tmp_path / "units.jsonl", rows)

    cli(
        "score texts --units units.jsonl --judge llm:m -o scores.json --samples 400"
        f" -J repeats=5 -J cache=none -J endpoint={fake.url}",
        "-J",
        'parameters={"temperature": 0.7}',
        cwd=tmp_path,
    )
    result = lp.report(tmp_path / "scores.json")

    seeds = sorted({body["seed"] for body in fake.bodies})
    assert len(seeds) == 5
    expected = np.empty((5, 3, 8, 4))
    for k, seed in enumerate(seeds):
        for n, system in enumerate(result.systems):
            for m, text in enumerate(TEXTS[system]):
                expected[k, n, m] = [said(seed, text, unit) for unit in UNITS[m]]

    assert np.array_equal(result.opinions.reshape(expected.shape), expected)
    assert np.allclose(result.presence.reshape(3, 8, 4), expected.mean(axis=0))
    scores = expected.mean(axis=(2, 3))
    assert [*result.scores.values()] == pytest.approx(scores.mean(axis=0))

    flips = 100 * (np.ptp(expected, axis=0) > 0).mean()
    spread = scores.std(axis=0, ddof=1).mean()
    assert 10 < flips < 60
    (note,) = [note for note in result.notes if "asked 5 times" in note]
    assert f"{flips:.1f} % of facts flip" in note
    assert f"varies by {spread:.3f}" in note

    # The same presences as those of one judge: only what lies between answers is more.
    rows = iter(result.presence.reshape(-1, 4))
    plain = lp.score(TEXTS, UNITS, judge=lambda text, units: next(rows), samples=400)
    error = scores.std(axis=0, ddof=1) / np.sqrt(5)
    for n, (low, high) in enumerate(result.intervals):
        inner_low, inner_high = plain.intervals[n]
        middle = scores.mean(axis=0)[n]
        reach = 2.776 * error[n]  # Student's t with 4 degrees of freedom
        assert middle - low == pytest.approx(np.hypot(middle - inner_low, reach), 1e-3)
        assert high - middle == pytest.approx(
            np.hypot(inner_high - middle, reach), 1e-3
        )


def test_what_varies_much_is_read_again_and_stays_a_share(fake, tmp_path):
    """Wider than the scores of the inputs, which are all the same here."""
    fake.act = lambda number, body: json.dumps(
        {"1": "no" if body["seed"] % 2 else "yes"}
    )
    judge = lp.judge("llm:m", repeats=2, endpoint=fake.url, cache=None)
    result = lp.score({"a": ["x", "y"]}, [["Rain."], ["Sun."]], judge=judge, samples=40)
    assert result.intervals == ((0.0, 1.0),)

    result.save(tmp_path / "r.json")
    assert lp.report(tmp_path / "r.json").intervals == result.intervals


def test_the_estimate_is_of_all_that_are_asked(fake):
    options = {"endpoint": fake.url, "cache": None, "estimate": True}
    items = [("It rained.", ["Rain.", "Sun."])] * 2
    sums = []
    for name, repeats in (("llm:m", 1), ("llm:m", 3), ("recall+llm:m+llm:n", 1)):
        with pytest.raises(EstimateOnly) as unsent:
            lp.judge(name, repeats=repeats, **options).judge(items)
        sums.append(astuple(unsent.value.result))

    one, thrice, panel = sums
    assert one[:4] == ("m", 2, 0, 1)
    assert thrice == ("m", *[3 * number for number in one[1:]])
    assert panel == ("m+n", *[2 * number for number in one[1:]])
