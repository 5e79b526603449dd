"""Requests to an OpenAI-compatible endpoint: many at once, bounded, patient, cancelled
at once."""

import asyncio
import os
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

from litepyramid.errors import InputError, ModelError, reason, require
from litepyramid.text import cut

Work = TypeVar("Work")

KEYS = ("LITEPYRAMID_API_KEY", "OPENAI_API_KEY")
_LONGEST_REDACTED = 2000  # characters of a message; redaction takes their square
_SHORTEST_KEY = 8
MOST_BYTES = 2**20
"""The most bytes of an answer, unpacked."""
_OPTIONAL = {  # what a server may refuse, by the words with which it says so
    "response_format": ("response_format", "schema", "structured", "guided"),
    "temperature": ("temperature",),
    "seed": ("seed",),
}


_LONGEST_WAIT = 120  # seconds; the client waits no longer
_CUT = (
    ', cut short: allow more with parameters={"max_tokens": 4000}, or ask for less '
    "at once"
)
_KEY = "refuses the key", f"Check {' or '.join(KEYS)} in the environment."
_REDIRECT = (
    "sends requests on to another host or port, or in circles",
    "No text is sent there. Name the last address yourself if you trust it.",
)
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_REDIRECTS = 5
_FINAL = {
    **dict.fromkeys(_REDIRECTS, _REDIRECT),
    401: _KEY,
    403: _KEY,
    404: ("has no model '{}'", "Check its name, and the address."),
}


class UnansweredError(Exception):
    """One request got no answer, after all tries; the message says why."""


@dataclass(frozen=True)
class Reply:
    """An answer, and its tokens as the endpoint counts them; 0 if it gives no sensible
    number.

    `version` is the model that the endpoint says answered, and what it refused to be
    asked for; `cut` says what to do if the text cannot be read, as it was cut short.
    """

    text: str
    version: str
    cut: str
    tokens_in: int
    tokens_out: int

    @classmethod
    def of(cls, value: Any, refused: Iterable[str] = ()) -> Self:
        """Reads the JSON of a chat completion, of which nothing is trusted."""
        try:
            choice = value["choices"][0]
            text = choice["message"]["content"]
            short = _CUT if choice.get("finish_reason") == "length" else ""
            usage = value.get("usage")
            model = value.get("model")
        except (TypeError, KeyError, IndexError, AttributeError):
            raise UnansweredError("the answer is not a chat completion") from None

        if not isinstance(text, str) or not text.strip():
            raise UnansweredError(f"the answer has no text{short}")
        version = safe_name(model)
        if without := " ".join(sorted(refused)):
            version += f" without {without}"
        usage = usage if isinstance(usage, dict) else {}
        tokens = [usage.get(f"{kind}_tokens") for kind in ("prompt", "completion")]

        # Whoever answers may write anything there: true, "12", -1, 1e400.
        counts = [n if type(n) is int and 0 <= n <= 10**9 else 0 for n in tokens]
        return cls(text, version, short, *counts)


def safe_name(name: Any) -> str:
    """A model's name as signatures hold it: short, printable, without a key or a
    separator."""
    if not isinstance(name, str) or not name:
        return "unnamed"
    return cut(re.sub(r"[|\s]+", "_", without_keys(name)), 80)


def without_keys(value: Any) -> Any:
    """A text without the keys of the environment, or what holds texts, likewise."""
    if isinstance(value, Mapping):
        return {without_keys(name): without_keys(one) for name, one in value.items()}

    if isinstance(value, list | tuple):
        return [without_keys(one) for one in value]

    if isinstance(value, str):
        for key in _keys():
            if value == key:
                value = "…"
            # "x", for a server without keys, is none: it would hide every x.
            elif len(key) >= _SHORTEST_KEY:
                value = redacted(value.replace(key, "…"), key)

    return value


def _keys() -> list[str]:
    """The keys in the environment, the longest first: one may begin another."""
    keys = {os.environ.get(name, "").strip() for name in KEYS}
    return sorted(keys - {""}, key=len, reverse=True)


