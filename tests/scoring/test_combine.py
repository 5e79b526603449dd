"""Human scores from labels of some inputs and a judge: against oracles, by simulation,
as laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from litepyramid.errors import InputError
from litepyramid.scoring.combine import combine
from litepyramid.scoring.estimates import prediction_powered
from litepyramid.types import ScoreMatrix


def made(seed, systems=3, inputs=40, noise=0.1):
    """Human scores, a judge's scores of them, and the names."""
    rng = np.random.default_rng(seed)
    human = rng.random((systems, inputs))
    judge = 0.6 * human + noise * rng.standard_normal((systems, inputs))
    return (
        human,
        judge,
        (tuple("abcdefgh"[:systems]), tuple(f"{i:03}" for i in range(inputs))),
    )


def hidden(human, labelled):
    shown = np.full(human.shape, np.nan)
    shown[:, labelled] = human[:, labelled]
    return shown


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_ppi_python_gives_the_same_from_the_slopes_of_the_others(share, noise):
    ppi = pytest.importorskip("ppi_py", reason="the oracle is not installed")
    human, judge, _ = made(1, inputs=60, noise=noise)
    labelled = np.sort(np.random.default_rng(2).permutation(60)[: int(60 * share)])
    means = prediction_powered(hidden(human, labelled), judge)

    for row, (h, f) in enumerate(zip(human, judge, strict=True)):
        values = []
        slopes = []
        for j in labelled:
            others = labelled[labelled != j]
            slopes.append(
                np.polyfit(f[others], h[others], 1)[0] if means.weight[row] else 0.0
            )
            values.append(ppi.ppi_mean_pointestimate(h[[j]], f[[j]], f, lam=slopes[-1]))
        assert means.value[row] == pytest.approx(np.mean(values), abs=1e-10)
        assert means.weight[row] == pytest.approx(np.mean(slopes), abs=1e-10)


def test_a_plain_loop_gives_the_same():
    human, judge, _ = made(
        3,
        systems=1,
        inputs=20,
        noise=0.03,
    )
    labelled = np.array([1, 4, 5, 9, 11, 12, 19])
    h = human[0, labelled]
    f = judge[0, labelled]
    corrected = []

    for j in range(7):
        others = np.arange(7) != j
        slope = np.cov(h[others], f[others])[0, 1] / f[others].var(ddof=1)
        corrected.append(h[j] - slope * (f[j] - judge[0].mean()))

    error = np.sqrt((1 - 7 / 20) * np.var(corrected, ddof=1) / 7)
    known = hidden(human, labelled)
    means = prediction_powered(known, judge)
    assert means.weight[0] > 1
    assert means.value[0] == pytest.approx(np.mean(corrected), abs=1e-12)
    reach = stats.t.ppf(0.975, 6) * error
    assert (means.high - means.low)[0] == pytest.approx(2 * reach, abs=1e-12)
    alone = prediction_powered(known, judge, target="population")
    ends = stats.t.interval(0.95, 6, h.mean(), stats.sem(h))
    assert (alone.alone_low[0], alone.alone_high[0]) == pytest.approx(ends)


@given(st.integers(0, 10**6), st.floats(-3, 3), st.floats(0.1, 5), st.booleans())
@settings(max_examples=40, deadline=None)
def test_scale_of_the_judge_and_order_of_inputs_do_not_matter_and_nothing_is_wider(
    seed, shift, scale, turned
):
    human, judge, _ = made(
        seed,
        systems=2,
        inputs=20,
        noise=0.5,
    )
    rng = np.random.default_rng(seed)
    labelled = np.sort(rng.permutation(20)[:9])
    order = rng.permutation(20)
    there = np.sort(np.argsort(order)[labelled])
    first = prediction_powered(hidden(human, labelled), judge)
    other = shift + (-scale if turned else scale) * judge[:, order]
    second = prediction_powered(hidden(human[:, order], there), other)
    for name in ("value", "low", "high", "saved", "error"):
        assert np.allclose(getattr(first, name), getattr(second, name), atol=1e-9)
    assert (first.high - first.low <= first.alone_high - first.alone_low + 1e-12).all()
    assert (first.saved >= 0).all()


