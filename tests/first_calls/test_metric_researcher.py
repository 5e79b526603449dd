"""First calls of somebody who evaluates metrics, with tables of scores."""

import io

import pytest
from calls import follow, follow_line

import litepyramid as lp

pandas = pytest.importorskip("pandas")

SCORES = """
system input rouge human
a 1 0.1 0.0
a 2 0.4 0.5
a 3 0.2 0.1
a 4 0.3 0.4
b 1 0.5 0.4
b 2 0.6 0.7
b 3 0.4 0.3
b 4 0.9 1.0
c 1 0.7 0.6
c 2 0.9 0.8
c 3 0.8 0.9
c 4 0.6 0.7
"""
WIDE = pandas.read_csv(io.StringIO(SCORES), sep=" ", dtype={"input": str})
OTHER = WIDE.rename(columns={"system": "model_name", "input": "doc-id"})
MEANS = WIDE.groupby("system")[["rouge", "human"]].mean()
EXPECTED = MEANS["rouge"].corr(MEANS["human"])

SHAPES = {
    "a frame of other names": OTHER,
    "names in capitals": WIDE.rename(columns={"system": "System", "input": "Doc"}),
    "a frame indexed by system and input": WIDE.set_index(["system", "input"]),
    "a frame indexed by input": WIDE.set_index("input"),
    "a row for each system": MEANS.reset_index(),
    "an index of systems": MEANS,
}


def pearson(table):
    """The correlation of the systems' means."""
    result = lp.meta.correlate(table, "human")
    frame = result.to_frame()
    rows = frame[(frame.level == "system") & (frame.coefficient == "pearson")]
    return float(rows.iloc[0]["value"])


@pytest.mark.parametrize("name", SHAPES)
def test_a_table_of_scores_is_correlated(name):
    table = follow(lambda **options: lp.read_scores(SHAPES[name], **options))
    assert pearson(table) == pytest.approx(EXPECTED)


@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "s.json", "s.jsonl"])
def test_a_file_of_scores_is_correlated(tmp_path, cli, name):
    path = tmp_path / name
    if name.endswith("sv"):
        OTHER.to_csv(path, index=False, sep="\t" if name == "s.tsv" else ",")
    else:
        OTHER.to_json(path, orient="records", lines=name == "s.jsonl")

    printed = follow_line(cli, f"meta correlate {path}")
    assert f"{EXPECTED:.3f}".lstrip("0") in printed
