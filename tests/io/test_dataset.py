"""Data of every shape become one checked record; what is not meant is refused, not
guessed."""

import io
import json
from dataclasses import replace
from functools import reduce
from pathlib import Path

import pandas
import pytest
from cases import cases, refused, write_lines
from hypothesis import example, given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.errors import LitepyramidError
from litepyramid.io.loading import as_dataset, load
from litepyramid.io.scores import read_scores

UNITS = {"1": ["It rained.", {"text": "It was cold.", "weight": 2}], "2": ["We left."]}
SUMMARIES = {"a": ["It rained.", "We left."], "b": ["", "It rained."]}
LABELS = {"a": [[1, 0], [1]], "b": [[0, 0], [0]]}
REFERENCES = {"1": ["It rained. It was cold."], "2": ["We left. We slept."]}
# The same in one table.
TABLE = """\
system,input,summary,reference,unit,weight,label
a,1,It rained.,It rained. It was cold.,It rained.,1,1
a,1,It rained.,It rained. It was cold.,It was cold.,2,0
a,2,We left.,We left. We slept.,We left.,1,1
b,1,,It rained. It was cold.,It rained.,1,0
b,1,,It rained. It was cold.,It was cold.,2,0
b,2,It rained.,We left. We slept.,We left.,1,0
"""
FRAME = pandas.read_csv(io.StringIO(TABLE), keep_default_na=False)
ROWS = FRAME.to_dict("records")


@pytest.fixture(scope="module")
def whole():
    return load(units=UNITS, data=SUMMARIES, labels=LABELS, references=REFERENCES)


def test_one_set_of_data_in_every_shape(tmp_path, whole):
    assert (whole.systems, whole.inputs) == (("a", "b"), ("1", "2"))
    path = tmp_path / "all.csv"
    path.write_text(TABLE)
    lines = write_lines(tmp_path / "all.jsonl", ROWS)
    many = as_dataset(path, path, references=path, labels=path)
    for again in (load(ROWS), load(FRAME), load(path), load(lines), many):
        assert again.hashes == whole.hashes
        assert again.summaries == whole.summaries
    for alone in (whole, ROWS, FRAME, path, str(path), [path]):
        assert as_dataset(alone).hashes == whole.hashes

    mapped = FRAME.rename(columns={"unit": "fact", "label": "gold"})
    assert load(mapped, columns="unit=fact,label=gold").hashes == whole.hashes
    relabelled = as_dataset(str(path), labels={"a": [[0, 0], [0]]})
    assert relabelled.labels[0].labels == ((0, 0), (0,))

    files = {}
    for system, texts in SUMMARIES.items():
        files[system] = tmp_path / f"{system}.txt"
        files[system].write_text("\n".join(texts) + "\n")
    assert as_dataset(files, UNITS).summaries == whole.summaries


def test_whole_tables_one_after_the_other_are_read_together(tmp_path, whole):
    first = write_lines(tmp_path / "a.jsonl", ROWS[:3])
    second = write_lines(tmp_path / "b.jsonl", ROWS[3:])
    assert as_dataset([first, second]).hashes == whole.hashes

    write_lines(second, [ROWS[-1] | {"unit": " "}])
    with refused(r"b.jsonl:1: system 'b' has other units"):
        as_dataset([first, second])


def test_a_misspelt_column_is_named_with_those_there_are(whole):
    assert load(ROWS, columns="label=label").hashes == whole.hashes
    with refused(r"no column 'gold' \(columns label=gold\).*input, label"):
        load(ROWS, columns="label=gold")


@settings(max_examples=20)
@given(st.permutations(ROWS))
def test_the_order_of_rows_changes_no_hash(rows):
    assert load(rows).hashes == load(ROWS).hashes


