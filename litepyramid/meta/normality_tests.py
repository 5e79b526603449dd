"""Are scores normal? The assumption of Fisher's interval and of Williams' test (DDR21 App. A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.meta.alignment import check_draws, score_table, scores_sha, span, unaligned
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.stats import system_means
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoresLike, Signature


@dataclass(frozen=True, slots=True)
class MetricNormality:
    """Shapiro-Wilk tests of one metric's scores.

    Attributes:
        system_p: P-value of the test over the systems' mean scores; NaN if there is no test.
        rejected: Inputs whose test over the systems' scores rejects normality.
        tested: Inputs that could be tested.
        constant: Inputs whose scores are all the same: no test.
        too_few: Inputs with fewer than three scores: no test.
        systems: Systems with any score; `inputs`: inputs.
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
            inputs = f"{counted(few, 'input')} of all metrics together"
            notes.append(f"{inputs} {have} fewer than three scores.")
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
    scores: ScoresLike,
    human: str | Sequence[str] | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    confidence: float = 0.95,
    **sources: Any,
) -> NormalityResult:
    """Test whether scores are normal, which Fisher's interval and Williams' test assume.

    Shapiro and Wilk's test of each metric's scores: at system level one test over the systems'
    means; at summary level one for each input, over the systems' scores on it. A small p-value is
    evidence against a normal distribution (Deutsch, Dror & Roth 2021, appendix A).

    Args:
        scores: Tables of scores; not changed.
        human: The human score, tested first; several names, or a pattern, mean the mean of several
            raters. Without it, human scores are treated like other metrics.
        metrics: Names or patterns; all others if none is named.
        confidence: An input counts as not normal if p ≤ 1 - confidence.
        **sources: ``columns`` of `read_scores`.

    Returns:
        One `MetricNormality` per metric.

    Raises:
        InputError: An unknown name, or a confidence outside (0, 1).

    Example:
        >>> rows = [{"system": s, "input": 1, "metric": "m", "score": s ** 4} for s in range(9)]
        >>> normality(rows).metrics[0].rejected
        1

    Command line:
        $ litepyramid meta normality table.csv
        $ litepyramid meta normality table.csv --human human --metric rouge
    """
    check_draws(confidence=confidence)
    alpha = round(1 - confidence, 12)
    table = score_table(scores, **sources)
    people, machines, raters = unaligned(table, metrics, human)
    if not people and not machines:
        raise InputError("no metric to test", expected="at least one in the scores")
    tests = tuple(_one(name, values, alpha) for name, values in [*people, *machines])
    signature = Signature.of(
        test="shapiro-wilk",
        human="+".join(raters) if people else None,
        alpha=alpha,
        scores_sha=scores_sha(table, [name for name, _ in machines], raters),
        N=span([m.systems for m in tests]),
        M=span([m.inputs for m in tests]),
    )
    return NormalityResult(tests, alpha, signature)


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
