"""A stopped run goes on; another run's journal is refused."""

from __future__ import annotations

import pytest

from litepyramid.errors import InputError
from litepyramid.meta.journal import Journal, piece_rng


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


def test_pieces_have_their_own_randomness() -> None:
    draws = {piece_rng(1, *names).random() for names in (("a", "b"), ("b", "a"), ("ab",), ("a",))}
    assert len(draws) == 4
    assert piece_rng(1, "a").random() == piece_rng(1, "a").random()
    assert piece_rng(1, "a").random() != piece_rng(2, "a").random()
    with pytest.raises(InputError, match="0 or more"):
        piece_rng(-1, "a")
