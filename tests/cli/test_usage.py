"""Mistakes on the command line are one line on stderr, with what to do, and exit status
2."""

import pytest
from cases import cases


@pytest.mark.parametrize(
    ("words", "hint"),
    cases(
        """
scor                                    | Did you mean 'score'? See 'litepyramid --help'.
meta intervl x.csv                      | Did you mean 'interval'? See 'litepyramid meta --help'.
correlate x.csv                         | Did you mean 'meta correlate'? See 'litepyramid --help'.
zzz                                     | See 'litepyramid --help'.
score x --jugde recall                  | --judge
score x --refs r.jsonl                  | --references
score x --judge gpt --endpoint http://x | -J endpoint=VALUE with --judge llm:MODEL
score x --mode p2c                      | -J mode=VALUE
meta interval                           | See 'litepyramid meta interval --help'.
finetune lexical                        | See 'litepyramid finetune --help'.
crossval x --by x                       | examples
meta interval x --seed                  | See 'litepyramid meta interval --help'.
score x -u u.jsonl --units u.jsonl      | --units is given twice
judge evaluate x -u u.jsonl -l x -l x   | --labels is given twice
meta rank x --columns a=b --columns c=d | --columns is given twice
score none --units none -o .            | litepyramid: .:
score none --units none -o x.xlsx       | litepyramid: x.xlsx:
"""
    ),
)
def test_a_mistake_is_one_line(cli, words, hint):
    done = cli(words, status=2)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1), done.stderr
    assert done.stderr.startswith("litepyramid: ")
    assert hint in done.stderr


@pytest.mark.parametrize("words", ["", "meta", "judge"])
def test_a_group_alone_shows_its_help(cli, words):
    done = cli(words, status=2)
    assert "Usage: litepyramid" in done.stdout + done.stderr
    assert "litepyramid: " not in done.stderr


def test_what_is_no_mistake_ends_with_status_0(cli):
    done = cli("--version")
    assert done.stderr == ""
    assert done.stdout.startswith("litepyramid ")
