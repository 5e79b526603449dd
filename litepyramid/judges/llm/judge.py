"""A language model behind an endpoint as judge: a pair is paid for once; no answer is never 0."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.base import Items, JudgedBatch, note_cached, pair_key, pairs_of, windows
from litepyramid.judges.llm.ask import Asker, Job
from litepyramid.judges.llm.client import Endpoint, Reply, safe_name
from litepyramid.judges.llm.prompt import Prompt, load_prompt
from litepyramid.progress import bar
from litepyramid.text import one_line
from litepyramid.types import FloatArray


class LLMJudge:
    """Asks a model behind an OpenAI-compatible endpoint which units a summary conveys.

    Units of one summary share requests. What was judged is kept in the cache at once, under the
    model, the version that the endpoint reports, the prompt's hash and the parameters, and is not
    asked for again. What could not be had is NaN.

    Args:
        model: As the endpoint calls it; its key comes from the environment (see `Endpoint`).
        endpoint: Its address up to /v1; none for OPENAI_BASE_URL, else OpenAI's own.
        prompt: yes-no, three (1, .5, 0), minicheck, or a file.
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
        prompt: str | Path = "yes-no",
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
        self._prompt: Prompt = load_prompt(prompt)
        if units_per_request < 1:
            raise InputError("no units per request", expected="at least 1")
        if not 0 <= allow_missing <= 1:
            raise InputError(f"allow_missing is {allow_missing}", expected="a share, 0 to 1")
        self._size = 1 if self._prompt.single else units_per_request
        self._endpoint = Endpoint(
            model, endpoint, concurrency, timeout, retries, parameters or {}, seed
        )
        identity = {"prompt": self._prompt.sha, "units_per_request": self._size}
        self._asker = Asker(self._endpoint, identity, cache)
        self._allowed, self._estimate = allow_missing, estimate

    def __enter__(self) -> LLMJudge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def in_language(self, language: str) -> LLMJudge:
        """A judge whose prompt says the language of the texts, with the same cache."""
        judge = copy(self)
        judge._prompt = self._prompt.in_language(language)
        identity = {"prompt": judge._prompt.sha, "units_per_request": self._size}
        judge._asker = Asker(self._endpoint, identity, self._asker.cache)
        return judge

    def close(self) -> None:
        """Closes the cache."""
        self._asker.cache.close()

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item; see `LLMJudge` for what is sent."""
        asker = self._asker
        asker.begin()
        items = [(text.strip(), [one_line(unit) for unit in units]) for text, units in items]
        distinct = len(pairs_of(items))
        if self._estimate:
            raise asker.estimate(self._jobs(items), distinct)
        counts = dict.fromkeys(("pairs", "empty", "missing", "from_cache"), 0)
        results: list[FloatArray] = []
        try:
            with bar(distinct, "judging", "pairs") as shown:
                for window in windows(items):
                    self._window(window, counts, results, shown)
        except KeyboardInterrupt as stop:
            note_cached(stop, asker.answered, asker.cache.path)
            raise
        counts |= {"judged": asker.answered, **asker.counts}
        missing, pairs = counts["missing"], counts["pairs"]
        if missing > self._allowed * pairs:
            error = asker.failure(missing, pairs, "pair")
            share = f"allow_missing={np.ceil(1e4 * missing / pairs) / 1e4:g}"
            cached = "The others are kept. " if asker.cache.path and missing < pairs else ""
            hint = f"{cached}Run again to request the rest, or accept this with {share}."
            raise ModelError(error.what, hint=f"{error.hint} {hint}" if error.hint else hint)
        return JudgedBatch(tuple(results), self.signature(), counts)

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
        keys = [key for job in jobs for key in job.keys]
        values = asker.stored(keys)
        missing = [job for job in jobs if not all(key in values for key in job.keys)]
        if self._estimate:
            raise asker.estimate(missing, len(keys))
        with bar(len(missing), "asking", f"{what}s") as shown:
            values |= asker.ask(missing, shown)
        if len(values) < len(set(keys)):
            raise asker.failure(len(set(keys)) - len(values), len(set(keys)), what)
        return values, asker

    def _window(
        self, items: Items, counts: dict[str, int], results: list[FloatArray], shown: Any
    ) -> None:
        keys = list(pairs_of(items))
        stored = self._asker.stored(keys)
        counts["from_cache"] += len(stored)
        shown.update(len(stored))
        if len(stored) < len(keys):
            stored |= self._asker.ask(list(self._jobs(items)), shown)
        values = {key: float(np.frombuffer(raw, "<f8")[0]) for key, raw in stored.items()}
        for text, units in items:
            row = [values.get(pair_key(text, u), np.nan) if text else 0.0 for u in units]
            results.append(np.array(row, dtype=np.float64))
            counts["pairs"] += len(units)
            counts["empty"] += 0 if text else len(units)
            counts["missing"] += int(np.isnan(results[-1]).sum())

    def _jobs(self, items: Items) -> Iterator[Job]:
        """The requests for what is not cached: a summary with the missing ones of each n units."""
        seen: set[bytes] = set()
        for window in windows(items):
            cached = self._asker.stored(list(pairs_of(window)))
            for text, units in window:
                fresh = [u for u in dict.fromkeys(units) if text and pair_key(text, u) not in seen]
                seen.update(pair_key(text, unit) for unit in fresh)
                for start in range(0, len(fresh), self._size):
                    part = fresh[start : start + self._size]
                    if missing := [u for u in part if pair_key(text, u) not in cached]:
                        yield self._job(text, missing)

    def _job(self, text: str, units: Sequence[str]) -> Job:
        prompt, count = self._prompt, len(units)

        def read(reply: Reply) -> list[bytes] | None:
            grades = prompt.read(reply.text, count)
            return None if grades is None else [np.float64(grade).tobytes() for grade in grades]

        return Job(
            tuple(pair_key(text, unit) for unit in units),
            prompt.request(text, units),
            prompt.schema(count),
            read,
            2 if prompt.single else 3 + 6 * count,
        )
