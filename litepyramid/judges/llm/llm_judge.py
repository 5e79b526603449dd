"""A language model behind an endpoint as judge: a pair is paid for once; no answer is never 0."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError, LitepyramidError, ModelError
from litepyramid.judges.base import (
    Closing,
    EstimateOnly,
    Items,
    JudgedBatch,
    Questions,
    check_count,
    note_cached,
    pair_key,
    windows,
)
from litepyramid.judges.cache import CacheSetting, JudgementCache, Stored
from litepyramid.judges.llm.endpoint import Endpoint, Reply, UnansweredError, safe_name
from litepyramid.judges.llm.prompt import Prompt, load_prompt
from litepyramid.progress import bar
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted, one_line
from litepyramid.types import FloatArray, fingerprint

_Asked = tuple[str, Sequence[str], str]
"""A summary, units, and the question that the summary answers, or an empty text."""


@dataclass(frozen=True, slots=True)
class Estimate(Result):
    """What would be sent to an endpoint.

    Attributes:
        pairs: Distinct pairs of a summary and a unit; or references to make units of.
        requests: Requests for those not in the cache, if each is answered at once.
        tokens_out: Tokens that the model writes, about; what it thinks before is not counted.
    """

    model: str
    pairs: int
    from_cache: int
    requests: int
    tokens_in: int
    tokens_out: int

    def to_tables(self) -> Sequence[Table]:
        """One row."""
        columns = (
            "pairs", Column("from_cache", "in the cache"), "requests",
            Column("tokens_in", "tokens in"), Column("tokens_out", "tokens out"),
        )  # fmt: skip
        note = "Tokens are estimated, one per four bytes."
        return [Table.of(f"Requests to {self.model}", columns, [self], [note])]


@dataclass(frozen=True, slots=True)
class Job:
    """One request.

    Attributes:
        keys: What it asks about, as the cache knows it.
        schema: JSON schema of the answer, if it is to be JSON.
        read: What the answer says, one value a key to store; None if it cannot be read.
        tokens_out: The tokens that the answer will have, about.
    """

    keys: tuple[bytes, ...]
    text: str
    schema: Mapping[str, Any] | None
    read: Callable[[Reply], list[bytes] | None]
    tokens_out: int


class Asker:
    """An endpoint with a cache: every answer is stored under the version of its model.

    `answered` is the number of keys, `counts` those of requests and tokens, of this run.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        identity: Mapping[str, Any],
        cache: JudgementCache | CacheSetting = "default",
    ) -> None:
        self._endpoint, self._fields = endpoint, identity
        self.cache = cache if isinstance(cache, JudgementCache) else JudgementCache(cache)
        self.begin()

    def begin(self) -> None:
        """Begins a run: resets the counts, and asks again."""
        self.counts = dict.fromkeys(("requests", "tokens_in", "tokens_out"), 0)
        self.answered = self._sent = self._failures = 0
        self._why, self._stopped = "", False
        self._versions: set[str] = set()

    @property
    def revision(self) -> str:
        """The versions that the endpoint reported for the answers of this run."""
        return "+".join(sorted(self._versions)) or "none"

    def failure(self, missing: int, total: int, what: str) -> ModelError:
        """The error of what was not answered."""
        address, why = self._endpoint.address, f" ({self._why})" if self._why else ""
        if self._sent and not self.counts["requests"]:
            return ModelError(
                f"0 of {counted(self._sent, 'request')} answered by {address}{why}",
                hint="Check the address, and that the endpoint runs.",
            )
        return ModelError(f"{missing} of {counted(total, what)} have no answer from {address}{why}")

    def stored(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What the cache holds of the model, the newest version first."""
        values: dict[bytes, bytes] = {}
        for identity in reversed(self.cache.identities()):
            missing = [key for key in keys if key not in values]
            version = _version(identity)
            if missing and version is not None and self._identity(version) == identity:
                rows = self.cache.get(identity, missing)
                values |= {key: row.value for key, row in rows.items()}
                self._versions |= {version} if rows else set()
        return values

    def estimate(self, jobs: Iterable[Job], pairs: int) -> EstimateOnly:
        """What the jobs would cost, as the exception to raise."""
        jobs = list(jobs)
        cached = pairs - sum(len(job.keys) for job in jobs)
        read = sum(8 + len(job.text.encode()) // 4 for job in jobs)
        written = sum(job.tokens_out for job in jobs)
        model = self._endpoint.model
        return EstimateOnly(Estimate(model, pairs, cached, len(jobs), read, written))

    def ask(self, jobs: Sequence[Job], shown: Any) -> dict[bytes, bytes]:
        """Asks, stores and returns; no more is sent after too many failures in a row."""
        values: dict[bytes, bytes] = {}

        async def work(job: Job) -> None:
            if not self._stopped:
                values.update(await self._answer(job))
                shown.update(len(job.keys))

        if jobs and not self._stopped:
            self._endpoint.run(work, jobs)
        return values

    async def _answer(self, job: Job) -> dict[bytes, bytes]:
        """Asks, and once more if the answer cannot be read."""
        why = "the answer cannot be read: each fact once, with a grade, was expected"
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
            self.counts["requests"] += 1
            self.counts["tokens_in"] += reply.tokens_in
            self.counts["tokens_out"] += reply.tokens_out
            values = job.read(reply)
            if values is not None:
                rows = dict(zip(job.keys, values, strict=True))
                stored = {key: Stored(value) for key, value in rows.items()}
                self.cache.put(self._identity(reply.version), stored)
                self._versions.add(reply.version)
                self.answered += len(rows)
                return rows
        if not self._stopped:
            self._why = why
        self._stopped |= self._failures >= max(8, self._endpoint.concurrency)
        return {}

    def _identity(self, version: str) -> str:
        """What the cache files answers under."""
        fields = {
            "model": f"llm:{safe_name(self._endpoint.model)} ({version})",
            "max_length": None,
            "dtype": "answer",
            "version": version,
            "parameters": self._endpoint.fields,
            **self._fields,
        }
        return json.dumps(fields, sort_keys=True)


def _version(identity: str) -> str | None:
    try:
        version = json.loads(identity)["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return version if isinstance(version, str) else None


class LLMJudge(Closing):
    """Asks a model behind an OpenAI-compatible endpoint which units a summary conveys.

    Units of one summary share requests. What was judged is kept in the cache at once, under the
    model, the version that the endpoint reports, the prompt's hash and the parameters, and is not
    asked for again. What could not be had is NaN.

    Args:
        model: As the endpoint calls it; its key comes from the environment (see `Endpoint`).
        endpoint: Its address up to /v1; none for OPENAI_BASE_URL, else OpenAI's own.
        prompt: yes-no, three (1, .5, 0), met (for the criteria of a rubric), minicheck, or a file;
            none for yes-no, and met where units are criteria.
        units_per_request: The most units of a request.
        concurrency: The most requests under way.
        timeout: Seconds until the whole answer is there; else it is asked for again.
        retries: How often a request is sent again after a failure that may pass.
        parameters: More fields of each request, as JSON: {"top_p": 0.5}.
        seed: Sent with each request.
        allow_missing: The share of pairs that may stay without a judgement.
        estimate: Judge nothing: show how many requests and tokens it would take.
        cache: The cache's file; none for a store in memory that ends with the judge; default for
            the user's own.

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
        parameters: Mapping[str, Any] | None = None,
        seed: int = 12345,
        allow_missing: float = 0.0,
        estimate: bool = False,
        cache: str | Path | None = "default",
    ) -> None:
        self._prompt = load_prompt("yes-no" if prompt is None else prompt)
        self._free = prompt is None
        check_count("units_per_request", units_per_request)
        if not 0 <= allow_missing <= 1:
            raise InputError(f"allow_missing is {allow_missing}", expected="a share, 0 to 1")
        self._units = units_per_request
        self._endpoint = Endpoint(
            model, endpoint, concurrency, timeout, retries, parameters or {}, seed
        )
        self._asker = Asker(self._endpoint, self._identity, cache)
        self._allowed, self._estimate = allow_missing, estimate

    def close(self) -> None:
        """Closes the cache."""
        self._asker.cache.close()

    @property
    def uses_questions(self) -> bool:
        """Whether the prompt holds the question that a summary answers."""
        return self._prompt.uses_questions

    @property
    def _size(self) -> int:
        return 1 if self._prompt.single else self._units

    @property
    def _identity(self) -> dict[str, Any]:
        return {"prompt": self._prompt.sha, "units_per_request": self._size}

    def in_language(self, language: str) -> LLMJudge:
        """A judge whose prompt says the language of the texts, with the same cache."""
        return self._asking(self._prompt.in_language(language))

    def for_criteria(self) -> LLMJudge:
        """A judge of what an answer does, for rubrics, unless a prompt was chosen."""
        return self._asking(load_prompt("met")) if self._free else self

    def _asking(self, prompt: Prompt) -> LLMJudge:
        judge = copy(self)
        judge._prompt = prompt
        judge._asker = Asker(self._endpoint, judge._identity, self._asker.cache)
        return judge

    def judge(self, items: Items, questions: Questions = None) -> JudgedBatch:
        """Judges every unit of every item; see `LLMJudge` for what is sent."""
        asker = self._asker
        asker.begin()
        used = questions if questions and self.uses_questions else [None] * len(items)
        asked = [
            (text.strip(), [one_line(unit) for unit in units], (question or "").strip())
            for (text, units), question in zip(items, used, strict=True)
        ]
        keys = _keys(asked)
        if self._estimate:
            raise asker.estimate(self._jobs(asked, asker.stored(keys)), len(keys))
        counts = dict.fromkeys(("pairs", "empty", "missing", "from_cache"), 0)
        presence: list[FloatArray] = []
        try:
            with bar(len(keys), "judging", "pairs") as shown:
                for window in windows(asked):
                    presence += self._window(window, counts, shown)
        except KeyboardInterrupt as stop:
            note_cached(stop, asker.answered, asker.cache.path)
            raise
        missing, pairs = counts["missing"], counts["pairs"]
        if missing > self._allowed * pairs:
            error = asker.failure(missing, pairs, "pair")
            share = f"allow_missing={np.ceil(1e4 * missing / pairs) / 1e4:g}"
            cached = "The others are kept. " if asker.cache.path and missing < pairs else ""
            hint = f"{cached}Run again to request the rest, or accept this with {share}."
            raise ModelError(error.what, hint=f"{error.hint} {hint}" if error.hint else hint)
        counts |= {"judged": asker.answered, **asker.counts}
        signature = self.signature()
        if texts := sorted({(question, text) for text, _, question in asked if question}):
            signature["questions"] = fingerprint(texts)
        return JudgedBatch(tuple(presence), signature, counts)

    def signature(self) -> dict[str, str]:
        """The judge's part of the signature, the endpoint's reported version in it."""
        fields = {"units_per_request": self._size, **self._endpoint.fields}
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
        asker = Asker(self._endpoint, identity, self._asker.cache)
        keys = {key for job in jobs for key in job.keys}
        values = asker.stored(list(keys))
        missing = [job for job in jobs if not all(key in values for key in job.keys)]
        if self._estimate:
            raise asker.estimate(missing, len(keys))
        with bar(len(missing), "asking", f"{what}s") as shown:
            values |= asker.ask(missing, shown)
        if len(values) < len(keys):
            raise asker.failure(len(keys) - len(values), len(keys), what)
        return values, asker

    def _window(
        self, items: Sequence[_Asked], counts: dict[str, int], shown: Any
    ) -> Iterator[FloatArray]:
        """The presence of each item's units, as many items as are held in memory at once."""
        keys = _keys(items)
        stored = self._asker.stored(keys)
        counts["from_cache"] += len(stored)
        shown.update(len(stored))
        if len(stored) < len(keys):
            stored |= self._asker.ask(list(self._jobs(items, stored)), shown)
        values = {key: float(np.frombuffer(raw, "<f8")[0]) for key, raw in stored.items()}
        for text, units, question in items:
            row = [values.get(pair_key(text, u, question), np.nan) if text else 0.0 for u in units]
            counts["pairs"] += len(units)
            counts["empty"] += 0 if text else len(units)
            counts["missing"] += int(np.isnan(row).sum())
            yield np.array(row, dtype=np.float64)

    def _jobs(self, items: Sequence[_Asked], stored: Mapping[bytes, bytes]) -> Iterator[Job]:
        """The requests for what is not cached: a summary with the missing ones of each n units."""
        seen: set[bytes] = set()
        for text, units, question in items:
            keys = {pair_key(text, unit, question): unit for unit in units if text}
            fresh = [key for key in keys if key not in seen]
            seen.update(fresh)
            for start in range(0, len(fresh), self._size):
                chunk = fresh[start : start + self._size]
                if missing := {key: keys[key] for key in chunk if key not in stored}:
                    yield self._job(text, missing, question)

    def _job(self, text: str, units: Mapping[bytes, str], question: str) -> Job:
        prompt, count = self._prompt, len(units)

        def read(reply: Reply) -> list[bytes] | None:
            grades = prompt.read(reply.text, count)
            return None if grades is None else [np.float64(grade).tobytes() for grade in grades]

        request = prompt.request(text, list(units.values()), question)
        tokens_out = 2 if prompt.single else 3 + 6 * count
        return Job(tuple(units), request, prompt.schema(count), read, tokens_out)


def _keys(items: Iterable[_Asked]) -> list[bytes]:
    """The keys of the distinct pairs of summaries that are not empty."""
    keys = (pair_key(text, u, question) for text, us, question in items if text for u in us)
    return list(dict.fromkeys(keys))
