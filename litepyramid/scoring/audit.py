"""Can a judge be trusted on these data? Its errors on people's labels, and what they
do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.files import read_json
from litepyramid.judges.base import Evidence, Explainer
from litepyramid.judges.fairness import (
    Cell,
    SystemBias,
    bias_table,
    cell_table,
    leaning,
    slope,
)
from litepyramid.judges.panel import independent_judges
from litepyramid.judges.parallel import single
from litepyramid.judges.registry import judge as make_judge
from litepyramid.pages import fill_page
from litepyramid.scoring.combine import combine
from litepyramid.scoring.combined import CombinedScores
from litepyramid.scoring.comparable import versions_of
from litepyramid.scoring.judge_errors import (
    Figure,
    LabelledPairs,
    cells_of,
    figures_of,
)
from litepyramid.scoring.judge_verdict import (
    CLOSE,
    MARGIN,
    Answer,
    PairsTold,
    agrees,
    pairs_told,
    verdict,
    within,
)
from litepyramid.scoring.label_needs import (
    label_variance,
    labels_needed,
    pool_variances,
)
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.sampled import (
    SAMPLE_FILE,
    SampledLabels,
    human_on,
    on_result,
    read_sample,
)
from litepyramid.scoring.saved_result import report
from litepyramid.stats import check_share, ordered_sum
from litepyramid.tables import Column, Result, Table, show
from litepyramid.text import counted
from litepyramid.types import FloatArray, ResultLike, Signature, Texts

WORST = 20
"""So many disagreements are shown."""

_REACH = 0.05  # of the intervals that labels are counted for


@dataclass(frozen=True)
class Disagreement:
    """A fact on which judge and people disagree most, with what the judge goes by."""

    system: str
    input: str
    unit: str
    presence: float
    label: float
    summary: str | None
    span: tuple[int, int] = (0, 0)
    missing: Texts = ()
    conflict: str = ""


@dataclass(frozen=True)
class JudgeAudit(Result):
    """How a judge errs on people's labels, and what that does to the result.

    Attributes:
        verdict: What it is good enough for, in a sentence.
        figures: AUC, Brier score …, best threshold; root mean square error of one
            summary's score, of the system where it is largest, unless facts were drawn
            one by one.
        systems: The bias of every system's score.
        effects: What changes by the judge's errors, one sentence each.
        cells: Where it errs more than elsewhere: all that were tested, the worst first.
        worst: The worst disagreements.
        pairs: Labelled pairs of fact and summary, in `inputs` inputs.
    """

    verdict: str
    figures: tuple[Figure, ...]
    systems: tuple[SystemBias, ...]
    effects: Texts
    cells: tuple[Cell, ...]
    worst: tuple[Disagreement, ...]
    pairs: int
    inputs: int
    confidence: float
    signature: Signature

    @property
    def failing(self) -> tuple[Cell, ...]:
        """The cells with significantly more error than elsewhere."""
        found = []
        for cell in self.cells:
            # A bias is an error either way, less spread than elsewhere is none.
            worse = cell.error != "spread" or cell.difference > 0
            if worse and cell.p_holm < 1 - self.confidence:
                found.append(cell)
        return tuple(found)

    def to_tables(self) -> Sequence[Table]:
        """The verdict and the numbers; the systems; where the judge fails."""
        percent = f"{100 * self.confidence:g} %"
        about = f"{counted(self.pairs, 'label')} on {counted(self.inputs, 'input')}"
        figures = Table.of(
            self.verdict,
            ("name", "value", Column("low", f"{percent} low"), "high"),
            self.figures,
            [f"From {about}; intervals by inputs.", *self.effects, str(self.signature)],
        )
        shown = self.failing
        note = (
            f"{len(self.cells)} cells tested, {len(shown)} differ significantly. "
            "bias: presence above the label, more than elsewhere; spread: surer than "
            "it is right; slope: presence above the label, more where all is copied "
            "than where nothing is."
        )
        title = (
            "Where the judge fails"
            if shown
            else "The judge fails nowhere in particular"
        )
        return [figures, bias_table(self.systems), cell_table(title, shown, note)]

    def to_html(self) -> str:
        """The same as one page without script, with the worst disagreements."""
        parts = []
        for one in self.worst:
            start, end = one.span
            text = one.summary or ""
            parts.append((one, text[:start], text[start:end], text[end:]))

        page = fill_page(
            "litepyramid.reports",
            "audit",
            {},
            title=self.verdict,
            tables=self.to_tables(),
            worst=parts,
            show=show,
        )
        return page.encode("utf-8", "replace").decode()


def audit(
    result: ResultLike,
    *,
    labels: Any = None,
    confidence: float = 0.95,
    seed: int = 12345,
) -> JudgeAudit:
    """Audit a judge on people's labels: is it good enough here, and where does it fail?

    Numbers of pairs have jackknife intervals by inputs, as facts of one input are
    alike; systems' biases come from `combine`. Cells compare the errors of some pairs
    with those of all others: by length of summary and unit, system, weight, negation,
    numbers, names, words of the unit that are all there or not, and, with references,
    by the share of a summary that they have too. The verdict says which systems the
    judge over-rates beside the others, and whether it over-rates what is copied.

    Args:
        result: A result of `score` with labels, or without if `labels` are given.
        labels: Labels of a sample that `budget export --labels` drew: what
            `budget import` gave or wrote.
        confidence: Confidence level of the intervals; tests are at 1 less it.
        seed: Seed that puts more inputs than 100 into groups, to be left out together.

    Raises:
        InputError: There are no labels of the units that were scored, or labels of one
            kind only.

    Example:
        >>> import litepyramid as lp
        >>> from litepyramid.embedded.example import load_example
        >>> found = lp.audit(lp.score(load_example(), judge="recall"))
        >>> found.pairs, found.figures[0].name
        (344, 'AUC')

    Command line:
        $ litepyramid judge audit scores.json -o audit.html
        $ litepyramid judge audit scores.json --labels judged
    """
    check_share("confidence", confidence)
    scored = report(result)
    sample, agreement = _people(labels)
    # A sample's labels stand for all facts, so they count before those scored with.
    pairs = LabelledPairs.of(scored, sample)
    human = _human(scored, sample)
    of_summaries = _summary_errors(scored, sample, human, confidence)

    figures = figures_of(pairs, confidence, seed)
    auc = figures[0]
    figures += of_summaries[:1]
    for name, value in agreement.items():
        figures.append(Figure(name, value, np.nan, np.nan))

    systems = _biases(scored, human, sample, pairs, confidence)
    # What labels and judge together say is the truth that the judge is held against.
    people = combine(
        scored,
        labels=sample,
        confidence=confidence,
        assume_random=True,
    )
    told = _pairs_told(scored, people)
    effects = [str(told)] if told.pairs else []
    if "calibration slope" not in {figure.name for figure in figures}:
        effects.append("Presence separates the labels: it has no calibration slope.")
    effects += _label_needs(scored, human, people, confidence)
    if scored.opinions is not None:
        errors = scored.opinions[:, pairs.systems, pairs.columns] - pairs.labels
        effects.append(
            f"The {len(errors)} judges are worth {independent_judges(errors):.1f} "
            "independent ones, by the correlation of their errors."
        )

    about = {
        **versions_of(scored.signature),
        "audit": "jackknife",
        "confidence": confidence,
        "seed": seed,
        "scores_sha": scored.table.sha,
        "sample_sha": None if sample is None else sample.sha,
    }
    cells = cells_of(scored, pairs, confidence)
    answer = verdict(agrees(auc.low, auc.high), _uses(systems, of_summaries, told))
    return JudgeAudit(
        verdict=f"{answer} {leaning(cells, confidence)}".rstrip(),
        figures=tuple(figures),
        systems=systems,
        effects=tuple(effects),
        cells=cells,
        worst=_worst(scored, pairs),
        pairs=len(pairs.labels),
        inputs=len(np.unique(pairs.inputs)),
        confidence=confidence,
        signature=Signature.of(**dict(scored.signature.fields) | about),
    )


def _people(labels: Any) -> tuple[SampledLabels | None, dict[str, float]]:
    """The sample in what was imported, if it is one, and how people agree in it."""
    known = {}
    sample = getattr(labels, "sample", labels)
    if isinstance(labels, str | Path):
        path = Path(labels) / "agreement.json"
        if path.is_file():
            known = read_json(path, "")
            # Without a sample the labels are those that were scored with.
            sample = labels if (Path(labels) / SAMPLE_FILE).exists() else None
    elif hasattr(labels, "agreement"):
        known = labels.agreement.to_json()

    agreement = {}
    for key, name in (("alpha", "α"), ("kappa", "Cohen's κ")):
        value = known.get(key)
        if isinstance(value, float) and not np.isnan(value):
            agreement[f"people's own {name}"] = value

    return None if sample is None else read_sample(sample), agreement


# What the errors do to the result
# ------------------------------------------------------------------------------------


def _human(result: ScoreResult, sample: SampledLabels | None) -> FloatArray | None:
    """(N, M) human scores of whole summaries; None where facts were drawn one by
    one."""
    if sample is None:
        return result.human
    return None if sample.spread == "facts" else human_on(result, sample)


def _biases(
    result: ScoreResult,
    human: FloatArray | None,
    sample: SampledLabels | None,
    pairs: LabelledPairs,
    confidence: float,
) -> tuple[SystemBias, ...]:
    """Mean error of each system's scores, or of its drawn facts by their share."""
    rows = []
    # Inputs are drawn with equal chances, which summaries need not be.
    of_inputs = sample is None or sample.spread == "inputs"
    for n, system in enumerate(result.systems):
        if human is not None and of_inputs:
            errors = result.values[n] - human[n]
            inputs = np.flatnonzero(~np.isnan(errors))
            errors = errors[inputs]
            weights = np.ones(len(inputs))
        else:
            some = pairs.systems == n
            shares = result.rule.shares(result.units)
            # Penalties count against the score; an input may have no share at all.
            whole = ordered_sum(np.abs(shares)) / len(result.inputs)
            shares = shares[pairs.columns[some]]
            errors = whole * np.sign(shares) * (pairs.presence - pairs.labels)[some]
            inputs = pairs.inputs[some]
            weights = np.abs(shares) * pairs.weights[some]

        if len(inputs):
            all_ = np.ones(len(inputs), dtype=bool)
            bias, low, high, _ = slope(errors, all_, weights, inputs, confidence)
            rows.append(SystemBias(system, result.scores[system], bias, low, high))

    rows.sort(key=lambda one: (-one.judge, one.system))
    return tuple(rows)


