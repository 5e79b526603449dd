"""The order of units, systems, inputs, files and columns changes no bit of any verb."""

import csv
import io
import random

import numpy as np
import pytest
from scipy import stats

import litepyramid as lp
from litepyramid.easiness.predict import fit
from litepyramid.embedded.example import load_example
from litepyramid.errors import InputError
from litepyramid.files import read_lines
from litepyramid.io.dataset import load
from litepyramid.judges.evaluate import evaluate
from litepyramid.meta.core.levels import level_correlation
from litepyramid.metrics.score_metrics import score_metrics
from litepyramid.scoring.pyramid import ScoringRule
from litepyramid.stats import system_means
from litepyramid.tables import plain
from litepyramid.training.pairs import labelled_pairs

EXAMPLE = load_example()


def shuffled(values, seed):
    return random.Random(seed).sample(list(values), len(values))


def example(seed=0, presence=False):
    """The example with all that has an order in another one; 0 is that of its files."""

    def turned(values):
        return shuffled(values, seed) if seed else list(values)

    units = {}
    places = {}
    for entry in turned(EXAMPLE.units):
        place = turned(range(len(entry.units)))
        places[entry.input] = place
        # Weights that differ, and importance, make sums that rounding can tell apart.
        units[entry.input] = [
            {
                "text": entry.units[n].text,
                "weight": 1 + n % 3,
                "importance": "vital" if n % 2 else "okay",
            }
            for n in place
        ]

    labels = {}
    for entry in turned(EXAMPLE.labels):
        rows = dict(zip(entry.inputs, entry.labels, strict=True))
        labels[entry.system] = {
            name: [rows[name][n] for n in places[name]] for name in turned(rows)
        }

    summaries = {}
    for entry in turned(EXAMPLE.summaries):
        texts = dict(zip(entry.inputs, entry.texts, strict=True))
        summaries[entry.system] = {name: texts[name] for name in turned(texts)}

    references = {
        entry.input: [list(texts) for texts in entry.references]
        for entry in turned(EXAMPLE.references)
    }
    return {
        "units": units,
        "summaries": summaries,
        "labels": labels,
        "references": references,
    }


def by_name(result):
    """The numbers of a result, whatever the order of its rows, and its signature."""

    def known(value):
        if isinstance(value, dict):
            return {key: known(one) for key, one in sorted(value.items())}
        if isinstance(value, list):
            return sorted((known(one) for one in value), key=repr)
        return value

    return known(plain(result.to_json()))


@pytest.mark.parametrize(
    "rule", ["lite", "vital", "sample-3", "original", "modified-1"]
)
def test_scores_by_every_rule(rule):
    values = []
    intervals = []
    signatures = []

    for turn in (0, 1):
        sources = example(turn)
        if rule == "original":  # which counts what is there: 0 or 1
            present = load(**sources).labels
            sources.pop("labels")
            rows = {
                one.system: dict(zip(one.inputs, one.labels, strict=True))
                for one in present
            }
            sources.pop("summaries")
            sources["presence"] = {
                system: {
                    name: [float(v >= 0.5) for v in own] for name, own in of.items()
                }
                for system, of in rows.items()
            }

        result = lp.score(
            load(**sources),
            judge="lexical",
            rule=rule,
            samples=200,
            seed=3,
        )
        cells = result.to_frame("inputs")
        names = list(zip(cells["system"], cells["input"], strict=True))
        values.append(dict(zip(names, cells["score"].tolist(), strict=True)))
        intervals.append(dict(zip(result.systems, result.intervals, strict=True)))
        signatures.append(result.signature)
        values[-1] |= result.scores

    assert values[0] == values[1]
    assert intervals[0] == intervals[1]
    assert signatures[0] == signatures[1]


def compared(data):
    return lp.compare(
        lp.score(
            data,
            judge="lexical",
            samples=200,
            seed=3,
        )
    )


def combined(data):
    return lp.combine(lp.score(data, judge="lexical", samples=200), assume_random=True)


def judged(data):
    return evaluate("lexical", data)


def correlated(data):
    return lp.meta.correlate(lp.score(data, judge="lexical", samples=200))


def resampled(data):
    result = lp.score(data, judge="lexical", samples=200)
    return lp.meta.interval(result, samples=50, level="system")


def measured(data):
    return score_metrics(data, metrics=["rouge-1", "rouge-l"])


VERBS = [compared, combined, judged, correlated, resampled, measured]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_gives_the_same_bits(verb):
    first, second = (by_name(verb(load(**example(seed)))) for seed in (0, 1))
    assert first == second


def test_hashes_of_two_runs():
    runs = [
        [lp.score(load(**example(seed)), judge=judge, samples=200) for judge in judges]
        for seed, judges in ((0, ("recall", "recall")), (1, ("recall", "recall")))
    ]
    one, other = (dict(lp.changes(*run).signature.fields) for run in runs)
    assert one["runs_sha"] == other["runs_sha"]


def test_what_is_learnt(tmp_path):
    tuned = []
    for seed in (0, 1):
        data = load(**example(seed))
        assert labelled_pairs(data) == labelled_pairs(load(**example()))
        tuned.append(
            lp.finetune(
                "lexical", data, output=tmp_path / str(seed), settings=["held_out=0"]
            )
        )

    one, other = (dict(result.signature.fields) for result in tuned)
    assert one == other
    judges = [(tmp_path / str(n) / "lexical.json").read_text() for n in (0, 1)]
    assert judges[0] == judges[1]


