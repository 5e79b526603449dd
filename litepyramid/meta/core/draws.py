"""Random draws of systems, inputs and coins, the same for a seed whatever is computed
from them.

Draws are made in blocks of `BLOCK` samples, every block by a generator of its own whose
seed is (seed, stream, block). So sample i depends on the seed and on i alone: not on
how many samples are asked for, how many are held in memory at once, or which thread
computes them.
"""

from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.progress import bar
from litepyramid.types import FloatArray, IntArray

Sampling = Literal["systems", "inputs", "both"]
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)
"""What is resampled, or swapped by a coin each; ``"both"`` swaps each cell by its own
(DDR21)."""

BLOCK = 64
_CELLS = 800_000  # numbers of a chunk
SYSTEMS, INPUTS, OTHER_INPUTS, COINS = range(4)


def generator(seed: int, stream: int, block: int) -> np.random.Generator:
    """The generator of one block of one stream of draws."""
    return np.random.Generator(
        np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(stream, block)))
    )


def chunks(samples: int, width: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of chunks of samples that memory holds, each of `width` numbers."""
    # Whole blocks: half a block would be drawn twice.
    step = max(1, _CELLS // max(1, width * BLOCK)) * BLOCK
    with bar(samples, "resampling", "samples") as shown:
        for start in range(0, samples, step):
            yield start, min(samples, start + step)
            shown.update(min(step, samples - start))


def counts(seed: int, stream: int, n: int, start: int, stop: int) -> FloatArray:
    """(stop - start, n) how often each of n items is drawn, n draws with replacement a
    sample.

    `start` is a multiple of `BLOCK`; streams are independent of each other (Efron
    1979).
    """
    result = np.empty((stop - start, n))
    for first in range(start, stop, BLOCK):
        block = drawn_counts(generator(seed, stream, first // BLOCK), n, n, BLOCK)
        result[first - start : first - start + BLOCK] = block[: stop - first]
    return result


def drawn_counts(rng: np.random.Generator, n: int, size: int, samples: int) -> IntArray:
    """(samples, n) how often each of n items is among `size` drawn with replacement."""
    drawn = rng.integers(0, n, (samples, size))
    # One count for all samples: the items of each are moved to places of their own.
    drawn += np.arange(0, samples * n, n)[:, None]
    return np.bincount(drawn.ravel(), minlength=samples * n).reshape(samples, n)


def coins(
    seed: int, shape: tuple[int, ...], block: int, dtype: Any = np.float64
) -> FloatArray:
    """(*shape, BLOCK) fair coins, +1 or -1, of the samples of one block."""
    # A coin takes one bit of the generator, where a number would take 64.
    data = generator(seed, COINS, block).bytes(int(np.prod(shape)) * BLOCK // 8)
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8)).astype(dtype)
    return 1 - 2 * bits.reshape(*shape, BLOCK)


def piece_generator(seed: int, *names: str) -> np.random.Generator:
    """The generator of one piece of a run: it depends on the seed and the piece's names
    alone."""
    words = [len(names)]
    for name in names:
        data = name.encode()
        words += [len(data), *data]
    return np.random.default_rng([seed, *words])
