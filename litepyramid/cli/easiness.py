"""``litepyramid easiness``: how well STUs stand in for SCUs, sentence by sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from litepyramid.cli.options import FormatOption, OutputOption, SeedOption, with_names, with_options
from litepyramid.cli.outputs import WRITTEN

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


def _training(
    start: Annotated[
        str | None,
        typer.Option(
            help="Go on from a regressor: its file, or 'embedded'. It is centred on these "
            "sentences, then a few careful rounds follow; 0 rounds: only centred.",
        ),
    ] = None,
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", help="Deepest a tree may grow. (default: 3)")
    ] = None,
    eta: Annotated[
        float | None,
        typer.Option("--eta", help="Learning rate. (default: 0.1; 0.05 with --start)"),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", help="Number of boosting steps. (default: 40; 20 with --start)"),
    ] = None,
    forest: Annotated[
        int | None,
        typer.Option(
            "--forest", help="Trees side by side at each step. (default: 1; 8 with --start)"
        ),
    ] = None,
    min_child_weight: Annotated[
        float | None,
        typer.Option(
            "--min-child-weight", help="Fewest sentences in a leaf. (default: 1; 5 with --start)"
        ),
    ] = None,
    subsample: Annotated[
        float | None,
        typer.Option(
            "--subsample", help="Share of sentences a tree sees. (default: 1; 0.6 with --start)"
        ),
    ] = None,
    colsample: Annotated[
        float | None,
        typer.Option(
            "--colsample", help="Share of features a tree sees. (default: 1; 0.4 with --start)"
        ),
    ] = None,
    reg_lambda: Annotated[
        float | None,
        typer.Option("--lambda", help="Penalty on squared leaf values. (default: 1)"),
    ] = None,
    scu_prior: Annotated[
        float | None,
        typer.Option(
            "--scu-prior",
            help="n SCUs make a sentence count n / (n + this); 0: all alike. (default: 0)",
        ),
    ] = None,
    seed: SeedOption = 12345,
) -> Any:
    """How a regressor is trained; the defaults are the paper's, or careful ones after a start."""
    from litepyramid.easiness.predict import EMBEDDED
    from litepyramid.easiness.regressor import PAPER, REFINED, load_regressor

    given = {
        "max_depth": max_depth,
        "eta": eta,
        "rounds": rounds,
        "forest": forest,
        "min_child_weight": min_child_weight,
        "subsample": subsample,
        "colsample": colsample,
        "reg_lambda": reg_lambda,
        "scu_prior": scu_prior,
    }
    said: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    settings = replace(PAPER if start is None else REFINED, **said, seed=seed)
    settings.check()
    if start is None:
        return settings, None
    return settings, load_regressor(EMBEDDED if start == "embedded" else start)


@app.command()
@with_options("training", _training)
@with_names
def fit(
    references: References,
    scus: Scus,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The regressor, in .ubj or .json.", show_default=False),
        WRITTEN,
    ],
    stus: Stus = None,
    features: Features = "dependency+stus",
    parses: Parses = None,
    *,
    training: Any,
    names: dict[str, Any],
) -> None:
    """Train a regressor of easiness on references with SCUs; the defaults are the paper's."""
    from litepyramid.easiness.regressor import FEW, save_regressor
    from litepyramid.easiness.regressor import fit as train

    prepared, gold = _prepared(references, scus, stus, features, parses, names)
    about = {"references": references.name, **dict(prepared.signature.fields)}
    settings, start = training
    regressor = train(prepared.features, gold.values, settings, about, gold.scus, start)
    save_regressor(regressor, output)
    known = int(regressor.about["sentences"])
    few = (
        f" {known} sentences are few to learn from alone: consider --start embedded."
        if start is None and known < FEW
        else ""
    )
    typer.echo(
        f"{output}: trained on {known} of {len(gold.values)} sentences, "
        f"{len(regressor.names)} features ({regressor.feature_set}).{few} How good it is on "
        "sentences it has not seen: litepyramid easiness evaluate.",
        err=True,
    )


@app.command()
@with_names
def predict(
    references: References,
    regressor: Annotated[
        Path | None,
        typer.Option("--regressor", "-g", help="A regressor's file (default: the embedded one)."),
    ] = None,
    stus: Stus = None,
    parses: Parses = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the values here, as JSON Lines, too."),
        WRITTEN,
    ] = None,
    form: FormatOption = "table",
    *,
    names: dict[str, Any],
) -> None:
    """Predict the easiness of every sentence of the references."""
    from litepyramid.easiness.predict import predict_easiness
    from litepyramid.easiness.scores import write_easiness
    from litepyramid.io.references import read_references
    from litepyramid.io.units import read_units
    from litepyramid.tables import emit
    from litepyramid.units.parses import read_parses

    found = predict_easiness(
        read_references(references, **names),
        regressor=regressor,
        stus=None if stus is None else read_units(stus, kind="stu", only=True, **names),
        parses=None if parses is None else read_parses(parses),
    )
    if output is not None:
        write_easiness(output, found)
    emit(found, form)


@app.command()
@with_options("training", _training)
@with_names
def evaluate(
    references: References,
    scus: Scus,
    stus: Stus = None,
    features: Features = "dependency+stus",
    parses: Parses = None,
    folds: Annotated[
        Path | None,
        typer.Option("--folds", help="A folder with a file of ids for each fold."),
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Without --folds: folds drawn by the seed.")] = 5,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Write each sentence's cross-fitted easiness here, as JSON Lines."),
        WRITTEN,
    ] = None,
    *,
    training: Any,
    form: FormatOption = "table",
    output: OutputOption = None,
    names: dict[str, Any],
) -> None:
    """Measure the error of predicted easiness beside a constant's, by cross-validation.

    Folds are parts of the inputs; each is predicted by a regressor trained on the others.
    """
    from litepyramid.easiness.evaluate import cross_fit, read_folds, seeded_folds
    from litepyramid.easiness.scores import write_easiness
    from litepyramid.tables import emit

    prepared, gold = _prepared(references, scus, stus, features, parses, names)
    settings, start = training
    inputs = [sentence.input for sentence in gold.sentences]
    places = seeded_folds(inputs, k, settings.seed) if folds is None else read_folds(folds)
    result = cross_fit(prepared.features, gold, places, settings, start)
    if predictions is not None:
        write_easiness(predictions, result.predicted)
    emit(result, form, output)


def _prepared(
    references: Path,
    scus: Path,
    stus: Path | None,
    features: str,
    parses: Path | None,
    names: Mapping[str, Any],
) -> tuple[Prepared, Easiness]:
    from litepyramid.easiness.prepare import prepare_gold
    from litepyramid.io.references import read_references
    from litepyramid.io.units import read_units
    from litepyramid.units.parses import read_parses

    return prepare_gold(
        read_references(references, **names),
        read_units(scus, only=True, **names),
        features,
        stus=None if stus is None else read_units(stus, kind="stu", only=True, **names),
        parses=None if parses is None else read_parses(parses),
    )
