"""Annotation budgets: plans, tasks for people, and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litepyramid.api.units import regressor_of
from litepyramid.errors import InputError
from litepyramid.io.coerce import as_labels, as_names, as_summaries, as_units

if TYPE_CHECKING:
    from litepyramid.annotation.collect import JudgedLabels, Writers, WrittenUnits
    from litepyramid.annotation.forms.export import ExportResult, Form
    from litepyramid.annotation.plan import BudgetPlan
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
        title: What people see above the tasks.
        ids: Ids of the inputs, where rows are matched by order.
        columns: Own column names, by known column.

    Raises:
        InputError: The folder holds other tasks, or cannot be written to.
    """
    from litepyramid.annotation.forms.export import export_tasks as export
    from litepyramid.annotation.plan import read_plan
    from litepyramid.annotation.tasks import judging_tasks, writing_tasks

    named = {} if title is None else {"title": title}
    if units is None:
        tasks = writing_tasks(read_plan(work) if isinstance(work, str | Path) else work, **named)
    else:
        names = as_names(ids, columns)
        loaded = as_units(units, **names)
        systems = as_summaries(work, [entry.input for entry in loaded], **names)
        tasks = judging_tasks(systems, loaded, **named)
    return export(tasks, folder, form, parts=parts)


def import_answers(
    tasks: str | Path,
    answers: str | Path | Sequence[str | Path],
    *,
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
        tasks: The folder that `export_tasks` wrote, or its ``tasks.json``.
        answers: One file of answers, or several.
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
    from litepyramid.annotation.tasks import read_tasks

    sent = read_tasks(tasks)
    found = read_responses([answers] if isinstance(answers, str | Path) else answers)
    if sent.kind == "writing":
        return collect_units(
            sent,
            found,
            stus=None if stus is None else as_units(stus, kind="stu", only=True),
            onto=None if onto is None else as_units(onto),
            writers=writers,
            drafts=bool(drafts),
        )
    if stus is not None or onto is not None:
        raise InputError(
            "STUs or units of an earlier import with tasks of judging presence",
            expected="tasks of writing SCUs",
        )
    return collect_labels(
        sent,
        found,
        noisy_above=noisy_above,
        min_compared=min_compared,
        drafts=drafts is None or drafts,
        rounds=rounds,
        seed=seed,
        gold=() if gold is None else as_labels(gold, sent.units, partial=True),
    )
