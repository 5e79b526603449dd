"""Combining people and judge: scores on all inputs from labels on a few
(prediction-powered)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import comb
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError, choose
from litepyramid.scoring.inference import (
    MEASURES,
    group_letters,
    letter_groups,
    matrices_sha,
)
from litepyramid.scoring.pyramid import metric_title
from litepyramid.scoring.result import scored_and_labelled
from litepyramid.stats import (
    adjust_p_values,
    all_pairs,
    by_id,
    check_share,
    t_p_values,
    t_reach,
)
from litepyramid.tables import Column, Result, Table, row
from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray, ScoresLike, Signature

Target = Literal["inputs", "population"]

GAIN = 0.95
"""The judge is used where it leaves at most this part of the variance; else the labels
alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """What labels and judge combined say of a mean, with its interval (low, high).

    Attributes:
        alone: The same from the labels alone, with that interval.
        weight: λ, how much the judge counts; 0: the labels alone.
        labels: How many inputs are labelled, of a pair for both.
        saved: How many more labelled inputs the labels alone would need for as short an
            interval.
    """

    low: float
    high: float
    alone: float
    alone_low: float
    alone_high: float
    weight: float
    labels: int
    saved: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedScore(Combined):
    """The human score of a system; the judge's own, over all inputs; its rank groups,
    from 1."""

    system: str
    score: float
    judge: float
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedPair(Combined):
    """The difference of two systems, the first one better, estimated with a λ of its
    own.

    Attributes:
        p: Two-sided p of no difference (t-test).
        p_holm: The same after Holm's correction over all pairs.
    """

    first: str
    second: str
    difference: float
    p: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class CombinedScores(Result):
    """Human scores of systems, best first, and their differences, the largest first.

    Of `inputs`, `labels` have labels for some system; intervals are for the `target`.
    """

    metric: str
    systems: tuple[CombinedScore, ...]
    pairs: tuple[CombinedPair, ...]
    inputs: int
    labels: int
    target: Target
    confidence: float
    alpha: float
    signature: Signature

    @property
    def scores(self) -> dict[str, float]:
        """The estimated human score of each system, best first."""
        return {entry.system: entry.score for entry in self.systems}

    def to_tables(self) -> Sequence[Table]:
        """One row per system; then the differences."""
        percent = f"{100 * self.confidence:g} %"
        unused = sum(not entry.weight for entry in self.systems)
        saved = float(np.median([entry.saved for entry in self.systems]))
        of = (
            "labels on all inputs would give"
            if self.target == "inputs"
            else "new inputs have"
        )
        notes = [
            f"score: labels and judge combined; alone: labels only. {percent} intervals for "
            f"the scores that {of}. The labelled inputs are assumed to be a random sample.",
            f"The judge is worth {saved:.0f} more labelled inputs (median).",
        ]
        if unused:
            told = f"For {counted(unused, 'system')} the judge does not help"
            notes.append(f"{told}: only the labels are taken.")
        if any(entry.weight < 0 for entry in self.systems):
            notes.append("λ < 0: the judge disagrees with the labels; check it.")
        if self.pairs:
            notes.append(
                "Systems that share a group do not differ significantly "
                f"(α = {self.alpha:g}, t-test of the combined differences, Holm's correction)."
            )
        columns = (
            *("group", "system", "score", "low", "high", "alone"),
            *(Column("alone_low", "low"), Column("alone_high", "high"), "judge"),
            *(Column("weight", "λ", digits=2), Column("saved", digits=0)),
        )
        rows = [row(entry, group=group_letters(entry.groups)) for entry in self.systems]
        systems, inputs = (
            counted(len(self.systems), "system"),
            counted(self.inputs, "input"),
        )
        title = (
            f"Human scores of {systems} on {inputs}, from labels on {self.labels} and "
        )
        title += metric_title(self.metric)
        table = Table.of(title, columns, rows, (*notes, str(self.signature)))
        return [replace(table, repeated=2), *self._differences()]

    def _differences(self, limit: int = 10) -> list[Table]:
        alone = [Column("alone_low", "alone low", signed=True)]
        alone += [Column("alone_high", "high", signed=True)]
        columns: list[Any] = ["first", "second", *MEASURES[:3], *alone, MEASURES[-1]]
        significant = sum(pair.p_holm < self.alpha for pair in self.pairs)
        note = (
            f"{significant} of {counted(len(self.pairs), 'pair')} differ significantly."
        )
        more = (
            f"The {limit} largest differences"
            if len(self.pairs) > limit
            else "Differences"
        )
        return (
            [Table.of(more, columns, self.pairs[:limit], (note,))] if self.pairs else []
        )

    def to_figure(self) -> Any:
        """One line per system: labels and judge combined, below it the labels alone."""
        from litepyramid.figures.score_plots import score_figure

        return score_figure(
            [entry.system for entry in self.systems],
            [(entry.score, entry.low, entry.high) for entry in self.systems],
            [entry.groups for entry in self.systems],
            label="labels and judge",
            below=[
                (entry.alone, entry.alone_low, entry.alone_high)
                for entry in self.systems
            ],
            below_label="labels alone",
            confidence=self.confidence,
            what="human score",
        )


