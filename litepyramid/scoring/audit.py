"""Can a judge be trusted on these data? Its errors on people's labels, and what they do."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litepyramid.errors import InputError
from litepyramid.files import atomic_write, read_json
from litepyramid.judges.base import Evidence, Explainer
from litepyramid.judges.explain import gather
from litepyramid.judges.lexical.features import english
from litepyramid.judges.panel import independent_judges
from litepyramid.judges.parallel import single
from litepyramid.judges.registry import judge as make_judge
from litepyramid.pages import fill_template
from litepyramid.scoring.combine import CombinedScores, combine
from litepyramid.scoring.inference import flip_p_values
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.sampled import SampledLabels, read_sample
from litepyramid.scoring.saved_result import report
from litepyramid.stats import (
    adjust_p_values,
    all_pairs,
    check_share,
    sums_by,
    t_p_values,
    t_reach,
)
from litepyramid.tables import Column, Result, Table, show
from litepyramid.text import counted
from litepyramid.types import (
    FloatArray,
    ResultLike,
    ScoreMatrix,
    Signature,
    fingerprint,
)

GROUPS = 100
"""At most so many groups of inputs are left out in turn for an interval."""

WORST = 20
"""So many disagreements are shown."""

_WORD = re.compile(r"\w+(?:'\w+)?")
_PAIRS, _INPUTS = 50, 10  # a cell of fewer is not tested
_CLOSE = 0.1  # a score of one summary is told to about this, or it is not told


@dataclass(frozen=True, slots=True)
class Figure:
    """A number about the judge with its interval, from leaving out inputs (jackknife)."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SystemBias:
    """By how much the judge's score of a system is above people's, with its interval."""

    system: str
    judge: float
    bias: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of pairs on which the judge errs as elsewhere, or not.

    Attributes:
        kind: What they are told apart by; `name`, which of them these are.
        error: ``bias``: presence above the label, more than elsewhere; ``spread``:
            squared error beyond what the presence admits, more than elsewhere.
        difference: From all other pairs, after one recalibration for all pairs.
        p_holm: Of no difference (t-test by inputs), Holm's correction over all cells.
    """

    kind: str
    name: str
    error: str
    pairs: int
    difference: float
    low: float
    high: float
    p: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A fact on which judge and people disagree most, with what the judge goes by."""

    system: str
    input: str
    unit: str
    presence: float
    label: float
    summary: str | None
    span: tuple[int, int] = (0, 0)
    missing: tuple[str, ...] = ()
    conflict: str = ""


@dataclass(frozen=True, slots=True)
class JudgeAudit(Result):
    """How a judge errs on people's labels, and what that does to the result.

    Attributes:
        verdict: What it is good enough for, in a sentence.
        figures: AUC, Brier score …, best threshold, error of one summary's score.
        systems: The bias of every system's score.
        effects: What changes by the judge's errors, one sentence each.
        cells: Where it errs more than elsewhere: all that were tested, the worst first.
        worst: The worst disagreements.
        pairs: Labelled pairs of fact and summary, in `inputs` inputs.
    """

    verdict: str
    figures: tuple[Figure, ...]
    systems: tuple[SystemBias, ...]
    effects: tuple[str, ...]
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
            worse = cell.error == "bias" or cell.difference > 0
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
        signed = [Column(name, signed=True) for name in ("bias", "low", "high")]
        systems = Table.of(
            "The judge's scores above people's",
            ("system", "judge", *signed),
            self.systems,
        )
        columns: tuple[Column | str, ...] = (
            "kind", "name", "error", "pairs", Column("difference", signed=True),
            *signed[1:], Column("p_holm", "p Holm", digits=4, above_zero=True),
        )  # fmt: skip

        shown = self.failing
        note = (
            f"{len(self.cells)} cells tested, {len(shown)} differ significantly. bias: "
            "presence above the label, more than elsewhere; spread: surer than it is right."
        )
        title = (
            "Where the judge fails"
            if shown
            else "The judge fails nowhere in particular"
        )
        return [figures, systems, Table.of(title, columns, shown, [note])]

    def to_html(self, path: str | Path | None = None) -> str:
        """The same as one page without script, with the worst disagreements."""
        parts = []
        for one in self.worst:
            start, end = one.span
            text = one.summary or ""
            parts.append((one, text[:start], text[start:end], text[end:]))

        page = fill_template(
            "litepyramid.reports",
            "audit.html",
            title=self.verdict,
            tables=self.to_tables(),
            worst=parts,
            show=show,
            style=files("litepyramid.reports")
            .joinpath("templates/audit.css")
            .read_text(),
            script="",
            data="{}",
        )
        page = page.encode("utf-8", "replace").decode()
        if path is not None:
            with atomic_write(path) as file:
                file.write(page)

        return page


