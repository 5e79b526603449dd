"""Which facts people judge: drawn with known probability, more where the judge is
unsure."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from litepyramid.checked import as_type
from litepyramid.data.facts import Facts, aligned
from litepyramid.data.records import Fact, Summaries, Units
from litepyramid.errors import InputError, choose
from litepyramid.judges.lexical.lexical_judge import RecallJudge
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.sampled import Spread
from litepyramid.scoring.saved_result import report
from litepyramid.stats import number_of, sums_by
from litepyramid.text import counted, cut
from litepyramid.types import BoolArray, Ends, FloatArray, IntArray

UNIFORM = 0.2
"""The part of the probability that does not look at the judge: none becomes small."""

SUREST = 0.9
"""A judge's presence counts as no higher than this, nor lower than 1 less it."""


@dataclass(frozen=True)
class Sampling:
    """How facts are drawn for people to judge.

    Args:
        labels: Number of facts to draw over all systems, or a share of them: 20%.
        spread: Draw facts one by one (facts), or with all others of a summary
            (summaries) or of an input, for every system (inputs). A judge errs alike
            within a summary, so single facts tell most.
        by: A result of score of the same summaries and units: draw facts and summaries
            more often where its judge is unsure.
        seconds: What people take to read a summary, and to judge a fact.
        seed: Seed of the draw.
        inputs: Number of inputs to draw, or a share of them: 20%. All facts of these
            inputs are judged, for every system. In place of labels.
    """

    labels: int | str | None = None
    spread: Spread = "facts"
    by: Any = None
    seconds: str = "20+5"
    seed: int = 12345
    inputs: int | str | None = None

    def __post_init__(self) -> None:
        if (self.labels is None) == (self.inputs is None):
            raise InputError(
                "a sample without a number, or with two",
                expected="a number of labels, or of inputs, or a share such as 20%",
            )

        if self.labels is not None:
            number_of("labels", self.labels)
        else:
            number_of("inputs", self.inputs or 0)
            if self.spread == "summaries":
                raise InputError(
                    "whole inputs, spread by summaries",
                    expected="inputs, or labels with a spread",
                )

        as_type(int, self.seed, what="seed")
        choose("spread", self.spread, Spread)
        reading_time(self.seconds)

    @property
    def way(self) -> Spread:
        """What is drawn: whole inputs where a number of them is given."""
        return self.spread if self.inputs is None else "inputs"


SampleLike = Annotated[Sampling | None, "sample"]
"""How facts are drawn; on the command line, the options of `Sampling`."""


def reading_time(seconds: str) -> Ends:
    """Seconds to read a text, and to judge or write a fact.

    Example:
        >>> reading_time("20+5")
        (20.0, 5.0)
    """
    parts = str(seconds).split("+")
    try:
        reading, judging = map(float, parts)
        if 0 <= reading < 1e6 and 0 < judging < 1e6:
            return reading, judging
    except ValueError:
        pass
    raise InputError(
        f"the seconds '{cut(seconds)}'",
        expected="those to read a text and those for each fact: 20+5",
    )


def minutes(seconds: str, texts: float, facts: float) -> float:
    """What reading texts, and judging or writing facts, takes."""
    reading, answering = reading_time(seconds)
    return (reading * texts + answering * facts) / 60


Chances = dict[tuple[str, Fact], float]
"""Probabilities of what was drawn, by system and fact, in the order of the tasks."""


def draw_facts(summaries: Summaries, units: Units, sampling: Sampling) -> Chances:
    """Draws facts of summaries that are there and not empty, or of whole inputs.

    Probabilities are in proportion to a fact's share of its input's weight and, with a
    judge, to `unsureness`. Each system is drawn by itself, systematically through its
    inputs in random order, so that it gets its part of the labels, and each input about
    its part of those. Tasks are in random order: whoever stops early has judged a
    sample.
    """
    there = ~(summaries.empty | summaries.missing)[:, units.input_of]
    labels = most = int(there.sum())
    if sampling.labels is not None:
        labels = number_of("labels", sampling.labels, most)

    rng = np.random.default_rng(sampling.seed)
    if sampling.way == "inputs":
        probability = _whole_inputs(there, units, sampling, labels / most, rng)
    else:
        weights = np.abs(units.weights)
        shares = weights / units.sums(weights)[units.input_of]
        sizes = np.tile(shares, (len(there), 1))
        if sampling.by is not None:
            sizes *= _unsureness_of(report(sampling.by), summaries, units)

        probability = np.full(there.shape, np.nan)
        numbers = _shared_out(labels, there.sum(axis=1), rng)
        for n in np.flatnonzero(numbers):
            probability[n, there[n]] = systematic(
                sizes[n, there[n]],
                units.input_of[there[n]],
                int(numbers[n]),
                whole=sampling.way == "summaries",
                rng=rng,
            )

    drawn = ~np.isnan(probability)
    cells = np.argwhere(units.sums(drawn))
    order = rng.permutation(len(cells))
    if sampling.way == "inputs":
        # All systems of an input come together, where the first of them is drawn.
        turn = np.full(len(units), len(order))
        np.minimum.at(turn, cells[order, 1], np.arange(len(order)))
        order = np.lexsort((cells[:, 0], turn[cells[:, 1]]))

    chances = {}
    for n, m in cells[order].tolist():
        for u in np.flatnonzero(drawn[n] & (units.input_of == m)).tolist():
            chance = float(probability[n, u])
            chances[summaries.systems[n], units.facts[u]] = chance
    return chances


