"""What every test may use: where the published data is, and how to run the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Shared machines are noisy: a test may be slow once without being wrong.
settings.register_profile("litepyramid", deadline=None)
settings.load_profile("litepyramid")

ROOT = Path(__file__).resolve().parents[1]


def data_folder() -> Path | None:
    """The published data: LITEPYRAMID_DATA, else ../shared/data beside the checkout."""
    named = os.environ.get("LITEPYRAMID_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if (folder / "realsumm").is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of published data; the test is skipped, with the reason, where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip("published data absent: set LITEPYRAMID_DATA or put it at ../shared/data")
    return folder


@pytest.fixture(scope="session")
def realsumm(data: Path) -> Path:
    """The folder of REALSumm in the authors' layout."""
    return data / "realsumm"


@pytest.fixture
def cli():
    """Runs ``litepyramid ARGS`` in a process of its own; checks the exit status."""

    def run(*args: object, status: int = 0, cwd: Path | None = None, **env: str):
        done = subprocess.run(
            [sys.executable, "-m", "litepyramid", *map(str, args)],
            capture_output=True,
            text=True,
            cwd=cwd or ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **env},
            check=False,
        )
        assert done.returncode == status, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    return run
