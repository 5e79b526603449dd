"""Two runs side by side: what they share, and on the same summaries how their judges
differ."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.judges.base import Evidence
from litepyramid.scoring.inference import MEASURES, flip_p_of, flip_p_values
from litepyramid.scoring.pyramid import UnitLayout
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import (
    adjust_p_values,
    all_pairs,
    check_whole,
    mean_of_scored,
    system_means,
)
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray, InputUnits, Signature, fingerprint

# Fields of signatures in which runs may differ: units and inputs are compared
# themselves.
_FREE = {
    "units", "units_sha", "inputs_sha", "summaries_sha", "labels_sha", "label_units_sha",
    "references_sha", "presence_sha", "truncated", "missing", "samples", "confidence", "seed",
}  # fmt: skip
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Settings:
    """How runs are compared, and when one fails: the options of `compare`."""

    pair: Sequence[str] = ()
    baseline: str | None = None
    by: Mapping[str, str] | None = None
    across_judges: bool = False
    judge_drift: bool = False
    fail_if: str | None = None
    fail_under: float | None = None
    fail_if_lost: int | None = None
    margin: float | None = None
    date: str | None = None
    present: float = 0.5
    lost_by: float = 0.2
    samples: int = 10_000
    confidence: float = 0.95
    seed: int = 12345

    def __post_init__(self) -> None:
        for name in ("present", "lost_by", "fail_under", "margin"):
            value = getattr(self, name)
            if value is not None and not (
                isinstance(value, float | int) and 0 <= value <= 1
            ):
                raise InputError(
                    f"{name} is {cut(value)}", expected="a number from 0 to 1"
                )
        if self.fail_if not in (None, "worse"):
            raise InputError(f"fail_if is '{cut(self.fail_if)}'", expected="worse")
        if self.fail_if_lost is not None:
            check_whole("fail_if_lost", self.fail_if_lost)

    @property
    def bootstrap(self) -> dict[str, Any]:
        """How intervals are drawn, for `system_intervals` and for signatures."""
        return {
            "samples": self.samples,
            "confidence": self.confidence,
            "seed": self.seed,
        }

    @property
    def alpha(self) -> float:
        """Significance level of the tests."""
        return round(1 - self.confidence, 12)

    @property
    def gate(self) -> str:
        """The conditions under which a run fails, as a signature says them; empty for
        none."""
        limits = {
            "under": self.fail_under,
            "lost": self.fail_if_lost,
            "margin": self.margin,
        }
        texts = [
            f"{name} {limit:g}" for name, limit in limits.items() if limit is not None
        ]
        return ", ".join(["worse"] * bool(self.fail_if) + texts)


@dataclass(frozen=True, slots=True)
class Side:
    """One run, cut to what is shared: C systems, M inputs in the order of their ids, U
    units."""

    systems: tuple[str, ...]
    presence: FloatArray
    scores: FloatArray
    texts: Sequence[Sequence[str]] | None
    evidence: Sequence[Sequence[Evidence]] | None


@dataclass(frozen=True, slots=True)
class AlignedRuns:
    """Two runs side by side.

    Attributes:
        units: The M shared inputs with their shared units.
        numbers: U pairs: the place of each unit's input, and its number in the old run,
            from 1.
        sides: The old run and the new one.
        judges: How the two were made, where that differs.
        notes: What is not shared.
    """

    units: tuple[InputUnits, ...]
    numbers: list[tuple[int, int]]
    sides: tuple[Side, Side]
    judges: list[str]
    notes: list[str]


def align_runs(
    old: ScoreResult,
    new: ScoreResult,
    pairs: Sequence[str],
    *,
    units_too: bool,
    judges_too: bool,
) -> AlignedRuns:
    """Puts two runs side by side; InputError if what may not differ does, or nothing is
    shared.

    Units are the same if text, weight and importance are. Where some are not shared,
    and
    `units_too`, scores are computed anew from those that are. `pairs` are systems as OLD=NEW; else
    one against one, or those of one name.
    """
    judges = _differences(old, new, insist=judges_too)
    rows = _pairs(old.systems, new.systems, pairs)
    both = {entry.input: n for n, entry in enumerate(new.units)}
    starts = [UnitLayout.of(run.units).offsets.tolist() for run in (old, new)]
    units: list[InputUnits] = []
    numbers: list[tuple[int, int]] = []
    columns: list[tuple[int, int]] = []  # of inputs
    cells: list[tuple[int, int]] = []  # of units
    differing, lacking = [], [0, 0]
    for name, m in sorted((entry.input, m) for m, entry in enumerate(old.units)):
        if (other := both.get(name)) is None:
            continue
        entries = old.units[m], new.units[other]
        places = [_places(entry) for entry in entries]
        shared = [key for key in places[0] if key in places[1]]
        lacking = [
            n + len(own) - len(shared) for n, own in zip(lacking, places, strict=True)
        ]
        if (
            max(map(len, places)) > len(shared)
            or entries[0].question != entries[1].question
        ):
            differing.append(name)
        chosen = tuple(entries[0].units[places[0][key]] for key in shared)
        if any(unit.weight > 0 for unit in chosen):
            numbers += [(len(units), places[0][key] + 1) for key in shared]
            cells += [
                (starts[0][m] + places[0][k], starts[1][other] + places[1][k])
                for k in shared
            ]
            columns.append((m, other))
            units.append(replace(entries[0], units=chosen))
    if differing and not units_too:
        raise InputError(
            f"the runs' units or questions differ on {counted(len(differing), 'input')}: "
            f"{names_of(differing)}",
            expected="runs over the same units",
            hint="To compare the units that both have, insist: --across-judges.",
        )
    if not units:
        what = "unit" if differing else "input"
        raise InputError(
            f"the two runs share no {what}", expected=f"runs over the same {what}s"
        )
    notes = [
        f"{counted(len(units), 'input')} and {counted(len(cells), 'unit')} are in both runs."
    ]
    sides = []
    for side, run in enumerate((old, new)):
        own, at, inputs = (
            [pair[side] for pair in pairs] for pairs in (rows, cells, columns)
        )
        presence, scores = (
            run.presence[np.ix_(own, at)],
            run.values[np.ix_(own, inputs)],
        )
        if differing:
            scores = run.rule.apply(presence, UnitLayout.of(units), run.seed)[0]
        texts, evidence = run.summaries, run.evidence
        sides.append(
            Side(
                tuple(run.systems[n] for n in own), presence, scores,
                texts and [[texts[n][m] for m in inputs] for n in own],
                evidence and [[evidence[n][u] for u in at] for n in own],
            )
        )  # fmt: skip
    notes += _left_out("system", "old", old.systems, sides[0].systems)
    notes += _left_out("system", "new", new.systems, sides[1].systems)
    notes += _left_out("input", "old", sorted(old.inputs), new.inputs)
    notes += _left_out("input", "new", sorted(new.inputs), old.inputs)
    if differing:
        notes.append(
            f"{lacking[0]} units only in the old run and {lacking[1]} only in the new one, left "
            f"out: {names_of(differing)}."
        )
    return AlignedRuns(tuple(units), numbers, (sides[0], sides[1]), judges, notes)


def _left_out(
    what: str, which: str, names: Sequence[str], used: Collection[str]
) -> list[str]:
    only = [name for name in names if name not in used]
    many = counted(len(only), what)
    return (
        [f"{many} only in the {which} run, left out: {names_of(only)}."] if only else []
    )


def _places(entry: InputUnits) -> dict[tuple[Any, ...], int]:
    """The place of each unit by what makes it one; the second of the same text is
    another one."""
    seen, places = Counter[Any](), {}
    for place, unit in enumerate(entry.units):
        key = (unit.text, unit.weight, unit.importance)
        places[*key, seen[key]] = place
        seen[key] += 1
    return places


def names_of(names: Sequence[str]) -> str:
    """Names for a message: the first ones, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(cut(name, 60) for name in names[:_NAMED]) + more


