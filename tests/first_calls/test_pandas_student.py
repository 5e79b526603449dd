"""First calls of a doctoral student whose predictions are in frames."""

import pytest
from calls import follow, follow_line
from cases import quick_score, refused

import litepyramid as lp

pandas = pytest.importorskip("pandas")

REFERENCES = [
    "A storm hit Oslo on Monday. Two people died.",
    "The bridge at Lune was closed. Ferries ran instead.",
]
BART = ["A storm hit Oslo.", "The bridge was closed."]
T5 = ["Two people died on Monday.", "Ferries ran."]
WIDE = pandas.DataFrame({"bart": BART, "t5": T5, "reference": REFERENCES})
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


def score(data, units=None, **options):
    return quick_score(data, units, **options)


TABLES = {
    "a wide frame": WIDE,
    "a wide frame with a gold column": GOLD,
    "a wide frame with ids and lengths": WITH_IDS,
    "a long frame of other names": LONG,
    "a long frame of our names": OURS,
    "headers with spaces around them": GOLD.set_axis(
        [" bart", "t5 ", " gold "], axis=1
    ),
    "a column of splits beside the texts": WIDE.assign(
        id=[7, 8], split="test", ok=[True, False]
    ),
}
FIRST, SECOND = LONG[:2], LONG[2:]
WITH_REFERENCES = {
    "texts of pandas' own types": (
        WIDE[["bart", "t5"]].astype("string"),
        WIDE["reference"].astype("category"),
    ),
    "systems on the rows of a filter": (
        {"bart": FIRST.prediction, "t5": SECOND.prediction.reset_index(drop=True)},
        SECOND.target.reset_index(drop=True),
    ),
}


@pytest.fixture(scope="module")
def by_hand():
    return score({"bart": BART, "t5": T5}, references=REFERENCES)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_scored_as_its_texts(name, by_hand):
    result = follow(lambda **options: score(TABLES[name], **options))
    assert result.scores == by_hand.scores
    assert "bart" in result.to_latex()
    assert len(result.to_frame()) == 2


@pytest.mark.parametrize("name", WITH_REFERENCES)
def test_texts_beside_references_are_scored(name, by_hand):
    data, references = WITH_REFERENCES[name]
    result = follow(lambda **options: score(data, references=references, **options))
    assert result.scores == by_hand.scores


def test_groups_of_a_frame_are_refused_as_their_indices_are_no_ids():
    groups = dict([*LONG.groupby("model")["prediction"]])
    with refused("reset_index"):
        score(groups, references=REFERENCES)


COLUMNS = [{"system": ["bart", "t5"]}, "system=bart+t5", "input=doc_id,system=*"]


@pytest.mark.parametrize("columns", COLUMNS)
def test_columns_are_told(columns, by_hand):
    result = score(WIDE.assign(doc_id=["d1", "d2"]), columns=columns)
    assert result.scores == by_hand.scores


@pytest.mark.parametrize(
    ("mark", "encoding"), [(",", "utf-8"), (";", "utf-8-sig"), ("\t", "utf-16")]
)
@pytest.mark.parametrize("frame", [WITH_IDS, LONG], ids=["wide", "long"])
def test_a_saved_frame_is_scored(tmp_path, cli, frame, mark, encoding):
    path = tmp_path / "predictions.csv"
    frame.to_csv(path, sep=mark, encoding=encoding, index=mark == ",")
    printed = follow_line(cli, f"score {path} --judge recall -n 40")
    assert "bart" in printed
    assert "t5" in printed


@pytest.mark.parametrize("content", [b"PK\x03\x04\x14\x00", b"PAR1\x15", b"doc,\xe9"])
def test_a_file_that_holds_no_text_says_how_to_save_it(tmp_path, content):
    (tmp_path / "predictions.xlsx").write_bytes(content)
    with refused(r"CSV UTF-8|with pandas", lp.LitepyramidError):
        score(tmp_path / "predictions.xlsx")


def test_a_missing_prediction_is_told():
    holes = WIDE.assign(t5=[None, "Ferries ran."])
    result = score(holes[["bart", "t5"]], references=holes["reference"])
    assert any("missing" in note for note in result.notes)
