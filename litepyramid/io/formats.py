"""Files of other tools as rows under our columns: rubrics, logs, nuggets, published data sets.

A file is recognised by the keys of its first object. What has no place in our rows is counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from litepyramid.checked import as_type, number
from litepyramid.errors import InputError
from litepyramid.text import cut, one_line

EVERY_INPUT = "*"
"""The id of units that are those of every input."""
ASSIGNMENTS = {"support": 1, "partial_support": 0.5, "not_support": 0}
"""What nuggetizer calls the labels 1, .5 and 0."""

Json = dict[str, Any]
Lines = Iterable[tuple[int, Json]]
Counts = Counter[str]
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # inspect's letters
_TURN = re.compile(r"(prompt|response)_(\d{1,3})")
_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_CRITERIA = ("llm-rubric", "g-eval", "model-graded-closedqa")
_REFERENCES = (
    *("factuality", "model-graded-factuality", "context-recall", "similar", "equals"),
    *("bleu", "gleu", "meteor", "rouge-n"),
)
_ASKED = ("question", "query", "prompt", "input")
_EXPECTED = ("reference", "expected", "ground_truth")
_RESULT = (
    *("testIdx", "promptIdx", "testCase", "provider", "prompt", "vars", "response", "error"),
    *("score", "namedScores", "id", "success", "failureReason", "promptId"),
)


class Format(NamedTuple):
    """One kind of file.

    Attributes:
        name: What it is called in messages.
        fits: Whether an object is one of its lines.
        read: Our rows of its objects, each with its line; what is left out is counted.
    """

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Lines, Counts], Lines]


def format_of(first: Mapping[str, Any]) -> Format | None:
    """The kind of file whose first object this is; None if it is none of them."""
    if {"input", "unit", "units"} & first.keys():
        return None
    return next((one for one in FORMATS if one.fits(first)), None)


def translate(
    form: Format, lines: Lines, path: str | Path
) -> tuple[list[tuple[int, Json]], Counts]:
    """Our rows of the objects of a file, each with its line; and what was left out, counted."""
    counts: Counts = Counter()
    line = 1

    def noted() -> Iterator[tuple[int, Json]]:
        nonlocal line
        for place in lines:
            line = place[0]
            yield place

    try:
        rows = list(form.read(noted(), counts))
    except InputError as error:
        raise InputError(
            error.what, path=path, line=error.line or line, expected=error.expected, hint=error.hint
        ) from None
    return rows, +counts


def _each(read: Callable[[Json, Counts], Iterable[Json]]) -> Callable[[Lines, Counts], Lines]:
    """A reader of files each of whose lines stands for itself."""

    def of_file(lines: Lines, counts: Counts) -> Lines:
        form = None
        for line, row in lines:
            form = form or format_of(row)
            if format_of(row) is not form:
                what = f"is no line of {form and form.name}"
                raise InputError(what, expected="lines of one kind")
            for ours in read(row, counts):
                yield line, ours

    return of_file


def conversation(messages: Any) -> str:
    """The turns of a conversation as one text, each after its role; one turn alone as it is.

    Example:
        >>> conversation([{"role": "user", "content": "When?"}])
        'When?'
    """
    if isinstance(messages, str):
        return messages
    turns = as_type(list[dict[str, Any]], messages, what="a broken conversation")
    texts = [_content(turn.get("content")) for turn in turns]
    if len(texts) == 1:
        return texts[0]
    roles = [str(turn.get("role", "user")) for turn in turns]
    return "\n\n".join(f"{role}: {text}" for role, text in zip(roles, texts, strict=True))


def _content(content: Any) -> str:
    """The text of a message: a string, or a list of parts some of which are text."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(part for part in parts if isinstance(part, str))


def _object(value: Any, what: str) -> Json:
    if not isinstance(value, dict):
        raise InputError(f"{what} is {cut(json.dumps(value))}", expected="an object")
    return value


def _left(row: Json, used: Container[str], what: str, counts: Counts) -> None:
    """Counts the values of an object that are not used."""
    for key, value in row.items():
        if key not in used:
            counts[f"{what} {key}"] += value not in (None, "", [], {})


