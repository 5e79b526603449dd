"""Ways to get a judge for a fold: refit an embedded one, fine-tune a model, or take ready ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.judges.base import Judge
from litepyramid.judges.registry import REFITTED, check_trainable, make_judge, settings_of
from litepyramid.training.crossval import Trainer
from litepyramid.training.folds import LabelledItems
from litepyramid.training.pairs import presence_pairs
from litepyramid.training.run import made_from, train_transformer
from litepyramid.training.settings import FinetuneSettings

_OF_THE_MODEL = ("revision", "label_map")
_TRAINING = (*_OF_THE_MODEL, "offline", "device")
_JUDGING = ("mode", "max_length", "device", "devices", "dtype", "batch_tokens", "cache")


@dataclass(frozen=True, slots=True)
class RefitTrainer:
    """Refits an embedded judge's weights; needs no GPU and takes seconds.

    Attributes:
        base: ``lexical`` or ``reading``.
    """

    base: str

    def train(self, data: LabelledItems, fold: int) -> Judge:
        """A judge that has seen these labels and no others; see `fit_lexical`, `fit_reading`."""
        judge, fit = REFITTED[self.base]
        return judge(fit(data.items, data.labels))


@dataclass(frozen=True, slots=True)
class ReadyCheckpoints:
    """One ready judge per fold, named by a template, such as the authors' fold checkpoints.

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
    killed fold continues where it was.

    Attributes:
        base: Hub id or folder of the model to begin with.
        folder: Where the folds' models go.
        settings: How; nothing more is held out of a fold's training part.
        options: As for `make_judge`. ``revision``, ``offline`` and ``label_map`` are of the base;
            ``device`` is of training too (the CPU, or every GPU); the rest is of the folds' judges,
            which keep no judgements unless a ``cache`` is named.
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
        settings = replace(settings, max_length=self.options.get("max_length", settings.max_length))
        pairs = presence_pairs(data, settings.head)
        goal = self.folder / (f"fold{fold}" if fold else "all")
        revision = self.options.get("revision")
        if not goal.exists():
            train_transformer(self.base, pairs, goal, settings, **self._given(_TRAINING))
        elif made_from(goal, self.base, revision, pairs, settings) is None:
            raise InputError(
                "holds a model of another base, other data or settings",
                path=goal,
                hint="Name a new folder, or delete this one.",
            )
        return make_judge(str(goal), **{"cache": None, **self._given(_JUDGING)})

    def _given(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: self.options[name] for name in names if name in self.options}


def make_contest(
    base: str,
    checkpoints: str | None,
    zero_shot: Sequence[str],
    *,
    folder: Path | None = None,
    settings: FinetuneSettings | None = None,
    **options: Any,
) -> tuple[Trainer, dict[str, Judge]]:
    """A trainer, and the untrained judges to compare with, all with one set of options.

    Args:
        base: ``lexical``, ``reading``, or a hub id or folder to fine-tune.
        checkpoints: A template of ready judges, see `ReadyCheckpoints`; then `base` is not used.
        zero_shot: Names of the untrained judges.
        folder: Where fine-tuned folds go.
        settings: Fine-tuning settings.
        **options: As for `make_judge`, for every NLI model; ``revision`` and ``label_map`` only for
            `base` or `checkpoints`, or for the untrained ones if that is embedded.

    Raises:
        InputError: A model is to be fine-tuned and no folder is given; or there is no NLI model
            that takes the options.

    Example:
        >>> trainer, judges = make_contest("lexical", None, ["recall"])
        >>> trainer, list(judges)
        (RefitTrainer(base='lexical'), ['recall'])
    """
    if checkpoints is None:
        check_trainable(base)
    refitted = base in REFITTED and checkpoints is None
    own = frozenset() if refitted else settings_of(checkpoints or base)
    given = {name for name, value in options.items() if value is not None}
    if foreign := sorted(given.difference(own, *map(settings_of, zero_shot))):
        raise InputError(
            f"no judge of this cross-validation takes {', '.join(foreign)}",
            hint="These settings are for other judges (--base, --checkpoints, --zero-shot).",
        )
    shared = {
        name: value for name, value in options.items() if refitted or name not in _OF_THE_MODEL
    }

    def of(judge: str, known: Mapping[str, Any] = shared) -> dict[str, Any]:
        return {name: value for name, value in known.items() if name in settings_of(judge)}

    trainer: Trainer
    if checkpoints is not None:
        trainer = ReadyCheckpoints(checkpoints, of(checkpoints, options))
    elif refitted:
        trainer = RefitTrainer(base)
    elif folder is None:
        raise InputError(
            f"no folder for the folds' models of '{base}'",
            expected="--models FOLDER, or --base lexical or reading",
        )
    else:
        settings = settings or FinetuneSettings()
        trainer = FinetuneTrainer(base, folder, settings, of(base, options))
    return trainer, {name: make_judge(name, **of(name)) for name in zero_shot}
