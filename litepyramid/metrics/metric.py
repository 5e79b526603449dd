"""The metric protocol: summaries of one input and its references in, one score per summary out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from litepyramid.errors import InputError
from litepyramid.metrics.divergence import JensenShannon
from litepyramid.metrics.rouge import Rouge
from litepyramid.types import FloatArray


class Metric(Protocol):
    """Scores summaries of one input against its references; higher is better."""

    @property
    def name(self) -> str:
        """Its name in a score table, for example ``rouge-2_recall``."""
        ...

    def score(self, summaries: Sequence[str], references: Sequence[str]) -> FloatArray:
        """Scores a batch of summaries of the same input.

        Args:
            summaries: The texts; a line break ends a sentence.
            references: At least one reference summary.

        Returns:
            (len(summaries),) float64, in the order of `summaries`.

        Raises:
            InputError: There is no reference, or none contains anything that the metric counts.
        """
        ...


METRICS = (
    "js-2",
    *(
        f"rouge-{kind}_{variant}"
        for kind in ("1", "2", "l", "1-pooled", "2-pooled", "l-pooled")
        for variant in ("f1", "recall", "precision")
    ),
)
"""The name of every metric that is computed here."""


def metric_named(name: str) -> Metric:
    """The metric of that name, with its usual settings.

    Raises:
        InputError: There is no such metric; the message lists the existing ones.

    Example:
        >>> metric_named("rouge-2_recall").score(["a cat sat"], ["the cat sat"]).tolist()
        [0.5]
    """
    if name not in METRICS:
        raise InputError(
            f"unknown metric '{name}'",
            expected="one of "
            + ", ".join(known for known in METRICS if "-pooled" not in known)
            + "; with the references pooled rouge-2-pooled_recall and so on",
            hint="Scores of other metrics are read from a table.",
        )
    return JensenShannon() if name == "js-2" else Rouge.named(name)
