"""An inspect_ai scorer: the share of the target's facts that the output conveys.

    from inspect_scorer import pyramid
    Task(dataset=..., solver=generate(), scorer=pyramid("lexical"))

The target is one reference or several. `Sample.metadata["units"]`, a list of sentences,
replaces units extracted from them.
"""

from __future__ import annotations

import asyncio
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

import litepyramid as lp


@scorer(metrics=[mean(), stderr()])
def pyramid(judge: str = "lexical", **settings: Any) -> Scorer:
    """Presence of each unit by `judge`, and their mean as the value; see
    `litepyramid.judge`."""
    judging = lp.judge(judge, **settings)

    async def score(state: TaskState, target: Target) -> Score:
        units = (state.metadata or {}).get("units")
        source = {"units": [units]} if units else {"references": [list(target)]}
        # Of one short sample nobody can tell the language.
        source["language"] = "any"
        result = await asyncio.to_thread(
            lp.score, [state.output.completion], judge=judging, samples=40, **source
        )
        found = dict(
            zip(result.units[0].texts, result.presence[0].tolist(), strict=True)
        )
        return Score(
            value=float(result.values[0, 0]),
            answer=state.output.completion,
            explanation="\n".join(
                f"{value:.2f}  {unit}" for unit, value in found.items()
            ),
            metadata={"presence": found, "signature": str(result.signature)},
        )

    return score
