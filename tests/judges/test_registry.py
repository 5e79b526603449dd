"""Judges by name, by settings as text, on several processes and on Ray; clear
errors."""

import json
import os
import pickle
import signal

import numpy as np
import pytest
from cases import cases, refused
from tiny_models import TEXT

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import (
    check_trainable,
    judge,
    judge_settings,
    parse_settings,
)

SETTINGS = """
a/b     | mode=p2c long=split cache=none | {"mode": "p2c", "long": "split", "cache": null}
a/b     | label_map=present=1,absent=0 | {"label_map": "present=1,absent=0"}
llm:m   | timeout=2.5 estimate=yes | {"timeout": 2.5, "estimate": true}
llm:m   | parameters={"top_p":0.5} | {"parameters": {"top_p": 0.5}}
llm:m   | units-per-request=3 | {"units_per_request": 3}
lexical | workers=2 engine=ray | {"workers": 2, "engine": "ray"}
mini    | threads=2 | {"threads": 2}
"""


@pytest.mark.parametrize(("name", "texts", "values"), cases(SETTINGS))
def test_settings_as_text_become_what_the_judge_takes(name, texts, values):
    assert parse_settings(texts.split(), name) == json.loads(values)


NO_SETTINGS = """
a/b     | mode
a/b     | =x
a/b     | max_length=long
a/b     | long=cut off
a/b     | threads=many
llm:m   | timeout=soon
llm:m   | parameters={
llm:m   | parameters=[1]
lexical | mode=p2c
lexical | workers=many
"""


@pytest.mark.parametrize(("name", "setting"), cases(NO_SETTINGS))
def test_what_is_no_setting_is_one_error(name, setting):
    with refused():
        parse_settings([setting], name)


def test_every_setting_has_a_default_and_a_help():
    for name in ("lexical", "recall", "mini", "a/b", "llm:m"):
        rows = judge_settings(name).settings
        assert {row["setting"] for row in rows} >= {"workers", "engine"}
        assert all(row["default"] and row["help"] for row in rows)


def half(summary, units):
    return [0.5] * len(units)


class Own:
    """What judges, and says what it is told to say."""

    def __init__(self, answer):
        self.answer = answer

    def judge(self, items):
        return self.answer


@pytest.mark.parametrize("name", ["/nope", "nope", "a/b/c", "no judge", "", "recal"])
def test_what_names_no_judge_is_an_error_that_lists_what_is_there(name):
    for refuses in (judge, judge_settings, check_trainable):
        with refused("unknown judge.*mini, lexical, recall, llm:MODEL"):
            refuses(name)


class Killed:
    """A judge whose process ends."""

    start_cost = 1

    def judge(self, items):
        os.kill(os.getpid(), signal.SIGKILL)


UNITS = ("The village was cut off.", "No bridge is closed.", "", *TEXT[:2])
ITEMS = [
    ("" if n == 3 else " ".join(TEXT[n % 5 :]) + f" No. {n}", UNITS) for n in range(40)
]


NO_JUDGES = """
owner/name | {"endpoint": "http://x"} | called 'llm:owner/name'
owner/name | {"maxlength": 3}         | Did you mean 'max_length'
lexcal     | {}                       | Did you mean 'lexical'
lexical    | {"worker": 2}            | Did you mean 'workers'
mini       | {"endpoint": "http://x"} | takes no endpoint
lexical    | {"engine": "spark"}      | unknown engine 'spark'
lexical    | {"workers": 0}           | workers is 0
lexical    | {"workers": "2"}         | workers is '2'
"""


@pytest.mark.parametrize(("name", "settings", "says"), cases(NO_JUDGES))
def test_what_cannot_be_made_is_one_error_with_its_remedy(name, settings, says):
    with refused(says):
        judge(name, **json.loads(settings))


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        (half, {"mode": "p2c"}, "takes no mode"),
        (half, {"workers": 2}, "2 workers for a judge that takes none"),
        (half, {"engine": "ray"}, "on Ray"),
        (None, {}, "a judge cannot be made"),
        (Killed(), {"workers": 2}, "ended early"),
        (lambda summary, units: [2.0] * len(units), {}, "lambda' returned"),
        (Own([[0.5]]), {}, "the judge 'Own' judged 1 summary"),
        (Own([["x"] * 5] * 40), {}, "the judge 'Own' returned"),
    ],
)
def test_what_is_no_judge_is_one_error(name, settings, says):
    with refused(says, (InputError, ModelError)):
        judge_pairs(judge(name, **settings), ITEMS)


def test_an_error_of_another_process_is_that_of_this_one():
    with refused("too long for the lexical judge"):
        judge("lexical", workers=2).judge([("word " * 9_000, ["other " * 9_000])] * 2)


def same(one, other):
    assert all(map(np.array_equal, one.presence, other.presence))
    assert one.signature == other.signature


def test_processes_change_no_bit():
    whole = judge("lexical").judge(ITEMS)
    spread = judge_pairs(judge("lexical", workers=2), ITEMS)
    same(whole, spread)
    assert spread.counts == whole.counts


def test_another_process_makes_its_own_nli_judge(tiny, tmp_path):
    settings = {"device": "cpu", "cache": tmp_path / "c", "mode": "p2c"}
    for one in (judge(str(tiny), **settings), judge("mini")):
        other = pickle.loads(pickle.dumps(one))
        items = [(TEXT[1], UNITS[:1])]
        same(one.judge(items), other.judge(items))
        assert type(other) is type(one)


@pytest.mark.slow
def test_ray_says_what_one_process_says():
    pytest.importorskip("ray", reason="the extra ray is not installed")
    cluster = judge("lexical", engine="ray", workers=2)
    same(judge("lexical").judge(ITEMS), cluster.judge(ITEMS))
