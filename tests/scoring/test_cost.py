"""How much of the package one score crosses: calls and modules, printed and bounded."""

import sys
from collections import Counter
from pathlib import Path

from cases import quick_score

import litepyramid as lp

PACKAGE = str(Path(lp.__file__).parent)


def test_one_summary_against_two_units_crosses_little(capsys):
    calls = Counter()

    def profile(frame, event, _):
        code = frame.f_code
        comprehension = code.co_name.endswith(("comp>", "genexpr>"))
        if event == "call" and not comprehension:
            calls[code.co_filename] += code.co_filename.startswith(PACKAGE)

    def score():
        quick_score(["A storm hit Oslo."], [["A storm hit Oslo.", "Two died."]])

    score()  # imports and caches first
    sys.setprofile(profile)
    try:
        score()
    finally:
        sys.setprofile(None)

    modules = +calls
    with capsys.disabled():
        print(f"\none score: {calls.total()} calls in {len(modules)} modules")
    # More than the 100 calls and 12 modules wanted: all that Python gives becomes rows
    # first, as a file does, so each source is asked what it is in six modules.
    assert calls.total() <= 205, modules
    assert len(modules) <= 25, modules
