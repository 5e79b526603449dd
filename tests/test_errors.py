"""A missing extra is answered by a line that works for how litepyramid was
installed."""

import pickle
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest
from cases import cases

from litepyramid import errors as extras
from litepyramid.errors import InputError, MissingExtraError

ROOT = Path(__file__).resolve().parents[1]

# What an installer notes of where a package came from (nothing for one of PyPI), and the
# line.
INSTALLED = """
{"url": "file:///home/me/my%20code", "dir_info": {"editable": true}} | -e "/home/me/my code[nli]"
                                                                     | "litepyramid[nli]"
{"url": "file:///src/lp", "dir_info": {}}                             | "/src/lp[nli]"
{"url": "file:///lp.whl", "archive_info": {}}                         | "litepyramid[nli] @ file:///lp.whl"
{"url": "https://example.org/lp.git", "vcs_info": {"vcs": "git", "commit_id": "abc123"}} | "litepyramid[nli] @ git+https://example.org/lp.git@abc123"
"""


@pytest.mark.parametrize(("source", "line"), cases(INSTALLED))
def test_the_line_follows_the_way_it_was_installed(monkeypatch, source, line):
    noted = SimpleNamespace(read_text=lambda name: source or None)
    monkeypatch.setattr(extras, "distribution", lambda name: noted)
    said = str(MissingExtraError("torch", extra="nli", purpose="the NLI judge"))
    assert said.endswith(f"which is not installed. Install it with: pip install {line}")


def test_not_installed_it_is_the_checkout(monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(extras, "distribution", absent)
    assert extras.install_line("ray") == f'pip install -e "{ROOT}[ray]"'


def test_an_error_comes_whole_out_of_another_process():
    place = {"path": "u.txt", "line": 3, "expected": "b", "hint": "c"}
    missing = MissingExtraError("torch", extra="nli", purpose="it")
    for error in (InputError("a", **place), missing):
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is type(error)
        assert str(back) == str(error)
        assert vars(back) == vars(error)


def test_a_line_to_write_is_whole_and_what_is_quoted_is_cut():
    line = f"Read it by 'litepyramid convert {'a/long/folder/' * 9}file.json'."
    said = str(InputError(f"'{'x' * 900}' is wrong", hint=line))
    assert said.endswith(line)
    assert len(said) < 400
