"""litepyramid: score machine-written summaries by the facts they carry.

Public names are loaded on first use, so that importing the package is quick and loads
neither torch nor spaCy. `__init__.pyi` names them, for type checkers and editors too.
"""

import re
from importlib import import_module
from pathlib import Path
from types import FunctionType

from litepyramid._version import __version__ as __version__

_STUB = Path(__file__).with_suffix(".pyi").read_text("utf-8")
_NAMED = re.findall(r"from (\S+) import (\w+) as", _STUB)
_MODULES = {name: module for module, name in _NAMED}

__all__ = sorted(_MODULES)


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module 'litepyramid' has no attribute '{name}'")

    # A room is a module itself; importing it sets the name.
    if _MODULES[name] == __name__:
        return import_module(f"{__name__}.{name}")

    value = getattr(import_module(_MODULES[name]), name)

    if isinstance(value, FunctionType):
        from litepyramid.files import remembering

        value = remembering(value)

    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
