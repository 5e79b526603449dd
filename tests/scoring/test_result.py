"""Results saved in every form, read again, put beside each other; damaged files are
refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from test_score import HALF, SYSTEMS, UNITS, WordJudge, scored

import litepyramid as lp
from litepyramid.errors import InputError
from litepyramid.io.scores import read_scores, select_matrix
from litepyramid.scoring.saved_result import report
from litepyramid.tables import plain
from litepyramid.types import SystemSummaries


@pytest.fixture
def result():
    """With labels on some, texts, references and evidence."""
    return lp.score(
        {"good": ["A storm hit Oslo. Two people died.", "The bridge is shut."],
         "poor": ["A storm hit Oslo on Monday.", ""]},
        [["A storm hit Oslo.", "Two people died."], ["The bridge is closed."]],
        references=[["A storm hit Oslo and two people died."], ["The bridge is closed."]],
        labels={"good": [[1, 1], [1]], "poor": [[1, 0], []]},
        judge="recall", evidence=True, samples=100, name="mine",
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["json", "json.gz", "JSON"])
def test_a_saved_result_reads_back_whole(result, tmp_path, ending):
    path = tmp_path / f"r.{ending}"
    result.save(path)
    again = report(path)
    assert plain(again.to_json()) == plain(result.to_json())
    assert again.signature == result.signature
    assert again.evidence == tuple(
        tuple(replace(e, words=()) if e.sentence >= 0 else type(e)(0.0) for e in row)
        for row in result.evidence
    )

    assert lp.report(path).scores == lp.report(result).scores == result.scores
    assert lp.compare(path) == lp.compare(result)
    assert lp.score(presence=path, samples=100).scores == result.scores


@pytest.mark.parametrize("ending", ["json", "json.gz", "csv"])
def test_scores_are_read_from_every_form(result, tmp_path, ending):
    result.save(tmp_path / f"r.{ending}")
    table = read_scores(tmp_path / f"r.{ending}")
    assert (table.systems, table.inputs) == (result.systems, result.inputs)
    assert select_matrix(table).metric == "mine"
    (tmp_path / "x.json").write_text(
        json.dumps({**plain(result.to_json()), "name": []})
    )
    with pytest.raises(InputError):
        read_scores(tmp_path / "x.json")
    np.testing.assert_array_equal(table.matrix("mine").values, result.values)
    np.testing.assert_array_equal(table.matrix("human").values, result.human)


def test_texts_and_references_are_in_the_json(result, tmp_path):
    data = plain(result.to_json())
    first = data["scores"][0]
    assert first["summary"][slice(*first["evidence"][1]["span"])] == "Two people died."
    assert data["references"][1] == [["The bridge is closed."]]
    assert [entry.to_json() for entry in result.units] == data["units"]
    result.save(tmp_path / "r.json")  # written an entry at a time
    assert json.loads((tmp_path / "r.json").read_text()) == data


def test_results_of_one_metric_are_told_apart_and_parts_put_together(tmp_path):
    one = scored()
    two = scored(judge="lexical")
    mine = scored(judge="recall", name="mine")
    assert read_scores([one, two]).metrics == (
        "lite2pyramid[words]",
        "lite2pyramid[lexical]",
    )
    assert read_scores([one, mine]).metrics == ("lite2pyramid", "mine")
    parts = [tmp_path / "1.json", tmp_path / "2.json", tmp_path / "3.json"]
    for path, systems in zip(parts, (SYSTEMS[:1], SYSTEMS[1:], SYSTEMS), strict=True):
        scored(systems).save(path)
    assert read_scores(parts).metrics == ("lite2pyramid",)
    assert len(read_scores(parts[:2]).systems) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["scores"].pop(),
        lambda d: d["scores"][0]["presence"].append(1),
        lambda d: d["scores"][0]["evidence"].append(None),
        lambda d: d["scores"][0].update(labels=[1, 1, 1, 1]),
        lambda d: d["references"].pop(),
        lambda d: d.update(units=3),
        lambda d: d["systems"][0].update(groups="a"),
        lambda d: d.pop("systems"),
        lambda d: d.update(scores=[]),
        lambda d: d.update(counts={"pairs": -1}),
        lambda d: d.update(confidence=2),
        lambda d: d.update(rule="sample-x"),
        lambda d: d.update(samples="x"),
        lambda d: d.update(samples=999_999_999),
        lambda d: d.update(seed=-1),
        lambda d: d["systems"][1].update(system="good"),
    ],
)
def test_what_is_saved_and_broken_is_refused(result, tmp_path, change):
    data = plain(result.to_json())
    change(data)
    (tmp_path / "s.json").write_text(json.dumps(data))
    with pytest.raises(InputError):
        report(tmp_path / "s.json")


def _other_judge(data):
    data["signature"]["judge"] = "mini"


def _other_score(data):
    data["scores"][0]["score"] = 7


def _other_mean(data):
    data["systems"][0]["score"] = 0.3


def _other_presence(data):
    data["scores"][0]["presence"][0] = 5


def _less_presence(data):
    data["scores"][0]["presence"][0] -= 0.25


def _other_label(data):
    data["scores"][0]["labels"][0] = 0


def _other_interval(data):
    system = data["systems"][1]
    system["low"], system["high"] = 0.9, 0.1


def _wide_interval(data):
    data["systems"][1]["high"] = 0.99


def _other_weight(data):
    data["units"][0]["units"][0]["weight"] = 3


def _other_unit(data):
    data["units"][1]["units"][0]["text"] = "The bridge is open."


def _other_summary(data):
    data["scores"][0]["summary"] += " It rained."


def _no_summary(data):
    del data["scores"][0]["summary"]


def _other_group(data):
    data["systems"][1]["groups"] = [7]


def _no_checksum(data):
    _other_judge(data)
    del data["checksum"]


@pytest.mark.parametrize(
    "change",
    [
        _other_judge,
        _other_score,
        _other_mean,
        _other_presence,
        _less_presence,
        _other_label,
        _other_interval,
        _wide_interval,
        _other_weight,
        _other_unit,
        _other_summary,
        _no_summary,
        _other_group,
        _no_checksum,
    ],
)
def test_what_does_not_agree_with_the_rest_is_refused(result, tmp_path, change):
    path = tmp_path / "new.json"
    old = tmp_path / "old.json"
    result.save(old)
    data = json.loads(old.read_text())
    change(data)
    path.write_text(json.dumps(data))

    for read in (lp.report, lambda one: lp.changes(old, one, fail_if="worse")):
        with pytest.raises(InputError, match=r"new\.json: "):
            read(path)


@pytest.mark.parametrize("rule", ["lite", "sample-1", "modified-1"])
def test_what_is_saved_agrees_with_itself(tmp_path, rule):
    """With missing summaries, empty ones, and inputs that people labelled in part."""
    texts = [
        SystemSummaries("good", ("x", "y"), ("a b c", ""), missing=("y",)),
        SystemSummaries("mute", ("x", "y"), ("", "")),
    ]
    labels = (replace(HALF, system="good", labels=((1, 0), ())),)
    saved = scored(texts, labels=labels, rule=rule)

    for ending in ("json", "json.gz"):
        saved.save(tmp_path / f"r.{ending}")
        again = report(tmp_path / f"r.{ending}")
        np.testing.assert_array_equal(again.values, saved.values)


def test_nuggets_have_their_four_scores_beside():
    units = tuple(
        replace(
            e,
            units=tuple(
                replace(u, importance=g) for u, g in zip(e.units, own, strict=True)
            ),
        )
        for e, own in zip(
            UNITS, (("vital", "okay"), ("okay", "okay", "okay")), strict=True
        )
    )
    result = scored(units=units, labels=(HALF,))
    assert len(result.measures) == 8
    assert result.measures["vital_score"][1].tolist() == [1, 0]
    table = result.to_tables()[1]
    assert [row[:2] for row in table.rows[:2]] == [
        ("good", "judge"),
        ("good", "people"),
    ]

    assert "1 input has no vital nugget" in " ".join(table.notes)
    assert scored().measures == {}


def test_evidence_of_a_judge_without_reasons_is_its_best_sentence():
    result = lp.score(
        {"a": ["It rained. The river rose."]}, [["river", "snow"]],
        judge=lambda text, units: [float(unit in text) for unit in units],
        evidence=True, samples=50,
    )  # fmt: skip
    first, second = result.evidence[0]
    assert (first.sentence, first.span, first.presence) == (1, (11, 26), 1.0)
    assert second.sentence == -1
    with pytest.raises(InputError, match="evidence without"):
        replace(result, judge=None).with_evidence()
    assert scored(judge=WordJudge()).evidence is None
