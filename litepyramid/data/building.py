"""The entries of a role's tables as records, in the order of their names."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from litepyramid.checked import as_truth, as_type, number
from litepyramid.data.door import fields_in
from litepyramid.data.facts import Facts
from litepyramid.data.headers import ROLES
from litepyramid.data.joining import EVERY_INPUT
from litepyramid.data.records import (
    Fact,
    InputReferences,
    InputUnits,
    Summaries,
    Unit,
    Units,
    facts_by_number,
)
from litepyramid.data.roles import Entry, Table
from litepyramid.errors import InputError, located
from litepyramid.sentences import marked_sentences
from litepyramid.text import counted, cut, one_line, whole
from litepyramid.types import Fields, Names, UnitKind

_HEAVIEST = 1e12
_MOST_CELLS = 1_000_000
_SPARSEST = 100
# promptfoo's CSV: the reason, which quotes what was expected, then ---, the answer.
_VERDICT = re.compile(r"\[(?:PASS|FAIL|ERROR)\] \(-?[\d.]+\)")

Group = tuple[str, str | None, Any]
"""What several entries have in common: input, system, annotator."""
Tables = Sequence[Table]


def _groups(tables: Tables | None) -> dict[Group, list[Entry]]:
    """The entries of each input, system and annotator."""
    groups: dict[Group, list[Entry]] = defaultdict(list)
    for table in tables or ():
        for entry in table.entries:
            key = entry.input, entry.system, entry.more.get("annotator")
            groups[key].append(entry)
    return groups


def _alike(groups: Mapping[Group, list[Entry]], role: str) -> dict[str, list[Entry]]:
    """The entries of each input, which all systems and annotators that have some must
    have alike."""
    first: dict[str, list[Entry]] = {}
    for (name, system, _), entries in groups.items():
        known = first.setdefault(name, entries)
        if known is not entries and _values(known) != _values(entries):
            raise entries[0].error(
                f"{role} of input '{name}' are others for system '{system}' than in "
                f"{known[0].path}:{known[0].line}",
                "the same for all systems",
            )
    return first


def _values(entries: Sequence[Entry]) -> list[str]:
    """What entries say, in any order."""
    values = []
    for entry in entries:
        beside = {**entry.more, "annotator": None, "question": None}
        values.append(repr((entry.value, sorted(beside.items()))))
    return sorted(values)


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
    tables: Tables | None,
    kind: UnitKind | None,
    inputs: Names,
    questions: Mapping[str, str],
) -> Listed:
    """The units of a role's tables; those of every input (``*``) for each."""
    if not tables:
        return Listed()
    by_input: dict[str, list[Unit]] = {}
    for name, entries in _alike(_groups(tables), "units").items():
        by_input[name] = _checked_units(entries, kind)

    if EVERY_INPUT in by_input:
        if len(by_input) > 1:
            raise InputError(
                f"units of every input ('{EVERY_INPUT}'), and of {min(inputs)} …",
                path=tables[0].path,
                expected="one of the two",
            )
        by_input = dict.fromkeys(inputs, by_input[EVERY_INPUT])
    records = []
    for name, units in by_input.items():
        records.append(InputUnits(name, tuple(units), questions.get(name)))
    in_order = Units.of(records)
    return Listed(in_order, facts_by_number(by_input, in_order))


def _checked_units(entries: Sequence[Entry], kind: UnitKind | None) -> list[Unit]:
    """The units of one input."""
    units = []
    for nth, entry in enumerate(entries, start=1):
        with located(entry.path, entry.line):
            units.append(_unit(entry, f"unit {nth}", kind or _kind(entry.path)))
    if not any(unit.weight > 0 for unit in units):
        raise entries[0].error(
            f"no unit of input '{entries[0].input}' has a weight above zero",
            "at least one unit with a weight above zero",
        )
    return units


def _kind(path: str | Path) -> UnitKind:
    name = str(path).lower()
    return "stu" if "stu" in name and "scu" not in name else "scu"


