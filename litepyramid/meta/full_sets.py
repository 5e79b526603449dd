"""Metrics averaged over the judged inputs, and over the whole test set (DDR22 §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import nan
from typing import Unpack

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.meta.alignment import (
    Aligned,
    align_each,
    aligned_notes,
    score_table,
    signature_of,
)
from litepyramid.meta.core.bootstrap import bootstrap_samples
from litepyramid.meta.core.draws import SAMPLINGS, Sampling
from litepyramid.meta.core.levels import OF_VECTORS, Coefficient, level_correlation
from litepyramid.stats import check_samples, percentile_interval
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import (
    Fields,
    FullSources,
    HumanLike,
    ScoresLike,
    Signature,
    several,
)


@dataclass(frozen=True)
class FullSetInterval:
    """r_SYS of one metric with one way of sampling, on the judged inputs and on all.

    The interval on `judged` inputs shares its draws with people; that of `full` draws
    each side over inputs of its own, and is `narrower` by a share; `failed` samples are
    left out of both.
    """

    metric: str
    sampling: Sampling
    judged: float
    judged_low: float
    judged_high: float
    full: float
    full_low: float
    full_high: float
    failed: int
    narrower: float


@dataclass(frozen=True)
class FullSetResult(Result):
    """r_SYS on judged inputs and on the whole test set, by metric and way of
    sampling."""

    intervals: tuple[FullSetInterval, ...]
    sides: tuple[Aligned, ...]
    coefficient: Coefficient
    signature: Signature

    def to_tables(self) -> list[Table]:
        """The intervals on either set."""
        columns = (
            "metric",
            Column("sampling", "BOOT-"),
            Column("judged", "M_jud", 2),
            Column("judged_low", "low", 2),
            Column("judged_high", "high", 2),
            Column("full", "M_test", 2),
            Column("full_low", "low", 2),
            Column("full_high", "high", 2),
            Column("narrower", "less %", 0),
        )
        rows = [row(i, narrower=100 * i.narrower) for i in self.intervals]

        notes = aligned_notes(self.sides, self.signature)
        if failed := sum(i.failed for i in self.intervals):
            notes.insert(0, f"Left out, no correlation: {counted(failed, 'sample')}.")
        title = f"r_SYS ({self.coefficient}) with metrics on judged inputs and on all"
        return [Table.of(title, columns, rows, notes)]


def whole_test_set(
    scores: ScoresLike,
    human: HumanLike | None = None,
    *,
    coefficient: Coefficient = "kendall",
    sampling: Sampling | Sequence[Sampling] = SAMPLINGS,
    samples: int = 1000,
    seed: int = 12345,
    confidence: float = 0.95,
    **sources: Unpack[FullSources],
) -> FullSetResult:
    """Compare metrics averaged over the judged inputs with metrics averaged over all
    inputs.

    People judge few inputs, but a metric can score the whole test set. Systems are
    correlated by the metric's averages over either set with people's averages. The
    bootstrap resamples each side over its own inputs; on judged inputs alone both sides
    share the draw. Systems are resampled for both sides together (Deutsch, Dror & Roth
    2022, section 3).

    Args:
        scores: Tables of scores, with people's; not changed.
        human: The human score; "human" if neither this nor the table says which.
        coefficient: The coefficient at system level.
        sampling: What is resampled; one or several.
        samples: Bootstrap samples.
        seed: Seed of the draws; the same for every metric.
        confidence: Confidence level of the intervals.
        **sources: What belongs to the scores, as of `read_scores`: full, which is
            needed, metrics (all that both tables have), columns.

    Raises:
        InputError: The tables share no metric or no system; fewer than two systems.

    Example:
        >>> rows = [{"system": s, "input": i, "rouge": 3 * s + i, "human": s}
        ...         for s in range(4) for i in range(3)]
        >>> result = whole_test_set(rows, full=rows, sampling="inputs", samples=40)
        >>> result.intervals[0].full
        1.0

    Command line:
        $ litepyramid meta testset table.csv --full all.csv --samples 1000
        $ litepyramid meta testset table.csv --full all.csv --sampling inputs -o t.csv
    """
    check_samples(samples, seed=seed, confidence=confidence)
    samplings = several(sampling, "the sampling")
    for one in samplings:
        choose("sampling", one, SAMPLINGS)
    choose("coefficient", coefficient, OF_VECTORS)

    table = score_table(scores, human, **sources)
    if table.full is None:
        raise InputError("no scores on the whole test set", expected="a table of them")
    every = align_each(table)

    draws: Fields = {"samples": samples, "seed": seed}
    intervals = []
    for sides, one in product(every, samplings):
        ends: Fields = {}
        failed = 0
        # The metric's averages over all inputs and people's are over different ones:
        # each side is drawn over its own (DDR22 §3.2).
        for which, scores, paired in (
            ("judged", sides.values[0], True),
            ("full", sides.scores, False),
        ):
            point = level_correlation(scores, sides.Z, "system", coefficient)
            drawn = bootstrap_samples(
                scores,
                sides.Z,
                "system",
                coefficient,
                one,
                paired_inputs=paired,
                **draws,
            )
            failed += int(np.isnan(drawn).sum())
            ends[which] = point.value
            ends[f"{which}_low"], ends[f"{which}_high"] = percentile_interval(
                drawn, confidence
            )

        # Where the judged inputs leave no doubt, nothing can be narrower.
        width = ends["judged_high"] - ends["judged_low"]
        reach = ends["full_high"] - ends["full_low"]
        intervals.append(
            FullSetInterval(
                metric=sides.metrics[0],
                sampling=one,
                failed=failed,
                narrower=1 - reach / width if width else nan,
                **ends,
            )
        )

    signature = signature_of(
        every,
        [("system", coefficient)],
        sampling="+".join(samplings),
        confidence=f"{confidence:g}",
        **draws,
    )
    return FullSetResult(tuple(intervals), tuple(every), coefficient, signature)
