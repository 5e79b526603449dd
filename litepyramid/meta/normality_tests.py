"""Are scores normal? The assumption of Fisher's interval and of Williams' test (DDR21 App. A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import span, unaligned
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.stats import check_share, system_means
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, Signature


@dataclass(frozen=True, slots=True)
class MetricNormality:
    """Shapiro-Wilk tests of one metric's scores.

    Attributes:
        metric: The metric.
        system_p: P-value of the test over the systems' mean scores; NaN if there is no test.
        rejected: Inputs whose test over the systems' scores rejects normality.
        tested: Inputs that could be tested.
        constant: Inputs whose scores are all the same: no test.
        too_few: Inputs with fewer than three scores: no test.
        systems: Systems with any score.
        inputs: Inputs with any score.
        share: Rejected inputs among the tested ones; NaN if none was tested.
    """

    metric: str
    system_p: float
    rejected: int
    tested: int
    constant: int
    too_few: int
    systems: int
    inputs: int
    share: float


@dataclass(frozen=True, slots=True)
class NormalityResult(Result):
    """Shapiro-Wilk tests, one row per metric."""

    metrics: tuple[MetricNormality, ...]
    alpha: float
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per metric: the share of inputs at summary level, the p-value at system level."""
        notes = [
            f"Summary: inputs whose scores are not normal (p ≤ {self.alpha:g}), in % of those "
            "tested. System: the test over the systems' means."
        ]
        few = sum(m.too_few for m in self.metrics)
        if few:
            have = "has" if few == 1 else "have"
            said = f"{counted(few, 'input')} of all metrics together {have}"
            notes.append(f"{said} fewer than three scores.")
        columns = (
            *("metric", Column("share", "summary %", digits=1), "tested", "constant"),
            *(Column("system_p", "system p"), Column("systems", "N"), Column("inputs", "M")),
        )
        rows = [row(m, share=100 * m.share) for m in self.metrics]
        notes.append(str(self.signature))
        return [Table.of("Shapiro-Wilk test of normality", columns, rows, notes)]

    def to_csv_table(self) -> Table:
        """One row per metric, with all counts."""
        rows = [row(m, alpha=self.alpha) for m in self.metrics]
        return Table.of("", rows[0], rows)


def normality(
    scores: Any,
    human: str | Sequence[str] | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    alpha: float = 0.05,
) -> NormalityResult:
    """Shapiro and Wilk's (1965) test of each metric's scores, by level (DDR21 App. A, Table 2).

    At system level one test over the systems' means; at summary level one for each input, over the
    systems' scores on it. A small p-value is evidence against a normal distribution.

    Args:
        scores: A `ScoreTable`, a path, several paths, or a long pandas frame; not changed.
        human: The human score, tested first as in Table 2; several names mean the mean of
            several raters. None: human scores are treated like other metrics.
        metrics: Names or patterns; None for all but `human`.
        alpha: Significance level.

    Raises:
        InputError: An unknown name, or alpha outside (0, 1).

    Example:
        >>> from litepyramid.io.scores import read_scores
        >>> rows = [{"system": s, "input": 1, "metric": "m", "score": s ** 4} for s in range(9)]
        >>> normality(read_scores(rows)).metrics[0].rejected
        1
    """
    check_share("alpha", alpha)
    table = read_scores(scores)
    people, machines = unaligned(table, metrics, human)
    found = tuple(_one(name, values, alpha) for name, values in [*people, *machines])
    return NormalityResult(
        found,
        alpha,
        Signature.of(
            test="shapiro-wilk",
            human=people[0][0] if people else None,
            alpha=alpha,
            scores_sha=table.sha,
            N=span([m.systems for m in found]),
            M=span([m.inputs for m in found]),
        ),
    )


def _one(name: str, X: FloatArray, alpha: float) -> MetricNormality:
    from scipy.stats import shapiro

    scored = ~np.isnan(X)
    columns = [column[~np.isnan(column)] for column in X.T]
    usable = [c for c in columns if len(c) >= 3 and np.ptp(c) > 0]
    averages = system_means(X)[scored.any(axis=1)]
    flat = len(averages) < 3 or np.ptp(averages) <= mean_tolerance(X)
    rejected = sum(shapiro(c).pvalue <= alpha for c in usable)
    return MetricNormality(
        metric=name,
        system_p=nan if flat else float(shapiro(averages).pvalue),
        rejected=int(rejected),
        tested=len(usable),
        constant=sum(len(c) >= 3 for c in columns) - len(usable),
        too_few=sum(0 < len(c) < 3 for c in columns),
        systems=int(scored.any(axis=1).sum()),
        inputs=int(scored.any(axis=0).sum()),
        share=rejected / len(usable) if usable else nan,
    )
