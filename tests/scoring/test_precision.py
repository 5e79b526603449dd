"""Precision and F1 by hand, and as the mirror of recall."""

import numpy as np
import pytest
from cases import refused

import litepyramid as lp
from litepyramid.data.score_tables import read_scores
from litepyramid.embedded.example import load_example

OPTIONS = {"judge": "recall", "samples": 40}
TEXTS = {
    "good": ["It rained. The river rose.", "We left."],
    "long": ["It rained. Mars exploded.", "We slept. They left. We left."],
    "none": ["", "We left."],
}
REFERENCES = [["It rained.", "The river rose."], ["We left. They slept."]]


def precision(texts=TEXTS, **options):
    return lp.precision(texts, **OPTIONS, **options)


def test_each_unit_counts_in_the_reference_it_is_in_most():
    result = precision(references=REFERENCES)
    np.testing.assert_allclose(result.values, [[1, 1], [1 / 3, 1], [np.nan, 1]])
    assert result.metric == "precision"
    assert len(result.units[1][0]) == 2
    assert result.counts["summaries_without_precision"] == 1
    assert "1 summary has no unit, and no precision." in result.to_table()


def test_precision_is_recall_with_the_sides_exchanged():
    example = load_example()
    references = [" ".join(entry.references[0]) for entry in example.references]
    texts = [*example.summaries.texts[0]]
    there = precision({"a": texts}, references=references)
    back = lp.score({"a": references}, references=texts, **OPTIONS)
    np.testing.assert_allclose(there.values, back.values)


def test_f1_is_the_harmonic_mean_of_what_has_the_same_name(tmp_path):
    """Whatever the order of systems and inputs in the result that tells recall."""
    references = dict(zip("12", REFERENCES, strict=True))
    texts = {name: {"1": one, "2": two} for name, (one, two) in TEXTS.items()}
    turned = dict(reversed(texts.items()))
    sides = dict(reversed(references.items()))
    recall = lp.score(turned, references=sides, **OPTIONS)
    recall.save(tmp_path / "recall.json")

    result = precision(texts, references=references, recall=tmp_path / "recall.json")

    p = result.precision
    r = recall.values
    with np.errstate(invalid="ignore"):
        expected = 2 * p * r / (p + r)
    expected[2, 0] = 0  # an empty summary
    np.testing.assert_allclose(result.values, expected)
    assert result.metric == "f1"
    assert result.beside["recall"] == recall.scores
    for other in ({"x": TEXTS["good"]}, TEXTS | {"good": ["It rained.", "We left."]}):
        with refused("recall for other systems"):
            precision(other, references=REFERENCES, recall=recall)


def test_documents_are_premises_and_results_are_read_again(tmp_path):
    documents = [" ".join(own) for own in REFERENCES]
    faith = precision(documents=documents)
    assert faith.metric == "faithfulness"
    assert dict(faith.signature.fields)["premise"] == "documents"

    faith.save(tmp_path / "f.json")
    table = read_scores(tmp_path / "f.json")
    np.testing.assert_array_equal(table["faithfulness"], faith.values)
    assert lp.compare(tmp_path / "f.json").systems == lp.compare(faith).systems


def test_each_system_is_judged_against_its_own_documents():
    rows = []
    for system, text in (("a", "Ann left."), ("b", "Bob paid.")):
        row = {"system": system, "input": "1", "summary": text, "document": text}
        rows.append(row)

    def faithfulness(rows, documents):
        return lp.precision(rows, documents=documents, judge="recall").scores

    assert faithfulness(rows, rows) == {"a": 1.0, "b": 1.0}
    # Those of one system are not those of another; those of neither are those of all.
    alone = lp.precision(rows, documents=rows[:1], judge="recall")
    assert alone["a"] == 1.0
    assert np.isnan(alone["b"])
    assert "1 summary has no premise: left out." in alone.to_table()
    of_all = [{"input": "1", "document": "Ann left."}]
    assert faithfulness(rows, of_all) == {"a": 1.0, "b": 0.0}
    assert faithfulness(rows[1:], rows[:1]) == {"b": 0.0}


@pytest.mark.parametrize(
    "options",
    [{}, {"references": REFERENCES, "refs": 1}, {"references": REFERENCES[:1]}],
)
def test_what_is_missing_or_too_much_is_refused(options):
    with refused():
        precision(**options)
    with refused("references and documents"):
        precision(documents=REFERENCES, references=REFERENCES)


@pytest.mark.parametrize("name", ["references", "documents"])
def test_ids_are_taken_as_by_score(name):
    sides = dict(zip("ab", REFERENCES, strict=True))
    assert precision(ids=["a", "b"], **{name: sides}).inputs == ("a", "b")


def test_a_saved_precision_can_be_gated(tmp_path):
    """Its facts are each run's own: scores are compared, and no fact is lost."""
    worse = {name: [texts[0], "Mars exploded."] for name, texts in TEXTS.items()}
    old = precision(references=REFERENCES)
    new = precision(worse, references=REFERENCES)
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    for path, result in zip(paths, (old, new), strict=True):
        result.save(path)

    for runs in (paths, (old, new)):
        result = lp.changes(*runs, fail_under=0.9)
        assert [change.new for change in result.changes] == pytest.approx(
            [np.nanmean(row) for row in new.values]
        )
        assert result.exit_status == 1
        assert not any(change.lost or change.gained for change in result.changes)
        assert "fact" not in result.verdict
        assert "lost" not in result.to_markdown() + result.to_table()
    assert lp.changes(paths[0], paths[0], fail_if="worse").exit_status == 0
    with refused("fail_if_lost has no effect on precision"):
        lp.changes(*paths, fail_if_lost=1)


def test_what_of_two_precisions_must_be_the_same():
    old = precision(references=REFERENCES)
    documents = [" ".join(own) for own in REFERENCES]
    told = precision(documents=documents)
    with refused("different rules"):
        lp.changes(old, told, across_judges=True)
    with refused("premises_sha"):
        lp.changes(old, precision(references=[["It rained."], ["We left."]]))
    # What was retrieved is data of each run.
    assert lp.changes(told, precision(documents=["It rained.", "We left."]))
    # References are of an input, whoever summarises it.
    one = {"good": TEXTS["good"]}
    assert len(lp.changes(precision(one, references=REFERENCES), old).changes) == 1

    longer = TEXTS | {"good": ["It rained.", "We left."]}
    both = []
    for texts in (TEXTS, longer):
        recall = lp.score(texts, references=REFERENCES, **OPTIONS)
        both.append(precision(texts, references=REFERENCES, recall=recall))
    assert lp.changes(*both).changes
    with refused():
        lp.changes(old, lp.score(TEXTS, references=REFERENCES, **OPTIONS))
