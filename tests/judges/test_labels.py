"""Class orders under the names that public models use, and the errors for all others."""

from __future__ import annotations

import pytest

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.nli.checkpoint import class_order, parse_label_map


@pytest.mark.parametrize(
    ("labels", "indices"),
    [
        (["entailment", "neutral", "contradiction"], (0, 1, 2)),
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], (2, 1, 0)),
        (["contradiction", "entailment", "neutral"], (1, 2, 0)),
        (["Contradict", "Entailed", "Neutral"], (1, 2, 0)),
        (["entailment", "not_entailment"], (0, 1)),
        (["not present", "present"], (1, 0)),
        (["absent", "present"], (1, 0)),
    ],
)
def test_names_of_public_models(labels, indices):
    assert class_order(dict(enumerate(labels))).indices == indices


@pytest.mark.parametrize(
    "labels",
    [
        ["LABEL_0", "LABEL_1", "LABEL_2"],
        ["entailment", "contradiction"],
        ["entailment", "entails", "neutral"],
        ["positive", "negative"],
        ["score"],
    ],
)
def test_other_labels_are_an_error_that_shows_them(labels):
    with pytest.raises(ModelError) as caught:
        class_order(dict(enumerate(labels)), model="the model 'm'")
    assert "the model 'm'" in str(caught.value)
    assert all(f"{index}={label}" in str(caught.value) for index, label in enumerate(labels))
    assert "--label-map" in str(caught.value)


def test_a_map_wins_by_index_or_by_name():
    labels = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    mapped = parse_label_map("entailment=2, neutral=LABEL_0, contradiction=1")
    assert class_order(labels, mapped).indices == (2, 0, 1)
    assert class_order({0: "no", 1: "yes"}, {"present": "yes", "absent": "no"}).indices == (1, 0)


def test_a_card_orders_nameless_labels_only():
    card = ("contradiction", "neutral", "entailment")
    assert class_order({i: f"LABEL_{i}" for i in range(3)}, fallback=card).indices == (2, 1, 0)
    with pytest.raises(ModelError):
        class_order({0: "a", 1: "b", 2: "c"}, fallback=card)


@pytest.mark.parametrize(
    "text",
    ["", "entailment", "entailment=0", "present=1,absent=", "a=0,b=1", "present=1,present=0"],
)
def test_unreadable_maps(text):
    with pytest.raises(InputError, match="entailment=0,neutral=1,contradiction=2"):
        parse_label_map(text)


@pytest.mark.parametrize("text", ["present=1,absent=1", "present=7,absent=0", "present=x,absent=0"])
def test_maps_that_do_not_fit(text):
    with pytest.raises(InputError, match="label map"):
        class_order({0: "LABEL_0", 1: "LABEL_1"}, parse_label_map(text))
