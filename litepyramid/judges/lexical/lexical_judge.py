"""The judges that compare words: the baseline recall, lexical, a logistic model; their
evidence."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from litepyramid.checked import as_type
from litepyramid.disk import write_json
from litepyramid.errors import InputError, ModelError
from litepyramid.files import file_type, read_json
from litepyramid.judges.base import Evidence, Items, JudgedBatch
from litepyramid.judges.lexical.features import (
    FEATURES,
    UnitSet,
    Vocabulary,
    alike_stems,
    english,
    overlap,
)
from litepyramid.language import SPACELESS, function_words, signed
from litepyramid.language import words as unicode_words
from litepyramid.progress import track
from litepyramid.sentences import sentence_spans
from litepyramid.types import FloatArray, IntArray
from litepyramid.wording import as_read, plain_text

FEATURE_VERSION = 3
"""Goes up whenever a feature, the words or the stems change: old weights are then
refused."""
RIDGE = 0.03
LEAST_NEGATION = 1.0
SHIPPED = Path(__file__).resolve().parents[2] / "embedded" / "lexical.json"
_CHUNK = 2_000
"""Items whose words share a vocabulary."""
_MOST_CELLS = 50_000_000
"""The most comparisons of words of one summary with its units."""
_CELLS_AT_ONCE = 4_000_000
"""Comparisons held in memory at once, about forty bytes each, unless one unit needs
more."""
_MOST_AT_ONCE = 25_000_000
_LETTERS = re.compile(r"[^\W_]+")
_WORD = re.compile(r"\w+(?:[.,'’]\w+)*")


@dataclass(frozen=True)
class RecallJudge:
    """presence(u, s) = |stems(u) & stems(s)| / |stems(u)| over distinct content words.

    Stems are Snowball English; function words are left out, unless the unit has nothing
    else. A unit without any word is 0. It measures overlap, not entailment; every other
    judge here is measured against it. Of other languages than English (`language`) it
    counts Unicode words, stemmed where Snowball has the language, or pairs of
    characters where there are no spaces.

    Example:
        >>> units = ["A dog slept.", "Cats!"]
        >>> batch = RecallJudge().judge([("The dog chased a cat.", units)])
        >>> batch.presence[0].tolist()
        [0.5, 1.0]
    """

    language: str = "en"
    start_cost: ClassVar[int] = 400_000

    def in_language(self, language: str) -> Self:
        """The judge of texts in this language."""
        return replace(self, language=language)

    def stems(self) -> Callable[[str], tuple[frozenset[str], frozenset[str]]]:
        """A function from a text to the stems of its content words, and of all."""
        split, stem, empty = self._tools()

        @cache
        def stems(text: str) -> tuple[frozenset[str], frozenset[str]]:
            words = split(text.lower())
            content = stem([word for word in words if word not in empty])
            return frozenset(content), frozenset(stem(words))

        return stems

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`."""
        stems = self.stems()
        items = as_read(items, numbers=self.language == "en")
        presence = []
        for summary, units in items:
            row = np.zeros(len(units))
            for n, unit in enumerate(units):
                content, every = stems(unit)
                # A unit of function words alone is looked for with all its words.
                stems_of_unit = content or every
                common = stems_of_unit & stems(summary)[0 if content else 1]
                if stems_of_unit:
                    row[n] = len(common) / len(stems_of_unit)
            presence.append(row)

        signature = {"judge": "recall", **signed(self.language)}
        pairs = sum(map(len, presence))
        return JudgedBatch(tuple(presence), signature, {"pairs": pairs})

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that holds most of a unit's words; see `Explainer`."""
        split, stem, empty = self._tools()

        def content(text: str) -> dict[str, str]:
            words = split(text)
            bearing = [word for word in words if word not in empty] or words
            return dict(zip(stem(bearing), bearing, strict=True))

        own = None if self.language == "en" else content
        return word_evidence(
            items,
            self.judge(items).presence,
            conflicts=False,
            content=own,
            numbers=own is None,
        )

    def _tools(
        self,
    ) -> tuple[Callable[[str], list[str]], Callable[[Any], Any], frozenset[str]]:
        """What splits a text into words, what stems them, and words without content."""
        import Stemmer  # type: ignore[import-not-found, unused-ignore]

        if self.language == "en":
            return (
                _LETTERS.findall,
                Stemmer.Stemmer("english").stemWords,
                english().function,
            )

        split = partial(unicode_words, bigrams=self.language in SPACELESS)
        name = {"nb": "norwegian"}.get(self.language, self.language)
        try:
            return split, Stemmer.Stemmer(name).stemWords, function_words(self.language)
        except KeyError:  # Snowball does not have the language
            return split, list, function_words(self.language)


