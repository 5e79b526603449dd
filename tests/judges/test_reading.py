"""The reading judge: what it tells apart, and that nothing but the pair counts."""

from __future__ import annotations

import gzip
from importlib.resources import files

import numpy as np
import pytest

from litepyramid.embedded.example import load_example
from litepyramid.errors import InputError, ModelError
from litepyramid.judges.reading import judge as module
from litepyramid.judges.reading.compare import CONFLICTS
from litepyramid.judges.reading.judge import (
    FEATURES,
    WORDS,
    ReadingJudge,
    fit_reading,
    load_reading,
    reading_features,
    save_reading,
)
from litepyramid.judges.reading.lexicon import load_lexicon
from litepyramid.judges.registry import make_judge
from litepyramid.training.contrast import evaluate_contrast, load_contrast


@pytest.fixture(scope="module")
def judge():
    return ReadingJudge(load_reading())


@pytest.mark.parametrize(
    ("summary", "unit", "conflict"),
    [
        ("The council did not sell the park.", "The council sold the park.", "denied"),
        ("The council failed to sell the park.", "The council sold the park.", "denied"),
        ("The park is no longer used.", "The park is used.", "denied"),
        ("Instead of selling the park, Hull let it.", "Hull sold the park.", "denied"),
        ("Leeds beat Hull.", "Hull beat Leeds.", "subject and object swapped"),
        ("Ann Lee was praised by Bob Day.", "Ann Lee praised Bob Day.", "subject and object"),
        ("The council may sell the park.", "The council sold the park.", "hedged"),
        ("The council will sell the park if it rains.", "The council sold the park.", "hedged"),
        ("The firm allegedly sold the park.", "The firm sold the park.", "hedged"),
        ("The firm is said to have sold the park.", "The firm sold the park.", "hedged"),
        ("It was reported that the firm sold the park.", "The firm sold the park.", "hedged"),
        ("Ann believes that Bob sold the park.", "Bob sold the park.", "hedged"),
        ("If the council agrees, the park will be sold.", "The council agreed.", "hedged"),
        ("The firm sold 4,000 jars.", "The firm sold 400 jars.", "number 400 ≠ 4,000"),
        ("The vote was held in May.", "The vote was held in June.", "value June ≠ May"),
        ("The court acquitted the mayor.", "The court convicted the mayor.", "opposite"),
        ("Some pupils passed the test.", "All pupils passed the test.", "amount all ≠ some"),
    ],
)
def test_conflicts(judge, summary, unit, conflict):
    assert judge.explain([(summary, [unit])])[0][0].conflict.startswith(conflict)
    true, false = judge.judge([(summary, [summary, unit])]).presence[0]
    assert true > 0.5 > false
    assert judge.explain([(summary, [summary])])[0][0].conflict == ""


@pytest.mark.parametrize(
    ("summary", "unit"),
    [
        ("Bob Day was praised by Ann Lee.", "Ann Lee praised Bob Day."),
        ("Leeds beat Hull.", "Hull lost to Leeds."),
        ("The firm sold twelve jars.", "The firm sold 12 jars."),
        ("The firm managed to sell the park.", "The firm sold the park."),
        ("The firm, which may move, sold the park.", "The firm sold the park."),
        ("The firm may sell the park.", "The firm might sell the park."),
        ("The firm could not sell the park.", "The firm did not sell the park."),
        ("The court did not acquit the mayor.", "The court did not acquit the mayor."),
    ],
)
def test_what_is_no_conflict(judge, summary, unit):
    assert judge.explain([(summary, [unit])])[0][0].conflict == ""


@pytest.mark.parametrize(
    ("summary", "true", "false", "conflict"),
    [
        (
            "The cellist grew up in Lviv and studied in Leipzig.",
            "The cellist studied in Leipzig.",
            "The cellist studied in Lviv.",
            "another name Lviv ≠ Leipzig",
        ),
        (
            "After the guests had left, the hosts washed the floors.",
            "The hosts washed the floors.",
            "The guests washed the floors.",
            "said of something else: guests ≠ hosts",
        ),
    ],
)
def test_what_is_said_of_another(judge, summary, true, false, conflict):
    ((one, other),) = judge.explain([(summary, [true, false])])
    assert (one.conflict, other.conflict) == ("", conflict)
    assert one.presence > other.presence + 0.03


