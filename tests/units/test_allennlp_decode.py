"""The batched decoding against AllenNLP's algorithm taken step by step, and against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from litepyramid.units.parsers.allennlp.srl_bert import decode, transitions  # noqa: E402

ROLES = ["V", "ARG0", "ARG1", "ARGM-TMP", "R-ARG0", "C-ARG1"]


def labels_of(roles: int) -> list[str]:
    names = [f"R{i}" if i >= len(ROLES) else ROLES[i] for i in range(roles)]
    return ["O", *(f"{prefix}-{name}" for name in names for prefix in "BI")]


def step_by_step(probabilities: torch.Tensor, labels: list[str]) -> list[int]:
    """One sequence, every transition, one topk a step: what AllenNLP does."""
    size = len(labels) + 2
    allowed = torch.zeros(size, size)
    for i, j in itertools.product(range(len(labels)), repeat=2):
        if labels[j][0] == "I" and labels[i] not in (labels[j], "B" + labels[j][1:]):
            allowed[i, j] = -torch.inf
    for j, label in enumerate(labels):
        if label[0] == "I":
            allowed[-2, j] = -torch.inf
    allowed[-2:, -2:] = -torch.inf
    allowed[-1, :] = -torch.inf
    allowed[:, -2] = -torch.inf
    score = torch.zeros(size)
    score[-2] = 100000.0
    pointers = []
    for row in [*probabilities, None]:
        best, index = torch.topk(score.unsqueeze(1) + allowed, k=1, dim=0)
        pointers.append(index[0])
        if row is not None:
            score = torch.cat([row, torch.full((2,), -torch.inf)]) + best[0]
    path = [size - 1]
    for index in reversed(pointers):
        path.append(int(index[path[-1]]))
    return path[-2:0:-1]


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    roles=st.sampled_from([1, 3, 6, 40]),
    scale=st.sampled_from([0.001, 0.1, 1.0, 8.0]),
)
def test_a_batch_is_decoded_as_its_rows_are_one_by_one(seed, roles, scale):
    rng = np.random.default_rng(seed)
    labels = labels_of(roles)
    lengths = [int(n) for n in rng.integers(1, 12, size=4)]
    logits = torch.tensor(rng.normal(0, scale, (4, max(lengths), len(labels))), dtype=torch.float32)
    probabilities = torch.softmax(logits, -1)
    expected = [step_by_step(probabilities[r, :n], labels) for r, n in enumerate(lengths)]
    assert decode(logits, lengths, transitions(labels)) == expected


def test_equal_probabilities_tie_as_topk_lets_them():
    for roles in (3, 40):
        labels = labels_of(roles)
        logits = torch.zeros(1, 6, len(labels))
        expected = step_by_step(torch.softmax(logits[0], -1), labels)
        assert decode(logits, [6], transitions(labels)) == [expected]


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), length=st.integers(1, 4))
def test_exact_decoding_is_the_best_of_all_paths(seed, length):
    labels = labels_of(2)
    logits = torch.tensor(
        np.random.default_rng(seed).normal(0, 2, (1, length, len(labels))), dtype=torch.float32
    )
    scores = torch.log_softmax(logits[0].double(), -1).numpy()

    def allowed(path: tuple[int, ...]) -> bool:
        names = ["O", *(labels[i] for i in path)]
        return all(b[0] != "I" or a[2:] == b[2:] for a, b in itertools.pairwise(names))

    paths = filter(allowed, itertools.product(range(len(labels)), repeat=length))
    best = max(paths, key=lambda path: sum(scores[t, i] for t, i in enumerate(path)))
    assert decode(logits, [length], transitions(labels, "exact")) == [list(best)]
