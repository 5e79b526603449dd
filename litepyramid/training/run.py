"""One fine-tuning run: from a base model and labelled pairs to a folder that can judge."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid._version import __version__
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.files import atomic_write, locked, new_folder, read_json, write_json, writing
from litepyramid.judges.evaluate import calibrate
from litepyramid.judges.nli.checkpoint import (
    CARD_FILE,
    DEFAULT_MODE,
    THREE,
    TWO,
    ClassOrder,
    Kind,
    open_checkpoint,
    parse_label_map,
)
from litepyramid.judges.nli.modes import presence
from litepyramid.judges.nli.torch_backend import load_classifier, load_tokenizer
from litepyramid.progress import bar
from litepyramid.tables import plain
from litepyramid.training.loss import make_loss
from litepyramid.training.onnx_export import export_onnx
from litepyramid.training.pairs import TrainingPairs, balanced_weights, encode_pairs
from litepyramid.training.settings import HEAD_MODE, FinetuneSettings
from litepyramid.types import FloatArray

_PURPOSE = "fine-tuning"
_POINT = "checkpoint-"
_LARGE = 100_000_000  # parameters of a model that is not exported unless asked for
_FACTS = ("onnx", "device", "offline", "log_steps", "save_steps")  # change no weights


@dataclass(frozen=True, slots=True)
class EpochQuality:
    """How well the model does on one set after an epoch."""

    epoch: int
    set: str
    pairs: int
    accuracy: float
    auc: float
    brier: float


@dataclass(frozen=True, slots=True)
class TrainedFolder:
    """A folder that judges are made from, and what the run did.

    Attributes:
        folder: Where it is.
        pairs: Labelled pairs learned from.
        updates: Optimiser steps made over the whole run.
        resumed_from: The update that this process went on from; 0 if it began the run.
        loss: Mean training loss of the last update that was logged; NaN if none was.
        history: The figures of every evaluation set after every epoch.
    """

    folder: Path
    pairs: int
    updates: int
    resumed_from: int
    loss: float
    history: tuple[EpochQuality, ...] = ()


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

    Checkpoints are kept in ``OUTPUT.training`` next to the output, for one process at a time; a
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
        evaluation: Sets to evaluate on after every epoch, by name.
        kind: What the judge's card calls it: ``presence`` when the labels were people's presence
            labels, ``zero-shot`` when it learned from NLI data alone.

    Raises:
        InputError: There is something else at `output`, no pairs, or another run's checkpoints;
            another process trains there, or the folder cannot be written.
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
    plan = run_facts(base, data, settings)
    work = goal.with_name(f"{goal.name}.training")
    with _claimed(work, {**plan, "version": __version__}):
        if goal.exists():
            raise InputError("already exists", path=goal, hint="Name a new folder.")
        transformers.set_seed(settings.seed)
        model, tokenizer, order, longest = _load(base, settings)
        _freeze(model, settings.freeze)
        length = min(settings.max_length, longest or settings.max_length)
        classes = 3 if settings.head == "three-class" else 2
        weights = None
        if settings.class_weights == "balanced":
            weights = balanced_weights(data.labels, classes)
        encoded = {
            name: encode_pairs(tokenizer, pairs, length, classes)
            for name, pairs in (evaluation or {}).items()
        }
        trainer = transformers.Trainer(
            model=model,
            args=_arguments(work, data, settings),
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
        epochs = _evaluation(trainer, encoded, settings, order, work / "history.json")
        trainer.add_callback(epochs)
        mean = _mean_weights(settings.average, work) if settings.average else None
        if mean is not None:
            trainer.add_callback(mean)
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
            final = trainer.accelerator.unwrap_model(trainer.model)
            if mean is not None:
                mean.put(final)
            with loading("the tuned model cannot be written", path=goal, hint=hint):
                _save(goal, final, tokenizer, card, settings.onnx)
            for path in (*work.glob(f"{_POINT}*"), *work.glob("history.json")):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        trainer.accelerator.wait_for_everyone()
    history = tuple(epochs.rows)
    return TrainedFolder(goal, len(data.pairs), trainer.state.global_step, resumed, loss, history)


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


def run_facts(base: str, data: TrainingPairs, settings: FinetuneSettings) -> dict[str, Any]:
    """What a run depends on, as its card says it."""
    used = {key: value for key, value in asdict(settings).items() if key not in _FACTS}
    revision = used.pop("revision")
    return {
        "base": base,
        "revision": revision,
        "data": {"pairs": len(data.pairs), "sha256": data.digest()},
        "settings": used,
    }


def _last_checkpoint(work: Path) -> Path | None:
    """The newest complete checkpoint: the trainer writes its state file last."""
    points = [
        path
        for path in work.glob(f"{_POINT}*")
        if path.name.removeprefix(_POINT).isdigit() and (path / "trainer_state.json").is_file()
    ]
    return max(points, key=lambda path: int(path.name.removeprefix(_POINT)), default=None)


@contextmanager
def _claimed(work: Path, plan: Mapping[str, Any]) -> Iterator[None]:
    """Holds the folder of checkpoints for one process; removed if none are left in it.

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


