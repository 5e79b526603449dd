"""What became of people's responses, said so that nothing is lost in silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from litepyramid.text import counted

LISTED = 5


@dataclass(frozen=True)
class Completion:
    """What became of the responses.

    Attributes:
        tasks: Number of tasks that went out.
        done: How many are answered in full.
        started: Names of the tasks that are answered in part, or whose answer is a draft.
        open: Names of the tasks nobody has answered.
        unknown: Responses to tasks that did not go out, as "id (place)"; left out.
        duplicates: Responses set aside because the same worker gave a later one, which counts.
        extra: Answers to units that a task does not have, as "task: index (place)"; left out.
        notes: What the readers left out.
    """

    tasks: int
    done: int
    started: tuple[str, ...]
    open: tuple[str, ...]
    unknown: tuple[str, ...]
    duplicates: tuple[str, ...]
    extra: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """The same for people; what did not happen is not mentioned."""
        lines = [f"Done: {self.done} of {counted(self.tasks, 'task')}."]
        for names, what in (
            (self.started, "Started but not done"),
            (self.open, "Not started"),
            (self.unknown, "Left out: answers to unknown tasks"),
            (self.duplicates, "Set aside: the same worker answered again"),
            (self.extra, "Left out: answers to units that are not in the task"),
        ):
            if names:
                lines.append(f"{what} ({len(names)}): {some(names)}.")
        return (*lines, *self.notes)


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = "; ".join(names[:LISTED])
    if len(names) <= LISTED:
        return shown
    return f"{shown}; and {len(names) - LISTED} more, all of them in --format json"
