"""Predicting the easiness of the sentences of references, from files to values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from litepyramid.easiness.prepare import WITH_STUS, loaded_parses, loaded_stus, prepare
from litepyramid.easiness.regressor import Regressor, load_regressor, predict
from litepyramid.easiness.scores import Easiness
from litepyramid.io.coerce import as_references
from litepyramid.types import Signature

EMBEDDED = Path(__file__).resolve().parents[1] / "embedded" / "easiness.ubj"


def predict_easiness(
    references: Any,
    *,
    regressor: Regressor | str | Path | None = None,
    stus: Any = None,
    parses: Any = None,
    **names: Any,
) -> Easiness:
    """How easily STUs will stand in for the SCUs that people would write of each sentence.

    Args:
        references: The references of every input (`io.coerce.as_references`).
        regressor: A regressor or its file; the embedded one if not given (trained on
            invented highlights with STUs of the embedded extractor, its level from REALSumm;
            models/README.md).
        stus: The STUs that would be used; extracted by the embedded extractor if not given.
        parses: Constituency trees, or their file, for a regressor on the paper's 69 features.
        **names: `ids` and `columns` of all files.

    Raises:
        InputError: Trees or STUs are missing or do not fit the references.
        ModelError: The regressor cannot be read.

    Example:
        >>> found = predict_easiness(["<t> A cat sat on the mat . </t> <t> It rained . </t>"])
        >>> [0 < value < 1 for value in found.values.tolist()]
        [True, True]
    """
    if isinstance(regressor, Regressor):
        name = regressor.about.get("name", "given")
    else:
        name = "embedded" if regressor is None else Path(regressor).name
        regressor = load_regressor(regressor or EMBEDDED)
    own, trees = loaded_stus(stus, **names), loaded_parses(parses)
    texts = as_references(references, **names)
    prepared = prepare(texts, regressor.feature_set, stus=own, parses=trees)
    values = predict(regressor, prepared.features)
    signature = Signature((("easiness", name), *prepared.signature.fields))
    extracted = regressor.feature_set == WITH_STUS and stus is None
    notes = ("STUs by the embedded extractor.",) if extracted else ()
    return Easiness(prepared.sentences, values, signature, notes)
