"""Judges by name: embedded, a model behind an endpoint, an NLI model by hub id or
folder."""

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import getdoc, signature
from itertools import repeat
from pathlib import Path
from typing import Any, cast, get_type_hints

from litepyramid.checked import parse_json
from litepyramid.errors import InputError, choose
from litepyramid.files import file_type
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import (
    Items,
    Judge,
    JudgedBatch,
    Questions,
)
from litepyramid.judges.lexical.lexical_judge import (
    LexicalJudge,
    PresenceModel,
    RecallJudge,
    fit_lexical,
    is_lexical,
    load_lexical,
)
from litepyramid.judges.panel import Join, PanelJudge
from litepyramid.judges.parallel import OnWorkers, as_presence_row, on_workers, single
from litepyramid.language import check_language
from litepyramid.progress import track
from litepyramid.stats import check_whole
from litepyramid.tables import Result, Table
from litepyramid.text import cut
from litepyramid.types import JudgeLike

LLM = "llm:"

# A hub id: ORG/MODEL, or an old one without ORG, such as roberta-large-mnli.
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*|[A-Za-z0-9]\w*-[\w.-]+")

Refit = tuple[Callable[..., Judge], Callable[..., PresenceModel]]


@dataclass(frozen=True)
class JudgeKind:
    """One kind of judge; the languages that it reads are an attribute of the judge.

    Attributes:
        factory: Imports and gives what makes the judge: its parameters are the settings
            (``-J``), but for `model`, which takes the name.
        trainable: Whether labels can train it.
        refit: Where they do so in seconds: what makes the judge of a model, and what
            fits one to items and labels.
        embedded: Whether it needs no download.
    """

    factory: Callable[[], Callable[..., Judge]]
    trainable: bool = False
    refit: Refit | None = None
    embedded: bool = False

    @property
    def settings(self) -> frozenset[str]:
        """The settings that it takes, besides `workers` and `engine`."""
        return frozenset(signature(self.factory()).parameters) - {"model"}


def _mini() -> Callable[..., Judge]:
    from litepyramid.judges.mini import MiniJudge

    return MiniJudge


def _lexical(model: str) -> Judge:
    return LexicalJudge(load_lexical(None if model == "lexical" else model))


def _recall() -> Judge:
    return RecallJudge()


def _llm() -> Callable[..., Judge]:
    from litepyramid.judges.llm.llm_judge import LLMJudge

    return LLMJudge


def _nli() -> Callable[..., Judge]:
    from litepyramid.judges.nli.nli_judge import NLIJudge

    return NLIJudge


JUDGES = {
    "mini": JudgeKind(_mini, trainable=True, embedded=True),
    "lexical": JudgeKind(
        lambda: _lexical,
        trainable=True,
        refit=(LexicalJudge, fit_lexical),
        embedded=True,
    ),
    "recall": JudgeKind(lambda: _recall, embedded=True),
    "llm:MODEL": JudgeKind(_llm),
    "the folder of a lexical judge": JudgeKind(lambda: _lexical),
    "the folder of an NLI model": JudgeKind(_nli, trainable=True),
    "a hub id (ORG/MODEL)": JudgeKind(_nli, trainable=True),
}
"""By name, or how a name looks, every kind of judge (`kind_of`)."""

EMBEDDED = tuple(name for name, kind in JUDGES.items() if kind.embedded)
"""Judges that need no download."""
REFITTED = {name: kind.refit for name, kind in JUDGES.items() if kind.refit}
"""Those that labels refit in seconds."""


