"""Work grows as its input does: calls are counted, which no busy machine changes."""

import csv
import json
import sys

import pytest

import litepyramid as lp

SYSTEMS = "abcd"


def write_csv(path, header, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split())
        writer.writerows(rows)
    return path


def write_tables(folder, inputs):
    """Tables of all that belongs to a data set, by `load`'s arguments."""
    units = []
    summaries = []
    labels = []
    scores = []

    for number in range(inputs):
        name = f"i{number}"
        units += [(name, f"It was {number}.", 1), (name, "Two people died.", "")]
        for system in SYSTEMS:
            summaries.append((system, name, f"It was {number}, and two died.", "Why?"))
            # Every third input has a gap.
            label = "" if number % 3 else 1
            labels.append((system, name, f"It was {number}.", label, "Ann"))
            labels.append((system, name, "Two people died.", 0, "Ann"))
            scores.append((system, name, number % 7, number % 3))

    units = [row if row[2] else (*row[:2], 2) for row in units]
    references = [(f"i{n}", f"It was {n}. Two people died.") for n in range(inputs)]
    return {
        "units": write_csv(folder / "u.csv", "input unit weight", units),
        "summaries": write_csv(
            folder / "s.csv", "system input summary question", summaries
        ),
        "references": write_csv(folder / "r.csv", "id reference", references),
        "labels": write_csv(
            folder / "l.csv", "system input unit label annotator", labels
        ),
        "scores": write_csv(folder / "m.csv", "system input rouge human", scores),
    }


def load_tables(folder, inputs):
    tables = write_tables(folder, inputs)
    del tables["scores"]
    return lambda: lp.load(tables.pop("units"), **tables)


def load_units_and_summaries_in_python(folder, inputs):
    del folder
    units = {f"i{n}": [f"It was {n}.", "Two people died."] for n in range(inputs)}
    texts = {f"i{n}": f"It was {n}." for n in range(inputs)}
    return lambda: lp.load(units, summaries=dict.fromkeys(SYSTEMS, texts))


def load_lines_of_json(folder, inputs):
    rows = []
    for number in range(inputs):
        row = {"input": f"i{number}", "units": ["It rained.", "Two people died."]}
        rows += [{**row, "system": s, "summary": "It rained."} for s in SYSTEMS]
    path = folder / "all.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return lambda: lp.load(path)


def load_columns_in_python(folder, inputs):
    del folder
    columns = {
        "id": [f"i{n}" for n in range(inputs)],
        "reference": [f"It was {n}. Two died." for n in range(inputs)],
        "model output": [f"It was {n}." for n in range(inputs)],
    }
    return lambda: lp.load(summaries=columns, columns="summary=model output")


def read_scores(folder, inputs):
    path = write_tables(folder, inputs)["scores"]
    return lambda: lp.read_scores(path)


def score_all(folder, inputs):
    tables = write_tables(folder, inputs)
    data = lp.load(tables["units"], summaries=tables["summaries"])
    return lambda: lp.score(data, judge="recall", samples=100)


DOORS = (
    load_tables,
    load_units_and_summaries_in_python,
    load_lines_of_json,
    load_columns_in_python,
    read_scores,
    score_all,
)


def calls_of(work):
    """How many functions are called, those of C among them."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        del frame, argument
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("door", DOORS)
def test_twice_the_input_is_twice_the_work(door, tmp_path):
    calls_of(door(tmp_path, 30))  # imports and caches first
    once, twice, whole = (calls_of(door(tmp_path, n)) for n in (60, 120, 240))
    # What comes once for all inputs falls out of the differences.
    assert whole - twice <= 2.2 * (twice - once), (once, twice, whole)
