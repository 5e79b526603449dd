"""Fine-tuning from data sets to a judge with a card: what ``litepyramid finetune`` does."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from litepyramid._version import __version__
from litepyramid.errors import InputError
from litepyramid.files import atomic_folder, atomic_write, file_type
from litepyramid.io.dataset import Dataset
from litepyramid.judges.base import Judge
from litepyramid.judges.lexical.judge import fit_lexical, save_lexical
from litepyramid.judges.nli.cards import CARD_FILE
from litepyramid.judges.registry import check_judge_name, make_judge
from litepyramid.tables import Result, Table, plain
from litepyramid.training.crossval import validate
from litepyramid.training.folds import LabelledItems, join_items
from litepyramid.training.pairs import (
    HeldOut,
    TrainingPairs,
    join_pairs,
    presence_pairs,
    read_nli,
    split_datasets,
)
from litepyramid.training.run import made_from, read_note, run_facts, train_transformer
from litepyramid.training.settings import FinetuneSettings
from litepyramid.training.validation_result import ValidationResult
from litepyramid.types import Signature


@dataclass(frozen=True, slots=True)
class FinetuneResult(Result):
    """What came out of a fine-tuning run.

    Attributes:
        folder: The judge: give it to ``--judge``.
        card: What its ``litepyramid.json`` says.
        held_out: Per data set with held-out inputs, what the judge does on them.
    """

    folder: Path
    card: Mapping[str, Any]
    held_out: tuple[ValidationResult, ...]

    @property
    def signature(self) -> Signature:
        """What the judge was made from: base, pairs (their SHA-256) and settings."""
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
    """Fine-tunes a judge on presence labels and says how it does on held-out inputs.

    Args:
        base: ``lexical`` to refit the embedded judge's weights; else a hub id or folder.
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
        raise InputError("is there already", path=goal, hint="Name a new folder.")
    if not datasets and not nli:
        raise InputError("nothing to learn from", expected="at least one labelled data set")
    check_judge_name(base)
    parts, held = split_datasets(datasets, settings.held_out, settings.seed)
    if base == "lexical":
        if nli:
            parts.append(_as_items(read_nli(nli, "presence")))
        data = presence_pairs(join_items(parts))
    else:
        head = settings.head
        pairs = [presence_pairs(part, head) for part in parts]
        data = join_pairs([*pairs, *([read_nli(nli, head)] if nli else [])])
    if made_from(goal, base, revision, data, settings):
        pass  # a run that was stopped while it evaluated
    elif base == "lexical":
        about = {"updates": None, **run_facts(base, revision, data, settings)}
        _save_lexical(goal, join_items(parts), about)
    else:
        train_transformer(
            base,
            data,
            goal,
            settings,
            development=_development(held, settings) if settings.early_stop else None,
            revision=revision,
            offline=offline,
            label_map=label_map,
            device=device,
            kind="presence" if datasets else "zero-shot",
        )
    judge = _open(goal, device)
    results = tuple(validate(h.dataset, {"tuned": judge}, inputs=h.inputs) for h in held)
    card = _card(goal, base, revision, datasets, nli, data, settings, held, results)
    return FinetuneResult(goal, card, results)


def _open(folder: Path, device: str) -> Judge:
    if (folder / "lexical.json").is_file():
        return make_judge(str(folder))
    return make_judge(str(folder), device=device)


def _as_items(data: TrainingPairs) -> LabelledItems:
    return LabelledItems(
        tuple((premise, (hypothesis,)) for premise, hypothesis in data.pairs),
        tuple((label,) for label in data.labels),
    )


def _development(held: Sequence[HeldOut], settings: FinetuneSettings) -> TrainingPairs:
    from litepyramid.training.folds import labelled_items

    if not held:
        raise InputError(
            "early stopping with nothing held out", expected="a data set of four inputs or more"
        )
    parts = [labelled_items(entry.dataset, entry.inputs) for entry in held]
    return presence_pairs(join_items(parts), settings.head)


def _save_lexical(goal: Path, data: LabelledItems, card: Mapping[str, Any]) -> None:
    """Refits the lexical weights into a folder that appears only when it is complete."""
    model = fit_lexical(data.items, data.labels)
    with atomic_folder(goal) as folder:
        save_lexical(model, folder / "lexical.json")
        _write_card(folder, card)


def _card(
    goal: Path,
    base: str,
    revision: str | None,
    datasets: Sequence[Dataset],
    nli: Sequence[str | Path],
    data: TrainingPairs,
    settings: FinetuneSettings,
    held: Sequence[HeldOut],
    results: Sequence[ValidationResult],
) -> dict[str, Any]:
    """Writes all that is known of the judge into its folder, over what the run left there."""
    facts = run_facts(base, revision, data, settings)
    card: dict[str, Any] = {
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
    _write_card(goal, card)
    return card


def _write_card(folder: Path, card: Mapping[str, Any]) -> None:
    with atomic_write(folder / CARD_FILE) as file:
        json.dump(plain(card), file, indent=1)
        file.write("\n")


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
