"""The contrast sets in other languages: well-formed, balanced, in their language."""

from __future__ import annotations

import json
from collections import Counter
from importlib.resources import files

import pytest

from litepyramid.language import detect_language, other_languages, words

KINDS = {"verbatim", "negation", "number", "roles", "paraphrase"}


def contrast(code: str) -> list[dict]:
    path = files("litepyramid.embedded").joinpath(f"contrast.{code}.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh"])
def test_sixty_pairs_of_five_kinds_in_their_language(code):
    pairs = contrast(code)
    assert len(pairs) == 60
    assert all(set(p) == {"id", "phenomenon", "summary", "unit", "label"} for p in pairs)
    assert len({p["id"] for p in pairs}) == 60
    assert len({(p["summary"], p["unit"]) for p in pairs}) == 60
    kinds = Counter(p["phenomenon"] for p in pairs)
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 10
    assert 27 <= sum(p["label"] for p in pairs) <= 33
    for kind in KINDS:
        assert {p["label"] for p in pairs if p["phenomenon"] == kind} == {0, 1}
    for field in ("summary", "unit"):
        texts = [p[field] for p in pairs]
        assert detect_language(texts) == code
        assert sum(other_languages(texts, code).values()) <= 3


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh"])
def test_every_summary_has_present_and_absent_units_that_share_its_words(code):
    by_summary: dict[str, set[int]] = {}
    shares = []
    for pair in contrast(code):
        by_summary.setdefault(pair["summary"], set()).add(pair["label"])
        unit, summary = set(words(pair["unit"])), set(words(pair["summary"]))
        shares.append(len(unit & summary) / len(unit))
    assert all(labels == {0, 1} for labels in by_summary.values())
    assert sum(shares) / len(shares) > 0.5