def kind_of(name: str) -> JudgeKind:
    """The kind of judge that a name means.

    Raises:
        InputError: It is none of `JUDGES`: neither the name of an embedded judge, nor
            that of a model behind an endpoint, nor a path, nor a hub id.

    Example:
        >>> kind_of("recall").trainable, kind_of("roberta-large-mnli").trainable
        (False, True)
    """
    if name in EMBEDDED:
        return JUDGES[name]
    if name.startswith(LLM):
        return JUDGES["llm:MODEL"]

    # A path of several models, one a fold (`crossval`), is one of folders.
    if "{fold}" in name or (name.strip() and file_type(name)):
        form = "a lexical judge" if is_lexical(name) else "an NLI model"
        return JUDGES[f"the folder of {form}"]

    # No hub is asked for what is meant for an embedded judge.
    near = get_close_matches(name.lower(), EMBEDDED, 1, 0.75)
    if near or not _HUB_ID.fullmatch(name):
        raise InputError(
            f"unknown judge '{cut(name)}'",
            expected=", ".join(JUDGES),
            hint=f"Did you mean '{near[0]}'?" if near else None,
        )

    return JUDGES["a hub id (ORG/MODEL)"]


@dataclass(frozen=True)
class FunctionJudge:
    """A function of a summary and its units; it is not asked about empty summaries."""

    function: Callable[..., Any]

    @property
    def uses_questions(self) -> bool:
        """Whether the function has a parameter `question`."""
        with suppress(ValueError):
            return "question" in signature(self.function).parameters
        return False

    def judge(self, items: Items, questions: Questions = None) -> JudgedBatch:
        """Asks the function about every summary."""
        # An object that can be called has no name of its own; a lambda is "<lambda>".
        kind = type(self.function).__name__
        name = str(getattr(self.function, "__name__", kind)).strip("<>")
        uses = self.uses_questions
        presence = []
        tracked = track(items, "judging", "summaries")

        for (summary, units), question in zip(
            tracked, questions or repeat(None), strict=False
        ):
            row = [0.0] * len(units)
            if summary.strip():
                more = {"question": question} if uses else {}
                row = self.function(summary, units, **more)
            presence.append(as_presence_row(row, len(units), name))

        return JudgedBatch(tuple(presence), {"judge": f"function {name}"})


def judge(name: JudgeLike = DEFAULT_JUDGE, **settings: Any) -> Judge:
    """Makes a judge, which rates how far each unit is present in a summary.

    Args:
        name: mini (default), lexical, recall, a hub id or folder of an NLI model
            (safetensors or ONNX), llm:MODEL behind an endpoint, several of these joined
            by + (the mean of their presences, or join=median); from Python also a
            function of (summary, units) that returns one number from 0 to 1 per unit
            (NaN: no judgement; with a parameter `question` it is told what the summary
            answers), or an object with `judge`.
        **settings: Settings of the judge (`judge_settings` lists them): ``mode``,
            ``device``,
            ``endpoint``, ``cache``, ``workers`` … None leaves one at its default.

    Raises:
        InputError: There is no such judge, or it takes no such setting.
        ModelError: The model cannot be read.
        MissingExtraError: What the judge needs is not installed.

    Example:
        >>> judge("recall").judge([("A dog sleeps.", ["The dog sleeps."])]).presence
        (array([1.]),)
        >>> own = judge(lambda summary, units: [unit in summary for unit in units])
        >>> own.judge([("It rained.", ("It rained.", "We left."))]).presence
        (array([1., 0.]),)
    """
    workers = settings.pop("workers", None)
    engine = settings.pop("engine", None) or "local"
    several = panel_names(name) if isinstance(name, str) and "+" in name else ()
    if len(several) > 1:
        join: Join = settings.pop("join", None) or "mean"
        choose("way to join judges", join, Join)
        if len({*several}) < len(several):
            raise InputError(f"one judge twice ({name})", expected="different judges")
        _check_settings(several, settings)
        judges = []
        for one in several:
            taken = settings_of(one)
            fitting = {key: settings[key] for key in settings if key in taken}
            judges.append(_made(one, fitting))
        made: Judge = PanelJudge(several, judges, join)
    elif isinstance(name, str | Path):
        made = _made(str(name), settings)
    elif settings:
        raise InputError(f"a judge object takes no {', '.join(sorted(settings))}")
    elif hasattr(name, "judge"):
        # Whatever its method returns is checked when it judges (`checked_batch`).
        made = cast(Judge, name)
    elif callable(name) and not isinstance(name, type):
        made = FunctionJudge(name)
    else:
        raise InputError(
            f"a judge cannot be made from a {type(name).__name__}",
            expected="a name, a folder, a function of (summary, units), or an object "
            "with 'judge'",
        )

    return on_workers(made, workers, engine)


