"""Writing where it is safe, and through what is no regular file."""

import gzip
import io
import os
import threading

import pytest
from cases import refused

from litepyramid.files import atomic_write, check_output, new_folder
from litepyramid.io.coerce import as_summaries, as_units
from litepyramid.io.scores import read_scores


def test_a_pipe_is_written_through_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with atomic_write(pipe) as file:
        file.write("through")
    reader.join(timeout=30)
    assert read == ["through"]
    assert pipe.is_fifo()


def test_what_is_written_goes_through_no_link_and_over_no_input(tmp_path):
    goal = tmp_path / "goal"
    link = tmp_path / "link"
    goal.write_text("old")
    link.symlink_to(goal)
    with refused("is a link"), atomic_write(link) as file:
        file.write("new")
    hard = tmp_path / "folder" / "hard"
    hard.parent.mkdir()
    hard.hardlink_to(goal)

    for inputs in (
        goal,
        [str(goal)],
        tmp_path,
        f"onnx:{tmp_path}",
        {"x": [hard.parent]},
    ):
        with refused("one of the files to read"):
            check_output(hard, inputs)

    with refused("is a link"):
        check_output(link)
    check_output(tmp_path / "new" / "x.json", tmp_path)
    with refused("goal: is not a folder"):
        check_output(goal / "x.json")
    with atomic_write(tmp_path / "new" / "x.json") as file:
        file.write("{}")
    assert goal.read_text() == "old"


def test_a_folder_of_results_is_new_or_empty(tmp_path):
    empty = tmp_path / "empty"
    other = tmp_path / "other"
    link = tmp_path / "link"
    empty.mkdir()
    other.mkdir()
    (other / "theirs").write_text("kept")
    link.symlink_to(empty)
    for goal in (other, link, other / "theirs"):
        with refused("already exists"), new_folder(goal):
            pass

    for goal in (empty, tmp_path / "a" / "b"):
        with new_folder(goal) as folder:
            (folder / "x").write_text("ours")
        assert [file.name for file in goal.iterdir()] == ["x"]

    with pytest.raises(RuntimeError), new_folder(tmp_path / "half") as folder:
        raise RuntimeError
    assert not (tmp_path / "half").exists()
    assert (other / "theirs").read_text() == "kept"


def test_a_dash_is_standard_input(monkeypatch):
    for data in (
        b"system,input,metric,score\na,1,m,0.5\n",
        gzip.compress(b'["It rained."]'),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        if data[:1] == b"s":
            assert read_scores("-").values.tolist() == [[[0.5]]]
        else:
            (system,) = as_summaries("-")
            assert (system.system, system.texts) == ("system", ("It rained.",))


def test_a_pipe_is_read_once_and_a_device_is_refused(tmp_path):
    def piped(name, text):
        os.mkfifo(tmp_path / name)
        threading.Thread(
            target=(tmp_path / name).write_text,
            args=(text,),
            daemon=True,
        ).start()
        return tmp_path / name

    units = as_units(piped("u.txt", "It rained.\tNo.\n"))
    assert units[0].texts == ("It rained.", "No.")
    rows = "system,input,metric,score\na,1,m,0.5\nb,1,m,0.25\n"
    assert read_scores(piped("s.csv", rows)).values.tolist() == [[[0.5], [0.25]]]
    assert as_summaries([piped("a.txt", "It rained.\n")])[0].texts == ("It rained.",)
    for device in ("/dev/zero", "/dev/null"):
        with refused("is a device"):
            as_units(device)
