import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from cases import cases, refused, same
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.data.data import load
from litepyramid.data.records import InputUnits, Unit, Units
from litepyramid.easiness.gold import Easiness, gold_easiness, read_easiness
from litepyramid.easiness.mix import By, human_count, mix, mix_units, stu_count
from litepyramid.easiness.predict import predict
from litepyramid.units.align import Sentence, sentences_of
from litepyramid.units.extract import extract

SENTENCES = (
    Sentence("a", 0, 0, "A cat sat ."),
    Sentence("a", 0, 1, "The dog ran ."),
    Sentence("a", 0, 2, "Hm ."),
    Sentence("b", 0, 0, "It rained ."),
    Sentence("b", 0, 1, "We left ."),
)


def units(*pairs, kind="scu", name="a"):
    """Units of one input: a text and the number of its sentence each."""
    made = []
    for text, number in pairs:
        made.append(Unit(text, kind=kind, reference=0, sentence=number))
    return [InputUnits(name, tuple(made))]


def made(kind, counts):
    """`counts`: how many units each sentence has, in the order of SENTENCES."""
    pairs = {"a": [], "b": []}
    for s, n in zip(SENTENCES, counts, strict=True):
        pairs[s.input] += [(f"{kind} {s.sentence}.{k}", s.sentence) for k in range(n)]
    return units(*pairs["a"], kind=kind) + units(*pairs["b"], kind=kind, name="b")


SCUS = made("scu", (2, 1, 0, 1, 3))
STUS = made("stu", (1, 2, 1, 1, 1))
EASY = Easiness(SENTENCES, np.array([0.5, 0.9, 0.1, 0.9, 0.2]))


def mixed_of(count=3, scus=SCUS, stus=STUS, sentences=SENTENCES, **options):
    return mix_units(scus, stus, sentences, count, **options)


def test_by_easiness():
    found = mixed_of(easiness=EASY)
    assert found.carries_stus.tolist() == [True, True, False, True, False]
    assert found.units[0].texts == ("stu 0.0", "stu 1.0", "stu 1.1")
    assert found.units[1].texts == ("scu 1.0", "scu 1.1", "scu 1.2", "stu 0.0")
    sentences = {
        "sentences": 5,
        "stu_sentences": 3,
        "scu_sentences": 2,
    }
    assert found.counts() == {**sentences, "stus": 4, "scus": 3}


@settings(max_examples=40)
@given(st.integers(0, 5), st.integers(0, 2**32), st.sampled_from(get_args(By)))
def test_every_sentence_is_kept_and_budgets_are_exact(count, seed, by):
    found = mixed_of(
        count,
        by=by,
        easiness=EASY,
        seed=seed,
    )
    assert found.carries_stus.sum() == count
    units = {entry.input: [*entry.units] for entry in found.units}

    for s, flag in zip(SENTENCES, found.carries_stus, strict=True):
        for entry in STUS if flag else SCUS:
            for unit in entry.units if entry.input == s.input else ():
                if unit.sentence == s.sentence:
                    units[s.input].remove(unit)
    assert units == {"a": [], "b": []}


def test_seeds_differ():
    choices = set()
    for seed in range(20):
        choices.add(tuple(mixed_of(2, by="random", seed=seed).carries_stus))
    assert len(choices) > 3


def test_gold_is_computed_from_the_units_and_no_scu_is_hardest():
    scus = [InputUnits("a", (Unit("A cat sat."), Unit("The dog ran."))), SCUS[1]]
    stus = [
        InputUnits("a", (Unit("A cat sat", kind="stu"), Unit("The", kind="stu"))),
        STUS[1],
    ]
    found = mixed_of(
        1,
        scus,
        stus,
        by="gold",
    )
    assert found.carries_stus.tolist() == [True, False, False, False, False]
    assert np.isnan(found.easiness[2])
    assert any("1 of 5 sentences have no SCU" in note for note in found.notes)


# A share, of how many, and how many that are.
SHARES = """
0.29 | 100 | 29
0.5  | 7   | 3
0    | 9   | 0
1.0  | 9   | 9
0.57 | 100 | 57
"""


