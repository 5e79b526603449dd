"""JSON at the door: what is refused, with its place, and what is not."""

import json
from dataclasses import dataclass, field
from typing import Literal

import pytest
from cases import cases, refused

from litepyramid.checked import as_type, number, parse_json
from litepyramid.errors import ModelError
from litepyramid.files import read_json, read_jsonl


@pytest.mark.parametrize(
    ("text", "what"),
    [
        *cases(
            r"""
{"a": 1,⏎2}                             | f:2: not valid JSON .*column 1
{"a": 1, "b": {"c": 1, "d": 2, "c": 3}} | the key "c" occurs twice
{"a": ["\ud800"]}                       | the half character \\ud800
{"\udfff": 1}                           | the half character \\udfff
"""
        ),
        ("", "f:1: not valid JSON .Expecting value at column 1"),
        ("[-" + "9" * 301 + "]", "a number of more than 300 digits"),
        ("[" * 102 + "]" * 102, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "nested too deeply"),
    ],
)
def test_json_that_is_refused(text, what, tmp_path):
    with refused(what):
        parse_json(text, path="f")
    with pytest.raises(ModelError):
        parse_json(text, error=ModelError)
    path = tmp_path / "x.jsonl"
    path.write_text("\n" + text.replace("\n", " ") + "\n{}\n")
    if text and "half" not in what:
        with refused(r"x\.jsonl:2: "):
            read_jsonl(path)


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, -2.5, None, True, "x"], "": {}},
        [[[]] * 200, "[" * 5000],
        "9" * 5000,
        int("9" * 300),
        "😀",
        r"\ud800",
    ],
)
def test_json_that_is_read(value, tmp_path):
    path = tmp_path / "x.json"
    for ascii_only in (True, False):
        path.write_text(json.dumps(value, ensure_ascii=ascii_only))
        assert read_json(path) == value


WRONG = ["", "1_000", "١", "0x1", "nan", "1e", ".", "0.5\x1c", "0.5\u2028"]


@pytest.mark.parametrize("value", [*WRONG, True, [1], {}, 10**400])
def test_no_numbers(value):
    assert number(value) is None


@pytest.mark.parametrize(
    "value", ["1", " -1.50 ", "+.5", "2.", "1e-3", 7, 0.25, "1e400"]
)
def test_numbers(value):
    assert number(value) == float(value)


@dataclass(frozen=True)
class Row:
    ok: bool


@dataclass(frozen=True)
class Whole:
    n: int
    x: float | None
    rows: tuple[Row, ...]
    kind: Literal["u", "v"] = "u"
    map: dict[str, list[str]] = field(default_factory=dict)


GOOD = {"n": 0, "x": None, "rows": []}


@pytest.mark.parametrize(
    ("change", "what"),
    cases(
        r"""
{"n": -1}                            | ^n is -1. Expected a whole number from 0
{"n": true}                          | ^n is true
{"n": 2147483648}                    | ^n is 2147483648
{"n": "1"}                           | ^n is "1"
{"x": "1"}                           | ^x is "1". Expected a finite number
{"x": Infinity}                      | ^x is Infinity
{"kind": 3}                          | ^kind is 3. Expected one of u, v
{"rows": {}}                         | ^rows is {}. Expected a list
{"rows": [{"ok": true}, {}]}         | ^no rows\[1\]\.ok
{"rows": [{"ok": true}, {"ok": 1}]}  | ^rows\[1\]\.ok is 1
{"map": {"a": ["b", 1]}}             | ^map\.a\[1\] is 1
"""
    ),
)
def test_shapes_that_do_not_fit(change, what):
    value = GOOD | json.loads(change)
    with refused(what):
        as_type(Whole, value)

    place = {"what": "a broken plan", "path": "f", "line": 3}
    with refused(r"f:3: a broken plan \(", ModelError):
        as_type(Whole, value, error=ModelError, **place)


@pytest.mark.parametrize(
    "change", [{}, {"x": 3}, {"kind": None}, {"other": [1]}, {"map": {}}]
)
def test_shapes_that_fit(change):
    whole = as_type(Whole, GOOD | {"rows": [{"ok": True}]} | change)
    assert (whole.rows, whole.kind, whole.x) == ((Row(True),), "u", change.get("x"))


def test_of_several_types_the_message_is_of_the_one_that_was_meant():
    several = dict[str, str | list[str]]
    with refused("a is 3. Expected text or a list"):
        as_type(several, {"a": 3})
    with refused(r"a\[1\] is 1"):
        as_type(several, {"a": ["x", 1]})
