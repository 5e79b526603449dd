"""Pyramid scores from peer annotations: which SCUs people found in which summaries."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from litepyramid.data.facts import Facts
from litepyramid.data.records import (
    InputReferences,
    InputUnits,
    Summaries,
    Units,
    facts_by_number,
)
from litepyramid.data.scores import Scores, score_lines
from litepyramid.duc.ducview import (
    EMPTY,
    LEGACY,
    REPEATED,
    UNPLACED,
    PeerAnnotation,
    Pyramid,
    by_number,
    is_peer,
    is_pyramid_file,
    pyramid_references,
    pyramid_units,
    read_peer_annotation,
    read_pyramid,
)
from litepyramid.errors import InputError
from litepyramid.files import file_type
from litepyramid.identity import fingerprint
from litepyramid.scoring.pyramid import modified_pyramid_scores
from litepyramid.stats import check_whole, mean_of_scored
from litepyramid.tables import HIDDEN, Column, Result, Table, record
from litepyramid.text import counted
from litepyramid.types import Fields, Names, Signature, Texts

METRICS = ("modified_pyramid", "original_pyramid")
_OTHERS = (
    "peer annotations carry another pyramid than the first of their input: each is "
    "scored by its own."
)
_UNKNOWN = "SCUs found in summaries are not in the pyramid and do not count."
_DIFFERING = ".pyr files differ from the pyramid of the peer annotations, which counts."


@dataclass(frozen=True)
class PyramidFolder:
    """Pyramids and peer annotations of a data set, matched by input.

    Attributes:
        pyramids: One per input, in order of the inputs' names: the one that its peer
            annotations carry, else that of its ``.pyr`` file.
        annotations: In order of system, input and annotator.
        notes: What a user must be told, as full sentences.
    """

    pyramids: tuple[Pyramid, ...]
    annotations: tuple[PeerAnnotation, ...]
    notes: Texts

    @property
    def inputs(self) -> Names:
        """The inputs' names."""
        return tuple(p.input for p in self.pyramids)

    @property
    def systems(self) -> Names:
        """The systems' names, sorted."""
        return tuple(sorted({a.system for a in self.annotations}))

    def complete(self) -> Self:
        """The systems annotated on every input that any was annotated on, and these
        inputs."""
        inputs = {a.pyramid.input for a in self.annotations}
        annotated = {}
        partial = []
        # Several annotations of one summary count once.
        for system, rows in self._by_system().items():
            annotated[system] = len(rows)
            if len(rows) < len(inputs):
                partial.append(system)

        if len(partial) == len(annotated):
            every = counted(len(inputs), "annotated input")
            hint = "Leave out the files of an annotator who did only part of them."
            raise InputError(f"no system was annotated on all of {every}", hint=hint)

        notes = list(self.notes)
        if partial:
            partial.sort(key=by_number)
            names = ", ".join([f"{system} ({annotated[system]})" for system in partial])
            notes.append(
                f"Left out: {counted(len(partial), 'system')} of {len(annotated)} "
                f"annotated on fewer than {counted(len(inputs), 'input')}: {names}."
            )

        # A pyramid without annotations has no peers to score.
        if bare := len(self.pyramids) - len(inputs):
            notes.append(f"Left out: {counted(bare, 'input')} without any annotation.")
        pyramids = tuple(p for p in self.pyramids if p.input in inputs)
        annotations = tuple(a for a in self.annotations if a.system not in partial)
        return replace(
            self,
            pyramids=pyramids,
            annotations=annotations,
            notes=tuple(notes),
        )

    def units(self) -> tuple[InputUnits, ...]:
        """The SCUs of every input with their weights."""
        return tuple(map(pyramid_units, self.pyramids))

    def references(self) -> tuple[InputReferences, ...]:
        """The references of every input, one line per sentence."""
        return tuple(map(pyramid_references, self.pyramids))

    def summaries(self) -> Summaries:
        """The summaries of every system; None on inputs that it was not annotated
        on."""
        texts: dict[tuple[str, str], str | None] = {}
        for system, rows in self._by_system().items():
            for name, several in rows.items():
                # Several people annotated one text: the first file has it too.
                texts[system, name] = " ".join(several[0].summary.split())
        return Summaries.of(texts)

    def labels(self) -> Facts:
        """Presence of the input's SCUs, matched by number; .5 where as many said yes as
        no."""
        scus = {pyramid.input: pyramid.scus for pyramid in self.pyramids}
        listed = self.units()
        units = Units.of(listed)
        facts = facts_by_number({entry.input: entry.units for entry in listed}, units)

        cells = {}
        for system, rows in self._by_system().items():
            for name, several in rows.items():
                for number, scu in enumerate(scus[name]):
                    # The majority of the annotators; of two that differ neither.
                    share = np.mean([scu.uid in one.present for one in several])
                    cells[system, facts[name, number]] = (
                        0.5 if share == 0.5 else float(share > 0.5)
                    )
        return Facts.of(cells, units)

    def _by_system(self) -> dict[str, dict[str, list[PeerAnnotation]]]:
        grouped: dict[str, dict[str, list[PeerAnnotation]]] = {}
        for annotation in self.annotations:
            rows = grouped.setdefault(annotation.system, {})
            rows.setdefault(annotation.pyramid.input, []).append(annotation)
        return grouped