def _summary_errors(
    result: ScoreResult,
    sample: SampledLabels | None,
    human: FloatArray | None,
    confidence: float,
) -> list[Figure]:
    """Root mean square error of one summary's score, bias and all, of each system, the
    largest first.

    None where facts were drawn one by one: they tell how facts err, not how those of a
    summary err together.
    """
    if human is None:
        return []

    squares = (result.values - human) ** 2
    weights = np.ones(squares.shape)
    if sample is not None:
        probability = on_result(result, sample).probability.values
        weights = 1 / probability[:, result.units.offsets[:-1]]

    figures = []
    for own, shares in zip(squares, weights, strict=True):
        inputs = np.flatnonzero(~np.isnan(own))
        if len(inputs):
            all_ = np.ones(len(inputs), dtype=bool)
            own, shares = own[inputs], shares[inputs]
            found = slope(own, all_, shares, inputs, confidence)[:3]
            value, low, high = np.sqrt(np.maximum(found, 0.0)).tolist()
            name = "error of one summary's score"
            figures.append(Figure(name, value, low, high))

    return sorted(figures, key=lambda figure: -figure.value)


def _pairs_told(result: ScoreResult, people: CombinedScores) -> PairsTold:
    """How judge and people tell pairs of systems apart."""
    groups = dict(zip(result.systems, map(set, result.groups), strict=True))
    clear = []
    differences = []
    for pair in people.pairs:
        clear.append(groups[pair.first].isdisjoint(groups[pair.second]))
        differences.append(result[pair.first] - result[pair.second])

    return pairs_told(
        np.array([pair.p_holm < people.alpha for pair in people.pairs], dtype=bool),
        np.array(clear, dtype=bool),
        np.array(differences),
        np.array([pair.low for pair in people.pairs]),
        np.array([pair.high for pair in people.pairs]),
    )


