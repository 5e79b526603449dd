"""Templates filled, and self-contained HTML pages with their own styles, script and data."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any


def fill_page(
    package: str, name: str, data: Any, values: Mapping[str, str], shared: Sequence[str] = ()
) -> str:
    """The page ``templates/NAME.html`` of a package, with NAME.css, NAME.js and its data inside.

    Before them come the `shared` files of styles and scripts.
    """
    folder = resources.files(package) / "templates"
    files = [folder / one for one in (*shared, f"{name}.css", f"{name}.js")]
    texts = [(file.name, file.read_text("utf-8")) for file in files if file.is_file()]
    style, script = (
        "".join(text for name, text in texts if name.endswith(end)) for end in (".css", ".js")
    )
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    pieces = {
        **values,
        "STYLE": style,
        "STYLE_HASH": _hash(style),
        "SCRIPT": script,
        "SCRIPT_HASH": _hash(script),
        "DATA": text.replace("<", "\\u003c"),
    }
    return fill_template(package, f"{name}.html", pieces)


def fill_template(package: str, name: str, pieces: Mapping[str, str]) -> str:
    """The file ``templates/NAME`` of a package, with each piece that it names between two ``@``."""
    parts = (resources.files(package) / "templates" / name).read_text("utf-8").split("@")
    return "".join(pieces.get(part, part) if i % 2 else part for i, part in enumerate(parts))


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
