"""The history of runs: a line of JSON for each, kept beside the code that changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Self, TypeGuard

from litepyramid.checked import as_type
from litepyramid.files import ending, file_type, read_jsonl, read_text
from litepyramid.scoring.result import ScoreResult
from litepyramid.tables import Result, Table, plain
from litepyramid.text import counted

_START = 1000  # characters of a file that show what it is


@dataclass(frozen=True)
class RunScores:
    """One run: its date as ISO 8601 writes it; score, low, high by system."""

    run: str
    date: str
    metric: str
    signature: dict[str, str]
    scores: dict[str, tuple[float | None, float | None, float | None]]

    @classmethod
    def of(cls, name: str, result: ScoreResult, date: str) -> Self:
        """The scores of a result."""
        ends = zip(result.scores.items(), result.intervals, strict=True)
        scores = {system: tuple(plain((score, *own))) for (system, score), own in ends}
        return cls(name, date, result.name, result.signature.to_json(), scores)


@dataclass(frozen=True)
class History(Result):
    """The runs of a history file, in its order."""

    runs: tuple[RunScores, ...]

    def to_tables(self) -> Sequence[Table]:
        """One row per run and system."""
        rows = []
        for run in self.runs:
            for system, points in run.scores.items():
                rows.append((run.date, run.run, system, *points))

        names = ("date", "run", "system", "score", "low", "high")
        title = f"{self.runs[0].metric} over {counted(len(self.runs), 'run')}"
        return [Table.of(title, names, rows, repeated=3)]

    @property
    def signature(self) -> str:
        """That of the last run."""
        fields = self.runs[-1].signature.items()
        return "|".join(f"{key}:{value}" for key, value in fields)

    def to_figure(self) -> Any:
        """Scores of every system over the runs, with their intervals."""
        from litepyramid.figures.score_plots import history_figure

        # Systems come and go: those of all runs are drawn.
        names = [f"{run.run} {run.date}".strip() for run in self.runs]
        systems = chain.from_iterable([run.scores for run in self.runs])
        # A system that a run lacks leaves a gap in its line.
        missing = (None, None, None)
        points = {}
        for system in systems:
            points[system] = [run.scores.get(system, missing) for run in self.runs]
        return history_figure(names, points, self.runs[0].metric)


def date_of(source: Any) -> str:
    """The date of a run: its file's, or today's for a result that is in no file."""
    # A result that was just made is in no file that could tell its day.
    if not isinstance(source, str | Path):
        return str(datetime.now(UTC).date())

    return str(datetime.fromtimestamp(Path(source).stat().st_mtime, UTC).date())


def read_history(path: str | Path) -> History:
    """The history in a file."""
    runs = []
    for line, row in read_jsonl(path):
        runs.append(
            as_type(
                RunScores,
                row,
                what="not a line of a history",
                path=path,
                line=line,
            )
        )

    return History(tuple(runs))


def is_history(source: Any) -> TypeGuard[str | Path]:
    """Whether it is a history's file."""
    if not isinstance(source, str | Path) or ending(source) != ".jsonl":
        return False

    # Another table may end in .jsonl too: a line of a history names its run.
    return file_type(source) == "file" and '"run"' in read_text(source)[:_START]
