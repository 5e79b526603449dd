"""Every input of each verb changes its numbers exactly when it changes its
signature."""

import json
from dataclasses import astuple, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.io.dataset import Dataset
from litepyramid.tables import plain
from litepyramid.types import (
    InputReferences,
    InputUnits,
    SystemLabels,
    SystemSummaries,
    Unit,
)

WORDS = ["Oslo", "storm", "two", "died", "bridge", "closed"]
UNITS = [
    InputUnits(
        name, (Unit(f"{WORDS[n]} {WORDS[n + 1]}", 1 + n), Unit(f"{WORDS[n + 2]} x"))
    )
    for n, name in enumerate("abcd")
]
TEXTS = {
    "one": ["Oslo storm.", "storm two.", "two x.", "x y."],
    "two": ["Oslo.", "died x.", "two died bridge x.", "closed x died."],
}
LABELS = {
    "one": [(1, 0), (1, 1), (0.5, 0), (0, 0)],
    "two": [(0, 0), (0, 1), (1, 1), (1, 0)],
}


def data(texts=TEXTS, units=UNITS, labels=LABELS, order=(0, 1, 2, 3), **more):
    def row(own):
        return tuple(own[i] for i in order)

    inputs = row("abcd")
    return Dataset(
        **{"name": "own", "scus": row(units)} | more,
        summaries=tuple(
            SystemSummaries(name, inputs, row(own)) for name, own in texts.items()
        ),
        labels=tuple(
            SystemLabels(name, inputs, row(own)) for name, own in labels.items()
        ),
    )


def first_unit(**changes):
    units = (replace(UNITS[0].units[0], **changes), UNITS[0].units[1])
    return data(units=[InputUnits("a", units), *UNITS[1:]])


DATA = data()
OPTIONS = {"judge": "recall", "samples": 60}
CHANGES = {
    "summary": (
        data(TEXTS | {"one": ["Oslo storm.", "storm two died.", "two x.", "x y."]}),
        {},
    ),
    "unit": (first_unit(text="two x"), {}),
    "weight": (first_unit(weight=7.0), {}),
    "label": (data(labels=LABELS | {"one": [(0, 0), *LABELS["one"][1:]]}), {}),
    "judge": (DATA, {"judge": "lexical"}),
    "rule": (DATA, {"rule": "modified-2"}),
    "sample": (DATA, {"rule": "sample-1"}),
    "samples": (DATA, {"samples": 61}),
    "seed": (DATA, {"seed": 5}),
    "confidence": (DATA, {"confidence": 0.9}),
}
SAME = {
    "order": (data(dict(reversed(TEXTS.items())), order=(2, 0, 3, 1)), {}),
    "evidence": (DATA, {"evidence": True}),
    "name": (data(name="other"), {}),
    "references": (
        data(references=[InputReferences(i, (("x",),), (True,)) for i in "abcd"]),
        {},
    ),
}


def numbers(result):
    """All numbers of a result, by system and input."""
    values = [dict(zip(result.inputs, row, strict=True)) for row in result.values]
    human = [dict(zip(result.inputs, row, strict=True)) for row in result.human]
    rows = zip(
        result.systems,
        values,
        human,
        result.intervals,
        strict=True,
    )
    return {name: json.dumps(plain(own), sort_keys=True) for name, *own in rows}


@cache
def scored():
    return lp.score(DATA, **OPTIONS)


@pytest.mark.parametrize("name", [*CHANGES, *SAME])
def test_what_changes_a_number_changes_the_signature_and_nothing_else_does(name):
    base, (data, options) = scored(), (CHANGES | SAME)[name]
    other = lp.score(data, **{**OPTIONS, **options})
    assert (numbers(other) == numbers(base)) == (name in SAME)
    assert (other.signature == base.signature) == (name in SAME)


def test_presence_counts_by_its_values_not_its_form(tmp_path):
    result = scored()
    signatures = set()
    for name in ("p.json", "p.json.gz"):
        result.save(tmp_path / name)
        signatures.add(str(lp.score(presence=tmp_path / name, samples=60).signature))

    changed = replace(
        result, presence=np.where(result.presence > 0.9, 0.5, result.presence)
    )
    changed.save(tmp_path / "p.json")
    assert len(signatures) == 1
    assert (
        str(lp.score(presence=tmp_path / "p.json", samples=60).signature)
        not in signatures
    )


def rows(scores, human, order=None):
    """A table of four systems, eight inputs, the metric m and people."""
    table = [
        {
            "system": f"s{n}",
            "input": m,
            "metric": name,
            "score": float(values[n, m]),
        }
        for name, values in (("m", scores), ("human", human))
        for n in range(4)
        for m in range(8)
        if not np.isnan(values[n, m])
    ]
    return order.sample(table, len(table)) if order else table


SCORES = np.round(np.random.default_rng(3).random((4, 8)), 2)
HUMAN = np.where(
    np.isin(np.arange(8), (0, 2, 3, 5, 7)), np.round(SCORES + 0.1, 2), np.nan
)


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 3),
    st.integers(0, 7),
    st.floats(0, 1),
    st.randoms(use_true_random=False),
)
def test_compare_and_combine_name_each_score(system, cell, value, random):
    other = SCORES.copy()
    other[system, cell] = value
    for verb, options in (
        (lp.compare, {"metric": "m", "samples": 60}),
        (lp.combine, {}),
    ):
        tables = (rows(scores, HUMAN, random) for scores in (SCORES, SCORES, other))
        one, same, changed = (verb(table, **options) for table in tables)
        assert plain(one.to_json()) == plain(same.to_json())
        equal = value == SCORES[system, cell]
        assert (changed.signature == one.signature) == equal
        assert (plain(changed.to_json()) == plain(one.to_json())) == equal


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        (lp.compare, {"seed": 1}),
        (lp.compare, {"samples": 61}),
        (lp.compare, {"confidence": 0.9}),
        (lp.compare, {"against": "s1"}),
        (lp.combine, {"confidence": 0.9}),
        (lp.combine, {"target": "population"}),
    ],
)
def test_options_of_compare_and_combine_change_numbers_and_signature(verb, options):
    fixed = {"metric": "m", **({"samples": 60} if verb is lp.compare else {})}
    table = rows(SCORES, HUMAN)
    base = verb(table, **fixed)
    changed = verb(table, **{**fixed, **options})
    assert changed.signature != base.signature
    assert [astuple(p) for p in changed.pairs] != [astuple(p) for p in base.pairs]


def test_precision_names_its_sources():
    texts = {"a": ["It rained. We left."], "b": ["It rained."]}
    options = {
        "references": ["It rained. He slept."],
        "judge": "recall",
        "samples": 60,
    }
    base = lp.precision(texts, **options)
    assert (
        lp.precision(dict(reversed(texts.items())), **options).signature
        == base.signature
    )

    for data, more in (
        ({**texts, "b": ["He slept."]}, {}),
        (texts, {"references": ["It rained. We left."]}),
        (texts, {"judge": "lexical"}),
        (texts, {"seed": 3}),
        (texts, {"confidence": 0.9}),
        (
            texts,
            {"recall": lp.score(texts, [["It rained."]], judge="recall", samples=60)},
        ),
    ):
        assert lp.precision(data, **{**options, **more}).signature != base.signature
