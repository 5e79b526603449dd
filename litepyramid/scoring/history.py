"""Scores of a system's runs over time: a file that grows by a line a run, its table and figure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from litepyramid.checked import as_type
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, read_jsonl, read_text
from litepyramid.scoring.result import ScoreResult
from litepyramid.tables import Column, Result, Table, plain, record
from litepyramid.text import counted

_Points = tuple[float | None, float | None, float | None]


@dataclass(frozen=True, slots=True)
class RunScores:
    """One run: its date as ISO 8601 writes it, perhaps empty; score, low, high by system."""

    run: str
    date: str
    metric: str
    signature: dict[str, str]
    scores: dict[str, _Points]

    @classmethod
    def of(cls, name: str, result: ScoreResult, when: str) -> RunScores:
        """The scores of a result; `when` is its date."""
        ends = zip(result.scores.items(), result.intervals, strict=True)
        scores = {system: tuple(plain((score, *own))) for (system, score), own in ends}
        return cls(name, when, result.name, result.signature.to_json(), scores)


@dataclass(frozen=True, slots=True)
class History(Result):
    """The runs of a history file, in its order."""

    runs: tuple[RunScores, ...]

    def to_tables(self) -> Sequence[Table]:
        """One row per run and system."""
        rows = [
            (run.date, run.run, system, *points)
            for run in self.runs
            for system, points in run.scores.items()
        ]
        names = ("date", "run", "system", "score", "low", "high")
        title = f"{self.runs[0].metric} over {counted(len(self.runs), 'run')}"
        return [Table(title, tuple(map(Column, names)), tuple(rows), repeated=3)]

    @property
    def signature(self) -> str:
        """That of the last run."""
        return "|".join(f"{key}:{value}" for key, value in self.runs[-1].signature.items())

    def to_figure(self) -> Any:
        """Scores of every system over the runs, with their intervals."""
        from litepyramid.figures.score_plots import history_figure

        names = [f"{run.run} {run.date}".strip() for run in self.runs]
        systems = dict.fromkeys(name for run in self.runs for name in run.scores)
        points = {s: [run.scores.get(s, (None,) * 3) for run in self.runs] for s in systems}
        return history_figure(names, points, self.runs[0].metric)


def day(given: str | None, path: Path | None) -> str:
    """The date of a run: what the user says, else the file's, else none."""
    if given is None:
        return str(datetime.fromtimestamp(path.stat().st_mtime, UTC).date()) if path else ""
    try:
        datetime.fromisoformat(given)
    except (TypeError, ValueError):
        expected = f"one such as {date(2026, 1, 31)} or 2026-01-31T12:00"
        raise InputError(f"the date '{given}'", expected=expected) from None
    return given


def read_history(path: str | Path) -> History:
    """The history in a file."""
    what = "not a line of a history"
    rows = read_jsonl(path)
    return History(
        tuple(as_type(RunScores, row, what=what, path=path, line=line) for line, row in rows)
    )


def is_history(source: Any) -> bool:
    """Whether it is a history's file."""
    if not isinstance(source, str | Path) or Path(source).suffix != ".jsonl":
        return False
    return Path(source).is_file() and '"run"' in read_text(source)[:1000]


def append_history(path: str | Path, runs: Sequence[RunScores]) -> None:
    """Adds runs to a history, which is checked first; the baseline only to a new one.

    The one output that is not replaced. A run that it already holds is not repeated.
    """
    if undated := [run.run for run in runs if not run.date]:
        raise InputError(f"run '{undated[0]}' has no date", hint="Give one, as 2026-01-31.")
    text = read_text(path) if Path(path).exists() else ""
    lines = text.splitlines() if text.strip() else []
    if lines:
        before = read_history(path).runs
        runs = [run for run in runs[1:] if run not in before]
    lines += [json.dumps(record(run), ensure_ascii=False) for run in runs]
    with atomic_write(path) as file:
        file.writelines(f"{line}\n" for line in lines)