def combine(
    scores: ScoresLike,
    *,
    metric: str | None = None,
    human: str = "human",
    target: Target = "inputs",
    assume_random: bool = False,
    confidence: float = 0.95,
) -> CombinedScores:
    """Estimate human scores from labels on some inputs and a judge's scores on all.

    Systems, and differences of two systems, are estimated by prediction-powered
    inference; inputs are what is drawn, as all systems are labelled on the same ones.

    Args:
        scores: A result of `score` with labels on a random sample of the inputs, or its
            file; or a table of scores with a human column, empty where nobody labelled;
            or two matrices.
        metric: The judge's metric in a table.
        human: The human column in a table.
        target: ``inputs``: intervals for the scores that labels on all these inputs
            would give;
            ``population``: for the population that these inputs are a sample of.
        assume_random: Take the labelled inputs for a random sample even if they look
            chosen.
        confidence: Confidence level of the intervals; tests are at 1 less it.

    Raises:
        InputError: No human scores, too few, gaps in the judge's scores, or labels on
            the first (or last) inputs by id, which is not a sample.

    Example:
        >>> rows = [
        ...     {"system": "a", "input": i, "metric": name, "score": value}
        ...     for i, f in enumerate([.1, .9, .4, .5, .3, .8, .2, .6])
        ...     for name, value in (("judge", f), ("human", f + .1 if i in (1, 3, 4, 6) else None))
        ... ]
        >>> combine(rows).systems[0].labels
        4

    Command line:
        $ litepyramid combine scores.json --target population
    """
    check_share("confidence", confidence)
    alpha = round(1 - confidence, 12)
    choose("target", target, get_args(Target))
    judge, people, signature = scored_and_labelled(scores, metric, human)
    if (judge.systems, judge.inputs) != (people.systems, people.inputs):
        raise InputError(
            "the judge's scores and the human scores are for different systems or inputs",
            expected="the same ones, in the same order",
        )
    rows, columns = by_id(judge.systems), by_id(judge.inputs)
    systems = [judge.systems[i] for i in rows]
    f, h = (one.values[np.ix_(rows, columns)] for one in (judge, people))
    labelled = np.asarray((~np.isnan(h)).any(axis=0))
    if len(gap := np.argwhere(np.isnan(f))):
        raise InputError(
            f"no score of '{systems[gap[0][0]]}' on input '{judge.inputs[columns[gap[0][1]]]}'",
            expected="the judge's score for every summary",
        )
    if not assume_random:
        _check_sample(labelled)
    means = _powered(h, f, confidence, target)
    i, j = all_pairs(len(h)).T
    differences = _powered(h[i] - h[j], f[i] - f[j], confidence, target)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(differences["value"]) / differences["error"]
    p = t_p_values(np.nan_to_num(t, nan=0.0, posinf=np.inf), differences["labels"] - 1)
    holm = adjust_p_values(p, "holm")
    order = np.argsort(-means["value"], kind="stable").tolist()
    differs = np.zeros((len(order), len(order)), dtype=bool)
    differs[i, j] = holm < alpha
    groups = letter_groups(order, differs | differs.T)
    turned = differences["value"] < 0
    first, second = np.where(turned, (j, i), (i, j))
    for low, high in (("low", "high"), ("alone_low", "alone_high"), ("alone", "alone")):
        ends = differences[low], differences[high]
        differences[low], differences[high] = np.where(
            turned, (-ends[1], -ends[0]), ends
        )
    pairs = [
        CombinedPair(
            first=systems[first[n]], second=systems[second[n]], p=float(p[n]),
            difference=abs(float(differences["value"][n])), p_holm=float(holm[n]),
            **_entry(differences, n),
        )
        for n in range(len(p))
    ]  # fmt: skip
    about = {"combine": "cross-fit", "target": target, "confidence": confidence}
    about |= {"scores_sha": matrices_sha(judge, people)}
    return CombinedScores(
        metric=judge.metric,
        systems=tuple(
            CombinedScore(
                system=systems[n], score=float(means["value"][n]), judge=float(f[n].mean()),
                groups=groups[n], **_entry(means, n),
            )
            for n in order
        ),
        pairs=tuple(sorted(pairs, key=lambda pair: (-pair.difference, pair.first, pair.second))),
        inputs=len(judge.inputs),
        labels=int(labelled.sum()),
        target=target,
        confidence=confidence,
        alpha=alpha,
        signature=Signature.of(**dict(signature.fields) | about),
    )  # fmt: skip


def _entry(rows: np.recarray[Any, Any], n: int) -> dict[str, Any]:
    """The fields of a `Combined`, of one row."""
    return {field.name: rows[field.name][n].item() for field in fields(Combined)}