@dataclass(frozen=True, slots=True)
class _Criterion:
    criterion: str
    points: float | None = None
    weight: float | None = None
    tags: tuple[str, ...] = ()
    axis: str | None = None


def _unit(text: str, weight: float | None, tags: Iterable[str | None] = ()) -> Json:
    if not weight:
        what = f"the criterion '{cut(text)}' has the weight {weight}"
        raise InputError(what, expected="a number other than 0")
    unit: Json = {"text": text, "weight": weight}
    listed = [tag for tag in tags if tag]
    return unit | {"tags": listed} if listed else unit


def _rubrics(key: str, row: Json, counts: Counts) -> Iterator[Json]:
    """HealthBench and ResearchRubrics: criteria with points or a weight."""
    criteria: list[_Criterion] = as_type(list[_Criterion], row["rubrics"], what="a broken rubric")
    _left(row, (key, "prompt", "rubrics", "example_tags", "domain"), "field", counts)
    shared = row.get("example_tags") or [row.get("domain")]
    shared = [tag for tag in shared if isinstance(tag, str)] if isinstance(shared, list) else []
    units = [
        _unit(c.criterion, c.weight if c.points is None else c.points, (*c.tags, c.axis, *shared))
        for c in criteria
    ]
    yield {"input": row[key], "question": conversation(row.get("prompt", "")), "units": units}


def _prbench(row: Json, counts: Counts) -> Iterator[Json]:
    """PRBench: a class of weight with its points, turns in numbered columns."""
    turns: list[Json] = []
    last = max(int(match[2]) for key in row if (match := _TURN.fullmatch(key)))
    for n in range(last + 1):
        for role, key in (("user", f"prompt_{n}"), ("assistant", f"response_{n}")):
            if row.get(key) and (role == "user" or n < last):
                turns.append({"role": role, "content": row[key]})
    units = []
    for one in as_type(list[dict[str, Any]], row["rubric"], what="a broken rubric"):
        about = _object(one.get("annotations"), "annotations")
        kind = as_type(str, about.get("weight_class"), what="a broken weight_class")
        weight = number(about.get(f"{kind.replace(' ', '_')}_weight"))
        if weight is None or weight != weight:
            raise InputError(f"no weight of the class '{cut(kind)}'", expected="a number")
        weight = -abs(weight) if "detrimental" in kind else weight
        title = as_type(str, one.get("title"), what="a broken criterion")
        field_ = row.get("field")
        units.append(_unit(title, weight, [kind, field_ if isinstance(field_, str) else None]))
        others = {key: value for key, value in about.items() if not key.endswith("_weight")}
        _left(others, ("weight_class",), "annotation", counts)
    used = ("task", "field", "rubric")
    _left({k: v for k, v in row.items() if not _TURN.fullmatch(k)}, used, "field", counts)
    yield {"input": row["task"], "question": conversation(turns), "units": units}


def _autorubric(lines: Lines, counts: Counts) -> Lines:
    """autorubric: the requirements of one rubric, which is that of every input."""
    units = []
    for _, row in lines:
        text = as_type(str, row.get("requirement"), what="a broken requirement")
        weight = number(row.get("weight", 1.0))
        units.append(
            _unit(text, weight, [row.get("name")] if isinstance(row.get("name"), str) else ())
        )
        _left(row, ("requirement", "weight", "name"), "field", counts)
    yield 1, {"input": EVERY_INPUT, "units": units}


