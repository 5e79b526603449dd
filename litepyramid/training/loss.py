"""The losses of fine-tuning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litepyramid.errors import require
from litepyramid.judges.nli.checkpoint import ClassOrder
from litepyramid.training.settings import Head


def presence_logits(logits: Any, order: ClassOrder) -> Any:
    """The logits of (absent, present) that p2c compares: n + c, and e (ZB21 §3.1).

    Args:
        logits: (pairs, classes) tensor in the model's own class order.
        order: Where entailment, neutral and contradiction (or present and absent) stand.

    Returns:
        (pairs, 2) tensor; its softmax over the last axis is (1 − p2c, p2c).
    """
    torch = require("torch", extra="train", purpose="fine-tuning")
    chosen = logits[:, list(order.indices)]
    return torch.stack([chosen[:, 1:].sum(dim=1), chosen[:, 0]], dim=1)


def make_loss(head: Head, order: ClassOrder, weights: Sequence[float] | None = None) -> Any:
    r"""The loss of a head, as transformers' Trainer calls it.

    ``presence`` and ``two-class``: cross-entropy of the label y against p2c,

    .. math:: -\,y \log p - (1 - y) \log (1 - p), \quad p = e^{e} / (e^{e} + e^{n + c})

    (ZB21 §3.1), or against the softmax of a two-class head. ``three-class``: cross-entropy of the
    class (0 entailment, 1 neutral, 2 contradiction) against the softmax of the three logits.

    Args:
        head: Which loss.
        order: The model's class order.
        weights: One weight a class: (absent, present), or (e, n, c).

    Returns:
        A function of (outputs, labels, num_items_in_batch) that gives the mean loss; with
        ``num_items_in_batch`` it is the sum over that many, so that accumulated steps average
        over pairs, not over steps. Labels are classes, or (pairs, classes) shares of them.
    """
    torch = require("torch", extra="train", purpose="fine-tuning")
    class_weights = None if weights is None else torch.tensor(list(weights), dtype=torch.float32)

    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        logits = outputs["logits"] if isinstance(outputs, dict) else outputs.logits
        logits = logits.float()
        if head == "three-class":
            scores = logits[:, list(order.indices)]
        else:
            scores = presence_logits(logits, order)
        weight = None if class_weights is None else class_weights.to(scores.device)
        if num_items_in_batch is None:
            return torch.nn.functional.cross_entropy(scores, labels, weight=weight)
        total = torch.nn.functional.cross_entropy(scores, labels, weight=weight, reduction="sum")
        return total * (labels.shape[1] if labels.ndim == 2 else 1) / num_items_in_batch

    return loss
