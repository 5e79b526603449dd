"""Metrics to compare with, by family: each of its own kept package, all its variants at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from litepyramid.errors import InputError, require
from litepyramid.metrics.divergence import JensenShannon
from litepyramid.metrics.rouge import Rouge
from litepyramid.types import FloatArray

Family = Callable[[Sequence[str], Sequence[str]], dict[str, FloatArray]]
"""Summaries of one input and its references in; scores of each summary out, by column's name."""

_EXTRA = {"extra": "metrics"}


def _rouge(kind: Any) -> Family:
    rouge = Rouge(kind)

    def family(summaries: Sequence[str], references: Sequence[str]) -> dict[str, FloatArray]:
        variants = rouge.variants(summaries, references)
        return {f"rouge-{kind}_{name}": values for name, values in variants.items()}

    return family


def _js2() -> Family:
    metric = JensenShannon()
    return lambda summaries, references: {"js-2": metric.score(summaries, references)}


def _sacrebleu(name: str, **options: Any) -> Family:
    metrics = require("sacrebleu.metrics", purpose=name, **_EXTRA)
    metric = getattr(metrics, name)(**options)

    def family(summaries: Sequence[str], references: Sequence[str]) -> dict[str, FloatArray]:
        scores = [metric.sentence_score(text, list(references)).score for text in summaries]
        return {name.lower(): np.array(scores)}

    return family


def _meteor() -> Family:
    import nltk  # type: ignore[import-untyped]
    from nltk.translate.meteor_score import meteor_score  # type: ignore[import-untyped]

    try:
        nltk.data.find("corpora/wordnet.zip")
    except LookupError:
        raise InputError(
            "METEOR needs WordNet, which is not in NLTK's data folder",
            hint="Get it with: python -m nltk.downloader wordnet",
        ) from None
    words = nltk.tokenize.wordpunct_tokenize

    def family(summaries: Sequence[str], references: Sequence[str]) -> dict[str, FloatArray]:
        wanted = [words(text) for text in references]
        return {"meteor": np.array([meteor_score(wanted, words(text)) for text in summaries])}

    return family


def _bertscore(model: str | None = None, layer: int | None = None) -> Family:
    scorer = require("bert_score", purpose="BERTScore", **_EXTRA).BERTScorer(
        lang="en", model_type=model, num_layers=layer
    )
    words = scorer._tokenizer  # one that names no longest text would overflow in bert-score
    words.model_max_length = min(words.model_max_length, 512)

    def family(summaries: Sequence[str], references: Sequence[str]) -> dict[str, FloatArray]:
        found = scorer.score(list(summaries), [list(references)] * len(summaries))
        names = ("precision", "recall", "f1")
        return {
            f"bertscore_{name}": np.asarray(values, dtype=np.float64)
            for name, values in zip(names, found, strict=True)
        }

    return family


FAMILIES: Mapping[str, Callable[[], Family]] = MappingProxyType(
    {
        **{f"rouge-{kind}": partial(_rouge, kind) for kind in ("1", "2", "l")},
        "js-2": _js2,
        "bleu": partial(_sacrebleu, "BLEU", effective_order=True),
        "chrf": partial(_sacrebleu, "CHRF"),
        "meteor": _meteor,
        "bertscore": _bertscore,
    }
)
"""By name: rouge-score's, JS-2, sacrebleu's BLEU and chrF (0 to 100), NLTK's METEOR, BERTScore.

Several references: ROUGE and BERTScore take the one with the highest F1, METEOR and chrF the
highest score, BLEU and JS-2 all n-grams together.
"""

_JAVA = "is a Java program without a package"
GONE: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("autosummeng", "memog", "npower", "bewt-e"), _JAVA),
        "pyreval": "is research code without a package",
        "s3": "ships as pickled models, which litepyramid never loads",
        "qaeval": "needs AllenNLP, which is no longer maintained",
        "moverscore": "was last released in 2020, for the libraries of that time",
        "rouge-we": "is only in packages that are no longer maintained",
    }
)
"""Metrics that cannot be computed here any more, and why."""


def families(names: Sequence[str]) -> dict[str, Family]:
    """The families that some names ask for: ``rouge-2``, or one variant, ``rouge-2_recall``.

    Raises:
        InputError: An unknown name, or one of a metric that cannot be installed any more.
        MissingExtraError: A package is not installed.

    Example:
        >>> scores = families(["rouge-1"])["rouge-1"](["a cat sat"], ["the cat sat"])
        >>> {name: values.round(2).tolist() for name, values in scores.items()}
        {'rouge-1_f1': [0.67], 'rouge-1_recall': [0.67], 'rouge-1_precision': [0.67]}
    """
    found: dict[str, Family] = {}
    for name in names:
        family = name.partition("_")[0]
        if family not in FAMILIES:
            reason = f"'{name}' {GONE[family]}" if family in GONE else f"unknown metric '{name}'"
            raise InputError(
                reason,
                expected=f"some of {', '.join(FAMILIES)}",
                hint="Scores that were computed elsewhere are read from a table by 'meta'.",
            )
        if family not in found:
            found[family] = FAMILIES[family]()
    return found
