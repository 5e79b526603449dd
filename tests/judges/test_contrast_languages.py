"""The contrast sets in other languages: well-formed, balanced, in their language."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files

import pytest

from litepyramid.language import language_of, other_languages, words

KINDS = {"verbatim", "negation", "number", "roles", "paraphrase"}


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh"])
def test_sixty_pairs_of_five_kinds_in_their_language_and_the_same_words_on_both_sides(code):
    path = files("litepyramid.embedded").joinpath(f"contrast.{code}.jsonl")
    pairs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert all(set(p) == {"id", "phenomenon", "summary", "unit", "label"} for p in pairs)
    assert len({p["id"] for p in pairs}) == len({(p["summary"], p["unit"]) for p in pairs}) == 60
    kinds = Counter(p["phenomenon"] for p in pairs)
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 10
    assert 27 <= sum(p["label"] for p in pairs) <= 33
    for key in ("phenomenon", "summary"):
        for one in {p[key] for p in pairs}:
            assert {p["label"] for p in pairs if p[key] == one} == {0, 1}
    for field in ("summary", "unit"):
        texts = [p[field] for p in pairs]
        assert language_of({"texts": texts}) == code
        assert sum(other_languages(texts, code).values()) <= 3
    shared = [
        len(unit & {*words(p["summary"])}) / len(unit)
        for p in pairs
        for unit in [{*words(p["unit"])}]
    ]
    assert sum(shared) / len(shared) > 0.5
