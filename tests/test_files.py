"""Writing where it is safe, and through what is no regular file."""

import gzip
import io
import os
import threading

import pytest
from cases import refused

from litepyramid.files import atomic_write, check_output, new_folder, read_lines
from litepyramid.io.coerce import as_summaries, as_units
from litepyramid.data.score_tables import read_scores


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

    nested = {"x": [hard.parent]}
    for inputs in (goal, [str(goal)], tmp_path, f"onnx:{tmp_path}", nested):
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


SCORES = "system,input,metric,score\na,1,m,0.5\nb,1,m,0.25\n"


def test_a_dash_is_standard_input(monkeypatch):
    def typed(data):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        return "-"

    scores = read_scores(typed(SCORES.encode()))
    assert scores.values.tolist() == [[[0.5], [0.25]]]
    [system] = as_summaries(typed(gzip.compress(b'["It rained."]')))
    assert (system.system, system.texts) == ("system", ("It rained.",))


def test_a_pipe_is_read_once_and_a_device_is_refused(tmp_path):
    def piped(name, text):
        pipe = tmp_path / name
        os.mkfifo(pipe)
        threading.Thread(target=pipe.write_text, args=(text,), daemon=True).start()
        return pipe

    units = as_units(piped("u.txt", "It rained.\tNo.\n"))
    assert units[0].texts == ("It rained.", "No.")
    scores = read_scores(piped("s.csv", SCORES))
    assert scores.values.tolist() == [[[0.5], [0.25]]]
    [system] = as_summaries([piped("a.txt", "It rained.\n")])
    assert system.texts == ("It rained.",)

    for device in ("/dev/zero", "/dev/null"):
        with refused("is a device"):
            as_units(device)


def test_lines_that_end_in_a_carriage_return_are_lines(tmp_path):
    path = tmp_path / "s.txt"
    path.write_bytes("It rained.\rTwo died.\rÄpfel.\r".encode())
    assert read_lines(path) == ["It rained.", "Two died.", "Äpfel."]