def _load(base: str, settings: FinetuneSettings) -> tuple[Any, Any, ClassOrder, int | None]:
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
        point = open_checkpoint(
            base,
            revision=settings.revision,
            offline=settings.offline,
            label_map=parse_label_map(settings.label_map) if settings.label_map else None,
            backend="torch",
        )
        if point.order.classes != THREE:
            raise ModelError(
                f"'{base}' has two classes and the head '{settings.head}' needs three",
                hint="Use the head two-class.",
            )
        order, longest = point.order, point.longest
        names = dict(zip(order.indices, order.classes, strict=True))
        options |= {"id2label": names, "label2id": {name: index for index, name in names.items()}}
    tokenizer = load_tokenizer(base, settings.revision, offline=settings.offline)
    model, _ = load_classifier(
        base,
        revision=settings.revision,
        offline=settings.offline,
        dtype="float32",
        **options,
    )
    return model, tokenizer, order, longest


def _freeze(model: Any, layers: int) -> None:
    """Leaves the embeddings and the lowest layers of the encoder as they are."""
    if not layers:
        return
    encoder = model.base_model
    stack = getattr(getattr(encoder, "encoder", encoder), "layer", None)
    if stack is None or layers > len(stack):
        raise InputError(
            f"freeze is {layers}", expected=f"at most the {len(stack or ())} layers of the encoder"
        )
    for module in (encoder.embeddings, *stack[:layers]):
        module.requires_grad_(False)


def _arguments(work: Path, data: TrainingPairs, settings: FinetuneSettings) -> Any:
    """The settings in transformers' words."""
    import torch
    import transformers

    on_cpu = settings.device == "cpu"
    devices = 1 if on_cpu else max(1, torch.cuda.device_count())
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
        train_sampling_strategy="group_by_length" if settings.batches == "length" else "random",
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
        use_cpu=on_cpu,
        dataloader_pin_memory=not on_cpu and torch.cuda.is_available(),
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

        def on_log(self, args: Any, state: Any, control: Any, **event: Any) -> None:
            logs = event["logs"]
            self.bar.set_postfix({n: logs[n] for n in ("loss", "eval_brier") if n in logs})

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar.close()

    return Progress()


