"""The plain records that flow from step to step. No I/O, no models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypedDict

import numpy as np
from numpy.typing import NDArray

from litepyramid._version import __version__
from litepyramid.errors import InputError
from litepyramid.text import counted, cut

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


def _read_only(scores: Any, *names: Sequence[str]) -> None:
    """Makes the values of some scores a read-only copy, of the shape that their names
    say."""
    values = np.array(scores.values, dtype=np.float64, copy=True)
    if values.shape != (shape := tuple(map(len, names))):
        what = f"scores of the shape {values.shape}"
        raise InputError(what, expected=f"{shape}: (metrics,) systems, inputs")
    # Results share these arrays; numpy would change all of them at once.
    values.setflags(write=False)
    object.__setattr__(scores, "values", values)


@dataclass(frozen=True)
class ScoreMatrix:
    """Scores of one metric: (N, M) values of systems and inputs, read-only; NaN: not
    scored."""

    metric: str
    systems: Names
    inputs: Names
    values: FloatArray

    def __post_init__(self) -> None:
        _read_only(self, self.systems, self.inputs)


@dataclass(frozen=True)
class ScoreTable:
    """Scores of K metrics: (K, N, M) values, systems and inputs, read-only; NaN: not
    scored.

    Attributes:
        human: Names or patterns of the raters, whose mean is the human score.
        chosen: The metrics that are asked about; all but the raters if there are none.
        full: Scores of the metrics on the whole test set, of which people judged a
            part.
        left_out: What of the files is no score.
    """

    metrics: Names
    systems: Names
    inputs: Names
    values: FloatArray = field(repr=False)
    human: Names = ()
    chosen: Names = ()
    full: ScoreTable | None = field(default=None, repr=False)
    left_out: Names = field(
        default=(),
        repr=False,
        compare=False,
    )

    def __post_init__(self) -> None:
        _read_only(self, self.metrics, self.systems, self.inputs)

    def __repr__(self) -> str:
        return (
            f"<ScoreTable: {cut(', '.join(self.metrics))}; "
            f"{counted(len(self.systems), 'system')}, "
            f"{counted(len(self.inputs), 'input')}>"
        )

    def matrix(self, metric: str) -> ScoreMatrix:
        """The scores of one metric."""
        if metric not in self.metrics:
            expected = f"one of {', '.join(self.metrics)}"
            raise InputError(
                f"no metric '{metric}' in the score table", expected=expected
            )
        index = self.metrics.index(metric)
        return ScoreMatrix(metric, self.systems, self.inputs, self.values[index])

    def select(self, names: Sequence[str]) -> Names:
        """The metrics that the names, or the patterns among them, mean; each once."""
        expected = f"one of {', '.join(self.metrics)}"
        chosen = []
        for name in names:
            alike = [metric for metric in self.metrics if fnmatchcase(metric, name)]
            matched = [name] if name in self.metrics else alike
            if not matched:
                raise InputError(f"no metric '{name}' in the scores", expected=expected)
            chosen += matched

        if not chosen:
            raise InputError("no metric is named", expected=expected)
        return tuple(dict.fromkeys(chosen))


# What the verbs take. A mark says what fills a parameter on the command line
# (`cli.maker`).


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
DataLike = Annotated[TextsLike | HasUnits | None, "data"]
"""A `Dataset`, or summaries as `litepyramid.load` takes them; on the command line, its
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
    """The sources of a verb that needs references at most."""

    references: TextsLike | None


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
