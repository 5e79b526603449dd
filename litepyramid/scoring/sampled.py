"""People's labels of a sample of facts, each with the probability of being drawn."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import file_type, read_document, write_json
from litepyramid.scoring.estimates import FEWEST, ROW, Drawn, estimate
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import by_id, sums_by
from litepyramid.tables import record
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray, IntArray, fingerprint

Spread = Literal["facts", "summaries", "inputs"]

SAMPLE_FILE = "sample.json"
_FORMAT = "litepyramid-sample"
_HINT = "the folder that `litepyramid budget import -o` wrote, or its sample.json"


@dataclass(frozen=True, slots=True)
class SampledFact:
    """A unit drawn to be judged against one summary; without a label, nobody did."""

    system: str
    input: str
    unit: str
    probability: float
    label: float | None = None


@dataclass(frozen=True, slots=True)
class SampledLabels:
    """All facts that were drawn, one by one, or with all others of a summary or input."""

    spread: Spread
    facts: tuple[SampledFact, ...]

    @property
    def sha(self) -> str:
        """What names them in a signature, whatever their order."""
        rows = ([f.system, f.input, f.unit, f.probability, f.label] for f in self.facts)
        return fingerprint(sorted(rows, key=repr))

    @property
    def unanswered(self) -> int:
        """How many drawn facts have no label."""
        return sum(fact.label is None for fact in self.facts)

    def on(self, result: ScoreResult) -> tuple[FloatArray, FloatArray]:
        """(N, U) labels and probabilities by the units of a result; NaN: none, not drawn."""
        systems = {name: n for n, name in enumerate(result.systems)}
        columns: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        column = 0

        for entry in result.units:
            for text in entry.texts:
                columns[entry.input, text].append(column)
                column += 1

        labels = np.full((len(systems), column), np.nan)
        probability = np.full((len(systems), column), np.nan)
        for fact in self.facts:
            row = systems.get(fact.system)
            # A text that an input has twice fills its places one after the other.
            for place in columns.get((fact.input, fact.unit), []):
                if row is not None and np.isnan(probability[row, place]):
                    probability[row, place] = fact.probability
                    labels[row, place] = np.nan if fact.label is None else fact.label
                    break
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
        what = f"labels are a {type(labels).__name__}"
        raise InputError(what, expected=_HINT)

    folder = file_type(labels) == "folder"
    path = Path(labels) / SAMPLE_FILE if folder else Path(labels)
    data: dict[str, Any] = read_document(path, _FORMAT, "a sample of labels", _HINT)
    sample: SampledLabels = as_type(
        SampledLabels, data, what="a broken sample of labels", path=path
    )

    for fact in sample.facts:
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


def ordered_columns(result: ScoreResult) -> IntArray:
    """Places of all units by input and text: the order of files changes no number."""
    keys = []
    for entry in result.units:
        for unit in entry.units:
            keys.append((entry.input, unit.text, unit.weight))
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


# What the labels are, as draws of each system
# ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SystemDraws:
    """What people said of one system's draws, in the terms of `estimates`.

    Attributes:
        drawn: The draws that leave something open; None if there are none.
        places: (n,) the input of each.
        certain: (M,) what is known of each input's human score beyond doubt.
        open_judge: (M,) the judge's score of the rest of each input.
        open_share: (M,) its share of the input's weight.
        labels: How many facts have labels.
    """

    drawn: Drawn | None
    places: IntArray
    certain: FloatArray
    open_judge: FloatArray
    open_share: FloatArray
    labels: int

    def rows(self) -> np.recarray[Any, Any]:
        """The `estimate` of the system's human score."""
        known = self.certain.mean()
        if self.drawn is None:
            rows = np.recarray(1, dtype=ROW)
            rows[:] = np.zeros(1, dtype=ROW)
        else:
            rows = estimate(self.drawn)
        rows.value += known
        rows.alone += known
        rows.labels = self.labels
        return rows

    def by_input(self, weight: float) -> tuple[FloatArray, FloatArray]:
        """(M,) unbiased estimates of the human score on each input, and their variances.

        Few draws of an input tell little of it, but what spread inputs have follows.
        """
        scores = self.certain + weight * self.open_judge
        noise = np.zeros(len(scores))
        if self.drawn is None:
            return scores, noise

        drawn = self.drawn
        left = (drawn.human - weight * drawn.judge)[0] / drawn.probability
        share = drawn.share / drawn.probability
        mean = left.sum() / share.sum()
        residual = left - mean * share
        # A draw that was certain to be drawn adds no variance.
        squares = (1 - drawn.probability) * residual**2

        count = len(scores)
        scores = scores + mean * self.open_share
        scores += sums_by(self.places, residual, count)
        noise += sums_by(self.places, squares, count)
        return scores, noise


