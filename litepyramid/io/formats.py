"""Files of other tools as rows under our columns: rubrics, logs, nuggets, published
data sets.

A file is recognised by the keys of its first object. What has no place in our rows is
counted.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from litepyramid.checked import as_type, number
from litepyramid.errors import InputError, located
from litepyramid.io.exports import name_of_question
from litepyramid.io.shapes import text_of
from litepyramid.text import cut, one_line

EVERY_INPUT = "*"
"""The id of units that are those of every input."""
ASSIGNMENTS = {
    "support": 1,
    "partial_support": 0.5,
    "not_support": 0,
}
"""What nuggetizer calls the labels 1, .5 and 0."""

Json = dict[str, Any]
Lines = Iterable[tuple[int, Json]]
Counts = Counter[str]
_GRADES = {
    "C": 1.0,
    "P": 0.5,
    "I": 0.0,
    "N": 0.0,
}  # inspect's letters
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
    "provider",
    "testIdx",
    "promptIdx",
    "id",
    "success",
    "failureReason",
    "promptId",
    "error",
)


class Format(NamedTuple):
    """A kind of file.

    Attributes:
        fits: Whether an object is its first one.
        read: Our rows of one object, or of all where it is read as a `whole`.
        runs: Whether it is a log of runs, whose systems may have the same name in
            another.
    """

    fits: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Any, Counts], Iterable[Any]]
    whole: bool = False
    runs: bool = False


def _has(*keys: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether an object has all of these keys."""
    return lambda row: row.keys() >= {*keys}


def format_of(first: Mapping[str, Any]) -> str | None:
    """The name of the kind of file whose first object this is; None if it is none of
    `FORMATS`."""
    # Our own files may carry any further column.
    if {"input", "unit", "units"} & first.keys():
        return None

    return next((name for name, form in FORMATS.items() if form.fits(first)), None)


def translate(
    name: str, lines: Lines, path: str | Path
) -> tuple[list[tuple[int, Json]], Counts]:
    """Our rows of the objects of a file, each with its line; and what was left out,
    counted."""
    form = FORMATS[name]
    counts: Counts = Counter()
    if form.whole:
        with located(path, 1):
            return list(form.read(lines, counts)), +counts

    rows = []
    for line, row in lines:
        with located(path, line):
            if format_of(row) != name:
                raise InputError(f"is no line of {name}", expected="lines of one kind")
            for ours in form.read(dict(row), counts):
                rows.append((line, ours))

    return rows, +counts


def _object(value: Any, what: str) -> Json:
    """A copy of an object, whose values are taken out as they are used."""
    if not isinstance(value, dict):
        raise InputError(f"{what} is {cut(json.dumps(value))}", expected="an object")
    return dict(value)


def _objects(value: Any, what: str) -> list[Json]:
    return as_type(list[Json], value, what=f"broken {what}")


def _taken(row: Json, *keys: str) -> list[Any]:
    return [row.pop(key, None) for key in keys]


def _left(row: Json, what: str, counts: Counts) -> None:
    """Counts the values of an object that were not taken."""
    for key, value in row.items():
        counts[f"{what} {key}"] += value not in (None, "", [], {})


def _texts(values: Iterable[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str) and value]


@dataclass(frozen=True)
class _Criterion:
    criterion: str
    points: float | None = None
    weight: float | None = None
    tags: tuple[str, ...] = ()
    axis: str | None = None


def _unit(text: str, weight: float | None, *tags: Any) -> Json:
    if not weight:
        raise InputError(
            f"the criterion '{cut(text)}' has the weight {weight}",
            expected="a number other than 0",
        )
    return {
        "text": text,
        "weight": weight,
        "tags": _texts(tags),
    }


def _rubrics(row: Json, counts: Counts) -> Iterator[Json]:
    """Criteria with points, or with a weight."""
    name = row.pop("prompt_id" if "prompt_id" in row else "sample_id")
    rubrics, prompt, shared, domain = _taken(
        row,
        "rubrics",
        "prompt",
        "example_tags",
        "domain",
    )
    criteria = as_type(list[_Criterion], rubrics, what="a broken rubric")
    tags = shared if isinstance(shared, list) and shared else [domain]
    units = []
    for c in criteria:
        weight = c.weight if c.points is None else c.points
        units.append(_unit(c.criterion, weight, *c.tags, c.axis, *tags))
    _left(row, "field", counts)
    yield {
        "input": name,
        "question": text_of(prompt),
        "units": units,
    }


