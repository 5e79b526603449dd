"""Precision and F1: whether a summary's content is in the reference or the source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, Unpack

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.coerce import as_documents, as_names
from litepyramid.io.dataset import Dataset
from litepyramid.io.loading import as_dataset
from litepyramid.io.saved import checksum_of
from litepyramid.io.sources import with_shared_index
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import Judge, JudgedBatch
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import in_language
from litepyramid.judges.registry import judge as as_judge
from litepyramid.language import signed
from litepyramid.scoring.inference import with_intervals
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.saved_result import report
from litepyramid.scoring.system_scores import SystemScores
from litepyramid.stats import by_id, check_samples, undefined
from litepyramid.types import (
    BoolArray,
    DataLike,
    Fields,
    FloatArray,
    InputReferences,
    JudgeLike,
    References,
    ResultLike,
    Signature,
    SystemSummaries,
    Texts,
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
    units: tuple[tuple[Texts, ...], ...]

    @property
    def beside(self) -> dict[str, dict[str, float]]:
        """For F1, precision and recall."""
        if self.recall is None:
            return {}
        return {
            "precision": self._means(self.precision),
            "recall": self._means(self.recall),
        }

    def json_entries(self) -> Fields:
        """Scores by summary, in the rows that `compare` and `meta` read."""
        scores = []
        for n, system in enumerate(self.systems):
            for m, name in enumerate(self.inputs):
                scores.append(
                    {
                        "system": system,
                        "input": name,
                        "score": self.values[n, m],
                        "units": self.units[n][m],
                    }
                )
        document = {**self._document(), "scores": scores}
        return {**document, "checksum": checksum_of(document)}


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
    check_samples(samples, seed=seed, confidence=confidence)
    dataset, premises = _with_premises(data, documents, sources)
    systems = dataset.systems
    inputs = dataset.summaries[0].inputs
    recalled = None if recall is None else report(recall)

    recalls = None if recalled is None else _recall_of(recalled, dataset.summaries)

    # All summaries in one row, system after system: units are extracted, and judged, at
    # once.
    texts = list(chain.from_iterable([s.texts for s in dataset.summaries]))
    units = _units_of(texts, dataset.language)
    rater = in_language(as_judge(judge), dataset.language)
    by_text = [premises[pair] for pair in product(systems, inputs)]
    presence, batch = _best_presence(rater, units, by_text)

    means = np.full(len(texts), np.nan)
    for place, row in presence.items():
        means[place] = row.mean()
    exact = means.reshape(len(systems), len(inputs))

    metric = "precision" if documents is None else "faithfulness"
    values = exact
    if recalls is not None:
        metric = "f1"
        empty = np.array([not text.strip() for text in texts])
        values = _f1(exact, recalls, empty.reshape(exact.shape))

    bootstrap = {
        "samples": samples,
        "confidence": confidence,
        "seed": seed,
    }
    table = []
    for start in range(0, len(texts), len(inputs)):
        places = range(start, start + len(inputs))
        table.append(tuple(units.get(place, ()) for place in places))
    # Hashes go by ids, as the order of files changes no number.
    columns = by_id(inputs)
    ordered_units = []
    for n in by_id(systems):
        ordered_units += [table[n][m] for m in columns]
    of_all = [
        [inputs[m], *premises[systems[n], inputs[m]]]
        for n in by_id(systems)
        for m in columns
    ]
    # Most often all systems have the same.
    alike = of_all == of_all[: len(columns)] * len(systems)
    ordered_premises = of_all[: len(columns)] if alike else of_all
    unscored = int(np.isnan(values).sum())

    return PrecisionResult(
        metric=metric,
        name=metric,
        **with_intervals(systems, inputs, values, **bootstrap),
        precision=exact,
        recall=recalls,
        units=tuple(table),
        counts={**batch.counts, "summaries_without_precision": unscored},
        notes=dataset.notes,
        signature=Signature.of(
            direction=metric,
            premise="references" if documents is None else "documents",
            **{**batch.signature, **signed(dataset.language)},
            **data_hashes(summaries=dataset.summaries),
            units_sha=fingerprint(ordered_units),
            premises_sha=fingerprint(ordered_premises),
            recall=None if recalled is None else fingerprint([str(recalled.signature)]),
            truncated=batch.counts.get("truncated"),
            missing=batch.counts.get("missing") or None,
            **bootstrap,
        ),
    )


def _recall_of(recalled: ScoreResult, summaries: Sequence[SystemSummaries]) -> Any:
    """Recall in the order of some summaries, if it is that of the same ones."""
    names = [one.system for one in summaries]
    inputs = summaries[0].inputs
    same = {*recalled.systems} == {*names} and {*recalled.inputs} == {*inputs}
    if same:
        rows = [recalled.systems.index(name) for name in names]
        columns = [recalled.inputs.index(name) for name in inputs]
        # A result of presence alone does not know its summaries.
        for row, one in zip(rows, summaries, strict=True):
            judged = recalled.summaries and [
                recalled.summaries[row][m] for m in columns
            ]
            same &= judged in (None, [*one.texts])

    if not same:
        raise InputError(
            "recall for other systems, inputs or texts", expected="the same summaries"
        )
    return recalled.values[np.ix_(rows, columns)]


def _with_premises(
    data: Any, documents: Any, sources: Any
) -> tuple[Dataset, dict[tuple[str, str], list[str]]]:
    """The summaries, and by system and input the texts that they are judged against."""
    texts: dict[tuple[str, str], str] = {}
    keys = as_names(sources.get("ids"), sources.get("columns"))
    if documents is not None:
        data, documents = with_shared_index(
            (data, documents), ("summary", "document"), **keys
        )
        texts = as_documents(documents, **keys)
        # Summaries in a list go by the order of the documents, under their ids.
        if not isinstance(data, Dataset) and not keys["ids"]:
            sources["ids"] = [*dict.fromkeys(name for _, name in texts)]

    dataset = as_dataset(data, **sources).with_language()
    dataset.require("summaries")
    if documents is not None and sources.get("references") is not None:
        raise InputError("references and documents", expected="one of the two")
    if not (texts or dataset.references):
        raise InputError("what to judge against", expected="references, or documents")

    names = dataset.summaries[0].inputs
    # Documents without ids go by the order of answers that have some.
    if texts and not keys["ids"] and not {name for _, name in texts} >= {*names}:
        texts = as_documents(documents, **{**keys, "ids": names})

    # Documents of other systems are those of all, if all have the same.
    shared: dict[str, list[str]] = {}
    if not texts:
        for entry in dataset.references or ():
            shared[entry.input] = [" ".join(one) for one in entry.references]
    distinct = dict.fromkeys([(name, text) for (_, name), text in texts.items()])
    for name, text in distinct:
        shared.setdefault(name, []).append(text)

    theirs = {system for system, _ in texts} & {*dataset.systems}
    premises = {}
    for system, name in product(dataset.systems, names):
        own = shared.get(name, [])
        if (system, name) in texts:
            own = [texts[system, name]]
        elif theirs or (texts and len(own) > 1):
            own = []
        if not own:
            raise InputError(
                f"no premise for input '{name}' of system '{system}'",
                expected="one for every input, of all systems or of each",
                hint="Contexts that differ belong into one table, with a column "
                "'system'."
                if theirs
                else None,
            )
        premises[system, name] = own

    return dataset, premises


def _units_of(texts: Sequence[str], language: str) -> dict[int, Texts]:
    """The units of each text that is not empty, by its place."""
    from litepyramid.units.extract import extract

    records = []
    for place, text in enumerate(texts):
        if text.strip():
            # Extraction wants references: a summary is taken for one, named by its
            # place.
            records.append(InputReferences(str(place), ((text,),), (False,)))
    extraction = extract(records, language=language)
    return {int(entry.input): entry.texts for entry in extraction.units}


def _best_presence(
    judge: Judge,
    units: Mapping[int, Texts],
    premises: Sequence[Sequence[str]],
) -> tuple[dict[int, FloatArray], JudgedBatch]:
    """The presence of each text's units in the premise that they are in most."""
    places = []
    items = []
    for place in sorted(units):
        for premise in premises[place]:
            if units[place]:
                places.append(place)
                items.append((premise, units[place]))

    batch = judge_pairs(judge, items)
    best: dict[int, FloatArray] = {}
    for place, row in zip(places, batch.presence, strict=True):
        # One reference that holds the unit is enough.
        best[place] = np.maximum(best[place], row) if place in best else row
    return best, batch


def _f1(precision: FloatArray, recall: FloatArray, empty: BoolArray) -> FloatArray:
    """2 P R / (P + R), 0 where both are 0, and for a summary that is empty."""
    with undefined():
        values = 2 * precision * recall / (precision + recall)
    values[(precision == 0) & (recall == 0)] = 0.0
    # An empty summary has no precision, but it does say nothing of the reference.
    values[empty] = 0.0
    return np.asarray(values)
