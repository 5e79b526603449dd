"""Two judges of the same summaries: agreement, flips, whom one favours, what it concludes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.scoring.changes import Settings
from litepyramid.scoring.inference import MEASURES, flip_p_of, flip_p_values
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.runs import align_runs
from litepyramid.stats import adjust_p_values, mean_of_scored, system_means
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray, Signature, fingerprint


@dataclass(frozen=True, slots=True)
class SystemDrift:
    """The two judges on one system.

    Attributes:
        agreement: Share of the facts with the same verdict, present or not, by both.
        gained: Facts that only the new judge finds; `lost` those that only the old one finds.
        change: Mean presence by the new judge less that by the old one.
        favour: Change of the score less the mean change of the other systems' scores.
        p_holm: P-value of "no favour", over inputs, after Holm's correction over systems.
    """

    system: str
    agreement: float
    gained: int
    lost: int
    change: float
    favour: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class DriftResult(Result):
    """How the judgements of two judges, or of one on two days, differ.

    Attributes:
        judges: What is different in how they judge, and what they share.
        conclusions: Which significant differences between systems only one of them finds.
    """

    judges: tuple[str, ...]
    systems: tuple[SystemDrift, ...]
    conclusions: tuple[str, ...]
    alpha: float
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per system."""
        signed = [Column(name, signed=True) for name in ("change", "favour")]
        columns: list[Any] = ["system", "agreement", "gained", "lost", *signed, MEASURES[-1]]
        favoured = [
            f"The new judge {'favours' if s.favour > 0 else 'disfavours'} `{cut(s.system)}`: "
            f"{s.favour:+.3f} against the other systems."
            for s in self.systems
            if s.p_holm < self.alpha
        ]
        agreement = np.mean([s.agreement for s in self.systems])
        title = f"Drift of the judge: {agreement:.1%} of verdicts agree; "
        title += f"{counted(len(self.conclusions), 'conclusion')} changed"
        conclusions = self.conclusions or ("No conclusion between systems changed.",)
        notes = (*self.judges, *favoured, *conclusions, str(self.signature))
        return [Table.of(title, columns, self.systems, notes)]


def drift(names: Sequence[str], runs: Sequence[ScoreResult], how: Settings) -> DriftResult:
    """Compares the judgements of the same summaries in two runs."""
    aligned = align_runs(runs[0], runs[1], how.pair, units_too=how.across_judges, judges_too=True)
    old, new = aligned.sides
    for n, system in enumerate(old.systems):
        if old.texts and new.texts and old.texts[n] != new.texts[n]:
            raise InputError(
                f"the summaries of system '{system}' differ between the runs",
                expected="the same summaries, judged twice",
            )
    change = new.scores - old.scores
    favour = np.full(change.shape, np.nan)
    for n in range(len(change)) if len(change) > 1 else ():
        favour[n] = change[n] - np.delete(change, n, axis=0).mean(axis=0)
    p = adjust_p_values(flip_p_of(favour), "holm").tolist()
    before, now = old.presence >= how.present, new.presence >= how.present
    systems = tuple(
        SystemDrift(
            system,
            agreement=float((before[n] == now[n]).mean()),
            gained=int((now[n] & ~before[n]).sum()),
            lost=int((before[n] & ~now[n]).sum()),
            change=mean_of_scored(new.presence[n] - old.presence[n]),
            favour=mean_of_scored(favour[n]),
            p_holm=p[n],
        )
        for n, system in enumerate(old.systems)
    )
    values, sha = (
        (old.scores, new.scores),
        [(s.systems, s.presence.tolist()) for s in aligned.sides],
    )
    about = {"test": "sign-flip", "runs_sha": fingerprint(sha), "present": how.present}
    return DriftResult(
        (*aligned.judges, *aligned.notes),
        systems,
        tuple(_conclusions(old.systems, values, names, how.alpha)),
        how.alpha,
        Signature.of(**about, confidence=how.confidence),
    )


def _conclusions(
    systems: Sequence[str], values: Sequence[FloatArray], names: Sequence[str], alpha: float
) -> list[str]:
    """The pairs of systems that only one run tells apart, or in another order."""
    pairs = np.array([*combinations(range(len(systems)), 2)], dtype=np.int64).reshape(-1, 2)
    signs = []
    for own in values:
        clear = adjust_p_values(flip_p_values(own, pairs), "holm") < alpha
        means = system_means(own)
        signs.append(np.sign(means[pairs[:, 0]] - means[pairs[:, 1]]) * clear)
    texts = {1: "{0} > {1}", -1: "{1} > {0}", 0: "{0} and {1} do not differ significantly"}
    told = []
    for n, (i, j) in enumerate(pairs):
        if signs[0][n] != signs[1][n]:
            by = [texts[int(own[n])].format(systems[i], systems[j]) for own in signs]
            told.append("; ".join(f"by {a}: {b}" for a, b in zip(names, by, strict=True)) + ".")
    return told
