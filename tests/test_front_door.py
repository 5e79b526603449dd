"""The front door: every job in one call, on paths, lists, dicts, frames and rows."""

import ast
import csv
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Unpack, get_origin, get_type_hints

import pytest
from cases import refused, write_lines

import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.tables import Result
from litepyramid.types import FullSources, NamedSources

UNITS = {"oslo": ["A storm hit Oslo.", "Two people died."], "rome": ["Rome voted."]}
TEXTS = {
    "mine": {"oslo": "A storm hit Oslo on Monday.", "rome": "Rome voted."},
    "theirs": {"oslo": "", "rome": "Rome slept."},
}
ROWS = [
    {"system": system, "input": name, "summary": text}
    for system, texts in TEXTS.items()
    for name, text in texts.items()
]
UNIT_ROWS = [
    {"input": name, "unit": unit} for name, units in UNITS.items() for unit in units
]


def unit_rows(column, values):
    """A row for each system and unit, with its value in that column."""
    pairs = [{"system": system, **row} for system in TEXTS for row in UNIT_ROWS]
    return [{**pair, column: value} for pair, value in zip(pairs, values, strict=True)]


class HubRows:
    """Rows as a data set of Hugging Face gives them: iterated, and with the names of
    columns."""

    def __init__(self, rows):
        self.rows, self.column_names = rows, list(rows[0])

    def __iter__(self):
        return iter(self.rows)


def frame(rows):
    return pytest.importorskip("pandas").DataFrame(rows)


def columns(rows):
    return {key: [row[key] for row in rows] for key in rows[0]}


@pytest.fixture(scope="module")
def data():
    return load_example()


@pytest.fixture(scope="module")
def expected():
    return lp.score(TEXTS, UNITS, judge="recall")


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, litepyramid as lp; lp.score; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = {"torch", "spacy", "pandas", "xgboost", "transformers", "scipy"}
    assert heavy & {*done.stdout.split()} == set()


def test_every_public_name_is_there_and_seen_by_type_checkers():
    assert all(getattr(lp, name) is not None for name in lp.__all__)
    assert {*dir(lp)} >= {*lp.__all__}

    tree = ast.parse(Path(lp.__file__).read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname for node in imports for alias in node.names} - {None}
    assert seen == {*lp.__all__}

    with pytest.raises(AttributeError):
        lp.absent  # noqa: B018


USER = """
import litepyramid as lp

result = lp.score({"a": ["It rained."]}, [["It rained."]], judge="recall", samples=50)
result.save("scores.json")
judge = lp.judge(lambda summary, units: [0.5 for _ in units])
data = lp.load(units="scus.jsonl", data=["one.txt"], ids=["x"], columns="system=model")
lp.evaluate(judge, data, labels={"a": [[1, 0]]}); lp.extract(data.references)
lp.meta.correlate([0.2, 0.4], [1, 3]); lp.meta.interval(result, "human", seed=1)
lp.scoer({"a": ["It rained."]})
lp.score({"a": ["It rained."]}, [["It rained."]], smaples=3)
lp.meta.corelate("scores.csv")
lp.score(3)
"""


def test_a_type_checker_finds_what_a_user_misspells(tmp_path):
    mypy = pytest.importorskip("mypy.api")
    source = tmp_path / "user.py"
    source.write_text(USER)
    root = Path(lp.__file__).parents[1]

    # With the settings and the cache of `make check`, which checked the package.
    line = f"--config-file {root}/pyproject.toml --cache-dir {root}/.mypy_cache"
    report, _, _ = mypy.run([*line.split(), str(source)])

    errors = [line for line in report.splitlines() if "error:" in line]
    wrong = {line.split(":")[1] for line in errors}
    last = len(USER.splitlines())
    assert wrong == {str(number) for number in range(last - 3, last + 1)}, report


DATA = {*get_type_hints(NamedSources), *get_type_hints(FullSources), "human", "scus"}


def test_a_public_function_has_at_most_eight_parameters():
    """All that belongs to the data counts as one parameter, and so does the judge."""
    functions = {}
    for room in (lp, lp.meta, lp.easiness):
        for name in room.__all__:
            if inspect.isfunction(getattr(room, name)):
                functions[f"{room.__name__}.{name}"] = getattr(room, name)

    above = {}
    for name, function in functions.items():
        parameters = inspect.signature(function).parameters.values()
        own = [entry for entry in parameters if entry.name not in DATA]
        named = [e.name for e in own if e.kind is not e.VAR_KEYWORD]
        if len(own) < len(parameters) and not {"data", "scores"} & {*named}:
            named.append("data")
        if len(named) > 8:
            above[name] = named

        for entry in parameters:
            if entry.kind is entry.VAR_KEYWORD and name != "litepyramid.judge":
                assert get_origin(entry.annotation) is Unpack, f"{name}: {entry}"

    assert not above


@pytest.mark.parametrize(
    "of", [list, HubRows, frame, columns, iter], ids=lambda f: f.__name__
)
def test_data_of_any_kind_gives_the_same_scores(of, expected):
    result = lp.score(of(ROWS), of(UNIT_ROWS), judge="recall")
    assert result.scores == expected.scores
    assert result.signature == expected.signature

    labels = of(unit_rows("label", [True, False, True, False, False, False]))
    assert lp.load(units=UNITS, labels=labels).labels.values[0].tolist() == [1, 0, 1]
    rows = [{**row, "human": n, "own": n**2} for n, row in enumerate(ROWS)]
    table = lp.read_scores(of([{**row, "summary": ""} for row in rows]))
    assert table["own"].tolist() == [[0, 1], [4, 9]]


