"""Fine-tuning, by the paper's settings (ZB21 §3.1, A.3): from a base and pairs to a
folder."""

import math
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Interval

from litepyramid._version import __version__
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import locked, new_folder, read_json, write_json, writing
from litepyramid.judges.evaluate import calibrate
from litepyramid.judges.nli.asking import MATCH_FROM, Reading
from litepyramid.judges.nli.backends import (
    as_tokenizer,
    load_classifier,
    load_tokenizer,
)
from litepyramid.judges.nli.checkpoint import (
    CARD_FILE,
    DEFAULT_MODE,
    THREE,
    TWO,
    ClassOrder,
    Kind,
    open_checkpoint,
)
from litepyramid.judges.nli.modes import Mode, presence
from litepyramid.progress import bar
from litepyramid.tables import plain
from litepyramid.training.onnx_models import (
    export_onnx,
    is_onnx,
    load_onnx_classifier,
    model_source,
    widen_types,
)
from litepyramid.training.packs import (
    as_packs,
    encode_packs,
    packed_classifier,
    padded,
)
from litepyramid.training.pairs import Head, TrainingPairs, encode_pairs, make_loss

_POINT = "checkpoint-"
_HELD_OUT = "held out"
_LARGE = 100_000_000  # parameters of a model that is not exported unless asked for
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
            + c of a three-class model. ``two-class`` puts a new head of present and
            absent on the encoder. ``three-class`` is cross-entropy over e, n, c; where
            only presence is known, over e and the sum of the other two probabilities;
            an encoder gets a new head. ``auto`` is three-class for mini, else presence.
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
        match: Tell by token types of their own which word pieces stand in both texts,
            as mini does; of a base that does so it is always true.
        packed: Read a summary once for all its units, some five times as fast: a BERT
            that is trained on packs of units, and marks matching word pieces in units.
        freeze: Number of lower layers that are left as they are, with the embeddings; 0
            trains everything.
        average: Weight of the past in a running mean of the weights, which is what is
            saved; 0 saves the last weights.
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
    match: bool = False
    packed: bool = False
    freeze: Steps = 0
    average: Share = 0.0
    early_stop: Steps = 0
    held_out: Share = 0.1
    bf16: bool = False
    seed: Steps = 12345
    save_steps: Steps = 0
    onnx: bool | None = None
    device: Literal["auto", "cpu"] = "auto"
    revision: str | None = None
    label_map: str | None = None


def as_settings(settings: Any) -> tuple[FinetuneSettings, dict[str, Any]]:
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


@dataclass(frozen=True)
class EpochQuality:
    """How well the model does on one set after an epoch."""

    epoch: int
    set: str
    pairs: int
    accuracy: float
    auc: float
    brier: float


@dataclass(frozen=True)
class TrainedFolder:
    """A folder that judges are made from; `resumed_from` is the update that it went on
    from."""

    folder: Path
    updates: int
    resumed_from: int
    history: tuple[EpochQuality, ...] = ()


@dataclass(frozen=True)
class _Base:
    """A model to begin with, its tokenizer, class order, and the most tokens it
    reads."""

    model: Any
    tokenizer: Any
    order: ClassOrder
    longest: int | None

    @property
    def match_from(self) -> int | None:
        """The first token id that is marked where it stands in both texts; None: none
        is."""
        start: int = getattr(self.model.config, "match_from", MATCH_FROM)
        return start if self.reading else None

    @property
    def reading(self) -> Reading | None:
        """How the model is asked about many units at once; None if it is not."""
        reading: Reading | None = getattr(self.model.config, "reading", None)
        return reading


