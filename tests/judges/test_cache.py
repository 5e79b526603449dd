"""The cache: one file, several processes, damage."""

import contextlib
import sqlite3
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from cases import refused

import litepyramid as lp
from litepyramid.errors import InputError, ModelError
from litepyramid.judges.base import pair_key
from litepyramid.judges.cache import CacheWarning, JudgementCache, Stored, cache

A, B = (pair_key("s", unit) for unit in "ab")
ROW = Stored(b"\0" * 12, True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "judged.sqlite"


def test_what_is_put_is_there_after_reopening_and_the_first_judgement_stays(path):
    with JudgementCache(path) as store:
        store.put("m", {A: ROW})
        store.put("m", {A: Stored(b"\1" * 12), B: ROW})
        assert store.get("other", [A]) == {}
    with JudgementCache(path) as store:
        assert store.get("m", [A, B, b"x"]) == {A: ROW, B: ROW}
        assert store.counts() == [("m", 2, 2)]


PUT = """
import os, sys
from litepyramid.judges.cache import JudgementCache, Stored
own, store = sys.argv[2].encode(), JudgementCache(sys.argv[1])
for n in range(30):
    store.put("m", {b"both%d" % n: Stored(own), own + b"%d" % n: Stored(own)})
os.kill(os.getpid(), 9) if own in b"xy" else store.close()
"""


def put(path, name):
    return subprocess.Popen([sys.executable, "-c", PUT, str(path), name])


def test_processes_share_a_file_and_lose_nothing_when_they_are_killed(path):
    assert [run.wait() for run in [put(path, name) for name in "xy"]] == [-9, -9]
    with JudgementCache(path) as store:
        assert store.counts() == [("m", 90, 0)]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_second_opening_leaves_the_locks_of_the_first(path):
    with JudgementCache(path) as first:
        for pair, name in ((A, "v"), (B, "w")):
            first.put("m", {pair: ROW})
            JudgementCache(path).close()
            assert put(path, name).wait() == 0
    with JudgementCache(path) as store:
        assert store.counts() == [("m", 92, 2)]


def of_another_version(path):
    JudgementCache(path).close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 2")


def of_another_program(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE mine (x)")


def of_bytes(path):
    path.write_bytes(b"SQLite format 3\0" + b"\7" * 4000)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (of_another_program, "is not a judgement cache"),
        (of_another_version, "another version"),
        (of_bytes, "is not a judgement cache"),
        (Path.mkdir, "is not a file"),
    ],
)
def test_a_file_of_others_is_never_touched(path, make, says):
    path.parent.mkdir()
    make(path)
    before = path.is_file() and path.read_bytes()

    with refused(says):
        JudgementCache(path)
    with refused(says):
        cache("clear", file=path)

    assert (path.is_file() and path.read_bytes()) == before
    assert [*path.parent.iterdir()] == [path]


def test_a_damaged_row_is_never_taken(path):
    """Bytes changed anywhere: what the cache gives is what was put, or nothing, or one
    error."""
    rng = np.random.default_rng(3)
    rows = {}
    for i in range(99):
        rows[pair_key("s", str(i))] = Stored(rng.bytes(12), i % 2 == 0)
    with JudgementCache(path) as store:
        store.put("m", rows)
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    errors = 0

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(60):
            data = whole.copy()
            data[rng.integers(100, data.size, size=3)] ^= rng.integers(1, 256, 3, "B")
            path.write_bytes(data)
            try:
                with JudgementCache(path) as store:
                    assert store.get("m", list(rows)).items() <= rows.items()
                    store.put("m", rows)
                    assert store.get("m", list(rows)).items() <= rows.items()
                cache(file=path).to_tables()
            except InputError:
                errors += 1

    assert errors > 0
    assert sum("left out" in str(warning.message) for warning in caught) > 5


def test_the_command_shows_and_clears(path):
    assert cache(file=path).bytes == 0
    with JudgementCache(path) as store:
        model = '{"model": "m@0123", "max_length": 400, "dtype": "float32"}'
        store.put(model, {A: ROW, B: ROW})
        store.put("damaged", {A: ROW})

    [table] = cache(file=path).to_tables()
    first, second = table.rows
    assert (first[0], *first[3:]) == ("unknown", 1, 1)
    assert (second[0], *second[3:]) == ("m@0123", 2, 2)
    assert cache("clear", file=path).removed == 3
    assert not cache(file=path).models


def test_a_folder_that_the_environment_names_takes_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("LITEPYRAMID_CACHE", str(tmp_path))

    with JudgementCache("default") as store:
        store.put("m", {b"pair": Stored(b"1")})

    assert (tmp_path / "judgements.sqlite").is_file()
    assert cache().models


def test_where_the_users_cache_cannot_be_written_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("LITEPYRAMID_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("os.access", lambda *_: False)

    with pytest.warns(CacheWarning, match="cannot be written"):
        assert JudgementCache("default").path is None


def test_a_home_that_is_a_file_keeps_nothing_and_goes_on(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.touch()
    monkeypatch.delenv("LITEPYRAMID_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))

    with pytest.warns(CacheWarning, match="cannot be written"):
        assert JudgementCache("default").path is None


def test_a_full_disk_is_no_damage(tmp_path):
    with JudgementCache(tmp_path / "c.sqlite") as store:
        store._db.execute("PRAGMA max_page_count = 6")
        rows = {bytes([n]) * 20: Stored(b"1" * 100) for n in range(200)}
        with refused("Make room") as error:
            store.put("m", rows)
        assert "damaged" not in str(error.value)


def test_a_cache_that_is_a_folder_is_refused_before_the_model_is_looked_for(tmp_path):
    with refused("is not a file"):
        lp.judge("nobody/such-model", cache=tmp_path)


def test_without_a_network_a_hub_judge_is_refused_at_once(tmp_path, monkeypatch):
    """No request is made, and so none is made again and again."""
    known = pytest.importorskip(
        "huggingface_hub.constants", reason="the extra nli is absent"
    )
    asked = []

    def nobody(address, timeout):
        asked.append(address)
        raise OSError

    monkeypatch.setattr("socket.create_connection", nobody)
    monkeypatch.setattr(known, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(known, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("litepyramid.judges.nli.checkpoint.getproxies", dict)

    with refused("cached, and no network answers", ModelError):
        lp.judge("nobody/such-model", cache=None)

    assert len(asked) == 1
