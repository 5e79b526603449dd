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
        return (
            f"Done: {self.done} of {counted(self.tasks, 'task')}.",
            *listed("Started but not done", self.started),
            *listed("Not started", self.open),
            *listed("Left out: answers to unknown tasks", self.unknown),
            *listed("Set aside: the same worker answered again", self.duplicates),
            *listed("Left out: answers to units that are not in the task", self.extra),
            *self.notes,
        )


def listed(what: str, names: Sequence[str]) -> list[str]:
    """What there is of a kind, as a sentence; none if there is nothing."""
    return [f"{what} ({len(names)}): {some(names)}."] if names else []


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - LISTED
    rest = f"; and {more} more, all of them in --format json" if more > 0 else ""
    return "; ".join(names[:LISTED]) + rest
