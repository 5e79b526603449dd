"""What was counted during scoring, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from litepyramid.text import counted

_WORDING = {
    "empty_summaries": ("empty summary; it scores", "empty summaries; they score", "0."),
    "truncated": ("pair was", "pairs were", "truncated to the judge's maximum length."),
    "split": ("pair was", "pairs were", "judged in parts of the summary; the best counts."),
    "missing": ("pair has", "pairs have", "no judgement."),
    "summaries_not_scored": ("summary is", "summaries are", "not scored, for lack of judgements."),
    "summaries_without_precision": ("summary has", "summaries have", "no unit, and no precision."),
    "systems_without_labels": ("system has", "systems have", "no human labels."),
    "labels_not_used": (
        "label file is of a system",
        "label files are of systems",
        "not scored here.",
    ),
    "inputs_with_fewer_units_than_sample": (
        "input has",
        "inputs have",
        "fewer units than the sample.",
    ),
    "inputs_without_labels": (
        "input has",
        "inputs have",
        "no human labels: the human score is over the others.",
    ),
    "inputs_not_scored": (
        "input has",
        "inputs have",
        "no score: the ideal summary holds no SCU.",
    ),
}


def count_notes(counts: Mapping[str, int]) -> list[str]:
    """A sentence for each thing that happened.

    Example:
        >>> count_notes({"pairs": 9, "truncated": 1})
        ["1 pair was truncated to the judge's maximum length."]
    """
    return [
        f"{counted(counts[key], one, many)} {rest}"
        for key, (one, many, rest) in _WORDING.items()
        if counts.get(key)
    ]