_ROW = np.dtype(
    [("value", float), ("error", float), ("low", float), ("high", float), ("alone", float),
     ("alone_low", float), ("alone_high", float), ("weight", float), ("saved", float),
     ("labels", np.int64)]
)  # fmt: skip


def prediction_powered(
    human: FloatArray,
    judge: FloatArray,
    labelled: IntArray,
    *,
    confidence: float = 0.95,
    target: Target = "inputs",
) -> np.recarray[Any, Any]:
    r"""Means of human scores known for some inputs, with a judge's scores known for
    all.

    .. math:: \hat\theta = \frac1n \sum_{j \in L}
              \bigl(h_j - \lambda_{-j} (f_j - \bar f)\bigr)

    over the n labelled inputs L, a random sample, with the judge's mean f̄ over all M
    inputs: unbiased for any λ (Angelopoulos et al. 2023, PPI++; Chaganty et al. 2018,
    control variates), in the form for a finite population. λ is the regression
    coefficient of h on f that minimises the variance, for each input from the other
    labelled ones (cross-fitting by leaving one out), so that few labels do not make it
    look better than it is. Where the judge leaves more than `GAIN` of the variance, the
    labels alone are taken. Intervals are Student's t.

    Args:
        human: (R, n) human scores of the labelled inputs: of systems, or differences of
            two.
        judge: (R, M) the judge's scores of all inputs.
        labelled: (n,) which inputs are labelled, ascending; at least three.
        confidence: As in `combine`, as is `target`.

    Returns:
        R records: the mean, `value`, its standard error, and the fields of a
        `Combined`.

    Example:
        >>> judge = np.array([[0.1, 0.5, 0.9, 0.3, 0.7, 0.2]])
        >>> means = prediction_powered(judge[:, :4] + 0.1, judge, np.arange(4))
        >>> [x.round(3).tolist() for x in (means.value, means.alone, means.weight)]
        [[0.55], [0.55], [1.0]]
    """
    n, total = len(labelled), judge.shape[1]
    if n < 3:
        what = f"human scores of {counted(n, 'input')}"
        raise InputError(what, expected="at least three labelled inputs")
    at_labels = judge[:, labelled]
    x, y = (values - values.mean(axis=1)[:, None] for values in (at_labels, human))
    left = n / (n - 1)
    spread = (x * x).sum(axis=1)[:, None] - left * x * x
    usable = spread > 1e-12 * np.maximum(1.0, (at_labels**2).sum(axis=1)[:, None])
    shared = (x * y).sum(axis=1)[:, None] - left * x * y
    slopes = np.where(usable, shared / np.where(usable, spread, 1.0), 0.0)
    corrected = human - slopes * (at_labels - judge.mean(axis=1)[:, None])
    unit, unit_alone = corrected.var(axis=1, ddof=1), human.var(axis=1, ddof=1)
    error, error_alone = (one / n * (1 - n / total) for one in (unit, unit_alone))
    helps = error < GAIN * error_alone
    alone = human.mean(axis=1)
    value = np.where(helps, corrected.mean(axis=1), alone)
    error = np.where(helps, error, error_alone)
    more = unit_alone / total  # of a sample of M over the mean of M
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = n * np.where(helps, (error_alone + more) / (error + more), 1.0)
    if target == "population":
        error, error_alone = error + more, error_alone + more
    weight = np.where(helps, slopes.mean(axis=1), 0.0)
    reach, error, error_alone = (
        t_reach(confidence, n - 1),
        np.sqrt(error),
        np.sqrt(error_alone),
    )
    ends = (alone, alone - reach * error_alone, alone + reach * error_alone)
    low, high, labels = (
        value - reach * error,
        value + reach * error,
        np.full(len(human), n),
    )
    fields = [value, error, low, high, *ends, weight, needed - n, labels]
    return np.rec.fromarrays(fields, dtype=_ROW)


def _powered(
    human: FloatArray, judge: FloatArray, confidence: float, target: Target
) -> np.recarray[Any, Any]:
    """`prediction_powered` of rows that may have other gaps."""
    rows = np.recarray(len(human), dtype=_ROW)
    patterns: dict[bytes, list[int]] = {}
    for index, there in enumerate(~np.isnan(human)):
        patterns.setdefault(there.tobytes(), []).append(index)
    for same in patterns.values():
        labelled = np.flatnonzero(~np.isnan(human[same[0]]))
        rows[same] = prediction_powered(
            human[same][:, labelled],
            judge[same],
            labelled,
            confidence=confidence,
            target=target,
        )
    return rows


def _check_sample(labelled: NDArray[np.bool_]) -> None:
    """Raises InputError if the labelled inputs are the first or the last ones of
    many."""
    n, total = int(labelled.sum()), len(labelled)
    ends = labelled[:n].all() or labelled[total - n :].all()
    if ends and comb(total, n) > 1000:
        raise InputError(
            f"the labelled inputs are the {'first' if labelled[:n].all() else 'last'} {n} of "
            f"{total} by id: not a random sample",
            expected="a random sample of the inputs",
            hint="If the ids are in random order anyway, say so (assume_random).",
        )
