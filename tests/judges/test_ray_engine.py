"""Ray gives what the local engine gives, from the command line too, in the same file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tiny_models import TEXT

import litepyramid as lp
from litepyramid.errors import InputError, ModelError
from litepyramid.types import InputUnits, Unit

UNITS = [
    InputUnits(f"i{m}", tuple(Unit(text) for text in (TEXT + TEXT)[m % 5 : m % 5 + 2 + m % 3]))
    for m in range(12)
]


@pytest.fixture
def corpus(tmp_path):
    """Two systems in the two forms, the second in another order; some summaries are empty."""
    folder = tmp_path / "systems"
    folder.mkdir()
    texts = ["" if m == 3 else " ".join(TEXT[: 1 + m % 6]) + f" No. {m}" for m in range(12)]
    (folder / "one.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(texts).encode())
    rows = [{"input": f"i{m}", "summary": f" Ünder {text} "} for m, text in enumerate(texts)]
    (folder / "two.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n\n" for row in reversed(rows))
    )
    units = tmp_path / "units.jsonl"
    units.write_text(
        "".join(json.dumps({"input": u.input, "units": list(u.texts)}) + "\n" for u in UNITS)
    )
    return folder, units


def test_what_cannot_run_on_ray_is_said_before_a_cluster_starts(corpus, tiny):
    pytest.importorskip("ray", reason="the extra ray is not installed")
    folder, units = corpus
    with pytest.raises(InputError, match="the judge 'llm:any' on Ray"):
        lp.score(folder, units, judge="llm:any", engine="ray")
    with pytest.raises(InputError, match=r"on Ray\. Expected an embedded judge"):
        lp.score(folder, units, judge=lambda summary, units: [1.0] * len(units), engine="ray")
    with pytest.raises(InputError, match="unknown mode 'p9c'"):
        lp.score(folder, units, judge=str(tiny), engine="ray", mode="p9c", cache=None)
    with pytest.raises(InputError, match="the judge 'lexical' takes no mode"):
        lp.score(folder, units, judge="lexical", engine="ray", mode="p2c")
    with pytest.raises(InputError, match="11 inputs"):
        lp.score(folder / "one.txt", UNITS[1:], judge=str(tiny), engine="ray", cache=None)


def test_a_cluster_that_does_not_start_is_one_error(corpus, tiny, monkeypatch):
    ray = pytest.importorskip("ray", reason="the extra ray is not installed")

    def fail(**_):
        raise Exception("The current node timed out during startup.\nMore.")

    monkeypatch.setattr(ray, "init", fail)
    with pytest.raises(ModelError, match=r"no Ray cluster \(The current node timed out"):
        lp.score(*corpus, judge=str(tiny), engine="ray", cache=None)


def test_ray_and_local_write_the_same_file(corpus, tiny, tmp_path, cli):
    pytest.importorskip("ray", reason="the extra ray is not installed")
    folder, units = corpus
    common = ["score", folder, "--units", units, "--judge", tiny, "--mode", "p3c", "-f", "json"]
    common += ["--device", "cpu", "--samples", "100"]
    cli(*common, "--cache", tmp_path / "a", "-o", tmp_path / "local.json")
    on_ray = ["--cache", tmp_path / "b", "-o", tmp_path / "ray.json", "--engine", "ray"]
    cli(*common, *on_ray, process=True)
    local = json.loads((tmp_path / "local.json").read_text())
    ray = json.loads((tmp_path / "ray.json").read_text())
    assert local.keys() == ray.keys()
    assert local["signature"] == ray["signature"]
    for key in ("pairs", "truncated", "empty", "empty_summaries", "judged"):
        assert local["counts"][key] == ray["counts"][key]
    assert local["counts"]["empty_summaries"] == 1
    for mine, theirs in zip(local["scores"], ray["scores"], strict=True):
        assert (mine["system"], mine["input"]) == (theirs["system"], theirs["input"])
        np.testing.assert_allclose(mine["presence"], theirs["presence"], atol=1e-6)


def test_embedded_judges_say_the_same_on_ray_and_go_on_in_a_folder(corpus, tmp_path, cli):
    pytest.importorskip("ray", reason="the extra ray is not installed")
    folder, units = corpus
    common = ["score", folder, "--units", units, "--samples", "100", "-f", "folder"]
    cli(*common, "-o", tmp_path / "local")
    cli(*common, "--engine", "ray", "--workers", "2", "-o", tmp_path / "ray", process=True)
    for name in ("presence.npy", "score.npy", "units.jsonl", "judged.jsonl", "result.json"):
        assert (tmp_path / "local" / name).read_bytes() == (tmp_path / "ray" / name).read_bytes()