@pytest.mark.parametrize(
    ("column", "value", "sha", "shared_by"),
    cases(
        """
unit      | It snowed. | units_sha      | input unit
weight    | 7          | units_sha      | input unit
reference | It snowed. | references_sha | input
summary   | It snowed. | summaries_sha  | system input
label     | 0.5        | labels_sha     | system input unit
presence  | 0.99       | presence_sha   | system input unit
"""
    ),
)
def test_every_value_changes_its_hash(column, value, sha, shared_by):
    """`shared_by`: which columns tell the rows that must have the same value."""
    frame = FRAME.assign(presence=FRAME.label).astype({column: object})
    before = load(frame).hashes
    for _, same_rows in frame.groupby(shared_by.split()):
        changed = frame.copy()
        changed.loc[same_rows.index, column] = value
        assert load(changed).hashes[sha] != before[sha]


def test_what_looks_like_a_list_or_a_paragraph_is_one_unit_and_noted():
    text = "The bridge was closed on Monday after heavy rain. " * 4
    assert "paragraph" in load([[text, "It rained."]]).notes[0]
    assert not load([["It rained.", "Dr. Smith left."]]).notes
    data = load([["It rained; we left; Ana slept", "It rained; we left"]])
    assert len(data.units[0].units) == 2
    assert "1 unit looks like a list ('It rained; we left; Ana slept')" in data.notes[0]

    rows = [{"input": 1, "unit": '["It rained.", "We left."]'}]
    assert load(rows).units[0].texts == ("It rained.", "We left.")


def test_entities_of_html_are_noted_once():
    texts = [
        "Tom &amp; Ann didn&#39;t win.",
        "R&D; Q&A; &copy 1",
        "It&rsquo;s&nbsp;so.",
    ]
    data = load([["Ann won.", "R&amp;D"]], data=texts[:1], references=[texts[2]])
    (note,) = data.notes
    assert "3 texts hold HTML entities ('&amp;')" in note
    assert not load([["R&D"]], data=texts[1:2]).notes
    assert "entities" in lp.extract(texts[:1]).to_table()


@pytest.mark.parametrize("name", ["question", "query", "prompt"])
def test_a_question_comes_with_units_references_or_answers(name):
    question = {name: "When?"}
    answer = {"input": "a", "summary": "x."}
    for part in ("units", "references"):
        row = {"input": "a", part: ["x."]}
        for source, text in ((row | question, answer), (row, answer | question)):
            data = load(data=[text], **{part: [source]})
            assert getattr(data, part)[0].question == "When?"

    rows = [answer | question | {"system": system} for system in "st"]
    data = as_dataset(rows, {"a": ["x."]})
    assert data.units[0].question == "When?"
    assert data.hashes["inputs_sha"] != load({"a": ["x."]}).hashes["inputs_sha"]
    with refused("another question"):
        as_dataset([rows[0], rows[1] | {name: "Why?"}], {"a": ["x."]})


def test_null_answers_are_empty_or_missing_as_told(tmp_path):
    rows = [
        {"system": "s", "input": 1, "summary": "It rained."},
        {"system": "s", "input": 2, "summary": None},
    ]
    path = write_lines(tmp_path / "answers.jsonl", rows)
    units = {"1": ["It rained."], "2": ["We left."]}

    for answers in (path, rows):
        zero = load(units=units, data=answers)
        assert (zero.summaries[0].missing, zero.summaries[0].texts[1]) == ((), "")
        assert "1 answer is missing (null)" in zero.notes[0]
        missing = load(units=units, data=answers, nulls="missing")
        assert missing.summaries[0].missing == ("2",)
        assert missing.hashes["summaries_sha"] != zero.hashes["summaries_sha"]

    assert load(units=units, data=rows[:1], nulls="missing") == missing
    with refused("no summary of input '2'"):
        load(units=units, data=rows[:1])


