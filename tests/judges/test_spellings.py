"""One text in other characters, one number in other spellings: one presence."""

import unicodedata

import numpy as np
import pytest
from cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.judges.registry import judge as make_judge
from litepyramid.metrics.score_metrics import score_metrics
from litepyramid.sentences import sentence_spans
from litepyramid.wording import as_read, normalized, quantities, respelled

SUMMARY = "It rained. Café Müller in Zürich sold 4,000 tickets to 12 schools."
UNITS = ["Café Müller is in Zürich.", "It sold 4,000 tickets.", "12 schools bought."]


def decomposed(text):
    return unicodedata.normalize("NFD", text)


def full_width(text):
    return "".join(chr(ord(c) + 0xFEE0) if c.isdigit() else c for c in text)


def soft_hyphens(text):
    return text.replace("ick", "i\u00adck").replace("choo", "cho\u00ado")


def zero_width(text):
    return text.replace("old", "o\u200bld").replace("rich", "ri\u2060ch\ufeff")


FORMS = [decomposed, full_width, soft_hyphens, zero_width]


@pytest.fixture(scope="module", params=["recall", "lexical", "mini"])
def judge(request):
    return make_judge(request.param)


def test_a_text_in_another_form_has_the_same_presence_and_evidence_as_it_stands(judge):
    plain = judge.judge([(SUMMARY, UNITS)]).presence[0].tolist()

    items = []
    for form in FORMS:
        assert form(SUMMARY) != SUMMARY
        items += [(form(SUMMARY), UNITS), (SUMMARY, [form(unit) for unit in UNITS])]

    for values in judge.judge(items).presence:
        assert values.tolist() == plain

    # The span is that of the sentence in the text as it is given.
    summary = decomposed(SUMMARY)
    evidence = judge.explain([(summary, UNITS[:1])])[0][0]
    assert evidence.span == sentence_spans(summary)[1]


def test_marks_of_markdown_and_numbers_of_notes_change_no_presence(judge):
    marked = SUMMARY.replace("4,000", "**4,000**").replace("12", "`12`")
    marked = marked.replace("Zürich", "[Zürich](https://a.example) [3]")
    plain, with_marks = judge.judge([(SUMMARY, UNITS), (marked, UNITS)]).presence
    assert with_marks.tolist() == plain.tolist()


def test_rouge_counts_the_same_words_in_every_form():
    texts = {"plain": [SUMMARY]} | {form.__name__: [form(SUMMARY)] for form in FORMS}
    references = [" ".join(UNITS)]
    table = score_metrics(texts, references=references, metrics=["rouge-1", "rouge-l"])
    values = table.scores.values
    assert (values == values[:, :1]).all()


SPELLINGS = """
4,000       | 4000  | four thousand | 4k      | 4 thousand
12          | twelve | a dozen
3.2 billion | 3.2bn | 3,200,000,000
May 3       | 3 May | 3rd of May    | May 3rd
205         | two hundred and five
"""


@pytest.mark.parametrize("spellings", cases(SPELLINGS), ids=lambda row: row[0])
def test_all_spellings_of_a_number_are_one_value(judge, spellings):
    units = [f"The town counted {spelling} houses." for spelling in spellings]
    summaries = [f"They say {spelling} houses burnt." for spelling in spellings]

    values = judge.judge([(text, units) for text in summaries]).presence
    assert (np.ptp(values, axis=1) == 0).all()
    [other] = judge.judge([("They say 77 houses burnt.", units[:1])]).presence
    assert other[0] < values[0][0]


def test_a_date_at_the_end_leaves_the_full_stop_alone():
    assert respelled("It fell on 3 May.", "On May 3 it fell.") == "It fell on May 3."
    assert respelled("It fell May 3.", "On 3 Jan. 2020 or 3 May.") == "It fell 3 May."
    assert respelled("On Jan. 3 it fell.", "On 3 January.") == "On 3 January it fell."


def test_another_number_stays_another_number():
    others = """
        It cost 3 million.    | It cost 3 billion.
        May 3 2020 was dry.   | May 3 2021 was dry.
        One of them left.     | 1 goal fell.
        She came 4th.         | 4 men came.
        Version 1.2.3 is out. | 1.2 and 3 are numbers.
    """
    for unit, summary in cases(others):
        assert respelled(unit, summary) == unit


@settings(max_examples=25)
@given(st.integers(0, 10**12))
def test_digits_with_and_without_commas_have_one_value(number):
    one = quantities(f"some {number:,} things")
    other = quantities(f"{number} things")
    assert one[0].value == other[0].value == number


@settings(max_examples=25)
@given(
    st.text(alphabet="0123456789,. -aeno\u00adthusdk\u200b", max_size=40),
    st.text(max_size=40),
)
def test_reading_is_idempotent_and_leaves_texts_alone_that_hold_no_common_number(a, b):
    once = as_read([(a, [b, a])])
    assert as_read(once) == once
    assert respelled(normalized(b), "no numbers here") == normalized(b)
