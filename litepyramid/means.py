"""Means over what is there: NaN is "not scored" and counts neither above nor below the line."""

from __future__ import annotations

import numpy as np

from litepyramid.types import FloatArray


def mean_of_scored(values: FloatArray) -> float:
    """The mean of the values that are not NaN; NaN where there is none.

    ``sum(v for v in values if v is a number) / how many of them``. An infinity is a number.

    Args:
        values: (n,) values; NaN = not scored.

    Example:
        >>> mean_of_scored(np.array([1.0, np.nan, 0.5])), mean_of_scored(np.array([]))
        (0.75, nan)
    """
    scored = values[~np.isnan(values)]
    return float(scored.mean()) if scored.size else float("nan")


def system_means(values: FloatArray) -> FloatArray:
    """The mean of each row over the inputs that are scored; NaN where none is.

    Args:
        values: (N, M) scores of N systems; NaN = not scored.

    Returns:
        (N,) `mean_of_scored` of every row.

    Example:
        >>> system_means(np.array([[1.0, 0.0], [1.0, np.nan]])).tolist()
        [0.5, 1.0]
    """
    whole = ~np.isnan(values).any(axis=1)
    means = np.full(len(values), np.nan)
    means[whole] = values[whole].mean(axis=1)
    for row in np.nonzero(~whole)[0]:
        means[row] = mean_of_scored(values[row])
    return means
