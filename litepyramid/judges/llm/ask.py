"""Requests for what is not in the cache; every answer is stored under its model version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from litepyramid.errors import InputError, LitepyramidError
from litepyramid.files import write_jsonl
from litepyramid.judges.base import UnsentError
from litepyramid.judges.cache import LogitCache, StoredLogits
from litepyramid.judges.llm.client import Endpoint, Reply, UnansweredError
from litepyramid.judges.llm.cost import Estimate, read_answers, read_prices

Answer = tuple["Job", list[bytes] | None, Reply | None]


@dataclass(frozen=True, slots=True)
class Job:
    """One request.

    Attributes:
        keys: What it asks about, as the cache knows it.
        text: What is sent.
        schema: JSON schema of the answer, if it is to be JSON.
        read: What the answer says, one value a key to keep; None if it does not say it.
        parts: Smaller jobs for the same keys, to try where the answer says nothing; or none.
        written: The tokens that the answer will have, about.
    """

    keys: tuple[bytes, ...]
    text: str
    schema: Mapping[str, Any] | None
    read: Callable[[Reply], list[bytes] | None]
    parts: Callable[[], Sequence[Job]]
    written: int


class Asker:
    """An endpoint with a cache, and a limit to what is spent.

    Args:
        endpoint: Whom to ask.
        identity: What decides the answers besides the model and its fields: the prompt's hash …
        logprobs: Whether to ask for log-probabilities.
        model_version: Take answers of this reported version alone; ``any`` mixes versions; None
            takes the newest in the cache, else the first that answers.
        prices: File of prices.
        max_cost: What may be spent.
        cache: The cache's file, ``"default"``, or None for memory.

    Attributes:
        spent: Answers, tokens in, tokens out, of this run.
        kept: Keys answered in this run.
        why: Why the last request that failed did; or why no more are sent.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        identity: Mapping[str, Any],
        *,
        logprobs: bool = False,
        model_version: str | None = None,
        prices: str | Path | None = None,
        max_cost: float | None = None,
        cache: Path | Literal["default"] | None = "default",
    ) -> None:
        self._endpoint, self._fields = endpoint, identity
        self._logprobs, self._wanted = logprobs, model_version
        self._price = read_prices(prices, endpoint.model) if prices else None
        if max_cost is not None and self._price is None:
            raise InputError("a cost limit without prices", expected="--prices FILE as well")
        self._max_cost = max_cost
        self.cache = LogitCache(cache)
        self._versions: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Begins a run: resets the counts, and asks again."""
        self.spent, self.kept, self.why = [0, 0, 0], 0, ""
        self._failures, self._stopped = 0, False

    def signature(self) -> dict[str, str]:
        """The reported versions, and whether they gave log-probabilities."""
        parts = [version.rpartition(" ")[::2] for version in self._versions]
        return {
            "revision": "+".join(sorted({name for name, _ in parts})) or "none",
            "mode": "+".join(sorted({kind for _, kind in parts})) or "none",
        }

    def stored(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """What the cache holds of the versions to take."""
        if not self._versions:
            for identity in self.cache.identities():
                version = json.loads(identity).get("version")
                if version and self._identity(version) == identity:
                    self._versions.append(version)
            if self._wanted != "any":
                wanted = [v for v in self._versions if _name(v) == self._wanted]
                self._versions = (self._versions if self._wanted is None else wanted)[-1:]
        found: dict[bytes, bytes] = {}
        for version in self._versions:
            rows = self.cache.get(self._identity(version), keys)
            found |= {key: row.raw for key, row in rows.items()}
        return found

    def plan(
        self, jobs: Iterable[Job], pairs: int, *, estimate: bool, batch: str | Path | None
    ) -> None:
        """Before anything is sent: what it will cost, and whether to send it.

        Args:
            jobs: What is to be asked.
            pairs: How many things these and the cache are about.
            estimate: Raise with the estimate.
            batch: Write the requests to this file, and raise with the estimate.

        Raises:
            UnsentError: Nothing is to be sent; it holds the `Estimate`.
            InputError: It would cost too much.
        """
        if not estimate and batch is None and self._max_cost is None:
            return
        jobs = list(jobs)
        read = sum(8 + len(job.text.encode()) // 4 for job in jobs)
        written = sum(job.written for job in jobs)
        price = None if self._price is None else self._price.of(read, written)
        known = pairs - sum(len(job.keys) for job in jobs)
        if batch is not None:
            write_jsonl(batch, (line for _, line in self._lines(jobs)))
        if estimate or batch is not None:
            model = self._endpoint.model
            raise UnsentError(Estimate(model, pairs, known, len(jobs), read, written, price))
        if price is not None and self._max_cost is not None and price > self._max_cost:
            raise InputError(
                f"about {price:.2f} would be spent",
                expected=f"at most {self._max_cost:g}",
                hint="Raise --max-cost, or judge less.",
            )

    def take(self, path: str | Path, jobs: Iterable[Job]) -> None:
        """Puts a batch endpoint's answers to some of the jobs into the cache.

        Raises:
            InputError: The file holds the answer to none of them.
        """
        asked = {line["custom_id"]: job for job, line in self._lines(jobs)}
        found = [(asked[name], value) for name, value in read_answers(path) if name in asked]
        for job, value in found:
            try:
                reply = Reply.of(value)
            except UnansweredError as error:
                self.why = str(error)
                continue
            self._pay(reply)
            self._keep([(job, job.read(reply), reply)])
        if not found:
            raise InputError(
                "answers none of the requests",
                path=path,
                expected="the answers to what --batch wrote for the same data and settings",
            )

    def ask(self, jobs: Sequence[Job], shown: Any) -> dict[bytes, bytes]:
        """Asks, keeps, and gives what is of the version to take; what is missing was not had.

        No more is sent after too many failures in a row, when the money is spent, or when the
        endpoint answers as another version; `why` says so.
        """
        found: dict[bytes, bytes] = {}

        async def work(job: Job) -> None:
            if not self._stopped:
                found.update(self._keep(await self._settle(job)))
                shown.update(len(job.keys))

        if jobs and not self._stopped:
            self._endpoint.run(work, jobs)
        return found

    async def _settle(self, job: Job) -> list[Answer]:
        """Asks until the answer says something: again in parts, what has none twice."""
        parts = job.parts()
        for _ in range(1 if parts else 2):
            try:
                reply = await self._endpoint.ask(job.text, job.schema, self._logprobs)
            except UnansweredError as error:
                self._failures += 1
                if not self._stopped:
                    self.why = str(error)
                if self._failures == max(8, self._endpoint.concurrency):
                    self._stop(f"the endpoint failed {self._failures} times in a row ({error})")
                return [(job, None, None)]
            except LitepyramidError as error:
                self._stop(error.what)
                return [(job, None, None)]
            self._failures = 0
            self._pay(reply)
            if (values := job.read(reply)) is not None:
                return [(job, values, reply)]
        if not self._stopped:
            self.why = "the answer lacks requested grades or units"
        settled = [await self._settle(part) for part in parts]
        return [answer for own in settled for answer in own] or [(job, None, reply)]

    def _stop(self, why: str) -> None:
        if not self._stopped:
            self._stopped, self.why = True, why

    def _pay(self, reply: Reply) -> None:
        self.spent = [a + b for a, b in zip(self.spent, (1, *reply.spent), strict=True)]
        if self._price and self._max_cost is not None:
            cost = self._price.of(*self.spent[1:])
            if cost >= self._max_cost:
                self._stop(f"{cost:.2f} of --max-cost {self._max_cost:g} was spent")

    def _keep(self, answers: Iterable[Answer]) -> dict[bytes, bytes]:
        """Puts answers into the cache, each under its version; gives those of the run's."""
        own: dict[bytes, bytes] = {}
        for job, values, reply in answers:
            if values is None or reply is None:
                continue
            version = f"{reply.version} {'probability' if reply.tokens else 'grade'}"
            rows = dict(zip(job.keys, values, strict=True))
            logits = {key: StoredLogits(value, False) for key, value in rows.items()}
            self.cache.put(self._identity(version), logits)
            self.kept += len(rows)
            fits = not self._versions and self._wanted in (None, _name(version))
            if version not in self._versions and (fits or self._wanted == "any"):
                self._versions.append(version)
            if version in self._versions:
                own |= rows
            else:
                before = self._wanted or self._versions[0]
                self._stop(
                    f"the endpoint reports version '{version}', but this run is from '{before}' "
                    f"(--model-version {_name(version)} uses the new one, any mixes them)"
                )
        return own

    def _identity(self, version: str) -> str:
        """What the cache files answers under: version is "NAME grade" or "NAME probability"."""
        name, _, kind = version.rpartition(" ")
        return json.dumps(
            {
                "model": f"llm:{self._endpoint.model} ({name})",
                "max_length": None,
                "dtype": kind,
                "version": version,
                "logprobs": self._logprobs,
                "parameters": self._endpoint.fields,
                **self._fields,
            },
            sort_keys=True,
        )

    def _lines(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
        """Jobs as the lines of a batch file."""
        for job in jobs:
            body = self._endpoint.body(job.text, job.schema, self._logprobs)
            digest = blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=12)
            yield (
                job,
                {
                    "custom_id": f"litepyramid-{digest.hexdigest()}",
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": body,
                },
            )


def _name(version: str) -> str:
    """The model's own name in a version.

    Example:
        >>> _name("gpt-x-2026 without seed probability")
        'gpt-x-2026'
    """
    return version.rpartition(" ")[0].partition(" without ")[0]