@dataclass(frozen=True)
class AnnotationScore:
    """The scores of one peer annotation, as NIST lists them."""

    system: str
    input: str
    annotator: str
    modified: float
    original: float


@dataclass(frozen=True)
class PeerScores(Result):
    """Pyramid scores of annotated summaries.

    Attributes:
        scores: `METRICS` x systems x inputs: means over the annotations of a summary;
            NaN where a system has no annotation of an input.
        counts: (systems,) rows of: inputs annotated, SCUs found, contributors that
            match none.
    """

    forms: ClassVar = {".csv": "_lines"}

    scores: Scores = field(metadata=HIDDEN)
    annotations: tuple[AnnotationScore, ...]
    counts: tuple[tuple[int, int, int], ...] = field(metadata=HIDDEN)
    notes: Texts
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """System means."""
        columns = (
            *map(Column, ("system", "modified", "original", "inputs")),
            Column("found", "SCUs found"),
            Column("other", "not in pyramid"),
        )
        rows: list[tuple[Any, ...]] = []
        for i, system in enumerate(self.scores.systems):
            means = map(mean_of_scored, self.scores.values[:, i])
            rows.append((system, *means, *self.counts[i]))
        notes = (*self.notes, f"Signature: {self.signature}")
        return [Table("Pyramid scores", columns, tuple(rows), notes)]

    def json_entries(self) -> Fields:
        """Every score with its system and input."""
        table = self.scores
        rows = []
        for i, system in enumerate(table.systems):
            for j, name in enumerate(table.inputs):
                modified, original = table.values[:, i, j]
                rows.append(
                    {
                        "system": system,
                        "input": name,
                        "modified": modified,
                        "original": original,
                    }
                )

        return {**record(self), "scores": rows}

    def _lines(self) -> str:
        """Every score of every system and input, for `litepyramid meta`."""
        return score_lines(self.scores)


def pyramid(
    files: Sequence[str | Path],
    *,
    references: int | None = None,
    names: str | None = None,
    complete: bool = False,
) -> PeerScores:
    """Compute modified and original Pyramid scores from DUC and TAC peer annotations.

    Modified (Passonneau 2010): weights of the SCUs found / those of an ideal summary
    with as many SCUs as a reference has on average. Original (Nenkova & Passonneau
    2004): the same sum / the best sum of as many SCUs as the summary has, counted as
    DUCView does: those found, those found again, and the contributors that match no SCU
    of the pyramid. Every annotation is scored by the pyramid that it carries; a summary
    that several people annotated gets the mean of its annotations.

    Args:
        files: .pyr and .pan files, or folders of them.
        references: Number of references of each pyramid, if the files do not say it.
        names: Regular expression with the groups "input" and "system" for file names
            that are not NIST's.
        complete: Leave out systems that were not annotated on every input.

    Returns:
        NaN for summaries that were not annotated, and for the original score of a
        summary in which no SCU at all was marked.

    Raises:
        InputError: A bad file, no annotation, or one that does not say how many
            references there are.

    Command line:
        $ litepyramid pyramid duc2006
        $ litepyramid pyramid duc2006 --complete -o pyramid.csv
    """
    if references is not None:
        check_whole("references", references)
    folder = read_pyramid_files(files, names=names)
    return score_peers(folder.complete() if complete else folder, references=references)


