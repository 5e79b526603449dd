"""Judges by name, and their settings as text."""

import numpy as np
import pytest

from litepyramid.errors import InputError
from litepyramid.judges.registry import judge, judge_settings, parse_settings


def half(summary, units):
    return [0.5] * len(units)


def wrong(summary, units):
    return [2.0] * len(units)


@pytest.mark.parametrize(
    ("texts", "name", "values"),
    [
        (["mode=p2c", "long=split", "cache=none"], "a/b",
         {"mode": "p2c", "long": "split", "cache": None}),
        (["timeout=2.5", 'parameters={"top_p": 0.5}', "units-per-request=3", "estimate=yes"],
         "llm:m", {"timeout": 2.5, "parameters": {"top_p": 0.5}, "units_per_request": 3,
                   "estimate": True}),
        (["workers=2", "engine=ray"], "lexical", {"workers": 2, "engine": "ray"}),
        (["threads=2"], "mini", {"threads": 2}),
        (["label_map=present=1,absent=0"], "a/b", {"label_map": "present=1,absent=0"}),
    ],
)  # fmt: skip
def test_settings_as_text_become_what_the_judge_takes(texts, name, values):
    assert parse_settings(texts, name) == values


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("mode", "a/b"), ("=x", "a/b"), ("max_length=long", "a/b"), ("long=cut off", "a/b"),
        ("threads=many", "a/b"), ("timeout=soon", "llm:m"), ("parameters={", "llm:m"),
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
        (lambda: judge("mini", endpoint="http://x"), "takes no endpoint"),
        (lambda: judge(half, mode="p2c"), "takes no mode"),
        (lambda: judge(3), "a judge cannot be made"),
        (lambda: judge(None), "a judge cannot be made"),
        (lambda: judge(wrong).judge([("a", ["b"])]), "'wrong' returned"),
    ],
)
def test_mistakes_have_a_remedy(call, remedy):
    with pytest.raises(InputError, match=remedy):
        call()


def test_every_setting_has_a_default_and_a_help():
    for name in ("lexical", "recall", "mini", "a/b", "llm:m"):
        rows = judge_settings(name).settings
        assert {row["setting"] for row in rows} >= {"workers", "engine"}
        assert all(row["default"] and row["help"] for row in rows)


def test_what_can_be_a_judge():
    class Own:
        def judge(self, items):
            return [[1.0] * len(units) for _, units in items]

    items = [("a", ["b", "c"]), ("", ["b"])]
    assert [row.tolist() for row in judge(half).judge(items).presence] == [[0.5, 0.5], [0.0]]
    assert np.isnan(judge(lambda s, u: [np.nan] * len(u)).judge(items[:1]).presence[0]).all()
    for ready in (Own(), judge("lexical", workers=2)):
        assert judge(ready) is ready
