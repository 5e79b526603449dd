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
    "rows that were shuffled beside references that were not": lambda **o: score(
        WIDE.sample(frac=1, random_state=0)[["bart", "t5"]],
        references=WIDE["reference"],
        **o,
    ),
    "headers with spaces around them": lambda **o: score(
        GOLD.set_axis([" bart", "t5 ", " gold "], axis=1), **o
    ),
    "a column of splits beside the texts": lambda **o: score(
        WIDE.assign(id=[7, 8], split="test", ok=[True, False]), **o
    ),
    "a dict of columns with the references": lambda **o: score(
        {"bart": BART, "t5": T5, "gold": REFERENCES}, **o
    ),
    "texts of pandas' own types": lambda **o: score(
        WIDE[["bart", "t5"]].astype("string"),
        references=WIDE["reference"].astype("category"),
        **o,
    ),
    "generators": lambda **o: score(
        {"bart": iter(BART), "t5": (text for text in T5)}, references=REFERENCES, **o
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


def test_rows_go_by_their_index_and_not_by_their_place():
    ordered = CALLS["two columns of a frame"]()
    name = "rows that were shuffled beside references that were not"
    assert CALLS[name]().scores == ordered.scores


@pytest.mark.parametrize("references", ["reference", "references", "gold"])
def test_one_system_and_its_references(references):
    result = follow(lambda **o: score({"output": BART, references: REFERENCES}, **o))
    assert list(result.scores.values()) == pytest.approx([0.354], abs=0.001)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("mark", [";", "\t"])
def test_what_a_spreadsheet_saved_is_scored(tmp_path, cli, encoding, mark):
    path = tmp_path / "predictions.csv"
    WITH_IDS.to_csv(path, sep=mark, encoding=encoding, index=False)
    printed = follow_line(cli, "score", path, "--judge", "recall", "-n", 40)
    assert "bart" in printed


@pytest.mark.parametrize("content", [b"PK\x03\x04\x14\x00", b"PAR1\x15", b"doc,\xe9"])
def test_a_file_that_holds_no_text_says_how_to_save_it(tmp_path, content):
    (tmp_path / "predictions.xlsx").write_bytes(content)
    with pytest.raises(lp.LitepyramidError, match=r"CSV UTF-8|with pandas"):
        score(tmp_path / "predictions.xlsx")


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
