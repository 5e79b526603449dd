"""Combining people and judge: scores on all inputs from labels on a few
(prediction-powered)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import compress
from math import comb
from typing import Any

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.scoring.combined import (
    Combined,
    CombinedPair,
    CombinedScore,
    CombinedScores,
)
from litepyramid.scoring.comparable import versions_of
from litepyramid.scoring.estimates import (
    FEWEST,
    ROW,
    Rows,
    Target,
    estimate,
    prediction_powered,
    set_ends,
    with_intervals,
)
from litepyramid.scoring.inference import (
    FEW,
    letter_groups,
    matrices_sha,
)
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.sampled import (
    SampledLabels,
    Spread,
    human_on,
    read_sample,
    system_draws,
)
from litepyramid.scoring.saved_result import read_saved, scored_and_labelled
from litepyramid.stats import (
    EQUAL_WITHIN,
    adjust_p_values,
    all_pairs,
    by_id,
    check_share,
    t_p_values,
    t_reach,
    undefined,
    unseen_share,
)
from litepyramid.text import counted, cut
from litepyramid.types import (
    BoolArray,
    Ends,
    Fields,
    FloatArray,
    IntArray,
    Names,
    ScoreMatrix,
    ScoresLike,
    Signature,
)


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
            file; or a table of scores with a human column, empty where nobody labelled;
            or two matrices.
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
    result = read_saved(scores)
    scores = scores if result is None else result

    if labels is None:
        judge, people, signature = scored_and_labelled(scores, metric, human)
        estimates = _of_inputs(judge, people, target, confidence)
        # Those who fill in a table from the top have not drawn a sample.
        if not assume_random:
            _check_sample(people)
        about = {"scores_sha": matrices_sha(judge, people)}
    else:
        sample = read_sample(getattr(labels, "sample", None) or labels)
        if result is None:
            raise InputError(
                "labels of a sample with scores that are no result of score",
                expected="the result, or its file: it says which units there are",
            )

        signature = result.signature
        if sample.spread == "inputs":
            values = human_on(result, sample)
            people = ScoreMatrix("human", result.systems, result.inputs, values)
            estimates = _of_inputs(result.matrix, people, target, confidence)
        else:
            estimates = _of_draws(result, sample, target, confidence)

        estimates = replace(estimates, unanswered=sample.unanswered)
        about = {
            "scores_sha": matrices_sha(result.matrix),
            "sample_sha": sample.sha,
        }

    limits = (-np.inf, np.inf)
    if result is not None:
        limits = result.rule.limits(result.layout)
    return _combined(
        estimates,
        limits,
        confidence,
        signature,
        about,
    )


@dataclass(frozen=True)
class _Estimates:
    """Rows of `estimates.ROW` of N systems and of every two of them.

    Attributes:
        judge: (N,) the judge's own scores.
        pairs: (2, P) the places of the systems of each difference.
        complete: Whether labels leave nothing open, so that the target is the
            population.
        fewest: Draws of the system, or of the pair, that has fewest.
        unlabelled: Systems that are left out, with too few labels.
    """

    metric: str
    systems: Names
    judge: FloatArray
    pairs: IntArray
    means: Rows
    differences: Rows
    inputs: int
    labels: int
    target: Target
    complete: bool
    fewest: int
    unanswered: int = 0
    unlabelled: Names = ()
    spread: Spread = "inputs"


def _of_inputs(
    judge: ScoreMatrix, people: ScoreMatrix, target: Target, confidence: float
) -> _Estimates:
    """Estimates from human scores of whole inputs, the same for all systems."""
    if (judge.systems, judge.inputs) != (people.systems, people.inputs):
        raise InputError(
            "the judge's scores and the human scores are for different systems or "
            "inputs",
            expected="the same ones, in the same order",
        )

    rows = by_id(judge.systems)
    columns = by_id(judge.inputs)
    f = judge.values[np.ix_(rows, columns)]
    h = people.values[np.ix_(rows, columns)]

    # A system that nobody labelled is left out, unless that leaves none.
    rated = (~np.isnan(h)).sum(axis=1) >= FEWEST
    if not rated.any():
        rated[:] = True
    names = [judge.systems[i] for i in rows]
    systems = tuple(compress(names, rated))
    f, h = f[rated], h[rated]

    if len(gap := np.argwhere(np.isnan(f))):
        raise InputError(
            f"no score of '{systems[gap[0][0]]}' on input "
            f"'{judge.inputs[columns[gap[0][1]]]}'",
            expected="the judge's score for every summary",
        )

    labelled = ~np.isnan(h)
    numbers = labelled.sum(axis=1)
    fewest = int(numbers.min())
    if fewest < FEWEST:
        raise InputError(
            f"human scores of {counted(fewest, 'input')}",
            expected=f"at least {FEWEST} labelled inputs",
        )

    complete = bool(labelled.all(axis=1).any())
    target = "population" if complete else target

    # Systems that were labelled on other inputs each are not compared.
    i, j = all_pairs(len(h)).T
    shared = (labelled[i] & labelled[j]).sum(axis=1)
    i, j = i[shared >= FEWEST], j[shared >= FEWEST]
    fewest = int(np.append(numbers, shared[shared >= FEWEST]).min())

    shown: Any = {"confidence": confidence, "target": target}
    return _Estimates(
        metric=judge.metric,
        systems=systems,
        judge=f.mean(axis=1),
        pairs=np.stack([i, j]),
        means=prediction_powered(h, f, **shown),
        differences=prediction_powered(h[i] - h[j], f[i] - f[j], **shown),
        inputs=len(columns),
        labels=int(labelled.any(axis=0).sum()),
        target=target,
        complete=complete,
        fewest=fewest,
        unlabelled=tuple(compress(names, ~rated)),
    )


def _of_draws(
    result: ScoreResult, sample: SampledLabels, target: Target, confidence: float
) -> _Estimates:
    """Estimates from facts or summaries that were drawn for each system by itself."""
    if np.isnan(result.presence).any():
        missing = counted(int(np.isnan(result.presence).sum()), "fact")
        raise InputError(
            f"the judge has no judgement of {missing}",
            expected="the judge's presence of every fact",
        )

    draws = system_draws(result, sample)
    means = np.concatenate([estimate(one.drawn) for one in draws]).view(np.recarray)
    numbers = np.array([len(one.places) for one in draws])
    # Where labels leave nothing open, inputs are all that differs.
    of_inputs = max(len(result.inputs) - 1.0, 1.0)
    freedom = np.where(numbers > 0, np.maximum(numbers - 1.0, 1.0), of_inputs)
    # `system_draws` gives them in the order of their names.
    order = by_id(result.systems)
    labelled = ~np.isnan(sample.on(result)[0][order])
    means.labels = labelled.sum(axis=1)

    scores = []
    noise = []
    for one, weight in zip(draws, means.weight.tolist(), strict=True):
        by_input, variance = one.by_input(weight)
        scores.append(by_input)
        noise.append(variance)

    # Systems are drawn apart: variances of a difference add up.
    i, j = all_pairs(len(draws)).T
    differences = np.recarray(len(i), dtype=ROW)
    for field in ("value", "alone"):
        differences[field] = means[field][i] - means[field][j]
    for field in ("error", "alone_error", "labels"):
        differences[field] = means[field][i] + means[field][j]
    differences.weight = (means.weight[i] + means.weight[j]) / 2
    parts = means.error**2 / freedom
    parts = parts[i] + parts[j]
    with undefined():
        satterthwaite = np.maximum(differences.error**2 / parts, 1.0)
    satterthwaite = np.where(parts > 0, satterthwaite, of_inputs)

    total = np.array(scores)
    within = np.array(noise)
    complete = not numbers.all()
    target = "population" if complete else target
    shown: Any = {"confidence": confidence, "target": target}
    return _Estimates(
        metric=result.matrix.metric,
        systems=tuple([result.systems[n] for n in order]),
        judge=result.values[order].mean(axis=1),
        pairs=np.stack([i, j]),
        means=with_intervals(
            means,
            between=_between(total, within),
            freedom=freedom,
            **shown,
        ),
        differences=with_intervals(
            differences,
            between=_between(total[i] - total[j], within[i] + within[j]),
            freedom=satterthwaite,
            **shown,
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


def _combined(
    estimates: _Estimates,
    limits: Ends,
    confidence: float,
    signature: Signature,
    about: Mapping[str, str],
) -> CombinedScores:
    """The result: systems in order, pairs tested and turned to be positive."""
    means = estimates.means
    differences = estimates.differences
    systems = estimates.systems
    target = estimates.target
    # 1 - .95 is a little above .05 in floating point.
    alpha = round(1 - confidence, 12)

    # A difference spans the scale of scores twice.
    width = limits[1] - limits[0]
    astray = _of_labels_alone(means, limits)
    _of_labels_alone(differences, (-width, width))
    alike = _widened(means, width, confidence)
    i, j = estimates.pairs
    for field in ("error", "alone_error"):
        unseen = np.where(alike, means[field], 0.0)
        unseen = np.hypot(unseen[i], unseen[j])
        # Where both are labelled on the same inputs, differences are alike themselves.
        if estimates.spread == "inputs":
            unseen[alike[i] & alike[j]] = 0.0
        differences[field] = np.hypot(differences[field], unseen)

    _widened(differences, width, confidence)
    set_ends(means, confidence)
    set_ends(differences, confidence)

    # Labels on everything leave no error: a difference is then certain, 0/0 is none.
    with undefined():
        t = np.abs(differences.value) / differences.error
    p = t_p_values(np.nan_to_num(t, nan=0.0, posinf=np.inf), differences.freedom)
    holm = adjust_p_values(p, "holm")

    order = np.argsort(-means.value, kind="stable").tolist()
    differs = np.zeros((len(order), len(order)), dtype=bool)
    differs[i, j] = holm < alpha
    groups = letter_groups(order, differs | differs.T)

    # The better system comes first, so the ends change places and signs.
    turned = differences.value < 0
    first, second = np.where(turned, (j, i), (i, j))
    for low, high in (("low", "high"), ("alone_low", "alone_high"), ("alone", "alone")):
        ends = differences[low], differences[high]
        differences[low], differences[high] = np.where(
            turned, (-ends[1], -ends[0]), ends
        )

    # An interval may not leave the scale.
    for end in ("low", "high", "alone_low", "alone_high"):
        means[end] = np.clip(means[end], *limits)
        differences[end] = np.clip(differences[end], -width, width)

    pairs = []
    for n in range(len(p)):
        pairs.append(
            CombinedPair(
                first=systems[first[n]],
                second=systems[second[n]],
                difference=abs(float(differences.value[n])),
                p=float(p[n]),
                p_holm=float(holm[n]),
                **_entry(differences, n),
            )
        )

    pairs.sort(key=lambda pair: (-pair.difference, pair.first, pair.second))

    entries = []
    for n in order:
        entries.append(
            CombinedScore(
                system=systems[n],
                score=float(means.value[n]),
                judge=float(estimates.judge[n]),
                groups=groups[n],
                **_entry(means, n),
            )
        )

    made = {
        **versions_of(signature),
        "combine": "cross-fit",
        "target": target,
        "confidence": confidence,
        **about,
    }
    return CombinedScores(
        metric=estimates.metric,
        systems=tuple(entries),
        pairs=tuple(pairs),
        inputs=estimates.inputs,
        labels=estimates.labels,
        target=target,
        confidence=confidence,
        alpha=alpha,
        signature=Signature.of(**dict(signature.fields) | made),
        spread=estimates.spread,
        notes=tuple(
            _notes(
                estimates,
                entries,
                pairs,
                astray=int(astray.sum()),
                alike=int(alike.sum()),
            )
        ),
    )


def _of_labels_alone(rows: Rows, limits: Ends) -> BoolArray:
    """Which estimates left the scale, so that they are now those of the labels alone.

    There the judge's scores contradict the labels, and are no help.
    """
    low, high = limits
    astray = (rows.value < low - EQUAL_WITHIN) | (rows.value > high + EQUAL_WITHIN)
    for field, other in (("value", "alone"), ("error", "alone_error")):
        rows[field] = np.where(astray, rows[other], rows[field])
    for field in ("weight", "saved"):
        rows[field] = np.where(astray, 0.0, rows[field])

    return np.asarray(astray)


def _widened(rows: Rows, width: float, confidence: float) -> BoolArray:
    """Which estimates are of labels that are all the same, so that they have no error.

    Where the scale is known, their error becomes that of a share of which n labels show
    none: at most `unseen_share` of all are otherwise, by a whole scale.
    """
    size = np.abs(rows.alone) + (0.0 if np.isinf(width) else width)
    alike = rows.alone_error <= EQUAL_WITHIN * size
    if not np.isinf(width):
        reach = width * unseen_share(confidence, rows.labels)
        error = reach / t_reach(confidence, rows.freedom)
        for field in ("error", "alone_error"):
            rows[field] = np.where(alike, error, rows[field])

    return np.asarray(alike)


def _notes(
    estimates: _Estimates,
    systems: Sequence[CombinedScore],
    pairs: Sequence[CombinedPair],
    *,
    astray: int,
    alike: int,
) -> Iterator[str]:
    """What must be known before the numbers are believed."""
    if alike:
        yield (
            f"Warning: the labels of {counted(alike, 'system')} are all the same: "
            "they do not tell how much others may differ."
        )

    if uncompared := comb(len(systems), 2) - len(pairs):
        yield (
            f"Not compared, fewer than {FEWEST} inputs labelled for both: "
            f"{counted(uncompared, 'pair')} of systems."
        )

    if astray:
        yield (
            f"Warning: with the judge, {counted(astray, 'estimate')} would leave the "
            "scale: it contradicts the labels there, so the labels alone count."
        )

    if estimates.complete:
        yield (
            "Everything is labelled for at least one system: nothing is left to "
            "estimate, and intervals are for the population that these inputs are a "
            "sample of."
        )

    if estimates.unlabelled:
        left_out = counted(len(estimates.unlabelled), "system")
        unlabelled = cut(", ".join(estimates.unlabelled))
        yield (
            f"Left out, labels on fewer than {FEWEST} inputs: {left_out} "
            f"({unlabelled})."
        )

    if estimates.unanswered:
        skipped = counted(estimates.unanswered, "drawn fact has", "drawn facts have")
        yield (
            f"{skipped} no label, skipped or not reached: this is right if that does "
            "not depend on what the label would have been."
        )

    if 0 < estimates.fewest < FEW:
        spread = estimates.spread
        one = {"facts": "fact", "summaries": "summary", "inputs": "input"}[spread]
        what = counted(estimates.fewest, f"labelled {one}", f"labelled {spread}")
        yield (
            f"Warning: only {what} of a system, or of two; with fewer than {FEW} the "
            "intervals are too short more often than they say."
        )

    scores = {entry.system: entry.score for entry in systems}
    contrary = [p for p in pairs if scores[p.first] < scores[p.second]]
    if contrary:
        pair = contrary[0]
        yield (
            f"{pair.first} is ahead of {pair.second} by the difference but not by the "
            f"scores ({counted(len(contrary), 'such pair')}): a difference has a λ "
            "of its own; go by its interval."
        )


def _entry(rows: Rows, n: int) -> Fields:
    """The fields of a `Combined`, of one row."""
    return {field.name: rows[field.name][n].item() for field in fields(Combined)}


def _check_sample(people: ScoreMatrix) -> None:
    """Raises InputError if the labelled inputs are the first or the last ones of
    many."""
    known = np.isfinite(people.values[:, by_id(people.inputs)])
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
