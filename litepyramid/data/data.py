"""One data set: strict tables, what was understood of their sources, and how it is
loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

from litepyramid.data.building import (
    documents_of,
    facts_of,
    references_of,
    summaries_of,
    units_of,
)
from litepyramid.data.door import Opened, id_of, layout_folder, opened
from litepyramid.data.facts import Facts
from litepyramid.data.headers import NAMES, OF_TOOLS, columns_by_source, form_of
from litepyramid.data.joining import (
    check_inputs,
    inputs_of,
    plan_of,
    questions_of,
    with_ids,
)
from litepyramid.data.layout import layout_of, read_folds
from litepyramid.data.notes import text_notes
from litepyramid.data.records import InputReferences, Summaries, Units
from litepyramid.data.roles import Leaf, Table, leaves, read
from litepyramid.data.saved import SavedScores
from litepyramid.errors import InputError, choose
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
        repeats: By each run that is a repeat, its system, and which.
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
    repeats: Mapping[str, tuple[str, str]] = field(default_factory=dict)
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

    def system_of(self, run: str) -> str:
        """The system that a run is a repeat of, or that it is."""
        return self.repeats.get(run, (run,))[0]

    def __repr__(self) -> str:
        inputs = counted(len(self.inputs), "input")
        systems = counted(len(self.systems), "system")
        return f"<Data: {self.name}: {inputs}, {systems}>"

    @cached_property
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
    if kind is not None:
        choose("kind", kind, UnitKind)
    sources = {
        "summaries": data,
        "units": units,
        "references": references,
        "presence": presence,
        "labels": labels,
        "label_units": label_units,
        "stus": stus,
        "documents": documents,
    }
    given = {role: one for role, one in sources.items() if one is not None}

    # A folder of a whole data set names its parts.
    folds: dict[str, list[Path]] = {}
    first = next(iter(given.values()), None)
    if len(given) == 1 and (folder := layout_folder(first)):
        given, own_ids, folds = layout_of(folder)
        ids = own_ids or ids
        name = folder.resolve().name

    found = _with_parts({role: opened(one, role) for role, one in given.items()})
    # A saved result says itself what is missing.
    missing = nulls == "missing" or any(one.saved for one in found.values())
    whole = joined(
        _read(found, columns_by_source(columns, [*given], NAMES)),
        name=name,
        language=language or "",
        kind=kind,
        ids=ids_of(ids),
        may_lack={"summaries", "presence"} if missing else set(),
    )
    if "presence" in found and (saved := found["presence"].saved) is not None:
        _check_texts(whole.summaries, saved)
    return replace(
        whole,
        example_folds=read_folds(folds.get("example_folds", ()), whole.inputs),
        system_folds=read_folds(folds.get("system_folds", ()), whole.systems),
    )


def _with_parts(found: Mapping[str, Opened]) -> dict[str, Opened]:
    """The sources, with what saved results bring that nothing else gives: the first all
    that it holds, one of presence its units, one of labels theirs."""
    whole = {**found}
    for number, (role, source) in enumerate(found.items()):
        if source.saved is None:
            continue
        held = source.saved.parts
        if not _may_hold_all(number, found):
            belonging = {"presence": "units", "labels": "label_units"}.get(role)
            held = [part for part in held if part == belonging]
        # Whoever gives labels says which units they are of.
        if role != "labels" and "labels" in found:
            held = [part for part in held if part != "label_units"]
        for part in held:
            rows = opened(source.saved, part)
            rows = replace(rows, path=source.path, description=source.description)
            whole.setdefault(part, rows)
    return whole


def _may_hold_all(number: int, found: Mapping[str, Opened]) -> bool:
    """Whether a source is read for more than its role: the first; but a table of
    summaries beside units of their own is read for summaries alone."""
    return number == 0 and not {"units", "summaries"} <= found.keys()


def _check_texts(summaries: Summaries, saved: SavedScores) -> None:
    """Raises InputError where the presence of a saved result is of other texts."""
    judged = {(row.system, row.input): row.summary for row in saved.scores}
    for (system, input_), text in summaries.cells():
        if judged.get((system, input_), text) != text:
            raise InputError(
                f"presence of other texts: '{system}' wrote another summary of input "
                f"'{input_}'",
                expected="the summaries that were judged",
                hint="Leave the presence out to judge these; or leave them out.",
            )


def as_data(data: Any = None, units: Any = None, **sources: Any) -> Data:
    """The data that a verb is given: `Data`, or summaries with units and other
    sources."""
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
    whole: Data = replace(data, language=language)
    return whole


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


def load_rated(
    references: Any,
    units: Any,
    stus: Any = None,
    *,
    ids: Any = None,
    columns: Any = None,
) -> Data:
    """References with units of at least some of their inputs."""
    sources = {"references": references, "units": units, "stus": stus}
    given = {role: one for role, one in sources.items() if one is not None}
    found = {role: opened(one, role) for role, one in given.items()}
    tables = _read(found, columns_by_source(columns, [*given], NAMES))
    return joined(tables, ids=ids_of(ids), may_lack={"units"})


def ids_of(ids: Any) -> list[str] | None:
    """The ids of inputs: a list, or a file with one in each line, or in its column."""
    if ids is None:
        return None
    found = opened(ids, "ids")
    listed = found.listed
    if found.rows:
        column = form_of(found, {}).ours.get("input", "")
        # A table may have several rows of an input.
        listed = [*dict.fromkeys([row.cells.get(column) for row in found.rows])]
    names = [id_of(one) for one in listed or ()]
    if not names or None in names or len(set(names)) < len(names):
        raise InputError(
            f"ids that are {cut(repr(ids), 60)}",
            expected="a name for each input, none twice",
        )
    return [str(name) for name in names]


_TOGETHER = (*("summaries", "units", "references", "documents", "labels", "presence"),)
"""What one table may hold together."""


def _read(
    found: Mapping[str, Opened], columns: Mapping[str, Mapping[str, str]]
) -> list[Table]:
    """The tables of each role. The first source may have columns of others too, and one
    of presence has those of its units."""
    tables: list[Table] = []
    for number, (role, source) in enumerate(found.items()):
        own_columns = columns.get(role, {})
        try:
            parts = leaves(source, role, own_columns)
        except InputError as error:
            if source.is_file and not source.in_files:
                error.hint = error.hint or OF_TOOLS
            raise
        others: Names = _TOGETHER
        if not _may_hold_all(number, found):
            has_units = any(table.role == "units" for table in tables)
            others = ("units",) if role == "presence" and not has_units else ()
        others = tuple([other for other in others if other not in found])
        inside = _roles_inside(parts, role, others, own_columns)
        for one, several in inside.items():
            prefix = f"{role}." if number else ""
            tables += [read(part, one, own_columns, prefix) for part in several]

    for table in tables:
        if not table.entries and table.role in found:
            raise InputError(f"{table.role} without a text", path=table.path, line=1)
    return tables


def _roles_inside(
    parts: Sequence[Leaf], role: str, others: Names, columns: Mapping[str, str]
) -> dict[str, list[Leaf]]:
    """The role of a source, and those of the others that it has columns of; each with
    the parts that have them."""
    inside: dict[str, list[Leaf]] = {}
    for part in parts if any(part.found.rows for part in parts) else ():
        form = form_of(part.found, columns)
        for other in (role, *others):
            if form.holds(other, part.found):
                inside.setdefault(other, []).append(part)

    # A table that is given as units may hold all but units, and so may one of presence.
    instead = {"units": "summaries", "summaries": "presence"}.get(role)
    if role in inside or instead not in inside:
        inside[role] = [*parts]
    return inside


def joined(
    tables: Sequence[Table],
    *,
    kind: UnitKind | None = None,
    ids: Sequence[str] | None = None,
    may_lack: Set[str],
    **about: Any,
) -> Data:
    """The tables of all roles as one data set."""
    if not tables:
        return Data(**about)
    tables, way = with_ids(tables, ids)
    by_role: dict[str, list[Table]] = {}
    for table in tables:
        by_role.setdefault(table.role, []).append(table)

    inputs = inputs_of(by_role, may_lack)
    check_inputs(tables, inputs, may_lack)
    questions = questions_of(tables)
    units = units_of(by_role.get("units"), kind, inputs, questions)
    stus = units_of(by_role.get("stus"), "stu", inputs, questions)
    rated = units_of(by_role.get("label_units"), kind, inputs, questions)
    labels = presence = None
    if "labels" in by_role:
        labels = facts_of(by_role["labels"], rated or units or stus)
    elif rated:
        raise InputError("label_units without labels", expected="the labels too")

    no_nulls = "summaries" not in may_lack
    summaries = summaries_of(by_role.get("summaries"), inputs, no_nulls)
    if "presence" in by_role:
        presence = facts_of(by_role["presence"], units)
        if summaries:
            _check_judged(presence.systems, summaries.systems)
    remarks = []
    every = [entry for table in tables for entry in table.entries]
    answers = [entry for t in by_role.get("summaries", ()) for entry in t.entries]
    nulls = {(entry.system, entry.input) for entry in answers if entry.value is None}
    repeats = {str(one.system): one.repeat for one in every if one.repeat}
    if nulls and (no_nulls or repeats):
        are = counted(len(nulls), "answer is missing", "answers are missing")
        how = "left out of the means over answers."
        if no_nulls:
            how = "read as empty; --nulls missing leaves them out."
        remarks.append(f"{are} (null): {how}")

    references = references_of(by_role.get("references"), questions)
    sizes = {
        "inputs": len(inputs),
        "summaries": len({(entry.system, entry.input) for entry in answers}),
        "units": len(units.units.every),
        "references": sum(len(entry.references) for entry in references),
    }
    data = Data(
        units=units.units,
        stus=stus.units,
        summaries=summaries,
        labels=labels,
        references=references,
        presence=presence,
        documents=documents_of(by_role.get("documents")),
        repeats=repeats,
        plan=plan_of(by_role, sizes, way),
        remarks=tuple(remarks),
        **about,
    )
    tags = [tag for unit in data.units.every for tag in unit.tags]
    _check_characters([*inputs, *data.systems, *questions.values(), *tags])
    for texts in data.texts.values():
        _check_characters(texts)
    return data


def _check_characters(texts: Sequence[str]) -> None:
    """Raises InputError at half of a surrogate pair, which no file can hold."""
    try:
        "\n".join(texts).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise InputError(
            f"the half character {half!a} in '{next(t for t in texts if half in t)}'",
            expected="whole characters",
        ) from None


def _check_judged(judged: Names, summarised: Names) -> None:
    """Raises InputError if a system has either presence or summaries alone."""
    for one, other, has in (
        (judged, summarised, "presence but no summaries"),
        (summarised, judged, "summaries but no presence"),
    ):
        for system in one:
            if system not in other:
                raise InputError(
                    f"system '{system}' has {has}", expected="both, or one of them"
                )
