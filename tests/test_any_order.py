"""The order of units, systems, inputs, rows, files and columns changes no bit."""

import json
import os

import numpy as np
import pytest
from cases import quick_score
from running import run_here
from scipy import stats
from two_orders import Order, write_answers

import litepyramid as lp
from litepyramid.cli import maker
from litepyramid.cli.app import COMMANDS
from litepyramid.errors import InputError
from litepyramid.files import read_lines
from litepyramid.io.loading import load
from litepyramid.meta.core.levels import level_correlation
from litepyramid.scoring.pyramid import ScoringRule
from litepyramid.tables import plain
from litepyramid.training.pairs import labelled_pairs

# What all commands read is made once.
pytestmark = pytest.mark.xdist_group("order")


def example(seed=0):
    return Order(seed).example()


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
            labels = sources.pop("labels")
            sources.pop("summaries")
            for rows in labels.values():
                for name, row in rows.items():
                    rows[name] = [float(value >= 0.5) for value in row]
            sources["presence"] = labels

        data = load(**sources)
        result = lp.score(data, judge="lexical", rule=rule, samples=200, seed=3)
        cells = result.to_frame("inputs").set_index(["system", "input"])
        values.append(cells["score"].to_dict() | result.scores)
        intervals.append(dict(zip(result.systems, result.intervals, strict=True)))
        signatures.append(result.signature)

    assert values[0] == values[1]
    assert intervals[0] == intervals[1]
    assert signatures[0] == signatures[1]


def test_pairs_to_learn_from():
    expected = labelled_pairs(load(**example()))
    assert labelled_pairs(load(**example(1))) == expected


def test_one_text_twice_is_refused_where_its_values_differ():
    unit = {"text": "It rained.", "importance": "vital"}
    units = {"a": [unit, unit | {"importance": "okay"}]}
    texts = {"x": {"a": "It rained."}}
    labels = [{"unit": "It rained.", "label": 1}, {"unit": "It rained.", "label": 0}]
    with pytest.raises(InputError):
        load(units, summaries=texts, labels={"x": {"a": labels}})

    # In lists each label is that of its unit: who is vital shows in the signature.
    signatures = []
    for order in ([1, 0], [0, 1]):
        data = load(units, summaries=texts, labels={"x": {"a": order}})
        signatures.append(quick_score(data, rule="vital").signature)

    assert signatures[0] != signatures[1]
    assert ScoringRule.of("vital").name == "vital"


# --------------------------------------------------------------------------------------
# Every command, on files in two orders
# --------------------------------------------------------------------------------------

ORDERS = range(6) if os.environ.get("LITEPYRAMID_ATTEMPTS") == "all" else range(2)

# Commands that read nothing that has an order.
WITHOUT_ORDER = {
    "demo": "scores the example that ships",
    "judge settings": "lists the settings of one judge",
    "cache": "counts or deletes what a file holds",
}

# Before the others, in this order: what they read.
PREPARED = [
    "score {texts} -u units.jsonl -l labels -j lexical -n 200 --evidence -o scores.json",
    "score {texts} -u units.jsonl -l labels -j recall -n 200 -o recall.json",
    "score {texts} -u facts.jsonl -l some -j recall -n 200 -o some.json",
    "score {texts} -u facts.jsonl -j lexical -n 200 -o facts.json",
    "units extract references.jsonl -o stus.jsonl",
    "easiness predict references.jsonl -o easiness.jsonl",
    "budget plan references.jsonl --human-share 0.3 -o plan.json",
    "budget export plan.json -o writing",
    "budget export texts -u shown.jsonl -o judging",
    "budget export texts -u shown.jsonl --labels 200 --by facts.json -o sample",
]
ANSWERED = ("writing", "judging", "sample")
TABLES = ("wide.csv", "long.jsonl", "{tables}", "wide.csv --columns human={raters}")

