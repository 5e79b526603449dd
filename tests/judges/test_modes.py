"""Class orders of models' names, cards and maps; the four modes against the paper's
formulas."""

import math
import re

import numpy as np
import pytest
from cases import cases, refused
from hypothesis import given
from hypothesis import strategies as st
from running import ROOT

from litepyramid.errors import ModelError
from litepyramid.judges.nli.checkpoint import cards, class_order
from litepyramid.judges.nli.modes import MODES, presence

logit = st.floats(-20, 20)


@given(logit, logit, logit)
def test_modes_equal_their_formulas(e, n, c):
    """Logits are added, not log-sum-exp-ed."""
    total = math.exp(e) + math.exp(n) + math.exp(c)
    assert presence([e, n, c], "p3c") == pytest.approx(math.exp(e) / total, rel=1e-12)
    assert presence([e, n, c], "l3c") == (e >= max(n, c))
    expected = math.exp(e) / (math.exp(e) + math.exp(n + c))
    assert presence([e, n, c], "p2c") == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert presence([e, n, c], "l2c") == (e >= n + c)


@pytest.mark.parametrize("mode", MODES)
def test_huge_logits_do_not_overflow_and_nan_stays_nan(mode):
    with np.errstate(over="raise", invalid="raise"):
        values = presence([[1e4, 0, 0], [-1e4, 0, 0]], mode)
    assert values.tolist() == [1.0, 0.0]
    assert math.isnan(presence([math.nan, 0.0, 0.0], mode))
    with refused(r"\(2,\)"):
        presence([0, 0], mode)


ORDERS = """
CONTRADICTION/NEUTRAL/ENTAILMENT | none | 2 1 0
Contradict/Entailed/Neutral      | none | 1 2 0
entailment/not_entailment        | none | 0 1
not present/present              | none | 1 0
LABEL_0/LABEL_1/LABEL_2          | entailment=2, neutral=LABEL_0, contradiction=1 | 2 0 1
no/yes                           | present=yes,absent=0 | 1 0
"""
CARD = ("contradiction", "neutral", "entailment")


def named(labels):
    return dict(enumerate(labels.split("/")))


@pytest.mark.parametrize(("labels", "label_map", "indices"), cases(ORDERS))
def test_the_order_of_names_and_maps(labels, label_map, indices):
    order = class_order(named(labels), None if label_map == "none" else label_map)
    assert " ".join(map(str, order.indices)) == indices


OTHERS = """
LABEL_0/LABEL_1/LABEL_2
entailment/contradiction
entailment/entails/neutral
"""


@pytest.mark.parametrize("labels", OTHERS.split())
def test_other_labels_are_an_error_that_shows_them(labels):
    first, second, *_ = labels.split("/")
    with refused(rf"^m has .*0={first}.*1={second}.*label_map", ModelError):
        class_order(named(labels), model="m")


def test_a_card_gives_the_order_of_labels_without_names_alone():
    order = class_order(named("LABEL_0/LABEL_1/LABEL_2"), fallback=CARD)
    assert order.indices == (2, 1, 0)
    with refused("label_map", ModelError):
        class_order(named("a/b/c"), fallback=CARD)


WRONG_MAPS = """
entailment entailment=0 present=1,absent= a=0,b=1 present=1,present=0
present=1,absent=1 present=7,absent=0 present=x,absent=0
"""


@pytest.mark.parametrize("text", ["", *WRONG_MAPS.split()])
def test_maps_that_cannot_be_read_or_do_not_fit(text):
    with refused("label map"):
        class_order({0: "LABEL_0", 1: "LABEL_1"}, text)


def test_the_readme_and_the_cards_agree():
    text = (ROOT / "models" / "README.md").read_text(encoding="utf-8")
    row = r"^\| `([^`]+/[^`]+)`[^|]*\| (. .(?: .)?) \| (...) \|"
    told = set()
    for name, order, mode in re.findall(row, text, re.M):
        for fold in "12345":
            told.add((name.replace("{1..5}", fold), order, mode))

    shipped = set()
    for name, card in cards().items():
        order = " ".join(label[0] for label in card.order)
        shipped.add((name, order, card.default_mode))
    assert told == shipped
