"""``litepyramid cache``: what the NLI judges have judged so far."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from litepyramid.cli.options import FormatOption, OutputOption, option
from litepyramid.cli.outputs import MADE
from litepyramid.text import counted

app = typer.Typer(
    help="""Manage the judgement cache.

    $ litepyramid cache info
    $ litepyramid cache clear --yes
    """,
    no_args_is_help=True,
)

CacheOption = Annotated[
    Path | None,
    option("Cache file. [default: see `litepyramid cache path`]", show_default=False),
    MADE,
]


@app.command()
def path() -> None:
    """Print the path of the cache; set LITEPYRAMID_CACHE to change it.

    $ litepyramid cache path
    $ LITEPYRAMID_CACHE=judgements.sqlite litepyramid cache path
    """
    from litepyramid.judges.cache_info import default_cache_path

    typer.echo(str(default_cache_path()))


@app.command()
def info(
    cache: CacheOption = None, form: FormatOption = "table", output: OutputOption = None
) -> None:
    """Show how many judgements are cached, by model.

    $ litepyramid cache info
    $ litepyramid cache info --cache judgements.sqlite -f json
    """
    from litepyramid.judges.cache_info import cache_info
    from litepyramid.tables import emit

    emit(cache_info(cache), form, output)


@app.command()
def clear(
    cache: CacheOption = None,
    yes: Annotated[bool, option("Do not ask for confirmation.", "--yes", "-y")] = False,
) -> None:
    """Delete every cached judgement.

    $ litepyramid cache clear
    $ litepyramid cache clear --cache judgements.sqlite --yes
    """
    from litepyramid.judges.cache import LogitCache
    from litepyramid.judges.cache_file import is_cache
    from litepyramid.judges.cache_info import default_cache_path

    file = cache or default_cache_path()
    if not is_cache(file):
        typer.echo(f"There is no cache at {file}.")
        return
    if not yes:
        typer.confirm(f"Delete all judgements in {file}?", abort=True, err=True)
    with LogitCache(file) as opened:
        typer.echo(f"Deleted {counted(opened.clear(), 'judgement')}.")
