"""Runs damaged files through their readers and keeps what went wrong."""

import contextlib
import io
import resource
import shutil
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from mutate import Mutator
from targets import Target

from litepyramid.errors import LitepyramidError

SLOW = 5.0  # seconds of work: another program may be on the machine


@dataclass
class Findings:
    """How many cases ran and were refused; the numbers of bad ends by kind, and of slow
    ones."""

    cases: int = 0
    refused: int = 0
    bad: dict[str, list[int]] = field(default_factory=dict)
    slow: dict[int, float] = field(default_factory=dict)


def fuzz(name: str, target: Target, folder: Path, cases: range, seed: int) -> Findings:
    """Runs cases of one target in a folder, until twenty kinds of bad ends are known.

    The same arguments damage the same files in the same way; undamaged, they are read.
    """
    found = Findings()
    use(target, folder, {})

    for number in cases:
        mutator = Mutator(f"{name} {seed} {number}")
        file = mutator.random.choice(list(target.files))
        damaged = mutator.damaged(target.files[file], Path(file).suffix)
        begun = time.process_time()

        try:
            use(target, folder, {file: damaged})
        except LitepyramidError as error:
            found.refused += 1
            if len(str(error)) > 6000:
                found.bad.setdefault("a very long message", []).append(number)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what is looked for
            found.bad.setdefault(kind(error), []).append(number)

        if (seconds := time.process_time() - begun) > SLOW:
            found.slow[number] = seconds
        found.cases += 1
        if len(found.bad) >= 20:
            break

    return found


def use(target: Target, folder: Path, damaged: dict[str, bytes]):
    """Reads the target's files, some of them damaged, in a folder with nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in (target.files | damaged).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)

    calm = warnings.catch_warnings(action="ignore")
    silent = contextlib.redirect_stderr(io.StringIO())
    with calm, silent, patch("os.fsync", lambda _: None):
        target.use(folder)


@contextlib.contextmanager
def limited(memory: int = 1 << 30):
    """No more than so many bytes beyond what is held already: what takes more fails."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + memory, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def kind(error: Exception) -> str:
    """What ended a case, and the last of our lines that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/litepyramid/" in frame.filename]
    where = (ours or frames)[-1]
    place = f"{Path(where.filename).name}:{where.lineno} {where.name}"
    return f"{type(error).__name__} at {place}: {str(error)[:100]!r}"
