"""The order of units, systems, inputs, rows, files and columns changes no bit; nor does
that in which Python walks through a set."""

import csv
import json
import os
import subprocess
import sys

import pytest
from running import ROOT, run_here
from two_orders import shuffled, write, write_again, write_answers

import litepyramid as lp
from litepyramid.cli import maker
from litepyramid.cli.app import COMMANDS
from litepyramid.data.data import load
from litepyramid.errors import InputError
from litepyramid.tables import plain

# What all commands read is made once.
pytestmark = pytest.mark.xdist_group("order")

ANSWERED = ("writing", "judging", "sample")
ORDERS = range(6) if os.environ.get("LITEPYRAMID_ATTEMPTS") == "all" else range(2)

# Commands that read nothing that has an order.
WITHOUT_ORDER = {
    "demo": "scores the example that ships",
    "judge settings": "lists the settings of one judge",
    "cache": "counts or deletes what a file holds",
}

# First, in this order: what the others read is among what these write.
PREPARED = """
score {summaries} -u units.jsonl -l labels -j lexical -n 200 --evidence -o scores.json -o p.html
score {summaries} -u units.jsonl -l labels -j recall -n 200 -o recall.json
score {summaries} -u facts.jsonl -l some -j recall -n 200 -o some.json
score {summaries} -u facts.jsonl -j lexical -n 200 -o facts.json
compare scores.json -n 200 -o compared.json
combine some.json --assume-random -o combined.json
precision {summaries} -r references.jsonl -j lexical -n 200 -o precision.json
units extract references.jsonl -o stus.jsonl
easiness predict references.jsonl -o easiness.jsonl
units mix facts.jsonl stus.jsonl --easiness easiness.jsonl -o mixed.jsonl
finetune lexical {summaries} -u units.jsonl -l labels -o tuned
meta interval wide.csv -n 50 -o interval.json
budget plan references.jsonl --human-share 0.3 -o plan.json
budget export plan.json -o writing
budget export summaries -u shown.jsonl -o judging
budget export summaries -u shown.jsonl --labels 200 --by facts.json -o sample
""".strip().splitlines()

