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


def prepare(target: Target, folder: Path) -> Path:
    """The folder with the undamaged files, which are read without an error."""
    for name, content in target.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    with _quiet():
        target.use(folder)
    return folder


def case(name: str, target: Target, seed: int, number: int) -> tuple[str, bytes]:
    """The file that a case damages, and what it then holds; the same for the same
    arguments."""
    mutator = Mutator(f"{name} {seed} {number}")
    file = mutator.random.choice(list(target.files))
    return file, mutator.damaged(target.files[file], Path(file).suffix)


def fuzz(name: str, target: Target, folder: Path, cases: range, seed: int) -> Findings:
    """Runs cases of one target in `folder`, which `prepare` has filled, until twenty
    kinds of bad ends are known."""
    found = Findings()
    clean = set(folder.rglob("*"))
    for number in cases:
        file, content = case(name, target, seed, number)
        (folder / file).write_bytes(content)
        begun = time.process_time()

        try:
            with _quiet():
                target.use(folder)
        except LitepyramidError as error:
            found.refused += 1
            if len(str(error)) > 6000:
                found.bad.setdefault("a very long message", []).append(number)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what is looked for
            found.bad.setdefault(_kind(error), []).append(number)

        if (seconds := time.process_time() - begun) > SLOW:
            found.slow[number] = seconds
        (folder / file).write_bytes(target.files[file])
        for path in sorted({*folder.rglob("*")} - clean, reverse=True):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        found.cases += 1
        if len(found.bad) >= 20:
            break

    return found


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


@contextlib.contextmanager
def _quiet():
    calm = warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO())
    with calm[0], calm[1], patch("os.fsync", lambda _: None):
        warnings.simplefilter("ignore")
        yield


def _kind(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/litepyramid/" in frame.filename]
    where = (ours or frames)[-1]
    place = f"{Path(where.filename).name}:{where.lineno} {where.name}"
    return f"{type(error).__name__} at {place}: {str(error)[:100]!r}"
