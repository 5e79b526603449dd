"""Judges by name: the embedded ones, else an NLI model by hub id or folder."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.presence.judge import Judge
from litepyramid.presence.lexical import LexicalJudge, is_lexical_file, load_lexical
from litepyramid.presence.recall import RecallJudge

EMBEDDED: dict[str, Callable[[], Judge]] = {
    "lexical": lambda: LexicalJudge(load_lexical()),
    "recall": RecallJudge,
}
"""Judges that need no model and no download, by name."""


def make_judge(name: str, **options: Any) -> Judge:
    """The judge called `name`.

    Args:
        name: ``lexical`` or ``recall``; a file that `save_lexical` wrote (or a folder with a
            ``lexical.json``); else a model folder or hub id for the NLI judge.
        **options: Handed to the NLI judge (mode, device, batch size …); the embedded judges
            have none and refuse them.

    Raises:
        InputError: Options are given to an embedded judge.
        ModelError: The model cannot be read.
        MissingExtraError: An NLI judge is asked for and torch or transformers is not installed.

    Example:
        >>> make_judge("recall").judge([("A dog sleeps.", ["The dog sleeps."])]).presence
        (array([1.]),)
    """
    given = sorted(key for key, value in options.items() if value is not None)
    lexical = is_lexical_file(name)
    if name in EMBEDDED or lexical:
        if given:
            raise InputError(
                f"the judge '{name}' takes no {', '.join(given)}",
                hint="These settings are for NLI models (--judge HUB_ID or FOLDER).",
            )
        return LexicalJudge(load_lexical(Path(name))) if lexical else EMBEDDED[name]()
    judge: Judge = import_module("litepyramid.presence.transformers").TransformersJudge(
        name, **options
    )
    return judge
