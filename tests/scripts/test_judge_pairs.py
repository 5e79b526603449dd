"""Packs made by rule for training mini: labels are right by construction."""

import gzip
import json
import random
from collections import Counter

import judge
import judge_packs
import judge_words
import pytest

PREMISE = "Anna Lee hired Oscar Holm on Monday. She won 400 dollars."
UNITS = {
    "Anna Lee hired Oscar Holm.": 1,
    "Anna Lee won 400 dollars.": 1,
    "It rained.": 0,
}


def row(premise, hypothesis, present):
    return {"premise": premise, "hypothesis": hypothesis, "present": present}


def test_templates():
    packs = [*judge_packs.template_packs(300)]
    assert packs == [*judge_packs.template_packs(300)]
    labels = []
    for pack in packs:
        texts = " ".join([pack.premise, *pack.units])
        assert not set("{}[]") & set(texts)
        assert len({*pack.units}) == len(pack.units) <= judge_packs.UNITS + 1
        labels += [label == 1 for label in pack.labels]
    assert 0.4 < sum(labels) / len(labels) < 0.6


def test_packs_ask_a_premise_and_an_altered_one_the_same():
    rows = [row(PREMISE, unit, present) for unit, present in UNITS.items()]
    facts = judge_packs.read_facts(rows)
    packs = [*judge_packs.PackMaker(None).packs(facts * 40)]

    labels: dict[str, dict[str, float]] = {}
    for pack in packs:
        assert len({*pack.units}) == len(pack.units) <= judge_packs.UNITS
        known = labels.setdefault(pack.premise, {})
        for unit, label in zip(pack.units, pack.labels, strict=True):
            assert known.setdefault(unit, label) == label

    true = labels[PREMISE]
    assert {unit: true[unit] for unit in UNITS} == UNITS
    assert true["Oscar Holm hired Anna Lee."] == 0
    assert true["Oscar Holm was hired by Anna Lee."] == 1
    assert true["Anna Lee was hired by Oscar Holm."] == 0
    assert true["Anna Lee did not hire Oscar Holm."] == judge_packs.CONTRADICTION
    assert true["Anna Lee hired Oscar Holm on Monday."] == 1
    swapped = labels["Oscar Holm hired Anna Lee on Monday. She won 400 dollars."]
    assert swapped["Oscar Holm hired Anna Lee on Monday."] == 1
    assert swapped["Anna Lee hired Oscar Holm on Monday."] == 0
    assert len(labels) > 5


def test_a_long_premise_holds_the_short_one():
    packs = [
        judge_packs.Pack(f"Text {n} is here.", (f"{n}",), (1.0,)) for n in range(90)
    ]
    longer = [*judge_packs.lengthened(packs, 0.5)]
    assert [pack.units for pack in longer] == [pack.units for pack in packs]
    for pack, long in zip(packs, longer, strict=True):
        assert pack.premise in long.premise
    words = [len(pack.premise.split()) for pack in longer]
    assert 20 < sum(n > 50 for n in words) < 70
    assert max(words) < 400


# Lines of WordNet's files, with the senses that they need.
NET = {
    "index.verb": "buy v 1 0 1 1 01\npurchase v 1 0 1 1 01\n",
    "data.verb": "01 00 v 02 buy 0 purchase 0 000 | get for money\n",
    "index.adj": "hot a 1 1 ! 1 1 02\ncold a 1 1 ! 1 1 03\n",
    "data.adj": "02 00 a 01 hot 0 001 ! 03 a 0101 | x\n03 00 a 01 cold 0 001 ! 02 a 0101 | x\n",
    "index.noun": "meal n 1 1 ~ 1 1 04\nsoup n 1 1 @ 1 1 05\nstew n 1 1 @ 1 1 06\n",
    "data.noun": "04 00 n 01 meal 0 002 ~ 05 n 0000 ~ 06 n 0000 | x\n"
    "05 00 n 01 soup 0 001 @ 04 n 0000 | x\n06 00 n 01 stew 0 001 @ 04 n 0000 | x\n",
    "index.adv": "", "data.adv": "",
    "cntlist.rev": "buy%2:1 1 9\npurchase%2:1 1 9\nhot%3:0 1 9\ncold%3:0 1 9\nmeal%1:0 1 9\n"
    "soup%1:0 1 9\nstew%1:0 1 9\n",
}  # fmt: skip


