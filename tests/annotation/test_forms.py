"""Any text survives every form, and no text can become markup, script or a template's column."""

import csv
import json
import xml.etree.ElementTree as ET
from html import unescape

import pytest
import sample
from hypothesis import given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.annotation.forms.export import export_tasks
from litepyramid.annotation.forms.label_studio import labelling_configuration
from litepyramid.annotation.forms.mturk import _html, template
from litepyramid.annotation.forms.page import render_page
from litepyramid.annotation.tasks import judging_tasks, read_tasks
from litepyramid.types import InputUnits, SystemSummaries, Unit

text = st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(lambda s: s.strip())
nasty = st.sampled_from(
    ["</script>", "<!--", "${task_id}", "@DATA@", "&amp;", "a\u2028b", "]]>", "'\"`", "\\u003c"]
)
texts = st.lists(st.one_of(text, nasty, st.builds("{} {}".format, text, nasty)), min_size=2)


def tasks_of(words, title="Which?"):
    units = InputUnits("a", tuple(Unit(w.strip()) for w in words[1:]))
    return judging_tasks([SystemSummaries("s", ("a",), (words[0],))], [units], title)


@given(text)
def test_turk_cells_are_ascii_html(value):
    cell = _html(value)
    assert cell.isascii()
    assert not set("<>$\n\r") & set(cell)
    assert unescape(cell).split() == unescape(_html(unescape(cell))).split()
    if "\r" not in value and not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in value):
        assert unescape(cell) == " ".join(value.split())


@given(texts)
@settings(max_examples=50)
def test_page_holds_the_texts_as_data_alone(words):
    tasks = tasks_of(words)
    page = render_page(tasks)
    data = page.split('id="data">', 1)[1].split("</script>", 1)[0]
    assert "<" not in data
    (task,) = json.loads(data)["tasks"]
    assert task["summary"] == words[0]
    assert task["units"] == list(tasks.judging[0].units)
    rest = page.replace(data, "")
    assert rest == render_page(tasks_of(["x", "y"])).replace(
        render_page(tasks_of(["x", "y"])).split('id="data">', 1)[1].split("</script>", 1)[0], ""
    )


