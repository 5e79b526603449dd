"""TREC leaderboards: text lines of run, measure, topic and score."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from litepyramid.checked import number
from litepyramid.errors import InputError
from litepyramid.files import atomic_write, split_lines, stem
from litepyramid.text import counted
from litepyramid.types import FloatArray, ScoreTable

_BOARD = ("run", "measure", "topic", "score")


def leaderboard_rows(path: Path, text: str) -> list[tuple[int, dict[str, str]]] | None:
    """The scores of a leaderboard, with their lines; None if the text is none.

    A line is ``run measure topic score`` or ``run topic measure score``: the topic is where ``all``
    stands, that of the means, which are left out; else where more names stand. trec_eval's
    ``measure topic score`` is of the run that its line ``runid`` names, else of the file's stem.

    Raises:
        InputError: A line has other columns than the first, or only means are there.
    """
    lines = [(n, line.split()) for n, line in enumerate(split_lines(text), 1) if line.strip()]
    width = len(lines[0][1]) if lines else 0
    some = [cells for _, cells in lines[:2]]
    if (
        width not in (3, 4)
        or text.lstrip()[:1] in "[{"
        or all(number(cells[-1]) is None for cells in some)
    ):
        return None
    run = [stem(path)]
    rows = []
    for line, cells in lines:
        if len(cells) != width:
            raise InputError(
                f"{counted(len(cells), 'column')} in a leaderboard",
                path=path,
                line=line,
                expected=f"{width}, as in the first line: {' '.join(_BOARD[4 - width :])}",
            )
        if width == 3 and cells[0] == "runid":
            run = cells[2:]
        else:
            rows.append((line, cells))
    one, two = ({cells[i] for _, cells in rows} for i in (-3, -2))
    topic = -3 if ("all" in one, len(one)) > ("all" in two, len(two)) else -2
    names = {-3: -2, -2: -3}
    found = [
        (line, {"system": (cells[:-3] or run)[0], "metric": cells[names[topic]],
                "input": cells[topic], "score": cells[-1]})
        for line, cells in rows
        if cells[topic] != "all"
    ]  # fmt: skip
    if not found:
        raise InputError("holds only means", path=path, expected="one line per topic as well")
    return found


def write_leaderboard(path: str | Path, table: ScoreTable) -> None:
    """Writes a table as lines ``run measure topic score``, the mean of each as topic ``all``.

    What is not scored is left out, of the mean too.

    Raises:
        InputError: A name holds white space, or an input is called ``all``.
    """
    for name in (*table.systems, *table.metrics, *table.inputs):
        if name.split() != [name] or name == "all":
            raise InputError(
                f"the name '{name}' in a leaderboard", expected="no white space, and not 'all'"
            )
    with atomic_write(path) as file:
        for s, m in np.ndindex(len(table.systems), len(table.metrics)):
            own = table.values[m, s]
            for topic, score in [*zip(table.inputs, own, strict=True), ("all", _mean(own))]:
                if not math.isnan(score):
                    file.write(f"{table.systems[s]} {table.metrics[m]} {topic} {float(score)!r}\n")


def _mean(scores: FloatArray) -> float:
    known = scores[~np.isnan(scores)]
    return float(known.mean()) if known.size else math.nan
