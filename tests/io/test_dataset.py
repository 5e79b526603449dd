"""Data of every shape become one checked record; what is not meant is refused, not
guessed."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litepyramid.errors import InputError, LitepyramidError
from litepyramid.io.dataset import Dataset, as_dataset, as_presence, load
from litepyramid.io.scores import read_scores
from litepyramid.types import data_hashes

SUMMARIES = {"a": ["It rained.", "We left."], "b": ["", "It rained."]}
UNITS = {"1": ["It rained.", {"text": "It was cold.", "weight": 2}], "2": ["We left."]}
LABELS = {"a": [[1, 0.5], [1]], "b": [[0, 0], [0]]}
PRESENCE = {"a": [[0.9, 0.5], [None]], "b": [[0, 0.1], [0.25]]}
REFERENCES = {"1": ["It rained. It was cold."], "2": ["We left. We slept."]}


def whole_data() -> Dataset:
    return load(
        UNITS,
        summaries=SUMMARIES,
        labels=LABELS,
        references=REFERENCES,
    )


def table_of(data: Dataset) -> list[dict[str, object]]:
    """One table that holds all of it: a row a system, input and unit."""
    return [
        {
            "system": system.system,
            "input": entry.input,
            "summary": system.texts[i],
            "unit": unit.text,
            "weight": unit.weight,
            "label": data.labels[n].labels[i][k],
            "reference": data.references[i].references[0][0],
        }
        for n, system in enumerate(data.summaries)
        for i, entry in enumerate(data.units)
        for k, unit in enumerate(entry.units)
    ]


def test_one_set_of_data_in_every_shape(tmp_path):
    pandas = pytest.importorskip("pandas")
    whole = whole_data()
    assert (whole.systems, whole.inputs) == (("a", "b"), ("1", "2"))
    table = table_of(whole)
    frame = pandas.DataFrame(table)
    path = tmp_path / "all.csv"
    frame.to_csv(path, index=False)
    lines = tmp_path / "all.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in table))
    many = as_dataset(path, path, references=path, labels=path)
    for again in (load(table), load(frame), load(path), load(lines), many):
        assert again.hashes == whole.hashes
        assert again.summaries == whole.summaries

    for alone in (table, frame, path, str(path), [path]):
        assert as_dataset(alone).hashes == whole.hashes
    mapped = frame.rename(columns={"unit": "fact", "label": "gold"})
    assert load(mapped, columns="unit=fact,label=gold").hashes == whole.hashes
    assert as_dataset(str(path), labels={"a": [[0, 0], [0]]}).labels[0].labels == (
        (0, 0),
        (0,),
    )
    assert as_dataset(whole) is whole
    for system, texts in SUMMARIES.items():
        (tmp_path / f"{system}.txt").write_text("\n".join(texts) + "\n")
    files = {name: tmp_path / f"{name}.txt" for name in SUMMARIES}
    assert as_dataset(files, UNITS).summaries == whole.summaries


def test_whole_tables_one_after_the_other_are_read_together(tmp_path):
    whole = whole_data()
    table = table_of(whole_data())
    for name in SUMMARIES:
        rows = [row for row in table if row["system"] == name]
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows)
        )

    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    assert as_dataset(paths).hashes == whole.hashes
    paths[1].write_text(json.dumps(table[-1] | {"unit": " "}))
    with pytest.raises(InputError, match=r"b.jsonl:1: system 'b' has other units"):
        as_dataset(paths)


def test_a_misspelt_column_is_named_with_those_there_are():
    table = table_of(whole_data())
    assert load(table, columns="label=label").hashes == whole_data().hashes
    with pytest.raises(
        InputError, match=r"no column 'gold' \(columns label=gold\).*input, label"
    ):
        load(table, columns="label=gold")


SAME = {
    "unit": ("input", "unit"),
    "weight": ("input", "unit"),
    "reference": ("input",),
    "summary": ("system", "input"),
}
SHAS = {
    "unit": "units",
    "weight": "units",
    "summary": "summaries",
    "presence": "presence",
}


@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_hash_and_every_value_does(random):
    table = [{**row, "presence": 0.25 * row["label"]} for row in table_of(whole_data())]
    hashes = load(table).hashes
    assert load(random.sample(table, len(table))).hashes == hashes
    key = random.choice(["summary", "unit", "weight", "label", "presence", "reference"])
    number = random.randrange(len(table))
    chosen = table[number]
    value = {
        "weight": 7.0,
        "label": int(chosen["label"] != 1),
        "presence": 0.99,
    }

    changed = [dict(row) for row in table]

    for n, row in enumerate(changed):
        same = SAME.get(key)
        if n == number or (same and all(table[n][k] == chosen[k] for k in same)):
            row[key] = value.get(key, f"another {key}")

    sha = f"{SHAS.get(key, f'{key}s')}_sha"
    assert load(changed).hashes[sha] != hashes[sha]


def test_the_order_of_systems_changes_no_hash_of_presence():
    units = load(UNITS).units
    presence = as_presence(PRESENCE, units)
    swapped = as_presence({name: PRESENCE[name] for name in ("b", "a")}, units)

    assert data_hashes(presence=swapped) == data_hashes(presence=presence)


def test_what_looks_like_a_list_or_a_paragraph_is_one_unit_and_noted():
    text = "The bridge was closed on Monday after heavy rain. " * 4
    assert "paragraph" in load([[text, "It rained."]]).notes[0]
    assert not load([["It rained.", "Dr. Smith left."]]).notes
    data = load([["It rained; we left; Ana slept", "It rained; we left"]])
    assert len(data.units[0].units) == 2
    assert "1 unit looks like a list ('It rained; we left; Ana slept')" in data.notes[0]
    frame = [
        {"input": 1, "unit": '["It rained.", "We left."]'},
        {"input": 2, "unit": ["Hm."]},
    ]

    assert [e.texts for e in load(frame).units] == [
        ("It rained.", "We left."),
        ("Hm.",),
    ]


@pytest.mark.parametrize("name", ["question", "query", "prompt"])
def test_a_question_comes_with_units_references_or_answers(name):
    asked = {"input": "a", name: "When?"}
    other = {"input": "a"}
    rows = {"units": {"units": ["x."]}, "references": {"references": ["x."]}}
    answer = {"summary": "x."}

    for part, row in rows.items():
        for first, second in ((asked, other), (other, asked)):
            data = load(summaries=[second | answer], **{part: [first | row]})
            assert getattr(data, part)[0].question == "When?"

    rows = [
        {
            "id": "a",
            "system": s,
            name: "When?",
            "summary": "x.",
        }
        for s in "st"
    ]
    data = as_dataset(rows, {"a": ["x."]})
    assert data.units[0].question == "When?"
    assert data.hashes["inputs_sha"] != load({"a": ["x."]}).hashes["inputs_sha"]
    with pytest.raises(InputError, match="another question"):
        as_dataset([rows[0], rows[1] | {name: "Why?"}], {"a": ["x."]})


def test_null_answers_are_empty_or_missing_as_told(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "answers.jsonl"
    rows = [
        {
            "system": "s",
            "input": n,
            "summary": t,
        }
        for n, t in ((1, "It rained."), (2, None))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    units = {"1": ["It rained."], "2": ["We left."]}

    for answers in (path, rows, pandas.DataFrame(rows), {"s": ["It rained.", None]}):
        zero = load(units, summaries=answers)
        assert (zero.summaries[0].missing, zero.summaries[0].texts[1]) == ((), "")
        assert "1 answer is missing (null)" in zero.notes[0]
        missing = load(units, summaries=answers, nulls="missing")
        assert missing.summaries[0].missing == ("2",)
        assert missing.hashes["summaries_sha"] != zero.hashes["summaries_sha"]

    assert load(units, summaries=rows[:1], nulls="missing").summaries[0].missing == (
        "2",
    )
    with pytest.raises(InputError, match="no summary of input '2'"):
        load(units, summaries=rows[:1])


def test_labels_of_several_annotators_are_their_median_by_unit_in_any_order():
    labels = {
        "ann": [1, 0],
        "bob": [0, 0],
        "cy": [1, 1],
    }
    about = {
        "system": "s",
        "input": 1,
        "summary": "x",
    }
    single = [
        about
        | {
            "annotator": annotator,
            "unit": unit,
            "label": label,
        }
        for annotator, own in labels.items()
        for unit, label in zip("ab", own, strict=True)
    ]
    listed = [
        about
        | {
            "annotator": annotator,
            "units": ["a", "b"],
            "labels": own,
        }
        for annotator, own in labels.items()
    ]
    listed[2] |= {"units": ["b", "a"], "labels": [1, 1]}

    for rows, bad in ((single, {"label": 7}), (listed, {"labels": [1, 7]})):
        data = load(rows)
        assert (data.labels[0].labels, data.units[0].texts) == (((1, 0),), ("a", "b"))
        assert load(rows[: len(rows) * 2 // 3]).labels[0].labels == ((0.5, 0),)
        with pytest.raises(InputError, match="label 7"):
            load([*rows[:-1], rows[-1] | bad])


@pytest.mark.parametrize(
    ("data", "units", "sources", "message"),
    [
        ({"m": {"x", "y"}}, [["a"], ["b"]], {}, "a set, which has no order"),
        ({"m": ["x"]}, {frozenset("a")}, {}, "a set, which has no order"),
        ({None: ["x"]}, [["a"]], {}, "a system is called None"),
        ({"m": Path("none.txt")}, [["a"]], {}, "none.txt: no such file"),
        ({"m": [1]}, [["a"]], {}, "the summary of input '1' is 1"),
        ({"m": 1}, [["a"]], {}, "cannot be read from a int"),
        (3, [["a"]], {}, "summaries cannot be read from a int"),
        (
            {"m": ["a", "b"]},
            None,
            {"references": ["A b.", None]},
            "the reference of input '2' is missing",
        ),
        ({"m": ["x", "y"]}, [["a"]], {}, "2 summaries for 1 input"),
        ({"m": ["x"]}, [[]], {}, "no units of input '1'"),
        ({"m": ["x"]}, [[{"text": "a", "weight": float("nan")}]], {}, "weight nan"),
        (
            {"m": ["x"]},
            [
                {
                    "input": 1,
                    "unit": "a",
                    "weight": None,
                }
            ],
            {},
            "weight None",
        ),
        (
            {"m": ["x"]},
            [
                {
                    "input": 1,
                    "unit": "a",
                    "weight": "",
                }
            ],
            {},
            "weight ''",
        ),
        ({"m": ["x"]}, [["a"]], {"reference": ["r"]}, "Did you mean references?"),
        ({"m": ["x"]}, [["a"]], {"refs": ["r"]}, "Did you mean references?"),
        ({"m": ["x"]}, [["a"]], {"presence": {"m": [[1e308]]}}, "a number from 0 to 1"),
        (
            {"m": ["x"]},
            [["a"]],
            {"presence": {"m": [[float("inf")]]}},
            "a number from 0 to 1",
        ),
        (
            {"m": ["x"]},
            [["a"]],
            {"presence": {"n": [[1]]}},
            "summaries but no presence",
        ),
        ({"m": ["x"]}, [["a"]], {"labels": {"m": [["0.5\x1c"]]}}, "label"),
        ({"m": ["x"]}, None, {"labels": {"m": [[1]]}}, "labels without their units"),
    ],
)
def test_what_is_not_meant_is_refused(data, units, sources, message):
    with pytest.raises(InputError) as error:
        as_dataset(data, units, **sources)
    assert message in str(error.value)


def test_names_of_files_are_no_texts(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("It rained.\n")
    for summaries in ([str(path)], {"m": [str(path)]}):
        with pytest.raises(InputError, match="is a file, not a text"):
            as_dataset(summaries, [["It rained."]])
    for sources in ({"references": [str(path)]}, {"units": [[str(path)]]}):
        with pytest.raises(InputError, match="is a file, not a text"):
            as_dataset({"m": ["x"]}, **sources)
    assert as_dataset([path], [["It rained."]]).systems == ("a",)


def test_what_a_verb_needs_is_named():
    data = load(UNITS, summaries=SUMMARIES, labels={"a": {"1": [1, 0]}})
    data.require("units", "summaries", "labels")
    with pytest.raises(InputError, match="no labels of 'a' for input '2'"):
        data.require("complete labels")
    with pytest.raises(InputError, match="no references"):
        replace(data, labels=()).require("summaries", "references")


STRANGE = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=5)
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=3) | st.integers() | st.none(), inner, max_size=3
        )
        | st.sets(st.text(max_size=3), max_size=2)
        | st.tuples(inner)
    ),
    max_leaves=6,
)


@settings(max_examples=100)
@given(STRANGE, STRANGE, STRANGE)
def test_every_shape_is_read_or_refused(data, units, other):
    for sources in ({}, {"references": other}, {"labels": other}, {"presence": other}):
        try:
            dataset = as_dataset(data, units, **sources)
        except LitepyramidError:
            continue
        assert dataset.signature
    with pytest.raises(LitepyramidError):
        read_scores(io.StringIO())
