"""Labels of some inputs, systems and units only: learnt from, measured on, counted."""

import math
from copy import deepcopy

import numpy as np
import pytest
from cases import quick_score, refused

import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.training.pairs import labelled_pairs
from litepyramid.training.validation import validate

EXAMPLE = load_example()
LABELS = {}
for system in EXAMPLE.systems:
    rows = EXAMPLE.units.split(EXAMPLE.labels.of_system(system))
    LABELS[system] = {name: row.tolist() for name, row in rows.items()}

UNITS = {entry.input: [*entry.texts] for entry in EXAMPLE.units}
TEXTS = {name: EXAMPLE.summaries.of_system(name) for name in EXAMPLE.systems}
FOUR = EXAMPLE.inputs[:4]


@pytest.fixture
def labels():
    return deepcopy(LABELS)


def test_all_that_is_labelled_is_learnt_from_and_measured_on(labels, tmp_path):
    """Without the labels of a system, of an input, of some inputs of another system, of
    a unit, and with nulls for all units of an input."""
    del labels["swapped"]
    for rows in labels.values():
        del rows[EXAMPLE.inputs[-1]]
    labels["abstractive"] = {name: labels["abstractive"][name] for name in FOUR}
    labels["lead"][FOUR[0]][2] = None
    labels["lead"][FOUR[1]] = [None] * len(UNITS[FOUR[1]])

    data = lp.load(TEXTS, UNITS, labels=labels)
    left = 0
    for rows in labels.values():
        for row in rows.values():
            left += len(row) - row.count(None)
    assert len(labelled_pairs(data)) == left

    evaluated = lp.evaluate("recall", data)
    assert evaluated.sets[0].pairs == left
    assert len(evaluated.notes) == 1
    assert lp.evaluate("recall", EXAMPLE).notes == ()

    settings = ["held_out=0.25"]
    tuned = lp.finetune(
        "lexical",
        data,
        output=tmp_path / "judge",
        settings=settings,
    )
    assert tuned.notes == evaluated.notes
    assert tuned.held_out[0].quality[0].pairs > 0

    crossed = lp.crossval("lexical", data, folds=2)
    assert crossed.notes == evaluated.notes
    pairs = [quality.pairs for quality in crossed.quality if quality.judge == "recall"]
    assert sum(pairs) == left

    scored = quick_score(data)
    assert (~np.isnan(scored.labels.values)).sum() == left


def test_inputs_without_labels_move_no_correlation(labels):
    for rows in labels.values():
        for name in EXAMPLE.inputs[4:]:
            del rows[name]
    data = lp.load(TEXTS, UNITS, labels=labels)
    judges = {"recall": lp.judge("recall")}
    assert validate(data, judges).scores == validate(data, judges, inputs=FOUR).scores


@pytest.mark.parametrize("rule", ["lite", "original", "modified-1", "sample-2"])
def test_a_unit_without_a_label_leaves_its_input_without_a_human_score(labels, rule):
    labels["lead"][FOUR[0]][2] = None
    data = lp.load(TEXTS, UNITS, labels=labels)

    def present(_, units):
        return [1.0] * len(units)

    scored = quick_score(data, judge=present, rule=rule)
    human = scored.human[data.systems.index("lead")]
    assert math.isnan(human[0])
    assert not np.isnan(human[1:]).any()


def test_combine_leaves_out_whom_nobody_labelled():
    labels = {"lead": LABELS["lead"], "swapped": {FOUR[0]: LABELS["swapped"][FOUR[0]]}}
    data = lp.load(TEXTS, UNITS, labels=labels)
    scored = quick_score(data)

    combined = lp.combine(scored, assume_random=True)

    assert [*combined.scores] == ["lead"]
    assert any("abstractive, offtopic, swapped" in note for note in combined.notes)


def test_easiness_is_fitted_to_the_inputs_that_have_scus():
    references = [*EXAMPLE.references]
    units = [*EXAMPLE.units][:8]
    some = lp.easiness.fit(references, units, rounds=2)
    assert some.sha == lp.easiness.fit(references[:8], units, rounds=2).sha
    assert "4 inputs" in some.about["notes"]
    with refused():
        lp.easiness.fit(references, {"elsewhere": ["It rained."]}, rounds=2)
