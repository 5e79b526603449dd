"""Options are declared once: in a command's docstring, for all commands, or as a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import pytest
import typer
from typer.testing import CliRunner

from litepyramid.cli.options import Group, declared


def area(
    width: Annotated[int, typer.Option("--width", min=1, help="Across.")] = 2,
    height: Annotated[int, typer.Option("--height")] = 3,
) -> int:
    return width * height


def show(
    name: str,
    /,
    size: Annotated[int, Group(area)],
    last: str = ".",
    kinds: Sequence[Literal["round", "flat"]] = ("flat",),
    loud: bool = False,
) -> None:
    """Shows it.

    Options:
        name: What to show.
        last (--last -e END): What
            comes last.

    More:
        kinds (--kind): round or flat; repeat.
        loud: In capitals.
    """
    text = f"{name} {size}{last} {' '.join(kinds)}"
    typer.echo(text.upper() if loud else text)


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(declared(show))
    return made


def test_a_group_is_declared_once_and_collected_before_the_command(app):
    run = CliRunner().invoke
    assert run(app, ["field"]).output == "field 6. flat\n"
    assert run(app, ["field", "--width", "5", "--last", "!"]).output == "field 15! flat\n"
    assert run(app, ["field", "--width", "0"]).exit_code == 2
    said = run(app, ["--help"]).output
    places = [said.index(text) for text in ("Shows it", "--width", "--height", "--last")]
    assert places == sorted(places)
    assert "--size" not in said


def test_a_docstring_declares_options(app):
    run = CliRunner().invoke
    kinds = ["--kind", "round", "--kind", "flat"]
    assert run(app, ["field", "-e", "!", *kinds, "--loud"]).output == "FIELD 6! ROUND FLAT\n"
    assert run(app, ["field", "--kind", "square"]).exit_code == 2
    said = run(app, ["--help"]).output
    places = [said.index(t) for t in ("What to show.", "END", "What comes last.", "More", "--kind")]
    assert places == sorted(places)
    assert "--no-loud" not in said
    assert "Options:" not in said


def test_an_option_that_is_no_parameter_is_a_mistake():
    def other() -> None:
        """Does nothing.

        Options:
            size: Of nothing.
        """

    with pytest.raises(TypeError, match="other takes no size"):
        declared(other)
