"""Precision and F1: whether a summary's content is in the reference or the source."""

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.coerce import as_documents, as_names
from litepyramid.io.dataset import Dataset, as_dataset
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import in_language
from litepyramid.judges.registry import judge as as_judge
from litepyramid.language import signed
from litepyramid.scoring.inference import intervals_and_groups
from litepyramid.scoring.result import SystemScores, report
from litepyramid.stats import by_id, check_samples, check_seed
from litepyramid.types import (
    DataLike,
    FloatArray,
    InputReferences,
    JudgeLike,
    References,
    ResultLike,
    Signature,
    TextsLike,
    data_hashes,
    fingerprint,
)


@dataclass(frozen=True, kw_only=True)
class PrecisionResult(SystemScores):
    """Precision or F1 of systems.

    Attributes:
        precision: (N, M) mean presence of each summary's units in its premise; NaN
            where the summary has no unit, or a judgement is missing.
        recall: (N, M), for F1; else None.
        units: For each system and input, the summary's units.
    """

    precision: FloatArray
    recall: FloatArray | None
    units: tuple[tuple[tuple[str, ...], ...], ...]

    @property
    def beside(self) -> dict[str, dict[str, float]]:
        """For F1, precision and recall."""
        if self.recall is None:
            return {}
        return {
            "precision": self._means(self.precision),
            "recall": self._means(self.recall),
        }

    def to_json(self) -> dict[str, Any]:
        """Scores by summary, in the rows that `compare` and `meta` read."""
        scores = [
            {
                "system": system,
                "input": name,
                "score": score,
                "units": units,
            }
            for system, *rows in zip(self.systems, self.values, self.units, strict=True)
            for name, score, units in zip(self.inputs, *rows, strict=True)
        ]
        return {**self._document(), "scores": scores}


def precision(
    data: DataLike = None,
    *,
    documents: TextsLike | None = None,
    recall: ResultLike = None,
    judge: JudgeLike = DEFAULT_JUDGE,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    **sources: Unpack[References],
) -> PrecisionResult:
    """Score how much of the summaries' content is in the references or documents; F1
    with recall.

    The mirror of Lite³Pyramid (ZB21 §3.2): units are extracted from the summary as they
    are from references, and judged against each premise of its input; a unit's presence
    is that in the premise it is in most, precision the mean over units. F1 = 2 P R / (P
    + R), 0 where both are 0. A summary that is empty, or has no unit, has no precision;
    the F1 of an empty one is 0.

    Args:
        data: Summaries of every system, as for `score`, or a `Dataset` with references.
        documents: Instead of references, the source texts: the score is then
            faithfulness.
        recall: The result of `score` for the same summaries, or its file: the score is
            then F1.
        judge: Rates how far a unit is present in a reference or document.
        samples: Bootstrap samples of the intervals.
        confidence: Confidence level of the intervals.
        seed: Seed of the bootstrap.
        **sources: What belongs to the data, as of `load`: references, ids, columns,
            language.

    Raises:
        InputError: Neither references nor documents are given; or sources do not match.

    Example:
        >>> texts = ["It rained. We left."]
        >>> precision(texts, references=["It rained."], judge="recall").scores
        {'system': 0.5}

    Command line:
        $ litepyramid precision example/summaries --references example/references.jsonl
    """
    from litepyramid.units.extract import extract

    check_samples(samples, confidence=confidence)
    check_seed(seed)
    premises = {}

    if documents is not None:
        keys = as_names(sources.get("ids"), sources.get("columns"))
        premises = {
            name: [text] for name, text in as_documents(documents, **keys).items()
        }
        if not isinstance(data, Dataset) and sources.get("ids") is None:
            sources["ids"] = [*premises]

    dataset = as_dataset(data, **sources).with_language()
    dataset.require("summaries")
    texts = dataset.references or ()
    if not (premises or texts) or (premises and sources.get("references") is not None):
        raise InputError("what to judge against", expected="references, or documents")

    if not premises:
        premises = {
            entry.input: [" ".join(one) for one in entry.references] for entry in texts
        }

    summaries = dataset.summaries
    language = dataset.language
    systems = dataset.systems
    inputs = summaries[0].inputs

    if missing := [name for name in inputs if name not in premises]:
        raise InputError(
            f"no premise for input '{missing[0]}'", expected="one for every input"
        )

    other = None if recall is None else report(recall)
    if other is not None and (other.systems, other.inputs) != (systems, inputs):
        raise InputError(
            "recall for other systems or inputs", expected="the same summaries"
        )

    flat = [text for system in summaries for text in system.texts]
    full = [n for n, text in enumerate(flat) if text.strip()]
    extraction = extract(
        [InputReferences(str(n), ((flat[n],),), (False,)) for n in full],
        language=language,
    )
    units = {int(entry.input): entry.texts for entry in extraction.units}
    width = len(inputs)
    pairs = [
        (n, text) for n in full for text in premises[inputs[n % width]] if units.get(n)
    ]
    rater = in_language(as_judge(judge), language)
    batch = judge_pairs(rater, [(premise, units[n]) for n, premise in pairs])
    best: dict[int, FloatArray] = {}
    for (n, _), presence in zip(pairs, batch.presence, strict=True):
        best[n] = np.maximum(best[n], presence) if n in best else presence
    means = [best[n].mean() if n in best else np.nan for n in range(len(flat))]
    values = exact = np.array(means).reshape(len(systems), width)
    metric = "precision" if documents is None else "faithfulness"

    if other is not None:
        metric = "f1"
        with np.errstate(invalid="ignore", divide="ignore"):
            values = 2 * exact * other.values / (exact + other.values)
        values[(exact == 0) & (other.values == 0)] = 0.0
        values.flat[np.setdiff1d(np.arange(len(flat)), full)] = 0.0

    bootstrap = {
        "samples": samples,
        "confidence": confidence,
        "seed": seed,
    }
    intervals, groups = intervals_and_groups(systems, inputs, values, **bootstrap)
    own = [
        [units.get(n * width + m, ()) for m in range(width)]
        for n in range(len(systems))
    ]
    rows = by_id(systems)
    columns = by_id(inputs)

    return PrecisionResult(
        metric=metric,
        name=metric,
        systems=systems,
        inputs=inputs,
        values=values,
        precision=exact,
        recall=None if other is None else other.values,
        units=tuple(map(tuple, own)),
        intervals=intervals,
        groups=groups,
        counts={
            **batch.counts,
            "summaries_without_precision": int(np.isnan(values).sum()),
        },
        confidence=confidence,
        samples=samples,
        seed=seed,
        signature=Signature.of(
            direction=metric,
            premise="references" if documents is None else "documents",
            **{**batch.signature, **signed(language)},
            **data_hashes(summaries=summaries),
            units_sha=fingerprint(own[n][m] for n in rows for m in columns),
            premises_sha=fingerprint(
                [inputs[m], *premises[inputs[m]]] for m in columns
            ),
            recall=None if other is None else fingerprint([str(other.signature)]),
            truncated=batch.counts.get("truncated"),
            missing=batch.counts.get("missing") or None,
            **bootstrap,
        ),
    )


"""The options of `load` that the command shows."""
