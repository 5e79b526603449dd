"""First calls of somebody with a budget for annotation."""

import math

import pytest
from calls import follow, follow_line
from cases import write_lines

import litepyramid as lp

pandas = pytest.importorskip("pandas")

TEXTS = [
    "A storm hit Oslo on Monday. Two people died.",
    "The bridge at Lune was closed. Ferries ran instead, twice a day.",
]
FRAME = pandas.DataFrame({"doc_id": ["d1", "d2"], "gold": TEXTS})
UNITS = [["A storm hit Oslo.", "Two people died."], ["The bridge was closed."]]
ANSWERS = {"a": ["A storm hit Oslo.", "Closed."], "b": ["Two died.", ""]}

REFERENCES = {
    "a frame of other names": FRAME,
    "a frame of our names": FRAME.rename(columns={"doc_id": "id", "gold": "reference"}),
    "a frame with an index of ids": FRAME.set_index("doc_id")["gold"],
}


@pytest.mark.parametrize("name", REFERENCES)
def test_references_are_planned(name):
    plan = follow(lambda **o: lp.plan(REFERENCES[name], human_share=0.5, **o))
    assert plan.count == 2
    assert len(plan.sentences) == 4


def test_tasks_from_references_alone(tmp_path, cli):
    rows = [{"input": f"d{n}", "reference": text} for n, text in enumerate(TEXTS, 1)]
    write_lines(tmp_path / "references.jsonl", rows)
    (tmp_path / "a.txt").write_text("A storm hit Oslo.\nClosed.\n")
    line = "budget export a.txt --references references.jsonl -o tasks"
    assert "sentences to write SCUs for" in follow_line(cli, line, tmp_path)
    assert (tmp_path / "tasks" / "tasks.json").is_file()


def test_answers_in_lists_and_in_frames_are_judged(tmp_path):
    made = lp.export(ANSWERS, tmp_path / "lists", units=UNITS)
    assert len(made.tasks.judging) == 3  # one answer is empty: nobody is asked

    frame = pandas.DataFrame({"a": ANSWERS["a"], "b": ["Two people died.", "No idea."]})
    made = lp.export(frame, tmp_path / "frame", units=UNITS, columns="system=*")
    assert made.tasks.systems == ("a", "b")


def test_the_sheet_is_filled_in_pandas(tmp_path):
    lp.export(ANSWERS, tmp_path / "tasks", units=UNITS, form="csv")
    sheet = pandas.read_csv(tmp_path / "tasks" / "sheet.csv")
    sheet["present"], sheet["worker"] = 1, "ann"
    sheet.to_csv(tmp_path / "done.csv", index=False)
    answers = lp.import_answers(tmp_path / "tasks", [tmp_path / "done.csv"])
    assert answers.to_tables()


LABELLED = """
input,system,summary,unit,label
1,bart,A storm hit Oslo.,A storm hit Oslo.,1.0
1,bart,A storm hit Oslo.,Nobody died.,
2,bart,Two died.,Two died.,
"""


@pytest.mark.parametrize("form", ["frame", "csv"])
def test_an_empty_cell_is_a_fact_that_nobody_labelled(form, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(LABELLED.lstrip())

    data = lp.load(pandas.read_csv(path) if form == "frame" else path)

    [values] = data.labels.values
    assert sorted(values, key=math.isnan)[0] == 1
    assert sum(map(math.isnan, values)) == len(values) - 1
