"""The sample as files and tasks; a headless Chromium, without which tests skip with the
reason."""

from __future__ import annotations

import shutil

import pytest
import sample

from litepyramid.annotation.plan import plan_budget
from litepyramid.annotation.tasks import judging_tasks, writing_tasks
from litepyramid.data.data import load
from litepyramid.easiness.predict import sentence_easiness


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(sample.FOLDER, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def easiness(folder):
    return sentence_easiness(
        load(references=folder / "references.jsonl").references,
        easiness=folder / "easiness.jsonl",
    )


@pytest.fixture
def tasks(easiness):
    return writing_tasks(plan_budget(easiness, 3))


@pytest.fixture
def judging(folder):
    data = load(folder / "summaries", folder / "scus.jsonl")
    return judging_tasks(data.summaries, data.units)


@pytest.fixture
def stus(folder):
    return load(units=folder / "stus.jsonl", kind="stu").units