BY_UNIT = """\
system,input,summary,annotator,unit,label
s,1,x,ann,a,1
s,1,x,ann,b,0
s,1,x,bob,a,0
s,1,x,bob,b,0
s,1,x,cy,a,1
s,1,x,cy,b,0
"""
IN_LISTS = """\
system,input,summary,annotator,units,labels
s,1,x,ann,"['a', 'b']","[1, 0]"
s,1,x,bob,"['a', 'b']","[0, 0]"
s,1,x,cy,"['b', 'a']","[0, 1]"
"""


@pytest.mark.parametrize(
    ("table", "of_two", "label", "wrong"),
    [
        (BY_UNIT, 4, "cy,a,1", "cy,a,7"),
        (IN_LISTS, 2, "[0, 1]", "[0, 7]"),
    ],
)
def test_labels_of_annotators_are_their_median_by_unit(table, of_two, label, wrong):
    def rows_of(text):
        return pandas.read_csv(io.StringIO(text)).to_dict("records")

    rows = rows_of(table)
    data = load(rows)
    assert data.units[0].texts == ("a", "b")
    assert data.labels[0].labels == ((1, 0),)
    assert load(rows[:of_two]).labels[0].labels == ((0.5, 0),)
    with refused("label 7"):
        load(rows_of(table.replace(label, wrong)))


ONE = [["a"]]


def refuse(name, value, message):
    """One text of one system and one unit are refused with a source of this value."""
    sources = {"data": {"m": ["x"]}, "units": ONE, name: value}
    with refused(message):
        as_dataset(**sources)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    cases(
        r"""
data       | 3                       | summaries cannot be read from a int
data       | {"m": 1}                | cannot be read from a int
data       | {"m": [1]}              | the summary of input '1' is 1
data       | {"m": ["x", "y"]}       | 2 rows for 1 input
data       | {"m": ["x \ud83d"]}     | summaries:1: cannot be read \(the half character
data       | {"m\ud83d": ["x"]}      | summaries:1: cannot be read \(the half character
units      | [[]]                    | no units of input '1'
units      | [[{"text": "\\\ud83d"}]] | units:1: cannot be read \(the half character
units      | [{"input": "\ud83d", "unit": "a"}]           | the half character \\ud83d
units      | [[{"text": "a", "weight": NaN}]] | weight nan
units      | [{"input": 1, "unit": "a", "weight": null}]  | weight None
units      | [{"input": 1, "unit": "a", "weight": ""}]    | weight ''
reference  | ["r"]                   | Did you mean references\?
refs       | ["r"]                   | Did you mean references\?
references | [null]                  | no references of input '1'
references | [["r \ud83d"]]          | the half character \\ud83d
ids        | ["\ud83d"]              | the half character \\ud83d
presence   | {"m": [[1e308]]}        | a number from 0 to 1
presence   | {"m": [[Infinity]]}     | a number from 0 to 1
presence   | {"n": [[1]]}            | summaries but no presence
labels     | {"m": [["0.5\u001c"]]}  | label '0.5
"""
    ),
)
def test_what_is_not_meant_is_refused(name, value, message):
    refuse(name, json.loads(value), message)


def test_what_only_python_holds_is_refused():
    deep = reduce(lambda inner, _: [inner], range(9**5), "r")
    refuse("references", [deep], "too deeply")
    refuse("units", [{"unit": b"a"}], "bytes is not JSON serializable")
    refuse("data", {"m": {"x", "y"}}, "a set, which has no order")
    refuse("units", {frozenset("a")}, "a set, which has no order")
    refuse("data", {None: ["x"]}, "a system is called None")
    refuse("data", {"m": Path("none.txt")}, "none.txt: no such file")


def test_a_whole_character_and_a_backslash_are_texts():
    texts = ("\U0001f600 \\ud83d",)
    assert as_dataset({"m": [*texts]}, ONE).summaries[0].texts == texts


