"""``litepyramid demo``: the main jobs, shown on the example that ships."""

import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import typer

import litepyramid
from litepyramid.embedded.example import load_example, save_example
from litepyramid.scoring.result import ScoreResult
from litepyramid.tables import Result

_SHARE = 0.5


class Step(NamedTuple):
    """A step of the demo: heading, what a user types for the same, its result, what to
    see in it.

    The commands are for the files of ``demo --save example``.
    """

    heading: str
    command: str
    result: Result
    remark: str = ""


def demo(*, save: Path | None = None, seed: int = 12345) -> None:
    """Show the main jobs on an embedded example, and write its report page.

    Args:
        save: Only copy the files of the example to this new folder.
        seed: Seed of everything random.

    Command line:
        $ litepyramid demo
        $ litepyramid demo --save example
    """
    if save is not None:
        typer.echo(f"The example is in {save_example(save)}.")
        return

    for number, step in enumerate(_steps(seed), start=1):
        lines = textwrap.wrap(
            step.command, 75, break_long_words=False, break_on_hyphens=False
        )
        command = " \\\n       ".join(lines)
        typer.echo(f"{number}. {step.heading}\n   $ {command}\n")
        typer.echo(step.result.to_table())
        if step.remark:
            typer.echo(f"{step.remark}\n")

        if isinstance(step.result, ScoreResult) and number == 1:
            page = Path(mkdtemp(prefix="litepyramid-")) / "litepyramid-demo.html"
            step.result.save(page)
            typer.echo(
                "Which fact is in which summary? Open this page in a browser:\n"
                f"{page}\n"
            )

    typer.echo(
        "Try it yourself: write the files with `litepyramid demo --save example`."
    )


def _steps(seed: int) -> Iterator[Step]:
    example = load_example()
    judge = litepyramid.judge()
    lite2 = litepyramid.score(
        example,
        judge=judge,
        seed=seed,
        evidence=True,
    )
    yield Step(
        "Score: how many of the references' facts does each system carry?",
        "litepyramid score example/summaries --units example/scus.jsonl --labels "
        "example/labels -o scores.json",
        lite2,
        _remark(lite2),
    )
    yield Step(
        "Compare: which systems differ significantly?",
        "litepyramid compare scores.json",
        litepyramid.compare(lite2, seed=seed),
    )
    stus = litepyramid.extract(example.references).units
    lite3 = litepyramid.score(
        example.summaries,
        stus,
        judge=judge,
        seed=seed,
    )
    bullets = textwrap.TextWrapper(80, initial_indent="  - ", subsequent_indent="    ")
    first = "\n".join(map(bullets.fill, stus[0].texts))

    yield Step(
        "No SCUs? Extract STUs from the references.",
        "litepyramid score example/summaries --references example/references.jsonl",
        lite3,
        f"The STUs of the first reference ({stus[0].input}):\n{first}",
    )
    # Predicted once: the plan and the mix below take the same half of the sentences.
    easiness = litepyramid.easiness.predict(example.references, stus=stus)
    yield Step(
        "Budget: which half of the sentences should people write SCUs for?",
        f"litepyramid budget plan example/references.jsonl --human-share {_SHARE} -o "
        "plan.json",
        litepyramid.plan(example.references, human_share=_SHARE, easiness=easiness),
    )
    mixed = litepyramid.mix(
        example.units,
        stus,
        easiness=easiness,
        stu_share=_SHARE,
    )
    lite25 = litepyramid.score(
        example.summaries,
        mixed.units,
        judge=judge,
        seed=seed,
    )
    yield Step(
        "Meta-evaluate: how well do the scores agree with people?",
        "litepyramid meta correlate scores.json",
        litepyramid.meta.correlate(
            [lite2, lite25, lite3], coefficient=("pearson", "kendall")
        ),
        "Four systems say little about a metric: at system level the interval would "
        "span\nthe whole scale. See `litepyramid meta --help` for other analyses.",
    )


def _remark(result: ScoreResult) -> str:
    """What the first table shows, as its tests find it."""
    groups = dict(zip(result.systems, result.groups, strict=True))
    order = sorted(result.systems, key=lambda system: -result.scores[system])
    apart = []
    for high, low in pairwise(order):
        if not {*groups[high]} & {*groups[low]}:
            apart.append(f"'{high}' scores significantly higher than '{low}'")

    text = "The human column is what people marked as present. " + (
        f"By the judge, {'; '.join(apart)}."
        if apart
        else "No two neighbours differ significantly."
    )
    return textwrap.fill(f"{text} 'swapped' reverses every fact of 'abstractive'.", 80)
