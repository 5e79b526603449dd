"""The cache: one file, several processes, damage."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import warnings

import numpy as np
import pytest

from litepyramid.errors import InputError
from litepyramid.judges.base import pair_key
from litepyramid.judges.cache import JudgementCache, Stored, cache

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


def test_processes_share_a_file(path):
    code = (
        "import sys; from litepyramid.judges.cache import JudgementCache, Stored\n"
        "own = sys.argv[2].encode()\n"
        "with JudgementCache(sys.argv[1]) as store:\n"
        "    for n in range(30):\n"
        "        store.put('m', {b'both%d' % n: Stored(own), own + b'%d' % n: Stored(own)})\n"
    )
    runs = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "xy"]
    assert [run.wait() for run in runs] == [0, 0]
    with JudgementCache(path) as store:
        assert store.counts() == [("m", 90, 0)]
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_a_killed_process_has_put_is_there(path):
    code = (
        "import os, sys; from litepyramid.judges.cache import JudgementCache, Stored\n"
        "store = JudgementCache(sys.argv[1]); store.put('m', {b'x': Stored(b'1')})\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -9
    with JudgementCache(path) as store:
        assert store.get("m", [b"x"]) == {b"x": Stored(b"1")}


def contents(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_another_database_is_left_alone(path):
    path.parent.mkdir()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.close()
    before = contents(path.parent)
    for use in (JudgementCache, lambda p: cache(file=p), lambda p: cache("clear", file=p)):
        with pytest.raises(InputError, match="is not a judgement cache"):
            use(path)
    assert contents(path.parent) == before


@pytest.mark.parametrize("data", [b"x", b"SQLite format 3\0" + b"\7" * 4000])
def test_a_file_of_others_is_never_touched(path, data):
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(InputError, match="is not a judgement cache"):
        JudgementCache(path)
    assert contents(path.parent) == {path: data}
    with pytest.raises(InputError, match="is not a file"):
        JudgementCache(path.parent)


def test_a_cache_of_another_version_is_left_alone(path):
    JudgementCache(path).close()
    old = sqlite3.connect(path)
    old.execute("PRAGMA user_version = 2")
    old.close()
    before = contents(path.parent)
    with pytest.raises(InputError, match="another version"):
        JudgementCache(path)
    assert contents(path.parent) == before


def test_a_damaged_row_is_never_taken(path):
    """Bytes changed anywhere: what the cache gives is what was put, or nothing, or one error."""
    rng = np.random.default_rng(3)
    rows = {pair_key("s", str(i)): Stored(rng.bytes(12), bool(rng.integers(2))) for i in range(99)}
    with JudgementCache(path) as store:
        store.put("m", rows)
    whole = path.read_bytes()
    left_out = errors = 0
    for _ in range(60):
        data = bytearray(whole)
        for place in rng.integers(100, len(data), size=3):
            data[place] ^= int(rng.integers(1, 256))
        path.write_bytes(data)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with JudgementCache(path) as store:
                    stored = store.get("m", list(rows))
                    assert stored.items() <= rows.items()
                    store.put("m", {key: rows[key] for key in rows if key not in stored})
                    assert store.get("m", list(rows)).items() <= rows.items()
                cache(file=path).to_tables()
            except InputError:
                errors += 1
        left_out += any("left out" in str(warning.message) for warning in caught)
    assert left_out > 5
    assert errors > 0


def test_the_command_shows_and_clears(path):
    assert cache(file=path).bytes == 0
    with JudgementCache(path) as store:
        store.put('{"model": "m@0123", "max_length": 400, "dtype": "float32"}', {A: ROW, B: ROW})
        store.put("damaged", {A: ROW})
    shown = cache(file=path)
    assert [(m["model"], m["pairs"], m["truncated"]) for m in shown.models] == [
        ("unknown", 1, 1), ("m@0123", 2, 2),
    ]  # fmt: skip
    assert shown.path == path
    assert cache("clear", file=path).removed == 3
    assert cache(file=path).models == ()
    with pytest.raises(InputError):
        cache("burn", file=path)
