"""What many tests write: tables of cases, rows as files, cheap scores, a
judge with logits, refusals."""

import json
from pathlib import Path

import numpy as np
import pytest

import litepyramid as lp
from litepyramid.errors import InputError
from litepyramid.judges.base import JudgedBatch
from litepyramid.judges.nli.modes import presence

DATA = Path(__file__).parent / "data"
SENTENCES: dict[str, list[str]] = json.loads((DATA / "languages.json").read_text())
"""By the code of a language, sentences in it."""


def refused(message=None, error=InputError):
    """Within this something is refused with one error, whose message has this in it."""
    return pytest.raises(error, match=message)


def same(ours, theirs, tolerance=1e-12):
    """Equal numbers, and NaN at the same places."""
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance, equal_nan=True)


def quick_score(*data, **options):
    """Scores by a judge that needs no model, or given presence, with few samples."""
    given = [options.get("presence"), *[getattr(one, "presence", None) for one in data]]
    judge = {"judge": "recall"} if all(one is None for one in given) else {}
    return lp.score(*data, **({**judge, "samples": 40} | options))


def cases(table):
    """The fields of each line, divided by ` | `; ⏎ stands for the end of a line."""
    rows = []
    for line in table.strip().splitlines():
        fields = line.replace("⏎", "\n").split(" | ")
        rows.append(tuple(field.strip(" ") for field in fields))
    return rows


def write_lines(path, rows):
    """Writes JSON Lines, and gives their path."""
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), "utf-8")
    return path


class WordJudge:
    """Logits by the share of a unit's words that the summary has; none if it is
    empty."""

    def judge(self, items):
        logits = []
        values = []
        for summary, units in items:
            words = {*summary.lower().split()}
            rows = np.full((len(units), 3), np.nan)
            for row, unit in zip(rows, units, strict=True):
                own = {*unit.lower().split()}
                share = len(own & words) / len(own)
                if words:
                    row[:] = [4 * share - 2, 1 - 2 * share, 0]
            logits.append(rows)
            values.append(np.nan_to_num(presence(rows, "p2c")))

        signature = {"judge": "words", "mode": "p2c"}
        return JudgedBatch(tuple(values), signature, {}, tuple(logits))
