"""Coverage and power: the paper's order of methods, stopping and going on, degraded ROUGE."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from litepyramid.errors import InputError
from litepyramid.meta.simulate import interval_coverage as coverage_module
from litepyramid.meta.simulate.interval_coverage import coverage
from litepyramid.meta.simulate.test_power import PowerSettings, power_on_noise, power_on_words
from litepyramid.tables import render
from litepyramid.types import InputReferences, ScoreTable, SystemSummaries

SUMMEVAL = "expert_relevance_*"


def simulated(systems: int = 16, inputs: int = 30, seed: int = 0) -> ScoreTable:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, 1))
    values = np.stack([quality + s * rng.normal(size=(systems, inputs)) for s in (1.0, 0.7)])
    names = tuple(f"s{i}" for i in range(systems))
    return ScoreTable(("m", "human"), names, tuple(map(str, range(inputs))), values)


def test_published_order_of_intervals(data) -> None:
    """DDR21 Table 1: BOOT-BOTH covers most, BOOT-INPUTS least, at both levels."""
    result = coverage(
        data / "summeval" / "metric_scores.csv", SUMMEVAL, metrics="qa-eval_f1", trials=75,
        samples=150,
    )  # fmt: skip
    for level in ("system", "summary"):
        found = {r.method: r for r in result.rows if r.level == level}
        assert found["boot-both"].best
        assert found["boot-both"].coverage > 0.85
        assert found["boot-inputs"].coverage < 0.85
        assert found["boot-systems"].coverage < 0.9
        assert found["boot-both"].width > found["boot-systems"].width
    assert result.halves == {"qa-eval_f1": (8, 50)}


@pytest.mark.parametrize(
    "column",
    [(0.72, 0.76, 0.58, 0.82), (1, 0.72, 0.70, 0.92), (0.87, 0.81, 0.70, 0.98),
     (1, 0.73, 0.73, 0.93), (0.85, 0.80, 0.68, 0.94), (1, 0.72, 0.62, 0.88)],
)  # fmt: skip
def test_the_nearest_is_the_bold_one_of_table_1(column) -> None:
    """DDR21 Table 1, 1,000 trials: nearest to .95, below 1, and significantly another."""
    methods = ("fisher", "boot-systems", "boot-inputs", "boot-both")
    shares = dict(zip(methods, column, strict=True))
    nearest, p = coverage_module._nearest(shares, dict.fromkeys(methods, 1000), 0.95)
    assert nearest == "boot-both"
    held = {k: round(1000 * v) for k, v in shares.items()}
    both = held["boot-both"]
    expected = max(
        chi2_contingency([[n, 1000 - n], [both, 1000 - both]], correction=False).pvalue / 2
        for k, n in held.items()
        if k != "boot-both"
    )
    assert p == pytest.approx(expected)
    assert p <= 0.05


def test_no_interval_is_best_where_two_do_not_differ() -> None:
    few = coverage(simulated(), method=["boot-both", "fisher"], level=["system"], trials=12,
                   samples=40)  # fmt: skip
    assert not any(r.best for r in few.rows)
    assert coverage_module._nearest({"fisher": 1.0}, {"fisher": 9}, 0.95)[0] is None
    assert "<" not in render(few, "csv")


def test_a_stopped_simulation_goes_on(tmp_path, monkeypatch) -> None:
    table = simulated()
    whole = coverage(table, trials=50, samples=40)
    journal = tmp_path / "run.jsonl"
    real = coverage_module.piece_rng

    def stopping(seed, *names):
        if names == ("draws", "30"):
            raise KeyboardInterrupt
        return real(seed, *names)

    monkeypatch.setattr(coverage_module, "piece_rng", stopping)
    with pytest.raises(KeyboardInterrupt):
        coverage(table, trials=50, samples=40, journal=journal)
    monkeypatch.setattr(coverage_module, "piece_rng", real)
    assert str(coverage(table, trials=50, samples=40, journal=journal).rows) == str(whole.rows)
    with pytest.raises(InputError, match="other settings"):
        coverage(table, trials=60, samples=41, journal=journal)
    assert str(coverage(table, trials=50, samples=40, seed=2).rows) != str(whole.rows)


def test_more_trials_keep_the_first(tmp_path) -> None:
    table = simulated()
    journal = tmp_path / "run.jsonl"
    few = coverage(table, trials=20, samples=40, journal=journal)
    coverage(table, trials=40, samples=40, journal=journal)
    assert str(coverage(table, trials=20, samples=40).rows) == str(few.rows)


def test_halves_without_a_correlation_are_counted() -> None:
    table = simulated()
    values = table.values.copy()
    values[1] = 1.0
    values[1, 0, 0] = 2.0
    result = coverage(
        ScoreTable(table.metrics, table.systems, table.inputs, values),
        trials=40, samples=40, method=["boot-both"], level=["system"],
    )  # fmt: skip
    row = result.rows[0]
    assert row.undefined + row.trials == 40
    assert row.undefined > 10
    with pytest.raises(InputError, match="at least four"):
        coverage(simulated(systems=3), trials=1)
    with pytest.raises(InputError, match="at least 1"):
        coverage(simulated(), trials=0)


def test_more_noise_is_found_more_often_and_permutation_finds_most() -> None:
    settings = PowerSettings(trials=25, samples=60)
    result = power_on_noise(simulated(), metric="m", amounts=[0.5, 4.0], settings=settings)
    power = {(r.amount, r.level, r.method): r for r in result.rows}
    for level in ("system", "summary"):
        assert power[4.0, level, "perm-both"].power >= power[4.0, level, "boot-both"].power
        assert power[4.0, level, "perm-both"].gap > power[0.5, level, "perm-both"].gap
        assert power[4.0, level, "perm-both"].power > power[0.5, level, "perm-both"].power
    assert power[4.0, "summary", "perm-both"].power > 0.9


def test_amounts_and_settings_are_checked() -> None:
    settings = PowerSettings(trials=1, samples=19)
    with pytest.raises(InputError, match="only 1 system has scores of 'm' and 'human'"):
        power_on_noise(simulated(systems=1), metric="m", settings=settings)
    for amounts in ([], [0.0], [-1.0]):
        with pytest.raises(InputError):
            power_on_noise(simulated(), metric="m", amounts=amounts, settings=settings)
    for wrong in ({"trials": 0}, {"alpha": 0.0}):
        with pytest.raises(InputError, match="trial"):
            PowerSettings(**wrong)


def written(systems: int = 8, inputs: int = 12):
    """Summaries that hold the more of a reference's words the better the system."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(300)]
    references = [
        InputReferences(str(j), ((" ".join(rng.choice(words, 20, replace=False)),),), (False,))
        for j in range(inputs)
    ]
    summaries, human = [], np.empty((systems, inputs))
    for i in range(systems):
        texts = []
        for j, reference in enumerate(references):
            target = reference.references[0][0].split()
            hits = rng.binomial(20, (i + 2) / (systems + 3))
            texts.append(" ".join([*rng.permutation(target)[:hits], *["x"] * (20 - hits)]))
            human[i, j] = hits + rng.normal()
        summaries.append(SystemSummaries(f"s{i}", tuple(map(str, range(inputs))), tuple(texts)))
    table = ScoreTable(("human",), tuple(f"s{i}" for i in range(systems)),
                       tuple(map(str, range(inputs))), human[None])  # fmt: skip
    return table, summaries, references


