"""Predicting easiness from a sentence's features with boosted trees (ZB21 §3.3, A.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from litepyramid.checked import number
from litepyramid.easiness.features import CONSTITUENCY, CONSTITUENCY_NAMES, FeatureTable
from litepyramid.easiness.model_file import SEAL, check_model, sealed
from litepyramid.errors import InputError, ModelError, reason
from litepyramid.files import atomic_write, read_bytes
from litepyramid.types import FloatArray, IntArray

if TYPE_CHECKING:
    import xgboost

_PREFIX = "litepyramid_"
_XGBOOST = {"forest": "num_parallel_tree", "colsample": "colsample_bytree", "reg_lambda": "lambda"}
"""What XGBoost calls a setting that has another name here."""
_OURS = frozenset({"rounds", "scu_prior"})


@dataclass(frozen=True, slots=True)
class Settings:
    """How the trees are grown; the defaults are the paper's (ZB21 A.3): squared error, 40 rounds.

    Attributes:
        objective: XGBoost's name of the loss.
        max_depth: Deepest a tree may grow.
        eta: Learning rate.
        rounds: Number of steps, each a tree (or as many as `forest` says).
        forest: Trees grown side by side at each step, each on its own draw of sentences and
            features; their mean is the step. 1 is plain boosting.
        min_child_weight: Fewest sentences in a leaf.
        subsample: Share of the sentences that each tree sees.
        colsample: Share of the features that each tree sees.
        reg_lambda: Penalty on squared leaf values.
        scu_prior: A sentence of n SCUs counts n / (n + this) in training: the mean of few SCUs is
            a noisy target. 0 counts all alike.
        seed: Seed of what is drawn; nothing is at the defaults.
    """

    objective: str = "reg:squarederror"
    max_depth: int = 3
    eta: float = 0.1
    rounds: int = 40
    forest: int = 1
    min_child_weight: float = 1.0
    subsample: float = 1.0
    colsample: float = 1.0
    reg_lambda: float = 1.0
    scu_prior: float = 0.0
    seed: int = 12345

    def check(self) -> None:
        """Raises InputError naming the first setting that is out of range."""
        share, least = "more than 0, at most 1", "1 or more"
        for name, legal, expected in (
            ("max_depth", self.max_depth >= 1, least),
            ("eta", 0 < self.eta <= 1, share),
            ("rounds", self.rounds >= 0, least),
            ("forest", self.forest >= 1, least),
            ("min_child_weight", self.min_child_weight >= 0, "0 or more"),
            ("subsample", 0 < self.subsample <= 1, share),
            ("colsample", 0 < self.colsample <= 1, share),
            ("reg_lambda", self.reg_lambda >= 0, "0 or more"),
            ("scu_prior", self.scu_prior >= 0, "0 or more"),
        ):
            if not legal:
                said = name.removeprefix("reg_").replace("scu", "SCU").replace("_", " ")
                raise InputError(f"{said} is {getattr(self, name)}", expected=expected)


PAPER = Settings()

REFINED = Settings(eta=0.05, rounds=20, forest=8, min_child_weight=5, subsample=0.6, colsample=0.4)
"""A few careful steps, for going on from a trained regressor on a hundred sentences or more."""

SHIPPED = Settings(
    max_depth=6,
    eta=0.05,
    rounds=300,
    forest=2,
    min_child_weight=50,
    subsample=0.6,
    colsample=0.4,
    reg_lambda=10,
    scu_prior=2,
)
"""The embedded regressor's: chosen by cross-validation on the highlights; REALSumm had no say."""

FEW = 1000
"""With fewer sentences than these, it is better to continue from a trained regressor."""


@dataclass(frozen=True)
class Regressor:
    """A trained regressor and what it was trained on.

    Attributes:
        booster: The XGBoost model.
        feature_set: Name of its features.
        names: Names of its features, in order.
        about: What else the file says: settings, data, number of sentences.
        offset: Added to what the trees say: one that was centred on new sentences has it.
    """

    booster: xgboost.Booster
    feature_set: str
    names: tuple[str, ...]
    about: Mapping[str, str] = field(default_factory=dict)
    offset: float = 0.0


