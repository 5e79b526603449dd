"""The options of judges that have settings, written once for all commands that judge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from litepyramid.cli.options import Group, Made, Written


def _llm(
    endpoint: str | None = None,
    prompt: str | None = None,
    units_per_request: int | None = None,
    no_logprobs: bool = False,
    parameters: str | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
    retries: int | None = None,
    model_version: str | None = None,
    allow_missing: float | None = None,
    estimate: bool = False,
    prices: Path | None = None,
    max_cost: float | None = None,
    batch: Written | None = None,
    answers: Path | None = None,
) -> dict[str, Any]:
    """The settings given, as `make_judge` takes them.

    Judges behind an endpoint (llm:MODEL):
        prompt: yes-no (default), three (1, .5, 0), minicheck, or a template file.
        units_per_request (N >=1): Units per request. [default: 20]
        no_logprobs: Use grades, not their probabilities.
        retries (N >=0): Retries per request. [default: 6]
        model_version: Expected model version; any: mix versions.
        allow_missing: Share of pairs that may have no judgement. [default: 0]
        batch: Only write the requests to this batch file.
        answers: Only read answers from this batch file, complete or partial.
    """
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


def _settings(
    mode: Literal["p3c", "l3c", "p2c", "l2c"] | None = None,
    revision: str | None = None,
    max_length: int | None = None,
    label_map: str | None = None,
    device: str | None = None,
    devices: str | None = None,
    dtype: Literal["auto", "float32", "bfloat16", "float16", "int8"] | None = None,
    batch_tokens: int | None = None,
    threads: int | None = None,
    offline: bool = False,
    long: Literal["cut", "split"] | None = None,
    cache: Made | None = None,
    no_cache: bool = False,
    *,
    llm: Annotated[dict[str, Any], Group(_llm)],
) -> dict[str, Any]:
    """The settings given, as `make_judge` takes them.

    NLI judges (a hub id or a folder):
        mode: Presence from logits. [default: p2c for models tuned on presence, else l3c]
        revision: Branch, tag or commit of a hub model.
        max_length (N): Maximum tokens of a pair; truncation is counted. [default: 400]
        label_map (MAP): entailment=0,neutral=1,contradiction=2 or present=1,absent=0.
        device: cpu, cuda, cuda:1, mps. [default: a GPU if there is one]
        devices (LIST): Several, with a model on each: cuda:0,cuda:1; or all.
        dtype (TYPE): auto, float32 (default on CPU), bfloat16 or float16 (on GPU), int8 (CPU only).
        batch_tokens (N >=1): Maximum tokens of a batch. [default: 4096; on a GPU 32768]
        threads (N >=1): Threads on CPU. [default: one per free core]
        offline: Look only in the local hub cache.
        long: Summaries that are too long: cut (default), or split; the best part counts.
        cache: Cache file. [default: see `litepyramid cache path`]
        no_cache: Do not use the cache.
    """
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
    llm: str | None = None,
    endpoint: str | None = None,
    prompt: Path | None = None,
    parameters: str | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
    estimate: bool = False,
    prices: Path | None = None,
    max_cost: float | None = None,
) -> dict[str, Any]:
    """The settings given, as `write_units` takes them; empty without a model.

    Judges behind an endpoint (llm:MODEL):
        llm (MODEL): Have this model write the units, instead of STUs.
        prompt: Your own prompt, with {sentences}.
    """
    settings: dict[str, Any] = dict(locals())
    del settings["llm"]
    from litepyramid.errors import InputError

    settings["parameters"] = read_parameters(parameters)
    settings["estimate"] = estimate or None
    given = {name: value for name, value in settings.items() if value is not None}
    if llm is None and given:
        raise InputError(f"--{next(iter(given)).replace('_', '-')} without --llm", expected="both")
    return {} if llm is None else {"model": llm, **given}


JudgeGroup = Annotated[dict[str, Any], Group(_settings)]
"""Of the options of judges those that the user gave, as keyword arguments of `make_judge`."""
WriterGroup = Annotated[dict[str, Any], Group(_writer)]
"""Of those for units by a language model, as keyword arguments of `write_units`."""
