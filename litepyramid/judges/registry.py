"""Judges by name: the embedded ones, else an NLI model by hub id or folder."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.judges.base import Judge
from litepyramid.judges.lexical.judge import LexicalJudge, is_lexical_file, load_lexical
from litepyramid.judges.lexical.recall import RecallJudge


def _from_file(path: str | None = None) -> Judge:
    return LexicalJudge(load_lexical(path))


EMBEDDED: dict[str, Callable[[], Judge]] = {
    "lexical": _from_file,
    "recall": RecallJudge,
}
"""Judges that need no model and no download, by name."""


def takes_settings(name: str) -> bool:
    """Whether it names an NLI model, which has settings; the embedded judges have none.

    Example:
        >>> takes_settings("lexical"), takes_settings("roberta-large-mnli")
        (False, True)
    """
    return name not in EMBEDDED and not is_lexical_file(name)


def check_judge_name(name: str) -> None:
    """Raises InputError if a name is meant for an embedded judge and misspelt: no hub is asked.

    Example:
        >>> check_judge_name("lexcial")
        Traceback (most recent call last):
        litepyramid.errors.InputError: no judge 'lexcial'. Did you mean 'lexical'?
    """
    near = [] if name in EMBEDDED else get_close_matches(name.lower(), EMBEDDED, 1, 0.75)
    if near and not Path(name).exists():
        raise InputError(f"no judge '{name}'", hint=f"Did you mean '{near[0]}'?")


def make_judge(name: str, **options: Any) -> Judge:
    """The judge called `name`.

    Args:
        name: ``lexical`` or ``recall``; a file that `save_lexical` wrote (or a folder with a
            ``lexical.json``); else a model folder or hub id for the NLI judge.
        **options: Handed to the NLI judge (mode, device, batch size …); the embedded judges
            have none and refuse them.

    Raises:
        InputError: Options are given to an embedded judge, or its name is misspelt.
        ModelError: The model cannot be read.
        MissingExtraError: An NLI judge is asked for and torch or transformers is not installed.

    Example:
        >>> make_judge("recall").judge([("A dog sleeps.", ["The dog sleeps."])]).presence
        (array([1.]),)
    """
    embedded = EMBEDDED.get(name)
    if embedded is None and is_lexical_file(name):
        embedded = partial(_from_file, name)
    if embedded is None:
        check_judge_name(name)
        from litepyramid.judges.nli.judge import TransformersJudge

        return TransformersJudge(name, **options)
    given = sorted(key for key, value in options.items() if value is not None)
    if given:
        raise InputError(
            f"the judge '{name}' takes no {', '.join(given)}",
            hint="These settings are for NLI models (--judge HUB_ID or FOLDER).",
        )
    return embedded()
