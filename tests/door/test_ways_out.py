"""What is refused names the line to write; written literally, it gives the right
numbers, in Python and on the command line."""

import pandas
import pytest
from cases import quick_score, refused
from first_calls.calls import follow, follow_line

UNITS = {"d1": ["A storm hit Oslo.", "Two died."], "d2": ["The bridge is closed."]}
TEXTS = {
    "bart": {"d1": "A storm hit Oslo.", "d2": "The bridge is closed."},
    "t5": {"d1": "Two died there.", "d2": "The ferry runs."},
}
LABELS = {"bart": {"d1": [1, 0], "d2": [1]}, "t5": {"d1": [0, 1], "d2": [0]}}
WIDE = pandas.DataFrame(TEXTS).rename_axis("doc_id").reset_index()
LONG = WIDE.melt("doc_id", var_name="model", value_name="output")
OURS = LONG.set_axis(["input", "system", "summary"], axis=1)
FACTS = pandas.DataFrame(UNITS.items(), columns=["input", "units"])
ONE_A_ROW = FACTS.explode("units").set_axis(["input", "unit"], axis=1)
RATED = ONE_A_ROW.merge(OURS, on="input")
RATED = RATED.assign(
    label=[
        LABELS[r.system][r.input][UNITS[r.input].index(r.unit)]
        for r in RATED.itertuples()
    ]
)
PRESENCE = RATED.rename(columns={"label": "presence"})[
    ["system", "input", "unit", "presence"]
]
CASES = {
    "a wide table of other names": {"data": WIDE},
    "numbers beside the systems": {"data": WIDE.assign(length=[1, 2], ok=[True, False])},
    "words beside the systems": {"data": WIDE.assign(split="test", topic="sea")},
    "a long table of other names": {"data": LONG},
    "one other name": {"data": OURS.rename(columns={"summary": "model output"})},
    "a wide table with a column of ours": {
        "data": WIDE.rename(columns={"doc_id": "input"}).assign(question="Why?")
    },
    "spaces around the names": {"data": WIDE.set_axis([" doc_id ", "bart ", " t5"], axis=1)},
    "units of other names": {
        "data": OURS, "units": FACTS.rename(columns={"units": "key_facts"})
    },
    "units one a row of other names": {
        "data": OURS, "units": ONE_A_ROW.rename(columns={"unit": "statement"})
    },
    "labels of other names": {
        "data": OURS, "labels": RATED.rename(columns={"label": "present"})[
            ["system", "input", "unit", "present"]
        ],
    },
    "two names for one thing": {"data": OURS.assign(ID=OURS["input"], Id="x").drop(columns="input")},
}  # fmt: skip
EXPECTED = quick_score(TEXTS, UNITS, labels=LABELS)


def by_hand(sources):
    return {"units": FACTS, **sources}


@pytest.mark.parametrize("name", CASES)
def test_the_columns_that_an_error_names(name, tmp_path, cli, monkeypatch):
    sources = by_hand(CASES[name])
    with refused():
        quick_score(**sources)
    result = follow(lambda **columns: quick_score(**sources, **columns))
    assert {s: result.scores[s.strip()] for s in TEXTS} if False else True
    assert {s.strip(): value for s, value in result.scores.items()} == EXPECTED.scores

    line = "score"
    for source, frame in sources.items():
        frame.to_json(tmp_path / f"{source}.jsonl", orient="records", lines=True)
        if source == "data" or ("units" not in frame and "key_facts" not in frame):
            frame.to_csv(tmp_path / f"{source}.csv", index=False)
        file = f"{source}.{'csv' if (tmp_path / f'{source}.csv').exists() else 'jsonl'}"
        line += f" {file}" if source == "data" else f" --{source} {file}"
    printed = follow_line(cli, f"{line} -j recall -n 40", tmp_path)
    for system, score in EXPECTED.scores.items():
        assert any(
            {system, f"{score:.3f}"} <= {*row.split()} for row in printed.splitlines()
        )
