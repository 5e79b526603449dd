"""Never twice: from the cache without torch, after being killed, beside another process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from running import ROOT

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.cache import LogitCache
from litepyramid.judges.nli.checkpoint import open_checkpoint

pytest.importorskip("torch", reason="the extra nli is not installed")

from litepyramid.judges.nli.judge import TransformersJudge


def run_python(code: str, *args: object, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


FROM_CACHE = """
import json, sys
from pathlib import Path
from litepyramid.judges.nli.judge import TransformersJudge
items = json.loads(sys.argv[3])
said = {}
for mode in ("p3c", "l3c", "p2c", "l2c"):
    with TransformersJudge(sys.argv[1], mode=mode, cache=Path(sys.argv[2])) as judge:
        batch = judge.judge(items)
    said[mode] = [p.tolist() for p in batch.presence]
print(json.dumps([said, batch.counts, batch.signature, "torch" in sys.modules]))
"""


def test_from_the_cache_in_every_mode_without_torch(tiny, tmp_path, items):
    cache = tmp_path / "c.sqlite"
    with TransformersJudge(str(tiny), device="cpu", cache=cache) as judge:
        first = judge.judge(items)
    said, counts, signature, torch_loaded = json.loads(
        run_python(FROM_CACHE, tiny, cache, json.dumps(items))
    )
    assert not torch_loaded
    assert said["l3c"] == [p.tolist() for p in first.presence]
    assert counts["judged"] == 0
    assert counts["from_cache"] == first.counts["judged"]
    assert counts["truncated"] == first.counts["truncated"] > 0
    assert signature["dtype"] == "float32"
    assert signature["revision"] == first.signature["revision"]
    assert len({json.dumps(values) for values in said.values()}) == 4


def test_what_changes_a_logit_is_judged_anew(tiny, tmp_path, items):
    cache = tmp_path / "c.sqlite"

    def judged(folder=tiny, **options):
        with TransformersJudge(str(folder), device="cpu", cache=cache, **options) as judge:
            return judge.judge(items).counts["judged"]

    assert judged() > 0
    assert judged() == judged(mode="p2c") == 0
    assert judged(max_length=64) > 0
    assert judged(dtype="bfloat16") > 0
    copy = tmp_path / "moved"
    shutil.copytree(tiny, copy)
    assert judged(copy) == 0
    weights = copy / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert judged(copy) > 0


def test_a_damaged_cache_costs_a_warning_and_a_new_judgement(tiny, tmp_path, items):
    cache = tmp_path / "c.sqlite"
    LogitCache(cache).close()
    cache.write_bytes(cache.read_bytes()[:100] + b"no database" * 500)
    with pytest.warns(UserWarning, match="renamed to"):
        judge = TransformersJudge(str(tiny), device="cpu", cache=cache)
    assert judge.judge(items).counts["judged"] > 0
    judge.close()


def test_killed_ten_times_and_two_at_once(tiny, tmp_path):
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("forked_runs.py"), tiny, tmp_path, "10"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TOKENIZERS_PARALLELISM": "false"},
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["same_to_the_bit"]
    assert said["pairs"] == said["judged"] == said["total"]  # none judged twice
    assert said["kept_then_begun_again"] == 0  # and what was kept never went to the model again
    assert said["claims_left"] == 0
    kept = said["after_each_kill"]
    assert kept == sorted(kept)
    assert any(0 < count < said["total"] for count in kept)
    assert sum(said["shared_by_two"]) == said["total"]
    assert said["shared_same_to_the_bit"]


@pytest.fixture
def hub(tiny, tmp_path, monkeypatch):
    """A hub cache that holds the tiny model under two commits."""
    root = tmp_path / "hub" / "models--someone--judge"
    for commit in ("a" * 40, "b" * 40):
        shutil.copytree(tiny, root / "snapshots" / commit)
    (root / "refs").mkdir()
    (root / "refs" / "main").write_text("a" * 40)
    (root / "refs" / "v2").write_text("b" * 40)
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return root


def test_a_model_of_the_hub_is_known_by_its_commit(hub):
    point = open_checkpoint("someone/judge", offline=True)
    assert (point.revision, point.fingerprint) == ("a" * 40, "someone/judge@" + "a" * 40)
    assert open_checkpoint("someone/judge", revision="v2", offline=True).revision == "b" * 40
    with pytest.raises(ModelError, match="not in the local hub cache"):
        open_checkpoint("someone/other", offline=True)
    with pytest.raises(ModelError, match="at revision 'v3'"):
        open_checkpoint("someone/judge", revision="v3", offline=True)


def test_authors_checkpoints_have_their_mode(hub, tmp_path):
    (tmp_path / "hub" / "models--shiyue--roberta-large-tac08").symlink_to(hub)
    assert open_checkpoint("shiyue/roberta-large-tac08", offline=True).mode() == "p2c"
    assert open_checkpoint("someone/judge", offline=True).mode() == "l3c"


def test_a_unit_too_long_is_named_before_anything_is_judged(tiny, tmp_path):
    with TransformersJudge(str(tiny), device="cpu", cache=tmp_path / "c") as judge:
        with pytest.raises(InputError, match="Split the unit"):
            judge.judge([("A summary.", ["A unit.", "x y " * 500])])
        assert np.isfinite(judge.judge([("A summary.", ["A unit."])]).presence[0]).all()


def test_ctrl_c_says_how_many_judgements_were_kept(tiny, tmp_path, cli, monkeypatch):
    (tmp_path / "mine.txt").write_text("The river rose.\n")
    (tmp_path / "units.txt").write_text("\t".join(f"Bridge {n} is closed." for n in range(40)))
    score = ["score", tmp_path / "mine.txt", "--units", tmp_path / "units.txt", "-f", "json"]
    score += ["--judge", tiny, "--cache", tmp_path / "c.sqlite"]
    put, batches = LogitCache.put, []

    def stop(*given):
        if len(batches) == 2:
            raise KeyboardInterrupt
        batches.append(given[-1])
        put(*given)

    monkeypatch.setattr("litepyramid.judges.nli.engine._CPU_TOKENS", 100)
    with monkeypatch.context() as patch:
        patch.setattr(LogitCache, "put", stop)
        said = cli(*score, status=130).stderr
    kept = sum(map(len, batches))
    assert 0 < kept < 40
    assert said == (
        f"litepyramid: interrupted; {kept} judgements kept in {tmp_path / 'c.sqlite'};"
        " run again to continue\n"
    )
    counts = json.loads(cli(*score).stdout)["counts"]
    assert (counts["from_cache"], counts["judged"]) == (kept, 40 - kept)
    monkeypatch.setattr(LogitCache, "put", stop)
    said = cli(*score[:-2], "--no-cache", status=130).stderr
    assert said == "litepyramid: interrupted; nothing was kept\n"


def test_the_command_line_keeps_what_it_judged(tiny, tmp_path, cli):
    (tmp_path / "mine.txt").write_text("The river rose.\n\nThe bridge is closed until spring.\n")
    (tmp_path / "units.txt").write_text("A river rose.\tIt rained.\nOne.\nA bridge is closed.\n")
    kept = tmp_path / "kept.sqlite"
    score = ["score", tmp_path / "mine.txt", "--units", tmp_path / "units.txt", "-f", "json"]
    score += ["--judge", tiny, "--cache", kept]
    first = cli(*score, "--mode", "p3c", "--device", "cpu", process=True)
    assert first.stderr == ""  # no bar where stderr is no terminal
    said = json.loads(first.stdout)
    assert (said["counts"]["judged"], said["counts"]["from_cache"]) == (3, 0)
    assert said["signature"]["mode"] == "p3c"
    assert said["scores"][1]["presence"] == [0.0]
    again = json.loads(cli(*score, "--mode", "p2c").stdout)
    assert (again["counts"]["judged"], again["counts"]["from_cache"]) == (0, 3)
    no_torch = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None;"
        "from litepyramid.cli import main; main()"
    )
    weights = tmp_path / "weights.txt"
    weights.write_text("4\t1\n1\n2\n")
    weighted = json.loads(run_python(no_torch, *score, "--mode", "l2c", "--weights", weights))
    assert weighted["counts"]["from_cache"] == 3
    info = json.loads(cli("cache", "info", "--cache", kept, "-f", "json").stdout)
    assert [(m["pairs"], m["judged"]) for m in info["models"]] == [(3, 3)]
    assert cli("cache", "clear", "--cache", kept, "-y").stdout == "Deleted 3 judgements.\n"
    assert [p.name for p in tmp_path.glob("kept*")] == ["kept.sqlite"]
    kept.write_bytes(kept.read_bytes()[:100] + b"no database" * 500)
    done = cli(*score, "--device", "cpu")
    assert done.stderr.startswith(f"litepyramid: warning: the cache {kept} is damaged")
    assert "renamed to kept.sqlite.damaged-1" in done.stderr
    assert json.loads(done.stdout)["counts"]["judged"] == 3
