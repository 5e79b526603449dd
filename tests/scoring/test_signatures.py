"""Every input of each verb changes its numbers exactly when it changes its signature."""

from __future__ import annotations

from dataclasses import astuple, replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.io.dataset import Dataset
from litepyramid.tables import plain
from litepyramid.types import InputReferences, InputUnits, SystemLabels, SystemSummaries, Unit

INPUTS = ("a", "b", "c", "d")
WORDS = ["Oslo", "storm", "two", "died", "bridge", "closed"]
UNITS = tuple(
    InputUnits(name, (Unit(f"{WORDS[n]} {WORDS[n + 1]}", 1 + n), Unit(f"{WORDS[n + 2]} x")))
    for n, name in enumerate(INPUTS)
)
SUMMARIES = (
    SystemSummaries("one", INPUTS, ("Oslo storm.", "storm two.", "two x.", "x y.")),
    SystemSummaries("two", INPUTS, ("Oslo.", "died x.", "two died bridge x.", "closed x died.")),
)
LABELS = (
    SystemLabels("one", INPUTS, ((1, 0), (1, 1), (0.5, 0), (0, 0))),
    SystemLabels("two", INPUTS, ((0, 0), (0, 1), (1, 1), (1, 0))),
)
DATA = Dataset("own", scus=UNITS, summaries=SUMMARIES, labels=LABELS)
OPTIONS = {"judge": "recall", "samples": 60}


def numbers(result):
    """All numbers of a result, by system and input."""
    rows = [
        (system, name, value, human)
        for system, values, people in zip(result.systems, result.values, result.human, strict=True)
        for name, value, human in zip(result.inputs, values, people, strict=True)
    ]
    ends = sorted(zip(result.systems, result.intervals, strict=True))
    return [np.round(x, 12) if isinstance(x, float) else x for r in sorted(rows) for x in r] + ends


def text(n, m, new):
    texts = list(SUMMARIES[n].texts)
    texts[m] = new
    rows = list(SUMMARIES)
    rows[n] = replace(rows[n], texts=tuple(texts))
    return replace(DATA, summaries=tuple(rows))


def reordered(systems, inputs):
    names = tuple(INPUTS[i] for i in inputs)

    def row(own):
        return tuple(own[i] for i in inputs)

    return Dataset(
        "own",
        scus=row(UNITS),
        summaries=tuple(
            SystemSummaries(SUMMARIES[n].system, names, row(SUMMARIES[n].texts)) for n in systems
        ),
        labels=tuple(
            SystemLabels(LABELS[n].system, names, row(LABELS[n].labels)) for n in systems[::-1]
        ),
    )


CHANGES = {
    "summary": (text(0, 1, "storm two died."), {}),
    "unit": (replace(DATA, scus=(InputUnits("a", (Unit("two x"), UNITS[0].units[1])), *UNITS[1:])),
             {}),
    "weight": (replace(DATA, scus=(InputUnits("a", (replace(UNITS[0].units[0], weight=7.0),
                                                    UNITS[0].units[1])), *UNITS[1:])), {}),
    "label": (replace(DATA, labels=(replace(LABELS[0], labels=((0, 0), *LABELS[0].labels[1:])),
                                    LABELS[1])), {}),
    "judge": (DATA, {"judge": "lexical"}),
    "rule": (DATA, {"rule": "modified-2"}),
    "sample": (DATA, {"rule": "sample-1"}),
    "samples": (DATA, {"samples": 61}),
    "seed": (DATA, {"seed": 5}),
    "confidence": (DATA, {"confidence": 0.9}),
}  # fmt: skip
REFERENCES = tuple(InputReferences(i, (("x",),), (True,)) for i in INPUTS)
SAME = {
    "order": (reordered((1, 0), (2, 0, 3, 1)), {}),
    "evidence": (DATA, {"evidence": True}),
    "name": (replace(DATA, name="other"), {}),
    "references": (replace(DATA, references=REFERENCES), {}),
}


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
    result = lp.score(DATA, **OPTIONS)
    signatures = set()
    for name in ("p.json", "p.npz"):
        result.save(tmp_path / name)
        signatures.add(str(lp.score(presence=tmp_path / name, samples=60).signature))
    changed = replace(result, presence=np.where(result.presence > 0.9, 0.5, result.presence))
    changed.save(tmp_path / "p.json")
    assert len(signatures) == 1
    assert str(lp.score(presence=tmp_path / "p.json", samples=60).signature) not in signatures


def rows(scores, human, order=None):
    """A table of four systems, eight inputs, the metric m and people."""
    table = [
        {"system": f"s{n}", "input": m, "metric": name, "score": float(values[n, m])}
        for name, values in (("m", scores), ("human", human))
        for n in range(4)
        for m in range(8)
        if not np.isnan(values[n, m])
    ]
    return order.sample(table, len(table)) if order else table


SCORES = np.round(np.random.default_rng(3).random((4, 8)), 2)
HUMAN = np.where(np.isin(np.arange(8), (0, 2, 5, 7)), np.round(SCORES + 0.1, 2), np.nan)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 3), st.integers(0, 7), st.floats(0, 1), st.randoms(use_true_random=False))
def test_compare_and_combine_name_each_score(system, cell, value, random):
    other = SCORES.copy()
    other[system, cell] = value
    for verb, options in ((lp.compare, {"metric": "m", "samples": 60}), (lp.combine, {})):
        tables = (rows(scores, HUMAN, random) for scores in (SCORES, SCORES, other))
        one, same, changed = (verb(table, **options) for table in tables)
        assert plain(one.to_json()) == plain(same.to_json())
        equal = value == SCORES[system, cell]
        assert (changed.signature == one.signature) == equal
        assert (plain(changed.to_json()) == plain(one.to_json())) == equal


@pytest.mark.parametrize(
    ("verb", "options"),
    [(lp.compare, {"seed": 1}), (lp.compare, {"samples": 61}), (lp.compare, {"confidence": 0.9}),
     (lp.compare, {"against": "s1"}), (lp.combine, {"confidence": 0.9}),
     (lp.combine, {"target": "population"})],
)  # fmt: skip
def test_options_of_compare_and_combine_change_numbers_and_signature(verb, options):
    fixed = {"metric": "m", **({"samples": 60} if verb is lp.compare else {})}
    table = rows(SCORES, HUMAN)
    base, changed = verb(table, **fixed), verb(table, **{**fixed, **options})
    assert changed.signature != base.signature
    assert [astuple(p) for p in changed.pairs] != [astuple(p) for p in base.pairs]


def test_precision_names_its_sources():
    texts = {"a": ["It rained. We left."], "b": ["It rained."]}
    options = {"references": ["It rained. He slept."], "judge": "recall", "samples": 60}
    base = lp.precision(texts, **options)
    assert lp.precision(dict(reversed(texts.items())), **options).signature == base.signature
    for data, more in (
        ({**texts, "b": ["He slept."]}, {}),
        (texts, {"references": ["It rained. We left."]}),
        (texts, {"judge": "lexical"}),
        (texts, {"seed": 3}),
        (texts, {"confidence": 0.9}),
        (texts, {"recall": lp.score(texts, [["It rained."]], judge="recall", samples=60)}),
    ):
        assert lp.precision(data, **{**options, **more}).signature != base.signature
