"""What every verb promises: order of rows, signatures, errors of one kind, figures."""

import numpy as np
import pytest
from cases import refused

from litepyramid import meta
from litepyramid.data.score_tables import read_scores

pandas = pytest.importorskip("pandas")

VALUES = np.random.default_rng(3).normal(size=(3, 9, 7))
VALUES = np.round(VALUES + np.arange(9)[:, None], 2)
X, BLEU, Z = VALUES
ROWS = []
for system, item in np.ndindex(X.shape):
    row = {
        "system": f"system {system + 1}",
        "input": f"input {item + 1}",
        "rouge": X[system, item],
        "bleu": BLEU[system, item],
        "human": Z[system, item],
    }
    ROWS.append(row)
FEW = {"samples": 60}
VERBS = {
    "correlate": {"coefficient": ["kendall", "spa", "acc-eq"]},
    "interval": FEW,
    "compare": FEW,
    "rank": FEW,
    "delta": {"upper": 1.0},
    "difference": {"difference": 1.0} | FEW,
    "stability": {"samples": 20},
    "range": {"best": 3} | FEW,
}
"""What each verb is told here beside its table."""
RANDOM = [verb for verb, options in VERBS.items() if "samples" in options]
CONFIDENT = ("interval", "compare", "rank", "difference")


def run(verb, rows, **more):
    options = VERBS[verb] | more
    return getattr(meta, verb)(rows, **options)


def numbers(result):
    """All that a result says, and its signature."""
    document = result.to_json()
    document.pop("signature")
    return str(document), str(result.signature)


@pytest.mark.parametrize("verb", VERBS)
def test_signatures_change_with_the_numbers_and_with_nothing_else(verb):
    first, signature = numbers(run(verb, ROWS))
    shuffled = np.random.default_rng(0).permutation(ROWS).tolist()
    for same in (shuffled, ROWS[::-1], read_scores(ROWS)):
        assert numbers(run(verb, same)) == (first, signature)

    other = [dict(ROWS[0], rouge=50.0), *ROWS[1:]]
    assert numbers(run(verb, other))[0] != first
    changes = [(other, {})]
    if verb != "range":  # it needs two metrics beside people
        changes.append((ROWS, {"metrics": ["bleu", "human"]}))
    if verb != "range":
        people = [dict(row, human=-row["human"]) for row in ROWS]
        changes.append((people, {}))
    if verb in RANDOM:
        changes.append((ROWS, {"seed": 7}))
        changes.append((ROWS, {"samples": 61}))
    if verb in CONFIDENT:
        changes.append((ROWS, {"confidence": 0.9}))

    for rows, more in changes:
        changed, changed_signature = numbers(run(verb, rows, **more))
        assert changed == first or changed_signature != signature, more


@pytest.mark.parametrize("verb", VERBS)
def test_what_the_table_was_told_is_what_the_verb_is_told(verb):
    rows = [row | {"ann": row["human"]} for row in ROWS]
    told = {"human": "ann", "metrics": ["rouge", "bleu"]}
    table = read_scores(rows, **told)
    plain = numbers(run(verb, table))
    assert plain == numbers(run(verb, rows, **told))
    other = {"human": "rouge", "metrics": ["bleu", "ann"]}
    assert plain != numbers(run(verb, table, **other))


ARRAYS = [
    verb for verb in VERBS if verb not in ("compare", "rank", "range", "stability")
]


@pytest.mark.parametrize("verb", ARRAYS)
def test_two_arrays_are_a_table(verb):
    rows = read_scores(ROWS, "human", metrics="rouge")
    of_rows, _ = numbers(run(verb, rows))
    of_arrays, _ = numbers(run(verb, X, human=Z))
    assert of_rows.replace("rouge", "x") == of_arrays

    # One score a system.
    more = {"coefficient": "kendall"} if verb == "correlate" else {}
    one = X.mean(axis=1).tolist()
    run(verb, one, human=pandas.Series(Z.mean(axis=1)), **more)
    for wrong in (Z[:3], [["a"]], np.inf * Z):
        with refused():
            run(verb, X, human=wrong)


MANY = [row | {f"m{n}": n * row["rouge"] % 5 for n in range(9)} for row in ROWS]
DRAWN = ("interval", "compare", "rank", "delta", "range")


@pytest.mark.parametrize("rows", [ROWS, MANY], ids=["few", "many"])
@pytest.mark.parametrize("verb", DRAWN)
def test_figures_are_not_cut_and_nothing_overlaps(verb, rows, tmp_path):
    pytest.importorskip("matplotlib", reason="the extra figures is not installed")
    from figure_checks import check

    # A test of eleven metrics needs more samples.
    more = {"samples": 200} if verb == "compare" else {}
    figure = run(verb, rows, **more).to_figure()
    check(figure, tmp_path, columns=3)
    # `check` has set 500 pixels an inch.
    assert all(axes.get_window_extent().height > 150 for axes in figure.axes)


def test_bars_stand_on_their_labels_and_bands_are_shares():
    pytest.importorskip("matplotlib", reason="the extra figures is not installed")
    (axes,) = run("rank", MANY).to_figure().axes
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [line.get_ydata()[0] for line in dots] == [*axes.get_yticks()]

    pairs, shares = run("range", MANY).to_figure().axes
    assert len(pairs.get_legend_handles_labels()[1]) == 2
    (band,) = shares.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() >= 0
    assert heights.max() <= 1
