"""Every way to give summaries beside every way to give what belongs to them: what has
one id comes together, whatever the order and the kind of the ids."""

import json
import random
from itertools import product

import pandas
import polars
import pyarrow
import pytest
from cases import write_lines
from door.holding import references_of, texts_of, units_of

import litepyramid as lp

KINDS = {
    "words": ["d3", "d1", "d2", "d4"],
    "numbers": [102, 101, 7, 30],
    "numbers as text": ["10", "2", "1", "33"],
    "zeros before": ["01", "02", "10", "1"],
    "from zero": [0, 1, 2, 3],
    "beyond floats": [2**60 + 1, 2**60 + 2, 2**60 + 3, 7],
    "accents and spaces": ["été 1", "ete 1", "a, b", "it's"],
}


def texts_folder(folder, texts):
    """A folder with a file for each text, by its name."""
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


def summary_doors(summaries, mixed, folder):
    """Summaries by system and input, in every form that knows the ids."""
    rows = []
    for system, texts in summaries.items():
        for name, text in texts.items():
            rows.append({"system": system, "input": name, "summary": text})

    long = pandas.DataFrame(mixed(rows))
    levels = long.set_index(["system", "input"])
    wide = pandas.DataFrame(summaries)
    wide = wide.loc[mixed(wide.index)]
    column = wide.rename_axis("input").reset_index()
    text = "".join(json.dumps(row) + "\n" for row in mixed(rows))
    doors = {
        "rows": mixed(rows),
        "a generator of rows": iter(mixed(rows)),
        "columns": long.to_dict("list"),
        "Arrow": pyarrow.Table.from_pandas(long),
        "polars": polars.DataFrame(mixed(rows)).lazy(),
        "long": long,
        "long, another name": long.rename(columns={"input": "doc"}),
        "long, an index": long.set_index("input"),
        "long, categories": long.astype("category"),
        "levels": levels,
        "series with levels": levels["summary"].swaplevel(),
        "wide": wide,
        "wide, named": wide.rename_axis("doc"),
        "wide, a column": column,
        "CSV": folder / "long.csv",
        "wide CSV": folder / "wide.csv",
        "Parquet": folder / "long.parquet",
        "JSON Lines": folder / "long.jsonl",
        "JSON": folder / "long.json",
        "tables of JSON": folder / "tables",
        "texts": folder / "texts",
        "dicts": {},
        "series": {},
        "named series": {},
        "frames": {},
        "frames, a column": {},
    }

    folder.mkdir(exist_ok=True)
    (folder / "tables").mkdir()
    long.to_csv(doors["CSV"], index=False)
    column.to_csv(doors["wide CSV"], index=False)
    long.to_parquet(doors["Parquet"])
    doors["JSON Lines"].write_text(text)
    doors["JSON"].write_text(json.dumps(mixed(rows)))
    for system, texts in summaries.items():
        lines = [{"input": name, "summary": texts[name]} for name in mixed(texts)]
        write_lines(folder / "tables" / f"{system}.jsonl", lines)
        texts_folder(folder / "texts" / system, texts)

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


def other_doors(names, mixed, folder):
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
        "polars": polars.from_pandas(column),
        "rows": column.to_dict("records"),
        "CSV": folder / "references.csv",
        "texts": texts_folder(folder / "references", series),
    }
    facts = {
        "dict": lists.to_dict(),
        "series": lists,
        "named series": lists.rename_axis("other"),
        "one a row": column.rename(columns={"reference": "unit"}),
        "records": lp.load(units=lists.to_dict()).units,
        "JSON Lines": write_lines(folder / "units.jsonl", units),
        "JSON by id": folder / "units.json",
    }

    column.to_csv(references["CSV"], index=False)
    facts["JSON by id"].write_text(json.dumps({str(n): u for n, u in lists.items()}))
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
    truth = {str(name): [f"truth on {name}"] for name in names}
    answers = {(s, str(n)): f"{s} on {n}" for s in systems for n in names}
    others = other_doors(names, mixed, tmp_path)

    for number, (other, sources) in enumerate(others.items()):
        doors = summary_doors(summaries, mixed, tmp_path / str(number))
        for door, texts in doors.items():
            columns = "input=doc" if "another name" in door else None
            data = lp.load(texts, columns=columns, **sources)
            assert units_of(data) | references_of(data) == truth, (door, other)

            # A system alone may have no name.
            told = {"system": "a"} if len(systems) == 1 else {}
            loaded = {(told.get(s, s), n): t for (s, n), t in texts_of(data).items()}
            assert loaded == answers, (door, other)
