"""Plan, export, fill in, import, score: the same as scoring the same units directly."""

import csv
import io
import json
import re
from html import unescape

import pytest
import sample

from litepyramid.annotation.collect import collect_labels, collect_units
from litepyramid.annotation.forms.export import export_tasks
from litepyramid.annotation.forms.read import read_responses
from litepyramid.annotation.sources import write_judged
from litepyramid.annotation.tasks import read_tasks
from litepyramid.easiness.mix import mix
from litepyramid.io.labels import read_labels
from litepyramid.io.summaries import read_summaries
from litepyramid.io.units import read_units
from litepyramid.judges.lexical.judge import LexicalJudge, load_lexical
from litepyramid.scoring.score import score_systems

PEOPLE = ("ann@example.org", "bob@example.org", "cleo@example.org")


def scus_of(tasks, task_id):
    task = next(t for t in tasks.writing if t.id == task_id)
    return sample.SCUS[task.input, task.sentence]


def judge_of(tasks, task_id):
    task = next(t for t in tasks.judging if t.id == task_id)
    return [sample.truth(task.system, task.input, unit) for unit in task.units]


def direct(folder, easiness, annotated=3):
    """Scores of the mix that the same sentences give when their SCUs come from a file."""
    mixed = mix(
        read_units(folder / "scus.jsonl"),
        read_units(folder / "stus.jsonl", kind="stu"),
        easiness.sentences,
        len(easiness.sentences) - annotated,
        easiness=easiness,
    )
    summaries = read_summaries([folder / "summaries"])
    return score_systems(
        summaries, mixed.units, LexicalJudge(load_lexical()), samples=40
    ), mixed.units


def check_written(folder, easiness, tasks, paths):
    """Imports, and compares units and scores with the direct way."""
    written = collect_units(
        tasks, read_responses(paths), stus=read_units(folder / "stus.jsonl", kind="stu")
    )
    assert written.progress.done == len(tasks.writing) == 3
    assert (written.progress.unknown, written.progress.duplicates) == ((), ())
    expected, units = direct(folder, easiness)
    assert written.units == units
    summaries = read_summaries([folder / "summaries"])
    found = score_systems(summaries, written.units, LexicalJudge(load_lexical()), samples=40)
    assert found.matrix.values.tolist() == expected.matrix.values.tolist()
    assert 0 < found.matrix.values.mean() < 1


def check_judged(folder, judging, paths):
    judged = collect_labels(judging, read_responses(paths))
    assert judged.progress.done == len(judging.judging) == 8
    assert judged.incomplete == ()
    assert judged.agreement.alpha == 1.0
    for entry in judged.labels:
        for name, labels in zip(entry.inputs, entry.labels, strict=True):
            units = [
                u["text"]
                for u in sample.units(sample.SCUS, "scu")
                if u["input"] == name
                for u in u["units"]
            ]
            assert labels == tuple(int(sample.truth(entry.system, name, u)) for u in units)
    out = folder / "judged"
    write_judged(out, judged)
    units = read_units(out / "units.jsonl")
    assert units == read_units(folder / "scus.jsonl")
    result = score_systems(
        read_summaries([out / "summaries"], [u.input for u in units]),
        units,
        LexicalJudge(load_lexical()),
        labels=read_labels([out / "labels"], units),
        samples=40,
    )
    return result


def test_label_studio_from_the_command_line(folder, cli, easiness):
    """The whole way as a user goes it, and `score` on the mix."""
    plan, out = folder / "plan.json", folder / "tasks"
    text = cli(
        "budget",
        "plan",
        folder / "references.jsonl",
        "--human-share",
        "0.5",
        "--easiness",
        folder / "easiness.jsonl",
        "-o",
        plan,
    ).stdout
    assert "this plan (3 sentences)" in text
    cli("budget", "export", plan, "-o", out, "--to", "label-studio")
    sent = json.loads((out / "label_studio_tasks.json").read_text(encoding="utf-8"))
    tasks = read_tasks(out)
    exported = sample.label_studio(sent, lambda data, _: {"scus": scus_of(tasks, data["task_id"])})
    answers = folder / "export.json"
    answers.write_text(json.dumps(exported), encoding="utf-8")
    units = folder / "mixed.jsonl"
    text = cli(
        "budget", "import", out, answers, "--stus", folder / "stus.jsonl", "-o", units
    ).stdout
    assert "Done: 3 of 3 tasks." in text
    scored = cli(
        "score", folder / "summaries", "--units", units, "--judge", "lexical", "-f", "json"
    ).stdout
    expected, _ = direct(folder, easiness)
    found = {(r["system"], r["input"]): r["score"] for r in json.loads(scored)["scores"]}
    matrix = expected.matrix
    assert found == {
        (system, name): matrix.values[i, j]
        for i, system in enumerate(matrix.systems)
        for j, name in enumerate(matrix.inputs)
    }


