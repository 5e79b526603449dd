"""Published data sets of units, summaries and labels: what they are, and reading them.

Nothing is downloaded: a data set is read from a folder or file that the user has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from litepyramid.errors import InputError
from litepyramid.files import file_type, read_bytes, stem
from litepyramid.io.dataset import Dataset
from litepyramid.io.datasets_json import read_qapyramid, read_rose
from litepyramid.io.inputs import in_order, read_ids
from litepyramid.io.labels import read_labels
from litepyramid.io.references import read_references
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units, read_weights
from litepyramid.tables import Column, Result, Table
from litepyramid.types import (
    check_unique,
)


@dataclass(frozen=True, slots=True)
class DatasetCard:
    """What a data set is and where a user gets it.

    Attributes:
        name: Its name on the command line.
        title: What it is, in a line.
        source: Where to get it.
        licence: As its publishers say.
        layout: What the folder or file must look like.
        sha256: Known hashes of its files, by which `load_dataset` sees that they are the published
            ones.
        read: Reads it from that folder or file.
    """

    name: str
    title: str
    source: str
    licence: str
    layout: str
    read: Callable[[Path], Dataset] = field(metadata={"hidden": True})
    sha256: Mapping[str, str] = field(default_factory=dict)


def load_dataset(name: str, path: str | Path) -> Dataset:
    """Reads a data set that the user has.

    Files whose hash is known must be the published ones, line ends aside, so that results under a
    data set's name are of that data set. Changed files are read as ``folder``.

    Args:
        name: One of `DATASETS`.
        path: Its folder or file.

    Raises:
        InputError: There is no such data set, or its files are not as expected or not the
            published ones.
    """
    if name not in DATASETS:
        raise InputError(f"unknown data set '{name}'", expected=f"one of {', '.join(DATASETS)}")
    place = Path(path)
    if file_type(place) is None:
        raise InputError("no such file or folder", path=place, expected=DATASETS[name].layout)
    _check_hashes(DATASETS[name], place)
    return DATASETS[name].read(place)


def _check_hashes(card: DatasetCard, folder: Path) -> None:
    """Raises InputError at the first file that is there and is not the published one."""
    for name, published in card.sha256.items():
        if (place := _file(folder, name)) is None:
            continue
        data = read_bytes(place)
        found = sha256(data).hexdigest()
        if published not in (found, sha256(data.replace(b"\r\n", b"\n")).hexdigest()):
            raise InputError(
                f"is not the file published with {card.name} (SHA-256 {found[:12]}…)",
                path=place,
                expected=f"{published[:12]}…",
                hint=f"Get it from {card.source}; or, if the change is intended, read the data "
                "set as folder=PATH.",
            )


def read_authors_folder(folder: Path, name: str = "") -> Dataset:
    """Reads the layout of ZB21's repository (REALSumm, PyrXSum, and TAC once prepared).

    ``SCUs.txt``, ``summaries/`` and ``labels/`` must be there; ``STUs.txt``, ``references.txt``,
    ``weights.txt``, ``ids.txt``, ``by_examples/fold*.id`` and ``by_systems/fold*.sys`` may. In
    place of a line file there may be JSON Lines: ``units.jsonl``, ``stus.jsonl``,
    ``references.jsonl``; any of them may be compressed (``.gz``).

    Raises:
        InputError: A file is missing or does not match the others.
    """
    if not folder.is_dir():
        raise InputError("is not a folder", path=folder, expected=_AUTHORS_LAYOUT)
    id_file, weight_file = _file(folder, "ids.txt"), _file(folder, "weights.txt")
    ids = None if id_file is None else read_ids(id_file)
    scus = read_units(_file(folder, "units.jsonl", "SCUs.txt") or folder / "SCUs.txt", ids)
    if weight_file is not None:
        scus = read_weights(weight_file, scus, ids)
    names = [entry.input for entry in scus]
    summaries = read_summaries([folder / "summaries"], names, ids)
    labels = read_labels([folder / "labels"], scus, ids)
    stus = references = None
    if stu_file := _file(folder, "stus.jsonl", "STUs.txt"):
        stus = in_order(read_units(stu_file, ids, kind="stu", only=True), names, stu_file)
    if reference_file := _file(folder, "references.jsonl", "references.txt"):
        references = in_order(read_references(reference_file, ids), names, reference_file)
    systems = [entry.system for entry in summaries]
    return Dataset(
        name=name or folder.name,
        scus=tuple(scus),
        summaries=tuple(summaries),
        labels=tuple(labels),
        references=references,
        stus=stus,
        example_folds=_folds(folder / "by_examples", "*.id", names, "input"),
        system_folds=_folds(folder / "by_systems", "*.sys", systems, "system"),
    )


def _file(folder: Path, *names: str) -> Path | None:
    """The first of some files that is there, compressed or not."""
    places = (folder / f"{name}{gz}" for name in names for gz in ("", ".gz"))
    return next((place for place in places if place.is_file()), None)


def open_dataset(text: str) -> Dataset:
    """The data set that ``NAME=PATH`` names, as `load_dataset` reads it.

    Raises:
        InputError: The text does not read so; or as `load_dataset`.
    """
    name, equals, path = text.partition("=")
    if not equals:
        raise InputError(f"data set '{text}'", expected="NAME=PATH, such as realsumm=FOLDER")
    return load_dataset(name, path)


_AUTHORS_LAYOUT = (
    "a folder with SCUs.txt, summaries/*.summary, labels/*.label, and optionally "
    "references.txt, STUs.txt, ids.txt, weights.txt, by_examples/fold*.id, by_systems/fold*.sys"
)


def _folds(
    folder: Path, pattern: str, known: Sequence[str], what: str
) -> tuple[tuple[str, ...], ...]:
    """The held-out names of each fold file; line files without ids count inputs from 1."""
    if not folder.is_dir():
        return ()
    folds = []
    files = [*folder.glob(pattern), *folder.glob(f"{pattern}.gz")]
    for file in sorted(files, key=lambda f: (len(stem(f)), stem(f))):
        fold = read_ids(file)
        for line, name in enumerate(fold, start=1):
            if name not in known:
                raise InputError(
                    f"{what} '{name}' is not in the data set",
                    path=file,
                    line=line,
                    hint="List the inputs' ids in ids.txt." if what == "input" else None,
                )
        folds.append(tuple(fold))
    check_unique([name for fold in folds for name in fold], f"in the folds, {what}")
    return tuple(folds)


def _authors(name: str) -> Callable[[Path], Dataset]:
    return lambda folder: read_authors_folder(folder, name)


_TAC_LAYOUT = (
    "a folder made from the .pyr and .pan files of NIST's copy: litepyramid units from-pyr FILES "
    "-o DIR/units.jsonl --labels DIR/labels --summaries DIR/summaries "
    "--references DIR/references.jsonl"
)
_ZB21 = "https://github.com/ZhangShiyue/Lite2-3Pyramid (folder data)"

DATASETS: dict[str, DatasetCard] = {
    card.name: card
    for card in (
        DatasetCard(
            "realsumm",
            "REALSumm: 100 CNN/DM inputs, 25 systems, SCUs and presence labels",
            _ZB21,
            "REALSumm CC BY 4.0; the authors' repository names no licence",
            _AUTHORS_LAYOUT,
            _authors("realsumm"),
            {
                "SCUs.txt": "203c2b4c13764a1962525bf3b564e2b67069ab0747c6b8a13923fa93a373d4cc",
                "STUs.txt": "74ef29f92ba2e913b4179612adcf978317317f893e4e5ddedf9c005d503c72f7",
                "references.txt": "4e3a6671f93e63b657f8dafa5090507adb58cd77c36559bbd21a8cbd55455a41",  # noqa: E501
            },
        ),
        DatasetCard(
            "folder",
            "any data set in the authors' layout, including your own",
            "your own",
            "your own",
            _AUTHORS_LAYOUT,
            read_authors_folder,
        ),
        DatasetCard(
            "pyrxsum",
            "PyrXSum: 100 XSum inputs, 10 systems, SCUs and presence labels",
            _ZB21,
            "the authors' repository names no licence",
            _AUTHORS_LAYOUT,
            _authors("pyrxsum"),
        ),
        DatasetCard(
            "tac2008",
            "TAC 2008 update summarization: pyramids of 4 references, 58 systems",
            "NIST, on request: https://tac.nist.gov/data",
            "by agreement with NIST; not to be passed on",
            _TAC_LAYOUT,
            _authors("tac2008"),
        ),
        DatasetCard(
            "tac2009",
            "TAC 2009 update summarization: pyramids of 4 references, 55 systems",
            "NIST, on request: https://tac.nist.gov/data",
            "by agreement with NIST; not to be passed on",
            _TAC_LAYOUT,
            _authors("tac2009"),
        ),
        DatasetCard(
            "rose",
            "RoSE: ACUs and labels on CNN/DM, XSum and SamSum",
            "https://huggingface.co/datasets/Salesforce/rose",
            "see LICENSE.txt of the data set",
            "one part as JSON or JSON Lines: reference_acus, system_outputs, annotations",
            read_rose,
        ),
        DatasetCard(
            "qapyramid",
            "QAPyramid: question-answer pairs and labels, 50 CNN/DM inputs, 10 systems",
            "https://huggingface.co/datasets/shiyue/QAPyramid",
            "CC BY-SA 4.0",
            "JSON or JSON Lines: QAs, system_outputs, QA_labels",
            read_qapyramid,
        ),
    )
}


ELSEWHERE = {
    "TREC RAG": "nuggets, assignments, runs: https://trec-rag.github.io, https://trec.nist.gov/data",
    "nuggetizer": "makes nuggets and assignments: https://github.com/castorini/nuggetizer",
    "TREC Auto-Judge": "NuggetBank claims, leaderboards: https://github.com/trec-auto-judge",
}
"""Where files are had that are read one by one, as units, labels, summaries or scores."""


@dataclass(frozen=True, slots=True)
class DatasetList(Result):
    """All known data sets, to be shown.

    Attributes:
        datasets: Their cards.
        elsewhere: Where files are had that are read one by one.
    """

    datasets: tuple[DatasetCard, ...] = tuple(DATASETS.values())
    elsewhere: Mapping[str, str] = field(default_factory=lambda: ELSEWHERE)

    def to_tables(self) -> Sequence[Table]:
        """One row per data set."""
        return [
            Table(
                "Data sets that litepyramid reads (nothing is downloaded)",
                (Column("name"), Column("title", "what"), Column("licence")),
                tuple((c.name, c.title, c.licence) for c in self.datasets),
                (
                    "Where to get them:",
                    *(f"  {c.name}: {c.source}" for c in self.datasets),
                    "TREC nuggets are read as they are, as units, summaries, labels or scores "
                    "(docs/nuggets.md):",
                    *(f"  {name}: {source}" for name, source in ELSEWHERE.items()),
                    "Use a data set as NAME=PATH, where PATH is its folder or file; see "
                    "docs/training.md or --format json for what it must contain.",
                ),
            )
        ]
