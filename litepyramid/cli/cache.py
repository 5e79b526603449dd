"""``litepyramid cache``: what the NLI judges have judged so far."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litepyramid.cli.options import FormatOption, OutputOption
from litepyramid.cli.outputs import MADE
from litepyramid.text import counted

app = typer.Typer(
    help="The judgements of NLI models that are kept: where, how many, and forget them.",
    no_args_is_help=True,
)

CacheOption = Annotated[
    Path | None,
    typer.Option(
        "--cache", help="The file. Default: see `litepyramid cache path`.", show_default=False
    ),
    MADE,
]


@app.command()
def path() -> None:
    """Print where the cache is; LITEPYRAMID_CACHE names another file."""
    from litepyramid.judges.cache_info import default_cache_path

    typer.echo(str(default_cache_path()))


@app.command()
def info(
    cache: CacheOption = None, form: FormatOption = "table", output: OutputOption = None
) -> None:
    """Show how many pairs of which models are kept."""
    from litepyramid.judges.cache_info import cache_info
    from litepyramid.tables import emit

    emit(cache_info(cache), form, output)


@app.command()
def clear(
    cache: CacheOption = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Forget every judgement."""
    from litepyramid.judges.cache import LogitCache
    from litepyramid.judges.cache_file import is_cache
    from litepyramid.judges.cache_info import default_cache_path

    file = cache or default_cache_path()
    if not is_cache(file):
        typer.echo(f"There is no cache at {file}.")
        return
    if not yes:
        typer.confirm(f"Forget all judgements in {file}?", abort=True, err=True)
    with LogitCache(file) as opened:
        typer.echo(f"Forgot {counted(opened.clear(), 'pair')}.")
