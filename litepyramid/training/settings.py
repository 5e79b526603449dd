"""Settings of a fine-tuning run (ZB21 §3.1, A.3), and the card that says what a folder
was made from."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Interval

from litepyramid.disk import write_json
from litepyramid.errors import InputError, no_effect
from litepyramid.files import file_type, read_json
from litepyramid.identity import fingerprint
from litepyramid.judges.nli.model_folder import CARD_FILE, hash_folder
from litepyramid.judges.nli.modes import Mode
from litepyramid.judges.registry import REFITTED
from litepyramid.tables import plain
from litepyramid.training.onnx_models import model_source
from litepyramid.training.pairs import Head, Pairs, digest
from litepyramid.types import Fields

# Settings that change no weight: a folder made with others is the same judge.
_FACTS = ("revision", "onnx", "device", "save_steps")

Above = Annotated[float, Interval(gt=0, le=1e6)]
Share = Annotated[float, Interval(ge=0, lt=1)]
Count = Annotated[int, Interval(ge=1, le=10**9)]
Steps = Annotated[int, Interval(ge=0, le=10**9)]

HEAD_MODE: dict[str, Mode] = {
    "presence": "p2c",
    "two-class": "p2c",
    "three-class": "p3c",
}
"""The mode that fits what a head was trained to tell apart."""


@dataclass(frozen=True)
class FinetuneSettings:
    """Settings of one fine-tuning run.

    The paper gives the learning rate, the linear schedule with warm-up, AdamW and two
    epochs (ZB21 A.3); the length of the warm-up, the batch size and the seed are ours.

    Attributes:
        head: ``presence`` is the paper's: two-way cross-entropy over the logits e and n
            + c of a three-class model. ``two-class`` is a head of present and absent
            on any encoder: the base's own where its labels, or `label_map`, name these
            classes, else a new one. ``three-class`` is cross-entropy over e, n, c;
            where only presence is known, over e and the sum of the other two; an
            encoder gets a new head. ``auto`` is three-class for mini, else presence.
        epochs: Passes over the training pairs.
        learning_rate: Peak of the linear schedule.
        warmup: Share of the steps over which the learning rate rises.
        schedule: Whether it falls from there to nothing (``linear``), or stays
            (``constant``).
        batch_size: Pairs in one update, over all devices.
        batches: ``random``, or ``length``: pairs of about the same length together,
            which saves padding.
        max_length: The most tokens of a pair; the summary is cut.
        weight_decay: Weight decay of AdamW.
        packed: Read a summary once for all its units, some five times as fast: a BERT
            that is trained on packs of units, and marks matching word pieces in units
            by token types of their own, as mini does; of a base that does so it is
            always true.
        early_stop: Epochs without a better held-out Brier score after which training
            stops; 0 is never. The best epoch's weights are kept.
        held_out: Share of the inputs kept away from training to measure what was
            learned.
        bf16: Mixed precision with bfloat16, on GPUs and CPUs that have it.
        seed: Seed of the order of pairs, dropout, new heads and the held-out inputs.
        save_steps: Updates between two checkpoints; 0 for twenty over the whole run.
        onnx: Whether ``model.onnx`` is written too, so that the judge runs without
            torch; None for models of up to 100 million parameters.
        device: ``auto`` or ``cpu``.
        revision: Branch, tag or commit of a hub model.
        label_map: Which of the base's labels means what: ``entailment=0,neutral=1,…``.
    """

    head: Head = "auto"
    epochs: Above = 2
    learning_rate: Above = 1e-5
    warmup: Share = 0.06
    schedule: Literal["linear", "constant"] = "linear"
    batch_size: Count = 32
    batches: Literal["random", "length"] = "random"
    max_length: Annotated[int, Interval(ge=8, le=10**6)] = 400
    weight_decay: Share = 0.0
    packed: bool = False
    early_stop: Steps = 0
    held_out: Share = 0.1
    bf16: bool = False
    seed: Steps = 12345
    save_steps: Steps = 0
    onnx: bool | None = None
    device: Literal["auto", "cpu"] = "auto"
    revision: str | None = None
    label_map: str | None = None


def as_settings(settings: Any) -> tuple[FinetuneSettings, Fields]:
    """Settings from a record, a mapping, or texts KEY=VALUE; and those of no such
    name."""
    from pydantic import TypeAdapter, ValidationError

    if isinstance(settings, FinetuneSettings):
        settings = asdict(settings)
    elif not isinstance(settings, Mapping):
        several = [settings] if isinstance(settings, str) else settings
        if not isinstance(several, Sequence) or not all(
            isinstance(one, str) and "=" in one for one in several
        ):
            raise InputError(
                f"settings {settings!r}", expected="KEY=VALUE, such as epochs=3"
            )
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
        raise InputError(
            f"the setting {problem['loc'][0]} is {problem['input']!r}",
            expected=problem["msg"].removeprefix("Input should be "),
        ) from None

    if typed.early_stop and not typed.held_out:
        raise InputError("held_out is 0", expected="above 0, to stop early")
    return typed, others


def check_used(settings: FinetuneSettings, base: str, *unused: str) -> None:
    """Refuses settings that were given where they change nothing: `unused` ones, and
    most of a judge that is refitted or ready."""
    ready = base in REFITTED or "{fold}" in base
    used = {"held_out", "seed", "device", "revision"}
    for name, value in asdict(settings).items():
        idle = name in unused or (ready and name not in used)
        no_effect(FinetuneSettings, idle, f"on {base}", **{name: value})


def settled(base: str, settings: FinetuneSettings) -> FinetuneSettings:
    """The settings, with the base's head and way of reading where none is asked
    for."""
    config = read_note(Path(model_source(base)).expanduser() / "config.json")
    packed = settings.packed or config.get("reading") == "once"
    auto: Head = "three-class" if packed else "presence"
    head = auto if settings.head == "auto" else settings.head
    return replace(settings, head=head, packed=packed)


def made_from(
    folder: Path, base: str, data: Pairs, settings: FinetuneSettings
) -> Fields | None:
    """The card of a folder that holds a model of just this run; None if it does not."""
    card = read_note(folder / CARD_FILE)
    return card if run_facts(base, data, settings).items() <= card.items() else None


def read_note(path: Path) -> Fields:
    """A JSON object that was written next to a model; empty if there is none."""
    try:
        value = read_json(path)
    except InputError:
        return {}
    return value if isinstance(value, dict) else {}


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Writes what is known of a judge beside it, all or nothing; in place of what was
    known before, since whose a folder is was checked before the training."""
    write_json(folder / CARD_FILE, plain(card), force=True)


def base_facts(base: str, folds: int = 1) -> dict[str, str]:
    """What names a base in signatures and cards: its name, and of a folder a hash of
    its files; where it lies on this machine says nothing.

    A base with ``{fold}`` in its name is as many folders.
    """
    folder = Path(model_source(base)).expanduser()
    folders = [folder]
    if "{fold}" in base:
        numbers = range(1, folds + 1)
        folders = [Path(str(folder).replace("{fold}", str(n))) for n in numbers]
    if any(file_type(one / "config.json") != "file" for one in folders):
        return {"base": base}

    shas = [hash_folder(one).removeprefix("sha256:") for one in folders]
    sha = shas[0][:12] if len(shas) == 1 else fingerprint(shas)
    name = base if base == "mini" else folder.absolute().name
    return {"base": name, "base_sha": sha}


def run_facts(base: str, data: Pairs, settings: FinetuneSettings) -> Fields:
    """What a run depends on, as its card says it."""
    used = asdict(settled(base, settings))
    return {
        **base_facts(base),
        "revision": settings.revision,
        "data": {"pairs": len(data), "sha256": digest(data)},
        "settings": {key: value for key, value in used.items() if key not in _FACTS},
    }
