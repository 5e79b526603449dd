"""The sample as files and tasks; a headless Chromium, without which tests skip with the reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import sample

from litepyramid.annotation.plan import plan_budget
from litepyramid.annotation.sources import sentence_easiness
from litepyramid.annotation.tasks import judging_tasks, writing_tasks
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


@pytest.fixture
def browser(tmp_path: Path):
    """Chromium with a fresh profile and no network, downloading to `browser.downloads`."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no Chromium: install the packages chromium and chromium-driver")
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    downloads = tmp_path / "downloads"
    downloads.mkdir()
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1100,900",
        f"--user-data-dir={tmp_path / 'profile'}",
    ):
        options.add_argument(argument)
    options.add_experimental_option(
        "prefs",
        {"download.default_directory": str(downloads), "download.prompt_for_download": False},
    )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = selenium.Chrome(options=options, service=Service(driver))
    found.downloads = downloads
    found.set_script_timeout(20)
    # The page must not need a network: from here on there is none.
    found.execute_cdp_cmd("Network.enable", {})
    found.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    )
    yield found
    found.quit()
