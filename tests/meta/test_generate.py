"""Summaries over the range: scored right, resumable, independent of the company they keep."""

from __future__ import annotations

import json

import numpy as np
import pytest

from litepyramid.errors import InputError
from litepyramid.io.documents import cut_sentences, read_documents
from litepyramid.io.scores import read_scores
from litepyramid.meta.ranges import generation as module
from litepyramid.meta.ranges.extracts import SearchSettings
from litepyramid.meta.ranges.generation import generate
from litepyramid.metrics import metric_named
from litepyramid.types import InputDocuments, InputReferences, SystemSummaries

WORDS = ["storm", "coast", "police", "river", "bridge", "crowd", "fire", "school", "rain", "night"]
SETTINGS = SearchSettings(population=20, generations=4, words=20)
METRICS = [metric_named("rouge-2_recall"), metric_named("js-2")]


def texts(n: int = 3):
    rng = np.random.default_rng(5)
    documents, references = [], []
    for i in range(n):
        sentences = [" ".join(rng.choice(WORDS, 6)) + " ." for _ in range(12)]
        documents.append(InputDocuments(f"d{i}", tuple(sentences)))
        references.append(InputReferences(f"d{i}", ((sentences[0], sentences[5]),), (True,)))
    return documents, references


def test_scores_are_the_metrics_own_and_the_best_is_the_reference() -> None:
    documents, references = texts()
    systems = [SystemSummaries("people", ("d0", "d2"), ("a storm .", "rain"))]
    result = generate(documents, references, METRICS, SETTINGS, seed=1, systems=systems)
    assert result.table.systems[:3] == ("people", "lexrank", "extract-0001")
    for column, name in enumerate(result.table.inputs):
        target = [" ".join(references[column].references[0])]
        for row, metric in enumerate(METRICS):
            named = dict(
                zip(result.table.systems, result.table.values[row, :, column], strict=True)
            )
            for system, text in result.texts[name].items():
                assert named[system] == metric.score([text], target)[0]
            scored = {system for system, value in named.items() if not np.isnan(value)}
            assert scored == set(result.texts[name])
        found = {text for system, text in result.texts[name].items() if system != "lexrank"}
        assert "\n".join(references[column].references[0]) in found
    assert np.isnan(result.table.values[0, 0, 1])
    assert set(result.found_by["d0"].values()) <= {
        ("rouge-2_recall",), ("js-2",), ("rouge-2_recall", "js-2"),
    }  # fmt: skip


def test_an_input_does_not_depend_on_the_others() -> None:
    documents, references = texts()
    everything = generate(documents, references, METRICS, SETTINGS, seed=1)
    alone = generate(documents[1:2], references, METRICS[::-1], SETTINGS, seed=1)
    assert everything.texts["d1"] == alone.texts["d1"]
    assert generate(documents[1:2], references, METRICS, SETTINGS, seed=2).texts != alone.texts


def test_a_stopped_run_goes_on(tmp_path, monkeypatch) -> None:
    documents, references = texts()
    whole = generate(documents, references, METRICS, SETTINGS, seed=1)
    journal = tmp_path / "run.jsonl"
    searched = module._search_one
    calls = []

    def stopping(entry, *rest):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(entry.input)
        return searched(entry, *rest)

    monkeypatch.setattr(module, "_search_one", stopping)
    with pytest.raises(KeyboardInterrupt):
        generate(documents, references, METRICS, SETTINGS, seed=1, journal=journal)
    monkeypatch.setattr(module, "_search_one", lambda *a: calls.append(a[0].input) or searched(*a))
    resumed = generate(documents, references, METRICS, SETTINGS, seed=1, journal=journal)
    assert resumed.texts == whole.texts
    assert len(calls) == 6
    changed = [*documents[:2], InputDocuments("d2", (*documents[2].sentences, "more ."))]
    with pytest.raises(InputError, match="other settings"):
        generate(changed, references, METRICS, SETTINGS, seed=1, journal=journal)


def test_what_is_written_is_read_again(tmp_path) -> None:
    documents, references = texts()
    result = generate(documents, references, METRICS, SETTINGS, seed=1)
    result.write_scores(tmp_path / "scores.csv")
    result.write_texts(tmp_path / "texts.jsonl")
    table = read_scores(tmp_path / "scores.csv")
    assert table.metrics == result.table.metrics
    for name in table.systems:
        np.testing.assert_array_equal(
            table.values[:, table.systems.index(name)],
            result.table.values[:, result.table.systems.index(name)],
        )
    rows = [json.loads(line) for line in (tmp_path / "texts.jsonl").read_text().splitlines()]
    assert len(rows) == sum(map(len, result.texts.values()))
    assert set(rows[0]) == {"input", "system", "summary", "found_by"}


def test_mistakes_are_named() -> None:
    documents, references = texts()
    with pytest.raises(InputError, match="no reference for input 'd2'"):
        generate(documents, references[:2], METRICS, SETTINGS, seed=1)
    with pytest.raises(InputError, match="occurs twice"):
        generate(documents, references, METRICS * 2, SETTINGS, seed=1)
    with pytest.raises(InputError, match="input 'd0': no sentence"):
        generate(documents, references, METRICS, SearchSettings(words=3), seed=1)
    with pytest.raises(InputError, match="no metric"):
        generate(documents, references, [], SETTINGS, seed=1)


def test_documents_in_both_forms(tmp_path) -> None:
    lines = tmp_path / "d.txt"
    lines.write_text("it rained . `` why ? '' she asked .\t<t> one </t> <t> two . </t>\nThe end.\n")
    first, second = read_documents(lines, ["a", "b"])
    assert first.sentences == ("it rained .", "`` why ? ''", "she asked .", "one", "two .")
    assert second == InputDocuments("b", ("The end.",))
    rows = tmp_path / "d.jsonl"
    rows.write_text('{"input": "a", "documents": ["One. Two.", ["Three.", "Four"]]}\n')
    assert read_documents(rows)[0].sentences == ("One.", "Two.", "Three.", "Four")
    rows.write_text('{"input": "a", "texts": []}\n')
    with pytest.raises(InputError, match="documents"):
        read_documents(rows)


def test_sentences_end_at_end_marks() -> None:
    assert cut_sentences('He said "stop!" Then (softly.) he left') == [
        'He said "stop!"', "Then (softly.)", "he left",
    ]  # fmt: skip
    assert cut_sentences("  \n ") == []
    assert cut_sentences("dr . who met gen. a . smith in the u.s. today . ... ! so") == [
        "dr . who met gen. a . smith in the u.s. today . ... !", "so",
    ]  # fmt: skip
