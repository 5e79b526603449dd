"""Metrics beside ours: equal to their packages, pair by pair, and a table that meta takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer

from litepyramid.errors import InputError
from litepyramid.io.references import read_references
from litepyramid.io.scores import read_scores
from litepyramid.io.summaries import read_summaries
from litepyramid.metrics import packages
from litepyramid.metrics.packages import FAMILIES, GONE, families
from litepyramid.scoring.metric_scores import metric_scores
from litepyramid.types import InputReferences, SystemSummaries

TEXTS = ("A storm hit Oslo on Monday.", "", "Two people died in the storm.")
REFERENCES = [
    InputReferences("1", (("A storm hit Oslo .", "Two died ."), ("Storm .",)), (True, True)),
    InputReferences("2", (("Nobody was hurt on Monday .",),), (False,)),
    InputReferences("3", (("Two died in Oslo .",),), (False,)),
]
SYSTEMS = [
    SystemSummaries("a", ("1", "2", "3"), TEXTS),
    SystemSummaries("b", ("1", "2", "3"), TEXTS[::-1]),
]


def pairs() -> list[tuple[int, int, str, list[str]]]:
    return [
        (s, i, system.texts[i], [" ".join(one) for one in entry.references])
        for s, system in enumerate(SYSTEMS)
        for i, entry in enumerate(REFERENCES)
    ]


def test_bleu_and_chrf_are_sacrebleus() -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="the extra metrics is not installed")
    table = metric_scores(SYSTEMS, REFERENCES, ["bleu", "chrf"]).scores
    for s, i, text, references in pairs():
        bleu = sacrebleu.sentence_bleu(text, references).score
        assert table.matrix("bleu").values[s, i] == pytest.approx(bleu, abs=1e-12)
        chrf = sacrebleu.sentence_chrf(text, references).score
        assert table.matrix("chrf").values[s, i] == pytest.approx(chrf, abs=1e-12)


def test_meteor_is_nltks_or_says_what_it_lacks() -> None:
    import nltk

    try:
        nltk.data.find("corpora/wordnet.zip")
    except LookupError:
        with pytest.raises(InputError, match=r"METEOR needs WordNet.*nltk\.downloader wordnet"):
            families(["meteor"])
        return
    from nltk.translate.meteor_score import meteor_score

    words = nltk.tokenize.wordpunct_tokenize
    table = metric_scores(SYSTEMS, REFERENCES, ["meteor"]).scores
    for s, i, text, references in pairs():
        expected = meteor_score([words(one) for one in references], words(text))
        assert table.values[0, s, i] == pytest.approx(expected, abs=1e-12)


def test_bertscore_takes_the_best_of_several_references(tmp_path: Path) -> None:
    pytest.importorskip("bert_score", reason="the extra metrics is not installed")
    from tiny_models import make_matching_bert

    from litepyramid.metrics.packages import _bertscore

    make_matching_bert(tmp_path / "bert", ["a storm hit oslo", "two people died"])
    family = _bertscore(str(tmp_path / "bert"), 1)
    both = family(["a storm hit oslo", "two died"], ["a storm hit oslo", "two people died"])
    assert set(both) == {"bertscore_precision", "bertscore_recall", "bertscore_f1"}
    assert both["bertscore_f1"][0] == pytest.approx(1.0, abs=1e-5)
    one = family(["two died"], ["two people died"])["bertscore_f1"][0]
    other = family(["two died"], ["a storm hit oslo"])["bertscore_f1"][0]
    assert both["bertscore_f1"][1] == pytest.approx(max(one, other), abs=1e-5)


@pytest.mark.data
def test_rouge_over_realsumm_is_rouge_scores_pair_by_pair(data: Path) -> None:
    folder = data / "realsumm"
    references = read_references(folder / "references.txt")[:12]
    names = [entry.input for entry in references]
    every = read_summaries([folder / "summaries"])
    systems = [SystemSummaries(one.system, tuple(names), one.texts[: len(names)]) for one in every]
    table = metric_scores(systems, references, ["rouge-1", "rouge-2", "rouge-l"]).scores
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    for i, entry in enumerate(references):
        for s, system in enumerate(systems):
            found = scorer.score(" ".join(entry.references[0]), system.texts[i])
            for kind, theirs in (("1", "rouge1"), ("2", "rouge2"), ("l", "rougeL")):
                for variant, value in zip(
                    ("precision", "recall", "f1"), found[theirs], strict=True
                ):
                    ours = table.matrix(f"rouge-{kind}_{variant}").values[s, i]
                    assert ours == pytest.approx(value, abs=1e-12)


def test_dear_metrics_are_kept_by_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counting(summaries: Any, references: Any) -> dict[str, Any]:
        asked.extend(summaries)
        return {"bertscore_f1": np.array([float(len(text)) for text in summaries])}

    monkeypatch.setattr(packages, "FAMILIES", {**FAMILIES, "bertscore": lambda: counting})
    first = metric_scores(SYSTEMS, REFERENCES, ["bertscore"], cache=tmp_path / "c.sqlite")
    assert len(asked) == 5  # both systems have the same second summary
    again = metric_scores(SYSTEMS, REFERENCES, ["bertscore_f1"], cache=tmp_path / "c.sqlite")
    assert len(asked) == 5
    assert np.array_equal(first.scores.values, again.scores.values)
    assert first.scores.values[0].tolist() == [list(map(len, t)) for t in (TEXTS, TEXTS[::-1])]


def test_the_table_is_one_that_meta_takes(tmp_path: Path) -> None:
    result = metric_scores(SYSTEMS, REFERENCES, ["rouge-2_recall", "js-2"])
    assert result.scores.metrics == ("rouge-2_recall", "js-2")
    result.save(tmp_path / "scores.csv")
    table = read_scores(tmp_path / "scores.csv")
    assert sorted(table.metrics) == sorted(result.scores.metrics)
    for metric in table.metrics:
        ours = result.scores.matrix(metric).values
        assert np.array_equal(table.matrix(metric).values, ours)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((name, f"'{name}' {reason}") for name, reason in GONE.items()),
        ("rouge-9", "unknown metric 'rouge-9'. Expected some of rouge-1"),
        ("rouge-2_median", "unknown metric 'rouge-2_median'"),
    ],
)
def test_what_is_not_there_is_named_with_the_reason(name: str, message: str) -> None:
    with pytest.raises(InputError) as found:
        metric_scores(SYSTEMS, REFERENCES, [name])
    assert message in str(found.value)
