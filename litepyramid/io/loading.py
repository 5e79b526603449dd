"""Loads what belongs to one data set from files and Python, checked and joined."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, get_type_hints

from litepyramid.errors import InputError, choose
from litepyramid.files import file_type, stem
from litepyramid.io.coerce import (
    as_labels,
    as_names,
    as_references,
    as_summaries,
    as_units,
)
from litepyramid.io.dataset import Dataset
from litepyramid.io.formats import EVERY_INPUT
from litepyramid.io.inputs import in_order, read_ids
from litepyramid.io.presence import as_presence
from litepyramid.io.readers import read_rows, table_rows
from litepyramid.io.rows import ColumnNames, Rows, identifier, joined
from litepyramid.io.shapes import column_rows, usual_meaning
from litepyramid.io.sources import as_list, paths_of, with_shared_index
from litepyramid.text import counted
from litepyramid.types import (
    ColumnsLike,
    HasUnits,
    InputReferences,
    InputUnits,
    NamedSources,
    Nulls,
    TextsLike,
    UnitKind,
    UnitsLike,
    check_unique,
)

_SOURCES = {
    "units": "unit",
    "summaries": "summary",
    "references": "reference",
    "labels": "label",
    "label_units": "unit",
    "stus": "unit",
    "presence": "presence",
}
"""What each source holds."""
_ARGUMENTS = ("summaries", *get_type_hints(NamedSources))


def load(
    units: UnitsLike | None = None,
    *,
    summaries: TextsLike | None = None,
    references: TextsLike | None = None,
    labels: TextsLike | HasUnits | None = None,
    label_units: UnitsLike | None = None,
    stus: UnitsLike | None = None,
    presence: UnitsLike | None = None,
    kind: UnitKind | None = None,
    ids: TextsLike | None = None,
    columns: ColumnsLike | None = None,
    name: str = "own",
    language: str | None = None,
    nulls: Nulls = "zero",
) -> Dataset:
    """Loads everything that belongs to one data set, checks and joins it.

    Each source is a path, plain Python (lists in the order of the inputs, or dicts by
    id), or a data frame or rows with named columns. Without ids, inputs are matched by
    their order.

    Args:
        units: Units of every input, one short fact each. Alone, it may also be a folder
            in the authors' layout, or one table with all columns.
        summaries: Summaries of every system: one file per system, or a table.
        references: Reference summaries of every input.
        labels: Presence labels of the units: 0, 1, or .5 for a part.
        label_units: Units that the labels are of, if they are not those to be scored.
        stus: Extracted units of the same inputs, besides human ones.
        presence: Presence of every unit in every summary, judged elsewhere: numbers
            from 0 to 1.
        kind: Kind of units whose source does not specify it: scu (default) or stu.
        ids: Ids of the inputs, where rows are matched by order.
        columns: Own names of columns, as NAME=COLUMN,… or a dict.
        name: The data set's name in results.
        language: Code such as de; told by the texts if not given. "any" insists.
        nulls: Whether null answers score zero, or are missing.

    Returns:
        The data set; `Dataset.hashes` names it in signatures.

    Raises:
        InputError: A source cannot be read, or they do not match.

    Example:
        >>> data = load([["It rained.", "We left."]], summaries={"a": ["It rained."]})
        >>> data.units[0].texts, data.systems
        (('It rained.', 'We left.'), ('a',))
    """
    names = as_names(ids, columns)
    choose("nulls", nulls, Nulls)
    values = (units, summaries, references, labels, label_units, stus, presence)
    given = dict(zip(_SOURCES, values, strict=True))
    sources: dict[str, Any] = {}
    for key, value in given.items():
        if value is not None:
            sources[key] = value

    kinds = [_SOURCES[key] for key in sources]
    shared = with_shared_index(sources.values(), kinds, **names)
    sources = dict(zip(sources, map(as_list, shared), strict=True))

    # A table alone may hold everything: what it holds is then asked of its columns.
    alone = next(iter(sources)) if [*sources] in (["units"], ["summaries"]) else ""
    path = sources.get(alone)
    if isinstance(path, str | Path) and file_type(path) == "folder":
        return replace(_read_folder(Path(path)), language=language or "")

    # A column of references, under whatever name, tells that all are columns.
    if alone == "summaries" and isinstance(path, Mapping):
        meanings = [usual_meaning(str(key).removesuffix("s")) for key in path]
        if "reference" in meanings:
            sources[alone] = column_rows(path) or path

    left_out: Counter[str] = Counter()
    remarks: tuple[str, ...] = ()
    for key, source in list(sources.items()):
        # Beside units, a table of summaries is read for its summaries alone.
        main = key == alone or (key == "summaries" and "units" not in sources)
        if (table := _opened(source, key, names["columns"], main)) is None:
            continue
        left_out.update(table.left_out)
        remarks += table.remarks
        if key == "summaries":
            _check_summaries(table)
        sources[key] = table

        # What a table holds of a kind gives way to a source of that kind.
        if main and (inside := _inside(table)):
            sources.pop(alone, None)
            sources = inside | sources

    units, summaries, references, labels, label_units, stus, presence = map(
        sources.get, _SOURCES
    )
    # Lists beside a frame come from the same frame: its ids are theirs.
    if isinstance(summaries, Rows) and summaries.form == "python" and not names["ids"]:
        of_rows = dict.fromkeys(map(identifier, summaries.cells("input")))
        names["ids"] = [name for name in of_rows if name is not None] or None
        for one in sources.values() if names["ids"] else ():
            if type(one) is list or (isinstance(one, Rows) and not one.holds("input")):
                remarks += (
                    "What has no ids goes by the order of those that are told.",
                )
                break

    scus = [] if units is None else as_units(units, kind=kind, **names)
    # Criteria of every input: which inputs there are, the answers tell.
    partial = nulls == "missing"
    if [entry.input for entry in scus] == [EVERY_INPUT] and summaries is not None:
        first = as_summaries(summaries, partial=partial, **names)[0]
        scus = [*in_order(scus, first.inputs, "units")]

    judged = None
    if presence is not None:
        judged = as_presence(presence, scus or None, **names)
        scus = [*judged.units]

    # A list of references goes by the order of the units, under their ids.
    if scus and not names["ids"] and isinstance(references, list | tuple):
        names["ids"] = [entry.input for entry in scus]
    texts = [] if references is None else as_references(references, **names)
    extracted = []
    if stus is not None:
        extracted = as_units(stus, kind="stu", only=True, **names)
    inputs = [entry.input for entry in scus or texts or extracted] or None
    systems = []
    if summaries is not None:
        systems = as_summaries(summaries, inputs, partial=partial, **names)

    if judged is not None and systems:
        summarised = {entry.system for entry in systems}
        for system in sorted(summarised ^ {*judged.systems}):
            has = "presence but no summaries"
            if system in summarised:
                has = "summaries but no presence"
            raise InputError(f"system '{system}' has {has}")

    labelled = None
    if label_units is not None:
        labelled = in_order(as_units(label_units, **names), inputs or (), "label_units")
    # Labels alone are numbers: what they are of, the units say.
    of = labelled or scus or extracted
    if labels is not None and not of:
        raise InputError("labels without their units", expected="the units too")
    rated = []
    if labels is not None:
        rated = as_labels(labels, of, partial=True, **names)
    # Only now is it known what columns all the tables had.
    if names["columns"]:
        names["columns"].check()

    questions: dict[str, str] = {}
    for answered in systems:
        for input_, question in answered.questions.items():
            if questions.setdefault(input_, question) != question:
                what = f"answers another question on input '{input_}'"
                raise InputError(f"system '{answered.system}' {what}")

    # A question told anywhere is told everywhere: judges see it with the units.
    both: list[InputReferences | InputUnits] = [*texts, *scus]
    questions |= {entry.input: entry.question for entry in both if entry.question}
    scus = [replace(entry, question=questions.get(entry.input)) for entry in scus]
    texts = [replace(entry, question=questions.get(entry.input)) for entry in texts]

    # Read as empty, they are not missing any more, and the note is all that is left.
    if nulls == "zero" and (missing := sum(len(entry.missing) for entry in systems)):
        systems = [replace(entry, missing=()) for entry in systems]
        are = counted(missing, "answer is missing (null)", "answers are missing (null)")
        remarks += (
            f"{are}: read as empty, so that they score 0; nulls=missing leaves them "
            "out.",
        )

    return Dataset(
        name,
        tuple(scus),
        in_order(extracted, inputs or (), "stus") if extracted else None,
        tuple(systems),
        tuple(rated),
        labelled,
        in_order(texts, inputs or (), "references") if texts else None,
        judged,
        left_out=left_out,
        remarks=remarks,
        language=language or "",
    )


def as_dataset(data: Any = None, units: Any = None, **sources: Any) -> Dataset:
    """The data that a verb is given: a `Dataset`, or summaries with units and other
    sources."""
    for key in [key for key in sources if key not in _ARGUMENTS]:
        near = get_close_matches(key, _ARGUMENTS, 1, 0.5)
        raise InputError(
            f"there is no argument '{key}'",
            expected=f"one of {', '.join(_ARGUMENTS)}",
            hint=f"Did you mean {near[0]}?" if near else None,
        )

    sources = {key: value for key, value in sources.items() if value is not None}
    if isinstance(data, Dataset):
        told = sources.pop("language", data.language)
        if sources:
            raise InputError(
                "a Dataset and further sources",
                expected="one of the two: load them together",
            )

        # Other units of the same inputs: its labels stay those of its own.
        if units is not None:
            if data.presence is not None:
                raise InputError(
                    "other units than those of the presence", expected="one of the two"
                )
            scored = in_order(as_units(units), data.inputs, "units")
            own = data.label_units or (data.units if data.labels else None)
            data = replace(data, scus=tuple(scored), label_units=own)

        whole: Dataset = data if told == data.language else replace(data, language=told)
        return whole

    return load(units, summaries=data, **sources)


def _opened(source: Any, key: str, columns: ColumnNames, main: bool) -> Rows | None:
    """The rows of a file, of whole tables, or of one table given in Python; None for
    all else."""
    if isinstance(source, Rows):
        return source
    # Texts, and lists of them, are no table.
    first = source[0] if isinstance(source, list | tuple) and source else None
    if isinstance(first, str | list):
        return None

    paths = paths_of(source)
    if not paths:
        what = "summary" if main else _SOURCES[key]
        return table_rows(source, what, key, columns)

    # A folder is a file a system, and presence may be a saved result; several files
    # that hold no more than summaries are read later, one after the other.
    single = isinstance(source, str | Path)
    beside = not (main or single)
    kinds = set(map(file_type, paths))
    if key == "presence" or kinds & {None, "folder"} or (beside and kinds != {"file"}):
        return None

    blank_ok = key == "summaries"
    read = (read_rows(path, columns, blank_ok=blank_ok) for path in paths)
    table = next(read)
    if single:
        return table
    # Exports without ids are one table, in whose order lists go.
    by_question = table.made and table.form == "python"
    if beside and not by_question:
        return None

    tables = [table, *read]
    whole = any(_inside(one).keys() - {"summaries"} for one in tables)
    return joined(tables) if whole or by_question else None


def _check_summaries(table: Rows) -> None:
    """Raises InputError, with a way out, if a table of summaries does not name them."""
    if table.form == "lines" or table.holds("summary") or table.holds("presence"):
        return

    if (way_out := table.way_out()) is not None:
        # An id is called input too, once it is read.
        names = [n for n in table.names if n != "input" or "id" not in table.names]
        if "summary=" not in way_out and "system=" not in way_out:
            way_out = (
                "Write one row for each answer, with its system, input and summary."
            )
        raise InputError(
            f"no column of summaries; there are {', '.join(names)}",
            path=table.path,
            expected="a column 'summary', or a column for each system",
            hint=way_out,
        )


def _inside(table: Rows) -> dict[str, Any]:
    """The rows of one table, by `load`'s arguments that it has a column of."""
    kinds = ("units", "summaries", "references", "labels", "presence")
    return {key: table for key in kinds if table.holds(_SOURCES[key])}


