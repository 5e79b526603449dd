"""Pyramid scores from peer annotations: which SCUs people found in which summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
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
        pyramids = {p.input: p for p in self.pyramids}
        return [
            SystemLabels(
                system,
                tuple(rows),
                tuple(
                    tuple(int(scu.uid in a.present) for scu in pyramids[name].scus)
                    for name, a in rows.items()
                ),
            )
            for system, rows in self._by_system().items()
        ]

    def _by_system(self) -> dict[str, dict[str, PeerAnnotation]]:
        grouped: dict[str, dict[str, PeerAnnotation]] = {name: {} for name in self.systems}
        for annotation in self.annotations:
            grouped[annotation.system][annotation.pyramid.input] = annotation
        return {
            system: {name: rows[name] for name in self.inputs if name in rows}
            for system, rows in grouped.items()
        }


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
        """System means first, then one row per summary."""
        systems = Table(
            "Pyramid scores",
            (
                Column("system"),
                Column("modified"),
                Column("original"),
                Column("inputs"),
                Column("found", "SCUs found"),
                Column("other", "not in pyramid"),
            ),
            tuple(
                (
                    system,
                    *(mean_of_scored(values) for values in self.scores.values[:, i]),
                    *self.counts[i],
                )
                for i, system in enumerate(self.scores.systems)
            ),
            (*self.notes, f"Signature: {self.signature}"),
        )
        return [systems]

    def to_json(self) -> dict[str, Any]:
        """Every score with its system and input."""
        rows = []
        for i, system in enumerate(self.scores.systems):
            for j, name in enumerate(self.scores.inputs):
                modified, original = self.scores.values[:, i, j]
                row = {"system": system, "input": name}
                rows.append({**row, "modified": modified, "original": original})
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
                raise InputError(
                    f"system '{key[0]}' on input '{key[1]}' is also in {other.pyramid.path}",
                    path=file,
                    hint="Rename one, or describe the names with a regular expression.",
                )
            again.append(key[1])
            annotation = min(other, annotation, key=lambda a: _natural(a.annotator))
        annotations[key] = annotation
    known = {name for _, name in annotations}
    for file in files:
        if is_peer(file):
            continue
        pyramid = read_pyramid(file, names=names, known=known)
        if pyramid.input in pyramids:
            raise InputError(
                f"input '{pyramid.input}' is also in {pyramids[pyramid.input].path}",
                path=file,
                hint="Rename one, or describe the names with a regular expression.",
            )
        pyramids[pyramid.input] = pyramid
    changed = 0
    for annotation in annotations.values():
        own = annotation.pyramid
        main = pyramids.setdefault(own.input, own)
        changed += _shape(main) != _shape(own)
    ordered = tuple(pyramids[name] for name in sorted(pyramids, key=_natural))
    matched = tuple(annotations[key] for key in sorted(annotations, key=_natural_pair))
    notes = _notes(ordered, matched, changed)
    read_as = {
        Path(p.path).name: p.input
        for p in (*ordered, *(a.pyramid for a in matched))
        if Path(p.path).name.split(".")[0] != p.input
    }
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
    numbers = []
    for pyramid in folder.pyramids:
        number = references or len(pyramid.references)
        if not number:
            raise InputError(
                "cannot tell where the references start or how many there are",
                path=pyramid.path,
                hint="Give the number of references of each pyramid (--references).",
            )
        numbers.append(number)
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
        said = counted(
            missing, "summary was not annotated and is", "summaries were not annotated and are"
        )
        notes.append(f"{said} left out of the means.")
    if blank:
        said = counted(blank, "summary has", "summaries have")
        notes.append(f"{said} no SCU marked at all: no original score.")
    return PeerScores(
        ScoreTable(METRICS, systems, inputs, values),
        tuple((int(a), int(b), int(c)) for a, b, c in counts),
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
    counts = {
        "SCUs without a contributor were left out.": sum(p.empty for p in pyramids),
        "SCUs have two contributors in one reference: both count.": sum(
            p.repeated for p in pyramids
        ),
        "contributors could not be assigned to a reference.": sum(
            p.unplaced for p in pyramids if p.references
        ),
        "files are not UTF-8 and were read as Windows-1252.": len(
            {p.path for p in (*pyramids, *(a.pyramid for a in annotations)) if p.legacy_encoding}
        ),
        "peer annotations carry another pyramid than their input's: SCUs are matched by number.": (
            changed
        ),
        "SCUs found in summaries are not in the pyramid and do not count.": sum(
            len(a.unknown) for a in annotations
        ),
    }
    return tuple(f"{number} {what}" for what, number in counts.items() if number)


def _shape(pyramid: Pyramid) -> dict[str, tuple[str, int]]:
    return {scu.uid: (scu.label.strip(), scu.weight) for scu in pyramid.scus}


def _natural(name: str) -> tuple[int, int, str]:
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)


def _natural_pair(key: tuple[str, str]) -> tuple[tuple[int, int, str], tuple[int, int, str]]:
    return _natural(key[0]), _natural(key[1])
