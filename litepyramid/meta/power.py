"""How often tests find the better of two metrics, where one is worse by design (DDR21 §5.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.scores import as_score_table
from litepyramid.meta.alignment import align
from litepyramid.meta.journal import Journal, piece_rng
from litepyramid.meta.kernels import Coefficient
from litepyramid.meta.levels import Level
from litepyramid.meta.significance import ComparisonMethod, compare_pairs
from litepyramid.metrics.degraded import SampledRouge
from litepyramid.metrics.rouge import RougeVariant
from litepyramid.report.table import Cell, Column, Table
from litepyramid.resampling import check_samples
from litepyramid.types import FloatArray, InputReferences, Signature, SystemSummaries

BLOCK = 10
Degraded = Callable[[float, np.random.Generator], FloatArray]
Kind = Literal["words", "noise"]
WORD_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NOISE_LEVELS = (0.25, 0.5, 1.0, 2.0, 4.0)
METHODS: tuple[ComparisonMethod, ...] = ("perm-both", "boot-both", "williams")


@dataclass(frozen=True, slots=True)
class PowerSettings:
    """How trials are made and tested.

    Attributes:
        methods: Any of the comparison methods of `litepyramid.meta.significance`.
        levels: Any of system, summary, global.
        coefficient: DDR21's Fig. 3 uses ``"pearson"``.
        trials: Worse metrics drawn for each amount (DDR21: 1,000).
        samples: Permutations or bootstrap samples a test.
        alpha: The level of the tests.
        seed: Each trial has its own generator made from this, the amount and its number.
    """

    methods: tuple[ComparisonMethod, ...] = METHODS
    levels: tuple[Level, ...] = ("system", "summary")
    coefficient: Coefficient = "pearson"
    trials: int = 1000
    samples: int = 1000
    alpha: float = 0.05
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.trials < 1 or not 0 < self.alpha < 1:
            raise InputError(
                f"{self.trials} trials at {self.alpha:g}",
                expected="at least one trial, and a level between 0 and 1",
            )
        if set(self.methods) != {"williams"}:
            check_samples(self.samples, alpha=self.alpha)


@dataclass(frozen=True, slots=True)
class Power:
    """How often one test rejected H0 against a metric worse by a known amount.

    Attributes:
        amount: Share of the words that the worse metric saw, or its noise.
        level: System or summary.
        method: The test.
        power: Share of the trials with p ≤ α.
        error: Its standard error.
        trials: Trials with a p-value.
        gap: Mean of r(X, Z) − r(Y, Z).
    """

    amount: float
    level: Level
    method: ComparisonMethod
    power: float
    error: float
    trials: int
    gap: float


@dataclass(frozen=True)
class PowerResult:
    """Power of every test, level and amount.

    Attributes:
        rows: One entry each.
        metric: The metric that is made worse.
        against: The human score.
        kind: ``"words"`` or ``"noise"``.
        settings: How trials were made and tested.
        systems: N.
        inputs: M.
        left_out: What was left out to get there.
        signature: Names everything that the numbers depend on.
    """

    rows: tuple[Power, ...]
    metric: str
    against: str
    kind: Kind
    settings: PowerSettings
    systems: int
    inputs: int
    left_out: str
    signature: Signature

    def to_tables(self) -> list[Table]:
        """A row an amount, level and test."""
        rows: list[tuple[Cell, ...]] = [
            (
                100 * r.amount if self.kind == "words" else r.amount,
                r.level,
                r.method.upper() if r.method != "williams" else "Williams",
                r.power,
                r.error,
                r.gap,
                r.trials,
            )
            for r in self.rows
        ]
        first = (
            Column("amount", "% of words", digits=0)
            if self.kind == "words"
            else Column("amount", "noise", digits=2)
        )
        columns = (
            first,
            Column("level"),
            Column("method", "test"),
            Column("power"),
            Column("error", "± se"),
            Column("gap", "r less r", signed=True),
            Column("trials"),
        )
        what = (
            "the same metric on a random share of each summary's words"
            if self.kind == "words"
            else "the same metric plus noise, in standard deviations of its scores"
        )
        left = f"; left out: {self.left_out}" if self.left_out else ""
        notes = (
            f"Share of trials in which {self.metric} is found better than {what}, "
            f"p ≤ {self.settings.alpha:g}, one-tailed.",
            f"{self.systems} systems, {self.inputs} inputs{left}.",
            f"Signature: {self.signature}",
        )
        title = f"Power of tests ({self.settings.coefficient}, against {self.against})"
        return [Table(title, columns, tuple(rows), notes)]

    def to_json(self) -> dict[str, Any]:
        """Every number."""
        return {
            "metric": self.metric,
            "against": self.against,
            "kind": self.kind,
            "settings": asdict(self.settings),
            "systems": self.systems,
            "inputs": self.inputs,
            "left_out": self.left_out,
            "rows": [asdict(r) for r in self.rows],
            "signature": self.signature.to_dict(),
        }  # fmt: skip


def power_on_words(
    scores: Any,
    summaries: Sequence[SystemSummaries],
    references: Sequence[InputReferences],
    against: str | Sequence[str] = "human",
    *,
    variant: RougeVariant = "recall",
    shares: Sequence[float] = WORD_SHARES,
    settings: PowerSettings | None = None,
    journal: str | Path | None = None,
    progress: bool = False,
) -> PowerResult:
    """Power of tests to find ROUGE-1 better than R_k, ROUGE-1 on a random k % of the words.

    That R_k is the worse metric is known (DDR21 §5.2); a trial draws a new one and tests
    H0: r(ROUGE-1, Z) ≤ r(R_k, Z). Power is the share of trials that reject it.

    Args:
        scores: A table with people's scores.
        summaries: The systems' summaries; those that the table lacks are left out.
        references: The references of the same inputs.
        against: The human score; several names mean the mean of several raters.
        variant: ROUGE's recall, F1 or precision.
        shares: Values of k, from 0 to 1.
        settings: How trials are made and tested.
        journal: A file that keeps finished trials; a stopped run given it again goes on.
        progress: Whether to show a bar (on a terminal).

    Raises:
        InputError: No system or input is in both; a share out of range.

    Example:
        >>> from litepyramid.types import ScoreTable
        >>> texts = {"a": ("a b c d", "e f g h"), "b": ("a b x x", "e x x x"), "c": ("x x", "x x")}
        >>> table = ScoreTable(("human",), ("a", "b", "c"), ("1", "2"),
        ...                    np.array([[[4.0, 4.0], [2.0, 1.0], [0.0, 0.0]]]))
        >>> summaries = [SystemSummaries(name, ("1", "2"), both) for name, both in texts.items()]
        >>> references = [InputReferences("1", (("a b c d",),), (False,)),
        ...               InputReferences("2", (("e f g h",),), (False,))]
        >>> settings = PowerSettings(methods=("perm-both",), levels=("system",), trials=3)
        >>> result = power_on_words(table, summaries, references, shares=[0.5], settings=settings)
        >>> result.systems, result.inputs, len(result.rows)
        (3, 2, 1)
    """
    table = as_score_table(scores)
    aligned = align(table, _names(against), against)
    rows = [s for s in summaries if s.system in aligned.systems]
    columns = [r.input for r in references if r.input in aligned.inputs]
    if not rows or not columns:
        raise InputError(
            "the summaries and the scores share no "
            + ("input" if rows else "system"),
            hint="Check that summaries, references and scores name them alike (--ids).",
        )  # fmt: skip
    kept = []
    for system in rows:
        texts = dict(zip(system.inputs, system.texts, strict=True))
        absent = [name for name in columns if name not in texts]
        if absent:
            raise InputError(f"system '{system.system}' has no summary of input '{absent[0]}'")
        kept.append(
            SystemSummaries(system.system, tuple(columns), tuple(texts[c] for c in columns))
        )
    rouge = SampledRouge(
        kept,
        {r.input: [" ".join(parts) for parts in r.references] for r in references},
        variant,
    )
    order = np.ix_(
        [aligned.systems.index(s.system) for s in rows], [aligned.inputs.index(c) for c in columns]
    )
    out = (len(table.systems) - len(rows), len(table.inputs) - len(columns))
    left = f"{out[0]} systems and {out[1]} inputs" if any(out) else ""
    X = rouge.score(1.0, np.random.default_rng(0))
    return _power(
        f"rouge-1_{variant}", X, aligned.truth[order], aligned.against, rouge.score,
        "words", shares, left, settings or PowerSettings(), journal, progress,
    )  # fmt: skip


def power_on_noise(
    scores: Any,
    against: str | Sequence[str] = "human",
    *,
    metric: str,
    amounts: Sequence[float] = NOISE_LEVELS,
    settings: PowerSettings | None = None,
    journal: str | Path | None = None,
    progress: bool = False,
) -> PowerResult:
    """Power of tests to find a metric better than itself with noise: Y = X + a σ_X ε, ε ~ N(0, 1).

    σ_X is the standard deviation of all of X's scores. For tables without summaries, where
    `power_on_words` cannot be used.

    Args:
        scores: A table, as `as_score_table` takes it.
        against: The human score; several names mean the mean of several raters.
        metric: The metric that noise is added to.
        amounts: Values of a, above 0.
        settings: As in `power_on_words`.
        journal: See there.
        progress: See there.

    Raises:
        InputError: Unknown names; an amount that is not above 0; a constant metric.

    Example:
        >>> from litepyramid.types import ScoreTable
        >>> rng = np.random.default_rng(0)
        >>> people = np.arange(8.0)[:, None] + rng.normal(size=(8, 6))
        >>> names = tuple("abcdefgh"), tuple("123456")
        >>> table = ScoreTable(("m", "human"), *names, np.stack([people + 1, people]))
        >>> settings = PowerSettings(methods=("perm-both",), levels=("system",), trials=5)
        >>> result = power_on_noise(table, metric="m", amounts=[9.0], settings=settings)
        >>> result.rows[0].gap > 0
        True
    """
    aligned = align(scores, metric, against)
    X = aligned.values[0]
    spread = float(np.nanstd(X))
    if spread == 0:
        raise InputError(f"'{metric}' is constant: no noise is a share of its spread")
    if any(not amount > 0 for amount in amounts):
        raise InputError(f"noise {list(amounts)}", expected="numbers above 0")

    def noisy(amount: float, rng: np.random.Generator) -> FloatArray:
        return np.asarray(X + amount * spread * rng.standard_normal(X.shape))

    left = str(aligned.left_out) if aligned.left_out else ""
    return _power(
        metric,
        X,
        aligned.truth,
        aligned.against,
        noisy,
        "noise",
        amounts,
        left,
        settings or PowerSettings(),
        journal,
        progress,
    )


def _power(
    metric: str,
    X: FloatArray,
    Z: FloatArray,
    against: str,
    degraded: Degraded,
    kind: Kind,
    amounts: Sequence[float],
    left_out: str,
    settings: PowerSettings,
    journal: str | Path | None,
    progress: bool,
) -> PowerResult:
    """Draws the worse metric, tests, counts; `power_on_words` and `power_on_noise` describe it."""
    if len(X) < 2:
        raise InputError(
            f"only {len(X)} system has scores of '{metric}' and '{against}'",
            expected="at least two to correlate",
        )
    if not amounts:
        raise InputError("no amount by which the metric is worse", expected="at least one")
    levels, methods, trials = settings.levels, settings.methods, settings.trials
    state = {
        "run": f"power {kind}",
        "metric": metric,
        "against": against,
        "methods": list(methods),
        "levels": list(levels),
        "coefficient": settings.coefficient,
        "samples": settings.samples,
        "seed": settings.seed,
        "sums": [float(np.nansum(X)), float(np.nansum(Z))],
    }
    from tqdm import tqdm

    found: dict[float, list[Any]] = {}
    with (
        Journal(journal, state) as done,
        tqdm(total=trials * len(amounts), desc="trials", disable=None if progress else True) as bar,
    ):
        for amount in amounts:
            found[amount] = []
            for start in range(0, trials, BLOCK):
                key = f"{amount:g} {start}"
                if key not in done.done:
                    block = []
                    for number in range(start, start + BLOCK):
                        rng = piece_rng(settings.seed, "power", f"{amount:g}", str(number))
                        pair = np.stack([X, degraded(amount, rng)])
                        draw = int(rng.integers(2**31))
                        block.append(_tests(pair, Z, settings, draw))
                    done.add(key, block)
                found[amount] += done.done[key]
                bar.update(min(BLOCK, trials - start))
    rows = []
    for amount in amounts:
        values = np.array(found[amount][:trials], dtype=np.float64)
        for i, level in enumerate(levels):
            for j, method in enumerate(methods):
                p = values[:, i, j, 0]
                p = p[~np.isnan(p)]
                power = float((p <= settings.alpha).mean()) if p.size else nan
                error = sqrt(power * (1 - power) / p.size) if p.size else nan
                gap = float(np.nanmean(values[:, i, j, 1]))
                rows.append(Power(amount, level, method, power, error, int(p.size), gap))
    signature = Signature.of(
        metric=metric,
        against=against,
        kind=kind,
        coefficient=settings.coefficient,
        alpha=f"{settings.alpha:g}",
        trials=trials,
        k=settings.samples,
        seed=settings.seed,
    )
    return PowerResult(
        tuple(rows), metric, against, kind, settings, X.shape[0], X.shape[1], left_out, signature
    )


def _tests(
    pair: FloatArray,
    Z: FloatArray,
    settings: PowerSettings,
    seed: int,
) -> list[list[list[float | None]]]:
    """Per level and method the p-value of H0 (None: no test) and the difference of correlations."""
    result: list[list[list[float | None]]] = []
    for level in settings.levels:
        row: list[list[float | None]] = []
        for method in settings.methods:
            tests = compare_pairs(
                pair, Z, level, settings.coefficient, method, k=settings.samples, seed=seed
            )
            p = float(tests.p_values[0, 1])
            gap = float(tests.correlations[0] - tests.correlations[1])
            row.append([None if isnan(p) else p, None if isnan(gap) else gap])
        result.append(row)
    return result


def _names(against: str | Sequence[str]) -> list[str]:
    return [against] if isinstance(against, str) else list(against)
