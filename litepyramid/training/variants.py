"""The units that a validation scores: SCUs, STUs, and the mix of both by easiness."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np

from litepyramid.easiness.gold import Easiness
from litepyramid.easiness.mix import mix_units, stu_count
from litepyramid.easiness.predict import predict, prepare_gold
from litepyramid.easiness.regressor import REFINED, EasinessRegressor, cross_fit, fit_trees
from litepyramid.easiness.sentence_features import FeatureTable
from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.training.folds import make_folds
from litepyramid.types import InputUnits
from litepyramid.units.align import sentences_of
from litepyramid.units.extract import extract


def unit_variants(
    dataset: Dataset,
    *,
    stu_share: float | None = 0.5,
    folds: int | None = 5,
    seed: int = 12345,
    easiness: Easiness | None = None,
    regressor: EasinessRegressor | Path | None = None,
) -> dict[str, Sequence[InputUnits]]:
    """Lite2, Lite2.x and Lite3 units of a data set, as far as it has what they need.

    STUs are the data set's own, else extracted from its references. The mix gives STUs to the
    easiest `stu_share` of all sentences (ZB21 §3.3). Unless it is given, their easiness is
    predicted by the embedded regressor, refined for each fold's inputs on the other folds'
    (`easiness.evaluate.cross_fit`), so that no sentence is judged easy by its own SCUs; without
    folds, by that regressor as it is.

    Args:
        dataset: The data set.
        stu_share: x / 10 of Lite2.x; None for no mix.
        folds: Folds of inputs for the mix; None for the embedded regressor.
        seed: Seed of a random split into folds.
        easiness: The easiness of every sentence, from somewhere else.
        regressor: What predicts it instead of the embedded one, not refined: see
            `source_regressor`.

    Returns:
        ``lite2`` always; ``lite3`` if there are STUs or references; ``lite2.5`` (for a share of
        .5) if there are references.

    Raises:
        InputError: The share is not between 0 and 1, or a sentence has no easiness.
    """
    variants: dict[str, Sequence[InputUnits]] = {"lite2": dataset.scus}
    stus = dataset.stus
    if stus is None and dataset.references is not None:
        stus = extract(dataset.references, language=dataset.language).units
    if stus is None:
        return variants
    if stu_share is not None and dataset.references is not None:
        if not 0 <= stu_share <= 1:
            raise InputError(f"a share of {stu_share}", expected="from 0 to 1")
        if easiness is None and (folds is None or regressor is not None):
            easiness = predict(
                dataset.references, stus=stus, regressor=regressor, language=dataset.language
            )
        elif easiness is None and folds is not None:
            prepared, gold = prepare_gold(
                dataset.references, dataset.scus, stus=stus, language=dataset.language
            )
            split = make_folds(dataset, "examples", folds, seed)
            places = {name: fold.number for fold in split for name in fold.inputs}
            start = EasinessRegressor.embedded()
            easiness = cross_fit(prepared.features, gold, places, REFINED, start)
        sentences = sentences_of(dataset.references)
        count = stu_count(stu_share, len(sentences))
        mixed = mix_units(dataset.scus, stus, sentences, count, easiness=easiness)
        variants[f"lite2.{(Decimal(str(stu_share)) * 10).normalize():f}"] = mixed.units
    variants["lite3"] = stus
    return variants


def source_regressor(sources: Sequence[Dataset]) -> EasinessRegressor:
    """A regressor trained on whole data sets, to be tested on another one (ZB21 §5.2).

    By the paper's settings, on the features that need no constituency trees.

    Raises:
        InputError: A data set has no references.
    """
    tables, golds = [], []
    for source in sources:
        if source.references is None:
            raise InputError(
                f"{source.name} has no references to learn easiness from",
                hint="Train on data sets with references, or use the embedded regressor.",
            )
        prepared, gold = prepare_gold(source.references, source.scus, stus=source.stus)
        tables.append(prepared.features)
        golds.append(gold.values)
    values = np.vstack([table.values for table in tables])
    features = FeatureTable(tables[0].feature_set, tables[0].names, values)
    about = {"name": "+".join(source.name for source in sources)}
    return fit_trees(features, np.concatenate(golds), about=about)
