"""Which inputs people should judge presence for, drawn so that their labels are a random sample."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from litepyramid.annotation.dealing import deal
from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.files import read_document, write_json
from litepyramid.scoring.powered import Design
from litepyramid.scoring.pyramid import UnitLayout
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import t_reach
from litepyramid.tables import Cell, Column, Result, Table, plain
from litepyramid.text import counted
from litepyramid.types import FloatArray, IntArray, ScoreMatrix, Signature, fingerprint

FORMAT = "litepyramid-presence-plan"
PresenceBy = Literal["score", "error", "random"]

TOGETHER = 1.8
"""Variance of the error of a summary's score over what independent errors of its units would give.

Measured on REALSumm, the lexical judge cross-fitted by examples: a judge errs on several units of
a summary at once.
"""


@dataclass(frozen=True)
class PresencePlan(Result):
    """Which inputs people label, with all systems' summaries.

    Attributes:
        inputs: M ids.
        label: (M,) bool, whether people label an input.
        strata: (M,) the stratum an input is in, from 0.
        inclusion: (M,) the probability with which it was drawn: the share of its stratum.
        judged: (M,) mean over systems of the judge's score.
        error: (M,) expected error of the judge's score of one summary of the input: the root of
            `TOGETHER` (of the labels' own factor where there are labels) times the variance of the
            human score, were presences independent probabilities; NaN if not known.
        judgements: (M,) how many yes-or-no answers an input needs: units times systems.
        systems: N names.
        by: How it was drawn.
        annotators: How many people judge; None if not specified.
        per_task: How many of them judge each summary.
        checks: How many summaries all of them judge, for comparison.
        per_judgement: What one answer costs; None if no price was given.
        seconds: How long one answer takes; None if not given.
        alone_half: Expected half width of a system's 95 % interval with the labels alone.
        half: The same with labels and judge combined.
        seed: Seed of the draw.
        signature: How to reproduce it.
    """

    inputs: tuple[str, ...]
    label: NDArray[np.bool_]
    strata: IntArray
    inclusion: FloatArray
    judged: FloatArray
    error: FloatArray
    judgements: IntArray
    systems: tuple[str, ...]
    by: PresenceBy
    annotators: int | None
    per_task: int
    checks: int
    per_judgement: float | None
    seconds: float | None
    alone_half: float
    half: float
    seed: int
    signature: Signature

    @property
    def count(self) -> int:
        """How many inputs people label."""
        return int(self.label.sum())

    @property
    def chosen(self) -> tuple[str, ...]:
        """The inputs to label, in their order."""
        return tuple(name for name, own in zip(self.inputs, self.label, strict=True) if own)

    @property
    def answers(self) -> int:
        """How many answers people give, including those of several people for one summary."""
        once = int(self.judgements[self.label].sum())
        tasks = self.count * len(self.systems)
        extra = min(self.checks, tasks) * max(0, (self.annotators or self.per_task) - self.per_task)
        return once * self.per_task + round(once / max(1, tasks) * extra)

    @property
    def design(self) -> Design:
        """What `combine` needs to know about the draw."""
        return Design(self.inputs, self.inclusion, self.strata)

    def shares(self, tasks: int) -> list[list[int]] | None:
        """The tasks of each annotator (`deal`); None if their number is not specified."""
        if self.annotators is None:
            return None
        return deal(tasks, self.annotators, self.per_task, self.checks, self.seed)

    def to_tables(self) -> Sequence[Table]:
        """One row per stratum."""
        rows: list[tuple[Cell, ...]] = []
        for stratum in range(int(self.strata.max()) + 1):
            own = self.strata == stratum
            rows.append(
                (
                    stratum + 1, int(own.sum()), int(self.label[own].sum()),
                    float(self.inclusion[own][0]), float(self.judged[own].mean()),
                    float(self.error[own].mean()), int(self.judgements[own & self.label].sum()),
                )
            )  # fmt: skip
        notes = [
            f"Drawn at random within strata by {_BY[self.by]} (seed {self.seed}); labels of these "
            "inputs are a sample, so scores are estimated without bias.",
            f"{counted(self.answers, 'answer')} of people"
            + (f", {self.per_task} for each summary" if self.per_task > 1 else "")
            + (f", assigned to {self.annotators} annotators" if self.annotators else "")
            + (f"; {self.checks} summaries go to all of them" if self.checks else "")
            + ".",
        ]
        if self.per_judgement is not None:
            notes.append(f"Cost: {self.answers * self.per_judgement:.2f}.")
        if self.seconds is not None:
            notes.append(f"Time: {self.answers * self.seconds / 3600:.1f} hours.")
        if not np.isnan(self.half):
            notes.append(
                f"Expected 95 % interval of a system's score: ± {self.half:.3f} with the judge, "
                f"± {self.alone_half:.3f} from the labels alone, if the judge is about "
                "calibrated."
            )
        columns = (
            Column("stratum"), Column("inputs"), Column("label"),
            Column("inclusion", "share", digits=2), Column("judged", "judge's score"),
            Column("error", "expected error"), Column("judgements", "answers"),
        )  # fmt: skip
        title = f"Presence labels for {self.count} of {counted(len(self.inputs), 'input')}"
        return [Table(title, columns, tuple(rows), (*notes, str(self.signature)))]

    def to_json(self) -> dict[str, Any]:
        """The whole plan: what `read_presence_plan` reads."""
        return {"format": FORMAT, "version": 1, **super().to_json()}


_BY = {
    "score": "the judge's score",
    "error": "the judge's expected error, more where it is large",
    "random": "nothing: all inputs equally",
}


def plan_presence(
    scored: ScoreResult | ScoreMatrix,
    *,
    inputs: int | None = None,
    cost: float | None = None,
    per_judgement: float | None = None,
    width: float | None = None,
    by: PresenceBy | None = None,
    strata: int = 4,
    annotators: int | None = None,
    per_task: int = 1,
    checks: int = 0,
    seconds: float | None = None,
    seed: int = 12345,
) -> PresencePlan:
    """Draws the inputs whose summaries people should label, all systems' of each.

    Inputs are cut into strata of equal size by the judge's mean score, or by its expected error;
    within a stratum they are drawn at random. By score each stratum gives its share; by error n_h
    is in proportion to N_h times the stratum's mean error (Neyman allocation, as in active
    inference: label where the judge is expected to err, weigh by the inverse chance).

    Args:
        scored: Scores by the judge; with the presence of every unit the expected error is known.
        inputs: Label this many inputs; or
        cost: as many as this buys at `per_judgement`; or
        width: as many as make the expected 95 % interval of a system's score so wide, labels and
            judge combined.
        per_judgement: What one yes or no costs.
        by: ``score``, ``error``, or ``random``: one stratum. By error where that is known, else by
            score.
        strata: How many strata; fewer where a stratum would get less than two labelled inputs.
        annotators: How many people judge, for balanced shares of the tasks.
        per_task: How many people judge the same summary.
        checks: How many summaries all annotators judge.
        seconds: How long one answer takes, to say how many hours it makes.
        seed: Seed of the draw.

    Raises:
        InputError: The budget is given in no way or several, buys fewer than four inputs, or the
            expected error is needed and not known.

    Example:
        >>> scores = ScoreMatrix("m", ("a",), tuple("12345678"), np.arange(8.0)[None] / 8)
        >>> plan = plan_presence(scores, inputs=4, strata=2, seed=1)
        >>> plan.count, plan.inclusion.tolist()[:2], int(plan.label[:4].sum())
        (4, [0.5, 0.5], 2)
    """
    names, values, total = scored.inputs, scored.values, len(scored.inputs)
    if annotators is not None and not 1 <= per_task <= annotators:
        raise InputError(
            f"{per_task} annotators a summary of {annotators}", expected="at most all of them"
        )
    error = _expected_error(scored)
    by = by or ("score" if np.isnan(error).any() else "error")
    units = (
        [len(entry.units) for entry in scored.units]
        if isinstance(scored, ScoreResult)
        else [1] * total
    )
    judgements = np.array(units, dtype=np.int64) * len(values)
    if len([x for x in (inputs, cost, width) if x is not None]) != 1:
        raise InputError(
            "no budget is given, or more than one",
            expected="one of --inputs N, --cost C with --per-judgement c, --width W",
        )
    judged = np.nanmean(values, axis=0)
    if (by == "error" or width is not None) and np.isnan(error).any():
        raise InputError(
            "the judge's expected error is not known",
            expected="the JSON of `litepyramid score`, which holds the presence of every unit",
        )
    spread = float(np.nanvar(values, axis=1, ddof=1).mean()) if total > 1 else 0.0

    def draw(n: int) -> tuple[IntArray, IntArray]:
        """The stratum of each input, and how many to label in each."""
        parts = 1 if by == "random" else max(1, min(strata, n // 2, total // 2))
        order = np.argsort(error if by == "error" else judged, kind="stable")
        part = np.empty(total, dtype=np.int64)
        part[order] = np.arange(total) * parts // total
        wanted = np.bincount(part, error if by == "error" else None)
        return part, _allocated(n, wanted, np.bincount(part))

    def half(n: int) -> tuple[float, float]:
        part, quota = draw(n)
        sizes = np.bincount(part)
        rest = (sizes / total) ** 2 * (1 - quota / sizes) / quota
        own = np.bincount(part, error**2) / sizes
        reach = t_reach(0.95, max(1, n - len(sizes)))
        alone = reach * np.sqrt((rest * (own + spread)).sum())
        return float(reach * np.sqrt((rest * own).sum())), float(alone)

    if cost is not None:
        if per_judgement is None or per_judgement <= 0:
            raise InputError("a cost without a price", expected="--per-judgement above 0")
        count = floor(cost / (per_judgement * float(judgements.mean()) * per_task) + 1e-9)
    elif width is not None:
        count = 4 + bisect_left(range(4, total), True, key=lambda n: 2 * half(n)[0] <= width)
    else:
        count = inputs or 0
    if not 4 <= count <= total:
        raise InputError(
            f"a plan of {counted(count, 'input')}",
            expected=f"from 4 to {total}",
            hint="Fewer than four labelled inputs do not show how certain a mean is.",
        )
    part, quota = draw(count)
    rng = np.random.default_rng(seed)
    label = np.zeros(total, dtype=np.bool_)
    for stratum, n in enumerate(quota):
        label[rng.choice(np.flatnonzero(part == stratum), int(n), replace=False)] = True
    combined, alone = half(count)
    return PresencePlan(
        inputs=tuple(names),
        label=label,
        strata=part,
        inclusion=(quota / np.bincount(part))[part],
        judged=judged,
        error=error,
        judgements=judgements,
        systems=tuple(scored.systems),
        by=by,
        annotators=annotators,
        per_task=per_task,
        checks=checks,
        per_judgement=per_judgement,
        seconds=seconds,
        alone_half=alone,
        half=combined,
        seed=seed,
        signature=Signature.of(
            plan=f"presence, by {by}",
            label=f"{count}/{total}",
            strata=len(quota),
            inputs_sha=fingerprint(names),
            seed=seed,
        ),
    )


def _expected_error(scored: ScoreResult | ScoreMatrix) -> FloatArray:
    """(M,) root of the mean over systems of c Σ w² p (1 − p) / (Σ w)²; NaN without presences.

    c is `TOGETHER`, or with ten labelled inputs or more what the labels say of it.
    """
    if not isinstance(scored, ScoreResult):
        return np.full(len(scored.inputs), np.nan)
    layout = UnitLayout.of(scored.units)
    p = np.clip(scored.presence, 0, 1)
    variances = layout.sums(layout.weights**2 * p * (1 - p)) / layout.sums(layout.weights) ** 2
    factor = TOGETHER
    if scored.human is not None:
        known = ~np.isnan(scored.human)
        if known.any(axis=0).sum() >= 10:
            off = np.where(known, scored.human - scored.values, np.nan)
            off -= np.nanmean(off, axis=1, keepdims=True)
            factor = float(np.nanmean(off**2) / variances[known].mean())
    return np.asarray(np.sqrt(factor * np.nanmean(variances, axis=0)))


def _allocated(n: int, wanted: FloatArray | IntArray, sizes: IntArray) -> IntArray:
    """n dealt out in proportion to `wanted`, at least two to each, at most all of it."""
    quota = np.minimum(2, sizes)
    for _ in range(n - int(quota.sum())):
        ideal = n * wanted / wanted.sum() - quota
        quota[int(np.argmax(np.where(quota < sizes, ideal, -np.inf)))] += 1
    return quota


def write_presence_plan(path: str | Path, plan: PresencePlan) -> None:
    """Writes the plan as JSON, all or nothing."""
    write_json(path, plain(plan.to_json()))


def read_presence_plan(path: str | Path) -> PresencePlan:
    """Reads what `write_presence_plan` wrote.

    Raises:
        InputError: It is not such a plan, or its lists do not fit together.
    """
    what, expected = "a plan of presence labels", "a file that `budget plan --for presence` wrote"
    data, broken = read_document(path, FORMAT, what, expected), f"not {what}"
    check_shape(data, _SHAPE, what=broken, path=path)
    size = len(data["inputs"])
    arrays = ("label", "strata", "inclusion", "judged", "error", "judgements")
    if not size or any(len(data[name]) != size for name in arrays):
        raise InputError(broken, path=path, expected="lists of one length")
    kept = {name: data[name] for name in PresencePlan.__dataclass_fields__}
    kinds = {"label": np.bool_, "strata": np.int64, "judgements": np.int64}
    kept |= {
        name: np.array(
            [np.nan if x is None else x for x in data[name]], dtype=kinds.get(name, np.float64)
        )
        for name in arrays
    }
    for name in ("alone_half", "half"):
        kept[name] = np.nan if data[name] is None else data[name]
    fields = tuple((key, value) for key, value in data["signature"].items() if key != "version")
    return PresencePlan(
        **{
            **kept,
            "inputs": tuple(data["inputs"]),
            "systems": tuple(data["systems"]),
            "signature": Signature(fields),
        }
    )


_SHAPE: dict[str, Any] = {
    "inputs": [str],
    "label": [bool],
    "strata": [int],
    "inclusion": [float],
    "judged": [(None, float)],
    "error": [(None, float)],
    "judgements": [int],
    "systems": [str],
    "by": set(_BY),
    "annotators": (None, int),
    "per_task": int,
    "checks": int,
    "per_judgement": (None, float),
    "seconds": (None, float),
    "alone_half": (None, float),
    "half": (None, float),
    "seed": int,
    "signature": {str: str},
}