def _evaluation(
    trainer: Any,
    sets: Mapping[str, Sequence[Any]],
    settings: FinetuneSettings,
    order: ClassOrder,
    note: Path,
) -> Any:
    """Evaluates on every set after every epoch; the figures so far are kept beside checkpoints."""
    import torch
    import transformers

    class Evaluation(transformers.TrainerCallback):
        def __init__(self) -> None:
            self.rows: list[EpochQuality] = []

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            earlier = read_note(note).get("rows", [])
            self.rows = [EpochQuality(**r) for r in earlier if r["epoch"] <= (state.epoch or 0)]

        def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            epoch = round(state.epoch)
            for name, rows in sets.items():
                given, truth = self._presence(rows)
                found = calibrate(given, (truth >= 0.5).astype(np.float64))
                brier = float(np.mean((given - truth) ** 2))
                quality = (len(truth), found.accuracy, found.auc, brier)
                self.rows.append(EpochQuality(epoch, name, *quality))
                if state.is_world_process_zero:
                    figures = f"AUC {found.auc:.3f}, Brier {brier:.3f}"
                    bar(None, "", "", shown=False).write(
                        f"epoch {epoch}, {name}: {figures}, accuracy {found.accuracy:.3f}"
                    )
            if sets and state.is_world_process_zero:
                write_json(note, plain({"rows": [asdict(row) for row in self.rows]}))

        def _presence(self, rows: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
            model, size = trainer.model, trainer.args.per_device_eval_batch_size
            by_length = sorted(range(len(rows)), key=lambda i: len(rows[i]["input_ids"]))
            logits: dict[int, Any] = {}
            model.eval()
            with torch.no_grad():
                for start in range(0, len(rows), size):
                    indices = by_length[start : start + size]
                    inputs = [{k: v for k, v in rows[i].items() if k != "labels"} for i in indices]
                    batch = trainer.data_collator(inputs).to(trainer.args.device)
                    values = model(**batch).logits.float().cpu().numpy()
                    logits |= dict(zip(indices, values, strict=True))
            model.train()
            stacked = np.stack([logits[i] for i in range(len(rows))])
            labels = np.asarray([row["labels"] for row in rows])
            return _judged(settings, order, stacked), _truth(settings, labels)

    return Evaluation()


def _mean_weights(weight: float, work: Path) -> Any:
    """A running mean of the trained weights, kept in every checkpoint."""
    import torch
    import transformers
    from safetensors.torch import load_file, save_file

    class MeanWeights(transformers.TrainerCallback):
        def on_train_begin(self, args: Any, state: Any, control: Any, **event: Any) -> None:
            model = event["model"]
            stored = work / f"{_POINT}{state.global_step}" / "mean.safetensors"
            if stored.is_file():
                self.mean = load_file(stored)
                self.mean = {n: t.to(args.device) for n, t in self.mean.items()}
            else:
                named = model.named_parameters()
                self.mean = {n: p.detach().clone() for n, p in named if p.requires_grad}

        def on_step_end(self, args: Any, state: Any, control: Any, **event: Any) -> None:
            share = min(weight, (state.global_step + 1) / (state.global_step + 10))
            with torch.no_grad():
                for name, values in event["model"].named_parameters():
                    if name in self.mean:
                        self.mean[name].lerp_(values, 1 - share)

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            folder = work / f"{_POINT}{state.global_step}"
            if folder.is_dir() and state.is_world_process_zero:
                save_file(self.mean, folder / "mean.safetensors")

        def put(self, model: Any) -> None:
            with torch.no_grad():
                for name, values in model.named_parameters():
                    if name in self.mean:
                        values.copy_(self.mean[name])

    return MeanWeights()


def _judged(settings: FinetuneSettings, order: ClassOrder, logits: Any) -> FloatArray:
    return np.asarray(presence(order.logits(logits), HEAD_MODE[settings.head]))


def _truth(settings: FinetuneSettings, labels: Any) -> FloatArray:
    entails = 0 if settings.head == "three-class" else 1
    truth = labels[:, entails] if labels.ndim == 2 else labels == entails
    return np.asarray(truth, dtype=np.float64)


def _development_metrics(settings: FinetuneSettings, order: ClassOrder) -> Any:
    """The Brier score of held-out pairs, by which the best epoch is chosen."""

    def metrics(prediction: Any) -> dict[str, float]:
        judged = _judged(settings, order, prediction.predictions)
        truth = _truth(settings, np.asarray(prediction.label_ids))
        return {"brier": float(np.mean((judged - truth) ** 2))}

    return metrics


def _save(
    goal: Path, model: Any, tokenizer: Any, card: Mapping[str, Any], onnx: bool | None
) -> None:
    """Writes model, tokenizer and card, so that no half model is ever there."""
    with new_folder(goal) as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        if onnx or (onnx is None and model.num_parameters() <= _LARGE):
            export_onnx(model, tokenizer, folder / "model.onnx")
        write_card(folder, card)
