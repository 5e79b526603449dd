"""The tour: what litepyramid does, shown on the example that ships with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from litepyramid.comparison import compare_systems
from litepyramid.embedded.example import load_example
from litepyramid.presence.judges import make_judge
from litepyramid.report.table import Reportable
from litepyramid.scoring import score_systems


@dataclass(frozen=True, slots=True)
class Step:
    """One stop of the tour.

    Attributes:
        heading: What is shown.
        command: What a user types to get the same from the files of ``demo --save example``.
        result: What it gives.
        remark: What to see in it.
    """

    heading: str
    command: str
    result: Reportable
    remark: str = ""


def tour(seed: int = 12345) -> Iterator[Step]:
    """Runs the main jobs on the shipped example, one after the other."""
    example = load_example()
    judge = make_judge("lexical")
    scored = score_systems(example.summaries, example.scus, judge, labels=example.labels, seed=seed)
    yield Step(
        "Score: how many of the references' facts does each system carry?",
        "litepyramid score example/summaries --units example/scus.jsonl --labels example/labels",
        scored,
        "The judge that ships measures overlap of words, not entailment: it is taken in by the\n"
        "system 'swapped', which copies the references and negates them, and it misses much of\n"
        "what 'abstractive' says in other words. People are not; nor is a good NLI model\n"
        "(--judge HUB_ID).",
    )
    yield Step(
        "Compare: which systems are told apart?",
        "litepyramid compare example/summaries --units example/scus.jsonl",
        compare_systems(scored.matrix, seed=seed, signature=scored.signature),
    )
