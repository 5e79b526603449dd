"""Writing where it is safe, and through what is no regular file."""

from __future__ import annotations

import os
import threading

import pytest

from litepyramid.errors import InputError
from litepyramid.files import atomic_write
from litepyramid.io.scores import read_scores
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units


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


def test_a_pipe_is_read_once_and_a_device_is_refused(tmp_path):
    def piped(name, text):
        os.mkfifo(tmp_path / name)
        threading.Thread(target=(tmp_path / name).write_text, args=(text,), daemon=True).start()
        return tmp_path / name

    units = read_units(piped("u.txt", "It rained.\tNo.\n"))
    assert units[0].texts == ("It rained.", "No.")
    rows = "system,input,metric,score\na,1,m,0.5\nb,1,m,0.25\n"
    assert read_scores(piped("s.csv", rows)).values.tolist() == [[[0.5], [0.25]]]
    assert read_summaries([piped("a.txt", "It rained.\n")])[0].texts == ("It rained.",)
    for device in ("/dev/zero", "/dev/null"):
        with pytest.raises(InputError, match="is a device"):
            read_units(device)