def test_a_share_is_floored_as_it_was_written():
    for share, n, count in cases(SHARES):
        assert stu_count(float(share), int(n)) == int(count)

    # Thirds leave the same sentences to people and to the machine.
    for x, count in ((1 / 3, 2), (2 / 3, 4)):
        assert stu_count(x, 6) == human_count(x, 6) == count


def test_an_input_left_without_units_is_refused():
    scus = [*units(("x", 1)), SCUS[1]]
    stus = [*units(("y", 0), kind="stu"), STUS[1]]
    with refused("input 'a' is left without a unit"):
        mixed_of(1, scus, stus, easiness=EASY)


def test_an_scu_weighs_as_much_as_is_left_of_its_contributors():
    """ZB21 §3.1: SCUs are a set with duplicates, one a contributor."""
    thrice = Unit("It rained", 3.0, places=((0, 0), (0, 2), (1, 0)))
    sentences = (*SENTENCES[:3], Sentence("a", 1, 0, "Rain ."))
    stus = units(("stu 0", 0), ("stu 1", 1), ("stu 2", 2), kind="stu")
    scus = [InputUnits("a", (thrice,))]

    def mixed(*values):
        easiness = Easiness(sentences, np.array(values))
        found = mixed_of(sum(values), scus, stus, sentences, easiness=easiness)
        return found.units[0].units

    assert mixed(0, 0, 0, 0) == (thrice,)
    twice, _ = mixed(0, 0, 1, 0)
    assert twice == Unit("It rained", 2.0, places=((0, 0), (1, 0)))
    once, *_ = mixed(1, 0, 1, 0)
    assert once == Unit("It rained", 1.0, "scu", 1, 0)
    assert [unit.kind for unit in mixed(1, 1, 1, 1)] == ["stu"] * 3


REFERENCES = [
    "A cat sat. The dog ran home. It rained hard in Rome.",
    "We left. They stayed.",
]
TEXTS = [
    ["A cat sat", "The dog ran home", "It rained"],
    ["We left early", "They stayed"],
]


def test_mix_extracts_and_predicts_what_is_not_there(tmp_path):
    stus = extract(REFERENCES)
    easy = predict(REFERENCES)
    mixed = mix(
        TEXTS,
        stus,
        easiness=easy,
        stu_share=0.5,
    )
    assert mixed.counts()["stu_sentences"] == 2
    assert mix(TEXTS, references=REFERENCES).units == mixed.units
    easy.save(tmp_path / "easy.json")
    units = [*stus.units]
    assert mix(TEXTS, units, easiness=tmp_path / "easy.json").units == mixed.units

    for ending in ("json", "jsonl", "csv"):
        mixed.save(tmp_path / f"mixed.{ending}")
        again = load(units=tmp_path / f"mixed.{ending}").units
        assert again == Units.of(mixed.units)

    for options in ({}, {"by": "gold"}, {"by": "gold", "stus": units}):
        with refused(r"needs the references of the units\. Without them"):
            mix(TEXTS, **options)
    with refused("of the kind 'stu'"):
        mix(units, stus)
    with refused("unknown way of mixing 'best'"):
        mix(TEXTS, stus, by="best")
    percent = mix(TEXTS, stus, easiness=easy, stu_share="30%")
    assert percent.units == mix(TEXTS, stus, easiness=easy, stu_share=0.3).units
    with refused("the share is 1.1"):
        mix(TEXTS, stus, stu_share=1.1)


def test_the_signature_changes_when_the_mix_does_and_only_then():
    """In which order inputs are given changes nothing."""
    other = Easiness(SENTENCES, np.array([0.5, 0.9, 0.1, 0.9, 0.6]))
    heavier = [InputUnits("a", (Unit("scu", 2.0, reference=0, sentence=2),)), SCUS[1]]
    more = made("stu", (1, 2, 1, 1, 2))

    signature = mixed_of(easiness=EASY).signature
    turned = mixed_of(3, SCUS[::-1], STUS, SENTENCES[::-1], easiness=EASY)
    assert turned.signature == signature
    assert mixed_of(2, easiness=EASY).signature != signature
    assert mixed_of(3, heavier, easiness=EASY).signature != signature
    assert mixed_of(3, SCUS, more, easiness=EASY).signature != signature
    assert mixed_of(easiness=other).signature != signature


