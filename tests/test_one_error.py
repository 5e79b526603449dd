"""Whatever the arguments, a public function gives a result or one
`LitepyramidError`."""

import inspect
import json
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from cases import quick_score, refused
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import litepyramid as lp
from litepyramid.cli.app import COMMANDS, function_of
from litepyramid.errors import LitepyramidError


class Stranger:
    """No type that anything takes."""


STRANGE = json.loads(
    r"""
[null, true, 3, -1, 0, 1000000000, NaN, Infinity, 1e308, "", "x", "50", "a\u0000b",
 [], [null], {}, {"a": null}, [[]], [["x"]], [["x", 3]], ["none.txt"], [NaN],
 {"system": 3}]
"""
)
STRANGE += [b"x", {"a": Path("none")}, {"a", "b"}, Stranger(), Stranger]
STRANGE += [Path("none"), "x" * 5000, (1, 2), range(3)]
TEXTS = {"a": ["It rained.", "We left."], "b": ["It rained.", "We slept."]}
UNITS = [["It rained."], ["We left."]]
FILES = Path(__file__).parent / "data"
ROWS = []
for _n in range(20):
    _row = {"system": f"s{_n % 4}", "input": f"i{_n % 5}"}
    ROWS.append(_row | {"human": _n % 7, "rouge": _n % 3, "bleu": _n})
SMALL = {"samples": 40, "judge": "recall"}
# What writes, trains, or asks a server is tried elsewhere.
LEFT_OUT = {"demo", "finetune", "crossval", "export", "import_answers", "cache"}
VERBS = {
    target: function_of(command)
    for command, target in COMMANDS.items()
    if target not in LEFT_OUT
} | {
    "load": lp.load,
    "judge": lp.judge,
    "read_scores": lp.read_scores,
}


@cache
def usual() -> dict[str, list[object]]:
    """By function arguments that it takes, so that one of them can be made strange."""
    labels = {"a": [[1], [1]], "b": [[1], [0]]}
    result = quick_score(TEXTS, UNITS, labels=labels)
    references = ["It rained. We left.", "They won the cup."]

    return {
        "score": [TEXTS, UNITS],
        "precision": [TEXTS],
        "compare": [result],
        "combine": [result],
        "changes": [result, result],
        "report": [result],
        "evaluate": ["recall", lp.load(units=UNITS, data=TEXTS, labels=labels)],
        "explain": ["It rained.", "It rained."],
        "judge_settings": ["recall"],
        "load": [UNITS],
        "judge": ["recall"],
        "extract": [references],
        "plan": [references],
        "mix": [UNITS],
        "easiness.fit": [references, UNITS],
        "easiness.predict": [references],
        "meta.difference": [ROWS, 0.5],
        "score_metrics": [TEXTS],
        "label_power": [result],
        "convert": [FILES / "formats" / "ragas.jsonl"],
        "pyramid": [FILES / "fuzz" / "pyramid" / "duc"],
    }


@pytest.mark.parametrize("name", VERBS)
@settings(max_examples=12, derandomize=True, phases=[Phase.generate])
@given(data=st.data())
def test_wrong_types_are_one_error(name, data):
    function = VERBS[name]
    parameters = {
        key: entry
        for key, entry in inspect.signature(function).parameters.items()
        if entry.kind not in (entry.VAR_KEYWORD, entry.VAR_POSITIONAL)
    }
    positional = [*usual().get(name, [ROWS])]
    keywords: dict[str, object] = {}
    for key, value in SMALL.items():
        if key in [*parameters][len(positional) :]:
            keywords[key] = value

    wrong = data.draw(st.sampled_from(sorted(parameters)))
    value = data.draw(st.sampled_from(STRANGE))
    place = list(parameters).index(wrong)

    if place < len(positional):
        positional[place] = value
    else:
        keywords[wrong] = value

    with suppress(LitepyramidError):  # any other exception fails the test
        function(*positional, **keywords)


def test_nothing_at_all_is_one_error(tmp_path):
    with refused("no .pyr or .pan file in this folder"):
        lp.pyramid(tmp_path)
    with refused("no scores at all"):
        lp.read_scores([])
