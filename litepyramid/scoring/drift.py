"""How the judgements of two judges, or of one on two days, differ on the same
summaries."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from litepyramid.errors import InputError
from litepyramid.files import stem
from litepyramid.scoring.comparable import versions_of
from litepyramid.scoring.fact_changes import PRESENT
from litepyramid.scoring.inference import MEASURES, flip_p_of, flip_p_values
from litepyramid.scoring.runs import Side, align_runs, names_of
from litepyramid.scoring.saved_result import report
from litepyramid.stats import adjust_p_values, all_pairs, mean_of_scored, system_means
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted, cut
from litepyramid.types import (
    FloatArray,
    Names,
    ResultLike,
    Signature,
    Texts,
    fingerprint,
)


@dataclass(frozen=True)
class SystemDrift:
    """The two judges on one system.

    Attributes:
        agreement: Share of the facts with the same verdict, present or not, by both.
        gained: Facts that only the new judge finds; `lost` those that only the old one
            finds.
        change: Of the mean presence.
        favour: Change of the score less the mean change of the other systems' scores.
        p_holm: P-value of "no favour", over inputs, after Holm's correction over
            systems.
    """

    system: str
    agreement: float
    gained: int
    lost: int
    change: float
    favour: float
    p_holm: float


@dataclass(frozen=True)
class DriftResult(Result):
    """How the judgements of two judges, or of one on two days, differ.

    Attributes:
        judges: What is different in how they judge, and what they share.
        rankings: The systems by the old judge and by the new one, best first.
        conclusions: Which significant differences between systems only one of them
            finds.
    """

    judges: Texts
    systems: tuple[SystemDrift, ...]
    rankings: tuple[Names, Names]
    conclusions: Texts
    alpha: float
    signature: Signature

    @property
    def ranking(self) -> str:
        """Whether the ranking of the systems would change, in a sentence."""
        before, now = self.rankings
        if before == now:
            return f"The ranking would not change: {_order(before)}."

        return f"The ranking would change: {_order(before)}; now {_order(now)}."

    def to_tables(self) -> Sequence[Table]:
        """One row per system."""
        columns = (
            "system",
            "agreement",
            "gained",
            "lost",
            Column("change", signed=True),
            Column("favour", signed=True),
            MEASURES[-1],
        )
        agreement = np.mean([entry.agreement for entry in self.systems])
        title = f"Drift of the judge: {agreement:.1%} of verdicts agree; "
        title += f"{counted(len(self.conclusions), 'conclusion')} changed"

        favoured = []
        for entry in self.systems:
            if entry.p_holm < self.alpha:
                verb = "favours" if entry.favour > 0 else "disfavours"
                favoured.append(
                    f"The new judge {verb} `{cut(entry.system)}`: {entry.favour:+.3f} "
                    "against the other systems."
                )

        conclusions = self.conclusions or ("No conclusion between systems changed.",)
        notes = (self.ranking, *self.judges, *favoured, *conclusions)
        return [Table.of(title, columns, self.systems, (*notes, str(self.signature)))]


def _order(systems: Sequence[str]) -> str:
    return names_of(systems).replace(", ", " > ")


def drift(old: ResultLike, new: ResultLike) -> DriftResult:
    """Compare two judges, or one judge on two days, on the same summaries and units.

    A fact is present from .5 on. A judge that favours a system changes its score more
    than those of the others (exact sign-flip test over inputs, Holm's correction over
    systems). Significance is at 1 − the confidence that OLD was scored with.

    Args:
        old: The result by one judge.
        new: The result by the other.

    Returns:
        Whether the ranking of the systems would change; agreement, facts that only one
        judge finds, favoured systems, and the conclusions that only one judge draws.

    Raises:
        InputError: The summaries or units differ, or nothing is shared.

    Example:
        >>> import litepyramid as lp
        >>> units, texts = [["It rained."]], {"a": ["It rained."], "b": ["We left."]}
        >>> old = lp.score(texts, units, judge="recall")
        >>> drift(old, lp.score(texts, units, judge="lexical")).ranking
        'The ranking would not change: a > b.'

    Command line:
        $ litepyramid judge drift mini.json lexical.json
    """
    runs = report(old), report(new)
    aligned = align_runs(*runs, other_units=False, other_judges=True)
    before, now = aligned.sides
    for n, system in enumerate(before.systems):
        if before.texts and now.texts and before.texts[n] != now.texts[n]:
            raise InputError(
                f"the summaries of system '{system}' differ between the runs",
                expected="the same summaries, judged twice",
                hint="To compare two runs of a system: litepyramid changes OLD NEW.",
            )

    alpha = round(1 - runs[0].confidence, 12)
    change = now.scores - before.scores
    # A judge that is stricter with all favours none.
    favour = _favour(change)
    p = adjust_p_values(flip_p_of(favour), "holm").tolist()
    # What one of them did not judge is neither lost nor gained.
    both = ~np.isnan(before.presence + now.presence)
    was_present = before.presence >= PRESENT
    is_present = now.presence >= PRESENT
    agreed = np.where(both, was_present == is_present, np.nan)

    systems = []
    for n, system in enumerate(before.systems):
        systems.append(
            SystemDrift(
                system,
                agreement=mean_of_scored(agreed[n]),
                gained=int((is_present[n] & ~was_present[n] & both[n]).sum()),
                lost=int((was_present[n] & ~is_present[n] & both[n]).sum()),
                change=mean_of_scored(now.presence[n] - before.presence[n]),
                favour=mean_of_scored(favour[n]),
                p_holm=p[n],
            )
        )

    notes = [*aligned.judges, *aligned.notes]
    if missing := int((~both).sum()):
        facts = counted(missing, "judgement")
        notes.append(f"{facts} that only one of them or none made, left out.")

    names = []
    for source, name in ((old, "the old judge"), (new, "the new judge")):
        names.append(stem(source) if isinstance(source, str | Path) else name)

    return DriftResult(
        judges=tuple(notes),
        systems=tuple(systems),
        rankings=(_best_first(before), _best_first(now)),
        conclusions=tuple(_conclusions((before, now), names, alpha)),
        alpha=alpha,
        signature=Signature.of(
            **versions_of(*[run.signature for run in runs]),
            test="sign-flip",
            runs_sha=fingerprint(aligned.values),
            present=PRESENT,
            confidence=runs[0].confidence,
        ),
    )


def _favour(change: FloatArray) -> FloatArray:
    """(C, M) change of each system less that of the others; NaN for a single one."""
    favour = np.full(change.shape, np.nan)
    if len(change) > 1:
        for n in range(len(change)):
            # Sorted: the same bits in any order of the systems. NaN where another one
            # has no score: its change is not known.
            others = np.sort(np.delete(change, n, axis=0), axis=0)
            favour[n] = change[n] - others.mean(axis=0)
    return favour


def _best_first(side: Side) -> Names:
    """The systems by their mean score; ties, to 12 digits, by name."""
    # Means that differ in the last bit are tied.
    means = np.round(system_means(side.scores), 12)
    entries = zip((-means).tolist(), side.systems, strict=True)
    return tuple([system for _, system in sorted(entries)])


def _conclusions(
    sides: Sequence[Side], names: Sequence[str], alpha: float
) -> list[str]:
    """The pairs of systems that only one run tells apart, or in another order."""
    systems = sides[0].systems
    pairs = all_pairs(len(systems))

    # 1: the first of the pair is significantly better, -1: the second, 0: neither.
    signs = []
    for side in sides:
        clear = adjust_p_values(flip_p_values(side.scores, pairs), "holm") < alpha
        means = system_means(side.scores)
        signs.append(np.sign(means[pairs[:, 0]] - means[pairs[:, 1]]) * clear)

    texts = {
        1: "{0} > {1}",
        -1: "{1} > {0}",
        0: "{0} and {1} do not differ significantly",
    }
    told = []
    for (i, j), before, now in zip(pairs, *signs, strict=True):
        if before != now:
            by_old = texts[int(before)].format(systems[i], systems[j])
            by_new = texts[int(now)].format(systems[i], systems[j])
            told.append(f"by {names[0]}: {by_old}; by {names[1]}: {by_new}.")

    return told