class Own:
    def judge(self, items):
        return [[0.5] * len(units) for _, units in items]


def test_a_judge_of_ones_own():
    result = lp.score(TEXTS, UNITS, judge=Own())
    assert {*result.scores.values()} == {0.5}
    assert "judge:Own" in str(result.signature)


PRESENCE = {
    "mine": {"oslo": [1, 0.25], "rome": [1]},
    "theirs": {"oslo": [0, 0], "rome": [0.5]},
}
PRESENCE_ROWS = unit_rows("presence", [1, 0.25, 1, 0, 0, 0.5])


def test_presence_from_outside(tmp_path, expected):
    path = tmp_path / "p.csv"
    frame(PRESENCE_ROWS[::-1]).to_csv(path, index=False)
    lines = write_lines(tmp_path / "p.jsonl", PRESENCE_ROWS)
    for given in (PRESENCE, PRESENCE_ROWS, frame(PRESENCE_ROWS), path, lines):
        found = lp.score(units=UNITS, presence=given)
        assert found.scores == pytest.approx({"mine": 0.8125, "theirs": 0.25})

    saved = tmp_path / "scores.json"
    expected.save(saved)
    for given in (saved, str(saved), expected, json.loads(saved.read_text())):
        again = lp.score(presence=given)
        assert again.scores == expected.scores
        assert again.units == expected.units

    assert lp.score(TEXTS, UNITS, presence=saved).systems == ("mine", "theirs")
    with refused("lacks"):
        lp.score(units={"oslo": ["a", "b"], "rome": ["c"]}, presence=expected)


NO_ARRAY = SimpleNamespace(writeable=False)
NO_NUMBERS = ("CacheResult", "Converted", "Estimate", "Explanation", "JudgeSettings")


def test_every_result_can_do_what_results_do():
    for module in pkgutil.walk_packages(lp.__path__, "litepyramid."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)

    kinds = Result.__subclasses__()
    for kind in kinds:
        kinds += kind.__subclasses__()
        if kind.__subclasses__() or not kind.__module__.startswith("litepyramid."):
            continue
        assert kind.to_tables is not Result.to_tables, kind
        assert kind.__repr__ is Result.__repr__, kind
        names = {field.name for field in fields(kind)} | {*dir(kind)}
        assert "signature" in names or kind.__name__ in NO_NUMBERS, kind


SCORES = """
system input m k human
a x .1 .3 1
b x .2 .1 3
c x .3 .3 2
d x .5 .2 4
a y .2 .1 1
b y .1 .5 2
c y .4 .2 4
d y .6 .3 3
"""


@pytest.fixture(scope="module")
def results(data, expected):
    """A result of every kind that has numbers, and some of those that have none."""
    rows = csv.DictReader(SCORES.strip().splitlines(), delimiter=" ")
    table = lp.read_scores(rows, "human")
    documents = {entry.input: entry.references[0] for entry in data.references}

    judged = lp.score(data, judge="recall", evidence=True, samples=50)
    stus = lp.extract(data.references)
    easy = lp.easiness.predict(data.references, stus=stus)
    results = [expected, judged, easy, stus, lp.compare(judged)]
    results += [lp.mix(data.units, stus, easiness=easy), lp.audit(judged)]
    results += [lp.plan(data.references, human_share=0.5, easiness=easy)]
    results += [lp.evaluate("recall", data), lp.explain("It rained.", ["It rained."])]
    results += [
        lp.precision(data.summaries, documents=documents, judge="recall", samples=50)
    ]
    results += [lp.label_power(judged)]
    results += [lp.changes(judged, judged), lp.meta.difference(table, 0.1, samples=50)]
    for verb in ("correlate", "compare", "rank", "range", "delta"):
        results.append(getattr(lp.meta, verb)(table))

    return results


def test_every_result_shows_itself_and_is_plain_in_python_as_in_its_file(
    results, tmp_path
):
    for result in results:
        assert len(repr(result)) < 120
        assert "\n" not in repr(result)
        assert "<table>" in result._repr_html_()
        assert len(result.to_frame())
        if type(result).__name__ not in NO_NUMBERS:
            assert str(result.signature) in result.to_table().replace("\n", "")
        for ending in ("json", "csv", "tex", "txt"):
            result.save(tmp_path / f"result.{ending}", force=True)

        plain = json.dumps(result.to_json(), allow_nan=False)
        saved = (tmp_path / "result.json").read_text()
        made = {"made_by": f"litepyramid {lp.__version__}"}
        assert made | json.loads(plain) == json.loads(saved), result
        # Equal to a copy, and nothing in it can be changed.
        assert deepcopy(result) == result != 0
        for value in vars(result).values():
            assert not getattr(value, "flags", NO_ARRAY).writeable, result

    with refused(r"\.doc"):
        results[0].save(tmp_path / "s.doc")


def test_own_frames_come_in_again(expected):
    of_frame = lp.compare(expected.to_frame("inputs")).to_frame()
    assert of_frame.equals(lp.compare(expected).to_frame())
