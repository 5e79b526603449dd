"""Which of people's responses count, and for which task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from litepyramid.annotation.completion import some
from litepyramid.annotation.forms.responses import Response, ResponseFile
from litepyramid.annotation.tasks import JudgingTask, TaskSet, WritingTask
from litepyramid.errors import InputError
from litepyramid.text import counted


def sort_responses(
    tasks: TaskSet, answers: ResponseFile
) -> tuple[dict[str, dict[str, Response]], tuple[str, ...], tuple[str, ...]]:
    """Responses by task and worker: the latest of each worker, one that is done before a draft.

    The later of two is the one saved later, where both files say when; else the one read later.

    Returns:
        By task id and worker the response that counts; those to unknown tasks and those set
        aside, named for people.
    """
    known: dict[str, WritingTask | JudgingTask] = {task.id: task for task in tasks.writing}
    known |= {task.id: task for task in tasks.judging}
    rows: dict[str, dict[str, Response]] = {}
    unknown: list[str] = []
    duplicates: list[str] = []
    for response in answers.responses:
        task = known.get(response.task)
        if task is None:
            unknown.append(f"{response.task} ({response.place})")
            continue
        mine = rows.setdefault(task.id, {})
        before = mine.get(response.worker)
        if before is not None:
            if before.saved and response.saved and response.saved < before.saved:
                before, response = response, before
            if response.presence:
                # An earlier answer to a unit that the later one leaves out counts.
                response = replace(response, presence={**before.presence, **response.presence})
            elif before.done and not response.done:
                before, response = response, before
            duplicates.append(f"{task.name} by {before.worker} ({before.place})")
        mine[response.worker] = response
    return rows, tuple(dict.fromkeys(unknown)), tuple(dict.fromkeys(duplicates))


def nothing_belongs(tasks: TaskSet, unknown: Sequence[str]) -> InputError:
    """The error of answers of which none belongs to the tasks."""
    return InputError(
        "no answer belongs to these tasks",
        expected=f"answers to the {counted(len(tasks.ids), f'{tasks.kind} task')} in tasks.json",
        hint=f"Answers to unknown tasks: {some(unknown)}." if unknown else None,
    )
