"""Names that would do something if they were shown as they are."""

import csv
import io
import json

from cases import quick_score, refused

import litepyramid as lp
from litepyramid.checked import guarded, unguarded
from litepyramid.tables import Column, Result, Table
from litepyramid.text import latex_escape

NAMES = [
    "\x1b[31mred",
    "[bold]markup[/bold]",
    "left\u202eright",
    "line\nend",
    r"\write18{id}",
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "'=quoted",
    "x" * 5000,
    "half\udc80",
]


class Shown(Result):
    """A result whose title, notes, columns and cells are hostile."""

    def to_tables(self):
        rows = tuple((name, -1.5) for name in NAMES)
        columns = (Column("name"), Column("score", NAMES[4]))
        return [Table(NAMES[3], columns, rows, tuple(NAMES))]

    def to_json(self):
        return {"names": NAMES}


def test_a_table_shows_names_and_does_not_obey_them():
    shown = Shown().to_table()
    assert shown.isascii() or not {"\x1b", "\u202e", "\udc80"} & set(shown)
    assert "x" * 3000 not in "".join(shown.split())
    escaped = [r"\x1b[31mred", r"left\u202eright", r"line\nend"]
    for name in (NAMES[1], *escaped):
        assert shown.count(name) >= 2


def test_latex_holds_no_command_and_no_comment_ends():
    lines = Shown().to_latex().splitlines()
    begin = lines.index(next(line for line in lines if line.startswith(r"\begin")))
    assert all(line.startswith("%") for line in lines[:begin])
    assert any("write18" in line for line in lines[begin:])
    assert not any(r"\write" in line for line in lines[begin:])
    assert latex_escape("[1] *") == "{[}1] {*}"


class WithInterval(Result):
    """A result with an interval in two columns."""

    def to_tables(self):
        columns = (Column("system"), Column("low", "95 % low"), Column("high"))
        return [Table("Lite²Pyramid", columns, (("[a]", 0.25, 0.5),))]


def test_latex_has_an_interval_in_one_column_a_caption_and_a_label():
    lines = WithInterval().to_latex().splitlines()
    assert r"{[}a] & {[}0.250, 0.500] \\" in lines
    assert r"system & 95 \% interval \\" in lines
    assert r"\caption{Lite\textsuperscript{2}Pyramid}" in lines
    assert r"\label{tab:lite2pyramid}" in lines


def test_csv_holds_no_formula_and_names_come_back():
    rows = list(csv.reader(io.StringIO(Shown().to_csv())))[1:]
    assert [unguarded(name) for name, _ in rows] == NAMES
    assert not [name for name, _ in rows if name[0] in "=+-@"]
    assert {score for _, score in rows} == {"-1.5"}
    assert guarded("-1.5") == "-1.5"


def test_half_a_character_is_refused_before_anything_is_judged(tmp_path):
    """A file's name in another encoding holds one."""
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a\udc80.txt").write_text("It rained.\n")
    for texts in (tmp_path / "texts", {"a\udc80": ["It rained."]}):
        with refused("half character"):
            quick_score(texts, [["It rained."]])


def test_half_a_character_in_an_answer_stops_no_other(tmp_path):
    """A model that stops in the middle of one leaves it."""
    texts = {"a": "It rained.", "b": "It rained \ud83d"}
    units = {"a": ["It rained."], "b": ["It rained."]}
    rows = [{"system": "s", "input": key, "summary": texts[key]} for key in texts]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    for given in (rows, path, {"s": texts}):
        result = quick_score(given, units)
        assert result.scores == {"s": 1.0}
        assert result.summaries.texts == (("It rained.", "It rained �"),)
        assert "1 text holds �" in result.to_table()
        result.save(tmp_path / "scores.json", force=True)
        assert lp.report(tmp_path / "scores.json") == result
