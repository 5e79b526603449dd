"""Two runs side by side: the systems, inputs and units that both have."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from litepyramid.data.facts import Facts, aligned
from litepyramid.data.records import Fact, Units
from litepyramid.errors import InputError
from litepyramid.judges.base import Evidence
from litepyramid.scoring.comparable import differences
from litepyramid.scoring.result import ScoreResult
from litepyramid.text import counted, cut
from litepyramid.types import FloatArray

_NAMED = 5  # names in a message


@dataclass(frozen=True)
class Side:
    """One run, cut to what is shared.

    Attributes:
        run: The whole run.
        names: What each shared system is called in it.
        facts: The presence of the shared units, systems by their names in the new run.
        scores: (C, M) scores of the shared inputs.
    """

    run: ScoreResult
    names: dict[str, str]
    facts: Facts
    scores: FloatArray

    def text(self, system: str, input_: str) -> str | None:
        """A summary; None where it is missing, or the run was saved without texts."""
        if self.run.summaries is None:
            return None
        return self.run.summaries.of_system(self.names[system])[input_]

    def evidence(self, system: str, fact: Fact) -> Evidence | None:
        """Where the judge found a fact, if the run was saved with that."""
        if self.run.evidence is None:
            return None
        row = self.run.evidence[self.run.systems.index(self.names[system])]
        return row[self._columns[fact]]

    @cached_property
    def _columns(self) -> dict[Fact, int]:
        return {fact: column for column, fact in enumerate(self.run.units.facts)}


@dataclass(frozen=True)
class RunPair:
    """Two runs side by side.

    Attributes:
        old, new: Both over the same C systems, M inputs and U units.
        judges: How the two were made, where that differs.
        notes: What is not shared.
    """

    old: Side
    new: Side
    judges: list[str]
    notes: list[str]

    @property
    def units(self) -> Units:
        """The shared units."""
        return self.new.facts.units

    @property
    def values(self) -> list[object]:
        """What names both runs in a hash."""
        values = []
        for side in (self.old, self.new):
            names = [side.names[system] for system in side.facts.systems]
            presence = side.facts.values.tolist()
            values.append([*zip(names, presence, side.scores.tolist(), strict=True)])
        return [*values]


def align_runs(
    old: ScoreResult,
    new: ScoreResult,
    pairs: Sequence[str] = (),
    *,
    other_units: bool,
    other_judges: bool,
) -> RunPair:
    """Puts two runs side by side.

    Units are the same if text, weight and importance are, and the question that was
    asked on their input. Where some are not shared, scores are computed anew from those
    that are.

    Args:
        old: The baseline.
        new: The run to compare with it.
        pairs: Systems as OLD=NEW; else one against one, or those of one name.
        other_units: Whether some units may differ.
        other_judges: Whether the judge or its settings may differ.

    Raises:
        InputError: What may not differ does, or nothing is shared.
    """
    # The likeliest mistake first: two judges make every fact a change.
    judges = _differences(old, new, allowed=other_judges)
    names = _names(old.systems, new.systems, pairs)
    before = old.facts.take(sorted(names.values()), old.units.facts)
    before = before.renamed({old_name: name for name, old_name in names.items()})
    now = new.facts.take(sorted(names), new.units.facts)

    both = aligned(before, now)
    shared = _alike(both.one.units, both.other.units)
    inputs = {*old.inputs} & {*new.inputs}
    kept = {*shared.facts}
    only_old = [f for f in old.units.facts if f.input in inputs and f not in kept]
    only_new = [f for f in new.units.facts if f.input in inputs and f not in kept]
    differing = sorted({fact.input for fact in (*only_old, *only_new)})

    if differing and not other_units:
        raise InputError(
            "the runs' units or questions differ on "
            f"{counted(len(differing), 'input')}: {names_of(differing)}",
            expected="runs over the same units",
            hint="To compare the units that both have, insist: --across-judges.",
        )
    if not shared:
        raise InputError(
            "the two runs share no unit", expected="runs over the same units"
        )

    systems = both.one.systems
    sides = []
    for run, facts in ((old, both.one), (new, both.other)):
        facts = facts.take(systems, shared.facts)
        own = {name: names[name] if run is old else name for name in systems}
        sides.append(Side(run, own, facts, _scores(run, facts, own, bool(differing))))

    told = counted(len(shared), "input")
    if not np.isnan(old.presence).all():
        told += f" and {counted(len(shared.facts), 'unit')}"
    notes = [
        f"{told} are in both runs.",
        *_left_out("system", "old", old.systems, names.values()),
        *_left_out("system", "new", new.systems, names.keys()),
        *_left_out("input", "old", old.inputs, new.inputs),
        *_left_out("input", "new", new.inputs, old.inputs),
    ]
    if differing:
        notes.append(
            f"{len(only_old)} units only in the old run and {len(only_new)} only in "
            f"the new one, left out: {names_of(differing)}."
        )
    return RunPair(sides[0], sides[1], judges, notes)


def _alike(one: Units, other: Units) -> Units:
    """The units of the same weight and importance, asked after the same question, of
    inputs of which some count."""
    facts = []
    for fact, ours, theirs in zip(one.facts, one.every, other.every, strict=True):
        same_question = one[fact.input].question == other[fact.input].question
        weights = ours.weight == theirs.weight
        if weights and ours.importance == theirs.importance and same_question:
            facts.append(fact)

    units = one.take(facts)
    scored = []
    for entry in units:
        # Penalties alone cannot be scored.
        if any(unit.weight > 0 for unit in entry.units):
            scored.append(entry.input)
    return units.of_inputs(scored)


def _scores(
    run: ScoreResult, facts: Facts, names: dict[str, str], anew: bool
) -> FloatArray:
    """(C, M) scores of a run on the shared inputs."""
    # A score over fewer units is another score.
    if anew:
        return run.rule.apply(facts.values, facts.units, run.seed)[0]
    rows = [run.systems.index(names[system]) for system in facts.systems]
    columns = [run.inputs.index(name) for name in facts.inputs]
    return run.values[np.ix_(rows, columns)]


def _left_out(
    what: str, which: str, names: Iterable[str], used: Collection[str]
) -> list[str]:
    """A note on the names that only one run has; none if there are none."""
    only = [name for name in names if name not in used]
    if not only:
        return []

    many = counted(len(only), what)
    return [f"{many} only in the {which} run, left out: {names_of(only)}."]


def names_of(names: Sequence[str]) -> str:
    """Names for a message: the first ones, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(cut(name, 60) for name in names[:_NAMED]) + more


