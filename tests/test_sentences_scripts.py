"""Sentences in any script: where they end, and that spans cover the text."""

import random
from itertools import chain, pairwise

import pytest
from cases import SENTENCES, cases
from hypothesis import given
from hypothesis import strategies as st

from litepyramid.sentences import sentence_spans, split_sentences, without_marks

UNSPACED = ("zh", "ja")
STOPS = ".?!。！？｡।॥؟۔"

CASES = cases(
    """
市长辞职了。 | 没有人受伤！ | 真的吗？ | 是的。
他说：“我不去。” | 然后走了。
东京は雨だった。 | （写真は昨日。） | 明日は晴れ。
「行かない。」と彼は言った。 | 雨だ。
GDP增长5.5%。 | Apple发布iPhone 3.5版。
真的！！！ | 好。
"""
)
SPACED = cases(
    """
उसने कहा। | क्या यह सच है? | हाँ।
هل جاء؟ | نعم. | ذهب!
یہ ہوا۔ | اچھا۔
¿Vino? | ¡Sí! | Se fue.
Sie sagte: „Nein.“ | Er ging.
« Non. » | Il part.
Er kam am 3. Mai. | Es regnete.
Die Nr. 3 siegte. | Das gilt z.B. hier.
M. Dupont est venu. | Il pleuvait.
The ferry left at 9 p.m. on Tuesday. | It came at 5 a.m. | The crew slept.
He was born on Jan. 3, 2021, in Oslo. | It rained (see Fig. 2) in Sept.
Acme Inc. and Bell Corp. (of Oslo) paid Tom Lee Jr. , who won. | Lee is No. 1.
Add 2 tbsp. sugar, as Lee et al. say. | She said no. | He works for Acme Inc.
2019年上映。 | It was shown in Oslo. | نعم.
"""
)


@pytest.mark.parametrize("sentences", CASES)
def test_ends_without_spaces(sentences):
    assert split_sentences("".join(sentences)) == [*sentences]
    assert split_sentences(" ".join(sentences)) == [*sentences]


@pytest.mark.parametrize("sentences", SPACED)
def test_ends_before_spaces(sentences):
    assert split_sentences(" ".join(sentences)) == [*sentences]


# Lists, markdown, notes of an encyclopaedia with a quotation and a line across; a number
# that does not count, and lone stars and brackets, are text.
MARKED = """
1. Wash the rice⏎2. Do not add salt⏎3. Cook it. | Wash the rice | Do not add salt | Cook it.
## Staff⏎**Ann Lee** left in *2019*⏎- `Bob` stayed⏎- See [it](https://a.b) | Staff | Ann Lee left in 2019 | Bob stayed | See it
It opened in 1889.[1][2] It closed [3], too.⏎---⏎> Ann left. | It opened in 1889. | It closed, too. | Ann left.
It was built in⏎12. Street [a] costs 3 * 4 * 5 and **more | It was built in 12. | Street [a] costs 3 * 4 * 5 and **more
"""


@pytest.mark.parametrize("row", cases(MARKED))
def test_lists_and_markdown_give_their_items_without_their_marks(row):
    text, *sentences = row
    assert split_sentences(text) == sentences


@pytest.mark.parametrize("code", sorted(set(SENTENCES) - {"th"}))
def test_written_sentences_joined_are_split_again(code):
    rng = random.Random(12345)
    joint = "" if code in UNSPACED else " "
    for _ in range(20):
        sentences = rng.sample(SENTENCES[code], min(5, len(SENTENCES[code])))
        assert split_sentences(joint.join(sentences)) == sentences


@given(st.text(alphabet=f"aé1中あक \n「」”“’)）…{STOPS}", max_size=60))
def test_spans_are_in_order_and_cover_everything_but_white_space_and_marks(text):
    spans = sentence_spans(text)
    assert all(start < end for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    inside = {i for start, end in spans for i in range(start, end)}
    unmarked = without_marks(text)
    read = unmarked if unmarked.strip() else text
    assert all(i in inside or read[i].isspace() for i in range(len(text)))
    assert split_sentences(text) == [" ".join(text[a:b].split()) for a, b in spans]


@given(
    st.lists(st.sampled_from(sorted(chain(*CASES, *SPACED))), min_size=1, max_size=6)
)
def test_a_space_between_sentences_changes_nothing_for_scripts_without_spaces(
    sentences,
):
    wide = [s for s in sentences if s[-1] in "。！？।"]
    assert split_sentences("".join(wide)) == split_sentences(" ".join(wide))


@pytest.mark.parametrize("text", ["。", ".", "」 ", ".» ", "！？"])
def test_long_runs_of_stops_take_linear_time(text):
    assert len(sentence_spans(text * 50_000)) <= 1
