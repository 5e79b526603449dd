"""Easiness of sentences: the record, and gold easiness (ZB21 §3.3)."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from litepyramid.data.door import opened
from litepyramid.data.records import InputUnits, Units
from litepyramid.data.typed_rows import typed_rows
from litepyramid.disk import jsonl
from litepyramid.errors import InputError
from litepyramid.identity import fingerprint
from litepyramid.metrics.score_metrics import rouge_scorer
from litepyramid.stats import mean_of_scored
from litepyramid.tables import HIDDEN, Column, Result, Table, plain, record, row
from litepyramid.text import place
from litepyramid.types import Fields, FloatArray, IntArray, Signature, Texts
from litepyramid.units.align import Alignment, Place, Sentence, align_both
from litepyramid.units.parses import check_alike

_MOST = 500


@dataclass(frozen=True)
class Easiness(Result):
    """How well extracted STUs stand in for the SCUs of each sentence.

    Attributes:
        values: (sentences,) float64, gold values in [0, 1]; NaN = no SCU belongs to the
            sentence.
        notes: Sentences left out, units placed by their words …
        scus: (sentences,) how many SCUs each gold value is the mean of; None = not
            known.
    """

    sentences: tuple[Sentence, ...]
    values: FloatArray = field(metadata=HIDDEN)
    signature: Signature = field(default_factory=lambda: Signature(()))
    notes: Texts = ()
    scus: IntArray | None = field(default=None, metadata=HIDDEN)

    forms: ClassVar = {".jsonl": "_lines"}

    @property
    def sha(self) -> str:
        """A hash of the values, by sentence, which names them in a signature."""
        values = self._by_sentence()
        return fingerprint(sorted((key, plain(values[key])) for key in values))

    def _by_sentence(self) -> dict[Place, float]:
        keys = [s.key for s in self.sentences]
        return dict(zip(keys, self.values.tolist(), strict=True))

    def of(self, sentences: Sequence[Sentence]) -> FloatArray:
        """The values of these sentences, found by input, reference and sentence number;
        where they have texts, of these texts."""
        values = self._by_sentence()
        if missing := [s.key for s in sentences if s.key not in values]:
            raise InputError(
                f"no easiness for {place(*missing[0])}",
                hint="Were these values predicted from these references?",
            )

        texts = {s.key: s.text for s in self.sentences}
        for s in sentences:
            check_alike(place(*s.key), texts[s.key], s.text)
        return np.array([values[s.key] for s in sentences], dtype=float)

    def to_tables(self) -> Sequence[Table]:
        """The sentences, easiest first; those not scored last."""
        numbers = Column("reference", "ref"), Column("sentence", "sent")
        columns = ("input", *numbers, "easiness", "text")
        rows = []

        for i in easiest_first(self.values):
            s = self.sentences[i]
            rows.append(
                row(
                    s,
                    reference=s.reference + 1,
                    sentence=s.sentence + 1,
                    easiness=float(self.values[i]),
                )
            )

        scored = self.values[~np.isnan(self.values)]
        mean = f", mean {scored.mean():.3f}" if scored.size else ""
        summary = f"{len(self.values)} sentences, {scored.size} with an easiness{mean}."
        notes = (summary, *self.notes, f"Signature: {self.signature}")
        return [Table.of("Easiness, the easiest first", columns, rows, notes)]

    def json_entries(self) -> Fields:
        """All sentences in their order, references and sentences counted from 0."""
        pairs = zip(self.sentences, self.values, strict=True)
        rows = [{**record(s), "easiness": float(value)} for s, value in pairs]
        return {**record(self), "sentences": rows}

    def to_csv_table(self) -> Table:
        """A row a sentence, as in JSON."""
        names = ("input", "reference", "sentence", "text", "easiness")
        return Table.of("Easiness", names, self.json_entries()["sentences"])

    def _lines(self) -> Iterator[str]:
        """A sentence a line: input, reference, sentence, text, easiness (null:
        none)."""
        return jsonl(self.to_json()["sentences"])


def easiest_first(values: FloatArray) -> IntArray:
    """The sentences by falling easiness, equals in their order; those not scored
    last."""
    return np.argsort(np.where(np.isnan(values), np.inf, -values), kind="stable")


@dataclass(frozen=True)
class _Line:
    """A row of a file of easiness."""

    input: str
    sentence: int
    reference: int = 0
    easiness: float | None = None
    text: str = ""


def read_easiness(source: object) -> Easiness:
    """Reads a table of easiness, a row a sentence; an `Easiness` is given back as it
    is."""
    if isinstance(source, Easiness):
        return source
    values: dict[Sentence, float] = {}
    lines: dict[Place, int] = {}
    table = opened(source, "easiness")

    for at, line in typed_rows(table, _Line, ("reference", "sentence", "easiness")):
        sentence = Sentence(line.input, line.reference, line.sentence, line.text)
        if (first := lines.get(sentence.key)) is not None:
            raise InputError(
                f"the same sentence as in line {first}", path=at.path, line=at.line
            )
        lines[sentence.key] = at.line
        values[sentence] = math.nan if line.easiness is None else line.easiness

    easiness = Easiness(tuple(values), np.array([*values.values()], dtype=float))
    return replace(easiness, signature=Signature.of(easiness=f"file:{easiness.sha}"))


@cache
def _rouge1() -> Any:
    """ROUGE-1 as rouge-score has it: lower-cased, ``[a-z0-9]`` alone, no stems."""
    return rouge_scorer("1", stem=False)


def simulation_accuracy(scu: str, stus: Iterable[str]) -> float:
    """``Acc_j = max_m ROUGE-1-F1(SCU_j, STU_m)``; 0 if there is no STU."""
    f1 = [_rouge1().score(scu, stu)["rouge1"].fmeasure for stu in stus]
    return float(max(f1, default=0.0))


def gold_easiness(
    scus: Iterable[InputUnits],
    stus: Iterable[InputUnits],
    sentences: Sequence[Sentence],
) -> Easiness:
    """How well the STUs of each sentence simulate the SCUs of the same sentence.

    ``Easiness(sentence) = (1 / N) sum_j Acc_j`` over the N SCUs that belong to it, with
    ``Acc_j = max_m ROUGE-1-F1(SCU_j, STU_m)`` over the STUs that belong to it (ZB21
    §3.3). NaN where no SCU belongs to a sentence; 0 where it has SCUs but no STU. Units
    that do not say where they come from are placed by `align_both`.
    """
    check_same_inputs(scus, stus)
    inputs = {entry.input for entry in scus}
    sentences = [s for s in sentences if s.input in inputs]
    of_scu, of_stu = align_both(scus, stus, sentences)
    human = by_sentence(of_scu)
    machine = by_sentence(of_stu)
    means = []
    counts = []
    for s in sentences:
        made = machine.get(s.key, [])
        row = [simulation_accuracy(unit, made) for unit in human.get(s.key, [])]
        means.append(mean_of_scored(np.array(row)))
        counts.append(len(row))

    signature = Signature.of(
        easiness="gold",
        similarity="rouge1-f1",
        scus_sha=Units.of(scus).sha,
        stus_sha=Units.of(stus).sha,
    )
    return Easiness(
        tuple(sentences),
        np.array(means),
        signature,
        placement_notes(of_scu, of_stu),
        np.array(counts, dtype=int),
    )


def by_sentence(alignments: Iterable[Alignment]) -> dict[Place, list[str]]:
    """The texts of the units that belong to each sentence, in the units' order; at most
    500."""
    texts: dict[Place, list[str]] = {}
    for alignment in alignments:
        for unit in alignment.units.units:
            if unit.reference is None or unit.sentence is None:
                continue
            key = (alignment.units.input, unit.reference, unit.sentence)
            texts.setdefault(key, []).append(unit.text)
            # Each is compared with each: a hostile file would take hours.
            if len(texts[key]) > _MOST:
                raise InputError(f"more than {_MOST} units belong to {place(*key)}")
    return texts


def placement_notes(scus: Sequence[Alignment], stus: Sequence[Alignment]) -> Texts:
    """One sentence per kind of unit: how many were placed by what."""
    notes = []
    for name, alignments in (("SCUs", scus), ("STUs", stus)):
        n = sum((alignment.counts for alignment in alignments), Counter[str]())
        notes.append(
            f"{n.total() - n['tied']} {name}: {n['stated']} named their sentence, "
            f"{n['matched']} were placed by shared words ({n['tied']} ties to the "
            f"first), {n['unmatched']} shared none (first sentence)."
        )
    return tuple(notes)


def check_same_inputs(scus: Iterable[InputUnits], stus: Iterable[InputUnits]) -> None:
    """Raises InputError naming the first input that only one of the two has."""
    with_scus = {entry.input for entry in scus}
    with_stus = {entry.input for entry in stus}
    for name in sorted(with_scus ^ with_stus)[:1]:
        raise InputError(
            f"input '{name}' has no {'STUs' if name in with_scus else 'SCUs'}"
        )
