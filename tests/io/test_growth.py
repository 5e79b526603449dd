"""Work grows as its input does: calls are counted, which no busy machine changes."""

import sys

import pandas
import pytest
from cases import write_lines

import litepyramid as lp

SYSTEMS = "abcd"


def whole_table(inputs):
    """All that belongs to a data set, in a frame."""
    rows = []
    for number in range(inputs):
        text = f"It was {number}."
        for system in SYSTEMS:
            about = {
                "system": system,
                "input": f"i{number}",
                "summary": f"{text} Two died.",
                "question": "Why?",
                "reference": f"{text} Two people died.",
                "annotator": "Ann",
            }
            # Every third input has a gap.
            label = None if number % 3 else 1
            rows.append({**about, "unit": text, "weight": 1, "label": label})
            rows.append({**about, "unit": "Two died.", "weight": 2, "label": 0})
    return pandas.DataFrame(rows)


def load_a_table(folder, inputs):
    path = folder / "all.csv"
    whole_table(inputs).to_csv(path, index=False)
    return lambda: lp.load(path)


def load_units_and_summaries_in_python(folder, inputs):
    units = {f"i{n}": [f"It was {n}.", "Two people died."] for n in range(inputs)}
    texts = {f"i{n}": f"It was {n}." for n in range(inputs)}
    return lambda: lp.load(units=units, data=dict.fromkeys(SYSTEMS, texts))


def load_lines_of_json(folder, inputs):
    rows = []
    for number in range(inputs):
        row = {"input": f"i{number}", "units": ["It rained.", "Two people died."]}
        rows += [{**row, "system": s, "summary": "It rained."} for s in SYSTEMS]
    path = write_lines(folder / "all.jsonl", rows)
    return lambda: lp.load(path)


def load_columns_in_python(folder, inputs):
    frame = whole_table(inputs).rename(columns={"summary": "model output"})
    columns = frame.to_dict("list")
    return lambda: lp.load(data=columns, columns="summary=model output")


def read_scores(folder, inputs):
    rows = []
    for number in range(inputs):
        row = {"input": f"i{number}", "rouge": number % 7, "human": number % 3}
        rows += [{"system": system, **row} for system in SYSTEMS]
    path = folder / "scores.csv"
    pandas.DataFrame(rows).to_csv(path, index=False)
    return lambda: lp.read_scores(path)


def score_all(folder, inputs):
    data = lp.load(whole_table(inputs))
    return lambda: lp.score(data, judge="recall", samples=100)


DOORS = (
    load_a_table,
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