def as_paths(files: Any) -> list[Path]:
    """One path or several as a list."""
    several = [files] if isinstance(files, str | Path) else files
    if not isinstance(several, Sequence) or not all(
        isinstance(f, str | Path) for f in several
    ):
        raise InputError(
            f"files are {type(files).__name__}", expected="paths of files or folders"
        )
    if not several:
        raise InputError("no files given", expected="at least one file or folder")
    return [Path(path) for path in several]


def pyramid_files(path: Path) -> list[Path]:
    """The ``.pyr`` and ``.pan`` files in a folder, or the file if it is one."""
    inside = sorted(path.rglob("*")) if file_type(path) == "folder" else [path]
    return [file for file in inside if is_pyramid_file(file)]


def read_pyramid_files(files: Any, *, names: str | None = None) -> PyramidFolder:
    """Reads ``.pyr`` and ``.pan`` files and matches them by input, as NIST names
    them."""
    paths = []
    for path in as_paths(files):
        inside = pyramid_files(path) if file_type(path) == "folder" else [path]
        if not inside:
            raise InputError("no .pyr or .pan file in this folder", path=path)
        paths += inside

    annotations: dict[tuple[str, str, str], PeerAnnotation] = {}
    for path in filter(is_peer, paths):
        annotation = read_peer_annotation(path, names=names)
        key = annotation.system, annotation.pyramid.input, annotation.annotator
        if key in annotations:
            raise _twice(
                f"system '{key[0]}' on input '{key[1]}'", annotations[key].pyramid, path
            )
        annotations[key] = annotation

    # The names of pyramids are read with those of annotations in mind: letters of a set
    # may or may not belong to its name.
    inputs = {name for _, name, _ in annotations}
    topics: dict[str, Pyramid] = {}
    for path in paths:
        if is_peer(path):
            continue
        topic = read_pyramid(path, names=names, inputs=inputs)
        if topic.input in topics:
            raise _twice(f"input '{topic.input}'", topics[topic.input], path)
        topics[topic.input] = topic

    first: dict[str, Pyramid] = {}
    several = []
    for key in sorted(annotations, key=lambda key: tuple(map(by_number, key))):
        annotation = annotations[key]
        name = annotation.pyramid.input
        # Some annotations do not mark where the references start; the topic's own file
        # does.
        if name in topics and not annotation.pyramid.references:
            whole = replace(annotation.pyramid, references=topics[name].references)
            annotation = replace(annotation, pyramid=whole)

        several.append(annotation)
        # The first annotation's pyramid counts, before that of the topic's own file.
        first.setdefault(name, annotation.pyramid)

    pyramids = {**topics, **first}

    ordered = tuple(pyramids[name] for name in sorted(pyramids))
    return PyramidFolder(ordered, tuple(several), _notes(topics, ordered, several))