def test_a_constant_judge_changes_nothing():
    human, judge, names = made(6)
    labelled = np.random.default_rng(0).permutation(40)[:12]
    constant = ScoreMatrix("judge", *names, np.full_like(judge, 0.5))
    result = combine((constant, ScoreMatrix("human", *names, hidden(human, labelled))))
    for one in (*result.systems, *result.pairs):
        assert (one.weight, one.saved) == (0, 0)
        assert (one.low, one.high) == (one.alone_low, one.alone_high)
    assert "does not help" in result.to_table()


def test_a_choice_that_is_no_sample_is_refused():
    human, judge, names = made(10)
    judged = ScoreMatrix("j", *names, judge)
    for chosen in (range(12), range(28, 40)):
        shown = ScoreMatrix("human", *names, hidden(human, list(chosen)))
        with pytest.raises(InputError, match="not a random sample"):
            combine((judged, shown))
        assert combine((judged, shown), assume_random=True).labels == 12

    with pytest.raises(InputError, match="at least 5"):
        combine((judged, ScoreMatrix("human", *names, hidden(human, [3, 8]))))
    with pytest.raises(InputError, match="different systems or inputs"):
        combine(
            (judged, ScoreMatrix("human", names[0], tuple("abcd" * 10)[:40], human))
        )


def test_pairs_and_groups_say_the_same():
    human, judge, names = made(11, systems=4, inputs=60)
    human[0] += 0.4
    labelled = np.random.default_rng(1).permutation(60)[:25]
    result = combine(
        (
            ScoreMatrix("j", *names, judge),
            ScoreMatrix("human", *names, hidden(human, labelled)),
        )
    )
    groups = {entry.system: set(entry.groups) for entry in result.systems}
    assert result.systems[0].system == "a"

    for pair in result.pairs:
        assert (pair.p_holm < 0.05) == (not groups[pair.first] & groups[pair.second])
        assert pair.low <= pair.difference <= pair.high
        assert pair.difference >= 0
        t = stats.t.ppf(0.975, 24)
        assert pair.p == pytest.approx(
            2 * stats.t.sf(pair.difference / ((pair.high - pair.low) / (2 * t)), 24)
        )

    assert len(result.to_json()["pairs"]) == 6


@pytest.mark.parametrize("kind", ["good", "inverted", "noise"])
def test_intervals_cover(kind):
    human, judge, _ = made(
        12,
        systems=20,
        inputs=100,
        noise=0.15,
    )
    rng = np.random.default_rng(3)
    judge = {
        "good": judge,
        "inverted": -judge,
        "noise": rng.random(judge.shape),
    }[kind]
    truth = human.mean(axis=1)
    rows = []

    for _ in range(60):
        labelled = np.sort(rng.permutation(100)[:25])
        m = prediction_powered(hidden(human, labelled), judge)
        covered = (m.low <= truth) & (truth <= m.high)
        rows.append([covered, m.high - m.low, m.alone_high - m.alone_low])

    covered, width, alone = np.mean(rows, axis=(0, 2))
    assert 0.925 < covered < 0.975
    assert width / alone < (1.0 if kind == "noise" else 0.85)


def before(human, judge, labelled, target):
    """`prediction_powered` as it was for whole inputs alone, step by step."""
    n = len(labelled)
    total = judge.shape[1]
    at_labels = judge[:, labelled]
    x, y = (values - values.mean(axis=1)[:, None] for values in (at_labels, human))
    left = n / (n - 1)
    spread = (x * x).sum(axis=1)[:, None] - left * x * x
    usable = spread > 1e-12 * np.maximum(1.0, (at_labels**2).sum(axis=1)[:, None])
    shared = (x * y).sum(axis=1)[:, None] - left * x * y
    slopes = np.where(usable, shared / np.where(usable, spread, 1.0), 0.0)
    corrected = human - slopes * (at_labels - judge.mean(axis=1)[:, None])
    unit = corrected.var(axis=1, ddof=1)
    unit_alone = human.var(axis=1, ddof=1)
    error, error_alone = (one / n * (1 - n / total) for one in (unit, unit_alone))
    helps = error < 0.95 * error_alone
    value = np.where(helps, corrected.mean(axis=1), human.mean(axis=1))
    error = np.where(helps, error, error_alone)
    if target == "population":
        error = error + unit_alone / total

    return value, np.sqrt(error), np.where(helps, slopes.mean(axis=1), 0.0)