def test_a_folder_of_tables_that_hold_all_is_read_as_its_files(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for system in "ab":
        row = {"input": "1", "summary": f"{system} left.", "reference": "b left."}
        write_lines(folder / f"{system}.jsonl", [row])

    data = as_dataset(folder)
    assert data == as_dataset(sorted(folder.iterdir()))
    assert data.systems == ("a", "b")
    assert data.references[0].references == (("b left.",),)


def test_sources_that_need_another_are_refused_without_it():
    for source in ("labels", "presence"):
        with refused(f"{source} without"):
            as_dataset({"m": ["x"]}, **{source: {"m": [[1]]}})
    with refused("label_units without labels"):
        as_dataset({"m": ["x"]}, ONE, label_units=ONE)


def test_names_of_files_are_no_texts(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("It rained.\n")
    for summaries in ([str(path)], {"m": [str(path)]}):
        with refused("is a file, not a text"):
            as_dataset(summaries, [["It rained."]])
        # As many paths as inputs would be luck.
        with refused("is a file, not a text"):
            as_dataset(summaries, [["It rained."], ["Snow fell."]])
    for sources in ({"references": [str(path)]}, {"units": [[str(path)]]}):
        with refused("is a file, not a text"):
            as_dataset({"m": ["x"]}, **sources)
    assert as_dataset([path], [["It rained."]]).systems == ("a",)

    # An answer may be called as a file is, where not all of them are.
    answers = as_dataset({"m": [str(path), "Yes."]}, [["a"], ["b"]])
    assert answers.summaries[0].texts[0] == str(path)


def test_what_a_verb_needs_is_named():
    data = load(units=UNITS, data=SUMMARIES, labels={"a": {"1": [1, 0]}})
    data.require("units", "summaries", "labels")
    with refused("no labels of 'a' for input '2'"):
        data.require("complete labels")
    with refused("no references"):
        replace(data, labels=()).require("summaries", "references")


SCALARS = st.from_type(bool | float | int | str | bytes | None)
NAMES = st.from_type(str | int | None)
STRANGE = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAMES, inner, max_size=3)
        | st.sets(st.text(max_size=3), max_size=2)
        | st.tuples(inner)
    ),
    max_leaves=6,
)


@settings(max_examples=60)
@given(STRANGE, STRANGE, STRANGE)
@example([{}, None], None, None)
def test_every_shape_is_read_or_refused(data, units, other):
    for sources in ({}, {"references": other}, {"labels": other}, {"presence": other}):
        try:
            dataset = as_dataset(data, units, **sources)
        except LitepyramidError:
            continue
        assert dataset.signature
    with pytest.raises(LitepyramidError):
        read_scores(io.StringIO())


@pytest.mark.parametrize(
    ("kind", "what", "value"),
    [("summaries", "summary", "Yes."), ("labels", "label", 1)],
)
def test_an_id_as_the_system_is_refused_before_it_takes_all_memory(kind, what, value):
    inputs = [str(n) for n in range(2000)]
    rows = [{"system": f"s{n}", "input": n, what: value} for n in inputs]

    def of(number):
        units = {name: ["It rained."] for name in inputs[:number]}
        return load(units, nulls="missing", **{kind: rows[:number]})

    assert len(getattr(of(50), kind)) == 50
    with refused(f"2,000 {kind} share too little: 2000 systems, .*system=NAME"):
        of(2000)


def test_tables_of_systems_by_their_names_bring_their_references():
    rows = {"input": ["1", "2"], "reference": ["Ann left.", "Bob came."]}
    old = pandas.DataFrame({**rows, "summary": ["Ann left.", "No."], "system": "x"})
    new = pandas.DataFrame({**rows, "summary": ["No.", "Bob came."]})

    data = as_dataset({"old": old, "new": new})
    assert data.systems == ("old", "new")
    assert data.summaries[1].texts == ("No.", "Bob came.")
    assert data.references[1].references == (("Bob came.",),)
    records = {"old": old.to_dict("records"), "new": new.to_dict("records")}
    assert as_dataset(records) == data
