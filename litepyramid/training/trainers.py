"""Ways to get a judge for a fold: refit the lexical one, fine-tune a model, or take ready ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.presence.cards import CARD_FILE
from litepyramid.presence.judge import Judge
from litepyramid.presence.judges import make_judge
from litepyramid.presence.lexical import LexicalJudge, fit_lexical
from litepyramid.training.pairs import TrainingPairs, presence_pairs
from litepyramid.training.run import train_transformer
from litepyramid.training.settings import FinetuneSettings
from litepyramid.validation.crossval import Trainer
from litepyramid.validation.folds import LabelledItems


@dataclass(frozen=True, slots=True)
class LexicalTrainer:
    """Refits the embedded lexical judge's weights; needs no GPU and takes seconds."""

    def train(self, data: LabelledItems, fold: int) -> Judge:
        """A lexical judge that has seen these labels and no others; see `fit_lexical`."""
        return LexicalJudge(fit_lexical(data.items, data.labels))


@dataclass(frozen=True, slots=True)
class ReadyCheckpoints:
    """One ready judge a fold, named by a template, such as the authors' fold checkpoints.

    Attributes:
        template: A judge's name with ``{fold}`` for the fold's number from 1:
            ``shiyue/roberta-large-realsumm-by-examples-fold{fold}``.
        options: Handed to the judge, as by `make_judge`.

    Example:
        >>> ReadyCheckpoints("model-{fold}").name(3)
        'model-3'
    """

    template: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def name(self, fold: int) -> str:
        """The checkpoint of a fold.

        Raises:
            InputError: The template has no ``{fold}``.
        """
        if "{fold}" not in self.template:
            raise InputError(
                f"'{self.template}' names one judge for all folds",
                expected="{fold} where the fold's number stands",
            )
        return self.template.replace("{fold}", str(fold))

    def train(self, data: LabelledItems, fold: int) -> Judge:
        """The fold's checkpoint; the labels are not used."""
        return make_judge(self.name(fold), **self.options)


@dataclass(frozen=True, slots=True)
class FinetuneTrainer:
    """Fine-tunes a transformer for each fold into ``FOLDER/fold1``, ``FOLDER/fold2`` …

    A fold whose folder is there, made from the same data and settings, is not trained again; a
    fold that was killed goes on where it was.

    Attributes:
        base: Hub id or folder of the model to begin with.
        folder: Where the folds' models go.
        settings: How; nothing more is held out of a fold's training part.
        options: ``revision``, ``offline``, ``label_map``, ``device`` of `train_transformer`.
    """

    base: str
    folder: Path
    settings: FinetuneSettings = field(default_factory=FinetuneSettings)
    options: Mapping[str, Any] = field(default_factory=dict)

    def train(self, data: LabelledItems, fold: int) -> Judge:
        """A judge that has seen these labels and no others.

        Raises:
            InputError: The fold's folder holds a model of other data or settings.
        """
        settings = replace(self.settings, held_out=0.0, early_stop=0)
        pairs = presence_pairs(data, settings.head)
        goal = self.folder / (f"fold{fold}" if fold else "all")
        if not goal.exists():
            train_transformer(self.base, pairs, goal, settings, **self.options)
        elif not self._made_from(goal, pairs, settings):
            raise InputError(
                "holds a model of another base, other data or settings",
                path=goal,
                hint="Name a new folder, or delete this one.",
            )
        device = self.options.get("device", "auto")
        return make_judge(str(goal), device=device, cache=None)

    def _made_from(self, goal: Path, pairs: TrainingPairs, settings: FinetuneSettings) -> bool:
        try:
            card = json.loads((goal / CARD_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return bool(
            isinstance(card, dict)
            and card.get("base") == self.base
            and card.get("settings") == settings.to_dict()
            and (card.get("data") or {}).get("sha256") == pairs.digest()
        )


def make_trainer(
    base: str,
    checkpoints: str | None = None,
    *,
    folder: Path | None = None,
    settings: FinetuneSettings | None = None,
    **options: Any,
) -> Trainer:
    """The trainer that the command line's ``--base`` or ``--checkpoints`` names.

    Args:
        base: ``lexical``, or a hub id or folder to fine-tune.
        checkpoints: A template of ready judges, see `ReadyCheckpoints`; then `base` is not used.
        folder: Where fine-tuned folds go.
        settings: Of fine-tuning.
        **options: Of the judges, or of `train_transformer`.

    Raises:
        InputError: A model is to be fine-tuned and no folder is given.
    """
    if checkpoints is not None:
        return ReadyCheckpoints(checkpoints, options)
    if base == "lexical":
        return LexicalTrainer()
    if folder is None:
        raise InputError(
            f"no folder for the folds' models of '{base}'",
            expected="--models FOLDER, or --base lexical",
        )
    return FinetuneTrainer(base, folder, settings or FinetuneSettings(), options)
