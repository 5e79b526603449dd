"""What names data and results: fingerprints of values."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def fingerprint(values: Iterable[object]) -> str:
    """Eight hex digits that name data: the start of the SHA-256 of the values, one JSON
    a line."""
    total = hashlib.sha256()
    for value in values:
        total.update(
            json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
            + b"\n"
        )
    return total.hexdigest()[:8]


def array_sha(values: NDArray[Any]) -> str:
    """A hash of numbers, the same on every machine."""
    # NaN has many bit patterns, and zero two.
    same = np.where(np.isnan(values), np.nan, values + 0.0)
    data = np.ascontiguousarray(same, dtype="<f8").tobytes()
    return hashlib.sha256(data).hexdigest()
