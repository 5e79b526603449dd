"""The commands and the Python of README.md and docs/ are run, in order, as a reader
would.

What a page shows as output must be what comes out: in a comment behind a `print(…)`, or
below a command. An ellipsis stands for anything.
"""

import ast
import re
import shlex
from pathlib import Path

import pytest
from judges.llm_server import FakeEndpoint
from typer.core import TyperGroup

from litepyramid.cli.app import COMMANDS, app, function_of
from litepyramid.cli.maker import documentation

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("README.md", "CONTRIBUTING.md", "models/README.md")
PAGES = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(<!-- not run: [^>]+ -->\n+)?```(console|python)\n(.*?)```", re.DOTALL
)
FILE = re.compile(r"<!-- file: ([\w.]+) -->\n+```\w+\n(.*?)```", re.DOTALL)
ENDPOINT = "http://localhost:8000/v1"
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
SCRIPT = re.compile(
    r"\b(?:scripts|litepyramid|models|tests|adapters)/[\w/]+\.(?:py|txt|md|json(?:\.gz)?)\b"
)


def named(page) -> str:
    return str(page.relative_to(ROOT))


def blocks(page) -> list[tuple[bool, str, str]]:
    """The blocks of a page: whether a reader can run it as it stands, its language, its
    text."""
    text = page.read_text()
    return [
        (not excuse, language, block) for excuse, language, block in BLOCK.findall(text)
    ]


def same(shown: str, printed: str) -> bool:
    """Whether what is shown is what was printed: spaces and line ends aside, … is
    anything. A third decimal may differ by one: processors round the small judge's
    presences differently."""

    def near(number: re.Match[str]) -> str:
        value = int(number[1])
        return "0" + rf"\.({'|'.join(f'{n:03}' for n in range(value - 1, value + 2))})"

    parts = []
    for part in shown.split("…"):
        text = re.escape(" ".join(part.split()))
        parts.append(re.sub(r"\b0\\\.(\d{3})\b", near, text))
    return re.fullmatch(r"\s*.*?\s*".join(parts), " ".join(printed.split())) is not None


def statements(text) -> list[tuple[ast.stmt, str | None]]:
    """The statements of a block; with each, what the comment behind a print shows."""
    lines = text.splitlines()
    paired = []
    for node in ast.parse(text).body:
        _, mark, comment = lines[node.end_lineno - 1].partition("  # ")
        prints = lines[node.lineno - 1].startswith("print(")
        paired.append((node, comment if mark and prints else None))
    return paired


def commands(text) -> list[tuple[list[str], str]]:
    """The commands of a block with the output that is shown below each."""
    found: list[tuple[list[str], str]] = []
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line.startswith("$ "):
            found.append((shlex.split(line[2:], comments=True), ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line}")
    return found


def test_outputs_are_compared():
    assert same("{'mine': 0.4…}", "{'mine': 0.4701}\n")
    assert not same("{'mine': 0.5…}", "{'mine': 0.4701}\n")
    assert same("a 0.425 b", "a 0.426 b\n")
    assert not same("a 0.425 b", "a 0.427 b\n")
    shown = [text for _, text in statements("x = 1  # no\nprint(x)  # 2\nprint(x)\n")]
    assert shown == [None, "2", None]
    assert commands("$ a b\nout\n$ c \\\n  d\n") == [
        (["a", "b"], "\nout"),
        (["c", "d"], ""),
    ]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_what_a_page_shows_works(page, tmp_path, cli, monkeypatch, capsys, request):
    runnable = [(language, text) for runs, language, text in blocks(page) if runs]
    if not runnable:
        pytest.skip("this page has nothing to run")
    for name, content in FILE.findall(page.read_text()):
        (tmp_path / name).write_text(content)

    if any(ENDPOINT in text for _, text in runnable):
        endpoint = FakeEndpoint()
        request.addfinalizer(endpoint.close)
        runnable = [
            (language, text.replace(ENDPOINT, endpoint.url))
            for language, text in runnable
        ]

    cli("demo --save example", cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    variables = {}

    for language, text in runnable:
        if language == "python":
            for node, shown in statements(text):
                capsys.readouterr()
                exec(compile(ast.Module([node], []), str(page), "exec"), variables)  # noqa: S102
                printed = capsys.readouterr().out
                assert shown is None or same(shown, printed), (
                    f"{shown!r} is not {printed!r}"
                )
            continue

        for words, shown in commands(text):
            if words[0] != "litepyramid" or words[1:3] == ["demo", "--save"]:
                continue
            printed = cli(*words[1:], cwd=tmp_path, COLUMNS="80").stdout
            assert not shown or same(shown, printed), (
                f"{words}: {shown} is not {printed}"
            )


def test_what_cannot_be_run_exists():
    """Commands that need a model, an endpoint or data of one's own have the options
    they show."""
    shown = [
        text
        for page in PAGES
        for _, language, text in blocks(page)
        if language == "console"
    ]
    shown += [documentation(function_of(name)).examples for name in COMMANDS]
    for words in (words for text in shown for words, _ in commands(text)):
        if words[0] != "litepyramid":
            continue
        command = app
        rest = words[1:]
        while isinstance(command, TyperGroup) and rest and not rest[0].startswith("-"):
            command = command.get_command(None, rest.pop(0))
            assert command, f"no such command: {shlex.join(words)}"

        options = {name for parameter in command.params for name in parameter.opts}
        options |= {"-h", "--help", "--version"}
        used = {
            word.partition("=")[0] for word in rest if re.match(r"--?[a-zA-Z]", word)
        }
        assert used <= options, f"{used - options}: {shlex.join(words)}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_what_a_page_names_is_there(page):
    text = page.read_text()
    links = [
        page.parent / name for name in LINK.findall(text) if "generated/" not in name
    ]
    gone = [
        named(path)
        for path in (*links, *(ROOT / name for name in SCRIPT.findall(text)))
        if not path.resolve().exists()
    ]
    assert gone == []
