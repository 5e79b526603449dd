"""Where what belongs together is joined: by id if any source has ids, else by order.

Every key stands exactly where it must be; what is left over is named. Tables leave as
records in the order of their names.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

from litepyramid.checked import as_type, number
from litepyramid.data.facts import Facts
from litepyramid.data.records import (
    Fact,
    InputReferences,
    InputUnits,
    Summaries,
    Unit,
    Units,
    facts_by_number,
)
from litepyramid.data.roles import ROLES, Entry, Table
from litepyramid.errors import InputError, located
from litepyramid.sentences import marked_sentences
from litepyramid.text import counted, cut, one_line
from litepyramid.types import Names, Texts, UnitKind

EVERY_INPUT = "*"
"""The id of units that are those of every input."""
_HEAVIEST = 1e12
_MOST_CELLS = 1_000_000
_SPARSEST = 100


class Joined(NamedTuple):
    """Tables whose entries all have the id of their input, and what they go by."""

    tables: list[Table]
    way: str


def with_ids(tables: Sequence[Table], ids: Sequence[str] | None) -> Joined:
    """Gives every entry its id: its own, or, where no source has any, that of its place.

    Raises:
        InputError: Some sources have ids and others have none, or not as many inputs.
    """
    named = [table for table in tables if not table.size]
    known = {entry.input for table in named for entry in table.entries} - {EVERY_INPUT}
    result = []
    way = "by id" if named else "by the ids given" if ids else "by order"

    for table in tables:
        if not table.size:
            result.append(table)
            continue

        names: Sequence[str] = ids or numbered(table.size)
        if named and known and not ids:
            if table.count is None or {*table.count} != known:
                raise InputError(
                    f"{table.role} ({table.told}) without ids, and "
                    f"{named[0].role} ({named[0].told}) with ids",
                    expected="both by id, or both in one order",
                    hint="Give a dict by id or a column 'input'; or name the ids of "
                    "what has none, ids=[…] (--ids FILE).",
                )
            names = table.count
        if table.size != len(names):
            raise InputError(
                f"{counted(table.size, 'input')} in {table.role} ({table.told})",
                path=table.path,
                expected=f"{len(names)}, one for each id",
            )
        entries = [entry._replace(input=names[entry.place]) for entry in table.entries]
        result.append(replace(table, entries=entries))

    if not named and not ids:
        _check_sizes(tables)
    return Joined(result, way)


def numbered(size: int) -> list[str]:
    """Names by number, with zeros before them: sorted, they stay in their order."""
    width = len(str(size))
    return [str(n + 1).zfill(width) for n in range(size)]


def _check_sizes(tables: Sequence[Table]) -> None:
    """Raises InputError where sources that go by order have not as many inputs."""
    for table in tables[1:]:
        if table.size != tables[0].size:
            here = f"{table.size} in {table.role} ({table.told})"
            raise InputError(
                f"{counted(tables[0].size, 'input')} in {tables[0].role} and {here}",
                path=table.path,
                expected="as many in the same order, or ids",
            )


def check_inputs(tables: Sequence[Table], inputs: Iterable[str], partial: bool) -> None:
    """Raises InputError with the first input that a table has beyond those of the others,
    or lacks; some summaries may be missing if `partial`, and people label some."""
    there = {*inputs}
    for table in tables:
        if table.role == "documents":
            continue
        systems: dict[str | None, dict[str | None, Entry]] = defaultdict(dict)
        for entry in table.entries:
            # A system may answer some inputs more often than others; what it shares with
            # others is none of its own.
            system, *_ = entry.more.get("repeat_of", (entry.system,))
            system = system if ROLES[table.role].by_system else None
            systems[system].setdefault(entry.input, entry)

        for system, own in systems.items():
            whose = f" of system '{system}'" if system else ""
            if more := [name for name in own if name not in there | {EVERY_INPUT}]:
                raise table.error(
                    own[more[0]],
                    f"{table.role} of input '{more[0]}'{whose}, which others lack "
                    f"({counted(len(more), 'such input')})",
                    "the same inputs everywhere",
                    "Add it to the others, or leave it out here.",
                )
            lacking = there - {*own}
            may_lack = table.role == "labels" or (
                partial and ROLES[table.role].by_system
            )
            if lacking and not may_lack and EVERY_INPUT not in own:
                last = max(own.values(), key=lambda entry: entry.line)
                raise table.error(
                    last,
                    f"no {ROLES[table.role].one} of input '{min(lacking)}'{whose} "
                    f"({counted(len(lacking), 'such input')})",
                    f"{counted(len(there), 'input')}, found {len(own)}",
                    "Add it; an empty summary is legal, and so is null.",
                )


def inputs_of(tables: Mapping[str, Sequence[Table]]) -> Names:
    """The inputs of a data set: those of its units, else references, else summaries."""
    order = ("units", "references", "stus", "summaries", "presence", *ROLES)
    for role in order:
        names = {
            entry.input for table in tables.get(role, ()) for entry in table.entries
        }
        # Units of every input are a table of their own, where there is nothing else.
        if len(tables) > 1 or names != {EVERY_INPUT}:
            names.discard(EVERY_INPUT)
        if names:
            return tuple(sorted([str(name) for name in names]))
    raise InputError("no inputs", expected="units, references or summaries")


def plan_of(tables: Mapping[str, Sequence[Table]], way: str, inputs: int) -> Texts:
    """What each source was taken for, its rows, and how all were joined."""
    lines = []
    ignored: dict[str, None] = {}
    for role, several in tables.items():
        one = ROLES[role].one
        many = ROLES[role].many
        number = counted(sum(len(table.entries) for table in several), one, many)
        more = f" and {len(several) - 1} more" if len(several) > 1 else ""
        systems = {entry.system for table in several for entry in table.entries}
        of = f" of {counted(len(systems), 'system')}" if None not in systems else ""
        lines.append(f"{number}{of}: {several[0].told}{more}")
        for table in several:
            ignored |= dict.fromkeys(table.ignored)

    used = {column for several in tables.values() for t in several for column in t.used}
    unused = [column for column in ignored if column not in used]
    if unused:
        lines.append(f"not read: {cut(', '.join(unused))}")
    return (*lines, f"joined {way}: {counted(inputs, 'input')}")


# Units
# ------------------------------------------------------------------------------------


class Listed(NamedTuple):
    """Units, and which of them was the nth of its input in the source: labels in lists
    go by that."""

    units: Units = Units()
    places: Mapping[tuple[str, int], Fact] = {}

    def __bool__(self) -> bool:
        return bool(self.units)


def units_of(
    tables: Sequence[Table] | None,
    kind: UnitKind | None,
    inputs: Names,
    questions: Mapping[str, str],
) -> Listed:
    """The units of a role's tables; those of every input (``*``) for each."""
    if not tables:
        return Listed()
    by_input: dict[str, list[Unit]] = {}
    for table in tables:
        for name, own in _of_all_systems(table).items():
            if name in by_input:
                raise table.error(own[0], f"units of input '{name}' in two sources")
            by_input[name] = _checked_units(own, table, kind)

    if {*by_input} == {EVERY_INPUT}:
        by_input = dict.fromkeys(inputs, by_input[EVERY_INPUT])
    entries = [InputUnits(name, tuple(own)) for name, own in by_input.items()]
    units = Units.of(entries).with_questions(questions)
    return Listed(units, facts_by_number(by_input, units))