# How tables are read is tried with two commands; `budget import --writers first` is left
# out, as it takes the first in the order of the files.
MORE = """
score answers.csv --columns reference=reference -j recall -n 200
score answers.csv -u units.jsonl -l labels.csv -j mini -n 200
score {summaries} -u units.jsonl -j lexical -n 200 --rule vital
score {summaries} -u units.jsonl -j lexical -n 200 --rule sample-3
score -u units.jsonl --presence labels.csv --columns presence.presence=label -n 200 --rule original
score -u units.jsonl --presence labels.csv --columns presence.presence=label -n 200 --rule modified-1
compare wide.csv --metric rouge -n 200
compare {tables} --metric bert -n 200 --against s3
changes scores.json recall.json --across-judges --by topics.csv:topic
changes facts.json some.json --across-judges
combine some.json --target population --assume-random
combine facts.json --labels sampled
report scores.json
pyramid {duc}
pyramid {duc} --complete
units extract references.jsonl --rules zb21
units mix facts.jsonl stus.jsonl -r references.jsonl
units mix facts.jsonl stus.jsonl --easiness easiness.jsonl --by reversed --stu-share 0.3
units mix facts.jsonl stus.jsonl -r references.jsonl --by random
units mix facts.jsonl stus.jsonl -r references.jsonl --by gold
easiness fit references.jsonl facts.jsonl -t stus.jsonl --rounds 5
easiness fit references.jsonl facts.jsonl -t stus.jsonl --start embedded --rounds 2
judge evaluate {summaries} -u units.jsonl -l labels -j lexical
judge evaluate answers.csv -u units.jsonl -l labels.csv -j recall --bins 5
judge evaluate --pair pairs.jsonl -j lexical
judge audit scores.json
judge audit some.json
judge audit facts.json --labels sampled
judge explain Two_people_died_in_Oslo. {facts} -j mini
finetune lexical {summaries} -u facts.jsonl -l some --pair pairs.jsonl -o again
crossval lexical {summaries} -u units.jsonl -l labels -r references.jsonl --folds 2
crossval lexical {summaries} -u units.jsonl -l some --folds 2 --by systems
budget plan references.jsonl --sentences 7 --by random --easiness easiness.jsonl
budget plan references.jsonl --sentences 7 --by length --easiness easiness.jsonl --after plan.json
budget plan references.jsonl --sentences 7 -t stus.jsonl
budget export plan.json -o again-1 --form csv
budget export summaries -u shown.jsonl -o again-2 --form label-studio
budget export summaries -u shown.jsonl -o again-3 --labels 20 --by facts.json
budget export summaries -u shown.jsonl -o again-4 --labels 30 --spread summaries
budget export summaries -u shown.jsonl -o again-5 --labels 40 --spread inputs
budget import writing {writing} --writers all -u stus.jsonl -o written.jsonl
budget import judging {judging} -o judged
budget import sample {sample} -o sampled-again
budget label-power wide.csv --metric rouge
budget label-power recall.json
metrics {summaries} -r references.jsonl -m rouge-1 -m rouge-l
meta correlate wide.csv -c pearson -c spearman -c kendall
meta correlate long.jsonl -c pearson -c spearman -c kendall
meta correlate {tables} -c pearson -c spearman -c kendall
meta correlate wide.csv --columns human={raters} -c pearson -c spearman -c kendall
meta correlate wide.csv --level global
meta correlate wide.csv -c spa --level system
meta correlate wide.csv -c acc-eq --level summary
meta correlate scores.json
meta interval wide.csv --level system -c spearman --method boot-inputs -n 50
meta interval wide.csv --level system -c pearson --method fisher
meta compare wide.csv -n 150
meta compare long.jsonl -n 150
meta compare {tables} -n 150
meta compare wide.csv --columns human={raters} -n 150
meta compare wide.csv --level system -c pearson --method williams
meta compare wide.csv -n 150 --method boot-both --correction holm
meta compare wide.csv -n 150 --method paper-inputs
meta rank wide.csv -n 60
meta rank wide.csv --level summary -n 60
meta rank wide.csv -c spa -n 60
meta delta wide.csv
meta delta wide.csv --upper 0.3 --full full.csv
meta delta wide.csv --rule authors
meta difference wide.csv 0.05 -n 60
meta difference wide.csv 0.05 --full full.csv -n 60
meta stability {tables} -n 50
meta stability wide.csv --size 3 --size 6 -n 50
meta range made.csv --human human --best 5 -n 200
meta range made.csv --human human --best 5 --rule code -n 200
meta range made.csv --human human --baseline s30 -n 200
convert {duc}
convert {duc} --to scores
convert {duc} --to labels
convert {duc} --to summaries
convert facts.jsonl
""".strip().splitlines()


def command_of(line):
    """The name of the command that a line begins with: of one word, or of two."""
    first, second, *_ = line.split()
    both = f"{first} {second}"
    return both if both in COMMANDS else first


LINES = {}
for _line in PREPARED + MORE:
    LINES.setdefault(command_of(_line), []).append(_line)


def words_of(line, folder, seed):
    """The words of a command line, files and names in the order of a seed."""
    several = {
        "tables": ["one.csv", "two.csv"],
        "facts": ["Two_died.", "It_rained.", "Oslo_is_far."],
    }
    for name in ("summaries", "duc"):
        several[name] = sorted(
            f"{name}/{file.name}" for file in (folder / name).iterdir()
        )
    for name in ANSWERED:
        several[name] = [f"{name}/Ann.json", f"{name}/Bob.json"]

    lists = {name: " ".join(shuffled(one, seed)) for name, one in several.items()}
    return line.format(**lists, raters="+".join(shuffled(["h1", "h2"], seed))).split()


def in_order(value):
    """A JSON value without the order of its lists; with what is no place in a file."""
    if isinstance(value, dict):
        entries = {key: in_order(one) for key, one in sorted(value.items())}
        # The checksum is that of a file as it was written, and so is what names
        # exported tasks: people see them in that order.
        for key in ("checksum", "digest", "tasks"):
            entries.pop(key, None)
        # Facts of one input are counted as the file has them; their texts stand beside.
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
    # A page shows facts and tasks as they follow each other; its data are beside it.
    return "" if path.suffix == ".html" else text


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """By seed a folder of what commands read, in that order."""
    folders = {seed: tmp_path_factory.mktemp("order") / "data" for seed in ORDERS}
    write(folders[0])
    for seed in ORDERS[1:]:
        write_again(folders[0], folders[seed], seed)
    return folders