CASES = {
    "score": [
        "{texts} -u units.jsonl -l labels -r references.jsonl -j lexical -n 200",
        "answers.csv --columns reference=reference -j recall -n 200",
        "answers.csv -u units.jsonl -l labels.csv -j mini -n 200",
        "{texts} -r references.jsonl -j recall -n 200",
    ],
    "compare": [
        "scores.json -n 200",
        "wide.csv --metric rouge -n 200",
        "{tables} --metric bert -n 200 --against s3",
    ],
    "changes": [
        "scores.json recall.json --across-judges --by topics.csv:topic",
        "facts.json some.json --across-judges",
    ],
    "combine": [
        "some.json --assume-random",
        "some.json --target population --assume-random",
        "facts.json --labels sampled",
    ],
    "precision": [
        "answers.csv --columns reference=reference -j recall -n 200",
        "{texts} -r references.jsonl -j lexical -n 200",
    ],
    "report": ["scores.json"],
    "pyramid": ["{duc}", "{duc} --complete"],
    "units extract": ["references.jsonl", "references.jsonl --rules zb21"],
    "units mix": [
        "facts.jsonl stus.jsonl -r references.jsonl",
        "facts.jsonl -r references.jsonl --by reversed --stu-share 0.3",
        "facts.jsonl stus.jsonl -r references.jsonl --by random",
        "facts.jsonl stus.jsonl -r references.jsonl --by gold",
        "facts.jsonl stus.jsonl --easiness easiness.jsonl",
    ],
    "easiness fit": [
        "references.jsonl facts.jsonl --rounds 5",
        "references.jsonl facts.jsonl -t stus.jsonl --start embedded --rounds 2",
    ],
    "easiness predict": ["references.jsonl"],
    "judge evaluate": [
        "{texts} -u units.jsonl -l labels -j lexical",
        "answers.csv -u units.jsonl -l labels.csv -j recall --bins 5",
        "--pair pairs.jsonl -j lexical",
    ],
    "judge audit": ["scores.json", "some.json", "facts.json --labels sampled"],
    "judge drift": ["scores.json recall.json", "facts.json some.json"],
    "judge explain": ["Two_people_died_in_Oslo. {facts} -j mini"],
    "finetune": [
        "lexical {texts} -u units.jsonl -l labels -o tuned",
        "lexical {texts} -u facts.jsonl -l some --pair pairs.jsonl -o again",
    ],
    "crossval": [
        "lexical {texts} -u units.jsonl -l labels -r references.jsonl --folds 3",
        "lexical {texts} -u units.jsonl -l some --folds 2 --by systems",
    ],
    "budget plan": [
        "references.jsonl --human-share 0.5",
        "references.jsonl --sentences 7 --by random",
        "references.jsonl --sentences 7 --by length --after plan.json",
        "references.jsonl --sentences 7 -t stus.jsonl",
    ],
    "budget export": [
        "plan.json -o again-1 --form csv",
        "texts -u shown.jsonl -o again-2 --form label-studio",
        "texts -u shown.jsonl -o again-3 --labels 20 --by facts.json",
        "texts -u shown.jsonl -o again-4 --labels 30 --spread summaries",
        "texts -u shown.jsonl -o again-5 --labels 40 --spread inputs",
    ],
    # `--writers first` is left out: it takes the first in the order of the files.
    "budget import": [
        "writing {writing} --writers all -u stus.jsonl -o written.jsonl",
        "judging {judging} -o judged",
        "sample {sample} -o sampled-again",
    ],
    "budget label-power": [
        "wide.csv --metric rouge",
        "recall.json",
    ],
    "metrics": ["{texts} -r references.jsonl -m rouge-1 -m rouge-l"],
    "meta correlate": [
        *(f"{table} -c pearson -c spearman -c kendall" for table in TABLES),
        "wide.csv --level global",
        "wide.csv -c spa --level system",
        "wide.csv -c acc-eq --level summary",
        "scores.json",
    ],
    "meta interval": [
        "wide.csv -n 50",
        "wide.csv --level system -c spearman --method boot-inputs -n 50",
        "wide.csv --level system -c pearson --method fisher",
    ],
    "meta compare": [
        *(f"{table} -n 150" for table in TABLES),
        "wide.csv --level system -c pearson --method williams",
        "wide.csv -n 150 --method boot-both --correction holm",
        "wide.csv -n 150 --method paper-inputs",
    ],
    "meta rank": [
        "wide.csv -n 60",
        "wide.csv --level summary -n 60",
        "wide.csv -c spa -n 60",
    ],
    "meta delta": [
        "wide.csv",
        "wide.csv --upper 0.3 --full full.csv",
        "wide.csv --rule authors",
    ],
    "meta normality": ["wide.csv"],
    "meta difference": ["wide.csv 0.05 -n 60", "wide.csv 0.05 --full full.csv -n 60"],
    "meta stability": ["{tables} -n 50", "wide.csv --size 3 --size 6 -n 50"],
    "meta testset": ["wide.csv --full full.csv -n 60"],
    "meta range": [
        "made.csv --human human --best 5 -n 200",
        "made.csv --human human --best 5 --rule code -n 200",
        "made.csv --human human --baseline s30 -n 200",
    ],
    "convert": [
        "{duc}",
        "{duc} --to scores",
        "{duc} --to labels",
        "{duc} --to summaries",
        "facts.jsonl",
    ],
}
"""Of every command, what stands behind its name; how tables are read is tried with two of
them."""


