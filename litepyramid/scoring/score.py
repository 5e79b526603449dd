"""From summaries and units to scores of systems: judge, weigh, average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from litepyramid.errors import InputError, choose
from litepyramid.io.dataset import Dataset, as_dataset
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import Explainer, Judge, JudgedBatch
from litepyramid.judges.parallel import judge_pairs, single
from litepyramid.judges.registry import in_language
from litepyramid.judges.registry import judge as as_judge
from litepyramid.language import name_of, signed
from litepyramid.scoring.inference import intervals_and_groups
from litepyramid.scoring.pyramid import ScoringRule, UnitLayout, lite_pyramid_scores
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import check_samples, check_seed
from litepyramid.text import counted
from litepyramid.types import (
    DataLike,
    FloatArray,
    InputReferences,
    InputUnits,
    JudgeLike,
    Signature,
    SystemLabels,
    SystemSummaries,
    check_unique,
    data_hashes,
    unit_kinds,
)

Scored = Literal["units", "stus"]


def score(
    data: DataLike = None,
    units: Any = None,
    *,
    judge: JudgeLike = DEFAULT_JUDGE,
    on: Scored = "units",
    rule: str = "lite",
    name: str | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    evidence: bool = False,
    **sources: Any,
) -> ScoreResult:
    """Score systems by the reference facts that their summaries carry (ZB21 §3).

    A summary's score is the weighted mean presence of its input's units, a system's score the
    mean over inputs: Lite²Pyramid on human SCUs, Lite³Pyramid on STUs, which are extracted from
    the references where no units are given, Lite²·ˣPyramid on a mix.

    Args:
        data: Summaries of every system: ``{"system": [texts]}``, a list of texts, a table, a path;
            or a `Dataset`, or a table, that includes the rest.
        units: Units of every input: human SCUs, or ready STUs.
        judge: Rates how far a unit is present in a summary; not asked where presence is given.
        on: Score on the units, or on the STUs where there are both; labels stay labels of units.
        rule: From presence to scores: ``lite`` weighted mean over all units, ``vital`` over vital
            nuggets, ``original`` Pyramid, ``sample-K`` of K units drawn an input (LitePyramid),
            ``modified-R`` Pyramid with R references.
        name: Name of the score next to other metrics.
        samples: Bootstrap samples of the intervals.
        confidence: Confidence level of the intervals.
        seed: Seed of everything random.
        evidence: Save where the judge sees each unit; a page asks embedded judges for it itself.
        **sources: What belongs to the data, as of `load`: references, labels, presence …

    Returns:
        Scores of systems, summaries and units, with intervals over inputs and rank groups.

    Raises:
        InputError: A source cannot be read, they do not match, or something needed is missing.

    Example:
        >>> result = score(["It rained all day."], [["It rained.", "We left."]], judge="recall")
        >>> result.scores
        {'system': 0.5}

    Command line:
        $ litepyramid score example/summaries --units example/scus.jsonl --labels example/labels \\
            -o scores.json
        $ litepyramid score example/summaries --references example/references.jsonl -o report.html
    """
    check_samples(samples, confidence=confidence)
    check_seed(seed)
    if on not in ("units", "stus"):
        choose("units to score", on, get_args(Scored))
    scoring = ScoringRule.of(rule)
    dataset = as_dataset(data, units, **sources).with_language()
    rated, made = _units_of(dataset, on)
    options: dict[str, Any] = {
        "rule": scoring, "name": name, "samples": samples, "confidence": confidence, "seed": seed,
        "labels": dataset.labels or None, "label_units": dataset.label_units or dataset.units,
    }  # fmt: skip
    about = {**made, **signed(dataset.language)}
    rater = None
    if dataset.presence is not None:
        systems = dataset.systems or dataset.presence.systems
        rows = [dataset.presence.systems.index(one) for one in systems]
        about |= {"judge": "given", "presence_sha": dataset.presence.sha}
        values = dataset.presence.values[rows]
        result = score_presence(systems, rated, values, about=about, **options)
    else:
        if not dataset.summaries:
            expected = "summaries of at least one system, or presence"
            raise InputError("no summaries", expected=expected)
        rater = in_language(as_judge(judge), dataset.language)
        presence, batch = judge_systems(dataset.summaries, rated, rater)
        about |= {**batch.signature, **data_hashes(summaries=dataset.summaries)}
        result = score_presence(
            dataset.systems, rated, presence, counts=batch.counts, about=about, **options
        )
        result = replace(result, spans=batch.spans)
    texts = {entry.input: entry.references for entry in dataset.references or ()}
    result = replace(
        result,
        summaries=tuple(tuple(s.texts) for s in dataset.summaries) if dataset.summaries else None,
        references=tuple(texts.get(entry.input, ()) for entry in rated) if texts else None,
        ceiling=_ceiling(rater, rated, dataset.references) if made else None,
        judge=rater,
        notes=(*dataset.notes, *_unknown_reader(rater, dataset.language)),
    )
    return result.with_evidence() if evidence else result


def _unknown_reader(judge: Judge | None, language: str) -> tuple[str, ...]:
    """A note on a model whose languages are not known, unless the texts are in English."""
    if judge is None or language == "en" or getattr(single(judge), "languages", ()) is not None:
        return ()
    return (f"It is not known whether this model reads {name_of(language)}.",)


def _units_of(dataset: Dataset, on: Scored) -> tuple[tuple[InputUnits, ...], Mapping[str, str]]:
    """The units to score on; where they are extracted from references, how, for the signature."""
    units = (dataset.stus or ()) if on == "stus" else dataset.units
    if on == "stus" and dataset.presence is not None:
        raise InputError("presence of the units, to score on STUs", expected="one of the two")
    if units:
        return tuple(units), {}
    if not dataset.references:
        raise InputError(
            "neither units nor references",
            expected="units (human SCUs or ready STUs), or references to extract STUs from",
        )
    from litepyramid.units.extract import extract

    extraction = extract(dataset.references, language=dataset.language)
    return tuple(extraction.units), dict(extraction.signature.fields)


def _ceiling(
    judge: Judge | None, units: Sequence[InputUnits], references: Sequence[InputReferences] | None
) -> float | None:
    """The mean score of each reference on the units that were extracted from it.

    Only of judges that cost little: those that explain themselves.
    """
    if judge is None or not isinstance(single(judge), Explainer):
        return None
    texts = {entry.input: entry.references for entry in references or ()}
    own, items = [], []
    for entry in units:
        for number, sentences in enumerate(texts.get(entry.input, ())):
            chosen = tuple(unit for unit in entry.units if (unit.reference or 0) == number)
            if chosen:
                own.append(InputUnits(f"{entry.input} {number}", chosen))
                items.append((" ".join(sentences), own[-1].texts))
    if not items:
        return None
    presence = np.concatenate(judge_pairs(judge, items).presence)
    return float(np.mean(lite_pyramid_scores(presence, UnitLayout.of(own))))


def judge_systems(
    summaries: Sequence[SystemSummaries], units: Sequence[InputUnits], judge: Judge
) -> tuple[FloatArray, JudgedBatch]:
    """Judges every unit of every input against every system's summary.

    Args:
        summaries: One entry per system, its inputs those of `units` in the same order.
        units: One entry per input.
        judge: Rates how far a unit is present in a summary.

    Returns:
        (N, U) presence, systems in the order given and inputs one after the other; and what the
        judge says of itself.

    Raises:
        InputError: No systems, twice the same system, or inputs that do not match.
    """
    systems, inputs = [entry.system for entry in summaries], tuple(entry.input for entry in units)
    if not systems:
        raise InputError("no systems", expected="the summaries of at least one system")
    check_unique(systems, "system")
    for entry in summaries:
        if entry.inputs != inputs:
            raise InputError(
                f"the inputs of system '{entry.system}' are not those of the units",
                expected=f"{counted(len(inputs), 'input')} in the units' order",
            )
    unit_texts = [entry.texts for entry in units]
    items = [item for entry in summaries for item in zip(entry.texts, unit_texts, strict=True)]
    batch = judge_pairs(judge, items)
    presence = np.concatenate(batch.presence).reshape(len(systems), -1)
    counts = {**batch.counts, "empty_summaries": sum(not text for text, _ in items)}
    return presence, replace(batch, presence=(), logits=None, counts=counts)


def score_presence(
    systems: Sequence[str],
    units: Sequence[InputUnits],
    presence: FloatArray,
    *,
    counts: Mapping[str, int] | None = None,
    about: Mapping[str, str] | None = None,
    labels: Sequence[SystemLabels] | None = None,
    label_units: Sequence[InputUnits] | None = None,
    name: str | None = None,
    rule: ScoringRule | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
) -> ScoreResult:
    """Scores systems whose units have been judged, by whatever engine.

    Args:
        systems: N names.
        units: One entry per input.
        presence: (N, U) presence of every unit in [0, 1], input after input; NaN: not judged.
        counts: What was counted along the way.
        about: How units and presence were made, for the signature.
        labels: Human presence labels; systems are matched by name.
        label_units: The units that the labels are of, of the same inputs in the same order, where
            they are not `units`: human labels of SCUs next to scores on STUs.
        name: Name of the score next to other metrics.
        rule: Another way from presence to scores than the weighted mean.
        samples: Bootstrap samples.
        confidence: Confidence level of the intervals.
        seed: Seed of everything random.

    Raises:
        InputError: Presence outside [0, 1], or labels that do not match.
    """
    systems, rule = tuple(systems), rule or ScoringRule()
    layout = UnitLayout.of(units)
    missing = np.isnan(presence)
    if not ((presence >= 0) & (presence <= 1) | missing).all():
        raise InputError("presence outside 0 to 1", expected="numbers from 0 to 1, NaN for none")
    values, more = rule.apply(presence, layout, seed)
    totals = {**(counts or {}), **more}
    flat_labels = human = labelled = None
    if labels is not None:
        labelled = tuple(units if label_units is None else label_units)
        label_layout = UnitLayout.of(labelled)
        if label_layout.inputs != layout.inputs:
            raise InputError(
                "the labels' units are for other inputs than the units",
                expected=f"{counted(len(layout.inputs), 'input')} in the units' order",
            )
        flat_labels, more = label_layout.align(labels, systems)
        human = np.full(values.shape, np.nan)
        rows = ~np.isnan(flat_labels).all(axis=1)
        human[rows] = rule.apply(flat_labels[rows], label_layout, seed)[0]
        totals |= more
        totals["inputs_without_labels"] = int(np.isnan(human[rows]).any(axis=0).sum())
    gaps = np.logical_or.reduceat(missing, layout.offsets[:-1], axis=-1)
    if gaps.any():
        totals["summaries_not_scored"] = int(gaps.sum())
    if unscored := int((np.isnan(values) & ~gaps).all(axis=0).sum()):
        totals["inputs_not_scored"] = unscored
    metric = rule.metric(units)
    if name == "human":
        expected = "another name"
        raise InputError("the name 'human' is reserved for the human score", expected=expected)
    intervals, groups = intervals_and_groups(
        systems, layout.inputs, values, samples=samples, confidence=confidence, seed=seed
    )
    other = labelled if labelled != tuple(units) else None
    hashes = data_hashes(units=units, labels=labels or (), label_units=other or ())
    fields = {"units": "", **(about or {}), **hashes} | {"units": unit_kinds(units)}
    signature = Signature.of(
        **fields,
        rule=rule.signature(),
        truncated=totals.get("truncated"),
        missing=totals.get("missing") or None,
        samples=samples,
        confidence=confidence,
        seed=seed,
    )
    return ScoreResult(
        metric=metric,
        name=name or metric,
        systems=systems,
        units=tuple(units),
        presence=presence,
        values=values,
        intervals=intervals,
        groups=groups,
        labels=flat_labels,
        label_units=labelled,
        human=human,
        counts=totals,
        confidence=confidence,
        signature=signature,
    )
