"""People's responses, in the same shape for every tool."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from litepyramid.text import counted

UNIT = re.compile("presence_([0-9]{1,9})")
"""What a form calls its answer to a unit."""

YES = frozenset({"yes", "true", "1", "present", "y"})
NO = frozenset({"no", "false", "0", "absent", "not present", "n"})


@dataclass(frozen=True, slots=True)
class Response:
    """One person's answer to one task, possibly incomplete.

    Attributes:
        task: The task's id.
        worker: Who answered.
        place: Where it stands, for messages.
        scus: The SCUs written, in order; empty for judging tasks.
        presence: Per index of a unit, whether it was said to be present; only those answered.
        finished: Whether the person handed it in; a draft is kept but not counted as done.
        no_fact: Whether the person said that the sentence states no fact.
        saved: When it was saved; None if the file does not say.
    """

    task: str
    worker: str
    place: str
    scus: tuple[str, ...] = ()
    presence: Mapping[int, bool] = field(default_factory=dict)
    finished: bool = True
    saved: datetime | None = None
    no_fact: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing was answered."""
        return not self.scus and not self.presence and not self.no_fact

    @property
    def contradictory(self) -> bool:
        """Whether it gives facts of a sentence and says that there are none."""
        return self.no_fact and bool(self.scus)

    @property
    def done(self) -> bool:
        """Whether it was submitted and can be used as it is."""
        return self.finished and not self.contradictory


@dataclass(frozen=True, slots=True)
class ResponseFile:
    """The responses of one file, and what was left out of it, as sentences for people."""

    responses: tuple[Response, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, responses: Sequence[Response], path: Path, left_out: int, one: str, many: str
    ) -> ResponseFile:
        """Those in which something was answered, and a note of those left out."""
        said = counted(left_out, f"{one} was", f"{many} were")
        notes = (f"{path.name}: {said} left out.",) if left_out else ()
        return cls(tuple(r for r in responses if not r.empty), notes)


def truth(value: Any) -> bool | None:
    """Yes or no as any of the tools writes it; None if it is neither.

    Example:
        >>> truth("Yes"), truth(0), truth("perhaps")
        (True, False, None)
    """
    word = str(value).strip().lower()
    return True if word in YES else False if word in NO else None


def moment(value: Any) -> datetime | None:
    """A time in ISO 8601 (without a zone: UTC); None if it is not one.

    Example:
        >>> moment("2026-01-02T03:04:05Z") == moment("2026-01-02T04:04:05+01:00")
        True
        >>> moment(None) is None
        True
    """
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def scu_lines(values: Any) -> tuple[str, ...]:
    """SCUs from a text box, or from several: one per line, spaces tidied, blank lines left out.

    Example:
        >>> scu_lines(["It rained.\\n\\n The bridge  closed."])
        ('It rained.', 'The bridge closed.')
    """
    boxes = values if isinstance(values, list | tuple) else [values]
    lines = (" ".join(line.split()) for box in boxes for line in str(box).splitlines())
    return tuple(line for line in lines if line)
