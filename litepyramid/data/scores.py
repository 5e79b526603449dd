"""Scores of metrics and of people: metrics × systems × inputs, known by their names."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import compress
from typing import Any, Self

import numpy as np

from litepyramid.checked import guarded
from litepyramid.errors import InputError
from litepyramid.identity import array_sha, fingerprint
from litepyramid.text import counted, cut
from litepyramid.types import BoolArray, FloatArray, Names, check_unique

HUMAN = "human"
"""The human score of a table that does not say which it is."""
ALL_INPUTS = "all"
"""The input of a table with a score for each system."""


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Scores of K metrics: (K, N, M) values of metrics, systems and inputs, each in the
    order of their names.

    Attributes:
        metrics, systems, inputs: K, N and M names.
        values: (K, N, M), read-only; NaN = not scored.
        human: Names or patterns of the raters, whose mean is the human score.
        chosen: The metrics that are asked about; all but the raters if there are none.
        full: Scores of the metrics on the whole test set, of which people judged a
            part.
        left_out: Columns of the sources that were not read.
        listed: The systems in the order of their source. Only the published policy zb21
            on constants depends on it.
    """

    metrics: Names
    systems: Names
    inputs: Names
    values: FloatArray
    human: Names = ()
    chosen: Names = ()
    full: Scores | None = None
    left_out: Names = ()
    listed: Names = ()

    @classmethod
    def of(
        cls, scores: Mapping[str, Any], systems: Sequence[str], inputs: Sequence[str]
    ) -> Self:
        """The table of (N, M) scores by metric, with systems and inputs in any order.

        Raises:
            InputError: A name occurs twice, a score is infinite, a shape does not fit.

        Example:
            >>> table = Scores.of({"rouge": [[0.2, 0.4]]}, ["bart"], ["d2", "d1"])
            >>> table.inputs, table["rouge"].tolist()
            (('d1', 'd2'), [[0.4, 0.2]])
        """
        check_unique(systems, "system")
        check_unique(inputs, "input")
        metrics = sorted(scores)
        shape = (len(metrics), len(systems), len(inputs))
        values = np.array([scores[metric] for metric in metrics], dtype=np.float64)
        if values.shape != shape:
            raise InputError(
                f"scores of the shape {values.shape}",
                expected=f"{shape}: metrics, systems, inputs",
            )
        if np.isinf(values).any():
            raise InputError(
                "a score is infinite", expected="finite numbers, NaN = not scored"
            )

        rows = sorted(range(len(systems)), key=systems.__getitem__)
        columns = sorted(range(len(inputs)), key=inputs.__getitem__)
        values = values[np.ix_(range(len(metrics)), rows, columns)]
        # Results share these values, and numpy would change them in all of them.
        values.setflags(write=False)
        return cls(
            tuple(metrics),
            tuple(sorted(systems)),
            tuple(sorted(inputs)),
            values,
            listed=tuple(systems),
        )

    @property
    def of_systems(self) -> bool:
        """Whether it has a score for each system, and none for inputs."""
        return self.inputs == (ALL_INPUTS,)

    def need_inputs(self, what: str) -> None:
        """Raises InputError where it has scores of systems alone."""
        if self.of_systems:
            raise InputError(
                f"{what} of a table with a score for each system, and none for inputs",
                expected="a row for each system and input",
            )

    def __repr__(self) -> str:
        systems = counted(len(self.systems), "system")
        inputs = counted(len(self.inputs), "input")
        return f"<Scores: {cut(', '.join(self.metrics))}; {systems}, {inputs}>"

    def __getitem__(self, metric: str) -> FloatArray:
        """The (N, M) scores of one metric."""
        if metric not in self.metrics:
            raise InputError(
                f"no metric '{metric}' in the scores",
                expected=f"one of {', '.join(self.metrics)}",
            )
        values: FloatArray = self.values[self.metrics.index(metric)]
        return values

    @property
    def keys(self) -> tuple[Names, Names]:
        """What rows and columns are known by."""
        return self.systems, self.inputs

    def take(self, systems: Sequence[str], inputs: Sequence[str]) -> Scores:
        """Some systems and inputs, each of which must be here."""
        row_of = {system: n for n, system in enumerate(self.systems)}
        column_of = {name: m for m, name in enumerate(self.inputs)}
        rows = [row_of[system] for system in systems]
        columns = [column_of[name] for name in inputs]
        values = self.values[:, rows][:, :, columns]
        return replace(
            self, systems=tuple(systems), inputs=tuple(inputs), values=values
        )

    def of_metrics(self, metrics: Sequence[str]) -> Scores:
        """The scores of some metrics, in the order in which they are named."""
        values = np.stack([self[metric] for metric in metrics])
        return replace(self, metrics=tuple(metrics), values=values)

    def one(self, metric: str | None = None, human: str | None = None) -> Scores:
        """The scores of one metric: the one named, or the only one beside people."""
        people = (HUMAN, human)
        others = [name for name in self.metrics if name not in people] or self.metrics
        if metric is None and len(others) > 1:
            raise InputError(
                f"the table holds {len(others)} metrics",
                expected=f"one of {', '.join(others)}",
                hint="Name the metric.",
            )
        return self.of_metrics([metric or others[0]])

    def scored(self) -> Scores:
        """The systems and the inputs of which every metric has a score."""
        there: BoolArray = ~np.isnan(self.values)
        rows: list[bool] = np.all(there.any(axis=2), axis=0).tolist()
        columns: list[bool] = np.all(there.any(axis=1), axis=0).tolist()
        systems = tuple(compress(self.systems, rows))
        return self.take(systems, tuple(compress(self.inputs, columns)))

    def select(self, names: Sequence[str]) -> Names:
        """The metrics that the names, or the patterns among them, mean; each once."""
        expected = f"one of {', '.join(self.metrics)}"
        chosen: list[str] = []
        for name in names:
            alike = [metric for metric in self.metrics if fnmatchcase(metric, name)]
            matched = [name] if name in self.metrics else alike
            if not matched:
                raise InputError(f"no metric '{name}' in the scores", expected=expected)
            chosen += matched

        if not chosen:
            raise InputError("no metric is named", expected=expected)
        return tuple(dict.fromkeys(chosen))

    @property
    def sha(self) -> str:
        """What names the scores in a signature."""
        names = [self.metrics, self.systems, self.inputs]
        return fingerprint([*names, array_sha(self.values)])


def score_lines(scores: Scores) -> str:
    """A table as CSV, one row per score; what is not scored is left out."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("system", "input", "metric", "score"))
    # System by system and input by input: the metrics of one text together.
    for s, i, m in np.argwhere(~np.isnan(scores.values.transpose(1, 2, 0))):
        names = scores.systems[s], scores.inputs[i], scores.metrics[m]
        score = repr(float(scores.values[m, s, i]))
        writer.writerow([*map(guarded, names), score])
    return file.getvalue()
