"""Every way to give summaries beside every way to give references: what has one id
comes together, whatever the order and the kind of the ids."""

import random

import pandas
import pytest

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
    wide = pandas.DataFrame(summaries).rename_axis("input")
    wide = wide.loc[mixed(wide.index)]

    by_system = {"dicts": {}, "series": {}, "named series": {}, "frames": {}}
    for system, texts in summaries.items():
        series = pandas.Series({name: texts[name] for name in mixed(texts)})
        named = series.rename_axis("input")
        by_system["dicts"][system] = series.to_dict()
        by_system["series"][system] = series
        by_system["named series"][system] = named
        by_system["frames"][system] = named.reset_index(name="summary")

    return {
        "rows": mixed(rows),
        "long": long,
        "levels": levels,
        "series with levels": levels["summary"],
        "wide": wide,
        "wide, unnamed": wide.rename_axis(None),
        "wide, a column": wide.reset_index(),
        **by_system,
    }


def reference_doors(references, mixed):
    """References by input, in every form that knows the ids."""
    series = pandas.Series({name: references[name] for name in mixed(references)})
    frame = series.rename_axis("input").to_frame("reference")
    return {
        "dict": series.to_dict(),
        "series": series,
        "named series": series.rename_axis("input"),
        "frame": frame,
        "frame, unnamed": frame.rename_axis(None),
        "frame, a column": frame.reset_index(),
        "rows": frame.reset_index().to_dict("records"),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("systems", ["a", "ab"])
def test_what_has_one_id_comes_together(kind, systems):
    names = KINDS[kind]
    rng = random.Random(kind)

    def mixed(values):
        return rng.sample([*values], len(values))

    summaries = {s: {name: f"{s} on {name}" for name in names} for s in systems}
    references = {name: f"truth on {name}" for name in names}

    for door, texts in summary_doors(summaries, mixed).items():
        for other, right in reference_doors(references, mixed).items():
            data = lp.load(summaries=texts, references=right)
            held = {}
            for entry in data.summaries:
                held[entry.system] = dict(zip(entry.inputs, entry.texts, strict=True))
            told = {entry.input: entry.references[0][0] for entry in data.references}

            assert told == {str(n): text for n, text in references.items()}, (
                door,
                other,
            )
            for system, texts_of in summaries.items():
                # A system alone may have no name.
                its = held.get(system) or held[next(iter(held))]
                expected = {str(n): text for n, text in texts_of.items()}
                assert its == expected, (door, other)
