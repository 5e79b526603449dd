"""``litepyramid easiness``: how well STUs stand in for SCUs, sentence by sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from litepyramid.cli.options import FormatOption, IdsOption, OutputOption, SeedOption, with_options

if TYPE_CHECKING:
    from litepyramid.easiness.prepare import Prepared
    from litepyramid.easiness.scores import Easiness

app = typer.Typer(
    help="Easiness: how well STUs stand in for the SCUs of a sentence (ZB21 §3.3).",
    no_args_is_help=True,
)

FeatureSet = Literal["dependency+stus", "dependency", "constituency"]

References = Annotated[
    Path, typer.Argument(help="References: JSON Lines or a line file.", show_default=False)
]
Scus = Annotated[
    Path, typer.Option("--scus", "-s", help="SCUs of the references.", show_default=False)
]
Stus = Annotated[
    Path | None,
    typer.Option("--stus", "-t", help="STUs of the references (default: extract them)."),
]
Features = Annotated[
    FeatureSet,
    typer.Option("--features", help="What the regressor sees of a sentence (docs/easiness.md)."),
]
Parses = Annotated[
    Path | None,
    typer.Option("--parses", help="Interchange file with constituency trees, for 'constituency'."),
]


def _settings(
    max_depth: Annotated[int, typer.Option("--max-depth", help="Deepest a tree may grow.")] = 3,
    eta: Annotated[float, typer.Option("--eta", help="Learning rate.")] = 0.1,
    rounds: Annotated[int, typer.Option("--rounds", help="Number of boosting steps.")] = 40,
    forest: Annotated[int, typer.Option("--forest", help="Trees side by side at each step.")] = 1,
    min_child_weight: Annotated[
        float, typer.Option("--min-child-weight", help="Fewest sentences in a leaf.")
    ] = 1.0,
    subsample: Annotated[
        float, typer.Option("--subsample", help="Share of sentences a tree sees.")
    ] = 1.0,
    colsample: Annotated[
        float, typer.Option("--colsample", help="Share of features a tree sees.")
    ] = 1.0,
    scu_prior: Annotated[
        float,
        typer.Option(
            "--scu-prior", help="n SCUs make a sentence count n / (n + this); 0: all alike."
        ),
    ] = 0.0,
    seed: SeedOption = 12345,
) -> Any:
    """The settings of a regressor's training; the defaults are the paper's."""
    from litepyramid.easiness.regressor import Settings

    settings = Settings(
        max_depth=max_depth,
        eta=eta,
        rounds=rounds,
        forest=forest,
        min_child_weight=min_child_weight,
        subsample=subsample,
        colsample=colsample,
        scu_prior=scu_prior,
        seed=seed,
    )
    settings.check()
    return settings


@app.command()
@with_options("settings", _settings)
def fit(
    references: References,
    scus: Scus,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The regressor, in .ubj or .json.", show_default=False),
    ],
    stus: Stus = None,
    features: Features = "dependency+stus",
    parses: Parses = None,
    ids: IdsOption = None,
    *,
    settings: Any,
) -> None:
    """Train a regressor of easiness on references with SCUs; the defaults are the paper's."""
    from litepyramid.easiness.regressor import fit as train
    from litepyramid.easiness.regressor import save_regressor

    prepared, gold = _prepared(references, scus, stus, features, parses, ids)
    about = {"references": references.name, **dict(prepared.signature.fields)}
    regressor = train(prepared.features, gold.values, settings, about, gold.scus)
    save_regressor(regressor, output)
    typer.echo(
        f"{output}: trained on {regressor.about['sentences']} of {len(gold.values)} sentences, "
        f"{len(regressor.names)} features ({regressor.feature_set}). How good it is on sentences "
        "it has not seen: litepyramid easiness evaluate.",
        err=True,
    )


@app.command()
def predict(
    references: References,
    regressor: Annotated[
        Path | None,
        typer.Option("--regressor", "-g", help="A regressor's file (default: the embedded one)."),
    ] = None,
    stus: Stus = None,
    parses: Parses = None,
    ids: IdsOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the values here, as JSON Lines, too."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Predict the easiness of every sentence of the references."""
    from litepyramid.easiness.predict import predict_easiness
    from litepyramid.easiness.scores import write_easiness
    from litepyramid.io.files import check_output
    from litepyramid.io.inputs import read_ids
    from litepyramid.io.references import read_references
    from litepyramid.io.units import read_units
    from litepyramid.report.table import emit
    from litepyramid.units.parses import read_parses

    if output is not None:
        check_output(output, references, regressor, stus, parses, ids)
    names = None if ids is None else read_ids(ids)
    found = predict_easiness(
        read_references(references, names),
        regressor=regressor,
        stus=None if stus is None else read_units(stus, names, kind="stu", only=True),
        parses=None if parses is None else read_parses(parses),
    )
    if output is not None:
        write_easiness(output, found)
    emit(found, form)


@app.command()
@with_options("settings", _settings)
def evaluate(
    references: References,
    scus: Scus,
    stus: Stus = None,
    features: Features = "dependency+stus",
    parses: Parses = None,
    ids: IdsOption = None,
    folds: Annotated[
        Path | None,
        typer.Option("--folds", help="A folder with a file of ids for each fold."),
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Without --folds: folds drawn by the seed.")] = 5,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Write each sentence's cross-fitted easiness here, as JSON Lines."),
    ] = None,
    *,
    settings: Any,
    form: FormatOption = "table",
    output: OutputOption = None,
) -> None:
    """Measure the error of predicted easiness beside a constant's, by cross-validation.

    Folds are parts of the inputs; each is predicted by a regressor trained on the others.
    """
    from litepyramid.easiness.evaluate import cross_fit, read_folds, seeded_folds
    from litepyramid.easiness.scores import write_easiness
    from litepyramid.io.files import check_output
    from litepyramid.report.table import emit

    if predictions is not None:
        check_output(predictions, references, scus, stus, parses, ids)
    prepared, gold = _prepared(references, scus, stus, features, parses, ids)
    names = [sentence.input for sentence in gold.sentences]
    places = seeded_folds(names, k, settings.seed) if folds is None else read_folds(folds)
    result = cross_fit(prepared.features, gold, places, settings)
    if predictions is not None:
        write_easiness(predictions, result.predicted)
    emit(result, form, output)


def _prepared(
    references: Path,
    scus: Path,
    stus: Path | None,
    features: str,
    parses: Path | None,
    ids: Path | None,
) -> tuple[Prepared, Easiness]:
    from litepyramid.easiness.prepare import prepare_gold
    from litepyramid.io.inputs import read_ids
    from litepyramid.io.references import read_references
    from litepyramid.io.units import read_units
    from litepyramid.units.parses import read_parses

    names = None if ids is None else read_ids(ids)
    return prepare_gold(
        read_references(references, names),
        read_units(scus, names, only=True),
        features,
        stus=None if stus is None else read_units(stus, names, kind="stu", only=True),
        parses=None if parses is None else read_parses(parses),
    )
