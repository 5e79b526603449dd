"""Loads what belongs to one data set from files and Python, checked and joined."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, get_type_hints

from litepyramid.errors import InputError, choose
from litepyramid.files import file_type, files_in, stem
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
from litepyramid.io.sources import (
    as_list,
    holds_rows,
    paths_of,
    tables_of,
    with_shared_index,
)
from litepyramid.text import counted
from litepyramid.types import (
    ColumnsLike,
    HasUnits,
    InputReferences,
    InputUnits,
    NamedSources,
    Nulls,
    SystemSummaries,
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
    partial = nulls == "missing"
    given = (units, summaries, references, labels, label_units, stus, presence)
    sources = _listed(dict(zip(_SOURCES, given, strict=True)), names)

    # A table alone may hold everything: what it holds is then asked of its columns.
    alone = next(iter(sources)) if [*sources] in (["units"], ["summaries"]) else ""
    path = sources.get(alone)
    if isinstance(path, str | Path) and file_type(path) == "folder":
        folder = Path(path)
        if alone == "units" or _file(folder, "SCUs.txt", *_PARTS):
            return replace(_read_folder(folder), language=language or "")
        # One without them holds a file a system, each with its references perhaps.
        sources[alone] = files_in([folder], "summaries")

    left_out: Counter[str] = Counter()
    remarks: list[str] = []
    for table in _open_tables(sources, alone, names["columns"]):
        left_out.update(table.left_out)
        remarks += table.remarks

    # Lists beside a frame come from the same frame: its ids are theirs.
    if not names["ids"]:
        names["ids"] = _ids_of_rows(sources.get("summaries"))
        if names["ids"] and any(map(_goes_by_order, sources.values())):
            remarks.append("What has no ids goes by the order of those that are told.")

    scus = _units_to_score(sources, kind, partial, names)
    judged = None
    if "presence" in sources:
        judged = as_presence(sources["presence"], scus or None, **names)
        scus = [*judged.units]

    # A list of references goes by the order of the units, under their ids.
    texts: list[InputReferences] = []
    if "references" in sources:
        is_list = isinstance(sources["references"], list | tuple)
        if scus and is_list and not names["ids"]:
            names["ids"] = [entry.input for entry in scus]
        texts = as_references(sources["references"], **names)

    extracted = []
    if "stus" in sources:
        extracted = as_units(sources["stus"], kind="stu", only=True, **names)

    inputs = [entry.input for entry in scus or texts or extracted]
    systems = []
    if "summaries" in sources:
        systems = as_summaries(
            sources["summaries"], inputs or None, partial=partial, **names
        )
    if judged is not None and systems:
        _check_judged({*judged.systems}, {entry.system for entry in systems})

    labelled = None
    if "label_units" in sources:
        own_units = as_units(sources["label_units"], **names)
        labelled = in_order(own_units, inputs, "label_units")
    # Labels alone are numbers: what they are of, the units say.
    rated = []
    if "labels" in sources:
        of = labelled or scus or extracted
        if not of:
            raise InputError("labels without their units", expected="the units too")
        rated = as_labels(sources["labels"], of, partial=True, **names)
    elif labelled:
        raise InputError("label_units without labels", expected="the labels too")

    # Only now is it known what columns all the tables had.
    if names["columns"]:
        names["columns"].check()

    # A question told anywhere is told everywhere: judges see it with the units.
    questions = _questions(systems)
    both: list[InputReferences | InputUnits] = [*texts, *scus]
    questions |= {entry.input: entry.question for entry in both if entry.question}
    scus = [replace(entry, question=questions.get(entry.input)) for entry in scus]
    texts = [replace(entry, question=questions.get(entry.input)) for entry in texts]

    # Read as empty, they are not missing any more, and the note is all that is left.
    missing = sum(len(entry.missing) for entry in systems)
    if missing and not partial:
        systems = [replace(entry, missing=()) for entry in systems]
        are = counted(missing, "answer is missing (null)", "answers are missing (null)")
        remarks.append(
            f"{are}: read as empty, so that they score 0; nulls=missing leaves them "
            "out."
        )

    return Dataset(
        name,
        tuple(scus),
        in_order(extracted, inputs, "stus") if extracted else None,
        tuple(systems),
        tuple(rated),
        labelled,
        in_order(texts, inputs, "references") if texts else None,
        judged,
        left_out=left_out,
        remarks=tuple(remarks),
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


def _listed(given: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """The sources that are given, those of one dimension as lists, their indexes
    named."""
    given = {key: value for key, value in given.items() if value is not None}
    kinds = [_SOURCES[key] for key in given]
    shared = with_shared_index(given.values(), kinds, **names)
    return dict(zip(given, map(as_list, shared), strict=True))


def _open_tables(
    sources: dict[str, Any], alone: str, columns: ColumnNames
) -> Iterator[Rows]:
    """The tables among the sources, opened, in whose place they come; what a table
    holds of other kinds becomes their source, unless they have one."""
    # A column of references, under whatever name, tells that all are columns.
    if alone == "summaries" and isinstance(given := sources[alone], Mapping):
        meanings = [usual_meaning(str(key).removesuffix("s")) for key in given]
        if "reference" in meanings:
            sources[alone] = column_rows(given) or given

    for key, source in [*sources.items()]:
        # Beside units, a table of summaries is read for its summaries alone.
        main = key == alone or (key == "summaries" and "units" not in sources)
        if (table := _opened(source, key, columns, main)) is None:
            continue

        if key == "summaries":
            _check_summaries(table)
        sources[key] = table

        if main and (inside := _inside(table)):
            sources.pop(alone, None)
            for kind, of_kind in inside.items():
                sources.setdefault(kind, of_kind)
        yield table


def _ids_of_rows(summaries: Any) -> list[str] | None:
    """The ids that a table of summaries from Python holds."""
    if not isinstance(summaries, Rows) or summaries.form != "python":
        return None

    of_rows = dict.fromkeys(map(identifier, summaries.cells("input")))
    return [name for name in of_rows if name is not None] or None


def _goes_by_order(source: Any) -> bool:
    return type(source) is list or (
        isinstance(source, Rows) and not source.holds("input")
    )


def _units_to_score(
    sources: dict[str, Any],
    kind: UnitKind | None,
    partial: bool,
    names: dict[str, Any],
) -> list[InputUnits]:
    """The units of every input; criteria of every input for each that is answered."""
    if "units" not in sources:
        return []
    scus = as_units(sources["units"], kind=kind, **names)
    if [entry.input for entry in scus] != [EVERY_INPUT] or "summaries" not in sources:
        return scus

    answered = as_summaries(sources["summaries"], partial=partial, **names)
    return [*in_order(scus, answered[0].inputs, "units")]


def _check_judged(judged: set[str], summarised: set[str]) -> None:
    """Raises InputError if a system has either presence or summaries alone."""
    for system in sorted(summarised ^ judged):
        has = "presence but no summaries"
        if system in summarised:
            has = "summaries but no presence"
        raise InputError(f"system '{system}' has {has}")


def _questions(systems: Sequence[SystemSummaries]) -> dict[str, str | None]:
    """The question that an input's summaries answer; of all systems the same."""
    questions: dict[str, str | None] = {}
    for answered in systems:
        for input_, question in answered.questions.items():
            if questions.setdefault(input_, question) != question:
                what = f"answers another question on input '{input_}'"
                raise InputError(f"system '{answered.system}' {what}")
    return questions


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
    if main and isinstance(source, Mapping) and all(map(holds_rows, source.values())):
        tables = [*tables_of(source, "summary", columns)]
        return joined(tables) if _hold_more(tables) else None
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
    return joined(tables) if by_question or _hold_more(tables) else None


def _hold_more(tables: Sequence[Rows]) -> bool:
    """Whether some table holds more than summaries."""
    return any(_inside(table).keys() - {"summaries"} for table in tables)


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


_PARTS = ("units.jsonl", "summaries", "labels")
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
            if file_type(file):
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