def _inspect(log: Json, counts: Counts) -> Iterator[Json]:
    """inspect's log: the answers of a model, targets as references, its scores."""
    about = _object(log["eval"], "eval")
    _left(log, ("eval", "samples", "version", "status"), "log's", counts)
    counts["settings of the run"] += len(about) - ("model" in about)
    for sample in as_type(list[dict[str, Any]], log["samples"], what="broken samples"):
        output = _object(sample.get("output") or {}, "output")
        answer = output.get("completion")
        choices = output.get("choices") or []
        if answer is None and isinstance(choices, list) and choices:
            message = _object(_object(choices[0], "a choice").get("message") or {}, "a message")
            answer = _content(message.get("content"))
        failed = bool(sample.get("error"))
        counts["samples with an error, whose answers are missing"] += failed
        epoch = sample.get("epoch", 1)
        row: Json = {
            "system": about.get("model") if epoch == 1 else f"{about.get('model')} (epoch {epoch})",
            "input": sample.get("id"),
            "question": conversation(sample.get("input") or ""),
            "summary": None if failed or answer is None else answer,
        }
        target = sample.get("target")
        references = [t for t in (target if isinstance(target, list) else [target]) if t]
        metadata = _object(sample.get("metadata") or {}, "metadata")
        row |= {"references": references} if references else {}
        row |= {"units": metadata["units"]} if metadata.get("units") else {}
        row["scores"] = _inspect_scores(_object(sample.get("scores") or {}, "scores"), counts)
        used = ("id", "epoch", "input", "target", "output", "error", "scores", "metadata")
        _left(sample, used, "samples'", counts)
        _left(metadata, ("units",), "metadata's", counts)
        yield row


def _inspect_scores(scores: Json, counts: Counts) -> Json:
    """The numbers among scores: themselves, letters as inspect counts them, parts by name."""
    numbers: Json = {}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value.items() if isinstance(value, dict) else [("", value)]
        if isinstance(score, dict):
            _left(score, ("value",), "scores'", counts)
        for name, one in parts:
            one = float(one) if isinstance(one, bool) else one
            grade = _GRADES.get(one) if isinstance(one, str) else None
            key = f"{scorer}_{name}" if name else scorer
            grade = number(one) if grade is None else grade
            if grade is None:
                counts["scores that are no numbers"] += 1
            else:
                numbers[key] = grade
    return numbers


def _promptfoo(whole: Json, counts: Counts) -> Iterator[Json]:
    """promptfoo's results: a row a provider, prompt and test; criteria of its assertions."""
    inner = whole["results"]
    listed = inner if isinstance(inner, list) else _object(inner, "results").get("results")
    results = as_type(list[dict[str, Any]], listed, what="broken results")
    _left(whole, ("evalId", "results"), "file's", counts)
    prompts = {json.dumps(r.get("promptIdx", r.get("prompt")), sort_keys=True) for r in results}
    numbers: dict[str, int] = {}
    tests: dict[str, int] = {}
    times: Counter[tuple[str, int]] = Counter()
    for result in results:
        test = _object(result.get("testCase") or {}, "testCase")
        variables = _object(result.get("vars") or test.get("vars") or {}, "vars")
        provider = result.get("provider")
        if isinstance(provider, dict):
            provider = provider.get("label") or provider.get("id")
        prompt = result.get("prompt")
        prompt = prompt if isinstance(prompt, dict) else {"raw": prompt}
        system = str(provider or "")
        if len(prompts) > 1:
            key = json.dumps(result.get("promptIdx", prompt), sort_keys=True)
            system += f", prompt {numbers.setdefault(key, len(numbers)) + 1}"
        index = result.get("testIdx", json.dumps(variables, sort_keys=True))
        name = tests.setdefault(json.dumps(index), len(tests)) + 1
        times[system, name] += 1
        if (again := times[system, name]) > 1:
            system += f" ({again})"
        response = result.get("response")
        response = response if isinstance(response, dict) else {"output": response}
        output = response.get("output")
        failed = output is None or bool(result.get("error") and not output)
        counts["results with an error, whose answers are missing"] += failed
        asked = next((variables[key] for key in _ASKED if isinstance(variables.get(key), str)), "")
        raw = prompt.get("raw")
        row: Json = {
            "system": system,
            "input": str(name),
            "question": asked or (raw if isinstance(raw, str) else ""),
            "summary": output if isinstance(output, str) or failed else json.dumps(output),
        }
        units, references = _assertions(test.get("assert") or [], variables, counts)
        references += [variables[key] for key in _EXPECTED if isinstance(variables.get(key), str)]
        row |= {"units": units} if units else {}
        row |= {"references": list(dict.fromkeys(references))} if references else {}
        named = _object(result.get("namedScores") or {}, "namedScores")
        scores = {"promptfoo": result.get("score"), **named}
        row["scores"] = {k: v for k, v in scores.items() if number(v) is not None}
        _left(variables, (*_ASKED, *_EXPECTED), "variables", counts)
        _left(result, _RESULT, "results'", counts)
        yield row


