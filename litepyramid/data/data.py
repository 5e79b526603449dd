"""One data set: strict tables, what was understood of their sources, and how it is
loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import Any

from litepyramid.data.door import LAYOUT, name_of, opened
from litepyramid.data.facts import Facts
from litepyramid.data.files import file_rows
from litepyramid.data.joining import (
    check_inputs,
    documents_of,
    facts_of,
    inputs_of,
    plan_of,
    questions_of,
    references_of,
    summaries_of,
    units_of,
    with_ids,
)
from litepyramid.data.layout import layout_of
from litepyramid.data.notes import text_notes
from litepyramid.data.records import InputReferences, Summaries, Units
from litepyramid.data.roles import (
    NAMES,
    Leaf,
    Table,
    has_role,
    leaves,
    read,
    told_columns,
)
from litepyramid.errors import InputError, choose
from litepyramid.files import file_type
from litepyramid.language import language_notes, language_of
from litepyramid.text import counted, cut
from litepyramid.types import (
    ColumnsLike,
    HasUnits,
    Names,
    Nulls,
    Texts,
    TextsLike,
    UnitKind,
    UnitsLike,
)


@dataclass(frozen=True, eq=False)
class Data:
    """One data set, ready for scoring; with labels for fine-tuning and cross-validation
    too.

    Attributes:
        units: Units of every input, human ones or whatever was loaded as units.
        stus: Extracted units beside human ones.
        summaries: The texts of every system.
        labels: People's labels, with the units that they are of.
        references: The references of every input, in the order of their ids.
        presence: What was judged elsewhere.
        documents: The texts that were summarised, by system ("" for all) and input.
        example_folds: Held-out inputs of each fold, if the authors give folds by
            examples.
        system_folds: Held-out systems of each fold, if they give folds by systems.
        language: The code of their language, "any" for a user who insists; "" if not
            told yet.
        plan: What each source was taken for, and by what they were joined.
        remarks: What a user may not expect, as full sentences.
    """

    name: str = "own"
    units: Units = field(default_factory=Units)
    stus: Units = field(default_factory=Units)
    summaries: Summaries = field(default_factory=Summaries)
    labels: Facts | None = None
    references: tuple[InputReferences, ...] = ()
    presence: Facts | None = None
    documents: Mapping[tuple[str, str], str] = field(default_factory=dict)
    example_folds: tuple[Names, ...] = ()
    system_folds: tuple[Names, ...] = ()
    language: str = ""
    plan: Texts = ()
    remarks: Texts = ()

    @property
    def inputs(self) -> Names:
        """The ids of the inputs."""
        if self.units or self.stus:
            return (self.units or self.stus).inputs
        return (
            tuple([entry.input for entry in self.references]) or self.summaries.inputs
        )

    @property
    def systems(self) -> Names:
        """The names of the systems."""
        return self.summaries.systems

    def __repr__(self) -> str:
        inputs = counted(len(self.inputs), "input")
        systems = counted(len(self.systems), "system")
        return f"<Data: {self.name}: {inputs}, {systems}>"

    @property
    def texts(self) -> dict[str, list[str]]:
        """All texts of units, references and summaries."""
        references: list[str] = []
        for entry in self.references:
            references += map(" ".join, entry.references)
        summaries: list[str] = []
        for row in self.summaries.texts:
            summaries += [text for text in row if text]
        units = [unit.text for unit in (self.units or self.stus).every]
        return {"units": units, "references": references, "summaries": summaries}

    def with_language(self) -> Data:
        """These data with their language, as given or as their texts tell
        (`language_of`)."""
        return replace(self, language=language_of(self.texts, self.language))

    @property
    def notes(self) -> Texts:
        """What a reader of scores of these data should know."""
        texts = self.texts
        notes: list[str] = []
        if self.language:
            every = [text for several in texts.values() for text in several]
            notes += language_notes(every, self.language)
        return (*notes, *self.remarks, *text_notes(texts))

    def require(self, *parts: str) -> None:
        """Checks that there is what a verb needs, such as ``labels``."""
        for part in parts:
            if not getattr(self, part):
                raise InputError(f"no {part}", expected=" and ".join(parts))


def load(
    data: TextsLike | HasUnits | None = None,
    units: UnitsLike | None = None,
    *,
    references: TextsLike | None = None,
    labels: TextsLike | HasUnits | None = None,
    label_units: UnitsLike | None = None,
    stus: UnitsLike | None = None,
    presence: UnitsLike | None = None,
    documents: TextsLike | None = None,
    kind: UnitKind | None = None,
    ids: TextsLike | None = None,
    columns: ColumnsLike | None = None,
    name: str = "own",
    language: str | None = None,
    nulls: Nulls = "zero",
) -> Data:
    """Loads everything that belongs to one data set, checks and joins it.

    Each source is a path, plain Python (lists in the order of the inputs, or dicts by
    id), or a frame or rows with named columns. What belongs together is found by id if
    any source has ids, and by order if none has.

    Args:
        data: Summaries of every system: files, a folder with one for each, or a table,
            which may hold the rest too.
        units: Units of every input, one short fact each.
        references: Reference summaries of every input.
        labels: Presence labels of the units: 0, 1, or .5 for a part.
        label_units: Units that the labels are of, if they are not those to be scored.
        stus: Extracted units of the same inputs, besides human ones.
        presence: Presence of every unit in every summary, judged elsewhere: numbers
            from 0 to 1.
        documents: The texts that were summarised, or the retrieved contexts.
        kind: Kind of units whose source does not specify it: scu (default) or stu.
        ids: Ids of the inputs, for sources that have none.
        columns: Own names of columns, as NAME=COLUMN,… or a dict: of the first source;
            of another one as references.input=COLUMN.
        name: The data set's name in results.
        language: Code such as de; told by the texts if not given. "any" insists.
        nulls: Whether null answers score zero, or are missing.

    Returns:
        The data set; its `plan` says what each source was taken for.

    Raises:
        InputError: A source cannot be understood without a guess, or they do not match.

    Example:
        >>> data = load({"a": ["It rained."]}, [["It rained.", "We left."]])
        >>> data.units["1"].texts, data.systems
        (('It rained.', 'We left.'), ('a',))
        >>> data.plan
        ('1 summary of 1 system: a list', '2 units: a list', 'joined by order: 1 input')
    """
    choose("nulls", nulls, Nulls)
    sources = {
        "summaries": data,
        "units": units,
        "references": references,
        "labels": labels,
        "label_units": label_units,
        "stus": stus,
        "presence": presence,
        "documents": documents,
    }
    given = {role: one for role, one in sources.items() if one is not None}
    folds: dict[str, Any] = {}

    # A folder of a whole data set names its parts.
    first = next(iter(given.values()), None)
    if len(given) == 1 and (folder := _layout_folder(first)):
        given, folds = layout_of(folder)
        ids = folds.pop("ids") or ids
        name = folder.resolve().name

    tables = _read(given, told_columns(columns, [*given], NAMES))
    return _joined(
        tables,
        name=name,
        language=language or "",
        kind=kind,
        ids=_ids(ids),
        partial=nulls == "missing",
        **folds,
    )


def as_data(data: Any = None, units: Any = None, **sources: Any) -> Data:
    """The data that a verb is given: `Data`, or summaries with units and other sources."""
    if not isinstance(data, Data):
        _check_names(sources)
        loaded: Data = load(data, units, **sources)
        return loaded

    given = {key: value for key, value in sources.items() if value is not None}
    language = given.pop("language", data.language)
    if given:
        raise InputError(
            "Data and further sources",
            expected="one of the two: load them together",
            hint=f"There is also {', '.join(given)}.",
        )
    # Other units of the same inputs: its labels stay those of its own.
    if units is not None:
        if data.presence is not None:
            raise InputError(
                "other units than those of the presence", expected="one of the two"
            )
        scored = load(units=units).units
        if scored.inputs != data.inputs:
            raise InputError(
                f"units of {counted(len(scored), 'input')}, others than the data's "
                f"{len(data.inputs)}",
                expected="units of the same inputs",
            )
        data = replace(data, units=scored)
    return replace(data, language=language)


def _check_names(sources: Mapping[str, Any]) -> None:
    """Raises InputError for the name of no source."""
    known = [*signature(load).parameters]
    for key in sources:
        if key not in known:
            near = get_close_matches(key, known, 1, 0.5)
            raise InputError(
                f"there is no argument '{key}'",
                expected=f"one of {', '.join(known)}",
                hint=f"Did you mean {near[0]}?" if near else None,
            )


def read_references(
    references: Any, ids: Any = None, columns: Any = None
) -> tuple[InputReferences, ...]:
    """References alone, inputs in the order of their ids."""
    if references is None:
        raise InputError("no references", expected="at least one")
    return load(references=references, ids=ids, columns=columns).references


def _layout_folder(source: Any) -> Path | None:
    """The folder of a whole data set that a source is; None of anything else."""
    if not isinstance(source, str | Path) or file_type(source) != "folder":
        return None
    folder = Path(source)
    return folder if any((folder / name).exists() for name in LAYOUT) else None


def _ids(ids: Any) -> list[str] | None:
    """The ids of inputs: a list, or a file with one in each line, or in its column."""
    if ids is None:
        return None
    if isinstance(ids, str | Path):
        form, content = file_rows(Path(ids))
        listed = content
        if form == "rows":
            listed = dict.fromkeys([row.cells.get("input") for row in content])
    else:
        listed = opened(ids, "ids").listed
    names = [name_of(one) for one in listed or ()]
    if not names or None in names or len(set(names)) < len(names):
        raise InputError(
            f"ids that are {cut(repr(ids), 60)}",
            expected="a name for each input, none twice",
        )
    return [str(name) for name in names]


def _read(
    given: Mapping[str, Any], columns: Mapping[str, Mapping[str, str]]
) -> dict[str, list[Table]]:
    """The tables of each role; the first source may have columns of others too."""
    tables: dict[str, list[Table]] = {}
    for role, source in given.items():
        parts = leaves(opened(source, role), role, columns[role])
        roles = [role]
        # Beside units of their own, a table of summaries is read for its summaries alone.
        if not tables and not {"units", "summaries"} <= given.keys():
            roles = [*_roles_inside(parts, role, given.keys(), columns[role])]
        for one in roles:
            tables[one] = []
            for part in parts:
                if one == role or has_role(part, one, columns[role]):
                    tables[one].append(read(part, one, columns[role]))
    return tables


def _roles_inside(
    parts: Sequence[Leaf], role: str, given: Collection[str], columns: Mapping[str, str]
) -> Iterator[str]:
    """The role of a source, and others that it has columns of and nothing else gives."""
    inside = set()
    for other in (
        "summaries",
        "units",
        "references",
        "documents",
        "labels",
        "presence",
    ):
        if any(has_role(part, other, columns) for part in parts):
            inside.add(other)

    # A table that is given as units may hold all but units, and so may one of presence.
    instead = {"units": {"summaries"}, "summaries": {"presence"}}
    if role in inside or not (instead.get(role, set()) & inside):
        yield role
    yield from sorted(inside - {*given} - {role})


def _joined(
    tables: Mapping[str, Sequence[Table]],
    *,
    kind: UnitKind | None,
    ids: Sequence[str] | None,
    partial: bool,
    **about: Any,
) -> Data:
    """The tables of all roles as one data set."""
    listed = [table for several in tables.values() for table in several]
    if not listed:
        return Data(**about)
    joined = with_ids(listed, ids)
    by_role: dict[str, list[Table]] = {}
    for table in joined.tables:
        by_role.setdefault(table.role, []).append(table)

    inputs = inputs_of(by_role)
    check_inputs(joined.tables, inputs, partial)
    questions = questions_of(joined.tables)
    units = units_of(by_role.get("units"), kind, inputs, questions)
    stus = units_of(by_role.get("stus"), "stu", inputs, questions)
    rated = units_of(by_role.get("label_units"), kind, inputs, questions)
    labels = facts_of(by_role.get("labels"), rated or units or stus)
    if rated and labels is None:
        raise InputError("label_units without labels", expected="the labels too")

    summaries = summaries_of(by_role.get("summaries"), inputs)
    presence = facts_of(by_role.get("presence"), units)
    remarks = []
    missing = int(summaries.missing.sum())
    if missing and not partial:
        summaries = summaries.with_empty()
        are = counted(missing, "answer is missing", "answers are missing")
        remarks.append(
            f"{are} (null): read as empty, so that they score 0; nulls=missing leaves "
            "them out."
        )
    if presence is not None and summaries:
        _check_judged({*presence.systems}, {*summaries.systems})

    return Data(
        units=units.units,
        stus=stus.units,
        summaries=summaries,
        labels=labels,
        references=references_of(by_role.get("references"), questions),
        presence=presence,
        documents=documents_of(by_role.get("documents")),
        plan=plan_of(by_role, joined.way, len(inputs)),
        remarks=tuple(remarks),
        **about,
    )


def _check_judged(judged: set[str], summarised: set[str]) -> None:
    """Raises InputError if a system has either presence or summaries alone."""
    for system in sorted(summarised ^ judged):
        has = "presence but no summaries"
        if system in summarised:
            has = "summaries but no presence"
        raise InputError(
            f"system '{system}' has {has}", expected="both, or one of them"
        )
