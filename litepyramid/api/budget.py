"""Annotation budgets: plans, tasks for people, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litepyramid.api.units import regressor_of
from litepyramid.errors import InputError
from litepyramid.files import check_output, file_type
from litepyramid.io.coerce import as_labels, as_names, as_summaries, as_units
from litepyramid.io.units import read_units, write_units
from litepyramid.text import counted
from litepyramid.types import SystemSummaries

if TYPE_CHECKING:
    from litepyramid.annotation.collect import JudgedLabels, Writers, WrittenUnits
    from litepyramid.annotation.forms.export import ExportResult, Form
    from litepyramid.annotation.plan import BudgetPlan
    from litepyramid.annotation.presence_plan import PresencePlan
    from litepyramid.annotation.tasks import TaskSet
    from litepyramid.easiness.mix import By


def plan(
    references: Any,
    *,
    human_share: float | None = None,
    sentences: int | None = None,
    cost: float | None = None,
    per_sentence: float | None = None,
    by: By = "easiness",
    easiness: Any = None,
    scus: Any = None,
    stus: Any = None,
    regressor: Any = None,
    parses: str | Path | None = None,
    after: Sequence[Any] = (),
    splitter: str = "rules",
    seed: int = 12345,
    ids: Any = None,
    columns: Any = None,
) -> BudgetPlan:
    """Chooses the sentences people should write SCUs for: those expected to suit STUs worst.

    Args:
        references: The references.
        human_share: Share of the sentences that people annotate; or
        sentences: this many of them; or
        cost: as many as this buys at `per_sentence`.
        per_sentence: What one sentence costs.
        by: How they are chosen: ``easiness``, ``gold``, ``reversed`` or ``random``.
        easiness: Easiness of every sentence, or its file; predicted if not given.
        scus: With ``gold``: the SCUs.
        stus: The STUs that will be used; extracted if not given.
        regressor: An `EasinessRegressor` or its file, for the prediction; embedded by default.
        parses: Constituency trees, for a regressor on the paper's features.
        after: Earlier plans, or their files: their sentences are not chosen again.
        splitter: Splitter for references without sentence marks: ``rules`` or ``punkt``.
        seed: Seed of the random choice.
        ids: Ids of the inputs, where rows are matched by order.
        columns: Own column names, by known column.

    Raises:
        InputError: No budget is given, or more than one, or it is impossible.
    """
    from litepyramid.annotation.budget import sentence_budget
    from litepyramid.annotation.plan import in_plans, plan_budget, read_plan
    from litepyramid.easiness.files import sentence_easiness

    budget: Any = {
        "sentences": sentences,
        "human_share": human_share,
        "cost": cost,
        "per_sentence": per_sentence,
    }
    sentence_budget(10**9, **budget)  # whether it is one, before the references are parsed
    before = [read_plan(one) if isinstance(one, str | Path) else one for one in after]
    values = sentence_easiness(
        references,
        by=by,
        easiness=easiness,
        scus=scus,
        stus=stus,
        regressor=regressor_of(regressor),
        parses=parses,
        splitter=splitter,
        **as_names(ids, columns),
    )
    taken = int(in_plans(values.sentences, before).sum())
    count = sentence_budget(len(values.sentences), **budget, earlier=taken)
    return plan_budget(
        values, count, by=by, seed=seed, per_sentence=per_sentence, cost=cost, after=before
    )


def export_tasks(
    work: Any,
    folder: str | Path,
    *,
    units: Any = None,
    form: Form = "page",
    parts: int = 1,
    plan: str | Path | PresencePlan | None = None,
    title: str | None = None,
    ids: Any = None,
    columns: Any = None,
) -> ExportResult:
    """Writes tasks for people: SCU writing from a plan, presence judging from summaries.

    Args:
        work: A plan or its file; or with `units` the summaries to judge.
        folder: Where to; `import_answers` needs it again.
        units: The units to judge in the summaries.
        form: ``page`` (one web page that works offline), ``label-studio`` or ``mturk``.
        parts: Number of pages or batches to split the tasks into.
        plan: With `units`: a plan of labels (`plan_labels`), or its file: its inputs only, a share
            for each annotator.
        title: What people see above the tasks.
        ids: Ids of the inputs, where rows are matched by order.
        columns: Own column names, by known column.

    Raises:
        InputError: The folder holds other tasks, or cannot be written to.
    """
    from litepyramid.annotation.forms.export import export_tasks as export
    from litepyramid.annotation.plan import read_plan
    from litepyramid.annotation.presence_plan import read_presence_plan
    from litepyramid.annotation.tasks import judging_tasks, writing_tasks

    named = {} if title is None else {"title": title}
    shares = None
    if units is None:
        own = work if isinstance(work, list | tuple) else [work]
        files = [one for one in own if isinstance(one, str | Path)]
        if len(own) != 1 or (files and file_type(files[0]) == "folder"):
            raise InputError(
                f"{counted(len(own), 'file or folder', 'files or folders')} without units to judge",
                path=files[0] if len(own) == 1 else None,
                expected="one plan; or summaries together with --units",
            )
        tasks = writing_tasks(read_plan(files[0]) if files else own[0], **named)
    else:
        names = as_names(ids, columns)
        loaded = as_units(units, **names)
        systems = as_summaries(work, [entry.input for entry in loaded], **names)
        if plan is not None:
            plan = read_presence_plan(plan) if isinstance(plan, str | Path) else plan
            loaded = [entry for entry in loaded if entry.input in set(plan.chosen)]
            if len(loaded) != len(plan.chosen):
                path = units if isinstance(units, str | Path) else None
                raise InputError("the plan names other inputs than the units", path=path)
            systems = [_only(system, plan.chosen) for system in systems]
        tasks = judging_tasks(systems, loaded, **named)
        shares = None if plan is None else plan.shares(len(tasks.ids))
    return export(tasks, folder, form, parts=parts, shares=shares)


def _only(summaries: SystemSummaries, inputs: Sequence[str]) -> SystemSummaries:
    """A system's summaries of some inputs."""
    texts = dict(zip(summaries.inputs, summaries.texts, strict=True))
    return SystemSummaries(summaries.system, tuple(inputs), tuple(texts[i] for i in inputs))


