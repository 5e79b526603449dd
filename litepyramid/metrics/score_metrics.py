"""ROUGE, BLEU, chrF, METEOR and BERTScore of all summaries, as the table that `meta`
takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from types import SimpleNamespace
from typing import Any, Unpack

import numpy as np

from litepyramid.data.data import as_data
from litepyramid.data.scores import Scores
from litepyramid.errors import InputError, ModelError, reason, require
from litepyramid.identity import fingerprint
from litepyramid.language import check_language, signed, words
from litepyramid.progress import track
from litepyramid.stats import (
    average_repeats,
    check_samples,
    system_intervals,
    system_means,
)
from litepyramid.tables import Cell, Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import (
    DataLike,
    Ends,
    Fields,
    FloatArray,
    References,
    Signature,
    Texts,
    several,
)
from litepyramid.wording import normalized

Family = Callable[[Sequence[str], Sequence[str]], Mapping[str, Sequence[float]]]
"""Summaries of one input and its references in; scores of each summary out, by
variant."""

_SAMPLES = 10_000  # of the bootstrap
_EXTRA = {"extra": "metrics"}


@dataclass(frozen=True)
class MetricScores(Result):
    """Scores of some metrics; saved as CSV they are the table that meta-evaluation
    takes.

    `scores` are (metrics, systems, inputs); `intervals`, by metric, (low, high) of each
    system's mean: bootstrap over inputs.
    """

    scores: Scores
    intervals: Mapping[str, Sequence[Ends]]
    confidence: float
    signature: Signature
    notes: Texts = ()

    def to_tables(self) -> Sequence[Table]:
        """One row per system: its mean over inputs by each metric, with the
        interval."""
        means = [system_means(values).tolist() for values in self.scores.values]
        rows = []
        for s, system in enumerate(self.scores.systems):
            ends = [self.intervals[metric][s] for metric in self.scores.metrics]
            cells: list[Cell] = [system]
            for mean, pair in zip(means, ends, strict=True):
                cells += (mean[s], *pair)
            rows.append(tuple(cells))

        columns = [Column("system")]
        for metric in self.scores.metrics:
            low = Column(f"{metric}_low", f"{100 * self.confidence:g} % low")
            columns += [Column(metric), low, Column(f"{metric}_high", "high")]

        title = f"Means over {counted(len(self.scores.inputs), 'input')}"
        return [
            Table(
                title, tuple(columns), tuple(rows), (*self.notes, str(self.signature))
            )
        ]

    def to_csv_table(self) -> Table:
        """One row per score: system, input, metric, score."""
        table = self.scores
        columns = map(Column, ("system", "input", "metric", "score"))
        rows = product(table.systems, table.inputs, table.metrics)
        values = table.values.transpose(1, 2, 0).ravel().tolist()
        cells = [(*row, value) for row, value in zip(rows, values, strict=True)]
        return Table("", tuple(columns), tuple(cells))


def score_metrics(
    data: DataLike = None,
    *,
    metrics: str | Sequence[str] = ("rouge-1", "rouge-2", "rouge-l"),
    confidence: float = 0.95,
    seed: int = 12345,
    **sources: Unpack[References],
) -> MetricScores:
    """Scores summaries with ROUGE, BLEU, chrF, METEOR or BERTScore, to compare with.

    Each metric is computed by its own package: rouge-score (stemmed), sacrebleu's
    sentence BLEU (effective order) and chrF (0 to 100), NLTK's METEOR, bert-score. Of
    several references, ROUGE and BERTScore take the one with the highest F1, METEOR and
    chrF that with the highest score; BLEU counts the n-grams of all. rouge-score knows
    the letters a to z alone; for other languages rouge-u is its ROUGE of Unicode words,
    unstemmed (characters where there are no spaces).

    Args:
        data: Summaries and references of the same inputs.
        metrics: rouge-1, rouge-2, rouge-l, rouge-u-1, rouge-u-2, rouge-u-l, bleu, chrf,
            meteor or bertscore, or one of their variants, such as rouge-2_recall.
        confidence: Confidence level of the intervals.
        seed: Seed of the bootstrap.
        **sources: As for `litepyramid.load`.

    Raises:
        InputError: An unknown metric, or data that do not match.
        MissingExtraError: A metric's package is not installed.

    Example:
        >>> texts = {"mine": ["A storm hit Oslo."]}
        >>> goal = ["A storm hit Oslo on Monday."]
        >>> result = score_metrics(texts, references=goal, metrics=["rouge-1_recall"])
        >>> result.scores.values.round(3)
        array([[[0.667]]])

    Command line:
        $ litepyramid metrics example/summaries -r example/references.jsonl -o rouge.csv
    """
    check_samples(_SAMPLES, seed=seed, confidence=confidence)
    dataset = as_data(data, **sources).with_language()
    dataset.require("summaries", "references")
    summaries = dataset.summaries
    names = several(metrics, "metrics")
    families = _families(names, dataset.language)
    scores: dict[str, FloatArray] = {}

    # Input by input: some metrics are quicker with all of an input's texts at once.
    references = {entry.input: entry.references for entry in dataset.references}
    for i, name in enumerate(track(summaries.inputs, "scoring", "inputs")):
        targets = [" ".join(sentences) for sentences in references[name]]
        texts = [of_system[i] or "" for of_system in summaries.texts]
        # Copies of a text, and empty ones, are scored once.
        distinct = list(dict.fromkeys(texts))
        order = [distinct.index(text) for text in texts]
        for family, scorer in families.items():
            for variant, values in scorer(distinct, targets).items():
                column = f"{family}_{variant}" if variant else family
                if family in names or column in names:
                    matrix = scores.setdefault(
                        column, np.full(summaries.missing.shape, np.nan)
                    )
                    matrix[:, i] = np.asarray(values)[order]

    for name in names:
        if name not in families and name not in scores:
            raise _unknown(name)

    # A missing summary is not scored; one system may have answered an input repeatedly.
    systems = [*map(dataset.system_of, summaries.systems)]
    for variant, matrix in scores.items():
        matrix[summaries.missing] = np.nan
        scores[variant] = average_repeats(matrix, systems).means
    table = Scores.of(scores, sorted({*systems}), summaries.inputs)
    notes = dataset.notes
    if dataset.repeats:
        notes += ("Scores of several answers of a system to an input are averaged.",)
    draws: Fields = {
        "samples": _SAMPLES,
        "confidence": confidence,
        "seed": seed,
    }
    entries = [[entry.input, sorted(entry.references)] for entry in dataset.references]
    signature = Signature.of(
        metrics="+".join(scores),
        **signed(dataset.language),
        summaries_sha=summaries.sha,
        references_sha=fingerprint(entries),
        **draws,
    )

    ends = {name: system_intervals(table[name], **draws) for name in table.metrics}
    return MetricScores(
        table,
        ends,
        confidence,
        signature,
        notes,
    )


def rouge_scorer(*kinds: str, stem: bool = True, unicode: bool = False) -> Any:
    """rouge-score's scorer of ROUGE ``1``, ``2`` or ``L``, which splits each text into
    words once.

    With `unicode` words are those of any script, without stems, in place of
    rouge-score's own.

    Example:
        >>> rouge_scorer("2").score("the cat sat", "a cat sat")["rouge2"].recall
        0.5
    """
    from nltk.stem.porter import PorterStemmer  # type: ignore[import-untyped]
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]
    from rouge_score.tokenize import tokenize  # type: ignore[import-untyped]

    stems = SimpleNamespace(stem=lru_cache(maxsize=1 << 16)(PorterStemmer().stem))
    split = words if unicode else partial(tokenize, stemmer=stems if stem else None)
    tokenizer = SimpleNamespace(tokenize=lru_cache(maxsize=1 << 12)(split))
    return RougeScorer([f"rouge{kind.upper()}" for kind in kinds], tokenizer=tokenizer)


def _rouge(kind: str, language: str, *, unicode: bool = False) -> Family:
    scorer = rouge_scorer(kind, unicode=unicode)
    name = f"rouge{kind.upper()}"

    def family(
        summaries: Sequence[str], references: Sequence[str]
    ) -> dict[str, list[float]]:
        targets = [normalized(text) for text in references]
        variants: dict[str, list[float]] = {
            "f1": [],
            "recall": [],
            "precision": [],
        }
        for text in summaries:
            score = scorer.score_multi(targets, normalized(text))[name]
            variants["f1"].append(score.fmeasure)
            variants["recall"].append(score.recall)
            variants["precision"].append(score.precision)
        return variants

    return family


def _sacrebleu(name: str, language: str, **options: Any) -> Family:
    metric = getattr(require("sacrebleu.metrics", purpose=name, **_EXTRA), name)(
        **options
    )

    def family(
        summaries: Sequence[str], references: Sequence[str]
    ) -> dict[str, list[float]]:
        targets = list(references)
        return {"": [metric.sentence_score(t, targets).score for t in summaries]}

    return family


def _meteor(language: str) -> Family:
    import nltk  # type: ignore[import-untyped]
    from nltk.translate.meteor_score import meteor_score  # type: ignore[import-untyped]

    try:
        nltk.data.find("corpora/wordnet.zip")
    except LookupError:
        raise InputError(
            "METEOR needs WordNet, which is not in NLTK's data folder",
            hint="Get it with: python -m nltk.downloader wordnet",
        ) from None

    split = nltk.tokenize.wordpunct_tokenize

    def family(
        summaries: Sequence[str], references: Sequence[str]
    ) -> dict[str, list[float]]:
        targets = [split(text) for text in references]
        return {"": [meteor_score(targets, split(text)) for text in summaries]}

    return family


def _bertscore(
    language: str = "en", model: str | None = None, layer: int | None = None
) -> Family:
    bert_score = require("bert_score", purpose="BERTScore", **_EXTRA)
    try:
        scorer = bert_score.BERTScorer(
            lang={"any": "other", "und": "other"}.get(language, language),
            model_type=model,
            num_layers=layer,
        )
    except OSError as error:
        raise ModelError(
            f"the model of BERTScore cannot be loaded ({reason(error)})",
            hint="It is fetched once, where there is a network.",
        ) from error

    # A tokenizer that names no longest text would overflow in bert-score.
    tokenizer = scorer._tokenizer
    tokenizer.model_max_length = min(tokenizer.model_max_length, 512)

    def family(
        summaries: Sequence[str], references: Sequence[str]
    ) -> dict[str, list[float]]:
        scores = scorer.score(list(summaries), [list(references)] * len(summaries))
        names = ("precision", "recall", "f1")
        return {name: one.tolist() for name, one in zip(names, scores, strict=True)}

    return family


_FAMILIES: Mapping[str, Callable[[str], Family]] = {
    "rouge-1": partial(_rouge, "1"),
    "rouge-2": partial(_rouge, "2"),
    "rouge-l": partial(_rouge, "l"),
    "rouge-u-1": partial(_rouge, "1", unicode=True),
    "rouge-u-2": partial(_rouge, "2", unicode=True),
    "rouge-u-l": partial(_rouge, "l", unicode=True),
    "bleu": partial(_sacrebleu, "BLEU", effective_order=True),
    "chrf": partial(_sacrebleu, "CHRF"),
    "meteor": _meteor,
    "bertscore": _bertscore,
}


def _families(metrics: Sequence[str], language: str) -> dict[str, Family]:
    """The families that some names ask for: ``rouge-2``, or one variant,
    ``rouge-2_recall``."""
    if not metrics:
        raise InputError(
            "no metrics", expected="a name or a list of names, such as rouge-1"
        )

    families = {}
    for metric in metrics:
        name = str(metric).partition("_")[0]
        if name not in _FAMILIES:
            raise _unknown(str(metric))
        if name not in families:
            check_language(name, language, name)
            families[name] = _FAMILIES[name](language)

    return families


def _unknown(metric: str) -> InputError:
    return InputError(
        f"unknown metric '{metric}'",
        expected=f"some of {', '.join(_FAMILIES)}, or a variant such as rouge-2_recall",
        hint="Scores that were computed elsewhere are read from a table by "
        "litepyramid meta.",
    )
