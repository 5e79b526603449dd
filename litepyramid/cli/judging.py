"""The options of NLI judges, written once for all commands that judge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.options import with_options
from litepyramid.cli.outputs import MADE

_PANEL = "NLI judges (a hub id or a folder)"


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
    }
    given: dict[str, Any] = {name: value for name, value in settings.items() if value is not None}
    if no_cache:
        given["cache"] = None
    return given


def with_judge_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of NLI judges to a command that takes `judge_settings`.

    The command gets those that the user gave, as keyword arguments of `make_judge`.
    """
    return with_options("judge_settings", _settings)(command)
