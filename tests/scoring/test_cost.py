"""How much of the package one score crosses: calls and modules, printed and bounded."""

from __future__ import annotations

import sys
from pathlib import Path

import litepyramid as lp

PACKAGE = str(Path(lp.__file__).parent)
CALLS, MODULES = 100, 12
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


def crossed(work):
    """Calls of functions of the package while `work` runs, by module; a comprehension is none."""
    calls = {}

    def profile(frame, event, _):
        name, function = frame.f_code.co_filename, frame.f_code.co_name
        if event == "call" and name.startswith(PACKAGE) and function not in COMPREHENSIONS:
            calls[name] = calls.get(name, 0) + 1

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_one_summary_against_two_units_crosses_little(capsys):
    def work():
        lp.score(["A storm hit Oslo."], [["A storm hit Oslo.", "Two died."]], judge="recall")

    work()  # imports and caches
    calls = crossed(work)
    with capsys.disabled():
        print(f"\none score: {sum(calls.values())} calls in {len(calls)} modules")
    assert sum(calls.values()) <= CALLS, calls
    assert len(calls) <= MODULES, calls
