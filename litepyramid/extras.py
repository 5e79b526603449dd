"""Imports of optional dependencies, with the exact install line when one is missing."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit
from urllib.request import url2pathname

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


def install_line(extra: str) -> str:
    """The command that adds an extra to litepyramid, installed from where it was installed from.

    That is a checkout (``pip install -e``), a folder, a repository or an archive, as pip notes it
    down (PEP 610), or the package index; run without being installed, the checkout it runs from.

    Example:
        >>> install_line("nli").startswith("pip install ")
        True
    """
    try:
        noted = distribution("litepyramid").read_text("direct_url.json")
    except PackageNotFoundError:
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
