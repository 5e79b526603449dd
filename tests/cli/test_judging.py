"""NLI judges and their cache from the command line."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def scored(tmp_path):
    """A system of two summaries and its units."""
    (tmp_path / "mine.txt").write_text("The river rose.\nThe bridge is closed until spring.\n")
    (tmp_path / "units.txt").write_text("A river rose.\tIt rained.\nA bridge is closed.\n")
    return ["score", tmp_path / "mine.txt", "--units", tmp_path / "units.txt", "-f", "json"]


def test_cache_path_info_and_clear(cli, tmp_path):
    file = str(tmp_path / "kept.sqlite")
    assert cli("cache", "path", LITEPYRAMID_CACHE=file).stdout == f"{file}\n"
    said = json.loads(cli("cache", "info", "-f", "json", LITEPYRAMID_CACHE=file).stdout)
    assert said == {"path": file, "bytes": 0, "models": []}
    assert "no cache" in cli("cache", "clear", "-y", LITEPYRAMID_CACHE=file).stdout


def test_settings_of_nli_judges_are_refused_by_others(cli, scored):
    done = cli(*scored, "--judge", "recall", "--mode", "p2c", "--device", "cpu", status=2)
    assert "the judge 'recall' takes no device, mode" in done.stderr
    pytest.importorskip("ray", reason="the extra ray is not installed")
    done = cli(*scored, "--judge", "llm:any", "--engine", "ray", status=2)
    assert "the judge 'llm:any' on Ray" in done.stderr


def test_mistakes_are_one_message(cli, scored, tmp_path):
    done = cli(*scored, "--judge", tmp_path, status=2)
    assert "has no config.json" in done.stderr
    pytest.importorskip("huggingface_hub", reason="the extra nli is not installed")
    done = cli(*scored, "--judge", "no/such-model", "--offline", status=2)
    assert "not in the local hub cache" in done.stderr
    done = cli(*scored, "--judge", "x/y", "--label-map", "a=1", status=2)
    assert "names other classes" in done.stderr
    done = cli(*scored, "--judge", "x/y", "--cache", "c", "--no-cache", status=2)
    assert "--cache and --no-cache" in done.stderr
