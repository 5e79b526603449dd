"""Rows of tools under our columns, by the presets of ``presets.toml``."""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from litepyramid.checked import number
from litepyramid.data.files import Row
from litepyramid.data.roles import cell_of
from litepyramid.errors import InputError, choose, located
from litepyramid.files import stem
from litepyramid.imports.texts import (
    KEYS,
    TEXT_KEYS,
    Cells,
    Counts,
    answer_of,
    as_json,
    asked_before,
    listed,
    name_of_question,
    objects_in,
    text_of,
    texts_of,
)
from litepyramid.text import cut

Preset = Mapping[str, str]
_COLUMNS = (*KEYS, "input", "system", "more", "apart", "tag", "criteria")
_DEEPEST = 3  # objects in objects: a hostile file would nest them without end
_NOTHING: Sequence[Any] = (None, [], {})
_OF_UNIT = {
    **{name: name for name in ("text", "weight", "importance", "tags")},
    **{"criterion": "text", "requirement": "text", "points": "weight"},
    **{"axis": "tags", "name": "tags"},
}
"""What tools call the parts of a unit, and we."""
_INSIDE = {*_OF_UNIT, *TEXT_KEYS, "role", "type", "assignment"}
"""What is read, or says nothing, of the objects in a list."""
_LABELS = {"support": 1, "partial_support": 0.5, "not_support": 0}
"""What nuggetizer assigns."""
_NO_SCORES = re.compile(
    r"\b(id|ids|index|latency|costs?|tokens?|time|duration|count|number|length|ts|"
    r"events|chunks|top k|temperature|seed|"
    r"order|position|version|repetition|created|column \d+|unnamed)\b"
)
"""Words in the names of numbers that are no scores."""


