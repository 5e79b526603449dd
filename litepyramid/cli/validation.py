"""``litepyramid crossval``, ``datasets`` and ``judge evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from litepyramid.cli.options import FormatOption, OutputOption, SeedOption

if TYPE_CHECKING:
    from litepyramid.io.datasets import Dataset
    from litepyramid.presence.judge import Judge

judge_app = typer.Typer(help="How right a judge is.", no_args_is_help=True)

ConstantOption = Annotated[
    Literal["skip", "zero", "zb21"],
    typer.Option("--constant", help="What a constant column's correlation counts as."),
]


def crossval(
    data: Annotated[
        str, typer.Argument(help="NAME=PATH of a data set, see `litepyramid datasets`.")
    ],
    by: Annotated[
        Literal["examples", "systems"], typer.Option("--by", help="What is held out.")
    ] = "examples",
    folds: Annotated[int, typer.Option("--folds", min=2, help="How many.")] = 5,
    base: Annotated[
        str, typer.Option("--base", help="What is trained on each fold: lexical.")
    ] = "lexical",
    checkpoints: Annotated[
        str | None,
        typer.Option(
            "--checkpoints",
            help="Ready judges instead of training, {fold} for the fold's number.",
        ),
    ] = None,
    zero_shot: Annotated[
        list[str] | None,
        typer.Option("--zero-shot", help="An untrained judge to show beside it (repeatable)."),
    ] = None,
    constant: ConstantOption = "skip",
    seed: SeedOption = 12345,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Train on all folds but one, score the one left out, average the correlations."""
    from litepyramid.report.table import emit
    from litepyramid.validation.crossval import cross_validate
    from litepyramid.validation.trainers import make_trainer

    result = cross_validate(
        _dataset(data),
        make_trainer(base, checkpoints),
        by=by,
        folds=folds,
        baselines=_judges(zero_shot or ["recall"]),
        constant=constant,
        seed=seed,
    )
    emit(result, form, output)


def datasets(form: FormatOption = "table", output: OutputOption = None) -> None:
    """List the data sets that can be read, where to get them, and their licences."""
    from litepyramid.io.datasets import DatasetList
    from litepyramid.report.table import emit

    emit(DatasetList(), form, output)


@judge_app.command("evaluate")
def evaluate(
    summaries: Annotated[
        list[Path], typer.Argument(help="Summary files, or folders.", show_default=False)
    ],
    units: Annotated[Path, typer.Option("--units", "-u", help="Units of the references.")],
    labels: Annotated[Path, typer.Option("--labels", "-l", help="Human presence labels.")],
    judge: Annotated[str, typer.Option("--judge", "-j", help="The judge.")] = "lexical",
    ids: Annotated[Path | None, typer.Option("--ids", help="Ids of the line files.")] = None,
    bins: Annotated[int, typer.Option("--bins", min=1, help="Rows of the table.")] = 10,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Compare a judge with human labels: accuracy, AUC, Brier, reliability table."""
    from litepyramid.io.inputs import read_ids
    from litepyramid.io.labels import read_labels
    from litepyramid.io.summaries import read_summaries
    from litepyramid.io.units import read_units
    from litepyramid.presence.judges import make_judge
    from litepyramid.report.table import emit
    from litepyramid.validation.evaluate import evaluate_judge

    names = None if ids is None else read_ids(ids)
    loaded = read_units(units, names)
    systems = read_summaries(summaries, [entry.input for entry in loaded], names)
    human = read_labels([labels], loaded, names)
    emit(evaluate_judge(systems, loaded, human, make_judge(judge), bins=bins), form, output)


def _dataset(text: str) -> Dataset:
    from litepyramid.errors import InputError
    from litepyramid.io.datasets import load_dataset

    name, equals, path = text.partition("=")
    if not equals:
        raise InputError(f"data set '{text}'", expected="NAME=PATH, such as realsumm=FOLDER")
    return load_dataset(name, path)


def _judges(names: list[str]) -> dict[str, Judge]:
    from litepyramid.presence.judges import make_judge

    return {name: make_judge(name) for name in names}
