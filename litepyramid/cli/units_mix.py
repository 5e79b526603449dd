"""``litepyramid units mix``: SCUs where STUs would do badly, STUs where they do well."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from litepyramid.cli.options import (
    ByOption,
    EasinessOption,
    FormatOption,
    RegressorOption,
    ScusOption,
    SeedOption,
    StuShareOption,
    StusOption,
    TheirReferencesOption,
    TreesOption,
    option,
    with_names,
)
from litepyramid.cli.outputs import WRITTEN


@with_names
def mix(
    scus: ScusOption,
    references: TheirReferencesOption,
    stus: StusOption = None,
    stu_share: StuShareOption = None,
    stu_sentences: Annotated[
        int | None, option("Number of sentences that carry STUs.", metavar="N")
    ] = None,
    scu_sentences: Annotated[
        int | None, option("Number of sentences that keep SCUs.", metavar="N")
    ] = None,
    by: ByOption = "easiness",
    easiness: EasinessOption = None,
    regressor: RegressorOption = None,
    output: Annotated[
        Path | None,
        option("Write the units here; a line file if it ends in .txt.", "--output", "-o"),
        WRITTEN,
    ] = None,
    form: FormatOption = "table",
    parses: TreesOption = None,
    seed: SeedOption = 12345,
    *,
    names: dict[str, Any],
) -> None:
    """Mix SCUs and STUs (Lite2.x): the easiest sentences carry STUs, the others keep their SCUs.

    $ litepyramid units mix -s example/scus.jsonl -r example/references.jsonl \\
        --stu-share 0.5 -o mixed.jsonl
    $ litepyramid score example/summaries --units mixed.jsonl
    """
    from litepyramid.easiness.files import mix_files
    from litepyramid.io.units import write_units
    from litepyramid.tables import emit

    result = mix_files(
        scus,
        references,
        stus,
        stu_share=stu_share,
        stu_sentences=stu_sentences,
        scu_sentences=scu_sentences,
        by=by,
        easiness=easiness,
        regressor=regressor,
        parses=parses,
        seed=seed,
        **names,
    )
    if output is not None:
        write_units(output, result.units, "lines" if output.suffix == ".txt" else "jsonl")
    emit(result, form)
