"""Tables with a column for each system: what is noted, and that what is refused shows a
way out that works (more in `tests/first_calls`)."""

import pytest
from cases import refused

import litepyramid as lp

pandas = pytest.importorskip("pandas")

FRAME = pandas.DataFrame(
    {
        "bart": ["It rained all day.", "We left."],
        "t5": ["It rained.", "We stayed at home."],
        "reference": ["It rained all day. Roads closed.", "We left early."],
    }
)
SYSTEMS = FRAME[["bart", "t5"]]


def test_ids_and_columns_left_out_are_noted():
    data = lp.load(data=SYSTEMS, references=FRAME["reference"])
    assert any("no ids" in note for note in data.notes)

    with_ids = FRAME.assign(doc_id=["x", "y"], length=[4, 2])
    data = lp.load(data=with_ids, columns="input=doc_id,system=*")
    assert (data.systems, data.inputs) == (("bart", "t5"), ("x", "y"))
    assert any("length" in note for note in data.notes)


def test_what_is_no_system_is_refused():
    frame = SYSTEMS.assign(name=["first", "second"])
    with refused("name"):
        lp.load(data=frame, references=FRAME["reference"])
    with refused("no column 'pegasus'"):
        lp.load(data=FRAME, columns="system=bart+pegasus")


WITH_INDEX = """\
,doc,bart,t5
0,x,0.1,0.3
1,y,0.2,0.4
"""


def test_scores_with_a_column_for_each_system(tmp_path):
    path = tmp_path / "with an index.csv"
    path.write_text(WITH_INDEX)
    for source in (path, pandas.read_csv(path, index_col=0)):
        table = lp.read_scores(source, columns="input=doc,system=bart+t5")
        assert table.systems == ("bart", "t5")
        assert table.values.tolist() == [[[0.1, 0.2], [0.3, 0.4]]]

    rows = [{"model": "a", "rouge": 1, "human": 3}]
    with refused("columns system=model"):
        lp.read_scores(rows)
