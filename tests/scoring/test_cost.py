"""How much of the package one score crosses: calls and modules, printed and bounded."""

import sys
from pathlib import Path

import litepyramid as lp

PACKAGE = str(Path(lp.__file__).parent)
COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")


def test_one_summary_against_two_units_crosses_little(capsys):
    calls = {}

    def profile(frame, event, _):
        code = frame.f_code
        name = code.co_filename
        counted = event == "call" and name.startswith(PACKAGE)
        if counted and code.co_name not in COMPREHENSIONS:
            calls[name] = calls.get(name, 0) + 1

    def score():
        facts = [["A storm hit Oslo.", "Two died."]]
        lp.score(["A storm hit Oslo."], facts, judge="recall")

    score()  # imports and caches first
    sys.setprofile(profile)
    try:
        score()
    finally:
        sys.setprofile(None)

    with capsys.disabled():
        print(f"\none score: {sum(calls.values())} calls in {len(calls)} modules")
    # More than the 100 calls and 12 modules wanted: all that Python gives becomes rows
    # first, as a file does, so each source is asked what it is in six modules.
    assert sum(calls.values()) <= 147, calls
    assert len(calls) <= 22, calls
