"""Every way to give summaries beside every way to give references or units: what has one
id comes together, whatever the order and the kind of the ids."""

import random
from itertools import product

import pandas
import pyarrow
import pytest
from cases import write_lines

import litepyramid as lp

KINDS = {
    "words": ["d3", "d1", "d2", "d4"],
    "numbers": [102, 101, 7, 30],
    "numbers as text": ["10", "2", "1", "33"],
    "zeros before": ["01", "02", "10", "1"],
    "from zero": [0, 1, 2, 3],
}


def summary_doors(summaries, mixed):
    """Summaries by system and input, in every form that knows the ids."""
    rows = []
    for system, texts in summaries.items():
        for name, text in texts.items():
            rows.append({"system": system, "input": name, "summary": text})

    long = pandas.DataFrame(mixed(rows))
    levels = long.set_index(["system", "input"])
    wide = pandas.DataFrame(summaries)
    wide = wide.loc[mixed(wide.index)]
    doors = {
        "rows": mixed(rows),
        "a generator of rows": iter(mixed(rows)),
        "Arrow": pyarrow.Table.from_pandas(long),
        "long": long,
        "long, another name": long.rename(columns={"input": "doc"}),
        "levels": levels,
        "series with levels": levels["summary"].swaplevel(),
        "wide": wide,
        "wide, named": wide.rename_axis("doc"),
        "wide, a column": wide.rename_axis("input").reset_index(),
        "dicts": {},
        "series": {},
        "named series": {},
        "frames": {},
        "frames, a column": {},
    }

    for system, texts in summaries.items():
        series = pandas.Series(texts).loc[mixed(texts)]
        frame = series.to_frame("summary")
        doors["dicts"][system] = series.to_dict()
        doors["series"][system] = series
        doors["named series"][system] = series.rename_axis("doc")
        doors["frames"][system] = frame
        doors["frames, a column"][system] = frame.rename_axis("input").reset_index()

    if len(summaries) == 1:
        doors["one series"] = series
    return doors


def other_doors(names, mixed, path):
    """References, or a unit of each input, in every form that knows the ids."""
    series = pandas.Series({name: f"truth on {name}" for name in mixed(names)})
    frame = series.to_frame("reference")
    column = frame.rename_axis("input").reset_index()
    lists = series.map(lambda text: [text])
    units = [{"input": name, "units": unit} for name, unit in lists.items()]
    references = {
        "dict": series.to_dict(),
        "series": series,
        "named series": series.rename_axis("other"),
        "frame": frame,
        "frame, named": frame.rename_axis("input"),
        "frame, a column": column,
        "rows": column.to_dict("records"),
    }
    facts = {
        "dict": lists.to_dict(),
        "series": lists,
        "named series": lists.rename_axis("other"),
        "records": lp.load(lists.to_dict()).units,
        "file": write_lines(path, units),
    }
    doors = {}
    for door, value in references.items():
        doors["references", door] = {"references": value}
    for door, value in facts.items():
        doors["units", door] = {"units": value}
    return doors


@pytest.mark.parametrize(
    ("systems", "kind"),
    [
        *product(["ab"], KINDS),
        ("a", "numbers"),
        ("a", "from zero"),
    ],
)
def test_what_has_one_id_comes_together(systems, kind, tmp_path):
    names = KINDS[kind]
    rng = random.Random(kind)

    def mixed(values):
        return rng.sample([*values], len(values))

    summaries = {s: {name: f"{s} on {name}" for name in names} for s in systems}
    expected = {str(name): f"truth on {name}" for name in names}
    others = other_doors(names, mixed, tmp_path / "units.jsonl")

    for other, sources in others.items():
        for door, texts in summary_doors(summaries, mixed).items():
            columns = "input=doc" if "another name" in door else None
            data = lp.load(data=texts, columns=columns, **sources)
            told = {entry.input: entry.texts[0] for entry in data.units}
            for entry in data.references or ():
                told[entry.input] = entry.references[0][0]
            assert told == expected, (door, other)

            assert len(data.systems) == len(systems)
            for entry in data.summaries:
                # A system alone may have no name.
                system = entry.system if entry.system in systems else "a"
                answers = dict(zip(entry.inputs, entry.texts, strict=True))
                assert answers == {n: f"{system} on {n}" for n in told}, (door, other)
