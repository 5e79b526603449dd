"""Tables with a column for each system, with and without ids; what is refused shows a
way out that works."""

import re

import pytest

import litepyramid as lp
from litepyramid.errors import InputError

pandas = pytest.importorskip("pandas")

FRAME = pandas.DataFrame(
    {
        "bart": ["It rained all day.", "We left."],
        "t5": ["It rained.", "We stayed at home."],
        "reference": ["It rained all day. Roads closed.", "We left early."],
    }
)
SYSTEMS = FRAME[["bart", "t5"]]
BY_HAND = lp.load(
    summaries={name: SYSTEMS[name].tolist() for name in SYSTEMS},
    references=FRAME["reference"].tolist(),
)


def same(data, inputs=("1", "2")):
    """Whether the texts are those that were given by hand."""
    texts = [(own.system, own.texts) for own in data.summaries]
    return (
        texts == [(own.system, own.texts) for own in BY_HAND.summaries]
        and [own.references for own in data.references]
        == [own.references for own in BY_HAND.references]
        and data.inputs == inputs
    )


def test_a_frame_of_texts_holds_a_system_in_each_column():
    data = lp.load(summaries=SYSTEMS, references=FRAME["reference"])
    assert same(data)
    assert any("no ids" in note for note in data.notes)
    assert same(lp.load(summaries=FRAME, columns="system=bart+t5"))
    assert same(lp.load(summaries=FRAME, columns={"system": ["bart", "t5"]}))
    assert same(lp.load(summaries=FRAME.to_dict("records"), columns="system=*"))


def test_ids_are_a_column_or_the_index_that_has_a_name():
    with_ids = FRAME.assign(doc_id=["x", "y"], length=[4, 2])
    names = "input=doc_id,system=bart+t5"
    assert same(lp.load(summaries=with_ids, columns=names), ("x", "y"))
    data = lp.load(summaries=with_ids, columns="input=doc_id,system=*")
    assert same(data, ("x", "y"))
    assert any("length" in note for note in data.notes)

    indexed = FRAME.set_index(pandas.Index(["x", "y"], name="doc"))
    columns = indexed[["bart", "t5"]]
    assert same(lp.load(summaries=columns, references=indexed["reference"]), ("x", "y"))
    listed = FRAME["reference"].tolist()
    assert same(lp.load(summaries=columns, references=listed), ("x", "y"))
    assert same(lp.load(summaries=indexed, columns="system=*"), ("x", "y"))


@pytest.mark.parametrize("extra", [{}, {"doc_id": ["x", "y"], "length": [4, 2]}])
def test_a_refusal_shows_the_option_that_works(tmp_path, cli, extra):
    frame = FRAME.rename(columns={"reference": "gold"}).assign(**extra)
    with pytest.raises(InputError) as refused:
        lp.load(summaries=frame)
    assert all(name in str(refused.value) for name in frame.columns)
    shown = re.search(r'columns="(.*?)"', str(refused.value))[1]
    assert same(
        lp.load(summaries=frame, columns=shown), (("x", "y") if extra else ("1", "2"))
    )

    path = tmp_path / "wide.csv"
    frame.to_csv(path, index=False)
    score = "score", path, "--judge", "recall", "-n", 40
    error = cli(*score, status=2).stderr
    option = re.search(r"--columns (\S+)", " ".join(error.split()))[1]
    assert "bart" in cli(*score, "--columns", option).stdout


def test_ids_that_are_words_are_no_system():
    frame = SYSTEMS.assign(name=["first", "second"])
    with pytest.raises(InputError, match="name"):
        lp.load(summaries=frame, references=FRAME["reference"])


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="no column 'pegasus'"):
        lp.load(summaries=FRAME, columns="system=bart+pegasus")


def test_scores_with_a_column_or_a_row_for_each_system():
    wide = pandas.DataFrame(
        {
            "doc": ["x", "y"],
            "bart": [0.1, 0.2],
            "t5": [0.3, 0.4],
        }
    )
    table = lp.read_scores(wide, columns="input=doc,system=bart+t5")
    assert table.systems == ("bart", "t5")
    assert table.values.tolist() == [[[0.1, 0.2], [0.3, 0.4]]]

    rows = pandas.DataFrame(
        {
            "system": ["a", "b"],
            "rouge": [1, 2],
            "human": [3, 4],
        }
    )
    assert lp.read_scores(rows).values.tolist() == [[[1.0], [2.0]], [[3.0], [4.0]]]

    with pytest.raises(InputError, match="columns system=model") as refused:
        lp.read_scores(rows.rename(columns={"system": "model"}))
    assert "summar" not in str(refused.value)
