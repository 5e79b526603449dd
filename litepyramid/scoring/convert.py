"""From TREC's nuggets, answers, assignments and leaderboards to our files, and back."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, read_bytes, read_text, stem
from litepyramid.io.documents import cut_sentences
from litepyramid.io.inputs import Entry, aligned, read_entries
from litepyramid.io.labels import presence_label
from litepyramid.io.leaderboards import leaderboard_rows, write_leaderboard
from litepyramid.io.nuggets import ASSIGNMENTS, to_theirs
from litepyramid.io.rows import read_rows
from litepyramid.io.scores import read_scores, score_result, write_scores
from litepyramid.io.units import parse_units, read_units, units_to_json
from litepyramid.scoring.pyramid import UnitLayout, lite_pyramid_scores, nugget_scores
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import InputUnits, ScoreTable

Target = Literal[
    "units", "summaries", "labels", "scores", "nuggets", "answers", "assignments", "leaderboard"
]
TARGETS: tuple[Target, ...] = get_args(Target)
_LABELLED = {label: name for name, label in ASSIGNMENTS.items()}
_COUNTERPARTS: dict[str, Target] = {
    **{"nuggets": "units", "bank": "units", "answers": "summaries", "assignments": "labels"},
    **{"unit": "nuggets", "summary": "answers", "score": "leaderboard"},
}
Cell = tuple[str, str]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConvertResult(Result):
    """What was written, and what the output could not hold.

    Attributes:
        target: What was written.
        lines: How many lines; of scores, how many scores.
        left_out: What was left out, with its count.
    """

    target: Target
    lines: int
    left_out: Mapping[str, int]

    def to_tables(self) -> Sequence[Table]:
        """One row for each thing that was left out."""
        rows = tuple(self.left_out.items())
        columns = Column("left_out", "left out"), Column("count")
        title = f"Wrote {counted(self.lines, 'line')} of {self.target}"
        return [Table(title, columns, rows, () if rows else ("Nothing was left out.",))]


@dataclass(frozen=True, slots=True)
class _Sources:
    """What some files hold together; summaries and labels by system and input."""

    units: dict[str, InputUnits] = field(default_factory=dict)
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)  # of JSON, whole: may say more
    texts: dict[Cell, str] = field(default_factory=dict)
    labels: dict[Cell, tuple[float, ...]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


def convert(
    paths: Sequence[str | Path], output: str | Path, target: Target | None = None
) -> ConvertResult:
    """Converts TREC files to ours, or ours to TREC files; counts what the output cannot hold.

    Units and nuggets go either way with all that is said of them. Labels with their units give
    ``scores`` and ``leaderboard`` the four scores of nuggets (`nugget_scores`), if the units say
    what is vital, else the human score. A result of ``score`` gives its scores, or its presence as
    the nearest of the labels 0, .5 and 1.

    Args:
        paths: What to read; several are combined (nuggets, answers and labels, say).
        output: The file to write.
        target: What to write; None for the counterpart of what the first file is.

    Raises:
        InputError: A file is broken, two contradict each other, or they do not hold what `target`
            takes.
    """
    if target is None:
        target = _counterpart(Path(paths[0]))
    if target not in TARGETS:
        raise InputError(
            f"unknown kind of file '{target}'", expected=f"one of {', '.join(TARGETS)}"
        )
    if target in ("scores", "leaderboard"):
        table, left_out = _scores([Path(path) for path in paths])
        (write_scores if target == "scores" else write_leaderboard)(output, table)
        return ConvertResult(target, int((~np.isnan(table.values)).sum()), dict(+left_out))
    sources = _read(paths)
    lines = list(_lines(sources, target))
    if not lines:
        raise InputError(
            f"nothing to write {target} from",
            path=paths[0],
            expected="units for nuggets; summaries for answers; labels, their units and summaries "
            "for assignments",
        )
    ascii_only = all(read_bytes(path).isascii() for path in paths)
    with atomic_write(output) as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=ascii_only) + "\n")
    return ConvertResult(target, len(lines), dict(+sources.left_out))


def _counterpart(path: Path) -> Target:
    text = read_text(path)
    if leaderboard_rows(path, text) is not None:
        return "scores"
    if score_result(text):
        return "leaderboard"
    table = read_rows(path, text=text, left_out=Counter())
    held = (_COUNTERPARTS[what] for what in ("unit", "summary", "score") if table.holds(what))
    found = _COUNTERPARTS[table.theirs] if table.theirs else next(held, None)
    if found is None:
        raise InputError(
            "can be converted to several kinds of file", path=path, expected="a target (--to)"
        )
    return found


def _read(paths: Sequence[str | Path]) -> _Sources:
    sources = _Sources()
    entries: list[tuple[Path, Entry]] = []
    for path in map(Path, paths):
        if whole := score_result(read_text(path)):
            _read_result(whole, path, sources)
            continue
        table = read_rows(path, left_out=(lost := Counter[str]()))
        sources.left_out.update(lost)
        held = [what for what in ("unit", "summary", "label") if table.holds(what)]
        if not held:
            raise InputError(
                "holds no units, summaries or labels",
                path=path,
                expected="JSON Lines or a table of litepyramid's, or a TREC file",
            )
        if "unit" in held:
            for entry in read_units(path, left_out=Counter()):
                _put(sources.units, entry.input, entry, path)
            rows = (row.values for row in table.rows if "units" in row.values)
            sources.rows.update((str(row["input"]), row) for row in rows)
        if "summary" in held:
            for one in read_entries(path, "summary"):
                _put(sources.texts, (one.system or stem(path), one.input), one.values[0], path)
        if "label" in held:
            entries += [(path, one) for one in read_entries(path, "label")]
    for path, one in entries:
        if one.input not in sources.units:
            raise InputError(
                f"labels of input '{one.input}', which has no units", path=path, line=one.line
            )
        labels = aligned(one, "label", sources.units[one.input].texts, path)
        graded = tuple(presence_label(label, path, one.line) for label in labels)
        _put(sources.labels, (one.system or stem(path), one.input), graded, path)
    return sources


def _put(known: dict[Any, T], key: Any, value: T, path: Path) -> None:
    if known.setdefault(key, value) != value:
        said = key if isinstance(key, str) else " of ".join(reversed(key))
        raise InputError(f"input {said} occurs twice with different contents", path=path)


def _read_result(whole: Mapping[str, Any], path: Path, sources: _Sources) -> None:
    row = {"system": str, "input": str, "presence": [float]}
    shape = {"units": [{"input": str, "units": [object]}], "scores": [row]}
    check_shape(whole, shape, what="a broken result", path=path)
    for one in whole["units"]:
        _put(
            sources.units,
            one["input"],
            InputUnits(one["input"], parse_units(one["units"], path, 1)),
            path,
        )
    for one in whole["scores"]:
        grades = tuple(math.floor(2 * p + 0.5) / 2 for p in one["presence"])
        _put(sources.labels, (one["system"], one["input"]), grades, path)


def _lines(sources: _Sources, target: Target) -> Iterator[dict[str, Any]]:
    if target in ("units", "nuggets"):
        for entry in sources.units.values():
            row = sources.rows.get(entry.input, {"system": ""})
            own = units_to_json(entry) if "system" in row else row
            yield own if target == "units" else to_theirs(own)
            if target == "nuggets":
                for unit in entry.units:
                    sources.left_out["weights"] += unit.weight != 1
                    sources.left_out["kinds of units"] += unit.kind != "scu"
                    placed = unit.reference is not None or bool(unit.places)
                    sources.left_out["places in references"] += placed
    elif target == "summaries":
        for (system, name), text in sources.texts.items():
            yield {"system": system, "input": name, "summary": text}
    elif target == "answers":
        for (system, name), text in sources.texts.items():
            answer = [{"text": sentence, "citations": []} for sentence in _sentences(text)]
            yield {"topic_id": name, "run_id": system, "answer": answer}
    for (system, name), labels in sources.labels.items():
        if target == "labels":
            yield {"system": system, "input": name, "labels": labels}
        elif target == "assignments":
            text = sources.texts.get((system, name), "")
            query = sources.rows.get(name, {}).get("query", "")
            nuggets = [
                {"text": unit.text}
                | ({"importance": unit.importance} if unit.importance else {})
                | {"assignment": _LABELLED[label]}
                for unit, label in zip(sources.units[name].units, labels, strict=True)
            ]
            yield {"query": query, "qid": name, "run_id": system, "answer_text": text} | {
                "response_length": len(text.split()), "nuggets": nuggets
            }  # fmt: skip


def _sentences(text: str) -> list[str]:
    """Its sentences, if joined by spaces they are the text again; else the text."""
    sentences = cut_sentences(text)
    return sentences if " ".join(sentences) == text else [text]


def _scores(paths: Sequence[Path]) -> tuple[ScoreTable, Counter[str]]:
    """The scores that the files hold; else those of the labels that they hold."""
    texts = {path: read_text(path) for path in paths}
    if all(
        leaderboard_rows(path, text) is not None
        or score_result(text)
        or read_rows(path, text=text, left_out=Counter()).holds("score")
        for path, text in texts.items()
    ):
        return read_scores(list(paths)), Counter()
    sources = _read(paths)
    if not sources.labels:
        raise InputError(
            "no labels to score by", path=paths[0], expected="assignments, or labels and units"
        )
    systems, inputs = (list(dict.fromkeys(cell[i] for cell in sources.labels)) for i in (0, 1))
    found: dict[str, Any] = {}
    for (system, name), labels in sources.labels.items():
        layout = UnitLayout.of([sources.units[name]])
        scores = {"human": lite_pyramid_scores(labels, layout)}
        if layout.vital is not None:
            scores = nugget_scores(labels, layout)
        for metric, score in scores.items():
            own = found.setdefault(metric, np.full((len(systems), len(inputs)), np.nan))
            own[systems.index(system), inputs.index(name)] = score[0]
    table = ScoreTable(tuple(found), tuple(systems), tuple(inputs), np.stack(list(found.values())))
    return table, sources.left_out
