"""A language model behind an endpoint as judge: a pair is paid for once; no answer is
never 0.

Prompts are plain files; of an answer nothing is trusted but one grade for each unit.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import astuple, dataclass, replace
from functools import partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np

from litepyramid.checked import number
from litepyramid.errors import InputError, LitepyramidError, ModelError
from litepyramid.files import read_text, split_lines
from litepyramid.identity import fingerprint
from litepyramid.judges.base import (
    Closing,
    EstimateOnly,
    Items,
    JudgedBatch,
    Questions,
    note_cached,
    pair_key,
)
from litepyramid.judges.cache import JudgementCache, Stored
from litepyramid.judges.llm.endpoint import (
    Endpoint,
    UnansweredError,
    safe_name,
    without_keys,
)
from litepyramid.language import name_of
from litepyramid.progress import bar
from litepyramid.stats import check_whole
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted, cut, fill, one_line

_ROOM = files("litepyramid.judges.llm")
_LONGEST = 200_000
_QUOTED = 200  # characters of an answer in an error
_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_Asked = Sequence[tuple[str, Sequence[str], str]]
"""Summaries, each with units, and with the question that it answers, or an empty
text."""


@dataclass(frozen=True)
class Prompt:
    """A request to judge, with places for the texts, and the presence of the words of
    answers.

    The text has ``{summary}`` and ``{units}`` (both as JSON; ``{count}`` is the number
    of units), or ``{unit}`` where one request holds one unit (both as plain lines). A
    paragraph with
    ``{question}`` is left out for summaries that answer none.
    """

    name: str
    text: str
    grades: Mapping[str, float]

    @property
    def single(self) -> bool:
        """Whether a request holds one unit, answered by a word in place of JSON."""
        return "{unit}" in self.text

    @property
    def uses_questions(self) -> bool:
        """Whether requests hold the question that a summary answers."""
        return "{question}" in self.text

    @property
    def sha(self) -> str:
        """Eight hex digits that name the text and the grades."""
        told = json.dumps([self.text, dict(self.grades)])
        return sha256(told.encode()).hexdigest()[:8]

    def in_language(self, language: str) -> Self:
        """The prompt for texts in a language, told in a line of its own; unchanged for
        English."""
        line = f"Summary and facts are in {name_of(language)}."
        return replace(self, text=with_line(self.text, line, language))

    def request(self, summary: str, units: Sequence[str], question: str = "") -> str:
        """The text to send for some units of a summary, each fenced as JSON, or as a
        line."""
        parts = self.text.split("\n\n")
        fence = one_line if self.single else fenced
        return fill(
            "\n\n".join(part for part in parts if question or "{question}" not in part),
            question=fence(question),
            summary=fence(summary),
            units=fenced({str(n): unit for n, unit in enumerate(units, 1)}),
            unit=units[0],
            count=len(units),
        )

    def schema(self, count: int) -> dict[str, Any] | None:
        """JSON schema of an answer: each number from 1 to `count` once, with a
        grade."""
        if self.single:
            return None
        grade = {"type": "string", "enum": list(self.grades)}
        return object_schema({str(n): grade for n in range(1, count + 1)})

    def read(self, answer: str, count: int) -> list[float] | None:
        """Presence of each unit, or None unless the answer grades exactly `count`
        units."""
        if self.single:
            words = set(re.findall(rf"\b({'|'.join(self.grades)})\b", answer.lower()))
            return [self.grades[words.pop()]] if len(words) == 1 else None

        value = json_value(answer)
        keys = [str(n) for n in range(1, count + 1)]
        if not isinstance(value, dict) or set(value) != set(keys):
            return None
        given = [str(value[key]).strip().lower() for key in keys]
        return (
            [self.grades[w] for w in given] if set(given) <= set(self.grades) else None
        )


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def with_line(prompt: str, line: str, language: str) -> str:
    """A prompt with a line on the language of its texts; unchanged where that tells
    nothing."""
    if language in {"", "en", "any", "und"}:
        return prompt
    head, gap, rest = prompt.partition("\n\n")
    return f"{head}\n\n{line}{gap}{rest}"


def fenced(value: Any) -> str:
    r"""A value as JSON that ends no tag: no text can step out of its quotes.

    Example:
        >>> fenced("It rained.</summary>\n2. x")
        '"It rained.\\u003c/summary\\u003e\\n2. x"'
    """
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def json_value(text: str) -> Any:
    """The one JSON object or list in an answer; None for none, several, or a broken
    one."""
    start = re.search(r"[{\[]", text)
    if start is None:
        return None
    try:
        value, end = json.JSONDecoder(object_pairs_hook=_once).raw_decode(
            text, start.start()
        )
    except (ValueError, RecursionError):
        return None
    return None if re.search(r"[{\[]", text[end:]) else value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key twice")
    return table


def load_prompt(name: str | Path) -> Prompt:
    """An embedded prompt (yes-no, three, met, minicheck), or the user's own file."""
    text, path = read_prompt(name)
    head, _, text = text.partition("\n")
    words = re.findall(r"(\w+)=(\S+)", head if head.startswith("grades:") else "")
    grades = {word.lower(): number(value) for word, value in words}
    values = [
        value for value in grades.values() if value is not None and 0 <= value <= 1
    ]

    if len(values) < max(2, len(grades)):
        raise InputError(
            "a prompt without grades",
            path=path,
            line=1,
            expected="grades: yes=1 no=0",
        )

    if "{summary}" not in text or ("{unit}" in text) == ("{units}" in text):
        raise InputError(
            "a prompt without placeholders",
            path=path,
            expected="{summary}, and {units} or {unit}",
        )

    for part in text.split("\n\n"):
        if "{question}" in part and re.search("{(summary|units?)}", part):
            raise InputError(
                "a paragraph with {question}, left out without one, and other texts",
                path=path,
                expected="a blank line between them",
            )

    return Prompt(
        Path(name).stem, text.strip() + "\n", dict(zip(grades, values, strict=True))
    )


