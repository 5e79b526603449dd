"""Numbers of other packages: statsmodels' corrections of p-values, without the full
garbage collection in each call, and equality."""

from unittest.mock import patch

import numpy as np
from statsmodels.stats import multitest


def multipletests(p, *, method):
    """As statsmodels' own."""
    with patch("gc.collect"):
        return multitest.multipletests(p, method=method)


def same(ours, theirs, tolerance=1e-12):
    """Equal numbers, and NaN at the same places."""
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance, equal_nan=True)
