"""Results saved in every form, read again, put beside each other; damaged files are
refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from cases import DATA, cases, quick_score, refused
from test_score import HALF, SYSTEMS, UNITS, scored, words

import litepyramid as lp
from litepyramid.data.score_tables import read_scores
from litepyramid.scoring.saved_result import report
from litepyramid.tables import plain


@pytest.fixture(scope="module")
def result():
    """With labels on some, texts, references and evidence."""
    storm = json.loads((DATA / "scores" / "storm.json").read_text("utf-8"))
    storm["labels"]["poor"][1] = []
    return quick_score(lp.load(**storm), evidence=True, name="mine")


@pytest.mark.parametrize("ending", ["json", "json.gz", "JSON"])
def test_a_saved_result_reads_back_whole(result, tmp_path, ending):
    path = tmp_path / f"r.{ending}"
    result.save(path)
    again = report(path)
    assert plain(again.to_json()) == plain(result.to_json())
    assert again.signature == result.signature
    assert lp.report(path).scores == lp.report(result).scores == result.scores
    assert lp.compare(path) == lp.compare(result)
    assert lp.score(presence=path, samples=40).scores == result.scores


@pytest.mark.parametrize("ending", ["json", "json.gz", "csv"])
def test_scores_are_read_from_every_form(result, tmp_path, ending):
    result.save(tmp_path / f"r.{ending}")
    table = read_scores(tmp_path / f"r.{ending}")
    assert (table.systems, table.inputs) == (result.systems, result.inputs)
    assert table.one().metrics == ("mine",)
    np.testing.assert_array_equal(table["mine"], result.values)
    np.testing.assert_array_equal(table["human"], result.human)


def test_results_of_one_metric_are_told_apart_and_parts_put_together(tmp_path):
    one = scored()
    two = scored(judge="lexical")
    mine = scored(judge="recall", name="mine")
    assert read_scores([one, two]).metrics == (
        "lite2pyramid[function words]",
        "lite2pyramid[lexical]",
    )
    assert read_scores([one, mine]).metrics == ("lite2pyramid", "mine")
    parts = [tmp_path / "1.json", tmp_path / "2.json", tmp_path / "3.json"]
    for path, names in zip(parts, ("good", "half mute", "good half mute"), strict=True):
        scored({name: SYSTEMS[name] for name in names.split()}).save(path)
    assert read_scores(parts).metrics == ("lite2pyramid",)
    assert len(read_scores(parts[:2]).systems) == 3


# Where a saved result is changed, and into what: broken, or at odds with the rest.
CHANGED = cases("""
    scores.0                 | left out
    scores.0.presence        | [1]
    scores.0.evidence        | [null]
    scores.0.labels          | [1, 1, 1, 1]
    references.1             | left out
    units                    | 3
    systems.0.groups         | "a"
    systems                  | left out
    scores                   | []
    name                     | []
    counts                   | {"pairs": -1}
    confidence               | 2
    rule                     | "sample-x"
    samples                  | "x"
    samples                  | 999999999
    seed                     | -1
    systems.1.system         | "good"
    signature.judge          | "mini"
    scores.0.score           | 7
    systems.0.score          | 0.3
    scores.0.presence.0      | 5
    scores.0.presence.0      | 0.75
    scores.0.labels.0        | 0
    systems.1.low            | 0.9
    systems.1.high           | 0.99
    units.0.units.0.weight   | 3
    units.1.units.0.text     | "The bridge is open."
    scores.0.summary         | "It rained."
    scores.0.summary         | left out
    systems.1.groups         | [7]
    references.1.0.0         | "It snowed."
    references               | left out
    checksum                 | left out
""")


def edit(data, place, value):
    *above, last = place.split(".")
    for key in above:
        data = data[int(key) if isinstance(data, list) else key]
    if isinstance(data, list):
        last = int(last)
    if value == "left out":
        del data[last]
    else:
        assert data[last] != json.loads(value)
        data[last] = json.loads(value)


@pytest.mark.parametrize(("place", "value"), CHANGED)
def test_a_saved_result_that_was_changed_is_refused(result, tmp_path, place, value):
    data = plain(result.to_json())
    if place == "checksum":
        edit(data, "signature.judge", '"mini"')
    edit(data, place, value)
    path = tmp_path / "new.json"
    path.write_text(json.dumps(data))

    for read in (lp.report, lambda one: lp.changes(result, one)):
        with refused(r"new\.json: "):
            read(path)


@pytest.mark.parametrize("rule", ["lite", "sample-1", "modified-1"])
def test_what_is_saved_agrees_with_itself(tmp_path, rule):
    """With missing summaries, empty ones, and inputs that people labelled in part."""
    texts = {"good": {"x": "a b c", "y": None}, "mute": {"x": "", "y": ""}}
    labels = {"good": {"x": [1, 0], "y": []}}
    saved = scored(texts, labels=labels, rule=rule, nulls="missing")

    saved.save(tmp_path / "r.json")

    again = report(tmp_path / "r.json")
    np.testing.assert_array_equal(again.values, saved.values)
    assert np.isnan(saved.values[0, 1])
    assert "1 summary is missing" in saved.to_table()


def test_nuggets_have_their_four_scores_beside():
    units = []
    for entry, grades in zip(UNITS, ("vital okay", "okay okay okay"), strict=True):
        graded = []
        for unit, importance in zip(entry.units, grades.split(), strict=True):
            graded.append(replace(unit, importance=importance))
        units.append(replace(entry, units=tuple(graded)))

    result = scored(units=units, labels=HALF)

    assert len(result.measures) == 8
    assert result.measures["vital_score"][1].tolist() == [1, 0]
    table = result.to_tables()[1]
    rows = [row[:2] for row in table.rows[:2]]
    assert rows == [("good", "judge"), ("good", "people")]
    assert "1 input has no vital nugget" in " ".join(table.notes)
    assert scored().measures == {}


def test_evidence_needs_the_judge_or_its_reasons(result):
    with refused("evidence without"):
        replace(result, judge=None).with_evidence()
    assert scored(judge=words).evidence is None
