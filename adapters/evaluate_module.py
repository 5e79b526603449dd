"""A Hugging Face `evaluate` module: Pyramid scores of predictions.

    metric = evaluate.load("adapters/evaluate_module.py")
    metric.compute(predictions=[...], references=[[...], ...], judge="lexical")

References are lists of reference texts, or one text each; with ``units=True`` they are
lists of units. (`evaluate` itself now recommends lighteval for new projects.)
"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

import litepyramid as lp

_TEXTS = datasets.Sequence(datasets.Value("string"))


class Pyramid(evaluate.Metric):
    """The mean presence of reference units in predictions (Zhang & Bansal 2021)."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="Lite2/Lite3 Pyramid: the share of reference facts that a text conveys.",
            citation="Zhang & Bansal 2021, Finding a Balanced Degree of Automation for Summary "
            "Evaluation (EMNLP).",
            inputs_description="predictions: texts; references: a text or a list of texts each.",
            features=[
                datasets.Features({"predictions": text, "references": _TEXTS}),
                datasets.Features({"predictions": text, "references": text}),
            ],
        )

    def _compute(
        self,
        predictions: list[str],
        references: list[Any],
        units: bool = False,
        **judging: Any,
    ) -> dict[str, Any]:
        rows = [[row] if isinstance(row, str) else list(row) for row in references]
        result = lp.score(predictions, samples=40, **{"units" if units else "references": rows},
                          **judging)  # fmt: skip
        return {
            "score": next(iter(result.scores.values())),
            "scores": result.values[0].tolist(),
            "signature": str(result.signature),
        }