def _differences(old: ScoreResult, new: ScoreResult, *, insist: bool) -> list[str]:
    """What differs in how two runs were made, as a note; refused unless `insist`."""
    one, two = dict(old.signature.fields), dict(new.signature.fields)
    fields = [k for k in {**one, **two} if k not in _FREE and one.get(k) != two.get(k)]
    told = "; ".join(
        f"{k}: {one.get(k, 'none')} → {two.get(k, 'none')}" for k in fields
    )
    if "rule" in fields:
        raise InputError(
            f"the runs are scored by different rules ({told})", expected="one rule"
        )
    if fields and not insist:
        raise InputError(
            f"the runs were not made in the same way ({told})",
            expected="the same judge and settings",
            hint="To compare them all the same, insist: --across-judges."
            + " To compare the judges: --judge-drift."
            * bool({"judge", "revision"} & {*fields}),
        )
    return [f"The judge may be the difference: {told}."] if fields else []


def _pairs(
    old: Sequence[str], new: Sequence[str], pairs: Sequence[str]
) -> list[tuple[int, int]]:
    """Places of the systems to compare."""
    chosen = []
    for text in pairs if isinstance(pairs, list | tuple) else [pairs]:
        text = str(text)
        splits = ((text[: m.start()], text[m.end() :]) for m in re.finditer("=", text))
        fits = [
            (old.index(a), new.index(b)) for a, b in splits if a in old and b in new
        ]
        if not fits:
            expected = f"OLD=NEW, of {names_of(old)} and of {names_of(new)}"
            raise InputError(f"the pair '{cut(text)}'", expected=expected)
        chosen.append(fits[0])
    if not chosen and len(old) == len(new) == 1:
        chosen = [(0, 0)]
    chosen = chosen or [
        (i, new.index(name)) for i, name in enumerate(old) if name in new
    ]
    if not chosen:
        raise InputError(
            f"no system is in both runs ({names_of(old)}; {names_of(new)})",
            expected="systems of the same names",
            hint="Name what belongs together: --pair OLD=NEW.",
        )
    return chosen


