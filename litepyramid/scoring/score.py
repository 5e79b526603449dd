"""From summaries and units to scores of systems: judge, weigh, average, compare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid._version import __version__
from litepyramid.errors import InputError
from litepyramid.judges.base import Judge, JudgedBatch, judged
from litepyramid.judges.spread import judge_windows, spreads, workers_for
from litepyramid.progress import bar
from litepyramid.scoring.compare import system_intervals
from litepyramid.scoring.groups import rank_groups
from litepyramid.scoring.kept import KeptPresence
from litepyramid.scoring.labels import align_labels
from litepyramid.scoring.pyramid import ScoringRule, UnitLayout
from litepyramid.scoring.result import ScoreResult
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    InputUnits,
    Signature,
    SystemLabels,
    SystemSummaries,
    check_unique,
    fingerprint,
    unit_hashes,
    unit_kinds,
)

_WINDOW = 4_000  # pairs that a judge gets at once; `reading` forks for more


def judge_systems(
    summaries: Sequence[SystemSummaries],
    units: Sequence[InputUnits],
    judge: Judge,
    workers: int | None = None,
    folder: Path | None = None,
) -> tuple[FloatArray, JudgedBatch]:
    """Judges every unit of every input against every system's summary.

    Judges that spread go through the inputs window by window, with all systems of an input in one,
    so that its units are read once; what is held beside the summaries is the result.

    Args:
        summaries: One entry per system.
        units: One entry per input.
        judge: Says how far a unit is present in a summary.
        workers: Processes of an embedded judge; None for all cores, where there is enough work.
            The numbers are the same, to the last bit, for any number.
        folder: Keep the presence there and not in memory, window by window; windows that an
            earlier run has kept are not judged again (`KeptPresence`).

    Returns:
        (N, U) presence, systems in the order given and inputs one after the other; and what the
        judge says of itself.

    Raises:
        InputError: A system's inputs are not those of the units, in the same order; or `folder`
            was begun with something else.
    """
    names = tuple(entry.input for entry in units)
    for system in summaries:
        if system.inputs != names:
            raise InputError(
                f"the inputs of system '{system.system}' are not those of the units",
                expected=f"{counted(len(names), 'input')} in the units' order",
            )
    ends = np.cumsum([0, *(len(entry.units) for entry in units)]).tolist()
    shape = (len(summaries), ends[-1])
    presence = np.empty(shape if folder is None else 0)
    parts = [(slice(0, len(summaries)), slice(0, len(units)))]
    batch, counts, kept, done = JudgedBatch(()), Counter[str](), None, 0
    with ExitStack() as stack:

        def keep(signature: Mapping[str, str]) -> KeptPresence | None:
            if folder is None:
                return None
            data = {**unit_hashes(units), "summaries_sha": fingerprint(_told(summaries))}
            settings = {**signature, **data, "window": _WINDOW, "version": __version__}
            return stack.enter_context(KeptPresence(folder, settings, shape))

        if spreads(judge):
            parts = list(_parts(len(summaries), ends))
            batch = batch if folder is None else judged(judge, [])
            kept = keep(batch.signature)
            for known in kept.done.values() if kept is not None else ():
                counts.update(known)
                done += 1
        total = workers_for(judge, shape[0] * shape[1], workers)
        wanted = (
            [
                item
                for system in summaries[rows]
                for item in zip(system.texts[inputs], texts, strict=True)
            ]
            for rows, inputs in parts[done:]
            for texts in [[entry.texts for entry in units[inputs]]]
        )
        blocks = judge_windows(judge, wanted, min(total, len(parts)))
        shown = stack.enter_context(
            bar(shape[0] * shape[1], "judging", "pairs", shown=None if len(parts) > 1 else False)
        )
        shown.update(
            sum((r.stop - r.start) * (ends[i.stop] - ends[i.start]) for r, i in parts[:done])
        )
        for number, batch in enumerate(blocks, done):
            rows, inputs = parts[number]
            columns = slice(ends[inputs.start], ends[inputs.stop])
            block = np.concatenate(batch.presence).reshape(-1, columns.stop - columns.start)
            kept = kept or keep(batch.signature)
            if kept is None:
                presence[rows, columns] = block
            else:
                kept.keep(number, (rows, columns), block, batch.counts)
            counts.update(batch.counts)
            shown.update(block.size)
        presence = presence if kept is None else kept.values()
    spans = batch.spans if len(parts) == 1 else None
    return presence, replace(batch, presence=(), logits=None, spans=spans, counts=dict(counts))


def _told(summaries: Sequence[SystemSummaries]) -> Iterator[str]:
    """All that is judged, and of which system."""
    for system in summaries:
        yield system.system
        yield from system.texts


def _parts(systems: int, ends: Sequence[int]) -> Iterator[tuple[slice, slice]]:
    """Windows of about `_WINDOW` pairs: systems, and inputs whose units end where `ends` says."""
    step = max(1, min(systems, _WINDOW // max(1, int(np.diff(ends).max(initial=1)))))
    first = 0
    for last in range(1, len(ends)):
        if last == len(ends) - 1 or (ends[last + 1] - ends[first]) * step > _WINDOW:
            for start in range(0, systems, step):
                yield slice(start, min(systems, start + step)), slice(first, last)
            first = last


def score_systems(
    summaries: Sequence[SystemSummaries],
    units: Sequence[InputUnits],
    judge: Judge,
    *,
    workers: int | None = None,
    folder: Path | None = None,
    **options: Any,
) -> ScoreResult:
    """Scores systems by the units of the references that their summaries carry (ZB21 §3).

    A summary's score is the weighted mean presence of its input's units, a system's score the
    mean over inputs: Lite2Pyramid on SCUs, Lite3Pyramid on STUs, Lite2.x on a mix.

    Args:
        summaries: One entry per system, its inputs those of `units` in the same order.
        units: One entry per input.
        judge: Says how far a unit is present in a summary.
        workers: As for `judge_systems`.
        folder: As for `judge_systems`.
        **options: Labels, rule, samples … as for `score_presence`.

    Returns:
        Scores of systems, summaries and units, with intervals over inputs and rank groups.

    Raises:
        InputError: No systems, twice the same system, or inputs that do not match.

    Example:
        >>> from litepyramid.types import Unit
        >>> from litepyramid.judges.registry import make_judge
        >>> units = [InputUnits("1", (Unit("A storm hit Oslo."), Unit("Two people died.")))]
        >>> system = SystemSummaries("mine", ("1",), ("A storm hit Oslo on Monday.",))
        >>> score_systems([system], units, make_judge("recall")).scores
        {'mine': 0.5}
    """
    systems = [system.system for system in summaries]
    check_systems(systems)
    presence, found = judge_systems(summaries, units, judge, workers, folder)
    empty = sum(not text for system in summaries for text in system.texts)
    batch = replace(found, counts={**found.counts, "empty_summaries": empty})
    return score_presence(systems, units, presence, batch, **options)


def check_systems(systems: Sequence[str]) -> None:
    """Raises InputError unless there are systems, each with a name of its own."""
    if not systems:
        raise InputError("no systems", expected="the summaries of at least one system")
    check_unique(systems, "system")


def score_presence(
    systems: Sequence[str],
    units: Sequence[InputUnits],
    presence: FloatArray,
    batch: JudgedBatch,
    *,
    labels: Sequence[SystemLabels] | None = None,
    label_units: Sequence[InputUnits] | None = None,
    name: str | None = None,
    rule: ScoringRule | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    about_units: Mapping[str, str] | None = None,
) -> ScoreResult:
    """Scores systems whose units have been judged, by whatever engine.

    Args:
        systems: N names.
        units: One entry per input.
        presence: (N, U) presence of every unit, input after input.
        batch: The judge's signature and counts.
        labels: Human presence labels; systems are matched by name.
        label_units: The units that the labels are of, of the same inputs in the same order, where
            they are not `units`: human labels of SCUs next to scores on STUs.
        name: Name of the metric next to others, instead of the score's name.
        rule: Another way from presence to scores than the weighted mean.
        samples: Bootstrap samples.
        confidence: Confidence level of the intervals.
        seed: Seed of everything random.
        about_units: How the units were made, for the signature.

    Raises:
        InputError: Labels that do not match.
    """
    systems = tuple(systems)
    rule = rule or ScoringRule()
    layout = UnitLayout.of(units)
    values, counts = rule.apply(presence, layout, seed)
    counts = {**batch.counts, **counts}
    flat_labels = human = labelled = None
    about = {**(about_units or {}), "units": unit_kinds(units)}
    about |= {**batch.signature, **unit_hashes(units)}
    if labels is not None:
        labelled = tuple(units if label_units is None else label_units)
        label_layout = UnitLayout.of(labelled)
        if label_layout.inputs != layout.inputs:
            raise InputError(
                "the labels' units are for other inputs than the units",
                expected=f"{counted(len(layout.inputs), 'input')} in the units' order",
            )
        flat_labels, label_counts = align_labels(labels, systems, label_layout)
        human = np.full(values.shape, np.nan)
        known = ~np.isnan(flat_labels).all(axis=1)
        human[known] = rule.apply(flat_labels[known], label_layout, seed)[0]
        counts |= label_counts
        counts["inputs_without_labels"] = int(np.isnan(human[known]).any(axis=0).sum())
        known_labels = np.nan_to_num(flat_labels, nan=-1).tolist()
        about["labels_sha"] = fingerprint([unit_hashes(labelled), *known_labels])
    gaps = np.logical_or.reduceat(np.isnan(presence), layout.offsets[:-1], axis=-1)
    if gaps.any():
        counts["summaries_not_scored"] = int(gaps.sum())
    if unscored := int((np.isnan(values) & ~gaps).all(axis=0).sum()):
        counts["inputs_not_scored"] = unscored
    signature = Signature.of(
        **about,
        rule=rule.signature(),
        truncated=batch.counts.get("truncated"),
        missing=batch.counts.get("missing") or None,
        samples=samples,
        seed=seed,
    )
    metric = rule.metric(units)
    if name == "human":
        raise InputError(
            "the name 'human' is reserved for the human score", expected="another name"
        )
    return ScoreResult(
        metric=metric,
        name=name or metric,
        systems=systems,
        units=tuple(units),
        presence=presence,
        values=values,
        intervals=tuple(
            system_intervals(values, samples=samples, confidence=confidence, seed=seed)
        ),
        groups=tuple(rank_groups(values)),
        labels=flat_labels,
        label_units=labelled,
        human=human,
        counts=counts,
        confidence=confidence,
        signature=signature,
        spans=batch.spans,
    )