@dataclass(frozen=True, slots=True)
class _Pairs:
    """(K,) labelled pairs: judge, people, weight 1 / π, and what they are pairs of."""

    presence: FloatArray
    labels: FloatArray
    weights: FloatArray
    systems: NDArray[np.int64]
    inputs: NDArray[np.int64]
    columns: NDArray[np.int64]


def audit(
    result: ResultLike,
    *,
    labels: Any = None,
    confidence: float = 0.95,
    seed: int = 12345,
) -> JudgeAudit:
    """Audit a judge on people's labels: is it good enough here, and where does it fail?

    Numbers of pairs have jackknife intervals by inputs, as facts of one input are alike;
    systems' biases come from `combine`. Cells compare the errors of some pairs with
    those of all others: by length of summary and unit, system, weight, negation,
    numbers, names, copied or reworded.

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
    sample = None
    if labels is not None:
        sample = read_sample(getattr(labels, "sample", None) or labels)
    pairs = _pairs_of(scored, sample)

    if len({*pairs.labels.tolist()}) < 2:
        raise InputError(
            "labels that are all the same", expected="facts present and facts absent"
        )

    figures = list(_figures(pairs, confidence, seed))
    agreement = _agreement(labels)
    if agreement is not None:
        figures.append(Figure("people's own α", agreement, np.nan, np.nan))
    spread = _summary_error(scored, sample, pairs)
    figures.append(Figure("error of one summary's score (sd)", spread, np.nan, np.nan))

    worth = []
    if scored.opinions is not None:
        errors = scored.opinions[:, pairs.systems, pairs.columns] - pairs.labels
        worth.append(
            f"The {len(errors)} judges are worth {independent_judges(errors):.1f} independent "
            "ones, by the correlation of their errors."
        )

    people = combine(
        scored,
        labels=sample,
        confidence=confidence,
        assume_random=True,
    )
    systems = _biases(scored, sample, confidence)
    reversed_, changed, tested = _order(scored, people)
    cells = _cells(scored, pairs, confidence)
    found = JudgeAudit(
        verdict=_verdict(systems, reversed_, tested, spread),
        figures=tuple(figures),
        systems=systems,
        effects=(
            *_effects(
                systems,
                people,
                reversed_,
                changed,
                tested,
            ),
            *worth,
        ),
        cells=cells,
        worst=_worst(scored, pairs),
        pairs=len(pairs.labels),
        inputs=len(np.unique(pairs.inputs)),
        confidence=confidence,
        signature=Signature.of(
            **dict(scored.signature.fields)
            | {
                "audit": "jackknife",
                "confidence": confidence,
                "seed": seed,
            }
            | {"pairs_sha": _sha(scored, pairs)},
        ),
    )

    return found


def _pairs_of(result: ScoreResult, sample: SampledLabels | None) -> _Pairs:
    if sample is not None:
        labels, probability = sample.on(result)
    elif result.labels is None or result.label_units not in (None, result.units):
        raise InputError(
            "no labels of the units that were scored",
            expected="a result that was scored with labels, or labels of a sample",
        )
    else:
        labels = result.labels
        probability = np.ones(result.labels.shape)

    there = ~np.isnan(labels) & ~np.isnan(result.presence)
    sizes = [len(entry.units) for entry in result.units]
    inputs = np.repeat(np.arange(len(sizes)), sizes)
    systems, columns = np.nonzero(there)
    if not len(systems):
        raise InputError("no label of a fact that the judge judged")
    # By name, not by file: sums of the same numbers in one order.
    texts = [unit.text for entry in result.units for unit in entry.units]
    keys = []
    for s, c in zip(systems.tolist(), columns.tolist(), strict=True):
        keys.append((result.systems[s], result.inputs[inputs[c]], texts[c]))
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__))
    systems, columns = systems[order], columns[order]

    return _Pairs(
        presence=result.presence[systems, columns],
        labels=labels[systems, columns],
        weights=1 / probability[systems, columns],
        systems=systems,
        inputs=inputs[columns],
        columns=columns,
    )


# Numbers of all pairs
# ------------------------------------------------------------------------------------


def _figures(pairs: _Pairs, confidence: float, seed: int) -> Iterator[Figure]:
    best = _best_threshold(pairs)
    names = [
        "AUC", "Brier score", "calibration error", "calibration slope", "leniency",
        *_at("at .5"), *_at(f"at the best, {best:.2f}"),
    ]  # fmt: skip
    whole = _numbers(pairs, pairs.weights, best)

    _, group = np.unique(pairs.inputs, return_inverse=True)
    count = int(group.max()) + 1
    if count > GROUPS:
        dealt = np.random.default_rng(seed).permutation(count) % GROUPS
        group = dealt[group]
        count = GROUPS

    without = []
    for one in range(count):
        without.append(
            _numbers(pairs, np.where(group == one, 0.0, pairs.weights), best)
        )

    deviations = np.array(without) - np.mean(without, axis=0)
    error = np.sqrt((count - 1) / count * (deviations**2).sum(axis=0))
    reach = t_reach(confidence, max(1, count - 1)) * error

    for name, value, ends in zip(names, whole, reach, strict=True):
        yield Figure(name, float(value), float(value - ends), float(value + ends))


def _at(where: str) -> tuple[str, str, str]:
    return f"sensitivity {where}", f"specificity {where}", f"Cohen's κ {where}"


def _numbers(pairs: _Pairs, weights: FloatArray, best: float) -> list[float]:
    """The figures of weighted pairs; a label of .5 is half present, half absent."""
    presence = pairs.presence
    labels = pairs.labels
    weights = weights / weights.sum()
    error = presence - labels
    bins = np.minimum((presence * 10).astype(np.int64), 9)
    gaps = np.abs(sums_by(bins, weights * error))
    _, slope = _recalibration(presence, labels, weights)
    values = [
        _auc(presence, labels, weights),
        float(weights @ error**2),
        float(gaps.sum()),
        slope,
        float(weights @ error),
    ]

    for threshold in (0.5, best):
        values += _decisions(presence >= threshold, labels, weights)
    return values


def _auc(presence: FloatArray, labels: FloatArray, weights: FloatArray) -> float:
    """Probability that a present fact has more presence than an absent one; ties half."""
    _, rank = np.unique(presence, return_inverse=True)
    present = sums_by(rank, weights * labels)
    absent = sums_by(rank, weights * (1 - labels))
    below = np.cumsum(absent) - absent / 2
    return float(present @ below / (present.sum() * absent.sum()))


def _decisions(
    said: NDArray[np.bool_], labels: FloatArray, weights: FloatArray
) -> list[float]:
    """Sensitivity, specificity and Cohen's κ of yes and no."""
    present = weights * labels
    absent = weights * (1 - labels)
    sensitivity = (present @ said) / present.sum()
    specificity = (absent @ ~said) / absent.sum()
    agreed = present @ said + absent @ ~said
    yes = weights @ said
    chance = yes * present.sum() + (1 - yes) * absent.sum()
    kappa = (agreed - chance) / (1 - chance) if chance < 1 else np.nan
    return [float(sensitivity), float(specificity), float(kappa)]


