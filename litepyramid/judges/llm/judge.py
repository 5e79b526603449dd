"""A language model behind an endpoint as judge: paid for once, and never 0 for no answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.errors import InputError, LitepyramidError, ModelError
from litepyramid.files import write_jsonl
from litepyramid.judges.base import Items, JudgedBatch, UnsentError, note_kept, windows
from litepyramid.judges.cache import LogitCache, StoredLogits, pair_key
from litepyramid.judges.cache_info import default_cache_path
from litepyramid.judges.llm.client import Endpoint, Reply, UnansweredError
from litepyramid.judges.llm.cost import Estimate, Price, read_answers, read_prices
from litepyramid.judges.llm.prompt import Prompt, load_prompt
from litepyramid.progress import bar
from litepyramid.text import counted, one_line
from litepyramid.types import FloatArray

Chunk = tuple[str, tuple[str, ...]]
Answer = tuple[Chunk, list[float] | None, Reply | None]


class LLMJudge:
    """Asks a model behind an OpenAI-compatible endpoint which units a summary conveys.

    Units of one summary share requests. What was judged is kept in the cache at once, under the
    model, the version that the endpoint reports, the prompt's hash and the parameters, and is not
    asked for again. What could not be had is NaN.

    Args:
        model: As the endpoint calls it; its key comes from the environment (see `Endpoint`).
        endpoint: Its address up to ``/v1``.
        prompt: ``yes-no``, ``three`` (1, .5, 0), ``minicheck``, or a file; see `load_prompt`.
        units_per_request: The most units of a request.
        logprobs: Whether to ask for log-probabilities, and take P(yes) where there are any.
        concurrency: As of `Endpoint`, like `timeout`, `retries`, `parameters` and `seed`.
        timeout: Seconds.
        retries: Of one request.
        parameters: More fields of each request.
        seed: Sent with each request.
        model_version: Use judgements of this reported version alone; ``any`` mixes versions. By
            default the newest version that the cache knows, and no other.
        allow_missing: The share of pairs that may stay without a judgement.
        max_cost: Stop before this is spent, in the currency of `prices`.
        prices: A JSON file ``{"MODEL": {"in": PRICE, "out": PRICE}}`` per million tokens.
        estimate: Judge nothing: `judge` raises `UnsentError` with an `Estimate`.
        batch: Judge nothing: write the requests that are left to this file, as batch endpoints
            take them; `judge` raises `UnsentError` with an `Estimate`.
        answers: A batch endpoint's answers to take; then nothing is sent.
        cache: As of `TransformersJudge`.
        progress: As of `TransformersJudge`.

    Raises:
        InputError: A parameter or a file is not as it should be.
    """

    def __init__(
        self,
        model: str,
        *,
        endpoint: str | None = None,
        prompt: str | Path = "yes-no",
        units_per_request: int = 20,
        logprobs: bool = True,
        concurrency: int = 16,
        timeout: float = 120.0,
        retries: int = 6,
        parameters: Mapping[str, Any] | None = None,
        seed: int = 12345,
        model_version: str | None = None,
        allow_missing: float = 0.0,
        max_cost: float | None = None,
        prices: str | Path | None = None,
        estimate: bool = False,
        batch: str | Path | None = None,
        answers: str | Path | None = None,
        cache: Path | Literal["default"] | None = "default",
        progress: bool | None = None,
    ) -> None:
        self._endpoint = Endpoint(
            model, endpoint, concurrency, timeout, retries, parameters or {}, seed
        )
        self._prompt: Prompt = load_prompt(prompt)
        if units_per_request < 1:
            raise InputError("no unit a request", expected="at least 1")
        if not 0 <= allow_missing <= 1:
            raise InputError(f"allow_missing is {allow_missing}", expected="a share, 0 to 1")
        self._price: Price | None = read_prices(prices, model) if prices else None
        if max_cost is not None and self._price is None:
            raise InputError("a limit of cost without prices", expected="--prices FILE with it")
        self._size = 1 if self._prompt.single else units_per_request
        self._logprobs, self._wanted, self._allowed = logprobs, model_version, allow_missing
        self._max_cost, self._estimate, self._batch = max_cost, estimate, batch
        self._answers, self._progress = answers, progress
        self._cache = LogitCache(default_cache_path() if cache == "default" else cache)
        self._versions: list[str] = []
        self._spent = [0, 0, 0]
        self._failures = 0
        self._stop: str | None = None
        self._why = ""

    def __enter__(self) -> LLMJudge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the cache."""
        self._cache.close()

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item; see `LLMJudge` for what is sent.

        Returns:
            Presence per item, NaN for what could not be had. Counts: ``pairs``, ``empty`` of them
            with an empty summary, ``missing``; among the distinct pairs ``from_cache`` and
            ``judged``; ``requests``, ``tokens_in``, ``tokens_out`` of this call.

        Raises:
            ModelError: More is missing than allowed, or the endpoint changed its model; what was
                judged is kept.
            UnsentError: Nothing was to be sent.
        """
        items = [(text.strip(), [one_line(unit) for unit in units]) for text, units in items]
        if self._estimate or self._batch is not None or self._max_cost is not None:
            planned = self.estimate(items)
            if self._batch is not None:
                write_jsonl(self._batch, (line for _, line in self._bodies(items)))
            if self._estimate or self._batch is not None:
                raise UnsentError(planned)
            if planned.price is not None and planned.price > (self._max_cost or 0):
                raise InputError(
                    f"about {planned.price:.2f} would be spent",
                    expected=f"at most {self._max_cost:g}",
                    hint="Raise --max-cost, or judge less.",
                )
        counts = dict.fromkeys(
            ("pairs", "empty", "missing", "from_cache", "judged", "requests", "tokens_in",
             "tokens_out"), 0
        )  # fmt: skip
        self._spent, self._failures, self._stop, self._why = [0, 0, 0], 0, None, ""
        if self._answers is not None:
            self._take(self._answers, items, counts)
        results: list[FloatArray] = []
        try:
            with bar(sum(len(units) for _, units in items), "judging", "pairs",
                     shown=self._progress) as shown:  # fmt: skip
                for window in windows(items):
                    self._window(window, counts, results, shown)
        except KeyboardInterrupt as stop:
            note_kept(stop, counts["judged"], self._cache.path)
            raise
        counts |= zip(("requests", "tokens_in", "tokens_out"), self._spent, strict=True)
        missing, pairs = counts["missing"], counts["pairs"]
        if missing > self._allowed * pairs:
            kept = "The others are kept. " if self._cache.path else ""
            raise ModelError(
                f"{missing} of {counted(pairs, 'pair')} have no judgement"
                + (f": {why}" if (why := self._stop or self._why) else ""),
                hint=f"{kept}Run again to ask for the rest, or allow it with "
                f"--allow-missing {np.ceil(1e4 * missing / pairs) / 1e4:g}.",
            )
        return JudgedBatch(tuple(results), self.signature(), counts)

    def signature(self) -> dict[str, str]:
        """The judge's part of the signature, the endpoint's reported version in it."""
        own = {"units_per_request": self._size, **self._endpoint.fields}
        versions = [version.rpartition(" ")[::2] for version in self._versions]
        return {
            "judge": f"llm:{self._endpoint.model}",
            "revision": "+".join(sorted({name for name, _ in versions})) or "none",
            "mode": "+".join(sorted({kind for _, kind in versions})) or "none",
            "prompt": f"{self._prompt.name}-{self._prompt.sha}",
            "parameters": ",".join(f"{name}={json.dumps(own[name])}" for name in sorted(own)),
        }

    def estimate(self, items: Items) -> Estimate:
        """What judging these items would send, and what the cache holds already.

        A token is taken for four bytes of text.
        """
        keys = {pair_key(text, unit) for text, units in items if text for unit in units}
        known = len(self._stored(list(keys)))
        requests = tokens_in = tokens_out = 0
        for text, units in self._left(items):
            requests += 1
            tokens_in += 8 + len(self._prompt.request(text, units).encode()) // 4
            tokens_out += 2 if self._prompt.single else 3 + 6 * len(units)
        price = None if self._price is None else self._price.of(tokens_in, tokens_out)
        return Estimate(
            self._endpoint.model, len(keys), known, requests, tokens_in, tokens_out, price
        )

    # What is asked for, and under what name it is kept.

    def _identity(self, version: str) -> str:
        """What the cache files judgements under: version is "NAME grade" or "NAME probability"."""
        name, _, kind = version.rpartition(" ")
        return json.dumps(
            {
                "model": f"llm:{self._endpoint.model} ({name})",
                "max_length": None,
                "dtype": kind,
                "version": version,
                "prompt": self._prompt.sha,
                "logprobs": self._logprobs,
                "parameters": {"units_per_request": self._size, **self._endpoint.fields},
            },
            sort_keys=True,
        )

    def _known_versions(self) -> list[str]:
        """The versions to take judgements of; found in the cache if none has answered yet."""
        if not self._versions:
            for identity in self._cache.identities():
                version = json.loads(identity).get("version")
                if version and self._identity(version) == identity:
                    self._versions.append(version)
            if self._wanted != "any":
                wanted = [v for v in self._versions if _name(v) == self._wanted]
                self._versions = (self._versions if self._wanted is None else wanted)[-1:]
        return self._versions

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        found: dict[bytes, float] = {}
        for version in self._known_versions():
            rows = self._cache.get(self._identity(version), keys)
            found |= {key: float(np.frombuffer(row.raw, "<f8")[0]) for key, row in rows.items()}
        return found

    def _left(self, items: Items, *, everything: bool = False) -> Iterator[Chunk]:
        """The requests for what is not known: a summary with the unknown ones of each n units."""
        seen: set[bytes] = set()
        for window in windows(items):
            keys = {pair_key(t, unit): (t, unit) for t, units in window if t for unit in units}
            known = {} if everything else self._stored(list(keys))
            for text, units in window:
                fresh = [u for u in dict.fromkeys(units) if text and pair_key(text, u) not in seen]
                seen.update(pair_key(text, unit) for unit in fresh)
                for start in range(0, len(fresh), self._size):
                    part = fresh[start : start + self._size]
                    if left := tuple(u for u in part if pair_key(text, u) not in known):
                        yield text, left

    def _bodies(self, items: Items, *, everything: bool = False) -> Iterator[tuple[Chunk, Any]]:
        for text, units in self._left(items, everything=everything):
            schema = self._prompt.schema(len(units))
            body = self._endpoint.body(self._prompt.request(text, units), schema, self._logprobs)
            digest = blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=12)
            yield (
                (text, units),
                {
                    "custom_id": f"litepyramid-{digest.hexdigest()}",
                    "method": "POST",
                    "url": "/v1/chat/completions",
                    "body": body,
                },
            )

    # Asking.

    def _window(
        self, items: Items, counts: dict[str, int], results: list[FloatArray], shown: Any
    ) -> None:
        keys = {pair_key(text, unit) for text, units in items if text for unit in units}
        stored = self._stored(list(keys))
        counts["from_cache"] += len(stored)
        shown.update(len(stored))
        if len(stored) < len(keys) and self._answers is None and self._stop is None:
            chunks = self._until_stopped(list(self._left(items)))
            for answers in self._endpoint.map(self._settle, chunks):
                stored |= self._keep(answers, counts)
                shown.update(sum(len(units) for (_, units), *_ in answers))
        for text, units in items:
            found = [stored.get(pair_key(text, u), np.nan) if text else 0.0 for u in units]
            results.append(np.array(found, dtype=np.float64))
            counts["pairs"] += len(units)
            counts["empty"] += 0 if text else len(units)
            counts["missing"] += int(np.isnan(results[-1]).sum())

    def _until_stopped(self, chunks: Sequence[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            if self._stop is not None:
                return
            yield chunk

    async def _settle(self, chunk: Chunk) -> list[Answer]:
        """Asks until the answer grades each unit: again in halves, a single unit twice."""
        text, units = chunk
        for _ in range(2 if len(units) == 1 else 1):
            request = self._prompt.request(text, units)
            schema = self._prompt.schema(len(units))
            try:
                reply = await self._endpoint.ask(request, schema, self._logprobs)
            except UnansweredError as error:
                self._why, self._failures = str(error), self._failures + 1
                if self._failures == max(8, self._endpoint.concurrency):
                    self._stop = f"the endpoint failed {self._failures} times in a row ({error})"
                return [(chunk, None, None)]
            except LitepyramidError as error:
                self._stop = error.what
                return [(chunk, None, None)]
            self._failures = 0
            self._pay(reply)
            if (grades := self._prompt.read(reply.text, len(units), reply.tokens)) is not None:
                return [(chunk, grades, reply)]
        self._why = "the answer does not grade the units asked for"
        if len(units) == 1:
            return [(chunk, None, reply)]
        half = (len(units) + 1) // 2
        parts = [await self._settle((text, part)) for part in (units[:half], units[half:])]
        return [answer for part in parts for answer in part]

    def _pay(self, reply: Reply) -> None:
        self._spent = [a + b for a, b in zip(self._spent, (1, *reply.spent), strict=True)]
        if self._price and self._max_cost is not None:
            cost = self._price.of(*self._spent[1:])
            if cost >= self._max_cost:
                self._stop = f"{cost:.2f} were spent, of --max-cost {self._max_cost:g}"

    def _keep(self, answers: Iterable[Answer], counts: dict[str, int]) -> dict[bytes, float]:
        """Puts answers into the cache, each under its version; those of the run's are its own."""
        own: dict[bytes, float] = {}
        for (text, units), grades, reply in answers:
            if grades is None or reply is None:
                continue
            version = f"{reply.version} {'probability' if reply.tokens else 'grade'}"
            rows = {pair_key(text, unit): g for unit, g in zip(units, grades, strict=True)}
            self._cache.put(
                self._identity(version),
                {key: StoredLogits(np.float64(g).tobytes(), False) for key, g in rows.items()},
            )
            counts["judged"] += len(rows)
            fits = not self._versions and self._wanted in (None, _name(version))
            if version not in self._versions and (fits or self._wanted == "any"):
                self._versions.append(version)
            if version in self._versions:
                own |= rows
            else:
                before = self._wanted or self._versions[0]
                self._stop = (
                    f"the endpoint answers as '{version}', and '{before}' is judged with "
                    f"(--model-version {_name(version)} takes it instead, any mixes them)"
                )
        return own

    def _take(self, path: str | Path, items: Items, counts: dict[str, int]) -> None:
        """Puts a batch endpoint's answers into the cache."""
        asked = {
            line["custom_id"]: chunk
            for everything in (True, False)
            for chunk, line in self._bodies(items, everything=everything)
        }
        found = 0
        for name, value in read_answers(path):
            if name not in asked:
                continue
            found += 1
            (text, units), grades = asked[name], None
            try:
                reply = Reply.of(value)
                grades = self._prompt.read(reply.text, len(units), reply.tokens)
            except UnansweredError as error:
                self._why = str(error)
            if grades is not None:
                self._pay(reply)
                self._keep([((text, units), grades, reply)], counts)
        counts["from_cache"] -= counts["judged"]
        if not found:
            raise InputError(
                "answers none of the requests",
                path=path,
                expected="the answers to what --batch wrote for the same data and settings",
            )


def _name(version: str) -> str:
    """The model's own name in a version.

    Example:
        >>> _name("gpt-x-2026 without seed probability")
        'gpt-x-2026'
    """
    return version.rpartition(" ")[0].partition(" without ")[0]