def read_prompt(name: str | Path) -> tuple[str, Path | None]:
    """The text of a shipped prompt, or of a file, and that file."""
    shipped = {}
    for file in _ROOM.iterdir():
        if file.name.endswith(".txt"):
            shipped[file.name[:-4]] = file
    if str(name) in shipped:
        return shipped[str(name)].read_text("utf-8"), None
    if not Path(name).exists():
        names = ", ".join(sorted(shipped))
        raise InputError(f"unknown prompt '{name}'", expected=f"{names}, or a file")

    # Blank lines divide a prompt, whatever an editor leaves in them.
    lines = map(str.rstrip, split_lines(read_text(name)))
    return "\n".join(lines), Path(name)


@dataclass(frozen=True)
class Estimate(Result):
    """What would be sent to an endpoint for pairs, or references, that are not in the
    cache.

    Each answer at once; what the model thinks before it writes is not counted.
    """

    model: str
    pairs: int
    from_cache: int
    requests: int
    tokens_in: int
    tokens_out: int

    def __add__(self, other: Self) -> Self:
        """What is sent for both: to several models, or to one several times."""
        models = dict.fromkeys([*self.model.split("+"), other.model])
        pairs = zip(astuple(self)[1:], astuple(other)[1:], strict=True)
        return type(self)("+".join(models), *map(sum, pairs))

    def to_tables(self) -> Sequence[Table]:
        """One row."""
        columns = (
            "pairs",
            Column("from_cache", "in the cache"),
            "requests",
            Column("tokens_in", "tokens in"),
            Column("tokens_out", "tokens out"),
        )
        note = "Tokens are estimated, one per four bytes."
        return [Table.of(f"Requests to {self.model}", columns, [self], [note])]


@dataclass(frozen=True)
class Job:
    """One request, about what the cache knows by these keys.

    `schema` is that of a JSON answer, `read` gives one value a key to store, or None if
    the answer cannot be read; `tokens_out` is about how long it will be, `expected`
    tells its form in errors.
    """

    keys: tuple[bytes, ...]
    text: str
    schema: Mapping[str, Any] | None
    read: Callable[[str], list[bytes] | None]
    tokens_out: int
    expected: str = "each fact once, with a grade,"


