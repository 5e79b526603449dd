"""The average scores of systems under many draws of the inputs."""

from __future__ import annotations

import numpy as np

from litepyramid.meta.blas import single_threaded
from litepyramid.types import FloatArray, IntArray

_CELLS = 4_000_000


@single_threaded
def resampled_means(X: FloatArray, counts: FloatArray | IntArray) -> FloatArray:
    """Every system's average under every draw of the inputs.

    Args:
        X: (N, M) scores; NaN = not scored, and out of the average.
        counts: (B, M) how often each input was drawn.

    Returns:
        (B, N) float64; NaN where no scored input was drawn.

    Example:
        >>> X = np.array([[1.0, 3.0], [2.0, np.nan]])
        >>> resampled_means(X, np.array([[1, 1], [0, 2]])).tolist()
        [[2.0, 2.0], [3.0, nan]]
    """
    scored = ~np.isnan(X)
    complete = bool(scored.all())
    values = np.where(scored, X, 0.0).T
    result = np.empty((len(counts), len(X)))
    block = max(1, _CELLS // max(1, X.shape[1]))
    for start in range(0, len(counts), block):
        some = counts[start : start + block].astype(np.float64)
        total = some.sum(axis=1, keepdims=True) if complete else some @ scored.T
        with np.errstate(invalid="ignore", divide="ignore"):
            result[start : start + block] = some @ values / total
    return result
