"""The published score tables, each read once, and tables made up by name."""

import pytest

from litepyramid.data.score_tables import read_scores
from litepyramid.data.scores import Scores


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
        shape = next(iter(scores.values())).shape
        systems, inputs = [[f"{n:04}" for n in range(size)] for size in shape]
        return Scores.of(scores, systems, inputs)

    return table
