"""What people are told to do: the same words in every form the tasks take."""

from __future__ import annotations

from dataclasses import dataclass

from litepyramid.annotation.tasks import Kind

NO_FACT = "No fact in this sentence"
"""What people tick where there is nothing to write."""


@dataclass(frozen=True, slots=True)
class Guide:
    """Instructions of one kind of task.

    Attributes:
        what: The task in one sentence.
        rules: What to mind, one sentence or two each.
        given: What the example is about.
        example: The example's answers.
    """

    what: str
    rules: tuple[str, ...]
    given: str
    example: tuple[str, ...]


_WRITING = Guide(
    what="Write down every fact that the highlighted sentence states, one short sentence each.",
    rules=(
        "One fact a line. If a line could be half true, split it.",
        "Each line must be understood alone: write names, not “he” or “it”. The sentences around "
        "the highlighted one tell you who is meant.",
        "Use the sentence's own words where you can. Add nothing that it does not say.",
        "Together your lines should say all that the sentence says.",
        "A sentence that states no fact, as many questions do, gets no line: tick "
        f"“{NO_FACT}” instead.",
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
    what="Read the summary, then say of each fact whether the summary contains it.",
    rules=(
        "Yes: the summary says the fact or it plainly follows from it. Other words are fine.",
        "No: the summary does not say it, says only a part of it, or says something else.",
        "Go by the summary alone, not by what you know. Spelling and capitals do not matter.",
    ),
    given="A damaged ferry was brought back to Lisbon by its pilot on Monday.",
    example=(
        "The ferry was damaged. – Yes",
        "The ferry returned on a Monday. – Yes",
        "Ana Sousa is a harbour pilot. – No, the pilot is not named",
    ),
)

GUIDES: dict[Kind, Guide] = {"writing": _WRITING, "judging": _JUDGING}
