"""Units: extracted, and mixed with human ones by predicted easiness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litepyramid.errors import InputError
from litepyramid.io.coerce import as_names, as_references, as_units

if TYPE_CHECKING:
    from litepyramid.easiness.mix import By, Mix
    from litepyramid.easiness.regressor import Regressor
    from litepyramid.easiness.scores import Easiness
    from litepyramid.units.extract import Extraction


def extract_units(
    references: Any,
    *,
    srl: Any = "embedded",
    coref: Any = "srl",
    splitter: str = "rules",
    footnote: bool = False,
    ids: Any = None,
    columns: Any = None,
) -> Extraction:
    """The STUs of every input (ZB21 §3.2); see `units.extract.extract` for the arguments.

    Example:
        >>> extract_units(["The dog chased a cat."], srl="sentences").units[0].texts
        ('The dog chased a cat .',)
    """
    from litepyramid.units.extract import extract

    given = as_references(references, **as_names(ids, columns))
    return extract(given, srl=srl, coref=coref, splitter=splitter, footnote=footnote)


@dataclass(frozen=True, slots=True)
class EasinessRegressor:
    """Predicts how well STUs can stand in for the SCUs of each sentence (ZB21 §3.3).

    Attributes:
        trees: The trained trees.

    Example:
        >>> text = "A cat sat on the mat. It rained."
        >>> EasinessRegressor.embedded().predict([text]).values.size
        2
    """

    trees: Regressor

    @classmethod
    def embedded(cls) -> EasinessRegressor:
        """The one that ships."""
        from litepyramid.easiness.predict import EMBEDDED

        return cls.load(EMBEDDED)

    @classmethod
    def load(cls, path: str | Path) -> EasinessRegressor:
        """Loads a saved regressor.

        Raises:
            ModelError: The file is not a regressor, or damaged.
        """
        from litepyramid.easiness.regressor import load_regressor

        return cls(load_regressor(path))

    @classmethod
    def fit(
        cls,
        references: Any,
        units: Any,
        stus: Any = None,
        *,
        start: EasinessRegressor | None = None,
        seed: int = 12345,
        **settings: Any,
    ) -> EasinessRegressor:
        """Trains a regressor on the gold easiness of sentences with human SCUs.

        Args:
            references: The references.
            units: Their SCUs.
            stus: Their STUs; extracted if not given.
            start: A regressor to continue from, in a few small steps; better with fewer than 1,000
                sentences.
            seed: Seed of the sampling.
            **settings: Fields of `easiness.regressor.Settings`, instead of the paper's.

        Raises:
            InputError: Fewer than two sentences have SCUs and STUs, or the inputs differ.
        """
        from litepyramid.easiness.prepare import WITH_STUS, prepare_gold
        from litepyramid.easiness.regressor import PAPER, REFINED, fit

        features = WITH_STUS if start is None else start.trees.feature_set
        prepared, gold = prepare_gold(references, units, features, stus=stus)
        chosen = replace(PAPER if start is None else REFINED, **settings, seed=seed)
        about = dict(prepared.signature.fields)
        trees = fit(
            prepared.features, gold.values, chosen, about, gold.scus, start.trees if start else None
        )
        return cls(trees)

    def predict(
        self, references: Any, stus: Any = None, *, ids: Any = None, columns: Any = None
    ) -> Easiness:
        """The easiness of every sentence of the references.

        Args:
            references: The references.
            stus: The STUs that would be used; extracted if not given.
            ids: Ids of the inputs, where rows are matched by order.
            columns: Own column names, by known column.
        """
        from litepyramid.easiness.predict import predict_easiness

        names = as_names(ids, columns)
        return predict_easiness(references, regressor=self.trees, stus=stus, **names)

    def save(self, path: str | Path) -> None:
        """Writes it as UBJ or JSON, by the file's extension."""
        from litepyramid.easiness.regressor import save_regressor

        save_regressor(self.trees, path)


def mix(
    units: Any,
    stus: Any = None,
    easiness: Any = None,
    *,
    references: Any = None,
    stu_share: float | None = None,
    stu_sentences: int | None = None,
    scu_sentences: int | None = None,
    by: By = "easiness",
    regressor: Any = None,
    parses: Any = None,
    seed: int = 12345,
    ids: Any = None,
    columns: Any = None,
) -> Mix:
    """Replaces SCUs by STUs in the easiest sentences, not in the others (Lite2.x, ZB21 §3.3).

    Args:
        units: The SCUs.
        stus: The STUs of the same inputs; extracted from `references` if not given.
        easiness: Easiness of every sentence: `EasinessRegressor.predict`'s, or a file; predicted
            from `references` if not given.
        references: The references of the same inputs.
        stu_share: Share of the sentences that carry STUs; half of them if no number is given; or
        stu_sentences: the number of those that do; or
        scu_sentences: of those that keep SCUs.
        by: How they are chosen: ``easiness``, ``reversed``, ``gold`` or ``random``.
        regressor: An `EasinessRegressor` or its file, for the prediction; embedded by default.
        parses: Constituency trees, for a regressor on the paper's features.
        seed: Seed of the random choice.
        ids: Ids of the inputs, where rows are matched by order.
        columns: Own column names, by known column.

    Raises:
        InputError: The inputs differ, the share is invalid, or an input is left without a unit.
    """
    from litepyramid.easiness import mix as mixing
    from litepyramid.easiness.files import read_sources, sentence_count, sentence_easiness
    from litepyramid.easiness.scores import read_easiness
    from litepyramid.units.align import sentences_of

    if stu_share is None and stu_sentences is None and scu_sentences is None:
        stu_share = 0.5
    size: Any = {
        "stu_share": stu_share,
        "stu_sentences": stu_sentences,
        "scu_sentences": scu_sentences,
    }
    sentence_count(10**9, **size)  # whether it is one, before the references are parsed
    names = as_names(ids, columns)
    values = None
    if references is None:
        if stus is None or easiness is None:
            raise InputError("no STUs or no easiness", expected="both, or references")
        values = read_easiness(easiness)
        human = as_units(units, kind="scu", only=True, **names)
        machine = as_units(stus, kind="stu", only=True, **names)
        sentences = values.sentences
    else:
        human, texts, machine = read_sources(units, references, stus, **names)
        sentences = sentences_of(texts)
    wanted = {entry.input for entry in human}
    count = sentence_count(sum(s.input in wanted for s in sentences), **size)
    if by not in ("easiness", "reversed"):
        values = None
    elif references is not None:
        values = sentence_easiness(
            [entry for entry in texts if entry.input in wanted],
            easiness=easiness,
            stus=machine,
            regressor=regressor_of(regressor),
            parses=parses,
        )
    return mixing.mix(human, machine, sentences, count, by=by, easiness=values, seed=seed)


def regressor_of(regressor: Any) -> Any:
    """What `EasinessRegressor` holds; a file as a path."""
    if isinstance(regressor, EasinessRegressor):
        return regressor.trees
    return Path(regressor) if isinstance(regressor, str) else regressor
