"""Units: extracted, and mixed with human ones by predicted easiness."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

        prepared, gold = prepare_gold(
            as_references(references),
            as_units(units),
            WITH_STUS if start is None else start.trees.feature_set,
            stus=None if stus is None else as_units(stus, kind="stu", only=True),
        )
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
        return predict_easiness(
            as_references(references, **names),
            regressor=self.trees,
            stus=None if stus is None else as_units(stus, kind="stu", only=True, **names),
        )

    def save(self, path: str | Path) -> None:
        """Writes it as UBJ or JSON, by the file's extension."""
        from litepyramid.easiness.regressor import save_regressor

        save_regressor(self.trees, path)


def mix(
    units: Any,
    stus: Any,
    easiness: Any,
    *,
    stu_share: float = 0.5,
    by: By = "easiness",
    seed: int = 12345,
) -> Mix:
    """Replaces SCUs by STUs in the easiest sentences, not in the others (Lite2.x, ZB21 §3.3).

    Args:
        units: The SCUs.
        stus: The STUs of the same inputs.
        easiness: Easiness of every sentence: `EasinessRegressor.predict`'s, or a file.
        stu_share: Share of the sentences that carry STUs.
        by: How they are chosen: ``easiness``, ``reversed``, ``gold`` or ``random``.
        seed: Seed of the random choice.

    Raises:
        InputError: The inputs differ, the share is invalid, or an input is left without a unit.
    """
    from litepyramid.easiness import mix as mixing

    values = easiness_of(easiness)
    return mixing.mix(
        as_units(units, kind="scu"),
        as_units(stus, kind="stu", only=True),
        values.sentences,
        mixing.stu_count(stu_share, len(values.sentences)),
        by=by,
        easiness=None if by == "gold" else values,
        seed=seed,
    )


def easiness_of(easiness: Any) -> Easiness:
    """Values as they are, or those of a file."""
    from litepyramid.easiness.scores import read_easiness

    found: Easiness = read_easiness(easiness) if isinstance(easiness, str | Path) else easiness
    return found


def regressor_of(regressor: Any) -> Any:
    """What `EasinessRegressor` holds; a file as a path."""
    if isinstance(regressor, EasinessRegressor):
        return regressor.trees
    return Path(regressor) if isinstance(regressor, str) else regressor
