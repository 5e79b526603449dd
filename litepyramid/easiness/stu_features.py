"""Features of a sentence from its STUs.

They are known before a person has written any SCU, and they say more of easiness than syntax does:
words in no STU can match no SCU, and a long STU holds much that no single SCU says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from litepyramid.easiness.dependency import CONTENT
from litepyramid.easiness.features import FeatureTable, rouge_words
from litepyramid.progress import track
from litepyramid.units.parsers.embedded.frames import word_set
from litepyramid.units.parsers.embedded.tree import Tree

STUS = "stus"

LENGTHS = (4, 6, 8)
"""Words of the imagined SCUs of `expected F1`; those of REALSumm have 6.7 on average."""

WINDOWS = (5, 7)

NAMES = (
    "stu:count",
    "stu:mean_length",
    "stu:longest",
    "stu:shortest",
    "stu:length_sd",
    "stu:mean_share",
    "stu:longest_share",
    "stu:shortest_share",
    "stu:coverage",
    "stu:content_coverage",
    "stu:repetition",
    "stu:new_words",
    "stu:pronouns",
    "stu:sentence_f1_mean",
    "stu:sentence_f1_best",
    *(f"stu:expected_f1_{length}" for length in LENGTHS),
    *(f"stu:window_f1_{length}" for length in WINDOWS),
    "stu:distinct_openings",
    "stu:to_6_words",
    "stu:from_12_words",
    "stu:4_to_9_words",
    "stu:count_4_to_9_words",
)

_PRONOUNS = word_set("he her hers him his i it its my our she their them they us we you your")


def stu_features(trees: Sequence[Tree], stus: Sequence[Sequence[str]]) -> FeatureTable:
    """How much of each sentence its STUs keep.

    Words are as ROUGE counts them: lower-cased runs of letters and digits.

    - ``count``; lengths in words: ``mean_length``, ``longest``, ``shortest``, ``length_sd``; and
      the first three over the sentence's own length (``_share``).
    - ``coverage``: share of the sentence's word types that are in at least one STU;
      ``content_coverage``: the same of its nouns, names, verbs, adjectives and numbers;
      ``repetition``: in how many STUs a word type of the sentence is, on average.
    - ``new_words``: share of the STUs' word types that the sentence does not have (names in the
      place of mentions); ``pronouns``: pronouns per STU.
    - ``sentence_f1``: ROUGE-1 F1 of the sentence with its STUs, their mean and the best.
    - ``expected_f1_m``: how well an imagined SCU of m words is matched: each word of the sentence
      is worth the best ``2 min(m, n) / (m + n)`` of an STU of n words that holds it, 0 if none
      does; the mean over the words.
    - ``distinct_openings``: different first two words, per STU; ``to_6_words``, ``from_12_words``,
      ``4_to_9_words``: share of the STUs that are so long; ``count_4_to_9_words``: their number.
    - ``window_f1_m``: every run of m words of the sentence as an imagined SCU: the mean of its
      best ROUGE-1 F1 with an STU.

    Args:
        trees: The sentences, parsed.
        stus: The STUs of each sentence.

    Returns:
        (sentences, 25); zeros for a sentence without STUs or words.

    Example:
        >>> from litepyramid.units.parsers.embedded.tree import Word
        >>> tree = Tree([Word("Rain", "NOUN", 1, "nsubj"), Word("falls", "VERB", 1, "root"),
        ...              Word("hard", "ADV", 1, "advmod")])
        >>> table = stu_features([tree], [["Rain falls"]])
        >>> dict(zip(table.names, table.values[0].round(2).tolist()))["stu:coverage"]
        0.67
    """
    pairs = list(zip(trees, stus, strict=True))
    rows = [_row(tree, units) for tree, units in track(pairs, "measuring", "sentences")]
    return FeatureTable(STUS, NAMES, np.array(rows, dtype=np.float64))


def _row(tree: Tree, units: Sequence[str]) -> list[float]:
    words = rouge_words(" ".join(tree.tokens))
    made = [unit for unit in map(rouge_words, units) if unit]
    if not made or not words:
        return [0.0] * len(NAMES)
    lengths = np.array([len(unit) for unit in made], dtype=np.float64)
    types, found = set(words), {word for unit in made for word in unit}
    content = [word for own in tree.words if own.upos in CONTENT for word in rouge_words(own.text)]
    sizes = [float(lengths.mean()), float(lengths.max()), float(lengths.min())]
    whole = [_f1(words, unit) for unit in made]
    return [
        float(len(made)),
        *sizes,
        float(lengths.std()),
        *(size / len(words) for size in sizes),
        len(types & found) / len(types),
        _mean([word in found for word in content]),
        _mean([sum(word in unit for unit in made) for word in sorted(types)]),
        len(found - types) / len(found),
        sum(word in _PRONOUNS for unit in made for word in unit) / len(made),
        _mean(whole),
        max(whole),
        *(_expected(words, made, length) for length in LENGTHS),
        *(_windowed(words, made, length) for length in WINDOWS),
        len({tuple(unit[:2]) for unit in made}) / len(made),
        _mean([length <= 6 for length in lengths]),
        _mean([length >= 12 for length in lengths]),
        _mean([4 <= length <= 9 for length in lengths]),
        float(sum(4 <= length <= 9 for length in lengths)),
    ]


def _expected(words: Sequence[str], made: Sequence[Sequence[str]], m: int) -> float:
    worth = [(2 * min(m, len(unit)) / (m + len(unit)), set(unit)) for unit in made]
    return _mean([max((f for f, unit in worth if word in unit), default=0.0) for word in words])


def _windowed(words: Sequence[str], made: Sequence[Sequence[str]], m: int) -> float:
    runs = [words[i : i + m] for i in range(max(1, len(words) - m + 1))]
    return _mean([max(_f1(run, unit) for unit in made) for run in runs])


def _f1(one: Sequence[str], other: Sequence[str]) -> float:
    """ROUGE-1 F1 of two lists of words."""
    shared = (Counter(one) & Counter(other)).total()
    return 2 * shared / (len(one) + len(other))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
