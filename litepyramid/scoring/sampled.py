"""People's labels of a sample of facts, each with the probability of being drawn."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import file_type, read_document, write_json
from litepyramid.identity import fingerprint
from litepyramid.scoring.estimates import FEWEST, Drawn
from litepyramid.scoring.pyramid import ratio
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import by_id, sums_by
from litepyramid.tables import record
from litepyramid.text import counted, cut
from litepyramid.types import BoolArray, FloatArray, IntArray

Spread = Literal["facts", "summaries", "inputs"]

SAMPLE_FILE = "sample.json"
_FORMAT = "litepyramid-sample"
_HINT = "the folder that `litepyramid budget import -o` wrote, or its sample.json"


@dataclass(frozen=True)
class SampledFact:
    """A unit drawn to be judged against one summary; without a label, nobody did.

    Its weight tells it from another unit of the same text.
    """

    system: str
    input: str
    unit: str
    probability: float
    label: float | None = None
    weight: float = 1.0


@dataclass(frozen=True)
class SampledLabels:
    """All facts that were drawn, one by one, or with all others of a summary or
    input."""

    spread: Spread
    facts: tuple[SampledFact, ...]

    @property
    def sha(self) -> str:
        """What names them in a signature, whatever their order."""
        rows = []
        for f in self.facts:
            row = [f.system, f.input, f.unit, f.probability, f.label]
            rows.append(row)
            if f.weight != 1:
                row.append(f.weight)
        return fingerprint(sorted(rows, key=repr))

    @property
    def unanswered(self) -> int:
        """How many drawn facts have no label."""
        return sum(fact.label is None for fact in self.facts)

    def on(self, result: ScoreResult) -> tuple[FloatArray, FloatArray]:
        """(N, U) labels and probabilities by the units of a result; NaN: none, not
        drawn."""
        systems = {name: n for n, name in enumerate(result.systems)}
        columns = defaultdict(list)
        weights: list[float] = []

        for entry in result.units:
            for unit in entry.units:
                columns[entry.input, unit.text].append(len(weights))
                weights.append(unit.weight)

        labels = np.full((len(systems), len(weights)), np.nan)
        probability = np.full((len(systems), len(weights)), np.nan)
        # A text that an input has twice fills the places of the nearest weights.
        left: dict[tuple[str, ...], list[int]] = {}
        for fact in self.facts:
            key = fact.input, fact.unit
            places = left.setdefault((fact.system, *key), [*columns[key]])
            if fact.system in systems and places:
                column = min(places, key=lambda c: abs(weights[c] - fact.weight))
                places.remove(column)
                place = systems[fact.system], column
                probability[place] = fact.probability
                labels[place] = np.nan if fact.label is None else fact.label
            else:
                what = f"'{cut(fact.unit, 60)}' of {fact.system} on {fact.input}"
                raise InputError(
                    f"the result has no fact {what}, which was labelled",
                    expected="a result of the summaries and units that were exported",
                )

        return labels, probability


def read_sample(labels: SampledLabels | str | Path) -> SampledLabels:
    """Labels of a sample as they are, or from where `budget import` wrote them."""
    if isinstance(labels, SampledLabels):
        return labels
    if not isinstance(labels, str | Path):
        raise InputError(f"labels are a {type(labels).__name__}", expected=_HINT)

    folder = file_type(labels) == "folder"
    path = Path(labels) / SAMPLE_FILE if folder else Path(labels)
    data = read_document(path, _FORMAT, "a sample of labels", _HINT)
    sample = as_type(
        SampledLabels,
        data,
        what="a broken sample of labels",
        path=path,
    )

    for fact in sample.facts:
        # Labels are divided by their probability, so a wrong one is a wrong score.
        if not 0 < fact.probability <= 1 or fact.label not in (None, 0, 0.5, 1):
            raise InputError(
                f"probability {fact.probability} and label {fact.label}",
                path=path,
                expected="a probability above 0, up to 1, and a label of 0, .5 or 1",
            )

    if all(fact.label is None for fact in sample.facts):
        drawn = counted(len(sample.facts), "drawn fact")
        raise InputError(f"none of {drawn} has a label", path=path)

    return sample


def write_sample(path: Path, sample: SampledLabels) -> None:
    """Writes what `read_sample` reads."""
    write_json(
        path,
        {
            "format": _FORMAT,
            "version": 1,
            **record(sample),
        },
    )


def ordered_facts(result: ScoreResult) -> tuple[IntArray, IntArray]:
    """Places of all units by input and text, and the number of each one's input in the
    order of ids: the order of files changes no number."""
    keys = []
    for entry in result.units:
        for unit in entry.units:
            keys.append((entry.input, unit.text, unit.weight))

    order = sorted(range(len(keys)), key=keys.__getitem__)
    names = [keys[place][0] for place in order]
    return np.array(order), np.unique(names, return_inverse=True)[1]


# What the labels are, as draws of each system
# ------------------------------------------------------------------------------------


def human_on(result: ScoreResult, sample: SampledLabels) -> FloatArray:
    """(N, M) human scores of the summaries that were drawn whole; NaN elsewhere."""
    answers, _ = _answers_on(result, sample)
    # The seed of the result: a rule that draws units draws the judge's again.
    return result.rule.apply(answers, result.layout, result.seed)[0]


def _answers_on(
    result: ScoreResult, sample: SampledLabels
) -> tuple[FloatArray, FloatArray]:
    """`SampledLabels.on`, where what was answered of a summary that was drawn whole
    stands for the rest of it, if its score is a sum over facts."""
    labels, probability = sample.on(result)
    open_ = np.isnan(labels) & ~np.isnan(probability)
    whole = sample.spread != "facts" and result.rule.is_sum
    if not (whole and open_.any()):
        return labels, probability

    layout = result.layout
    shares = result.rule.shares(layout)
    answered = ~np.isnan(labels)
    gained = layout.sums(shares * np.where(answered, labels, 0.0))
    known = layout.sums(np.abs(shares) * answered)
    mean = ratio(gained, known, np.nan)

    # A penalty that is met lowers the score: what was answered counts the other way.
    rest = np.repeat(mean, np.diff(layout.offsets), axis=1) * np.sign(shares)
    return np.where(open_, rest, labels), probability


@dataclass(frozen=True)
class SystemDraws:
    """What people said of one system's draws, in the terms of `estimates`.

    Attributes:
        drawn: The draws that leave something open.
        places: (n,) the input of each.
        certain: (M,) what is known of each input's human score beyond doubt.
        open_judge: (M,) the judge's score of the rest of each input.
        open_share: (M,) its share of the input's weight.
    """

    drawn: Drawn
    places: IntArray
    certain: FloatArray
    open_judge: FloatArray
    open_share: FloatArray

    def by_input(self, weight: float) -> tuple[FloatArray, FloatArray]:
        """(M,) unbiased estimates of the human score on each input, and their
        variances.

        Few draws of an input tell little of it, but what spread inputs have follows.
        """
        drawn = self.drawn
        count = len(self.certain)
        # What the judge leaves open, expanded by the chance of being drawn.
        left = (drawn.human - weight * drawn.judge)[0] / drawn.probability
        share = drawn.share / drawn.probability
        mean = left.sum() / share.sum() if len(share) else 0.0
        residual = left - mean * share

        # Known, then judged, then the mean rest, then what this input's draws say
        # beyond.
        scores = self.certain + weight * self.open_judge + mean * self.open_share
        scores += sums_by(self.places, residual, count)
        squares = (1 - drawn.probability) * residual**2
        return scores, sums_by(self.places, squares, count)


def system_draws(result: ScoreResult, sample: SampledLabels) -> list[SystemDraws]:
    """The draws of each system of a result, systems in the order of their names."""
    rule = result.rule
    order, inputs = ordered_facts(result)
    shares = rule.shares(result.layout)[order]
    labels, probability = _answers_on(result, sample)
    # Facts of equal keys were drawn together.
    keys = np.arange(len(order)) if sample.spread == "facts" else inputs
    size = np.abs(shares)
    count = len(result.inputs)
    start = np.zeros(count)
    if rule.name == "normalized":
        # Penalties count from below: none met is where the score begins.
        start -= sums_by(inputs, np.minimum(shares, 0))

    empty = _empty(result)
    draws = []
    for n in by_id(result.systems):
        # What has no share adds nothing, answered or not.
        human = np.where(shares == 0, 0.0, shares * labels[n, order])
        judge = shares * result.presence[n, order]
        chances = probability[n, order]
        drawn = np.flatnonzero(~np.isnan(chances))
        names, first, group = np.unique(
            keys[drawn], return_index=True, return_inverse=True
        )
        said = sums_by(group, human[drawn])
        by_judge = sums_by(group, judge[drawn])
        whole = sums_by(group, size[drawn])
        places = inputs[drawn][first]

        answered = ~np.isnan(said)
        # To be known, a draw must be drawn and answered; an empty summary is.
        asked = ~empty[n, places]
        rates = np.ones(len(places))
        rates[asked] = _response(answered[asked], ratio(by_judge, whole)[asked])
        chance = chances[drawn][first] * rates
        certain = answered & (chance == 1)
        open_ = answered & ~certain

        # Facts drawn together are known together: with a label on all nothing is
        # open.
        left = ~np.isin(keys, names[certain])
        open_judge = sums_by(inputs, judge * left, count)
        open_share = sums_by(inputs, size * left, count)
        known = start + sums_by(places[certain], said[certain], count)

        number = int(open_.sum())
        if number < FEWEST and open_share.any():
            raise InputError(
                f"labels of {counted(number, 'draw')} of '{result.systems[n]}'",
                expected=f"at least {FEWEST} drawn at random",
            )

        estimated = Drawn(
            human=said[None, open_],
            judge=by_judge[None, open_],
            share=whole[open_],
            probability=chance[open_],
            mean=np.array([open_judge.mean()]),
            total=float(open_share.mean()),
            inputs=count,
            known=float(known.mean()),
        )
        draws.append(
            SystemDraws(estimated, places[open_], known, open_judge, open_share)
        )

    return draws


def _empty(result: ScoreResult) -> BoolArray:
    """(N, M) whether a summary is empty, inputs in the order of ids; not, where the
    result has no texts."""
    empty = np.zeros(result.values.shape, dtype=np.bool_)
    for n, texts in enumerate(result.summaries or ()):
        empty[n] = [not text.strip() for text in texts]
    return empty[:, by_id(result.inputs)]


def _response(answered: BoolArray, presence: FloatArray) -> FloatArray:
    """The share of draws that were answered, in classes of like presence.

    People skip what is hard, and the judge is often unsure of the same.
    """
    # A class of fewer than twenty draws would have a rate of chance.
    classes = min(5, max(1, len(answered) // 20))
    rates = np.full(len(answered), answered.mean())
    for some in np.array_split(np.argsort(presence, kind="stable"), classes):
        if answered[some].any():
            rates[some] = answered[some].mean()
    return rates
