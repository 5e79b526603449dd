"""Judges by name: embedded, a model behind an endpoint, an NLI model by hub id or folder."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.judges.base import Judge
from litepyramid.judges.lexical.judge import LexicalJudge, fit_lexical, load_lexical
from litepyramid.judges.lexical.model import PresenceModel, is_model_file
from litepyramid.judges.lexical.recall import RecallJudge
from litepyramid.judges.reading.judge import ReadingJudge, fit_reading, load_reading


def _reading(path: str | None = None) -> Judge:
    return ReadingJudge(load_reading(path))


def _lexical(path: str | None = None) -> Judge:
    return LexicalJudge(load_lexical(path))


EMBEDDED: dict[str, Callable[[], Judge]] = {
    "reading": _reading,
    "lexical": _lexical,
    "recall": RecallJudge,
}
"""Judges that need no model and no download, by name."""

REFITTED: dict[str, tuple[Callable[..., Judge], Callable[..., PresenceModel]]] = {
    "reading": (ReadingJudge, fit_reading),
    "lexical": (LexicalJudge, fit_lexical),
}
"""Those that labels can refit: the judge of a model, and what fits one to items and labels."""

LLM = "llm:"
"""How the names of judges behind an endpoint begin."""


def settings_of(name: str) -> frozenset[str]:
    """The settings that the judge of a name takes; the embedded ones have none.

    Example:
        >>> sorted(settings_of("lexical")), "mode" in settings_of("roberta-large-mnli")
        ([], True)
        >>> "endpoint" in settings_of("llm:any")
        True
    """
    if name in EMBEDDED or is_model_file(name):
        return frozenset()
    return frozenset(signature(_judge_class(name)).parameters) - {"model"}


def _judge_class(name: str) -> Any:
    if name.startswith(LLM):
        from litepyramid.judges.llm.judge import LLMJudge

        return LLMJudge
    from litepyramid.judges.nli.judge import TransformersJudge

    return TransformersJudge


def check_judge_name(name: str) -> None:
    """Raises InputError if a name is meant for an embedded judge and misspelt: no hub is asked.

    Example:
        >>> check_judge_name("lexcial")
        Traceback (most recent call last):
        litepyramid.errors.InputError: unknown judge 'lexcial'. Did you mean 'lexical'?
    """
    near = [] if name in EMBEDDED else get_close_matches(name.lower(), EMBEDDED, 1, 0.75)
    if near and not Path(name).exists():
        raise InputError(f"unknown judge '{name}'", hint=f"Did you mean '{near[0]}'?")


def check_trainable(name: str) -> None:
    """Raises InputError if a judge has nothing to train, or its name is misspelt.

    Example:
        >>> check_trainable("recall")
        Traceback (most recent call last):
        litepyramid.errors.InputError: the judge 'recall' cannot be trained. Expected reading, \
lexical, or a hub id or folder of an NLI model.
    """
    check_judge_name(name)
    fixed = name in EMBEDDED.keys() - REFITTED.keys() or name.startswith(LLM)
    if fixed or is_model_file(name):
        raise InputError(
            f"the judge '{name}' cannot be trained",
            expected="reading, lexical, or a hub id or folder of an NLI model",
        )


def make_judge(name: str, **options: Any) -> Judge:
    """The judge called `name`.

    Args:
        name: ``reading``, ``lexical`` or ``recall``; a file that `save_reading` or
            `save_lexical` wrote (or a folder with a ``reading.json`` or ``lexical.json``);
            ``llm:MODEL`` for a model behind an endpoint; else a model folder or hub id for the
            NLI judge.
        **options: Settings of `TransformersJudge` or `LLMJudge`; None leaves one out. The
            embedded judges have none.

    Raises:
        InputError: The judge does not take an option, or its name is misspelt.
        ModelError: The model cannot be read.
        MissingExtraError: What the judge needs is not installed.

    Example:
        >>> make_judge("recall").judge([("A dog sleeps.", ["The dog sleeps."])]).presence
        (array([1.]),)
    """
    check_judge_name(name)
    given = {key: value for key, value in options.items() if value is not None or key == "cache"}
    if foreign := sorted({key for key in given if given[key] is not None} - settings_of(name)):
        raise InputError(
            f"the judge '{name}' takes no {', '.join(foreign)}",
            hint="See which settings are for which judges: litepyramid score --help.",
        )
    if name in EMBEDDED:
        return EMBEDDED[name]()
    if kind := is_model_file(name):
        return _reading(name) if kind == "reading" else _lexical(name)
    made: Judge = _judge_class(name)(name.removeprefix(LLM), **given)
    return made
