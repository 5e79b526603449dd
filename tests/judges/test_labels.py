"""Class orders: of public models' names, of cards (as models/README.md has them), of maps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from litepyramid.errors import InputError, ModelError
from litepyramid.judges.nli.checkpoint import cards, class_order

NAMELESS = {i: f"LABEL_{i}" for i in range(3)}
CARD = ("contradiction", "neutral", "entailment")


@pytest.mark.parametrize(
    ("labels", "how", "indices"),
    [
        (["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], {}, (2, 1, 0)),
        (["Contradict", "Entailed", "Neutral"], {}, (1, 2, 0)),
        (["entailment", "not_entailment"], {}, (0, 1)),
        (["not present", "present"], {}, (1, 0)),
        (NAMELESS, {"label_map": "entailment=2, neutral=LABEL_0, contradiction=1"}, (2, 0, 1)),
        (["no", "yes"], {"label_map": "present=yes,absent=0"}, (1, 0)),
        (NAMELESS, {"fallback": CARD}, (2, 1, 0)),
    ],
)
def test_the_order_of_names_maps_and_cards(labels, how, indices):
    labels = labels if isinstance(labels, dict) else dict(enumerate(labels))
    assert class_order(labels, **how).indices == indices


@pytest.mark.parametrize(
    ("labels", "how"),
    [
        (["LABEL_0", "LABEL_1", "LABEL_2"], {}),
        (["entailment", "contradiction"], {}),
        (["entailment", "entails", "neutral"], {}),
        (["a", "b", "c"], {"fallback": CARD}),
    ],
)
def test_other_labels_are_an_error_that_shows_them(labels, how):
    with pytest.raises(ModelError, match="label_map") as caught:
        class_order(dict(enumerate(labels)), model="the model 'm'", **how)
    assert "the model 'm'" in str(caught.value)
    assert all(f"{index}={label}" in str(caught.value) for index, label in enumerate(labels))


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


def test_the_readme_and_the_cards_agree():
    rows = {}
    text = (Path(__file__).parents[2] / "models" / "README.md").read_text(encoding="utf-8")
    for name, order, mode in re.findall(
        r"^\| `([^`]+/[^`]+)`[^|]*\| (. .(?: .)?) \| (...) \|", text, re.M
    ):
        folds = range(1, 6) if "{1..5}" in name else [0]
        rows |= {name.replace("{1..5}", str(fold)): (order, mode) for fold in folds}
    models = cards().items()
    assert rows == {
        n: (" ".join(c[0] for c in card.order), card.default_mode) for n, card in models
    }
    assert sum(name.startswith("shiyue/") for name in rows) == 15
