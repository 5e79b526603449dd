"""Every error a user can meet: what is wrong, where, what was expected, what to do."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any, get_args
from urllib.parse import urlsplit
from urllib.request import url2pathname

from litepyramid.text import cut, legible


class LitepyramidError(Exception):
    """Base of all errors that litepyramid raises on purpose.

    Its parts: what is wrong, where, what would be right, what to do. In the message,
    long values are cut and invisible characters escaped; the attributes hold them
    complete.
    """

    def __init__(
        self,
        what: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.what = what
        self.path = None if path is None else str(path)
        self.line = line
        self.expected = expected
        self.hint = hint
        super().__init__(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Its attributes, so that it comes whole out of another process."""
        return type(self).__new__, (type(self),), self.__dict__

    def __str__(self) -> str:
        where = ""
        if self.path is not None:
            where = (
                legible(self.path, 400)
                + ("" if self.line is None else f":{self.line}")
                + ": "
            )

        text = f"{where}{legible(self.what)}."
        if self.expected:
            text += f" Expected {legible(self.expected)}."
        if self.hint:
            # Half of a line to write could not be written.
            text += f" {cut(self.hint, 2000)}"
        return text


class InputError(LitepyramidError):
    """A file or an argument is not as expected."""


def choose(what: str, value: object, allowed: Any) -> None:
    """Sees that a name is among those there are: of a sequence, or of a Literal."""
    allowed = get_args(allowed) or allowed
    if value not in allowed:
        known = f"{', '.join(allowed[:-1])} or {allowed[-1]}"
        each = "one of " if len(allowed) > 2 else ""
        raise InputError(f"unknown {what} '{value}'", expected=each + known)


def no_effect(
    function: Callable[..., Any], when: bool, why: str, **options: object
) -> None:
    """Refuses an option that was given where it would change nothing.

    Args:
        function: What takes the options: by its defaults they were given or not.
        when: Whether they would change nothing.
        why: Why, to end a sentence with.
        **options: The options and their values.

    Example:
        >>> no_effect(choose, True, "here", value="x")
        Traceback (most recent call last):
        ...
        litepyramid.errors.InputError: value has no effect here. Leave out value.
    """
    entries = signature(function).parameters
    for name, value in options.items() if when else ():
        default = entries[name].default
        # Arrays and frames are not compared: what has no default value is None.
        given = value is not None if default is None else value != default
        if given:
            raise InputError(f"{name} has no effect {why}", hint=f"Leave out {name}.")


class ModelError(LitepyramidError):
    """A model cannot be read, or cannot be used here."""


class MissingExtraError(LitepyramidError):
    """An optional dependency is not installed; the hint is the line that installs
    it."""

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        what = f"{purpose} needs the package '{package}', which is not installed"
        super().__init__(what, hint=f"Install it with: {install_line(extra)}")


@contextmanager
def loading(
    what: str,
    *,
    path: str | Path | None = None,
    expected: str | None = None,
    hint: str | None = None,
) -> Iterator[None]:
    """Turns whatever a third-party loader raises on a damaged model into one
    `ModelError`."""
    try:
        yield
    except (LitepyramidError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    # A damaged model can raise anything: Rust's panics are no Exception.
    except BaseException as error:
        what = f"{what} ({reason(error)})"
        raise ModelError(
            what,
            path=path,
            expected=expected,
            hint=hint,
        ) from error


@contextmanager
def located(path: str | Path, line: int | None = None) -> Iterator[None]:
    """Gives errors their place, if they have none."""
    try:
        yield
    except InputError as error:
        # The inner place is the more exact one.
        if error.path is not None:
            raise
        error.path, error.line = str(path), error.line or line
        raise


def reason(error: BaseException) -> str:
    """The first line of a third-party error's message, at most 200 characters."""
    said = (str(error).strip().splitlines() or [""])[0].rstrip(".:")[:200]
    # str(KeyError('x')) is 'x' alone, which says nothing of what happened.
    if isinstance(error, LookupError) or not said:
        return f"{type(error).__name__}: {said}".removesuffix(": ")
    return said


def require(package: str, *, extra: str, purpose: str) -> ModuleType:
    """Imports a package, or names the extra that installs it; `purpose` is what needs
    it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        # Something else that the package itself needs is missing: that is no extra of
        # ours.
        if error.name is None or not package.startswith(error.name.split(".")[0]):
            raise
        raise MissingExtraError(
            package.split(".")[0], extra=extra, purpose=purpose
        ) from error


def install_line(extra: str) -> str:
    """The command that installs an extra from where litepyramid was installed (PEP
    610)."""
    try:
        noted = distribution("litepyramid").read_text("direct_url.json")
    except PackageNotFoundError:
        # A working tree on PYTHONPATH, which nothing has installed.
        root = Path(__file__).resolve().parents[1]
        return f'pip install -e "{root}[{extra}]"'

    if noted is None:
        return f'pip install "litepyramid[{extra}]"'
    source = json.loads(noted)
    if "dir_info" in source:
        folder = url2pathname(urlsplit(source["url"]).path)
        editable = "-e " if source["dir_info"].get("editable") else ""
        return f'pip install {editable}"{folder}[{extra}]"'

    vcs = source.get("vcs_info")
    url = f"{vcs['vcs']}+{source['url']}@{vcs['commit_id']}" if vcs else source["url"]
    return f'pip install "litepyramid[{extra}] @ {url}"'
