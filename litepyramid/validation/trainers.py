"""Ways to get a judge for a fold: train the lexical judge, or take checkpoints that are ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from litepyramid.errors import InputError
from litepyramid.presence.judge import Judge
from litepyramid.presence.judges import make_judge
from litepyramid.presence.lexical import LexicalJudge, fit_lexical
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


def make_trainer(base: str, checkpoints: str | None = None, **options: Any) -> Trainer:
    """The trainer that the command line's ``--base`` or ``--checkpoints`` names.

    Args:
        base: ``lexical``.
        checkpoints: A template of ready judges, see `ReadyCheckpoints`; then `base` is not used.
        **options: Of the judges, as by `make_judge`.

    Raises:
        InputError: `base` is unknown.
    """
    if checkpoints is not None:
        return ReadyCheckpoints(checkpoints, options)
    if base == "lexical":
        return LexicalTrainer()
    raise InputError(f"no trainer for '{base}'", expected="lexical")
