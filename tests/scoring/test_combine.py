"""Human scores from labels of some inputs and a judge: against oracles, by simulation,
as laws."""

import numpy as np
import pytest
from cases import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up import of_presence
from scipy import stats

import litepyramid as lp
from litepyramid.data.scores import Scores
from litepyramid.scoring.combine import combine
from litepyramid.scoring.estimates import prediction_powered


def made(seed, systems=3, inputs=40, noise=0.1):
    """Human scores, and a judge's scores of them."""
    rng = np.random.default_rng(seed)
    human = rng.random((systems, inputs))
    judge = 0.6 * human + noise * rng.standard_normal((systems, inputs))
    return human, judge


def hidden(human, labelled):
    shown = np.full(human.shape, np.nan)
    shown[:, labelled] = human[:, labelled]
    return shown


def combined(judge, human, **options):
    """What `combine` says of a judge's scores and human ones."""
    systems, inputs = judge.shape
    names = "abcdefgh"[:systems], [f"{i:04}" for i in range(inputs)]
    return combine(Scores.of({"judge": judge, "human": human}, *names), **options)


@pytest.mark.parametrize("target", ["inputs", "population"])
@pytest.mark.parametrize("labels", [7, 12, 30, 48])
@pytest.mark.parametrize("noise", [0.03, 0.6])
def test_ppi_python_gives_the_same_from_the_slopes_of_the_others(noise, labels, target):
    """Each draw gives ppi-python's estimate; what is known of their mean is Student's."""
    ppi = pytest.importorskip("ppi_py", reason="the oracle is not installed")
    human, judge = made(1, systems=1, inputs=60, noise=noise)
    labelled = np.sort(np.random.default_rng(2).permutation(60)[:labels])
    means = prediction_powered(hidden(human, labelled), judge, target=target)

    h = human[0, labelled]
    f = judge[0, labelled]
    slopes = []
    estimates = []
    for j in range(labels):
        others = np.arange(labels) != j
        slopes.append(np.polyfit(f[others], h[others], 1)[0])
        one = ppi.ppi_mean_pointestimate(h[[j]], f[[j]], judge[0], lam=slopes[j])
        estimates.append(one.item())

    helps = np.var(estimates) < 0.95 * np.var(h)
    assert helps == (noise < 0.5 or labels > 12)
    values = estimates if helps else h
    assert means.weight == pytest.approx([np.mean(slopes) if helps else 0], abs=1e-10)
    assert means.value == pytest.approx([np.mean(values)], abs=1e-10)

    variance = (1 - labels / 60) * np.var(values, ddof=1) / labels
    if target == "population":
        variance += np.var(h, ddof=1) / 60
        ends = stats.t.interval(0.95, labels - 1, h.mean(), stats.sem(h))
        found = means.from_labels_alone().interval(0.95)
        assert found[:, 0].tolist() == pytest.approx(ends)

    reach = stats.t.ppf(0.975, labels - 1) * np.sqrt(variance)
    assert np.ptp(means.interval(0.95)) == pytest.approx(2 * reach, abs=1e-12)


@given(
    st.integers(0, 10**6),
    st.floats(-3, 3),
    st.sampled_from([1e-12, 0.1, 0.7, 5.0]),
    st.sampled_from([1, -1]),
)
@settings(max_examples=40, deadline=None)
def test_scale_of_the_judge_and_order_of_inputs_do_not_matter_and_nothing_is_wider(
    seed, shift, scale, sign
):
    human, judge = made(seed, systems=2, inputs=20, noise=0.5)
    rng = np.random.default_rng(seed)
    shown = hidden(human, rng.permutation(20)[:9])
    order = rng.permutation(20)

    first = prediction_powered(shown, judge)
    other = scale * (shift + sign * judge[:, order])
    second = prediction_powered(shown[:, order], other)

    for name in ("value", "saved", "variance"):
        assert np.allclose(getattr(first, name), getattr(second, name), atol=1e-9)
    assert (first.variance <= first.alone_variance + 1e-12).all()
    assert (first.saved >= 0).all()


