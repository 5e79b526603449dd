"""Exports of evaluation tools as rows under our columns: question, answer, contexts.

Each tool is a record of what it calls our columns. What has no place in our rows is
counted under its own name.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from litepyramid.checked import number
from litepyramid.errors import InputError
from litepyramid.io.shapes import TEXT_KEYS, answer_of, list_in, text_of
from litepyramid.text import cut, one_line

Json = dict[str, Any]

# Names that tools use, with spaces between them.
_OWN_IDS = "id sample_id question_id"
_OWN_SYSTEMS = "system model model_name run run_name version"
_FACTS = "expected_facts key_facts facts nuggets claims"
_QUESTION = "question query input prompt user_input messages text"
_ANSWER = (
    "answer response output result completion generation text messages content choices"
)
_REFERENCE = (
    "reference answer expected_output expected ground_truth ideal label output "
    "reference_answer expected_answer response messages"
)
_CONTEXTS = "contexts context retrieved_contexts retrieval_context documents"
_LISTS_OF_SCORES = (
    *("results", "metricsData", "metrics_data", "annotations", "evaluation_scores"),
    "feedback",
)
# Numbers are names without a question, * is every input, and a hash ends in a bracket.
_NAMES_ITSELF = re.compile(r"(?=.*[^\W\d]).*[^)]")
_NO_SCORES = re.compile(
    r"\b(id|ids|index|latency|costs?|tokens?|time|duration|count|number|length|ts|"
    r"events|chunks|top k|temperature|seed|"
    r"order|position|version|repetition|created|column \d+|unnamed)\b"
)
"""Words in the names of numbers that are no scores."""


@dataclass(frozen=True)
class Export:
    """What a tool calls our columns: names with spaces between them; one that ends in a
    dot is that of an object, which a cell may hold as JSON.

    Attributes:
        needs: Names that all objects have.
        some: Names of which they have at least one.
        scores: How the names of numbers begin that are scores; None if none is.
        wrapped: Under which name a file holds its list of rows.
    """

    name: str
    needs: str
    some: str
    question: str
    answer: str = ""
    reference: str = ""
    contexts: str = ""
    id: str = ""
    system: str = ""
    scores: str | None = None
    wrapped: str = ""

    def fits(self, keys: frozenset[str]) -> bool:
        """Whether an object with these names is a row of the tool."""
        needed = all(_has(keys, name) for name in self.needs.split())
        return needed and any(_has(keys, name) for name in self.some.split())

    @property
    def texts(self) -> set[str]:
        """The columns whose texts are taken as they are, even if they are JSON."""
        return {*f"{self.question} {self.answer} {self.reference}".split()}


def _has(keys: frozenset[str], name: str) -> bool:
    """Whether there is a name, or something under it."""
    prefix = name if name.endswith(".") else f"{name}."
    return name.removesuffix(".") in keys or any(key.startswith(prefix) for key in keys)


EXPORTS = (
    Export(
        "ragas",
        needs="user_input",
        some="response reference retrieved_contexts reference_contexts",
        question="user_input",
        answer="response",
        reference="reference",
        contexts="retrieved_contexts",
        id=_OWN_IDS,
        system=_OWN_SYSTEMS,
        scores="",
    ),
    Export(
        "ragas",
        needs="question",
        some="contexts ground_truth ground_truths",
        question="question",
        answer="answer",
        reference="ground_truth ground_truths reference",
        contexts="contexts",
        id=f"input {_OWN_IDS}",
        system=_OWN_SYSTEMS,
        scores="",
    ),
    Export(
        "DeepEval",
        needs="input",
        some=(
            "actual_output expected_output retrieval_context actualOutput "
            "expectedOutput retrievalContext"
        ),
        question="input",
        answer="actual_output actualOutput",
        reference="expected_output expectedOutput",
        contexts="retrieval_context retrievalContext",
        id=_OWN_IDS,
        system=_OWN_SYSTEMS,
        wrapped="testCases test_results goldens",
    ),
    Export(
        "TruLens",
        needs="record_id input output",
        some="app_id app_name record_json",
        question="input",
        answer="output",
        reference="ground_truth expected_response",
        contexts="contexts context",
        system="app_name app_id",
        scores="",
    ),
    Export(
        "TruLens",
        needs="query expected_response",
        some="query_id expected_chunks query",
        question="query",
        answer="response",
        reference="expected_response",
        contexts="expected_chunks",
        id="query_id",
    ),
    Export(
        "OpenAI's evals",
        needs="sample",
        some="datasource_item item",
        question="datasource_item.item. datasource_item. item. sample.input",
        answer="sample.output_text sample.output",
        reference="datasource_item.item. datasource_item. item.",
        contexts="datasource_item.item. datasource_item. item.",
        id="datasource_item_id",
        system="sample.model",
        wrapped="data",
    ),
    Export(
        "samples of OpenAI's evals",
        needs="input ideal",
        some="ideal",
        question="input",
        answer="completion sampled",
        reference="ideal",
    ),
    Export(
        "the log of OpenAI's evals",
        needs="sample_id sampled",
        some="prompt",
        question="prompt",
        answer="sampled",
        reference="ideal",
        id="sample_id",
        system="model",
        scores="",
    ),
    Export(
        "LangSmith",
        needs="inputs",
        some=(
            "reference_outputs expected_outputs actual_outputs reference run_type "
            "trace_id"
        ),
        question="inputs.",
        answer="actual_outputs. outputs.",
        reference="reference_outputs. expected_outputs. reference.",
        contexts="outputs. inputs.",
        id="example_id reference_example_id row_id",
        system="experiment_name experiment session_name",
        wrapped="results rows",
        scores="feedback.",
    ),
    Export(
        "examples of LangSmith",
        needs="inputs",
        some="outputs",
        question="inputs.",
        reference="outputs.",
        contexts="inputs. outputs.",
        id="id",
        wrapped="examples",
    ),
    Export(
        "Phoenix",
        needs="example_id input",
        some="output reference_output expected",
        question="input.",
        answer="output.",
        reference="reference_output. expected.",
        contexts="output. input.",
        id="example_id",
        system="experiment_name experiment_id",
        wrapped="data",
    ),
    Export(
        "Phoenix",
        needs="context.span_id",
        some="attributes.output.value attributes.retrieval.documents reference",
        question="attributes.input.value input",
        answer="attributes.output.value output",
        # A span's reference are the documents that were retrieved.
        contexts="attributes.retrieval.documents reference",
        system="attributes.llm.model_name",
    ),
)
"""Every tool whose exports are recognised by the names in them; the first that fits."""


def export_of(keys: frozenset[str]) -> Export | None:
    """The tool of whose rows these are the names; None if it is none."""
    return next((export for export in EXPORTS if export.fits(keys)), None)


def wrapped_rows(whole: Mapping[str, Any]) -> tuple[list[Json], Json] | None:
    """The rows that an export holds in one object, and what else stands there."""
    rest = dict(whole)
    # DeepEval's own copy of its latest run has one object more around it.
    if isinstance(run := rest.get("testRunData"), dict):
        del rest["testRunData"]
        rest |= run

    for export in EXPORTS:
        for name in export.wrapped.split():
            rows = rest.get(name)
            if not isinstance(rows, list) or not rows:
                continue
            if all(isinstance(row, dict) for row in rows) and export.fits(
                frozenset(rows[0])
            ):
                del rest[name]
                return rows, rest
    return None


def read_export(
    export: Export,
    lines: list[tuple[int, Json]],
    counts: Counter[str],
    system: str,
) -> tuple[list[tuple[int, Json]], bool]:
    """Our rows of those of a tool that are flat, each with its line; and whether they
    have ids.

    Inputs are named by their ids, where these are of examples; else by their questions,
    and numbered where they have none. Rows without a system are of `system`.
    """
    rows = []
    copies = set()
    # One row at a time, so that what is left of it is counted under its own names.
    for line, row in lines:
        content = json.dumps(row, sort_keys=True)
        ours = {"system": system, **_our_row(export, row, counts)}
        counts.update(f"values of {key}" for key in row)

        is_copy = content in copies and ("question" in ours or "id" in ours)
        counts["rows that say the same again"] += is_copy
        if not is_copy:
            copies.add(content)
            rows.append((line, ours))

    # Rows of references alone hold no answers; a row without one among others failed.
    answered = any("summary" in ours for _, ours in rows)
    have_ids = _name_examples([ours for _, ours in rows])
    # A question with several right answers, each in its row, is several inputs.
    right_answers = defaultdict(set)
    for _, ours in rows:
        right_answers[ours.get("question", "")].add(str(ours.get("references")))

    places = []
    for _, ours in rows:
        question = ours.get("question", "")
        several = len(right_answers[question]) > 1
        right = str(ours.get("references")) if several else None
        name = str(ours.pop("id", ""))
        own = (name, None) if have_ids else (question, right)
        places.append((ours["system"], *own))

    # A system gives samples if it answers every question again, and not one by chance.
    often = defaultdict(set)
    for (own_system, asked, _), count in Counter(places).items():
        often[own_system].add(count if asked else 0)

    times: Counter[tuple[str, str, str | None]] = Counter()
    for (_, ours), place in zip(rows, places, strict=True):
        own_system, asked, right = place
        times[place] += 1
        time = times[place]
        is_sample = have_ids or min(often[own_system]) > 1
        if is_sample and time > 1:
            ours["system"] = f"{own_system} ({time})"
            time = 1
        ours["input"] = asked if have_ids else name_of_question(asked, time, right)
        if answered:
            ours.setdefault("summary", None)

    return rows, have_ids


def _name_examples(rows: list[Json]) -> bool:
    """Whether all rows have ids, each of one question: those of data sets and runs tell
    nothing about which answers belong together."""
    asked = defaultdict(set)
    for place, ours in enumerate(rows):
        about = (ours.get("question", place), str(ours.get("references")))
        asked[ours["system"], ours.get("id", "")].add(about)
    return all(name != "" and len(of) == 1 for (_, name), of in asked.items())


def name_of_question(question: str, time: int, right: str | None = None) -> str:
    """The name of the input that asks a question for the nth time, of several with that
    right answer: in every file the same, and of no other question."""
    if not question:
        return str(time)
    start = cut(one_line(question))
    first = time == 1 and right is None
    if start == question and first and _NAMES_ITSELF.fullmatch(question):
        return question
    told = json.dumps([question, time, *filter(None, [right])])
    return f"{start} ({sha256(told.encode()).hexdigest()[:12]})"


def _our_row(export: Export, flat: Json, counts: Counter[str]) -> Json:
    """One row of ours; what is used is taken out of the tool's row."""
    ours: Json = {}
    # An empty answer is one, if there is no other; all else that is empty is missing.
    empty = {key: flat.pop(key) for key in [*flat] if flat[key] == ""}

    question = _taken(flat, f"=question {export.question}", _QUESTION)
    # Before the answer: both may stand in one object, under names of their own.
    reference = _taken(flat, f"=reference {export.reference}", _REFERENCE)
    if texts := _references(reference):
        ours["references"] = texts
    answer = _taken(flat, f"=summary {export.answer}", _ANSWER)

    contexts = _taken(flat, f"=document {export.contexts}", _CONTEXTS, named=True)
    if texts := _texts(contexts):
        ours["documents"] = texts
    for context in _listed(contexts):
        for key in context if isinstance(context, dict) else ():
            counts[f"values of contexts' {key}"] += key not in TEXT_KEYS

    names = f"=unit {_FACTS} metadata. {export.reference}"
    facts = _taken(flat, names, _FACTS, named=True)
    if texts := _texts(facts):
        ours["units"] = texts

    # After all that has a name of its own in them.
    question = _object_under(flat, export.question) if question is None else question
    if text := text_of(question):
        ours["question"] = text.strip()
    answer = _object_under(flat, export.answer) if answer is None else answer
    answer = _taken(empty, export.answer, _ANSWER) if answer is None else answer
    if answer is not None:
        ours["summary"] = answer if isinstance(answer, str) else answer_of(answer)

    system = _taken(flat, f"=system {export.system}")
    # Two versions of one app are two systems.
    version = flat.pop("app_version", None) if system is not None else None
    if system is not None:
        ours["system"] = f"{system} {version}" if version else str(system)

    name = _taken(flat, f"=input {export.id}")
    if name is not None:
        ours["id"] = str(name)

    if scores := _scores(export, flat, counts):
        ours["scores"] = scores
    return ours


