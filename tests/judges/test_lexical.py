"""The judges by words, recall and lexical: definitions, published values, evidence,
model files."""

import json
import sys
from fractions import Fraction
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from cases import cases, refused, same
from hypothesis import given, settings
from hypothesis import strategies as st
from running import ROOT

import litepyramid as lp
from litepyramid.errors import ModelError
from litepyramid.files import read_lines
from litepyramid.judges.lexical import features
from litepyramid.judges.lexical import lexical_judge as lexical
from litepyramid.judges.lexical.lexical_judge import (
    fit_lexical,
    load_lexical,
    save_lexical,
)
from litepyramid.judges.registry import judge as make_judge
from litepyramid.training.crossval import cross_validate
from litepyramid.training.pairs import by_summary, labelled_pairs

sys.path.insert(0, str(ROOT / "scripts" / "train"))

_WORDS = """
the a storm Oslo Norway hit two 2 people died not never police U.S. don't said . , ! £5m Norwegian
it him café 1,000 % per cent ' — 漢字 <t>
"""
WORDS = st.sampled_from(_WORDS.split())
TEXT = st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(max_size=40))
ITEMS = st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=5)), max_size=5)
RECALL = make_judge("recall")
JUDGE = make_judge("lexical")


def one(summary: str, unit: str, judge=JUDGE) -> float:
    return judge.judge([(summary, [unit])]).presence[0].item()


SHARES = """
The dogs chased a cat. | A dog was chasing cats. | 1
The dogs chased a cat. | A dog ate the cat.      | 2/3
The dogs chased a cat. | dog dog dog bird        | 1/2
The dogs chased a cat. | It is in the.           | 1/4
The dogs chased a cat. | ?!                      | 0
!                      | !                       | 0
ÇA VA                  | ça                      | 1
"""


@pytest.mark.parametrize(("summary", "unit", "share"), cases(SHARES))
def test_recall_is_the_share_of_distinct_stemmed_content_words(summary, unit, share):
    assert one(summary, unit, RECALL) == pytest.approx(float(Fraction(share)))
    assert one("", unit, RECALL) == 0


def flat(judge, items):
    return np.concatenate(judge.judge(items).presence)


@pytest.mark.slow
def test_recall_has_the_published_values_on_realsumm(realsumm, monkeypatch):
    """Fold means by examples, as in the data's description (its word list is not
    given); there words are compared as they are written, numbers too."""
    monkeypatch.setattr(lexical, "as_read", lambda items, **_: list(items))
    result = cross_validate(lp.load(realsumm), lambda data, fold: RECALL)
    correlations = []
    for kind in product(("system", "summary"), ("pearson", "spearman")):
        correlations.append(result.mean("trained", "lite2", *kind).mean)

    same(result.quality_mean("trained", "auc").mean, 0.821, 0.0006)
    same(result.quality_mean("trained", "brier").mean, 0.191, 0.0011)
    same(correlations, [0.840, 0.828, 0.522, 0.502], 0.007)


@settings(max_examples=25, deadline=None)
@given(items=ITEMS, seed=st.integers(0, 99))
def test_a_pair_is_judged_alike_in_any_company(items, seed):
    """Order of items and units, and what else is judged at once, change nothing."""
    batch = JUDGE.judge(items)
    assert batch.counts["pairs"] == sum(len(units) for _, units in items)
    order = np.random.default_rng(seed).permutation(len(items))
    with patch.object(lexical, "_CHUNK", 2):
        shuffled = JUDGE.judge([(items[i][0], items[i][1][::-1]) for i in order])
    for i, row in zip(order, shuffled.presence, strict=True):
        same(row[::-1], batch.presence[i])

    for (summary, units), row in zip(items, batch.presence, strict=True):
        assert ((row >= 0) & (row <= 1)).all()
        same(row, [one(summary, unit) for unit in units])


# A unit, a summary that holds it, one that does not, and by how much less at least.
HELD = """
A storm hit Norway. | A long day. A storm hit Norway. It rained. | It rained. | .7
The minister resigned. | The minister resigned. | The minister did not resign. | .1
The minister did not resign. | The minister did not resign. | The minister resigned. | .1
No dog barked. It rained | No dog barked. It rained | No dog barked. It never rained | .05
The fire killed 12 men. | The fire killed twelve men in Oslo. | The fire killed 30 men. | .2
A man ran the school. | A man ran the school. A dog slept. | A man slept. A dog ran. It is the school. | .1
"""


@pytest.mark.parametrize(("unit", "more", "less", "by"), cases(HELD))
def test_words_negations_numbers_and_sentences_count(unit, more, less, by):
    assert one(more, unit) > one(less, unit) + float(by)


def test_refit_learns_and_round_trips(tmp_path):
    rng = np.random.default_rng(3)
    items = []
    for _ in range(60):
        nouns = rng.choice(["storm", "ferry", "minister", "school", "fire", "dog"], 4)
        facts = [f"The {noun} was {k}." for k, noun in enumerate(nouns)]
        items.append((" ".join(facts[:2]), facts))
    labels = [[1, 1, 0, 0]] * 60

    model = fit_lexical(items, labels)
    save_lexical(model, tmp_path / "lexical.json")
    assert load_lexical(tmp_path) == model
    assert model.revision != load_lexical().revision
    presence = flat(make_judge(str(tmp_path / "lexical.json")), items)
    assert ((presence > 0.5) == np.concatenate(labels)).mean() > 0.95
    assert fit_lexical(items, labels).weights == model.weights