def in_order(value):
    """A JSON value without the order of its lists; with what is no place in a file."""
    if isinstance(value, dict):
        entries = {key: in_order(one) for key, one in sorted(value.items())}
        # The checksum is that of a file as it was written. Facts of one input are
        # counted as the file has them; their texts stand beside.
        entries.pop("checksum", None)
        # So is what names exported tasks: people see them in that order.
        entries.pop("digest", None)
        entries.pop("tasks", None)
        if "text" in entries:
            entries.pop("unit", None)
        return entries
    if isinstance(value, list):
        return sorted((in_order(one) for one in value), key=repr)
    return value


def written(path):
    """What a command wrote under a name, without the order of rows and lists."""
    if path.is_dir():
        files = [one for one in path.rglob("*") if one.is_file()]
        return {str(one.relative_to(path)): written(one) for one in files}

    text = path.read_text()
    if path.suffix == ".json":
        return in_order(json.loads(text))
    if path.suffix == ".jsonl":
        return in_order([json.loads(line) for line in text.splitlines()])
    if path.suffix == ".csv":
        return sorted(text.splitlines())
    # The page shows the tasks, as they follow each other; they are in tasks.json.
    return "" if path.name == "page.html" else text


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a command line in each folder; gives what it returned and wrote there."""
    folders = {seed: tmp_path_factory.mktemp("order") / "data" for seed in ORDERS}

    def in_folder(line, seed):
        order = Order(seed)
        folder = folders[seed]
        several = {
            "tables": ["one.csv", "two.csv"],
            "facts": ["Two_died.", "It_rained.", "Oslo_is_far."],
        }
        for name in ("texts", "duc"):
            several[name] = sorted(f"{name}/{p.name}" for p in folder.glob(f"{name}/*"))
        for name in ANSWERED:
            several[name] = [f"{name}/Ann.json", f"{name}/Bob.json"]
        lists = {name: " ".join(order(entries)) for name, entries in several.items()}
        words = line.format(**lists, raters="+".join(order(["h1", "h2"]))).split()

        results = []
        called = maker._called

        def kept(*arguments):
            results.append(called(*arguments))
            return results[-1]

        cache = {"LITEPYRAMID_CACHE": str(folder.parent / "cache")}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(maker, "_called", kept)
            done = run_here(words, folder, cache)
        assert done.returncode in (0, 1), (line, done.stderr)

        outcome = [in_order(plain(results[0].to_json()))]
        # Rows hold what belongs together.
        table = results[0].to_csv_table()
        outcome.append(sorted(map(repr, (*table.columns, *table.rows))))
        if "-o" in words:
            outcome.append(written(folder / words[words.index("-o") + 1]))
        return outcome

    for seed, folder in folders.items():
        Order(seed).write(folder)
        for line in PREPARED:
            in_folder(line, seed)
        for name in ANSWERED:
            write_answers(folder / name, Order(seed))
        in_folder("budget import sample {sample} -o sampled-before", seed)
        (folder / "sampled-before").rename(folder / "sampled")

    return in_folder


def test_every_command_is_run_in_any_order():
    assert {*CASES} | {*WITHOUT_ORDER} == {*COMMANDS}
    assert not {*CASES} & {*WITHOUT_ORDER}
    assert all(CASES.values())


@pytest.mark.parametrize("command", CASES)
def test_the_order_of_files_changes_no_bit(run, command):
    for case in CASES[command]:
        first, *others = (run(f"{command} {case}", seed) for seed in ORDERS)
        for other in others:
            assert other == first, case


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
        rows = []
        for n in order:
            for i in range(6):
                scores = {"m": metric[n, i], "human": human[n, i]}
                rows.append({"system": systems[n], "input": i, **scores})
        return rows

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
    rows = []
    for n in range(5):
        for i in range(9):
            rows.append({"system": f"s{n}", "input": i, "m": x[n, i], "human": z[n, i]})
    one = lp.meta.correlate(rows)
    other = lp.meta.correlate([rows[n] for n in rng.permutation(45)])
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
    path = tmp_path / "scores.csv"
    rows = [f"{name},system,input,rouge,human"]
    for n in range(12):
        rows.append(f"{n},s{n % 4},{n // 4},{(n * 7 % 5) / 5},{(n * 3 % 4) / 4}")
    path.write_text("\n".join(rows))

    table = lp.read_scores(path)
    assert table.metrics == ("rouge", "human")
    result = lp.meta.correlate(path)
    assert "column without a name" in str(result.correlations[0].left_out)

    # A column of numbers that are no row numbers is a metric, named or not.
    path.write_text("\n".join(rows).replace("\n11,", "\n12,"))
    assert len(lp.read_scores(path).metrics) == 3