def fit(
    features: FeatureTable,
    easiness: FloatArray,
    settings: Settings = PAPER,
    about: Mapping[str, str] | None = None,
    scus: IntArray | None = None,
    start: Regressor | None = None,
) -> Regressor:
    """Trains a regressor on gold easiness; sentences whose gold is NaN are left out.

    Args:
        features: One row per sentence.
        easiness: (sentences,) gold easiness.
        settings: How the trees are grown.
        about: Anything to keep in the file, for example ``{"data": "REALSumm"}``.
        scus: (sentences,) how many SCUs each gold value is the mean of; for `scu_prior` alone.
        start: A regressor to continue from. It is centred first: the mean of what it misses on
            these sentences is added to all it says (annotators differ in how closely they copy);
            the trees of `settings` are grown on what is then left. With 0 rounds, it is only
            centred.

    Raises:
        InputError: Fewer than two sentences have a gold value, the sizes differ, a setting is
            out of range, or there is an SCU prior and the numbers of SCUs are not known.
        ModelError: `start` was trained on other features.

    Example:
        >>> table = FeatureTable("mine", ("length",), np.arange(40.0)[:, None])
        >>> regressor = fit(table, np.repeat([0.2, 0.8], 20), Settings(rounds=60))
        >>> predict(regressor, table).round(1)[[0, 39]].tolist()
        [0.2, 0.8]
    """
    import xgboost

    settings.check()
    target = np.asarray(easiness, dtype=np.float64)
    if target.shape != (len(features.values),):
        raise InputError(
            f"{target.size} easiness values for {len(features.values)} sentences",
            expected="one for each",
        )
    keep = np.flatnonzero(~np.isnan(target))
    if keep.size < 2:
        raise InputError(
            f"{keep.size} sentences have a gold easiness",
            expected="at least 2",
            hint="A regressor learns from sentences that have SCUs and STUs.",
        )
    if not settings.rounds and start is None:
        raise InputError("rounds is 0", expected="1 or more, or a regressor to centre")
    weights = _weights(scus, target, settings)[keep]
    offset = 0.0
    if start is not None:
        missed = target[keep] - predict(start, features.rows(keep))
        offset = start.offset + float(missed.mean())
    data = xgboost.DMatrix(
        features.values[keep],
        label=target[keep] - offset,
        weight=weights,
        feature_names=list(features.names),
    )
    parameters: dict[str, Any] = {
        **{_XGBOOST.get(k, k): v for k, v in asdict(settings).items() if k not in _OURS},
        "nthread": 1,
        "tree_method": "exact",
        "verbosity": 0,
    }
    if start is None:  # continued training keeps the base score
        parameters["base_score"] = float(np.average(target[keep], weights=weights))
    booster = xgboost.train(
        parameters,
        data,
        num_boost_round=settings.rounds,
        xgb_model=None if start is None else start.booster.copy(),
    )
    said = {
        "sentences": str(keep.size),
        **{key.removeprefix("reg_"): str(value) for key, value in asdict(settings).items()},
        **(about or {}),
    }
    if start is not None:
        before = start.about.get("name") or start.about.get("references", "a regressor")
        said["start"] = f"{before} ({start.about.get('sentences', '?')} sentences)"
    return Regressor(booster, features.feature_set, features.names, said, offset)


def _weights(scus: IntArray | None, target: FloatArray, settings: Settings) -> FloatArray:
    """What each sentence counts: n / (n + prior), 1 on average over those with a gold value."""
    if not settings.scu_prior:
        return np.ones(target.shape)
    if scus is None or scus.shape != target.shape:
        raise InputError(
            "an SCU prior needs the number of SCUs of each sentence",
            expected="gold easiness from SCUs, or no prior",
        )
    weights = scus / (scus + settings.scu_prior)
    return np.asarray(weights / weights[~np.isnan(target)].mean(), dtype=np.float64)


