"""Why a unit is thought present or absent: the sentence, the words, and what contradicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from litepyramid.judges.base import Evidence
from litepyramid.judges.evidence import sentence_spans
from litepyramid.judges.reading.compare import CONFLICTS, Comparison
from litepyramid.judges.reading.trees import Trees
from litepyramid.types import FloatArray, IntArray

_TEXTS = {
    "denied": "denied ({unit})",
    "exchanged": "subject and object swapped ({unit})",
    "open": "hedged, planned or conditional ({there})",
    "other": "another name {unit} ≠ {there}",
    "elsewhere": "said of something else: {unit} ≠ {there}",
    "rival": "value {unit} ≠ {there}",
}


@dataclass(frozen=True)
class Part:
    """Some pairs, each with the sentence that tells most of it.

    Attributes:
        pairs: (pairs,) their numbers among all.
        sentences: (pairs,) the summary, and the sentence's number in it.
        chosen: (pairs,) their numbers in `comparison`.
        comparison: How these, and sentences not chosen, compare with the unit.
        units, trees: The parsed units and sentences.
    """

    pairs: IntArray
    sentences: Sequence[tuple[str, int]]
    chosen: IntArray
    comparison: Comparison
    units: Trees
    trees: Trees


def explained(
    part: Part, presence: FloatArray, weights: Mapping[str, float]
) -> Iterator[tuple[int, Evidence]]:
    """The number of each pair of a part, and the evidence for and against it.

    Args:
        part: The pairs.
        presence: The presence of all pairs.
        weights: The features' weights by name: the conflict with the highest weight is shown.
    """
    found, units, trees = part.comparison, part.units, part.trees
    worst: dict[int, tuple[float, str]] = {}
    for name in CONFLICTS:
        for row, token, strength in zip(*(a.tolist() for a in found.found[name]), strict=True):
            pair, power = int(found.pair[row]), strength * -weights[name]
            if power > worst.get(pair, (0.0, ""))[0]:
                sides = units.texts[found.word[row]], trees.texts[token]
                if name == "amount":
                    sides = units.amount[found.word[row]], trees.amount[token]
                text = _TEXTS.get(name, name + " {unit} ≠ {there}")
                worst[pair] = power, text.format(unit=sides[0], there=sides[1])
    rows: dict[int, list[int]] = {}
    for row in found.rows.tolist():
        rows.setdefault(int(found.pair[row]), []).append(row)
    spans: dict[str, list[tuple[int, int]]] = {}
    for number, chosen, (summary, sentence) in zip(
        part.pairs.tolist(), part.chosen.tolist(), part.sentences, strict=True
    ):
        if summary not in spans:
            spans[summary] = sentence_spans(summary)
        own = rows.get(chosen, [])
        partners = [(units.texts[found.word[row]], int(found.partner[row])) for row in own]
        yield (
            number,
            Evidence(
                float(presence[number]),
                sentence,
                spans[summary][sentence],
                tuple((word, trees.texts[at]) for word, at in partners if at >= 0),
                tuple(word for word, at in partners if at < 0),
                worst.get(chosen, (0.0, ""))[1],
            ),
        )