MAT = (
    Sentence("a", 0, 0, "A cat sat on the mat ."),
    Sentence("a", 0, 1, "The dog ran ."),
    Sentence("a", 0, 2, "It rained ."),
)


def test_gold_easiness_by_hand():
    scus = units(("A cat sat", 0), ("The mat", 0), ("The dog ran", 1))
    pairs = ("A cat sat on the mat", 0), ("A cat", 0), ("It rained", 2)
    stus = units(*pairs, kind="stu")
    # "A cat sat": of "A cat sat on the mat" F1 = 2*3/(3+6) = 2/3, of "A cat" 2*2/(3+2)
    # = 4/5. "The mat": 2*2/(2+6) = 1/2, and 0. Mean of 4/5 and 1/2. The dog has no STU,
    # the rain no SCU.
    found = gold_easiness(scus, stus, MAT)
    same(found.values, [0.65, 0.0, math.nan])
    same(gold_easiness(scus, scus, MAT).values, [1.0, 1.0, math.nan])


def test_an_scu_counts_in_every_sentence_that_contributes_to_it():
    twice = InputUnits("a", (Unit("It rained", 2.0, places=((0, 1), (0, 2))),))
    stus = units(("It rained", 2), ("The dog ran", 1), kind="stu")
    found = gold_easiness([twice], stus, MAT)
    assert found.values[1:].tolist() == [0.0, 1.0]
    assert found.scus.tolist() == [0, 1, 1]


def test_gold_easiness_of_realsumm(realsumm):
    data = load(realsumm)
    found = gold_easiness(data.units, data.stus, sentences_of(data.references))
    assert np.isnan(found.values).sum() == 5
    assert np.nanmean(found.values) == pytest.approx(0.6266, abs=0.002)


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_easiness_files_come_back(tmp_path, ending):
    easiness = Easiness(MAT, np.array([0.1, np.nan, 0.1 + 0.2]))
    easiness.save(tmp_path / f"e.{ending}")
    back = read_easiness(tmp_path / f"e.{ending}")
    assert back.sentences == MAT
    same(back.values, easiness.values, 0)
    same(back.of(MAT[::-1]), easiness.values[::-1], 0)
    with refused("no easiness for sentence 10 of reference 1 of input 'a'"):
        back.of([Sentence("a", 0, 9, "")])

    with refused("sentence 1 of reference 1 of input 'a' is '.*' here, 'Bob slept.'"):
        back.of([replace(MAT[0], text="Bob slept.")])
    assert back.of([replace(MAT[0], text=MAT[0].text.upper() + "!")])

    table = easiness.to_table()
    assert table.index("It rained") < table.index("A cat") < table.index("The dog")
    assert "3 sentences, 2 with an easiness" in table


@pytest.mark.parametrize(
    ("line", "words"),
    cases(
        """
{"input": "a"}                                   | no sentence
{"input": "a", "sentence": -1}                   | sentence is -1
{"input": "a", "sentence": 0, "easiness": "big"} | easiness is "big"
{"input": "a", "sentence": 0, "easiness": true}  | easiness is true
{"input": "x", "sentence": 0, "easiness": 1}     | the same sentence as in line 1
"""
    ),
)
def test_a_bad_line_is_named(tmp_path, line, words):
    path = tmp_path / "e.jsonl"
    path.write_text('{"input": "x", "sentence": 0, "easiness": 0.5}\n' + line + "\n")
    with refused(words) as error:
        read_easiness(path)
    assert f"{path}:2:" in str(error.value)


def test_inputs_without_scus_are_left_out_and_counted():
    """People may have written SCUs of some inputs only."""
    texts = {
        name: [f"It rained in {name}. We left."] for name in ("Rome", "Oslo", "Bonn")
    }
    scus = {"Oslo": ["It rained in Oslo.", "We left."]}
    extracted = extract(texts)
    whole = mix(scus, references={"Oslo": texts["Oslo"]})
    easiness = predict(texts)
    for sources in (
        {"references": texts},
        {"stus": extracted, "references": texts},
        {"stus": extracted},
        {"stus": extracted, "easiness": easiness},
    ):
        mixed = mix(scus, **sources)
        assert mixed.units == whole.units
        assert "2 inputs have no SCUs, and no units here." in mixed.notes
    assert not any("no SCUs" in note for note in whole.notes)