@cache
def presets() -> Sequence[Preset]:
    """Every preset."""
    text = (files("litepyramid.imports") / "presets.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)["preset"])


def preset_of(rows: Sequence[Row]) -> Preset | None:
    """The preset that rows fit; None if they are of no tool that is known."""
    names = {name for row in rows for name in row.cells}
    # Of an object that a table has in several columns, the beginning tells.
    names |= {name.partition(".")[0] for name in names}
    for preset in presets():
        needs = {*preset["needs"].split()}
        some = {*preset.get("some", preset["needs"]).split()}
        if names >= needs and names & some:
            return preset
    return None


def read_export(
    preset: Preset, rows: Sequence[Row], own: Mapping[str, str], path: Path
) -> tuple[dict[str, str], list[Row], Counts]:
    """The columns of an export that were read, of which a user may name some (`own`);
    its rows under our columns; and what was not read, counted."""
    columns: dict[str, str] = {}
    for ours in _COLUMNS:
        candidates = preset.get(ours, "").split()
        for name in [own[ours]] if ours in own else candidates:
            base, star, _ = name.partition(".*")
            usual = [f"{base}.{key}" for key in KEYS[ours].split()] if star else [name]
            for one in usual:
                # What holds the question holds no reference; a conversation has both.
                taken = one in columns.values() and ours != "summary"
                if not taken and any(
                    cell_of(r.cells, one) not in _NOTHING for r in rows
                ):
                    columns.setdefault(ours, one)
    if "reference" in columns:
        columns.pop("criteria", None)
    if absent := own.keys() - columns.keys():
        there = dict.fromkeys([name for row in rows for name, _ in _leaves(row.cells)])
        raise InputError(
            f"no column '{own[min(absent)]}'",
            path=path,
            expected=f"one of {cut(', '.join(there), 400)}",
        )

    result = []
    counts: Counts = Counter()
    for line, cells in rows:
        with located(path, line):
            ours_ = _our_row(cells, columns)
            scores, unread = _scores(cells, preset, columns)
        counts.update(unread)
        result.append(Row(line, {"system": stem(path), **ours_, "scores": scores}))
    return columns, [*_named(result)], counts


def _our_row(cells: Cells, columns: Mapping[str, str]) -> Cells:
    """One row of ours, with the answers of all its repeats."""
    values = {ours: cell_of(cells, name) for ours, name in columns.items()}
    row: Cells = {}
    question = values.get("question")
    if columns.get("summary") == columns.get("question"):
        # A conversation holds both, if the assistant said something.
        question = asked_before(question)
        if question is not values.get("question"):
            row["answers"] = [answer_of(values["summary"])]
    elif "summary" in columns:
        row["answers"] = _answers(values["summary"])

    if text := text_of(question, "question"):
        row["question"] = text.strip()
    for ours in ("reference", "document"):
        if texts := texts_of(values.get(ours), ours):
            row[f"{ours}s"] = texts
    for ours in ("input", "system", "more", "apart"):
        if values.get(ours) not in (*_NOTHING, ""):
            row[ours] = str(values[ours])
    units = listed(values.get("unit", values.get("criteria")))
    return row | _units(units, listed(values.get("tag")))


def _answers(value: Any) -> list[str | None]:
    """The answer that a value holds; of a list of texts, each is one of its repeats."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or any(isinstance(one, dict) for one in value):
        return [answer_of(value, "summary")]
    if len(value) == 1:
        return _answers(value[0])
    if not all(isinstance(one, str) for one in value):
        raise InputError(f"the answer is {cut(as_json(value))}", expected="a text")
    return [*value] or [""]


def _units(told: Sequence[Any], tags: Sequence[Any]) -> Cells:
    """The units of a row, and the labels of those that are assigned one."""
    units = []
    labels = []
    for one in told:
        if not isinstance(one, str | dict):
            raise InputError(f"a unit is {cut(as_json(one))}", expected="a text")
        about = one if isinstance(one, dict) else {"text": one}
        unit: Cells = {}
        for name, ours in _OF_UNIT.items():
            # A criterion without its points must not count as one of weight 1.
            if about.get(name) is not None or (ours == "weight" and name in about):
                unit[ours] = about[name]
        if all_tags := [*listed(unit.get("tags")), *tags]:
            unit["tags"] = all_tags
        units.append(unit)
        if assigned := about.get("assignment"):
            choose("assignment", assigned, [*_LABELS])
            labels.append({"unit": unit.get("text"), "label": _LABELS[assigned]})
    return ({"units": units} if units else {}) | ({"labels": labels} if labels else {})


def _named(rows: Sequence[Row]) -> Iterator[Row]:
    """A row for each answer, with the names of its system and its input: an id, else
    the question, else a number."""
    variants: dict[str, set[str]] = defaultdict(set)
    right: dict[str, set[str]] = defaultdict(set)
    for _, cells in rows:
        variants[cells["system"]].add(cells.get("more", ""))
        right[cells.get("question", "")].add(_right(cells))

    numbers: Counter[str] = Counter()
    times: Counter[tuple[str, str]] = Counter()
    for line, cells in rows:
        ours = dict(cells)
        question = ours.get("question", "")
        if len(variants[ours["system"]]) > 1:
            ours["system"] += f" ({ours.get('more')})"
        if "input" not in ours and question:
            # A question with several right answers is several inputs.
            several = len(right[question]) > 1
            ours["input"] = name_of_question(
                question, _right(cells) if several else None
            )
        elif "input" not in ours:
            numbers[ours["system"]] += 1
            ours["input"] = str(numbers[ours["system"]])

        key = ours["system"], ours["input"]
        answers = ours.pop("answers", None)
        for answer in answers or ():
            times[key] += 1
            repeat = {"repeat": times[key]} if times[key] > 1 else {}
            yield Row(line, {**ours, **repeat, "summary": answer})
        if answers is None:
            yield Row(line, ours)


def _right(cells: Cells) -> str:
    return as_json([cells.get("references"), cells.get("apart")])


# Scores, and what is not read
# ------------------------------------------------------------------------------------


def _scores(
    cells: Cells, preset: Preset, columns: Mapping[str, str]
) -> tuple[dict[str, float], Counts]:
    """The scores of a row, and what is neither read nor a score, counted."""
    scores: Cells = {}
    counts: Counts = Counter()
    named = preset.get("scores", "").split()
    for name, value in _leaves(cells):
        start, _, rest = name.partition(".")
        words = name.replace("_", " ").lower()
        if start in named and isinstance(value, list):
            for result in objects_in(cells, name):
                keys = [key for key in ("name", "key", "metric") if result.get(key)]
                scores[str(result[keys[0]] if keys else name)] = result.get("score")
                counts[f"{name} beside its scores"] += max(len(result) - 2, 0)
        elif start in named:
            scores[rest or name] = value
        elif any(f"{name}.".startswith(f"{one}.") for one in columns.values()):
            for one in value if isinstance(value, list) else ():
                unread = {*one} - _INSIDE if isinstance(one, dict) else ()
                counts.update([f"{key} in {name}" for key in unread])
        elif (
            "*" in named and _score(value) is not None and not _NO_SCORES.search(words)
        ):
            scores[name] = value
        else:
            counts[name] += 1

    numbers = {}
    for name, value in scores.items():
        score = _score(value)
        # A tool writes NaN where a metric failed.
        if score is not None and score == score:
            numbers[name] = score
    return numbers, counts


def _leaves(
    cells: Mapping[str, Any], prefix: str = "", depth: int = 0
) -> Iterator[tuple[str, Any]]:
    """The values of a row and of the objects in it, by dotted names."""
    for name, value in cells.items():
        if isinstance(value, dict) and value and depth < _DEEPEST:
            yield from _leaves(value, f"{prefix}{name}.", depth + 1)
        elif value not in (*_NOTHING, ""):
            yield f"{prefix}{name}", value


def _score(value: Any) -> float | None:
    """A number, or a truth as one; None of all else."""
    return float(value) if isinstance(value, bool) else number(value)
