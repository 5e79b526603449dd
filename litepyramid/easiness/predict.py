"""From references to the easiness of their sentences: features, fitting, predicting."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from litepyramid.data.data import load, load_rated
from litepyramid.data.records import InputReferences, InputUnits, Units
from litepyramid.easiness.gold import (
    Easiness,
    by_sentence,
    gold_easiness,
    read_easiness,
)
from litepyramid.easiness.regressor import (
    PAPER,
    REFINED,
    EasinessRegressor,
    fit_trees,
    predict_trees,
)
from litepyramid.easiness.sentence_features import (
    CONSTITUENCY,
    CONSTITUENCY_NAMES,
    CONTEXT_NAMES,
    DEPENDENCY_NAMES,
    STU_NAMES,
    SUBJECT_NAMES,
    WITH_STUS,
    FeatureTable,
    constituency_features,
    context_features,
    dependency_features,
    stu_features,
    subject_features,
)
from litepyramid.errors import InputError, choose, no_effect
from litepyramid.files import ending, read_text
from litepyramid.identity import fingerprint
from litepyramid.language import check_language, signed
from litepyramid.stats import check_whole
from litepyramid.text import counted, place
from litepyramid.types import ColumnsLike, Signature, TextsLike, UnitsLike
from litepyramid.units.align import Sentence, align_all, references_sha, sentences_of
from litepyramid.units.extract import extract, references_language, tokenized
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parses import ParsedReference, parses_of, read_parses
from litepyramid.units.trees import Tree

FeatureSet = Literal["dependency+stus", "constituency"]
RegressorLike = EasinessRegressor | str | Path
"""A regressor, or its file."""
EasinessLike = Easiness | RegressorLike
"""The easiness of sentences or its file; or a regressor that predicts it."""
ParsesLike = str | Path | Iterable[ParsedReference]
"""Constituency trees, or the interchange file that holds them."""

_TREES_UNREAD = "on features of dependency trees"


def predict(
    references: TextsLike | None,
    *,
    regressor: RegressorLike | None = None,
    stus: UnitsLike | None = None,
    parses: ParsesLike | None = None,
    ids: TextsLike | None = None,
    columns: ColumnsLike | None = None,
    language: str | None = None,
) -> Easiness:
    """Predict how well STUs will stand in for the SCUs that people would write of each
    sentence.

    Args:
        references: Reference summaries: a file, or in Python lists, dicts and frames.
        regressor: A fitted regressor or its file; the embedded one by default (trained
            on invented highlights with STUs of the embedded extractor, its level from
            REALSumm).
        stus: The STUs that would be used; extracted as ``units extract`` does by
            default.
        parses: Constituency trees for a regressor on the paper's 69 features: an
            interchange file.
        ids: Ids of the inputs, where lines or rows do not name them.
        columns: Other names of columns, such as reference=target.
        language: Code such as de; told by the texts if not given.

    Returns:
        A value for every sentence; only their order matters for mixing.

    Raises:
        InputError: Trees or STUs are missing or do not fit the references.
        ModelError: The regressor cannot be read.

    Example:
        >>> easiness = predict(["<t> A cat sat on the mat . </t> <t> It rained . </t>"])
        >>> [0 < value < 1 for value in easiness.values.tolist()]
        [True, True]

    Command line:
        $ litepyramid easiness predict example/references.jsonl -o easiness.jsonl
    """
    data = load(references=references, stus=stus, ids=ids, columns=columns)
    model = _regressor(regressor)
    no_effect(predict, model.feature_set == WITH_STUS, _TREES_UNREAD, parses=parses)
    features = prepare(
        data.references,
        model.feature_set,
        stus=data.stus or None,
        parses=parses,
        language=language,
    )
    values = predict_trees(model, features)
    signature = Signature((("easiness", model.sha), *features.signature.fields))
    return Easiness(features.sentences, values, signature)


def fit(
    references: TextsLike,
    units: UnitsLike,
    *,
    stus: UnitsLike | None = None,
    features: FeatureSet | None = None,
    start: RegressorLike | None = None,
    rounds: int | None = None,
    parses: ParsesLike | None = None,
    seed: int = 12345,
    ids: TextsLike | None = None,
    columns: ColumnsLike | None = None,
    language: str | None = None,
) -> EasinessRegressor:
    """Train an easiness regressor on references with human SCUs, as the paper did (ZB21
    A.3).

    With fewer than 1,000 sentences it is better to continue from the embedded one
    (start).

    Args:
        references: Reference summaries: a file, or in Python lists, dicts and frames.
        units: Their SCUs.
        stus: Their STUs; extracted as ``units extract`` does by default.
        features: What is known of a sentence: dependency+stus (the default), or the
            paper's constituency, which needs parses.
        start: A regressor to continue from: its file, or embedded. It is centred on
            these sentences, then refined by a few rounds.
        rounds: Boosting rounds: 40 by default, 20 after a start, where 0 only centres.
        parses: Constituency trees: an interchange file.
        seed: Seed of what is drawn after a start.
        ids: Ids of the inputs, where lines or rows do not name them.
        columns: Other names of columns, such as reference=target.
        language: Code such as de; told by the texts if not given.

    Returns:
        The regressor, to save as JSON and to predict with.

    Raises:
        InputError: Fewer than two sentences have SCUs and STUs, or the inputs differ.

    Example:
        >>> texts = ["A cat sat. A dog ran.", "It rained. We left."]
        >>> scus = [["A cat sat", "A dog ran fast"], ["It rained", "They left"]]
        >>> fit(texts, scus, rounds=2).about["sentences"]
        '4'

    Command line:
        $ litepyramid easiness fit example/references.jsonl example/scus.jsonl \\
            -o easiness.json
        $ litepyramid easiness fit example/references.jsonl example/scus.jsonl \\
            --start embedded -o easiness.json
    """
    data = load_rated(references, units, stus, ids=ids, columns=columns)
    check_whole("seed", seed, 0)
    first = None
    settings = PAPER
    feature_set: str = features or WITH_STUS
    if start is not None:
        first = _regressor(None if start == "embedded" else start)
        settings = REFINED
        feature_set = first.feature_set
    no_effect(fit, feature_set == WITH_STUS, _TREES_UNREAD, parses=parses)
    no_effect(fit, start is not None, "beside a start", features=features)
    drawn = start is not None and rounds != 0
    no_effect(fit, not drawn, "where no round draws anything", seed=seed)
    if rounds is not None:
        check_whole("rounds", rounds, 0, 10_000)
        settings = replace(settings, rounds=rounds)
    table, gold = prepare_gold(
        data.references,
        data.units.of_kind("scu"),
        feature_set,
        stus=data.stus or None,
        parses=parses,
        language=language,
    )

    about = dict(table.signature.fields) | {"gold": gold.sha}
    about |= {"notes": " ".join(note for note in gold.notes if "left out" in note)}
    return fit_trees(
        table,
        gold.values,
        replace(settings, seed=seed),
        about,
        gold.scus,
        first,
    )


def _regressor(regressor: RegressorLike | None) -> EasinessRegressor:
    """A regressor as it is, from its file, or the embedded one."""
    if isinstance(regressor, str | Path):
        return EasinessRegressor.load(regressor)
    if not isinstance(regressor, EasinessRegressor | None):
        raise InputError(
            f"a regressor is a {type(regressor).__name__}",
            expected="an EasinessRegressor or its file",
        )
    return regressor or EasinessRegressor.embedded()


def sentence_easiness(
    references: Sequence[InputReferences],
    *,
    easiness: EasinessLike | None = None,
    stus: Iterable[InputUnits] | None = None,
    language: str | None = None,
) -> Easiness:
    """The easiness of every sentence of the references, to choose by and to say what to
    expect.

    From `easiness` (values or their file) if there is one, else predicted; `easiness`
    may also be a regressor, or its file.
    """
    given = opened_easiness(easiness)
    if isinstance(given, EasinessRegressor | None):
        return predict(
            references,
            regressor=given,
            stus=stus,
            language=language,
        )

    sentences = sentences_of(references)
    return Easiness(sentences, given.of(sentences), given.signature, given.notes)


def opened_easiness(
    easiness: EasinessLike | None,
) -> EasinessRegressor | Easiness | None:
    """Easiness, or a regressor, as it is or from its file."""
    if isinstance(easiness, EasinessRegressor | None):
        return easiness
    # Both are JSON: a regressor has XGBoost's "learner", easiness has rows.
    if (
        isinstance(easiness, str | Path)
        and ending(easiness) == ".json"
        and '"learner"' in read_text(easiness)
    ):
        return EasinessRegressor.load(easiness)
    return read_easiness(easiness)


def prepare_gold(
    references: Sequence[InputReferences],
    scus: Iterable[InputUnits],
    feature_set: str = WITH_STUS,
    *,
    stus: Iterable[InputUnits] | None = None,
    parses: ParsesLike | None = None,
    language: str | None = None,
) -> tuple[FeatureTable, Easiness]:
    """Features and gold easiness of the same sentences, for training and evaluation.

    Inputs whose references have no SCUs are left out and counted.
    """
    rated = {entry.input for entry in scus}
    every = len(references)
    references = [entry for entry in references if entry.input in rated]
    unrated = every - len(references)

    inputs = {entry.input for entry in references}
    if odd := sorted(rated - inputs):
        raise InputError(
            f"input '{odd[0]}' has SCUs but no references", hint="Are the ids the same?"
        )

    if stus is None:
        stus = extract(references, language=language).units

    features = prepare(
        references,
        feature_set,
        stus=stus,
        parses=parses,
        language=language,
    )
    stus = [entry for entry in stus if entry.input in inputs]
    gold = gold_easiness(scus, stus, features.sentences)
    if unrated:
        left_out = counted(unrated, "input has", "inputs have")
        gold = replace(gold, notes=(*gold.notes, f"{left_out} no SCUs, left out."))

    return features, gold


def prepare(
    references: Sequence[InputReferences],
    feature_set: str = WITH_STUS,
    *,
    stus: Iterable[InputUnits] | None = None,
    parses: ParsesLike | None = None,
    language: str | None = None,
) -> FeatureTable:
    """The features of every sentence of the references.

    ``dependency+stus`` (the embedded regressor's): counts from the dependency tree,
    what the sentence shares with the others of its reference, what its STUs leave of
    it, and whom they are about; ``constituency``: ZB21's 69, from `parses` (or a file).
    """
    choose("feature set", feature_set, (CONSTITUENCY, WITH_STUS))
    if not references:
        raise InputError("no references")
    about = {"features": feature_set, "references_sha": references_sha(references)}

    if feature_set == CONSTITUENCY:
        sentences, brackets = _bracketed(references, parses)
        about["trees_sha"] = fingerprint(sorted(brackets))
        return FeatureTable(
            feature_set,
            CONSTITUENCY_NAMES,
            constituency_features(brackets),
            sentences,
            Signature.of(**about),
        )

    language = references_language(references, language)
    check_language("regressor", language, "the easiness regressor")
    about |= signed(language)
    sentences = sentences_of(references)
    backend = EmbeddedBackend()
    tokens = [s.tokens for entry in tokenized(references) for s in entry.sentences]
    trees = list(map(Tree, backend.words(tokens)))
    about["parser"] = backend.name
    if stus is None:
        stus = extract(references, language=language).units
    inputs = {entry.input for entry in references}
    if missing := inputs - {entry.input for entry in stus}:
        raise InputError(f"input '{min(missing)}' has no STUs")
    machine = [entry for entry in stus if entry.input in inputs]
    about["stus_sha"] = Units.of(machine).sha
    units = by_sentence(align_all(machine, sentences))
    texts = [units.get(s.key, []) for s in sentences]
    groups = [(s.input, s.reference) for s in sentences]
    columns = (
        dependency_features(trees),
        context_features(trees, groups),
        stu_features(trees, texts),
        subject_features(trees, texts, groups),
    )

    names = (*DEPENDENCY_NAMES, *CONTEXT_NAMES, *STU_NAMES, *SUBJECT_NAMES)
    return FeatureTable(
        feature_set,
        names,
        np.hstack(columns),
        sentences,
        Signature.of(**about),
    )


def _bracketed(
    references: Sequence[InputReferences], parses: ParsesLike | None
) -> tuple[tuple[Sentence, ...], list[str]]:
    """The sentences of these references in the parses, and their trees."""
    if parses is None:
        raise InputError(
            "the 69 features of the paper need constituency trees",
            expected="parses: an interchange file with trees",
            hint="Stanza as parser writes them (units extract); the embedded regressor "
            "needs none. To mix or plan, give the file that `litepyramid easiness "
            "predict --parses` writes.",
        )

    path = parses if isinstance(parses, str | Path) else None
    parsed = read_parses(parses) if isinstance(parses, str | Path) else parses
    sentences = []
    trees = []

    for parse in parses_of(tokenized(references), parsed, path).references:
        for index, sentence in enumerate(parse.sentences):
            if sentence.tree is None:
                where = place(parse.input, parse.reference, index)
                raise InputError(
                    f"{where} has no tree",
                    expected="a bracketed tree for every sentence",
                )
            sentences.append(
                Sentence(parse.input, parse.reference, index, sentence.text)
            )
            trees.append(sentence.tree)

    return tuple(sentences), trees
