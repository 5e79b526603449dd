"""Builds the documentation site: `make docs`."""

import contextlib
import io
import os
import re
from importlib import import_module
from inspect import isclass
from pathlib import Path
from typing import Any, get_type_hints

from sphinx.application import Sphinx

import litepyramid
from litepyramid.cli.app import COMMANDS, app, function_of
from litepyramid.cli.maker import documentation

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
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
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
    "models/written/README.md": "written",
}
PAPERS = {
    "ZB21": "Zhang & Bansal 2021",
    "DDR21": "Deutsch, Dror & Roth 2021",
    "DDR22": "Deutsch, Dror & Roth 2022",
    "P19": "Peyrard 2019",
}
SHOWN: set[str] = set()
"""The results that a page shows in full; pages of other verbs link to it."""
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")


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
    """Writes the pages that are made from other files: one a verb, and `ELSEWHERE`."""
    GENERATED.mkdir(exist_ok=True)
    for source, name in ELSEWHERE.items():
        page = ROOT / source
        text = linked(page, page.read_text(encoding="utf-8"))
        (GENERATED / f"{name}.md").write_text(text, encoding="utf-8")
    rows = ["# All verbs", "", "Each verb is one function and one command.", ""]
    for words in COMMANDS:
        name = words.replace(" ", "-")
        (GENERATED / f"{name}.md").write_text(verb_page(words), encoding="utf-8")
        summary = (
            documentation(function_of(words)).help.split("\n\n")[0].replace("\n", " ")
        )
        rows.append(f"* [`{words}`]({name}.md): {summary}")
    names = [words.replace(" ", "-") for words in COMMANDS]
    rows += ["", "```{toctree}", ":hidden:", "", *names, "```", ""]
    (GENERATED / "verbs.md").write_text("\n".join(rows), encoding="utf-8")


def verb_page(words: str) -> str:
    """The page of a verb: its docstring as Python reads it, and the help of its command."""
    function = function_of(words)
    examples = re.sub(r"\s*\\\n\s+", " ", documentation(function).examples)
    result = get_type_hints(function).get("return")
    lines = [f"# {words}", "", "```console", examples, "```", "", "## From Python", ""]
    lines += ["```{eval-rst}", *full(function.__module__, function.__name__)]
    if isclass(result) and result.__module__.startswith("litepyramid"):
        name = f"{result.__module__}.{result.__name__}"
        shown = full(result.__module__, result.__name__)
        lines += [".. rubric:: What it returns", ""]
        lines += [f":py:class:`~{name}`", ""] if name in SHOWN else shown
        SHOWN.add(name)
    os.environ |= {"COLUMNS": "88", "TERM": "dumb"}
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        app([*words.split(), "--help"], prog_name="litepyramid", standalone_mode=False)
    text = shown.getvalue().strip("\n")
    lines += ["```", "", "## On the command line", "", "```text", text, "```", ""]
    return "\n".join(lines)


def plain_signature(app: Sphinx, *given: Any) -> tuple[str | None, str | None]:
    """A signature as readers know it: no marks of the command line, no <factory>."""
    signature, returns = given[-2:]
    if signature:
        signature = re.sub(r"Annotated\[(\w+), '\w+'\]", r"\1", signature)
        signature = signature.replace("<factory>", "...")
    return signature, returns


def docstring(app: Sphinx, *given: Any) -> None:
    """Names papers by their authors; takes out "Command line", with which the page begins."""
    lines: list[str] = given[-1]
    for short, paper in PAPERS.items():
        lines[:] = [re.sub(rf"{short} §", f"{paper}, section ", line) for line in lines]
        lines[:] = [line.replace(short, paper) for line in lines]
    if "Command line:" in lines:
        start = lines.index("Command line:")
        inside = (n for n in range(start + 1, len(lines)) if lines[n][:1].strip())
        del lines[start : next(inside, len(lines))]


def link(app: Sphinx, name: str, source: list[str]) -> None:
    """Turns the links of a page as it is read."""
    if not name.startswith("generated/"):
        source[0] = linked(HERE / f"{name}.md", source[0])


def setup(sphinx: Sphinx) -> None:
    """Called by Sphinx."""
    write_generated()
    sphinx.connect("source-read", link)
    sphinx.connect("autodoc-process-signature", plain_signature)
    sphinx.connect("autodoc-process-docstring", docstring, priority=400)