def predict(regressor: Regressor, features: FeatureTable) -> FloatArray:
    """Predicted easiness of each sentence; the higher, the better STUs stand in for its SCUs.

    Returns:
        (sentences,) float64. Trees do not know the bounds of easiness: a value may lie a little
        outside [0, 1], and only the order matters for mixing.

    Raises:
        ModelError: The features are not those that the regressor was trained on.
    """
    import xgboost

    if features.feature_set != regressor.feature_set or features.names != regressor.names:
        pairs = enumerate(zip(features.names, regressor.names, strict=False), start=1)
        other = (f"; number {n} is '{one}', not '{own}'" for n, (one, own) in pairs if one != own)
        raise ModelError(
            f"the regressor was trained on other features ('{regressor.feature_set}', "
            f"{len(regressor.names)}) than these ('{features.feature_set}', "
            f"{len(features.names)}{next(other, '')})",
            hint="Compute the features it was trained on, or train one on these.",
        )
    if not len(features.values):
        return np.zeros(0)
    data = xgboost.DMatrix(features.values, feature_names=list(features.names), nthread=1)
    return np.asarray(regressor.booster.predict(data), dtype=np.float64) + regressor.offset


def save_regressor(regressor: Regressor, path: str | Path) -> None:
    """Saves as XGBoost's UBJ, or JSON by the file's ending, with feature names and set inside.

    Raises:
        InputError: The ending is neither .ubj nor .json, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix not in (".ubj", ".json"):
        raise InputError(
            f"a regressor cannot be saved as '{path.name}'", expected="a name in .ubj or .json"
        )
    booster = regressor.booster.copy()
    booster.feature_names = list(regressor.names)
    booster.set_attr(
        **{f"{_PREFIX}feature_set": regressor.feature_set, f"{_PREFIX}offset": regressor.offset},
        **{f"{_PREFIX}about_{key}": value for key, value in regressor.about.items() if value},
        **{SEAL: "0" * 64},
    )
    with atomic_write(path, binary=True) as file:
        file.write(sealed(bytes(booster.save_raw(raw_format=path.suffix[1:]))))


def load_regressor(path: str | Path) -> Regressor:
    """Loads a regressor saved by `save_regressor`, or one of the authors' files as released.

    The authors' files (XGBoost 1.4, 69 features without names) are read in today's form; XGBoost
    itself will soon not read them any more. No pickle is ever loaded, and XGBoost sees no file that
    `model_file.check_model` has not found whole.

    Raises:
        ModelError: The file is not an XGBoost model in JSON or UBJ, is damaged, names no
            features, or its objective is not regression.
        InputError: The file is missing or cannot be read.
    """
    import xgboost

    path = Path(path)
    data = read_bytes(path)
    try:
        booster = xgboost.Booster({"nthread": 1}, model_file=bytearray(check_model(data, path)))
    except (xgboost.core.XGBoostError, ValueError, TypeError) as error:
        why = re.sub(r"^\[[\d:]+\] \S+: ", "", reason(error))
        raise ModelError(f"is not an XGBoost model ({why})", path=path) from None
    said = booster.attributes()
    names = booster.feature_names
    feature_set = said.get(f"{_PREFIX}feature_set")
    if names is None and feature_set is None and booster.num_features() == 69:
        names, feature_set = list(CONSTITUENCY_NAMES), CONSTITUENCY
    if names is None or feature_set is None:
        raise ModelError(
            f"does not say what its {booster.num_features()} features are",
            path=path,
            expected="a regressor made by 'litepyramid easiness fit', or one of the paper's 69",
        )
    prefix = f"{_PREFIX}about_"
    about = {k.removeprefix(prefix): str(v) for k, v in said.items() if k.startswith(prefix)}
    offset = number(said.get(f"{_PREFIX}offset") or 0)
    if offset is None:
        raise ModelError("has an offset that is not a number", path=path)
    return Regressor(booster, feature_set, tuple(names), about, offset)