def _uses(
    systems: Sequence[SystemBias], of_summaries: Sequence[Figure], told: PairsTold
) -> dict[str, Answer]:
    """What the judge may be good enough for, and whether it is."""
    uses = {}
    if told.pairs:
        uses[f"to rank these {counted(len(systems), 'system')}"] = told.answer

    low = np.array([one.low for one in systems])
    high = np.array([one.high for one in systems])
    uses["to score a system without labels"] = within(low, high, MARGIN)

    if of_summaries:
        low = np.array([figure.low for figure in of_summaries])
        high = np.array([figure.high for figure in of_summaries])
        worst = of_summaries[0].value
        uses[f"to score one summary (±{worst:.2f})"] = within(low, high, CLOSE)
    return uses


def _label_needs(
    result: ScoreResult,
    human: FloatArray | None,
    people: CombinedScores,
    confidence: float,
) -> Iterator[str]:
    """How many labels `combine` needs, with the judge and without."""
    what = "inputs" if people.spread == "inputs" else "facts"
    variances = []
    # Where everything is labelled nothing is left to the judge: then it is asked what
    # it would save of further inputs.
    if people.target == "population":
        if human is None:
            return
        most = np.inf
        what = "further inputs"
        for one in people.systems:
            n = result.systems.index(one.system)
            known = ~np.isnan(human[n])
            own = pool_variances(human[n, known], result.values[n, known])
            variances.append([*own])
    else:
        most = result.presence.shape[1]
        if people.spread == "inputs":
            most = len(result.inputs)
        for one in people.systems:
            widths = one.high - one.low, one.alone_high - one.alone_low
            variances.append(
                [label_variance(one.labels, most, w, confidence) for w in widths]
            )

    needs = []
    shown = {"reach": _REACH, "most": most, "confidence": confidence}
    for ways in variances:
        needs.append([labels_needed(variance, **shown) for variance in ways])
    few, many = np.median(needs, axis=0)
    yield (
        f"For a system's score to ±.05, combine needs labels of about {few:.0f} {what} "
        f"a system with this judge, {many:.0f} without."
    )


