"""Nothing that a command reads is ever overwritten, and results go only where they
may."""

import pytest

import litepyramid as lp

REFERENCES = (
    '{"input": "a", "references": [["A cat sat on the mat .", "It purred ."]]}\n'
)
UNITS = '{"input": "a", "units": [{"text": "A cat sat.", "kind": "scu"}]}\n'
SUMMARY = '{"input": "a", "summary": "A cat sat."}\n'
SCORES = "system,input,metric,human\n" + "".join(
    f"s{n},i{n % 3},{n % 5},{n % 4}\n" for n in range(9)
)


@pytest.fixture
def folder(tmp_path):
    for name, text in (
        ("references.jsonl", REFERENCES),
        ("units.jsonl", UNITS),
        ("scores.json", SCORES),
        ("summaries/alpha.json", SUMMARY),
        ("data/tasks/tasks.json", "{}"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    (tmp_path / "link.jsonl").symlink_to(tmp_path / "units.jsonl")
    (tmp_path / "twin.json").hardlink_to(tmp_path / "scores.json")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "units extract references.jsonl -o references.jsonl",
        "units extract references.jsonl --srl units.jsonl -o link.jsonl",
        "units mix units.jsonl --references references.jsonl --stu-share 0.5 -o ./units.jsonl",
        "score summaries --units units.jsonl -o summaries/alpha.json",
        "score summaries/alpha.json --units units.jsonl -o ok.json -o summaries/alpha.json",
        "meta correlate scores.json -o scores.json",
        "meta correlate scores.json -o twin.json",
        "convert units.jsonl -o units.jsonl",
        "budget export units.jsonl -o units.jsonl",
        "budget import data/tasks units.jsonl -o units.jsonl",
    ],
)
def test_no_input_is_overwritten(folder, cli, command):
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    assert cli(*command.split(), status=2, cwd=folder).stderr.count("\n") == 1
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_a_result_may_be_renewed(folder, cli):
    score = ("score", "summaries", "--units", "units.jsonl", "--judge", "recall")
    for _ in range(2):
        cli(
            *score,
            "-o",
            "result.json",
            "-o",
            "result.csv",
            cwd=folder,
        )
    assert "system" in (folder / "result.csv").read_text()


@pytest.mark.parametrize("output", ["summaries", "x.xlsx"])
def test_places_that_cannot_be_written_are_seen_before_the_work(folder, cli, output):
    error = cli(
        "score",
        "none",
        "--units",
        "none",
        "-o",
        output,
        status=2,
        cwd=folder,
    ).stderr
    assert output in error
    assert "none" not in error


def test_files_one_after_the_other_are_systems(folder, cli):
    (folder / "b.json").write_text('{"input": "a", "summary": "It rained."}\n')
    files = (folder / "summaries/alpha.json", folder / "b.json")
    output = folder / "out.json"
    cli(
        "score",
        *files,
        "--units",
        folder / "units.jsonl",
        "--judge",
        "recall",
        "-o",
        output,
    )
    systems = lp.report(output).scores
    assert dict(systems) == {"alpha": 1.0, "b": 0.0}


@pytest.mark.parametrize(
    ("command", "twice"),
    [
        ("score summaries -u units.jsonl --units units.jsonl", "--units"),
        (
            "judge evaluate summaries -u units.jsonl -l summaries -l summaries",
            "--labels",
        ),
        ("meta correlate scores.json --columns a=b --columns c=d", "--columns"),
    ],
)
def test_an_option_given_twice_is_refused(folder, cli, command, twice):
    assert (
        f"{twice} is given twice" in cli(*command.split(), status=2, cwd=folder).stderr
    )
