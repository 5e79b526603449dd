"""Where what belongs together is joined: by id if any source has ids, else by order.

Every key stands exactly where it must be; what is left over is named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from litepyramid.data.door import numbered
from litepyramid.data.headers import ROLES
from litepyramid.data.roles import Entry, Table
from litepyramid.errors import InputError
from litepyramid.text import counted, cut
from litepyramid.types import Names, Texts

EVERY_INPUT = "*"
"""The id of units that are those of every input."""


class Joined(NamedTuple):
    """Tables whose entries all have the id of their input, and what they go by."""

    tables: list[Table]
    way: str


def with_ids(tables: Sequence[Table], ids: Sequence[str] | None) -> Joined:
    """Gives every entry its id: its own, or, where no source has any, that of its
    place.

    Raises:
        InputError: Some sources have ids and others have none, or not as many inputs.
    """
    named = [table for table in tables if not table.size]
    own = {entry.input for table in named for entry in table.entries} - {EVERY_INPUT}
    if ids and len(named) == len(tables) and not own <= {*ids}:
        raise InputError(
            "ids that no source needs: all have their own",
            expected="ids for sources without any",
            hint="Leave them out.",
        )
    if not named or ids:
        size = len(ids or ()) or tables[0].size
        names = ids or numbered(size)
        way = "by the ids given" if ids else "by order"
        return Joined([_with_names(table, names, tables[0]) for table in tables], way)

    result = []
    for table in tables:
        if not table.size:
            result.append(table)
            continue
        # What a plain index of pandas counts may be ids.
        counts = [*map(str, table.count or ())]
        if own and {*counts} != own:
            raise InputError(
                f"{table.role} ({table.description}) without ids, and "
                f"{named[0].role} ({named[0].description}) with ids",
                path=table.path,
                expected="both by id, or both in one order",
                hint="Give a dict by id, a column 'input', or ids=[…] (--ids FILE) for "
                "what has none; .reset_index(drop=True) drops the index of a frame.",
            )
        result.append(
            _with_names(table, counts if own else numbered(table.size), table)
        )
    return Joined(result, "by id")


def _with_names(table: Table, names: Sequence[str], first: Table) -> Table:
    """The table with an id for each place; one that has ids as it is."""
    if not table.size:
        return table
    if table.size != len(names):
        others = f"{first.role} ({first.description})"
        raise InputError(
            f"{counted(table.size, 'input')} in {table.role} ({table.description})",
            path=table.path,
            expected=f"{len(names)}, as many as ids or as {others}",
        )
    entries = [entry._replace(input=names[entry.input]) for entry in table.entries]
    return replace(table, entries=entries)


def inputs_of(
    tables: Mapping[str, Sequence[Table]], may_lack: Set[str] = frozenset()
) -> Names:
    """The inputs of a data set: those of its units, unless these may lack some, else
    references, else summaries."""
    first = ("units",) if "units" not in may_lack else ()
    for role in (*first, "references", "stus", "summaries", "presence", *ROLES):
        names = {e.input for table in tables.get(role, ()) for e in table.entries}
        # Units of every input may be all there is.
        if len(tables) > 1 or names != {EVERY_INPUT}:
            names.discard(EVERY_INPUT)
        if names:
            return tuple(sorted(names))
    raise InputError("no inputs", expected="units, references or summaries")


def check_inputs(
    tables: Sequence[Table], inputs: Iterable[str], may_lack: Set[str]
) -> None:
    """Raises InputError with the first input that a table has beyond those of the
    others, or lacks; some roles may lack some, and people label some."""
    there = {*inputs}
    systems: dict[tuple[str, str | None], dict[str, Entry]] = defaultdict(dict)
    for table in tables:
        for entry in table.entries:
            # A system may answer some inputs more often than others.
            system = entry.repeat[0] if entry.repeat else entry.system
            # What is told of an input beside any answer to it is told.
            whose = system if ROLES[table.role].by_system else None
            systems[table.role, whose][entry.input] = entry

    for (role, system), entries in systems.items():
        if entries.keys() == there:
            continue
        whose = f" of system '{system}'" if system else ""
        if more := sorted(entries.keys() - there - {EVERY_INPUT}):
            raise entries[more[0]].error(
                f"{role} of input '{more[0]}'{whose}, which others lack "
                f"({counted(len(more), 'such input')})",
                "the same inputs everywhere",
                "Add it to the others, or leave it out here.",
            )
        lacking = there - entries.keys()
        allowed = role in {"labels", "documents", *may_lack}
        if lacking and not allowed and EVERY_INPUT not in entries:
            last = max(entries.values(), key=lambda entry: entry.line)
            raise last.error(
                f"no {ROLES[role].one} of input '{min(lacking)}'{whose} "
                f"({counted(len(lacking), 'such input')})",
                f"{counted(len(there), 'input')}, found {len(entries)}",
                "Add it; an empty summary is legal, and so is null.",
            )


def questions_of(tables: Iterable[Table]) -> dict[str, str]:
    """What was asked on each input: a question told anywhere is told everywhere, since
    judges see it with the units."""
    questions: dict[str, str] = {}
    for table in tables:
        for entry in table.entries:
            asked = entry.more.get("question")
            if not isinstance(asked, str) or not asked.strip():
                continue
            if questions.setdefault(entry.input, asked) != asked:
                raise entry.error(
                    f"another question on input '{entry.input}': {cut(asked, 60)}",
                    f"'{cut(questions[entry.input], 60)}', as elsewhere",
                )
    return questions


def plan_of(
    tables: Mapping[str, Sequence[Table]], sizes: Mapping[str, int], way: str
) -> Texts:
    """What each source was taken for, how much it holds, and how all were joined; rows
    of a table may say again what `sizes` count once."""
    lines = []
    unread: dict[str, None] = {}
    used: set[str] = set()
    for role, several in tables.items():
        entries = [entry for table in several for entry in table.entries]
        systems = {one.repeat[0] if one.repeat else one.system for one in entries}
        size = sizes.get(role, len(entries))
        line = counted(size, ROLES[role].one, ROLES[role].many)
        if role in ("stus", "label_units"):
            line += f" ({role})"
        if ROLES[role].by_system and None not in systems:
            line += f" of {counted(len(systems), 'system')}"
        more = f" and {len(several) - 1} more" if len(several) > 1 else ""
        description = min(table.description for table in several)
        lines.append(f"{line}: {description}{more}")
        for table in several:
            unread |= dict.fromkeys(table.columns)
            used |= {*table.used}

    # People label what they like: what they did not is named.
    rated, written = (
        {entry.system for table in tables.get(role, ()) for entry in table.entries}
        for role in ("labels", "summaries")
    )
    if rated and written and rated != written:
        without = ", ".join(sorted(map(str, written ^ rated)))
        lines.append(f"labels or summaries, but not both: {cut(without)}")
    if names := [column for column in unread if column not in used]:
        lines.append(f"not read: {cut(', '.join(names))}")
    return (*lines, f"joined {way}: {counted(sizes['inputs'], 'input')}")
