"""Twenty first calls of a doctoral student whose predictions are in frames."""

import numpy as np
import pytest
from calls import CHEAP, follow, follow_line

import litepyramid as lp

pandas = pytest.importorskip("pandas")

REFERENCES = [
    "A storm hit Oslo on Monday. Two people died.",
    "The bridge at Lune was closed. Ferries ran instead.",
]
BART = ["A storm hit Oslo.", "The bridge was closed."]
T5 = ["Two people died on Monday.", "Ferries ran."]
WIDE = pandas.DataFrame(
    {
        "bart": BART,
        "t5": T5,
        "reference": REFERENCES,
    }
)
GOLD = WIDE.rename(columns={"reference": "gold"})
WITH_IDS = GOLD.assign(doc_id=["d1", "d2"], length=[4, 4])
LONG = pandas.DataFrame(
    {
        "model": ["bart", "bart", "t5", "t5"],
        "doc_id": ["d1", "d2", "d1", "d2"],
        "prediction": [*BART, *T5],
        "target": [*REFERENCES, *REFERENCES],
    }
)
OURS = LONG.set_axis(["system", "input", "summary", "reference"], axis=1)
INDEXED = WIDE.set_index(pandas.Index(["d1", "d2"], name="doc"))
FACTS = [["A storm hit Oslo.", "Two people died."], ["The bridge was closed."]]


def score(data, units=None, **options):
    return lp.score(data, units, **CHEAP, **options)


CALLS = {
    "two columns of a frame": lambda **o: score(
        WIDE[["bart", "t5"]], references=WIDE["reference"], **o
    ),
    "the whole wide frame": lambda **o: score(WIDE, **o),
    "a wide frame with a gold column": lambda **o: score(GOLD, **o),
    "a wide frame with ids and lengths": lambda **o: score(WITH_IDS, **o),
    "systems told by a list": lambda **o: score(
        WIDE, columns={"system": ["bart", "t5"]}, **o
    ),
    "systems told by a star": lambda **o: score(WIDE, columns="system=*", **o),
    "a frame whose index holds the ids": lambda **o: score(
        INDEXED[["bart", "t5"]], references=INDEXED["reference"], **o
    ),
    "a long frame of other names": lambda **o: score(LONG, **o),
    "a long frame of our names": lambda **o: score(OURS, **o),
    "a pivot": lambda **o: score(
        LONG.pivot(
            index="doc_id",
            columns="model",
            values="prediction",
        ),
        references=LONG.drop_duplicates("doc_id").set_index("doc_id")["target"],
        **o,
    ),
    "groups of a frame": lambda **o: score(
        {name: rows["prediction"] for name, rows in LONG.groupby("model")},
        references=REFERENCES,
        **o,
    ),
    "a dict of columns": lambda **o: score(
        {"bart": WIDE["bart"], "t5": WIDE["t5"]}, references=WIDE["reference"], **o
    ),
    "arrays": lambda **o: score(
        {"bart": WIDE["bart"].to_numpy(), "t5": np.array(T5)},
        references=WIDE["reference"].values,
        **o,
    ),
    "records": lambda **o: score(OURS.to_dict("records"), **o),
    "a dict of lists": lambda **o: score(OURS.to_dict("list"), **o),
    "a column of lists as units": lambda **o: score(
        WIDE[["bart", "t5"]], pandas.Series(FACTS), **o
    ),
    "systems on the rows of a filter": lambda **o: score(
        {
            "bart": LONG[LONG.model == "bart"].prediction,
            "t5": LONG[LONG.model == "t5"].prediction,
        },
        references=LONG[LONG.model == "t5"].target,
        **o,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_frame_is_scored(name):
    result = follow(CALLS[name])
    assert set(result.systems) == {"bart", "t5"}
    assert 0 < result["bart"] <= 1
    assert "bart" in result.to_latex()
    assert len(result.to_frame()) == 2


def test_a_missing_prediction_is_told():
    holes = WIDE.assign(t5=[None, "Ferries ran."])
    result = score(holes[["bart", "t5"]], references=holes["reference"])
    assert any("missing" in note for note in result.notes)


def test_a_saved_wide_frame_is_scored(tmp_path, cli):
    WITH_IDS.to_csv(tmp_path / "predictions.csv")
    printed = follow_line(
        cli,
        "score",
        tmp_path / "predictions.csv",
        "--judge",
        "recall",
        "-n",
        40,
    )
    assert "bart" in printed
    assert "t5" in printed


def test_a_saved_long_frame_is_scored(tmp_path, cli):
    LONG.to_csv(tmp_path / "long.csv", index=False)
    printed = follow_line(
        cli,
        "score",
        tmp_path / "long.csv",
        "--judge",
        "recall",
        "-n",
        40,
    )
    assert "bart" in printed