# Two judges of the same summaries
# --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class DriftResult(Result):
    """How the judgements of two judges, or of one on two days, differ.

    Attributes:
        judges: What is different in how they judge, and what they share.
        conclusions: Which significant differences between systems only one of them
            finds.
    """

    judges: tuple[str, ...]
    systems: tuple[SystemDrift, ...]
    conclusions: tuple[str, ...]
    alpha: float
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per system."""
        signed = [Column(name, signed=True) for name in ("change", "favour")]
        columns: list[Any] = [
            "system",
            "agreement",
            "gained",
            "lost",
            *signed,
            MEASURES[-1],
        ]
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


def drift(
    names: Sequence[str], runs: Sequence[ScoreResult], how: Settings
) -> DriftResult:
    """Compares the judgements of the same summaries in two runs."""
    aligned = align_runs(
        runs[0], runs[1], how.pair, units_too=how.across_judges, judges_too=True
    )
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
    sha = fingerprint((side.systems, side.presence.tolist()) for side in aligned.sides)
    return DriftResult(
        (*aligned.judges, *aligned.notes),
        systems,
        tuple(_conclusions(aligned.sides, names, how.alpha)),
        how.alpha,
        Signature.of(
            test="sign-flip",
            runs_sha=sha,
            present=how.present,
            confidence=how.confidence,
        ),
    )


def _conclusions(
    sides: Sequence[Side], names: Sequence[str], alpha: float
) -> list[str]:
    """The pairs of systems that only one run tells apart, or in another order."""
    systems, signs = sides[0].systems, []
    pairs = all_pairs(len(systems))
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
    for (i, j), *own in zip(pairs, *signs, strict=True):
        if own[0] != own[1]:
            by = [texts[int(sign)].format(systems[i], systems[j]) for sign in own]
            told.append(
                "; ".join(f"by {a}: {b}" for a, b in zip(names, by, strict=True)) + "."
            )
    return told