def _unit(entry: Entry, what: str, kind: UnitKind) -> Unit:
    """One unit as a text, an object or a row gives it."""
    value = entry.value
    if isinstance(value, Unit):
        return value
    row = {**entry.more}
    for name in ("annotator", "question"):
        row.pop(name, None)
    # A text under `reference` is the reference itself, and not its number.
    if isinstance(row.get("reference"), str) and number(row["reference"]) is None:
        del row["reference"]
    row |= {"text": value} if (fields := fields_in(value)) is None else fields

    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise InputError(
            f"{what} is {cut(repr(text))}",
            expected='a text, or {"text": "…", "weight": 1, "kind": "scu"}',
        )
    if text.startswith("<t>") and text.rstrip().endswith("</t>"):
        raise InputError(
            f"{what} has the sentence marks of a reference",
            hint="Were the files of references and units swapped?",
        )
    if len(row) == 1:
        return Unit(one_line(text).strip(), kind=kind)

    given: Fields = {"weight": _weight(row.get("weight", 1))}
    for key, cell in row.items():
        if cell in (None, "") or key in given:
            continue
        # Cells of a CSV are texts, and whole numbers of a frame are 1.0.
        if key in ("reference", "sentence"):
            cell = _whole(cell)
        elif key == "said":
            cell = number(as_truth(cell)) == 1
        elif key == "tags" and isinstance(cell, str):
            cell = [cell]
        given[key] = cell
    given |= {"text": one_line(text).strip(), "kind": row.get("kind") or kind}
    return as_type(Unit, given, what=what)


def _weight(value: Any) -> float:
    weight = number(value)
    if weight is None or not abs(weight) <= _HEAVIEST:
        raise InputError(
            f"weight {cut(repr(value))}",
            expected=f"a number up to {_HEAVIEST:g}, below 0 for a penalty",
        )
    return weight


def _whole(value: Any) -> Any:
    """A whole number as such; what is none as it is."""
    whole = number(value)
    return value if whole is None or whole % 1 else int(whole)


# References and documents
# ------------------------------------------------------------------------------------


def references_of(
    tables: Tables | None, questions: Mapping[str, str]
) -> tuple[InputReferences, ...]:
    """The references of each input, inputs in the order of their ids."""
    groups = {}
    for key, entries in _groups(tables).items():
        # A table repeats a reference in other rows; a list has it twice.
        once = {n if e.listed else repr(e.value): e for n, e in enumerate(entries)}
        groups[key] = [*once.values()]

    result = []
    for name, entries in _alike(groups, "references").items():
        references = []
        for entry in entries:
            with located(entry.path, entry.line):
                references.append(marked_sentences(entry.value))
        sentences, marked = zip(*references, strict=True)
        asked = questions.get(name)
        result.append(InputReferences(name, sentences, marked, asked))
    return tuple(sorted(result, key=lambda record: record.input))


def documents_of(tables: Tables | None) -> dict[tuple[str, str], str]:
    """The texts that are summarised, by system ("" for all) and input."""
    parts: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for table in tables or ():
        for entry in table.entries:
            with located(entry.path, entry.line):
                sentences, _ = marked_sentences(entry.value)
            parts[entry.system or "", entry.input][" ".join(sentences)] = None
    return {key: " ".join(texts) for key, texts in parts.items()}


# What each system has
# ------------------------------------------------------------------------------------


def summaries_of(
    tables: Tables | None, inputs: Names, no_nulls: bool = False
) -> Summaries:
    """The summaries of all systems; None is a missing one, but null is an empty one if
    `no_nulls`."""
    if not tables:
        return Summaries()
    texts: dict[tuple[str, str], str | None] = {}
    first: dict[tuple[str, str], Entry] = {}
    for table in tables:
        for entry in table.entries:
            text = entry.value
            if isinstance(text, str):
                text = whole(text.strip())
                if _VERDICT.match(text):
                    raise entry.error(
                        "an answer behind a verdict, as promptfoo writes its tables",
                        "the answer alone",
                        "Convert the file first: litepyramid convert FILE.",
                    )
            elif text is None:
                text = "" if no_nulls else None
            else:
                raise entry.error(
                    f"the summary of input '{entry.input}' is {cut(repr(text))}",
                    "a text, or null for a missing one",
                )
            key = str(entry.system), entry.input
            # A table repeats a summary in the row of each unit.
            if key in texts and not (table.shared and texts[key] == text):
                raise entry.error(
                    f"a second summary of system '{key[0]}' on input '{key[1]}' "
                    f"(first at {first[key].path}:{first[key].line})",
                    "one summary of each system on each input",
                    "Number a system's repeated answers in a column 'repeat'.",
                )
            texts[key] = text
            first.setdefault(key, entry)

    _check_filled(texts, len(inputs), "summaries")
    return Summaries.of(texts, inputs)


def _check_filled(cells: Iterable[tuple[str, Any]], columns: int, what: str) -> None:
    """Raises InputError if a table of systems × columns would be large, and empty."""
    keys = [*cells]
    systems = len({system for system, _ in keys})
    if systems * columns > max(_MOST_CELLS, _SPARSEST * len(keys)):
        raise InputError(
            f"{len(keys):,} {what} of {systems:,} systems, which make "
            f"{systems * columns:,} cells, share too little",
            hint="Does the column of systems hold ids? Name another (columns "
            "system=NAME).",
        )


