"""Is a judge fair: where it is above people more than elsewhere, and whether it turns
systems round."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from litepyramid.data.data import Data
from litepyramid.judges.labelled import LabelledSummary
from litepyramid.judges.lexical.lexical_judge import fit_weights
from litepyramid.stats import (
    EQUAL_WITHIN,
    adjust_p_values,
    all_pairs,
    mean_of_scored,
    sums_by,
    t_p_values,
    t_reach,
    undefined,
    unseen_share,
)
from litepyramid.tables import Column, Table
from litepyramid.text import counted
from litepyramid.types import BoolArray, FloatArray, IntArray, Texts

COPIED = "copied"
SYSTEM = "system"

_WORD = re.compile(r"\w+(?:'\w+)?")
CONFIDENCE = 0.95
"""Of intervals and tests where nothing is told."""

STEEPEST = 100.0
"""Within ± so much a slope of calibration is held."""

_RUN = 3  # words that are copied together
_PAIRS, _INPUTS = 50, 10  # on either side; with fewer nothing is tested


@dataclass(frozen=True)
class SystemBias:
    """By how much the judge's score of a system is above people's, with its
    interval."""

    system: str
    judge: float
    bias: float
    low: float
    high: float


@dataclass(frozen=True)
class Cell:
    """A kind of pairs on which the judge errs as elsewhere, or not.

    Attributes:
        kind: What they are told apart by; `name`, which of them these are.
        error: ``bias``: presence above the label, more than elsewhere; ``spread``:
            squared error beyond what the presence admits, more than elsewhere;
            ``slope``: by how much presence is further above the label where all is
            copied than where nothing is.
        difference: From all other pairs, after one recalibration for all pairs.
        p_holm: Of no difference (t-test by inputs), Holm's correction over all cells.
    """

    kind: str
    name: str
    error: str
    pairs: int
    difference: float
    low: float
    high: float
    p: float
    p_holm: float = np.nan


Question = tuple[str, str, str, FloatArray | BoolArray, FloatArray]
"""Kind, name and error of a cell; what errors may depend on, and these, of K pairs."""


def words_of(text: str) -> list[str]:
    """The words of a text in small letters."""
    return _WORD.findall(text.casefold().replace("\u2019", "'"))


def copied_share(text: str, sources: Sequence[str]) -> float:
    """The share of a text's words that stand in runs of three words of its sources; NaN
    without a source.

    Example:
        >>> copied_share("Two men died in Oslo.", ["On Monday two men died there."])
        0.6
    """
    if not sources:
        return np.nan
    known = {run for source in sources for run in _runs(words_of(source))}
    words = words_of(text)
    inside = set()
    for place, run in enumerate(_runs(words)):
        if run in known:
            inside |= {*range(place, place + _RUN)}
    return len(inside) / max(1, len(words))


def _runs(words: Sequence[str]) -> Iterable[Texts]:
    return zip(*(words[n:] for n in range(_RUN)), strict=False)


def slope(
    errors: FloatArray,
    feature: FloatArray | BoolArray,
    weights: FloatArray,
    inputs: IntArray,
    confidence: float = CONFIDENCE,
) -> tuple[float, float, float, float]:
    """Least-squares slope of errors on a feature, its interval, and p; of a feature
    that is true or false the mean error where it is true less that elsewhere, of one
    that is the same for all the mean error.

    Inputs are what was drawn: errors within one are alike. NaN of a single one. Where
    none of n errs otherwise than the others, p is (1 - |difference|)^n: that none of
    them is of those that would have to err otherwise, by a whole scale, for no mean.
    """
    share = weights / weights.sum()
    apart = feature - share @ feature
    spread = share @ apart**2
    mean = float(share @ errors)
    sides = [apart > 0, apart < 0]

    if spread < EQUAL_WITHIN:
        value = mean
        residuals = errors - mean
        sides = [weights > 0]
    else:
        share = share * apart / spread
        value = float(share @ errors)
        residuals = errors - mean - value * apart

    # The side of fewer inputs says how sure the slope is.
    freedom = min(len(np.unique(inputs[side])) for side in sides) - 1
    if freedom < 1:
        return value, np.nan, np.nan, np.nan

    influence = sums_by(inputs, share * residuals)
    clusters = len(np.unique(inputs))
    error = float(np.sqrt(clusters / (clusters - 1) * (influence**2).sum()))
    if error < EQUAL_WITHIN:
        reach = unseen_share(confidence, freedom + 1)
        p = max(1 - abs(value), 0.0) ** (freedom + 1)
    else:
        reach = t_reach(confidence, freedom) * error
        t = np.array([abs(value) / error])
        p = float(t_p_values(t, np.array([float(freedom)]))[0])
    return value, value - reach, value + reach, p


def mean_gap(gaps: FloatArray) -> tuple[float, float, float, float]:
    """The mean of what inputs have, its interval, and p (`slope`); NaN is none."""
    there = np.flatnonzero(~np.isnan(gaps))
    alike = np.ones(len(there))
    return slope(gaps[there], alike, alike, there)


def cells_by(
    questions: Iterable[Question],
    weights: FloatArray,
    inputs: IntArray,
    confidence: float = CONFIDENCE,
) -> tuple[Cell, ...]:
    """The cells with enough pairs on either side, the least likely first."""
    cells = []
    for kind, name, error, feature, errors in questions:
        above = feature > feature.mean()
        sides = [above, ~above] if above.any() else [~above]
        if all(_enough(inputs[side]) for side in sides):
            found = slope(errors, feature, weights, inputs, confidence)
            size = int(above.sum() or len(above))
            cells.append(Cell(kind, name, error, size, *found))

    p = adjust_p_values(np.array([cell.p for cell in cells]), "holm")
    cells = [replace(c, p_holm=own) for c, own in zip(cells, p.tolist(), strict=True)]
    return tuple(sorted(cells, key=lambda cell: cell.p))


def _enough(inputs: IntArray) -> bool:
    return len(inputs) >= _PAIRS and len(np.unique(inputs)) >= _INPUTS


@undefined()
def recalibrated(
    presence: FloatArray, labels: FloatArray, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Presence as `calibration_slope` fits it to labels of weighted pairs, and the
    slope."""
    # The logit of 0 or 1 is infinite: one such pair would decide the slope.
    inside = np.clip(presence, 0.001, 0.999)
    logits = np.log(inside / (1 - inside))
    there = weights > 0
    slope = np.nan
    if np.ptp(logits[there]) >= 1e-9 and np.ptp(labels[there]) > 0:
        present = logits[there & (labels > 0)]
        absent = logits[there & (labels < 1)]
        rising = absent.max() <= present.min()
        falling = present.max() <= absent.min()
        slope = 0.0
        if rising != falling:
            slope = np.inf if rising else -np.inf

    # Labels that presence separates have no steepest slope: what it comes to is each
    # presence's own mean, as where presence or labels are equal.
    if slope != 0:
        rank = np.unique(logits, return_inverse=True)[1]
        return (sums_by(rank, weights * labels) / sums_by(rank, weights))[rank], slope

    bounds = [(-STEEPEST, STEEPEST)]
    some = logits[there, None], labels[there], bounds, 0.0, weights[there]
    bias, [slope] = fit_weights(*some)
    return 1 / (1 + np.exp(-bias - slope * logits)), float(slope)


