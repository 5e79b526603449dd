"""From summaries and units to scores of systems: judge, weigh, average."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Unpack

import numpy as np

from litepyramid.checked import as_type
from litepyramid.data.data import Data, as_data, load
from litepyramid.data.facts import Facts
from litepyramid.data.records import Summaries, Units
from litepyramid.errors import InputError, no_effect
from litepyramid.judges import DEFAULT_JUDGE
from litepyramid.judges.base import Explainer, Judge, JudgedBatch
from litepyramid.judges.panel import PanelJudge, panel_notes
from litepyramid.judges.parallel import judge_pairs, single
from litepyramid.judges.registry import for_criteria, in_language
from litepyramid.judges.registry import judge as as_judge
from litepyramid.language import name_of, signed
from litepyramid.scoring.inference import with_intervals, with_repeats
from litepyramid.scoring.pyramid import SIGNED, ScoringRule
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.system_scores import repeat_notes
from litepyramid.stats import average_repeats, check_samples
from litepyramid.text import counted, cut
from litepyramid.types import (
    BoolArray,
    DataLike,
    Fields,
    FloatArray,
    JudgeLike,
    Names,
    Signature,
    Sources,
    Texts,
    UnitsLike,
)

_COPIES = 0.5  # of a system's texts that are the references', from which a note says so


class _Judged(NamedTuple):
    """The presence of every unit in every system's summary, NaN where a judgement or
    the summary itself is missing; (J, N, U) the same by several judges; and what the
    judge says of itself."""

    facts: Facts
    batch: JudgedBatch
    opinions: FloatArray | None = None


@dataclass(frozen=True)
class _People:
    """People's labels of the scored systems, the (N, M) scores that follow, and counts;
    NaN: none."""

    labels: Facts | None = None
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
            table, a path; or a `Data`, or a table, that includes the rest.
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
    if name is not None and as_type(str, name, what="name").strip() in ("", "human"):
        raise InputError(
            f"the name '{name}' of a score", expected="one, but not that of people's"
        )

    whole = as_data(data, units, **sources).with_language()
    rated, made, notes = _units_of(whole)
    scoring.check(rated)
    kind = sources.get("kind")
    others = whole.labels.units.every if whole.labels else ()
    said = {unit.kind for unit in (*rated.every, *others)}
    no_effect(load, kind not in said, "where units say another", kind=kind)
    beside = bool(whole.units)
    no_effect(load, beside, "beside other units", stus=sources.get("stus"))

    rater = None
    if whole.presence is not None:
        if judge != DEFAULT_JUDGE:
            raise InputError(
                "a judge, and presence that was judged before",
                expected="one of the two",
                hint="Leave the judge out; or give summaries and units without it.",
            )
        # The empty hash says where the field stands in the signature.
        given = {"judge": "given", "presence_sha": ""}
        judged = _Judged(whole.presence, JudgedBatch((), given))
    else:
        rater = in_language(as_judge(judge), whole.language)
        if scoring.name in SIGNED or any(unit.tags for unit in rated.every):
            rater = for_criteria(rater)
        notes += _on_judge(single(rater), rated, whole.language)
        judged = _judged(whole.summaries, rated, rater)
    most = 0
    if whole.repeats:
        judged, most, spreads = _averaged(judged, whole, scoring, seed)
        notes += spreads

    facts = judged.facts
    values, counts = scoring.apply(facts.values, rated, seed)
    people = _People()
    if whole.labels is not None:
        labelled = _of_systems(whole.labels, whole) if whole.repeats else whole.labels
        people = _human(labelled, rated, facts.systems, scoring, seed)

    # A unit without a judgement leaves its summary without a score.
    missing = rated.sums(np.isnan(facts.values)) > 0
    counts |= people.counts | judged.batch.counts
    lacking = int(missing.sum()) - counts.get("missing_summaries", 0)
    counts["summaries_not_scored"] = lacking
    if lacking:
        notes += _without_score(facts, missing, lacking)
    counts["inputs_not_scored"] = int((np.isnan(values) & ~missing).all(axis=0).sum())
    bootstrap = {"samples": samples, "confidence": confidence, "seed": seed}
    measured = with_intervals(facts.systems, rated.inputs, values, **bootstrap)

    if judged.opinions is not None and rater is not None:
        panel = single(rater)
        means = scoring.system_scores(judged.opinions, rated, seed)
        if isinstance(panel, PanelJudge):
            notes += tuple(panel_notes(panel, judged.opinions, means))
            if panel.repeats:
                limits = scoring.limits(rated)
                measured["intervals"] = with_repeats(
                    measured["intervals"], means, confidence, limits
                )

    # The kinds give the score its name: lite2 of SCUs, lite3 of STUs, lite2.x of both.
    kinds = "+".join(sorted({unit.kind for unit in rated.every}))
    metric = scoring.metric(kinds)
    labels = people.labels
    of_others = labels is not None and labels.units.facts != rated.facts
    fields: Fields = {
        "units": kinds,
        **made,
        **signed(whole.language),
        **judged.batch.signature,
        "units_sha": rated.sha,
        "inputs_sha": rated.inputs_sha,
        "summaries_sha": whole.summaries.sha if whole.summaries else None,
        "labels_sha": None if labels is None else labels.sha,
        "label_units_sha": labels.units.sha if labels and of_others else None,
        "presence_sha": None if whole.presence is None else whole.presence.sha,
        "answers": most or None,
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

    references = {entry.input: entry.references for entry in whole.references}
    result = ScoreResult(
        metric=metric,
        name=name or metric,
        **measured,
        facts=facts,
        labels=labels,
        human=people.scores,
        counts=shown_counts,
        rule=scoring,
        signature=Signature.of(**fields),
        # Of several answers to an input none is the one that has its score.
        summaries=None if whole.repeats else whole.summaries or None,
        references=references,
        plan=whole.plan,
        ceiling=_ceiling(rater, rated, references) if made else None,
        judge=rater,
        opinions=judged.opinions,
        notes=(*whole.notes, *notes, *_copies(whole)),
    )

    return result.with_evidence() if evidence else result


def _without_score(facts: Facts, missing: BoolArray, number: int) -> Texts:
    """A note on summaries, of the (N, M) without a score, that have a unit without
    presence: so many."""
    judged = facts.units.sums((~np.isnan(facts.values)).astype(np.float64)) > 0
    first = ""
    for n, m in np.argwhere(missing & judged)[:1]:
        first = f": first '{cut(facts.systems[n])}' on '{cut(facts.inputs[m])}'"
    are = counted(number, "summary is", "summaries are")
    return (f"{are} not scored, for lack of presence of a unit{first}.",)


def _units_of(data: Data) -> tuple[Units, Mapping[str, str], Texts]:
    """The units to score on; where they are extracted from references, how, and notes
    on it."""
    if units := data.units or data.stus:
        return units, {}, ()
    if not data.references:
        raise InputError(
            "neither units nor references",
            expected="units (human SCUs or ready STUs), or references to extract "
            "STUs from",
            hint="Of a table, name its column: --columns reference=COLUMN.",
        )
    from litepyramid.units.extract import extract

    extraction = extract(data.references, language=data.language)
    made = dict(extraction.signature.fields)
    return Units.of(extraction.units), made, extraction.notes


def _on_judge(one: Judge, units: Units, language: str) -> Texts:
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


def _copies(data: Data) -> list[str]:
    """Notes on systems with the same summaries, or with those of the references."""
    first: dict[Texts, str] = {}
    rows = {}
    notes = []
    # The likeliest mistake with files of many systems: one of them copied.
    for system in data.systems:
        # White space differs between copies of one text.
        own = data.summaries.of_system(system)
        rows[system] = {
            name: "".join((text or "").split()) for name, text in own.items()
        }
        row = tuple(rows[system].values())
        if (other := first.setdefault(row, system)) != system:
            both = f"'{cut(other)}' and '{cut(system)}'"
            notes.append(f"Systems {both} have the same summaries.")

    goals = {}
    for entry in data.references:
        texts = ["".join(sentences) for sentences in entry.references]
        goals[entry.input] = {"".join(text.split()) for text in texts}

    for system, texts_of in rows.items() if goals else ():
        same = sum(text in goals[name] for name, text in texts_of.items() if text)
        # A system that copies its references scores 1, and tells nothing of the judge.
        if same >= _COPIES * len(texts_of):
            notes.append(
                f"The summaries of '{cut(system)}' are references on {same} of "
                f"{counted(len(texts_of), 'input')}."
            )

    return notes


def _ceiling(
    judge: Judge | None,
    units: Units,
    references: Mapping[str, Sequence[Sequence[str]]],
) -> float | None:
    """The mean score of each reference on the units that were extracted from it.

    Only of judges that cost little: those that explain themselves.
    """
    # A language model or a large NLI model would cost as much as the scores.
    if judge is None or not isinstance(single(judge), Explainer):
        return None
    asked = []
    weights = []

    for entry in units:
        for number, sentences in enumerate(references.get(entry.input, ())):
            chosen = [u for u in entry.units if (u.reference or 0) == number]
            if chosen:
                asked.append((" ".join(sentences), tuple([u.text for u in chosen])))
                weights.append([u.weight for u in chosen])

    if not asked:
        return None
    presence = judge_pairs(judge, asked).presence
    pairs = zip(presence, weights, strict=True)
    return float(np.mean([np.average(own, weights=weight) for own, weight in pairs]))


def _judged(summaries: Summaries, units: Units, judge: Judge) -> _Judged:
    """What a judge says of every unit in every system's summary."""
    if not summaries:
        raise InputError(
            "no summaries", expected="summaries of at least one system, or presence"
        )

    # System after system: what a judge is asked.
    items = summaries.items(units)
    systems = summaries.systems
    questions = [entry.question for entry in units] * len(systems)
    batch = judge_pairs(judge, items, questions)

    presence = np.concatenate(batch.presence).reshape(len(systems), -1)
    presence[summaries.missing[:, units.input_of]] = np.nan
    counts = {
        **batch.counts,
        "empty_summaries": int(summaries.empty.sum()),
        "missing_summaries": int(summaries.missing.sum()),
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
    return _Judged(Facts(systems, units, presence), batch, opinions)


def _of_systems(facts: Facts, data: Data) -> Facts:
    """Presence or labels of each system, the mean over its repeats."""
    systems = [*map(data.system_of, facts.systems)]
    averaged = average_repeats(facts.values, systems)
    return Facts(averaged.systems, facts.units, averaged.means)


def _averaged(
    judged: _Judged, data: Data, rule: ScoringRule, seed: int
) -> tuple[_Judged, int, Texts]:
    """The presence in the answers of systems, those that a system gave to one input
    averaged; how many these are at most; notes on how far their scores are apart."""
    facts = judged.facts
    systems = [*map(data.system_of, facts.systems)]
    scores = average_repeats(rule.apply(facts.values, facts.units, seed)[0], systems)

    # What one answered once, and another twice, lacks nothing.
    batch = judged.batch
    if "missing_summaries" in batch.counts:
        there = np.where(data.summaries.missing, np.nan, 1.0)
        lacking = np.isnan(average_repeats(there, systems).means)
        counts = {**batch.counts, "missing_summaries": int(lacking.sum())}
        batch = replace(batch, counts=counts)

    opinions = judged.opinions
    if opinions is not None:
        opinions = np.stack([average_repeats(one, systems).means for one in opinions])
    averaged = _Judged(_of_systems(facts, data), batch, opinions)
    return averaged, int(scores.most.max()), tuple(repeat_notes(scores))


def _human(
    labels: Facts, units: Units, systems: Names, rule: ScoringRule, seed: int
) -> _People:
    """What people's labels say of the systems that are scored."""
    rule.check(labels.units)
    if labels.inputs != units.inputs:
        raise InputError(
            "the labels' units are for other inputs than the units",
            expected=f"{counted(len(units), 'input')}, the same",
        )
    if not {*labels.systems} & {*systems}:
        raise InputError(
            "no labels for any scored system",
            expected=f"labels of systems named as those scored: '{systems[0]}' …",
        )

    whole = labels.of_systems(systems)
    labelled = ~np.isnan(whole.values).all(axis=1)
    human = np.full((len(systems), len(units)), np.nan)
    # A system without any label has no human score; the rule would refuse it.
    scores = rule.apply(whole.values[labelled], labels.units, seed)[0]
    human[labelled] = scores

    # Gaps inside a labelled summary; a summary without any label is no gap.
    gaps = np.isnan(whole.values)
    some = (labels.units.sums(~gaps) > 0)[:, labels.units.input_of]
    counts = {
        "systems_without_labels": len({*systems} - {*labels.systems}),
        "labels_not_used": len({*labels.systems} - {*systems}),
        "inputs_without_labels": int(np.isnan(scores).any(axis=0).sum()),
        "units_without_labels": int((gaps & some).sum()),
    }
    return _People(whole, human, counts)
