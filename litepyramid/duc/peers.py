"""Pyramid scores from peer annotations: which SCUs people found in which summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import filterfalse
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.duc.files import (
    PeerAnnotation,
    Pyramid,
    pyramid_references,
    pyramid_units,
    read_peer_annotation,
    read_pyramid,
)
from litepyramid.duc.names import is_peer, is_pyramid_file
from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.stats import mean_of_scored
from litepyramid.tables import HIDDEN, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import (
    InputReferences,
    InputUnits,
    ScoreTable,
    Signature,
    SystemLabels,
    SystemSummaries,
)

METRICS = ("modified_pyramid", "original_pyramid")


@dataclass(frozen=True)
class PyramidFolder:
    """Pyramids and peer annotations of a data set, matched by input.

    Attributes:
        pyramids: One per input, in order of the inputs' names.
        annotations: Peer annotations, in order of system and input.
        notes: What a user must be told, as full sentences.
    """

    pyramids: tuple[Pyramid, ...]
    annotations: tuple[PeerAnnotation, ...]
    notes: tuple[str, ...]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs' names."""
        return tuple(p.input for p in self.pyramids)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems' names, sorted, numbers by value."""
        return tuple(sorted({a.system for a in self.annotations}, key=_natural))

    def complete(self) -> PyramidFolder:
        """The systems annotated on every input that any system was annotated on, and these inputs.

        Raises:
            InputError: There is no such system.
        """
        inputs = {a.pyramid.input for a in self.annotations}
        found = Counter(a.system for a in self.annotations)
        left = {system for system, number in found.items() if number < len(inputs)}
        if len(left) == len(found):
            raise InputError(
                f"no system was annotated on all of {counted(len(inputs), 'annotated input')}",
                hint="Leave out the files of an annotator who did only part of them.",
            )
        notes = list(self.notes)
        if left:
            names = ", ".join(f"{s} ({found[s]})" for s in sorted(left, key=_natural))
            notes.append(
                f"Left out: {counted(len(left), 'system')} of {len(found)} annotated on fewer than "
                f"{counted(len(inputs), 'input')}: {names}."
            )
        if len(inputs) < len(self.pyramids):
            bare = len(self.pyramids) - len(inputs)
            notes.append(f"Left out: {counted(bare, 'input')} without any annotation.")
        return PyramidFolder(
            tuple(p for p in self.pyramids if p.input in inputs),
            tuple(a for a in self.annotations if a.system not in left),
            tuple(notes),
        )

    def units(self) -> list[InputUnits]:
        """The SCUs of every input with their weights."""
        return [pyramid_units(p) for p in self.pyramids]

    def references(self) -> list[InputReferences]:
        """The references of every input, one line per sentence."""
        return [pyramid_references(p) for p in self.pyramids]

    def summaries(self) -> list[SystemSummaries]:
        """The summaries of every system, of those inputs that it was annotated on."""
        return [
            SystemSummaries(system, tuple(rows), tuple(a.summary for a in rows.values()))
            for system, rows in self._by_system().items()
        ]

    def labels(self) -> list[SystemLabels]:
        """Presence of each of the pyramid's SCUs, of those inputs a system was annotated on."""
        scus = {p.input: p.scus for p in self.pyramids}
        found = []
        for system, rows in self._by_system().items():
            labels = (tuple(int(s.uid in a.present) for s in scus[i]) for i, a in rows.items())
            found.append(SystemLabels(system, tuple(rows), tuple(labels)))
        return found

    def _by_system(self) -> dict[str, dict[str, PeerAnnotation]]:
        grouped: dict[str, dict[str, PeerAnnotation]] = {}
        for annotation in self.annotations:
            grouped.setdefault(annotation.system, {})[annotation.pyramid.input] = annotation
        return grouped