def test_label_studio_json_min(folder, easiness, tasks):
    out = folder / "tasks"
    export_tasks(tasks, out, "label-studio")
    sent = json.loads((out / "label_studio_tasks.json").read_text(encoding="utf-8"))
    rows = []
    for number, task in enumerate(sent):
        scus = scus_of(tasks, task["data"]["task_id"])
        written = scus[0] if len(scus) == 1 else {"text": scus}
        rows.append({**task["data"], "id": number, "scus": written, "annotator": 4, "lead_time": 2})
    path = folder / "min.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    check_written(folder, easiness, tasks, [path])


def test_label_studio_presence(folder, judging):
    out = folder / "tasks"
    export_tasks(judging, out, "label-studio")
    sent = json.loads((out / "label_studio_tasks.json").read_text(encoding="utf-8"))
    assert not any("system" in task["data"] for task in sent)

    def answer(data, _):
        said = judge_of(judging, data["task_id"])
        return {f"presence_{i}": ["Yes" if x else "No"] for i, x in enumerate(said)}

    path = folder / "export.json"
    path.write_text(json.dumps(sample.label_studio(sent, answer, PEOPLE)), encoding="utf-8")
    result = check_judged(folder, judging, [path])
    said = [sample.truth("alpha", "bridge", u) for p in range(3) for u in sample.SCUS["bridge", p]]
    human = result.human_matrix
    assert human.values[human.systems.index("alpha"), 0] == pytest.approx(sum(said) / 6)
    assert human.values[human.systems.index("beta"), 1] == 0.0  # the empty summary


def turk_rows(folder, judging_or_tasks):
    export_tasks(judging_or_tasks, folder / judging_or_tasks.kind, "mturk")
    with (folder / judging_or_tasks.kind / "mturk_tasks.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        return list(csv.DictReader(file))


def turk_results(path, rows):
    fields = list(dict.fromkeys(key for row in rows for key in row))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=fields, restval="", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    path.write_text("\ufeff" + buffer.getvalue(), encoding="utf-8", newline="")
    return path


def assignment(sent, worker, answers, status="Submitted"):
    head = {"HITId": "H" + sent["task_id"], "AssignmentId": "A1", "WorkerId": worker}
    inputs = {f"Input.{key}": value for key, value in sent.items()}
    return {**head, "AssignmentStatus": status, **inputs, **answers, "Approve": "", "Reject": ""}


def test_mturk_writing(folder, easiness, tasks):
    sent = turk_rows(folder, tasks)
    for row, task in zip(sent, tasks.writing, strict=True):
        assert unescape(row["sentence"]) == task.text
        assert row["sentence"].isascii()
        assert not re.search(r"[<$]", row["sentence"])
    rows = [
        assignment(row, "W1", {"Answer.scus": "\r\n".join(scus_of(tasks, row["task_id"]))})
        for row in sent
    ]
    check_written(folder, easiness, tasks, [turk_results(folder / "results.csv", rows)])


@pytest.mark.parametrize("shape", ["plain", "flags", "json"])
def test_mturk_presence(folder, judging, shape):
    rows = []
    for row in turk_rows(folder, judging):
        said = judge_of(judging, row["task_id"])
        assert row["questions"].count("<fieldset>") == len(said)
        for worker in ("W1", "W2", "W3"):
            if shape == "plain":
                answers = {f"Answer.presence_{i}": "yes" if x else "no" for i, x in enumerate(said)}
            elif shape == "flags":
                answers = {
                    f"Answer.presence_{i}.{word}": str(x is (word == "yes")).lower()
                    for i, x in enumerate(said)
                    for word in ("yes", "no")
                }
            else:
                body = {f"presence_{i}": {"yes": x, "no": not x} for i, x in enumerate(said)}
                answers = {"Answer.taskAnswers": json.dumps([{**body, "task_id": row["task_id"]}])}
            rows.append(assignment(row, worker, answers))
    check_judged(folder, judging, [turk_results(folder / "results.csv", rows)])


def test_mturk_template_names_the_columns(folder, tasks, judging):
    for kind in (tasks, judging):
        columns = set(turk_rows(folder, kind)[0])
        template = (folder / kind.kind / "mturk_template.html").read_text(encoding="utf-8")
        assert set(re.findall(r"\$\{(\w+)\}", template)) == columns