def _differences(old: ScoreResult, new: ScoreResult, *, allowed: bool) -> list[str]:
    """What differs in how two runs were made, as a note; refused unless `allowed`."""
    changed = differences(old.signature, new.signature)
    versions = []
    if old.signature.version != new.signature.version:
        both = f"{old.signature.version} and {new.signature.version}"
        versions.append(f"The runs were made by versions {both} of litepyramid.")
    if not changed:
        return versions

    told = "; ".join(changed.values())
    # Two rules are two scales: nothing that insisting could compare.
    if not changed.keys().isdisjoint(("rule", "direction")):
        raise InputError(
            f"the runs are scored by different rules ({told})", expected="one rule"
        )
    if not allowed:
        raise InputError(
            f"the runs were not made in the same way ({told})",
            expected="the same judge and settings",
            hint="To compare them all the same, insist: --across-judges.",
        )
    return [*versions, f"The judge may be the difference: {told}."]


def _names(
    old: Sequence[str], new: Sequence[str], pairs: Sequence[str]
) -> dict[str, str]:
    """By the name of a system in the new run that in the old one."""
    if pairs:
        told = [_pair(old, new, str(text)) for text in pairs]
        return {name: before for before, name in told}
    if len(old) == len(new) == 1:
        return {new[0]: old[0]}

    same = {name: name for name in new if name in old}
    if not same:
        raise InputError(
            f"no system is in both runs ({names_of(old)}; {names_of(new)})",
            expected="systems of the same names",
            hint="Name what belongs together: --pair OLD=NEW.",
        )
    return same


def _pair(old: Sequence[str], new: Sequence[str], text: str) -> tuple[str, str]:
    """The systems of OLD=NEW; names may hold equals signs too."""
    # Every sign is tried, since a name may hold one.
    for sign in re.finditer("=", text):
        before = text[: sign.start()]
        now = text[sign.end() :]
        if before in old and now in new:
            return before, now

    raise InputError(
        f"the pair '{cut(text)}'",
        expected=f"OLD=NEW, of {names_of(old)} and of {names_of(new)}",
    )
