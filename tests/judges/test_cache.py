"""The cache: one file, several processes, damage, and counts that tell of double work."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from litepyramid.errors import InputError
from litepyramid.judges.base import pair_key
from litepyramid.judges.cache import CacheWarning, LogitCache, StoredLogits
from litepyramid.judges.cache_info import cache_info

A, B, C = (pair_key("s", unit) for unit in "abc")
KEPT = StoredLogits(b"\0" * 12, True)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "judged.sqlite"


def test_what_is_put_is_there_after_reopening(path):
    with LogitCache(path) as cache:
        cache.put("m", {A: KEPT})
        assert cache.get("m", [A, B]) == {A: KEPT}
        assert cache.get("other", [A]) == {}
    with LogitCache(path) as cache:
        assert cache.get("m", [A, B]) == {A: KEPT}
        [model] = [m for m in cache.models() if m.identity == "m"]
        assert (model.pairs, model.judged, model.truncated) == (1, 1, 1)


def test_a_pair_judged_twice_is_counted_and_keeps_its_first_logits(path):
    with LogitCache(path) as cache:
        cache.put("m", {A: KEPT})
        cache.put("m", {A: StoredLogits(b"\1" * 12, True), B: KEPT})
        [model] = cache.models()
        assert (model.pairs, model.judged) == (2, 3)
        assert cache.get("m", [A])[A] == KEPT


def test_claims_keep_others_out_until_put_or_end(path):
    first, second = LogitCache(path), LogitCache(path)
    assert first.claim("m", [A, B]) == [A, B]
    assert second.claim("m", [A, B, C]) == [C]
    first.put("m", {A: KEPT})
    assert second.claim("m", [A, B]) == []
    assert second.get("m", [A]) == {A: KEPT}
    first.close()
    assert second.claim("m", [A, B]) == [B]
    second.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_claims_of_a_killed_process_are_void(path):
    code = (
        "import os, sys; from pathlib import Path;"
        "from litepyramid.judges.cache import LogitCache;"
        "cache = LogitCache(Path(sys.argv[1]));"
        "print(len(cache.claim('m', [b'x', b'y'])), flush=True);"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("2\n", -9), done.stderr
    with LogitCache(path) as cache:
        assert cache.claim("m", [b"x", b"y"]) == [b"x", b"y"]


@pytest.mark.parametrize("rest", [b"", b"\7" * 4000, b"not a database, only text " * 1000])
def test_a_damaged_file_is_set_aside_with_a_warning(path, rest):
    LogitCache(path).close()
    junk = path.read_bytes()[:100] + rest
    path.write_bytes(junk)
    with pytest.warns(CacheWarning, match="renamed to judged.sqlite.damaged-1"):
        cache = LogitCache(path)
    cache.put("m", {A: KEPT})
    assert cache.get("m", [A]) == {A: KEPT}
    cache.close()
    assert path.with_name("judged.sqlite.damaged-1").read_bytes() == junk


def test_damage_found_later_is_set_aside_too(path):
    with LogitCache(path) as cache:
        cache.put("m", {pair_key("s", str(i)): KEPT for i in range(5000)})
    size = path.stat().st_size
    with path.open("r+b") as file:  # pages in the middle; header and schema stay whole
        file.seek(size // 4 // 4096 * 4096)
        file.write(b"\xff" * (size // 2))
    keys = [pair_key("s", str(i)) for i in range(5000)]
    with LogitCache(path) as cache:
        with pytest.warns(CacheWarning, match="renamed to"):
            found = cache.get("m", keys)
        assert found == {}
        cache.put("m", {A: KEPT})
        assert cache.get("m", [A]) == {A: KEPT}


def contents(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_another_database_is_left_alone(path, cli):
    path.parent.mkdir()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.commit()
    for number in (0, 1):  # a number of its own does not make it ours
        other.execute(f"PRAGMA user_version = {number}")
        before = contents(path.parent)
        with pytest.raises(InputError, match="is not a judgement cache"):
            LogitCache(path)
        assert contents(path.parent) == before
    other.close()
    before = contents(path.parent)
    for command in (("info",), ("clear", "--yes")):
        assert "not a judgement cache" in cli("cache", *command, "--cache", path, status=2).stderr
    assert contents(path.parent) == before


@pytest.mark.parametrize("data", [b"mine" * 999, b"x", b"SQLite format 3\0" + b"\7" * 4000])
def test_a_file_of_others_is_never_moved_whatever_its_name(path, data):
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(InputError, match="is not a judgement cache"):
        LogitCache(path)
    assert contents(path.parent) == {path: data}
    path.unlink()
    for tail in ("-wal", "-journal", "-shm"):
        mine = path.with_name(path.name + tail)
        mine.write_bytes(data)
        with pytest.raises(InputError, match="in the way"):
            LogitCache(path)
        assert contents(path.parent) == {mine: data}
        mine.unlink()
    path.touch()
    LogitCache(path).close()
    link = path.with_name("link")
    link.symlink_to("made.sqlite")
    LogitCache(link).close()
    assert link.is_symlink()
    assert path.with_name("made.sqlite").stat().st_size > 0
    for place in (path.parent, "/dev/null"):
        with pytest.raises(InputError, match="is not a file"):
            LogitCache(Path(place))


def test_a_cache_of_another_version_is_left_alone(path):
    with LogitCache(path) as cache:
        cache.put("m", {A: KEPT})
    old = sqlite3.connect(path)
    old.execute("PRAGMA user_version = 3")
    old.close()
    before = contents(path.parent)
    with pytest.raises(InputError, match="another version"):
        LogitCache(path)
    assert contents(path.parent) == before


def test_a_damaged_row_is_never_taken(path):
    """Bytes changed anywhere: what the cache gives is what was put, or nothing."""
    rng = np.random.default_rng(3)
    kept = {
        pair_key("s", str(i)): StoredLogits(rng.bytes(12), bool(rng.integers(2)))
        for i in range(300)
    }
    with LogitCache(path) as cache:
        cache.put("m", kept)
    whole = path.read_bytes()
    dropped = 0
    for _ in range(300):
        data = bytearray(whole)
        for place in rng.integers(100, len(data), size=3):
            data[place] ^= int(rng.integers(1, 256))
        path.write_bytes(data)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                with LogitCache(path) as cache:
                    found = cache.get("m", list(kept))
                    assert found.items() <= kept.items()
                    cache.put("m", {key: kept[key] for key in kept if key not in found})
                    assert cache.get("m", list(kept)).items() <= kept.items()
                cache_info(path).to_tables()
            except InputError:
                continue
        dropped += any("left out" in str(warning.message) for warning in said)
    assert dropped > 30


def test_no_file_stays_behind(path):
    """Neither of a run that just ends, nor, after the next one, of one that was killed."""
    code = (
        "import os, sys; from pathlib import Path;"
        "from litepyramid.judges.cache import LogitCache;"
        "cache = LogitCache(Path(sys.argv[1]));"
        "cache.claim('m', [b'x']);"
        "pid = os.fork() if hasattr(os, 'fork') else 1;"
        "pid or sys.exit();"
        "pid > 1 and os.waitpid(pid, 0);"
        "len(list(Path(sys.argv[1]).parent.glob('*-run-*'))) == 1 or sys.exit(3);"
        "sys.argv[2] == 'kill' and os.kill(os.getpid(), 9)"
    )
    run = [sys.executable, "-c", code, str(path)]
    assert subprocess.run([*run, "end"], check=False).returncode == 0
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    assert subprocess.run([*run, "kill"], check=False).returncode == -9
    mine = [path.with_name(f"{path.name}-run-{name}") for name in ("notes", "0" * 32)]
    for file in mine:
        file.write_text("mine")
    assert subprocess.run([*run, "end"], check=False).returncode in (0, 3)
    assert set(path.parent.iterdir()) >= {path, *mine}
    with LogitCache(path) as cache:
        cache.claim("m", [b"z"])
    assert set(path.parent.iterdir()) == {path, *mine}


def test_a_file_that_cannot_be_made_is_an_error_with_advice(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="--no-cache"):
        LogitCache(tmp_path / "file" / "judged.sqlite")


def test_clear_forgets_and_counts(path):
    with LogitCache(path) as cache:
        cache.put("m", {A: KEPT, B: KEPT})
        assert cache.clear() == 2
        assert cache.models() == []
        cache.put("m", {A: KEPT})
        assert cache.get("m", [A]) == {A: KEPT}


def test_file_digests_are_kept_by_size_and_time(path, tmp_path):
    weights, calls = tmp_path / "w", []

    def compute(file):
        calls.append(file)
        return file.read_text()

    weights.write_text("one")
    with LogitCache(path) as cache:
        assert cache.file_digest(weights, compute) == "one"
        assert cache.file_digest(weights, compute) == "one"
        assert len(calls) == 1
        weights.write_text("other")
        assert cache.file_digest(weights, compute) == "other"


def test_a_users_own_file_is_never_moved(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not a judgement cache"):
        LogitCache(notes)
    with pytest.raises(InputError, match="not a judgement cache"):
        cache_info(notes)
    damaged = tmp_path / "cache.sqlite"
    damaged.write_text("not a database at all, but long enough", encoding="utf-8")
    with pytest.raises(InputError, match="damaged"):
        cache_info(damaged)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["cache.sqlite", "notes.txt"]
    assert notes.read_text(encoding="utf-8") == "mine"
