"""Nuggets and answers of TREC RAG, nuggetizer and NuggetBank, as rows with our own columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.text import counted

IMPORTANCE = ("vital", "okay", "failed")
ASSIGNMENTS = {"support": 1, "partial_support": 0.5, "not_support": 0}
"""What nuggetizer calls the labels 1, .5 and 0."""

_ID = (str, int)
_SHAPES: dict[str, Any] = {
    "nuggets": {"qid": _ID, "nuggets": [{"text": str, "importance?": set(IMPORTANCE)}]},
    "assignments": {
        **{"qid": _ID, "run_id": _ID, "answer_text?": str},
        "nuggets": [{"text": str, "importance?": set(IMPORTANCE), "assignment": str}],
    },
    "answers": {"answer": [{"text": str}]},
    "bank": {
        "query_id": _ID,
        **{f"{kind}_bank?": ({str: object}, [object]) for kind in ("claim", "nugget")},
    },
}
_OURS = {"qid": "input", "nuggets": "units"}
_THEIRS = {"input": "qid", "units": "nuggets"}


def form_of(row: Mapping[str, Any]) -> str | None:
    """Which TREC file a JSON object is a line of; None if not of any.

    Example:
        >>> form_of({"qid": "q1", "nuggets": []}), form_of({"input": "q1", "units": []})
        ('nuggets', None)
    """
    if "qid" in row and isinstance(row.get("nuggets"), list):
        some = (one for one in row["nuggets"] if isinstance(one, dict))
        assigned = "run_id" in row or any("assignment" in one for one in some)
        return "assignments" if assigned else "nuggets"
    if isinstance(row.get("answer"), list) and ("topic_id" in row or "metadata" in row):
        return "answers"
    return "bank" if "query_id" in row and {"claim_bank", "nugget_bank"} & row.keys() else None


def to_ours(
    row: dict[str, Any], path: Path, line: int, left_out: Counter[str] | None = None
) -> dict[str, Any]:
    """A line of TREC's with the columns that all readers know; any other line as it is.

    - nuggets: ``qid`` is the input, ``nuggets`` are its units; all else that is said of a nugget
      stays with its unit;
    - assignments: also ``run_id`` the system, ``answer_text`` its summary, and a label a unit
      (`ASSIGNMENTS`);
    - answers: ``topic_id`` and ``run_id``, in 2026 those of ``metadata``; the summary is the
      sentences joined by a space;
    - a bank of claims (NuggetBank): its claims, those nested in others too, are the units.

    Args:
        row: The JSON object.
        path: Its file.
        line: Its line.
        left_out: Counts what has no place in ours; without it, the questions of a bank are an
            error, since units that are missing would change every score.

    Raises:
        InputError: The line is not as its form wants it, with file and line.
    """
    form, lost = form_of(row), Counter[str]() if left_out is None else left_out
    if form is None:
        return row
    check_shape(row, _SHAPES[form], what=f"a broken line of {form}", path=path, line=line)
    if form == "nuggets":
        return {_OURS.get(key, key): value for key, value in row.items()}
    if form == "assignments":
        return _assigned(row, path, line, lost)
    if form == "answers":
        about = row.get("metadata")
        about = {**about, **row} if isinstance(about, dict) else row
        names = {
            "input": about.get("topic_id", about.get("narrative_id")),
            "system": about.get("run_id"),
        }
        lost["citations"] += sum(bool(one.get("citations")) for one in row["answer"])
        lost["metadata"] += bool(row.keys() - {"topic_id", "run_id", "answer"})
        summary = " ".join(one["text"] for one in row["answer"])
        return {key: name for key, name in names.items() if name is not None} | {"summary": summary}
    claims, questions = _claims(row, path, line)
    if questions and left_out is None:
        raise InputError(
            f"the bank of query '{row['query_id']}' holds {counted(questions, 'question')}",
            path=path,
            line=line,
            expected="only claims; a question is not a unit",
            hint="'litepyramid convert' leaves them out and counts them.",
        )
    lost["questions"] += questions
    lost["references of claims"] += sum(bool(one.get("references")) for one in claims)
    units = [{"text": one["claim"], **_importance(one)} for one in claims]
    return {"input": row["query_id"], "units": units}


def to_theirs(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of units as a line of nuggets: the other way from `to_ours`, key by key.

    What a nugget cannot say (a unit's kind, its weight, places in references) is left out.
    """
    said = {"weight", "kind", "reference", "sentence", "places"}
    units = [{"text": one} if isinstance(one, str) else one for one in row["units"]]
    nuggets = [{key: value for key, value in one.items() if key not in said} for one in units]
    return {
        _THEIRS.get(key, key): nuggets if key == "units" else value for key, value in row.items()
    }


def _assigned(row: dict[str, Any], path: Path, line: int, lost: Counter[str]) -> dict[str, Any]:
    labels = []
    for one in row["nuggets"]:
        if one["assignment"] not in ASSIGNMENTS:
            raise InputError(
                f"the nugget '{one['text']}' is assigned '{one['assignment']}'",
                path=path,
                line=line,
                expected=", ".join(ASSIGNMENTS),
                hint="Assign it again, or write not_support, as nuggetizer counts it.",
            )
        labels.append({"unit": one["text"], "label": ASSIGNMENTS[one["assignment"]]})
        lost["reasons of assignments"] += bool(one.keys() - {"text", "importance", "assignment"})
    return {
        **{"input": row["qid"], "system": row["run_id"]},
        **({"summary": row["answer_text"]} if "answer_text" in row else {}),
        "units": [{"text": one["text"], **_importance(one)} for one in row["nuggets"]],
        "labels": labels,
        **({"query": row["query"]} if "query" in row else {}),
    }


def _importance(one: Mapping[str, Any]) -> dict[str, str]:
    found = one.get("importance")
    return {"importance": found} if found in IMPORTANCE else {}


def _claims(row: dict[str, Any], path: Path, line: int) -> tuple[list[dict[str, Any]], int]:
    """The claims of a bank in their order, nested ones after theirs; how many questions."""
    claims, questions = [], 0
    heap = [row.get("nugget_bank"), row.get("claim_bank")]
    while heap:
        one = heap.pop()
        if isinstance(one, dict) and ("claim" in one or "question" in one):
            questions += "question" in one
            if "claim" in one:
                check_shape(one, {"claim": str}, what="a broken claim", path=path, line=line)
                claims.append(one)
            heap.append(one.get("sub_nuggets"))
        elif isinstance(one, dict | list):
            heap.extend(reversed(list(one.values() if isinstance(one, dict) else one)))
        elif one is not None:
            raise InputError(
                "a nugget of the bank is not an object", path=path, line=line,
                expected='{"claim": "…"} or {"question": "…"}',
            )  # fmt: skip
    return claims, questions
