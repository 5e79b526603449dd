"""Labels of some inputs, systems and units only: learnt from, measured on, counted."""

import math
from copy import deepcopy

import numpy as np
import pytest
from cases import refused

import litepyramid as lp
from litepyramid.easiness.predict import fit
from litepyramid.embedded.example import load_example
from litepyramid.io.loading import load
from litepyramid.judges.evaluate import evaluate
from litepyramid.training.pairs import labelled_pairs
from litepyramid.training.validation import validate

EXAMPLE = load_example()
LABELS = {
    entry.system: dict(zip(entry.inputs, map(list, entry.labels), strict=True))
    for entry in EXAMPLE.labels
}


UNITS = {entry.input: list(entry.texts) for entry in EXAMPLE.units}


TEXTS = {s.system: list(s.texts) for s in EXAMPLE.summaries}
FOUR = EXAMPLE.inputs[:4]


def some_inputs(labels):
    labels["abstractive"] = {name: labels["abstractive"][name] for name in FOUR}


def some_inputs_of_all(labels):
    for system in labels:
        labels[system] = {name: labels[system][name] for name in FOUR}


def one_system(labels):
    for system in [*labels][1:]:
        del labels[system]


def unit_with_null(labels):
    labels["lead"][FOUR[0]][2] = None


def input_with_null(labels):
    labels["lead"][FOUR[1]] = [None] * len(labels["lead"][FOUR[1]])


PRESENT = {
    system: {name: [1.0] * len(texts) for name, texts in UNITS.items()}
    for system in TEXTS
}
GAPS = [some_inputs, some_inputs_of_all, one_system, unit_with_null, input_with_null]


def partly(gap):
    """The example without the labels that `gap` takes away, and how many are left."""
    labels = deepcopy(LABELS)
    gap(labels)
    left = 0
    for rows in labels.values():
        for row in rows.values():
            left += len(row) - row.count(None)

    return load(UNITS, summaries=TEXTS, labels=labels), left


@pytest.mark.parametrize("gap", GAPS)
def test_all_that_is_labelled_is_learnt_from_and_measured_on(gap, tmp_path):
    data, left = partly(gap)
    assert len(labelled_pairs(data).pairs) == left

    evaluated = evaluate("recall", data)
    assert evaluated.sets[0].pairs == left
    assert len(evaluated.notes) == 1

    tuned = lp.finetune(
        "lexical", data, output=tmp_path / "judge", settings=["held_out=0.25"]
    )
    assert tuned.notes == evaluated.notes
    assert tuned.held_out[0].quality[0].pairs > 0

    crossed = lp.crossval("lexical", data, folds=2, zero_shot=("recall",))
    assert crossed.notes == evaluated.notes
    pairs = [quality.pairs for quality in crossed.quality if quality.judge == "recall"]
    assert sum(pairs) == left

    scored = lp.score(data, judge="recall", samples=100)
    complete = ~np.isnan(scored.labels)
    assert complete.sum() == left


def test_nothing_is_said_where_every_unit_has_its_label():
    assert evaluate("recall", EXAMPLE).notes == ()


def test_systems_and_inputs_without_labels_move_no_correlation():
    data, _ = partly(some_inputs_of_all)
    labels = {}
    for system, rows in LABELS.items():
        labels[system] = {name: rows[name] for name in FOUR}
    alone = load(
        {name: UNITS[name] for name in FOUR},
        summaries={system: texts[:4] for system, texts in TEXTS.items()},
        labels=labels,
    )

    judges = {"recall": lp.judge("recall")}
    found = []
    for one in (data, alone):
        scores = validate(one, judges).scores
        found.append([(s.level, s.coefficient, s.value) for s in scores])
    assert found[0] == found[1]


@pytest.mark.parametrize("rule", ["lite", "original", "modified-1", "sample-2"])
def test_a_unit_without_a_label_leaves_its_input_without_a_human_score(rule):
    data, _ = partly(unit_with_null)
    given = load(UNITS, summaries=TEXTS, labels=data.labels, presence=PRESENT)

    scored = lp.score(given, rule=rule, samples=100)

    human = scored.human[data.systems.index("lead")]
    assert math.isnan(human[0])
    assert not np.isnan(human[1:]).any()


def test_combine_leaves_out_whom_nobody_labelled():
    labels = {"lead": LABELS["lead"], "swapped": {FOUR[0]: LABELS["swapped"][FOUR[0]]}}
    data = load(UNITS, summaries=TEXTS, labels=labels)
    scored = lp.score(data, judge="recall", samples=100)

    combined = lp.combine(scored, assume_random=True)

    assert [*combined.scores] == ["lead"]
    assert any("abstractive, offtopic, swapped" in note for note in combined.notes)


def test_easiness_is_fitted_to_the_inputs_that_have_scus():
    references = {}
    for entry in EXAMPLE.references:
        references[entry.input] = [list(texts) for texts in entry.references]
    eight = EXAMPLE.inputs[:8]
    units = {name: UNITS[name] for name in eight}

    some = fit(references, units, rounds=2)

    alone = fit({name: references[name] for name in eight}, units, rounds=2)
    assert some.sha == alone.sha
    assert "4 inputs" in some.about["notes"]
    with refused():
        fit(references, {"elsewhere": ["It rained."]}, rounds=2)