def _checked_units(
    entries: Sequence[Entry], table: Table, kind: UnitKind | None
) -> list[Unit]:
    units = [_unit(entry, table, kind or _kind(table)) for entry in entries]
    if not any(unit.weight > 0 for unit in units):
        raise table.error(
            entries[0],
            f"no unit of input '{entries[0].input}' has a weight above zero",
            "at least one unit with a weight above zero",
        )
    return units


def _kind(table: Table) -> UnitKind:
    name = str(table.path).lower()
    return "stu" if "stu" in name and "scu" not in name else "scu"


def _of_all_systems(table: Table) -> dict[str, list[Entry]]:
    """The entries of each input, which every system (and annotator) that has some must
    have alike."""
    groups: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for entry in table.entries:
        group = str(entry.input), entry.system, entry.more.get("annotator")
        groups[group].append(entry)

    first: dict[str, list[Entry]] = {}
    for (name, system, _), own in groups.items():
        known = first.setdefault(name, own)
        if _values(known) != _values(own):
            raise table.error(
                own[0],
                f"system '{system}' has other {table.role} of input '{name}' than "
                f"system '{known[0].system}' (line {known[0].line})",
                "the same for all systems",
            )
    return first


def _values(entries: Sequence[Entry]) -> Counter[str]:
    return Counter([repr(entry.value) for entry in entries])


