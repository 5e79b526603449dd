"""AllenNLP's decoding of SRL tags, ties and all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from litepyramid.errors import InputError

if TYPE_CHECKING:
    import torch

Decoding = Literal["allennlp", "exact"]

_START_SCORE = 100000.0
"""The score that AllenNLP's ``viterbi_decode`` gives an observed tag, the start tag among them."""


def check_decoding(name: str) -> None:
    """Raises InputError unless there is a decoding of this name."""
    if name not in get_args(Decoding):
        raise InputError(f"unknown decoding '{name}'", expected="allennlp or exact")


def transitions(labels: Sequence[str], decoding: Decoding = "allennlp") -> torch.Tensor:
    """Which label may follow which, with a start and an end state as the last two.

    An I- label may follow itself and its own B- label, and may not come first.

    Returns:
        (L + 2, L + 2): 0 where allowed, -inf where not; float32 for ``allennlp``, else float64.
    """
    import torch

    size = len(labels)
    matrix = torch.zeros(size + 2, size + 2, dtype=_dtype(decoding))
    for column, label in enumerate(labels):
        if label.startswith("I"):
            for row, previous in enumerate(labels):
                if row != column and previous != "B" + label[1:]:
                    matrix[row, column] = -torch.inf
            matrix[size, column] = -torch.inf
    matrix[size + 1] = -torch.inf  # nothing follows the end
    matrix[size:, size:] = -torch.inf
    matrix[:, size] = -torch.inf  # nothing comes before the start
    return matrix


def decode(
    logits: torch.Tensor,
    lengths: Sequence[int],
    matrix: torch.Tensor,
    decoding: Decoding = "allennlp",
) -> list[list[int]]:
    r"""The best label sequence of every row of word pieces, all rows at once.

    ``allennlp`` is what the published models' numbers come from (AllenNLP 2.10.1, ``SrlBert``): the
    score of a path is the *sum of its probabilities*, in float32, after a start of 100000; scores
    are therefore rounded to 1/128, paths tie, and a tie falls as ``torch.topk(k=1)`` lets it fall.
    ``exact`` is the textbook's: the sum of log-probabilities in float64, no such start; the first
    label wins a tie.

    Args:
        logits: (rows, pieces, L) float32.
        lengths: Number of word pieces of each row; what lies beyond is ignored.
        matrix: From `transitions`, of the same decoding.
        decoding: ``allennlp`` or ``exact``.

    Returns:
        Per row, one label index for each of its word pieces.

    Example:
        >>> import torch
        >>> labels = ("O", "B-V", "I-V")
        >>> logits = torch.tensor([[[0.0, 1.0, 5.0], [0.0, 0.0, 4.0]]])
        >>> decode(logits, [2], transitions(labels))  # I-V cannot come first
        [[1, 2]]
    """
    import torch

    check_decoding(decoding)
    rows, width, size = logits.shape
    dtype = _dtype(decoding)
    if decoding == "allennlp":
        emissions = torch.softmax(logits.float(), dim=-1).cpu()
    else:
        emissions = torch.log_softmax(logits.double(), dim=-1).cpu()
    emissions = torch.cat([emissions, torch.full((rows, width, 2), -torch.inf, dtype=dtype)], -1)
    # All labels that are no I- may follow the same labels: equal columns are worked out once.
    columns, of_column = torch.unique(matrix, dim=1, return_inverse=True)
    if decoding == "allennlp":
        scores = torch.zeros(rows, size + 2, dtype=dtype)
        scores[:, size] = _START_SCORE
    else:
        scores = torch.full((rows, size + 2), -torch.inf, dtype=dtype)
        scores[:, size] = 0.0
    back = torch.empty(width + 1, rows, size + 2, dtype=torch.long)
    for step in range(width + 1):
        best, previous = _best(scores.unsqueeze(2) + columns, decoding)
        back[step] = previous[:, of_column]
        if step < width:
            scores = emissions[:, step] + best[:, of_column]
    pointers = back.numpy()
    paths = []
    for row, length in enumerate(lengths):
        label = size + 1
        path = []
        for step in range(length, 0, -1):
            label = int(pointers[step, row, label])
            path.append(label)
        paths.append(path[::-1])
    return paths


def _best(scores: torch.Tensor, decoding: Decoding) -> tuple[torch.Tensor, torch.Tensor]:
    """The best predecessor and its score for each (row, column)."""
    import torch

    if decoding == "allennlp":
        best, index = torch.topk(scores, k=1, dim=1)
        return best.squeeze(1), index.squeeze(1)
    best, index = scores.max(dim=1)
    return best, index


def _dtype(decoding: Decoding) -> torch.dtype:
    import torch

    return torch.float32 if decoding == "allennlp" else torch.float64
