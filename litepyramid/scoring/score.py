"""From summaries and units to scores of systems: judge, weigh, average."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple, Unpack

import numpy as np

from litepyramid.errors import InputError
from litepyramid.io.dataset import Dataset
from litepyramid.io.loading import as_dataset
from litepyramid.io.presence import Presence
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import Explainer, Judge, JudgedBatch
from litepyramid.judges.panel import PanelJudge, panel_notes
from litepyramid.judges.parallel import judge_pairs, single
from litepyramid.judges.registry import for_criteria, in_language
from litepyramid.judges.registry import judge as as_judge
from litepyramid.language import name_of, signed
from litepyramid.scoring.inference import with_intervals, with_repeats
from litepyramid.scoring.pyramid import (
    SIGNED,
    ScoringRule,
    UnitLayout,
    lite_pyramid_scores,
)
from litepyramid.scoring.result import ScoreResult
from litepyramid.stats import check_samples, system_means
from litepyramid.text import counted, cut
from litepyramid.types import (
    DataLike,
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


class _Judged(NamedTuple):
    """(N, U) presence of every unit in every system's summary, NaN where a judgement or
    the summary itself is missing; (J, N, U) the same by several judges; and what the
    judge says of itself."""

    systems: tuple[str, ...]
    presence: FloatArray
    batch: JudgedBatch
    opinions: FloatArray | None = None


@dataclass(frozen=True)
class _People:
    """(N, L) labels of people, their units, the (N, M) scores that follow, and counts;
    NaN: none."""

    labels: FloatArray | None = None
    units: tuple[InputUnits, ...] | None = None
    scores: FloatArray | None = None
    counts: dict[str, int] = field(default_factory=dict)


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
    if dataset.presence is not None:
        judged = _given(dataset.presence, dataset.systems)
    else:
        rater = in_language(as_judge(judge), dataset.language)
        if scoring.name in SIGNED or any(unit.tags for unit in every):
            rater = for_criteria(rater)
        notes += _on_judge(single(rater), rated, dataset.language)
        judged = _judged(dataset.summaries, rated, rater)

    values, counts = scoring.apply(judged.presence, layout, seed)
    people = _People()
    if dataset.labels:
        people = _human(dataset, layout.inputs, judged.systems, scoring, seed)

    # A unit without a judgement leaves its summary without a score.
    missing = layout.sums(np.isnan(judged.presence)) > 0
    counts |= people.counts | judged.batch.counts
    counts["summaries_not_scored"] = int(missing.sum())
    counts["inputs_not_scored"] = int((np.isnan(values) & ~missing).all(axis=0).sum())
    bootstrap = {"samples": samples, "confidence": confidence, "seed": seed}
    measured = with_intervals(judged.systems, layout.inputs, values, **bootstrap)

    if judged.opinions is not None and rater is not None:
        panel = single(rater)
        each = [scoring.apply(one, layout, seed)[0] for one in judged.opinions]
        means = np.array([*map(system_means, each)])
        if isinstance(panel, PanelJudge):
            notes += tuple(panel_notes(panel, judged.opinions, means))
            if panel.repeats:
                limits = scoring.limits(layout)
                measured["intervals"] = with_repeats(
                    measured["intervals"], means, confidence, limits
                )

    # The kinds give the score its name: lite2 of SCUs, lite3 of STUs, lite2.x of both.
    kinds = "+".join(sorted({unit.kind for unit in every}))
    metric = scoring.metric(kinds)
    fields: Fields = {
        "units": kinds,
        **made,
        **signed(dataset.language),
        **judged.batch.signature,
        **data_hashes(
            units=rated,
            summaries=() if rater is None else dataset.summaries,
            labels=dataset.labels,
            label_units=() if people.units in (None, rated) else people.units,
            presence=dataset.presence,
        ),
        "rule": scoring.signature(),
        "truncated": counts.get("truncated"),
        "missing": counts.get("missing") or None,
        **bootstrap,
    }
    # What is zero is not told, but for what the judge itself counts.
    shown_counts = {}
    for key, count in counts.items():
        if count or key in judged.batch.counts:
            shown_counts[key] = count

    texts = {entry.input: entry.references for entry in dataset.references or ()}
    references = tuple([texts.get(entry.input, ()) for entry in rated])
    result = ScoreResult(
        metric=metric,
        name=name or metric,
        **measured,
        units=rated,
        presence=judged.presence,
        labels=people.labels,
        label_units=people.units,
        human=people.scores,
        counts=shown_counts,
        rule=scoring,
        signature=Signature.of(**fields),
        summaries=tuple([tuple(s.texts) for s in dataset.summaries]) or None,
        references=references if texts else None,
        ceiling=_ceiling(rater, rated, texts) if made else None,
        judge=rater,
        opinions=judged.opinions,
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


def _given(presence: Presence, summarised: Sequence[str]) -> _Judged:
    """Presence that was judged elsewhere, perhaps of more systems in another order."""
    systems = tuple(summarised or presence.systems)
    rows = [presence.systems.index(system) for system in systems]
    # The empty hash says where the field stands in the signature.
    batch = JudgedBatch((), {"judge": "given", "presence_sha": ""})
    return _Judged(systems, presence.values[rows], batch)


def _judged(
    summaries: Sequence[SystemSummaries], units: Sequence[InputUnits], judge: Judge
) -> _Judged:
    """What a judge says of every unit in every system's summary."""
    if not summaries:
        raise InputError(
            "no summaries", expected="summaries of at least one system, or presence"
        )

    systems = tuple([entry.system for entry in summaries])
    check_unique(systems, "system")
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
        absent.append([name in entry.missing for name in inputs])

    questions = [entry.question for entry in units] * len(summaries)
    batch = judge_pairs(judge, items, questions)

    presence = np.concatenate(batch.presence).reshape(len(summaries), -1)
    gone = np.array(absent)
    presence[np.repeat(gone, [*map(len, texts)], axis=1)] = np.nan
    empty = sum(not text for text, _ in items)
    counts = {
        **batch.counts,
        # Missing summaries are empty too.
        "empty_summaries": empty - int(gone.sum()),
        "missing_summaries": int(gone.sum()),
    }
    opinions = None
    if batch.opinions:
        stacked = np.concatenate(batch.opinions, axis=1)
        opinions = stacked.reshape(-1, *presence.shape)
        # What is not scored has no opinions either.
        opinions[:, np.isnan(presence)] = np.nan

    # The empty hash says where the field stands in the signature.
    about = {**batch.signature, "summaries_sha": ""}
    batch = replace(batch, counts=counts, signature=about)
    return _Judged(systems, presence, batch, opinions)


