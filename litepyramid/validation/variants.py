"""The units that a validation scores: SCUs, STUs, and the mix of both by easiness."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from litepyramid.easiness.evaluate import cross_fit
from litepyramid.easiness.mix import mix, stu_count
from litepyramid.easiness.predict import EMBEDDED, predict_easiness
from litepyramid.easiness.prepare import prepare_gold
from litepyramid.easiness.regressor import REFINED, load_regressor
from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.types import InputUnits
from litepyramid.units.extract import extract_units
from litepyramid.validation.folds import make_folds


def unit_variants(
    dataset: Dataset,
    *,
    stu_share: float | None = 0.5,
    folds: int | None = 5,
    seed: int = 12345,
) -> dict[str, Sequence[InputUnits]]:
    """Lite2, Lite2.x and Lite3 units of a data set, as far as it has what they need.

    STUs are the data set's own, else extracted from its references. The mix gives STUs to the
    easiest `stu_share` of all sentences (ZB21 §3.3). Their easiness is predicted by the embedded
    regressor, refined for each fold's inputs on the other folds' (`easiness.evaluate.cross_fit`),
    so that no sentence is judged easy by its own SCUs; without folds, by that regressor as it is.

    Args:
        dataset: The data set.
        stu_share: x / 10 of Lite2.x; None for no mix.
        folds: Folds of inputs for the mix; None for the embedded regressor.
        seed: Of a random split into folds.

    Returns:
        ``lite2`` always; ``lite3`` if there are STUs or references; ``lite2.5`` (for a share of
        .5) if there are references.

    Raises:
        InputError: The share is not between 0 and 1.
    """
    variants: dict[str, Sequence[InputUnits]] = {"lite2": dataset.scus}
    stus = dataset.stus
    if stus is None and dataset.references is not None:
        stus = tuple(extract_units(dataset.references))
    if stus is None:
        return variants
    if stu_share is not None and dataset.references is not None:
        if not 0 <= stu_share <= 1:
            raise InputError(f"a share of {stu_share}", expected="from 0 to 1")
        variants[f"lite2.{(Decimal(str(stu_share)) * 10).normalize():f}"] = _mixed(
            dataset, stus, stu_share, folds, seed
        )
    variants["lite3"] = stus
    return variants


def _mixed(
    dataset: Dataset, stus: Sequence[InputUnits], share: float, folds: int | None, seed: int
) -> Sequence[InputUnits]:
    references = dataset.references or ()
    if folds is None:
        easiness = predict_easiness(references, stus=stus)
    else:
        prepared, gold = prepare_gold(references, dataset.scus, stus=stus)
        places = {
            name: fold.number
            for fold in make_folds(dataset, "examples", folds, seed)
            for name in fold.inputs
        }
        start = load_regressor(EMBEDDED)
        easiness = cross_fit(prepared.features, gold, places, REFINED, start).predicted
    sentences = easiness.sentences
    count = stu_count(share, len(sentences))
    return mix(dataset.scus, stus, sentences, count, easiness=easiness).units
