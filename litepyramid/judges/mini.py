"""The embedded encoder as a judge: its verdict joined with what the words say, and explained."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from litepyramid.checked import as_type
from litepyramid.errors import ModelError
from litepyramid.files import file_type, read_json
from litepyramid.judges.base import Evidence, Items, JudgedBatch, best_parts
from litepyramid.judges.lexical.lexical_judge import LexicalJudge, load_lexical, word_evidence
from litepyramid.judges.nli.modes import p3c
from litepyramid.judges.nli.nli_judge import NLIJudge
from litepyramid.sentences import sentence_spans
from litepyramid.types import FloatArray

FOLDER = Path(__file__).resolve().parents[1] / "embedded" / "mini"


@dataclass(frozen=True)
class Stack:
    """bias + encoder logit(e) + lexical logit(l) - contradiction max(0, logit(c)) is the logit.

    e and c are the encoder's shares of entailment and contradiction, l is `lexical`'s presence;
    each logit is held within ±8.
    """

    bias: float
    encoder: float
    lexical: float
    contradiction: float

    def presence(self, entailed: FloatArray, lexical: FloatArray, denied: FloatArray) -> FloatArray:
        """The presence of each pair; 0 where `lexical` has 0: unit or summary has no word."""
        logits = self.bias + self.encoder * _logit(entailed) + self.lexical * _logit(lexical)
        logits -= self.contradiction * np.maximum(0.0, _logit(denied))
        return np.where(lexical > 0, 1.0 / (1.0 + np.exp(-logits)), 0.0)


def _logit(presence: FloatArray) -> FloatArray:
    inside = np.clip(presence, 1e-6, 1 - 1e-6)
    return np.clip(np.log(inside / (1 - inside)), -8.0, 8.0)


def _denied(logits: FloatArray) -> FloatArray:
    """The share of contradiction: `p3c` with the classes the other way round."""
    return p3c(logits[..., ::-1])


class MiniJudge(NLIJudge):
    """The embedded encoder, and the stack of its presence and `lexical`'s.

    Args:
        mode: p3c, l3c, p2c or l2c; none for its own, calibrated with the words.
        long: What becomes of a summary that does not fit: cut at its end, or split at sentences
            into parts that fit, of which each unit's best counts.
        threads: How many pairs are judged side by side; none for as many as cores.
        cache: The cache's file; none for a store in memory that ends with the judge; default for
            the user's own.
    """

    def __init__(
        self,
        *,
        mode: str | None = None,
        long: Literal["cut", "split"] = "cut",
        threads: int | None = None,
        cache: str | Path | None = "default",
    ) -> None:
        if file_type(FOLDER / "model.onnx") != "file":
            raise ModelError("this installation lacks the model of the judge 'mini'")
        settings: dict[str, Any] = {"mode": mode, "long": long, "threads": threads}
        super().__init__(str(FOLDER), cache=cache, **settings)
        self._remake = partial(MiniJudge, cache=self._remake.keywords["cache"], **settings)
        path, self._stack = FOLDER / "stack.json", None
        if mode is None and file_type(path) == "file":
            self._stack = as_type(Stack, read_json(path), path=path, error=ModelError)
        self._words = LexicalJudge(load_lexical())

    def signature(self) -> dict[str, str]:
        """The judge's part of the signature."""
        more = {"mode": "calibrated", "lexical": self._words.model.revision} if self._stack else {}
        return {**super().signature(), "judge": "mini", **more}

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `NLIJudge.judge`."""
        batch = super().judge(items)
        if self._stack is None:
            return batch
        words, denied = self._words.judge(items), map(_denied, batch.logits or ())
        presence = tuple(map(self._stack.presence, batch.presence, words.presence, denied))
        counts = {**batch.counts, "wordless": words.counts["wordless"]}
        return replace(batch, presence=presence, counts=counts)

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that decides, and whether the summary contradicts a unit; see `Explainer`.

        Each sentence is asked about alone: a present unit is shown with the one that entails it
        most, an absent one (below .5) with the one that holds most of its words. That one is
        contradicted if the encoder says so of the whole summary with at least .8, or with .5 where
        a number or a denial differs.
        """
        batch = self.judge(items)
        spans = [sentence_spans(text) or [(0, 0)] for text, _ in items]
        best = [np.where(values >= 0.5, 0, -1) for values in batch.presence]
        asked = [
            (text, [unit for unit, sentence in zip(units, row, strict=True) if sentence == 0])
            for (text, units), row in zip(items, best, strict=True)
        ]
        for row, sentences in zip(best, best_parts(super().judge, asked, spans)[1], strict=True):
            row[row == 0] = sentences
        evidence = word_evidence(items, batch.presence, best=best)
        denied = [_denied(rows).tolist() for rows in batch.logits or ()]
        return tuple(
            tuple(map(_with_conflict, row, shares))
            for row, shares in zip(evidence, denied, strict=True)
        )


def _with_conflict(evidence: Evidence, denied: float) -> Evidence:
    """The evidence with a conflict if the encoder agrees, or sees one that words do not show."""
    sure = 0.5 if evidence.conflict else 0.8
    contradicted = evidence.presence < 0.5 and bool(evidence.words) and denied >= sure
    return replace(evidence, conflict=(evidence.conflict or "contradicted") if contradicted else "")