_LAYOUT = (
    "a folder with SCUs.txt, summaries/*.summary, labels/*.label, and optionally "
    "references.txt, STUs.txt, ids.txt, by_examples/fold*.id, by_systems/fold*.sys"
)


def _read_folder(folder: Path) -> Dataset:
    """Reads the layout of ZB21's repository (REALSumm, PyrXSum, and TAC once
    converted).

    ``SCUs.txt``, ``summaries/`` and ``labels/`` must be there; ``STUs.txt``,
    ``references.txt``, ``ids.txt``, ``by_examples/fold*.id`` and
    ``by_systems/fold*.sys`` may. In place of a line file there may be JSON Lines:
    ``units.jsonl``, ``stus.jsonl``, ``references.jsonl``; any of them may be compressed
    (``.gz``).
    """
    if (unit_file := _file(folder, "units.jsonl", "SCUs.txt")) is None:
        raise InputError(
            "has no SCUs.txt",
            path=folder,
            expected=_LAYOUT,
            hint="If it holds summaries, give units or references too.",
        )

    data_set = load(
        unit_file,
        summaries=folder / "summaries",
        labels=folder / "labels",
        references=_file(folder, "references.jsonl", "references.txt"),
        stus=_file(folder, "stus.jsonl", "STUs.txt"),
        ids=_file(folder, "ids.txt"),
        kind="scu",
        name=folder.resolve().name,
    )
    check_unique(data_set.inputs, f"{folder}: input")
    # The authors' folders have a label for each unit; other data may have some.
    data_set.require("complete labels")
    labels = {entry.system: entry for entry in data_set.labels}
    if differing := sorted(labels.keys() ^ {*data_set.systems}):
        raise InputError(
            f"the systems of summaries/ and labels/ differ: {', '.join(differing)}",
            path=folder,
        )

    return replace(
        data_set,
        labels=tuple(labels[system] for system in data_set.systems),
        example_folds=_folds(folder / "by_examples", "*.id", data_set.inputs, "input"),
        system_folds=_folds(folder / "by_systems", "*.sys", data_set.systems, "system"),
    )


def _file(folder: Path, *names: str) -> Path | None:
    """The first of some files that is there, compressed or not."""
    for name in names:
        for file in (folder / name, folder / f"{name}.gz"):
            if file.is_file():
                return file
    return None


def _folds(
    folder: Path, pattern: str, names: Sequence[str], what: str
) -> tuple[tuple[str, ...], ...]:
    """The held-out names of each fold file; line files without ids count inputs from
    1."""
    folds = []
    files = [*folder.glob(pattern), *folder.glob(f"{pattern}.gz")]
    # fold2 comes before fold10.
    for file in sorted(files, key=lambda f: (len(stem(f)), stem(f))):
        fold = read_ids(file)
        for line, name in enumerate(fold, start=1):
            if name not in names:
                hint = "List the inputs' ids in ids.txt." if what == "input" else None
                raise InputError(
                    f"{what} '{name}' is not in the data set",
                    path=file,
                    line=line,
                    hint=hint,
                )
        folds.append(tuple(fold))

    check_unique([*chain.from_iterable(folds)], f"in the folds, {what}")
    return tuple(folds)
