"""The trainer of transformers with our data, loss, figures and checkpoints."""

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import loading
from litepyramid.judges.evaluate import calibrate
from litepyramid.judges.nli.asking import MATCH_FROM
from litepyramid.judges.nli.backends import as_tokenizer
from litepyramid.judges.nli.checkpoint import ClassOrder
from litepyramid.judges.nli.modes import presence
from litepyramid.progress import bar
from litepyramid.training.onnx_models import is_packed
from litepyramid.training.packs import (
    as_packs,
    encode_packs,
    packed_classifier,
    padded,
)
from litepyramid.training.pairs import Pairs, encode_pairs, make_loss
from litepyramid.training.settings import HEAD_MODE, FinetuneSettings

POINT = "checkpoint-"
"""How the folders of checkpoints begin."""
HELD_OUT = "held out"
"""The set of early stopping."""


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
class Base:
    """A model to begin with, its tokenizer, class order, the most tokens it reads, and
    whether its head is new, in words."""

    model: Any
    tokenizer: Any
    order: ClassOrder
    longest: int | None
    head: str

    @property
    def packed(self) -> bool:
        """Whether the model is asked about all units of a summary at once."""
        return is_packed(self.model)


def make_trainer(
    start: Base,
    data: Pairs,
    work: Path,
    settings: FinetuneSettings,
    evaluation: Mapping[str, Pairs],
) -> Any:
    """The trainer of transformers with our data, loss, figures and callback."""
    import torch
    import transformers

    def encoded(pairs: Pairs) -> list[dict[str, Any]]:
        length = min(settings.max_length, start.longest or settings.max_length)
        if not start.packed:
            return encode_pairs(start.tokenizer, pairs, length, settings.head)
        tokenizer = as_tokenizer(start.tokenizer)
        first = getattr(start.model.config, "match_from", MATCH_FROM)
        packs = as_packs(pairs)
        return list(encode_packs(tokenizer, packs, length, settings.head, first))

    def figures(prediction: Any) -> dict[str, float]:
        labels = np.asarray(prediction.label_ids)
        # Packs are padded with units that are none, whose labels are below 0.
        real = labels[..., 0] >= 0
        logits = start.order.logits(np.asarray(prediction.predictions)[real])
        judged = np.asarray(presence(logits, HEAD_MODE[settings.head]))
        truth = labels[real][:, 0]
        # AUC needs two kinds of labels; the Brier score takes any share as it is.
        result = calibrate(judged, (truth >= 0.5).astype(float))
        brier = float(np.mean((judged - truth) ** 2))
        return {"accuracy": result.accuracy, "auc": result.auc, "brier": brier}

    # Without a GPU the CPU is what there is: told so, it also takes bfloat16.
    graphics = torch.cuda.is_available() or torch.backends.mps.is_available()
    on_cpu = settings.device == "cpu" or not graphics
    devices = 1 if on_cpu else max(1, torch.cuda.device_count())
    per_device = max(1, settings.batch_size // devices)
    rows = encoded(data)
    if start.packed:
        # A row is a pack of several pairs, and the batch size counts pairs.
        per_device = max(1, round(per_device * len(rows) / len(data)))
    updates = max(1, round(settings.epochs * len(data) / settings.batch_size))
    early = bool(settings.early_stop)
    constant = settings.schedule == "constant"
    # A GPU may lack what was asked for.
    hint = "Without bfloat16: bf16=false; on the CPU: device=cpu."
    with loading("fine-tuning cannot be set up", hint=hint):
        arguments = transformers.TrainingArguments(
            output_dir=str(work),
            num_train_epochs=settings.epochs,
            learning_rate=settings.learning_rate,
            lr_scheduler_type="constant_with_warmup" if constant else "linear",
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
            metric_for_best_model=f"{HELD_OUT}_brier" if early else None,
            greater_is_better=False if early else None,
            logging_steps=50,
            disable_tqdm=True,
            report_to="none",
            use_cpu=on_cpu,
            dataloader_pin_memory=not on_cpu and torch.cuda.is_available(),
        )

    sets = {}
    for name, pairs in evaluation.items():
        # Batches of one length need no padding.
        sets[name] = sorted(encoded(pairs), key=lambda row: len(row["input_ids"]))

    trainer = transformers.Trainer(
        model=packed_classifier(start.model) if start.packed else start.model,
        args=arguments,
        data_collator=padded
        if start.packed
        else transformers.DataCollatorWithPadding(start.tokenizer),
        train_dataset=rows,
        eval_dataset=sets or None,
        compute_loss_func=make_loss(settings.head, start.order),
        compute_metrics=figures,
        callbacks=[_watch(evaluation, work)],
    )
    if early:
        stopping = transformers.EarlyStoppingCallback(settings.early_stop)
        trainer.add_callback(stopping)
    # It would print every log as a dict, between the lines of our bar.
    trainer.remove_callback(transformers.trainer_callback.PrinterCallback)
    return trainer


def history_of(
    log: Iterable[Mapping[str, Any]], evaluation: Mapping[str, Pairs]
) -> list[EpochQuality]:
    """The figures in the trainer's log, which is kept with its checkpoints."""
    history = []
    for row in log:
        for name, pairs in evaluation.items():
            if name == HELD_OUT or f"eval_{name}_brier" not in row:
                continue
            # The last epoch may be a part of one, and sums of floats fall short.
            epoch = math.ceil(row["epoch"] - 1e-6)
            figures = [row[f"eval_{name}_{f}"] for f in ("accuracy", "auc", "brier")]
            history.append(EpochQuality(epoch, name, len(pairs), *figures))
    return history


def _watch(evaluation: Mapping[str, Pairs], work: Path) -> Any:
    """A callback: the bar, and the figures of every epoch as they come."""
    import transformers

    class Watch(transformers.TrainerCallback):
        def on_train_begin(
            self, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            # Of several processes the first one tells for all.
            shown = None if state.is_world_process_zero else False
            self.bar = bar(state.max_steps, "fine-tuning", "updates", shown=shown)
            self.bar.update(state.global_step)
            if shown is None and not sys.stderr.isatty():
                print(f"fine-tuning: {state.max_steps} updates", file=sys.stderr)

        def on_step_end(
            self, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            self.bar.update(state.global_step - self.bar.done)

        def on_log(self, args: Any, state: Any, control: Any, **event: Any) -> None:
            if "loss" in event["logs"]:
                self.bar.set_postfix({"loss": event["logs"]["loss"]})

        def on_evaluate(
            self, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            if state.is_world_process_zero:
                for row in history_of(
                    [{"epoch": state.epoch, **event["metrics"]}], evaluation
                ):
                    figures = f"AUC {row.auc:.3f}, Brier {row.brier:.3f}"
                    self.bar.write(f"epoch {row.epoch}, {row.set}: {figures}")

        def on_epoch_end(
            self, args: Any, state: Any, control: Any, **event: Any
        ) -> None:
            if evaluation:
                # The figures stand in the state of a checkpoint. One that was written
                # at this very update, before them, is made incomplete: a run that is
                # killed now would go on from it and never show them.
                folder = work / f"{POINT}{state.global_step}"
                (folder / "trainer_state.json").unlink(missing_ok=True)
                control.should_save = True

        def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            self.bar.close()

    return Watch()
