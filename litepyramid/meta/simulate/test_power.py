"""How often tests find the better of two metrics, where one is worse by design (DDR21 §5.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import align
from litepyramid.meta.core.coefficients import Coefficient
from litepyramid.meta.core.journal import piece_rng, run_pieces
from litepyramid.meta.core.levels import Level, several
from litepyramid.meta.intervals import method_name
from litepyramid.meta.significance import ComparisonMethod, compare_pairs
from litepyramid.metrics.degraded import SampledRouge
from litepyramid.metrics.rouge import RougeVariant
from litepyramid.stats import check_samples, mean_of_scored
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, InputReferences, Signature, SystemSummaries, fingerprint

BLOCK = 10
Degraded = Callable[[float, np.random.Generator], FloatArray]
WORD_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NOISE_LEVELS = (0.25, 0.5, 1.0, 2.0, 4.0)
Kind = Literal["words", "noise"]
METHODS: tuple[ComparisonMethod, ...] = ("perm-both", "boot-both", "williams")


@dataclass(frozen=True, slots=True)
class PowerSettings:
    """How trials are made and tested.

    Attributes:
        method: One or several of the comparison methods of `litepyramid.meta.significance`.
        level: One or several of system, summary, global.
        coefficient: DDR21's Fig. 3 uses ``"pearson"``.
        trials: Worse metrics drawn for each amount (DDR21: 1,000).
        samples: Permutations or bootstrap samples a test.
        alpha: The level of the tests.
        seed: Each trial has its own generator made from this, the amount and its number.
    """

    method: ComparisonMethod | tuple[ComparisonMethod, ...] = METHODS
    level: Level | tuple[Level, ...] = ("system", "summary")
    coefficient: Coefficient = "pearson"
    trials: int = 1000
    samples: int = 1000
    alpha: float = 0.05
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.trials < 1 or not 0 < self.alpha < 1:
            raise InputError(
                f"{counted(self.trials, 'trial')} at {self.alpha:g}",
                expected="at least one trial, and a level between 0 and 1",
            )
        if set(several(self.method)) != {"williams"}:
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
class PowerResult(Result):
    """Power of every test, level and amount.

    Attributes:
        rows: One entry each.
        metric: The metric that is made worse.
        human: The human score.
        kind: ``"words"`` or ``"noise"``.
        settings: How trials were generated and tested.
        systems: N, the number of systems.
        inputs: M, the number of inputs.
        left_out: What was left out.
        signature: Names everything that the numbers depend on.
    """

    rows: tuple[Power, ...]
    metric: str
    human: str
    kind: Kind
    settings: PowerSettings
    systems: int
    inputs: int
    left_out: str
    signature: Signature

    def to_tables(self) -> list[Table]:
        """A row an amount, level and test."""
        words = self.kind == "words"
        rows = [
            row(r, amount=100 * r.amount if words else r.amount, method=method_name(r.method))
            for r in self.rows
        ]
        columns = (
            Column("amount", "% of words", digits=0) if words else Column("amount", "noise", 2),
            *("level", Column("method", "test"), "power", Column("error", "± se")),
            *(Column("gap", "r less r", signed=True), "trials"),
        )
        what = "on a random share of each summary's words"
        if not words:
            what = "plus noise, in standard deviations of its scores"
        left = f"; left out: {self.left_out}" if self.left_out else ""
        notes = (
            f"Share of trials in which {self.metric} is found better than the same metric {what}, "
            f"p ≤ {self.settings.alpha:g}, one-tailed.",
            f"{counted(self.systems, 'system')}, {counted(self.inputs, 'input')}{left}.",
            f"Signature: {self.signature}",
        )
        title = f"Power of tests ({self.settings.coefficient}, against {self.human})"
        return [Table.of(title, columns, rows, notes)]


def power_on_words(
    scores: Any,
    summaries: Sequence[SystemSummaries],
    references: Sequence[InputReferences],
    human: str | Sequence[str] = "human",
    *,
    variant: RougeVariant = "recall",
    shares: Sequence[float] = WORD_SHARES,
    settings: PowerSettings | None = None,
    journal: str | Path | None = None,
) -> PowerResult:
    """Power of tests to find ROUGE-1 better than R_k, ROUGE-1 on a random k % of the words.

    R_k is known to be the worse metric (DDR21 §5.2); a trial draws a new one and tests
    H0: r(ROUGE-1, Z) ≤ r(R_k, Z). Power is the share of trials that reject it.

    Args:
        scores: A table with human scores.
        summaries: The systems' summaries; those not in the table are left out.
        references: The references of the same inputs.
        human: The human score; several names mean the mean of several raters.
        variant: ROUGE's recall, F1 or precision.
        shares: Values of k, from 0 to 1.
        settings: How trials are generated and tested.
        journal: A file that keeps finished trials; a stopped run given it again continues.

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
        >>> settings = PowerSettings(method="perm-both", level="system", trials=3)
        >>> result = power_on_words(table, summaries, references, shares=[0.5], settings=settings)
        >>> result.systems, result.inputs, len(result.rows)
        (3, 2, 1)
    """
    table = read_scores(scores)
    aligned = align(table, several(human), human)
    rows = [s for s in summaries if s.system in aligned.systems]
    columns = [r.input for r in references if r.input in aligned.inputs]
    if not rows or not columns:
        raise InputError(
            f"the summaries and the scores share no {'input' if rows else 'system'}",
            hint="Check that summaries, references and scores use the same names (--ids).",
        )
    kept = []
    for system in rows:
        texts = dict(zip(system.inputs, system.texts, strict=True))
        absent = [name for name in columns if name not in texts]
        if absent:
            raise InputError(f"system '{system.system}' has no summary of input '{absent[0]}'")
        own = tuple(texts[name] for name in columns)
        kept.append(SystemSummaries(system.system, tuple(columns), own))
    targets = {r.input: [" ".join(parts) for parts in r.references] for r in references}
    rouge = SampledRouge(kept, targets, variant)
    order = np.ix_(
        [aligned.systems.index(s.system) for s in rows], [aligned.inputs.index(c) for c in columns]
    )
    out = (len(table.systems) - len(rows), len(table.inputs) - len(columns))
    left = f"{counted(out[0], 'system')} and {counted(out[1], 'input')}" if any(out) else ""
    X = rouge.score(1.0, np.random.default_rng(0))
    name, people = f"rouge-1_{variant}", (aligned.Z[order], aligned.human)
    return _power(name, X, *people, rouge.score, "words", shares, left, settings, journal)


def power_on_noise(
    scores: Any,
    human: str | Sequence[str] = "human",
    *,
    metric: str,
    amounts: Sequence[float] = NOISE_LEVELS,
    settings: PowerSettings | None = None,
    journal: str | Path | None = None,
) -> PowerResult:
    """Power of tests to find a metric better than itself plus noise: Y = X + a σ_X ε, ε ~ N(0, 1).

    σ_X is the standard deviation of all of X's scores. For tables without summaries, where
    `power_on_words` cannot be used.

    Args:
        scores: A table, as `read_scores` takes it.
        human: The human score; several names mean the mean of several raters.
        metric: The metric that noise is added to.
        amounts: Values of a, above 0.
        settings: As in `power_on_words`.
        journal: As in `power_on_words`.

    Raises:
        InputError: Unknown names; an amount that is not above 0; a constant metric.

    Example:
        >>> from litepyramid.types import ScoreTable
        >>> rng = np.random.default_rng(0)
        >>> people = np.arange(8.0)[:, None] + rng.normal(size=(8, 6))
        >>> names = tuple("abcdefgh"), tuple("123456")
        >>> table = ScoreTable(("m", "human"), *names, np.stack([people + 1, people]))
        >>> settings = PowerSettings(method="perm-both", level="system", trials=5)
        >>> result = power_on_noise(table, metric="m", amounts=[9.0], settings=settings)
        >>> result.rows[0].gap > 0
        True
    """
    aligned = align(scores, metric, human)
    X = aligned.values[0]
    spread = float(np.nanstd(X))
    if spread == 0:
        raise InputError(f"'{metric}' is constant, so noise cannot be scaled to its spread")
    if any(not amount > 0 for amount in amounts):
        raise InputError(f"noise {list(amounts)}", expected="numbers above 0")

    def noisy(amount: float, rng: np.random.Generator) -> FloatArray:
        return np.asarray(X + amount * spread * rng.standard_normal(X.shape))

    left = str(aligned.left_out) if aligned.left_out else ""
    people = aligned.Z, aligned.human
    return _power(metric, X, *people, noisy, "noise", amounts, left, settings, journal)


def _power(
    metric: str,
    X: FloatArray,
    Z: FloatArray,
    human: str,
    degraded: Degraded,
    kind: Kind,
    amounts: Sequence[float],
    left_out: str,
    settings: PowerSettings | None,
    journal: str | Path | None,
) -> PowerResult:
    """Draws the worse metric, tests, counts; `power_on_words` and `power_on_noise` describe it."""
    settings = settings or PowerSettings()
    if len(X) < 2:
        raise InputError(
            f"only {counted(len(X), 'system has', 'systems have')} scores of '{metric}' "
            f"and '{human}'",
            expected="at least two to correlate",
        )
    if not amounts:
        raise InputError("no amount by which the metric is worse", expected="at least one")
    levels, methods, trials = several(settings.level), several(settings.method), settings.trials
    state = {
        "metric": metric,
        "human": human,
        "kind": kind,
        "coefficient": settings.coefficient,
        "samples": settings.samples,
        "seed": settings.seed,
        "scores_sha": fingerprint([X.tolist(), Z.tolist()]),
    }
    work = {"run": "power", "method": methods, "level": levels}
    tests = list(product(levels, methods))
    starts = range(0, trials, BLOCK)

    def trial(amount: str, number: int) -> list[list[float | None]]:
        """Per level and test the p-value of H0 (None: no test) and the difference of r."""
        rng = piece_rng(settings.seed, "power", amount, str(number))
        pair, seed = np.stack([X, degraded(of[amount], rng)]), int(rng.integers(2**31))
        found = []
        for level, method in tests:
            made = compare_pairs(
                pair, Z, level, settings.coefficient, method, samples=settings.samples, seed=seed
            )
            values = float(made.p_values[0, 1]), float(made.correlations[0] - made.correlations[1])
            found.append([None if isnan(value) else value for value in values])
        return found

    def block(key: str) -> list[Any]:
        amount, start = key.split()
        return [trial(amount, number) for number in range(int(start), int(start) + BLOCK)]

    of = {f"{amount:g}": amount for amount in amounts}
    blocks = run_pieces(
        journal,
        work | state,
        [f"{amount} {start}" for amount in of for start in starts],
        block,
        "simulating",
        f"blocks of {BLOCK} trials",
    )
    rows = []
    for place, amount in enumerate(of.values()):
        own = blocks[place * len(starts) : (place + 1) * len(starts)]
        made = np.array([np.ravel(t) for part in own for t in part][:trials], dtype=np.float64)
        values = made.reshape(trials, len(tests), 2)
        for (level, method), (p, gaps) in zip(tests, values.transpose(1, 2, 0), strict=True):
            number = int((~np.isnan(p)).sum())
            power = int((p <= settings.alpha).sum()) / number if number else nan
            error = sqrt(power * (1 - power) / max(1, number))
            rows.append(Power(amount, level, method, power, error, number, mean_of_scored(gaps)))
    signature = Signature.of(trials=trials, alpha=f"{settings.alpha:g}", **state)
    return PowerResult(
        tuple(rows), metric, human, kind, settings, X.shape[0], X.shape[1], left_out, signature
    )