def leaning(cells: Sequence[Cell], confidence: float = CONFIDENCE) -> str:
    """Which systems a judge over-rates beside the others, and whether it over-rates
    what is copied, in a sentence; "" if neither is more than chance."""
    parts = []
    for cell in cells:
        if cell.p_holm < 1 - confidence and cell.error != "spread":
            rate = "over-rates" if cell.difference > 0 else "under-rates"
            if cell.kind == SYSTEM:
                parts.append(f"{rate} {cell.name} ({cell.difference:+.3f})")
            elif cell.kind == COPIED:
                parts.append(f"{rate} what is copied ({cell.difference:+.3f})")
    return f"It {', '.join(parts)}." if parts else ""


def turned(judge: FloatArray, people: FloatArray) -> tuple[int, int]:
    """How many pairs of systems people tell apart by (N, M) summary scores, NaN where
    there is none, and how many of these a judge's scores reverse: by t-tests over
    inputs, with Holm's correction."""
    p = []
    falls = []
    for first, second in all_pairs(len(people)).tolist():
        gaps = people[first] - people[second]
        mean, _, _, own = mean_gap(gaps)
        p.append(own)
        falls.append(mean * np.nansum(judge[first] - judge[second]) < 0)

    apart = adjust_p_values(np.array(p), "holm") < 1 - CONFIDENCE
    return int(apart.sum()), int((apart & np.array(falls, dtype=bool)).sum())


