import pytest
from cases import cases, refused

from litepyramid.data.records import InputReferences, InputUnits, Unit
from litepyramid.units.align import (
    Sentence,
    align_both,
    align_units,
    sentences_of,
)

TEXTS = ("A cat sat on the mat .", "The dog , big and brown , ran .", "It rained .")
SENTENCES = [Sentence("a", 0, i, text) for i, text in enumerate(TEXTS)]


def place(text, sentences=SENTENCES, **stated):
    units = InputUnits("a", (Unit(text, **stated),))
    (unit,) = align_units(units, sentences).units.units
    return unit.reference, unit.sentence


SHARED = """
The dog ran.         | 1 | two words
It RAINED!           | 2 | in capitals
The cat and the dog. | 1 | the, and, dog against the, cat
The                  | 0 | a tie: the first wins
The The The cat      | 0 | types count, not tokens
Nothing shared       | 0 | the first
, . ,                | 0 | punctuation is no word
"""


@pytest.mark.parametrize(("text", "sentence", "why"), cases(SHARED))
def test_most_shared_word_types_first_wins(text, sentence, why):
    assert place(text) == (0, int(sentence)), why


def test_a_unit_that_names_its_reference_is_looked_for_there():
    both = [*SENTENCES, Sentence("a", 1, 0, "Storms ."), Sentence("a", 1, 1, "A dog .")]
    assert place("The dog ran.", both, reference=1) == (1, 1)
    assert place("The dog ran.", both) == (0, 1)


def test_counts_of_how_units_were_placed():
    stated = Unit("x", reference=0, sentence=1)
    units = InputUnits("a", (stated, Unit("The"), Unit("dog"), Unit("zebra")))
    found = align_units(units, SENTENCES)
    counts = {"stated": 1, "matched": 2, "tied": 1, "unmatched": 1}
    assert found.counts == counts
    assert found.units.texts == units.texts


def test_sentences_of_marked_and_unmarked_references():
    texts = ("One .", " Two  words . "), ("Three .",)
    marked = InputReferences("a", texts, (True, True))
    plain = InputReferences("b", (("Four . Five .",),), (False,))
    found = [(*one.key, one.text) for one in sentences_of([marked, plain])]
    assert found == [
        ("a", 0, 0, "One ."),
        ("a", 0, 1, "Two words ."),
        ("a", 1, 0, "Three ."),
        ("b", 0, 0, "Four ."),
        ("b", 0, 1, "Five ."),
    ]
    with refused("occurs twice"):
        sentences_of([marked, marked])


def test_scus_go_where_the_stus_name_whom_they_are_about():
    sentences = (
        Sentence("a", 0, 0, "Ann Lee moved to Oslo ."),
        Sentence("a", 0, 1, "She works in a bakery ."),
    )
    scus = [InputUnits("a", (Unit("Ann Lee works."), Unit("Ann Lee moved.")))]
    there = {"kind": "stu", "reference": 0, "sentence": 1}
    resolved = Unit("Ann Lee works in a bakery", **there)
    plain = Unit("She works in a bakery", **there)
    adrift = Unit("Ann Lee works in a bakery", kind="stu")

    for stu, numbers in ((resolved, [1, 0]), (plain, [0, 0]), (adrift, [0, 0])):
        human, machine = align_both(scus, [InputUnits("a", (stu,))], sentences)
        assert [unit.sentence for unit in human[0].units.units] == numbers
        assert [unit.sentence for unit in machine[0].units.units] == [1]
