"""Precision and F1: whether a summary's content is in the reference or the source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Unpack

import numpy as np

from litepyramid.data.data import Data, as_data
from litepyramid.data.records import InputReferences, Summaries, Unit
from litepyramid.data.saved import checksum_of
from litepyramid.errors import InputError
from litepyramid.identity import fingerprint
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import Judge, JudgedBatch
from litepyramid.judges.parallel import judge_pairs
from litepyramid.judges.registry import in_language
from litepyramid.judges.registry import judge as as_judge
from litepyramid.language import signed
from litepyramid.scoring.comparable import made
from litepyramid.scoring.inference import with_intervals
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.saved_result import report
from litepyramid.scoring.system_scores import SystemScores, repeat_notes
from litepyramid.stats import average_repeats, check_samples, undefined
from litepyramid.text import counted
from litepyramid.types import (
    BoolArray,
    DataLike,
    Fields,
    FloatArray,
    JudgeLike,
    References,
    ResultLike,
    Signature,
    Texts,
    TextsLike,
)

Key = tuple[str, str]
"""A system and an input."""


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
    is that in the premise it is in most, precision the weighted mean over units. F1 = 2
    P R / (P + R), 0 where both are 0. A summary that is empty, or has no unit, has no
    precision; the F1 of an empty one is 0.

    Args:
        data: Summaries of every system, as for `score`, or `Data` with references.
        documents: Instead of references, the source texts: the score is then
            faithfulness.
        recall: The result of `score` for the same summaries, or its file: the score is
            then F1.
        judge: Rates how far a unit is present in a reference or document.
        samples: Bootstrap samples of the intervals.
        confidence: Confidence level of the intervals.
        seed: Seed of the bootstrap.
        **sources: What belongs to the data, as of `load`: references, ids, columns,
            language, nulls.

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
    if documents is not None and sources.get("references") is not None:
        raise InputError("references and documents", expected="one of the two")
    given = as_data(data, documents=documents, **sources).with_language()
    given.require("summaries")
    if given.repeats and recall is not None:
        raise InputError(
            "recall of several answers of a system to an input",
            expected="one answer of each: of several, only the mean recall is saved",
        )
    summaries = given.summaries
    runs, inputs = summaries.systems, summaries.inputs
    premises, left_out = _premises(given)
    recalled = None if recall is None else report(recall)
    recalls = None if recalled is None else _recall_of(recalled, summaries)

    # All summaries at once: units are extracted, and judged, together.
    units = _units_of(summaries, given.language)
    rater = in_language(as_judge(judge), given.language)
    presence, batch = _best_presence(rater, units, premises)

    exact = np.full((len(runs), len(inputs)), np.nan)
    for n, run in enumerate(runs):
        for m, name in enumerate(inputs):
            if (row := presence.get((run, name))) is not None:
                weights = [unit.weight for unit in units[run, name]]
                exact[n, m] = np.average(row, weights=weights)

    # One system may have answered an input several times.
    answers = average_repeats(exact, [*map(given.system_of, runs)])
    systems = answers.systems
    exact = answers.means
    own: dict[Key, Texts] = {}
    for (run, name), some in units.items():
        key = given.system_of(run), name
        own[key] = own.get(key, ()) + tuple([unit.text for unit in some])

    metric = "faithfulness" if given.documents else "precision"
    values = exact
    if recalls is not None:
        metric = "f1"
        values = _f1(exact, recalls, summaries.empty)

    bootstrap = {
        "samples": samples,
        "confidence": confidence,
        "seed": seed,
    }
    keys = [*product(systems, inputs)]
    notes = [*given.notes, *repeat_notes(answers)]
    if left_out:
        are = counted(left_out, "summary has", "summaries have")
        notes.append(f"{are} no premise: left out.")

    return PrecisionResult(
        metric=metric,
        name=metric,
        **with_intervals(systems, inputs, values, **bootstrap),
        precision=exact,
        recall=recalls,
        units=tuple([tuple([own.get((s, i), ()) for i in inputs]) for s in systems]),
        counts={
            **batch.counts,
            "summaries_without_precision": sum(not units.get(key) for key in premises),
        },
        notes=tuple(notes),
        signature=Signature.of(
            direction=metric,
            premise="documents" if given.documents else "references",
            **{**batch.signature, **signed(given.language)},
            summaries_sha=summaries.sha,
            units_sha=fingerprint([own.get(key, ()) for key in keys]),
            premises_sha=fingerprint(_premise_rows(given, premises)),
            **({} if recalled is None else _recall_fields(recalled.signature)),
            answers=int(answers.most.max()) if given.repeats else None,
            truncated=batch.counts.get("truncated"),
            missing=batch.counts.get("missing") or None,
            **bootstrap,
        ),
    )


def _recall_of(recalled: ScoreResult, summaries: Summaries) -> FloatArray:
    """(N, M) recall, if it is that of the same summaries."""
    same = (recalled.systems, recalled.inputs) == (summaries.systems, summaries.inputs)
    # A result of presence alone does not know its summaries.
    texts = recalled.summaries
    if not same or (texts is not None and texts != summaries):
        raise InputError(
            "recall for other systems, inputs or texts", expected="the same summaries"
        )
    return recalled.values


def _recall_fields(signature: Signature) -> Fields:
    """How the recall was made, and which one it is."""
    return {"recall": made(signature), "recall_sha": fingerprint([str(signature)])}


def _premise_rows(data: Data, premises: Mapping[Key, Sequence[str]]) -> list[list[str]]:
    """What names the premises: references are of an input, whoever summarises it."""
    rows = []
    for (system, name), texts in premises.items():
        row = [name, *texts]
        rows.append([system, *row] if data.documents else row)
    return [[*row] for row in sorted({tuple(row) for row in rows})]


def _premises(data: Data) -> tuple[dict[Key, list[str]], int]:
    """By system and input the texts that a summary is judged against, and how many
    have none."""
    if not (data.documents or data.references):
        raise InputError("what to judge against", expected="references, or documents")

    shared: dict[str, list[str]] = {}
    if not data.documents:
        for entry in data.references:
            shared[entry.input] = [" ".join(one) for one in entry.references]
    systems = {*data.systems, *map(data.system_of, data.systems)}
    own_systems = {system for system, _ in data.documents} & systems
    for (_, name), document in () if own_systems else sorted(data.documents.items()):
        # Documents of other systems are those of all, if all have the same.
        if document not in shared.setdefault(name, []):
            shared[name].append(document)

    premises = {}
    without = 0
    for key, text in data.summaries.cells():
        texts = shared.get(key[1], [])
        # A run's own documents, or those of the system that it is a repeat of.
        system = data.system_of(key[0])
        for one in (key, (system, key[1])):
            if one in data.documents:
                texts = [data.documents[one]]
                break
        if data.documents and len(texts) > 1:
            raise InputError(
                f"several documents of input '{key[1]}', and none of '{key[0]}'",
                expected="one for every input, of all systems or of each",
                hint="Contexts that differ belong into one table, with a column "
                "'system'.",
            )
        if texts:
            premises[key] = texts
        without += not texts and text is not None

    if not premises:
        raise InputError("no premise for any summary", expected="the same inputs")
    return premises, without


def _units_of(summaries: Summaries, language: str) -> dict[Key, tuple[Unit, ...]]:
    """The units of each summary that is not empty."""
    from litepyramid.units.extract import extract

    keys = {}
    records = []
    for number, (key, text) in enumerate(summaries.cells()):
        if text and text.strip():
            # Extraction wants references: a summary is taken for one.
            keys[str(number)] = key
            records.append(InputReferences(str(number), ((text,),), (False,)))
    extraction = extract(records, language=language)
    return {keys[entry.input]: entry.units for entry in extraction.units}


def _best_presence(
    judge: Judge,
    units: Mapping[Key, Sequence[Unit]],
    premises: Mapping[Key, Sequence[str]],
) -> tuple[dict[Key, FloatArray], JudgedBatch]:
    """The presence of each summary's units in the premise that they are in most."""
    keys = []
    items = []
    for key, own in units.items():
        texts = tuple([unit.text for unit in own])
        for premise in premises.get(key, ()):
            if texts:
                keys.append(key)
                items.append((premise, texts))

    batch = judge_pairs(judge, items)
    best: dict[Key, FloatArray] = {}
    for key, row in zip(keys, batch.presence, strict=True):
        # One reference that holds the unit is enough.
        best[key] = np.maximum(best[key], row) if key in best else row
    return best, batch


def _f1(precision: FloatArray, recall: FloatArray, empty: BoolArray) -> FloatArray:
    """2 P R / (P + R), 0 where both are 0, and for a summary that is empty."""
    with undefined():
        values = 2 * precision * recall / (precision + recall)
    values[(precision == 0) & (recall == 0)] = 0.0
    # An empty summary has no precision, but it does say nothing of the reference.
    values[empty] = 0.0
    return np.asarray(values)
