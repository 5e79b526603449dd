"""A language model behind an endpoint as judge: a pair is paid for once; no answer is never 0."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.base import Items, JudgedBatch, note_kept, pair_key, pairs_of, windows
from litepyramid.judges.llm.ask import Asker, Job
from litepyramid.judges.llm.client import Endpoint, Reply
from litepyramid.judges.llm.prompt import Prompt, load_prompt
from litepyramid.progress import bar
from litepyramid.text import counted, one_line
from litepyramid.types import FloatArray


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
        concurrency: As for `Endpoint`, like `timeout`, `retries`, `parameters` and `seed`.
        timeout: Seconds.
        retries: Retries of one request.
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
        cache: As for `TransformersJudge`.
        progress: As for `TransformersJudge`.

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
        self._prompt: Prompt = load_prompt(prompt)
        if units_per_request < 1:
            raise InputError("no units per request", expected="at least 1")
        if not 0 <= allow_missing <= 1:
            raise InputError(f"allow_missing is {allow_missing}", expected="a share, 0 to 1")
        self._size = 1 if self._prompt.single else units_per_request
        self._endpoint = Endpoint(
            model, endpoint, concurrency, timeout, retries, parameters or {}, seed
        )
        self._asker = Asker(
            self._endpoint,
            {"prompt": self._prompt.sha, "units_per_request": self._size},
            logprobs=logprobs,
            model_version=model_version,
            prices=prices,
            max_cost=max_cost,
            cache=cache,
        )
        self._allowed, self._estimate, self._batch = allow_missing, estimate, batch
        self._answers, self._progress = answers, progress

    def __enter__(self) -> LLMJudge:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the cache."""
        self._asker.cache.close()

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
        asker = self._asker
        asker.begin()
        items = [(text.strip(), [one_line(unit) for unit in units]) for text, units in items]
        distinct = len(pairs_of(items))
        asker.plan(self._jobs(items), distinct, estimate=self._estimate, batch=self._batch)
        if self._answers is not None:
            every = chain(self._jobs(items, everything=True), self._jobs(items))
            asker.take(self._answers, every)
        counts = dict.fromkeys(("pairs", "empty", "missing"), 0) | {"from_cache": -asker.kept}
        results: list[FloatArray] = []
        try:
            with bar(distinct, "judging", "pairs", shown=self._progress) as shown:
                for window in windows(items):
                    self._window(window, counts, results, shown)
        except KeyboardInterrupt as stop:
            note_kept(stop, asker.kept, asker.cache.path)
            raise
        spent = zip(("requests", "tokens_in", "tokens_out"), asker.spent, strict=True)
        counts |= {"judged": asker.kept, **dict(spent)}
        missing, pairs = counts["missing"], counts["pairs"]
        if missing > self._allowed * pairs:
            kept = "The others are kept. " if asker.cache.path else ""
            raise ModelError(
                f"{missing} of {counted(pairs, 'pair')} have no judgement"
                + (f": {asker.why}" if asker.why else ""),
                hint=f"{kept}Run again to request the rest, or accept this with "
                f"--allow-missing {np.ceil(1e4 * missing / pairs) / 1e4:g}.",
            )
        return JudgedBatch(tuple(results), self.signature(), counts)

    def signature(self) -> dict[str, str]:
        """The judge's part of the signature, the endpoint's reported version in it."""
        own = {"units_per_request": self._size, **self._endpoint.fields}
        return {
            "judge": f"llm:{self._endpoint.model}",
            **self._asker.signature(),
            "prompt": f"{self._prompt.name}-{self._prompt.sha}",
            "parameters": ",".join(f"{name}={json.dumps(own[name])}" for name in sorted(own)),
        }

    def _window(
        self, items: Items, counts: dict[str, int], results: list[FloatArray], shown: Any
    ) -> None:
        keys = list(pairs_of(items))
        stored = self._asker.stored(keys)
        counts["from_cache"] += len(stored)
        shown.update(len(stored))
        if len(stored) < len(keys) and self._answers is None:
            stored |= self._asker.ask(list(self._jobs(items)), shown)
        values = {key: float(np.frombuffer(raw, "<f8")[0]) for key, raw in stored.items()}
        for text, units in items:
            found = [values.get(pair_key(text, u), np.nan) if text else 0.0 for u in units]
            results.append(np.array(found, dtype=np.float64))
            counts["pairs"] += len(units)
            counts["empty"] += 0 if text else len(units)
            counts["missing"] += int(np.isnan(results[-1]).sum())

    def _jobs(self, items: Items, *, everything: bool = False) -> Iterator[Job]:
        """The requests for what is not known: a summary with the unknown ones of each n units."""
        seen: set[bytes] = set()
        for window in windows(items):
            known = {} if everything else self._asker.stored(list(pairs_of(window)))
            for text, units in window:
                fresh = [u for u in dict.fromkeys(units) if text and pair_key(text, u) not in seen]
                seen.update(pair_key(text, unit) for unit in fresh)
                for start in range(0, len(fresh), self._size):
                    part = fresh[start : start + self._size]
                    if left := [u for u in part if pair_key(text, u) not in known]:
                        yield self._job(text, left)

    def _job(self, text: str, units: Sequence[str]) -> Job:
        prompt, count = self._prompt, len(units)

        def read(reply: Reply) -> list[bytes] | None:
            grades = prompt.read(reply.text, count, reply.tokens)
            return None if grades is None else [np.float64(grade).tobytes() for grade in grades]

        def halves() -> list[Job]:
            middle = (count + 1) // 2
            parts = (units[:middle], units[middle:]) if count > 1 else ()
            return [self._job(text, part) for part in parts]

        return Job(
            tuple(pair_key(text, unit) for unit in units),
            prompt.request(text, units),
            prompt.schema(count),
            read,
            halves,
            2 if prompt.single else 3 + 6 * count,
        )