def test_the_contrast_set(judge):
    """Chosen with the first half in sight; the second half was not read."""
    result = evaluate_contrast(judge)
    assert result.auc >= 0.75
    assert result.brier <= 0.23
    found = {entry.name: entry.accuracy for entry in result.phenomena}
    assert found["negation"] >= 0.85
    assert found["number"] >= 0.85
    assert found["hedge"] >= 0.85
    assert found["roles"] >= 0.5
    assert result.auc > evaluate_contrast(make_judge("lexical")).auc + 0.1
    assert sum(entry.pairs for entry in result.phenomena) == result.all.pairs == 824


def test_contrast_pairs_are_well_formed():
    pairs = load_contrast()
    assert len({pair.id for pair in pairs}) == len(pairs)
    assert len({(pair.summary, pair.unit) for pair in pairs}) == len(pairs)
    kinds = {pair.phenomenon for pair in pairs}
    assert all({p.label for p in pairs if p.phenomenon == kind} == {0, 1} for kind in kinds)
    assert {pair.summary for pair in pairs if pair.id.startswith("dev")}.isdisjoint(
        pair.summary for pair in pairs if pair.id.startswith("test")
    )


def test_the_example(judge):
    example = load_example()
    units = {entry.input: entry.texts for entry in example.scus}
    names = [entry.input for entry in example.scus]
    mean = {
        system.system: np.mean(
            [
                row.mean()
                for row in judge.judge(
                    [(text, units[name]) for name, text in zip(names, system.texts, strict=True)]
                ).presence
            ]
        )
        for system in example.summaries
    }
    assert mean["abstractive"] > mean["swapped"] + 0.08
    assert mean["lead"] > mean["swapped"] > mean["offtopic"]


def test_only_the_pair_counts(judge, monkeypatch):
    pairs = load_contrast()[::9]
    items = [(pair.summary, [pair.unit]) for pair in pairs]
    together = np.concatenate(judge.judge(items).presence)
    alone = [judge.judge([item]).presence[0][0] for item in items]
    assert together.tolist() == alone
    monkeypatch.setattr(module, "_PART", 20)
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: {0, 1})
    parted = np.concatenate(judge.judge(items[::-1]).presence)[::-1]
    assert parted.tolist() == alone


def test_edges(judge):
    units = ["A storm hit Oslo.", "?!", "", "He was there."]
    batch = judge.judge([("", units), ("?!", units), ("He was there.", units), ("Oslo.", [])])
    assert batch.counts == {"pairs": 12, "wordless": 10}
    assert not np.concatenate(batch.presence[:2]).any()
    assert batch.presence[2][3] > 0.5
    assert judge.judge([]).presence == ()
    long = "The dog " + "and the cat " * 3000 + "slept."
    assert 0 <= judge.judge([(long, ["The dog slept."])]).presence[0][0] <= 1


def test_weights_keep_their_signs_and_words_are_refitted(judge, tmp_path):
    model = judge.model
    assert list(model.weights) == list(FEATURES)
    assert all(model.weights[name] <= 0 for name in CONFLICTS)
    summary = "A storm hit Oslo. Two people died."
    items = [(summary, ["A storm hit Oslo.", "The ferry sank."])] * 9
    fitted = fit_reading(items, [[1, 0]] * 9, about={"labels": "made here"})
    assert [fitted.weights[name] for name in CONFLICTS] == [model.weights[n] for n in CONFLICTS]
    assert [fitted.weights[name] for name in WORDS] != [model.weights[n] for n in WORDS]
    save_reading(fitted, tmp_path / "reading.json")
    assert load_reading(tmp_path) == fitted
    assert make_judge(str(tmp_path)) == ReadingJudge(fitted)
    with pytest.raises(InputError, match="all the same"):
        fit_reading(items, [[1, 1]] * 9)
    (tmp_path / "reading.json").write_text("{}")
    with pytest.raises(ModelError, match="not a reading model"):
        load_reading(tmp_path)


def test_features_are_shares(judge):
    items = [(pair.summary, [pair.unit]) for pair in load_contrast()[:60]]
    rows = np.concatenate(reading_features(items, judge.model.frequencies))
    assert rows.shape == (60, len(FEATURES))
    assert rows.min() >= 0
    assert rows.max() <= 1 + 1e-9


def test_the_lexicon_ships_with_its_licence():
    lexicon = load_lexicon()
    assert all((b, a) in lexicon.opposites for a, b in lexicon.opposites)
    assert lexicon.converses <= lexicon.opposites
    folder = files("litepyramid.judges.reading")
    assert "Princeton University" in (folder / "WORDNET.txt").read_text(encoding="utf-8")
    assert len(gzip.decompress((folder / "synonyms.txt.gz").read_bytes())) < 1_000_000
