"""What every test may use: where the published data is, and how to run the command line."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path

# One thread a process: the workers share the cores, and small products wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from litepyramid.units.parsers.embedded.backend import PARSER, EmbeddedBackend

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


@pytest.fixture(scope="session", autouse=True)
def _no_cache_of_the_user(tmp_path_factory):
    """Judgements of the tests are kept apart from those of whoever runs them."""
    os.environ["LITEPYRAMID_CACHE"] = str(tmp_path_factory.mktemp("cache") / "judgements.sqlite")


@pytest.fixture(scope="session", autouse=True)
def _one_pipeline():
    """The parser that ships is loaded once a process, not by every command that runs in it."""
    own = EmbeddedBackend.pipeline
    shipped = functools.cache(lambda: own.__get__(EmbeddedBackend()))

    def pipeline(self: EmbeddedBackend) -> object:
        return shipped() if self.path == PARSER else own.__get__(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EmbeddedBackend, "pipeline", property(pipeline))
        yield


# These are read when litepyramid runs; any other variable wants a process that starts with it.
READ_LATE = ("LITEPYRAMID_", "COLUMNS")


@pytest.fixture
def cli():
    """Runs ``litepyramid ARGS``; checks the exit status and that no traceback is shown.

    The command runs in this process, with the streams, folder, warnings and environment of one
    started on its own; with `process`, or a variable that is read earlier, it is one.
    """

    def run(
        *args: object, status: int = 0, cwd: Path | None = None, process: bool = False, **env: str
    ) -> subprocess.CompletedProcess[str]:
        here = all(name.startswith(READ_LATE) for name in env) and not process
        done = (run_here if here else _process)([*map(str, args)], cwd or ROOT, env)
        assert done.returncode == status, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    return run


def _process(args: list[str], cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "litepyramid", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        check=False,
    )


def run_here(args: list[str], cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    from litepyramid.cli import main

    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(3)]
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(cwd),
        warnings.catch_warnings(),
    ):
        warnings.resetwarnings()
        for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", kind)
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        patch.setattr(sys, "argv", ["litepyramid", *args])
        for name, value in {"COLUMNS": "80", **env}.items():
            patch.setenv(name, value)
        code: object = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    out, err = (stream.buffer.getvalue().decode().replace("\r\n", "\n") for stream in streams[1:])
    return subprocess.CompletedProcess(args, code if isinstance(code, int) else 0, out, err)