@pytest.fixture(scope="module")
def run(folders):
    """Runs a command line in each folder; gives what it returned and wrote there."""

    def in_folder(line, seed):
        folder = folders[seed]
        words = words_of(line, folder, seed)
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
        # Rows hold what belongs together; those of `convert` are no tables but scores.
        if getattr(results[0], "to", "scores") == "scores":
            table = results[0].to_csv_table()
            outcome.append(sorted(map(repr, (*table.columns, *table.rows))))
        if "-o" in words:
            outcome.append(written(folder / words[words.index("-o") + 1]))
        return outcome

    prepared = {line: [in_folder(line, seed) for seed in folders] for line in PREPARED}
    for seed, folder in folders.items():
        for name in ANSWERED:
            write_answers(folder / name, seed)
        in_folder("budget import sample {sample} -o sampled", seed)

    def in_folders(line):
        return prepared.get(line) or [in_folder(line, seed) for seed in folders]

    return in_folders


def test_every_command_is_run_in_any_order():
    assert sorted([*LINES, *WITHOUT_ORDER]) == sorted(COMMANDS)


@pytest.mark.parametrize("command", LINES)
def test_the_order_of_files_changes_no_bit(run, command):
    for line in LINES[command]:
        first, *others = run(line)
        for other in others:
            assert other == first, line


IN_ANOTHER_PROCESS = """
import sys
from litepyramid.cli.app import app
for line in sys.argv[1:]:
    app(line.split(), standalone_mode=False)
"""


def test_another_hash_seed_writes_the_same_bytes(folders, run, tmp_path):
    """That of this process is another one each time, unless somebody chose it."""
    there = tmp_path / "there"
    write(there)
    read = {*there.rglob("*")}

    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1",
        "LITEPYRAMID_CACHE": str(tmp_path / "there.sqlite"),
    }
    lines = [" ".join(words_of(line, there, 0)) for line in PREPARED]
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS, *lines],
        cwd=there,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    files = [path for path in {*there.rglob("*")} - read if path.is_file()]
    assert len(files) > 20
    for path in files:
        here = folders[0] / path.relative_to(there)
        assert path.read_bytes() == here.read_bytes(), here.name


def test_one_text_twice_is_refused_where_its_values_differ():
    unit = {"text": "It rained.", "importance": "vital"}
    units = {"a": [unit, unit | {"importance": "okay"}]}
    texts = {"x": {"a": "It rained."}}
    labels = [{"unit": "It rained.", "label": 1}, {"unit": "It rained.", "label": 0}]
    with pytest.raises(InputError):
        load(units=units, data=texts, labels={"x": {"a": labels}})


# The metric is constant on the inputs 1 and 2.
CONSTANT = """
system input m human
a 1 0.0 0.9
a 2 0.0 0.2
a 3 0.3 0.9
a 4 0.1 0.9
b 1 0.0 0.0
b 2 0.0 0.5
b 3 1.0 0.4
b 4 0.7 0.2
c 1 0.0 0.3
c 2 0.0 0.1
c 3 0.8 0.7
c 4 0.4 0.4
d 1 0.0 0.3
d 2 0.0 0.8
d 3 0.3 0.5
d 4 0.9 0.5
"""


def test_the_order_of_a_file_counts_where_the_definition_says_so():
    """As ZB21's code does, the first system's value of a constant vector is raised."""
    rows = [*csv.DictReader(CONSTANT.strip().splitlines(), delimiter=" ")]
    values = []
    signatures = []
    for table in (rows, rows[::-1]):
        options = {"level": "summary", "coefficient": "pearson", "constant": "zb21"}
        result = lp.meta.correlate(table, **options)
        values.append(result.correlations[0].value)
        signatures.append(dict(result.signature.fields))

    assert values[0] != pytest.approx(values[1], abs=1e-3)
    assert signatures[0] != signatures[1]
    assert signatures[0]["scores_sha"] == signatures[1]["scores_sha"]


INDEXED = """\
,system,input,rouge,human
0,a,1,0.2,0.5
1,b,1,0.4,0.25
2,c,1,0.8,0.75
3,a,2,0.6,0.5
4,b,2,0.2,0.75
5,c,2,0.4,1.0
"""


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_the_index_of_a_data_frame_is_no_metric(tmp_path, name):
    path = tmp_path / "scores.csv"
    path.write_text(name + INDEXED)
    assert lp.read_scores(path).metrics == ("human", "rouge")

    # A column of numbers that are no row numbers is a metric, named or not.
    path.write_text(name + INDEXED.replace("\n5,", "\n6,"))
    assert len(lp.read_scores(path).metrics) == 3
