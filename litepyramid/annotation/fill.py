"""Units of every sentence: SCUs written now or in an earlier round, STUs for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from litepyramid.annotation.tasks import TaskSet
from litepyramid.errors import InputError
from litepyramid.types import InputUnits, Unit
from litepyramid.units.align import Place, align_all


def fill(
    tasks: TaskSet,
    written: Mapping[Place, Sequence[str]],
    *,
    stus: Sequence[InputUnits] | None = None,
    onto: Sequence[InputUnits] | None = None,
) -> tuple[tuple[InputUnits, ...], tuple[str, ...]]:
    """The units of all inputs: in each SCUs by their sentences, then STUs as they came.

    Args:
        tasks: The writing tasks that went out.
        written: Per sentence that is done its SCUs, perhaps none.
        stus: STUs for all other sentences.
        onto: Units of an earlier import instead: all other sentences carry what they have there.
            Inputs that the tasks do not know stay as they are.

    Returns:
        The units of the inputs that have any, and the names of those that have none.

    Raises:
        InputError: Both `stus` and `onto` are given, an input has no STUs, or a unit of `onto`
            does not say its sentence or names one that is not there.
    """
    if stus is not None and onto is not None:
        raise InputError(
            "STUs together with the units of an earlier import",
            expected="--stus or --onto",
            hint="The earlier import's units include STUs for what is not done.",
        )
    names = dict.fromkeys(s.input for s, _ in tasks.sentences)
    base = () if stus is None else stus
    if onto is not None:
        base = onto
        _check_placed(onto)
    given = {entry.input for entry in base}
    for name in names if stus is not None else ():
        if name not in given:
            raise InputError(
                f"input '{name}' has no STUs",
                hint="Give the STUs of the references that the plan was made from.",
            )
    sentences = [s for s, _ in tasks.sentences]
    scus: dict[Place, list[Unit]] = {}
    machine: dict[str, list[Unit]] = {name: [] for name in names}
    for aligned in align_all([entry for entry in base if entry.input in names], sentences):
        name = aligned.units.input
        for unit in aligned.units.units:
            place = (name, unit.reference or 0, unit.sentence or 0)
            if place not in written:
                (machine[name] if unit.kind == "stu" else scus.setdefault(place, [])).append(unit)
    human: dict[str, list[Unit]] = {name: [] for name in names}
    for s in sentences:
        place = s.key
        texts = written.get(place, ())
        human[s.input] += [Unit(t, 1.0, "scu", s.reference, s.sentence) for t in texts]
        human[s.input] += scus.get(place, [])
    entries = [InputUnits(name, tuple(human[name] + machine[name])) for name in names]
    if onto is not None:
        entries += [entry for entry in onto if entry.input not in names]
    return (
        tuple(entry for entry in entries if entry.units),
        tuple(entry.input for entry in entries if not entry.units),
    )


def _check_placed(onto: Sequence[InputUnits]) -> None:
    for entry in onto:
        for unit in entry.units:
            if any(e.reference is None or e.sentence is None for e in unit.entries()):
                raise InputError(
                    f"unit '{unit.text}' of input '{entry.input}' does not say its sentence",
                    expected="for --onto, units that `litepyramid budget import` wrote",
                )
