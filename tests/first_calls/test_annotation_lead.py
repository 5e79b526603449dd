"""First calls of somebody with a budget for annotation."""

import json
import math
from pathlib import Path

import pytest
from calls import follow, follow_line
from cases import quick_score

import litepyramid as lp

pandas = pytest.importorskip("pandas")

DATA = Path(__file__).resolve().parents[1] / "data"
TEXTS = [
    "A storm hit Oslo on Monday. Two people died.",
    "The bridge at Lune was closed. Ferries ran instead, twice a day.",
]
FRAME = pandas.DataFrame({"doc_id": ["d1", "d2"], "gold": TEXTS})
UNITS = [["A storm hit Oslo.", "Two people died."], ["The bridge was closed."]]
ANSWERS = {"a": ["A storm hit Oslo.", "Closed."], "b": ["Two died.", ""]}
LANGUAGES = json.loads((DATA / "languages.json").read_text())

REFERENCES = {
    "a list": TEXTS,
    "a dict": {"d1": TEXTS[0], "d2": TEXTS[1]},
    "a frame of other names": FRAME,
    "a frame of our names": FRAME.rename(columns={"doc_id": "id", "gold": "reference"}),
    "a frame with an index of ids": FRAME.set_index("doc_id")["gold"],
    "records": FRAME.to_dict("records"),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_references_are_planned(name):
    plan = follow(lambda **o: lp.plan(REFERENCES[name], human_share=0.5, **o))
    assert plan.count == 2
    assert len(plan.sentences) == 4


@pytest.mark.parametrize("code", ["de", "zh", "fr"])
def test_other_languages_are_planned(code):
    plan = lp.plan([" ".join(LANGUAGES[code][:4])], human_share=0.5)
    assert plan.count == 2
    assert plan.notes


def test_a_table_of_references_is_planned(tmp_path, cli):
    FRAME.to_csv(tmp_path / "gold.csv", index=False)
    follow_line(cli, "budget plan gold.csv --sentences 2 -o plan.json", tmp_path)
    done = cli("budget export plan.json -o tasks", cwd=tmp_path)
    assert "sentences to write SCUs for" in done.stdout


@pytest.fixture
def folder(tmp_path):
    rows = [{"input": f"d{n}", "reference": text} for n, text in enumerate(TEXTS, 1)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "references.jsonl").write_text(lines)
    (tmp_path / "summaries").mkdir()
    (tmp_path / "summaries" / "a.txt").write_text("A storm hit Oslo.\nClosed.\n")
    return tmp_path


def test_tasks_from_references_alone(folder, cli):
    line = "budget export summaries --references references.jsonl -o tasks"
    assert "sentences to write SCUs for" in follow_line(cli, line, folder)
    assert (folder / "tasks" / "tasks.json").is_file()


@pytest.mark.parametrize("form", ["page", "label-studio", "csv"])
def test_answers_in_lists_are_judged(tmp_path, form):
    made = lp.export(ANSWERS, tmp_path / "tasks", units=UNITS, form=form)
    assert len(made.tasks.judging) == 3  # one answer is empty: nobody is asked


def test_a_sample_of_the_facts_is_judged(folder, cli):
    (folder / "units.jsonl").write_text(
        '{"input": "d1", "units": ["A storm hit Oslo.", "Two people died."]}\n'
        '{"input": "d2", "units": ["The bridge was closed."]}\n'
    )
    line = "budget export summaries --units units.jsonl --labels 2 -o sample"
    cli(line, cwd=folder)
    assert (folder / "sample" / "tasks.json").is_file()


def test_answers_in_a_frame_are_judged(tmp_path):
    frame = pandas.DataFrame({"a": ANSWERS["a"], "b": ["Two people died.", "No idea."]})
    made = lp.export(frame, tmp_path / "tasks", units=UNITS, columns="system=*")
    assert made.tasks.systems == ("a", "b")


def test_labels_in_a_frame_are_combined():
    labels = pandas.DataFrame(
        {
            "system": ["a"] * 20 + ["b"] * 20,
            "input": [*range(1, 21)] * 2,
            "unit": "It rained.",
            "label": [0, 1] * 20,
        }
    )
    texts = ["It rained.", "It rained.", "No.", "It rained."] * 10
    result = quick_score(
        {"a": texts, "b": texts[::-1]}, [["It rained."]] * 40, labels=labels
    )
    assert lp.combine(result).systems


def test_the_sheet_is_filled_in_pandas(tmp_path):
    lp.export(ANSWERS, tmp_path / "tasks", units=UNITS, form="csv")
    sheet = pandas.read_csv(tmp_path / "tasks" / "sheet.csv")
    sheet["present"], sheet["worker"] = 1, "ann"
    sheet.to_csv(tmp_path / "done.csv", index=False)
    answers = lp.import_answers(tmp_path / "tasks", [tmp_path / "done.csv"])
    assert answers.to_tables()


@pytest.mark.parametrize("form", ["frame", "csv"])
def test_an_empty_cell_is_a_fact_that_nobody_labelled(form, tmp_path):
    frame = pandas.DataFrame(
        {
            "input": ["1", "1", "2"],
            "system": "bart",
            "summary": ["A storm hit Oslo.", "A storm hit Oslo.", "Two died."],
            "unit": ["A storm hit Oslo.", "Nobody died.", "Two died."],
            "label": [1.0, None, None],
        }
    )
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)

    data = lp.load(frame if form == "frame" else path)

    [labels] = data.labels
    assert labels.labels[0][0] == 1
    assert math.isnan(labels.labels[0][1])
    assert labels.labels[1] == ()
