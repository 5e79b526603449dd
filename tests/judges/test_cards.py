"""The table of known checkpoints says the same in the code and in models/README.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from litepyramid.errors import ModelError
from litepyramid.judges.nli.checkpoint import CARDS, read_card


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "not a judge's card"),
        ("{", "not valid JSON"),
        ('{"kind": "x"}', 'kind is "x"'),
        ('{"order": ["a", "b"]}', "the order is"),
        ('{"template": "{premise}"}', "a template without placeholders"),
        ('{"answers": [1]}', r"no answers\[1\]"),
        ('{"answers": [1, 2]}', "answers without a template"),
    ],
)
def test_a_broken_card_is_named(tmp_path, text, said):
    (tmp_path / "litepyramid.json").write_text(text)
    with pytest.raises(ModelError, match=said):
        read_card(tmp_path / "litepyramid.json")
