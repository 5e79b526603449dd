"""Every input of each verb changes its numbers exactly when it changes its
signature."""

import json
from copy import deepcopy
from dataclasses import astuple, replace
from functools import cache

import numpy as np
import pytest
from cases import DATA, cases
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.data.scores import Scores
from litepyramid.tables import plain

SMALL = json.loads((DATA / "scores" / "small.json").read_text())


def data(**changes):
    return lp.load(**SMALL | changes)


def first_unit(**changes):
    units = deepcopy(SMALL["units"])
    units["a"][0] |= changes
    return data(units=units)


def first_of_one(name, value):
    """Data that differ in what is said of the first input of a system."""
    sources = deepcopy(SMALL[name])
    sources["one"]["a"] = value
    return data(**{name: sources})


UNCHANGED = data()
OPTIONS = {"judge": "recall", "samples": 60}
OTHER_DATA = {
    "summary": first_of_one("data", "Oslo."),
    "unit": first_unit(text="two x"),
    "weight": first_unit(weight=7.0),
    "label": first_of_one("labels", [0, 0]),
}
OTHER_OPTIONS = cases("""
    judge      | "lexical"
    rule       | "modified-2"
    rule       | "sample-1"
    samples    | 61
    seed       | 5
    confidence | 0.9
""")
SAME = {
    "name": data(name="other"),
    "references": data(references=dict.fromkeys("abcd", "x")),
}


def numbers(result):
    """All numbers of a result."""
    numbers = (result.values, result.human, result.intervals)
    return json.dumps(plain(numbers))


@cache
def scored():
    return lp.score(UNCHANGED, **OPTIONS)


def check(result, same):
    """All numbers are the same, and so is the signature; or neither."""
    assert (numbers(result) == numbers(scored())) == same
    assert (result.signature == scored().signature) == same


@pytest.mark.parametrize("name", [*OTHER_DATA, *SAME])
def test_data_that_change_a_number_change_the_signature_and_others_do_not(name):
    result = lp.score((OTHER_DATA | SAME)[name], **OPTIONS)
    check(result, same=name in SAME)


@pytest.mark.parametrize(("option", "value"), OTHER_OPTIONS)
def test_options_that_change_a_number_change_the_signature(option, value):
    check(lp.score(UNCHANGED, **OPTIONS | {option: json.loads(value)}), same=False)
    check(lp.score(UNCHANGED, **OPTIONS, evidence=True), same=True)


def test_presence_counts_by_its_values_not_its_form(tmp_path):
    result = scored()
    path = tmp_path / "p.json.gz"
    result.save(path)
    values = np.where(result.presence > 0.9, 0.5, result.presence)
    other = replace(result.facts, values=values)

    signatures = []
    for presence in (result, path, replace(result, facts=other)):
        signatures.append(lp.score(presence=presence, samples=60).signature)

    assert signatures[0] == signatures[1] != signatures[2]


SCORES = np.round(np.random.default_rng(3).random((4, 8)), 2)
HUMAN = np.where(np.isin(np.arange(8), (0, 2, 3, 5, 7)), SCORES + 0.1, np.nan)
VERBS = {lp.compare: {"samples": 60}, lp.combine: {}}


def called(verb, scores, **options):
    """What a verb says of a metric's scores, and of people's if it takes them."""
    table = Scores.of({"m": scores, "human": HUMAN}, "abcd", "12345678")
    return verb(table, **VERBS[verb] | options)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 3), st.integers(0, 7), st.floats(0, 1))
def test_compare_and_combine_name_each_score(system, cell, value):
    other = SCORES.copy()
    other[system, cell] = value
    equal = value == SCORES[system, cell]
    for verb in VERBS:
        one, changed = called(verb, SCORES), called(verb, other)
        assert (changed.signature == one.signature) == equal
        assert (plain(changed.to_json()) == plain(one.to_json())) == equal


@pytest.mark.parametrize(
    ("verb", "option", "value"),
    cases("""
        compare | seed       | 1
        compare | samples    | 61
        compare | confidence | 0.9
        compare | against    | "b"
        combine | confidence | 0.9
        combine | target     | "population"
    """),
)
def test_options_of_compare_and_combine_change_numbers_and_signature(
    verb, option, value
):
    verb = getattr(lp, verb)
    base = called(verb, SCORES)
    changed = called(verb, SCORES, **{option: json.loads(value)})
    assert changed.signature != base.signature
    assert [astuple(p) for p in changed.pairs] != [astuple(p) for p in base.pairs]


def test_precision_names_its_sources():
    texts = {"a": ["It rained. We left."], "b": ["It rained."]}
    options = {"references": ["It rained. He slept."], **OPTIONS}
    base = lp.precision(texts, **options)
    recall = lp.score(texts, [["It rained."]], **OPTIONS)
    for data, more in (
        ({**texts, "b": ["He slept."]}, {}),
        (texts, {"references": ["It rained. We left."]}),
        (texts, {"judge": "lexical"}),
        (texts, {"seed": 3}),
        (texts, {"confidence": 0.9}),
        (texts, {"recall": recall}),
    ):
        assert lp.precision(data, **{**options, **more}).signature != base.signature
