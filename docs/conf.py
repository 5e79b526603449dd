"""Builds the documentation site: `make docs`."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import is_dataclass
from importlib import import_module
from inspect import getsource, isclass, isfunction
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import litepyramid

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
GENERATED = HERE / "generated"

project = "litepyramid"
author = "The litepyramid developers"
copyright = f"2026, {author}"
version = release = litepyramid.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
suppress_warnings = ["misc.highlighting_failure"]  # JSON with an ellipsis
default_role = "py:obj"
html_theme = "furo"
html_title = f"litepyramid {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
autosummary_generate = False
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # in the class's docstring only
napoleon_use_rtype = False
python_maximum_signature_line_length = 88

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

# Pages that stand elsewhere in the repository, where people look for them first.
ELSEWHERE = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "models/README.md": "models",
    "models/highlights/README.md": "highlights",
}
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


class Public(SphinxDirective):
    """`{public} MODULE`: all that the module names in `__all__`, a table and then each in full."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Writes the names down for autosummary and autodoc to read."""
        module = import_module(self.arguments[0])
        named = {name: getattr(module, name) for name in module.__all__}
        shown = {name: it for name, it in named.items() if callable(it)}
        lines = [".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   ~{module.__name__}.{name}" for name in shown]
        lines += ["", *(line for name in shown for line in full(module.__name__, name))]
        results = {returned(it) for it in shown.values() if isfunction(it)}
        new = {
            it
            for it in results - set(shown.values())
            if is_dataclass(it) and it.__module__.startswith("litepyramid")
        }
        lines += [".. rubric:: What they return", ""] if new else []
        for it in sorted(new, key=lambda it: it.__name__):
            lines += full(it.__module__, it.__name__)
        return list(self.parse_text_to_nodes("\n".join(["```{eval-rst}", *lines, "```"])))


def returned(function: Callable[..., Any]) -> Any:
    """What a function returns, if it is one class: annotations may be imported for types only."""
    module, name = sys.modules[function.__module__], function.__annotations__.get("return")
    for node in ast.walk(ast.parse(getsource(module))):
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            return getattr(import_module(str(node.module)), name)
    return getattr(module, str(name), None)


def full(module: str, name: str) -> list[str]:
    """The lines that show one class or function in full."""
    kind = "class" if isclass(getattr(import_module(module), name)) else "function"
    return [f".. auto{kind}:: {module}.{name}", ""]


def linked(page: Path, text: str) -> str:
    """A page's text, its links to files of the repository turned to pages of the site."""

    def turned(match: re.Match[str]) -> str:
        goal, anchor = (page.parent / match[1]).resolve(), match[2] or ""
        if not goal.is_relative_to(ROOT):
            return match[0]
        name = goal.relative_to(ROOT).as_posix()
        if name in ELSEWHERE:
            return f"](/generated/{ELSEWHERE[name]}.md{anchor})"
        if goal.is_relative_to(HERE):
            return f"](/{goal.relative_to(HERE).as_posix()}{anchor})"
        return match[0]

    return LINK.sub(turned, text)


def write_generated() -> None:
    """Writes the pages that are made from other files: the command line's, and `ELSEWHERE`."""
    GENERATED.mkdir(exist_ok=True)
    for source, name in ELSEWHERE.items():
        page = ROOT / source
        text = linked(page, page.read_text(encoding="utf-8"))
        (GENERATED / f"{name}.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "typer", "litepyramid.cli.app", "utils", "docs"]
    done = subprocess.run(
        [*command, "--name", "litepyramid", "--title", "Command line"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    (GENERATED / "cli.md").write_text(commands(done.stdout), encoding="utf-8")


def commands(text: str) -> str:
    """Typer's reference with examples as code, and each command's whole first line in the lists."""
    text = re.sub(r"(?<=\n\n)((?:\$ .*\n(?: {4}.*\n)*)+)", r"```console\n\1```\n", text)
    text = re.sub(r" <list\[\w+\]>`", "`", text)
    about = dict(re.findall(r"^##+ `(.+)`\n\n(.+)", text, re.MULTILINE))
    lines, group = [], "litepyramid"
    for line in text.splitlines():
        if heading := re.match("##+ `(.+)`", line):
            group = heading[1]
        entry = re.match(r"\* `([a-z-]+)`: ", line)
        if entry and (name := f"{group} {entry[1]}") in about:
            line = f"* [`{entry[1]}`](#{name.replace(' ', '-')}): {about[name]}"
        lines.append(options_as_code(line))
    return "\n".join(lines)


def options_as_code(line: str) -> str:
    """A line of help with the options that it mentions as code, so that -- stays as it is."""
    parts = line.split("`")
    if not line.startswith(("$", "    ")):
        parts[::2] = [re.sub(r"(--[a-z][a-z-]*)", r"`\1`", part) for part in parts[::2]]
    return "`".join(parts)


def without_factories(app: Sphinx, *given: Any) -> tuple[str | None, str | None]:
    """A signature whose defaults Sphinx can read: dataclasses show a factory as <factory>."""
    signature, returns = given[-2:]
    return signature and signature.replace("<factory>", "..."), returns


def link(app: Sphinx, name: str, source: list[str]) -> None:
    """Turns the links of a page as it is read."""
    if not name.startswith("generated/"):
        source[0] = linked(HERE / f"{name}.md", source[0])


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    write_generated()
    app.add_directive("public", Public)
    app.connect("source-read", link)
    app.connect("autodoc-process-signature", without_factories)
