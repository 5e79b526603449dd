"""``litepyramid units``: making the units that summaries are scored by, converting their files."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litepyramid.cli import pyramid_files, units_mix
from litepyramid.cli.options import KindOption, with_names
from litepyramid.cli.outputs import WRITTEN
from litepyramid.text import counted

if TYPE_CHECKING:
    from litepyramid.types import InputUnits

app = typer.Typer(help="Make the units that summaries are scored by.", no_args_is_help=True)
app.command("from-pyr")(pyramid_files.from_pyr)
app.command("mix")(units_mix.mix)


class FormName(StrEnum):
    """The forms of a unit file by name."""

    jsonl = "jsonl"
    lines = "lines"


class SplitterName(StrEnum):
    """The sentence splitters by name."""

    rules = "rules"
    punkt = "punkt"


FormOption = Annotated[
    FormName | None,
    typer.Option(
        "--to",
        help="jsonl, or lines (one input a line, tabs between units). [default: jsonl if the "
        "output is named .jsonl or is standard output, else lines]",
        show_default=False,
    ),
]


@app.command()
@with_names
def extract(
    references: Annotated[
        Path, typer.Argument(help="References: a line file or JSON Lines.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write the units. [default: stdout]"),
        WRITTEN,
    ] = None,
    srl: Annotated[
        str,
        typer.Option(
            "--srl",
            help="embedded, sentences (each its own unit), allennlp:ARCHIVE, stanza, or an "
            "interchange file with frames (.jsonl).",
        ),
    ] = "embedded",
    coref: Annotated[
        str,
        typer.Option(
            "--coref",
            help="srl (what the SRL backend links itself), none, embedded, stanza, or an "
            "interchange file with clusters; all but srl replace mentions before SRL.",
        ),
    ] = "srl",
    splitter: Annotated[
        SplitterName,
        typer.Option("--splitter", help="Splits references that have no sentence marks."),
    ] = SplitterName.rules,
    footnote: Annotated[
        bool,
        typer.Option(
            "--footnote", help="Keep 'be' and 'being' before the verb, as the paper's footnote 2."
        ),
    ] = False,
    parses: Annotated[
        Path | None,
        typer.Option("--parses", help="Write frames and clusters to this interchange file too."),
        WRITTEN,
    ] = None,
    to: FormOption = None,
    *,
    names: dict[str, Any],
) -> None:
    """Extract semantic triplet units (STUs) from references."""
    import sys

    from litepyramid.io.references import read_references
    from litepyramid.tables import render
    from litepyramid.units.extract import extract as run
    from litepyramid.units.parses import write_parses

    found = run(
        read_references(references, **names),
        srl=srl,
        coref=coref,
        splitter=splitter.value,
        footnote=footnote,
    )
    if parses is not None:
        write_parses(parses, found.parses)
    _write(found.units, output, to)
    sys.stderr.write(render(found, "table"))


@app.command()
@with_names
def convert(
    units: Annotated[Path, typer.Argument(help="A unit file of either form.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write the units. [default: stdout]"),
        WRITTEN,
    ] = None,
    to: FormOption = None,
    write_ids: Annotated[
        Path | None,
        typer.Option("--write-ids", help="Write the inputs' ids to this file, one a line."),
        WRITTEN,
    ] = None,
    kind: KindOption = None,
    *,
    names: dict[str, Any],
) -> None:
    """Convert units between JSON Lines and line files.

    A line file holds texts alone: weights, kinds and places are left behind, and said so.
    """
    import sys

    from litepyramid.files import atomic_write
    from litepyramid.io.units import kind_by_name, read_units

    loaded = read_units(units, kind=kind or kind_by_name(units), **names)
    form = _write(loaded, output, to)
    if write_ids is not None:
        with atomic_write(write_ids) as file:
            file.write("".join(f"{entry.input}\n" for entry in loaded))
    total = sum(len(entry.units) for entry in loaded)
    message = f"{counted(len(loaded), 'input')}, {counted(total, 'unit')}"
    if form is FormName.lines:
        weighted = sum(unit.weight != 1 for entry in loaded for unit in entry.units)
        numbered = [str(n) for n in range(1, len(loaded) + 1)]
        if weighted:
            said = counted(weighted, "weight other than 1 is", "weights other than 1 are")
            message += f"; {said} not in a line file"
        if write_ids is None and [entry.input for entry in loaded] != numbered:
            message += "; ids are not in a line file (--write-ids keeps them)"
    sys.stderr.write(message + ".\n")


def _write(units: Sequence[InputUnits], output: Path | None, to: FormName | None) -> FormName:
    """Writes units to a file or stdout in the form asked for; gives the form back."""
    import json
    import sys

    from litepyramid.io.units import units_to_json, write_units

    named = output is None or output.suffix in {".jsonl", ".ndjson"}
    form = to or (FormName.jsonl if named else FormName.lines)
    if output is not None:
        write_units(output, units, form.value)
    elif form is FormName.jsonl:
        for entry in units:
            sys.stdout.write(json.dumps(units_to_json(entry), ensure_ascii=False) + "\n")
    else:
        for entry in units:
            sys.stdout.write("\t".join(entry.texts) + "\n")
    return form
