"""Predicting the easiness of the sentences of references, from files to values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from litepyramid.easiness.prepare import WITH_STUS, prepare
from litepyramid.easiness.regressor import Regressor, load_regressor, predict
from litepyramid.easiness.scores import Easiness
from litepyramid.types import InputReferences, InputUnits, Signature
from litepyramid.units.parses import ParsedReference

EMBEDDED = Path(__file__).resolve().parents[1] / "embedded" / "easiness.ubj"


def predict_easiness(
    references: Sequence[InputReferences],
    *,
    regressor: Regressor | str | Path | None = None,
    stus: Sequence[InputUnits] | None = None,
    parses: Sequence[ParsedReference] | None = None,
) -> Easiness:
    """How easily STUs will stand in for the SCUs that people would write of each sentence.

    Args:
        references: The references of every input.
        regressor: A regressor or its file; the embedded one if not given (trained on
            invented highlights with STUs of the embedded extractor, its level from REALSumm;
            models/README.md).
        stus: The STUs that would be used; extracted by the embedded extractor if not given.
        parses: Constituency trees, for a regressor on the paper's 69 features.

    Raises:
        InputError: Trees or STUs are missing or do not fit the references.
        ModelError: The regressor cannot be read.

    Example:
        >>> sentences = ("A cat sat on the mat .", "It rained .")
        >>> found = predict_easiness([InputReferences("a", (sentences,), (True,))])
        >>> [0 < value < 1 for value in found.values.tolist()]
        [True, True]
    """
    if isinstance(regressor, Regressor):
        name = regressor.about.get("name", "given")
    else:
        name = "embedded" if regressor is None else Path(regressor).name
        regressor = load_regressor(regressor or EMBEDDED)
    prepared = prepare(references, regressor.feature_set, stus=stus, parses=parses)
    values = predict(regressor, prepared.features)
    signature = Signature((("easiness", name), *prepared.signature.fields))
    extracted = regressor.feature_set == WITH_STUS and stus is None
    notes = ("STUs by the embedded extractor.",) if extracted else ()
    return Easiness(prepared.sentences, values, signature, notes)
