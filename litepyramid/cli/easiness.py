"""``litepyramid easiness``: how well STUs stand in for SCUs, sentence by sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from litepyramid.cli.options import Form, Group, NamesGroup, Written, runs

app = typer.Typer(
    help="""Predict how well STUs can replace the SCUs of a sentence (ZB21 §3.3).

    $ litepyramid easiness predict example/references.jsonl
    $ litepyramid easiness evaluate example/references.jsonl --scus \\
        example/scus.jsonl
    """,
    no_args_is_help=True,
)

FeatureSet = Literal["dependency+stus", "dependency", "constituency"]


def _training(
    start: str | None = None,
    max_depth: int | None = None,
    eta: float | None = None,
    rounds: int | None = None,
    forest: int | None = None,
    min_child_weight: float | None = None,
    subsample: float | None = None,
    colsample: float | None = None,
    reg_lambda: float | None = None,
    scu_prior: float | None = None,
    seed: int = 12345,
) -> Any:
    """How a regressor is trained; the defaults are the paper's, or careful ones after a start.

    Options:
        start: Continue from a regressor: its file, or 'embedded'. It is centred on these sentences,
            then refined by a few rounds (0: only centred).

    Training:
        max_depth (N): Depth of trees. [default: 3]
        eta (N): Learning rate. [default: 0.1; with --start 0.05]
        rounds (N): Boosting rounds. [default: 40; with --start 20]
        forest (N): Trees per round. [default: 1; with --start 8]
        min_child_weight (N): Minimum number of sentences per leaf. [default: 1; with --start 5]
        subsample (N): Share of sentences per tree. [default: 1; with --start 0.6]
        colsample (N): Share of features per tree. [default: 1; with --start 0.4]
        reg_lambda (--lambda N): L2 penalty on leaf values. [default: 1]
        scu_prior (N): Weight of a sentence with n SCUs: n / (n + N); 0: all equal. [default: 0]
    """
    given = dict(locals())
    said = {name: value for name, value in given.items() if name != "start" and value is not None}
    from litepyramid.easiness.predict import EMBEDDED
    from litepyramid.easiness.regressor import PAPER, REFINED, load_regressor

    settings = replace(PAPER if start is None else REFINED, **said)
    settings.check()
    if start is None:
        return settings, None
    return settings, load_regressor(EMBEDDED if start == "embedded" else start)


TrainingGroup = Annotated[Any, Group(_training)]


@app.command()
def fit(
    references: Path,
    /,
    scus: Path,
    output: Written,
    stus: Path | None = None,
    features: FeatureSet = "dependency+stus",
    parses: Path | None = None,
    *,
    training: TrainingGroup,
    names: NamesGroup,
) -> None:
    """Train an easiness regressor on references with SCUs; the defaults are the paper's.

    $ litepyramid easiness fit example/references.jsonl --scus \\
        example/scus.jsonl --min-child-weight 1 -o easiness.ubj
    $ litepyramid easiness fit example/references.jsonl --scus \\
        example/scus.jsonl --start embedded -o easiness.ubj

    Options:
        references: References: JSON Lines, a table, or a line file.
        output (-o): Write the regressor here: .ubj or .json.

    Training:
        features (SET): Features of a sentence (docs/easiness.md).
    """
    from litepyramid.easiness.prepare import prepare_gold
    from litepyramid.easiness.regressor import FEW, save_regressor
    from litepyramid.easiness.regressor import fit as train

    prepared, gold = prepare_gold(references, scus, features, stus=stus, parses=parses, **names)
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
@runs(
    "litepyramid.easiness.predict:predict_easiness",
    write="litepyramid.easiness.scores:write_easiness",
)
def predict(
    references: Path,
    /,
    regressor: Path | None = None,
    stus: Path | None = None,
    parses: Path | None = None,
    output: Written | None = None,
    form: Form = "table",
    *,
    names: NamesGroup,
) -> None:
    """Predict the easiness of every reference sentence.

    $ litepyramid easiness predict example/references.jsonl -o easiness.jsonl
    $ litepyramid easiness predict example/references.jsonl --regressor \\
        easiness.ubj

    Options:
        references: References: JSON Lines, a table, or a line file.
        output (-o): Also write the values here (JSON Lines).
    """


@app.command()
def evaluate(
    references: Path,
    /,
    scus: Path,
    stus: Path | None = None,
    features: FeatureSet = "dependency+stus",
    parses: Path | None = None,
    folds: Path | None = None,
    k: int = 5,
    predictions: Written | None = None,
    *,
    training: TrainingGroup,
    form: Form = "table",
    output: Written | None = None,
    names: NamesGroup,
) -> None:
    """Measure the error of predicted easiness by cross-validation over inputs.

    $ litepyramid easiness evaluate example/references.jsonl --scus \\
        example/scus.jsonl --k 3
    $ litepyramid easiness evaluate example/references.jsonl --scus \\
        example/scus.jsonl --start embedded --predictions easiness.jsonl

    Options:
        references: References: JSON Lines, a table, or a line file.
        folds: Folder with a file of input ids for each fold.
        k (N): Number of random folds, without --folds.
        predictions: Write cross-fitted easiness here (JSON Lines).

    Training:
        features (SET): Features of a sentence (docs/easiness.md).
    """
    from litepyramid.easiness.evaluate import cross_fit, read_folds, seeded_folds
    from litepyramid.easiness.prepare import prepare_gold
    from litepyramid.easiness.scores import write_easiness
    from litepyramid.tables import emit

    prepared, gold = prepare_gold(references, scus, features, stus=stus, parses=parses, **names)
    settings, start = training
    inputs = [sentence.input for sentence in gold.sentences]
    places = seeded_folds(inputs, k, settings.seed) if folds is None else read_folds(folds)
    result = cross_fit(prepared.features, gold, places, settings, start)
    if predictions is not None:
        write_easiness(predictions, result.predicted)
    emit(result, form, output)