def panel_names(name: str) -> tuple[str, ...]:
    """The judges that a name joins by ``+``; a folder may have one in its name."""
    parts = tuple(part.strip() for part in name.split("+"))
    return parts if all(parts) and file_type(name) is None else (name,)


def _repeated(name: str, settings: dict[str, Any], repeats: int) -> Judge:
    """A language model that is asked several times, each with a seed of its own."""
    parameters = settings.get("parameters") or {}
    names = []
    judges = []
    for number in range(1, repeats + 1):
        names.append(f"{name} #{number}")
        # One seed would give one answer, as often as it is asked.
        seeded = {**parameters, "seed": parameters.get("seed", 0) + number}
        judges.append(_made(name, {**settings, "parameters": seeded}))
    return PanelJudge(tuple(names), judges, repeats=True)


def in_language(judge: Judge, language: str) -> Judge:
    """A judge for texts in a language: itself, or its form for the language if it has
    forms.

    An InputError if it reads some languages only (its attribute `languages`), and not
    this one.
    """
    one = single(judge)
    if isinstance(one, PanelJudge):
        return replace(one, judges=[in_language(j, language) for j in one.judges])
    if languages := getattr(one, "languages", None):
        name = type(one).__name__.removesuffix("Judge").lower()
        check_language("judge", language, f"the judge {name}", languages)
    return judge if language == "en" else _formed(judge, "in_language", language)


def for_criteria(judge: Judge) -> Judge:
    """A judge for the criteria of rubrics: an LLM judge's prompt `met`, unless one was
    chosen."""
    one = single(judge)
    if isinstance(one, PanelJudge):
        return replace(one, judges=list(map(for_criteria, one.judges)))
    return _formed(judge, "for_criteria")


def _formed(judge: Judge, method: str, *values: str) -> Judge:
    """The form of a judge that a method of it makes; itself if it has no such
    method."""
    one = single(judge)
    form = getattr(one, method)(*values) if hasattr(one, method) else one
    return replace(judge, one=form) if isinstance(judge, OnWorkers) else form


def _made(name: str, settings: dict[str, Any]) -> Judge:
    kind = kind_of(name)
    values = {}
    for key, value in settings.items():
        if value is not None or (key == "cache" and key in kind.settings):
            values[key] = value
    if values:
        _check_settings([name], values)

    repeats = values.pop("repeats", 1)
    if repeats != 1:
        check_whole("repeats", repeats, 1, 100)
        return _repeated(name, values, repeats)

    factory = kind.factory()
    if "model" in signature(factory).parameters:
        return factory(name.removeprefix(LLM), **values)
    return factory(**values)


def settings_of(name: str) -> frozenset[str]:
    """The settings that the judge of a name takes, besides `workers` and `engine`."""
    return kind_of(name).settings


def _check_settings(judges: Sequence[str], settings: Iterable[str]) -> None:
    """Sees that some judge takes each setting; else says what was probably meant."""
    names = {"workers", "engine"}.union(*map(settings_of, judges))
    foreign = sorted(set(settings) - names)
    if not foreign:
        return

    name = judges[0]
    hint = f"The settings of a judge: litepyramid judge settings {name}."
    if near := get_close_matches(foreign[0], names, 1, 0.6):
        hint = f"Did you mean '{near[0]}'?"
    elif name not in EMBEDDED and foreign[0] in JUDGES["llm:MODEL"].settings:
        hint = f"A model behind an endpoint is called '{LLM}{name}'."

    what = f"the judge '{'+'.join(judges)}' takes no {', '.join(foreign)}"
    raise InputError(what, hint=hint)


def check_trainable(name: Any) -> None:
    """Raises InputError if a judge has nothing to train, or its name is misspelt."""
    if not isinstance(name, str | Path):
        raise InputError(
            f"the base is a {type(name).__name__}", expected="a name or a folder"
        )

    if not kind_of(str(name)).trainable:
        raise InputError(
            f"the judge '{name}' cannot be trained",
            expected="lexical, mini, or a hub id or folder of an NLI model",
        )