def train_transformer(
    base: str,
    data: TrainingPairs,
    output: str | Path,
    settings: FinetuneSettings | None = None,
    *,
    development: TrainingPairs | None = None,
    evaluation: Mapping[str, TrainingPairs] | None = None,
    kind: Kind = "presence",
) -> TrainedFolder:
    """Fine-tunes a sequence classifier on labelled pairs (ZB21 §3.1, A.3).

    Checkpoints are kept in ``OUTPUT.training`` next to the output, for one process at a
    time; a run that was killed continues from the last one when it is called again with
    the same data and settings, and ends with the same weights. The goal appears only
    when it is complete, holds safetensors or ONNX and no pickles, and carries
    ``litepyramid.json``, from which judges take the mode that fits the head.
    `development` are the pairs of early stopping, `evaluation` the sets of the history,
    by name; `kind` is what the judge's card calls it.

    Several GPUs: start the same command with ``accelerate launch -m litepyramid
    finetune …``.
    """
    settings = settled(base, settings or FinetuneSettings())
    for package in ("torch", "transformers", "accelerate"):
        require(package, extra="train", purpose="fine-tuning")
    import transformers

    goal = Path(output)
    if not data.pairs:
        raise InputError("no labelled pairs to learn from")
    if settings.early_stop and not (development and development.pairs):
        raise InputError(
            "early stopping with nothing held out",
            expected="a held-out share above 0 of a data set of four inputs or more",
        )

    plan = run_facts(base, data, settings)
    work = goal.with_name(f"{goal.name}.training")
    with _claimed(work, {**plan, "version": __version__}):
        if goal.exists():
            raise InputError("already exists", path=goal, hint="Name a new folder.")
        transformers.set_seed(settings.seed)
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        start = _load(base, settings)
        sets = {
            **(evaluation or {}),
            **({_HELD_OUT: development} if development else {}),
        }
        watch = _watch(settings, work, sets)
        trainer = _trainer(
            start,
            data,
            work,
            settings,
            sets,
        )
        trainer.add_callback(watch)
        last = _last_checkpoint(work)
        resumed = int(last.name.removeprefix(_POINT)) if last else 0
        hint = f"Run it again to continue from the last checkpoint in {work}, if there is one."

        try:
            with loading("fine-tuning stopped", hint=hint):
                trainer.train(resume_from_checkpoint=str(last) if last else None)
        except KeyboardInterrupt as stop:
            if last := _last_checkpoint(work):
                done = f"{last.name.removeprefix(_POINT)} of {trainer.state.max_steps} updates"
                stop.add_note(f"{done} kept in {work}")
            raise

        updates = trainer.state.global_step
        if trainer.is_world_process_zero():
            mode = (
                HEAD_MODE[settings.head] if kind == "presence" else DEFAULT_MODE[kind]
            )
            losses = [
                row["train_loss"]
                for row in trainer.state.log_history
                if "train_loss" in row
            ]
            loss = losses[-1] if losses else None
            card = {
                "kind": kind,
                "mode": mode,
                "updates": updates,
                "loss": loss,
                **plan,
            }
            model = trainer.accelerator.unwrap_model(trainer.model)
            watch.exchange(model)
            if start.reading == "once":
                model = model.model  # within what reads packs
            with loading("the tuned model cannot be written", path=goal, hint=hint):
                _save(goal, replace(start, model=model), card, settings.onnx)
            for path in work.glob(f"{_POINT}*"):
                shutil.rmtree(path)

        trainer.accelerator.wait_for_everyone()

    return TrainedFolder(
        goal, updates, resumed, tuple(_history(trainer.state.log_history, sets))
    )


def settled(base: str, settings: FinetuneSettings) -> FinetuneSettings:
    """The settings, with the head and the token types of the base where none are asked
    for."""
    config = read_note(Path(model_source(base)).expanduser() / "config.json")
    packed = settings.packed or config.get("reading") == "once"
    match = not packed and (settings.match or config.get("reading") == "pairs")
    auto: Head = "three-class" if packed or match else "presence"
    head = auto if settings.head == "auto" else settings.head
    return replace(
        settings,
        head=head,
        match=match,
        packed=packed,
    )


def made_from(
    folder: Path, base: str, data: TrainingPairs, settings: FinetuneSettings
) -> dict[str, Any] | None:
    """The card of a folder that holds a model of just this run; None if it does not."""
    card = read_note(folder / CARD_FILE)
    return card if run_facts(base, data, settings).items() <= card.items() else None


