"""Texts from JSON become the one line that a line file would hold; numbers of things."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from litepyramid.text import counted, one_line


@given(st.text(alphabet="ab \t\n\r\u2028\xa0"))
def test_only_white_space_with_a_tab_or_line_break_changes(text):
    line = one_line(text)
    assert not set("\t\n\r") & set(line)
    assert line.split() == text.split()
    assert one_line(line) == line
    if not set("\t\n\r") & set(text):
        assert line == text


@given(st.integers(0, 3), st.sampled_from([None, "are"]))
def test_one_is_the_only_singular(number, many):
    said = counted(number, "unit", many)
    assert said == (f"{number} unit" if number == 1 else f"{number} {many or 'units'}")
