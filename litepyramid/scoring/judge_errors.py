"""How a judge errs on labelled pairs of fact and summary: figures, and where it
fails."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from litepyramid.data.records import Summaries
from litepyramid.errors import InputError
from litepyramid.judges.evaluate import bins_of, weighted_auc
from litepyramid.judges.fairness import (
    COPIED,
    SYSTEM,
    Cell,
    Question,
    cells_by,
    copied_share,
    recalibrated,
    words_of,
)
from litepyramid.judges.lexical.features import english
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.sampled import SampledLabels, on_result
from litepyramid.stats import (
    EQUAL_WITHIN,
    sums_by,
    t_reach,
    undefined,
    unseen_share,
)
from litepyramid.types import BoolArray, Ends, FloatArray, IntArray

GROUPS = 100
"""At most so many groups of inputs are left out in turn for an interval."""


@dataclass(frozen=True)
class Figure:
    """A number about the judge with its interval, from leaving out inputs
    (jackknife)."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LabelledPairs:
    """K pairs of fact and summary: what judge and people say of each.

    Attributes:
        weights: (K,) the inverse of the probability of being drawn.
        systems, inputs, columns: (K,) number of the system, the input and the fact in
            the result.
    """

    presence: FloatArray
    labels: FloatArray
    weights: FloatArray
    systems: IntArray
    inputs: IntArray
    columns: IntArray

    @classmethod
    def of(cls, result: ScoreResult, sample: SampledLabels | None) -> "LabelledPairs":
        """Those of a sample, or else of the labels that were scored with."""
        if sample is not None:
            drawn = on_result(result, sample)
            labels = drawn.labels.values
            probability = drawn.probability.values
        elif result.labels_here is None:
            raise InputError(
                "no labels of the units that were scored",
                expected="a result that was scored with labels, or labels of a sample",
            )
        else:
            labels = result.labels_here
            probability = np.ones(labels.shape)

        there = ~np.isnan(labels + result.presence)
        systems, columns = np.nonzero(there)
        kinds = {*labels[systems, columns].tolist()}
        if len(kinds) < 2:
            raise InputError(
                "labels that are all the same, or of nothing that was judged",
                expected="facts present and facts absent",
            )
        if not kinds <= {0, 0.5, 1}:
            raise InputError(
                f"a label {max(kinds - {0, 0.5, 1})}", expected="labels of 0, 0.5 and 1"
            )

        return cls(
            presence=result.presence[systems, columns],
            labels=labels[systems, columns],
            weights=1 / probability[systems, columns],
            systems=systems,
            inputs=result.units.input_of[columns],
            columns=columns,
        )


# Numbers of all pairs
# ------------------------------------------------------------------------------------


def figures_of(pairs: LabelledPairs, confidence: float, seed: int) -> list[Figure]:
    """AUC, Brier score …, each with its interval by inputs, NaN where some of the
    inputs have no such number; none where it is infinite."""
    best = _best_threshold(pairs)
    whole = _numbers(pairs, pairs.weights, best)

    # Facts of one input are alike: an input is left out whole.
    _, group = np.unique(pairs.inputs, return_inverse=True)
    count = int(group.max()) + 1
    if count > GROUPS:
        dealt = np.random.default_rng(seed).permutation(count) % GROUPS
        group = dealt[group]
        count = GROUPS

    without = []
    for one in range(count):
        left = np.where(group == one, 0.0, pairs.weights)
        without.append([*_numbers(pairs, left, best).values()])

    # The jackknife's variance: deviations of values that share all but one group.
    with undefined():
        deviations = np.array(without) - np.mean(without, axis=0)
        error = np.sqrt((count - 1) / count * (deviations**2).sum(axis=0))
    reach = t_reach(confidence, max(1, count - 1)) * error

    figures = []
    for (name, value), ends in zip(whole.items(), reach.tolist(), strict=True):
        # No slope is steep enough for labels that presence separates.
        if np.isinf(value):
            continue
        low, high = _limits(name)
        value = min(max(value, low), high)
        # Where every input says the same there is no spread; but if none of so many is
        # otherwise, as much of others may be.
        if ends < EQUAL_WITHIN:
            ends = unseen_share(confidence, count)
        below, above = max(value - ends, low), min(value + ends, high)
        figures.append(Figure(name, value, below, above))
    return figures


def _limits(name: str) -> Ends:
    """Between which values a figure is."""
    if name == "calibration slope":
        return -np.inf, np.inf
    return (-1.0 if name == "leniency" or "κ" in name else 0.0), 1.0