def _assertions(listed: Any, variables: Json, counts: Counts) -> tuple[list[Json], list[str]]:
    """The criteria among assertions as units, expected texts as references, the rest counted."""
    units: list[Json] = []
    references: list[str] = []
    for one in as_type(list[dict[str, Any]], listed, what="broken assertions"):
        kind, value = one.get("type"), one.get("value")
        if kind == "assert-set":
            inner = _assertions(one.get("assert") or [], variables, counts)
            units += inner[0]
            references += inner[1]
            continue
        values = value if isinstance(value, list) else [value]
        texts = [_filled(v, variables) for v in values if isinstance(v, str) and v.strip()]
        if kind in _CRITERIA and texts:
            weight = one.get("weight")
            units += [{"text": text, "weight": 1 if weight is None else weight} for text in texts]
        elif kind in _REFERENCES and texts:
            references += texts
        else:
            counts[f"assertions of the type {cut(str(kind))}"] += 1
    return units, references


def _filled(text: str, variables: Json) -> str:
    """A text with the values of its ``{{variables}}``."""

    def value(match: re.Match[str]) -> str:
        found = variables.get(match[1])
        return found if isinstance(found, str) else match[0]

    return _VARIABLE.sub(value, text)


def _nuggets(row: Json, counts: Counts) -> Iterator[Json]:
    """nuggetizer: nuggets of a query; with assignments also the answer of a run and its labels."""
    nuggets = as_type(list[dict[str, Any]], row["nuggets"], what="broken nuggets")
    units = [{"text": one.get("text"), "importance": one.get("importance")} for one in nuggets]
    ours: Json = {"input": row["qid"], "question": row.get("query"), "units": units}
    if "run_id" in row or any("assignment" in one for one in nuggets):
        for one in nuggets:
            if one.get("assignment") not in list(ASSIGNMENTS):
                what = f"the nugget '{one.get('text')}' is assigned '{one.get('assignment')}'"
                hint = "Assign it again, or write not_support, as nuggetizer counts it."
                raise InputError(what, expected=", ".join(ASSIGNMENTS), hint=hint)
        labels = [{"unit": n.get("text"), "label": ASSIGNMENTS[n["assignment"]]} for n in nuggets]
        ours |= {"system": row.get("run_id"), "labels": labels}
        if isinstance(row.get("answer_text"), str):
            ours["summary"] = one_line(row["answer_text"])
    yield ours


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str


def _trec_answer(row: Json, counts: Counts) -> Iterator[Json]:
    """TREC RAG: sentences with citations; the ids are in ``metadata`` since 2026."""
    about = row.get("metadata")
    about = {**about, **row} if isinstance(about, dict) else row
    sentences: list[_Sentence] = as_type(list[_Sentence], row["answer"], what="a broken answer")
    counts["citations"] += sum(bool(one.get("citations")) for one in row["answer"])
    counts["metadata"] += bool(row.keys() - {"topic_id", "run_id", "answer"})
    yield {
        "system": about.get("run_id"),
        "input": about.get("topic_id", about.get("narrative_id")),
        "summary": one_line(" ".join(sentence.text for sentence in sentences)),
    }


def _bank(row: Json, counts: Counts) -> Iterator[Json]:
    """NuggetBank: the claims of a bank in their order, nested ones after theirs."""
    units: list[Json] = []
    heap = [row.get("nugget_bank"), row.get("claim_bank")]
    while heap:
        one = heap.pop()
        if isinstance(one, dict) and ("claim" in one or "question" in one):
            counts["questions"] += "question" in one
            if "claim" in one:
                text = as_type(str, one["claim"], what="a broken claim")
                grade = one.get("importance")
                units.append(
                    {"text": text, "importance": grade if grade in ("vital", "okay") else None}
                )
                counts["references of claims"] += bool(one.get("references"))
            heap.append(one.get("sub_nuggets"))
        elif isinstance(one, dict | list):
            heap.extend(reversed(list(one.values() if isinstance(one, dict) else one)))
        elif one is not None:
            expected = '{"claim": "…"} or {"question": "…"}'
            raise InputError("a nugget of the bank is not an object", expected=expected)
    yield {"input": row["query_id"], "units": units}


