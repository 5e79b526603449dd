"""Which facts people judge: drawn with known probability, more where the judge is
unsure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import InputError, choose
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.sampled import Spread
from litepyramid.scoring.saved_result import report
from litepyramid.stats import by_id, number_of, sums_by
from litepyramid.text import cut
from litepyramid.types import FloatArray, InputUnits, IntArray, SystemSummaries

UNIFORM = 0.2
"""The part of the probability that does not look at the judge: none becomes small."""


@dataclass(frozen=True, slots=True)
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
            object.__setattr__(self, "spread", "inputs")

        as_type(int, self.seed, what="seed")
        choose("spread", self.spread, get_args(Spread))
        reading_time(self.seconds)


SampleLike = Annotated[Sampling | None, "sample"]
"""How facts are drawn; on the command line, the options of `Sampling`."""


def reading_time(seconds: str) -> tuple[float, float]:
    """Seconds to read a summary and to judge a fact.

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
        expected="those to read a summary and those to judge a fact: 20+5",
    )


def minutes(seconds: str, summaries: float, facts: float) -> float:
    """What reading summaries and judging facts takes."""
    reading, judging = reading_time(seconds)
    return (reading * summaries + judging * facts) / 60


@dataclass(frozen=True, slots=True)
class DrawnFacts:
    """The facts drawn of one summary: numbers of units, from 0, and probabilities."""

    system: str
    input: str
    facts: tuple[int, ...]
    probabilities: tuple[float, ...]


def draw_facts(
    summaries: Sequence[SystemSummaries],
    units: Sequence[InputUnits],
    sampling: Sampling,
) -> list[DrawnFacts]:
    """Draws facts of summaries that are not empty, in random order of the tasks.

    Probabilities are in proportion to a fact's share of its input's weight, and, with
    a judge's presence p, to the fourth root of p (1 - p), mixed with `UNIFORM`. The
    best for a calibrated judge is its square root (Zrnic and Candès 2024); the fourth
    gives away 1 % of an interval there and loses less where the judge is noise. Each
    system is drawn by itself, systematically through its inputs in random order, so
    that it gets its part of the labels, and each input about its part of those.
    """
    frame = _Frame.of(summaries, units)
    labels = most = int(frame.there.sum())
    if sampling.labels is not None:
        labels = number_of("labels", sampling.labels, most)

    rng = np.random.default_rng(sampling.seed)
    if sampling.spread == "inputs":
        probability = _whole_inputs(frame, sampling, labels / most, rng)
    else:
        sizes = frame.shares * _unsureness(frame, sampling.by)
        probability = np.full(sizes.shape, np.nan)
        for n, number in enumerate(_parts(labels, len(sizes), rng)):
            there = frame.there[n]
            probability[n, there] = systematic(
                np.where(there, sizes[n], 0.0)[there],
                frame.inputs[there],
                number,
                whole=sampling.spread == "summaries",
                rng=rng,
            )

    return frame.drawn(probability, sampling.spread, rng)


@dataclass(frozen=True, slots=True)
class _Frame:
    """All facts in the order of systems, inputs and texts, whatever that of the files.

    Attributes:
        inputs: (U,) number of each fact's input.
        places: (U,) number of its unit in the input, from 0.
        shares: (U,) its share of the input's weight.
        there: (N, U) whether its summary is not empty.
    """

    systems: tuple[str, ...]
    names: tuple[str, ...]
    texts: tuple[str, ...]
    inputs: IntArray
    places: IntArray
    shares: FloatArray
    there: Any

    @classmethod
    def of(
        cls, summaries: Sequence[SystemSummaries], units: Sequence[InputUnits]
    ) -> "_Frame":
        order = by_id([entry.input for entry in units])
        facts = []
        for number, place in enumerate(order):
            entry = units[place]
            total = sum(abs(unit.weight) for unit in entry.units)
            rows = []
            for at, unit in enumerate(entry.units):
                rows.append((unit.text, abs(unit.weight) / total, number, at))
            facts += sorted(rows)

        texts, shares, inputs, places = zip(*facts, strict=True)

        there = []
        systems = sorted(summaries, key=lambda one: one.system)
        for one in systems:
            filled = np.array([bool(one.texts[place].strip()) for place in order])
            there.append(filled[np.array(inputs)])

        return cls(
            systems=tuple([one.system for one in systems]),
            names=tuple([units[place].input for place in order]),
            texts=texts,
            inputs=np.array(inputs),
            places=np.array(places),
            shares=np.array(shares),
            there=np.array(there),
        )

    def drawn(
        self, probability: FloatArray, spread: Spread, rng: np.random.Generator
    ) -> list[DrawnFacts]:
        """The drawn facts of each summary; whoever stops early has judged a sample."""
        order = rng.permutation(len(self.names))
        tasks = []
        for n, system in enumerate(self.systems):
            drawn = np.flatnonzero(~np.isnan(probability[n]))
            ends = np.flatnonzero(np.diff(self.inputs[drawn])) + 1
            for group in np.split(drawn, ends):
                if not len(group):
                    continue
                columns = group[np.argsort(self.places[group])]
                number = self.inputs[columns[0]]
                facts = DrawnFacts(
                    system,
                    self.names[number],
                    tuple(self.places[columns].tolist()),
                    tuple(probability[n, columns].tolist()),
                )
                # All systems of an input come together where inputs are drawn.
                rank = order[number] if spread == "inputs" else rng.random()
                tasks.append((float(rank), n, facts))

        tasks.sort(key=lambda task: task[:2])
        return [facts for *_, facts in tasks]