def _unit(entry: Entry, table: Table, kind: UnitKind) -> Unit:
    """One unit as a text, an object or a row gives it."""
    if isinstance(entry.value, Unit):
        return entry.value

    with located(table.path, entry.line):
        row = dict(entry.more)
        for name in ("annotator", "question"):
            row.pop(name, None)
        # A text under `reference` is the reference itself, and not its number.
        if isinstance(row.get("reference"), str) and number(row["reference"]) is None:
            del row["reference"]
        value = entry.value
        row |= value if isinstance(value, Mapping) else {"text": value}
        text = row.get("text")
        if not isinstance(text, str) or not one_line(text).strip():
            raise InputError(
                f"unit {entry.nth + 1} is {cut(repr(text))}",
                expected='a text, or {"text": "…", "weight": 1, "kind": "scu"}',
            )
        if text.startswith("<t>") and text.rstrip().endswith("</t>"):
            raise InputError(
                f"unit {entry.nth + 1} has the sentence marks of a reference",
                hint="Were the files of references and units swapped?",
            )

        given = {key: one for key, one in row.items() if one not in (None, "")}
        given |= {"text": one_line(text).strip(), "kind": row.get("kind") or kind}
        # Cells of a CSV are texts.
        for key in ("weight", "reference", "sentence"):
            if isinstance(given.get(key), str):
                given[key] = number(given[key])
        for key in ("reference", "sentence"):
            if isinstance(given.get(key), float) and given[key] % 1 == 0:
                given[key] = int(given[key])
        if "said" in given:
            given["said"] = as_truth(given["said"]) == 1
        if isinstance(given.get("tags"), str):
            given["tags"] = [given["tags"]]
        weight = given.get("weight", 1.0)
        if ("weight" in row and "weight" not in given) or not _is_weight(weight):
            raise InputError(
                f"weight {cut(repr(row['weight']))}",
                expected=f"a number up to {_HEAVIEST:g}, below 0 for a penalty",
            )
        given["weight"] = float(weight)
        return as_type(Unit, given, what=f"unit {entry.nth + 1}")


def _is_weight(value: Any) -> bool:
    weight = number(value)
    return weight is not None and abs(weight) <= _HEAVIEST


# References, documents, questions
# ------------------------------------------------------------------------------------


def references_of(
    tables: Sequence[Table] | None, questions: Mapping[str, str]
) -> tuple[InputReferences, ...]:
    """The references of each input, inputs in the order of their ids; a text that comes
    again counts once, unless a list has it twice."""
    result = []
    for table in tables or ():
        for name, own in _texts_of(table).items():
            references = []
            for entry in own:
                with located(table.path, entry.line):
                    references.append(marked_sentences(entry.value))
            sentences, marked = zip(*references, strict=True)
            asked = questions.get(name)
            result.append(InputReferences(name, sentences, marked, asked))
    return tuple(sorted(result, key=lambda entry: entry.input))


def _texts_of(table: Table) -> dict[str, list[Entry]]:
    """The texts of each input: a table repeats them in the row of each system."""
    if any(entry.listed for entry in table.entries):
        return _of_all_systems(table)
    by_input: dict[str, dict[str, Entry]] = defaultdict(dict)
    by_system: dict[str, dict[str | None, set[str]]] = defaultdict(dict)
    for entry in table.entries:
        key = repr(entry.value)
        by_input[str(entry.input)].setdefault(key, entry)
        by_system[str(entry.input)].setdefault(entry.system, set()).add(key)

    for name, systems in by_system.items():
        sets = [*systems.values()]
        if any(one != sets[0] for one in sets):
            raise table.error(
                [*by_input[name].values()][-1],
                f"systems have other {table.role} of input '{name}' than others",
                "the same for all systems",
            )
    return {name: [*own.values()] for name, own in by_input.items()}


