"""The embedded lexical judge: what must hold of any text, and its model file."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import InputError, LitepyramidError, ModelError
from litepyramid.judges.lexical import features
from litepyramid.judges.lexical import lexical_judge as lexical
from litepyramid.judges.lexical.features import Vocabulary
from litepyramid.judges.lexical.lexical_judge import fit_lexical, load_lexical, save_lexical
from litepyramid.judges.registry import judge as make_judge

_WORDS = """
the a storm Oslo Norway hit two 2 people died not never police U.S. don't said . , ! £5m Norwegian
it him café 1,000 % per cent ' — 漢字 <t>
"""
WORDS = st.sampled_from(_WORDS.split())
TEXT = st.one_of(st.lists(WORDS, max_size=25).map(" ".join), st.text(max_size=40))
ITEMS = st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=5)), max_size=5)
JUDGE = make_judge("lexical")


def one(summary: str, unit: str) -> float:
    return JUDGE.judge([(summary, [unit])]).presence[0].item()


@settings(max_examples=25, deadline=None)
@given(items=ITEMS, seed=st.integers(0, 99))
def test_a_pair_is_judged_alike_in_any_company(items, seed):
    """Order of items and units, and what else is judged at once, change nothing."""
    batch = JUDGE.judge(items)
    assert batch.counts["pairs"] == sum(len(units) for _, units in items)
    order = np.random.default_rng(seed).permutation(len(items))
    shuffled = JUDGE.judge([items[i] for i in order]).presence
    for place, i in enumerate(order):
        np.testing.assert_allclose(shuffled[place], batch.presence[i], rtol=0, atol=1e-12)
    for (summary, units), row in zip(items, batch.presence, strict=True):
        assert ((row >= 0) & (row <= 1)).all()
        alone = [one(summary, unit) for unit in units]
        np.testing.assert_allclose(alone, row, rtol=0, atol=1e-12)
        backwards = JUDGE.judge([(summary, units[::-1])]).presence[0][::-1]
        np.testing.assert_allclose(backwards, row, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("unit", "more", "less", "by"),
    [
        ("A storm hit Norway.", "A long day. A storm hit Norway. It rained.", "It rained.", 0.7),
        ("The minister resigned.", "The minister resigned.", "The minister did not resign.", 0.1),
        ("The minister did not resign.", "The minister did not resign.", "The minister resigned.",
         0.1),
        ("The fire killed 12 people.", "The fire killed twelve people in Oslo.",
         "The fire killed 30 people in Oslo.", 0.2),
        ("The minister opened the school.", "The minister opened the school. A dog slept here.",
         "The minister slept. A dog opened the gate. The school was here.", 0.1),
    ],
)  # fmt: skip
def test_words_negations_numbers_and_sentences_count(unit, more, less, by):
    assert one(more, unit) > one(less, unit) + by


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
    path = tmp_path / "lexical.json"
    save_lexical(model, path)
    assert load_lexical(path) == model
    assert load_lexical(tmp_path).revision == model.revision != load_lexical().revision
    presence = np.concatenate(make_judge(str(path)).judge(items).presence)
    assert ((presence > 0.5) == np.concatenate(labels)).mean() > 0.95
    assert fit_lexical(items, labels).weights == model.weights


@pytest.mark.parametrize("labels", [[], [[1, 0]], [[2]], [[1]]])
def test_labels_that_do_not_fit(labels):
    with pytest.raises(InputError, match="label"):
        fit_lexical([("a storm", ["storm"])], labels)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "other"}, "not a lexical model"),
        ({"feature_version": 0}, "feature version 0"),
        ({"weights": {}}, "not a lexical model"),
        ({"bias": float("nan")}, "finite number"),
        ({"texts": 0}, "counts no texts"),
        ({"frequencies": {"-1": "a"}}, "counts no texts"),
        ({"frequencies": {"9" * 5000: "a"}}, "counts no texts"),
        ({"frequencies": [1]}, "not a lexical model"),
        ("[]", "not a lexical model"),
        ("{", "not valid JSON"),
        (None, "no such file"),
    ],
)
def test_files_that_are_no_model(tmp_path, change, says):
    path = tmp_path / "m.json"
    if isinstance(change, dict):
        save_lexical(load_lexical(), path)
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    elif change:
        path.write_text(change)
    with pytest.raises(ModelError if change else LitepyramidError, match=says):
        load_lexical(path)


def test_chunks_change_nothing_and_too_many_words_alike_are_refused(monkeypatch):
    units = [f"Storm {i} hit Oslo and the bridge fell." for i in range(40)] + ["", "No."]
    items = [("A storm hit Oslo. Not one bridge fell.", units), ("It rained.", units[:3])] * 3
    whole = JUDGE.judge([*items, ("  \n", ["A storm hit."])])
    assert whole.presence[-1].tolist() == [0.0]
    assert whole.counts["wordless"] == 4
    monkeypatch.setattr(lexical, "_CHUNK", 2)
    chunks = JUDGE.judge(items)
    assert all(map(np.array_equal, whole.presence, chunks.presence))
    monkeypatch.setattr(features, "MOST_ALIKE", 1)
    with pytest.raises(InputError, match="spelt alike"):
        JUDGE.judge([("Nepal", ["Nepalese"])])


def test_what_is_too_long_is_said_before_the_work():
    for summary, units in (("storm " * 9000, ["storm " * 9000]), ("a b " * 10**5, ["cd"] * 9999)):
        with pytest.raises(InputError, match="too long for the lexical judge"):
            JUDGE.judge([(summary, units)])


def test_a_negation_reaches_within_its_own_sentence_alone():
    words = Vocabulary()
    negated = words.encode("No dog barked at us. Not so. It rained").negated
    assert np.flatnonzero(negated).tolist() == [1, 2, 6]