@undefined()
def _numbers(
    pairs: LabelledPairs, weights: FloatArray, best: float
) -> dict[str, float]:
    """The figures of weighted pairs; at a threshold those that a label of .5 says are
    neither present nor absent do not count."""
    weights = weights / weights.sum()
    presence = pairs.presence
    error = presence - pairs.labels
    tenths = bins_of(presence, 10)
    numbers = {
        "AUC": weighted_auc(presence, pairs.labels, weights),
        "Brier score": weights @ error**2,
        "calibration error": np.abs(sums_by(tenths, weights * error)).sum(),
        "calibration slope": recalibrated(presence, pairs.labels, weights)[1],
        "leniency": weights @ error,
    }

    decided = weights * (pairs.labels != 0.5)
    decided = decided / decided.sum()
    present = decided * pairs.labels
    absent = decided - present
    base = present.sum()
    for threshold, where in ((0.5, "at .5"), (best, f"at the best, {best:.2f}")):
        said = presence >= threshold
        yes = decided @ said
        chance = yes * base + (1 - yes) * (1 - base)
        agreed = present @ said + absent @ ~said
        numbers[f"sensitivity {where}"] = (present @ said) / base
        numbers[f"specificity {where}"] = (absent @ ~said) / (1 - base)
        numbers[f"Cohen's κ {where}"] = (agreed - chance) / (1 - chance)

    return {name: float(value) for name, value in numbers.items()}


def _best_threshold(pairs: LabelledPairs) -> float:
    """The presence from which yes has the highest sensitivity plus specificity."""
    values, rank = np.unique(pairs.presence, return_inverse=True)
    present = sums_by(rank, pairs.weights * (pairs.labels == 1))
    absent = sums_by(rank, pairs.weights * (pairs.labels == 0))
    present_below = np.cumsum(present) - present
    absent_below = np.cumsum(absent) - absent
    gained = absent_below / absent.sum() - present_below / present.sum()
    return float(values[np.argmax(gained)])


# Where the judge fails
# ------------------------------------------------------------------------------------


def cells_of(
    result: ScoreResult, pairs: LabelledPairs, confidence: float
) -> tuple[Cell, ...]:
    """All cells with enough pairs, tested by inputs, the least likely first."""
    calibrated, _ = recalibrated(pairs.presence, pairs.labels, pairs.weights)
    error = calibrated - pairs.labels
    spread = error**2 - calibrated * (1 - calibrated)
    raw = pairs.presence - pairs.labels

    everything = np.ones(len(raw), dtype=bool)
    # All pairs stand first, by their errors as they are: recalibrated they have none.
    side = "lenient" if pairs.weights @ raw > 0 else "strict"
    questions: list[Question] = [("all pairs", side, "bias", everything, raw)]
    for kind, name, inside in _kinds(result, pairs):
        questions.append((kind, name, "bias", inside, error))
        questions.append((kind, name, "spread", inside, spread))

    if result.summaries is not None and result.references:
        copied = _copied(result, result.summaries)[pairs.systems, pairs.inputs]
        name = "from the references"
        questions.append((COPIED, name, "slope", copied, error))

    return cells_by(questions, pairs.weights, pairs.inputs, confidence)


def _copied(result: ScoreResult, summaries: Summaries) -> FloatArray:
    """(N, M) share of each summary that the references have too."""
    rows = []
    for texts in summaries.texts:
        shares = []
        for name, text in zip(result.inputs, texts, strict=True):
            sources = [*map(" ".join, result.references.get(name, ()))]
            shares.append(copied_share(text or "", sources))
        rows.append(shares)
    return np.array(rows)


def _kinds(
    result: ScoreResult, pairs: LabelledPairs
) -> Iterator[tuple[str, str, BoolArray]]:
    """Every cell: its kind, its name, and which pairs are in it."""
    units = result.units.every
    unit_words = [words_of(unit.text) for unit in units]
    lengths = [len(unit_words[column]) for column in pairs.columns]
    yield from _thirds("length of unit", lengths)

    if result.summaries is not None:
        words = []
        for texts in result.summaries.texts:
            words.append([words_of(text or "") for text in texts])
        sizes = []
        copied = []
        places = zip(pairs.systems, pairs.inputs, pairs.columns, strict=True)
        for n, m, column in places:
            there = words[n][m]
            sizes.append(len(there))
            shared = sum(word in there for word in unit_words[column])
            copied.append(shared >= 0.9 * len(unit_words[column]))

        yield from _thirds("length of summary", sizes)
        yield "words", "all there", np.array(copied)

    if len(result.systems) > 1:
        for n, name in enumerate(result.systems):
            yield SYSTEM, name, pairs.systems == n

    weights = result.units.weights[pairs.columns]
    if np.ptp(weights) > 0:
        yield "weight", "above the median", weights > np.median(weights)

    negations = english().negation
    names: dict[str, list[bool]] = {
        "negation": [],
        "number": [],
        "name": [],
    }
    for unit, its_words in zip(units, unit_words, strict=True):
        # The first word of a sentence has a capital, whatever it is.
        denied = any(word in negations or word.endswith("n't") for word in its_words)
        capitals = [word[:1].isupper() for word in unit.text.split()[1:]]
        names["negation"].append(denied)
        names["number"].append(any(char.isdigit() for char in unit.text))
        names["name"].append(any(capitals))

    for name, flags in names.items():
        yield "unit has", f"a {name}", np.array(flags)[pairs.columns]


def _thirds(kind: str, lengths: Any) -> Iterator[tuple[str, str, BoolArray]]:
    """The shortest and the longest third."""
    sizes = np.array(lengths)
    low, high = np.quantile(sizes, (1 / 3, 2 / 3))
    if low < high:
        yield kind, f"up to {low:.0f} words", sizes <= low
        yield kind, f"over {high:.0f} words", sizes > high