class Asker:
    """A run of requests to an endpoint, with its counts: every answer is kept in the
    cache."""

    def __init__(
        self,
        endpoint: Endpoint,
        identity: Mapping[str, Any],
        cache: JudgementCache,
        estimate: bool,
    ) -> None:
        self._endpoint, self._fields, self.cache = endpoint, identity, cache
        self.estimate = estimate
        names = ("from_cache", "judged", "requests", "tokens_in", "tokens_out")
        self.counts = Counter(dict.fromkeys(names, 0))
        self._sent = self._failures = 0
        self._why, self._unread, self._stopped = "", "", False
        self._versions: set[str] = set()

    @property
    def revision(self) -> str:
        """The versions that the endpoint reported for the answers."""
        return "+".join(sorted(self._versions)) or "none"

    def values(
        self,
        keys: Sequence[bytes],
        jobs: Callable[[Container[bytes]], Iterable[Job]],
        what: str = "pair",
        allowed: float = 0.0,
    ) -> dict[bytes, bytes]:
        """The values of the keys: from the cache, or by the jobs that are left without
        these.

        A ModelError if more than the allowed share have none; an EstimateOnly if one
        was wanted.
        """
        values = self._stored(keys)
        self.counts["from_cache"] = len(values)
        left = list(jobs(values))

        if self.estimate:
            read = sum(8 + len(job.text.encode()) // 4 for job in left)
            written = sum(job.tokens_out for job in left)
            sizes = len(keys), len(values), len(left), read, written
            model = safe_name(self._endpoint.model)
            raise EstimateOnly(Estimate(model, *sizes))

        with bar(len(keys), "judging", f"{what}s") as shown:
            shown.update(len(values))

            async def work(job: Job) -> None:
                if not self._stopped:
                    values.update(await self._answer(job))
                    shown.update(len(job.keys))

            try:
                if left:
                    self._endpoint.run(work, left)
            except KeyboardInterrupt as stop:
                note_cached(stop, self.counts["judged"], self.cache.path)
                raise

        missing = len(keys) - len(values)
        total = len(keys)
        if missing > allowed * total:
            where = f"{self._endpoint.address}{f' ({self._why})' if self._why else ''}"
            hint = "Run again to request the rest; what was answered is in the cache."
            if self.cache.path is None:
                hint = "Nothing is kept: cache=none. Give a cache, and run again."
            if what == "pair":
                # Rounded up: a share that is rounded down would not allow them.
                share = np.ceil(1e4 * missing / total) / 1e4
                hint += f" To go on without: allow_missing={share:g}"
            told = f"{missing} of {counted(total, what)} have no answer from {where}"
            if not self.counts["requests"]:
                told = f"0 of {counted(self._sent, 'request')} answered by {where}"
            raise ModelError(told, hint=hint)

        return values

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What the cache holds of the model, the newest version first."""
        values: dict[bytes, bytes] = {}
        for identity in reversed(self.cache.identities()):
            version = ""
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                version = json.loads(identity)["version"]
            missing = [key for key in keys if key not in values]
            if missing and self._identity(version) == identity:
                rows = self.cache.get(identity, missing)
                values |= {key: row.value for key, row in rows.items()}
                self._versions |= {version} if rows else set()
        return values

    async def _answer(self, job: Job) -> dict[bytes, bytes]:
        """Asks, and once more if the answer cannot be read; gives up after too many
        failures."""
        why = ""
        for _ in range(2):
            self._sent += 1
            try:
                reply = await self._endpoint.ask(job.text, job.schema)
            except UnansweredError as error:
                why = str(error)
                self._failures += 1
                break
            except LitepyramidError:
                self._stopped = True
                raise

            self._failures = 0
            self.counts.update(
                requests=1,
                tokens_in=reply.tokens_in,
                tokens_out=reply.tokens_out,
            )
            # What a model thinks aloud may hold any answer.
            text = _THOUGHT.sub("", reply.text[:_LONGEST]).strip()
            values = job.read(text)

            if values is not None:
                rows = dict(zip(job.keys, values, strict=True))
                stored = {key: Stored(value) for key, value in rows.items()}
                self.cache.put(self._identity(reply.version), stored)
                self._versions.add(reply.version)
                self.counts["judged"] += len(rows)
                return rows

            self._unread = self._unread or cut(
                one_line(without_keys((text or reply.text)[:_QUOTED])), _QUOTED
            )

        if not self._stopped:
            self._why = why or (
                f"the answer cannot be read: {job.expected} was expected; "
                f"the first such answer was '{self._unread}'{reply.cut}"
            )

        self._stopped |= self._failures >= max(8, self._endpoint.concurrency)
        return {}

    def _identity(self, version: Any) -> str:
        """What the cache files answers under."""
        fields = {
            "model": f"llm:{safe_name(self._endpoint.model)} ({version})",
            "max_length": None,
            "dtype": "answer",
            "version": version,
            # A name such as "local" is any model; a path may be secret.
            "endpoint": fingerprint([self._endpoint.address.rstrip("/")]),
            "parameters": without_keys(self._endpoint.fields),
            **self._fields,
        }
        return json.dumps(fields, sort_keys=True)


class LLMJudge(Closing):
    """Asks a model behind an OpenAI-compatible endpoint which units a summary conveys.

    Units of one summary share requests. What was judged is kept in the cache at once,
    under the endpoint, the model, the version that it reports, the prompt's hash and
    the parameters, and is not asked for again. What could not be had is NaN.

    Args:
        model: As the endpoint calls it; its key comes from the environment (see
            `Endpoint`).
        endpoint: Its address up to /v1; none for OPENAI_BASE_URL, else OpenAI's own.
        prompt: yes-no, three (1, .5, 0), met (for the criteria of a rubric), minicheck,
            or a file; none for yes-no, and met where units are criteria.
        units_per_request: The most units of a request.
        concurrency: The most requests under way.
        timeout: Seconds until the whole answer is there; else it is asked for again.
        retries: How often a request is sent again after a failure that may pass.
        repeats: How often the model is asked, with seeds of its own; the mean counts.
        parameters: More fields of each request, as JSON, or others: {"top_p": 0.5,
            "seed": 1}.
        allow_missing: The share of pairs that may stay without a judgement.
        estimate: Judge nothing: show how many requests and tokens it would take.
        cache: The cache's file; none for a store in memory that ends with the judge;
            default for the user's own.

    Raises:
        InputError: A setting or a file is not as it should be.
    """

    def __init__(
        self,
        model: str,
        *,
        endpoint: str | None = None,
        prompt: str | Path | None = None,
        units_per_request: int = 20,
        concurrency: int = 16,
        timeout: float = 120.0,
        retries: int = 6,
        repeats: int = 1,
        parameters: Mapping[str, Any] | None = None,
        allow_missing: float = 0.0,
        estimate: bool = False,
        cache: str | Path | None = "default",
    ) -> None:
        check_whole("units_per_request", units_per_request)
        check_whole("repeats", repeats, 1, 1)  # more are several judges: `registry`
        if not 0 <= allow_missing <= 1:
            raise InputError(
                f"allow_missing is {allow_missing}", expected="a share, 0 to 1"
            )

        self._free = prompt is None
        self._units = units_per_request
        self._allowed = allow_missing
        self._prompt = load_prompt("yes-no" if prompt is None else prompt)
        self._endpoint = Endpoint(
            model, endpoint, concurrency, timeout, retries, parameters or {}
        )
        self._asker = Asker(
            self._endpoint, self._identity, JudgementCache(cache), estimate
        )

    def close(self) -> None:
        """Closes the cache."""
        self._asker.cache.close()

    @property
    def uses_questions(self) -> bool:
        """Whether the prompt holds the question that a summary answers."""
        return self._prompt.uses_questions

    @property
    def _identity(self) -> dict[str, Any]:
        size = 1 if self._prompt.single else self._units
        return {"prompt": self._prompt.sha, "units_per_request": size}

    def in_language(self, language: str) -> Self:
        """A judge whose prompt says the language of the texts, with the same cache."""
        return self._asking(self._prompt.in_language(language))

    def for_criteria(self) -> Self:
        """A judge of what an answer does, for rubrics, unless a prompt was chosen."""
        return self._asking(load_prompt("met")) if self._free else self

    def _asking(self, prompt: Prompt) -> Self:
        judge = copy(self)
        judge._prompt = prompt
        return judge

    def _asker_of(self, identity: Mapping[str, Any]) -> Asker:
        return Asker(self._endpoint, identity, self._asker.cache, self._asker.estimate)

    def judge(self, items: Items, questions: Questions = None) -> JudgedBatch:
        """Judges every unit of every item; see `LLMJudge` for what is sent."""
        used = questions if questions and self.uses_questions else [None] * len(items)
        asked = []
        keys = []
        distinct: dict[bytes, None] = {}
        for (text, units), question in zip(items, used, strict=True):
            summary, answers = text.strip(), (question or "").strip()
            lines = [*map(one_line, units)]
            asked.append((summary, lines, answers))
            keys.append([pair_key(summary, line, answers) for line in lines])
            # An empty summary carries nothing, and nobody is asked about it.
            if summary:
                distinct |= dict.fromkeys(keys[-1])

        self._asker = self._asker_of(self._identity)
        jobs = partial(self._jobs, asked)
        raw = self._asker.values([*distinct], jobs, allowed=self._allowed)

        presence = []
        counts = {"pairs": sum(map(len, keys)), "empty": 0, "missing": 0}
        for (text, *_), row in zip(asked, keys, strict=True):
            values = np.zeros(len(row))
            if not text:
                counts["empty"] += len(row)
            for n, key in enumerate(row if text else ()):
                values[n] = np.frombuffer(raw[key], "<f8")[0] if key in raw else np.nan
            presence.append(values)
            counts["missing"] += int(np.isnan(values).sum())

        counts |= self._asker.counts
        signature = self.signature()

        # Which questions they are is in the hash of the inputs: answers to the same
        # ones are judged in the same way.
        if any(question for _, _, question in asked):
            signature["questions"] = "asked"

        return JudgedBatch(tuple(presence), signature, counts)

    def signature(self) -> dict[str, str]:
        """The judge's part of the signature, the endpoint's reported version in it."""
        size = self._identity["units_per_request"]
        fields = {"units_per_request": size, **without_keys(self._endpoint.fields)}
        values = (f"{name}={json.dumps(fields[name])}" for name in sorted(fields))
        return {
            "judge": f"llm:{safe_name(self._endpoint.model)}",
            "revision": self._asker.revision,
            "prompt": f"{safe_name(self._prompt.name)}-{self._prompt.sha}",
            "parameters": ",".join(values).replace("|", "_"),
        }

    def ask(
        self, jobs: Sequence[Job], identity: Mapping[str, Any], what: str
    ) -> tuple[dict[bytes, bytes], Asker]:
        """Sends other requests than a judge's to this endpoint, through its cache."""
        asker = self._asker_of(identity)
        keys = [key for job in jobs for key in job.keys]

        def left(stored: Container[bytes]) -> list[Job]:
            return [job for job in jobs if not all(key in stored for key in job.keys)]

        return asker.values(keys, left, what), asker

    def _jobs(self, asked: _Asked, stored: Container[bytes]) -> Iterator[Job]:
        """The requests for what is not cached: a summary with the missing ones of each
        n units."""
        size = self._identity["units_per_request"]
        seen = set()
        for text, units, question in asked:
            keys = {pair_key(text, unit, question): unit for unit in units if text}
            fresh = [key for key in keys if key not in seen]
            seen.update(fresh)
            for start in range(0, len(fresh), size):
                chunk = fresh[start : start + size]
                if missing := {key: keys[key] for key in chunk if key not in stored}:
                    yield self._job(text, missing, question)

    def _job(self, text: str, units: Mapping[bytes, str], question: str) -> Job:
        prompt = self._prompt
        count = len(units)

        def read(text: str) -> list[bytes] | None:
            grades = prompt.read(text, count)
            if grades is None:
                return None
            return [np.float64(grade).tobytes() for grade in grades]

        request = prompt.request(text, list(units.values()), question)
        tokens_out = 2 if prompt.single else 3 + 6 * count
        return Job(tuple(units), request, prompt.schema(count), read, tokens_out)
