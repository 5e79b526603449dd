"""What every verb promises: order of rows, signatures, errors of one kind, figures."""

import numpy as np
import pytest
from cases import refused

from litepyramid import meta
from litepyramid.io.scores import read_scores

pandas = pytest.importorskip("pandas")

RNG = np.random.default_rng(3)
VALUES = np.round(RNG.normal(size=(3, 9, 7)) + np.arange(9)[:, None], 2)
ROWS = [
    {"system": f"s{s}", "input": f"d{i}", "metric": metric, "score": VALUES[m, s, i]}
    for m, metric in enumerate(("rouge", "bleu", "human"))
    for s in range(9)
    for i in range(7)
]
FEW = {"samples": 60}
VERBS = {
    "correlate": {"coefficient": ["kendall", "spa", "acc-eq"]},
    "interval": FEW,
    "compare": FEW,
    "rank": FEW,
    "normality": {},
    "delta": {"upper": 1.0},
    "difference": {"difference": 1.0} | FEW,
    "stability": {"samples": 20},
    "testset": {"full": ROWS} | FEW,
    "range": {"best": 3} | FEW,
}
"""What each verb is told here beside its table."""
RANDOM = [verb for verb, options in VERBS.items() if "samples" in options]
CONFIDENT = ("interval", "compare", "rank", "difference", "testset", "normality")


def run(verb, rows, **more):
    options = VERBS[verb] | more
    if verb == "testset":
        options["full"] = rows
    return getattr(meta, verb)(rows, **options)


def numbers(result):
    """All that a result says, and its signature."""
    document = result.to_json()
    document.pop("signature")
    return str(document), str(result.signature)


@pytest.mark.parametrize("verb", VERBS)
def test_signatures_change_with_the_numbers_and_with_nothing_else(verb):
    first, signature = numbers(run(verb, ROWS))
    shuffled = [ROWS[i] for i in np.random.default_rng(0).permutation(len(ROWS))]
    for same in (shuffled, ROWS[::-1], read_scores(ROWS)):
        assert numbers(run(verb, same)) == (first, signature)

    other = [dict(row, score=row["score"] * (-1) ** n) for n, row in enumerate(ROWS)]
    one = [dict(ROWS[0], score=50.0), *ROWS[1:]]
    changes = [({}, other), ({}, one)]
    if verb != "range":  # it needs two metrics beside people
        changes.append(({"metrics": ["bleu", "human"]}, ROWS))
    if verb not in ("normality", "range"):
        people = [dict(r, score=-r["score"]) for r in ROWS if r["metric"] == "human"]
        changes.append(({}, ROWS[: -len(people)] + people))
    if verb in RANDOM:
        changes += [({"seed": 7}, ROWS), ({"samples": 61}, ROWS)]
    if verb in CONFIDENT:
        changes.append(({"confidence": 0.9}, ROWS))

    for more, rows in changes:
        changed, changed_signature = numbers(run(verb, rows, **more))
        assert changed == first or changed_signature != signature, more

    assert numbers(run(verb, other))[0] != first


@pytest.mark.parametrize("verb", VERBS)
def test_what_the_table_was_told_is_what_the_verb_is_told(verb):
    renamed = {"human": "ann"}
    rows = [row | {"metric": renamed.get(row["metric"], row["metric"])} for row in ROWS]
    told = {"metrics": ["rouge", "bleu"]}
    table = read_scores(rows, "ann", **told)
    plain = numbers(run(verb, table))

    assert plain == numbers(run(verb, rows, human="ann", **told))
    assert plain != numbers(run(verb, table, human="rouge", metrics=["bleu", "ann"]))


X, Z = VALUES[[0, 2]]
ARRAYS = [verb for verb in VERBS if verb not in ("compare", "rank", "range", "testset")]


@pytest.mark.parametrize("verb", ARRAYS)
def test_two_arrays_are_a_table(verb):
    rows = [
        {"system": s + 1, "input": i + 1, "x": X[s, i], "human": Z[s, i]}
        for s, i in np.ndindex(X.shape)
    ]
    of_rows = numbers(run(verb, rows, human="human"))
    assert numbers(run(verb, X, human=Z))[0] == of_rows[0]

    # One score a system.
    more = {"coefficient": "kendall"} if verb == "correlate" else {}
    run(verb, X[:, 0].tolist(), human=pandas.Series(Z[:, 0]), **more)
    for wrong in (Z[:3], [["a"]], np.inf * Z):
        with refused():
            run(verb, X, human=wrong)


@pytest.mark.parametrize("verb", ["interval", "compare", "delta", "range"])
def test_figures_are_not_cut_and_nothing_overlaps(verb, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra figures is not installed")
    from figure_checks import check

    figure = run(verb, ROWS).to_figure()
    check(figure, tmp_path, columns=3)
    # `check` has set 500 pixels an inch.
    assert all(axes.get_window_extent().height > 150 for axes in figure.axes)
