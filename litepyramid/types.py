"""The plain records that flow from step to step. No I/O, no models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from litepyramid._version import __version__
from litepyramid.errors import InputError
from litepyramid.text import cut

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Names = tuple[str, ...]
"""Names of systems, inputs or metrics, in their order."""
Texts = tuple[str, ...]
"""Units, sentences, notes, in their order."""
Ends = tuple[float, float]
"""The low and the high end of an interval."""
Fields = dict[str, Any]
"""Values by name: a row, a JSON object, arguments to hand on."""
Rules = Literal["facts", "zb21", "zb21-footnote"]
Weights = Literal["equal", "sentences", "words"]
"""Rules that make units of frames: facts, or the triplets of the paper's code or of its
footnote 2."""

UnitKind = Literal["scu", "stu"]
Nulls = Literal["zero", "missing"]
"""Whether null answers score zero, or are missing."""


# What the verbs take. A mark says what fills a parameter on the command line
# (`cli.maker`).


class HasSystems(Protocol):
    """Summaries, or a data set."""

    @property
    def systems(self) -> Names:
        """The names of the systems."""
        ...


class HasUnits(Protocol):
    """A result or a data set that brings its units."""

    @property
    def units(self) -> Iterable[Any]:
        """The units of every input."""
        ...


class HasMetrics(Protocol):
    """Scores of metrics: `litepyramid.data.scores.Scores`."""

    @property
    def metrics(self) -> Names:
        """The names of the metrics."""
        ...

    @property
    def values(self) -> FloatArray:
        """(K, N, M) scores of metrics, systems and inputs."""
        ...


class HasScores(Protocol):
    """A result that brings scores."""

    @property
    def scores(self) -> Any:
        """The scores of every metric."""
        ...


class HasJudge(Protocol):
    """An object that judges: `judges.base.Judge`, or one whose rows are plain lists."""

    def judge(self, items: Sequence[tuple[str, Sequence[str]]], /) -> object:
        """The presence of the units of every (summary, units)."""
        ...


TextsLike = str | Path | Iterable[object]
"""A path; lists in the order of the inputs; dicts by id; a frame, rows; our records."""
UnitsLike = TextsLike | HasUnits
"""Units, or the result that has them; presence too, which a result brings."""
ColumnsLike = Mapping[str, str] | str
"""Own names of columns by ours, as a dict or as ``NAME=COLUMN,…``."""
DataLike = Annotated[TextsLike | HasUnits | HasSystems | None, "data"]
"""A `Data`, or summaries as `litepyramid.load` takes them; on the command line, its
options."""
JudgeLike = Annotated[str | Path | Callable[..., object] | HasJudge | None, "judge"]
"""A judge, or its name; on the command line, ``--judge`` and ``-J``."""
ScoresLike = Annotated[TextsLike | HasUnits | HasScores | HasMetrics | None, "scores"]
"""A table of scores, or what `litepyramid.read_scores` takes; on the command line,
files."""
ResultLike = Annotated[str | Path | HasUnits | HasScores | None, "result"]
"""A result of `litepyramid.score`, or the file that it was saved in."""
OutPath = Annotated[Path, "out"]
"""A file or folder that is written."""
SidePath = Annotated[Path, "side"]
"""A file that is written besides the result; checked as the result's files are."""


Numbers = Sequence[float] | Sequence[Sequence[float]] | FloatArray
"""One number a system, or one for each system and input."""
HumanLike = str | Sequence[str] | Numbers
"""Names or patterns of raters; or their scores, beside an array of a metric's."""


class ScoreSources(TypedDict, total=False):
    """The sources of `litepyramid.read_scores` besides scores and the human score."""

    metrics: str | Sequence[str] | None
    columns: ColumnsLike | None


class FullSources(ScoreSources, total=False):
    """The same, and the scores on the whole test set."""

    full: ScoresLike


class Naming(TypedDict, total=False):
    """Sources of every reader: how inputs and columns are named, and the language."""

    ids: TextsLike | None
    columns: ColumnsLike | None
    language: str | None


class References(Naming, total=False):
    """The sources of a verb that needs references at most, and what a null answer
    means."""

    references: TextsLike | None
    nulls: Nulls


class Labels(Naming, total=False):
    """People's labels, the units that they are of, and what a null answer means."""

    labels: TextsLike | HasUnits | None
    label_units: UnitsLike | None
    nulls: Nulls


class LabelledSources(Labels, total=False):
    """The sources of a verb that learns from labels, or measures against them."""

    units: UnitsLike | None
    name: str


class FoldSources(LabelledSources, References, total=False):
    """The same, and what the scores on extracted units need."""

    stus: UnitsLike | None


class Sources(References, Labels, total=False):
    """The sources of `litepyramid.load` besides summaries and units."""

    stus: UnitsLike | None
    presence: UnitsLike | None
    kind: UnitKind | None


class NamedSources(Sources, LabelledSources, total=False):
    """The sources of `litepyramid.load` besides summaries."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Everything another person needs to get the same number, as one line.

    The version comes last: that of litepyramid which computed the result, be it shown
    by another one later. Two results with equal signatures are comparable. Data are
    named by hashes (`fingerprint`).
    """

    fields: tuple[tuple[str, str], ...]
    version: str = __version__

    @classmethod
    def of(cls, **fields: object) -> Signature:
        """Builds a signature from keyword fields; None fields are left out."""
        return cls(tuple([(k, str(v)) for k, v in fields.items() if v is not None]))

    def to_json(self) -> dict[str, str]:
        """The fields with the version, for JSON."""
        return {**dict(self.fields), "version": self.version}

    @classmethod
    def from_json(cls, fields: Mapping[str, str]) -> Signature:
        """A signature as `to_json` wrote it."""
        others = {key: value for key, value in fields.items() if key != "version"}
        return cls(tuple(others.items()), fields["version"])

    def __str__(self) -> str:
        return "|".join(f"{k}:{v}" for k, v in self.to_json().items())


def several(names: Any, what: str = "a name") -> tuple[Any, ...]:
    """One or several names as a tuple."""
    if isinstance(names, str):
        return (names,)
    if isinstance(names, Iterable):
        listed = tuple(names)
        if all(isinstance(name, str) for name in listed):
            return listed
    raise InputError(
        f"{what} is {cut(repr(names))}", expected="text, or a list of texts"
    )


def check_unique(names: Sequence[str], what: str) -> None:
    """Raises InputError naming the first name that occurs twice."""
    seen = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"{what} '{name}' occurs twice", hint="Remove one of the two."
            )
        seen.add(name)
