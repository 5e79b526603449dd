"""``litepyramid units``: making the units that summaries are scored by, converting their files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from litepyramid.cli.judging import WriterGroup
from litepyramid.cli.options import By, Form, Kind, NamesGroup, Splitter, Written, runs
from litepyramid.cli.pyramid_files import from_pyr
from litepyramid.text import counted

if TYPE_CHECKING:
    from litepyramid.easiness.mix import Mix
    from litepyramid.types import InputUnits

app = typer.Typer(
    help="""Make the units used to score summaries.

    $ litepyramid units extract example/references.jsonl -o stus.jsonl
    $ litepyramid units mix -s example/scus.jsonl -r example/references.jsonl \\
        --stu-share 0.5
    """,
    no_args_is_help=True,
)


UnitForm = Literal["jsonl", "lines"]


@app.command()
def extract(
    references: Path,
    /,
    output: Written | None = None,
    srl: str = "embedded",
    coref: str = "srl",
    footnote: bool = False,
    parses: Written | None = None,
    to: UnitForm | None = None,
    splitter: Splitter = "rules",
    *,
    writer: WriterGroup,
    names: NamesGroup,
) -> None:
    """Extract semantic triplet units (STUs) from references, or have a model write units.

    $ litepyramid units extract example/references.jsonl -o stus.jsonl
    $ litepyramid units extract example/references.jsonl --srl sentences --to \\
        lines

    Options:
        references: References: JSON Lines, a table, or a line file.
        output (-o): Write the units here. [default: stdout]
        srl (BACKEND): embedded, sentences (each is a unit), allennlp:ARCHIVE, stanza, or an
            interchange file with frames.
        coref (SOURCE): srl (what the backend links), none, embedded, stanza, or an interchange file
            with clusters. All but srl replace mentions before SRL.
        footnote: Keep 'be' and 'being' before the verb (footnote 2 of ZB21).
        parses: Also write frames and clusters to this interchange file.
        to (FORM): jsonl, or lines: an input per line. [default: by the output's ending]
    """
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
def convert(
    units: Path,
    /,
    output: Written | None = None,
    to: UnitForm | None = None,
    write_ids: Written | None = None,
    kind: Kind | None = None,
    *,
    names: NamesGroup,
) -> None:
    """Convert units between JSON Lines and line files.

    A line file holds only texts; a message says what is lost.

    $ litepyramid units convert example/scus.jsonl -o scus.txt --write-ids \\
        ids.txt
    $ litepyramid units convert scus.txt --ids ids.txt -o scus.jsonl

    Options:
        units: A unit file: JSON Lines or a line file.
        output (-o): Write the units here. [default: stdout]
        to (FORM): jsonl, or lines: an input per line. [default: by the output's ending]
        write_ids: Write the input ids to this file, one per line.
    """
    from litepyramid.files import atomic_write
    from litepyramid.io.units import kind_by_name, read_units

    loaded = read_units(units, kind=kind or kind_by_name(units), **names)
    form = _write(loaded, output, to)
    if write_ids is not None:
        with atomic_write(write_ids) as file:
            file.write("".join(f"{entry.input}\n" for entry in loaded))
    total = sum(len(entry.units) for entry in loaded)
    message = f"{counted(len(loaded), 'input')}, {counted(total, 'unit')}"
    if form == "lines":
        weighted = sum(unit.weight != 1 for entry in loaded for unit in entry.units)
        numbered = [str(n) for n in range(1, len(loaded) + 1)]
        if weighted:
            said = counted(weighted, "weight other than 1 is", "weights other than 1 are")
            message += f"; {said} not in a line file"
        if write_ids is None and [entry.input for entry in loaded] != numbered:
            message += "; ids are not in a line file (--write-ids keeps them)"
    sys.stderr.write(message + ".\n")


@app.command()
@runs("litepyramid.api:mix", write="litepyramid.cli.units:write_mix", scus="units")
def mix(
    scus: Path,
    references: Path,
    stus: Path | None = None,
    stu_share: float | None = None,
    stu_sentences: int | None = None,
    scu_sentences: int | None = None,
    by: By = "easiness",
    easiness: Path | None = None,
    regressor: Path | None = None,
    output: Written | None = None,
    form: Form = "table",
    parses: Path | None = None,
    seed: int = 12345,
    *,
    names: NamesGroup,
) -> None:
    """Mix SCUs and STUs (Lite2.x): the easiest sentences carry STUs, the others keep their SCUs.

    $ litepyramid units mix -s example/scus.jsonl -r example/references.jsonl \\
        --stu-share 0.5 -o mixed.jsonl
    $ litepyramid score example/summaries --units mixed.jsonl

    Options:
        stu_sentences (N): Number of sentences that carry STUs.
        scu_sentences (N): Number of sentences that keep SCUs.
        by (BY): How sentences are ranked: easiness, random, reversed or gold.
        output (-o): Write the units here; a line file if it ends in .txt.
    """
    from litepyramid.easiness.files import sentence_count
    from litepyramid.files import check_there

    sizes = {"stu_sentences": stu_sentences, "scu_sentences": scu_sentences}
    sentence_count(10**9, stu_share=stu_share, **sizes)
    check_there(scus, references, stus, easiness, regressor, parses)


def write_mix(path: Path, mixed: Mix) -> None:
    """Writes the units of a mix in the form that the file's ending names."""
    from litepyramid.io.units import write_units

    write_units(path, mixed.units, "lines" if path.suffix == ".txt" else "jsonl")


app.command("from-pyr")(from_pyr)


def _write(units: Sequence[InputUnits], output: Path | None, to: UnitForm | None) -> UnitForm:
    """Writes units to a file or stdout in the form asked for; gives the form back."""
    import json
    import sys

    from litepyramid.io.units import units_to_json, write_units

    named = output is None or output.suffix in {".jsonl", ".ndjson"}
    form = to or ("jsonl" if named else "lines")
    if output is not None:
        write_units(output, units, form)
    elif form == "jsonl":
        for entry in units:
            sys.stdout.write(json.dumps(units_to_json(entry), ensure_ascii=False) + "\n")
    else:
        for entry in units:
            sys.stdout.write("\t".join(entry.texts) + "\n")
    return form
