"""From summaries and units to scores of systems: judge, weigh, average."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.io.loading import as_dataset
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import Explainer, Judge, JudgedBatch
from litepyramid.judges.panel import PanelJudge, panel_notes
from litepyramid.judges.parallel import judge_pairs, single
from litepyramid.judges.registry import for_criteria, in_language
from litepyramid.judges.registry import judge as as_judge
from litepyramid.language import name_of, signed
from litepyramid.scoring.inference import intervals_and_groups
from litepyramid.scoring.pyramid import ScoringRule, UnitLayout, lite_pyramid_scores
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import check_samples, system_means, t_reach
from litepyramid.text import counted, cut
from litepyramid.types import (
    DataLike,
    Ends,
    Fields,
    FloatArray,
    InputUnits,
    JudgeLike,
    Signature,
    Sources,
    SystemSummaries,
    Texts,
    UnitsLike,
    check_unique,
    data_hashes,
    every_unit,
)

_COPIES = 0.5  # of a system's texts that are the references', from which a note says so


def score(
    data: DataLike = None,
    units: UnitsLike | None = None,
    *,
    judge: JudgeLike = DEFAULT_JUDGE,
    rule: str = "lite",
    name: str | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 12345,
    evidence: bool = False,
    **sources: Unpack[Sources],
) -> ScoreResult:
    """Score systems by the reference facts that their summaries carry (ZB21 §3).

    A summary's score is the weighted mean presence of its input's units, a system's
    score the mean over inputs: Lite²Pyramid on human SCUs, Lite³Pyramid on STUs, which
    are extracted from the references where no units are given, Lite²·ˣPyramid on a mix.

    Args:
        data: Summaries of every system: ``{"system": [texts]}``, a list of texts, a
            table, a path; or a `Dataset`, or a table, that includes the rest.
        units: Units of every input: human SCUs, or ready STUs.
        judge: Rates presence, if it is not given.
        rule: ``lite`` weighted mean, ``vital`` nuggets, ``original`` Pyramid,
            ``sample-K`` (LitePyramid), ``modified-R`` Pyramid of R references; of a
            rubric ``points`` met of the positive, or ``normalized``.
        name: Name of the score next to other metrics.
        samples: Bootstrap samples of the intervals.
        confidence: Confidence level of the intervals.
        seed: Seed of everything random.
        evidence: Save where the judge sees each unit.
        **sources: What belongs to the data, as of `load`: references, labels, presence
            …

    Returns:
        Scores of systems, summaries and units, with intervals over inputs and rank
        groups.

    Raises:
        InputError: A source cannot be read, they do not match, or something needed is
            missing.

    Example:
        >>> units = [["It rained.", "We left."]]
        >>> score(["It rained all day."], units, judge="recall").scores
        {'system': 0.5}

    Command line:
        $ litepyramid score example/summaries -u example/scus.jsonl -o scores.json
        $ litepyramid score example/summaries -r example/references.jsonl
    """
    check_samples(samples, seed=seed, confidence=confidence)
    scoring = ScoringRule.of(rule)

    # In a table of scores that name is what metrics are compared with.
    if name == "human":
        raise InputError(
            "the name 'human' is reserved for the human score", expected="another name"
        )

    dataset = as_dataset(data, units, **sources).with_language()
    rated, made, notes = _units_of(dataset)
    layout = scoring.layout(rated)
    every = every_unit(rated)
    rater = None
    single_judge = None

    if dataset.presence is not None:
        systems = dataset.systems or dataset.presence.systems
        rows = [dataset.presence.systems.index(one) for one in systems]
        # Presence that was judged elsewhere may be of more systems, in another order.
        presence = dataset.presence.values[rows]
        opinions = None
        batch = JudgedBatch(())
        # Where the fields stand in the signature; the hashes follow below.
        about: Fields = {"judge": "given", "presence_sha": ""}
    else:
        rater = in_language(as_judge(judge), dataset.language)
        if scoring.signed or any(unit.tags for unit in every):
            rater = for_criteria(rater)
        single_judge = single(rater)
        notes += _on_judge(single_judge, rated, dataset.language)
        systems = dataset.systems
        presence, opinions, batch = _judged(dataset.summaries, rated, rater)
        about = {**batch.signature, "summaries_sha": ""}

    values, counts = scoring.apply(presence, layout, seed)
    labels = label_units = human = None
    if dataset.labels:
        label_units = tuple(dataset.label_units or dataset.units)
        labels, human, unlabelled = _human(
            dataset,
            label_units,
            rated,
            systems,
            scoring,
            seed,
        )
        counts |= unlabelled

    # A unit without a judgement leaves its summary without a score.
    missing = layout.sums(np.isnan(presence).astype(float)) > 0
    counts |= batch.counts | {"summaries_not_scored": int(missing.sum())}
    counts["inputs_not_scored"] = int((np.isnan(values) & ~missing).all(axis=0).sum())
    bootstrap = {
        "samples": samples,
        "confidence": confidence,
        "seed": seed,
    }
    inputs = layout.inputs
    intervals, groups = intervals_and_groups(systems, inputs, values, **bootstrap)

    if isinstance(single_judge, PanelJudge) and opinions is not None:
        means = [system_means(scoring.apply(one, layout, seed)[0]) for one in opinions]
        each = np.array(means)
        notes = (*notes, *panel_notes(single_judge, opinions, each))
        if single_judge.repeats:
            intervals = _with_repeats(intervals, each, confidence)

    # The kinds give the score its name: lite2 of SCUs, lite3 of STUs, lite2.x of both.
    kinds = "+".join(sorted({unit.kind for unit in every}))
    hashes = data_hashes(
        units=rated,
        summaries=() if rater is None else dataset.summaries,
        labels=dataset.labels,
        label_units=() if label_units in (None, rated) else label_units,
        presence=dataset.presence,
    )
    fields = {
        "units": "",
        **made,
        **signed(dataset.language),
        **about,
        **hashes,
    }
    fields |= {
        "units": kinds,
        "rule": scoring.signature(),
        "truncated": counts.get("truncated"),
    }
    # What is zero is not told, but for what the judge itself counts.
    shown_counts = {}
    for key, count in counts.items():
        if count or key in batch.counts:
            shown_counts[key] = count

    metric = scoring.metric(kinds)
    texts = {entry.input: entry.references for entry in dataset.references or ()}
    result = ScoreResult(
        metric=metric,
        name=name or metric,
        systems=systems,
        inputs=inputs,
        units=rated,
        presence=presence,
        values=values,
        intervals=intervals,
        groups=groups,
        labels=labels,
        label_units=label_units,
        human=human,
        counts=shown_counts,
        confidence=confidence,
        samples=samples,
        seed=seed,
        rule=scoring,
        signature=Signature.of(
            **fields,
            missing=counts.get("missing") or None,
            **bootstrap,
        ),
        summaries=tuple([tuple(s.texts) for s in dataset.summaries]) or None,
        references=tuple([texts.get(entry.input, ()) for entry in rated])
        if texts
        else None,
        ceiling=_ceiling(rater, rated, texts) if made else None,
        judge=rater,
        opinions=opinions,
        notes=(*dataset.notes, *notes, *_copies(dataset)),
    )

    return result.with_evidence() if evidence else result


def _units_of(
    dataset: Dataset,
) -> tuple[tuple[InputUnits, ...], Mapping[str, str], Texts]:
    """The units to score on; where they are extracted from references, how, and notes
    on it."""
    if units := dataset.units:
        return units, {}, ()
    if not dataset.references:
        raise InputError(
            "neither units nor references",
            expected="units (human SCUs or ready STUs), or references to extract "
            "STUs from",
            hint="Of a table, name its column: --columns reference=COLUMN.",
        )
    from litepyramid.units.extract import extract

    extraction = extract(dataset.references, language=dataset.language)
    return extraction.units, dict(extraction.signature.fields), extraction.notes


def _on_judge(one: Judge, units: Sequence[InputUnits], language: str) -> Texts:
    """Notes on a model whose languages are not known, and on questions that the judge
    ignores."""
    notes = []
    # A judge that names its languages has been checked before; None is a model of the
    # hub.
    if language != "en" and getattr(one, "languages", ()) is None:
        notes.append(f"It is not known whether this model reads {name_of(language)}.")
    asked = len([entry for entry in units if entry.question])
    if asked and not getattr(one, "uses_questions", False):
        notes.append(
            f"This judge does not use the questions of {counted(asked, 'input')}; a "
            "language model (llm:MODEL) does."
        )
    return tuple(notes)


def _copies(dataset: Dataset) -> list[str]:
    """Notes on systems with the same summaries, or with those of the references."""
    first: dict[Texts, str] = {}
    rows = {}
    notes = []
    # The likeliest mistake with files of many systems: one of them copied.
    for entry in dataset.summaries:
        # White space differs between copies of one text.
        row = tuple(["".join(text.split()) for text in entry.texts])
        rows[entry.system] = row
        if (other := first.setdefault(row, entry.system)) != entry.system:
            both = f"'{cut(other)}' and '{cut(entry.system)}'"
            notes.append(f"Systems {both} have the same summaries.")

    goals = []
    for of_input in dataset.references or ():
        texts = ["".join(sentences) for sentences in of_input.references]
        goals.append({"".join(text.split()) for text in texts})

    for system, row in rows.items() if goals else ():
        same = sum(text in goal for text, goal in zip(row, goals, strict=True) if text)
        # A system that copies its references scores 1, and tells nothing of the judge.
        if same >= _COPIES * len(row):
            notes.append(
                f"The summaries of '{cut(system)}' are references on {same} of "
                f"{counted(len(row), 'input')}."
            )

    return notes


def _ceiling(
    judge: Judge | None,
    units: Sequence[InputUnits],
    references: Mapping[str, Sequence[Sequence[str]]],
) -> float | None:
    """The mean score of each reference on the units that were extracted from it.

    Only of judges that cost little: those that explain themselves.
    """
    # A language model or a large NLI model would cost as much as the scores.
    if judge is None or not isinstance(single(judge), Explainer):
        return None
    own = []
    items = []

    for entry in units:
        for number, sentences in enumerate(references.get(entry.input, ())):
            chosen = [u for u in entry.units if (u.reference or 0) == number]
            if chosen:
                own.append(InputUnits(f"{entry.input} {number}", tuple(chosen)))
                items.append((" ".join(sentences), own[-1].texts))

    if not items:
        return None
    presence = np.concatenate(judge_pairs(judge, items).presence)
    return float(np.mean(lite_pyramid_scores(presence, UnitLayout.of(own))))


def _judged(
    summaries: Sequence[SystemSummaries], units: Sequence[InputUnits], judge: Judge
) -> tuple[FloatArray, FloatArray | None, JudgedBatch]:
    """(N, U) presence of every unit in every system's summary, the same by several
    judges, and what the judge says of itself.

    NaN where a judgement, or the summary itself, is missing.
    """
    if not summaries:
        raise InputError(
            "no summaries", expected="summaries of at least one system, or presence"
        )

    check_unique([entry.system for entry in summaries], "system")
    inputs = tuple([entry.input for entry in units])
    for entry in summaries:
        if entry.inputs != inputs:
            raise InputError(
                f"the inputs of system '{entry.system}' are not those of the units",
                expected=f"{counted(len(inputs), 'input')} in the units' order",
            )

    # System after system: what a judge is asked, and which summaries are not there.
    texts = [entry.texts for entry in units]
    items: list[tuple[str, Texts]] = []
    absent = []
    for entry in summaries:
        items += zip(entry.texts, texts, strict=True)
        absent += [name in entry.missing for name in inputs]

    questions = [entry.question for entry in units] * len(summaries)
    batch = judge_pairs(judge, items, questions)

    rows = []
    empty = 0
    for (text, _), row, gone in zip(items, batch.presence, absent, strict=True):
        rows.append(np.full(len(row), np.nan) if gone else row)
        empty += not text and not gone
    counts = {
        **batch.counts,
        "empty_summaries": empty,
        "missing_summaries": sum(absent),
    }
    presence = np.concatenate(rows).reshape(len(summaries), -1)
    opinions = None

    if batch.opinions:
        stacked = np.concatenate(batch.opinions, axis=1)
        opinions = stacked.reshape(-1, *presence.shape)
        # What is not scored has no opinions either.
        opinions[:, np.isnan(presence)] = np.nan

    return presence, opinions, replace(batch, counts=counts)


def _with_repeats(
    intervals: Sequence[Ends], scores: FloatArray, confidence: float
) -> tuple[Ends, ...]:
    """Intervals that also hold how (K, N) scores vary from one time to another."""
    repeats = len(scores)
    means = scores.mean(axis=0)
    error = scores.std(axis=0, ddof=1) / repeats**0.5
    # Two sources of error that do not depend on each other: their reaches add as
    # squares.
    reach = t_reach(confidence, repeats - 1) * error
    wider = []
    for (low, high), mean, more in zip(intervals, means, reach, strict=True):
        below, above = np.hypot((mean - low, high - mean), more).tolist()
        wider.append((float(mean - below), float(mean + above)))
    return tuple(wider)


def _human(
    dataset: Dataset,
    labelled: Sequence[InputUnits],
    units: Sequence[InputUnits],
    systems: Sequence[str],
    rule: ScoringRule,
    seed: int,
) -> tuple[FloatArray, FloatArray, dict[str, int]]:
    """People's labels of the units `labelled`, (N, M) human scores, and counts; NaN:
    none."""
    layout = rule.layout(labelled)
    if layout.inputs != tuple(entry.input for entry in units):
        raise InputError(
            "the labels' units are for other inputs than the units",
            expected=f"{counted(len(units), 'input')} in the units' order",
        )

    by_system = {entry.system: entry for entry in dataset.labels}
    scored = np.array([name in by_system for name in systems])
    if not scored.any():
        raise InputError(
            "no labels for any scored system",
            expected=f"labels of systems named as those scored: '{systems[0]}' …",
        )

    labels = np.full((len(systems), layout.weights.size), np.nan)
    gaps = 0
    sizes = [len(entry.units) for entry in labelled]

    for n in np.flatnonzero(scored).tolist():
        own = by_system[systems[n]]
        fits = own.inputs == layout.inputs and len(own.labels) == len(sizes)
        # Not strict: a row too many is seen above, and is the same error.
        for row, size in zip(own.labels, sizes, strict=False):
            # An input that nobody labelled has an empty row.
            fits &= len(row) in (0, size)
        if not fits:
            raise InputError(
                f"labels of '{own.system}' of other units",
                expected="one label for each unit of each input, in the units' order",
            )
        for (start, end), row in zip(layout.bounds, own.labels, strict=True):
            labels[n, start:end] = row or np.nan
            # Gaps inside a labelled summary; a summary without any label is no gap.
            gaps += sum(map(math.isnan, row))

    human = np.full((len(systems), len(units)), np.nan)
    rows = ~np.isnan(labels).all(axis=1)
    # A system without any label has no human score; the rule would refuse it.
    human[rows] = rule.apply(labels[rows], layout, seed)[0]
    counts = {
        "systems_without_labels": int((~scored).sum()),
        "labels_not_used": len(by_system.keys() - set(systems)),
        "inputs_without_labels": int(np.isnan(human[rows]).any(axis=0).sum()),
        "units_without_labels": gaps,
    }
    return labels, human, counts
