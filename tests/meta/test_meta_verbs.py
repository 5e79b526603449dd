"""What every verb promises: order of rows, signatures, errors of one kind, figures."""

import itertools
import re

import numpy as np
import pytest

from litepyramid import meta
from litepyramid.errors import LitepyramidError
from litepyramid.io.scores import read_scores

pandas = pytest.importorskip("pandas")

RNG = np.random.default_rng(3)
VALUES = np.round(RNG.normal(size=(3, 9, 7)) + np.arange(9)[:, None], 2)
ROWS = [
    {
        "system": f"s{s}",
        "input": f"d{i}",
        "metric": metric,
        "score": VALUES[m, s, i],
    }
    for m, metric in enumerate(("rouge", "bleu", "human"))
    for s in range(9)
    for i in range(7)
]
VERBS = {
    "correlate": lambda rows, **more: meta.correlate(
        rows, coefficient=["kendall", "spa", "acc-eq"], **more
    ),
    "interval": lambda rows, **more: meta.interval(rows, **{"samples": 60} | more),
    "compare": lambda rows, **more: meta.compare(rows, **{"samples": 60} | more),
    "rank": lambda rows, **more: meta.rank(rows, **{"samples": 60} | more),
    "normality": lambda rows, **more: meta.normality(rows, **more),
    "delta": lambda rows, **more: meta.delta(rows, upper=1.0, **more),
    "difference": lambda rows, **more: meta.difference(
        rows, 1.0, **{"samples": 60} | more
    ),
    "stability": lambda rows, **more: meta.stability(rows, **{"samples": 20} | more),
    "testset": lambda rows, **more: meta.testset(
        rows, full=rows, **{"samples": 60} | more
    ),
    "range": lambda rows, **more: meta.range(rows, best=3, **{"samples": 60} | more),
}
RANDOM = ("interval", "compare", "rank", "difference", "stability", "testset", "range")
CONFIDENT = ("interval", "compare", "rank", "difference", "testset", "normality")


def numbers(result):
    """All that a result says, and its signature."""
    document = result.to_json()
    document.pop("signature")
    return str(document), str(result.signature)


@pytest.mark.parametrize("verb", VERBS)
def test_signatures_change_with_the_numbers_and_with_nothing_else(verb):
    run = VERBS[verb]
    first, signature = numbers(run(ROWS))
    shuffled = [ROWS[i] for i in np.random.default_rng(0).permutation(len(ROWS))]
    for same in (shuffled, ROWS[::-1], read_scores(ROWS)):
        assert numbers(run(same)) == (first, signature)
    other = [dict(row, score=row["score"] * (-1) ** n) for n, row in enumerate(ROWS)]
    people = [dict(r, score=-r["score"]) if r["metric"] == "human" else r for r in ROWS]
    one = [dict(ROWS[0], score=50.0), *ROWS[1:]]
    changes = [({}, other), ({}, one), ({"metrics": ["bleu", "human"]}, ROWS)]
    if verb not in ("normality", "range"):
        changes.append(({}, people))
    if verb in RANDOM:
        changes += [({"seed": 7}, ROWS), ({"samples": 61}, ROWS)]
    if verb in CONFIDENT:
        changes.append(({"confidence": 0.9}, ROWS))
    for more, rows in changes:
        changed, said = numbers(run(rows, **more))
        assert changed == first or said != signature, more

    assert numbers(run(other))[0] != first


@pytest.mark.parametrize("verb", VERBS)
def test_what_the_table_was_told_is_what_the_verb_is_told(verb):
    renamed = {"human": "ann"}
    rows = [row | {"metric": renamed.get(row["metric"], row["metric"])} for row in ROWS]
    told = {"metrics": ["rouge", "bleu"]}
    table = read_scores(rows, "ann", **told)

    assert numbers(VERBS[verb](table)) == numbers(
        VERBS[verb](rows, human="ann", **told)
    )
    assert numbers(
        VERBS[verb](table, human="rouge", metrics=["bleu", "ann"])
    ) != numbers(VERBS[verb](table))


X, Z = VALUES[[0, 2]]
ARRAYS = [verb for verb in VERBS if verb not in ("compare", "rank", "range", "testset")]


@pytest.mark.parametrize("verb", ARRAYS)
def test_two_arrays_are_a_table(verb):
    usual = {"difference": 1.0} if verb == "difference" else {}
    usual |= {"samples": 60} if verb in RANDOM else {}
    run = getattr(meta, verb)
    named = [r | {"metric": "x"} if r["metric"] == "rouge" else r for r in ROWS]
    rows = [r for r in named if r["metric"] != "bleu"]
    one = numbers(run(X, human=Z, **usual))[0]
    two = numbers(run(rows, human="human", **usual))[0]
    assert re.sub(r"'\d'", "''", one) == re.sub(r"'[ds]\d'", "''", two)
    run(X[:, 0].tolist(), human=pandas.Series(Z[:, 0]), **usual)  # one score a system
    for wrong in (Z[:3], [["a"]], np.inf * Z):
        with pytest.raises(LitepyramidError):
            run(X, human=wrong, **usual)


@pytest.mark.parametrize("verb", VERBS)
def test_a_wide_table_and_the_mean_of_two_raters(verb, tmp_path):
    path = tmp_path / "wide.csv"
    lines = ["system,input,rouge,bleu,h1,h2"]
    for s, i in itertools.product(range(9), range(7)):
        rouge, bleu, people = VALUES[:, s, i]
        lines.append(f"s{s},d{i},{rouge},{bleu},{2 * people},0")
    path.write_text("\n".join(lines), encoding="utf-8")
    wide = VERBS[verb](path, columns="human=h1+h2", metrics=["rouge", "bleu"])
    assert numbers(wide) == numbers(VERBS[verb](ROWS, metrics=["rouge", "bleu"]))


@pytest.mark.parametrize("verb", ["interval", "compare", "delta", "range"])
def test_figures_are_not_cut_and_nothing_overlaps(verb, tmp_path):
    image = pytest.importorskip("matplotlib.image")
    figure = VERBS[verb](ROWS).to_figure()
    figure.savefig(tmp_path / "f.png", bbox_inches="tight", pad_inches=0.06)
    pixels = image.imread(tmp_path / "f.png")[..., :3]
    for edge in (pixels[:3], pixels[-3:], pixels[:, :3], pixels[:, -3:]):
        assert edge.min() == 1.0

    for axes in figure.axes:
        assert axes.get_window_extent().height > 30
        labels = [t.get_size() for t in axes.get_xticklabels()]
        for legend in figure.legends:
            assert max(t.get_size() for t in legend.get_texts()) <= max(labels) + 1e-9
            assert not legend.get_window_extent().overlaps(axes.get_window_extent())
        boxes = [t.get_window_extent() for t in axes.get_xticklabels() if t.get_text()]
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes)), verb
