"""What people labelled: summaries with units, files of pairs, the contrast set.

A pair is a text (the premise) and a unit (the hypothesis). Pairs make a data set in
which each of them is an input of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple, Unpack

import numpy as np

from litepyramid.checked import as_truth, number
from litepyramid.data.data import Data, as_data
from litepyramid.data.door import Opened, opened
from litepyramid.data.facts import Facts
from litepyramid.data.records import Fact, InputUnits, Summaries, Unit, Units
from litepyramid.data.typed_rows import Placed, typed_rows
from litepyramid.errors import InputError, choose, located
from litepyramid.files import stem
from litepyramid.identity import fingerprint
from litepyramid.text import counted
from litepyramid.types import DataLike, FloatArray, NamedSources, Texts

NEUTRAL = 2.0
CONTRADICTION = 3.0
_CLASSES = {"entailment": 1.0, "neutral": NEUTRAL, "contradiction": CONTRADICTION}
_CLASSES |= {name[0]: code for name, code in _CLASSES.items()}


class LabelledSummary(NamedTuple):
    """A summary with people's labels of the units of its input; NaN where there is
    none."""

    system: str
    input: str
    text: str
    units: InputUnits
    labels: FloatArray


class LabelledPair(NamedTuple):
    """A premise, a hypothesis, and how present it is, from 0 to 1; where the NLI class
    of an absent one is known, `NEUTRAL` or `CONTRADICTION`."""

    premise: str
    unit: str
    label: float


def labelled(data: DataLike, **sources: Unpack[NamedSources]) -> Data:
    """A data set with units, summaries and labels."""
    whole = as_data(data, **sources)
    whole.require("units", "summaries", "labels")
    return whole


def labels_of(data: Data) -> Facts:
    """People's labels; InputError if there are none."""
    if data.labels is None:
        raise InputError(f"no labels of {data.name}", expected="labels")
    return data.labels


def labelled_summaries(data: Data) -> Iterator[LabelledSummary]:
    """Each summary that has a label, systems and inputs in order; a missing one is left
    out."""
    labels = labels_of(data)
    for system in data.systems:
        if system not in labels.systems:
            continue
        texts = data.summaries.of_system(system)
        for name, values in labels.units.split(labels.of_system(system)).items():
            text = texts[name]
            if text is not None and not np.isnan(values).all():
                yield LabelledSummary(system, name, text, labels.units[name], values)


def labelled_sha(data: Data) -> str:
    """What names labelled summaries in a signature: their texts, labels, questions."""
    labels = labels_of(data)
    return fingerprint([data.summaries.sha, labels.sha, labels.units.inputs_sha])


def label_notes(data: Data) -> Texts:
    """What of a data set is left out where labels are needed, as sentences; none if all
    is there."""
    whole = labels_of(data).of_systems(data.systems)
    units = whole.units
    labels = units.sums((~np.isnan(whole.values)).astype(float))
    of_system = labels.any(axis=1)
    open_units = np.diff(units.offsets) - labels
    missing = int((data.summaries.missing & (labels > 0)).sum())

    counts = (
        (int((~of_system).sum()), "system"),
        (
            int((labels[of_system] == 0).sum()),
            "summary of a labelled system",
            "summaries of labelled systems",
        ),
        (
            int(open_units[labels > 0].sum()),
            "unit of a labelled summary",
            "units of labelled summaries",
        ),
    )
    gaps = [counted(count, *names) for count, *names in counts if count]
    notes = []
    if gaps:
        notes.append(f"{data.name}: no labels, so left out: {'; '.join(gaps)}.")
    if missing:
        are = counted(missing, "labelled summary is", "labelled summaries are")
        notes.append(f"{data.name}: {are} missing, so left out.")
    return tuple(notes)


@dataclass(frozen=True)
class _PairRow:
    premise: str
    hypothesis: str
    label: str | None = None
    present: float | bool | str | None = None

    @property
    def code(self) -> float:
        """The label as a number."""
        present = number(as_truth(self.present))
        code = present
        if self.label:
            code = _CLASSES.get(self.label.lower())

        # Neutral and contradiction are both absent.
        said = 0.0 if self.label and code != 1 else code
        agree = self.present is None or present == said
        if code is None or not agree or not (self.label or 0 <= code <= 1):
            raise InputError(
                f"label is {self.label!r}, present is {self.present!r}",
                expected="a label e, n or c, or present as a number from 0 to 1; of "
                "both, the same",
            )

        return code


def pairs_in(table: Opened) -> Iterator[tuple[Placed, LabelledPair]]:
    """The pairs of a table with ``premise``, ``hypothesis``, and ``present`` or
    ``label``, each with its place.

    `present` is a number from 0 to 1 or true or false; `label` e, n, c or the full
    word: 1, `NEUTRAL` or `CONTRADICTION`.
    """
    for at, row in typed_rows(table, _PairRow):
        with located(*at):
            pair = LabelledPair(row.premise, row.hypothesis, row.code)
        yield at, pair


def read_pair_data(source: Any) -> Data:
    """The pairs of a table as a data set; neutral and contradiction are both absent."""
    table = opened(source, "pairs")
    rows = []
    for at, pair in pairs_in(table):
        label = 0.0 if pair.label > 1 else pair.label
        if label not in (0.0, 0.5, 1.0):
            raise InputError(
                f"present is {label}",
                path=at.path,
                line=at.line,
                expected="0, 0.5 or 1",
            )
        rows.append((pair.premise, Unit(pair.unit), label))
    return _data_of_pairs(rows, stem(table.path))


def load_contrast(language: str = "en") -> Data:
    """The embedded contrast set, after CheckList (Ribeiro et al., ACL 2020); what makes
    a pair hard is its unit's tag.

    Pairs of one summary hold much the same words: counting words gets an AUC near .5.
    """
    choose("language of the contrast set", language, ("en", "de", "es", "fr", "zh"))
    name = "contrast" if language == "en" else f"contrast.{language}"
    path = files("litepyramid.embedded") / f"{name}.jsonl"
    rows = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        unit = Unit(row["unit"], tags=(row["phenomenon"],))
        rows.append((row["summary"], unit, row["label"]))
    return _data_of_pairs(rows, name, language)


def _data_of_pairs(
    rows: Iterable[tuple[str, Unit, float]], name: str, language: str = ""
) -> Data:
    """Labelled pairs as a data set of one system, each an input; the order of rows
    changes nothing."""
    texts = {}
    entries = []
    labels = {}
    in_order = sorted(rows, key=lambda row: (row[0], row[1].key, row[2]))
    for nth, (premise, unit, label) in enumerate(in_order, start=1):
        input_ = str(nth)
        texts["pairs", input_] = premise
        entries.append(InputUnits(input_, (unit,)))
        labels["pairs", Fact(input_, unit.text, 0)] = label

    units = Units.of(entries)
    return Data(
        name,
        units,
        summaries=Summaries.of(texts),
        labels=Facts.of(labels, units),
        language=language,
    )
