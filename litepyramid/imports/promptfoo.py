"""Results of promptfoo: ``-o results.json``, ``results.jsonl`` and ``results.csv``."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from litepyramid.data.files import Row
from litepyramid.imports.texts import (
    Cells,
    Counts,
    Made,
    as_json,
    object_in,
    objects_in,
)
from litepyramid.text import cut

_CRITERIA = ("llm-rubric", "g-eval", "model-graded-closedqa")
_REFERENCES = (
    *("factuality", "model-graded-factuality", "context-recall", "similar", "equals"),
    *("bleu", "gleu", "meteor", "rouge-n"),
)
_EXPECTED = (
    *("reference", "expected", "ground_truth", "expected_output", "expected_answer"),
    *("reference_answer", "ideal"),
)
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
COLUMN = re.compile(r"\[([^\]]+)\] ")
_VERDICT = re.compile(r"\[(PASS|FAIL|ERROR)\] \([^)]*\)\s*")
_REASON_BELOW = re.compile(r"\n\s*(?:Pass|Fail) Reason: .*", re.DOTALL)
_OF_CELL = ("Status", "Score", "Named Scores", "Grader Reason", "Comment")
_OF_RESULT = (
    *("testIdx", "id", "success", "failureReason", "promptId", "error", "testCase"),
    *("prompt", "score", "namedScores"),
)


def results_of(rows: Sequence[Row]) -> Made:
    """Every result with its provider's name, what its assertions and variables expect,
    and what they ask a model to judge as criteria."""
    made = []
    counts: Counts = Counter()
    for line, cells in rows:
        results = [cells]
        if isinstance(inner := cells.get("results"), dict):
            results = objects_in(inner, "results")
            counts["keys of the file beside its results"] += len(cells) - 1
        elif any(map(COLUMN.match, cells)):
            results, verdicts = _of_table(cells)
            counts["verdicts and their reasons"] += verdicts
        for result in results:
            columns, left_out = _result(result)
            counts.update(left_out)
            made.append(Row(line, columns))
    return Made(made, counts)


def _of_table(cells: Cells) -> tuple[list[Cells], int]:
    """A result for each prompt's column of a table, and how many of them hold a
    verdict beside the answer."""
    prompts = {name: at[1] for name in cells if (at := COLUMN.match(name))}
    variables = {}
    for name, value in cells.items():
        if name not in (*prompts, *_OF_CELL):
            variables[name] = value
    results = []
    verdicts = 0
    for name, provider in prompts.items():
        answer = _answer(cells[name])
        verdicts += answer != cells[name]
        about = {"provider": provider, "promptIdx": name, "vars": variables}
        results.append({**about, "response": {"output": answer}})
    return results, verdicts


def _answer(text: str | None) -> str | None:
    """The answer in a cell: ``[FAIL] (0.00) REASON``, a line of dashes and the answer;
    or the answer between its verdict and ``Fail Reason: …``."""
    verdict = _VERDICT.match(text or "")
    if text is None or verdict is None:
        return text
    if verdict[1] == "ERROR":
        return None
    below = _REASON_BELOW.sub("", text[verdict.end() :])
    reason, dashes, answer = below.partition("\n---\n")
    return answer.strip() if dashes else reason.strip()


def _result(result: Cells) -> tuple[Cells, Counts]:
    """A result under our columns, and what of it was left out."""
    provider = result.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    response = result.get("response")
    output = response.get("output") if isinstance(response, dict) else response
    # A failed assertion is an error too: then the answer is there.
    is_missing = output is None or bool(result.get("error") and not output)

    test = object_in(result, "testCase")
    variables = object_in(result, "vars") or object_in(test, "vars")
    asserted = objects_in(test, "assert")
    criteria, expected, left_out = _assertions(asserted, variables)
    left_out["results without an answer"] += is_missing
    expected += [variables[name] for name in _EXPECTED if variables.get(name)]
    rest = {name: one for name, one in result.items() if name not in _OF_RESULT}
    columns = rest | {
        "provider": provider,
        "test": as_json([variables, asserted]),
        "vars": {k: one for k, one in variables.items() if k not in _EXPECTED},
        "response": {"output": None if is_missing else output},
        "expected": [*dict.fromkeys(map(str, expected))],
        "criteria": criteria,
        "scores": {
            "promptfoo": result.get("score"),
            **object_in(result, "namedScores"),
        },
    }
    return columns, left_out


def _assertions(
    asserted: Sequence[Cells], variables: Cells
) -> tuple[list[Cells], list[Any], Counts]:
    """The criteria among assertions, their expected texts, and the rest counted."""
    counts: Counts = Counter()
    criteria = []
    expected: list[Any] = []
    texts = {name: one for name, one in variables.items() if isinstance(one, str)}
    left = [*asserted]
    for one in left:
        kind = one.get("type")
        value = one.get("value")
        filled = []
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and text.strip():
                # A variable that holds no text leaves its place as it is.
                filled.append(_VARIABLE.sub(lambda at: texts.get(at[1], at[0]), text))

        if kind == "assert-set":
            left += objects_in(one, "assert")
        elif kind in _REFERENCES and filled:
            expected += filled
        elif kind in _CRITERIA and filled:
            weight = 1 if one.get("weight") is None else one["weight"]
            for text in filled:
                criteria.append({"text": text, "weight": weight, "tags": [kind]})
        else:
            counts[f"assertions of the type {cut(str(kind))}"] += 1
    return criteria, expected, counts
