"""The four scores of TREC's nuggets, from their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.scoring.pyramid import ScoringRule, UnitLayout, nugget_scores
from litepyramid.types import InputUnits, Unit, unit_hashes


def scores_as_nuggetizer(nuggets: list[dict[str, str]]) -> dict[str, float]:
    """Written out from the definition: support 1, partial .5; no vital nugget is 0."""

    def mean(chosen: list[dict[str, str]], partial: float) -> float:
        worth = {"support": 1.0, "partial_support": partial, "not_support": 0.0}
        return sum(worth[n["assignment"]] for n in chosen) / len(chosen) if chosen else 0.0

    vital = [n for n in nuggets if n["importance"] == "vital"]
    return {
        "strict_vital_score": mean(vital, 0.0),
        "strict_all_score": mean(nuggets, 0.0),
        "vital_score": mean(vital, 0.5),
        "all_score": mean(nuggets, 0.5),
    }


NUGGET = st.fixed_dictionaries(
    {
        "importance": st.sampled_from(["vital", "okay"]),
        "assignment": st.sampled_from(["support", "partial_support", "not_support"]),
    }
)


@given(st.lists(st.lists(NUGGET, min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_four_scores_are_nuggetizers(queries: list[list[dict[str, str]]]) -> None:
    units = [
        InputUnits(str(q), tuple(Unit("x", importance=n["importance"]) for n in nuggets))
        for q, nuggets in enumerate(queries)
    ]
    worth = {"support": 1, "partial_support": 0.5, "not_support": 0}
    labels = np.array([worth[n["assignment"]] for nuggets in queries for n in nuggets])
    layout = UnitLayout.of(units)
    found = nugget_scores(labels, layout)
    for q, nuggets in enumerate(queries):
        for name, value in scores_as_nuggetizer(nuggets).items():
            assert found[name][q] == pytest.approx(value, abs=1e-12)
    vital, _ = ScoringRule("vital").apply(labels[None], layout, 0)
    assert np.array_equal(vital[0], found["vital_score"])
    every, _ = ScoringRule().apply(labels[None], layout, 0)
    assert every[0] == pytest.approx(found["all_score"], abs=1e-12)


def test_importance_needs_nuggets() -> None:
    layout = UnitLayout.of([InputUnits("1", (Unit("x"),))])
    with pytest.raises(InputError, match="no unit says whether it is vital"):
        ScoringRule("vital").apply(np.ones((1, 1)), layout, 0)


def test_what_is_vital_is_in_the_signature() -> None:
    shas = [
        unit_hashes([InputUnits("1", (Unit("x", importance=grade),))])["units_sha"]
        for grade in (None, "vital", "okay")
    ]
    assert len(set(shas)) == 3
