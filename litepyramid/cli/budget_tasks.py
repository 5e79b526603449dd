"""``litepyramid budget plan``, ``export`` and ``import``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.options import (
    FILES,
    EasinessOption,
    FormatOption,
    RegressorOption,
    SeedOption,
    SplitterOption,
    StusOption,
    TreesOption,
    option,
    with_names,
)
from litepyramid.cli.outputs import MADE, WRITTEN

WRITING, JUDGING = "Tasks of writing SCUs", "Tasks of judging presence"


_PRESENCE = "With --for presence"


@with_names
def plan(
    source: Annotated[
        Path,
        typer.Argument(help="References; with --for presence, JSON of `score` or a score table."),
    ],
    purpose: Annotated[
        Literal["scus", "presence"],
        option("What people do: write SCUs, or judge presence.", "--for", metavar="WHAT"),
    ] = "scus",
    human_share: Annotated[
        float | None, option("People annotate this share of the sentences, 0 to 1.", metavar="P")
    ] = None,
    sentences: Annotated[
        int | None, option("People annotate this many sentences.", metavar="N")
    ] = None,
    cost: Annotated[float | None, option("People annotate as much as this buys.")] = None,
    per_sentence: Annotated[float | None, option("Cost of one sentence.")] = None,
    inputs: Annotated[
        int | None, option("Label this many inputs.", metavar="N", panel=_PRESENCE)
    ] = None,
    width: Annotated[
        float | None,
        option("Label enough for 95 % intervals of this width.", metavar="W", panel=_PRESENCE),
    ] = None,
    per_judgement: Annotated[
        float | None, option("Cost of one judgement.", panel=_PRESENCE)
    ] = None,
    annotators: Annotated[
        int | None, option("Number of people who judge.", min=1, metavar="N", panel=_PRESENCE)
    ] = None,
    per_task: Annotated[
        int, option("Number of people who judge each summary.", min=1, metavar="N", panel=_PRESENCE)
    ] = 1,
    checks: Annotated[
        int,
        option("Number of summaries that everybody judges.", min=0, metavar="N", panel=_PRESENCE),
    ] = 0,
    seconds: Annotated[float | None, option("Time per answer.", panel=_PRESENCE)] = None,
    strata: Annotated[int, option("Strata to draw from.", min=1, metavar="N", panel=_PRESENCE)] = 4,
    by: Annotated[
        Literal["easiness", "random", "reversed", "gold", "error", "score"] | None,
        option(
            "easiness, random, reversed or gold; with --for presence error, score or random. "
            "[default: easiness, error]",
            metavar="BY",
        ),
    ] = None,
    after: Annotated[
        list[Path] | None, option("An earlier plan, whose sentences are not chosen again; repeat.")
    ] = None,
    output: Annotated[
        Path | None, option("Write the plan here, for budget export.", "--output", "-o"), WRITTEN
    ] = None,
    form: FormatOption = "table",
    stus: StusOption = None,
    easiness: EasinessOption = None,
    regressor: RegressorOption = None,
    parses: TreesOption = None,
    scus: Annotated[Path | None, option("With --by gold: SCUs.", panel=FILES)] = None,
    splitter: SplitterOption = "rules",
    seed: SeedOption = 12345,
    *,
    names: dict[str, Any],
) -> None:
    """Choose what people annotate: sentences to write SCUs for, or inputs to judge presence in.

    $ litepyramid budget plan example/references.jsonl --human-share 0.5 -o \\
        plan.json
    $ litepyramid budget plan scores.json --for presence --inputs 6 \\
        --annotators 3 -o labels-plan.json
    """
    from litepyramid.annotation.budget import sentence_budget
    from litepyramid.annotation.plan import in_plans, plan_budget, read_plan, write_plan
    from litepyramid.easiness.files import sentence_easiness
    from litepyramid.errors import InputError
    from litepyramid.files import check_there
    from litepyramid.tables import emit

    check_there(source, easiness, scus, stus, regressor, parses)
    if purpose == "presence":
        from litepyramid import api
        from litepyramid.annotation.presence_plan import write_presence_plan

        if by not in (None, "error", "score", "random"):
            raise InputError(f"--by {by} with --for presence", expected="error, score or random")
        drawn = api.plan_labels(
            source,
            inputs=inputs,
            cost=cost,
            per_judgement=per_judgement,
            width=width,
            by=by,
            strata=strata,
            annotators=annotators,
            per_task=per_task,
            checks=checks,
            seconds=seconds,
            seed=seed,
            columns=names["columns"],
        )
        if output is not None:
            write_presence_plan(output, drawn)
        emit(drawn, form)
        return
    if by == "error" or by == "score":
        raise InputError(f"--by {by} without --for presence", expected="easiness, random …")
    budget = partial(
        sentence_budget,
        sentences=sentences,
        human_share=human_share,
        cost=cost,
        per_sentence=per_sentence,
    )
    budget(10**9)  # whether it is one, before the references are parsed
    before = [read_plan(path) for path in after or ()]
    values = sentence_easiness(
        source,
        by=by or "easiness",
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
        values,
        count,
        by=by or "easiness",
        seed=seed,
        per_sentence=per_sentence,
        cost=cost,
        after=before,
    )
    if output is not None:
        write_plan(output, result)
    emit(result, form)


@with_names
def export(
    sources: Annotated[
        list[Path], typer.Argument(help="A plan (people write SCUs), or with --units summaries.")
    ],
    output: Annotated[Path, option("Folder to write to.", "--output", "-o"), MADE],
    units: Annotated[
        Path | None, option("People judge which of these units are present.", "--units", "-u")
    ] = None,
    to: Annotated[
        Literal["page", "label-studio", "mturk"],
        option("page (offline HTML), label-studio, or mturk.", metavar="FORM"),
    ] = "page",
    parts: Annotated[int, option("Number of pages or batches.", min=1, metavar="N")] = 1,
    plan: Annotated[
        Path | None,
        option("With --units: a labelling plan; exports its inputs, split by annotator."),
    ] = None,
    title: Annotated[str | None, option("Title that people see above the tasks.")] = None,
    form: FormatOption = "table",
    *,
    names: dict[str, Any],
) -> None:
    """Export annotation tasks: SCU writing from a plan, presence judging from summaries.

    $ litepyramid budget export plan.json -o tasks
    $ litepyramid budget export example/summaries --units example/scus.jsonl -o \\
        judging
    """
    from litepyramid.annotation.forms.export import export_tasks
    from litepyramid.annotation.presence_plan import read_presence_plan
    from litepyramid.annotation.sources import judging_tasks_from, writing_tasks_from
    from litepyramid.tables import emit

    shares = None
    if units is None:
        tasks = writing_tasks_from(sources, title)
    else:
        drawn = None if plan is None else read_presence_plan(plan)
        tasks = judging_tasks_from(
            sources, units, title, only=None if drawn is None else drawn.chosen, **names
        )
        shares = None if drawn is None else drawn.shares(len(tasks.ids))
    emit(export_tasks(tasks, output, to, parts=parts, shares=shares), form)


def import_answers(
    tasks: Annotated[Path, typer.Argument(help="The export's folder, or its tasks.json.")],
    answers: Annotated[
        list[Path], typer.Argument(help="The page's JSON, Label Studio's JSON, or MTurk's CSV.")
    ],
    output: Annotated[
        Path, option("Units file (writing), or folder (judging).", "--output", "-o"), MADE
    ],
    form: FormatOption = "table",
    stus: Annotated[
        Path | None, option("STUs for all sentences without finished SCUs.", panel=WRITING)
    ] = None,
    onto: Annotated[
        Path | None, option("Add to the units of an earlier import.", panel=WRITING)
    ] = None,
    writers: Annotated[
        Literal["first", "all"] | None,
        option("Whose SCUs count if several people wrote. [default: first]", panel=WRITING),
    ] = None,
    drafts: Annotated[
        bool, option("Also take sentences not marked as finished.", "--drafts", panel=WRITING)
    ] = False,
    noisy_above: Annotated[
        float | None,
        option(
            "Drop workers who contradict the others more often than this. [default: 0.5]",
            metavar="P",
            panel=JUDGING,
        ),
    ] = None,
    gold: Annotated[
        Path | None,
        option("Known labels of some summaries, to compare workers with.", panel=JUDGING),
    ] = None,
    keep_noisy: Annotated[bool, option("Drop no worker.", "--keep-noisy", panel=JUDGING)] = False,
    min_compared: Annotated[
        int | None,
        option(
            "Never drop a worker with fewer comparable answers. [default: 10]",
            min=1,
            metavar="N",
            panel=JUDGING,
        ),
    ] = None,
    random_rounds: Annotated[
        int | None,
        option(
            "Number of times to also draw labels from one random answer per item instead of the "
            "majority (labels-round1 …).",
            min=0,
            metavar="N",
            panel=JUDGING,
        ),
    ] = None,
    seed: SeedOption = 12345,
) -> None:
    """Import complete or partial answers: SCUs become units, yes and no become labels.

    $ litepyramid budget import tasks answers.json -o scus.jsonl --stus \\
        stus.jsonl
    $ litepyramid budget import judging answers/*.json -o judged
    """
    from litepyramid.annotation.collect import collect_labels, collect_units
    from litepyramid.annotation.forms.read import read_responses
    from litepyramid.annotation.sources import check_judged, write_judged
    from litepyramid.annotation.tasks import read_tasks
    from litepyramid.errors import InputError
    from litepyramid.files import check_output
    from litepyramid.io.labels import read_labels
    from litepyramid.io.units import read_units, write_units
    from litepyramid.tables import emit

    sent = read_tasks(tasks)
    options: dict[str, dict[str, object]] = {
        "writing": {"stus": stus, "onto": onto, "writers": writers},
        "judging": {
            "noisy-above": noisy_above,
            "gold": gold,
            "keep-noisy": keep_noisy or None,
            "min-compared": min_compared,
            "random-rounds": random_rounds,
        },
    }
    other = "judging" if sent.kind == "writing" else "writing"
    for name, value in options[other].items():
        if value is not None:
            raise InputError(f"--{name} is for {other} tasks; these are {sent.kind} tasks")
    found = read_responses(answers)
    if sent.kind == "writing":
        check_output(output)
        written = collect_units(
            sent,
            found,
            stus=None if stus is None else read_units(stus, kind="stu", only=True),
            onto=None if onto is None else read_units(onto, kind=None),
            writers=writers or "first",
            drafts=drafts,
        )
        if written.units:
            write_units(output, written.units)
        emit(written, form)
        return
    check_judged(output)
    judged = collect_labels(
        sent,
        found,
        noisy_above=None if keep_noisy else 0.5 if noisy_above is None else noisy_above,
        min_compared=10 if min_compared is None else min_compared,
        rounds=random_rounds or 0,
        seed=seed,
        gold=() if gold is None else read_labels([gold], sent.units, partial=True),
    )
    write_judged(output, judged)
    emit(judged, form)
