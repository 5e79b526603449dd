"""One fine-tuning run: from a base model and labelled pairs to a folder that can judge."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid._version import __version__
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import atomic_folder, atomic_write, locked, read_json, write_json, writing
from litepyramid.judges.nli.cards import CARD_FILE, DEFAULT_MODE, Kind
from litepyramid.judges.nli.checkpoint import Checkpoint, open_checkpoint
from litepyramid.judges.nli.forward import load_classifier, load_tokenizer
from litepyramid.judges.nli.labels import THREE, TWO, ClassOrder
from litepyramid.progress import bar
from litepyramid.tables import plain
from litepyramid.training.loss import balanced_weights, make_loss
from litepyramid.training.pairs import TrainingPairs, encode_pairs
from litepyramid.training.settings import HEAD_MODE, FinetuneSettings

_PURPOSE = "fine-tuning"
_POINT = "checkpoint-"


@dataclass(frozen=True, slots=True)
class TrainedFolder:
    """A folder that ``--judge`` takes, and what the run did.

    Attributes:
        folder: Where it is.
        pairs: Labelled pairs learned from.
        updates: Optimiser steps made over the whole run.
        resumed_from: The update that this process went on from; 0 if it began the run.
        loss: Mean training loss of the last update that was logged; NaN if none was.
    """

    folder: Path
    pairs: int
    updates: int
    resumed_from: int
    loss: float


def train_transformer(
    base: str,
    data: TrainingPairs,
    output: str | Path,
    settings: FinetuneSettings | None = None,
    *,
    development: TrainingPairs | None = None,
    revision: str | None = None,
    offline: bool = False,
    label_map: Mapping[str, str] | None = None,
    device: str = "auto",
    kind: Kind = "presence",
) -> TrainedFolder:
    """Fine-tunes a sequence classifier on labelled pairs (ZB21 §3.1, A.3).

    Restart points are kept in ``OUTPUT.training`` next to the output, for one process at a time; a
    run that was killed continues from the last one when it is called again with the same data and
    settings, and ends with the same weights. The goal appears only when it is complete, holds
    safetensors and no pickles, and carries ``litepyramid.json``, from which judges take the mode
    that fits the head.

    Several GPUs: start the same command with ``accelerate launch -m litepyramid finetune …``.

    Args:
        base: Hub id or folder: an NLI classifier, or for the two-class head any encoder.
        data: Pairs and labels, in the coding of the settings' head.
        output: The folder to make.
        settings: How; the paper's by default.
        development: Held-out pairs for early stopping.
        revision: Branch, tag or commit of a hub model.
        offline: Look only in the local hub cache.
        label_map: Which of the base's labels means what, see `presence.labels.class_order`.
        device: ``auto`` or ``cpu``.
        kind: What the judge's card calls it: ``presence`` when the labels were people's presence
            labels, ``zero-shot`` when it learned from NLI data alone.

    Returns:
        The folder and what was done.

    Raises:
        InputError: There is something else at `output`, no pairs, or another run's restart
            points; another process trains there, or the folder cannot be written.
        ModelError: The base cannot be read or has no classes that fit the head; training failed.
        MissingExtraError: torch, transformers or accelerate is not installed.
    """
    settings = settings or FinetuneSettings()
    for package in ("torch", "transformers", "accelerate"):
        require(package, extra="train", purpose=_PURPOSE)
    import transformers

    goal = Path(output)
    if not data.pairs:
        raise InputError("no labelled pairs to learn from")
    if settings.early_stop and not (development and development.pairs):
        raise InputError(
            "early stopping with nothing held out",
            expected="a held-out share above 0 of a data set of four inputs or more",
        )
    plan = run_facts(base, revision, data, settings)
    work = goal.with_name(f"{goal.name}.training")
    with _claimed(work, {**plan, "version": __version__}):
        if goal.exists():
            raise InputError("already exists", path=goal, hint="Name a new folder.")
        transformers.set_seed(settings.seed)
        model, tokenizer, order, longest = _load(base, settings, revision, offline, label_map)
        length = min(settings.max_length, longest or settings.max_length)
        weights, classes = None, 3 if settings.head == "three-class" else 2
        if settings.class_weights == "balanced":
            weights = balanced_weights(data.labels, classes)
        trainer = transformers.Trainer(
            model=model,
            args=_arguments(work, data, settings, device),
            data_collator=transformers.DataCollatorWithPadding(tokenizer),
            train_dataset=encode_pairs(tokenizer, data, length, classes),
            eval_dataset=encode_pairs(tokenizer, development, length, classes)
            if development
            else None,
            compute_loss_func=make_loss(settings.head, order, weights),
            compute_metrics=_development_metrics(settings, order),
            callbacks=[transformers.EarlyStoppingCallback(settings.early_stop)]
            if settings.early_stop
            else None,
        )
        trainer.remove_callback(transformers.trainer_callback.PrinterCallback)
        trainer.add_callback(_progress())
        last = _last_restart_point(work)
        resumed = int(last.name.removeprefix(_POINT)) if last else 0
        hint = f"Run it again to continue from the last checkpoint in {work}, if there is one."
        try:
            with loading("fine-tuning stopped", hint=hint):
                trainer.train(resume_from_checkpoint=str(last) if last else None)
        except KeyboardInterrupt as stop:
            if last := _last_restart_point(work):
                done = f"{last.name.removeprefix(_POINT)} of {trainer.state.max_steps} updates"
                stop.add_note(f"{done} kept in {work}")
            raise
        # Few updates leave no loss of their own in the log, but always the mean of all.
        log = trainer.state.log_history
        logged = [row[k] for k in ("train_loss", "loss") for row in log if k in row]
        loss = float(logged[-1]) if logged else float("nan")
        if trainer.is_world_process_zero():
            card = {
                "kind": kind,
                "mode": HEAD_MODE[settings.head] if kind == "presence" else DEFAULT_MODE[kind],
                "updates": trainer.state.global_step,
                "loss": loss if logged else None,
                **plan,
            }
            with loading("the tuned model cannot be written", path=goal, hint=hint):
                _save(goal, trainer.accelerator.unwrap_model(trainer.model), tokenizer, card)
            for point in work.glob(f"{_POINT}*"):
                shutil.rmtree(point)
        trainer.accelerator.wait_for_everyone()
    return TrainedFolder(goal, len(data.pairs), trainer.state.global_step, resumed, loss)


def made_from(
    folder: Path, base: str, revision: str | None, data: TrainingPairs, settings: FinetuneSettings
) -> dict[str, Any] | None:
    """The card of a folder that holds a model of just this run; None if it does not."""
    card = read_note(folder / CARD_FILE)
    return card if run_facts(base, revision, data, settings).items() <= card.items() else None


def read_note(path: Path) -> dict[str, Any]:
    """A JSON object that was written next to a model; empty if there is none."""
    try:
        found = read_json(path)
    except InputError:
        return {}
    return found if isinstance(found, dict) else {}


def write_card(folder: Path, card: Mapping[str, Any]) -> None:
    """Writes what is known of a judge beside it, all or nothing."""
    write_json(folder / CARD_FILE, plain(card))


def run_facts(
    base: str, revision: str | None, data: TrainingPairs, settings: FinetuneSettings
) -> dict[str, Any]:
    """What a run depends on, as its card says it."""
    return {
        "base": base,
        "revision": revision,
        "data": {"pairs": len(data.pairs), "sha256": data.digest()},
        "settings": asdict(settings),
    }


def _last_restart_point(work: Path) -> Path | None:
    """The newest complete restart point: the trainer writes its state file last."""
    points = [
        path
        for path in work.glob(f"{_POINT}*")
        if path.name.removeprefix(_POINT).isdigit() and (path / "trainer_state.json").is_file()
    ]
    return max(points, key=lambda path: int(path.name.removeprefix(_POINT)), default=None)


@contextmanager
def _claimed(work: Path, plan: Mapping[str, Any]) -> Iterator[None]:
    """Holds the folder of restart points for one process; removed if none are left in it.

    Of several processes that train one model together the first holds it for all.
    """
    if int(os.environ.get("RANK") or 0):
        yield
        return
    note = work / "run.json"
    with writing(work):
        work.mkdir(parents=True, exist_ok=True)
    with locked(work):
        try:
            if not any(work.glob("[!.]*")):  # new, or left by a run that was killed at once
                with atomic_write(note) as file:
                    json.dump(plan, file, indent=1)
            if read_note(note) != plan:
                raise InputError(
                    "holds checkpoints of a run with another base, data, settings or version"
                    if note.exists()
                    else "holds files that are not checkpoints",
                    path=work,
                    hint="Use the same ones to continue, or delete the folder to start over.",
                )
            yield
        finally:
            if read_note(note) == plan and not any(work.glob(f"{_POINT}*")):
                note.unlink()
                with suppress(OSError):  # other files are in it
                    work.rmdir()


def _load(
    base: str,
    settings: FinetuneSettings,
    revision: str | None,
    offline: bool,
    label_map: Mapping[str, str] | None,
) -> tuple[Any, Any, ClassOrder, int | None]:
    """The base model in float32, its tokenizer, its class order and the most tokens it reads."""
    options: dict[str, Any] = {}
    if settings.head == "two-class":
        order = ClassOrder(TWO, (1, 0))
        options |= {
            "num_labels": 2,
            "id2label": {0: "absent", 1: "present"},
            "label2id": {"absent": 0, "present": 1},
            "ignore_mismatched_sizes": True,
        }
        longest: int | None = None
    else:
        point: Checkpoint = open_checkpoint(
            base, revision=revision, offline=offline, label_map=label_map
        )
        if point.order.classes != THREE:
            raise ModelError(
                f"'{base}' has two classes and the head '{settings.head}' needs three",
                hint="Use the head two-class.",
            )
        order, longest = point.order, point.longest
        names = dict(zip(order.indices, order.classes, strict=True))
        options |= {"id2label": names, "label2id": {name: index for index, name in names.items()}}
    tokenizer = load_tokenizer(base, revision, offline=offline)
    model, _ = load_classifier(base, revision=revision, offline=offline, dtype="float32", **options)
    return model, tokenizer, order, longest


def _arguments(work: Path, data: TrainingPairs, settings: FinetuneSettings, device: str) -> Any:
    """The settings in transformers' words."""
    import torch
    import transformers

    devices = 1 if device == "cpu" else max(1, torch.cuda.device_count())
    per_device = max(1, settings.batch_size // (settings.accumulate * devices))
    updates = max(1, round(settings.epochs * len(data.pairs) / settings.batch_size))
    by_epoch = bool(settings.early_stop)
    return transformers.TrainingArguments(
        output_dir=str(work),
        num_train_epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        optim="adamw_torch",
        per_device_train_batch_size=per_device,
        per_device_eval_batch_size=4 * per_device,
        gradient_accumulation_steps=settings.accumulate,
        bf16=settings.bf16,
        seed=settings.seed,
        data_seed=settings.seed,
        train_sampling_strategy="random",
        save_strategy="epoch" if by_epoch else "steps",
        save_steps=settings.save_steps or max(1, updates // 20),
        save_total_limit=2,
        eval_strategy="epoch" if by_epoch else "no",
        load_best_model_at_end=by_epoch,
        metric_for_best_model="brier" if by_epoch else None,
        greater_is_better=False if by_epoch else None,
        logging_steps=settings.log_steps,
        disable_tqdm=True,
        report_to="none",
        use_cpu=device == "cpu",
        dataloader_pin_memory=device != "cpu" and torch.cuda.is_available(),
    )


def _progress() -> Any:
    """A bar of the updates, with the last loss and the Brier score of held-out pairs."""
    import transformers

    class Progress(transformers.TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            shown = None if state.is_world_process_zero else False
            self.bar = bar(state.max_steps, "fine-tuning", "updates", shown=shown)
            self.bar.update(state.global_step)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar.update(state.global_step - self.bar.n)

        def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            logs = given["logs"]
            self.bar.set_postfix({n: logs[n] for n in ("loss", "eval_brier") if n in logs})

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar.close()

    return Progress()


def _development_metrics(settings: FinetuneSettings, order: ClassOrder) -> Any:
    """The Brier score of held-out pairs, by which the best epoch is chosen."""
    from litepyramid.judges.nli.modes import presence

    mode = HEAD_MODE[settings.head]

    def metrics(prediction: Any) -> dict[str, float]:
        given = presence(order.logits(prediction.predictions), mode)
        labels = np.asarray(prediction.label_ids)
        entails = 0 if settings.head == "three-class" else 1
        truth = labels[:, entails] if labels.ndim == 2 else labels == entails
        return {"brier": float(np.mean((given - truth) ** 2))}

    return metrics


def _save(goal: Path, model: Any, tokenizer: Any, card: Mapping[str, Any]) -> None:
    """Writes model, tokenizer and card, so that no half model is ever there."""
    with atomic_folder(goal) as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        write_card(folder, card)