@pytest.mark.slow
def test_the_shipped_model_is_what_the_training_gives(realsumm):
    from lexical_judge import count_stems

    items, labels = by_summary(labelled_pairs(lp.load(realsumm)))
    shipped = load_lexical()
    counted = count_stems(read_lines(realsumm / "documents.txt"))
    assert counted == shipped.frequencies
    model = fit_lexical(items, labels, frequencies=counted)
    assert model.weights == pytest.approx(shipped.weights, abs=2e-3)
    assert model.bias == pytest.approx(shipped.bias, abs=2e-3)


def test_what_has_no_word_is_counted():
    batch = JUDGE.judge([("A storm hit Oslo.", ["", "No."]), ("  \n", ["Storm."])])
    assert batch.presence[1].tolist() == [0.0]
    assert batch.counts["wordless"] == 2


def test_what_is_too_much_is_refused(monkeypatch):
    long = " ".join(f"w{n}" for n in range(9000))
    for text, units in (
        ("storm " * 10_000, ["storm " * 9000]),
        ("a b " * 10_000, ["cd"] * 99_999),
        ("storm", ["a storm", long]),
    ):
        with refused("too long for the lexical judge"):
            JUDGE.judge([(text, units)])

    monkeypatch.setattr(features, "MOST_ALIKE", 1)
    with refused("spelt alike"):
        JUDGE.judge([("Nepal", ["Nepalese"])])


def test_many_units_are_held_a_few_at_once_with_the_same_features(monkeypatch):
    texts = [
        f"Man {n} had no{'t' * (n % 2)} storm in {n % 7} towns." for n in range(60)
    ]
    items = [
        ("Man 3 had not a storm. It hit 5 towns.", [*texts, ""]),
        ("A man.", texts),
    ]
    whole = JUDGE.judge(items)

    monkeypatch.setattr(lexical, "_CELLS_AT_ONCE", 1000)
    sizes = []
    monkeypatch.setattr(
        lexical,
        "overlap",
        lambda units, text: (
            sizes.append(len(units.words.lengths)) or features.overlap(units, text)
        ),
    )
    some = JUDGE.judge(items)

    assert max(sizes) < 20
    for one, other in zip(whole.presence, some.presence, strict=True):
        assert (one == other).all()


@pytest.mark.parametrize("labels", [[], [[1, 0]], [[2]], [[1]]])
def test_labels_that_do_not_fit(labels):
    with refused("label"):
        fit_lexical([("a storm", ["storm"])], labels)


NO_MODELS = """
{"feature_version": 0}                       | feature version 0
{"weights": {}}                              | lacks weights
{"frequencies": {"texts": 0, "counts": {}}}  | counts no texts
{"frequencies": [1]}                         | not a lexical model
"""


@pytest.mark.parametrize(("change", "says"), cases(NO_MODELS))
def test_files_that_are_no_model(tmp_path, change, says):
    path = tmp_path / "m.json"
    with refused("no such file", ModelError):
        load_lexical(path)

    save_lexical(load_lexical(), path)
    model = json.loads(path.read_text()) | json.loads(change)
    path.write_text(json.dumps(model))
    with refused(says, ModelError):
        load_lexical(path)


SUMMARY = (
    "It rained  all day. In Hull, the firm sold 4,000 jars.\nIt did not sell the shop ."
)


@pytest.mark.parametrize("judge", [RECALL, JUDGE])
def test_evidence_goes_with_the_verdict(judge):
    units = ["The firm sold 400 jars.", "It sold the shop.", "Nobody came.", "?!"]
    items = [(SUMMARY, units), ("", units), (SUMMARY, []), ("?!", units)]

    rows = judge.explain(items)

    presence = [one.presence for row in rows for one in row]
    assert presence == flat(judge, items).tolist()
    first, denied, *_ = rows[0]
    assert (first.sentence, denied.sentence) == (1, 2)
    assert SUMMARY[slice(*first.span)] == "In Hull, the firm sold 4,000 jars."
    assert ("jars", "jars") in first.words
    assert "400" in first.missing
    for one in rows[1]:
        assert (one.sentence, one.words, one.conflict) == (-1, (), "")
    if judge is JUDGE:
        assert first.conflict == "number 400 ≠ 4,000"
        assert denied.conflict.startswith("denied (")


def test_a_judge_without_reasons_shows_its_best_sentence_in_a_table_that_is_not_empty():
    def holds(summary, units):
        return [float(unit in summary) for unit in units]

    result = lp.explain(SUMMARY, ["It rained", "Nobody came."], judge=holds)
    assert [e.sentence for e in result.evidence] == [0, -1]
    assert all(table.rows for table in result.to_tables())
    assert "no sentence of the summary holds it" in result.to_tables()[1].notes


@pytest.mark.parametrize(
    ("summary", "unit"), [("", "a"), ("a", " "), (3, "a"), ("a", [])]
)
def test_nothing_to_explain_is_one_error(summary, unit):
    with refused():
        lp.explain(summary, unit)