@dataclass(frozen=True)
class PeerScores(Result):
    """Pyramid scores of annotated summaries.

    Attributes:
        scores: `METRICS` x systems x inputs; NaN where a system has no annotation of an input.
        counts: (systems,) rows of: inputs annotated, SCUs found, contributors that match none.
        notes: What a user must be told, as full sentences.
        signature: The settings.
    """

    scores: ScoreTable = field(metadata=HIDDEN)
    counts: tuple[tuple[int, int, int], ...] = field(metadata=HIDDEN)
    notes: tuple[str, ...]
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """System means."""
        headers = {"found": "SCUs found", "other": "not in pyramid"}
        names = ("system", "modified", "original", "inputs", *headers)
        rows: tuple[tuple[Any, ...], ...] = tuple(
            (system, *map(mean_of_scored, self.scores.values[:, i]), *self.counts[i])
            for i, system in enumerate(self.scores.systems)
        )
        columns = tuple(Column(name, headers.get(name, "")) for name in names)
        notes = (*self.notes, f"Signature: {self.signature}")
        return [Table("Pyramid scores", columns, rows, notes)]

    def to_json(self) -> dict[str, Any]:
        """Every score with its system and input."""
        rows = [
            {"system": system, "input": name, "modified": modified, "original": original}
            for i, system in enumerate(self.scores.systems)
            for name, (modified, original) in zip(
                self.scores.inputs, self.scores.values[:, i].T, strict=True
            )
        ]
        return {**record(self), "scores": rows}