def _best_threshold(pairs: _Pairs) -> float:
    """The presence from which yes has the highest sensitivity plus specificity."""
    values, rank = np.unique(pairs.presence, return_inverse=True)
    present = sums_by(rank, pairs.weights * pairs.labels)
    absent = sums_by(rank, pairs.weights * (1 - pairs.labels))
    above = np.cumsum(present[::-1])[::-1] / present.sum()
    false = np.cumsum(absent[::-1])[::-1] / absent.sum()
    return float(values[np.argmax(above - false)])


def _recalibration(
    presence: FloatArray, labels: FloatArray, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Presence by logit p = a + b logit(presence) of the labels, and b (Cox 1958)."""
    inside = np.clip(presence, 0.001, 0.999)
    logits = np.log(inside / (1 - inside))
    design = np.stack([np.ones(len(logits)), logits])
    ridge = 1e-6 * np.eye(2)
    fit = np.array([0.0, 1.0])

    for _ in range(25):
        p = 1 / (1 + np.exp(-np.clip(fit @ design, -30, 30)))
        curvature = (design * (weights * p * (1 - p))) @ design.T + ridge
        step = np.linalg.solve(curvature, design @ (weights * (labels - p)))
        fit = fit + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break

    return 1 / (1 + np.exp(-np.clip(fit @ design, -30, 30))), float(fit[1])


def _agreement(labels: Any) -> float | None:
    """Krippendorff's α of the people who gave the labels; None if that is not known."""
    known = getattr(labels, "agreement", None)
    if known is not None:
        return float(known.alpha)
    if not isinstance(labels, str | Path):
        return None
    path = Path(labels) / "agreement.json"
    alpha = read_json(path, "").get("alpha") if path.is_file() else None
    return float(alpha) if isinstance(alpha, int | float) else None


# What the errors do to the result
# ------------------------------------------------------------------------------------


def _biases(
    result: ScoreResult, sample: SampledLabels | None, confidence: float
) -> tuple[SystemBias, ...]:
    """Judge less people, estimated as `combine` estimates scores."""
    if sample is None:
        assert result.human is not None
        people = ScoreMatrix(
            "bias", result.systems, result.inputs, result.values - result.human
        )
        combined = combine(
            (result.matrix, people),
            target="population",
            assume_random=True,
            confidence=confidence,
        )
        rows = []

        for one in combined.systems:
            rows.append(
                SystemBias(
                    one.system,
                    one.judge,
                    one.score,
                    one.low,
                    one.high,
                )
            )
    else:
        combined = combine(result, labels=sample, confidence=confidence)
        rows = []
        for one in combined.systems:
            rows.append(
                SystemBias(
                    one.system,
                    one.judge,
                    one.judge - one.score,
                    one.judge - one.high,
                    one.judge - one.low,
                )
            )

    rows.sort(key=lambda one: (-one.judge, one.system))
    return tuple(rows)


def _order(result: ScoreResult, people: CombinedScores) -> tuple[int, int, int]:
    """Pairs that people tell apart and the judge reverses, pairs whose significance
    changes, and all pairs."""
    places = all_pairs(len(result.systems))
    p = adjust_p_values(flip_p_values(result.values, places), "holm")
    means = dict(zip(result.systems, np.nanmean(result.values, axis=1), strict=True))
    told_apart = {}
    for (i, j), value in zip(places.tolist(), p.tolist(), strict=True):
        names = frozenset((result.systems[i], result.systems[j]))
        told_apart[names] = value < people.alpha

    reversed_ = changed = 0
    for pair in people.pairs:
        significant = pair.p_holm < people.alpha
        reversed_ += significant and means[pair.first] < means[pair.second]
        changed += significant != told_apart[frozenset((pair.first, pair.second))]

    return reversed_, changed, len(people.pairs)


def _summary_error(
    result: ScoreResult, sample: SampledLabels | None, pairs: _Pairs
) -> float:
    """Standard deviation of the error of one summary's score, beside the mean bias."""
    if sample is None and result.human is not None:
        error = result.values - result.human
        return float(np.nanstd(error - np.nanmean(error, axis=1, keepdims=True)))
    # Single facts tell how they err, not how those of a summary err together.
    shares = result.rule.shares(result.rule.layout(result.units))[pairs.columns]
    squares = pairs.weights * (shares * (pairs.presence - pairs.labels)) ** 2
    return float(np.sqrt(squares.sum() / result.values.size))


def _effects(
    systems: Sequence[SystemBias],
    people: CombinedScores,
    reversed_: int,
    changed: int,
    tested: int,
) -> Iterator[str]:
    lowest = min(systems, key=lambda one: one.bias)
    highest = max(systems, key=lambda one: one.bias)
    yield (
        f"The judge's scores are off by {lowest.bias:+.3f} ({lowest.system}) to "
        f"{highest.bias:+.3f} ({highest.system})."
    )

    if tested:
        yield (
            f"Of {counted(tested, 'pair')} of systems the judge reverses {reversed_} that "
            f"people tell apart; for {changed} it says otherwise whether they differ."
        )

    what = "inputs" if people.spread == "inputs" else "facts"
    widths = [(one.high - one.low) / 2 for one in people.systems]
    alone = [(one.alone_high - one.alone_low) / 2 for one in people.systems]
    counts = [one.labels for one in people.systems]
    labels = float(np.median(counts))
    needed = labels * (float(np.median(widths)) / 0.05) ** 2
    needed_alone = labels * (float(np.median(alone)) / 0.05) ** 2
    yield (
        f"For a system's score to ±.05, combine needs labels of about {needed:.0f} {what} "
        f"a system with this judge, {needed_alone:.0f} without."
    )


def _verdict(
    systems: Sequence[SystemBias], reversed_: int, tested: int, spread: float
) -> str:
    """What the judge is good enough for."""
    good: list[str] = []
    bad: list[str] = []
    these = counted(len(systems), "system")
    if tested:
        (bad if reversed_ else good).append(f"to rank these {these}")
    biased = sum(not one.low <= 0 <= one.high for one in systems)
    close = all(abs(one.bias) <= 0.05 for one in systems)
    (good if not biased or close else bad).append("to score a system without labels")
    (good if spread <= _CLOSE else bad).append(f"to score one summary (±{spread:.2f})")

    sentence = ""
    if good:
        sentence = f"Good enough {' and '.join(good)}"
    if bad:
        sentence += (
            f"; not {' nor '.join(bad)}"
            if good
            else f"Not good enough {' nor '.join(bad)}"
        )

    return sentence + "."


# Where the judge fails
# ------------------------------------------------------------------------------------


def _cells(result: ScoreResult, pairs: _Pairs, confidence: float) -> tuple[Cell, ...]:
    """All cells with enough pairs, tested by inputs, the least likely first."""
    calibrated, _ = _recalibration(pairs.presence, pairs.labels, pairs.weights)
    error = calibrated - pairs.labels
    values = {"bias": error, "spread": error**2 - calibrated * (1 - calibrated)}

    cells = []
    everything = np.ones(len(error), dtype=np.bool_)
    tested = _compared(pairs.presence - pairs.labels, everything, pairs, confidence)

    if tested is not None:
        name = "lenient" if tested[0] > 0 else "strict"
        about = "all pairs", name, "bias", len(error)
        cells.append(Cell(*about, *tested, p_holm=np.nan))

    for kind, name, inside in _kinds(result, pairs):
        for which, errors in values.items():
            tested = _compared(errors, inside, pairs, confidence)
            if tested is not None:
                number = int(inside.sum())
                cells.append(
                    Cell(
                        kind,
                        name,
                        which,
                        number,
                        *tested,
                        p_holm=np.nan,
                    )
                )

    holm = adjust_p_values(np.array([cell.p for cell in cells]), "holm").tolist()
    cells = [replace(c, p_holm=p) for c, p in zip(cells, holm, strict=True)]
    return tuple(sorted(cells, key=lambda cell: cell.p))


def _compared(
    errors: FloatArray, inside: NDArray[np.bool_], pairs: _Pairs, confidence: float
) -> tuple[float, float, float, float] | None:
    """Mean error of some pairs less that of all others, if any, its interval, and p.

    Inputs are the clusters; None where either side has too few pairs or inputs.
    """
    influence = np.zeros(int(pairs.inputs.max()) + 1)
    means = []
    freedom = len(influence)
    sides = [(inside, 1.0)]
    if not inside.all():
        sides.append((~inside, -1.0))

    for side, sign in sides:
        there = np.unique(pairs.inputs[side])
        if side.sum() < _PAIRS or len(there) < _INPUTS:
            return None
        weights = pairs.weights * side
        weights = weights / weights.sum()
        mean = float(weights @ errors)
        sums = sums_by(pairs.inputs, weights * (errors - mean))
        influence[: len(sums)] += sign * sums
        means.append(sign * mean)
        freedom = min(freedom, len(there) - 1)

    clusters = len(np.unique(pairs.inputs))
    error = float(np.sqrt(clusters / (clusters - 1) * (influence**2).sum()))
    difference = sum(means)
    reach = t_reach(confidence, freedom) * error
    t = np.array([abs(difference) / error if error > 0 else 0.0])
    p = float(t_p_values(t, np.array([float(freedom)]))[0])

    return difference, difference - reach, difference + reach, p


def _kinds(
    result: ScoreResult, pairs: _Pairs
) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Every cell: its kind, its name, and which pairs are in it."""
    units = [unit for entry in result.units for unit in entry.units]
    unit_words = [_words(unit.text) for unit in units]
    lengths = np.array([len(words) for words in unit_words])[pairs.columns]
    yield from _thirds("length of unit", lengths)

    if result.summaries is not None:
        words = [[_words(text) for text in row] for row in result.summaries]
        sizes = []
        copied = []
        for n, m, column in zip(
            pairs.systems, pairs.inputs, pairs.columns, strict=True
        ):
            sizes.append(len(words[n][m]))
            there = {*words[n][m]}
            shared = sum(word in there for word in unit_words[column])
            copied.append(shared >= 0.9 * len(unit_words[column]))
        yield from _thirds("length of summary", np.array(sizes))
        yield "words", "copied", np.array(copied)

    if len(result.systems) > 1:
        for n, name in enumerate(result.systems):
            yield "system", name, pairs.systems == n

    weights = np.array([unit.weight for unit in units])[pairs.columns]
    if np.ptp(weights) > 0:
        yield "weight", "above the median", weights > np.median(weights)

    negations = english().negation
    phenomena = {
        "negation": [
            bool(negations & {*words}) or any(word.endswith("n't") for word in words)
            for words in unit_words
        ],
        "number": [any(char.isdigit() for char in unit.text) for unit in units],
        "name": [
            any(word[:1].isupper() for word in unit.text.split()[1:]) for unit in units
        ],
    }
    for name, flags in phenomena.items():
        yield "unit has", f"a {name}", np.array(flags)[pairs.columns]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold().replace("\u2019", "'"))


def _thirds(
    kind: str, sizes: NDArray[Any]
) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """The shortest and the longest third."""
    low, high = np.quantile(sizes, (1 / 3, 2 / 3))
    if low < high:
        yield kind, f"up to {low:.0f} words", sizes <= low
        yield kind, f"over {high:.0f} words", sizes > high


def _worst(result: ScoreResult, pairs: _Pairs) -> tuple[Disagreement, ...]:
    """The pairs with the largest error, with evidence: the judge's, else of words."""
    gaps = np.abs(pairs.presence - pairs.labels)
    units = [unit for entry in result.units for unit in entry.units]
    # A judge that explains itself costs little; for others, shared words.
    judge = None if result.judge is None else single(result.judge)
    finder = judge if isinstance(judge, Explainer) else make_judge("recall")
    found = []

    for k in np.argsort(-gaps, kind="stable")[:WORST].tolist():
        n = pairs.systems[k]
        m = pairs.inputs[k]
        column = pairs.columns[k]
        text = None if result.summaries is None else result.summaries[n][m]
        evidence = Evidence(0.0)

        if result.evidence is not None:
            evidence = result.evidence[n][column]
        elif text and text.strip():
            question = [result.units[m].question]
            evidence = gather(finder, [(text, [units[column].text])], question)[0][0]

        found.append(
            Disagreement(
                system=result.systems[n],
                input=result.inputs[m],
                unit=units[column].text,
                presence=float(pairs.presence[k]),
                label=float(pairs.labels[k]),
                summary=text,
                span=evidence.span if evidence.sentence >= 0 else (0, 0),
                missing=evidence.missing,
                conflict=evidence.conflict,
            )
        )

    return tuple(found)


def _sha(result: ScoreResult, pairs: _Pairs) -> str:
    """What names the labelled pairs in a signature."""
    rows = []
    for k in range(len(pairs.labels)):
        name = result.systems[pairs.systems[k]], result.inputs[pairs.inputs[k]]
        rows.append([*name, float(pairs.presence[k]), float(pairs.labels[k])])
    return fingerprint(sorted(rows))
