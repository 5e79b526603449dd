"""Imports of optional dependencies, with the exact install line when one is missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from litepyramid.errors import MissingExtraError


def require(package: str, *, extra: str, purpose: str) -> ModuleType:
    """Imports `package`, or says which extra brings it.

    Args:
        package: The module to import, for example ``"torch"``.
        extra: The extra of litepyramid that installs it.
        purpose: What needs it, as the subject of a sentence: ``"the NLI judge"``.

    Raises:
        MissingExtraError: The package is not installed.

    Example:
        >>> require("json", extra="nli", purpose="nothing").dumps([1])
        '[1]'
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or not package.startswith(error.name.split(".")[0]):
            raise
        raise MissingExtraError(package.split(".")[0], extra=extra, purpose=purpose) from error
