"""Texts that are no prose are read row by row; questions say nothing by themselves."""

import json

import numpy as np
import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.judges.evaluate import roc_auc
from litepyramid.judges.labelled import labelled_summaries, load_contrast
from litepyramid.judges.lexical.features import Vocabulary
from litepyramid.judges.questions import without_questions
from litepyramid.judges.registry import judge
from litepyramid.judges.row_readings import Table
from litepyramid.structure import MOST_ROWS, rows_of

HEADS = ["plan: Pro; price: $29", "plan: Team; price: $49"]
NAMED = ["Pro: $29", "Team: $49"]
SAID = ["Pro costs $29", "Team costs $49"]
RECORDS = [{"plan": "Pro", "price": "$29"}, {"plan": "Team", "price": "$49"}]
TEXTS = {
    "csv": ("plan,price\nPro,$29\nTeam,$49", HEADS),
    "markdown": ("|plan|price|\n|---|---|\n|Pro|$29|\n|Team|$49|", HEADS),
    "tabs": ("plan\tprice\nPro\t$29\nTeam\t$49", HEADS),
    "spaces": ("plan    price\nPro     $29\nTeam    $49", HEADS),
    "json": (json.dumps(RECORDS), HEADS),
    "lines of json": ("\n".join(map(json.dumps, RECORDS)), HEADS),
    "fenced": (f"Sure:\n```json\n{json.dumps(RECORDS)}\n```", HEADS),
    "object": ('{"Pro": "$29", "Team": "$49"}', NAMED),
    "list": ("- Pro: $29\n- Team: $49", NAMED),
    "numbered": ("1. Pro – $29\n2. Team – $49", NAMED),
    "below a line": ("Prices:\n- Pro: $29\n- Team: $49", [f"Prices: {x}" for x in NAMED]),
    "pairs": ("Pro: $29\nTeam: $49", NAMED),
    "enumeration": ("Pro costs $29 and Team $49.", SAID),
    "quoted": ('who,city\n"Lee, Ann",Bonn\n"Orr, Bo",Rome\nKim,Oslo', [
        "who: Lee, Ann; city: Bonn", "who: Orr, Bo; city: Rome", "who: Kim; city: Oslo",
    ]),
    "prose": ("Ann paid the bill, and Bob left. It was late.", []),
    "a list of sentences": ("- The ferry sank.\n- It had 40 people aboard.", []),
    "one row": ("Pro: $29", []),
    "broken": ('{"Pro": "$29", "Team"', []),
    "too many": ("\n".join(f"n{n}: {n}" for n in range(MOST_ROWS + 1)), []),
}  # fmt: skip


@pytest.mark.parametrize("form", TEXTS)
def test_the_rows_of_a_text(form):
    text, rows = TEXTS[form]
    assert [row.text for row in rows_of(text)] == rows


@given(st.text(alphabet='a1,;:|-{}[]"\n\t .*', max_size=200))
def test_no_text_is_refused(text):
    rows = rows_of(text)
    assert len(rows) != 1
    assert len(rows) <= MOST_ROWS


OWN_ROW = """
Pro costs $29.          | plan: Pro; price: $29; seats: 5     | False
Team costs $29.         | plan: Team; price: $49; seats: 20   | True
The price of Pro is 5.  | plan: Pro; price: $29               | True
It rained.              | None                                | None
Pro is dearer than Solo. | None                                | None
"""


@pytest.mark.parametrize(("unit", "text", "alone"), cases(OWN_ROW))
def test_a_unit_is_held_against_its_own_row(unit, text, alone):
    rows = rows_of("plan,price,seats\nPro,$29,5\nTeam,$49,20\nSolo,$9,1")
    found = Table(rows, Vocabulary()).row_for(unit)
    if text == "None":
        assert found is None
    else:
        assert (found.text, str(found.alone)) == (text, alone)


QUESTIONS = """
Did Ann pay? No, Bob did. It was late. | No, Bob did. It was late.
Did Ann pay? No.                       | -
Q: Is it free? A: No. It costs $5.     | It costs $5.
Did Ann pay? Yes.                      | Did Ann pay? Yes.
Who paid? Bob.                         | Who paid? Bob.
Ann paid.                              | Ann paid.
"""


@pytest.mark.parametrize(("text", "left"), cases(QUESTIONS))
def test_questions_that_nobody_answers_with_yes_are_left_out(text, left):
    assert without_questions(text) == (left.strip("-"))


@pytest.fixture(scope="module")
def mini():
    return judge("mini", cache=None)


def test_another_rows_value_is_not_present(mini):
    kinds = "table", "list", "json", "enumeration"
    pairs = []
    for one in labelled_summaries(load_contrast()):
        for unit, label in zip(one.units.units, one.labels, strict=True):
            if unit.tags[0] in kinds:
                pairs.append((one.text, unit.text, label, unit.tags[0]))

    presence = np.concatenate(mini.judge([(t, [u]) for t, u, *_ in pairs]).presence)
    labels = np.array([label for *_, label, _ in pairs])
    assert len(labels) == 162
    for kind in kinds:
        own = np.array([unit_kind == kind for *_, unit_kind in pairs])
        assert roc_auc(presence[own], labels[own]) > 0.95


def test_a_question_is_no_statement(mini):
    [asked, told] = mini.judge(
        [("Did Bob pay? No.", ["Bob paid."]), ("Did Bob pay? Yes.", ["Bob paid."])]
    ).presence
    assert asked[0] < 0.1
    assert told[0] > 0.8


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(4)))
def test_rows_and_prose_are_judged_the_same_in_any_company(mini, order):
    texts = [TEXTS[form][0] for form in ("csv", "list", "prose", "object")]
    units = ["Pro costs $29.", "Team costs $29.", "Ann paid the bill."]
    whole = mini.judge([(text, units) for text in texts])
    again = mini.judge([(texts[n], units) for n in order])
    for place, n in enumerate(order):
        assert np.array_equal(whole.presence[n], again.presence[place])
    # A text without structure keeps its bits.
    plain = mini._joined([(texts[2], units)])
    assert np.array_equal(whole.presence[2], plain.presence[0])
