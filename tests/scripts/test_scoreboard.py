"""The figures of the scoreboard are those of numpy and scipy, draws of inputs too."""

import numpy as np
import pytest
from scipy.stats import linregress, pearsonr
from scoreboard import Difference, slope, system_r, within_r

RNG = np.random.default_rng(0)
VALUES = RNG.random((5, 8))
HUMAN = RNG.random((5, 8))


def test_agreement_with_people():
    expected = pearsonr(VALUES.mean(axis=1), HUMAN.mean(axis=1)).statistic
    assert system_r(VALUES, HUMAN)[0] == pytest.approx(expected)

    each = [pearsonr(x, y).statistic for x, y in zip(VALUES.T, HUMAN.T, strict=True)]
    assert within_r(VALUES, HUMAN)[0] == pytest.approx(np.mean(each))


def test_a_draw_of_inputs_is_the_figure_of_those_inputs():
    chosen = [0, 0, 3, 4, 4, 4, 6, 7]
    counts = np.bincount(chosen, minlength=8)[None]
    drawn = VALUES[:, chosen], HUMAN[:, chosen]
    for figure in (system_r, within_r, slope):
        value = figure(VALUES, HUMAN, counts)[0]
        assert value == pytest.approx(figure(*drawn)[0]), figure

    expected = linregress(VALUES.ravel(), HUMAN.ravel()).slope
    assert slope(VALUES, HUMAN)[0] == pytest.approx(expected)


@pytest.mark.parametrize(("high", "loses"), [(-0.01, True), (0.0, False), (0.2, False)])
def test_a_default_loses_where_the_whole_interval_is_below_nothing(high, loses):
    one = Difference("RoSE", "mini", "lexical", "AUC", -0.1, -0.2, high)
    assert one.loses == loses
