"""Several judges as one, and one language model asked several times."""

import numpy as np
import pytest

import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.errors import InputError
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
    with pytest.raises(InputError):
        lp.judge("recall+lexical", endpoint="http://localhost:1/v1")
    with pytest.raises(InputError):
        lp.judge("recall+lexical", join="sum")


def sizes_of(result):
    return [len(entry.units) for entry in result.units] * len(result.systems)


def test_asked_again_scores_vary_and_intervals_hold_it():
    data = load_example()
    rng = np.random.default_rng(1)

    def noisy(summary, units):
        return np.clip(0.5 + 0.3 * rng.standard_normal() + np.zeros(len(units)), 0, 1)

    judges = tuple(lp.judge(noisy) for _ in range(3))
    asked = PanelJudge(("a", "b", "c"), judges, repeats=True)
    result = lp.score(data, judge=asked, samples=500)
    rows = iter(np.split(result.presence.ravel(), np.cumsum(sizes_of(result))[:-1]))
    plain = lp.score(data, judge=lambda summary, units: next(rows), samples=500)

    for (low, high), (inner_low, inner_high) in zip(
        result.intervals, plain.intervals, strict=True
    ):
        assert low < inner_low
        assert high > inner_high

    assert any("flip between present and not" in note for note in result.notes)


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
