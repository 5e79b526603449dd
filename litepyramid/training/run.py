"""One fine-tuning run: from a base and pairs to a folder, with checkpoints on the
way."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from litepyramid._version import __version__
from litepyramid.disk import locked, new_folder, write_json, writing
from litepyramid.errors import InputError, ModelError, loading, require
from litepyramid.judges.nli.backends import load_classifier, load_tokenizer
from litepyramid.judges.nli.checkpoint import (
    DEFAULT_MODE,
    THREE,
    TWO,
    Checkpoint,
    ClassOrder,
    Kind,
    UnknownClassesError,
    open_checkpoint,
)
from litepyramid.training.onnx_models import (
    export_onnx,
    is_onnx,
    is_packed,
    load_onnx_classifier,
    model_source,
    widen_types,
)
from litepyramid.training.pairs import Pairs
from litepyramid.training.settings import (
    HEAD_MODE,
    FinetuneSettings,
    read_note,
    run_facts,
    settled,
    write_card,
)
from litepyramid.training.trainer import (
    HELD_OUT,
    POINT,
    Base,
    EpochQuality,
    history_of,
    make_trainer,
)

_LARGE = 100_000_000  # parameters of a model that is not exported unless asked for


@dataclass(frozen=True)
class TrainedFolder:
    """A folder that judges are made from; `resumed_from` is the update that it went on
    from."""

    folder: Path
    updates: int
    resumed_from: int
    history: tuple[EpochQuality, ...] = ()


def train_transformer(
    base: str,
    data: Pairs,
    output: str | Path,
    settings: FinetuneSettings,
    *,
    development: Pairs | None = None,
    evaluation: Mapping[str, Pairs] | None = None,
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
    settings = settled(base, settings)
    for package in ("torch", "transformers", "accelerate"):
        require(package, extra="train", purpose="fine-tuning")
    import transformers

    goal = Path(output)
    if not data:
        raise InputError("no labelled pairs to learn from")
    if settings.early_stop and not development:
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
        logging: Any = transformers.utils.logging
        logging.disable_progress_bar()
        start = _load(base, settings)
        sets = dict(evaluation or {})
        if development:
            sets[HELD_OUT] = development
        trainer = make_trainer(start, data, work, settings, sets)
        last = _last_checkpoint(work)
        resumed = int(last.name.removeprefix(POINT)) if last else 0
        hint = (
            f"Run it again to continue from the last checkpoint in {work}, if there is "
            "one."
        )

        try:
            with loading("fine-tuning stopped", hint=hint):
                trainer.train(resume_from_checkpoint=str(last) if last else None)
        except KeyboardInterrupt as stop:
            if last := _last_checkpoint(work):
                done = last.name.removeprefix(POINT)
                total = trainer.state.max_steps
                stop.add_note(f"{done} of {total} updates kept in {work}")
            raise

        updates = trainer.state.global_step
        if trainer.is_world_process_zero():
            mode = (
                HEAD_MODE[settings.head] if kind == "presence" else DEFAULT_MODE[kind]
            )
            card = {
                "kind": kind,
                "mode": mode,
                "head": start.head,
                "updates": updates,
                "loss": trainer.state.log_history[-1].get("train_loss"),
                **plan,
            }
            model = trainer.accelerator.unwrap_model(trainer.model)
            # What reads packs holds the model within it.
            if start.packed:
                model = model.model
            with loading("the tuned model cannot be written", path=goal, hint=hint):
                _save(goal, replace(start, model=model), card, settings.onnx)
            for path in work.glob(f"{POINT}*"):
                shutil.rmtree(path)

        trainer.accelerator.wait_for_everyone()

    history = tuple(history_of(trainer.state.log_history, sets))
    return TrainedFolder(goal, updates, resumed, history)


def _last_checkpoint(work: Path) -> Path | None:
    """The newest complete checkpoint: the trainer writes its state file last."""
    points = [path.parent for path in work.glob(f"{POINT}*/trainer_state.json")]
    return max(
        points, key=lambda path: int(path.name.removeprefix(POINT)), default=None
    )


@contextmanager
def _claimed(work: Path, plan: Mapping[str, Any]) -> Iterator[None]:
    """Holds the folder of checkpoints for one process; removed if none are left in
    it."""
    # The first of several processes holds it for all.
    if int(os.environ.get("RANK") or 0):
        yield
        return

    note = work / "run.json"
    with writing(work):
        work.mkdir(parents=True, exist_ok=True)
    with locked(work):
        try:
            # New, or left by a run that was killed at once.
            if not any(work.glob("[!.]*")):
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
            if read_note(note) == plan and not any(work.glob(f"{POINT}*")):
                note.unlink()
                # Files of others may be in it.
                with suppress(OSError):
                    work.rmdir()


def _load(base: str, settings: FinetuneSettings) -> Base:
    """The base in float32, with a new head where it has none of the classes that the
    head needs."""
    source = model_source(base)
    point = _with_classes(base, settings)
    classes = TWO if settings.head == "two-class" else THREE
    order = ClassOrder(TWO, (1, 0)) if classes == TWO else ClassOrder(THREE, (0, 1, 2))
    new = point is None or point.order.classes != classes
    if point is not None and not new:
        order = point.order

    tokenizer = load_tokenizer(source, settings.revision)
    if is_onnx(base) and not new:
        model = load_onnx_classifier(Path(source).expanduser())
    else:
        names = dict(sorted(zip(order.indices, order.classes, strict=True)))
        model, _ = load_classifier(
            source,
            settings.revision,
            dtype="float32",
            id2label=names,
            label2id={name: index for index, name in names.items()},
            ignore_mismatched_sizes=new,
        )
        # An old head of as many outputs would be taken for the new one.
        if new:
            _reset_head(model, len(classes))

    if settings.packed and not is_packed(model):
        widen_types(model)

    longest = None if point is None else point.longest
    head = f"{'new' if new else 'kept'}: {order}"
    return Base(model, tokenizer, order, longest, head)


def _with_classes(base: str, settings: FinetuneSettings) -> Checkpoint | None:
    """The base, if it is a classifier whose classes are known; None where a new head
    does instead."""
    source = model_source(base)
    replaceable = settings.head in ("two-class", "three-class")
    if replaceable and not _classifies(source, settings):
        return None

    backend: Literal["onnx", "torch"] = "onnx" if is_onnx(base) else "torch"
    try:
        point = open_checkpoint(
            source,
            revision=settings.revision,
            label_map=settings.label_map,
            backend=backend,
        )
    except UnknownClassesError:
        if settings.head == "two-class":
            return None
        raise

    if settings.head != "two-class" and point.order.classes != THREE:
        raise ModelError(
            f"'{base}' has two classes and the head '{settings.head}' needs three",
            hint="Use the head two-class.",
        )
    return point


def _reset_head(model: Any, classes: int) -> None:
    """Random weights for the layer that gives the classes."""
    import torch

    inside = f"{model.base_model_prefix}."
    for name, module in model.named_modules():
        last = isinstance(module, torch.nn.Linear) and module.out_features == classes
        if last and not name.startswith(inside):
            spread = getattr(model.config, "initializer_range", 0.02)
            torch.nn.init.normal_(module.weight, std=spread)
            torch.nn.init.zeros_(module.bias)


def _classifies(source: str, settings: FinetuneSettings) -> bool:
    """Whether a model has been trained to classify, by what its configuration says."""
    import transformers

    where = {"revision": settings.revision, "trust_remote_code": False}
    with loading(f"the configuration of '{source}' cannot be read"):
        config = transformers.AutoConfig.from_pretrained(source, **where)
    return any("SequenceClassification" in name for name in config.architectures or ())


def _save(goal: Path, made: Base, card: Mapping[str, Any], onnx: bool | None) -> None:
    """Writes model, tokenizer and card; one that reads packs as ONNX alone."""
    model = made.model
    with new_folder(goal) as folder:
        if made.packed:
            model.config.architectures = [type(model).__name__]
            model.config.save_pretrained(folder)
        else:
            model.save_pretrained(folder)
        made.tokenizer.save_pretrained(folder)
        if made.packed or onnx or (onnx is None and model.num_parameters() <= _LARGE):
            export_onnx(model, made.tokenizer, folder / "model.onnx")
        write_card(folder, card)
