"""What the page of scores draws, as plain values for its script."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from litepyramid.judges.base import Evidence
from litepyramid.scoring.inference import FEW, differing, group_letters
from litepyramid.stats import all_pairs, mean_of_scored, system_means
from litepyramid.text import cut
from litepyramid.types import Ends, Fields, FloatArray, IntArray

ScoreRecord = Any
"""A `ScoreResult`, whose page this is, and which cannot be imported here."""

BOUNDS = (0.25, 0.75)
"""A fact of at most this presence is missing, of at least that present, without labels
to tell."""

_SURE = 0.8  # share of labels that must say so for a verdict
_NAMED = 4  # systems in a sentence
_LONGEST = 200  # characters of what is missing in a sentence


def page_data(result: ScoreRecord) -> Fields:
    """What the page's script draws; presences are in thousandths, labels in halves, -1
    is none."""
    notes = result.to_tables()[0].notes
    labels = result.labels_here
    opinions = result.opinions
    calibration = _calibration(result, labels)
    # Of each unit where it is told, and what speaks against it.
    evidence = None
    if result.evidence is not None and result.summaries is not None:
        evidence = [list(map(_told, row)) for row in result.evidence]

    return {
        "verdict": verdict(result),
        "percent": f"{100 * result.confidence:g} %",
        "signature": result.signature,
        "notes": notes[:-1],
        "groups": next((note for note in notes if "share a group" in note), ""),
        "systems": _systems(result),
        "beside": [*result.beside],
        "order": result.order,
        "ceiling": result.ceiling,
        "bounds": BOUNDS if calibration is None else verdict_bounds(calibration.bins),
        "inputs": _inputs(result),
        "presence": _scaled(result.presence, 1000),
        "labels": None if labels is None else _scaled(labels, 2),
        "opinions": None if opinions is None else _scaled(opinions, 1000),
        "texts": None if result.summaries is None else result.summaries.texts,
        "evidence": evidence,
        "pairs": _pairs(result),
        "tags": result.tags,
        "calibration": None if calibration is None else _drawn(calibration),
    }


def verdict(result: ScoreRecord) -> str:
    """What a reader must know, in one sentence: who leads, who does not differ, whether
    the inputs suffice, and what people's labels say of the judge."""
    names = [result.systems[n] for n in result.order]
    if not names:
        return ""
    parts = [_lead(result, names)]
    inputs = len(result.inputs)
    if inputs < FEW and len(names) > 1:
        parts.append(f"{inputs} inputs are few: with {FEW} or more it is surer")
    if people := _on_people(result, names):
        parts.append(people)
    return f"{'; '.join(parts)}."


def _lead(result: ScoreRecord, names: Sequence[str]) -> str:
    """Who leads, and which of the next do not differ."""
    groups = dict(zip(result.systems, map(set, result.groups), strict=True))
    best, *others = names
    score = result.scores[best]
    if not others:
        return f"{cut(best)} scores {score:.3f}"

    level = [name for name in others if groups[best] & groups[name]]
    if not level:
        return f"{cut(best)} leads with {score:.3f}, and all others score less"
    if len(level) == len(others):
        return f"no two systems differ significantly; {cut(best)} has {score:.3f}"
    shown = ", ".join(cut(name, 40) for name in level[:_NAMED])
    more = f" and {len(level) - _NAMED} more" if len(level) > _NAMED else ""
    do = "do" if len(level) > 1 else "does"
    return f"{cut(best)} has {score:.3f}; {shown}{more} {do} not differ from it"


def _on_people(result: ScoreRecord, names: Sequence[str]) -> str:
    """How people's labels would order the systems; empty without labels."""
    human = result.human_scores
    labelled = [name for name in names if human.get(name, np.nan) == human.get(name)]
    if len(labelled) < 2:
        return ""
    by_people = sorted(labelled, key=lambda name: -human[name])
    turned = 0
    for i, first in enumerate(labelled):
        turned += sum(human[first] < human[second] for second in labelled[i + 1 :])
    pairs = len(labelled) * (len(labelled) - 1) // 2
    return (
        f"by people's labels {cut(by_people[0])} leads, and the judge turns {turned} "
        f"of {pairs} pairs round"
    )


def _systems(result: ScoreRecord) -> list[Fields]:
    """The systems in their order, with the scores of their summaries."""
    systems = []
    for row, values in zip(result.system_rows(), result.values, strict=True):
        letters = group_letters(row.pop("groups"))
        systems.append({**row, "group": letters, "inputs": list(values)})
    return systems


def _inputs(result: ScoreRecord) -> list[Fields]:
    """The inputs with their units and references."""
    inputs = []
    for entry in result.units:
        references = result.references.get(entry.input)
        inputs.append({**entry.to_json(), "references": references})
    return inputs


def _told(evidence: Evidence) -> Any:
    """Evidence as the page draws it; 0 where nothing was found."""
    if evidence.sentence < 0:
        return 0

    missing = cut(", ".join(evidence.missing), _LONGEST)
    return [*evidence.span, evidence.conflict, missing]


def _calibration(result: ScoreRecord, labels: FloatArray | None) -> Any:
    """How the judge agrees with people; None where nobody labelled what it judged."""
    from litepyramid.judges.evaluate import calibrate

    if labels is None:
        return None

    both = ~np.isnan(labels) & ~np.isnan(result.presence)
    if not both.any():
        return None
    return calibrate(result.presence[both], labels[both], signature=result.signature)


def _drawn(calibration: Any) -> Fields:
    """The bins that hold pairs, and the figures beside them."""
    bins = []
    for one in calibration.bins:
        if one.pairs:
            bins.append([one.predicted, one.observed, one.pairs])
    return {
        "bins": bins,
        "pairs": calibration.pairs,
        "auc": calibration.auc,
        "brier": calibration.brier,
        "constant": calibration.brier_constant,
    }


def verdict_bounds(bins: Iterable[Any]) -> Ends:
    """Presence up to which facts are missing, and from which they are present, by the
    labels.

    The widest ranges from 0 and from 1 in whose calibration bins four of five labels
    say so; `BOUNDS` where there is no such bin.
    """
    # An empty bin says nothing, and does not end a range.
    filled = [one for one in bins if one.pairs]
    # From either end up to the first bin in which people say otherwise.
    missing = takewhile(lambda one: one.observed <= 1 - _SURE, filled)
    present = takewhile(lambda one: one.observed >= _SURE, reversed(filled))

    low = max((one.high for one in missing), default=BOUNDS[0])
    high = min((one.low for one in present), default=BOUNDS[1])
    return low, high


def _scaled(values: FloatArray, by: int) -> IntArray:
    # Whole numbers: a page of a million presences is half as large.
    whole = np.where(np.isnan(values), -1.0, np.rint(np.nan_to_num(values) * by))
    return whole.astype(int)


def _pairs(result: ScoreRecord) -> list[list[Any]] | None:
    """The matrix of differences, best system first: [difference, significant] or
    None."""
    # No matrix of one system, or where a system has no score at all.
    order = result.order
    if len(order) < 2 or np.isnan(system_means(result.values)).any():
        return None

    values = result.values[order]
    places = all_pairs(len(order))
    clear = differing(values, places, 1 - result.confidence).tolist()

    cells = [[None] * len(order) for _ in order]
    for (i, j), significant in zip(places.tolist(), clear, strict=True):
        difference = mean_of_scored(values[i] - values[j])
        cells[i][j] = [difference, significant]
        cells[j][i] = [-difference, significant]

    return cells