def test_easiness_and_units_of_references_in_another_order():
    regressors = []
    shares = []
    for seed in (0, 1):
        sources = example(seed)
        extraction = lp.extract(sources["references"])
        shares.append(extraction.counts)
        units = {
            name: [unit["text"] for unit in row]
            for name, row in sources["units"].items()
        }
        regressors.append(
            fit(
                sources["references"],
                units,
                stus=extraction.units,
                start="embedded",
                rounds=2,
            )
        )

    assert shares[0] == shares[1]
    assert regressors[0].sha == regressors[1].sha


def test_means_of_systems_are_the_same_bits_in_any_order():
    rng = np.random.default_rng(0)
    values = rng.random((7, 41)) ** 3
    rows = rng.permutation(7)
    columns = rng.permutation(41)
    turned = np.asfortranarray(values[np.ix_(rows, columns)])
    assert system_means(turned).tolist() == system_means(values)[rows].tolist()


def test_one_text_twice_is_refused_where_its_values_differ():
    twice = [
        {"text": "It rained.", "importance": "vital"},
        {"text": "It rained.", "importance": "okay"},
    ]
    labels = [{"unit": "It rained.", "label": 1}, {"unit": "It rained.", "label": 0}]
    with pytest.raises(InputError):
        load(
            {"a": twice},
            summaries={"x": {"a": "It rained."}},
            labels={"x": {"a": labels}},
        )

    # In lists each label is that of its unit: who is vital shows in the signature.
    results = []
    for order in ([1, 0], [0, 1]):
        data = load(
            {"a": twice},
            summaries={"x": {"a": "It rained."}},
            labels={"x": {"a": order}},
        )
        results.append(
            lp.score(
                data,
                judge="recall",
                rule="vital",
                samples=100,
            )
        )

    assert results[0].signature != results[1].signature
    assert ScoringRule.of("vital").name == "vital"


# --------------------------------------------------------------------------------------
# The one place where the order of a file is part of the definition
# --------------------------------------------------------------------------------------


def as_the_authors(metric, human, coefficient):
    """Mean over inputs; the first value of a constant vector is raised by 1e-10."""
    values = []
    for x, z in zip(metric.T.copy(), human.T.copy(), strict=True):
        for side in (x, z):
            if (side == side[0]).all():
                side[0] += 1e-10
        values.append(coefficient(x, z)[0])
    return np.mean(values)


def test_zb21_raises_the_first_system_of_the_file():
    rng = np.random.default_rng(5)
    systems = ["zeta", "beta", "alpha", "gamma"]
    metric, human = rng.random((2, 4, 6)).round(1)
    metric[:, :3] = 0.0

    def table(order):
        return [
            {
                "system": systems[n],
                "input": i,
                "m": metric[n, i],
                "human": human[n, i],
            }
            for n in order
            for i in range(6)
        ]

    signatures = []
    values = []
    for order in (range(4), [2, 1, 3, 0]):
        result = lp.meta.correlate(
            table(order),
            level="summary",
            coefficient=["pearson", "spearman"],
            constant="zb21",
        )
        expected = [
            as_the_authors(metric[list(order)], human[list(order)], coefficient)
            for coefficient in (stats.pearsonr, stats.spearmanr)
        ]
        values.append([one.value for one in result.correlations])
        assert values[-1] == pytest.approx(expected, abs=1e-6)
        signatures.append(result.signature)

    assert values[0] != pytest.approx(values[1], abs=1e-3)
    assert signatures[0] != signatures[1]
    one, other = (dict(signature.fields) for signature in signatures)
    assert one["scores_sha"] == other["scores_sha"]


def test_every_other_correlation_goes_by_names():
    rng = np.random.default_rng(6)
    x, z = rng.random((2, 5, 9))
    order = rng.permutation(5)
    rows = [
        [
            {
                "system": f"s{n}",
                "input": i,
                "m": x[n, i],
                "human": z[n, i],
            }
            for n in order_of
            for i in range(9)
        ]
        for order_of in (range(5), order)
    ]
    one, other = (lp.meta.correlate(table) for table in rows)
    assert plain(one.to_json()) == plain(other.to_json())
    assert level_correlation(x, z).value == one.correlations[0].value


# --------------------------------------------------------------------------------------
# What other programs write
# --------------------------------------------------------------------------------------


def test_lines_that_end_in_a_carriage_return_are_lines(tmp_path):
    path = tmp_path / "s.txt"
    path.write_bytes("It rained.\rTwo died.\rÄpfel.\r".encode())
    assert read_lines(path) == ["It rained.", "Two died.", "Äpfel."]


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_index_of_a_data_frame_is_no_metric(tmp_path, name):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([name, "system", "input", "rouge", "human"])
    for n in range(12):
        writer.writerow([n, f"s{n % 4}", n // 4, (n * 7 % 5) / 5, (n * 3 % 4) / 4])
    path = tmp_path / "scores.csv"
    path.write_text(text.getvalue())

    table = lp.read_scores(path)
    assert table.metrics == ("rouge", "human")
    result = lp.meta.correlate(path)
    assert "column without a name" in str(result.correlations[0].left_out)

    # A column of numbers that are no row numbers is a metric, named or not.
    path.write_text(text.getvalue().replace("\n11,", "\n12,"))
    assert len(lp.read_scores(path).metrics) == 3
