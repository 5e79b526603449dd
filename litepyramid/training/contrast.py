"""A checklist for judges: contrasting pairs, and a judge's accuracy on each kind."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from litepyramid.judges.base import Judge
from litepyramid.judges.calibration import brier_score, roc_auc
from litepyramid.tables import Column, Result, Table, row
from litepyramid.types import Signature, fingerprint


@dataclass(frozen=True, slots=True)
class ContrastPair:
    """A summary, a unit, and whether the one holds the other.

    Attributes:
        id: ``dev-…`` were read by those who built the reading judge, ``test-…`` were not.
        phenomenon: What makes it hard: ``negation``, ``roles``, ``number`` …
        summary: One to three sentences.
        unit: One fact.
        label: 1 if the summary says it, else 0.
    """

    id: str
    phenomenon: str
    summary: str
    unit: str
    label: int


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """A judge's accuracy on the pairs of one kind; present means presence ≥ .5.

    Attributes:
        name: The kind.
        pairs: How many there are.
        accuracy: Share judged as labelled.
        found: The same among those labelled present.
        refused: The same among those labelled absent.
    """

    name: str
    pairs: int
    accuracy: float
    found: float
    refused: float


@dataclass(frozen=True, slots=True)
class ContrastResult(Result):
    """A judge on the contrast set."""

    auc: float
    brier: float
    all: Phenomenon
    phenomena: tuple[Phenomenon, ...]
    signature: Signature

    def to_tables(self) -> list[Table]:
        """One row a phenomenon, all pairs last."""
        columns = (
            "phenomenon",
            "pairs",
            Column("accuracy", digits=2),
            Column("found", "found if present", digits=2),
            Column("refused", "rejected if absent", digits=2),
        )
        notes = (f"AUC {self.auc:.3f}, Brier {self.brier:.3f}", str(self.signature))
        title = "Contrast set: accuracy of the judge, by kind"
        rows = (row(p, phenomenon=p.name) for p in (*self.phenomena, self.all))
        return [Table.of(title, columns, rows, notes)]


def load_contrast() -> tuple[ContrastPair, ...]:
    """The embedded contrast set.

    Example:
        >>> pairs = load_contrast()
        >>> len(pairs), sum(pair.label for pair in pairs)
        (824, 392)
    """
    text = files("litepyramid.embedded").joinpath("contrast.jsonl").read_text(encoding="utf-8")
    return tuple(ContrastPair(**json.loads(line)) for line in text.splitlines())


def evaluate_contrast(judge: Judge) -> ContrastResult:
    """Judges every pair of the contrast set: a checklist of what a judge can distinguish.

    Pairs of one summary hold much the same words, so counting words gets an AUC near .5. The idea
    of tests by capability is that of CheckList (Ribeiro et al., ACL 2020).

    Example:
        >>> from litepyramid.judges.registry import make_judge
        >>> evaluate_contrast(make_judge("recall")).auc < 0.65
        True
    """
    pairs = load_contrast()
    batch = judge.judge([(pair.summary, [pair.unit]) for pair in pairs])
    presence = np.concatenate(batch.presence)
    label = np.array([pair.label for pair in pairs])
    kind = np.array([pair.phenomenon for pair in pairs])

    def share(name: str, chosen: np.ndarray) -> Phenomenon:
        right = (presence >= 0.5) == label
        parts = (chosen, chosen & (label == 1), chosen & (label == 0))
        shares = [float(right[part].mean()) for part in parts]
        return Phenomenon(name, int(chosen.sum()), *shares)

    scored = ~np.isnan(presence)
    return ContrastResult(
        auc=roc_auc(presence[scored], label[scored]),
        brier=brier_score(presence[scored], label[scored]),
        all=share("all", label >= 0),
        phenomena=tuple(share(name, kind == name) for name in sorted(set(kind.tolist()))),
        signature=Signature.of(
            **batch.signature,
            contrast_sha=fingerprint([[p.summary, p.unit, p.label] for p in pairs]),
        ),
    )