def _prbench(row: Json, counts: Counts) -> Iterator[Json]:
    """A class of weight with its points, turns in numbered columns."""
    turns = sorted((int(m[2]), m[1], key) for key in row if (m := _TURN.fullmatch(key)))
    roles = {"prompt": "user", "response": "assistant"}
    asked = []
    for turn, who, key in turns:
        text = row.pop(key)
        # The last response is the answer that the rubric grades, and no question.
        if text and (who == "prompt" or turn < turns[-1][0]):
            asked.append({"role": roles[who], "content": text})

    name, field_, rubric = _taken(row, "task", "field", "rubric")
    units = []

    for one in _objects(rubric, "rubric"):
        about = _object(one.get("annotations"), "annotations")
        kind = as_type(
            str, about.pop("weight_class", None), what="a broken weight_class"
        )
        weight = number(about.get(f"{kind.replace(' ', '_')}_weight"))

        if weight is None or weight != weight:
            raise InputError(
                f"no weight of the class '{cut(kind)}'", expected="a number"
            )

        # Whatever the sign of its points, a detrimental criterion is a penalty.
        points = -abs(weight) if "detrimental" in kind else weight
        title = as_type(str, one.get("title"), what="a broken criterion")
        units.append(_unit(title, points, kind, field_))

        for key in list(about):
            if key.endswith("_weight"):
                del about[key]
        _left(about, "annotation", counts)

    _left(row, "field", counts)
    yield {
        "input": name,
        "question": text_of(asked),
        "units": units,
    }


def _autorubric(row: Json, counts: Counts) -> Iterator[Json]:
    """A requirement of the one rubric, which is that of every input."""
    text = as_type(str, row.pop("requirement"), what="a broken requirement")
    unit = _unit(text, number(row.pop("weight", 1.0)), row.pop("name", None))
    _left(row, "field", counts)
    yield {
        "input": EVERY_INPUT,
        "unit": unit.pop("text"),
        **unit,
    }


def _inspect(log: Json, counts: Counts) -> Iterator[Json]:
    """inspect: the answers of a model, targets as references, its scores."""
    about, samples, *_ = _taken(
        log,
        "eval",
        "samples",
        "version",
        "status",
    )
    about = _object(about, "eval")
    model = about.pop("model", None)
    _left(log, "log's", counts)
    # The settings are many and none of them has a place: one count for all.
    counts["settings of the run"] += len(about)

    for sample in _objects(samples, "samples"):
        own = dict(sample)
        output = _object(own.pop("output", None) or {}, "output")
        answer = output.get("completion")
        choices = output.get("choices") or []

        if answer is None and isinstance(choices, list) and choices:
            answer = text_of(_object(choices[0], "a choice").get("message")) or ""

        # An answer that failed is missing, not empty: `nulls` decides what it counts.
        failed = bool(own.pop("error", None))
        counts["samples with an error, whose answers are missing"] += failed
        epoch = own.pop("epoch", 1)
        target = own.pop("target", None)
        targets = target if isinstance(target, list) else [target]
        references = list(filter(None, targets))
        metadata = _object(own.pop("metadata", None) or {}, "metadata")
        units = metadata.pop("units", None)
        row = {
            "system": model if epoch == 1 else f"{model} (epoch {epoch})",
            "input": own.pop("id", None),
            "question": text_of(own.pop("input", None)),
            "summary": None if failed else answer,
            "scores": _inspect_scores(
                _object(own.pop("scores", None) or {}, "scores"), counts
            ),
        }

        row |= {"references": references} if references else {}
        row |= {"units": units} if units else {}
        _left(own, "samples'", counts)
        _left(metadata, "metadata's", counts)
        yield row


def _inspect_scores(scores: Json, counts: Counts) -> Json:
    """The numbers among scores: themselves, letters as inspect counts them, parts by
    name."""
    numbers: Json = {}
    for scorer, score in scores.items():
        more = dict(score) if isinstance(score, dict) else {"value": score}
        value = more.pop("value", None)
        _left(more, "scores'", counts)

        for name, one in value.items() if isinstance(value, dict) else [("", value)]:
            grade = _GRADES.get(one) if isinstance(one, str) else None
            if grade is None:
                grade = number(int(one) if isinstance(one, bool) else one)
            counts["scores that are no numbers"] += grade is None
            if grade is not None:
                numbers[f"{scorer}_{name}" if name else scorer] = grade

    return numbers


def _is_promptfoo(row: Mapping[str, Any]) -> bool:
    inner = row.get("results")
    return isinstance(inner, dict) and isinstance(inner.get("results"), list)


