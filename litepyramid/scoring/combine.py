"""Combining people and judge: scores on all inputs from labels on a few
(prediction-powered)."""

from dataclasses import replace
from itertools import compress
from math import comb
from typing import Any

import numpy as np

from litepyramid.data.scores import HUMAN, Scores
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.identity import fingerprint
from litepyramid.scoring.combined import CombinedScores
from litepyramid.scoring.estimated import Estimated, combined_scores
from litepyramid.scoring.estimates import (
    FEWEST,
    Target,
    difference,
    estimate,
    for_target,
    joined,
    prediction_powered,
)
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.sampled import (
    SampledLabels,
    human_on,
    on_result,
    read_sample,
    system_draws,
)
from litepyramid.scoring.saved_result import read_saved, with_people
from litepyramid.stats import all_pairs, check_share
from litepyramid.text import counted, cut
from litepyramid.types import Ends, Fields, FloatArray, ScoresLike


def combine(
    scores: ScoresLike,
    *,
    labels: Any = None,
    metric: str | None = None,
    human: str = "human",
    target: Target = "inputs",
    assume_random: bool = False,
    confidence: float = 0.95,
) -> CombinedScores:
    """Estimate human scores from labels of a sample and a judge's scores of everything.

    Systems, and differences of two systems, are estimated by prediction-powered
    inference. The sample may be whole inputs, with all systems labelled on the same
    ones, or summaries or single facts of known probability (`estimates.estimate`).

    Args:
        scores: A result of `score` with labels on a random sample of the inputs, or its
            file; or a table of scores with a human column, empty where nobody labelled.
        labels: Labels of a sample that `budget export --labels` drew: what
            `budget import` gave or wrote. The scores are then a result of `score`.
        metric: The judge's metric in a table.
        human: The human column in a table.
        target: ``inputs``: intervals for the scores that labels on all these inputs
            would give; ``population``: for the population that these inputs are a
            sample of.
        assume_random: Take the labelled inputs for a random sample even if they look
            chosen.
        confidence: Confidence level of the intervals; tests are at 1 less it.

    Raises:
        InputError: No human scores, fewer than five labelled inputs or draws, gaps in
            the judge's scores, or labels on the first (or last) inputs by id, which is
            not a sample.

    Example:
        >>> judge = [.1, .9, .4, .5, .3, .8, .2, .6]
        >>> people = [.2, 1, None, .6, .4, .9, .3, None]
        >>> rows = []
        >>> for i, scores in enumerate(zip(judge, people)):
        ...     for name, score in zip(("judge", "human"), scores):
        ...         row = {"system": "a", "input": i, "metric": name, "score": score}
        ...         rows.append(row)
        >>> combine(rows).systems[0].labels
        6

    Command line:
        $ litepyramid combine scores.json --target population
        $ litepyramid combine scores.json --labels judged
    """
    check_share("confidence", confidence)
    choose("target", target, Target)
    sampled = labels is not None
    why = "beside labels of a sample"
    no_effect(combine, sampled, why, metric=metric, human=human)
    result = read_saved(scores)
    scores = scores if result is None else result
    limits = (-np.inf, np.inf)
    if result is not None:
        limits = result.rule.limits(result.units)

    if labels is None:
        if result is not None and result.human is None:
            raise InputError(
                "no human labels",
                expected="a result that was scored with labels, or labels of a sample",
                hint="Score with the labels that you have (score --labels PATH); or "
                "draw a sample (budget export --labels 100), import the answers "
                "(budget import -o FOLDER), and name that folder: --labels FOLDER.",
            )
        judge, people, signature = with_people(scores, metric, human)
        estimated = _of_inputs(judge, people, target, limits, confidence)
        # Those who fill in a table from the top have not drawn a sample.
        if not assume_random:
            _check_sample(people)
        about = {"scores_sha": fingerprint([judge.sha, people.sha])}
    else:
        sample = read_sample(getattr(labels, "sample", None) or labels)
        if result is None:
            raise InputError(
                "labels of a sample with scores that are no result of score",
                expected="the result, or its file: it says which units there are",
            )

        signature = result.signature
        judge = result.table.one(result.name)
        if sample.spread == "inputs":
            values = human_on(result, sample)
            people = Scores.of({HUMAN: values}, result.systems, result.inputs)
            estimated = _of_inputs(judge, people, target, limits, confidence)
        else:
            estimated = _of_draws(result, sample, target, confidence)

        estimated = replace(estimated, unanswered=sample.unanswered)
        about = {
            "scores_sha": judge.sha,
            "sample_sha": sample.sha,
        }

    return combined_scores(
        estimated,
        limits,
        confidence,
        signature,
        about,
    )


