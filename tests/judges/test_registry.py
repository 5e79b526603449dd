"""Judges by name, and their settings as text."""

from __future__ import annotations

import numpy as np
import pytest

from litepyramid.errors import InputError
from litepyramid.judges.registry import judge, judge_settings, parse_settings


def test_settings_as_text_become_what_the_judge_takes():
    assert parse_settings(["mode=p2c", "long=split", "offline=true", "cache=none"], "a/b") == {
        "mode": "p2c", "long": "split", "offline": True, "cache": None,
    }  # fmt: skip
    llm = ["timeout=2.5", 'parameters={"top_p": 0.5}', "units-per-request=3", "estimate=yes"]
    assert parse_settings(llm, "llm:m") == {
        "timeout": 2.5, "parameters": {"top_p": 0.5}, "units_per_request": 3, "estimate": True,
    }  # fmt: skip
    assert parse_settings(["workers=2", "engine=ray"]) == {"workers": 2, "engine": "ray"}
    text = "entailment=0,neutral=1,contradiction=2"
    assert parse_settings([f"label_map={text}"], "a/b") == {"label_map": text}


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("mode", "a/b"), ("=x", "a/b"), ("max_length=long", "a/b"), ("long=cut off", "a/b"),
        ("offline=maybe", "a/b"), ("timeout=soon", "llm:m"), ("parameters={", "llm:m"),
        ("parameters=[1]", "llm:m"), ("mode=p2c", "lexical"), ("workers=many", "lexical"),
    ],
)  # fmt: skip
def test_what_is_no_setting_is_one_error(setting, name):
    with pytest.raises(InputError):
        parse_settings([setting], name)


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: judge("owner/name", endpoint="http://x"), "called 'llm:owner/name'"),
        (lambda: parse_settings(["endpoint=http://x"], "owner/name"), "called 'llm:owner/name'"),
        (lambda: judge("owner/name", maxlength=3), "Did you mean 'max_length'"),
        (lambda: judge("lexcal"), "Did you mean 'lexical'"),
        (lambda: parse_settings(["worker=2"], "lexical"), "Did you mean 'workers'"),
    ],
)
def test_near_misses_have_a_remedy(call, remedy):
    with pytest.raises(InputError, match=remedy):
        call()


def test_every_setting_has_a_default_and_a_help():
    for name in ("lexical", "recall", "a/b", "llm:m"):
        rows = judge_settings(name).settings
        assert {row["setting"] for row in rows} >= {"workers", "engine"}
        assert all(row["default"] and row["help"] for row in rows)


def test_what_can_be_a_judge():
    def half(summary, units):
        return [0.5] * len(units)

    class Own:
        def judge(self, items):
            return [[1.0] * len(units) for _, units in items]

    def wrong(summary, units):
        return [2.0] * len(units)

    items = [("a", ["b", "c"]), ("", ["b"])]
    assert [row.tolist() for row in judge(half).judge(items).presence] == [[0.5, 0.5], [0.0]]
    own = Own()
    assert judge(own) is own
    spread = judge("lexical", workers=2)
    assert judge(spread) is spread
    for odd in (3, None, [1]):
        with pytest.raises(InputError, match="a judge cannot be made"):
            judge(odd)
    with pytest.raises(InputError, match="takes no mode"):
        judge(half, mode="p2c")
    with pytest.raises(InputError, match="'wrong' returned"):
        judge(wrong).judge(items)
    assert np.isnan(judge(lambda s, u: [np.nan] * len(u)).judge(items[:1]).presence[0]).all()
