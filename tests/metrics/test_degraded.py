"""ROUGE-1 on a share of the words: equal to ROUGE at share 1, right on average below."""

from __future__ import annotations

import numpy as np
import pytest

from litepyramid.errors import InputError
from litepyramid.metrics.degraded import SampledRouge
from litepyramid.metrics.rouge import Rouge
from litepyramid.types import SystemSummaries

INPUTS = ("1", "2")
SYSTEMS = [
    SystemSummaries("a", INPUTS, ("the cat the cat sat", "dogs bark at the dogs")),
    SystemSummaries("b", INPUTS, ("", "a dog barked\nonce more")),
]
REFERENCES = {"1": ["the cat sat on the mat", "cats sat"], "2": ["the dog barks"]}


@pytest.mark.parametrize("variant", ["f1", "recall", "precision"])
def test_all_words_give_rouge_1(variant) -> None:
    found = SampledRouge(SYSTEMS, REFERENCES, variant).score(1.0, np.random.default_rng(0))
    rouge = Rouge("1", variant)
    expected = [
        [
            rouge.score([text], REFERENCES[name])[0]
            for name, text in zip(INPUTS, s.texts, strict=True)
        ]
        for s in SYSTEMS
    ]
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_a_share_keeps_so_many_random_words() -> None:
    """Of 'the cat the cat sat', 2 random words: the expected matches, counted over all draws."""
    from itertools import combinations

    words = ["the", "cat", "the", "cat", "sat"]
    recalls = [
        sum(min([words[i], words[j]].count(w), target.count(w)) for w in {words[i], words[j]}) / 6
        for target in [["the", "cat", "sat", "on", "the", "mat"]]
        for i, j in combinations(range(5), 2)
    ]
    rouge = SampledRouge(SYSTEMS[:1], {"1": REFERENCES["1"][:1], "2": ["x"]}, "recall", stem=False)
    rng = np.random.default_rng(0)
    drawn = [rouge.score(0.4, rng)[0, 0] for _ in range(3000)]
    assert np.mean(drawn) == pytest.approx(np.mean(recalls), abs=0.01)
    assert set(np.round(drawn, 9)) == set(np.round(recalls, 9))


def test_no_words_and_no_references() -> None:
    rouge = SampledRouge(SYSTEMS, REFERENCES)
    assert not rouge.score(0.0, np.random.default_rng(0)).any()
    for share in (-0.1, 1.1):
        with pytest.raises(InputError, match="from 0 to 1"):
            rouge.score(share, np.random.default_rng(0))
    with pytest.raises(InputError, match="no reference for input '2'"):
        SampledRouge(SYSTEMS, {"1": ["a"]})
    with pytest.raises(InputError, match="other inputs"):
        SampledRouge([SYSTEMS[0], SystemSummaries("c", ("1",), ("a",))], REFERENCES)
    with pytest.raises(InputError, match="no summaries"):
        SampledRouge([], REFERENCES)
    with pytest.raises(InputError, match="f1, recall"):
        SampledRouge(SYSTEMS, REFERENCES, "f2")  # type: ignore[arg-type]
