"""TREC RAG's nuggets, assignments and answers, and NuggetBank's claims, as our records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError
from litepyramid.files import jsonl_rows, read_text, split_lines
from litepyramid.text import one_line
from litepyramid.types import InputUnits, SystemLabels, SystemSummaries, Unit

ASSIGNMENTS = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
"""What nuggetizer calls the labels 1, .5 and 0."""

Cell = tuple[str, str]
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Nugget:
    text: str
    importance: Literal["vital", "okay", "failed"] | None = None
    assignment: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str


@dataclass(slots=True)
class TrecFiles:
    """What some files hold together; summaries and labels by system and input.

    `left_out` counts what has no place in our files.
    """

    units: dict[str, InputUnits] = field(default_factory=dict)
    texts: dict[Cell, str] = field(default_factory=dict)
    labels: dict[Cell, tuple[float, ...]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def summaries(self) -> tuple[SystemSummaries, ...]:
        """The answers of every system."""
        by_system = _by_system(self.texts).items()
        return tuple(SystemSummaries(s, tuple(r), tuple(r.values())) for s, r in by_system)

    def system_labels(self) -> tuple[SystemLabels, ...]:
        """The labels of every system."""
        by_system = _by_system(self.labels).items()
        return tuple(SystemLabels(s, tuple(r), tuple(r.values())) for s, r in by_system)


def is_trec(path: Path) -> bool:
    """Whether the first line of a file is one of TREC's."""
    text = read_text(path)
    if text.lstrip()[:1] != "{":
        return False
    try:
        return _form(_rows(path, text)[0][1]) is not None
    except InputError:
        return False


def read_trec(paths: Iterable[Path]) -> TrecFiles:
    """Reads nuggets, assignments, answers and banks of claims, and joins them.

    - nuggets: ``qid`` is the input, ``nuggets`` are its units;
    - assignments: also ``run_id`` the system, ``answer_text`` its summary, and a label a unit
      (`ASSIGNMENTS`);
    - answers: ``topic_id`` and ``run_id``, in 2026 those of ``metadata``; the summary is the
      sentences joined by a space;
    - a bank of claims (NuggetBank): its claims, those nested in others too, are the units;
      questions are left out and counted.

    Raises:
        InputError: A line is not as its form wants it, or two contradict each other.
    """
    files = TrecFiles()
    for path in paths:
        for line, row in _rows(path, read_text(path)):
            try:
                _READERS[_form(row) or ""](row, files)
            except InputError as error:
                raise InputError(
                    error.what, path=path, line=line, expected=error.expected, hint=error.hint
                ) from None
    return files


def _rows(path: Path, text: str) -> list[tuple[int, Row]]:
    """The objects of JSON Lines, or the one object of a JSON file."""
    lines = split_lines(text)
    if len(lines) > 1 and lines[0].strip() == "{":
        row = parse_json(text, path=path)
        return [(1, row)] if isinstance(row, dict) else []
    return jsonl_rows(path, lines)


def _form(row: Row) -> str | None:
    """Which TREC file a JSON object is a line of; None if not of any."""
    if "qid" in row and isinstance(row.get("nuggets"), list):
        some = (one for one in row["nuggets"] if isinstance(one, dict))
        assigned = "run_id" in row or any("assignment" in one for one in some)
        return "assignments" if assigned else "nuggets"
    if isinstance(row.get("answer"), list) and ("topic_id" in row or "metadata" in row):
        return "answers"
    return "bank" if "query_id" in row and {"claim_bank", "nugget_bank"} & row.keys() else None


def _id(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"{key} is {value!r}", expected="a name or number")
    return str(value)


def _read_nuggets(row: Row, files: TrecFiles) -> list[_Nugget]:
    nuggets: list[_Nugget] = as_type(list[_Nugget], row["nuggets"], what="broken nuggets")
    _put_units(files, _id(row, "qid"), nuggets)
    return nuggets


def _read_assignments(row: Row, files: TrecFiles) -> None:
    cell = _id(row, "run_id"), _id(row, "qid")
    nuggets = _read_nuggets(row, files)
    for nugget in nuggets:
        if nugget.assignment not in ASSIGNMENTS:
            raise InputError(
                f"the nugget '{nugget.text}' is assigned '{nugget.assignment}'",
                expected=", ".join(ASSIGNMENTS),
                hint="Assign it again, or write not_support, as nuggetizer counts it.",
            )
    if isinstance(row.get("answer_text"), str):
        _put(files.texts, cell, one_line(row["answer_text"]))
    _put(files.labels, cell, tuple(ASSIGNMENTS[nugget.assignment] for nugget in nuggets))


def _read_answers(row: Row, files: TrecFiles) -> None:
    about = row.get("metadata")
    about = {**about, **row} if isinstance(about, dict) else row
    key = "topic_id" if "topic_id" in about else "narrative_id"
    sentences: list[_Sentence] = as_type(list[_Sentence], row["answer"], what="a broken answer")
    files.left_out["citations"] += sum(bool(one.get("citations")) for one in row["answer"])
    files.left_out["metadata"] += bool(row.keys() - {"topic_id", "run_id", "answer"})
    cell = _id(about, "run_id"), _id(about, key)
    _put(files.texts, cell, one_line(" ".join(s.text for s in sentences)))


def _read_bank(row: Row, files: TrecFiles) -> None:
    """The claims of a bank in their order, nested ones after theirs."""
    claims: list[_Nugget] = []
    heap = [row.get("nugget_bank"), row.get("claim_bank")]
    while heap:
        one = heap.pop()
        if isinstance(one, dict) and ("claim" in one or "question" in one):
            files.left_out["questions"] += "question" in one
            if "claim" in one:
                text = as_type(str, one["claim"], what="a broken claim")
                grade = one.get("importance")
                claims.append(_Nugget(text, grade if grade in ("vital", "okay") else None))
                files.left_out["references of claims"] += bool(one.get("references"))
            heap.append(one.get("sub_nuggets"))
        elif isinstance(one, dict | list):
            heap.extend(reversed(list(one.values() if isinstance(one, dict) else one)))
        elif one is not None:
            expected = '{"claim": "…"} or {"question": "…"}'
            raise InputError("a nugget of the bank is not an object", expected=expected)
    _put_units(files, _id(row, "query_id"), claims)


def _read_other(row: Row, files: TrecFiles) -> None:
    expected = "nuggets, assignments, answers, or a bank of claims"
    raise InputError("is no line of TREC's", expected=expected)


_READERS = {
    "nuggets": _read_nuggets,
    "assignments": _read_assignments,
    "answers": _read_answers,
    "bank": _read_bank,
    "": _read_other,
}


def _put_units(files: TrecFiles, name: str, nuggets: Iterable[_Nugget]) -> None:
    units = tuple(Unit(one_line(n.text).strip(), importance=n.importance) for n in nuggets)
    if not units or not all(unit.text for unit in units):
        what = "has an empty nugget" if units else "has no nuggets"
        raise InputError(f"input '{name}' {what}")
    _put(files.units, name, InputUnits(name, units))


def _put(cells: dict[Any, Any], key: Any, value: Any) -> None:
    if cells.setdefault(key, value) != value:
        name = key if isinstance(key, str) else " of ".join(reversed(key))
        raise InputError(f"input {name} occurs twice with different contents")


def _by_system(cells: Mapping[Cell, Any]) -> dict[str, dict[str, Any]]:
    grouped: dict[str, dict[str, Any]] = {}
    for (system, name), value in cells.items():
        grouped.setdefault(system, {})[name] = value
    return grouped
