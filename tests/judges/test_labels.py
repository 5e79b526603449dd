"""Class orders: of public models' names, of cards (as models/README.md has them), of maps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.nli.checkpoint import CARDS, class_order


@pytest.mark.parametrize(
    ("labels", "indices"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], (2, 1, 0)),
        (["contradiction", "entailment", "neutral"], (1, 2, 0)),
        (["Contradict", "Entailed", "Neutral"], (1, 2, 0)),
        (["entailment", "not_entailment"], (0, 1)),
        (["not present", "present"], (1, 0)),
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
    ],
)
def test_other_labels_are_an_error_that_shows_them(labels):
    with pytest.raises(ModelError) as caught:
        class_order(dict(enumerate(labels)), model="the model 'm'")
    assert "the model 'm'" in str(caught.value)
    assert all(f"{index}={label}" in str(caught.value) for index, label in enumerate(labels))
    assert "label_map" in str(caught.value)


def test_a_map_wins_by_index_or_by_name():
    labels = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    mapped = "entailment=2, neutral=LABEL_0, contradiction=1"
    assert class_order(labels, mapped).indices == (2, 0, 1)
    assert class_order({0: "no", 1: "yes"}, "present=yes,absent=no").indices == (1, 0)


def test_a_card_orders_nameless_labels_only():
    card = ("contradiction", "neutral", "entailment")
    assert class_order({i: f"LABEL_{i}" for i in range(3)}, fallback=card).indices == (2, 1, 0)
    with pytest.raises(ModelError):
        class_order({0: "a", 1: "b", 2: "c"}, fallback=card)


@pytest.mark.parametrize(
    "text",
    [
        *("", "entailment", "entailment=0", "present=1,absent=", "a=0,b=1", "present=1,present=0"),
        *("present=1,absent=1", "present=7,absent=0", "present=x,absent=0"),
    ],
)
def test_maps_that_cannot_be_read_or_do_not_fit(text):
    with pytest.raises(InputError, match="label map"):
        class_order({0: "LABEL_0", 1: "LABEL_1"}, text)


def table() -> dict[str, tuple[str, str]]:
    """Id to (class order, mode), the five folds written out."""
    rows = {}
    text = (Path(__file__).parents[2] / "models" / "README.md").read_text(encoding="utf-8")
    for name, order, mode in re.findall(
        r"^\| `([^`]+/[^`]+)`[^|]*\| (. .(?: .)?) \| (...) \|", text, re.M
    ):
        folds = range(1, 6) if "{1..5}" in name else [0]
        rows |= {name.replace("{1..5}", str(fold)): (order, mode) for fold in folds}
    return rows


def test_the_readme_and_the_cards_agree():
    cards = {
        name: (" ".join(label[0] for label in card.order), card.default_mode)
        for name, card in CARDS.items()
    }
    assert table() == cards
    assert sum(name.startswith("shiyue/") for name in cards) == 15