def score_peers(folder: PyramidFolder, *, references: int | None = None) -> PeerScores:
    """The modified and the original Pyramid score of every annotated summary; see
    `pyramid`."""
    if not folder.annotations:
        raise InputError("no peer annotation", expected="at least one .pan file")
    inputs = folder.inputs
    systems = folder.systems
    annotations = []
    hashed = []
    counts = np.zeros((len(systems), 3), dtype=np.int64)
    cells = defaultdict(list)

    for annotation in folder.annotations:
        scored = annotation.pyramid
        number = references or len(scored.references)
        if not number:
            problem = "cannot tell where the references start or how many there are"
            hint = "Give the number of references of each pyramid (references)."
            raise InputError(problem, path=scored.path, hint=hint)

        listed = pyramid_units(scored)
        units = Units.of([listed])
        facts = facts_by_number({listed.input: listed.units}, units)
        cells_of = {}
        for place, scu in enumerate(scored.scus):
            cells_of[facts[listed.input, place]] = scu.uid in annotation.present
        present = np.array([cells_of[fact] for fact in units.facts], np.float64)
        modified = float(modified_pyramid_scores(present, units, number)[0])
        # The best sum of as many SCUs as DUCView counts in the summary.
        heaviest = np.sort(units.weights)[::-1][: annotation.size]
        total = float((present * units.weights).sum())
        original = total / float(heaviest.sum()) if annotation.size else float("nan")
        i = systems.index(annotation.system)
        j = inputs.index(scored.input)
        # An input counts once, however many people annotated the summary.
        counts[i] += ((i, j) not in cells, int(present.sum()), annotation.extra)
        names = (annotation.system, scored.input, annotation.annotator)
        annotations.append(AnnotationScore(*names, modified, original))
        cells[i, j].append(annotations[-1])
        # Sorted, so that the order of SCUs in a file does not change the signature.
        pairs = sorted(zip(units.weights.tolist(), present.tolist(), strict=True))
        hashed.append([*names[:2], number, annotation.size, annotation.extra, pairs])

    values = np.full((len(METRICS), len(systems), len(inputs)), np.nan)
    for (i, j), several in cells.items():
        values[0, i, j] = np.mean([one.modified for one in several])
        values[1, i, j] = mean_of_scored(np.array([one.original for one in several]))

    notes = list(folder.notes)
    if missing := values[0].size - len(cells):
        one = "summary was not annotated and is"
        many = "summaries were not annotated and are"
        notes.append(f"{counted(missing, one, many)} left out of the means.")

    if blank := int(np.isnan(values[1]).sum()) - missing:
        what = counted(blank, "summary has", "summaries have")
        notes.append(f"{what} no SCU marked at all: no original score.")

    return PeerScores(
        Scores.of(dict(zip(METRICS, values, strict=True)), systems, inputs),
        tuple(annotations),
        tuple([(a, b, c) for a, b, c in counts.tolist()]),
        tuple(notes),
        Signature.of(
            units="scu",
            presence="human",
            pyramid="modified,original",
            weights="contributors",
            references=references or "from_files",
            annotations_sha=fingerprint(sorted(hashed)),
        ),
    )


def _notes(
    topics: dict[str, Pyramid],
    pyramids: Sequence[Pyramid],
    annotations: Sequence[PeerAnnotation],
) -> Texts:
    """What was odd about the files; nothing is said where nothing was."""
    by_input = {p.input: p for p in pyramids}
    files = [*topics.values(), *[a.pyramid for a in annotations]]
    again = Counter([(a.system, a.pyramid.input) for a in annotations])
    twice = sorted({name for (_, name), n in again.items() if n > 1}, key=by_number)
    odd = Counter[str]()
    for pyramid in pyramids:
        odd.update(pyramid.odd)
    odd[LEGACY] = len({p.path for p in files if p.odd[LEGACY]})
    for a in annotations:
        odd[_OTHERS] += a.pyramid.content != by_input[a.pyramid.input].content
        odd[_UNKNOWN] += len(a.unknown)
    for name, topic in topics.items():
        odd[_DIFFERING] += topic.content != by_input[name].content

    twice_by = (
        "annotations of summaries that another person annotated too "
        f"({', '.join(twice)}): a summary's score is the mean of its annotations."
    )
    odd[twice_by] = len(annotations) - len(again)
    order = (EMPTY, REPEATED, UNPLACED, LEGACY, _OTHERS, _UNKNOWN, _DIFFERING, twice_by)
    notes = [f"{odd[what]} {what}" for what in order if odd[what]]
    # Of many files one is told, the first by name.
    renamed = {}
    for p in files:
        if p.path.name.split(".")[0] != p.input:
            renamed[p.path.name] = p.input
    if renamed:
        belongs = f"{min(renamed)} belongs to {renamed[min(renamed)]}"
        notes.insert(0, f"Inputs are named after document sets, as by NIST: {belongs}.")

    return tuple(notes)


def _twice(what: str, other: Pyramid, path: Path) -> InputError:
    hint = "Rename one, or describe the names with a regular expression."
    return InputError(f"{what} is also in {other.path}", path=path, hint=hint)