def read_note(path: Path) -> dict[str, Any]:
    """A JSON object that was written next to a model; empty if there is none."""
    try:
        value = read_json(path)
    except InputError:
        return {}
    return value if isinstance(value, dict) else {}


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Writes what is known of a judge beside it, all or nothing."""
    write_json(folder / CARD_FILE, plain(card))


def run_facts(
    base: str, data: TrainingPairs, settings: FinetuneSettings
) -> dict[str, Any]:
    """What a run depends on, as its card says it."""
    used = asdict(settled(base, settings))
    return {
        "base": base,
        "revision": settings.revision,
        "data": {"pairs": len(data.pairs), "sha256": data.digest()},
        "settings": {key: value for key, value in used.items() if key not in _FACTS},
    }


def _last_checkpoint(work: Path) -> Path | None:
    """The newest complete checkpoint: the trainer writes its state file last."""
    points = [path.parent for path in work.glob(f"{_POINT}*/trainer_state.json")]
    return max(
        points, key=lambda path: int(path.name.removeprefix(_POINT)), default=None
    )


@contextmanager
def _claimed(work: Path, plan: Mapping[str, Any]) -> Iterator[None]:
    """Holds the folder of checkpoints for one process; removed if none are left in
    it."""
    if int(
        os.environ.get("RANK") or 0
    ):  # the first of several processes holds it for all
        yield
        return

    note = work / "run.json"
    with writing(work):
        work.mkdir(parents=True, exist_ok=True)
    with locked(work):
        try:
            if not any(
                work.glob("[!.]*")
            ):  # new, or left by a run that was killed at once
                write_json(note, plan)
            if read_note(note) != plan:
                raise InputError(
                    "holds other files, or a run with another base, data, settings or "
                    "version",
                    path=work,
                    hint="Use the same ones to continue, or delete the folder to "
                    "start over.",
                )
            yield
        finally:
            if read_note(note) == plan and not any(work.glob(f"{_POINT}*")):
                note.unlink()
                with suppress(OSError):  # other files are in it
                    work.rmdir()


def _load(base: str, settings: FinetuneSettings) -> _Base:
    """The base in float32, with a new head where the head asks for one."""
    source = model_source(base)
    longest: int | None = None
    options: dict[str, Any] = {}
    two = settings.head == "two-class"

    if new := two or (
        settings.head == "three-class" and not _classifies(source, settings)
    ):
        order = ClassOrder(TWO, (1, 0)) if two else ClassOrder(THREE, (0, 1, 2))
        options = {"num_labels": len(order.classes), "ignore_mismatched_sizes": True}
    else:
        backend: Literal["onnx", "torch"] = "onnx" if is_onnx(base) else "torch"
        labels = settings.label_map
        point = open_checkpoint(
            source,
            revision=settings.revision,
            label_map=labels,
            backend=backend,
        )

        if point.order.classes != THREE:
            raise ModelError(
                f"'{base}' has two classes and the head '{settings.head}' needs three",
                hint="Use the head two-class.",
            )

        order = point.order
        longest = point.longest

    tokenizer = load_tokenizer(source, settings.revision)
    if is_onnx(base) and not new:
        model = load_onnx_classifier(Path(source).expanduser())
    else:
        names = dict(sorted(zip(order.indices, order.classes, strict=True)))
        options |= {
            "id2label": names,
            "label2id": {name: index for index, name in names.items()},
        }
        model, _ = load_classifier(
            source, settings.revision, dtype="float32", **options
        )

    reading: Reading = "once" if settings.packed else "pairs"
    if settings.packed or settings.match:
        if getattr(model.config, "reading", None):
            model.config.reading = reading
        else:
            widen_types(model, reading)

    if settings.freeze:
        _freeze(model, settings.freeze)
    return _Base(model, tokenizer, order, longest)


def _classifies(source: str, settings: FinetuneSettings) -> bool:
    """Whether a model has been trained to classify, by what its configuration says."""
    import transformers

    where = {"revision": settings.revision, "trust_remote_code": False}
    with loading(f"the configuration of '{source}' cannot be read"):
        config = transformers.AutoConfig.from_pretrained(source, **where)
    return any("SequenceClassification" in name for name in config.architectures or ())


def _freeze(model: Any, layers: int) -> None:
    """Leaves the embeddings and the lowest layers of the encoder as they are."""
    encoder = model.base_model
    stack = getattr(getattr(encoder, "encoder", encoder), "layer", None)
    if stack is None or layers > len(stack):
        raise InputError(
            f"freeze is {layers}",
            expected=f"at most the {len(stack or ())} layers of the encoder",
        )
    for module in (encoder.embeddings, *stack[:layers]):
        module.requires_grad_(False)


def _trainer(
    start: _Base,
    data: TrainingPairs,
    work: Path,
    settings: FinetuneSettings,
    evaluation: Mapping[str, TrainingPairs],
) -> Any:
    """The trainer of transformers with our data, loss, figures and callback."""
    import torch
    import transformers

    packed = start.reading == "once"

    def encoded(pairs: TrainingPairs) -> list[dict[str, Any]]:
        length = min(settings.max_length, start.longest or settings.max_length)
        first = start.match_from
        if not packed or first is None:
            return encode_pairs(
                start.tokenizer,
                pairs,
                length,
                settings.head,
                first,
            )
        tokenizer = as_tokenizer(start.tokenizer)
        packs = as_packs(pairs)
        return [
            *encode_packs(
                tokenizer,
                packs,
                length,
                settings.head,
                first,
            )
        ]

    def figures(prediction: Any) -> dict[str, float]:
        labels = np.asarray(prediction.label_ids)
        real = labels[..., 0] >= 0
        logits = start.order.logits(np.asarray(prediction.predictions)[real])
        judged = np.asarray(presence(logits, HEAD_MODE[settings.head]))
        truth = labels[real][:, 0]
        result = calibrate(judged, (truth >= 0.5).astype(np.float64))
        brier = float(np.mean((judged - truth) ** 2))

        return {
            "accuracy": float(result.accuracy),
            "auc": float(result.auc),
            "brier": brier,
        }

    on_cpu = settings.device == "cpu"
    devices = 1 if on_cpu else max(1, torch.cuda.device_count())
    per_device = max(1, settings.batch_size // devices)
    rows = encoded(data)
    if packed:  # a row is a pack, and a batch counts pairs
        per_device = max(1, round(per_device * len(rows) / len(data.pairs)))
    updates = max(1, round(settings.epochs * len(data.pairs) / settings.batch_size))
    early = bool(settings.early_stop)
    schedule = {"linear": "linear", "constant": "constant_with_warmup"}
    arguments = transformers.TrainingArguments(
        output_dir=str(work),
        num_train_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        lr_scheduler_type=schedule[settings.schedule],
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        optim="adamw_torch",
        per_device_train_batch_size=per_device,
        per_device_eval_batch_size=4 * per_device,
        bf16=settings.bf16,
        seed=settings.seed,
        data_seed=settings.seed,
        train_sampling_strategy="group_by_length"
        if settings.batches == "length"
        else "random",
        save_strategy="epoch" if early else "steps",
        save_steps=settings.save_steps or max(1, updates // 20),
        save_total_limit=2,
        eval_strategy="epoch" if evaluation else "no",
        load_best_model_at_end=early,
        metric_for_best_model=f"{_HELD_OUT}_brier" if early else None,
        greater_is_better=False if early else None,
        logging_steps=50,
        disable_tqdm=True,
        report_to="none",
        use_cpu=on_cpu,
        dataloader_pin_memory=not on_cpu and torch.cuda.is_available(),
    )

    sets = {
        name: sorted(encoded(pairs), key=lambda row: len(row["input_ids"]))
        for name, pairs in evaluation.items()
    }
    trainer = transformers.Trainer(
        model=packed_classifier(start.model) if packed else start.model,
        args=arguments,
        data_collator=padded
        if packed
        else transformers.DataCollatorWithPadding(start.tokenizer),
        train_dataset=rows,
        eval_dataset=sets or None,
        compute_loss_func=make_loss(settings.head, start.order),
        compute_metrics=figures,
        callbacks=[transformers.EarlyStoppingCallback(settings.early_stop)]
        if early
        else None,
    )
    trainer.remove_callback(transformers.trainer_callback.PrinterCallback)
    return trainer


def _history(
    log: Iterable[Mapping[str, Any]], evaluation: Mapping[str, TrainingPairs]
) -> list[EpochQuality]:
    """The figures in the trainer's log, which is kept with its checkpoints."""
    names = ("accuracy", "auc", "brier")
    return [
        EpochQuality(
            math.ceil(row["epoch"] - 1e-6),  # the last one may be a part
            name,
            len(pairs.pairs),
            *(row[f"eval_{name}_{figure}"] for figure in names),
        )
        for row in log
        for name, pairs in evaluation.items()
        if name != _HELD_OUT and f"eval_{name}_brier" in row
    ]