@dataclass(frozen=True, slots=True)
class _Annotation:
    acu_labels: list[Any] | None = None


@dataclass(frozen=True, slots=True)
class _Document:
    """A document of RoSE (Liu et al. 2023), or of QAPyramid (Zhang et al. 2025)."""

    count_id: str | int | None = None
    example_id: str | int | None = None
    id: str | int | None = None
    reference: Any = None
    reference_acus: tuple[str, ...] = ()
    QAs: tuple[str, ...] = ()
    system_outputs: dict[str, str | None] = field(default_factory=dict)
    annotations: dict[str, _Annotation | None] = field(default_factory=dict)
    QA_labels: dict[str, list[Any] | None] = field(default_factory=dict)

    def labels(self) -> Mapping[str, list[Any] | None]:
        """The labels of each system."""
        acus = {name: own.acu_labels if own else None for name, own in self.annotations.items()}
        return acus or self.QA_labels


def _labelled(lines: Lines, counts: Counts) -> Lines:
    """RoSE and QAPyramid: units of a document, summaries and labels of systems.

    Documents without units, or without summary and labels of every system, are left out.
    """
    documents = [(n, as_type(_Document, row, what="a broken record")) for n, row in lines]
    outputs = [pair for _, document in documents for pair in document.system_outputs.items()]
    systems = list(dict.fromkeys(name for name, text in outputs if text is not None))
    if not systems:
        raise InputError('no record has "system_outputs"', expected="summaries of some systems")
    rows: list[tuple[int, Json]] = []
    for line, one in documents:
        ids = [key for key in (one.count_id, one.example_id, one.id) if key not in (None, "")]
        units, labels = one.reference_acus or one.QAs, one.labels()
        if not units or any(
            not labels.get(s) or one.system_outputs.get(s) is None for s in systems
        ):
            counts["inputs_without_units_summaries_or_labels"] += 1
            continue
        shared = {
            "input": str(ids[0] if ids else line),
            "units": [" ".join(text.split()) for text in units],
            "references": [one.reference] if isinstance(one.reference, str) else [],
        }
        for name in systems:
            summary = " ".join((one.system_outputs[name] or "").split())
            own = {"system": name, "summary": summary, "labels": labels[name]}
            rows.append((line, shared | own))
    if not rows:
        raise InputError("no record has units, summaries and labels")
    if not all(row["references"] for _, row in rows):
        rows = [(n, {k: v for k, v in row.items() if k != "references"}) for n, row in rows]
    yield from rows


def _has(*keys: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda row: row.keys() >= {*keys}


FORMATS = (
    Format("HealthBench", _has("prompt_id", "rubrics"), _each(partial(_rubrics, "prompt_id"))),
    Format("ResearchRubrics", _has("sample_id", "rubrics"), _each(partial(_rubrics, "sample_id"))),
    Format("PRBench", _has("task", "rubric", "prompt_0"), _each(_prbench)),
    Format("an autorubric list", _has("requirement"), _autorubric),
    Format("inspect's logs", _has("eval", "samples"), _each(_inspect)),
    Format(
        "promptfoo's results",
        lambda row: (
            (
                isinstance(inner := row.get("results"), dict)
                and isinstance(inner.get("results"), list)
            )
            or {"results", "evalId"} <= row.keys()
        ),
        _each(_promptfoo),
    ),
    Format("nuggets", _has("qid", "nuggets"), _each(_nuggets)),
    Format(
        "answers of TREC",
        lambda row: (
            isinstance(row.get("answer"), list) and bool({"topic_id", "metadata"} & row.keys())
        ),
        _each(_trec_answer),
    ),
    Format(
        "a bank of nuggets",
        lambda row: "query_id" in row and bool({"claim_bank", "nugget_bank"} & row.keys()),
        _each(_bank),
    ),
    Format("RoSE", _has("reference_acus", "system_outputs"), _labelled),
    Format("QAPyramid", _has("QAs", "system_outputs"), _labelled),
)
"""Every kind of file that is recognised."""
LOGS = ("inspect's logs", "promptfoo's results")
