"""What is wrong with where results go, or with an option given twice, is seen before the
work."""

import pytest


@pytest.mark.parametrize("output", [".", "x.xlsx"])
def test_places_that_cannot_be_written_are_seen_before_the_work(tmp_path, cli, output):
    error = cli(f"score none --units none -o {output}", status=2, cwd=tmp_path).stderr
    assert output in error
    assert "none" not in error


@pytest.mark.parametrize(
    ("command", "twice"),
    [
        ("score x -u units.jsonl --units units.jsonl", "--units"),
        ("judge evaluate x -u units.jsonl -l x -l x", "--labels"),
        ("meta correlate scores.json --columns a=b --columns c=d", "--columns"),
    ],
)
def test_an_option_given_twice_is_refused(tmp_path, cli, command, twice):
    error = cli(command, status=2, cwd=tmp_path).stderr
    assert f"{twice} is given twice" in error
