"""A lighteval metric: the share of the gold texts' facts that an answer conveys.

Copy it next to your custom tasks (``--custom-tasks``), and put `pyramid` among a task's
metrics.
`Doc.specific["units"]`, a list of sentences, replaces units extracted from the gold texts.
"""

from __future__ import annotations

import numpy as np
from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import SampleLevelMetric
from lighteval.models.model_output import ModelResponse
from lighteval.tasks.requests import Doc, SamplingMethod

import litepyramid as lp


class Pyramid(SampleLevelComputation):
    """The mean presence of the units in the first answer; `judge` as for
    `litepyramid.judge`."""

    def __init__(self, judge: str = "lexical", **settings: object) -> None:
        self.judge = lp.judge(judge, **settings)

    def compute(self, doc: Doc, model_response: ModelResponse, **_: object) -> float:
        """The score of one sample."""
        units = (doc.specific or {}).get("units")
        source = {"units": [units]} if units else {"references": [doc.get_golds()]}
        # Of one short sample nobody can tell the language.
        source["language"] = "any"
        answer = (model_response.text_post_processed or model_response.text)[0]
        result = lp.score([answer], judge=self.judge, samples=40, **source)
        return float(result.values[0, 0])


pyramid = SampleLevelMetric(
    metric_name="litepyramid",
    higher_is_better=True,
    category=SamplingMethod.GENERATIVE,
    sample_level_fn=Pyramid(),
    corpus_level_fn=np.mean,
)