def system_draws(result: ScoreResult, sample: SampledLabels) -> tuple[SystemDraws, ...]:
    """The draws of each system of a result, systems in the order of their names."""
    rule = result.rule
    layout = rule.layout(result.units)
    order = ordered_columns(result)
    shares = rule.shares(layout)[order]
    ranks = np.argsort(by_id(result.inputs))
    inputs = np.repeat(ranks, np.diff(layout.offsets))[order]
    labels, probability = sample.on(result)
    keys = np.arange(len(order)) if sample.spread == "facts" else inputs

    constant = np.zeros(len(result.inputs))
    if rule.name == "normalized":
        # Penalties count from below: none met is where the score begins.
        constant -= sums_by(inputs, np.minimum(shares, 0))

    draws = []
    for n in by_id(result.systems):
        facts = _Facts(
            shares,
            inputs,
            keys,
            result.presence[n, order],
            labels[n, order],
            probability[n, order],
        )
        draws.append(_draws_of(facts, constant, result.systems[n]))

    return tuple(draws)


@dataclass(frozen=True, slots=True)
class _Facts:
    """(U,) what is known of each fact of one system; equal keys were drawn together."""

    shares: FloatArray
    inputs: IntArray
    keys: IntArray
    presence: FloatArray
    labels: FloatArray
    probability: FloatArray


def _draws_of(facts: _Facts, constant: FloatArray, system: str) -> SystemDraws:
    drawn = np.flatnonzero(~np.isnan(facts.probability))
    keys, first, group = np.unique(
        facts.keys[drawn], return_index=True, return_inverse=True
    )
    answered = ~np.isnan(facts.labels[drawn])
    shares = facts.shares[drawn]
    size = np.abs(shares)
    labels = np.where(answered, shares * facts.labels[drawn], 0.0)
    presence = np.where(answered, shares * facts.presence[drawn], 0.0)

    # What was answered of a draw stands for the rest of it.
    whole = sums_by(group, size)
    known = sums_by(group, size * answered)
    expansion = np.divide(whole, known, out=np.ones(len(keys)), where=known > 0)
    human = sums_by(group, labels) * expansion
    judge = sums_by(group, presence) * expansion

    there = sums_by(group, answered) > 0
    mean_presence = sums_by(group, size * facts.presence[drawn])
    probability = facts.probability[drawn][first] * _response(there, mean_presence)
    certain = there & (probability == 1)
    open_ = there & ~certain

    count = len(constant)
    places = facts.inputs[drawn][first]
    # Facts drawn together are known together: with a label on all nothing is open.
    closed = np.isin(facts.keys, keys[certain])
    left = np.where(closed, 0.0, facts.shares)
    open_judge = sums_by(facts.inputs, left * facts.presence, count)
    open_share = sums_by(facts.inputs, np.abs(left), count)
    known_scores = constant + sums_by(places[certain], human[certain], count)

    number = int(open_.sum())
    if number < FEWEST and not closed.all():
        what = f"labels of {counted(number, 'draw')} of the system '{system}'"
        raise InputError(what, expected=f"at least {FEWEST} that were drawn at random")

    means = Drawn(
        human=human[None, open_],
        judge=judge[None, open_],
        share=whole[open_],
        probability=probability[open_],
        mean=np.array([open_judge.mean()]),
        total=float(open_share.mean()),
        inputs=count,
    )
    return SystemDraws(
        drawn=None if closed.all() else means,
        places=places[open_],
        certain=known_scores,
        open_judge=open_judge,
        open_share=open_share,
        labels=int(answered.sum()),
    )


def _response(there: NDArray[np.bool_], presence: FloatArray) -> FloatArray:
    """The share of draws that were answered, in classes of like presence.

    People skip what is hard, and the judge is often unsure of the same.
    """
    classes = min(5, max(1, len(there) // 20))
    rates = np.full(len(there), there.mean())
    for some in np.array_split(np.argsort(presence, kind="stable"), classes):
        if there[some].any():
            rates[some] = there[some].mean()
    return rates