@given(texts)
@settings(max_examples=30)
def test_task_file_keeps_any_text(tmp_path_factory, words):
    folder = tmp_path_factory.mktemp("tasks")
    tasks = tasks_of(words)
    export_tasks(tasks, folder, "mturk")
    assert read_tasks(folder) == tasks
    with (folder / "mturk_tasks.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.reader(file))) == 2


def test_titles_are_escaped():
    tasks = tasks_of(["x", "y"], title='A <b>"title"</b> & more @WHAT@')
    page = render_page(tasks)
    assert "<title>A &lt;b&gt;&quot;title&quot;&lt;/b&gt; &amp; more @WHAT@</title>" in page
    assert "<b>" not in page
    assert "<h1>A &lt;b&gt;" in template(tasks)
    root = ET.fromstring(labelling_configuration(tasks))
    assert root.find("Header").get("value") == tasks.title


def test_label_studio_names_what_the_tasks_hold(tmp_path):
    folder = sample.write(tmp_path)
    work, units = [folder / "summaries"], folder / "scus.jsonl"
    lp.export_tasks(work, folder / "out", units=units, form="label-studio", title="Mine")
    assert read_tasks(folder / "out").title == "Mine"
    root = ET.parse(folder / "out" / "label_studio_config.xml").getroot()
    repeater = root.find("Repeater")
    assert repeater.get("on") == "$units"
    choices = repeater.find("Choices")
    assert choices.get("name") == "presence_{{idx}}"
    assert choices.get("toName") == repeater.find("Text").get("name")
    assert [c.get("value") for c in choices] == ["Yes", "No"]
    rows = json.loads((folder / "out" / "label_studio_tasks.json").read_text(encoding="utf-8"))
    assert set(rows[0]["data"]) == {"task_id", "input", "summary", "units"}
    assert set(rows[0]["data"]["units"][0]) == {"text"}


def test_command_line(tmp_path, cli):
    folder = sample.write(tmp_path)
    plain = folder / "plain.txt"
    plain.write_text("It rained on Monday. The bridge closed.\nMr. Bray left.\n")
    plan = folder / "plan.json"
    cli("budget", "plan", plain, "--sentences", 2, "--by", "random", "--seed", 3, "-o", plan)
    found = json.loads(plan.read_text(encoding="utf-8"))
    assert [s["text"] for s in found["sentences"]] == [
        "It rained on Monday.",
        "The bridge closed.",
        "Mr. Bray left.",
    ]
    units = folder / "scus.jsonl"
    out = folder / "out"
    cli("budget", "export", folder / "summaries", "-u", units, "-o", out, "--parts", 2)
    made = sorted(p.name for p in out.glob("[!.]*"))
    assert made == ["page-1.html", "page-2.html", "tasks.json"]
    tasks = read_tasks(out)
    answers = {
        "format": "litepyramid-answers",
        "worker": "Ann",
        "answers": [
            {
                "task": t.id,
                "finished": True,
                "presence": {
                    str(i): sample.truth(t.system, t.input, u) for i, u in enumerate(t.units)
                },
            }
            for t in tasks.judging
        ],
    }
    path = folder / "answers.json"
    path.write_text(json.dumps(answers), encoding="utf-8")
    judged = folder / "judged"
    shown = cli("budget", "import", out, path, "-o", judged).stdout
    assert "Done: 8 of 8 tasks." in shown
    assert "undefined" in shown  # alpha of one worker
    scored = cli(
        "score",
        judged / "summaries",
        "-u",
        judged / "units.jsonl",
        "-l",
        judged / "labels",
        "--judge",
        "lexical",
        "-f",
        "json",
    ).stdout
    human = {(r["system"], r["input"]): r["human"] for r in json.loads(scored)["scores"]}
    assert human["beta", "ferry"] == 0
    said = [sample.truth("alpha", "räd", u) for u in sample.SCUS["räd", 0]]
    assert human["alpha", "räd"] == pytest.approx(sum(said) / len(said))


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["plan", "none.jsonl", "--sentences", "1"], "no such file"),
        (["export", "none.json", "-o", "out"], "no such file"),
        (["export", "a.json", "b.json", "-o", "out"], "together with --units"),
        (["import", "none", "a.json", "-o", "out"], "no such file"),
    ],
)
def test_mistakes_on_the_command_line(tmp_path, cli, arguments, what):
    assert what in cli("budget", *arguments, status=2, cwd=tmp_path).stderr


def test_results_are_not_written_over_what_is_read(tmp_path, cli):
    folder = sample.write(tmp_path)
    references = folder / "references.jsonl"
    before = references.read_bytes()
    done = cli("budget", "plan", references, "--sentences", 2, "-o", references, status=2)
    assert "is one of the files to read" in done.stderr
    assert references.read_bytes() == before
    for output, words in ((folder, "is a folder"), (folder / "no" / "x", "does not exist")):
        done = cli("budget", "plan", references, "--sentences", 2, "-o", output, status=2)
        assert words in done.stderr
    plan = folder / "plan.json"
    cli("budget", "plan", references, "--sentences", 1, "-o", plan)
    cli("budget", "export", plan, "-o", folder / "out")
    answers = folder / "answers.json"
    answers.write_text("[]")
    (folder / "link.json").symlink_to(answers)
    for output in (answers, folder / "link.json"):
        done = cli("budget", "import", folder / "out", answers, "-o", output, status=2)
        assert "is one of the files to read" in done.stderr
    arguments = ["-s", folder / "scus.jsonl", "-r", references, "--stu-share", 0.5]
    done = cli("units", "mix", *arguments, "-o", folder / "scus.jsonl", status=2)
    assert "is one of the files to read" in done.stderr


def test_options_of_writing_are_refused_when_judging(tmp_path, cli):
    folder = sample.write(tmp_path)
    units = folder / "scus.jsonl"
    cli("budget", "export", folder / "summaries", "-u", units, "-o", folder / "out")
    (folder / "a.json").write_text("[]")
    arguments = [folder / "out", folder / "a.json", "-o", folder / "judged", "--stus", units]
    assert "--stus is for writing tasks" in cli("budget", "import", *arguments, status=2).stderr
