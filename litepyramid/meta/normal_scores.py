"""Whether scores are normal, as Fisher's interval and Williams' test assume (DDR21)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from litepyramid.errors import InputError
from litepyramid.meta.alignment import score_table, scores_sha, span, unaligned
from litepyramid.meta.core.levels import mean_tolerance
from litepyramid.stats import check_share, system_means
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, HumanLike, ScoresLike, ScoreSources, Signature


@dataclass(frozen=True)
class MetricNormality:
    """Shapiro-Wilk tests of one metric's scores: over the systems' means, and input by
    input.

    `share` is that of inputs `rejected` among those `tested`; the others have
    `constant` scores, or `too_few` (fewer than three).
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


@dataclass(frozen=True)
class NormalityResult(Result):
    """Shapiro-Wilk tests, one row per metric."""

    metrics: tuple[MetricNormality, ...]
    alpha: float
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per metric: the share of inputs at summary level, the p-value at
        system level."""
        notes = [
            f"Summary: inputs whose scores are not normal (p ≤ {self.alpha:g}), in % "
            "of those tested. System: the test over the systems' means."
        ]
        if few := sum(m.too_few for m in self.metrics):
            inputs = f"{counted(few, 'input')} of all metrics together"
            notes.append(f"Not tested, fewer than three scores: {inputs}.")

        columns = (
            "metric",
            Column("share", "summary %", digits=1),
            "tested",
            "constant",
            Column("system_p", "system p"),
            Column("systems", "N"),
            Column("inputs", "M"),
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
    human: HumanLike | None = None,
    *,
    confidence: float = 0.95,
    **sources: Unpack[ScoreSources],
) -> NormalityResult:
    """Test whether scores are normal, which Fisher's interval and Williams' test
    assume.

    Shapiro and Wilk's test of each metric's scores: at system level one test over the
    systems' means; at summary level one for each input, over the systems' scores on it.
    A small p-value is evidence against a normal distribution (Deutsch, Dror & Roth
    2021, appendix A).

    Args:
        scores: Tables of scores; not changed.
        human: The human score, tested first. Where neither this nor the table says
            which, human scores are treated like other metrics.
        confidence: An input counts as not normal if p ≤ 1 - confidence.
        **sources: What belongs to the scores, as of `read_scores`: metrics, columns.

    Raises:
        InputError: An unknown name, or a confidence outside (0, 1).

    Example:
        >>> rows = [{"system": s, "input": 1, "rouge": s ** 4} for s in range(9)]
        >>> normality(rows).metrics[0].rejected
        1

    Command line:
        $ litepyramid meta normality table.csv
        $ litepyramid meta normality table.csv --human human --metric rouge
    """
    check_share("confidence", confidence)
    alpha = round(1 - confidence, 12)
    table = score_table(scores, human, **sources)
    people, machines, raters = unaligned(table)
    if not people and not machines:
        raise InputError("no metric to test", expected="at least one in the scores")

    tests = []
    for name, values in (*people.items(), *machines.items()):
        tests.append(_shapiro(name, values, alpha))
    signature = Signature.of(
        test="shapiro-wilk",
        human="+".join(raters) if people else None,
        alpha=alpha,
        scores_sha=scores_sha(table, [*machines], raters),
        N=span([m.systems for m in tests]),
        M=span([m.inputs for m in tests]),
    )
    return NormalityResult(tuple(tests), alpha, signature)


def _shapiro(name: str, X: FloatArray, alpha: float) -> MetricNormality:
    """The tests of one metric's (N, M) scores."""
    from scipy.stats import shapiro

    scored = ~np.isnan(X)
    tested = rejected = constant = too_few = 0
    # Three values are the fewest that the test takes; equal ones have no shape.
    for column in X.T:
        scores = column[~np.isnan(column)]
        if len(scores) >= 3 and np.ptp(scores) > 0:
            tested += 1
            rejected += bool(shapiro(scores).pvalue <= alpha)
        elif len(scores) >= 3:
            constant += 1
        elif len(scores):
            too_few += 1

    # Averages of equal scores differ by rounding alone, which would look like a sample.
    averages = system_means(X)[scored.any(axis=1)]
    flat = len(averages) < 3 or np.ptp(averages) <= mean_tolerance(X)
    return MetricNormality(
        metric=name,
        system_p=math.nan if flat else float(shapiro(averages).pvalue),
        rejected=rejected,
        tested=tested,
        constant=constant,
        too_few=too_few,
        systems=int(scored.any(axis=1).sum()),
        inputs=int(scored.any(axis=0).sum()),
        share=rejected / tested if tested else math.nan,
    )