def documents_of(tables: Sequence[Table] | None) -> dict[tuple[str, str], str]:
    """The texts that are summarised, by system ("" for all) and input."""
    parts: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for table in tables or ():
        for entry in table.entries:
            with located(table.path, entry.line):
                sentences, _ = marked_sentences(entry.value)
            parts[entry.system or "", str(entry.input)][" ".join(sentences)] = None
    return {key: " ".join(texts) for key, texts in parts.items()}


def questions_of(tables: Iterable[Table]) -> dict[str, str]:
    """What was asked on each input: a question told anywhere is told everywhere, since
    judges see it with the units."""
    questions: dict[str, str] = {}
    for table in tables:
        for entry in table.entries:
            asked = entry.more.get("question")
            if not isinstance(asked, str) or not asked.strip():
                continue
            if questions.setdefault(str(entry.input), asked) != asked:
                raise table.error(
                    entry,
                    f"another question on input '{entry.input}': {cut(asked, 60)}",
                    f"'{cut(questions[str(entry.input)], 60)}', as elsewhere",
                )
    return questions


# What each system has
# ------------------------------------------------------------------------------------


def summaries_of(
    tables: Sequence[Table] | None, inputs: Names, partial: bool
) -> Summaries:
    """The summaries of all systems; null ones are missing if `partial`, else empty."""
    if not tables:
        return Summaries()
    texts: dict[tuple[str, str], str | None] = {}
    first: dict[tuple[str, str], str] = {}
    for table in tables:
        for entry in table.entries:
            value = entry.value
            if value is not None and not isinstance(value, str):
                raise table.error(
                    entry,
                    f"the summary of input '{entry.input}' is {cut(repr(value))}",
                    "a text, or null for a missing one",
                    "Name the columns of texts alone: --columns system=NAME+NAME.",
                )
            key = entry.system or "system", str(entry.input)
            text = None if value is None and partial else (value or "").strip()
            where = f"{table.path}:{entry.line}"
            # A table repeats a summary in the row of each unit.
            again = key in texts and not (table.shared and texts[key] == text)
            if again:
                raise table.error(
                    entry,
                    f"a second summary of system '{key[0]}' on input '{key[1]}' "
                    f"(first at {first[key]})",
                    "one summary of each system on each input",
                    "Number a system's repeated answers in a column 'repeat'.",
                )
            texts.setdefault(key, text)
            first.setdefault(key, where)

    systems = {system for system, _ in texts}
    cells = len(systems) * len(inputs)
    if cells > max(_MOST_CELLS, _SPARSEST * len(texts)):
        raise InputError(
            f"{len(texts):,} summaries share too little: {len(systems):,} systems and "
            f"{len(inputs):,} inputs make {cells:,} cells",
            hint="Does the column of systems hold ids? Name another (columns "
            "system=NAME).",
        )
    return Summaries.of(texts, inputs)


def facts_of(tables: Sequence[Table] | None, of: Listed) -> Facts | None:
    """Labels or presence by system and unit: by the unit's text where it is told, else
    in the order of the units in their source."""
    if not tables:
        return None
    units, places = of
    if not units:
        raise InputError(f"{tables[0].role} without their units", expected="units too")
    answers: dict[tuple[str, Fact], list[float]] = defaultdict(list)
    texts: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in units.facts:
        texts[fact.input, fact.text].append(fact)

    for table in tables:
        for fact, entry, value in _by_fact(table, texts, places):
            system = entry.system or "system"
            answers[system, fact].append(_number(value, entry, table))

    cells = {}
    for key, several in answers.items():
        known = [value for value in several if not math.isnan(value)]
        middle = median(known) if known else math.nan
        # Two of three who say 1 make 1; one of two makes .5.
        between = len(known) > 1 and middle not in (0, 1)
        cells[key] = 0.5 if between else middle
    return Facts.of(cells, units)


