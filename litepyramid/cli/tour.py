"""The tour: what litepyramid does, shown on the example that ships with it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from litepyramid import api
from litepyramid.embedded.example import load_example
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.meta.correlations import correlate
from litepyramid.scoring.result import ScoreResult
from litepyramid.tables import Result
from litepyramid.types import ScoreTable

SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """One stop of the tour.

    Attributes:
        heading: What is shown.
        commands: What a user types to get the same from the files of ``demo --save example``.
        result: What it gives.
        remark: What to see in it.
    """

    heading: str
    commands: tuple[str, ...]
    result: Result
    remark: str = ""


def tour(seed: int = 12345) -> Iterator[Step]:
    """Runs the main jobs on the shipped example, one after the other."""
    example = load_example()
    judge = api.judge(DEFAULT_JUDGE)
    lite2 = api.score(
        example.summaries,
        example.scus,
        references=example.references,
        judge=judge,
        labels=example.labels,
        seed=seed,
        evidence=True,
    )
    yield Step(
        "Score: how many of the references' facts does each system carry?",
        ("litepyramid score example/summaries --units example/scus.jsonl --labels example/labels",),
        lite2,
        "Trust the human column: what people found. The embedded judge detects denials,\n"
        "swapped roles, changed numbers and hedges, so 'swapped', which reverses every\n"
        "fact, comes after 'lead'. It misses paraphrases, so 'abstractive' scores too\n"
        "low, and half of the false facts: papers need an NLI model (--judge HUB_ID).",
    )
    yield Step(
        "Compare: which systems differ significantly?",
        ("litepyramid compare example/summaries --units example/scus.jsonl",),
        api.compare(lite2, seed=seed),
    )
    stus = api.extract_units(example.references).units
    lite3 = api.score(example.summaries, stus, judge=judge, seed=seed)
    first = "\n".join(
        textwrap.fill(text, 80, initial_indent="  - ", subsequent_indent="    ")
        for text in stus[0].texts
    )
    yield Step(
        "No SCUs? Extract STUs from the references.",
        ("litepyramid score example/summaries --references example/references.jsonl",),
        lite3,
        f"The STUs of the first reference ({stus[0].input}):\n{first}",
    )
    easiness = api.EasinessRegressor.embedded().predict(example.references, stus)
    yield Step(
        "Budget: which half of the sentences should people write SCUs for?",
        (f"litepyramid budget plan example/references.jsonl --human-share {SHARE} -o plan.json",),
        api.plan(example.references, human_share=SHARE, easiness=easiness),
    )
    mixed = api.mix(example.scus, stus, easiness, stu_share=SHARE)
    lite25 = api.score(example.summaries, mixed.units, judge=judge, seed=seed)
    table = _side_by_side(lite2, lite25, lite3)
    yield Step(
        "Meta-evaluate: how well do the scores agree with people?",
        (
            "litepyramid score example/summaries --units example/scus.jsonl "
            "--labels example/labels -f json -o scores.json",
            "litepyramid meta correlate scores.json",
        ),
        correlate(table, coefficient=("pearson", "kendall")),
        "Four systems say little about a metric: at system level the interval would span\n"
        "the whole scale. See `litepyramid meta --help` for other analyses.",
    )


def _side_by_side(lite2: ScoreResult, *others: ScoreResult) -> ScoreTable:
    """Several scores of the same summaries, with the human score, as one table."""
    human = lite2.human_matrix
    scores = [lite2, *others]
    values = [score.values for score in scores]
    names = [score.metric for score in scores]
    if human is not None:
        names.append(human.metric)
        values.append(human.values)
    return ScoreTable(tuple(names), lite2.systems, lite2.inputs, np.stack(values))