def import_answers(
    tasks: str | Path | TaskSet,
    answers: str | Path | Sequence[str | Path],
    *,
    output: str | Path | None = None,
    stus: Any = None,
    onto: Any = None,
    writers: Writers = "first",
    drafts: bool | None = None,
    noisy_above: float | None = 0.5,
    min_compared: int = 10,
    rounds: int = 0,
    seed: int = 12345,
    gold: Any = None,
) -> WrittenUnits | JudgedLabels:
    """Imports people's answers: SCUs become units, yes and no become presence labels.

    Args:
        tasks: The folder that `export_tasks` wrote, its ``tasks.json``, or what that holds.
        answers: One file of answers, or several.
        output: Write the units to this file, or the labels to this folder with all that scoring
            needs (`annotation.sources.write_judged`).
        stus: Writing: STUs for all sentences without finished SCUs.
        onto: Writing: the units of an earlier import, to add to.
        writers: Writing: whose SCUs count if several people wrote some.
        drafts: Whether answers not marked as finished count; by default not for writing.
        noisy_above: Judging: drop workers who contradict the others more often; None drops nobody.
        min_compared: Judging: never drop a worker with fewer comparable answers.
        rounds: Judging: how many times to also draw labels from one random answer per item.
        seed: Seed of these draws.
        gold: Judging: known labels of some summaries, to compare workers with.

    Raises:
        InputError: The answers are for other tasks, or cannot be read.
    """
    from litepyramid.annotation.collect import collect_labels, collect_units
    from litepyramid.annotation.forms.read import read_responses
    from litepyramid.annotation.sources import check_judged, write_judged
    from litepyramid.annotation.tasks import read_tasks

    sent = read_tasks(tasks) if isinstance(tasks, str | Path) else tasks
    found = read_responses([answers] if isinstance(answers, str | Path) else answers)
    if sent.kind == "writing":
        if output is not None:
            check_output(output)
        written = collect_units(
            sent,
            found,
            stus=None if stus is None else as_units(stus, kind="stu", only=True),
            onto=None
            if onto is None
            else read_units(onto, kind=None)
            if isinstance(onto, str | Path)
            else as_units(onto),
            writers=writers,
            drafts=bool(drafts),
        )
        if output is not None and written.units:
            write_units(output, written.units)
        return written
    if stus is not None or onto is not None:
        raise InputError(
            "STUs or units of an earlier import with tasks of judging presence",
            expected="tasks of writing SCUs",
        )
    if output is not None:
        check_judged(Path(output))
    judged = collect_labels(
        sent,
        found,
        noisy_above=noisy_above,
        min_compared=min_compared,
        drafts=drafts is None or drafts,
        rounds=rounds,
        seed=seed,
        gold=() if gold is None else as_labels(gold, sent.units, partial=True),
    )
    if output is not None:
        write_judged(Path(output), judged)
    return judged
