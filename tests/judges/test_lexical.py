"""The embedded lexical judge: what must hold of any text, and its model file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import InputError, LitepyramidError, ModelError
from litepyramid.judges.lexical import lexical_judge as lexical
from litepyramid.judges.lexical import vocabulary
from litepyramid.judges.lexical.lexical_judge import (
    FEATURES,
    LexicalJudge,
    fit_lexical,
    load_lexical,
    save_lexical,
)
from litepyramid.judges.lexical.vocabulary import Vocabulary
from litepyramid.judges.registry import judge as make_judge

SUMMARY = (
    "A storm hit the coast of Norway on Monday . Two people died in Oslo , police said . "
    "The government did not ask for help ."
)
_WORDS = """
the a storm Oslo Norway hit two 2 people died not never police U.S. don't said . , ! £5m Norwegian
it him café 1,000 % per cent ' — 漢字 <t>
"""
WORDS = st.sampled_from(_WORDS.split())
TEXT = st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(max_size=40))
ITEMS = st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=5)), max_size=5)


@pytest.fixture(scope="module")
def judge() -> LexicalJudge:
    return LexicalJudge(load_lexical())


def one(judge: LexicalJudge, summary: str, *units: str) -> list[float]:
    return judge.judge([(summary, units)]).presence[0].tolist()


@settings(max_examples=30, deadline=None)
@given(items=ITEMS)
def test_presence_is_a_probability_of_every_unit(items):
    batch = LexicalJudge(load_lexical()).judge(items)
    assert [len(row) for row in batch.presence] == [len(units) for _, units in items]
    for row in batch.presence:
        assert ((row >= 0) & (row <= 1)).all()
    assert batch.counts["pairs"] == sum(len(units) for _, units in items)


@settings(max_examples=15, deadline=None)
@given(items=ITEMS, seed=st.integers(0, 99))
def test_a_pair_is_judged_alike_in_any_company(items, seed):
    """Order of items and units, and what else is judged at once, change nothing."""
    judge = LexicalJudge(load_lexical())
    together = judge.judge(items).presence
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(items))
    shuffled = judge.judge([items[i] for i in order]).presence
    for place, i in enumerate(order):
        np.testing.assert_allclose(shuffled[place], together[i], rtol=0, atol=1e-12)
    for (summary, units), row in zip(items, together, strict=True):
        alone = [judge.judge([(summary, [unit])]).presence[0][0] for unit in units]
        np.testing.assert_allclose(alone, row, rtol=0, atol=1e-12)
        backwards = judge.judge([(summary, units[::-1])]).presence[0][::-1]
        np.testing.assert_allclose(backwards, row, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "unit", ["A storm hit the coast of Norway.", "The government did not ask for help."]
)
def test_a_fact_said_in_the_same_words_is_present(judge, unit):
    summary = f"It was a long day. {unit} Trains were late."
    assert one(judge, summary, unit)[0] > 0.85
    assert one(judge, "Trains were late. It was a long day.", unit)[0] < 0.15


def test_an_empty_summary_carries_nothing(judge):
    batch = judge.judge([("", ["A storm hit.", "It rained."]), ("  \n", ["A storm hit."])])
    assert [row.tolist() for row in batch.presence] == [[0.0, 0.0], [0.0]]
    assert batch.counts == {"pairs": 3, "wordless": 3}


def test_negation_mismatch_lowers_presence(judge):
    plain, negated = "The minister resigned on Monday.", "The minister did not resign on Monday."
    for unit, other in ((plain, negated), (negated, plain)):
        assert one(judge, unit, unit)[0] > one(judge, other, unit)[0] + 0.1


def test_a_wrong_number_lowers_presence(judge):
    unit = "The fire killed 12 people."
    right, words, wrong = (
        one(judge, f"On Monday the fire killed {n} people in Oslo.", unit)[0]
        for n in ("12", "twelve", "30")
    )
    assert right == pytest.approx(words)
    assert wrong < right - 0.2


def test_words_of_one_sentence_count_more_than_scattered_ones(judge):
    unit = "The minister opened the school."
    near = one(judge, "The minister opened the school. A dog slept in the park.", unit)[0]
    far = one(judge, "The minister slept. A dog opened the gate. The school was in a park.", unit)
    assert near > far[0] + 0.1


def test_weights_keep_their_signs():
    model = load_lexical()
    assert list(model.weights) == list(FEATURES)
    for name, (sign, _) in FEATURES.items():
        assert model.weights[name] * sign >= 0, name


def test_refit_learns_and_round_trips(tmp_path):
    rng = np.random.default_rng(3)
    nouns = ["storm", "ferry", "minister", "school", "fire", "dog", "bank", "train"]
    verbs = ["opened", "closed", "burned", "sank", "won", "lost"]
    items, labels = [], []
    for _ in range(60):
        facts = [f"The {rng.choice(nouns)} {rng.choice(verbs)} {k}." for k in range(4)]
        items.append((" ".join(facts[:2]), facts))
        labels.append([1, 1, 0, 0])
    model = fit_lexical(items, labels, about={"labels": "made here"})
    presence = np.concatenate(LexicalJudge(model).judge(items).presence)
    assert ((presence > 0.5) == np.concatenate(labels)).mean() > 0.95
    assert fit_lexical(items, labels).weights == model.weights
    path = tmp_path / "lexical.json"
    save_lexical(model, path)
    assert load_lexical(path) == model
    assert load_lexical(tmp_path).revision == model.revision != load_lexical().revision
    again = make_judge(str(path)).judge(items).presence
    np.testing.assert_array_equal(np.concatenate(again), presence)


@pytest.mark.parametrize("labels", [[], [[1, 0]], [[2]], [[1]]])
def test_labels_that_do_not_fit(labels):
    with pytest.raises(InputError, match="label"):
        fit_lexical([("a storm", ["storm"])], labels)


def test_files_that_are_no_model(tmp_path):
    path = tmp_path / "m.json"
    with pytest.raises(LitepyramidError, match="no such file"):
        load_lexical(path)
    save_lexical(load_lexical(), path)
    document = json.loads(path.read_text())
    for change, message in (
        ({"format": "other"}, "not a lexical model"),
        ({"feature_version": 0}, "feature version 0"),
        ({"weights": {}}, "not a lexical model"),
        ({"bias": float("nan")}, "finite number"),
        ({"texts": 0}, "counts no texts"),
        ({"frequencies": {"-1": "a"}}, "counts no texts"),
        ({"frequencies": [1]}, "not a lexical model"),
    ):
        path.write_text(json.dumps({**document, **change}))
        with pytest.raises(ModelError, match=message):
            load_lexical(path)
    for text in ("", "[]", "{"):
        path.write_text(text)
        with pytest.raises(ModelError, match=r"not valid JSON|not a lexical model"):
            load_lexical(path)


def test_chunks_change_nothing_and_too_many_words_alike_are_refused(judge, monkeypatch):
    units = [f"Storm {i} hit Oslo and the bridge fell." for i in range(40)] + ["", "No."]
    items = [("A storm hit Oslo. Not one bridge fell.", units), ("It rained.", units[:3])] * 3
    whole = judge.judge(items)
    monkeypatch.setattr(lexical, "_CHUNK", 2)
    chunks = judge.judge(items)
    assert all(map(np.array_equal, whole.presence, chunks.presence))
    monkeypatch.setattr(vocabulary, "MOST_ALIKE", 1)
    with pytest.raises(InputError, match="spelt alike"):
        judge.judge([("Nepal", ["Nepalese"])])


def test_what_is_too_long_is_said_before_the_work(judge):
    for summary, units in (("storm " * 9000, ["storm " * 9000]), ("a b " * 10**5, ["cd"] * 9999)):
        with pytest.raises(InputError, match="too long for the lexical judge"):
            judge.judge([(summary, units)])


def test_a_negation_reaches_within_its_own_sentence_alone():
    words = Vocabulary()
    negated = words.encode("No dog barked at us. Not so. It rained").negated
    assert np.flatnonzero(negated).tolist() == [1, 2, 6]
