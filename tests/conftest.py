"""What every test may use: where the published data is, and how to run the command
line."""

import os
import shutil
import signal
from pathlib import Path
from subprocess import CompletedProcess

# One thread a process: the workers share the cores, and small products wait for each
# other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A hub that is not there is asked again and again, for half a minute.
os.environ["HF_HUB_OFFLINE"] = "1"

# A shell lets what it runs in the background ignore Ctrl-C; commands that tests start
# would too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
from hypothesis import settings
from running import ROOT, run_here

# Shared machines are noisy: a test may be slow once without being wrong.
settings.register_profile("litepyramid", deadline=None)
settings.load_profile("litepyramid")


# Files whose tests take more than a second or two each: begun first, so that no worker
# is left with a long one at the end, and left out by `make quick`.
_SLOW = """
test_allennlp
test_allennlp_parse
test_annotation_lead
test_changes_page
test_ci
test_compare
test_correlations
test_crossval
test_docs
test_embedded
test_extract
test_front_door
test_full_disk
test_fuzz
test_hostile_names
test_llm
test_one_error
test_page
test_progress
test_report_page
test_resampling
test_score_figures
test_significance
test_stanza
test_studies
test_train_parser
test_training
test_transformers
"""
SLOW = {*_SLOW.split()}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks the tests of slow files, and begins with them."""
    for item in items:
        if item.path.stem in SLOW:
            item.add_marker("slow")
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.fixture(scope="session")
def data():
    """The folder of published data; the test is skipped, with the reason, where it is
    absent."""
    folder = Path(os.environ.get("LITEPYRAMID_DATA") or ROOT.parent / "shared" / "data")
    if not (folder / "realsumm").is_dir():
        pytest.skip(
            "published data absent: set LITEPYRAMID_DATA or put it at ../shared/data"
        )
    return folder


@pytest.fixture(scope="session")
def realsumm(data):
    """The folder of REALSumm in the authors' layout."""
    return data / "realsumm"


@pytest.fixture(scope="session", autouse=True)
def _no_cache_of_the_user(tmp_path_factory):
    """Judgements of the tests are kept apart from those of whoever runs them."""
    os.environ["LITEPYRAMID_CACHE"] = str(
        tmp_path_factory.mktemp("cache") / "judgements.sqlite"
    )


@pytest.fixture
def cli():
    """Runs ``litepyramid LINE MORE…``; checks the exit status and that no traceback
    is shown.

    The line is split at its spaces; what may hold spaces stands behind it.
    """

    def run(
        line: str, *more: object, status: int = 0, cwd: Path = ROOT, **env: str
    ) -> CompletedProcess[str]:
        done = run_here([*line.split(), *map(str, more)], cwd, env)
        assert done.returncode == status, (
            f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def _chromium(tmp_path_factory):
    """Chromium with a fresh profile and no network."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no Chromium: install the packages chromium and chromium-driver")

    selenium = pytest.importorskip(
        "selenium.webdriver", reason="selenium is not installed"
    )
    from selenium.webdriver.chrome.service import Service

    options = selenium.ChromeOptions()
    options.binary_location = chromium
    flags = "headless=new no-sandbox disable-gpu disable-dev-shm-usage disable-quic no-first-run"
    quiet = "disable-background-networking disable-component-update disable-sync"
    profile = f"user-data-dir={tmp_path_factory.mktemp('profile')}"
    for flag in (*flags.split(), *quiet.split(), "window-size=1100,900", profile):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = selenium.Chrome(options=options, service=Service(driver))
    browser.set_script_timeout(20)
    yield browser
    browser.quit()


@pytest.fixture
def browser(_chromium, tmp_path):
    """A tab in which nothing is kept of others; `browser.downloads` is a folder for
    files."""
    before = _chromium.window_handles
    driver = _chromium
    driver.switch_to.new_window("tab")
    tab = driver.current_window_handle
    for handle in before:
        driver.switch_to.window(handle)
        driver.close()

    driver.switch_to.window(tab)
    driver.downloads = tmp_path / "downloads"
    driver.downloads.mkdir()
    (tmp_path / "blank.html").touch()
    driver.get((tmp_path / "blank.html").as_uri())
    driver.execute_script("localStorage.clear(); sessionStorage.clear()")
    driver.get_log("browser")
    # The page must not need a network: from here on there is none.
    offline = dict.fromkeys(("latency", "downloadThroughput", "uploadThroughput"), 0)
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions", {"offline": True, **offline}
    )
    return driver