def facts_of(tables: Tables, of: Listed) -> Facts:
    """Labels or presence by system and unit: by the unit's text where it is told, else
    in the order of the units in their source."""
    if not of:
        raise InputError(
            f"{tables[0].role} without their units",
            path=tables[0].path,
            expected="units too",
            hint="Give them as units, or as label_units if others are scored; or leave "
            f"the column {ROLES[tables[0].role].one} out.",
        )
    texts: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in of.units.facts:
        texts[fact.input, fact.text].append(fact)
    sizes = Counter([fact.input for fact in of.units.facts])

    one = ROLES[tables[0].role].one
    answers: dict[tuple[str, Fact], list[float]] = defaultdict(list)
    for (name, system, _), group in _groups(tables).items():
        entries = [_with_unit(entry, one) for entry in group]
        if any(entry.more.get("unit") is not None for entry in entries):
            pairs = _by_text(entries, texts, one)
        else:
            places = [of.places[name, nth] for nth in range(sizes[name])]
            pairs = _by_order(entries, places, one)
        for fact, entry in pairs:
            answers[str(system), fact].append(_number(entry, one))

    cells = {}
    for key, several in answers.items():
        known = [value for value in several if not math.isnan(value)]
        middle = median(known) if known else math.nan
        # Two of three who say 1 make 1; one of two makes .5, which is all that a label
        # between two others can be.
        between = one == "label" and len(known) > 1 and middle not in (0, 1)
        cells[key] = 0.5 if between else middle
    _check_filled(cells, len(of.units.facts), tables[0].role)
    return Facts.of(cells, of.units)


def _by_order(
    entries: Sequence[Entry], facts: Sequence[Fact], one: str
) -> Iterator[tuple[Fact, Entry]]:
    """The fact of each value of an input, as many as it has units."""
    name = entries[0].input
    # Nobody labelled this input: null stands for all of its units.
    if len(entries) == 1 and entries[0].value in (None, ""):
        entries = [*entries] * len(facts)
    if len(entries) != len(facts):
        units = counted(len(facts), "unit")
        raise entries[0].error(
            f"{counted(len(entries), one)} for the {units} of input '{name}'",
            f"one {one} for each unit (null for none), or each with its unit's text",
        )
    yield from zip(facts, entries, strict=True)


def _by_text(
    entries: Sequence[Entry], texts: Mapping[tuple[str, str], list[Fact]], one: str
) -> Iterator[tuple[Fact, Entry]]:
    """The fact of each value of an input, which names its unit; those of one text that
    stands twice must agree."""
    name = entries[0].input
    by_text: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        text = entry.more.get("unit")
        if not isinstance(text, str):
            raise entry.error(f"a {one} without its unit", "its unit's text")
        by_text[one_line(text).strip()].append(entry)

    for text, several in by_text.items():
        facts = texts.get((name, text), [])
        last = several[-1]
        if len(facts) < len(several):
            what = f"a {one} of the unit '{cut(text)}', which input '{name}' lacks"
            if facts:
                what = f"{len(several)} {one}s of the unit '{cut(text)}' of '{name}'"
            raise last.error(what, "the units' own texts, each once")
        if len({repr(entry.value) for entry in several}) > 1:
            raise last.error(
                f"the unit '{cut(text)}' stands {len(several)} times in input '{name}',"
                f" with other {one}s",
                f"one {one} for one text, or lists in the order of the units",
            )
        yield from zip(facts, several, strict=False)


def _with_unit(entry: Entry, one: str) -> Entry:
    """A label that is an object as its value, with its unit beside it."""
    if (fields := fields_in(entry.value)) is None:
        return entry
    more = {**entry.more, "unit": fields.get("unit")}
    return entry._replace(value=fields.get(one), more=more)


def _number(entry: Entry, one: str) -> float:
    """A label or presence as a number; NaN where there is none."""
    if entry.value in (None, ""):
        return math.nan
    value = number(as_truth(entry.value))
    allowed = (0, 0.5, 1) if one == "label" else (value,)
    if value is None or not 0 <= value <= 1 or value not in allowed:
        expected = "0 (not present), 1 (present), 0.5 (in part), or null"
        if one == "presence":
            expected = "a number from 0 to 1, or null"
        raise entry.error(f"{one} {cut(repr(entry.value))}", expected)
    return value
