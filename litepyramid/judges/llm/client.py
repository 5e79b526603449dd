"""Requests to an OpenAI-compatible endpoint: many at once, patient, cancelled at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from litepyramid.errors import InputError, ModelError, reason, require

Job = TypeVar("Job")

KEYS = ("LITEPYRAMID_API_KEY", "OPENAI_API_KEY")
_OPTIONAL = {
    "response_format": ("response_format", "schema", "structured", "guided"),
    "logprobs": ("logprobs",),
    "temperature": ("temperature",),
    "seed": ("seed",),
}
"""What a server may refuse, by the words with which it says so."""


class UnansweredError(Exception):
    """One request got no answer, after all tries; the message says why."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer.

    Attributes:
        text: What the model wrote.
        tokens: Its log-probabilities, one entry per token; None if there are none.
        version: The model that the endpoint says answered, and what it refused to be asked for.
        spent: Tokens read and written.
    """

    text: str
    tokens: list[Any] | None
    version: str
    spent: tuple[int, int]

    @classmethod
    def of(cls, value: Any, refused: Iterable[str] = ()) -> Reply:
        """Reads the JSON of a chat completion.

        Raises:
            UnansweredError: It is none, or holds no text.
        """
        try:
            choice = value["choices"][0]
            text = choice["message"]["content"]
            usage = value.get("usage") or {}
            spent = [int(usage.get(f"{kind}_tokens") or 0) for kind in ("prompt", "completion")]
            tokens = (choice.get("logprobs") or {}).get("content") or None
            version = str(value.get("model") or "unnamed")
        except (TypeError, KeyError, IndexError, AttributeError, ValueError):
            raise UnansweredError("the answer is not a chat completion") from None
        if without := " ".join(sorted(refused)):
            version += f" without {without}"
        if not isinstance(text, str) or not text.strip():
            raise UnansweredError("the answer has no text")
        return cls(text, tokens, version, (spent[0], spent[1]))


@dataclass
class Endpoint:
    """A model behind an endpoint, and how to ask it.

    The key is read from the environment when requests are sent (``LITEPYRAMID_API_KEY``, else
    ``OPENAI_API_KEY``), and is kept nowhere.

    Attributes:
        model: As the endpoint calls it.
        url: Its address up to ``/v1``; ``OPENAI_BASE_URL``, else OpenAI's own, if None.
        concurrency: The most requests under way.
        timeout: Seconds that a request may take before it is sent again.
        retries: How often a request is sent again after 408, 409, 429, 5xx, a timeout or a broken
            connection; after the time that the server names, else after .5, 1, 2, 4, 8, 8 … s.
        parameters: More fields of each request; they replace ``temperature`` 0 and the seed.
        seed: Sent with each request.

    Raises:
        InputError: The address is none, or holds a password or a query.
    """

    model: str
    url: str | None = None
    concurrency: int = 16
    timeout: float = 120.0
    retries: int = 6
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 12345

    def __post_init__(self) -> None:
        self._client: Any = None
        self._refused: set[str] = set()
        self._accepted = False
        if not self.model:
            raise InputError("no model", expected="llm:MODEL, as the endpoint calls it")
        if self.concurrency < 1 or self.retries < 0 or not self.timeout > 0:
            raise InputError(
                f"concurrency {self.concurrency}, timeout {self.timeout}, retries {self.retries}",
                expected="at least 1, above 0, at least 0",
            )
        parts = urlsplit(self.url or "https://")
        if parts.scheme not in ("http", "https") or parts.query or "@" in parts.netloc:
            raise InputError(
                "the endpoint's address cannot be used",
                expected="http(s)://HOST/v1 without a user or a query",
                hint=f"Keys are read only from the environment: {' or '.join(KEYS)}.",
            )

    @property
    def fields(self) -> dict[str, Any]:
        """What each request holds besides the model and the text."""
        return {"temperature": 0, "seed": self.seed, **self.parameters}

    def body(self, text: str, schema: Mapping[str, Any] | None, logprobs: bool) -> dict[str, Any]:
        """One request, as the endpoint takes it."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": text}],
            **self.fields,
        }
        if schema is not None:
            form = {"name": "answer", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if logprobs:
            body |= {"logprobs": True, "top_logprobs": 5}
        return body

    async def ask(
        self, text: str, schema: Mapping[str, Any] | None = None, logprobs: bool = False
    ) -> Reply:
        """Sends one request, inside `run`; what the server refuses to be asked for is left out.

        Raises:
            UnansweredError: There is no answer after all tries.
            ModelError: No request can be answered: the key or the model's name is refused.
        """
        import openai

        body = self.body(text, schema, logprobs)
        left = set(self._refused)
        while True:
            sent = {n: v for n, v in body.items() if n.removeprefix("top_") not in left}
            try:
                value = await self._client.post("/chat/completions", cast_to=object, body=sent)
                break
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                said = str(error).lower()
                there = set(_OPTIONAL) & set(sent)
                named = {name for name in there if any(word in said for word in _OPTIONAL[name])}
                if not named and (self._accepted or not there):
                    raise UnansweredError(self._said(error)) from None
                left |= named or there
            except (
                openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError,
            ) as error:  # fmt: skip
                raise ModelError(
                    f"the endpoint refuses the model '{self.model}' ({self._said(error)})",
                    hint=f"Check --endpoint, the model's name, and {' or '.join(KEYS)}.",
                ) from None
            except openai.OpenAIError as error:
                raise UnansweredError(self._said(error)) from None
            except ValueError:
                raise UnansweredError("the answer is not JSON") from None
        self._refused, self._accepted = left, True
        return Reply.of(value, left - {"logprobs"})

    def run(self, work: Callable[[Job], Awaitable[None]], jobs: Iterable[Job]) -> None:
        """Runs `work`, which may `ask`, on jobs, so many at once as the concurrency.

        It works where an event loop runs; Ctrl-C cancels what is under way.

        Raises:
            MissingExtraError: The package openai is not installed.
        """
        openai = require("openai", extra="llm", purpose="an LLM endpoint")
        key = self._key()
        if not key and not self.url and not os.environ.get("OPENAI_BASE_URL"):
            raise InputError(
                "no key for the endpoint",
                expected=f"{' or '.join(KEYS)} in the environment, or --endpoint URL",
            )
        turn = iter(jobs)

        async def worker() -> None:
            for job in turn:
                await work(job)

        async def everything() -> None:
            async with (
                openai.AsyncOpenAI(
                    api_key=key or "none",
                    base_url=self.url,
                    timeout=self.timeout,
                    max_retries=self.retries,
                ) as self._client,
                asyncio.TaskGroup() as group,
            ):
                for _ in range(self.concurrency):
                    group.create_task(worker())

        loop = asyncio.new_event_loop()
        task = loop.create_task(everything())
        with closing(loop), ThreadPoolExecutor(1, "endpoint") as thread:
            done = thread.submit(loop.run_until_complete, task)
            try:
                done.result()
            except BaseExceptionGroup as group:
                raise group.exceptions[0] from None
            except BaseException:
                loop.call_soon_threadsafe(task.cancel)
                raise

    def _key(self) -> str:
        return next((value for name in KEYS if (value := os.environ.get(name, "").strip())), "")

    def _said(self, error: Exception) -> str:
        """An error of the server in few words, the key taken out should it quote it."""
        said, key = reason(error), self._key()
        return said.replace(key, "…") if key else said
