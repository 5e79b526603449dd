"""Runs the command line in this process."""

import contextlib
import io
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
Done = subprocess.CompletedProcess[str]


def run_here(args: list[str], cwd: Path, env: dict[str, str]) -> Done:
    """Runs as a process would, with streams, folder and environment of its own."""
    from litepyramid.cli import main

    streams = [
        io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(3)
    ]
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(cwd),
        warnings.catch_warnings(),
    ):
        warnings.resetwarnings()
        for kind in (
            DeprecationWarning,
            PendingDeprecationWarning,
            ImportWarning,
            ResourceWarning,
        ):
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

    out, err = (
        stream.buffer.getvalue().decode().replace("\r\n", "\n")
        for stream in streams[1:]
    )
    return subprocess.CompletedProcess(
        args, code if isinstance(code, int) else 0, out, err
    )
