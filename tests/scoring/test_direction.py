"""Precision and F1 by hand, as the mirror of recall, and through the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import litepyramid as lp
from litepyramid.embedded.example import load_example
from litepyramid.errors import InputError

GIVEN = {"judge": "recall", "srl": "sentences", "samples": 40}
TEXTS = {
    "good": ["It rained. The river rose.", "We left."],
    "long": ["It rained. Mars exploded.", "We slept. They left. We left."],
    "none": ["", "We left."],
}
REFERENCES = [["It rained.", "The river rose."], ["We left. They slept."]]


def test_each_unit_counts_in_the_reference_it_is_in_most():
    found = lp.precision(TEXTS, references=REFERENCES, **GIVEN)
    np.testing.assert_allclose(found.values, [[1, 1], [0.5, 1], [np.nan, 1]])
    assert found.metric == "precision"
    assert found.units[1][0] == ("It rained .", "Mars exploded .")
    assert found.counts["summaries_without_precision"] == 1
    assert "1 summary has no unit, and no precision." in found.to_table()


def test_precision_is_recall_with_the_sides_exchanged():
    example = load_example()
    references = [[" ".join(own) for own in e.references] for e in example.references]
    for system in example.summaries[:2]:
        if not all(system.texts):
            continue
        there = lp.precision({"a": list(system.texts)}, references=references, **GIVEN)
        back = lp.score({"a": [own[0] for own in references]},
                        references=[[text] for text in system.texts], **GIVEN)  # fmt: skip
        np.testing.assert_allclose(there.values, back.values)


def test_f1_is_the_harmonic_mean():
    recall = lp.score(TEXTS, references=REFERENCES, **GIVEN)
    found = lp.precision(TEXTS, references=REFERENCES, recall=recall, **GIVEN)
    p, r = found.precision, recall.values
    with np.errstate(invalid="ignore"):
        wanted = 2 * p * r / (p + r)
    wanted[2, 0] = 0  # an empty summary
    np.testing.assert_allclose(found.values, wanted)
    assert found.metric == "f1"
    with pytest.raises(InputError, match="recall for other systems"):
        lp.precision({"x": TEXTS["good"]}, references=REFERENCES, recall=recall, **GIVEN)


def test_documents_are_premises_and_results_are_read_again(tmp_path, cli):
    example = load_example()
    folder = tmp_path / "summaries"
    folder.mkdir()
    for system in example.summaries:
        rows = zip(system.inputs, system.texts, strict=True)
        (folder / f"{system.system}.jsonl").write_text(
            "".join(json.dumps({"input": i, "summary": t}) + "\n" for i, t in rows)
        )
    for name, key in (("references", "references"), ("documents", "documents")):
        (tmp_path / f"{name}.jsonl").write_text("".join(
            json.dumps({"input": e.input, key: [" ".join(e.references[0])]}) + "\n"
            for e in example.references
        ))  # fmt: skip
    base = ["score", folder, "--judge", "recall", "--srl", "sentences", "--samples", "40"]
    base += ["--direction"]
    given = [*base, "precision", "--format", "json"]
    precise = json.loads(cli(*given, "--references", tmp_path / "references.jsonl").stdout)
    out = tmp_path / "faith.json"
    cli(*given, "--premise", tmp_path / "documents.jsonl", "-o", out)
    faith = json.loads(out.read_text())
    assert [s["score"] for s in faith["scores"]] == [s["score"] for s in precise["scores"]]
    assert (faith["metric"], faith["signature"]["premise"]) == ("faithfulness", "documents")
    assert "lead" in cli("compare", out).stdout
    both = cli(*base, "f1", "--references", tmp_path / "references.jsonl").stdout
    assert "precision" in both
    assert "recall" in both
    assert "--premise without" in cli("score", folder, "--premise", out, status=2).stderr
