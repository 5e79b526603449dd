"""Texts from JSON become the one line that a line file would hold; numbers of
things."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from litepyramid.errors import InputError
from litepyramid.text import legible, one_line, printable


@given(st.text(alphabet="ab \t\n\r\u2028\xa0"))
def test_only_white_space_with_a_tab_or_line_break_changes(text):
    line = one_line(text)
    assert not set("\t\n\r") & set(line)
    assert line.split() == text.split()
    assert one_line(line) == line
    if not set("\t\n\r") & set(text):
        assert line == text


@given(st.text())
def test_nothing_unseen_is_printed_and_the_rest_stays(text):
    shown = printable(text)
    shown.encode()
    hidden = {"Cc", "Cs", "Zl", "Zp"}
    assert not [c for c in shown if unicodedata.category(c) in hidden]
    assert not [
        c for c in shown if unicodedata.bidirectional(c)[:2] in {"LR", "RL", "PD"}
    ]
    unseen = {*hidden, "Cf"}

    # The last range is not assigned, and not to be seen when it is.
    if not [
        c
        for c in text
        if unicodedata.category(c) in unseen or "\U000e0000" <= c < "\U000e1000"
    ]:
        assert shown == text


def test_a_message_cuts_the_values_that_it_quotes_and_not_what_is_between_them():
    long = "between " * 30
    for value in (
        "x" * 10**5,
        "it's " * 1000,
        "' (" * 10**5,
        "'a " * 10**5,
        "\x1b[31m" * 999,
    ):
        said = legible(f"the units' {long}system '{value}' {long}")
        assert len(said) < 4500
        assert "\x1b" not in said

    said = legible(f"a '{'x' * 200}' and {long}'short' \"{'y' * 200}\"")
    assert said.count("…") == 2
    assert f" and {long}'short'" in said


def test_an_error_shows_less_than_it_holds():
    error = InputError(
        "no '" + "a" * 10**6 + "\n'",
        path="f\u202e.txt",
        expected="b\x07",
        hint="c\r",
    )
    assert len(error.what) > 10**6
    assert len(str(InputError("x", path="a/" * 5000))) < 500
    assert len(str(error)) < 200
    assert str(error).startswith("f\\u202e.txt: no 'aaa")
    assert str(error).endswith("Expected b\\x07. c\\r")
