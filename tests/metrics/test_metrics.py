"""ROUGE equals rouge-score's; JS-2 equals the sum written out; both hold their bounds."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from litepyramid.errors import InputError
from litepyramid.metrics import METRICS, metric_named
from litepyramid.metrics.divergence import JensenShannon
from litepyramid.metrics.rouge import Rouge
from litepyramid.metrics.tokens import line_tokenizer

WORDS = st.sampled_from(
    ["the", "cat", "cats", "sleeping", "slept", "runs", "runner's", "Ünïcode", "3,14", "...", "İ"]
)
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from(["\n", " . ", "\u2028", "-"])), max_size=30).map(
    " ".join
)
FIELDS = {"f1": "fmeasure", "recall": "recall", "precision": "precision"}


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3), st.booleans())
def test_rouge_is_rouge_score(summary: str, references: list[str], stem: bool) -> None:
    expected = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stem).score_multi(
        references, summary
    )
    for kind, theirs in (("1", "rouge1"), ("2", "rouge2"), ("l", "rougeL")):
        for variant, attribute in FIELDS.items():
            ours = Rouge(kind, variant, stem).score([summary], references)[0]
            assert ours == pytest.approx(getattr(expected[theirs], attribute), abs=1e-12)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_pooled_rouge_sums_over_the_references(summary: str, references: list[str]) -> None:
    """Lin 2004's formula from rouge-score's recall and precision against each reference."""
    words = [len(line_tokenizer(True)(text)) for text in (summary, *references)]
    for kind, theirs in (("1", "rouge1"), ("2", "rouge2"), ("l", "rougeL")):
        scorer = RougeScorer([theirs], use_stemmer=True)
        sizes = [max(0, n - (kind == "2")) for n in words]
        hits = sum(
            round(scorer.score(text, summary)[theirs].recall * size)
            for text, size in zip(references, sizes[1:], strict=True)
        )
        r, c = sum(sizes[1:]), sizes[0] * len(references)
        expected = {"recall": (hits, r), "precision": (hits, c), "f1": (2 * hits, r + c)}
        for variant, (part, whole) in expected.items():
            ours = Rouge(kind, variant, pooled=True).score([summary], references)[0]
            assert ours == pytest.approx(part / whole if whole else 0.0, abs=1e-12)
            named = metric_named(f"rouge-{kind}-pooled_{variant}")
            assert named.name == f"rouge-{kind}-pooled_{variant}"
            if len(references) == 1:
                assert ours == Rouge(kind, variant).score([summary], references)[0]


def test_rouge_is_rouge_score_on_published_summaries(realsumm) -> None:
    references = (realsumm / "references.txt").read_text(encoding="utf-8").splitlines()
    folder = realsumm / "summaries"
    summaries = (folder / "abs_bart_out.summary").read_text(encoding="utf-8").splitlines()
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    metrics = {name: Rouge(name, "f1") for name in ("1", "2", "l")}
    for reference, summary in list(zip(references, summaries, strict=True))[:25]:
        expected = scorer.score(reference, summary)
        for name, theirs in (("1", "rouge1"), ("2", "rouge2"), ("l", "rougeL")):
            ours = metrics[name].score([summary], [reference])[0]
            assert ours == pytest.approx(expected[theirs].fmeasure, abs=1e-12)


def brute_force_divergence(summary: list[str], references: list[list[str]], n: int) -> float:
    """The definition, every n-gram of either text, one after the other."""

    def grams(words: list[str]) -> list[tuple[str, ...]]:
        return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

    p = Counter(gram for reference in references for gram in grams(reference))
    q = Counter(grams(summary))
    if not q:
        return 1.0
    total = 0.0
    for gram in set(p) | set(q):
        a, b = p[gram] / sum(p.values()), q[gram] / sum(q.values())
        middle = (a + b) / 2
        total += (a * math.log2(a / middle) if a else 0) + (b * math.log2(b / middle) if b else 0)
    return total / 2


LETTERS = st.lists(st.sampled_from("abcd"), max_size=12)


@given(LETTERS, st.lists(LETTERS, min_size=1, max_size=3), st.sampled_from([1, 2, 3]))
def test_js_is_the_sum_written_out(summary: list[str], references: list[list[str]], n: int) -> None:
    metric = JensenShannon(n, stem=False)
    texts = [" ".join(reference) for reference in references]
    if max(map(len, references)) < n:
        with pytest.raises(InputError, match=r"no .-gram"):
            metric.score([" ".join(summary)], texts)
        return
    value = metric.score([" ".join(summary)], texts)[0]
    assert value == pytest.approx(-brute_force_divergence(summary, references, n), abs=1e-12)
    assert -1 <= value <= 0


def test_js_2_agrees_with_the_published_column(realsumm) -> None:
    """The published JS-2 cuts words in its own way: close to ours in rank, not in every digit."""
    import csv

    from scipy.stats import spearmanr

    ids = (realsumm / "ids.txt").read_text().split()
    references = (realsumm / "references.txt").read_text(encoding="utf-8").splitlines()
    folder = realsumm / "summaries"
    texts = (folder / "ext_bart_out.summary").read_text(encoding="utf-8").splitlines()
    with (realsumm / "metric_scores.csv").open(encoding="utf-8") as file:
        published = {
            row["input"]: float(row["score"])
            for row in csv.DictReader(file)
            if row["system"] == "ext_bart_out" and row["metric"] == "js-2"
        }
    metric = JensenShannon()
    plain = [r.replace("<t>", "").replace("</t>", "") for r in references]
    ours = [metric.score([t], [r])[0] for t, r in zip(texts, plain, strict=True)]
    theirs = [published[i] for i in ids]
    assert spearmanr(ours, theirs).statistic > 0.95


def test_one_batch_is_many_calls() -> None:
    texts = ["the cat sat\non the mat", "a dog", "", "the mat sat on the cat"]
    references = ["the cat sat on a mat", "a cat on a mat"]
    for name in METRICS:
        metric = metric_named(name)
        assert metric.name == name
        batch = metric.score(texts, references)
        assert batch.dtype == np.float64
        assert batch.tolist() == [metric.score([text], references)[0] for text in texts]


@pytest.mark.parametrize("name", ["rouge-3_f1", "rouge-1", "bertscore", ""])
def test_unknown_metrics_are_named(name: str) -> None:
    with pytest.raises(InputError, match="js-2, rouge-1_f1"):
        metric_named(name)


def test_wrong_settings_are_named() -> None:
    with pytest.raises(InputError, match="kind 1, 2 or l"):
        Rouge("3", "f1")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="f1, recall or precision"):
        Rouge.named("rouge-1")
    with pytest.raises(InputError, match="at least one"):
        Rouge("1").score(["a"], [])
    with pytest.raises(InputError, match="at least 1"):
        JensenShannon(0)
