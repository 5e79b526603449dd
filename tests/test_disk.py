"""Writing where it is safe, and through what is no regular file."""

import gzip
import io
import os
import threading

import pytest
from cases import refused

from litepyramid import load
from litepyramid.data.score_tables import read_scores
from litepyramid.disk import check_output, check_outputs, new_folder, write
from litepyramid.files import read_lines


def test_a_pipe_is_written_through_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write(pipe, ["through"])
    reader.join(timeout=30)
    assert read == ["through"]
    assert pipe.is_fifo()


def test_what_is_written_goes_through_no_link_and_over_no_input(tmp_path):
    goal = tmp_path / "goal"
    link = tmp_path / "link"
    goal.write_text("old")
    link.symlink_to(goal)
    with refused("is a link"):
        write(link, ["new"])
    hard = tmp_path / "folder" / "hard"
    hard.parent.mkdir()
    hard.hardlink_to(goal)

    for read in (goal, str(goal), tmp_path):
        with refused("is read by this command"):
            check_outputs([hard], [read])
    with refused("would be overwritten"):
        check_output(hard)

    with refused("is a link"):
        check_output(link)
    check_output(tmp_path / "new" / "x.json")
    with refused("goal: is not a folder"):
        check_output(goal / "x.json")
    write(tmp_path / "new" / "x.json", ["{}"])
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
    summaries = load(typed(gzip.compress(b'["It rained."]')), [["It"]]).summaries
    assert (summaries.systems, summaries.texts) == (("system",), (("It rained.",),))


def test_a_pipe_is_read_once_and_a_device_is_refused(tmp_path):
    def piped(name, text):
        pipe = tmp_path / name
        os.mkfifo(pipe)
        threading.Thread(target=pipe.write_text, args=(text,), daemon=True).start()
        return pipe

    data = load([piped("a.txt", "It rained.\n")], piped("u.txt", "It rained.\tNo.\n"))
    assert data.units["1"].texts == ("It rained.", "No.")
    assert data.summaries.texts == (("It rained.",),)
    scores = read_scores(piped("s.csv", SCORES))
    assert scores.values.tolist() == [[[0.5], [0.25]]]

    for device in ("/dev/zero", "/dev/null"):
        with refused("is a device"):
            load(units=device)


def test_lines_that_end_in_a_carriage_return_are_lines(tmp_path):
    path = tmp_path / "s.txt"
    path.write_bytes("It rained.\rTwo died.\rÄpfel.\r".encode())
    assert read_lines(path) == ["It rained.", "Two died.", "Äpfel."]
