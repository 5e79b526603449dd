"""Instructions for people, the same in every form of the tasks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from litepyramid.annotation.tasks import Kind

PACKAGE = "litepyramid.annotation"
"""Where the forms' templates are."""

NO_FACT = "No fact in this sentence"
"""What people tick where there is nothing to write."""


@dataclass(frozen=True, slots=True)
class Guide:
    """Instructions of one kind of task: what to do, what to mind, and an example with answers."""

    what: str
    rules: tuple[str, ...]
    given: str
    example: tuple[str, ...]


_WRITING = Guide(
    what="Write down every fact that the highlighted sentence states, each as one short sentence.",
    rules=(
        "One fact per line. If a line could be half true, split it.",
        "Each line must make sense on its own: write names, not “he” or “it”. The surrounding "
        "sentences tell you who is meant.",
        "Use the sentence's own words where you can. Add nothing that it does not say.",
        "Together, your lines should say everything that the sentence says.",
        f"If the sentence states no fact, like many questions, write nothing and tick “{NO_FACT}”.",
    ),
    given="Harbour pilot Ana Sousa, 41, steered the damaged ferry back to Lisbon.",
    example=(
        "Ana Sousa is a harbour pilot.",
        "Ana Sousa is 41.",
        "Ana Sousa steered the ferry to Lisbon.",
        "The ferry was damaged.",
    ),
)

_JUDGING = Guide(
    what="Read the summary, then decide for each fact whether the summary contains it.",
    rules=(
        "Yes: the summary states the fact, or it clearly follows. Different wording is fine.",
        "No: the summary does not state it, states only part of it, or says something different.",
        "Judge by the summary alone, not by what you know. Spelling and capitals do not matter.",
    ),
    given="A damaged ferry was brought back to Lisbon by its pilot on Monday.",
    example=(
        "The ferry was damaged. – Yes",
        "The ferry returned on a Monday. – Yes",
        "Ana Sousa is a harbour pilot. – No, the pilot is not named",
    ),
)

GUIDES: dict[Kind, Guide] = {"writing": _WRITING, "judging": _JUDGING}


def guide_pieces(kind: Kind, title: str, escape: Callable[[str], str]) -> dict[str, str]:
    """The title and the instructions as pieces of a template (`pages.fill_template`)."""
    guide = GUIDES[kind]
    return {
        "TITLE": escape(title),
        "WHAT": escape(guide.what),
        "RULES": "".join(f"<li>{escape(rule)}</li>" for rule in guide.rules),
        "GIVEN": escape(guide.given),
        "EXAMPLE": "".join(f"<li>{escape(line)}</li>" for line in guide.example),
        "NO_FACT": escape(NO_FACT),
    }
