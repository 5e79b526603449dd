"""What a saved result says is what was scored, by the version that scored it: whatever
is changed in the file is refused, by all who read it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from cases import quick_score, refused

import litepyramid as lp
from litepyramid.data.saved import checksum_of
from litepyramid.data.score_tables import read_scores
from litepyramid.tables import plain

UNITS = {"q1": ["The ferry sank.", "Two people died."], "q2": ["It rained."]}
TEXTS = {
    "a": {"q1": "The ferry sank. Nobody died.", "q2": "It rained."},
    "b": {"q1": "A ferry sank and two people died.", "q2": "The sun shone."},
}
LABELS = {"a": {"q1": [1, 0], "q2": [1]}}


def scored(**options):
    data = {
        "labels": LABELS,
        "references": {"q1": ["The ferry sank."], "q2": ["Rain."]},
    }
    settings = {"judge": "recall+lexical", "evidence": True, "samples": 50}
    return lp.score(TEXTS, UNITS, **data | settings | options)


@pytest.fixture(scope="module")
def document():
    return plain(scored().to_json())


def leaves(value, path=()):
    """The paths of all values in a JSON document that hold no others."""
    entries = ()
    if isinstance(value, dict):
        entries = value.items()
    elif isinstance(value, list):
        entries = enumerate(value)
    for key, inner in entries:
        yield from leaves(inner, (*path, key))
    if not isinstance(value, dict | list):
        yield path


def other(value):
    """Another value of the same kind."""
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, bool):
        return not value
    return 0.25 if value is None else (0 if value else 1)


def changed(document, path, value=None):
    data = json.loads(json.dumps(document))
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = other(inner[path[-1]]) if value is None else value
    return data


def saved(tmp_path, data):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(data), "utf-8")
    return path


def test_no_value_of_a_file_can_be_changed(document, tmp_path):
    paths = list(leaves(document))
    assert {path[0] for path in paths} >= {"notes", "scores", "signature", "references"}
    assert {path[2] for path in paths if path[0] == "scores"} >= {
        "evidence", "opinions", "presence", "summary", "labels", "human", "score",
    }  # fmt: skip
    for path in paths:
        with refused():
            lp.report(saved(tmp_path, changed(document, path)))


@pytest.mark.parametrize(
    "read",
    [
        lp.report,
        lp.compare,
        read_scores,
        lambda path: lp.combine(path, assume_random=True),
        lambda path: lp.changes(path, path),
        lambda path: lp.score(presence=path),
        lambda path: lp.precision(TEXTS, references=UNITS, recall=path),
    ],
)
def test_nobody_reads_what_was_changed(document, tmp_path, read):
    place = ("scores", 0, "evidence", 0, "conflict")
    with refused("was changed"):
        read(saved(tmp_path, changed(document, place, "contradicted")))


def test_a_file_in_other_words_is_the_same(document, tmp_path):
    """Keys in another order, 1 for 1.0, as other programs write JSON; and a key of
    one's own."""
    text = json.dumps(document, sort_keys=True, indent=3).replace("1.0,", "1,")
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"build": 7, **json.loads(text)}), "utf-8")
    assert plain(lp.report(path).to_json()) == document


def sealed(data):
    return data | {"checksum": checksum_of(data)}


def test_opinions_that_presence_does_not_follow_from(document, tmp_path):
    data = sealed(changed(document, ("scores", 0, "opinions", 0), [0.9, 0.9]))
    with refused("presence of a, unit 1"):
        lp.report(saved(tmp_path, data))


@pytest.mark.parametrize("repeats", [False, True])
def test_intervals_are_those_of_presence_and_seed(tmp_path, repeats):
    result = scored(evidence=False)
    if repeats:
        fields = (*result.signature.fields, ("repeats", "2"))
        result = replace(result, signature=replace(result.signature, fields=fields))
        result.save(tmp_path / "first.json")
        result = lp.report(tmp_path / "first.json")
    data = plain(result.to_json())
    assert lp.report(saved(tmp_path, data)).intervals == result.intervals
    data["systems"][0] |= {"low": 0.0, "high": 1.0}
    again = lp.report(saved(tmp_path, sealed(data)))
    np.testing.assert_allclose(again.intervals, result.intervals, atol=1e-12)
    assert "computed again" in again.notes[-1]
    assert "computed again" not in "".join(result.notes[:-1])


# Versions
# ------------------------------------------------------------------------------------


def of_version(result, version):
    return replace(result, signature=replace(result.signature, version=version))