def test_a_constant_judge_changes_nothing():
    human, judge = made(6)
    labelled = np.random.default_rng(0).permutation(40)[:12]

    result = combined(np.full_like(judge, 0.5), hidden(human, labelled))

    for one in (*result.systems, *result.pairs):
        assert (one.weight, one.saved) == (0, 0)
        assert (one.low, one.high) == (one.alone_low, one.alone_high)
    assert "does not help" in result.to_table()


def test_a_choice_that_is_no_sample_is_refused():
    human, judge = made(10)
    for chosen in (range(12), range(28, 40)):
        shown = hidden(human, list(chosen))
        with refused("not a random sample"):
            combined(judge, shown)
        assert combined(judge, shown, assume_random=True).labels == 12


def test_scores_without_labels_are_refused_with_the_way_to_labels():
    units = [["It rained.", "We left."]] * 6
    result = lp.score(["It rained."] * 6, units, judge="recall", samples=40)
    for option in ("--labels PATH", "budget export --labels", "budget import -o"):
        with refused(option):
            combine(result)


@pytest.mark.parametrize("labels", [4, 5, 14, 15])
def test_few_labels_warn_and_fewer_are_refused(labels):
    human, judge = made(5)
    shown = hidden(human, np.random.default_rng(labels).permutation(40)[:labels])

    if labels < 5:
        shown[0] = np.nan
        with refused("of 4 inputs of 'b'.* at least 5"):
            combined(judge, shown)
    else:
        notes = combined(judge, shown).notes
        assert any("Warning" in note for note in notes) == (labels < 15)


def test_pairs_and_groups_say_the_same():
    human, judge = made(11, systems=4, inputs=60)
    human[0] += 0.4
    labelled = np.random.default_rng(1).permutation(60)[:25]

    result = combined(judge, hidden(human, labelled))

    groups = {entry.system: set(entry.groups) for entry in result.systems}
    assert result.systems[0].system == "a"
    t = stats.t.ppf(0.975, 24)
    for pair in result.pairs:
        assert (pair.p_holm < 0.05) == (not groups[pair.first] & groups[pair.second])
        assert pair.difference >= 0
        assert pair.low <= pair.difference <= pair.high
        error = (pair.high - pair.low) / (2 * t)
        p = 2 * stats.t.sf(pair.difference / error, 24)
        assert pair.p == pytest.approx(p)

    assert len(result.to_json()["pairs"]) == 6


@pytest.mark.parametrize("kind", ["good", "inverted", "noise"])
def test_intervals_cover(kind):
    human, judge = made(12, systems=20, inputs=100, noise=0.15)
    rng = np.random.default_rng(3)
    if kind == "inverted":
        judge = -judge
    elif kind == "noise":
        judge = rng.random(judge.shape)
    truth = human.mean(axis=1)
    rows = []

    for _ in range(60):
        labelled = np.sort(rng.permutation(100)[:25])
        means = prediction_powered(hidden(human, labelled), judge)
        low, high = means.interval(0.95)
        alone_low, alone_high = means.from_labels_alone().interval(0.95)
        covered = (low <= truth) & (truth <= high)
        rows.append([covered, high - low, alone_high - alone_low])

    covered, width, alone = np.mean(rows, axis=(0, 2))
    assert 0.925 < covered < 0.975
    assert width / alone < (1.0 if kind == "noise" else 0.85)


def test_with_every_input_labelled_intervals_are_those_of_the_population():
    human, judge = made(4)

    result = combined(judge, human)

    assert result.target == "population"
    assert "nothing is left to estimate" in result.notes[0]
    ends = stats.t.interval(0.95, 39, human.mean(axis=1), stats.sem(human, axis=1))
    for entry in result.systems:
        row = "abc".index(entry.system)
        assert (entry.low, entry.high) == pytest.approx((ends[0][row], ends[1][row]))
    assert all(pair.p > 0 for pair in result.pairs)


