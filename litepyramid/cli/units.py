"""``litepyramid units``: making the units that summaries are scored by, converting their files."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from litepyramid.cli import pyramid_files, units_mix
from litepyramid.cli.judging import with_writer
from litepyramid.cli.options import (
    KindOption,
    ReferencesArgument,
    SplitterOption,
    option,
    said,
    with_names,
)
from litepyramid.cli.outputs import WRITTEN
from litepyramid.text import counted

if TYPE_CHECKING:
    from litepyramid.types import InputUnits

app = typer.Typer(
    help="""Make the units used to score summaries.

    $ litepyramid units extract example/references.jsonl -o stus.jsonl
    $ litepyramid units mix -s example/scus.jsonl -r example/references.jsonl \\
        --stu-share 0.5
    """,
    no_args_is_help=True,
)


UnitForm = StrEnum("UnitForm", ["jsonl", "lines"])
FormOption = Annotated[
    UnitForm | None,
    option("jsonl, or lines: an input per line. [default: by the output's ending]", metavar="FORM"),
]
UnitsOutput = Annotated[
    Path | None, option("Write the units here. [default: stdout]", "--output", "-o"), WRITTEN
]


@app.command()
@with_writer
@with_names
def extract(
    references: ReferencesArgument,
    output: UnitsOutput = None,
    srl: Annotated[
        str,
        option(
            "embedded, sentences (each is a unit), allennlp:ARCHIVE, stanza, or an interchange "
            "file with frames.",
            metavar="BACKEND",
        ),
    ] = "embedded",
    coref: Annotated[
        str,
        option(
            "srl (what the backend links), none, embedded, stanza, or an interchange file with "
            "clusters. All but srl replace mentions before SRL.",
            metavar="SOURCE",
        ),
    ] = "srl",
    footnote: Annotated[
        bool, option("Keep 'be' and 'being' before the verb (footnote 2 of ZB21).", "--footnote")
    ] = False,
    parses: Annotated[
        Path | None, option("Also write frames and clusters to this interchange file."), WRITTEN
    ] = None,
    to: FormOption = None,
    splitter: SplitterOption = "rules",
    *,
    writer: dict[str, Any],
    names: dict[str, Any],
) -> None:
    """Extract semantic triplet units (STUs) from references, or have a model write units.

    $ litepyramid units extract example/references.jsonl -o stus.jsonl
    $ litepyramid units extract example/references.jsonl --srl sentences --to \\
        lines
    """
    import sys

    from litepyramid.errors import InputError
    from litepyramid.io.references import read_references
    from litepyramid.tables import render
    from litepyramid.units.extract import extract as run
    from litepyramid.units.parses import write_parses

    loaded = read_references(references, **names)
    if writer:
        from litepyramid.judges.llm.units import write_units

        if parses is not None:
            raise InputError("--parses with --llm", expected="one of the two")
        found = write_units(loaded, splitter=splitter, **writer)
    else:
        found = run(loaded, srl=srl, coref=coref, splitter=splitter, footnote=footnote)
    if parses is not None:
        write_parses(parses, found.parses)
    _write(found.units, output, to)
    sys.stderr.write(render(found, "table"))


@app.command()
@with_names
def convert(
    units: Annotated[Path, typer.Argument(help="A unit file: JSON Lines or a line file.")],
    output: UnitsOutput = None,
    to: FormOption = None,
    write_ids: Annotated[
        Path | None, option("Write the input ids to this file, one per line."), WRITTEN
    ] = None,
    kind: KindOption = None,
    *,
    names: dict[str, Any],
) -> None:
    """Convert units between JSON Lines and line files.

    A line file holds only texts; a message says what is lost.

    $ litepyramid units convert example/scus.jsonl -o scus.txt --write-ids \\
        ids.txt
    $ litepyramid units convert scus.txt --ids ids.txt -o scus.jsonl
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
    if form is UnitForm.lines:
        weighted = sum(unit.weight != 1 for entry in loaded for unit in entry.units)
        numbered = [str(n) for n in range(1, len(loaded) + 1)]
        if weighted:
            said = counted(weighted, "weight other than 1 is", "weights other than 1 are")
            message += f"; {said} not in a line file"
        if write_ids is None and [entry.input for entry in loaded] != numbered:
            message += "; ids are not in a line file (--write-ids keeps them)"
    sys.stderr.write(message + ".\n")


app.command()(units_mix.mix)
app.command("from-pyr")(pyramid_files.from_pyr)


def _write(units: Sequence[InputUnits], output: Path | None, to: UnitForm | None) -> UnitForm:
    """Writes units to a file or stdout in the form asked for; gives the form back."""
    import json
    import sys

    from litepyramid.io.units import units_to_json, write_units

    named = output is None or output.suffix in {".jsonl", ".ndjson"}
    form = to or (UnitForm.jsonl if named else UnitForm.lines)
    if output is not None:
        write_units(output, units, said(form))
    elif form is UnitForm.jsonl:
        for entry in units:
            sys.stdout.write(json.dumps(units_to_json(entry), ensure_ascii=False) + "\n")
    else:
        for entry in units:
            sys.stdout.write("\t".join(entry.texts) + "\n")
    return form