def _parts(labels: int, systems: int, rng: np.random.Generator) -> list[int]:
    """Each system's number of labels; chance says who gets what is left over."""
    numbers = np.full(systems, labels // systems)
    numbers[rng.permutation(systems)[: labels % systems]] += 1
    return [int(number) for number in numbers]


def _unsureness(frame: _Frame, by: Any) -> FloatArray:
    """(N, U) how unsure the judge is of each fact, 1 on average; all 1 without it."""
    even = np.ones(frame.there.shape)
    if by is None:
        return even
    result: ScoreResult = report(by)
    presence = _presence_of(result, frame)
    even[frame.there] = mixed_unsureness(presence[frame.there])
    return even


def mixed_unsureness(presence: FloatArray) -> FloatArray:
    """How unsure a judge is of each fact, 1 on average, mixed with `UNIFORM`.

    Example:
        >>> mixed_unsureness(np.array([0.0, 0.5])).tolist()
        [0.2, 1.8]
    """
    unsure = (presence * (1 - presence)) ** 0.25
    mean = unsure.mean()
    if mean == 0:  # sure of everything: it tells nothing of where it errs
        return np.ones(presence.shape)
    return np.asarray(UNIFORM + (1 - UNIFORM) * unsure / mean)


def _presence_of(result: ScoreResult, frame: _Frame) -> FloatArray:
    """The judge's presence in the order of the frame; .5 where it has none."""
    columns: dict[tuple[str, str], list[int]] = {}
    column = 0
    for entry in result.units:
        for text in entry.texts:
            columns.setdefault((entry.input, text), []).append(column)
            column += 1

    order = []
    for number, text in zip(frame.inputs, frame.texts, strict=True):
        places = columns.get((frame.names[number], text))
        if not places:
            raise InputError(
                f"the result has no fact '{cut(text, 60)}' of '{frame.names[number]}'",
                expected="a result of score of the same summaries and units (--by)",
            )
        order.append(places.pop(0) if len(places) > 1 else places[0])

    if missing := sorted({*frame.systems} - {*result.systems}):
        raise InputError(
            f"the result has no system '{missing[0]}'",
            expected="a result of score of the same summaries and units (--by)",
        )

    rows = [result.systems.index(name) for name in frame.systems]
    return np.nan_to_num(result.presence[rows][:, order], nan=0.5)


def _whole_inputs(
    frame: _Frame, sampling: Sampling, share: float, rng: np.random.Generator
) -> FloatArray:
    """Probabilities of the facts of inputs drawn with equal chance."""
    if sampling.by is not None:
        raise InputError(
            "whole inputs drawn by a judge's scores",
            expected="facts or summaries (--spread); inputs have equal chances",
        )
    total = len(frame.names)
    number = max(1, round(share * total))
    if sampling.inputs is not None:
        number = number_of("inputs", sampling.inputs, total)

    chosen = np.isin(frame.inputs, rng.choice(total, number, replace=False))
    return np.where(frame.there & chosen, number / total, np.nan)


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
    probability = _inclusion(totals, min(draws, len(totals)))

    # Inputs in random order, and within one its facts: neighbours stay apart.
    turn = rng.random(inputs.max() + 1)[inputs[first]]
    order = np.lexsort((rng.random(len(totals)), turn))
    open_ = order[probability[order] < 1]
    ends = np.cumsum(probability[open_])
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
    while True:
        left = number - certain.sum()
        total = sizes[~certain].sum()
        scaled = left * sizes / total if total > 0 else np.ones(len(sizes))
        probability = np.where(certain, 1.0, scaled)
        above = (probability >= 1) & ~certain
        if not above.any():
            return probability
        certain |= above
