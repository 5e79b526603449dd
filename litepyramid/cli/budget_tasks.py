"""``litepyramid budget plan``, ``export`` and ``import``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.options import (
    FormatOption,
    RegressorOption,
    SeedOption,
    old_share,
    with_names,
)
from litepyramid.cli.outputs import MADE, WRITTEN


@with_names
def plan(
    references: Annotated[
        Path, typer.Argument(help="References: JSON Lines or a line file.", show_default=False)
    ],
    sentences: Annotated[
        int | None, typer.Option("--sentences", help="People annotate this many sentences.")
    ] = None,
    human_share: Annotated[
        float | None,
        typer.Option("--human-share", help="People annotate this share of the sentences, 0 to 1."),
    ] = None,
    share: Annotated[float | None, old_share("--human-share")] = None,
    cost: Annotated[
        float | None, typer.Option("--cost", help="People annotate what this buys.")
    ] = None,
    per_sentence: Annotated[
        float | None, typer.Option("--per-sentence", help="What one sentence costs.")
    ] = None,
    by: Annotated[
        Literal["easiness", "random", "reversed", "gold"],
        typer.Option(help="Which sentences people get: the hardest, any, the easiest …"),
    ] = "easiness",
    easiness: Annotated[
        Path | None,
        typer.Option(help="Easiness of every sentence, instead of predicting it."),
    ] = None,
    regressor: RegressorOption = None,
    stus: Annotated[
        Path | None, typer.Option(help="The STUs that will be used. [default: extracted]")
    ] = None,
    parses: Annotated[
        Path | None, typer.Option(help="Constituency trees, for a regressor on them.")
    ] = None,
    scus: Annotated[Path | None, typer.Option(help="With --by gold: SCUs.")] = None,
    after: Annotated[
        list[Path] | None,
        typer.Option(help="An earlier plan: its sentences are not chosen again. Repeatable."),
    ] = None,
    splitter: Annotated[
        Literal["rules", "punkt"], typer.Option(help="Splits references without marks.")
    ] = "rules",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the plan here, for budget export."),
        WRITTEN,
    ] = None,
    form: FormatOption = "table",
    seed: SeedOption = 12345,
    *,
    names: dict[str, Any],
) -> None:
    """Choose the sentences that people should write SCUs for.

    Machine-made STUs cover the rest. Chosen are the sentences that STUs are expected to be worst
    at, so that each paid sentence gains the most.
    """
    from litepyramid.annotation.budget import sentence_budget
    from litepyramid.annotation.plan import in_plans, plan_budget, read_plan, write_plan
    from litepyramid.annotation.sources import sentence_easiness
    from litepyramid.files import check_there
    from litepyramid.tables import emit

    check_there(references, easiness, scus, stus, regressor, parses)
    budget = partial(
        sentence_budget,
        sentences=sentences,
        human_share=share if human_share is None else human_share,
        cost=cost,
        per_sentence=per_sentence,
    )
    budget(10**9)  # whether it is one, before the references are parsed
    before = [read_plan(path) for path in after or ()]
    values = sentence_easiness(
        references,
        by=by,
        easiness=easiness,
        scus=scus,
        stus=stus,
        regressor=regressor,
        parses=parses,
        splitter=splitter,
        **names,
    )
    count = budget(len(values.sentences), earlier=int(in_plans(values.sentences, before).sum()))
    result = plan_budget(
        values, count, by=by, seed=seed, per_sentence=per_sentence, cost=cost, after=before
    )
    if output is not None:
        write_plan(output, result)
    emit(result, form)


@with_names
def export(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="A plan, for tasks of writing SCUs; or with --units summaries (files or "
            "folders, a system is a file), for tasks of judging presence.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to."), MADE],
    units: Annotated[
        Path | None, typer.Option("--units", "-u", help="Units to judge in the summaries.")
    ] = None,
    to: Annotated[
        Literal["page", "label-studio", "mturk"],
        typer.Option(help="An offline HTML page, Label Studio, or Mechanical Turk."),
    ] = "page",
    parts: Annotated[
        int, typer.Option(min=1, help="Deal the tasks out to so many pages or batches.")
    ] = 1,
    title: Annotated[str | None, typer.Option(help="What people see above the tasks.")] = None,
    form: FormatOption = "table",
    *,
    names: dict[str, Any],
) -> None:
    """Write the tasks for people: SCU writing from a plan, presence judging from summaries."""
    from litepyramid.annotation.forms.export import export_tasks
    from litepyramid.annotation.sources import judging_tasks_from, writing_tasks_from
    from litepyramid.tables import emit

    if units is None:
        tasks = writing_tasks_from(sources, title)
    else:
        tasks = judging_tasks_from(sources, units, title, **names)
    emit(export_tasks(tasks, output, to, parts=parts), form)


def import_answers(
    tasks: Annotated[
        Path,
        typer.Argument(help="The export's folder, or its tasks.json.", show_default=False),
    ],
    answers: Annotated[
        list[Path],
        typer.Argument(
            help="Answers: the page's JSON, Label Studio's JSON export, Mechanical Turk's CSV.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Units file (writing), or folder (judging)."),
        MADE,
    ],
    stus: Annotated[
        Path | None,
        typer.Option("--stus", help="Writing: STUs for all sentences without finished SCUs."),
    ] = None,
    onto: Annotated[
        Path | None,
        typer.Option("--onto", help="Writing: add to the units of an earlier import."),
    ] = None,
    writers: Annotated[
        Literal["first", "all"],
        typer.Option(help="Writing: whose SCUs count where several people wrote."),
    ] = "first",
    drafts: Annotated[
        bool, typer.Option("--drafts", help="Writing: take sentences not marked as finished too.")
    ] = False,
    noisy_above: Annotated[
        float,
        typer.Option(help="Judging: drop workers who contradict the others more often than this."),
    ] = 0.5,
    keep_noisy: Annotated[
        bool, typer.Option("--keep-noisy", help="Judging: drop no worker.")
    ] = False,
    min_compared: Annotated[
        int, typer.Option(min=1, help="Judging: drop nobody on fewer compared answers.")
    ] = 10,
    random_rounds: Annotated[
        int,
        typer.Option(
            min=0,
            help="Judging: so many times, also write labels of one random answer an item instead "
            "of the majority (labels-round1 …).",
        ),
    ] = 0,
    seed: SeedOption = 12345,
    form: FormatOption = "table",
) -> None:
    """Take people's answers back: SCUs become units, yes and no become presence labels."""
    from litepyramid.annotation.collect import collect_labels, collect_units
    from litepyramid.annotation.forms.read import read_responses
    from litepyramid.annotation.sources import check_judged, write_judged
    from litepyramid.annotation.tasks import read_tasks
    from litepyramid.errors import InputError
    from litepyramid.files import check_output
    from litepyramid.io.units import read_units, write_units
    from litepyramid.tables import emit

    sent = read_tasks(tasks)
    found = read_responses(answers)
    if sent.kind == "writing":
        check_output(output)
        written = collect_units(
            sent,
            found,
            stus=None if stus is None else read_units(stus, kind="stu", only=True),
            onto=None if onto is None else read_units(onto, kind=None),
            writers=writers,
            drafts=drafts,
        )
        if written.units:
            write_units(output, written.units)
        emit(written, form)
        return
    for option, value in (("--stus", stus), ("--onto", onto)):
        if value is not None:
            raise InputError(
                f"{option} with tasks of judging presence", expected="tasks of writing SCUs"
            )
    check_judged(output)
    judged = collect_labels(
        sent,
        found,
        noisy_above=None if keep_noisy else noisy_above,
        min_compared=min_compared,
        rounds=random_rounds,
        seed=seed,
    )
    write_judged(output, judged)
    emit(judged, form)
