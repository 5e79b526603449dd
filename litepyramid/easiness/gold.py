"""Gold easiness: how well the STUs of a sentence simulate its SCUs (ZB21 §3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from litepyramid.easiness.scores import Easiness
from litepyramid.errors import InputError
from litepyramid.metrics.rouge import Rouge
from litepyramid.types import InputUnits, Signature
from litepyramid.units.align import Alignment, Place, Sentence, align_both

Similarity = Callable[[str, str], float]
_MOST = 500


def rouge1(stem: bool = False) -> Similarity:
    """ROUGE-1 F1 of two texts as rouge-score has it: lower-cased, ``[a-z0-9]`` alone.

    Args:
        stem: Whether words are stemmed (Porter); rouge-score's default is not to.

    Example:
        >>> round(rouge1()("the cat sat", "the cat sat down"), 4)
        0.8571
    """
    rouge = Rouge("1", "f1", stem)
    return lambda target, prediction: float(rouge.score([prediction], [target])[0])


def simulation_accuracy(scu: str, stus: Iterable[str], similarity: Similarity) -> float:
    """``Acc_j = max_m ROUGE-1-F1(SCU_j, STU_m)``; 0 if there is no STU.

    Example:
        >>> simulation_accuracy("a cat sat", ["dogs ran", "a cat sat"], rouge1())
        1.0
    """
    return max((similarity(scu, stu) for stu in stus), default=0.0)


def gold_easiness(
    scus: Sequence[InputUnits],
    stus: Sequence[InputUnits],
    sentences: Sequence[Sentence],
    *,
    stem: bool = False,
) -> Easiness:
    """How well the STUs of each sentence simulate the SCUs of the same sentence.

    ``Easiness(sentence) = (1 / N) sum_j Acc_j`` over the N SCUs that belong to it, with
    ``Acc_j = max_m ROUGE-1-F1(SCU_j, STU_m)`` over the STUs that belong to it (ZB21 §3.3). Units
    that do not say where they come from are placed by `align_both`.

    Args:
        scus: The SCUs of every input.
        stus: The STUs of the same inputs, in any order.
        sentences: The sentences of the references of these inputs.
        stem: Whether ROUGE stems words.

    Returns:
        One value in [0, 1] for each sentence; NaN where no SCU belongs to it. A sentence with
        SCUs but no STU is 0: nothing simulates them.

    Raises:
        InputError: Inputs of `scus` and `stus` differ, or have no sentences; as `by_sentence`.

    Example:
        >>> from litepyramid.types import Unit
        >>> s = [Sentence("a", 0, 0, "A cat sat ."), Sentence("a", 0, 1, "It purred loudly .")]
        >>> human = [InputUnits("a", (Unit("A cat sat."),))]
        >>> machine = [InputUnits("a", (Unit("A cat sat", kind="stu"),))]
        >>> gold_easiness(human, machine, s).values.tolist()
        [1.0, nan]
    """
    check_same_inputs(scus, stus)
    wanted = {item.input for item in scus}
    sentences = [s for s in sentences if s.input in wanted]
    of_scu, of_stu = align_both(scus, stus, sentences)
    human, machine = by_sentence(of_scu), by_sentence(of_stu)
    similarity = rouge1(stem)
    values, counts = [], []
    for s in sentences:
        texts = machine.get(s.key, [])
        accuracies = [simulation_accuracy(t, texts, similarity) for t in human.get(s.key, [])]
        counts.append(len(accuracies))
        values.append(float(np.mean(accuracies)) if accuracies else float("nan"))
    return Easiness(
        tuple(sentences),
        np.array(values),
        Signature.of(easiness="gold", similarity="rouge1-f1", stem="yes" if stem else None),
        placement_notes(of_scu, of_stu),
        np.array(counts, dtype=np.int64),
    )


def by_sentence(alignments: Iterable[Alignment]) -> dict[Place, list[str]]:
    """The texts of the units that belong to each sentence, in the units' order.

    Raises:
        InputError: More than 500 belong to one sentence.
    """
    found: dict[Place, list[str]] = {}
    for alignment in alignments:
        for unit in alignment.units.units:
            if unit.reference is not None and unit.sentence is not None:
                place = (alignment.units.input, unit.reference, unit.sentence)
                found.setdefault(place, []).append(unit.text)
                if len(found[place]) > _MOST:
                    raise InputError(
                        f"more than {_MOST} units belong to sentence {unit.sentence + 1} of "
                        f"reference {unit.reference + 1} of input '{place[0]}'",
                        hint="Units that share no word with any sentence go to the first: are "
                        "these the references that they were made from?",
                    )
    return found


def placement_notes(scus: Sequence[Alignment], stus: Sequence[Alignment]) -> tuple[str, ...]:
    """One sentence per kind of unit: how many were placed by what."""
    notes = []
    for name, alignments in (("SCUs", scus), ("STUs", stus)):
        own, matched = sum(a.own for a in alignments), sum(a.matched for a in alignments)
        tied, lost = sum(a.tied for a in alignments), sum(a.unmatched for a in alignments)
        notes.append(
            f"{own + matched + lost} {name}: {own} named their sentence, {matched} were placed by "
            f"shared words ({tied} ties to the first), {lost} shared none (first sentence)."
        )
    return tuple(notes)


def check_same_inputs(scus: Sequence[InputUnits], stus: Sequence[InputUnits]) -> None:
    """Raises InputError naming the first input that only one of the two has."""
    for one, other, name in ((scus, stus, "STUs"), (stus, scus, "SCUs")):
        known = {item.input for item in other}
        for item in one:
            if item.input not in known:
                raise InputError(f"input '{item.input}' has no {name}")
