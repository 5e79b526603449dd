"""How a judge is fine-tuned; the defaults are the paper's (ZB21 §3.1, A.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal

from annotated_types import Interval

from litepyramid.errors import InputError
from litepyramid.judges.nli.modes import Mode

Head = Literal["auto", "presence", "two-class", "three-class"]

Above = Annotated[float, Interval(gt=0, le=1e6)]
Share = Annotated[float, Interval(ge=0, lt=1)]
Count = Annotated[int, Interval(ge=1, le=10**9)]
Steps = Annotated[int, Interval(ge=0, le=10**9)]

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
        schedule: Whether it falls from there to nothing (``linear``), or stays (``constant``).
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
    epochs: Above = 2
    learning_rate: Above = 1e-5
    warmup: Share = 0.06
    schedule: Literal["linear", "constant"] = "linear"
    batch_size: Count = 32
    accumulate: Count = 1
    batches: Literal["random", "length"] = "random"
    max_length: Annotated[int, Interval(ge=8, le=10**6)] = 400
    weight_decay: Share = 0.0
    class_weights: Literal["none", "balanced"] = "none"
    match: bool = False
    freeze: Steps = 0
    average: Share = 0.0
    early_stop: Steps = 0
    held_out: Share = 0.1
    bf16: bool = False
    seed: Steps = 12345
    save_steps: Steps = 0
    log_steps: Count = 50
    onnx: bool | None = None
    device: Literal["auto", "cpu"] = "auto"
    revision: str | None = None
    offline: bool = False
    label_map: str | None = None


def as_settings(settings: Any) -> tuple[FinetuneSettings, dict[str, Any]]:
    """Settings from a record, a mapping, or texts KEY=VALUE; and those of no such name."""
    from pydantic import TypeAdapter, ValidationError

    if isinstance(settings, FinetuneSettings):
        settings = asdict(settings)
    elif not isinstance(settings, Mapping):
        several = [settings] if isinstance(settings, str) else settings
        if not isinstance(several, Sequence) or not all(
            isinstance(one, str) and "=" in one for one in several
        ):
            raise InputError(f"settings {settings!r}", expected="KEY=VALUE, such as epochs=3")
        parts = ((part.strip() for part in one.split("=", 1)) for one in several)
        nullable = ("onnx", "revision", "label_map")
        settings = {k: None if k in nullable and v == "none" else v for k, v in parts}
    names = {field.name for field in fields(FinetuneSettings)}
    others = {key: value for key, value in settings.items() if key not in names}
    values = {key: value for key, value in settings.items() if key in names}
    try:
        typed = TypeAdapter(FinetuneSettings).validate_python(values)
    except ValidationError as misfit:
        problem = misfit.errors(include_url=False)[0]
        what = f"the setting {problem['loc'][0]} is {problem['input']!r}"
        raise InputError(what, expected=problem["msg"].removeprefix("Input should be ")) from None
    if typed.batch_size % typed.accumulate:
        expected = f"a divisor of the batch size {typed.batch_size}"
        raise InputError(f"accumulate is {typed.accumulate}", expected=expected)
    if typed.early_stop and not typed.held_out:
        raise InputError("held_out is 0", expected="above 0, to stop early")
    return typed, others