def parse_settings(
    settings: Sequence[str], name: str = DEFAULT_JUDGE
) -> dict[str, Any]:
    """Settings given as text, ``KEY=VALUE`` each, as the judge of a name takes them.

    ``none`` is None where a setting may be that; lists and tables are JSON.

    Example:
        >>> parse_settings(["mode=p2c", "max_length=128"], "roberta-large-mnli")
        {'mode': 'p2c', 'max_length': 128}
    """
    from pydantic import TypeAdapter, ValidationError

    names = panel_names(name)
    values = {}

    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        key = key.replace("-", "_")
        if not equals or not key:
            raise InputError(f"the setting '{setting}'", expected="KEY=VALUE")

        if len(names) > 1 and key == "join":
            hints: dict[str, Any] = {key: str}
        else:
            _check_settings(names, [key])
            # Of several judges the first that takes a setting reads it.
            takers = [one for one in names if key in settings_of(one)]
            factory = kind_of([*takers, names[0]][0]).factory()
            # The hints of a class are those of its fields; settings are its maker's.
            maker = vars(factory)["__init__"] if isinstance(factory, type) else factory
            hints = {**get_type_hints(maker), "workers": int | None, "engine": str}

        if key in values:
            raise InputError(f"the setting '{key}' is given twice")
        value: Any = None if text.lower() in ("none", "null") else text
        if text[:1] in ("{", "["):
            value = parse_json(text, expected=f"the setting '{key}' as JSON")

        try:
            values[key] = TypeAdapter(hints[key]).validate_python(value)
        except ValidationError as misfit:
            problem = misfit.errors(include_url=False)[0]["msg"]
            raise InputError(
                f"the setting {key} is '{text}'", expected=problem.lower()
            ) from None

    return values


@dataclass(frozen=True)
class JudgeSettings(Result):
    """The settings that a judge takes, each with its default and what it does."""

    judge: str
    settings: tuple[dict[str, str], ...]

    def to_tables(self) -> list[Table]:
        """One row a setting."""
        columns = ("setting", "default", "help")
        return [Table.of(f"Settings of the judge {self.judge}", columns, self.settings)]


def judge_settings(name: str = DEFAULT_JUDGE) -> JudgeSettings:
    """Lists the settings that a judge takes, with their defaults.

    Args:
        name: The judge: lexical, recall, mini, a hub id or folder of an NLI model, or
            llm:MODEL.

    Raises:
        InputError: There is no such judge.

    Example:
        >>> [row["setting"] for row in judge_settings("lexical").settings]
        ['workers', 'engine']

    Command line:
        $ litepyramid judge settings roberta-large-mnli
        $ litepyramid judge settings llm:any
    """
    if not isinstance(name, str):
        raise InputError(
            f"a judge's name is a {type(name).__name__}", expected="a text"
        )

    factory = kind_of(name).factory()
    # The docstring is the one place that tells them.
    section = re.search(r"Args:\n(.*?)(\n\n|\Z)", getdoc(factory) or "", re.DOTALL)
    entries = re.findall(
        r"^    (\w+): (.*(?:\n     .*)*)", section[1] if section else "", re.M
    )
    texts = {key: " ".join(text.split()) for key, text in entries}
    texts["workers"] = "Processes, or judges on the cluster; none chooses."
    texts["engine"] = "local, or ray for a Ray cluster."
    defaults = {k: entry.default for k, entry in signature(factory).parameters.items()}
    defaults.pop("model", None)

    rows = []
    for key, value in (*defaults.items(), ("workers", None), ("engine", "local")):
        # As they are typed: `-J long=none`, `-J estimate=true`.
        default = str(value)
        if value is None or isinstance(value, bool):
            default = default.lower()
        help = texts.get(key, "")
        rows.append({"setting": key, "default": default, "help": help})
    return JudgeSettings(name, tuple(rows))