def _of_inputs(
    judge: Scores, people: Scores, target: Target, limits: Ends, confidence: float
) -> Estimated:
    """Estimates from human scores of whole inputs, the same for all systems."""
    # A system that nobody labelled is left out.
    labelled = (~np.isnan(people.values[0])).sum(axis=1)
    rated = labelled >= FEWEST
    if not rated.any():
        most = int(labelled.argmax())
        raise InputError(
            f"human scores of {counted(int(labelled[most]), 'input')} of "
            f"'{cut(judge.systems[most])}', which has most",
            expected=f"at least {FEWEST} labelled inputs",
        )
    systems = tuple(compress(judge.systems, rated))
    f = judge.values[0, rated]
    h = people.values[0, rated]

    if len(gap := np.argwhere(np.isnan(f))):
        raise InputError(
            f"no score of '{systems[gap[0][0]]}' on input '{judge.inputs[gap[0][1]]}'",
            expected="the judge's score for every summary",
        )

    labelled = ~np.isnan(h)
    numbers = labelled.sum(axis=1)
    complete = bool(labelled.all(axis=1).any())
    target = "population" if complete else target

    # Systems that were labelled on other inputs each are not compared.
    i, j = all_pairs(len(h)).T
    shared = (labelled[i] & labelled[j]).sum(axis=1)
    i, j = i[shared >= FEWEST], j[shared >= FEWEST]
    # Of a scale that is not known, what people used.
    width = limits[1] - limits[0]
    if np.isinf(width):
        width = float(np.nanmax(h) - np.nanmin(h))
    options: Fields = {"target": target, "confidence": confidence}
    fewest = int(np.append(numbers, shared[shared >= FEWEST]).min())

    return Estimated(
        metric=judge.metrics[0],
        systems=systems,
        judge=f.mean(axis=1),
        pairs=np.stack([i, j]),
        means=prediction_powered(h, f, width=width, **options),
        # A difference spans the scale twice.
        differences=prediction_powered(
            h[i] - h[j], f[i] - f[j], width=2 * width, **options
        ),
        inputs=len(judge.inputs),
        labels=int(labelled.any(axis=0).sum()),
        target=target,
        complete=complete,
        fewest=fewest,
        unlabelled=tuple(compress(judge.systems, ~rated)),
    )


def _of_draws(
    result: ScoreResult, sample: SampledLabels, target: Target, confidence: float
) -> Estimated:
    """Estimates from facts or summaries that were drawn for each system by itself."""
    if np.isnan(result.presence).any():
        missing = counted(int(np.isnan(result.presence).sum()), "fact")
        raise InputError(
            f"the judge has no judgement of {missing}",
            expected="the judge's presence of every fact",
        )

    draws = system_draws(result, sample, confidence)
    unseen = draws[0].drawn.unseen(len(result.inputs))
    means = joined([estimate(one.drawn) for one in draws])
    labelled = ~np.isnan(on_result(result, sample).labels.values)
    means = means._replace(labels=labelled.sum(axis=1))

    weights = means.weight.tolist()
    by_input = [one.by_input(w) for one, w in zip(draws, weights, strict=True)]
    # (N, M) human scores, and the variances of their errors.
    total, within = np.array(by_input).swapaxes(0, 1)
    i, j = all_pairs(len(draws)).T
    differences = difference(means.take(i), means.take(j), len(result.inputs))

    numbers = np.array([len(one.inputs) for one in draws])
    complete = not numbers.all()
    target = "population" if complete else target
    return Estimated(
        metric=result.name,
        systems=result.systems,
        judge=result.values.mean(axis=1),
        pairs=np.stack([i, j]),
        means=for_target(means, _between(total, within), target, unseen),
        differences=for_target(
            differences,
            _between(total[i] - total[j], within[i] + within[j]),
            target,
            4 * unseen,  # twice as wide
        ),
        inputs=len(result.inputs),
        labels=int(labelled.sum()),
        target=target,
        complete=complete,
        fewest=min([number for number in numbers.tolist() if number], default=0),
        spread=sample.spread,
    )


def _between(scores: FloatArray, noise: FloatArray) -> FloatArray:
    """Variance of the mean of M inputs as a sample: inputs are what differs."""
    spread = scores.var(axis=1, ddof=1) - noise.mean(axis=1)
    return np.asarray(np.maximum(spread, 0.0) / scores.shape[1])


def _check_sample(people: Scores) -> None:
    """Raises InputError if the labelled inputs are the first or the last ones of
    many."""
    known = np.isfinite(people.values[0])
    labelled = np.asarray(known.any(axis=0))
    n = int(labelled.sum())
    total = len(labelled)
    ends = {"first": labelled[:n], "last": labelled[total - n :]}

    for where, some in ends.items():
        # Of few inputs even a random sample may be the first ones.
        if some.all() and comb(total, n) > 1000:
            raise InputError(
                f"the labelled inputs are the {where} {n} of {total} by id: not a "
                "random sample",
                expected="a random sample of the inputs",
                hint="If the ids are in random order anyway, say so (assume_random).",
            )