@pytest.mark.parametrize("target", ["inputs", "population"])
def test_whole_inputs_give_the_same_bits_as_before_there_were_other_samples(target):
    for seed in range(20):
        human, judge, _ = made(seed, inputs=20 + seed)
        labelled = np.sort(np.random.default_rng(seed).permutation(20)[: 6 + seed // 2])
        now = prediction_powered(hidden(human, labelled), judge, target=target)
        then = before(human[:, labelled], judge, labelled, target)
        for name, values in zip(("value", "error", "weight"), then, strict=True):
            assert getattr(now, name).tolist() == values.tolist()


def test_with_every_input_labelled_intervals_are_those_of_the_population():
    human, judge, names = made(4)
    scores = ScoreMatrix("j", *names, judge), ScoreMatrix("human", *names, human)
    result = combine(scores)
    assert result.target == "population"
    assert "nothing is left to estimate" in result.notes[0]
    ends = stats.t.interval(0.95, 39, human.mean(axis=1), stats.sem(human, axis=1))
    for entry in result.systems:
        row = names[0].index(entry.system)
        assert (entry.low, entry.high) == pytest.approx((ends[0][row], ends[1][row]))
    assert all(pair.p > 0 for pair in result.pairs)


@pytest.mark.parametrize("labels", [4, 5, 14, 15])
def test_few_labels_warn_and_fewer_are_refused(labels):
    human, judge, names = made(5)
    labelled = np.random.default_rng(labels).permutation(40)[:labels]
    shown = ScoreMatrix("human", *names, hidden(human, labelled))
    if labels < 5:
        with pytest.raises(InputError):
            combine((ScoreMatrix("j", *names, judge), shown))
    else:
        notes = combine((ScoreMatrix("j", *names, judge), shown)).notes
        assert any("Warning" in note for note in notes) == (labels < 15)


def test_a_difference_that_contradicts_the_scores_is_told():
    rng = np.random.default_rng(0)
    for seed in range(200):
        human, judge, names = made(
            seed,
            systems=4,
            inputs=30,
            noise=0.6,
        )
        human = 0.5 + 0.05 * human
        labelled = rng.permutation(30)[:8]
        shown = ScoreMatrix("human", *names, hidden(human, labelled))
        result = combine((ScoreMatrix("j", *names, judge), shown), assume_random=True)
        scores = result.scores
        contrary = any(scores[p.first] < scores[p.second] for p in result.pairs)
        assert contrary == any("λ of its own" in note for note in result.notes)
        if contrary:
            return

    pytest.fail("no pair contradicted its scores")


def test_another_tools_published_answer():
    """truescore's README: 4,000 answers, 3,353 passed by the judge; 600 labelled, 431
    passed by people: .7150 [.6836, .7463]. Of how many both said so (416) and the judge
    among the labelled (506) it tells nothing: these are the counts that give it."""
    labelled = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [416, 90, 15, 79], axis=0)
    judge = np.concatenate([labelled[:, 0], np.arange(3400) < 3353 - 506])
    human = np.concatenate([labelled[:, 1], np.full(3400, np.nan)])
    names = ("support",), tuple(f"{i:04}" for i in range(4000))
    judged = ScoreMatrix("judge", *names, judge[None])
    result = combine(
        (judged, ScoreMatrix("human", *names, human[None])),
        target="population",
        assume_random=True,
    )

    (system,) = result.systems
    assert (system.score, system.low, system.high) == pytest.approx(
        (0.7150, 0.6836, 0.7463), abs=1e-4
    )
    assert (round(system.judge, 4), round(system.alone, 4)) == (0.8383, 0.7183)
