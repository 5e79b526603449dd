"""Pairs made by rule for training mini: labels are right by construction."""

from __future__ import annotations

import gzip
import json
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "train"))

import judge
import judge_pairs
import judge_words

ROSE = [
    (
        "Anna Lee hired Oscar Holm on Monday. She won 400 dollars.",
        "Anna Lee hired Oscar Holm.",
        1,
    ),
    (
        "Anna Lee hired Oscar Holm on Monday. She won 400 dollars.",
        "Anna Lee won 400 dollars.",
        1,
    ),
    ("Anna Lee hired Oscar Holm on Monday. She won 400 dollars.", "It rained.", 0),
]


def row(premise, hypothesis, present):
    return {
        "premise": premise,
        "hypothesis": hypothesis,
        "present": present,
    }


def test_templates():
    rows = [*judge_pairs.template_pairs(0.02)]
    assert rows == [*judge_pairs.template_pairs(0.02)]
    kinds = {r["kind"] for r in rows}
    assert len(kinds) == 10
    assert not any(set("{}[]") & set(r["premise"] + r["hypothesis"]) for r in rows)
    labels: dict[tuple[str, str], set[bool]] = {}

    for r in rows:
        present = r.get("present") == 1
        labels.setdefault((r["premise"], r["hypothesis"]), set()).add(present)
        if r["hypothesis"] in r["premise"] and "not" not in r["premise"]:
            assert present, r

    assert all(len(both) == 1 for both in labels.values())
    assert 0.4 < sum(True in both for both in labels.values()) / len(labels) < 0.6


def test_contrasts_and_parts():
    texts = judge_pairs.read_texts({"rose_acu": [row(*r) for r in ROSE]})
    sentences = ["Anna Lee hired Oscar Holm on Monday.", "She won 400 dollars."]
    units = [("Anna Lee hired Oscar Holm.", 0), ("Anna Lee won 400 dollars.", 1)]
    assert texts == [(sentences, units)]
    rows = [*judge_pairs.contrast_pairs(texts * 20)]
    changed = {
        r["kind"]: {x["hypothesis"] for x in rows if x["kind"] == r["kind"]}
        for r in rows
    }

    assert "Oscar Holm hired Anna Lee." in changed["swap"]
    assert "Oscar Holm was hired by Anna Lee." in changed["passive"]
    assert "Anna Lee did not hire Oscar Holm." in changed["negate"]

    for r in rows:
        same = r["hypothesis"] in r["premise"] or r["kind"] in ("passive", "natural")
        if r["present"] == 0:
            assert not same, r

    parts = [*judge_pairs.part_pairs(texts)]
    assert {r["present"] for r in parts} == {0, 1}


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
    units = [
        ("Anna Lee bought soup.", 0),
        ("The soup was hot.", 1),
        ("It cost $3m on 3 May.", 2),
    ]
    texts = [([text for text, _ in units], units)] * 30
    rows = [*judge_words.word_pairs(texts, tmp_path)]
    assert rows == [*judge_words.word_pairs(texts, tmp_path)]
    by_kind = {r["kind"]: [x for x in rows if x["kind"] == r["kind"]] for r in rows}
    assert by_kind.keys() == {"synonym", "antonym", "wider", "sister", "spelt"}

    def changed(kind, present):
        several = [r for r in by_kind[kind] if (r.get("present") == 1) == present]
        return {r["hypothesis"] for r in several if r["hypothesis"] not in dict(units)}

    assert changed("synonym", True) == {"Anna Lee purchased soup."}
    assert changed("wider", True) == {"Anna Lee bought meal.", "The meal was hot."}
    assert changed("antonym", False) == {"The soup was cold."}
    assert changed("antonym", True) == {"The soup was cold.", "The soup was not cold."}
    assert {"It cost 3 million dollars on 3 May.", "It cost $3 m on May 3."} == changed(
        "spelt", True
    )
    assert all("million" in x or "$3 m" in x for x in changed("spelt", False))
    numbers = dict(judge_words.spellings("Twelve of 4,000 paid 10%.", random.Random(1)))
    assert {"12 of 4,000 paid 10%.", "Twelve of 4000 paid 10%."} < numbers.keys()
    assert {"Twelve of four thousand paid 10%."} < numbers.keys()


def test_every_pair_counts_once_and_none_of_a_development_set(tmp_path):
    (tmp_path / "presence").mkdir()
    sets = {
        "mnli_dev": [
            row("It rained.", "Rain fell.", 1),
            row("He left.", "He stayed.", 0),
        ],
        "snli_dev_test": [
            row("it rained", "rain fell.", 1),
            row("He left", "he stayed", 1),
        ],
        "fever_nli": [row("It snowed.", "Snow fell.", 1), row("A", "x" * 999, 1)],
        "fever_nli.dev": [row("It snowed.", "Snow fell.", 1)],
    }
    for name, rows in sets.items():
        with gzip.open(tmp_path / "presence" / f"{name}.jsonl.gz", "wt") as file:
            file.write("".join(json.dumps(r) + "\n" for r in rows))

    sizes, tests = judge.prepare(tmp_path, tmp_path / "out", 0.002)
    assert sizes.keys() >= {"mnli_dev", "templates"}
    assert sizes["mnli_dev"] == 1
    assert not {"snli_dev_test", "fever_nli"} & sizes.keys()
    assert {path.name for path in tests} >= {
        "contrast.dev.jsonl",
        "fever_nli.dev.jsonl",
    }


def test_the_weights_of_sets_name_sets_that_may_be_shipped():
    """None holds text of a commercial language model; those that do are for
    experiments."""
    barred = {"summedits", "factscore_facts", "factscore_contrast", "factcg_cg2c_doc"}
    assert not barred & judge.FINAL.keys()
    assert judge.FINAL.keys() - judge.BASE.keys() == {"realsumm"}
    assert all(weight > 0 for weight in judge.FINAL.values())
    with pytest.raises(KeyError):
        judge_pairs.pair("a", "b", "0", "x")["label"]
