"""The one loop that is worth compiling: counting draws, with numba (extra ``fast``), bit for bit.

NumPy makes all draws of a sample, then counts them; compiled, each is counted as it is drawn. It is
the same generator and the same rule, so the same numbers. Compiling takes a second or two once (the
result is kept on disk), loading numba a third of a second: for few draws NumPy is used anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from litepyramid.types import FloatArray

WORTH_COMPILING = 5_000_000
"""From how many draws on the compiled loop is used."""

CountRows = Callable[[np.random.Generator, int, FloatArray], None]


def count_rows(draws: int) -> CountRows | None:
    """The compiled loop, if numba is installed and the number of draws is worth it."""
    if draws < WORTH_COMPILING or find_spec("numba") is None:
        return None
    return _compiled()


@lru_cache(maxsize=1)
def _compiled() -> CountRows:
    import numba

    def count(state: np.ndarray, n: int, out: np.ndarray) -> None:
        # SFC64 (Doty-Humphrey, PractRand), its 64 bits used low half first as NumPy does, and
        # Lemire's (2019) bounded numbers with rejection.
        a, b, c, counter = state[0], state[1], state[2], state[3]
        bound, low_half = np.uint64(n), np.uint64(0xFFFFFFFF)
        smallest = np.uint64((0x100000000 - n) % n)
        half, spare = np.uint64(0), False
        for row in range(out.shape[0]):
            for _ in range(n):
                while True:
                    if spare:
                        value, spare = half, False
                    else:
                        word = a + b + counter
                        counter += np.uint64(1)
                        a = b ^ (b >> np.uint64(11))
                        b = c + (c << np.uint64(3))
                        c = ((c << np.uint64(24)) | (c >> np.uint64(40))) + word
                        value, half, spare = word & low_half, word >> np.uint64(32), True
                    product = value * bound
                    if (product & low_half) >= smallest:
                        break
                out[row, np.int64(product >> np.uint64(32))] += 1.0

    try:
        loop = numba.njit("void(uint64[::1], int64, float64[:, ::1])", cache=True)(count)
    except RuntimeError:  # numba finds no folder that it may write its cache to
        loop = numba.njit("void(uint64[::1], int64, float64[:, ::1])")(count)

    def count_rows(rng: np.random.Generator, n: int, out: FloatArray) -> None:
        state = np.array(rng.bit_generator.state["state"]["state"], dtype=np.uint64)
        out[:] = 0.0
        loop(state, n, out)

    return count_rows
