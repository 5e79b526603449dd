"""Templates filled, and self-contained HTML pages with their own styles, script and
data."""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import jinja2


def fill_page(
    package: str, name: str, data: Any, *, shared: Sequence[str] = (), **values: Any
) -> str:
    """The page ``templates/NAME.html`` of a package, with its styles, scripts and data
    inside."""
    environment = _environment(package)
    assert environment.loader is not None
    inside = {"css": "", "js": ""}

    for file in [*shared, f"{name}.css", f"{name}.js"]:
        inside[file.rpartition(".")[2]] += environment.loader.get_source(
            environment, file
        )[0]

    text = json.dumps(
        data,
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    )
    values |= {
        "style": inside["css"],
        "script": inside["js"],
        # In a script </script> would end it, wherever it stands.
        "data": text.replace("<", "\\u003c"),
    }
    return fill_template(package, f"{name}.html", **values)


def fill_template(package: str, name: str, **values: Any) -> str:
    """The file ``templates/NAME`` of a package, each value escaped where it stands."""
    return _environment(package).get_template(name).render(values)


@cache
def _environment(package: str) -> jinja2.Environment:
    """Templates of a package over those of the ground floor (``base.html``)."""
    loaders = [jinja2.PackageLoader(package), jinja2.PackageLoader("litepyramid")]
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["csp_hash"] = _hash
    return environment


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
