"""Random draws of systems, inputs and coins, the same for a seed whatever is computed from them.

Draws are made in blocks of `BLOCK` samples, every block by a generator of its own whose seed is
(seed, stream, block). So sample i depends on the seed and on i alone: not on how many samples are
asked for, how many are held in memory at once, or which thread computes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.errors import InputError
from litepyramid.progress import bar
from litepyramid.types import FloatArray, IntArray

Sampling = Literal["systems", "inputs", "both"]
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)
Swaps = Literal["systems", "inputs", "both", "both_xor"]
SWAPS: tuple[Swaps, ...] = get_args(Swaps)

BLOCK = 64
_NEAR = 16_384
SYSTEMS, INPUTS, OTHER_INPUTS, COINS = range(4)


def generator(seed: int, stream: int, block: int) -> np.random.Generator:
    """The generator of one block of one stream of draws.

    Raises:
        InputError: The seed is negative.
    """
    if seed < 0:
        raise InputError(f"seed {seed}", expected="0 or more")
    return np.random.Generator(
        np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(stream, block)))
    )


def chunks(samples: int, width: int, cells: int = 800_000) -> Iterator[tuple[int, int]]:
    """(start, stop) of chunks of samples of about `cells` numbers, in whole blocks.

    Example:
        >>> list(chunks(150, 10, 640))
        [(0, 64), (64, 128), (128, 150)]
    """
    step = max(1, cells // max(1, width * BLOCK)) * BLOCK
    with bar(samples, "resampling", "samples") as shown:
        for start in range(0, samples, step):
            yield start, min(samples, start + step)
            shown.update(min(step, samples - start))


def counts(seed: int, stream: int, n: int, start: int, stop: int) -> FloatArray:
    """How often each of n items is drawn, n draws with replacement a sample (Efron 1979).

    Args:
        seed: The seed.
        stream: `SYSTEMS`, `INPUTS` or `OTHER_INPUTS`: independent of each other.
        n: Number of items.
        start: First sample, a multiple of `BLOCK`.
        stop: One after the last sample.

    Returns:
        (stop - start, n) float64, every row sums to n.

    Example:
        >>> counts(0, SYSTEMS, 5, 0, 3).sum(axis=1).tolist()
        [5.0, 5.0, 5.0]
    """
    result = np.empty((stop - start, n))
    at_once = max(1, min(BLOCK, _NEAR // n))
    for first in range(start, stop, BLOCK):
        rng = generator(seed, stream, first // BLOCK)
        for row in range(first, min(first + BLOCK, stop), at_once):
            size = min(at_once, stop - row)
            result[row - start : row - start + size] = drawn_counts(rng, n, n, at_once)[:size]
    return result


def drawn_counts(rng: np.random.Generator, n: int, size: int, samples: int) -> IntArray:
    """(samples, n) how often each of n items is among `size` drawn with replacement."""
    drawn = rng.integers(0, n, (samples, size))
    drawn += np.arange(0, samples * n, n)[:, None]
    return np.bincount(drawn.ravel(), minlength=samples * n).reshape(samples, n)


def coins(seed: int, shape: tuple[int, ...], block: int, dtype: Any = np.float64) -> FloatArray:
    """Fair coins, +1 or -1, of the `BLOCK` samples of one block.

    Returns:
        (*shape, BLOCK) of `dtype`, contiguous along the samples.

    Example:
        >>> flips = coins(0, (2, 3), 0)
        >>> flips.shape, set(flips.ravel().tolist()) == {-1.0, 1.0}
        ((2, 3, 64), True)
    """
    bits = generator(seed, COINS, block).bytes(int(np.prod(shape)) * BLOCK // 8)
    flips = np.take(_eight_coins(np.dtype(dtype)), np.frombuffer(bits, dtype=np.uint8), axis=0)
    return flips.reshape(*shape, BLOCK)


class Swapped:
    """A prepared pair of metrics: differences of correlations under given coins.

    Attributes:
        dtype: The kind of number that it wants the coins in.
        by_input: Whether it wants the coins as (M, N, B) and not as (N, M, B).
    """

    dtype: type[np.floating] = np.float64
    by_input = False

    def __call__(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """r(X', Z) - r(Y', Z) for blocks of coins, (N, M, B) each, (M, N, B) if `by_input`."""
        raise NotImplementedError


def observed_coins(shape: tuple[int, int], pair: Swapped) -> FloatArray:
    """One sample in which nothing is swapped."""
    return np.ones((*(shape[::-1] if pair.by_input else shape), 1), dtype=pair.dtype)


def coin_blocks(
    shape: tuple[int, int], pair: Swapped, swaps: Swaps, seed: int, numbers: Iterable[int]
) -> Iterator[FloatArray]:
    """The coins of the numbered blocks, one block after the other.

    They are laid out as `pair` wants them; for a seed they are the same whatever the layout.
    """
    n, m = shape
    for number in numbers:
        lines = shape if swaps == "both" else (n + m,)
        u = coins(seed, lines, number, pair.dtype)
        if swaps != "both":
            rows, columns = u[:n, None], u[None, n:]
            kept = rows if swaps == "systems" else columns
            if swaps == "both_xor":
                u = rows * columns
            else:
                u = np.array(np.broadcast_to(kept, (n, m, BLOCK)))
        yield np.ascontiguousarray(u.swapaxes(0, 1)) if pair.by_input else u


@lru_cache(maxsize=4)
def _eight_coins(dtype: np.dtype[Any]) -> FloatArray:
    """(256, 8): the bits of each byte as +1 and -1."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    table: FloatArray = (1.0 - 2.0 * bits).astype(dtype)
    table.setflags(write=False)
    return table