_DEEPEST = 3  # objects in objects: a hostile file would nest them without end


def flat_row(
    row: Mapping[str, Any], texts: Collection[str], prefix: str = "", depth: int = 0
) -> Json:
    """The values of a row and of the objects in it, by dotted names; `texts` are taken
    as they are."""
    flat: Json = {}
    for key, value in row.items():
        name = f"{prefix}{key}"
        # A CSV holds objects as JSON in a cell; an answer may be JSON itself.
        if isinstance(value, str) and value[:1] == "{" and name not in texts:
            value = _object_in(value)
        if isinstance(value, dict) and depth < _DEEPEST and value:
            flat |= flat_row(value, texts, f"{name}.", depth + 1)
        elif value not in (None, [], {}):
            flat[name] = value
    return flat


def _object_in(cell: str) -> Any:
    """The object that a cell of CSV holds as JSON; else its text."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    return value if isinstance(value, dict) else cell


def _taken(
    flat: Json,
    names: str,
    preferred: str = "",
    *,
    named: bool = False,
) -> Any:
    """The first value of these names, taken out; of an object, of the preferred ones.

    The only value of an object is taken too, unless it must be `named`.
    """
    for name in names.split():
        start = name.removesuffix(".")
        is_object = start != name
        if start in flat and not (named and is_object):
            return flat.pop(start)
        if not preferred or (named and not is_object):
            continue

        prefix = f"{start}."
        under = [key for key in flat if key.startswith(prefix)]
        if not under:
            continue
        inner = " ".join([prefix + key for key in preferred.split()])
        value = _taken(flat, inner, preferred, named=named)
        if value is not None:
            return value
        if not named and len(under) == 1:
            return flat.pop(under[0])

    return None


def _object_under(flat: Json, names: str) -> str | None:
    """The first object of these names that is left, as JSON: in every file the same."""
    for name in names.split():
        start = f"{name.removesuffix('.')}."
        under = [key for key in flat if key.startswith(start)]
        if under:
            values = {key.removeprefix(start): flat.pop(key) for key in under}
            return json.dumps(values, ensure_ascii=False, sort_keys=True)
    return None


def _listed(value: Any) -> list[Any]:
    """A list, be it written in a cell; one thing alone as a list of it."""
    if value is None:
        return []
    if isinstance(value, str):
        value = list_in(value)
    return value if isinstance(value, list) else [value]


def _texts(value: Any) -> list[str]:
    """The texts of a list, or of one thing alone."""
    return list(filter(None, map(text_of, _listed(value))))


def _references(value: Any) -> list[str]:
    """The texts of references; of a conversation, its last answer."""
    listed = _listed(value)
    if any(isinstance(one, dict) and one.keys() & {"role", "type"} for one in listed):
        return _texts(answer_of(listed))
    return _texts(listed)


def _scores(export: Export, flat: Json, counts: Counter[str]) -> Json:
    """The numbers of a row that are scores, and those in its lists of results."""
    scores: Json = {}
    for key in list(flat):
        value = flat[key]
        if key in _LISTS_OF_SCORES and isinstance(value, list):
            for result in flat.pop(key):
                scores |= _one_score(result, key, counts)
        elif export.scores is not None and key.startswith(export.scores):
            score = _score(value)
            words = key.replace("_", " ").lower()
            if score is not None and not _NO_SCORES.search(words):
                del flat[key]
                scores[key.removeprefix(export.scores)] = score

    # A tool writes NaN where a metric failed.
    return {key: score for key, score in scores.items() if score == score}


def _score(value: Any) -> float | None:
    """A number, or a truth as one; None of all else."""
    return float(value) if isinstance(value, bool) else number(value)


def _one_score(result: Any, key: str, counts: Counter[str]) -> Json:
    """The score of one grader; what else it says is counted."""
    if not isinstance(result, dict):
        raise InputError(
            f"one of {key} is {cut(json.dumps(result))}", expected="an object"
        )

    left = dict(result)
    # Tools call the grader by one of these names.
    name = next((left.pop(k) for k in ("name", "key", "metric") if left.get(k)), key)
    score = _score(left.get("score"))
    if score is not None:
        del left["score"]
    for what, value in left.items():
        counts[f"values of {key}.{what}"] += value not in (None, "", [], {})
    return {} if score is None else {str(name): score}


_READ_OF_EVENTS = frozenset(
    ("prompt", "sampled", "expected", "ideal", "correct", "score")
)


def event_rows(
    lines: list[tuple[int, Json]], counts: Counter[str]
) -> list[tuple[int, Json]]:
    """A row a sample of the log of OpenAI's evals, which has a line an event."""
    model = ""
    samples: dict[str, tuple[int, Json]] = {}
    for line, event in lines:
        data = event.get("data")
        spec = event.get("spec")
        if isinstance(spec, dict):
            functions = spec.get("completion_fns") or [spec.get("model_name")]
            listed = functions if isinstance(functions, list) else [functions]
            model = str(listed[0]) if listed else ""
            for key in spec:
                counts[f"values of spec.{key}"] += key != "completion_fns"
        elif not isinstance(data, dict) or "sample_id" not in event:
            kind = str(event.get("type") or next(iter(event), "nothing"))
            counts[f"lines of the type {cut(kind)}"] += 1
        else:
            for name in event:
                used = ("sample_id", "type", "data")
                counts[f"values of {name}"] += name not in used
            for name in data:
                counts[f"values of data.{name}"] += name not in _READ_OF_EVENTS

            key = str(event["sample_id"])
            _, row = samples.setdefault(key, (line, {"sample_id": key}))
            if event.get("type") != "sampling":
                ideal = data.get("expected", data.get("ideal"))
                row["ideal"] = row.get("ideal") or ideal
                row[str(event.get("type"))] = data.get("correct", data.get("score"))
            # What is sampled later is a grader's.
            elif "sampled" in row:
                counts["sampling events after the first of a sample"] += 1
            else:
                sampled = data.get("sampled")
                texts = sampled if isinstance(sampled, list) else [sampled]
                row["prompt"] = data.get("prompt")
                row["sampled"] = texts[0] if texts else None
                counts["answers after the first of a sample"] += len(texts[1:])
            row["model"] = model

    return list(samples.values())
