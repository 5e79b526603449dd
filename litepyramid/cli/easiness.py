"""``litepyramid easiness``: how well STUs stand in for SCUs, sentence by sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from litepyramid.cli.options import (
    FormatOption,
    OutputOption,
    ReferencesArgument,
    RegressorOption,
    ScusOption,
    SeedOption,
    StusOption,
    TreesOption,
    option,
    with_names,
    with_options,
)
from litepyramid.cli.outputs import WRITTEN

if TYPE_CHECKING:
    from litepyramid.easiness.prepare import Prepared
    from litepyramid.easiness.scores import Easiness

app = typer.Typer(
    help="""Predict how well STUs can replace the SCUs of a sentence (ZB21 §3.3).

    $ litepyramid easiness predict example/references.jsonl
    $ litepyramid easiness evaluate example/references.jsonl --scus \\
        example/scus.jsonl
    """,
    no_args_is_help=True,
)

TRAINING = "Training"
FeatureSet = Literal["dependency+stus", "dependency", "constituency"]

Features = Annotated[
    FeatureSet, option("Features of a sentence (docs/easiness.md).", metavar="SET", panel=TRAINING)
]


def _setting(help: str, *names: str) -> Any:
    return option(help, *names, metavar="N", panel=TRAINING)


def _training(
    start: Annotated[
        str | None,
        option(
            "Continue from a regressor: its file, or 'embedded'. It is centred on these sentences, "
            "then refined by a few rounds (0: only centred).",
        ),
    ] = None,
    max_depth: Annotated[int | None, _setting("Depth of trees. [default: 3]")] = None,
    eta: Annotated[
        float | None, _setting("Learning rate. [default: 0.1; with --start 0.05]")
    ] = None,
    rounds: Annotated[
        int | None, _setting("Boosting rounds. [default: 40; with --start 20]")
    ] = None,
    forest: Annotated[int | None, _setting("Trees per round. [default: 1; with --start 8]")] = None,
    min_child_weight: Annotated[
        float | None, _setting("Minimum number of sentences per leaf. [default: 1; with --start 5]")
    ] = None,
    subsample: Annotated[
        float | None, _setting("Share of sentences per tree. [default: 1; with --start 0.6]")
    ] = None,
    colsample: Annotated[
        float | None, _setting("Share of features per tree. [default: 1; with --start 0.4]")
    ] = None,
    reg_lambda: Annotated[
        float | None, _setting("L2 penalty on leaf values. [default: 1]", "--lambda")
    ] = None,
    scu_prior: Annotated[
        float | None,
        _setting("Weight of a sentence with n SCUs: n / (n + N); 0: all equal. [default: 0]"),
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
    references: ReferencesArgument,
    scus: ScusOption,
    output: Annotated[
        Path, option("Write the regressor here: .ubj or .json.", "--output", "-o"), WRITTEN
    ],
    stus: StusOption = None,
    features: Features = "dependency+stus",
    parses: TreesOption = None,
    *,
    training: Any,
    names: dict[str, Any],
) -> None:
    """Train an easiness regressor on references with SCUs; the defaults are the paper's.

    $ litepyramid easiness fit example/references.jsonl --scus \\
        example/scus.jsonl --min-child-weight 1 -o easiness.ubj
    $ litepyramid easiness fit example/references.jsonl --scus \\
        example/scus.jsonl --start embedded -o easiness.ubj
    """
    from litepyramid.easiness.regressor import FEW, save_regressor
    from litepyramid.easiness.regressor import fit as train

    prepared, gold = _prepared(references, scus, stus, features, parses, names)
    about = {"references": references.name, **dict(prepared.signature.fields)}
    settings, start = training
    regressor = train(prepared.features, gold.values, settings, about, gold.scus, start)
    save_regressor(regressor, output)
    known = int(regressor.about["sentences"])
    few = (
        f" {known} sentences are few to train on alone: consider --start embedded."
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
    references: ReferencesArgument,
    regressor: RegressorOption = None,
    stus: StusOption = None,
    parses: TreesOption = None,
    output: Annotated[
        Path | None, option("Also write the values here (JSON Lines).", "--output", "-o"), WRITTEN
    ] = None,
    form: FormatOption = "table",
    *,
    names: dict[str, Any],
) -> None:
    """Predict the easiness of every reference sentence.

    $ litepyramid easiness predict example/references.jsonl -o easiness.jsonl
    $ litepyramid easiness predict example/references.jsonl --regressor \\
        easiness.ubj
    """
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
    references: ReferencesArgument,
    scus: ScusOption,
    stus: StusOption = None,
    features: Features = "dependency+stus",
    parses: TreesOption = None,
    folds: Annotated[Path | None, option("Folder with a file of input ids for each fold.")] = None,
    k: Annotated[int, option("Number of random folds, without --folds.", "--k", metavar="N")] = 5,
    predictions: Annotated[
        Path | None, option("Write cross-fitted easiness here (JSON Lines)."), WRITTEN
    ] = None,
    *,
    training: Any,
    form: FormatOption = "table",
    output: OutputOption = None,
    names: dict[str, Any],
) -> None:
    """Measure the error of predicted easiness by cross-validation over inputs.

    $ litepyramid easiness evaluate example/references.jsonl --scus \\
        example/scus.jsonl --k 3
    $ litepyramid easiness evaluate example/references.jsonl --scus \\
        example/scus.jsonl --start embedded --predictions easiness.jsonl
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
