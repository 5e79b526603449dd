"""How often tests find the better of two metrics, where one is worse by design (DDR21 §5.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores
from litepyramid.meta.alignment import align
from litepyramid.meta.core.journal import piece_rng, run_pieces
from litepyramid.meta.core.levels import several
from litepyramid.meta.significance import compare_pairs
from litepyramid.meta.simulate.power_result import Kind, Power, PowerResult, PowerSettings
from litepyramid.metrics.degraded import SampledRouge
from litepyramid.metrics.rouge import RougeVariant
from litepyramid.text import counted
from litepyramid.types import FloatArray, InputReferences, Signature, SystemSummaries, fingerprint

BLOCK = 10
Degraded = Callable[[float, np.random.Generator], FloatArray]
WORD_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
NOISE_LEVELS = (0.25, 0.5, 1.0, 2.0, 4.0)


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
            "the summaries and the scores share no "
            + ("input" if rows else "system"),
            hint="Check that summaries, references and scores use the same names (--ids).",
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
    left = f"{counted(out[0], 'system')} and {counted(out[1], 'input')}" if any(out) else ""
    X = rouge.score(1.0, np.random.default_rng(0))
    return _power(
        f"rouge-1_{variant}", X, aligned.Z[order], aligned.human, rouge.score,
        "words", shares, left, settings or PowerSettings(), journal,
    )  # fmt: skip


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
    return _power(
        metric,
        X,
        aligned.Z,
        aligned.human,
        noisy,
        "noise",
        amounts,
        left,
        settings or PowerSettings(),
        journal,
    )


def _power(
    metric: str,
    X: FloatArray,
    Z: FloatArray,
    human: str,
    degraded: Degraded,
    kind: Kind,
    amounts: Sequence[float],
    left_out: str,
    settings: PowerSettings,
    journal: str | Path | None,
) -> PowerResult:
    """Draws the worse metric, tests, counts; `power_on_words` and `power_on_noise` describe it."""
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
    starts = range(0, trials, BLOCK)

    def block(key: str) -> list[Any]:
        amount, start = key.split()
        found = []
        for number in range(int(start), int(start) + BLOCK):
            rng = piece_rng(settings.seed, "power", amount, str(number))
            pair = np.stack([X, degraded(of[amount], rng)])
            found.append(_tests(pair, Z, settings, int(rng.integers(2**31))))
        return found

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
        values = np.array([t for part in own for t in part][:trials], dtype=np.float64)
        for i, level in enumerate(levels):
            for j, method in enumerate(methods):
                p = values[:, i, j, 0]
                p = p[~np.isnan(p)]
                power = float((p <= settings.alpha).mean()) if p.size else nan
                error = sqrt(power * (1 - power) / p.size) if p.size else nan
                gap = float(np.nanmean(values[:, i, j, 1]))
                rows.append(Power(amount, level, method, power, error, int(p.size), gap))
    signature = Signature.of(trials=trials, alpha=f"{settings.alpha:g}", **state)
    return PowerResult(
        tuple(rows), metric, human, kind, settings, X.shape[0], X.shape[1], left_out, signature
    )


def _tests(
    pair: FloatArray,
    Z: FloatArray,
    settings: PowerSettings,
    seed: int,
) -> list[list[list[float | None]]]:
    """Per level and method the p-value of H0 (None: no test) and the difference of correlations."""
    result: list[list[list[float | None]]] = []
    for level in several(settings.level):
        row: list[list[float | None]] = []
        for method in several(settings.method):
            tests = compare_pairs(
                pair, Z, level, settings.coefficient, method, samples=settings.samples, seed=seed
            )
            p = float(tests.p_values[0, 1])
            gap = float(tests.correlations[0] - tests.correlations[1])
            row.append([None if isnan(p) else p, None if isnan(gap) else gap])
        result.append(row)
    return result
