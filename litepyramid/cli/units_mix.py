"""``litepyramid units mix``: SCUs where STUs would do badly, STUs where they do well."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.options import (
    FormatOption,
    OldStuShareOption,
    RegressorOption,
    ScusOption,
    SeedOption,
    StuShareOption,
    StusOption,
    TheirReferencesOption,
    TreesOption,
    with_names,
)
from litepyramid.cli.outputs import WRITTEN


@with_names
def mix(
    scus: ScusOption,
    references: TheirReferencesOption,
    stus: StusOption = None,
    stu_share: StuShareOption = None,
    share: OldStuShareOption = None,
    stu_sentences: Annotated[
        int | None, typer.Option("--stu-sentences", help="Number of sentences that carry STUs.")
    ] = None,
    scu_sentences: Annotated[
        int | None, typer.Option("--scu-sentences", help="Number of sentences that keep SCUs.")
    ] = None,
    by: Annotated[
        Literal["easiness", "random", "reversed", "gold"],
        typer.Option(help="Which sentences carry STUs: the easiest, any, the hardest …"),
    ] = "easiness",
    easiness: Annotated[
        Path | None,
        typer.Option(help="Easiness of every sentence (JSON Lines), instead of predicting it."),
    ] = None,
    regressor: RegressorOption = None,
    as_authors: Annotated[
        bool,
        typer.Option(
            "--as-authors", help="With --stu-share: do it as ZB21's code, quirks and all."
        ),
    ] = False,
    parses: TreesOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The units: JSON Lines, or a line file if it ends in .txt."
        ),
        WRITTEN,
    ] = None,
    form: FormatOption = "table",
    seed: SeedOption = 12345,
    *,
    names: dict[str, Any],
) -> None:
    """Mix SCUs and STUs (Lite2.x): the easiest sentences carry STUs, the others keep their SCUs.

    Shows what was mixed; --output takes the units, for 'litepyramid score --units'.
    """
    from litepyramid.easiness.files import mix_files
    from litepyramid.io.units import write_units
    from litepyramid.tables import emit

    result = mix_files(
        scus,
        references,
        stus,
        stu_share=share if stu_share is None else stu_share,
        stu_sentences=stu_sentences,
        scu_sentences=scu_sentences,
        by=by,
        easiness=easiness,
        regressor=regressor,
        parses=parses,
        as_authors=as_authors,
        seed=seed,
        **names,
    )
    if output is not None:
        write_units(output, result.units, "lines" if output.suffix == ".txt" else "jsonl")
    emit(result, form)