def _promptfoo(whole: Json, counts: Counts) -> Iterator[Json]:
    """promptfoo: a row a provider, prompt and test; criteria of its assertions."""
    inner, _ = _taken(whole, "results", "evalId")
    _left(whole, "file's", counts)
    # They are stored as they finish.
    results = sorted(_objects(inner["results"], "results"), key=_place)
    # A prompt's index counts providers too: each numbers its own.
    prompts: dict[str, dict[str, int]] = {}
    for result in results:
        numbers = prompts.setdefault(_provider(result), {})
        numbers.setdefault(_prompt(result), len(numbers) + 1)

    tests: dict[str, str] = {}
    named_tests: dict[str, tuple[str, str]] = {}
    questions: Counter[str] = Counter()
    times: Counter[tuple[str, str]] = Counter()

    for result in map(dict, results):
        system = _provider(result)
        numbers = prompts[system]
        if len(numbers) > 1:
            system += f", prompt {numbers[_prompt(result)]}"
        test_key = json.dumps(result.get("testIdx", result.get("vars")), sort_keys=True)
        own, variables, prompt, response = _taken(
            result,
            "testCase",
            "vars",
            "prompt",
            "response",
        )
        test = _object(own or {}, "testCase")
        variables = _object(variables or test.get("vars") or {}, "vars")
        output = response.get("output") if isinstance(response, dict) else response
        # A failed assertion is an error too: then the answer is there.
        failed = output is None or bool(result.get("error") and not output)
        counts["results with an error, whose answers are missing"] += failed
        units, references = _assertions(test.get("assert") or [], variables, counts)

        # A test that is repeated has an index of its own each time.
        content = json.dumps([variables, test.get("assert")], sort_keys=True)
        content = tests.setdefault(test_key, content)
        asked = _texts(_taken(variables, *_ASKED))
        references += _texts(_taken(variables, *_EXPECTED))
        if not asked and variables:
            asked = [json.dumps(variables, ensure_ascii=False, sort_keys=True)]
            variables = {}
        if content not in named_tests:
            # Two runs pair by what was asked; a prompt may be another one by then.
            question = asked[0] if asked else ""
            questions[question] += 1
            name = name_of_question(question, questions[question])
            raw = prompt.get("raw") if isinstance(prompt, dict) else prompt
            named_tests[content] = (name, (asked or _texts([raw]) or [""])[0])

        name, question = named_tests[content]
        times[system, name] += 1
        if (again := times[system, name]) > 1:
            # A test that is run again is another sample of the same model.
            system += f" ({again})"

        score, named = _taken(result, "score", "namedScores")
        scores = {"promptfoo": score, **_object(named or {}, "namedScores")}
        row = {
            "system": system,
            "input": name,
            "question": question,
            "summary": output
            if isinstance(output, str) or failed
            else json.dumps(output),
            "scores": {k: v for k, v in scores.items() if number(v) is not None},
        }

        row |= {"units": units} if units else {}
        row |= {"references": list(dict.fromkeys(references))} if references else {}
        _left(variables, "variables", counts)
        _taken(result, *_RESULT)
        _left(result, "results'", counts)
        yield row


def _place(result: Json) -> tuple[float, float]:
    """Where a result of promptfoo stands: its prompt, its test."""
    prompt, test = result.get("promptIdx"), result.get("testIdx")
    return number(prompt) or 0, number(test) or 0


def _provider(result: Json) -> str:
    provider = result.get("provider")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return str(provider or "")


def _prompt(result: Json) -> str:
    """What tells a provider's prompts apart: its text is another one in every test."""
    prompt = result.get("prompt")
    label = prompt.get("label") if isinstance(prompt, dict) else prompt
    return str(result.get("promptIdx", label))


def _assertions(
    listed: Any, variables: Json, counts: Counts
) -> tuple[list[Json], list[str]]:
    """The criteria among assertions as units, expected texts as references, the rest
    counted."""
    units = []
    references = []

    def filled(place: re.Match[str]) -> str:
        # A variable that holds no text leaves its place as it is.
        known = _texts([variables.get(place[1])])
        return known[0] if known else place[0]

    for one in _objects(listed, "assertions"):
        kind, value, weight = (one.get(key) for key in ("type", "value", "weight"))
        listed_texts = _texts(value if isinstance(value, list) else [value])
        texts = [_VARIABLE.sub(filled, text) for text in listed_texts if text.strip()]

        if kind == "assert-set":
            inner = _assertions(one.get("assert") or [], variables, counts)
            units += inner[0]
            references += inner[1]
        elif kind in _CRITERIA and texts:
            points = 1 if weight is None else weight
            units += [{"text": text, "weight": points} for text in texts]
        elif kind in _REFERENCES and texts:
            references += texts
        else:
            counts[f"assertions of the type {cut(str(kind))}"] += 1

    return units, references


