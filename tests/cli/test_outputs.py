"""Nothing that a command reads is ever overwritten, and results go only where they
may."""

import pytest

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
    assert cli(command, status=2, cwd=folder).stderr.count("\n") == 1
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("output", ["summaries", "x.xlsx"])
def test_places_that_cannot_be_written_are_seen_before_the_work(folder, cli, output):
    error = cli(f"score none --units none -o {output}", status=2, cwd=folder).stderr
    assert output in error
    assert "none" not in error


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
    error = cli(command, status=2, cwd=folder).stderr
    assert f"{twice} is given twice" in error
