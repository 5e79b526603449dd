"""Writing where it is safe, and through what is no regular file."""

from __future__ import annotations

import os
import threading

import pytest

from litepyramid.errors import InputError
from litepyramid.io.files import atomic_write


def test_a_pipe_is_written_through_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    with atomic_write(pipe) as file:
        file.write("through")
    reader.join(timeout=30)
    assert read == ["through"]
    assert pipe.is_fifo()


def test_a_link_is_followed(tmp_path):
    goal, link = tmp_path / "goal", tmp_path / "link"
    goal.write_text("old", encoding="utf-8")
    link.symlink_to(goal)
    with atomic_write(link) as file:
        file.write("new")
    assert link.is_symlink()
    assert goal.read_text(encoding="utf-8") == "new"


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder"), atomic_write(tmp_path):
        pass
