"""How well few labels and a judge do together, on REALSumm with most labels hidden.

    python scripts/simulate_labels.py DATA [--draws 1000]

The judge is the lexical one, trained for each fifth of the inputs on the other four (the authors'
folds), so that it has not seen the labels that it stands in for. Labels of n inputs are drawn, the
human score of each system and each difference is estimated, and held against all labels.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np

from litepyramid.annotation.presence_plan import PresenceBy, plan_presence
from litepyramid.files import read_lines
from litepyramid.io.datasets import read_authors_folder
from litepyramid.judges.base import JudgedBatch
from litepyramid.judges.lexical.judge import LexicalJudge, fit_lexical
from litepyramid.scoring.powered import prediction_powered
from litepyramid.scoring.pyramid import UnitLayout, lite_pyramid_scores
from litepyramid.scoring.result import ScoreResult
from litepyramid.scoring.score import score_presence
from litepyramid.tables import Column, Result, Table, emit


class Simulated(Result):
    """The table that is shown."""

    def __init__(self, rows: list[tuple[object, ...]], draws: int) -> None:
        self.rows, self.draws = rows, draws

    def to_tables(self) -> list[Table]:
        """A row a judge, design and number of labels."""
        columns = [Column("judge"), Column("drawn"), Column("n"), Column("of")]
        columns += [Column("coverage"), Column("alone", "labels alone")]
        columns += [Column("width"), Column("width_alone", "labels alone")]
        columns += [Column("saved", "labels saved", digits=1), Column("bias", digits=4)]
        title = f"REALSumm, 25 systems, 100 inputs, {self.draws} draws; nominal .95"
        return [Table(title, tuple(columns), tuple(map(tuple, self.rows)))]  # type: ignore[arg-type]


def cross_fitted(data: Path) -> ScoreResult:
    """REALSumm scored by judges that have not seen an input's labels."""
    dataset = read_authors_folder(data / "realsumm")
    units, systems = dataset.scus, dataset.summaries
    names = [entry.input for entry in units]
    labels = {entry.system: entry.labels for entry in dataset.labels}
    layout = UnitLayout.of(units)
    presence = np.empty((len(systems), layout.weights.size))
    for path in sorted((data / "realsumm" / "by_examples").glob("fold*.id")):
        held = [names.index(name) for name in read_lines(path)]
        rest = [m for m in range(len(names)) if m not in held]
        items = [(s.texts[m], units[m].texts) for s in systems for m in rest]
        known = [labels[s.system][m] for s in systems for m in rest]
        judge = LexicalJudge(fit_lexical(items, known))
        asked = [(s.texts[m], units[m].texts) for s in systems for m in held]
        answers = iter(judge.judge(asked).presence)
        for n in range(len(systems)):
            for m in held:
                presence[n, slice(*layout.bounds[m])] = next(answers)
    return score_presence(
        [s.system for s in systems], units, presence, JudgedBatch(()), labels=dataset.labels
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    result = cross_fitted(options.data)
    human, scores = result.human, result.values
    assert human is not None
    first, second = np.array(list(combinations(range(len(human)), 2))).T
    layout = UnitLayout.of(result.units)
    judges = {
        "cross-fitted": scores,
        "constant": lite_pyramid_scores(np.full_like(result.presence, 0.5), layout),
        "inverted": 1 - scores,
    }
    designs: list[tuple[str, PresenceBy]] = [(name, "random") for name in judges]
    designs += [("cross-fitted", "score"), ("cross-fitted", "error")]
    rows: list[tuple[object, ...]] = []
    for name, by in designs:
        f = judges[name]
        for n in (20, 30, 50):
            sums: dict[str, list[tuple[float, ...]]] = {"systems": [], "differences": []}
            off: dict[str, list[np.ndarray]] = {"systems": [], "differences": []}
            for seed in range(options.draws):
                plan = plan_presence(result, inputs=n, by=by, seed=seed)
                labelled = np.flatnonzero(plan.label)
                for what, h, g in (
                    ("systems", human, f),
                    ("differences", human[first] - human[second], f[first] - f[second]),
                ):
                    design = None if by == "random" else plan.design
                    found = prediction_powered(h[:, labelled], g, labelled, design=design)
                    truth = h.mean(axis=1)
                    within = (found.low <= truth) & (truth <= found.high)
                    alone = (found.alone_low <= truth) & (truth <= found.alone_high)
                    width = (found.high - found.low).mean()
                    width_alone = (found.alone_high - found.alone_low).mean()
                    saved = float(np.median(found.saved))
                    sums[what].append((within.mean(), alone.mean(), width, width_alone, saved))
                    off[what].append(found.value - truth)
            for what, values in sums.items():
                bias = float(np.abs(np.mean(off[what], axis=0)).max())
                rows.append((name, by, n, what, *map(float, np.mean(values, axis=0)), bias))
    emit(Simulated(rows, options.draws))


if __name__ == "__main__":
    main()
