"""From references to the features of their sentences, by the name of a feature set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litepyramid.easiness.dependency import context_features, dependency_features
from litepyramid.easiness.features import (
    CONSTITUENCY,
    DEPENDENCY,
    FeatureTable,
    constituency_features,
)
from litepyramid.easiness.gaps import gap_features
from litepyramid.easiness.gold import by_sentence, gold_easiness
from litepyramid.easiness.scores import Easiness
from litepyramid.easiness.stu_features import stu_features
from litepyramid.easiness.subjects import subject_features
from litepyramid.errors import InputError
from litepyramid.io.coerce import as_references, as_units
from litepyramid.text import place
from litepyramid.types import InputReferences, InputUnits, Signature
from litepyramid.units.align import Sentence, align_all, sentences_of
from litepyramid.units.extract import extract
from litepyramid.units.parsers.embedded.pipeline import EmbeddedBackend
from litepyramid.units.parsers.embedded.tree import Tree
from litepyramid.units.parses import ParsedReference, read_parses
from litepyramid.units.sentences import make_splitter, tokenized

WITH_STUS = "dependency+stus"
FEATURE_SETS = (CONSTITUENCY, DEPENDENCY, WITH_STUS)


@dataclass(frozen=True)
class Prepared:
    """Sentences with their features.

    Attributes:
        sentences: n sentences of the references.
        features: One row per sentence.
        stus: The STUs of every input; empty if the features need none and none were given.
        signature: Which parser and which STUs the features come from.
    """

    sentences: tuple[Sentence, ...]
    features: FeatureTable
    stus: tuple[InputUnits, ...]
    signature: Signature


def prepare(
    references: Sequence[InputReferences],
    feature_set: str = WITH_STUS,
    *,
    stus: Sequence[InputUnits] | None = None,
    parses: Sequence[ParsedReference] | None = None,
) -> Prepared:
    """The features of every sentence of the references.

    - ``"dependency+stus"`` (the embedded regressor's): counts from the dependency tree of the
      embedded parser, what the sentence shares with the others of its reference, what its STUs
      leave of it and what they do not say, and whom sentence and STUs are about;
    - ``"dependency"``: the counts from the dependency tree alone;
    - ``"constituency"``: ZB21's 69, from trees that another program wrote into an interchange
      file, since no constituency parser ships.

    Args:
        references: The references of every input.
        feature_set: One of these names.
        stus: The STUs of the inputs; extracted by the embedded extractor if not given.
        parses: References parsed by another program (`units.parses.read_parses`), with trees.

    Raises:
        InputError: An unknown feature set; trees or STUs that are missing or do not fit.
        ModelError: The embedded parser cannot be read.
    """
    if feature_set not in FEATURE_SETS:
        raise InputError(f"unknown feature set '{feature_set}'", expected=", ".join(FEATURE_SETS))
    if not references:
        raise InputError("no references")
    if feature_set == CONSTITUENCY:
        sentences, brackets = _bracketed(references, parses)
        features = constituency_features(brackets)
        return Prepared(sentences, features, tuple(stus or ()), Signature.of(features=feature_set))
    sentences, trees, parser = _parsed(references)
    if feature_set == DEPENDENCY:
        signature = Signature.of(features=feature_set, parser=parser)
        return Prepared(sentences, dependency_features(trees), tuple(stus or ()), signature)
    source = "given"
    if stus is None:
        found = extract(references)
        stus, source = found.units, dict(found.signature.fields).get("srl", "embedded")
    wanted, known = ({entry.input: None for entry in given} for given in (references, stus))
    for name in wanted:
        if name not in known:
            raise InputError(f"input '{name}' has no STUs")
    kept = [entry for entry in stus if entry.input in wanted]
    units = by_sentence(align_all(kept, sentences))
    own = [units.get(s.key, []) for s in sentences]
    groups = [(s.input, s.reference) for s in sentences]
    features = FeatureTable.joined(
        feature_set,
        dependency_features(trees),
        context_features(trees, groups),
        stu_features(trees, own),
        subject_features(trees, own, groups),
        gap_features(trees, own),
    )
    signature = Signature.of(features=feature_set, parser=parser, stus=source)
    return Prepared(sentences, features, tuple(kept), signature)


def _bracketed(
    references: Sequence[InputReferences], parses: Sequence[ParsedReference] | None
) -> tuple[tuple[Sentence, ...], list[str]]:
    """The sentences of these references in the parses, and their trees."""
    if parses is None:
        raise InputError(
            "the 69 features of the paper need constituency trees",
            expected="--parses FILE, an interchange file with trees",
            hint="scripts/allennlp_parse.py and --srl stanza write one; or use the embedded "
            "regressor, which needs none.",
        )
    wanted = {entry.input for entry in references}
    sentences, trees = [], []
    for parse in parses:
        for index, sentence in enumerate(parse.sentences if parse.input in wanted else ()):
            if sentence.tree is None:
                raise InputError(
                    f"{place(parse.input, parse.reference, index)} has no tree",
                    expected="a bracketed tree for every sentence",
                )
            sentences.append(Sentence(parse.input, parse.reference, index, sentence.text))
            trees.append(sentence.tree)
    if missing := wanted - {s.input for s in sentences}:
        raise InputError(f"input '{min(missing)}' has no parse", hint="Parse its reference too.")
    return tuple(sentences), trees


def _parsed(
    references: Sequence[InputReferences],
) -> tuple[tuple[Sentence, ...], list[Tree], str]:
    """The sentences of the references, their dependency trees, and the parser's name."""
    sentences = sentences_of(references)
    tokens = [s.tokens for r in tokenized(references, make_splitter("rules")) for s in r.sentences]
    if len(tokens) != len(sentences):
        raise InputError("the references hold a sentence without a word", hint="Remove it.")
    backend = EmbeddedBackend()
    return sentences, list(map(Tree, backend.words(tokens))), backend.name


def prepare_gold(
    references: Any,
    scus: Any,
    feature_set: str = WITH_STUS,
    *,
    stus: Any = None,
    parses: Any = None,
    **names: Any,
) -> tuple[Prepared, Easiness]:
    """Features and gold easiness of the same sentences, for training and evaluation.

    Args:
        references: The references of every input (`io.coerce.as_references`).
        scus: Their SCUs.
        feature_set: As in `prepare`.
        stus: Their STUs; extracted by the embedded extractor if not given.
        parses: As in `prepare`, or their file.
        **names: `ids` and `columns` of all files.

    Raises:
        InputError: As `prepare`; and if SCUs and references are not of the same inputs.
    """
    texts = as_references(references, **names)
    human = as_units(scus, kind="scu", only=isinstance(scus, str | Path), **names)
    wanted = [entry.input for entry in texts]
    if {entry.input for entry in human} != set(wanted):
        odd = sorted({entry.input for entry in human} ^ set(wanted))[0]
        lacks = "SCUs but no references" if odd not in wanted else "references but no SCUs"
        raise InputError(f"input '{odd}' has {lacks}", hint="Are the ids the same?")
    machine = loaded_stus(stus, **names)
    if machine is None:
        machine = extract(texts).units
    prepared = prepare(texts, feature_set, stus=machine, parses=loaded_parses(parses))
    kept = [entry for entry in machine if entry.input in set(wanted)]
    return prepared, gold_easiness(human, kept, prepared.sentences)


def loaded_stus(stus: Any, **names: Any) -> Sequence[InputUnits] | None:
    """STUs from whatever holds them, in a file STUs alone; None if they are not given."""
    only = isinstance(stus, str | Path)
    return None if stus is None else as_units(stus, kind="stu", only=only, **names)


def loaded_parses(parses: Any) -> Sequence[ParsedReference] | None:
    """Parsed references, from their interchange file too."""
    return read_parses(parses) if isinstance(parses, str | Path) else parses
