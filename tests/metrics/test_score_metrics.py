"""Metrics beside ours: equal to their packages, pair by pair, and a table that meta
takes."""

import numpy as np
import pytest
from cases import refused
from rouge_score.rouge_scorer import RougeScorer

from litepyramid.data.data import load
from litepyramid.data.records import InputReferences
from litepyramid.data.score_tables import read_scores
from litepyramid.errors import ModelError
from litepyramid.metrics.score_metrics import MetricScores, _bertscore, score_metrics

TEXTS = ["A storm hit Oslo on Monday.", "", "Two people died in the storm."]
SUMMARIES = {
    "a": dict(zip("123", TEXTS, strict=True)),
    "b": dict(zip("123", TEXTS[::-1], strict=True)),
}
REFERENCES = [
    InputReferences(
        "1", (("A storm hit Oslo .", "Two died ."), ("Storm .",)), (True, True)
    ),
    InputReferences("2", (("Nobody was hurt on Monday .",),), (False,)),
    InputReferences("3", (("Two died in Oslo .",),), (False,)),
]
PAIRS = [
    (s, i, texts[entry.input], [" ".join(one) for one in entry.references])
    for s, texts in enumerate(SUMMARIES.values())
    for i, entry in enumerate(REFERENCES)
]


def scored(*metrics: str) -> MetricScores:
    return score_metrics(SUMMARIES, references=REFERENCES, metrics=metrics)


def test_bleu_and_chrf_are_sacrebleus():
    sacrebleu = pytest.importorskip(
        "sacrebleu", reason="the extra metrics is not installed"
    )
    table = scored("bleu", "chrf").scores
    for s, i, text, references in PAIRS:
        bleu = sacrebleu.sentence_bleu(text, references).score
        assert table["bleu"][s, i] == pytest.approx(bleu, abs=1e-12)
        chrf = sacrebleu.sentence_chrf(text, references).score
        assert table["chrf"][s, i] == pytest.approx(chrf, abs=1e-12)


def test_meteor_is_nltks_or_says_what_it_lacks():
    import nltk

    try:
        nltk.data.find("corpora/wordnet.zip")
    except LookupError:
        with refused(r"nltk\.downloader wordnet"):
            scored("meteor")
        return

    from nltk.translate.meteor_score import meteor_score

    words = nltk.tokenize.wordpunct_tokenize
    table = scored("meteor").scores
    for s, i, text, references in PAIRS:
        expected = meteor_score([words(one) for one in references], words(text))
        assert table.values[0, s, i] == pytest.approx(expected, abs=1e-12)


def test_bertscore_takes_the_best_of_several_references(tmp_path):
    pytest.importorskip("bert_score", reason="the extra metrics is not installed")
    from tiny_models import make_matching_bert

    make_matching_bert(tmp_path / "bert", ["a storm hit oslo", "two people died"])
    family = _bertscore("en", str(tmp_path / "bert"), 1)
    references = ["a storm hit oslo", "two people died"]
    both = family(["a storm hit oslo", "two died"], references)
    assert set(both) == {"precision", "recall", "f1"}
    each = [family(["two died"], [reference])["f1"][0] for reference in references]
    assert both["f1"] == pytest.approx([1.0, max(each)], abs=1e-5)


def test_a_model_of_bertscore_that_cannot_be_fetched_is_called_so(tmp_path):
    pytest.importorskip("bert_score", reason="the extra metrics is not installed")
    with refused("the model of BERTScore cannot be loaded", ModelError):
        _bertscore("en", str(tmp_path / "none"), 1)


@pytest.mark.data
def test_rouge_over_realsumm_is_rouge_scores_pair_by_pair(data):
    folder = data / "realsumm"
    dataset = load(folder / "summaries", references=folder / "references.txt")
    references = dataset.references[:8]
    few = dataset.summaries.take(dataset.systems, dataset.inputs[:8])
    table = score_metrics(few, references=references).scores
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)

    for i, entry in enumerate(references):
        for s, texts in enumerate(few.texts):
            expected = scorer.score(" ".join(entry.references[0]), texts[i])
            for kind in "12L":
                ours = []
                for name in ("precision", "recall", "f1"):
                    ours.append(table[f"rouge-{kind.lower()}_{name}"][s, i])
                theirs = [*expected[f"rouge{kind}"]]
                assert ours == pytest.approx(theirs, abs=1e-12)


def test_the_table_is_one_that_meta_takes(tmp_path):
    result = scored("rouge-2_recall", "rouge-l_f1")
    assert result.scores.metrics == ("rouge-2_recall", "rouge-l_f1")
    mean = result.scores.values[0, 1].mean()
    low, high = result.intervals["rouge-2_recall"][1]
    row = result.to_tables()[0].rows[1]
    assert row[:4] == ("b", pytest.approx(mean), low, high)
    assert low <= mean <= high

    result.save(tmp_path / "scores.csv")
    for source in (tmp_path / "scores.csv", [result]):
        table = read_scores(source)
        assert table.metrics == result.scores.metrics
        np.testing.assert_array_equal(table.values, result.scores.values)


def test_answers_that_were_given_again_are_averaged():
    """They were systems of their own, which no result of `score` has."""
    texts = ["A storm hit Oslo.", "Nothing.", "A storm."]
    rows = [
        {"system": "a", "input": name, "repeat": repeat, "summary": text}
        for name, (first, second) in {"1": texts[:2], "2": texts[1:]}.items()
        for repeat, text in ((1, first), (2, second))
    ]
    references = {"1": texts[:1], "2": texts[:1]}
    each = score_metrics(
        {name: [text] * 2 for name, text in zip("xyz", texts, strict=True)},
        references=[texts[:1]] * 2,
    ).scores.values[:, :, 0]
    found = score_metrics(rows, references=references).scores
    assert found.systems == ("a",)
    goal = np.stack([each[:, :2].mean(axis=1), each[:, 1:].mean(axis=1)], axis=1)
    assert found.values[:, 0] == pytest.approx(goal)


def test_names_of_metrics_and_the_signature():
    for name in ("rouge-9", "rouge-2_median", ""):
        with refused(f"unknown metric '{name}'"):
            scored(name)
    with refused("no metrics"):
        scored()
    one = score_metrics(SUMMARIES, references=REFERENCES, metrics="rouge-1")
    assert one.signature == scored("rouge-1").signature
    others = {"a": SUMMARIES["a"], "b": SUMMARIES["b"] | {"1": "x"}}
    changed = score_metrics(others, references=REFERENCES, metrics="rouge-1")
    assert changed.signature != one.signature