def _check_address(address: str, whose: str) -> None:
    """Sees that an address holds no credentials: it is shown in messages."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:
        usable = False
    else:
        usable = usable and not (parts.query or parts.fragment or "@" in address)

    long_keys = [key for key in _keys() if len(key) >= _SHORTEST_KEY]
    if not usable or any(key in address for key in long_keys):
        raise InputError(
            f"{whose} address cannot be used",
            expected="http(s)://HOST/v1 without a user or a query; keys in the "
            "environment",
        )


def redacted(text: str, key: str) -> str:
    """A text, unless it is long, without any part of the key of eight characters or
    more: what cuts a message may cut the key in it."""
    if len(text) > _LONGEST_REDACTED:
        return text

    for size in range(len(key), min(7, max(len(key) - 1, 0)), -1):
        for start in range(len(key) - size + 1):
            text = text.replace(key[start : start + size], "…")
    return text


@dataclass
class Endpoint:
    """A model behind an endpoint, and how to ask it.

    Settings are those of `LLMJudge`. The key is read from the environment when requests
    are sent (``LITEPYRAMID_API_KEY``, else ``OPENAI_API_KEY``), and is kept nowhere. A
    request is sent again after 408, 409, 429, 5xx, a timeout or a broken connection,
    when the server says or after .5, 1, 2, 4, 8, 8 … s.
    """

    model: str
    url: str | None = None
    concurrency: int = 16
    timeout: float = 120.0
    retries: int = 6
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._client: Any = None
        self._refused: set[str] = set()
        self._accepted = False
        if not self.model.strip():
            raise InputError("no model", expected="llm:MODEL, as the endpoint calls it")

        if self.concurrency < 1 or self.retries < 0 or not self.timeout > 0:
            numbers = (
                f"{self.concurrency}, timeout {self.timeout}, retries {self.retries}"
            )
            raise InputError(
                f"concurrency {numbers}", expected="at least 1, above 0, at least 0"
            )

        _check_address(
            self.address, "the endpoint's" if self.url else "OPENAI_BASE_URL's"
        )

    @property
    def address(self) -> str:
        """Where requests go, for messages."""
        return (
            self.url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        )

    @property
    def fields(self) -> dict[str, Any]:
        """What each request holds besides the model and the text."""
        return {"temperature": 0, "seed": 12345, **self.parameters}

    async def ask(self, text: str, schema: Mapping[str, Any] | None = None) -> Reply:
        """Sends one request, inside `run`; what the server refuses to be asked for is
        left out."""
        import openai

        messages = [{"role": "user", "content": text}]
        body = {"model": self.model, "messages": messages, **self.fields}
        if schema is not None:
            form = {"name": "answer", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}

        left_out = set(self._refused)
        while True:
            sent = {name: value for name, value in body.items() if name not in left_out}
            try:
                value = await self._client.post(
                    "/chat/completions", cast_to=object, body=sent
                )
                break
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                message = str(error).lower()
                optional = set(_OPTIONAL) & set(sent)
                named = set()
                for name in optional:
                    if any(word in message for word in _OPTIONAL[name]):
                        named.add(name)
                # It names nothing, but has taken such requests before: another fault.
                if not named and (self._accepted or not optional):
                    raise UnansweredError(_why(error)) from None
                left_out |= named or optional
            except openai.OpenAIError as error:
                status = int(getattr(error, "status_code", 0))
                what, hint = _FINAL.get(status, ("", ""))
                seconds = _wait(error)
                if seconds > _LONGEST_WAIT:
                    what = f"asks to wait for {seconds:.0f} seconds"
                    hint = "Run again then."

                if not what:
                    # What tells a fault of the request was reached.
                    told = 0 < status < 500
                    check = "" if told else "; check that the endpoint runs"
                    raise UnansweredError(_why(error) + check) from None
                raise ModelError(
                    f"the endpoint {self.address} {what.format(self.model)} "
                    f"({_why(error)})",
                    hint=hint,
                ) from None
            except (ValueError, RecursionError):
                raise UnansweredError("the answer is not JSON") from None

        self._refused, self._accepted = left_out, True
        return Reply.of(value, left_out)

    def run(
        self, work: Callable[[Work], Awaitable[None]], jobs: Iterable[Work]
    ) -> None:
        """Runs `work`, which may `ask`, on jobs, so many at once as the concurrency.

        It works where an event loop runs; Ctrl-C cancels what is under way.
        """
        openai = require("openai", extra="llm", purpose="an LLM endpoint")
        key = _key()
        if not key and not self.url and not os.environ.get("OPENAI_BASE_URL"):
            raise InputError(
                "no key for the endpoint",
                expected=f"{' or '.join(KEYS)} in the environment, or the setting "
                "endpoint=URL",
            )

        turn = iter(jobs)

        async def worker() -> None:
            for job in turn:
                await work(job)

        async def everything() -> None:
            async with (
                openai.AsyncOpenAI(
                    api_key=key or "none",
                    base_url=self.address,
                    timeout=self.timeout,
                    max_retries=self.retries,
                    http_client=_bounded_client(openai, self.timeout),
                ) as self._client,
                asyncio.TaskGroup() as group,
            ):
                for _ in range(self.concurrency):
                    group.create_task(worker())

        # A thread of its own: a notebook runs a loop, and a second one in the same
        # thread is refused.
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


def _wait(error: Any) -> float:
    """The seconds, or the time, that a server asks to wait for; 0 if it asks none."""
    response = getattr(error, "response", None)
    told = "" if response is None else response.headers.get("Retry-After", "")
    with suppress(ValueError):
        return float(told)
    with suppress(ValueError):
        return parsedate_to_datetime(told).timestamp() - time.time()
    return 0.0


def _why(error: Exception) -> str:
    """An error of the server in few words, the key taken out before they are cut."""
    return reason(Exception(without_keys(str(error)[:_LONGEST_REDACTED])))


def _key() -> str:
    return next(
        (value for name in KEYS if (value := os.environ.get(name, "").strip())), ""
    )


def _leaves(here: Any, onward: Any) -> bool:
    """Whether a redirect leads to another host or port, to a user's, or to http from
    https."""
    moved = (here.host, here.port) != (onward.host, onward.port)
    unsafe = here.scheme == "https" != onward.scheme
    return moved or unsafe or bool(onward.userinfo)


def _bounded_client(openai: Any, seconds: float) -> Any:
    """An HTTP client that reads no answer for longer than `seconds`, or of more than 1
    MB."""
    base = openai.DefaultAsyncHttpxClient
    # httpx, or its successor.
    http = sys.modules[base.__mro__[1].__module__.partition(".")[0]]

    class Bounded(base):  # type: ignore[misc, valid-type]
        async def _within_host(self, request: Any, options: dict[str, Any]) -> Any:
            """Sends, and follows a few redirects that stay on the host and port, and as
            safe."""
            options = {**options, "stream": True, "follow_redirects": False}
            response = await super().send(request, **options)

            for _ in range(_MOST_REDIRECTS):
                onward = response.next_request
                if onward is None or _leaves(request.url, onward.url):
                    break

                await response.aclose()
                request = onward
                response = await super().send(request, **options)

            return response

        async def send(
            self, request: Any, *, stream: bool = False, **options: Any
        ) -> Any:
            # Unpacked, a small answer may be of any size: plain text is asked for.
            request.headers["Accept-Encoding"] = "identity"
            body = bytearray()
            try:
                async with asyncio.timeout(seconds):
                    response = await self._within_host(request, options)
                    request = response.request
                    try:
                        if "," in response.headers.get("Content-Encoding", ""):
                            raise http.DecodingError(
                                "packed more than once", request=request
                            )
                        async for chunk in response.aiter_bytes():
                            body += chunk
                            if len(body) > MOST_BYTES:
                                raise http.DecodingError(
                                    "more than 1 MB", request=request
                                )
                    finally:
                        await response.aclose()
            except TimeoutError:
                raise http.ReadTimeout(
                    "no whole answer in time", request=request
                ) from None

            headers = response.headers.copy()
            for name in ("Content-Encoding", "Content-Length", "Transfer-Encoding"):
                headers.pop(name, None)
            return http.Response(
                response.status_code,
                headers=headers,
                content=bytes(body),
                request=request,
            )

    return Bounded()