def word_evidence(
    items: Items,
    presence: Sequence[FloatArray],
    *,
    conflicts: bool = True,
    content: Callable[[str], Mapping[Any, str]] | None = None,
    numbers: bool = True,
    best: Sequence[IntArray] | None = None,
) -> tuple[tuple[Evidence, ...], ...]:
    """The evidence of a judge that counts words: the sentence that holds most of a
    unit's stems.

    `content` gives the words of a text by their stems, those of English by default;
    `best` the sentence of each unit where a judge has chosen one, else -1; `numbers`
    says whether numbers have values (in English).
    """
    words = Vocabulary()
    content = content or partial(content_words, words=words)
    evidence = []

    for number, ((summary, units), values) in enumerate(
        zip(items, presence, strict=True)
    ):
        # Spans point into the text as it is; words are compared as judges read them.
        spans = sentence_spans(summary)
        sentences = [plain_text(summary[start:end]) for start, end in spans]
        contents = [content(sentence) for sentence in sentences]
        [(_, units)] = as_read([(summary, units)], numbers=numbers)
        rows = []

        for index, (unit, value) in enumerate(zip(units, values.tolist(), strict=True)):
            stems = content(unit)
            common = [len(stems.keys() & sentence.keys()) for sentence in contents]
            at = -1 if best is None or not spans else int(best[number][index])
            if at < 0 and any(common):
                at = int(np.argmax(common))
            partners = contents[at] if at >= 0 else {}
            pairs = []
            missing = []
            for stem, word in stems.items():
                if stem in partners:
                    pairs.append((word, partners[stem]))
                else:
                    missing.append(word)

            span = spans[at] if at >= 0 else (0, 0)
            conflict = ""
            if conflicts and span[1]:
                conflict = conflict_of(unit, sentences[at], words)
            rows.append(
                Evidence(value, at, span, tuple(pairs), tuple(missing), conflict)
            )

        evidence.append(tuple(rows))

    return tuple(evidence)


def content_words(text: str, words: Vocabulary) -> dict[int, str]:
    """The first word of each content stem; of every stem where there is no content."""
    first: dict[int, str] = {}
    for word in _WORD.findall(text):
        first.setdefault(words.number(word), word)
    bare = english().bare
    return {n: word for n, word in first.items() if word.lower() not in bare} or first


def conflict_of(unit: str, sentence: str, words: Vocabulary) -> str:
    """A word negated on one side only, or a number that is another one in the
    sentence."""
    contents = [content_words(text, words) for text in (unit, sentence)]
    sides = [words.encode(text) for text in (unit, sentence)]
    negated = [set(side.ids[side.negated].tolist()) for side in sides]
    plain = [set(side.ids[~side.negated].tolist()) for side in sides]
    # A word that a text both denies and says is denied by nobody.
    turned = (negated[0] & plain[1] - negated[1]) | (negated[1] & plain[0] - negated[0])
    denied = [word for stem, word in contents[0].items() if stem in turned]
    if denied:
        return f"denied ({denied[0]})"
    ours, theirs = (
        [word for stem, word in side.items() if word[0].isdigit() and stem not in other]
        for side, other in (contents, contents[::-1])
    )

    return f"number {ours[0]} ≠ {theirs[0]}" if ours and theirs else ""


@dataclass(frozen=True)
class Frequencies:
    """In how many of `texts` texts each stem stands; what is not listed stands in one.

    idf(stem) = ln((texts + 1) / (df + 1)) / ln(texts + 1), at least .001.
    """

    texts: int
    counts: Mapping[str, int] = field(repr=False)

    def idf(self, stems: Sequence[str]) -> FloatArray:
        """The weights of `stems`, (stems,)."""
        df = np.array([self.counts.get(stem, 1) for stem in stems], dtype=np.float64)
        high = float(np.log(self.texts + 1.0))
        idf = 1.0 - np.log(np.minimum(df, self.texts) + 1.0) / high
        return np.maximum(idf, 1e-3)


@dataclass(frozen=True)
class PresenceModel:
    """presence = 1 / (1 + exp(-(bias + sum_k weight_k feature_k))).

    `weights` are those of the features by name, `frequencies` what the features weigh
    words with, `about` what it was trained on: free text by key, kept in the file.
    """

    bias: float
    weights: Mapping[str, float]
    frequencies: Frequencies
    about: Mapping[str, Any] = field(default_factory=dict)
    feature_version: int = FEATURE_VERSION

    @property
    def revision(self) -> str:
        """Eight hexadecimal digits that name these weights and frequencies."""
        counts = sorted(self.frequencies.counts.items())
        fields = [
            FEATURE_VERSION,
            self.bias,
            self.weights,
            self.frequencies.texts,
            counts,
        ]
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:8]

    def presence(self, features: FloatArray) -> FloatArray:
        """The presence of each row of `features`, (pairs,); 0 where it is NaN."""
        with np.errstate(over="ignore"):
            # A sum for each row: a matrix product rounds by how many rows there are.
            logits = self.bias + (features * np.array([*self.weights.values()])).sum(
                axis=1
            )
            return np.asarray(np.nan_to_num(1.0 / (1.0 + np.exp(-logits))))


