"""Which column of a table is what: the one that is called so, or that `columns` names.

Nothing is guessed from what cells look like. Where a name is missing, the error prints
the columns to give; what people usually call them serves this line alone.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from litepyramid.checked import number
from litepyramid.data.door import Opened, fields_in, values_in
from litepyramid.errors import InputError
from litepyramid.text import cut
from litepyramid.types import Names


class Role(NamedTuple):
    """What a source is asked for.

    Attributes:
        one: The column that holds one value a row.
        many: The column that holds a list of them.
        by_system: Whether every system has its own.
        beside: Further columns that belong to a value.
    """

    one: str
    many: str
    by_system: bool = False
    beside: Names = ()


_UNIT = Role(
    "unit",
    "units",
    beside=("weight", "kind", "reference", "sentence", "importance", "tags", "said"),
)
ROLES: dict[str, Role] = {
    "summaries": Role("summary", "summaries", True),
    "units": _UNIT,
    "label_units": _UNIT,
    "stus": _UNIT,
    "references": Role("reference", "references"),
    "documents": Role("document", "documents", True),
    "labels": Role("label", "labels", True, ("unit",)),
    "presence": Role("presence", "presences", True, ("unit",)),
}
NAMES = {"input", "system", "repeat", "annotator", "question"}
NAMES |= {"human", "score", "metric"}
for _role in ROLES.values():
    NAMES |= {_role.one, _role.many, *_role.beside}
"""Columns that have a meaning."""
ALIASES = {"id": "input", "query": "question", "prompt": "question"}
"""Other names under which a column is read."""
OF_TOOLS = "What another tool wrote is read by 'litepyramid convert'."
EVERY = "*"
"""In place of columns: all that have no other meaning."""
_USUAL = {
    "input": "doc docid document example item topic qid uid uuid guid key doc_id "
    "document_id example_id sample_id item_id query_id question_id topic_id",
    "system": "model run method version peer summarizer summariser model_name "
    "model_id run_id",
    "summary": "response answer output completion prediction generation "
    "generated_text generated_summary",
    "reference": "ref gold target gold_summary ground_truth reference_summary "
    "highlights reference_answer expected expected_answer expected_output "
    "human_summary",
    "document": "article source context",
    "units": "facts key_facts claims nuggets scus acus statements",
    "unit": "fact claim nugget scu acu statement",
}
"""What people call our columns."""

Columns = Mapping[str, str]


class Form(NamedTuple):
    """What the columns of a table hold.

    Attributes:
        ours: The column of each of our names that is there.
        systems: The columns that hold the summaries of one system each.
    """

    ours: Mapping[str, str]
    systems: Names

    def holds(self, role: str, found: Opened) -> bool:
        """Whether a table has a column of a role."""
        about = ROLES[role]
        # Beside a unit, the number of a reference is no reference.
        if role == "references" and "unit" in self.ours and about.one in self.ours:
            cells = [row.cells.get(self.ours[about.one]) for row in found.rows or ()]
            return any(cell is not None and number(cell) is None for cell in cells)
        return about.one in self.ours or about.many in self.ours


def columns_by_source(
    columns: Any, given: Sequence[str], names: Collection[str]
) -> dict[str, dict[str, str]]:
    """The columns that a user names, of each source: those without a source's name are
    of the first. `names` are those of ours that there are."""
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(columns, str):
        parts = [part.partition("=") for part in columns.split(",")]
        pairs = [(name.strip(), column.strip()) for name, _, column in parts]
    elif columns is not None:
        named = fields_in(columns)
        if named is None:
            raise InputError(
                f"columns in a {type(columns).__name__}",
                expected='NAME=COLUMN,… or a dict such as {"summary": "output"}',
            )
        pairs = named.items()

    result: dict[str, dict[str, str]] = {role: {} for role in given}
    for key, column in pairs:
        source, _, name = str(key).rpartition(".")
        of = result.get(source or next(iter(given), ""))
        # A list is a system a column, and so is one of one column.
        if (listed := values_in(column)) is not None:
            column = "+".join(map(str, listed)) + "+" * (len(listed) == 1)
        name = ALIASES.get(name, name)
        if of is None or name not in names or name in of or str(column) == "":
            raise InputError(
                f"the columns '{cut(str(columns))}' cannot be read at '{key}'",
                expected="NAME=COLUMN,… with a NAME each of "
                f"{', '.join(sorted(names))}",
            )
        of[name] = str(column)
    return result


def meaning(column: str) -> str:
    """Our name of a column by its own, in small letters: an ``id`` is an ``input``."""
    name = column.lower()
    return ALIASES.get(name, name)


def named_columns(
    found: Opened, columns: Columns, names: Collection[str] = frozenset(NAMES)
) -> tuple[dict[str, str], list[str]]:
    """The column of each of our names that is there, and the columns that are told to
    hold a system each.

    Raises:
        InputError: A column that is told is not there, or two have one meaning.
    """
    present = found.columns
    ours = {}
    for name, column in columns.items():
        # The index of a frame has a name too.
        is_index = column == found.index and column not in present
        ours[name] = "input" if is_index else column
    systems = _system_columns(ours.get("system", ""), {*ours.values()}, found, names)
    if systems is not None:
        del ours["system"]
    for name, column in ours.items():
        if column not in present and column.partition(".")[0] not in present:
            raise _not_there(column, f"{name}={column}", found)

    # A name that is told for another column is not read under its own.
    used = {*ours.values(), *(systems or ())}
    alike: dict[str, list[str]] = {}
    for column in present:
        name = meaning(column)
        if column not in used and name in names and name not in columns:
            alike.setdefault(name, []).append(column)
    for name, several in alike.items():
        ours[name] = _one_of(name, several, found)
    return ours, systems or []


def form_of(found: Opened, columns: Columns) -> Form:
    """What the columns of a table hold; those of no meaning are not read."""
    ours, systems = named_columns(found, columns)
    # Where none has a name of ours, each holds a system: unless one is called as people
    # call what is no system.
    others = [one for one in found.columns if one not in ours.values()]
    if not (columns or ours.keys() - {"input"} or any(map(usual_meaning, others))):
        systems = others
    return Form(ours, tuple(systems))


def _system_columns(
    told: str, used: Collection[str], found: Opened, names: Collection[str]
) -> list[str] | None:
    """The columns that are told to hold a system each, as ``bart+t5`` or ``*``; None if
    one column names the systems."""
    present = found.columns
    if told in present or not ("+" in told or told == EVERY):
        return None
    if told == EVERY:
        return [c for c in present if c not in used and meaning(c) not in names]

    columns = []
    rest = told.strip()
    while rest:
        # A system may have a plus in its name.
        fits = [c for c in present if rest == c or rest.startswith(f"{c}+")]
        column = max(fits, key=len, default=rest.partition("+")[0].strip())
        if column not in present:
            raise _not_there(column, f"system={told}", found)
        columns.append(column)
        rest = rest.removeprefix(column).lstrip().removeprefix("+").lstrip()
    return columns


def _not_there(column: str, told: str, found: Opened) -> InputError:
    return InputError(
        f"no column '{column}' (columns {told})",
        path=found.path,
        expected=f"some of {', '.join(found.columns)}",
    )


def _one_of(name: str, several: Sequence[str], found: Opened) -> str:
    """The column that is called by our name, of several that mean it."""
    exact = [column for column in several if column == name] or several
    if len(exact) > 1:
        raise InputError(
            f"columns {' and '.join(several)}, which both mean {name}",
            path=found.path,
            hint=line_of({name: exact[0]}),
        )
    return exact[0]


# The line that names the columns
# ------------------------------------------------------------------------------------


def no_column(
    found: Opened, form: Form, role: str, columns: Columns, source: str
) -> InputError:
    """The error about a table in which a role has no column, with the line to write;
    `source` stands before its names where the table is not the first."""
    about = ROLES[role]
    mapping = {**columns, **_usual_columns(found, form, role)}
    named = {f"{source}{name}": column for name, column in mapping.items()}
    line = line_of(named)
    return InputError(
        f"no column '{about.one}' among {', '.join(found.columns) or 'none'}",
        path=found.path,
        expected=f"one that is called so, or told by columns: {role} have "
        f"{about.one}" + (", system and input" if about.by_system else " and input"),
        hint=f"{line if mapping else ''} {OF_TOOLS if found.is_file else ''}".strip()
        or None,
    )


def line_of(mapping: Mapping[str, str]) -> str:
    """The option that names columns, as a shell and as Python take it."""
    if set(",=").intersection("".join(mapping.values())):
        return f"In Python, write columns={dict(mapping)!r}; in a file, rename them."
    line = ",".join([f"{name}={column}" for name, column in mapping.items()])
    return f'Add --columns {shlex.quote(line)} (in Python columns="{line}").'


def _usual_columns(found: Opened, form: Form, role: str) -> dict[str, str]:
    """The columns of a table that probably hold a role and what belongs to it."""
    about = ROLES[role]
    wanted = {"input", "question", about.one, about.many, *about.beside}
    if about.by_system:
        wanted.add("system")
    if role == "summaries":
        wanted |= {"reference", "references", "document", "unit", "units"}

    # A column of ours that is none of this role may be called so by chance.
    result: dict[str, str] = {}
    used = {column for name, column in form.ours.items() if name in wanted}
    left = [column for column in found.columns if column not in used]
    for column in [*left]:
        name = usual_meaning(column)
        if name in wanted and name not in {*form.ours, *result}:
            result[name] = column
            left.remove(column)

    several = [column for column in left if _holds(found, column, about)]
    if {about.one, about.many} & result.keys() or not several:
        return result
    named = {"system"} <= {*form.ours, *result}
    # Numbers of several systems, which no name makes rows of.
    if about.one in ("label", "presence") and len(several) > 1:
        return result
    if role == "summaries" and not named and len(several) > 1:
        result["system"] = "+".join(several)
    else:
        result[about.one] = several[0]
    return result


def _holds(found: Opened, column: str, about: Role) -> bool:
    """Whether most cells of a column may be values of a role: texts of several words,
    or numbers."""
    cells = [row.cells.get(column) for row in found.rows or ()]
    filled = [cell for cell in cells if cell not in (None, "")]
    if about.one in ("label", "presence"):
        return all(number(cell) is not None or values_in(cell) for cell in filled)
    texts = [cell for cell in filled if len(str(cell).split()) > 1]
    return 2 * len(texts) > len(filled)


def usual_meaning(column: str) -> str | None:
    """Which of our columns is usually called so, in capitals, with dashes or spaces."""
    simple = re.sub("[ -]", "_", column.lower())
    for name, usual in _USUAL.items():
        if simple in usual.split():
            return name
    return None