def _nuggets(row: Json, counts: Counts) -> Iterator[Json]:
    """nuggetizer: nuggets of a query; with assignments also the answer of a run and its
    labels."""
    nuggets = _objects(row["nuggets"], "nuggets")
    units = []
    for one in nuggets:
        units.append({"text": one.get("text"), "importance": one.get("importance")})
    ours = {
        "input": row["qid"],
        "question": row.get("query"),
        "units": units,
    }

    if "run_id" in row or any("assignment" in one for one in nuggets):
        labels = []
        for one in nuggets:
            # A list, for what is assigned may be anything, and nothing to look up.
            if one.get("assignment") not in list(ASSIGNMENTS):
                raise InputError(
                    f"the nugget '{one.get('text')}' is assigned "
                    f"'{one.get('assignment')}'",
                    expected=", ".join(ASSIGNMENTS),
                    hint="Assign it again, or write not_support, as nuggetizer counts "
                    "it.",
                )
            label = ASSIGNMENTS[one["assignment"]]
            labels.append({"unit": one.get("text"), "label": label})
        ours |= {"system": row.get("run_id"), "labels": labels}
        if isinstance(row.get("answer_text"), str):
            ours["summary"] = one_line(row["answer_text"])

    yield ours


def _is_answer(row: Mapping[str, Any]) -> bool:
    return isinstance(row.get("answer"), list) and bool(
        {"topic_id", "metadata"} & row.keys()
    )


def _trec_answer(row: Json, counts: Counts) -> Iterator[Json]:
    """TREC RAG: sentences with citations; the ids are in ``metadata`` since 2026."""
    about = row.get("metadata")
    about = {**about, **row} if isinstance(about, dict) else row
    sentences = _objects(row["answer"], "answer")
    texts = as_type(
        list[str], [s.get("text") for s in sentences], what="a broken answer"
    )
    counts["citations"] += sum(bool(one.get("citations")) for one in sentences)
    counts["metadata"] += bool(row.keys() - {"topic_id", "run_id", "answer"})
    yield {
        "system": about.get("run_id"),
        "input": about.get("topic_id", about.get("narrative_id")),
        "summary": one_line(" ".join(texts)),
    }


@dataclass(frozen=True)
class _Document:
    """A document of RoSE (Liu et al. 2023), or of QAPyramid (Zhang et al. 2025)."""

    count_id: str | int | None = None
    example_id: str | int | None = None
    id: str | int | None = None
    reference: Any = None
    reference_acus: tuple[str, ...] = ()
    QAs: tuple[str, ...] = ()
    system_outputs: dict[str, str | None] = field(default_factory=dict)
    annotations: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    QA_labels: dict[str, list[Any] | None] = field(default_factory=dict)


def _labelled(lines: Lines, counts: Counts) -> Lines:
    """Units, summaries and labels of documents; incomplete documents are left out."""
    documents = []
    systems: dict[str, None] = {}  # in the order in which they come
    for line, row in lines:
        document = as_type(
            _Document,
            row,
            what="a broken record",
            line=line,
        )
        documents.append((line, document))
        for name, text in document.system_outputs.items():
            if text is not None:
                systems[name] = None

    if not systems:
        raise InputError(
            'no record has "system_outputs"', expected="summaries of some systems"
        )

    rows = []
    for line, one in documents:
        ids = [
            key
            for key in (one.count_id, one.example_id, one.id)
            if key not in (None, "")
        ]
        units = one.reference_acus or one.QAs
        texts = one.system_outputs
        labels = one.QA_labels
        if one.annotations:
            labels = {}
            for name, own in one.annotations.items():
                labels[name] = (own or {}).get("acu_labels")

        if not units or not all(
            labels.get(s) and texts.get(s) is not None for s in systems
        ):
            counts["inputs_without_units_summaries_or_labels"] += 1
            continue

        shared = {
            "input": str(ids[0] if ids else line),
            "units": [" ".join(text.split()) for text in units],
            "references": [one.reference] if isinstance(one.reference, str) else [],
        }
        for name in systems:
            summary = " ".join((texts[name] or "").split())
            rated = {
                "system": name,
                "summary": summary,
                "labels": labels[name],
            }
            rows.append((line, shared | rated))

    if not rows:
        raise InputError("no record has units, summaries and labels")
    # References are of every input or of none.
    if not all(row["references"] for _, row in rows):
        for _, row in rows:
            del row["references"]

    return rows


FORMATS: dict[str, Format] = {
    "HealthBench": Format(_has("prompt_id", "rubrics"), _rubrics),
    "ResearchRubrics": Format(_has("sample_id", "rubrics"), _rubrics),
    "PRBench": Format(_has("task", "rubric", "prompt_0"), _prbench),
    "an autorubric list": Format(_has("requirement"), _autorubric),
    "inspect's logs": Format(_has("eval", "samples"), _inspect, runs=True),
    "promptfoo's results": Format(_is_promptfoo, _promptfoo, runs=True),
    "nuggets": Format(_has("qid", "nuggets"), _nuggets),
    "answers of TREC": Format(_is_answer, _trec_answer),
    "RoSE": Format(_has("reference_acus", "system_outputs"), _labelled, whole=True),
    "QAPyramid": Format(_has("QAs", "system_outputs"), _labelled, whole=True),
}
"""Every kind of file of another tool that is recognised; the first that fits counts."""