@dataclass(frozen=True)
class LexicalJudge:
    """Judges presence by the words that unit and summary share; no model, no download.

    A summary that turns a fact round with the same words is caught only if it does so
    with a negation or another number. A unit of function words alone is judged by
    these; without any word in the unit or the summary presence is 0, and the pair is
    counted as ``wordless``.
    """

    model: PresenceModel
    languages: ClassVar[tuple[str, ...]] = ("en",)
    start_cost: ClassVar[int] = 80_000
    """Pairs that take about as long as one more process takes to start."""

    def judge(self, items: Items) -> JudgedBatch:
        """Judges every unit of every item against the item's summary; see `Judge`."""
        rows = lexical_features(items, self.model.frequencies)
        return JudgedBatch(
            presence=tuple(self.model.presence(features) for features in rows),
            signature={"judge": "lexical", "revision": self.model.revision},
            counts={
                "pairs": sum(map(len, rows)),
                "wordless": sum(
                    int(np.isnan(features).any(axis=1).sum()) for features in rows
                ),
            },
        )

    def explain(self, items: Items) -> tuple[tuple[Evidence, ...], ...]:
        """The sentence that holds most of a unit's words, and what is denied; see
        `Explainer`."""
        return word_evidence(items, self.judge(items).presence)


def lexical_features(items: Items, frequencies: Frequencies) -> list[FloatArray]:
    """The features of every unit of every item against the item's summary."""
    items = as_read(items)
    chunks = (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
    rows = chain.from_iterable(_features(chunk, frequencies) for chunk in chunks)
    return list(track(rows, "comparing words", "summaries", len(items)))


def _features(items: Items, frequencies: Frequencies) -> Iterator[FloatArray]:
    """Each distinct text is stemmed once; an item's units are compared together."""
    words = Vocabulary()
    encoded = [
        (words.encode(text), tuple(units), [words.encode(unit) for unit in units])
        for text, units in items
    ]
    idf = np.append(frequencies.idf(words.stems), 1.0)
    alike = [*alike_stems(words.stems), (-1,)]
    ready = {}

    for summary, units, texts in encoded:
        if not units or not len(summary.ids):
            yield np.full((len(units), len(FEATURES)), np.nan)
            continue

        sizes = [sum(len(alike[stem]) for stem in unit.ids.tolist()) for unit in texts]
        longest = max(sizes)
        at_once = longest * max(longest, len(summary.ids))
        if sum(sizes) * len(summary.ids) > _MOST_CELLS or at_once > _MOST_AT_ONCE:
            words_of_units = sum(len(unit.ids) for unit in texts)
            raise InputError(
                f"a summary of {len(summary.ids)} words and units of {words_of_units} "
                "are too long for the lexical judge",
                hint="If these texts are intended, use the judge recall.",
            )

        blocks = []
        for group in _groups(sizes, len(summary.ids)):
            if units[group] not in ready:
                ready[units[group]] = UnitSet.of(texts[group], idf, alike)
            blocks.append(overlap(ready[units[group]], summary))
        rows = np.concatenate(blocks)
        # A unit without a word is compared by a word that no summary has.
        rows[[not len(unit.ids) for unit in texts]] = np.nan
        yield rows


def _groups(sizes: Sequence[int], summary: int) -> Iterator[slice]:
    """Runs of units, by their words, that are held at once against a summary of so many
    words: memory grows with these, times those of the summary, or times their own."""
    start = 0
    total = 0
    for number, size in enumerate(sizes):
        total += size
        if total * max(total, summary) > _CELLS_AT_ONCE and start < number:
            yield slice(start, number)
            start = number
            total = size

    yield slice(start, len(sizes))


def fit_lexical(
    items: Items,
    labels: Sequence[Sequence[float]],
    *,
    frequencies: Frequencies | None = None,
    ridge: float = RIDGE,
    about: Mapping[str, Any] | None = None,
) -> PresenceModel:
    """Fits the weights to presence labels from 0 to 1; see `fit_weights`.

    Each weight is held to the sign its feature must have, the negation's to -1 or less:
    few labelled summaries negate, and one that does must not score as if it did not.
    Document frequencies are the embedded model's by default.
    """
    present = np.array([label for row in labels for label in row], dtype=np.float64)
    if [len(units) for _, units in items] != [len(row) for row in labels]:
        raise InputError(
            "labels do not fit the items", expected="one label for each unit"
        )

    counts = load_lexical().frequencies if frequencies is None else frequencies
    rows = np.concatenate(
        [np.empty((0, len(FEATURES))), *lexical_features(items, counts)]
    )
    with_words = ~np.isnan(rows).any(axis=1)
    rows, present = rows[with_words], present[with_words]

    # The same pairs in another order give the same weights, to the bit.
    order = np.lexsort((*rows.T, present))
    rows, present = rows[order], present[order]

    inside = (present >= 0) & (present <= 1)
    if len(set(present.tolist())) < 2 or not inside.all():
        raise InputError(
            "the labels are all the same, or not from 0 to 1",
            expected="pairs labelled 0 and pairs labelled 1",
        )

    bounds = [
        (0.0, np.inf) if sign > 0 else (-np.inf, 0.0) for sign, _ in FEATURES.values()
    ]
    bounds[-1] = (-np.inf, -LEAST_NEGATION if rows[:, -1].any() else 0.0)
    bias, weights = fit_weights(rows, present, bounds, ridge)
    about = {
        **(about or {}),
        "pairs": len(present),
        "ridge": ridge,
    }
    return PresenceModel(
        bias, dict(zip(FEATURES, weights.tolist(), strict=True)), counts, about
    )


def fit_weights(
    features: FloatArray,
    present: FloatArray,
    bounds: Sequence[tuple[float, float]],
    ridge: float,
    counts: FloatArray | None = None,
) -> tuple[float, FloatArray]:
    """Bias and weights of a logistic model, each weight within its bounds.

    Minimises the mean log loss + ridge / 2 sum_k (sd_k weight_k)², of rows that count
    as often as `counts` says; the same input gives the same weights.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    share = np.ones(len(present)) if counts is None else counts
    share = share / share.sum()
    mean = share @ features
    spread = np.sqrt(share @ (features - mean) ** 2)
    spread = np.where(spread < 1e-9, 1.0, spread)
    rows = np.hstack([np.ones((len(features), 1)), (features - mean) / spread])
    penalty = np.array([0.0, *[ridge] * len(spread)])

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        logits = rows @ parameters
        value = share @ (np.logaddexp(0.0, logits) - present * logits)
        slope = (share * (expit(logits) - present)) @ rows + penalty * parameters
        return float(value + penalty @ parameters**2 / 2), slope

    limits = [
        (low * sd, high * sd) for (low, high), sd in zip(bounds, spread, strict=True)
    ]
    start = np.array([0.0, *(min(max(0.0, low), high) for low, high in limits)])
    fitted = minimize(
        loss,
        start,
        jac=True,
        bounds=[(None, None), *limits],
        method="L-BFGS-B",
        options={
            "ftol": 1e-14,
            "gtol": 1e-9,
            "maxiter": 1000,
        },
    )
    parameters = np.asarray(fitted.x)
    weights = parameters[1:] / spread

    return float(parameters[0] - weights @ mean), weights


def save_lexical(model: PresenceModel, path: str | Path) -> None:
    """Writes `model` as JSON, all or nothing; `load_lexical` reads it."""
    write_json(path, asdict(model))


def load_lexical(path: str | Path | None = None) -> PresenceModel:
    """Reads a model that `save_lexical` wrote, from a file or its folder; the embedded
    if None."""
    path, what = Path(path or SHIPPED), "a lexical model"
    path = path / "lexical.json" if file_type(path) == "folder" else path
    value = read_json(path, what, ModelError)
    model = as_type(
        PresenceModel,
        value,
        what=f"not {what}",
        path=path,
        error=ModelError,
    )

    if model.feature_version != FEATURE_VERSION:
        raise ModelError(
            f"{what} of feature version {model.feature_version}, not {FEATURE_VERSION}",
            path=path,
            hint="Fit it again with this version.",
        )

    if model.frequencies.texts < 1 or not model.weights.keys() >= FEATURES.keys():
        raise ModelError(f"{what} that counts no texts, or lacks weights", path=path)
    return replace(model, weights={name: model.weights[name] for name in FEATURES})


def is_lexical(name: str | Path) -> bool:
    """Whether a name leads to a saved lexical model: a JSON file, or a folder with
    one."""
    path = Path(name)
    path = path / "lexical.json" if file_type(path) == "folder" else path
    return path.suffix == ".json" and file_type(path) == "file"
