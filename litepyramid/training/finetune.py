"""Fine-tuning from data sets to a judge with a card: what ``litepyramid finetune`` does."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from litepyramid._version import __version__
from litepyramid.errors import InputError
from litepyramid.files import atomic_folder, file_type
from litepyramid.io.dataset import Dataset
from litepyramid.judges.lexical.model import save_model
from litepyramid.judges.nli.cards import CARD_FILE
from litepyramid.judges.registry import REFITTED, check_trainable, make_judge
from litepyramid.tables import Result, Table, plain
from litepyramid.training.crossval import validate
from litepyramid.training.folds import LabelledItems, join_items, labelled_items
from litepyramid.training.pairs import (
    TrainingPairs,
    presence_pairs,
    read_nli,
    split_datasets,
)
from litepyramid.training.run import made_from, read_note, run_facts, train_transformer, write_card
from litepyramid.training.settings import FinetuneSettings, Head
from litepyramid.training.validation_result import ValidationResult
from litepyramid.types import Signature


@dataclass(frozen=True, slots=True)
class FinetuneResult(Result):
    """The result of a fine-tuning run.

    Attributes:
        folder: The judge: pass it to ``--judge``.
        card: The contents of its ``litepyramid.json``.
        held_out: For each data set with held-out inputs, the judge's quality on them.
    """

    folder: Path
    card: Mapping[str, Any]
    held_out: tuple[ValidationResult, ...]

    @property
    def signature(self) -> Signature:
        """The base, pairs (their SHA-256) and settings that the judge was made from."""
        about = {name: self.card.get(name) for name in ("base", "revision")}
        pairs_sha = self.card.get("data", {}).get("sha256", "")[:8] or None
        return Signature.of(**about, pairs_sha=pairs_sha, **self.card.get("settings", {}))

    def to_tables(self) -> Sequence[Table]:
        """The held-out results of every data set, or that nothing was held out."""
        note = f"The judge is in {self.folder}: score with --judge {self.folder}"
        if not self.held_out:
            return [Table("Fine-tuned; nothing was held out", (), (), (note,))]
        tables = [table for result in self.held_out for table in result.to_tables()]
        last = tables[-1]
        return [*tables[:-1], Table(last.title, last.columns, last.rows, (*last.notes, note))]


def finetune(
    base: str,
    datasets: Sequence[Dataset],
    output: str | Path,
    settings: FinetuneSettings | None = None,
    *,
    nli: Sequence[str | Path] = (),
    revision: str | None = None,
    offline: bool = False,
    label_map: Mapping[str, str] | None = None,
    device: str = "auto",
) -> FinetuneResult:
    """Fine-tunes a judge on presence labels and measures it on held-out inputs.

    Args:
        base: ``lexical`` or ``reading`` to refit its weights; otherwise a hub id or folder.
        datasets: Labelled data sets; a share of the inputs of each is held out.
        output: The folder to make.
        settings: How; the paper's by default.
        nli: Files of NLI pairs to learn from too, see `pairs.read_nli`.
        revision: Branch, tag or commit of a hub model.
        offline: Look only in the local hub cache.
        label_map: Which of the base's labels means what.
        device: ``auto`` or ``cpu``.

    Returns:
        The folder, its card, and the held-out accuracy, AUC, Brier score and correlations.

    Raises:
        InputError: Nothing to learn from, or something is at `output` already (but a judge of this
            very run that was stopped while it was evaluated is evaluated again).
        ModelError: The base cannot be fine-tuned.
        MissingExtraError: The extra ``train`` is not installed.
    """
    settings = settings or FinetuneSettings()
    goal = Path(output)
    begun = read_note(goal / CARD_FILE)
    if file_type(goal) and (not begun or "held_out" in begun):
        raise InputError("already exists", path=goal, hint="Name a new folder.")
    if not datasets and not nli:
        raise InputError("nothing to learn from", expected="at least one labelled data set")
    check_trainable(base)
    refitted = base in REFITTED
    head: Head = "presence" if refitted else settings.head
    parts, held = split_datasets(datasets, settings.held_out, settings.seed)
    data = presence_pairs(join_items(parts), head)
    if nli:
        read = read_nli(nli, head)
        parts.append(_as_items(read))
        data = TrainingPairs(data.pairs + read.pairs, data.labels + read.labels)
    development = None
    if settings.early_stop and held:
        unseen = join_items([labelled_items(h.dataset, h.inputs) for h in held])
        development = presence_pairs(unseen, head)
    facts = run_facts(base, revision, data, settings)
    if made_from(goal, base, revision, data, settings):
        pass  # a run that was stopped while it evaluated
    elif refitted:
        learned = join_items(parts)
        model = REFITTED[base][1](learned.items, learned.labels)
        with atomic_folder(goal) as folder:
            save_model(model, folder / f"{base}.json")
            write_card(folder, {"updates": None, **facts})
    else:
        train_transformer(
            base,
            data,
            goal,
            settings,
            development=development,
            revision=revision,
            offline=offline,
            label_map=label_map,
            device=device,
            kind="presence" if datasets else "zero-shot",
        )
    judge = make_judge(str(goal), **({} if refitted else {"device": device}))
    results = tuple(validate(h.dataset, {"tuned": judge}, inputs=h.inputs) for h in held)
    card = {
        **read_note(goal / CARD_FILE),
        **facts,
        "data": {
            "sets": [entry.name for entry in datasets],
            "nli_files": [Path(path).name for path in nli],
            **facts["data"],
        },
        "held_out": [
            {"data_set": h.dataset.name, "inputs": list(h.inputs), **_numbers(result)}
            for h, result in zip(held, results, strict=True)
        ],
        "versions": _versions(),
    }
    write_card(goal, card)
    return FinetuneResult(goal, card, results)


def _as_items(data: TrainingPairs) -> LabelledItems:
    return LabelledItems(
        tuple((premise, (hypothesis,)) for premise, hypothesis in data.pairs),
        tuple((label,) for label in data.labels),
    )


def _numbers(result: ValidationResult) -> dict[str, Any]:
    """Accuracy, AUC, Brier, and the correlations of the judge's own mode."""
    quality = {n: result.quality_mean("tuned", n).mean for n in ("accuracy", "auc", "brier")}
    mode = result.own_mode("tuned")
    correlations = {
        f"{s.units}_{s.level}_{s.coefficient}": s.value
        for s in result.scores
        if s.mode in (mode, "own")
    }
    found: dict[str, Any] = plain({**quality, "correlations": correlations})
    return found


def _versions() -> dict[str, str]:
    found = {"litepyramid": __version__, "python": platform.python_version()}
    for package in ("torch", "transformers", "accelerate", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
