"""From estimates to the result of `combine`: the scale, tests, groups, and notes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from litepyramid.scoring.combined import CombinedPair, CombinedScore, CombinedScores
from litepyramid.scoring.estimates import (
    FEWEST,
    Estimates,
    Target,
    outside,
    within_scale,
)
from litepyramid.scoring.inference import FEW, letter_groups
from litepyramid.scoring.sampled import Spread
from litepyramid.stats import adjust_p_values, t_p_values, undefined
from litepyramid.text import counted, cut
from litepyramid.types import (
    BoolArray,
    Ends,
    Fields,
    FloatArray,
    IntArray,
    Names,
    Signature,
)


@dataclass(frozen=True)
class Estimated:
    """What is estimated of N systems and of every two of them.

    Attributes:
        judge: (N,) the judge's own scores.
        pairs: (2, P) the numbers of the systems of each difference.
        complete: Whether labels leave nothing open, so that the target is the
            population.
        fewest: Draws of the system, or of the pair, that has fewest.
        unlabelled: Systems that are left out, with too few labels.
        astray: Systems whose estimate with the judge would leave the scale.
        alike: Systems whose labels are all the same.
    """

    metric: str
    systems: Names
    judge: FloatArray
    pairs: IntArray
    means: Estimates
    differences: Estimates
    inputs: int
    labels: int
    target: Target
    complete: bool
    fewest: int
    unanswered: int = 0
    unlabelled: Names = ()
    spread: Spread = "inputs"
    astray: int = 0
    alike: int = 0


def combined_scores(
    estimated: Estimated,
    limits: Ends,
    confidence: float,
    signature: Signature,
    about: Mapping[str, str],
) -> CombinedScores:
    """The result: systems best first, pairs tested, nothing outside of the scale's
    limits."""
    estimated = _on_scale(estimated, limits)
    p = _p_values(estimated.differences)
    holm = adjust_p_values(p, "holm")
    # 1 - .95 is a little above .05 in floating point.
    alpha = round(1 - confidence, 12)

    systems = _systems(estimated, holm < alpha, limits, confidence)
    width = limits[1] - limits[0]
    pairs = _pairs(estimated, p, holm, width, confidence)
    made = {
        "combine": "cross-fit",
        "target": estimated.target,
        "confidence": confidence,
        **about,
    }
    return CombinedScores(
        metric=estimated.metric,
        systems=tuple(systems),
        pairs=tuple(pairs),
        inputs=estimated.inputs,
        labels=estimated.labels,
        target=estimated.target,
        confidence=confidence,
        alpha=alpha,
        signature=Signature.of(**dict(signature.fields) | made),
        spread=estimated.spread,
        notes=tuple(_notes(estimated, systems, pairs)),
    )


def _on_scale(estimated: Estimated, limits: Ends) -> Estimated:
    """The same with estimates within the scale, and with the error of labels that are
    all the same in differences of them."""
    means = within_scale(estimated.means, limits)
    # A difference spans the scale of scores twice.
    width = limits[1] - limits[0]
    differences = within_scale(estimated.differences, (-width, width))

    alike = ~np.isnan(means.unseen) & (means.weight == 0)
    if estimated.spread == "inputs":
        i, j = estimated.pairs
        unseen = np.where(alike, means.unseen, 0.0)
        # Where both are, the differences are alike themselves.
        of_both = np.where(alike[i] & alike[j], 0.0, unseen[i] + unseen[j])
        differences = differences.with_variance(of_both)

    return replace(
        estimated,
        means=means,
        differences=differences,
        astray=int(outside(estimated.means, limits).sum()),
        alike=int(alike.sum()),
    )


def _p_values(differences: Estimates) -> FloatArray:
    """Two-sided p-values of no difference, by the t-test."""
    # Labels on everything leave no error: a difference is then certain, 0/0 is none.
    with undefined():
        t = np.abs(differences.value) / np.sqrt(differences.variance)
    t = np.nan_to_num(t, nan=0.0, posinf=np.inf)
    return t_p_values(t, differences.freedom)


def _systems(
    estimated: Estimated, significant: BoolArray, limits: Ends, confidence: float
) -> list[CombinedScore]:
    """The systems, best first, in groups that do not differ significantly."""
    means = estimated.means
    order = np.argsort(-means.value, kind="stable").tolist()
    differs = np.zeros((len(order), len(order)), dtype=bool)
    differs[*estimated.pairs] = significant
    groups = letter_groups(order, differs | differs.T)

    measures = _measures(means, limits, confidence)
    entries = []
    for n in order:
        entry = CombinedScore(
            system=estimated.systems[n],
            score=float(means.value[n]),
            judge=float(estimated.judge[n]),
            groups=groups[n],
            **measures[n],
        )
        entries.append(entry)
    return entries


def _pairs(
    estimated: Estimated,
    p: FloatArray,
    holm: FloatArray,
    width: float,
    confidence: float,
) -> list[CombinedPair]:
    """The differences, the largest first, each of the better system and another one."""
    behind = estimated.differences.value < 0
    i, j = estimated.pairs
    first, second = np.where(behind, (j, i), (i, j)).tolist()
    differences = estimated.differences._replace(
        value=np.abs(estimated.differences.value),
        alone=np.where(behind, -1, 1) * estimated.differences.alone,
    )

    pairs = []
    for n, ends in enumerate(_measures(differences, (-width, width), confidence)):
        pair = CombinedPair(
            first=estimated.systems[first[n]],
            second=estimated.systems[second[n]],
            difference=float(differences.value[n]),
            p=float(p[n]),
            p_holm=float(holm[n]),
            **ends,
        )
        pairs.append(pair)
    return sorted(pairs, key=lambda pair: (-pair.difference, pair.first, pair.second))


def _measures(estimates: Estimates, limits: Ends, confidence: float) -> list[Fields]:
    """The fields of a `Combined` of each estimate; no interval leaves the scale."""
    alone = estimates.from_labels_alone()
    low, high = np.clip(estimates.interval(confidence), *limits)
    alone_low, alone_high = np.clip(alone.interval(confidence), *limits)
    columns = {
        "low": low,
        "high": high,
        "alone": estimates.alone,
        "alone_low": alone_low,
        "alone_high": alone_high,
        "weight": estimates.weight,
        "labels": estimates.labels.astype(int),
        "saved": estimates.saved,
    }
    rows = zip(*[column.tolist() for column in columns.values()], strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _notes(
    estimated: Estimated,
    systems: Sequence[CombinedScore],
    pairs: Sequence[CombinedPair],
) -> Iterator[str]:
    """What must be known before the numbers are believed."""
    if estimated.alike:
        yield (
            f"Warning: the labels of {counted(estimated.alike, 'system')} are all the "
            "same: they do not tell how much others may differ."
        )

    if uncompared := comb(len(systems), 2) - len(pairs):
        yield (
            f"Not compared, fewer than {FEWEST} inputs labelled for both: "
            f"{counted(uncompared, 'pair')} of systems."
        )

    if estimated.astray:
        yield (
            f"Warning: with the judge, {counted(estimated.astray, 'estimate')} would "
            "leave the scale: it contradicts the labels there, so the labels alone "
            "count."
        )

    if estimated.complete:
        yield (
            "Everything is labelled for at least one system: nothing is left to "
            "estimate, and intervals are for the population that these inputs are a "
            "sample of."
        )

    if estimated.unlabelled:
        left_out = counted(len(estimated.unlabelled), "system")
        unlabelled = cut(", ".join(estimated.unlabelled))
        yield (
            f"Left out, labels on fewer than {FEWEST} inputs: {left_out} "
            f"({unlabelled})."
        )

    if estimated.unanswered:
        skipped = counted(estimated.unanswered, "drawn fact has", "drawn facts have")
        yield (
            f"{skipped} no label, skipped or not reached: this is right if that does "
            "not depend on what the label would have been."
        )

    if 0 < estimated.fewest < FEW:
        spread = estimated.spread
        one = {"facts": "fact", "summaries": "summary", "inputs": "input"}[spread]
        what = counted(estimated.fewest, f"labelled {one}", f"labelled {spread}")
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