def test_a_difference_that_contradicts_the_scores_is_told():
    rng = np.random.default_rng(0)
    for seed in range(200):
        human, judge = made(seed, systems=4, inputs=30, noise=0.6)
        shown = hidden(0.5 + 0.05 * human, rng.permutation(30)[:8])
        result = combined(judge, shown, assume_random=True)
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
    options = {"target": "population", "assume_random": True}
    (system,) = combined(judge[None], human[None], **options).systems

    ends = (system.score, system.low, system.high)
    assert ends == pytest.approx((0.7150, 0.6836, 0.7463), abs=1e-4)
    assert (round(system.judge, 4), round(system.alone, 4)) == (0.8383, 0.7183)


def test_a_judge_that_contradicts_the_labels_leaves_them_alone():
    """With this judge, people's mean would be 1.27 of at most 1."""
    labels = np.full((1, 40, 10), np.nan)
    presence = np.full(labels.shape, 0.95)
    for number in range(12):
        present = 7 + number % 4
        labels[0, number] = np.arange(10) < present
        presence[0, number] = (present - 5 + number % 2 / 10) / 10

    found = lp.combine(of_presence(presence, labels), assume_random=True)
    (entry,) = found.systems
    assert (entry.weight, entry.saved) == (0, 0)
    assert entry.score == entry.alone == pytest.approx(0.85)
    assert (entry.low, entry.high) == (entry.alone_low, entry.alone_high)
    assert entry.low < entry.score < entry.high <= 1
    assert any("contradicts the labels" in note for note in found.notes)


def test_systems_labelled_on_other_inputs_are_not_compared():
    human, judge = made(3, inputs=60)
    order = np.random.default_rng(0).permutation(60)
    shown = np.full(human.shape, np.nan)
    for system, some in enumerate((order[:16], order[:20], order[15:35])):
        shown[system, some] = human[system, some]

    found = combined(judge, shown)
    compared = {frozenset((pair.first, pair.second)) for pair in found.pairs}
    assert compared == {frozenset("ab"), frozenset("bc")}
    notes = " ".join(found.notes)
    assert "Not compared, fewer than 5 inputs labelled for both: 1 pair" in notes
    # Five inputs of the pair that shares fewest.
    assert "only 5 labelled inputs of a system, or of two" in notes


def test_a_judge_without_an_error_among_few_labels_may_still_make_some():
    """It errs on one input of twenty: its errors on fifteen labels often show none."""
    rng = np.random.default_rng(0)
    truth = (rng.random((60, 100)) < 0.5).astype(float)
    wrong = rng.random(truth.shape) < 0.05
    judge = np.where(wrong, 1 - truth, truth)
    for target in ("inputs", "population"):
        covered = []
        for n in range(60):
            shown = hidden(truth[[n]], rng.permutation(100)[:15])
            (entry,) = combined(judge[[n]], shown, target=target).systems
            covered.append(entry.low <= truth[n].mean() <= entry.high)
            assert entry.low < entry.high
        assert np.mean(covered) > 0.9


def test_labels_that_are_all_the_same_do_not_prove_that_all_are():
    """One fact of twenty is there: fifteen labels often see none."""
    rng = np.random.default_rng(0)
    truth = (rng.random((60, 100, 1)) < 0.05).astype(float)
    labels = np.full(truth.shape, np.nan)
    for row, true in zip(labels, truth, strict=True):
        some = rng.permutation(100)[:15]
        row[some] = true[some]

    names = [str(n) for n in range(60)]
    result = of_presence(rng.random(truth.shape), labels, names)
    found = lp.combine(result, assume_random=True)

    covered = []
    for entry in found.systems:
        covered.append(entry.low <= truth[int(entry.system)].mean() <= entry.high)
    assert np.mean(covered) > 0.9
    alike = int((np.nanmax(labels, axis=1) == 0).sum())
    assert f"the labels of {alike} systems are all the same" in found.notes[0]