def _worst(result: ScoreResult, pairs: LabelledPairs) -> tuple[Disagreement, ...]:
    """The pairs with the largest error, with evidence: the judge's, else of words."""
    units = [unit.text for unit in result.units.every]
    # A judge that explains itself costs little; for others, shared words.
    judge = None if result.judge is None else single(result.judge)
    finder: Any = judge if isinstance(judge, Explainer) else make_judge("recall")
    gaps = np.abs(pairs.presence - pairs.labels)
    found = []

    for k in np.argsort(-gaps, kind="stable")[:WORST].tolist():
        n = pairs.systems[k]
        column = pairs.columns[k]
        m = pairs.inputs[k]
        text = None
        evidence = Evidence(0.0)
        if result.summaries is not None:
            text = result.summaries.texts[n][m]
            ((evidence,),) = finder.explain([(text or "", [units[column]])])
        if result.evidence is not None:
            evidence = result.evidence[n][column]

        found.append(
            Disagreement(
                system=result.systems[n],
                input=result.inputs[m],
                unit=units[column],
                presence=float(pairs.presence[k]),
                label=float(pairs.labels[k]),
                summary=text,
                span=evidence.span if evidence.sentence >= 0 else (0, 0),
                missing=evidence.missing,
                conflict=evidence.conflict,
            )
        )

    return tuple(found)
