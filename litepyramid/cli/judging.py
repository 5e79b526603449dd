"""The options of judges that have settings, written once for all commands that judge."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

from litepyramid.cli.options import option, with_options
from litepyramid.cli.outputs import MADE, WRITTEN

PANEL = "NLI judges (a hub id or a folder)"
_LLM = "Judges behind an endpoint (llm:MODEL)"


def _option(help: str, *names: str, **settings: Any) -> Any:
    return option(help, *names, panel=_LLM, show_default=False, **settings)


def _nli(help: str, *names: str, **settings: Any) -> Any:
    return option(help, *names, panel=PANEL, show_default=False, **settings)


EndpointOption = Annotated[
    str | None,
    _option("URL of an OpenAI-compatible endpoint, up to /v1; key in OPENAI_API_KEY."),
]
PromptOption = Annotated[
    str | None, _option("yes-no (default), three (1, .5, 0), minicheck, or a template file.")
]
ParametersOption = Annotated[str | None, _option("Extra request fields, as JSON.", metavar="JSON")]
ConcurrencyOption = Annotated[
    int | None, _option("Concurrent requests. [default: 16]", min=1, metavar="N")
]
TimeoutOption = Annotated[float | None, _option("Seconds per request. [default: 120]", metavar="N")]
EstimateOption = Annotated[bool, _option("Only show requests, tokens and price.", "--estimate")]
PricesOption = Annotated[
    Path | None, _option('{"MODEL": {"in": PRICE, "out": PRICE}} per million tokens.')
]
MaxCostOption = Annotated[
    float | None, _option("Stop before spending more (by --prices); judgements are kept.")
]


def _llm(
    endpoint: EndpointOption = None,
    prompt: PromptOption = None,
    units_per_request: Annotated[
        int | None, _option("Units per request. [default: 20]", min=1, metavar="N")
    ] = None,
    no_logprobs: Annotated[
        bool, _option("Use grades, not their probabilities.", "--no-logprobs")
    ] = False,
    parameters: ParametersOption = None,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    retries: Annotated[
        int | None, _option("Retries per request. [default: 6]", min=0, metavar="N")
    ] = None,
    model_version: Annotated[
        str | None, _option("Expected model version; any: mix versions.")
    ] = None,
    allow_missing: Annotated[
        float | None, _option("Share of pairs that may have no judgement. [default: 0]")
    ] = None,
    estimate: EstimateOption = False,
    prices: PricesOption = None,
    max_cost: MaxCostOption = None,
    batch: Annotated[
        Path | None, _option("Only write the requests to this batch file."), WRITTEN
    ] = None,
    answers: Annotated[
        Path | None, _option("Only read answers from this batch file, complete or partial.")
    ] = None,
) -> dict[str, Any]:
    """The settings given, as `make_judge` takes them."""
    settings: dict[str, Any] = dict(locals())
    settings["logprobs"] = False if settings.pop("no_logprobs") else None
    return settings | {"parameters": read_parameters(parameters), "estimate": estimate or None}


def read_parameters(text: str | None) -> Any:
    """The fields that --parameters names."""
    from litepyramid.checked import check_shape, parse_json

    if text is None:
        return None
    value = parse_json(text, expected="--parameters '{\"top_p\": 1}'")
    check_shape(value, {str: object}, what="--parameters")
    return value


@with_options("llm", _llm)
def _settings(
    mode: Annotated[
        Literal["p3c", "l3c", "p2c", "l2c"] | None,
        _nli("Presence from logits. [default: p2c for models tuned on presence, else l3c]"),
    ] = None,
    revision: Annotated[str | None, _nli("Branch, tag or commit of a hub model.")] = None,
    max_length: Annotated[
        int | None,
        _nli("Maximum tokens of a pair; truncation is counted. [default: 400]", metavar="N"),
    ] = None,
    label_map: Annotated[
        str | None,
        _nli("entailment=0,neutral=1,contradiction=2 or present=1,absent=0.", metavar="MAP"),
    ] = None,
    device: Annotated[
        str | None, _nli("cpu, cuda, cuda:1, mps. [default: a GPU if there is one]")
    ] = None,
    devices: Annotated[
        str | None, _nli("Several, with a model on each: cuda:0,cuda:1; or all.", metavar="LIST")
    ] = None,
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16", "float16", "int8"] | None,
        _nli(
            "auto, float32 (default on CPU), bfloat16 or float16 (on GPU), int8 (CPU only).",
            metavar="TYPE",
        ),
    ] = None,
    batch_tokens: Annotated[
        int | None,
        _nli("Maximum tokens of a batch. [default: 4096; on a GPU 32768]", min=1, metavar="N"),
    ] = None,
    threads: Annotated[
        int | None,
        _nli("Threads on CPU. [default: one per free core]", min=1, metavar="N"),
    ] = None,
    offline: Annotated[bool, _nli("Look only in the local hub cache.", "--offline")] = False,
    long: Annotated[
        Literal["cut", "split"] | None,
        _nli("Summaries that are too long: cut (default), or split; the best part counts."),
    ] = None,
    cache: Annotated[
        Path | None, _nli("Cache file. [default: see `litepyramid cache path`]"), MADE
    ] = None,
    no_cache: Annotated[bool, _nli("Do not use the cache.", "--no-cache")] = False,
    *,
    llm: dict[str, Any],
) -> dict[str, Any]:
    """The settings given, as `make_judge` takes them."""
    settings: dict[str, Any] = dict(locals())
    from litepyramid.errors import InputError
    from litepyramid.judges.nli.labels import parse_label_map

    if cache is not None and no_cache:
        raise InputError("--cache and --no-cache", expected="one of the two")
    settings |= settings.pop("llm") | {
        "label_map": parse_label_map(label_map) if label_map else None,
        "devices": [name.strip() for name in devices.split(",")] if devices else None,
        "offline": offline or None,
    }
    without = {"cache": None} if settings.pop("no_cache") else {}
    return {name: value for name, value in settings.items() if value is not None} | without


def _writer(
    llm: Annotated[
        str | None, _option("Have this model write the units, instead of STUs.", metavar="MODEL")
    ] = None,
    endpoint: EndpointOption = None,
    prompt: Annotated[Path | None, _option("Your own prompt, with {sentences}.")] = None,
    parameters: ParametersOption = None,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    estimate: EstimateOption = False,
    prices: PricesOption = None,
    max_cost: MaxCostOption = None,
) -> dict[str, Any]:
    """The settings given, as `write_units` takes them; empty without a model."""
    from litepyramid.errors import InputError

    settings = {
        "endpoint": endpoint, "prompt": prompt, "parameters": read_parameters(parameters),
        "concurrency": concurrency, "timeout": timeout, "estimate": estimate or None,
        "prices": prices, "max_cost": max_cost,
    }  # fmt: skip
    given = {name: value for name, value in settings.items() if value is not None}
    if llm is None and given:
        raise InputError(f"--{next(iter(given)).replace('_', '-')} without --llm", expected="both")
    return {} if llm is None else {"model": llm, **given}


def _shows_estimates(command: Callable[..., None]) -> Callable[..., None]:
    """Where an estimate alone was asked for, that is the command's result."""

    @wraps(command)
    def shown(**given: Any) -> None:
        from litepyramid.judges.base import UnsentError
        from litepyramid.tables import emit

        try:
            command(**given)
        except UnsentError as unsent:
            to = given.get("output") if "form" in given else None
            emit(unsent.result, given.get("form", "table"), to)

    return shown


def with_judge_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of judges to a command that takes `judge_settings`.

    The command gets those that the user gave, as keyword arguments of `make_judge`.
    """
    return with_options("judge_settings", _settings)(_shows_estimates(command))


def with_writer(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of units by a language model to a command that takes `writer`.

    The command gets those that the user gave, as keyword arguments of `write_units`.
    """
    return with_options("writer", _writer)(_shows_estimates(command))