def read_pyramid_files(paths: Sequence[str | Path], *, names: str | None = None) -> PyramidFolder:
    """Reads ``.pyr`` and ``.pan`` files and matches them by input, as NIST names them.

    An input's pyramid is that of its ``.pyr`` file, else the one its first ``.pan`` carries. Of a
    summary annotated by several people, the first annotator's file counts.

    Args:
        paths: Files, or folders, which are searched for both kinds at any depth.
        names: How files' names say input, system and annotator, if not as NIST's do: see
            `io.pyr_names`.

    Raises:
        InputError: A bad file, two files for the same thing, or no file at all.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if file_type(path) == "folder":
            inside = sorted(filter(is_pyramid_file, path.rglob("*")))
            if not inside:
                raise InputError("no .pyr or .pan file in this folder", path=path)
            files += inside
        else:
            files.append(path)
    pyramids: dict[str, Pyramid] = {}
    annotations: dict[tuple[str, str], PeerAnnotation] = {}
    again: list[str] = []
    for file in filter(is_peer, files):
        annotation = read_peer_annotation(file, names=names)
        key = annotation.system, annotation.pyramid.input
        other = annotations.get(key)
        if other is not None:
            if not annotation.annotator or annotation.annotator == other.annotator:
                raise _twice(f"system '{key[0]}' on input '{key[1]}'", other.pyramid, file)
            again.append(key[1])
            annotation = min(other, annotation, key=lambda a: _natural(a.annotator))
        annotations[key] = annotation
    known = {name for _, name in annotations}
    for file in filterfalse(is_peer, files):
        pyramid = read_pyramid(file, names=names, known=known)
        if pyramid.input in pyramids:
            raise _twice(f"input '{pyramid.input}'", pyramids[pyramid.input], file)
        pyramids[pyramid.input] = pyramid
    changed = 0
    for annotation in annotations.values():
        own = annotation.pyramid
        main = pyramids.setdefault(own.input, own)
        changed += _shape(main) != _shape(own)
    ordered = tuple(pyramids[name] for name in sorted(pyramids, key=_natural))
    keys = sorted(annotations, key=lambda key: tuple(map(_natural, key)))
    matched = tuple(annotations[key] for key in keys)
    notes = _notes(ordered, matched, changed)
    every = (*ordered, *(a.pyramid for a in matched))
    read_as = {p.path.name: p.input for p in every if p.path.name.split(".")[0] != p.input}
    if read_as:
        name = min(read_as)
        notes = (
            f"Inputs are named after document sets, as by NIST (docs/annotation.md): {name} "
            f"belongs to {read_as[name]}.",
            *notes,
        )
    if again:
        notes += (
            f"{counted(len(again), 'annotation')} of summaries that another person annotated too "
            f"({', '.join(sorted(set(again), key=_natural))}): the first annotator's counts.",
        )
    return PyramidFolder(ordered, matched, notes)


def score_peers(folder: PyramidFolder, *, references: int | None = None) -> PeerScores:
    """The modified and the original Pyramid score of every annotated summary.

    Modified (Passonneau 2010): weights of the SCUs found / those of an ideal summary with as many
    SCUs as a reference has on average. Original (Nenkova & Passonneau 2004): the same sum / the
    best sum of as many SCUs as the summary has, counted as DUCView does: those found, those found
    again, and the contributors that match no SCU of the pyramid.

    Args:
        folder: Pyramids and annotations. An SCU that is found but not in the pyramid has no
            weight; the notes count such ones.
        references: How many references each pyramid was made from, where the files do not say.

    Returns:
        NaN for summaries that were not annotated, and for the original score of a summary in
        which no SCU at all was marked.

    Raises:
        InputError: There are no annotations, or a file does not say how many references it has.
    """
    from litepyramid.scoring.pyramid import UnitLayout, modified_pyramid_scores

    if not folder.annotations:
        raise InputError("no peer annotation", expected="at least one .pan file")
    numbers = [references or len(pyramid.references) for pyramid in folder.pyramids]
    if not all(numbers):
        raise InputError(
            "cannot tell where the references start or how many there are",
            path=folder.pyramids[numbers.index(0)].path,
            hint="Give the number of references of each pyramid (--references).",
        )
    inputs, systems = folder.inputs, folder.systems
    values = np.full((len(METRICS), len(systems), len(inputs)), np.nan)
    counts = np.zeros((len(systems), 3), dtype=np.int64)
    for annotation in folder.annotations:
        i, j = systems.index(annotation.system), inputs.index(annotation.pyramid.input)
        pyramid = folder.pyramids[j]
        layout = UnitLayout.of([pyramid_units(pyramid)])
        found = np.array([scu.uid in annotation.present for scu in pyramid.scus], dtype=np.float64)
        values[0, i, j] = modified_pyramid_scores(found, layout, numbers[j])[0]
        heaviest = np.sort(layout.weights)[::-1][: annotation.size]
        if annotation.size:
            values[1, i, j] = (found * layout.weights).sum() / heaviest.sum()
        counts[i] += (1, int(found.sum()), annotation.extra)
    missing = int(np.isnan(values[0]).sum())
    blank = int(np.isnan(values[1]).sum()) - missing
    notes = list(folder.notes)
    if missing:
        one, many = "summary was not annotated and is", "summaries were not annotated and are"
        notes.append(f"{counted(missing, one, many)} left out of the means.")
    if blank:
        said = counted(blank, "summary has", "summaries have")
        notes.append(f"{said} no SCU marked at all: no original score.")
    return PeerScores(
        ScoreTable(METRICS, systems, inputs, values),
        tuple((a, b, c) for a, b, c in counts.tolist()),
        tuple(notes),
        Signature.of(
            units="scu",
            presence="human",
            pyramid="modified,original",
            weights="contributors",
            references=references or "from_files",
        ),
    )


def _notes(
    pyramids: tuple[Pyramid, ...], annotations: tuple[PeerAnnotation, ...], changed: int
) -> tuple[str, ...]:
    """What was odd about the files; nothing is said where nothing was."""
    every = (*pyramids, *(a.pyramid for a in annotations))
    empty, repeated = sum(p.empty for p in pyramids), sum(p.repeated for p in pyramids)
    unplaced = sum(p.unplaced for p in pyramids if p.references)
    legacy = len({p.path for p in every if p.legacy_encoding})
    unknown = sum(len(a.unknown) for a in annotations)
    other = "peer annotations carry another pyramid than their input's: SCUs are matched by number."
    counts = {
        "SCUs without a contributor were left out.": empty,
        "SCUs have two contributors in one reference: both count.": repeated,
        "contributors could not be assigned to a reference.": unplaced,
        "files are not UTF-8 and were read as Windows-1252.": legacy,
        other: changed,
        "SCUs found in summaries are not in the pyramid and do not count.": unknown,
    }
    return tuple(f"{number} {what}" for what, number in counts.items() if number)


def _shape(pyramid: Pyramid) -> dict[str, tuple[str, int]]:
    return {scu.uid: (scu.label.strip(), scu.weight) for scu in pyramid.scus}


def _natural(name: str) -> tuple[int, int, str]:
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)


def _twice(what: str, other: Pyramid, path: Path) -> InputError:
    hint = "Rename one, or describe the names with a regular expression."
    return InputError(f"{what} is also in {other.path}", path=path, hint=hint)
