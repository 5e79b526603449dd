"""The sample as files and tasks; a headless Chromium, without which tests skip with the reason."""

from __future__ import annotations

import pytest
import sample

from litepyramid.annotation.plan import plan_budget
from litepyramid.annotation.tasks import judging_tasks, writing_tasks
from litepyramid.easiness.files import sentence_easiness
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units


@pytest.fixture
def folder(tmp_path):
    return sample.write(tmp_path)


@pytest.fixture
def easiness(folder):
    return sentence_easiness(folder / "references.jsonl", easiness=folder / "easiness.jsonl")


@pytest.fixture
def tasks(easiness):
    return writing_tasks(plan_budget(easiness, 3))


@pytest.fixture
def judging(folder):
    return judging_tasks(read_summaries([folder / "summaries"]), read_units(folder / "scus.jsonl"))


@pytest.fixture
def stus(folder):
    return read_units(folder / "stus.jsonl", kind="stu")