def test_words_and_spellings(tmp_path):
    for name, text in NET.items():
        (tmp_path / name).write_text(text)
    alterer = judge_packs.Alterer(judge_words.WordNet(tmp_path), 7)
    texts = ["Anna Lee bought soup.", "The soup was hot.", "It cost $3m on 3 May."]
    alterer.parse(texts)

    made: dict[str, dict[str, float]] = {}
    for text in texts * 60:
        for kind, new, label in alterer.altered(text, []):
            made.setdefault(kind, {})[new] = label

    assert made["synonym"] == {"Anna Lee purchased soup.": 1}
    assert made["wider"] == {"Anna Lee bought meal.": 1, "The meal was hot.": 1}
    assert made["antonym"] == {"The soup was cold.": judge_packs.CONTRADICTION}
    assert made["denied"] == {"The soup was not cold.": 1}
    spelt = {"It cost 3 million dollars on 3 May.", "It cost $3 m on May 3."}
    assert made["spelt"] == dict.fromkeys(spelt, 1)
    assert all(label == 0 for label in made["number"].values())

    numbers = dict(judge_words.spellings("Twelve of 4,000 paid 10%.", random.Random(1)))
    assert {"12 of 4,000 paid 10%.", "Twelve of 4000 paid 10%."} < numbers.keys()
    assert {"Twelve of four thousand paid 10%."} < numbers.keys()


def test_every_pair_counts_once_and_none_of_a_development_set(tmp_path, monkeypatch):
    monkeypatch.setattr(judge, "HIGHLIGHTS", tmp_path / "none")
    (tmp_path / "presence").mkdir()
    sets = {
        "mnli_dev": [row("It rained.", "Rain fell.", 1)],
        "snli_dev_test": [row("it rained", "rain fell.", 1)],
        "fever_nli": [row("It snowed.", "Snow fell.", 1), row("A", "x" * 999, 1)],
        "fever_nli.dev": [row("It snowed.", "Snow fell.", 1)],
    }

    for name, rows in sets.items():
        path = tmp_path / "presence" / f"{name}.jsonl.gz"
        with gzip.open(path, "wt") as file:
            file.write("".join(json.dumps(r) + "\n" for r in rows))

    packs, often = judge.make_packs(tmp_path, share=0.01)
    assert len(often) == len(packs)
    assert max(often) <= 2.0
    asked = [(p.premise, unit) for p in packs for unit in p.units]
    assert asked.count(("It rained.", "Rain fell.")) <= 1
    assert not any("snow" in premise.lower() for premise, _ in asked)
    assert {"contrast", "fever_nli"} <= judge.sets_kept_aside(tmp_path).keys()


def test_the_written_texts_are_packs():
    paths = sorted(judge.WRITTEN_TEXTS.glob("*.txt"))
    packs = [*judge_packs.written_packs(paths, sentences=0)]
    assert len(packs) > 6_000

    for pack in packs:
        assert len(pack.premise.split()) > 3
        assert len(pack.units) >= 3


def test_a_block_is_drawn_by_kind_and_the_same_again():
    derived = judge_packs.DERIVED
    labelled = judge_packs.LABELLED
    rare, often = (
        judge_packs.MixedPack(text, ("a", "b"), (1.0, 0.0), (labelled, derived))
        for text in ("rare", "often")
    )
    written = judge_packs.Pack("written", ("c",), (1.0,))
    people = judge_packs.Pack("people", ("d",), (1.0,))
    mixture = judge.Mixture([rare, often], [1.0, 9.0], [written], [people])

    packs = mixture.block(3)
    assert packs == mixture.block(3) != mixture.block(4)
    numbers = Counter(pack.premise for pack in packs)
    assert numbers["written"] == judge.WRITTEN_PACKS
    assert numbers["people"] == judge.REALSUMM_PACKS
    assert 0.85 < numbers["often"] / judge.OPEN_PACKS < 0.95

    # What people labelled is always asked, of what rules made a share.
    open_packs = packs[: judge.OPEN_PACKS]
    assert all(pack.units[0] == "a" for pack in open_packs)
    asked = sum(len(pack.units) == 2 for pack in open_packs) / len(open_packs)
    assert abs(asked - judge.DERIVED_SHARE) < 0.1


def test_no_set_holds_text_of_a_commercial_language_model():
    barred = {"summedits", "factscore_facts", "factscore_contrast", "factcg_cg2c_doc"}
    assert not barred & judge.SETS.keys()
    assert not any(name.endswith(".dev") for name in judge.SETS)
    with pytest.raises(KeyError):
        judge.as_training([{"premise": "a"}])


def test_written_texts_are_asked_about_their_own_sentences_too(tmp_path):
    path = tmp_path / "a-01.txt"
    text = "P: A storm hit Oslo. Two men died.\n+ Oslo was struck.\n- Nobody died.\n"
    path.write_text(f"{text}? It rained.\n")

    [pack] = judge_packs.written_packs([path])

    assert dict(zip(pack.units, pack.labels, strict=True)) == {
        "Oslo was struck.": 1,
        "Nobody died.": judge_packs.CONTRADICTION,
        "It rained.": judge_packs.NEUTRAL,
        "A storm hit Oslo.": 1,
    }
    assert pack.origins == (judge_packs.CERTAIN,) * 4
    [alone] = judge_packs.written_packs([path], sentences=0)
    assert len(alone.units) == 3