@pytest.mark.parametrize("judge", ["recall", "lexical"])
def test_a_result_keeps_the_version_that_computed_it(tmp_path, judge):
    result = of_version(scored(judge=judge, evidence=False), "0.0.9")
    result.save(tmp_path / "old.json")
    lp.report(tmp_path / "old.json").save(tmp_path / "again.json")
    again = lp.report(tmp_path / "again.json")
    assert str(again.signature).endswith("|version:0.0.9")
    made = lp.compare(again)
    assert dict(made.signature.fields)["scored_version"] == "0.0.9"
    assert made.signature.version == lp.__version__


def test_changes_between_versions():
    now = scored(judge="lexical", evidence=False)
    before = of_version(now, "0.0.9")
    result = lp.changes(before, now)
    assert any("0.0.9" in note for note in result.notes)
    assert "0.0.9" in dict(result.signature.fields)["scored_version"]
    assert "scored_version" not in dict(lp.changes(now, now).signature.fields)


@pytest.mark.parametrize(
    "judge", ["recall", "lexical+recall", lambda text, units: [1.0 for _ in units]]
)
def test_a_judge_without_a_revision_may_differ_between_versions(judge):
    now = scored(judge=judge, evidence=False)
    before = of_version(now, "0.0.9")
    with refused("version: 0.0.9 →"):
        lp.changes(before, now)
    result = lp.changes(before, now, across_judges=True)
    assert any("0.0.9" in note for note in result.notes)


def test_presence_that_was_given_has_no_judge():
    now = lp.score(presence={"a": {"q1": [1, 0], "q2": [1]}}, units=UNITS, samples=50)
    assert lp.changes(of_version(now, "0.0.9"), now).changes[0].difference == 0


def test_results_of_two_judges_or_of_other_units_are_not_one_table():
    def part(system, units=UNITS, **options):
        text = {system: TEXTS[system]}
        return lp.score(text, units, **{"judge": "recall", "samples": 50} | options)

    turned = {name: units[::-1] for name, units in UNITS.items()}
    assert lp.compare([part("a"), part("b", turned)]).pairs
    with refused("judge: recall → lexical"):
        lp.compare([part("a"), part("b", judge="lexical")])
    with refused("different units of input 'q2'"):
        lp.compare([part("a"), part("b", UNITS | {"q2": ["It snowed."]})])
    with refused("version"):
        lp.compare([part("a"), of_version(part("b"), "0.0.9")])


def test_a_saved_result_brings_its_parts_as_they_are(tmp_path):
    """Weights with its units, other units with its labels, what is missing."""
    rubric = {"q": [{"text": "A river.", "weight": 5}, {"text": "B.", "weight": -3}]}
    labels = [{"system": "a", "input": "q", "unit": "A river.", "label": 1}]
    labels.append({**labels[0], "unit": "B."})
    result = quick_score({"a": {"q": "A river. B."}}, rubric, rule="points")
    result.save(path := tmp_path / "rubric.json")
    for source in ({"data": path}, {"data": result}, {"presence": path}):
        again = lp.score(**source, labels=labels, rule="points", samples=100)
        assert again.scores == result.scores == {"a": 0.4}, source

    texts = {"a": {"i": "A river."}, "b": {"i": "B stone."}}
    of_people = {"i": [{"text": "A river.", "weight": 3}, "B stone."]}
    sides = {"labels": {"a": {"i": [1, 0]}, "b": {"i": [0, 1]}}}
    both = quick_score(texts, {"i": ["C.", "A x."]}, **sides, label_units=of_people)
    both.save(path := tmp_path / "label_units.json")
    for again in (lp.report(path), lp.score(path), lp.score(presence=path)):
        assert again.human_scores == {"a": 0.75, "b": 0.25}
    assert ",4,0.5,1.0,1.0," in lp.evaluate("recall", path).to_csv()

    texts["b"]["i"] = None
    missing = quick_score(texts, of_people, nulls="missing")
    missing.save(path := tmp_path / "missing.json")
    for again in (lp.score(path), lp.score(presence=path)):
        assert again.scores.keys() == {"a", "b"}
        assert np.isnan(again.scores["b"])


def test_presence_of_other_texts_is_refused(tmp_path):
    units = {"i": ["A river.", "B stone."]}
    texts = {"a": {"i": "A river."}, "b": {"i": "B stone."}}
    quick_score(texts, units).save(path := tmp_path / "old.json")
    given = lp.score(texts, units, presence=path)
    given.save(again := tmp_path / "given.json")
    assert lp.report(again) == given
    frame = given.to_frame("units")
    assert lp.score(texts, presence=frame).scores == given.scores
    with refused("other texts"):
        lp.score({**texts, "a": {"i": "Nothing."}}, units, presence=path)
