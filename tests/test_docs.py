"""The commands and the Python of README.md and docs/ are run, in order, as a reader would."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted(p for part in (".", "guides") for p in (ROOT / "docs" / part).glob("*.md")),
]
BLOCK = re.compile(r"(<!-- not run: [^>]+ -->\n+)?```(console|python)\n(.*?)```", re.DOTALL)


def runnable(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page that a reader can run as they stand: (language, text)."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(language, text) for excuse, language, text in found if not excuse]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_works(page, tmp_path, cli, monkeypatch):
    blocks = runnable(page)
    if not blocks:
        pytest.skip("this page has nothing to run")
    env = {"COLUMNS": "80", "LITEPYRAMID_CACHE": str(tmp_path / "judgements.sqlite")}
    cli("demo", "--save", "example", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LITEPYRAMID_CACHE", env["LITEPYRAMID_CACHE"])
    variables = {}
    for language, text in blocks:
        if language == "python":
            exec(compile(text, str(page), "exec"), variables)  # noqa: S102
            continue
        for line in re.sub(r"\\\n\s*", " ", text).splitlines():
            if not line.startswith("$ "):
                continue
            words = shlex.split(line[2:], comments=True)
            if words[0] != "litepyramid" or words[1:3] == ["demo", "--save"]:
                continue
            cli(*words[1:], cwd=tmp_path, **env)