def _by_fact(
    table: Table,
    texts: Mapping[tuple[str, str], list[Fact]],
    places: Mapping[tuple[str, int], Fact],
) -> Iterator[tuple[Fact, Entry, Any]]:
    """The fact that each value of a table is of."""
    one = ROLES[table.role].one
    groups: dict[tuple[Any, ...], list[Entry]] = defaultdict(list)
    for entry in table.entries:
        group = entry.system, str(entry.input), entry.more.get("annotator")
        groups[group].append(entry)

    for (_, name, _), own in groups.items():
        told = [_with_unit(entry, one) for entry in own]
        if all(text is None for text, _ in told):
            of_input = sum(1 for key in places if key[0] == name)
            if len(own) == 1 and own[0].value in (None, [], ""):
                continue  # nobody labelled this input
            if len(own) != of_input:
                raise table.error(
                    own[0],
                    f"{counted(len(own), one)} for the {counted(of_input, 'unit')} of "
                    f"input '{name}'",
                    f"one {one} for each unit, or each with its unit's text",
                )
            for nth, (entry, (_, value)) in enumerate(zip(own, told, strict=True)):
                yield places[name, nth], entry, value
            continue
        yield from _by_text(table, name, own, told, texts)


def _by_text(
    table: Table,
    name: str,
    own: Sequence[Entry],
    told: Sequence[tuple[str | None, Any]],
    texts: Mapping[tuple[str, str], list[Fact]],
) -> Iterator[tuple[Fact, Entry, Any]]:
    """The values of an input that name their units; those of one text that stands twice
    must agree."""
    one = ROLES[table.role].one
    by_text: dict[str, list[tuple[Entry, Any]]] = defaultdict(list)
    for entry, (text, value) in zip(own, told, strict=True):
        if text is None:
            raise table.error(entry, f"a {one} without its unit", "its unit's text")
        by_text[one_line(text).strip()].append((entry, value))

    for text, several in by_text.items():
        facts = texts.get((name, text), [])
        entry = several[-1][0]
        if len(facts) < len(several):
            if not facts:
                what = f"a {one} of the unit '{cut(text)}', which input '{name}' lacks"
            else:
                what = f"{len(several)} {one}s of the unit '{cut(text)}' of '{name}'"
            raise table.error(entry, what, "the units' own texts, each once")
        if len({repr(value) for _, value in several}) > 1:
            raise table.error(
                entry,
                f"the unit '{cut(text)}' stands {len(several)} times in input '{name}', "
                f"with other {one}s",
                f"one {one} for one text, or lists in the order of the units",
            )
        for fact, (one_entry, value) in zip(facts, several, strict=False):
            yield fact, one_entry, value


def _with_unit(entry: Entry, one: str) -> tuple[str | None, Any]:
    """The text of the unit that a value names, and the value."""
    if isinstance(entry.value, Mapping):
        return entry.value.get("unit"), entry.value.get(one)
    return entry.more.get("unit"), entry.value


def as_truth(value: Any) -> Any:
    """1 for true and 0 for false, as Python, JSON and CSV write them; all else as it
    is."""
    # Nearly all are numbers, of which there may be millions.
    if type(value) in (float, int):
        return value
    return {"true": 1, "false": 0}.get(str(value).strip().lower(), value)


def _number(value: Any, entry: Entry, table: Table) -> float:
    """A label or presence as a number; NaN where there is none."""
    one = ROLES[table.role].one
    if value is None or value == "" or value != value:
        return math.nan
    told = number(as_truth(value))
    allowed = (0, 0.5, 1) if one == "label" else None
    if told is None or not 0 <= told <= 1 or (allowed and told not in allowed):
        expected = "0 (not present), 1 (present), 0.5 (in part), or null"
        if one == "presence":
            expected = "a number from 0 to 1, or null"
        raise table.error(entry, f"{one} {cut(repr(value))}", expected)
    return told