@dataclass(frozen=True)
class Fairness:
    """How fair a judge is to the systems of a set.

    Attributes:
        verdict: Whether it ranks otherwise than people, and what it over-rates, in a
            sentence.
        systems: The bias of every system's score.
        cells: Each system beside the others; what is copied from the documents, or
            else from the references, if there are any. None of fewer than 10 inputs.
    """

    set: str
    verdict: str
    systems: tuple[SystemBias, ...]
    cells: tuple[Cell, ...]

    def to_tables(self) -> list[Table]:
        """The bias of every system, and what was tested."""
        note = "By inputs, after one recalibration for all pairs; p by Holm."
        tables = [bias_table(self.systems)]
        if self.cells:
            tables.append(cell_table(self.verdict, self.cells, note))
        return tables


def fairness_of(
    data: Data, asked: Sequence[LabelledSummary], presence: Sequence[FloatArray]
) -> Fairness:
    """How fair a judge is to the systems of a data set, by its presences in labelled
    summaries."""
    systems = [*dict.fromkeys(one.system for one in asked)]
    inputs = [*dict.fromkeys(one.input for one in asked)]
    shape = len(systems), len(inputs)
    rows = []
    for one, values in zip(asked, presence, strict=True):
        place = systems.index(one.system) * shape[1] + inputs.index(one.input)
        copied = np.full(len(values), copied_share(one.text, _sources(data, one)))
        here = np.full(len(values), place)
        rows.append(np.stack([values, one.labels, here, copied]))

    pairs = np.concatenate(rows, axis=1)
    said, labels, at, copied = pairs[:, ~np.isnan(pairs[:2]).any(axis=0)]
    places = at.astype(int)
    counts = sums_by(places, np.ones(len(places)), shape[0] * shape[1])
    with undefined():
        judge = (sums_by(places, said, len(counts)) / counts).reshape(shape)
        people = (sums_by(places, labels, len(counts)) / counts).reshape(shape)

    # Each summary counts the same, whatever the number of its units.
    weights = 1 / counts[places]
    errors = recalibrated(said, labels, weights)[0] - labels
    of_system, of_input = np.divmod(places, shape[1])
    questions: list[Question] = []
    biases = []
    for n, system in enumerate(systems):
        questions.append((SYSTEM, system, "bias", of_system == n, errors))
        bias = mean_gap(judge[n] - people[n])[:3]
        biases.append(SystemBias(system, mean_of_scored(judge[n]), *bias))

    if not np.isnan(copied).any():
        questions.append((COPIED, "from its source", "slope", copied, errors))
    cells = cells_by(questions, weights, of_input)

    apart, reversed_ = turned(judge, people)
    ranks = "It ranks systems wrongly: of" if reversed_ else "Of"
    verdict = (
        f"{ranks} {counted(apart, 'pair')} of systems that people tell apart it "
        f"reverses {reversed_ or 'none'}. {leaning(cells)}"
    )
    if not apart:
        verdict = leaning(cells) or "People tell no two systems apart."
    return Fairness(data.name, verdict.rstrip(), tuple(biases), cells)


def _sources(data: Data, one: LabelledSummary) -> Sequence[str]:
    """What a summary may have copied: its document, else the references."""
    for system in (one.system, ""):
        if document := data.documents.get((system, one.input)):
            return [document]
    for entry in data.references:
        if entry.input == one.input:
            return [*map(" ".join, entry.references)]
    return []


def bias_table(systems: Sequence[SystemBias]) -> Table:
    """A row a system: judge less people."""
    signed = [Column(name, signed=True) for name in ("bias", "low", "high")]
    title = "The judge's scores above people's"
    return Table.of(title, ("system", "judge", *signed), systems)


def cell_table(title: str, cells: Sequence[Cell], note: str) -> Table:
    """A row a cell."""
    columns: tuple[Column | str, ...] = (
        "kind",
        "name",
        "error",
        "pairs",
        *(Column(name, signed=True) for name in ("difference", "low", "high")),
        Column("p_holm", "p Holm", digits=4, above_zero=True),
    )
    return Table.of(title, columns, cells, [note])
