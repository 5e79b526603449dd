"""How a judge is fine-tuned; the defaults are the paper's (ZB21 §3.1, A.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from litepyramid.checked import as_type, parse_json
from litepyramid.errors import InputError
from litepyramid.judges.nli.modes import Mode

Head = Literal["auto", "presence", "two-class", "three-class"]

HEAD_MODE: dict[str, Mode] = {"presence": "p2c", "two-class": "p2c", "three-class": "p3c"}
"""The mode that fits what a head was trained to tell apart."""


@dataclass(frozen=True, slots=True)
class FinetuneSettings:
    """Settings of one fine-tuning run.

    The paper gives the learning rate, the linear schedule with warm-up, AdamW and two epochs
    (ZB21 A.3); the length of the warm-up, the batch size and the seed are ours.

    Attributes:
        head: ``presence`` is the paper's: two-way cross-entropy over the logits e and n + c of a
            three-class model. ``two-class`` puts a new head of present and absent on the encoder.
            ``three-class`` is cross-entropy over e, n, c; where only presence is known, over e and
            the sum of the other two probabilities; an encoder gets a new head. ``auto`` is
            three-class for mini, else presence.
        epochs: Passes over the training pairs.
        learning_rate: Peak of the linear schedule.
        warmup: Share of the steps over which the learning rate rises.
        batch_size: Pairs in one update, over all devices and accumulated steps.
        accumulate: Steps of gradient accumulation that make up one update.
        batches: ``random``, or ``length``: pairs of about the same length together, which saves
            padding.
        max_length: The most tokens of a pair; the summary is cut.
        weight_decay: Weight decay of AdamW.
        class_weights: ``none``, or ``balanced``: a class weighs the inverse of its share.
        match: Tell by token types of their own which word pieces stand in both texts, as mini
            does; of a base that does so it is always true.
        freeze: Number of lower layers that are left as they are, with the embeddings; 0 trains
            everything.
        average: Weight of the past in a running mean of the weights, which is what is saved; 0
            saves the last weights.
        early_stop: Epochs without a better held-out Brier score after which training stops; 0 is
            never. The best epoch's weights are kept.
        held_out: Share of the inputs kept away from training to measure what was learned.
        bf16: Mixed precision with bfloat16, on GPUs and CPUs that have it.
        seed: Seed of the order of pairs, dropout, new heads and the held-out inputs.
        save_steps: Updates between two checkpoints; 0 for twenty over the whole run.
        log_steps: Updates between two progress notes on stderr.
        onnx: Whether ``model.onnx`` is written too, so that the judge runs without torch; None for
            models of up to 100 million parameters.
        device: ``auto`` or ``cpu``.
        revision: Branch, tag or commit of a hub model.
        offline: Look only in the local hub cache.
        label_map: Which of the base's labels means what: ``entailment=0,neutral=1,…``.
    """

    head: Head = "auto"
    epochs: float = 2
    learning_rate: float = 1e-5
    warmup: float = 0.06
    batch_size: int = 32
    accumulate: int = 1
    batches: Literal["random", "length"] = "random"
    max_length: int = 400
    weight_decay: float = 0.0
    class_weights: Literal["none", "balanced"] = "none"
    match: bool = False
    freeze: int = 0
    average: float = 0.0
    early_stop: int = 0
    held_out: float = 0.1
    bf16: bool = False
    seed: int = 12345
    save_steps: int = 0
    log_steps: int = 50
    onnx: bool | None = None
    device: str = "auto"
    revision: str | None = None
    offline: bool = False
    label_map: str | None = None

    def __post_init__(self) -> None:
        checks = (
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
            ("average", 0 <= self.average < 1, "a number from 0 to below 1"),
            ("held_out", 0 <= self.held_out < 1, "a share from 0 to below 1"),
            ("held_out", self.held_out > 0 or not self.early_stop, "above 0, to stop early"),
            ("log_steps", self.log_steps >= 1, "at least 1"),
            ("device", self.device in ("auto", "cpu"), "auto or cpu"),
        )
        for name, right, expected in checks:
            if not right:
                raise InputError(f"{name} is {getattr(self, name)}", expected=expected)


def as_settings(settings: Any) -> tuple[FinetuneSettings, dict[str, str]]:
    """Settings from a record, a mapping, or texts KEY=VALUE; and those of no such name.

    Example:
        >>> settings, others = as_settings(["epochs=3", "mode=p2c"])
        >>> settings.epochs, others
        (3.0, {'mode': 'p2c'})
    """
    if isinstance(settings, FinetuneSettings):
        return settings, {}
    pairs = settings.items() if isinstance(settings, Mapping) else _pairs(settings)
    names = {field.name for field in fields(FinetuneSettings)}
    values: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for key, value in pairs:
        (values if key in names else others)[key] = value
    typed = {key: _typed(key, value) for key, value in values.items()}
    return as_type(FinetuneSettings, typed, what="wrong settings"), others


def _pairs(settings: Any) -> list[tuple[str, str]]:
    several = [settings] if isinstance(settings, str) else settings
    if not isinstance(several, Sequence) or not all(
        isinstance(one, str) and "=" in one for one in several
    ):
        raise InputError(f"settings {settings!r}", expected="KEY=VALUE, such as epochs=3")
    return [(one.partition("=")[0].strip(), one.partition("=")[2].strip()) for one in several]


def _typed(key: str, value: Any) -> Any:
    """A text as the number, truth value or null that it says, where the field is no text."""
    if not isinstance(value, str) or key in ("device", "revision", "label_map"):
        return value
    text = {"none": "null"}.get(value.lower(), value.lower())
    try:
        return parse_json(text)
    except InputError:
        return value
