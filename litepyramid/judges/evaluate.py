"""Evaluation of a judge on labelled pairs: accuracy, AUC, Brier, calibration;
contrasts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.data.door import several
from litepyramid.errors import InputError
from litepyramid.identity import fingerprint
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.fairness import (
    Fairness,
    fairness_of,
    recalibrated,
)
from litepyramid.judges.labelled import (
    label_notes,
    labelled,
    labelled_sha,
    labelled_summaries,
    load_contrast,
    read_pair_data,
)
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import in_language
from litepyramid.judges.registry import judge as make_judge
from litepyramid.language import language_of, signed
from litepyramid.stats import check_whole, mean_of_scored, sums_by
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import (
    DataLike,
    FloatArray,
    IntArray,
    JudgeLike,
    LabelledSources,
    Names,
    Signature,
    Texts,
)

QUALITY = ("accuracy", Column("auc", "AUC"), Column("brier", "Brier"))
"""The columns of how good a judge is."""


@dataclass(frozen=True)
class ReliabilityBin:
    """Pairs with a presence from `low` up to `high`: how many, mean presence, share
    present."""

    low: float
    high: float
    pairs: int
    predicted: float
    observed: float


@dataclass(frozen=True)
class CalibrationResult(Result):
    """A judge against labels of pairs, those left out for which it has no judgement
    (`missing`).

    Attributes:
        base_rate: The mean label: without labels of .5, the share labelled present.
        accuracy: Share of pairs whose presence is on their label's side of .5 (.5 means
            "present"); with labels of .5, nearest to their label.
        auc, brier, slope: As `roc_auc`, `brier_score`, `calibration_slope` have them.
        brier_constant: Brier score of always giving the base rate.
        calibration_error: Mean over pairs of ``|predicted − observed|`` of their bin.
    """

    pairs: int
    missing: int
    base_rate: float
    accuracy: float
    auc: float
    brier: float
    brier_constant: float
    calibration_error: float
    slope: float
    bins: tuple[ReliabilityBin, ...]
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """The reliability table, with the other numbers below it."""
        columns = (
            Column("low", "from", digits=2),
            Column("high", "to", digits=2),
            "pairs",
            Column("predicted", "judge says"),
            Column("observed", "labels say"),
        )
        slope = f"slope {self.slope:.2f}"
        if np.isinf(self.slope):
            slope = "no slope: presence separates the labels"
        notes = (
            *([f"{self.missing} more have no judgement."] if self.missing else []),
            f"Accuracy {self.accuracy:.3f}, AUC {self.auc:.3f}, "
            f"calibration error {self.calibration_error:.3f}, {slope}.",
            f"Brier {self.brier:.3f} (always the base rate {self.base_rate:.3f}: "
            f"{self.brier_constant:.3f}).",
            str(self.signature),
        )
        title = f"Presence against {counted(self.pairs, 'label')}"
        return [Table.of(title, columns, self.bins, notes)]

    def to_figure(self) -> Any:
        """The reliability of the judge, a dot a bin."""
        from litepyramid.figures.score_plots import calibration_figure

        bins = [(b.predicted, b.observed, b.pairs) for b in self.bins if b.pairs]
        return calibration_figure(bins, self.brier, self.auc)


@dataclass(frozen=True)
class Phenomenon:
    """The share judged as labelled, presence ≥ .5 or not, of pairs of a kind, and of
    each label."""

    name: str
    pairs: int
    accuracy: float
    present: float
    absent: float


@dataclass(frozen=True)
class EvaluationResult(Result):
    """A judge on the `sets` of labelled pairs of these `names`, on each kind of
    contrast, and its `fairness` to the systems of each set that has several."""

    names: Names
    sets: tuple[CalibrationResult, ...]
    phenomena: tuple[Phenomenon, ...]
    signature: Signature
    notes: Texts = ()
    fairness: tuple[Fairness, ...] = ()

    def to_tables(self) -> list[Table]:
        """One row a set; the reliability table of a single set; judge less people by
        system; one row a kind of contrast."""
        columns = (
            "set",
            "pairs",
            Column("base_rate", "present"),
            *QUALITY,
            Column("slope", digits=2),
            Column("calibration_error", "calibration error"),
        )
        rows = [
            row(one, set=name) for name, one in zip(self.names, self.sets, strict=True)
        ]
        notes = [*self.notes, str(self.signature)]
        notes = [f"{one.set}: {one.verdict}" for one in self.fairness] + notes
        if missing := sum(one.missing for one in self.sets):
            more = counted(missing, "more pair has", "more pairs have")
            notes = [f"{more} no judgement.", *notes]

        tables = [Table.of("Judge against labels", columns, rows, notes)]
        if len(self.sets) == 1:
            tables.append(self.sets[0].to_tables()[0])
        for one in self.fairness:
            tables += one.to_tables()
        if self.phenomena:
            kinds = (
                Column("name", "phenomenon"),
                "pairs",
                Column("accuracy", digits=2),
                Column("present", "right if present", digits=2),
                Column("absent", "right if absent", digits=2),
            )
            tables.append(Table.of("Contrast set, by kind", kinds, self.phenomena))

        return tables

    def to_figure(self) -> Any:
        """The reliability on a single set."""
        if len(self.sets) > 1:
            raise InputError("a figure of several sets", expected="one set")
        return self.sets[0].to_figure()


def evaluate(
    judge: JudgeLike = DEFAULT_JUDGE,
    data: DataLike = None,
    *,
    pairs: Sequence[object] = (),
    contrast: bool = False,
    bins: int = 10,
    **sources: Unpack[LabelledSources],
) -> EvaluationResult:
    """Evaluates a judge against human labels: AUC, Brier score, accuracy, calibration
    slope; and, where there are several systems, whether it is fair to them.

    Judge less people is told by system, with an interval by inputs. After one
    recalibration for all pairs each system is tested beside the others, and whether
    the judge rises with the share of a summary that is copied, in runs of three words,
    from its document, else from its references (left out without). A judge that
    reverses systems that people tell apart (t-test by inputs) is told so. Tests are at
    .05 with Holm's correction, and need 10 inputs.

    Args:
        judge: The judge.
        data: Summaries, units and labels: `Data`, what `load` takes, or a list of
            these.
        pairs: Files of labelled pairs, each a set of its own: tables of premise,
            hypothesis, and present (0, 0.5 or 1) or label (e, n or c).
        contrast: Also evaluate on the embedded contrast set, 986 pairs that differ in
            negation, roles, numbers and the like, and show the accuracy on each kind;
            in the languages de, es, fr and zh 60 pairs.
        bins: Rows of the reliability table.
        **sources: As for `load`.

    Raises:
        InputError: There is nothing to evaluate on, or data have no labels.

    Example:
        >>> from litepyramid.embedded.example import load_example
        >>> result = evaluate("recall", load_example())
        >>> result.sets[0].pairs, result.sets[0].auc > 0.8
        (344, True)

    Command line:
        $ litepyramid judge evaluate example/summaries -u example/scus.jsonl \\
            -l example/labels
        $ litepyramid judge evaluate --contrast
    """
    ready = make_judge(judge)
    language = sources.pop("language", None)
    listed = [data] if sources else several(data)
    sets = [labelled(one, **sources) for one in listed if one is not None or sources]
    sets += map(read_pair_data, several(pairs))
    if contrast:
        sets.append(load_contrast("en" if language in (None, "any") else language))
    if not sets:
        raise InputError(
            "nothing to evaluate on",
            expected="summaries, units and labels; files of pairs; or the contrast set",
        )

    results = []
    hashes = []
    phenomena: list[Phenomenon] = []
    fairness: list[Fairness] = []
    notes: Texts = ()
    for one in sets:
        asked = [*labelled_summaries(one)]
        if not asked:
            raise InputError(
                "no system has both summaries and labels", expected="the same names"
            )
        code = language_of(one.texts, language or one.language)
        batch = judge_pairs(
            in_language(ready, code),
            [(entry.text, entry.units.texts) for entry in asked],
            [entry.units.question for entry in asked],
        )
        presence = np.concatenate(batch.presence)
        labels = np.concatenate([entry.labels for entry in asked])

        fields = {**batch.signature, **signed(code)}
        hashes.append(labelled_sha(one))
        about = Signature.of(**fields, data_sha=hashes[-1], bins=bins)
        results.append(calibrate(presence, labels, bins=bins, signature=about))
        notes += label_notes(one)
        if len({entry.system for entry in asked}) > 1:
            fairness.append(fairness_of(one, asked, batch.presence))
        # What makes a pair hard is a tag of its unit.
        if contrast and one is sets[-1]:
            kinds = [unit.tags[0] for entry in asked for unit in entry.units.units]
            phenomena += _by_kind(presence, labels, kinds)

    if len(sets) > 1:
        about = Signature.of(**fields, data_sha=fingerprint(hashes), bins=bins)
    names = tuple([one.name for one in sets])
    found = tuple(results), tuple(phenomena)
    return EvaluationResult(names, *found, about, notes, tuple(fairness))


def calibrate(
    presence: ArrayLike,
    labels: ArrayLike,
    *,
    bins: int = 10,
    signature: Signature | None = None,
) -> CalibrationResult:
    """Compares presence with labels of 0, .5 and 1, in bins of equal width; NaN is left
    out.

    Example:
        >>> result = calibrate([0.9, 0.8, 0.2, 0.4], [1, 1, 0, 1], bins=2)
        >>> result.accuracy, result.auc, [b.pairs for b in result.bins]
        (0.75, 1.0, [2, 2])
    """
    check_whole("bins", bins, 1, 1000)

    scores, truth = _pairs(presence, labels)
    base = float(truth.mean())
    # Right is the nearest of the labels that there are: 0 and 1, or .5 between them.
    steps = 2 if (truth == 0.5).any() else 1
    bin_of = bins_of(scores, bins)
    table = []

    for index in range(bins):
        inside = bin_of == index
        means = [mean_of_scored(values[inside]) for values in (scores, truth)]
        table.append(
            ReliabilityBin(index / bins, (index + 1) / bins, int(inside.sum()), *means)
        )

    error = (
        sum(b.pairs * abs(b.predicted - b.observed) for b in table if b.pairs)
        / truth.size
    )
    return CalibrationResult(
        pairs=int(truth.size),
        missing=int((~np.isnan(np.asarray(labels, dtype=np.float64))).sum())
        - truth.size,
        base_rate=base,
        accuracy=float((np.floor(scores * steps + 0.5) == truth * steps).mean()),
        auc=roc_auc(scores, truth),
        brier=brier_score(scores, truth),
        brier_constant=float(truth.var()) if steps == 2 else base * (1 - base),
        calibration_error=float(error),
        slope=calibration_slope(scores, truth),
        bins=tuple(table),
        signature=signature or Signature(()),
    )


def roc_auc(presence: ArrayLike, labels: ArrayLike) -> float:
    """The probability that a present unit gets more presence than an absent one; ties
    count half.

    With labels of .5 too: that of two units with different labels the higher gets more.
    NaN if all labels are equal.

    Example:
        >>> roc_auc([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0])
        0.875
    """
    scores, truth = _pairs(presence, labels)
    return weighted_auc(scores, truth, np.ones(len(truth)))


def weighted_auc(scores: FloatArray, truth: FloatArray, weights: FloatArray) -> float:
    """`roc_auc` of pairs that count as often as they weigh."""
    rank = np.unique(scores, return_inverse=True)[1]
    won = pairs = 0.0

    for low, high in combinations(np.unique(truth), 2):
        lower = sums_by(rank, weights * (truth == low))
        higher = sums_by(rank, weights * (truth == high))
        below = np.cumsum(lower) - lower / 2
        won += float(higher @ below)
        pairs += float(higher.sum() * lower.sum())

    return min(1.0, won / pairs) if pairs else float("nan")


def brier_score(presence: ArrayLike, labels: ArrayLike) -> float:
    """Mean squared distance of presence from the label (Brier 1950); 0 is perfect.

    Example:
        >>> brier_score([1.0, 0.5], [1, 0])
        0.125
    """
    scores, truth = _pairs(presence, labels)
    return float(np.mean((scores - truth) ** 2))


def bins_of(presence: FloatArray, bins: int) -> IntArray:
    """The number of the bin that each presence is in, of so many of one width; 1 is in
    the last."""
    # Not by presence * bins, which is below 29 for .29 of a hundred.
    return np.searchsorted(np.arange(1, bins) / bins, presence, side="right")


def calibration_slope(presence: ArrayLike, labels: ArrayLike) -> float:
    """b of logit P(label) = a + b logit(presence), fitted by maximum likelihood (Cox
    1958).

    Presence is held within .001 and .999, and b within ±100. Infinite if presence
    separates the labels: no slope is then steep enough. NaN if labels or presences are
    equal.

    Example:
        >>> labels = [1, 1, 1, 0, 1, 0, 0, 0]
        >>> round(calibration_slope([0.75] * 4 + [0.25] * 4, labels), 3)
        1.0
    """
    scores, truth = _pairs(presence, labels)
    return recalibrated(scores, truth, np.ones(len(truth)))[1]


def _by_kind(
    presence: FloatArray, labels: FloatArray, kinds: Sequence[str]
) -> Iterator[Phenomenon]:
    """Accuracy on the pairs of each kind; a pair without a judgement counts as
    wrong."""
    right = ((presence >= 0.5) == (labels == 1)) & ~np.isnan(presence)
    for name in sorted(set(kinds)):
        chosen = np.array(kinds) == name
        groups = (chosen, chosen & (labels == 1), chosen & (labels == 0))
        shares = [mean_of_scored(right[rows].astype(float)) for rows in groups]
        yield Phenomenon(name, int(chosen.sum()), *shares)


def _pairs(presence: ArrayLike, labels: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both as flat arrays in order, pairs without a label or a judgement left out."""
    scores = np.asarray(presence, dtype=np.float64)
    truth = np.asarray(labels, dtype=np.float64)
    if scores.shape == truth.shape:
        both = ~(np.isnan(truth) | np.isnan(scores))
        scores, truth = scores[both], truth[both]
        inside = np.isin(truth, (0.0, 0.5, 1.0)) & (scores >= 0) & (scores <= 1)
        if truth.size and inside.all():
            # Sums over pairs are the same bits in whatever order the pairs came.
            order = np.lexsort((scores, truth))
            return scores[order], truth[order]

    raise InputError(
        "no labelled pairs",
        expected="one label of 0, 0.5 or 1 for each presence from 0 to 1, and at "
        "least one",
    )