def _human(
    dataset: Dataset,
    inputs: Sequence[str],
    systems: Sequence[str],
    rule: ScoringRule,
    seed: int,
) -> _People:
    """What people's labels say of the systems that are scored."""
    units = tuple(dataset.label_units or dataset.units)
    layout = rule.layout(units)
    if layout.inputs != inputs:
        raise InputError(
            "the labels' units are for other inputs than the units",
            expected=f"{counted(len(inputs), 'input')} in the units' order",
        )

    by_system = {entry.system: entry for entry in dataset.labels}
    scored = [n for n, name in enumerate(systems) if name in by_system]
    if not scored:
        raise InputError(
            "no labels for any scored system",
            expected=f"labels of systems named as those scored: '{systems[0]}' …",
        )

    values = np.full((len(systems), layout.weights.size), np.nan)
    sizes = np.diff(layout.offsets).tolist()
    gaps = 0

    for n in scored:
        own = by_system[systems[n]]
        # An input that nobody labelled has an empty row.
        rows = [
            row or (np.nan,) * size
            for row, size in zip(own.labels, sizes, strict=False)
        ]
        lengths = [*map(len, rows)]
        if (own.inputs, len(own.labels), lengths) != (inputs, len(sizes), sizes):
            raise InputError(
                f"labels of '{own.system}' of other units",
                expected="one label for each unit of each input, in the units' order",
            )
        values[n] = np.concatenate(rows)
        # Gaps inside a labelled summary; a summary without any label is no gap.
        gaps += sum(map(math.isnan, chain.from_iterable(own.labels)))

    human = np.full((len(systems), len(inputs)), np.nan)
    labelled = ~np.isnan(values).all(axis=1)
    # A system without any label has no human score; the rule would refuse it.
    human[labelled] = rule.apply(values[labelled], layout, seed)[0]
    counts = {
        "systems_without_labels": len(systems) - len(scored),
        "labels_not_used": len(by_system) - len(scored),
        "inputs_without_labels": int(np.isnan(human[labelled]).any(axis=0).sum()),
        "units_without_labels": gaps,
    }
    return _People(values, units, human, counts)
