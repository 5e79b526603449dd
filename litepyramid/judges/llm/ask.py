"""Requests for what is not in the cache; every answer is stored under its model version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litepyramid.errors import LitepyramidError, ModelError
from litepyramid.judges.base import EstimateOnly
from litepyramid.judges.cache import CacheSetting, JudgementCache, Stored
from litepyramid.judges.llm.client import Endpoint, Reply, UnansweredError, safe_name
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted


@dataclass(frozen=True, slots=True)
class Estimate(Result):
    """What would be sent to an endpoint.

    Attributes:
        model: The model.
        pairs: Distinct pairs of a summary and a unit; or references to make units of.
        from_cache: Those that the cache holds.
        requests: Requests for the others, if each is answered at once.
        tokens_in: Tokens that the model reads, about.
        tokens_out: Tokens that it writes, about; what it thinks before is not counted.
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
            "pairs",
            Column("from_cache", "in the cache"),
            "requests",
            Column("tokens_in", "tokens in"),
            Column("tokens_out", "tokens out"),
        )
        note = "Tokens are estimated, one per four bytes."
        return [Table.of(f"Requests to {self.model}", columns, [self], [note])]


@dataclass(frozen=True, slots=True)
class Job:
    """One request.

    Attributes:
        keys: What it asks about, as the cache knows it.
        text: What is sent.
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
    """An endpoint with a cache.

    Attributes:
        answered: Keys answered in this run.
        why: Why the last request that failed did; or why no more are sent.
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
        self.answered, self.why = 0, ""
        self._requests = self._replies = self._failures = 0
        self._tokens = [0, 0]
        self._stopped = False
        self._versions: set[str] = set()

    @property
    def counts(self) -> dict[str, int]:
        """What this run has asked: requests answered, tokens in and out."""
        return {
            "requests": self._replies,
            "tokens_in": self._tokens[0],
            "tokens_out": self._tokens[1],
        }

    @property
    def revision(self) -> str:
        """The versions that the endpoint reported for the answers of this run."""
        return "+".join(sorted(self._versions)) or "none"

    def failure(self, missing: int, total: int, what: str) -> ModelError:
        """The error of what was not answered."""
        address = self._endpoint.address
        if not self._replies and self._requests:
            return ModelError(
                f"0 of {counted(self._requests, 'request')} answered by {address} ({self.why})",
                hint="Check the address, and that the endpoint runs.",
            )
        return ModelError(
            f"{missing} of {counted(total, what)} have no answer from {address}"
            + (f" ({self.why})" if self.why else "")
        )

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
        """Asks, stores and returns; what is missing was not answered.

        No more is sent after too many failures in a row; `why` says so.
        """
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
        for _ in range(2):
            self._requests += 1
            try:
                reply = await self._endpoint.ask(job.text, job.schema)
            except UnansweredError as error:
                self._failures += 1
                if not self._stopped:
                    self.why = str(error)
                if self._failures >= max(8, self._endpoint.concurrency):
                    self._stopped = True
                return {}
            except LitepyramidError:
                self._stopped = True
                raise
            self._failures = 0
            self._replies += 1
            self._tokens[0] += reply.tokens_in
            self._tokens[1] += reply.tokens_out
            values = job.read(reply)
            if values is not None:
                rows = dict(zip(job.keys, values, strict=True))
                stored = {key: Stored(value) for key, value in rows.items()}
                self.cache.put(self._identity(reply.version), stored)
                self._versions.add(reply.version)
                self.answered += len(rows)
                return rows
        if not self._stopped:
            self.why = "the answer cannot be read: each fact once, with a grade, was expected"
        return {}

    def _identity(self, version: str) -> str:
        """What the cache files answers under."""
        return json.dumps(
            {
                "model": f"llm:{safe_name(self._endpoint.model)} ({version})",
                "max_length": None,
                "dtype": "answer",
                "version": version,
                "parameters": self._endpoint.fields,
                **self._fields,
            },
            sort_keys=True,
        )


def _version(identity: str) -> str | None:
    try:
        version = json.loads(identity)["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return version if isinstance(version, str) else None
