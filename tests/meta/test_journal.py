"""A stopped run goes on; another run's journal is refused."""

from __future__ import annotations

import subprocess
import sys

import pytest

from litepyramid.errors import InputError
from litepyramid.meta.core.journal import Journal, piece_rng


def test_a_stopped_run_goes_on(tmp_path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, {"seed": 1, "k": (1, 2)}) as journal:
        journal.add("a", 0.1 + 0.2)
    with Journal(path, {"seed": 1, "k": [1, 2]}) as journal:
        assert journal.done == {"a": 0.1 + 0.2}
        journal.add("b", None)
    with Journal(path, {"seed": 1, "k": [1, 2]}) as journal:
        assert list(journal.done) == ["a", "b"]


def test_a_line_cut_short_is_dropped(tmp_path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, {}) as journal:
        journal.add("a", 1)
        journal.add("b", 2)
    path.write_bytes(path.read_bytes()[:-4])
    with Journal(path, {}) as journal:
        assert journal.done == {"a": 1}
        journal.add("b", 3)
    with Journal(path, {}) as journal:
        assert journal.done == {"a": 1, "b": 3}


def test_another_run_is_refused(tmp_path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, {"seed": 1}):
        pass
    with pytest.raises(InputError, match="seed 1 there, 2 here"):
        Journal(path, {"seed": 2})
    for text in ('{"x": 1}\n', "no newline", "{}\n"):
        path.write_text(text)
        with pytest.raises(InputError, match="not the journal"):
            Journal(path, {"seed": 1})
    path.write_text('{"settings": {}}\n{"x": 1}\n')
    with pytest.raises(InputError, match=":2: is not a piece"):
        Journal(path, {})
    with pytest.raises(InputError, match="cannot be written"):
        Journal(tmp_path / "absent" / "run.jsonl", {})


@pytest.mark.parametrize(
    "text",
    [
        '[{"task": 1}]',
        "system,input,score\na,1,0.5",
        '{"settings": {"seed": 1}} ',
        '{"settings": {"seed": 3}}',
        '{"settings": {"seed": 2}}\n{"key": "a", "val',
        '{"settings": {"seed": 1}}\n{"key": "a", "value": 2, "check": "000000000000"}\n{"ke',
        "\n",
        " ",
        "[" * 100_000 + "\n",
        "x" * 3_000_000,
    ],
)
def test_a_file_of_others_is_left_as_it_is(tmp_path, text) -> None:
    """One without a final line break was cut to nothing before anybody looked at it."""
    path = tmp_path / "answers.json"
    path.write_text(text)
    for settings in ({"seed": 1}, {}):
        with pytest.raises(InputError) as error, Journal(path, settings):
            pass
        assert len(str(error.value)) < 500
        assert path.read_text() == text


def test_a_journal_cut_while_it_was_begun_is_begun_anew(tmp_path) -> None:
    path = tmp_path / "run.jsonl"
    with Journal(path, {"seed": 1}) as journal:
        journal.add("a", 1)
    whole = path.read_bytes()
    head = whole.index(b"\n") + 1
    for size in (0, 1, head - 1, head, head + 1, len(whole) - 1, len(whole)):
        path.write_bytes(whole[:size])
        with Journal(path, {"seed": 1}) as journal:
            assert journal.done == ({"a": 1} if size == len(whole) else {})
            journal.add("b", [0.1])
        assert path.read_bytes().startswith(whole[:head])
    damaged = whole.replace(b'"value": 1', b'"value": 7')
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=":2: is not a piece"):
        Journal(path, {"seed": 1})
    assert path.read_bytes() == damaged


def test_two_processes_do_not_share_one(tmp_path) -> None:
    path = tmp_path / "run.jsonl"
    code = (
        "import sys; from litepyramid.meta.core.journal import Journal\n"
        "with Journal(sys.argv[1], {}) as journal:\n"
        "    journal.add('a', 1); print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(path)]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    before = path.read_bytes()
    with pytest.raises(InputError, match="in use by another process"):
        Journal(path, {})
    assert path.read_bytes() == before
    other.kill()
    other.wait()
    with Journal(path, {}) as journal:
        assert journal.done == {"a": 1}


FULL = """
import resource, sys
from litepyramid.errors import InputError
from litepyramid.meta.core.journal import Journal
try:
    with Journal(sys.argv[1], {}) as journal:
        journal.add("a", 1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (120, resource.RLIM_INFINITY))
        journal.add("b", "x" * 1000)
except InputError as error:
    print(error)
"""


def test_a_full_disk_is_one_error_and_loses_nothing(tmp_path) -> None:
    path = tmp_path / "run.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{path}: cannot be written (File too large)")
    assert done.stderr == ""
    with Journal(path, {}) as journal:
        assert journal.done == {"a": 1}
    with pytest.raises(InputError, match="is not a file"):
        Journal(tmp_path, {})


def test_pieces_have_their_own_randomness() -> None:
    draws = {piece_rng(1, *names).random() for names in (("a", "b"), ("b", "a"), ("ab",), ("a",))}
    assert len(draws) == 4
    assert piece_rng(1, "a").random() == piece_rng(1, "a").random()
    assert piece_rng(1, "a").random() != piece_rng(2, "a").random()
    with pytest.raises(InputError, match="0 or more"):
        piece_rng(-1, "a")
