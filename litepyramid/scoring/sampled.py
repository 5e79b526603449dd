"""People's labels of a sample of facts, each with the probability of being drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

import numpy as np

from litepyramid.checked import as_type
from litepyramid.data.facts import Facts, aligned
from litepyramid.data.records import Fact, InputUnits, Units
from litepyramid.disk import write_json
from litepyramid.errors import InputError
from litepyramid.files import read_document
from litepyramid.identity import fingerprint
from litepyramid.scoring.estimates import FEWEST, Drawn
from litepyramid.scoring.pyramid import ratio
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import sums_by
from litepyramid.tables import plain
from litepyramid.text import counted, cut
from litepyramid.types import BoolArray, FloatArray, IntArray

Cell = tuple[str, str]
"""A system and an input."""

Spread = Literal["facts", "summaries", "inputs"]

SAMPLE_FILE = "sample.json"
_FORMAT = "litepyramid-sample"
_HINT = "the folder that `litepyramid budget import -o` wrote, or its sample.json"


@dataclass(frozen=True, eq=False)
class SampledLabels:
    """Labels of facts that were drawn one by one, or with all others of a summary or
    input.

    Attributes:
        labels: 1, .5 or 0; NaN where nobody answered, and where nothing was drawn.
        probability: Of being drawn, of the same systems and units; NaN: not drawn.
        texts: By system and input what the summary of drawn facts hashes to.
    """

    spread: Spread
    labels: Facts
    probability: Facts
    texts: Mapping[Cell, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        spread: Spread,
        drawn: Mapping[tuple[str, Fact], tuple[float, float]],
        units: Units,
        texts: Mapping[Cell, str] | None = None,
    ) -> Self:
        """The label and the probability of each drawn fact, by system and fact."""
        labels = {}
        probability = {}
        for key, (label, chance) in drawn.items():
            labels[key] = label
            probability[key] = chance
        both = Facts.of(labels, units), Facts.of(probability, units)
        return cls(spread, *both, texts or {})

    @property
    def drawn(self) -> BoolArray:
        """(N, U) whether a fact was drawn."""
        return ~np.isnan(self.probability.values)

    @property
    def sha(self) -> str:
        """What names them in a signature."""
        return fingerprint([self.spread, self.labels.sha, self.probability.sha])

    @property
    def unanswered(self) -> int:
        """How many drawn facts have no label."""
        return int((self.drawn & np.isnan(self.labels.values)).sum())


@dataclass(frozen=True)
class _Row:
    system: str
    input: str
    text: str
    probability: float
    summary_sha: str
    nth: int = 0
    label: float | None = None


@dataclass(frozen=True)
class _File:
    spread: Spread
    units: list[InputUnits]
    facts: list[_Row]


def text_sha(text: str | None) -> str:
    """What names a summary; a missing one is read as an empty one."""
    return fingerprint([text or ""])


def read_sample(labels: SampledLabels | str | Path) -> SampledLabels:
    """Labels of a sample as they are, or from where `budget import` wrote them."""
    if isinstance(labels, SampledLabels):
        return labels

    what = "a sample of labels"
    path, data = read_document(labels, _FORMAT, what, _HINT, SAMPLE_FILE)
    file = as_type(_File, data, what="a broken sample", path=path)
    units = Units.of(file.units)
    known = {*units.facts}

    drawn = {}
    for row in file.facts:
        key = row.system, Fact(row.input, row.text, row.nth)
        # Labels are divided by their probability, so a wrong one is a wrong score.
        possible = 0 < row.probability <= 1 and row.label in (None, 0, 0.5, 1)
        if key[1] not in known or key in drawn or not possible:
            raise InputError(
                f"'{cut(row.text, 60)}' of {row.system} on {row.input}, probability "
                f"{row.probability}, label {row.label}",
                path=path,
                expected="a unit once, a probability above 0, up to 1, and a label of "
                "0, .5, 1 or null",
            )
        label = np.nan if row.label is None else row.label
        drawn[key] = label, row.probability

    texts = {(row.system, row.input): row.summary_sha for row in file.facts}
    sample = SampledLabels.of(file.spread, drawn, units, texts)
    if sample.unanswered == len(drawn):
        facts = counted(len(drawn), "drawn fact")
        raise InputError(f"none of {facts} has a label", path=path)
    return sample


def write_sample(path: Path, sample: SampledLabels) -> None:
    """Writes what `read_sample` reads."""
    labels = sample.labels
    rows = []
    for n, column in np.argwhere(sample.drawn).tolist():
        system, fact = labels.systems[n], labels.units.facts[column]
        sha = sample.texts[system, fact.input]
        row = {"system": system, "summary_sha": sha, **fact._asdict()}
        row["label"] = plain(labels.values[n, column])
        row["probability"] = plain(sample.probability.values[n, column])
        rows.append(row)

    document = {
        "format": _FORMAT,
        "version": 1,
        "spread": sample.spread,
        "units": [entry.to_json() for entry in labels.units],
        "facts": rows,
    }
    write_json(path, document)


# What the labels are, as draws of each system
# ------------------------------------------------------------------------------------


def on_result(result: ScoreResult, sample: SampledLabels) -> SampledLabels:
    """The sample over all systems and units of a result.

    Raises:
        InputError: The result lacks a system or a unit of the sample, or is of other
            texts.
    """
    systems, facts = aligned(result.facts, sample.labels).only_other
    lacking = [*systems, *[f"{fact.text}' of '{fact.input}" for fact in facts]]
    if lacking:
        raise InputError(
            f"the result lacks '{cut(lacking[0])}', which was exported to be labelled",
            expected="a result of the summaries and units that were exported",
        )
    texts = {} if result.summaries is None else dict(result.summaries.cells())
    for (system, name), sha in sample.texts.items() if texts else ():
        # The same facts of a newer summary may be other ones.
        if text_sha(texts[system, name]) != sha:
            raise InputError(
                f"labels of another summary of '{cut(system)}' on '{cut(name)}'",
                expected="a result of the summaries and units that were exported",
            )
    names = result.systems, result.units
    return replace(
        sample,
        labels=sample.labels.over(*names),
        probability=sample.probability.over(*names),
    )


def human_on(result: ScoreResult, sample: SampledLabels) -> FloatArray:
    """(N, M) human scores of the summaries that were drawn whole; NaN elsewhere."""
    answers = _answers_on(result, sample).labels.values
    # The seed of the result: a rule that draws units draws the judge's again.
    return result.rule.apply(answers, result.units, result.seed)[0]


def _answers_on(result: ScoreResult, sample: SampledLabels) -> SampledLabels:
    """`on_result`, where what was answered of a summary that was drawn whole stands for
    the rest of it, if its score is a sum over facts."""
    sample = on_result(result, sample)
    labels = sample.labels.values
    open_ = sample.drawn & np.isnan(labels)
    whole = sample.spread != "facts" and result.rule.is_sum
    if not (whole and open_.any()):
        return sample

    units = result.units
    shares = result.rule.shares(units)
    answered = ~np.isnan(labels)
    gained = units.sums(shares * np.where(answered, labels, 0.0))
    known = units.sums(np.abs(shares) * answered)
    mean = ratio(gained, known, np.nan)

    # A penalty that is met lowers the score: what was answered counts the other way.
    rest = mean[:, units.input_of] * np.sign(shares)
    filled = np.where(open_, rest, labels)
    return replace(sample, labels=replace(sample.labels, values=filled))


@dataclass(frozen=True)
class SystemDraws:
    """What people said of one system's draws, in the terms of `estimates`.

    Attributes:
        drawn: The draws that leave something open.
        inputs: (n,) the number of the input of each.
        certain: (M,) what is known of each input's human score beyond doubt.
        open_judge: (M,) the judge's score of the rest of each input.
        open_share: (M,) its share of the input's weight.
    """

    drawn: Drawn
    inputs: IntArray
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
        squares = (1 - drawn.probability) * residual**2
        beyond = sums_by(self.inputs, residual, count)
        return scores + beyond, sums_by(self.inputs, squares, count)


def system_draws(
    result: ScoreResult, sample: SampledLabels, confidence: float = 0.95
) -> list[SystemDraws]:
    """The draws of each system of a result."""
    answers = _answers_on(result, sample)
    systems = range(len(result.systems))
    return [_draws_of(n, result, answers, confidence) for n in systems]


def _draws_of(
    n: int, result: ScoreResult, answers: SampledLabels, confidence: float
) -> SystemDraws:
    """The draws of one system, and what is known without them."""
    units = result.units
    inputs = units.input_of
    count = len(units)
    shares = result.rule.shares(units)
    size = np.abs(shares)
    # What has no share adds nothing, answered or not.
    human = np.where(shares == 0, 0.0, shares * answers.labels.values[n])
    judge = shares * result.presence[n]
    chances = answers.probability.values[n]

    # Facts of equal keys were drawn together.
    keys = np.arange(len(inputs)) if answers.spread == "facts" else inputs
    drawn = np.flatnonzero(~np.isnan(chances))
    names, first, group = np.unique(keys[drawn], return_index=True, return_inverse=True)
    said = sums_by(group, human[drawn])
    by_judge = sums_by(group, judge[drawn])
    whole = sums_by(group, size[drawn])
    of_input = inputs[drawn][first]

    answered = ~np.isnan(said)
    # To be known, a draw must be drawn and answered; an empty summary is.
    asked = np.ones(len(names), dtype=np.bool_)
    if result.summaries is not None:
        asked = ~result.summaries.empty[n, of_input]
    rates = np.ones(len(names))
    rates[asked] = _response(answered[asked], ratio(by_judge, whole)[asked])
    chance = chances[drawn][first] * rates
    certain = answered & (chance == 1)
    open_ = answered & ~certain

    # Facts drawn together are known together: with a label on all nothing is open.
    left = ~np.isin(keys, names[certain])
    open_judge = sums_by(inputs, judge * left, count)
    open_share = sums_by(inputs, size * left, count)
    known = sums_by(of_input[certain], said[certain], count)
    if result.rule.name == "normalized":
        # Penalties count from below: none met is where the score begins.
        known -= sums_by(inputs, np.minimum(shares, 0))

    number = int(open_.sum())
    if number < FEWEST and open_share.any():
        raise InputError(
            f"labels of {counted(number, 'draw')} of '{result.systems[n]}'",
            expected=f"at least {FEWEST} drawn at random",
        )

    low, high = result.rule.limits(units)
    estimated = Drawn(
        human=said[None, open_],
        judge=by_judge[None, open_],
        share=whole[open_],
        probability=chance[open_],
        mean=np.array([open_judge.mean()]),
        total=float(open_share.mean()),
        inputs=count,
        known=float(known.mean()),
        width=high - low,
        confidence=confidence,
    )
    return SystemDraws(estimated, of_input[open_], known, open_judge, open_share)


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
