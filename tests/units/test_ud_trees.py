"""Written UD trees in four languages, and the units that should be made of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from litepyramid.language import detect_language, words
from litepyramid.units.parsers.embedded.tree import Tree, Word

FOLDER = Path(__file__).parents[1] / "data" / "ud"
UNITS: dict[str, list[str]] = json.loads((FOLDER / "units.json").read_text(encoding="utf-8"))


def read_trees(code: str) -> dict[str, tuple[str, list[list[str]]]]:
    """By sentence id, its text and its rows of ten columns, words only."""
    trees = {}
    for block in (FOLDER / f"{code}.conllu").read_text(encoding="utf-8").strip().split("\n\n"):
        lines = block.split("\n")
        about = dict(line[2:].split(" = ", 1) for line in lines if line.startswith("# "))
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
        trees[about["sent_id"]] = (about["text"], [row for row in rows if row[0].isdigit()])
    return trees


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh"])
def test_trees_are_whole_and_their_units_are_made_of_their_words(code):
    trees = read_trees(code)
    assert len(trees) == 6
    for name, (text, rows) in trees.items():
        assert all(len(row) == 10 for row in rows)
        assert "".join(row[1] for row in rows) == text.replace(" ", "")
        heads = [int(row[6]) for row in rows]
        tree = Tree(
            [
                Word(row[1], row[3], head - 1 if head else i, row[7])
                for i, (row, head) in enumerate(zip(rows, heads, strict=True))
            ]
        )
        assert heads.count(0) == 1
        assert tree.under(tree.root) == list(range(len(rows)))
        assert UNITS[name]
        for unit in UNITS[name]:
            assert set(words(unit)) <= set(words(text))
    assert detect_language([text for text, _ in trees.values()]) == code
