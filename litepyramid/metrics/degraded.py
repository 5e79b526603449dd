"""ROUGE-1 on a random share of each summary's words: a metric worse by a known amount (DDR21)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from litepyramid.errors import InputError
from litepyramid.metrics.rouge import RougeVariant
from litepyramid.metrics.tokens import line_tokenizer
from litepyramid.types import FloatArray, SystemSummaries


class SampledRouge:
    """R_k of DDR21 §5.2 for all summaries of a table at once.

    All words are cut and matched once; a draw then costs one sort. With share 1 the scores are
    those of ``Rouge("1", variant)``.

    Args:
        summaries: N systems over the same M inputs.
        references: Per input, its references; of several, the one with the highest F1 counts.
        variant: ``"f1"``, ``"recall"`` or ``"precision"``.
        stem: Whether words are stemmed.

    Example:
        >>> system = SystemSummaries("s", ("1",), ("the cat sat down",))
        >>> rouge = SampledRouge([system], {"1": ["the cat sat"]}, "recall")
        >>> rouge.score(1.0, np.random.default_rng(0)).tolist()
        [[1.0]]
        >>> round(float(rouge.score(0.5, np.random.default_rng(0))[0, 0]), 3)
        0.333
    """

    def __init__(
        self,
        summaries: Sequence[SystemSummaries],
        references: Mapping[str, Sequence[str]],
        variant: RougeVariant = "f1",
        *,
        stem: bool = True,
    ) -> None:
        if variant not in ("f1", "recall", "precision"):
            raise InputError(
                f"unknown ROUGE variant '{variant}'", expected="f1, recall or precision"
            )
        if not summaries:
            raise InputError("no summaries", expected="at least one system")
        inputs = summaries[0].inputs
        for system in summaries:
            if system.inputs != inputs:
                raise InputError(f"system '{system.system}' has other inputs than the first")
        absent = [name for name in inputs if not references.get(name)]
        if absent:
            raise InputError(f"no reference for input '{absent[0]}'")
        self.variant = variant
        self.shape = (len(summaries), len(inputs))
        words = line_tokenizer(stem)
        slots = max(len(references[name]) for name in inputs)
        targets = [[Counter(words(text)) for text in references[name]] for name in inputs]
        targets = [own + [Counter()] * (slots - len(own)) for own in targets]
        cut = [words(text) for system in summaries for text in system.texts]
        said = [(cell, word) for cell, text in enumerate(cut) for word in text]
        pairs = {pair: number for number, pair in enumerate(dict.fromkeys(said))}
        wanted = [[t[word] for t in targets[cell % len(inputs)]] for cell, word in pairs]
        sizes = [[float(target.total()) for target in own] for own in targets]
        self._cells = np.array([cell for cell, _ in said], dtype=np.int64)
        self._types = np.array([pairs[pair] for pair in said], dtype=np.int64)
        self._pair_cell = np.array([cell for cell, _ in pairs], dtype=np.int64)
        self._wanted = np.array(wanted, dtype=np.int64).reshape(-1, slots)
        self._length = np.array([len(text) for text in cut], dtype=np.int64)
        self._first = np.cumsum(self._length) - self._length
        self._target = np.tile(sizes, (len(summaries), 1))

    def score(self, share: float, rng: np.random.Generator) -> FloatArray:
        """ROUGE-1 with a random `share` of every summary's words, rounded to whole words.

        Args:
            share: From 0 to 1.
            rng: The only source of randomness.

        Returns:
            (N, M) float64.
        """
        if not 0 <= share <= 1:
            raise InputError(f"a share of {share} of the words", expected="a number from 0 to 1")
        kept = np.rint(share * self._length)
        # The words of a cell stand together; its cell number plus a random fraction shuffles them.
        order = np.argsort(self._cells + rng.random(len(self._cells)))
        rank = np.arange(len(order)) - self._first[self._cells]
        chosen = order[rank < kept[self._cells]]
        counts = np.bincount(self._types[chosen], minlength=len(self._pair_cell))
        best, best_f1 = np.zeros(len(kept)), np.full(len(kept), -1.0)
        for slot in range(self._wanted.shape[1]):
            hits = np.bincount(
                self._pair_cell,
                np.minimum(counts, self._wanted[:, slot]),
                minlength=len(kept),
            ).astype(np.float64)
            target = self._target[:, slot]
            f1 = _share(2 * hits, kept + target)
            value = {"f1": f1, "recall": _share(hits, target), "precision": _share(hits, kept)}
            better = (f1 > best_f1) & (target > 0)
            best = np.where(better, value[self.variant], best)
            best_f1 = np.where(better, f1, best_f1)
        return best.reshape(self.shape)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0))
