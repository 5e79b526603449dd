"""The options of judges that have settings, written once for all commands that judge."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.options import with_options
from litepyramid.cli.outputs import MADE, WRITTEN

_PANEL = "NLI judges (a hub id or a folder)"
_LLM = "Judges behind an endpoint (llm:MODEL)"


def _option(help: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=_LLM, help=help, show_default=False, **settings)


EndpointOption = Annotated[
    str | None,
    _option("Address of an OpenAI-compatible endpoint, up to /v1. Its key: OPENAI_API_KEY."),
]
PromptOption = Annotated[
    str | None, _option("yes-no (default), three (1, .5, 0), minicheck, or a file of your own.")
]
ParametersOption = Annotated[
    str | None, _option("More fields of each request, as JSON.", metavar="JSON")
]
ConcurrencyOption = Annotated[
    int | None, _option("The most requests under way. Default: 16.", min=1)
]
TimeoutOption = Annotated[float | None, _option("Seconds for one request. Default: 120.")]
EstimateOption = Annotated[
    bool, _option("Show requests, tokens and price, and send nothing.", "--estimate")
]
PricesOption = Annotated[
    Path | None, _option('{"MODEL": {"in": PRICE, "out": PRICE}} per million tokens.')
]
MaxCostOption = Annotated[
    float | None, _option("Stop before more is spent, by --prices; what is judged is kept.")
]


def _llm(
    endpoint: EndpointOption = None,
    prompt: PromptOption = None,
    units_per_request: Annotated[
        int | None, _option("The most units of a summary in a request. Default: 20.", min=1)
    ] = None,
    no_logprobs: Annotated[
        bool, _option("Take the grades, not their probabilities.", "--no-logprobs")
    ] = False,
    parameters: ParametersOption = None,
    concurrency: ConcurrencyOption = None,
    timeout: TimeoutOption = None,
    retries: Annotated[int | None, _option("Of one request. Default: 6.", min=0)] = None,
    model_version: Annotated[
        str | None, _option("The reported version to judge with; any mixes versions.")
    ] = None,
    allow_missing: Annotated[
        float | None, _option("Share of pairs that may stay without a judgement. Default: 0.")
    ] = None,
    estimate: EstimateOption = False,
    prices: PricesOption = None,
    max_cost: MaxCostOption = None,
    batch: Annotated[
        Path | None, _option("Write the requests to this batch file, and send nothing."), WRITTEN
    ] = None,
    answers: Annotated[
        Path | None, _option("Take the answers of a batch, all or some, and send nothing.")
    ] = None,
) -> dict[str, Any]:
    """The settings given, as `make_judge` takes them."""
    return {
        "endpoint": endpoint,
        "prompt": prompt,
        "units_per_request": units_per_request,
        "logprobs": False if no_logprobs else None,
        "parameters": read_parameters(parameters),
        "concurrency": concurrency,
        "timeout": timeout,
        "retries": retries,
        "model_version": model_version,
        "allow_missing": allow_missing,
        "estimate": estimate or None,
        "prices": prices,
        "max_cost": max_cost,
        "batch": batch,
        "answers": answers,
    }


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
        typer.Option(
            rich_help_panel=_PANEL,
            help="Presence from logits. Default: p2c for a model tuned on presence, else l3c.",
            show_default=False,
        ),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option(rich_help_panel=_PANEL, help="Branch, tag or commit of a hub model."),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=_PANEL,
            help="Most tokens of a pair; a longer summary is cut, and counted. Default: 400.",
            show_default=False,
        ),
    ] = None,
    label_map: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=_PANEL,
            metavar="MAP",
            help="Labels by index or name: entailment=0,neutral=1,contradiction=2, or "
            "present=1,absent=0.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=_PANEL,
            help="cpu, cuda, cuda:1, mps. Default: a GPU if there is one.",
            show_default=False,
        ),
    ] = None,
    devices: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=_PANEL,
            metavar="LIST",
            help="Several, with a model on each: cuda:0,cuda:1; or all.",
        ),
    ] = None,
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16", "float16", "int8"] | None,
        typer.Option(
            rich_help_panel=_PANEL,
            help="Default: float32 on CPU, bfloat16 or float16 on a GPU. int8: CPU only.",
            show_default=False,
        ),
    ] = None,
    batch_tokens: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=_PANEL,
            min=1,
            help="Most tokens of a batch. Default: 4096 on CPU, 32768 on a GPU.",
            show_default=False,
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", rich_help_panel=_PANEL, help="Do not ask the hub.")
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=_PANEL,
            help="File of the judgements. Default: see `litepyramid cache path`.",
            show_default=False,
        ),
        MADE,
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", rich_help_panel=_PANEL, help="Keep no judgements.")
    ] = False,
    *,
    llm: dict[str, Any],
) -> dict[str, Any]:
    """The settings given, as `make_judge` takes them."""
    from litepyramid.errors import InputError
    from litepyramid.judges.nli.labels import parse_label_map

    if cache is not None and no_cache:
        raise InputError("--cache and --no-cache", expected="one of the two")
    settings = {
        "mode": mode,
        "revision": revision,
        "max_length": max_length,
        "label_map": parse_label_map(label_map) if label_map else None,
        "device": device,
        "devices": [name.strip() for name in devices.split(",")] if devices else None,
        "dtype": dtype,
        "batch_tokens": batch_tokens,
        "offline": offline or None,
        "cache": cache,
        **llm,
    }
    given: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    if no_cache:
        given["cache"] = None
    return given


def with_judge_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of judges to a command that takes `judge_settings`.

    The command gets those that the user gave, as keyword arguments of `make_judge`. Where the
    judge was asked for an estimate alone, that is the command's result.
    """

    @wraps(command)
    def judged(**given: Any) -> None:
        from litepyramid.judges.base import UnsentError
        from litepyramid.tables import emit

        try:
            command(**given)
        except UnsentError as unsent:
            emit(unsent.result, given.get("form", "table"), given.get("output"))

    return with_options("judge_settings", _settings)(judged)
