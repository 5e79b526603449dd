"""Few labels: combining them with a judge, which to collect, and how many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litepyramid.annotation.presence_plan import (
    PresenceBy,
    PresencePlan,
    plan_presence,
    read_presence_plan,
)
from litepyramid.errors import InputError
from litepyramid.files import read_text
from litepyramid.io.coerce import as_names
from litepyramid.io.columns import read_columns
from litepyramid.io.scores import read_scores, select_matrix
from litepyramid.scoring.combine import CombinedScores
from litepyramid.scoring.combine import combine as combine_matrices
from litepyramid.scoring.label_power import LabelPower
from litepyramid.scoring.label_power import label_power as simulate
from litepyramid.scoring.powered import Method, Target
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.saved import read_result
from litepyramid.types import ScoreMatrix, Signature, fingerprint


def combine(
    scores: Any,
    *,
    metric: str | None = None,
    human: str = "human",
    plan: str | Path | PresencePlan | None = None,
    assume_random: bool = False,
    target: Target = "inputs",
    method: Method = "cross-fit",
    confidence: float = 0.95,
    alpha: float = 0.05,
    columns: Any = None,
) -> CombinedScores:
    """Human scores from labels on some inputs and a judge's scores on all (prediction-powered).

    Args:
        scores: A result of `score` with labels on some of the inputs (``partial_labels=True``),
            its JSON; or a table of scores with a human column, empty where nobody judged.
        metric: The judge's metric in a table.
        human: The human column in a table.
        plan: The plan (`plan_labels`) by which the labelled inputs were drawn; None if at random.
        assume_random: Treat them as a random sample even if they do not look like one.
        target: ``inputs``: intervals for the scores that labels on all these inputs would give;
            ``population``: for the population that these inputs are a sample of.
        method: ``cross-fit``, or as other packages do (`scoring.powered.prediction_powered`).
        confidence: Confidence level of the intervals.
        alpha: Significance level.
        columns: Own column names, by known column.

    Raises:
        InputError: No human scores, too few, or labelled inputs that are not a sample.

    Example:
        >>> rows = [
        ...     {"system": "a", "input": i, "metric": name, "score": value}
        ...     for i, f in enumerate([.1, .9, .4, .5, .3, .8, .2, .6])
        ...     for name, value in (("judge", f), ("human", f + .1 if i in (1, 3, 4, 6) else None))
        ... ]
        >>> combine(rows).systems[0].labels
        4
    """
    judge, people, signature = _matrices(scores, metric, human, columns)
    drawn = read_presence_plan(plan) if isinstance(plan, str | Path) else plan
    return combine_matrices(
        judge,
        people,
        design=None if drawn is None else drawn.design,
        assume_random=assume_random,
        target=target,
        method=method,
        confidence=confidence,
        alpha=alpha,
        signature=signature,
    )


def plan_labels(
    scores: Any,
    *,
    metric: str | None = None,
    inputs: int | None = None,
    cost: float | None = None,
    per_judgement: float | None = None,
    width: float | None = None,
    by: PresenceBy | None = None,
    strata: int = 4,
    annotators: int | None = None,
    per_task: int = 1,
    checks: int = 0,
    seconds: float | None = None,
    seed: int = 12345,
    columns: Any = None,
) -> PresencePlan:
    """Draws the inputs whose summaries people should judge; see `plan_presence`.

    Args:
        scores: A result of `score`, its JSON, or a table of scores.
        metric: Which metric of a table.
        inputs: Label this many inputs; or
        cost: as many as this buys at `per_judgement`; or
        width: as many as make a system's expected 95 % interval so wide.
        per_judgement: What one yes or no costs.
        by: ``error`` (where presences are known), ``score`` or ``random``.
        strata: How many strata.
        annotators: How many people judge.
        per_task: How many of them judge each summary.
        checks: How many summaries all of them judge.
        seconds: How long one answer takes.
        seed: Seed of the draw.
        columns: Own column names, by known column.

    Raises:
        InputError: The budget is given in no way or several, or is too small.
    """
    found = _scored(scores, metric, columns)
    return plan_presence(
        found if isinstance(found, ScoreResult) else found[0],
        inputs=inputs,
        cost=cost,
        per_judgement=per_judgement,
        width=width,
        by=by,
        strata=strata,
        annotators=annotators,
        per_task=per_task,
        checks=checks,
        seconds=seconds,
        seed=seed,
    )


def label_power(
    difference: float,
    pilot: Any = None,
    *,
    metric: str | None = None,
    human: str = "human",
    inputs: int | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    samples: int = 1000,
    seed: int = 12345,
    columns: Any = None,
) -> LabelPower:
    """How many labelled inputs reveal a difference between two systems, with and without the judge.

    Args:
        difference: The difference between human scores to detect, for example 0.02.
        pilot: Like `scores` of `combine`; None: differences as in REALSumm.
        metric: The judge's metric in a table.
        human: The human column in a table.
        inputs: How many inputs the judge scores; None: ten times those labelled.
        power: The share of tests that should detect it.
        alpha: Significance level.
        samples: Simulated tests for each number of labels.
        seed: Seed of the draws.
        columns: Own column names, by known column.

    Raises:
        InputError: The pilot has too few human scores.
    """
    judge, people = (None, None) if pilot is None else _matrices(pilot, metric, human, columns)[:2]
    return simulate(
        difference,
        judge,
        people,
        inputs=inputs,
        power=power,
        alpha=alpha,
        samples=samples,
        seed=seed,
    )


def _scored(scores: Any, metric: str | None, columns: Any) -> Any:
    """A result of `score`; or of a table its judge's scores and the table."""
    if isinstance(scores, ScoreResult):
        return scores
    if isinstance(scores, str | Path) and (
        read_columns(scores)
        or (Path(scores).suffix == ".json" and '"presence"' in read_text(scores))
    ):
        return read_result(scores)
    table = read_scores(scores, columns=as_names(None, columns)["columns"])
    return select_matrix(table, metric), table


def _matrices(
    scores: Any, metric: str | None, human: str, columns: Any
) -> tuple[ScoreMatrix, ScoreMatrix, Signature]:
    found = _scored(scores, metric, columns)
    if isinstance(found, ScoreResult):
        people = found.human_matrix
        if people is None:
            raise InputError("no human labels", expected="a result that was scored with labels")
        return found.matrix, people, found.signature
    judge, table = found
    signature = Signature.of(metric=judge.metric, inputs_sha=fingerprint(judge.inputs))
    return judge, table.matrix(human), signature
