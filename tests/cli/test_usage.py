"""Mistakes on the command line are one line on stderr, with what to do, and exit status 2."""

from __future__ import annotations

import sys

import pytest

from litepyramid.cli import main


@pytest.fixture
def said(monkeypatch, capsys):
    """Runs the command line in this process: exit status, stdout, stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["litepyramid", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return run


@pytest.mark.parametrize(
    ("words", "what", "hint"),
    [
        (
            ["scor"],
            "no such command 'scor'",
            "Did you mean 'score'? See 'litepyramid --help'.",
        ),
        (
            ["meta", "intervl", "x.csv"],
            "no such command 'intervl'",
            "Did you mean 'interval'? See 'litepyramid meta --help'.",
        ),
        (
            ["correlate", "x.csv"],
            "no such command 'correlate'",
            "Did you mean 'meta correlate'? See 'litepyramid --help'.",
        ),
        (["zzz"], "no such command 'zzz'", "See 'litepyramid --help'."),
        (
            ["score", "x", "--jugde", "recall"],
            "no such option: --jugde (Possible options: --judge, --mode)",
            "See 'litepyramid score --help'.",
        ),
        (["score", "x", "-q"], "no such option: -q", "See 'litepyramid score --help'."),
        (
            ["meta", "interval"],
            "missing argument 'scores'",
            "See 'litepyramid meta interval --help'.",
        ),
        (
            ["finetune", "x"],
            "missing option '--output' / '-o'",
            "See 'litepyramid finetune --help'.",
        ),
        (
            ["crossval", "x", "--by", "x"],
            "invalid value for '--by': 'x' is not one of 'examples', 'systems'",
            "See 'litepyramid crossval --help'.",
        ),
        (
            ["meta", "interval", "x", "--judge"],
            "no such option: --judge",
            "See 'litepyramid meta interval --help'.",
        ),
        (
            ["meta", "interval", "x", "--seed"],
            "option '--seed' requires an argument",
            "See 'litepyramid meta interval --help'.",
        ),
    ],
)
def test_a_mistake_is_one_line(said, words, what, hint):
    assert said(*words) == (2, "", f"litepyramid: {what}. {hint}\n")


@pytest.mark.parametrize("words", [[], ["meta"], ["meta", "simulate"]])
def test_a_group_alone_shows_its_help(said, words):
    status, out, err = said(*words)
    assert status == 2
    assert "Usage: litepyramid" in out + err
    assert "litepyramid: " not in err


def test_what_is_no_mistake_ends_with_status_0(said):
    status, out, err = said("--version")
    assert (status, err) == (0, "")
    assert out.startswith("litepyramid ")
    status, out, err = said("meta", "interval", "--help")
    assert (status, err) == (0, "")
    assert "--samples" in out
    status, out, err = said("datasets", "--format", "csv")
    assert (status, err) == (0, "")
    assert "realsumm" in out
