import math

import numpy as np
import pytest

from litepyramid.easiness.gold import Easiness, gold_easiness, read_easiness
from litepyramid.errors import InputError
from litepyramid.io.coerce import as_references, as_units
from litepyramid.tables import render
from litepyramid.types import InputUnits, Unit
from litepyramid.units.align import Sentence, sentences_of

SENTENCES = (
    Sentence("a", 0, 0, "A cat sat on the mat ."),
    Sentence("a", 0, 1, "The dog ran ."),
    Sentence("a", 0, 2, "It rained ."),
)


def units(*pairs, kind="scu", name="a"):
    return [InputUnits(name, tuple(Unit(t, kind=kind, reference=0, sentence=s) for t, s in pairs))]


def test_gold_easiness_by_hand():
    scus = units(("A cat sat", 0), ("The mat", 0), ("The dog ran", 1))
    stus = units(("A cat sat on the mat", 0), ("A cat", 0), ("It rained", 2), kind="stu")
    # "A cat sat": of "A cat sat on the mat" F1 = 2*3/(3+6) = 2/3, of "A cat" 2*2/(3+2) = 4/5.
    # "The mat": 2*2/(2+6) = 1/2, and 0. Mean of 4/5 and 1/2. The dog has no STU, the rain no SCU.
    found = gold_easiness(scus, stus, SENTENCES)
    assert found.values[:2] == pytest.approx([0.65, 0.0])
    assert math.isnan(found.values[2])


def test_an_scu_counts_in_every_sentence_that_contributes_to_it():
    twice = InputUnits("a", (Unit("It rained", 2.0, places=((0, 1), (0, 2))),))
    stus = units(("It rained", 2), ("The dog ran", 1), kind="stu")
    found = gold_easiness([twice], stus, SENTENCES)
    assert found.values[1:].tolist() == [0.0, 1.0]
    assert found.scus.tolist() == [0, 1, 1]


def test_gold_easiness_of_realsumm(realsumm):
    sentences = sentences_of(as_references(realsumm / "references.txt"))
    scus = as_units(realsumm / "SCUs.txt")
    stus = as_units(realsumm / "STUs.txt", kind="stu")
    found = gold_easiness(scus, stus, sentences)
    assert np.isnan(found.values).sum() == 5
    assert np.nanmean(found.values) == pytest.approx(0.6266, abs=0.002)
    same = gold_easiness(scus, scus, sentences)
    assert np.nanmin(same.values) == 1.0


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_easiness_files_come_back(tmp_path, ending):
    easiness = Easiness(SENTENCES, np.array([0.1, np.nan, 0.1 + 0.2]))
    easiness.save(tmp_path / f"e.{ending}")
    back = read_easiness(tmp_path / f"e.{ending}")
    assert back.sentences == SENTENCES
    np.testing.assert_array_equal(back.values, easiness.values)
    assert back.of(SENTENCES[::-1])[0] == easiness.values[2]
    with pytest.raises(InputError, match="no easiness for sentence 10 of reference 1 of input 'a'"):
        back.of([Sentence("a", 0, 9, "")])
    table = render(easiness, "table")
    assert table.index("It rained") < table.index("A cat") < table.index("The dog")
    assert "3 sentences, 2 with an easiness" in table


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"input": "a"}', "no sentence"),
        ('{"input": "a", "sentence": -1}', "sentence is -1"),
        ('{"input": "a", "sentence": 0, "easiness": "big"}', 'easiness is "big"'),
        ('{"input": "a", "sentence": 0, "easiness": true}', "easiness is true"),
        ('{"input": "x", "sentence": 0, "easiness": 1}', "the same sentence as in line 1"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, words):
    path = tmp_path / "e.jsonl"
    path.write_text('{"input": "x", "sentence": 0, "easiness": 0.5}\n' + line + "\n")
    with pytest.raises(InputError, match=words) as error:
        read_easiness(path)
    assert f"{path}:2:" in str(error.value)