def test_fewer_words_are_found_to_be_worse(tmp_path) -> None:
    table, summaries, references = written()
    settings = PowerSettings(trials=10, samples=60, method=("perm-both",))
    journal = tmp_path / "run.jsonl"
    for _ in range(2):
        result = power_on_words(
            table, summaries, references, shares=[0.2, 0.9], settings=settings, journal=journal
        )
    power = {(r.amount, r.level): r for r in result.rows}
    assert power[0.2, "summary"].power == 1
    assert power[0.2, "summary"].gap > power[0.9, "summary"].gap > 0
    assert (result.systems, result.inputs, result.left_out) == (8, 12, "")


def test_systems_and_inputs_are_matched_by_name() -> None:
    table, summaries, references = written()
    settings = PowerSettings(trials=2, samples=19, method=("perm-both",), level=("system",))
    same = power_on_words(table, summaries, references, shares=[0.5], settings=settings)
    turned = ScoreTable(
        ("human",), table.systems[::-1], table.inputs[::-1], table.values[:, ::-1, ::-1]
    )
    assert power_on_words(turned, summaries, references, shares=[0.5], settings=settings).rows == (
        same.rows
    )
    fewer = power_on_words(table, summaries[2:], references[:9], shares=[0.5], settings=settings)
    assert (fewer.systems, fewer.inputs) == (6, 9)
    assert fewer.left_out == "2 systems and 3 inputs"
    stranger = [SystemSummaries("z", summaries[0].inputs, summaries[0].texts)]
    with pytest.raises(InputError, match="share no system"):
        power_on_words(table, stranger, references, settings=settings)
    short = [SystemSummaries("s0", ("0",), ("a",))]
    with pytest.raises(InputError, match="no summary of input '1'"):
        power_on_words(table, short, references, settings=settings)
