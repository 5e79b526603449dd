"""How a judge is fine-tuned; the defaults are the paper's (ZB21 §3.1, A.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from litepyramid.errors import InputError
from litepyramid.judges.nli.modes import Mode

Head = Literal["presence", "two-class", "three-class"]
HEADS: tuple[Head, ...] = get_args(Head)

#: The mode that fits what a head was trained to tell apart.
HEAD_MODE: dict[Head, Mode] = {"presence": "p2c", "two-class": "p2c", "three-class": "p3c"}


@dataclass(frozen=True, slots=True)
class FinetuneSettings:
    """Settings of one fine-tuning run.

    The paper gives the learning rate, the linear schedule with warm-up, AdamW and two epochs
    (ZB21 A.3); the length of the warm-up, the batch size and the seed are ours.

    Attributes:
        head: ``presence`` is the paper's: two-way cross-entropy over (e, n + c) of a three-class
            model. ``two-class`` puts a new head of present and absent on the encoder.
            ``three-class`` is plain cross-entropy over e, n, c, where "absent" counts as neutral.
        epochs: Passes over the training pairs.
        learning_rate: Peak of the linear schedule.
        warmup: Share of the steps over which the learning rate rises.
        batch_size: Pairs in one update, over all devices and accumulated steps.
        accumulate: Steps of gradient accumulation that make up one update.
        max_length: The most tokens of a pair; the summary is cut.
        weight_decay: Weight decay of AdamW.
        class_weights: ``none``, or ``balanced``: a class weighs the inverse of its share.
        early_stop: Epochs without a better held-out Brier score after which training stops; 0 is
            never. The best epoch's weights are kept.
        held_out: Share of the inputs kept away from training to measure what was learned.
        bf16: Mixed precision on GPUs that have it.
        seed: Seed of the order of pairs, dropout, new heads and the held-out inputs.
        save_steps: Updates between two restart points; 0 for twenty over the whole run.
        log_steps: Updates between two progress notes on stderr.
    """

    head: Head = "presence"
    epochs: float = 2
    learning_rate: float = 1e-5
    warmup: float = 0.06
    batch_size: int = 32
    accumulate: int = 1
    max_length: int = 400
    weight_decay: float = 0.0
    class_weights: Literal["none", "balanced"] = "none"
    early_stop: int = 0
    held_out: float = 0.1
    bf16: bool = False
    seed: int = 12345
    save_steps: int = 0
    log_steps: int = 50

    def __post_init__(self) -> None:
        checks = (
            ("head", self.head in HEADS, f"one of {', '.join(HEADS)}"),
            ("epochs", self.epochs > 0, "a number above 0"),
            ("learning_rate", self.learning_rate > 0, "a number above 0"),
            ("warmup", 0 <= self.warmup < 1, "a share from 0 to below 1"),
            ("batch_size", self.batch_size >= 1, "at least 1"),
            (
                "accumulate",
                self.accumulate >= 1 and self.batch_size % self.accumulate == 0,
                "at least 1, and a divisor of the batch size",
            ),
            ("max_length", self.max_length >= 8, "at least 8"),
            ("weight_decay", self.weight_decay >= 0, "a number not below 0"),
            ("class_weights", self.class_weights in ("none", "balanced"), "none or balanced"),
            ("early_stop", self.early_stop >= 0, "0 or more epochs"),
            ("held_out", 0 <= self.held_out < 1, "a share from 0 to below 1"),
            ("held_out", self.held_out > 0 or not self.early_stop, "above 0, to stop early"),
            ("save_steps", self.save_steps >= 0, "0 or more"),
            ("log_steps", self.log_steps >= 1, "at least 1"),
        )
        for name, right, expected in checks:
            if not right:
                raise InputError(f"{name} is {getattr(self, name)}", expected=expected)
