"""``litepyramid cache``: what the NLI judges have judged so far."""

from __future__ import annotations

import typer

from litepyramid.cli.options import Form, Made, Written, runs
from litepyramid.text import counted

app = typer.Typer(
    help="""Manage the judgement cache.

    $ litepyramid cache info
    $ litepyramid cache clear --yes
    """,
    no_args_is_help=True,
)


@app.command()
def path() -> None:
    """Print the path of the cache; set LITEPYRAMID_CACHE to change it.

    $ litepyramid cache path
    $ LITEPYRAMID_CACHE=judgements.sqlite litepyramid cache path
    """
    from litepyramid.judges.cache_file import default_cache_path

    typer.echo(str(default_cache_path()))


@app.command()
@runs("litepyramid.judges.cache_info:cache_info", cache="path")
def info(
    cache: Made | None = None,
    form: Form = "table",
    output: Written | None = None,
) -> None:
    """Show how many judgements are cached, by model.

    $ litepyramid cache info
    $ litepyramid cache info --cache judgements.sqlite -f json
    """


@app.command()
def clear(
    cache: Made | None = None,
    yes: bool = False,
) -> None:
    """Delete every cached judgement.

    $ litepyramid cache clear
    $ litepyramid cache clear --cache judgements.sqlite --yes

    Options:
        yes (-y): Do not ask for confirmation.
    """
    from litepyramid.judges.cache import LogitCache
    from litepyramid.judges.cache_file import default_cache_path, is_cache

    file = cache or default_cache_path()
    if not is_cache(file):
        typer.echo(f"There is no cache at {file}.")
        return
    if not yes:
        typer.confirm(f"Delete all judgements in {file}?", abort=True, err=True)
    with LogitCache(file) as opened:
        typer.echo(f"Deleted {counted(opened.clear(), 'judgement')}.")
