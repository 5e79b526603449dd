"""Groups of options stand in a command's place for them, and give it what they make."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from litepyramid.cli.options import with_options


def area(
    width: Annotated[int, typer.Option("--width", min=1, help="Across.")] = 2,
    height: Annotated[int, typer.Option("--height")] = 3,
) -> int:
    return width * height


def test_a_group_is_declared_once_and_collected_before_the_command():
    app = typer.Typer()

    @app.command()
    @with_options("size", area)
    def show(
        name: Annotated[str, typer.Argument()],
        *,
        size: int,
        last: Annotated[str, typer.Option("--last")] = ".",
    ) -> None:
        """Shows it."""
        typer.echo(f"{name} {size}{last}")

    run = CliRunner().invoke
    assert run(app, ["field"]).output == "field 6.\n"
    assert run(app, ["field", "--width", "5", "--last", "!"]).output == "field 15!\n"
    assert run(app, ["field", "--width", "0"]).exit_code == 2
    said = run(app, ["--help"]).output
    places = [said.index(text) for text in ("Shows it", "--width", "--height", "--last")]
    assert places == sorted(places)
    assert "--size" not in said


def test_a_command_without_the_parameter_is_a_mistake():
    with pytest.raises(TypeError, match="takes no size"):
        with_options("size", area)(lambda: None)