def _watch(
    settings: FinetuneSettings, work: Path, evaluation: Mapping[str, TrainingPairs]
) -> Any:
    """A callback: the bar, figures as they come, the mean of the weights, kept with
    checkpoints."""
    import torch
    import transformers
    from safetensors.torch import load_file, save_file

    class Watch(transformers.TrainerCallback):
        mean: dict[str, Any]
        left = 0  # sets that are still to be evaluated

        def on_train_begin(
            self, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            shown = None if state.is_world_process_zero else False
            self.bar = bar(state.max_steps, "fine-tuning", "updates", shown=shown)
            self.bar.update(state.global_step)
            if shown is None and not sys.stderr.isatty():
                print(f"fine-tuning: {state.max_steps} updates", file=sys.stderr)
            stored, self.mean = self._folder(state) / "mean.safetensors", {}
            if stored.is_file():
                self.mean = {n: t.to(args.device) for n, t in load_file(stored).items()}
            elif settings.average:
                named = event["model"].named_parameters()
                self.mean = {n: p.detach().clone() for n, p in named if p.requires_grad}

        def on_step_end(
            self, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            self.bar.update(state.global_step - self.bar.done)
            share = min(
                settings.average, (state.global_step + 1) / (state.global_step + 10)
            )
            with torch.no_grad():
                for name, values in event["model"].named_parameters():
                    if name in self.mean:
                        self.mean[name].lerp_(values, 1 - share)

        def on_log(self, args: Any, state: Any, control: Any, **event: Any) -> None:
            if "loss" in event["logs"]:
                self.bar.set_postfix({"loss": event["logs"]["loss"]})

        def on_evaluate(
            self, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            self.left -= 1
            if not self.left:
                self.exchange(event["model"])
            if state.is_world_process_zero:
                for row in _history(
                    [{"epoch": state.epoch, **event["metrics"]}], evaluation
                ):
                    figures = f"AUC {row.auc:.3f}, Brier {row.brier:.3f}"
                    self.bar.write(f"epoch {row.epoch}, {row.set}: {figures}")

        def on_epoch_end(
            self, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            self.left = len(evaluation)
            if evaluation:  # what will be saved is measured, and the figures are kept
                self.exchange(event["model"])
                (self._folder(state) / "trainer_state.json").unlink(missing_ok=True)
                control.should_save = True

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if (
                self.mean
                and self._folder(state).is_dir()
                and state.is_world_process_zero
            ):
                save_file(self.mean, self._folder(state) / "mean.safetensors")

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar.close()

        def exchange(self, model: Any) -> None:
            """Puts the mean where the weights are, and the weights where the mean
            was."""
            with torch.no_grad():
                for name, values in model.named_parameters():
                    if name in self.mean:
                        weights = values.clone()
                        values.copy_(self.mean[name])
                        self.mean[name].copy_(weights)

        def _folder(self, state: Any) -> Path:
            return work / f"{_POINT}{state.global_step}"

    return Watch()


def _save(goal: Path, made: _Base, card: Mapping[str, Any], onnx: bool | None) -> None:
    """Writes model, tokenizer and card; one that marks matching tokens as ONNX
    alone."""
    model = made.model
    packed = made.reading is not None
    with new_folder(goal) as folder:
        if packed:
            model.config.architectures = [type(model).__name__]
            model.config.save_pretrained(folder)
        else:
            model.save_pretrained(folder)
        made.tokenizer.save_pretrained(folder)
        if packed or onnx or (onnx is None and model.num_parameters() <= _LARGE):
            export_onnx(model, made.tokenizer, folder / "model.onnx")
        write_card(folder, card)
