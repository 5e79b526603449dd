"""The four modes against the formulas of the paper, written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.judges.nli.modes import MODES, presence

logit = st.floats(-20, 20)


@given(e=logit, n=logit, c=logit)
def test_modes_equal_their_formulas(e, n, c):
    """Logits are added, not log-sum-exp-ed."""
    total = math.exp(e) + math.exp(n) + math.exp(c)
    assert presence([e, n, c], "p3c") == pytest.approx(math.exp(e) / total, rel=1e-12)
    assert presence([e, n, c], "l3c") == (1 if e >= max(n, c) else 0)
    expected = math.exp(e) / (math.exp(e) + math.exp(n + c))
    assert presence([e, n, c], "p2c") == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert presence([e, n, c], "l2c") == (1 if e >= n + c else 0)


@pytest.mark.parametrize("mode", MODES)
def test_huge_logits_do_not_overflow_and_nan_stays_nan(mode):
    with np.errstate(over="raise", invalid="raise"):
        values = presence([[1e4, 0, 0], [-1e4, 0, 0]], mode)
    assert values.tolist() == [1.0, 0.0]
    assert math.isnan(presence([math.nan, 0.0, 0.0], mode))


def test_bad_mode_and_shape_are_named():
    with pytest.raises(InputError, match=r"unknown mode 'p4c'.*p3c, l3c, p2c or l2c"):
        presence([0, 0, 0], "p4c")
    with pytest.raises(InputError, match=r"\(2,\)"):
        presence([0, 0], "p3c")
