"""The four ways to read presence off an NLI model's logits (ZB21 §3.1): pure functions.

Each takes (..., 3) raw logits e, n, c in the order entailment, neutral, contradiction,
and returns (...) float64; NaN where a logit is NaN (a pair that was not judged).
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.errors import InputError, choose
from litepyramid.types import FloatArray

Mode = Literal["p3c", "l3c", "p2c", "l2c"]


def p3c(logits: ArrayLike) -> FloatArray:
    """Probability of entailment among three classes: softmax(e, n, c)[e].

    Example:
        >>> p3c([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).round(3).tolist()
        [0.787, 0.333]
    """
    z = _three(logits)
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(powers[..., 0] / powers.sum(axis=-1), dtype=np.float64)


def l3c(logits: ArrayLike) -> FloatArray:
    """1 if entailment is the arg max of the three classes, alone or in a tie, else
    0."""
    z = _three(logits)
    label = (z[..., 0] >= z[..., 1:].max(axis=-1)).astype(np.float64)
    return np.where(np.isnan(z).any(axis=-1), np.nan, label)


def p2c(logits: ArrayLike) -> FloatArray:
    """Probability of presence among two classes: exp(e) / (exp(e) + exp(n + c)).

    The logits of neutral and contradiction are *added*, not log-sum-exp-ed: their sum
    is the logit of "not present".

    Example:
        >>> p2c([[2.0, 1.0, 1.0], [3.0, 1.0, 0.0]]).round(3).tolist()
        [0.5, 0.881]
    """
    margin = _margin(logits)
    tail = np.exp(-np.abs(margin))
    return np.asarray(np.where(margin >= 0, 1.0, tail) / (1.0 + tail), dtype=np.float64)


def l2c(logits: ArrayLike) -> FloatArray:
    """1 if e ≥ n + c, else 0: the label of `p2c`."""
    margin = _margin(logits)
    return np.where(np.isnan(margin), np.nan, (margin >= 0).astype(np.float64))


MODES: dict[Mode, Callable[[ArrayLike], FloatArray]] = {
    "p3c": p3c,
    "l3c": l3c,
    "p2c": p2c,
    "l2c": l2c,
}


def presence(logits: ArrayLike, mode: str) -> FloatArray:
    """Presence in [0, 1] from raw logits, in the mode of that name.

    A two-class model (present, absent) is written (present, absent, 0): `p2c` and `l2c`
    are then its own softmax and arg max.

    Raises:
        InputError: There is no such mode, or the last axis is not 3 long.

    Example:
        >>> presence([1.0, 0.0, 0.0], "l3c").item()
        1.0
    """
    return MODES[check_mode(mode)](logits)


def check_mode(name: str) -> Mode:
    """`name` if it is a mode."""
    choose("mode", name, tuple(MODES))
    return name  # type: ignore[return-value]


def _three(logits: ArrayLike) -> FloatArray:
    z = np.asarray(logits, dtype=np.float64)
    if z.ndim == 0 or z.shape[-1] != 3:
        raise InputError(f"logits of the shape {z.shape}", expected="(..., 3): e, n, c")
    return z


def _margin(logits: ArrayLike) -> FloatArray:
    z = _three(logits)
    return np.asarray(z[..., 0] - (z[..., 1] + z[..., 2]), dtype=np.float64)
