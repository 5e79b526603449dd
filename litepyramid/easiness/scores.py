"""Easiness of sentences: the record that regressor, mixing and budget planning share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.files import read_jsonl, write_jsonl
from litepyramid.tables import HIDDEN, Column, Result, Table, plain, record, row
from litepyramid.text import place
from litepyramid.types import FloatArray, IntArray, Signature
from litepyramid.units.align import Place, Sentence


@dataclass(frozen=True)
class Easiness(Result):
    """How well extracted STUs stand in for the SCUs of each sentence.

    Attributes:
        sentences: n sentences.
        values: (n,) float64, gold values in [0, 1]; NaN = not scored (no SCU belongs to the
            sentence). Read-only copy.
        signature: Where the values come from.
        notes: What a user must be told: sentences left out, units placed by their words …
        scus: (n,) how many SCUs each gold value is the mean of; None = not known.
    """

    sentences: tuple[Sentence, ...]
    values: FloatArray = field(metadata=HIDDEN)
    signature: Signature = field(default_factory=lambda: Signature(()))
    notes: tuple[str, ...] = ()
    scus: IntArray | None = field(default=None, metadata=HIDDEN)

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64, copy=True)
        if values.shape != (len(self.sentences),):
            raise InputError(
                f"the easiness values have the shape {values.shape}",
                expected=f"one value for each of {len(self.sentences)} sentences",
            )
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    def of(self, sentences: Sequence[Sentence]) -> FloatArray:
        """The values of these sentences, found by input, reference and sentence number.

        Raises:
            InputError: A sentence has no value here.
        """
        known = {s.key: value for s, value in zip(self.sentences, self.values, strict=True)}
        try:
            found = [known[s.key] for s in sentences]
        except KeyError as error:
            raise InputError(
                f"no easiness for {place(*error.args[0])}",
                hint="Were these values predicted from these references?",
            ) from None
        return np.array(found, dtype=np.float64)

    def to_tables(self) -> Sequence[Table]:
        """The sentences, easiest first; those not scored last."""
        columns = (
            "input",
            Column("reference", "ref"),
            Column("sentence", "sent"),
            *("easiness", "text"),
        )
        pairs = ((self.sentences[i], float(self.values[i])) for i in easiest_first(self.values))
        rows = (
            row(s, reference=s.reference + 1, sentence=s.sentence + 1, easiness=value)
            for s, value in pairs
        )
        scored = self.values[~np.isnan(self.values)]
        mean = f", mean {scored.mean():.3f}" if scored.size else ""
        summary = f"{len(self.values)} sentences, {scored.size} with an easiness{mean}."
        notes = (summary, *self.notes, f"Signature: {self.signature}")
        return [Table.of("Easiness, the easiest first", columns, rows, notes)]

    def to_json(self) -> dict[str, Any]:
        """All sentences in their order."""
        pairs = zip(self.sentences, self.values, strict=True)
        rows = [{**record(s), "easiness": float(value)} for s, value in pairs]
        return {**record(self), "sentences": rows}


def easiest_first(values: FloatArray) -> IntArray:
    """The sentences by falling easiness, equals in their order; those not scored last."""
    return np.argsort(np.where(np.isnan(values), np.inf, -values), kind="stable")


def write_easiness(path: str | Path, easiness: Easiness) -> None:
    """Writes one sentence per line: input, reference, sentence, easiness (null = not scored), text.

    Raises:
        InputError: The file cannot be written.
    """
    write_jsonl(path, plain(easiness.to_json()["sentences"]))


_LINE = {"input": str, "reference?": int, "sentence": int, "easiness?": float, "text?": str}


def read_easiness(path: str | Path | Easiness) -> Easiness:
    """Reads what `write_easiness` wrote; the values may come from any other tool as well.

    An `Easiness` is given back as it is.

    Raises:
        InputError: A line is not such an object, or two lines are for the same sentence.
    """
    if isinstance(path, Easiness):
        return path
    found: dict[Sentence, float] = {}
    seen: dict[Place, int] = {}
    for number, line in read_jsonl(path):
        check_shape(line, _LINE, path=path, line=number)
        place = line["input"], line.get("reference") or 0, line["sentence"]
        if place in seen:
            raise InputError(f"the same sentence as in line {seen[place]}", path=path, line=number)
        seen[place] = number
        value = line.get("easiness")
        found[Sentence(*place, line.get("text") or "")] = math.nan if value is None else value
    values = np.array(list(found.values()), dtype=np.float64)
    return Easiness(tuple(found), values, Signature.of(easiness=Path(path).name))
