"""A command is its function: parameters, defaults and docstring, told nowhere else."""

import contextlib
import inspect
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack, get_type_hints

import pytest
from cases import refused

from litepyramid.cli.app import COMMANDS, app, function_of
from litepyramid.cli.maker import documentation, make_command
from litepyramid.tables import Column, Result, Table
from litepyramid.types import DataLike, JudgeLike, Signature, Sources


@dataclass(frozen=True)
class Shape(Result):
    """What the function of these tests returns."""

    text: str
    signature: Signature = Signature(())  # noqa: RUF009
    notes: tuple[str, ...] = ("One cell was left out.",)

    def to_tables(self) -> Sequence[Table]:
        """One cell."""
        return [Table("shape", (Column("text"),), ((self.text,),))]


def draw(
    name: str,
    *,
    sizes: Sequence[int] = (1, 2),
    form: Literal["round", "flat"] = "flat",
    filled: bool = False,
    share: float | None = None,
) -> Shape:
    """Draw a shape.

    More about it.

    Args:
        name: What to draw.
        sizes: Its sizes;
            several are possible.
        form: Its form.
        filled: Whether it is filled.
        share: A share.

    Returns:
        The shape.

    Command line:
        $ litepyramid draw a --form round
    """
    return Shape(f"{name} {list(sizes)} {form} {filled} {share}")


def judged(
    data: DataLike = None,
    units: Any = None,
    *,
    judge: JudgeLike = "recall",
    **sources: Unpack[Sources],
) -> Shape:
    """Says what it was called with.

    Args:
        data: Summaries.
        units: Units.
        judge: The judge.
        **sources: As for `load`.
    """
    return Shape(f"{data} {units} {type(judge).__name__} {sorted(sources)}")


def run(function: Any, line: str) -> str:
    return call(make_command("draw", function), line)


def call(command: Any, line: str) -> str:
    """What the command prints."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        words = line.split()
        assert not command.main(words, prog_name="litepyramid", standalone_mode=False)
    return shown.getvalue()


def test_parameters_are_arguments_and_options():
    assert "x [1, 2] flat False None" in run(draw, "x")
    line = "x --size 3 --size 4 --form round --filled --share .5"
    assert "x [3, 4] round True 0.5" in run(draw, line)
    for line in ("", "x --form square", "x --size big"):
        with pytest.raises(Exception, match=r"name|square|valid integer"):
            run(draw, line)


def test_the_docstring_is_the_help():
    help = run(draw, "--help")
    for text in ("a shape.", "to draw.", "are possible.", "litepyramid draw a"):
        assert text in help
    assert "Returns" not in help
    assert documentation(draw).arguments["sizes"] == "Its sizes; several are possible."


def test_data_and_judge_are_filled_by_the_options_of_load_and_judge():
    assert "a u.jsonl str ['labels']" in run(judged, "a -u u.jsonl -l x")
    told = run(judged, "a b -j recall")
    assert "[PosixPath('a'), PosixPath('b')] None str []" in told
    help = run(judged, "--help")
    for name in {*get_type_hints(Sources), "units"}:
        assert f"--{name.replace('_', '-')}" in help, name

    with refused("mode"):
        run(judged, "a -j recall -J mode=p2c")


def test_a_result_is_saved_by_its_ending_as_often_as_wanted(tmp_path, capsys):
    files = [tmp_path / "a.json", tmp_path / "a.csv", tmp_path / "a.tex"]
    run(draw, f"x -o {files[0]} -o {files[1]} -o {files[2]}")
    # Notes are seen beside a file.
    assert "One cell was left out." in capsys.readouterr().err
    assert all("flat False None" in file.read_text() for file in files)
    assert run(draw, "x -o -").startswith("{")
    with refused(r"\.json"):
        run(draw, f"x -o {tmp_path}/a.xlsx")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_parameter_of_a_command_is_told(name):
    function = function_of(name)
    told = documentation(function)
    assert told.help
    assert told.examples.startswith("$ ")
    for parameter, entry in inspect.signature(function).parameters.items():
        if entry.kind not in (entry.VAR_KEYWORD, entry.VAR_POSITIONAL):
            assert told.arguments.get(parameter), f"{name}: {parameter} is not in Args"
    assert "return" in get_type_hints(function)


def test_there_are_few_commands_and_options():
    rows = 0
    lines = {}
    for name in COMMANDS:
        help = call(app, f"{name} --help")
        rows += len(re.findall(r"^│ (?:\*  )?(?:--|-J)", help, re.MULTILINE))
        lines[name] = len(help.splitlines())

    assert len(lines) <= 36
    assert rows <= 320
    assert lines["score"] <= 70
    assert lines["compare"] <= 45
