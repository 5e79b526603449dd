"""The published score tables, each read once, and tables made up by name."""

import numpy as np
import pytest

from litepyramid.io.scores import read_scores
from litepyramid.types import ScoreTable


@pytest.fixture(scope="session")
def summeval(data):
    return read_scores(data / "summeval" / "metric_scores.csv")


@pytest.fixture(scope="session")
def ddr21(data):
    return read_scores(data / "realsumm" / "metric_scores_ddr21.csv")


@pytest.fixture(scope="session")
def zb21(data):
    return read_scores(data / "realsumm" / "metric_scores.csv")


@pytest.fixture(scope="session")
def table_of():
    """A table of metrics by name, (systems, inputs) each."""

    def table(**scores):
        values = np.stack(list(scores.values()))
        systems, inputs = (
            tuple(f"{n:04}" for n in range(size)) for size in values.shape[1:]
        )
        return ScoreTable(tuple(scores), systems, inputs, values)

    return table