def _shared_out(labels: int, facts: IntArray, rng: np.random.Generator) -> IntArray:
    """(N,) each system's number of labels, as even as its number of facts allows."""
    # Chance says who gets what is left over.
    order = rng.permutation(len(facts))
    numbers = np.zeros(len(facts), dtype=np.int64)
    while left := labels - int(numbers.sum()):
        open_ = order[numbers[order] < facts[order]]
        each = min(left // len(open_), int((facts - numbers)[open_].min()))
        numbers[open_ if each else open_[:left]] += max(each, 1)
    return numbers


def unsureness(presence: FloatArray, guide: FloatArray) -> FloatArray:
    """How unsure a judge is of each fact, 1 on average, as far as it can be trusted.

    The best for a calibrated judge is the root of p (1 - p) (Zrnic and Candès 2024).
    Judges claim to be surer than they are: p counts as no more than `SUREST`. What
    differs from 1 is taken times the correlation of the judge with a `guide` that errs
    otherwise, such as the words found, so that a judge of noise changes nothing, and
    mixed with `UNIFORM`, so that no probability is small.

    Example:
        >>> unsureness(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0])).round(2)
        array([0.85, 1.29, 0.85])
    """
    p = np.clip(presence, 1 - SUREST, SUREST)
    unsure = np.sqrt(p * (1 - p))

    x = presence - presence.mean()
    y = guide - guide.mean()
    norm = np.sqrt((x * x).sum() * (y * y).sum())
    trust = max(0.0, (x * y).sum() / norm) if norm > 0 else 0.0

    return np.asarray(1 + (1 - UNIFORM) * trust * (unsure / unsure.mean() - 1))


def _unsureness_of(
    result: ScoreResult, summaries: Summaries, units: Units
) -> FloatArray:
    """(N, U) how unsure a result's judge is of the facts to judge; words guide."""
    expected = "a result of score of the same summaries and units (--by)"
    if result.summaries is None:
        raise InputError("a result without texts", expected=expected)

    words = np.concatenate(RecallJudge().judge(summaries.items(units)).presence)
    shape = len(summaries.systems), -1
    guide = Facts(summaries.systems, units, words.reshape(shape))
    both = aligned(result.facts, guide)
    if any(both.only_other):
        raise InputError("the result does not have all of the facts", expected=expected)

    presence = np.nan_to_num(both.one.values, nan=0.5)
    return unsureness(presence, both.other.values)


def _whole_inputs(
    there: BoolArray,
    units: Units,
    sampling: Sampling,
    share: float,
    rng: np.random.Generator,
) -> FloatArray:
    """(N, U) probabilities of the facts of inputs drawn with equal chance; NaN: not
    drawn."""
    if sampling.by is not None:
        raise InputError(
            "whole inputs drawn by a judge's scores",
            expected="facts or summaries (--spread); inputs have equal chances",
        )
    total = len(units)
    number = max(1, round(share * total))
    if sampling.inputs is not None:
        number = number_of("inputs", sampling.inputs, total)

    chosen = np.isin(units.input_of, rng.choice(total, number, replace=False))
    probability = np.full(there.shape, np.nan)
    probability[:, chosen] = number / total
    return probability


def systematic(
    sizes: FloatArray,
    inputs: IntArray,
    number: int,
    *,
    whole: bool,
    rng: np.random.Generator,
) -> FloatArray:
    """(F,) probabilities of the drawn facts of one system, NaN of the others.

    About `number` facts are drawn: one by one, or as `whole` summaries.
    """
    keys = inputs if whole else np.arange(len(sizes))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    totals = sums_by(group, sizes)
    draws = number
    if whole:
        draws = round(number * len(totals) / len(sizes))
        if not draws:
            raise InputError(
                f"labels of {counted(number, 'fact')} of a system: too few for a whole "
                "summary",
                expected=f"about {round(len(sizes) / len(totals))} labels a system, or "
                "the spread facts",
            )

    probability = _inclusion(totals, min(draws, len(totals)))

    # Inputs in random order, and within one its facts: neighbours stay apart.
    turn = rng.random(inputs.max() + 1)[inputs[first]]
    order = np.lexsort((rng.random(len(totals)), turn))
    open_ = order[probability[order] < 1]
    ends = np.cumsum(probability[open_])
    # Equal steps from a random start: each is hit with its own probability.
    points = rng.random() + np.arange(round(ends[-1]) if len(ends) else 0)
    hit = np.searchsorted(ends, points, side="right")
    chosen = np.append(
        open_[np.minimum(hit, len(open_) - 1)], order[probability[order] == 1]
    )
    drawn = np.isin(group, chosen)

    return np.where(drawn, probability[group], np.nan)


def _inclusion(sizes: FloatArray, number: int) -> FloatArray:
    """Probabilities in proportion to sizes that add up to a number, none above 1."""
    certain = np.zeros(len(sizes), dtype=np.bool_)
    # What would be above 1 is certain, and leaves more for the others.
    while True:
        left = number - certain.sum()
        total = sizes[~certain].sum()
        scaled = left * sizes / total if total > 0 else np.ones(len(sizes))
        probability = np.where(certain, 1.0, scaled)
        above = (probability >= 1) & ~certain
        if not above.any():
            return probability
        certain |= above
