"""Predicting easiness from a sentence's features with boosted trees (ZB21 §3.3, A.3).

A model is XGBoost's own JSON. XGBoost trusts every index in such a file: one that is
damaged makes it crash, hang or read foreign memory. So a file is checked here before
XGBoost sees it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from litepyramid.checked import parse_json
from litepyramid.easiness.gold import Easiness
from litepyramid.easiness.sentence_features import (
    CONSTITUENCY,
    CONSTITUENCY_NAMES,
    FeatureTable,
)
from litepyramid.errors import InputError, ModelError, reason
from litepyramid.files import read_bytes
from litepyramid.progress import track
from litepyramid.stats import ordered_sum
from litepyramid.tables import HIDDEN, Column, Result, Table
from litepyramid.types import Fields, FloatArray, IntArray, Names, Signature

if TYPE_CHECKING:
    import xgboost

EMBEDDED = Path(__file__).resolve().parents[1] / "embedded" / "easiness.json.gz"
_PREFIX = "litepyramid_"
_LARGEST = 100_000_000
_XGBOOST = {
    "forest": "num_parallel_tree",
    "colsample": "colsample_bytree",
    "reg_lambda": "lambda",
}
"""What XGBoost calls a setting that has another name here."""
_OURS = frozenset({"rounds", "scu_prior"})


@dataclass(frozen=True)
class TreeSettings:
    """How the trees are grown; the defaults are the paper's (ZB21 A.3): squared error,
    40 rounds.

    Attributes:
        rounds: Number of steps, each a tree (or as many as `forest` says, whose mean is
            the step).
        scu_prior: A sentence of n SCUs counts n / (n + this) in training: the mean of
            few SCUs is a noisy target. 0 counts all alike.
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


PAPER = TreeSettings()

REFINED = TreeSettings(
    eta=0.05,
    rounds=20,
    forest=8,
    min_child_weight=5,
    subsample=0.6,
    colsample=0.4,
)
"""A few careful steps, for going on from a trained regressor on a hundred sentences or
more."""


@dataclass(frozen=True)
class EasinessRegressor(Result):
    """A trained regressor and what it was trained on; it is saved as JSON alone.

    Attributes:
        names: Names of its features, in order.
        about: What else the file says: settings, data, number of sentences.
        offset: Added to what the trees predict; not 0 if it was centred on new
            sentences.
    """

    booster: xgboost.Booster = field(metadata=HIDDEN)
    feature_set: str
    names: Names
    about: Mapping[str, str] = field(default_factory=dict)
    offset: float = 0.0

    @classmethod
    def endings(cls) -> Names:
        """The ending of the one form that can be read again."""
        return (".json",)

    @staticmethod
    @cache
    def embedded() -> EasinessRegressor:
        """The one that ships."""
        return EasinessRegressor.load(EMBEDDED)

    @staticmethod
    def load(path: str | Path) -> EasinessRegressor:
        """Loads a saved regressor, or one of the authors' files (XGBoost 1.4, 69
        features)."""
        import xgboost

        model = checked_model(read_bytes(path), path)
        try:
            data = bytearray(json.dumps(model).encode())
            booster = xgboost.Booster({"nthread": 1}, model_file=data)
            attributes = booster.attributes()
            names = booster.feature_names
            offset = float(attributes.get(f"{_PREFIX}offset") or 0)
            _need(np.isfinite(offset), "the offset")
        except (xgboost.core.XGBoostError, ValueError, TypeError) as error:
            why = re.sub(r"^\[[\d:]+\] \S+: ", "", reason(error))
            raise ModelError(f"is not an XGBoost model ({why})", path=path) from None

        feature_set = attributes.get(f"{_PREFIX}feature_set")
        if names is None and feature_set is None and booster.num_features() == 69:
            names = list(CONSTITUENCY_NAMES)
            feature_set = CONSTITUENCY

        if names is None or feature_set is None:
            raise ModelError(
                f"does not say what its {booster.num_features()} features are",
                path=path,
                expected="a regressor made by 'litepyramid easiness fit', or one of "
                "the paper's 69",
            )

        prefix = f"{_PREFIX}about_"
        about = {
            k.removeprefix(prefix): str(v)
            for k, v in attributes.items()
            if k.startswith(prefix)
        }
        return EasinessRegressor(
            booster,
            feature_set,
            tuple(names),
            about,
            offset,
        )

    @cached_property
    def sha(self) -> str:
        """A hash of the trees and what is added to them, which names it in
        signatures."""
        model = json.loads(bytes(self.booster.save_raw(raw_format="json")))["learner"]
        parts = [
            model["gradient_booster"],
            model["learner_model_param"],
            self.names,
            self.offset,
        ]
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]

    @property
    def signature(self) -> Signature:
        """What it is and was trained on."""
        return Signature.of(
            **{
                "easiness": self.sha,
                "features": self.feature_set,
                **self.about,
            }
        )

    def to_tables(self) -> Sequence[Table]:
        """What it was trained on, and how."""
        rows = [
            ("features", self.feature_set),
            ("number of features", str(len(self.names))),
        ]
        rows += [(key.replace("_", " "), value) for key, value in self.about.items()]
        return [
            Table(
                "Easiness regressor", (Column("what"), Column("value", "")), tuple(rows)
            )
        ]

    def json_parts(self) -> Iterator[str]:
        """XGBoost's JSON, with feature names and what it is about."""
        booster = self.booster.copy()
        booster.feature_names = list(self.names)
        booster.set_attr(
            **{
                f"{_PREFIX}feature_set": self.feature_set,
                f"{_PREFIX}offset": self.offset,
            },
            **{
                f"{_PREFIX}about_{key}": value
                for key, value in self.about.items()
                if value
            },
        )
        model = json.loads(bytes(booster.save_raw(raw_format="json")))
        yield json.dumps(model, separators=(",", ":"))


def fit_trees(
    features: FeatureTable,
    easiness: FloatArray,
    settings: TreeSettings = PAPER,
    about: Mapping[str, str] | None = None,
    scus: IntArray | None = None,
    start: EasinessRegressor | None = None,
) -> EasinessRegressor:
    """Trains a regressor on gold easiness; sentences whose gold is NaN are left out.

    `scus`, (sentences,), says how many SCUs each gold value is the mean of (for
    `scu_prior` alone). A `start` is centred first: the mean of what it misses on these
    sentences is added to all it predicts (annotators differ in how closely they copy).
    The trees of `settings` are grown on what is then left; with 0 rounds, it is only
    centred.
    """
    import xgboost

    if start is None and settings.rounds == 0:
        raise InputError("rounds is 0", expected="1 or more, or a regressor to centre")
    # What is drawn is drawn from the sentences in their order, not in that of files.
    order = np.array(sorted(range(easiness.size), key=features.key), dtype=int)
    scored = order[~np.isnan(easiness[order])]
    if scored.size < 2:
        raise InputError(
            f"{scored.size} sentences have SCUs, and so a gold easiness",
            expected="at least 2",
        )

    weights = np.ones(scored.size)
    if settings.scu_prior and scus is not None:
        weights = (scus / (scus + settings.scu_prior))[scored]
        weights /= weights.mean()

    offset = 0.0
    if start is not None:
        missed = easiness - predict_trees(start, features)
        offset = start.offset + ordered_sum(missed[scored]) / scored.size

    target = easiness[scored]
    data = xgboost.DMatrix(
        features.values[scored],
        target - offset,
        weight=weights,
        feature_names=list(features.names),
    )
    parameters = {
        _XGBOOST.get(k, k): v for k, v in asdict(settings).items() if k not in _OURS
    }
    parameters |= {
        "nthread": 1,
        "tree_method": "exact",
        "verbosity": 0,
    }
    if start is None:  # continued training keeps the base score
        parameters["base_score"] = float(np.average(target, weights=weights))
    grown_on = None if start is None else start.booster.copy()
    booster = xgboost.train(parameters, data, settings.rounds, xgb_model=grown_on)
    grown = {
        key.removeprefix("reg_"): str(value) for key, value in asdict(settings).items()
    }
    facts = {
        "sentences": str(scored.size),
        **grown,
        **(about or {}),
    }

    if start is not None:
        before = start.about.get("name", "a regressor")
        facts["start"] = f"{before} ({start.about.get('sentences', '?')} sentences)"

    return EasinessRegressor(
        booster,
        features.feature_set,
        features.names,
        facts,
        offset,
    )


def predict_trees(regressor: EasinessRegressor, features: FeatureTable) -> FloatArray:
    """Predicted easiness of each sentence, (sentences,); it may lie a little outside
    [0, 1]."""
    import xgboost

    if (
        features.feature_set != regressor.feature_set
        or features.names != regressor.names
    ):
        raise ModelError(
            f"the regressor was trained on other features ('{regressor.feature_set}')",
            expected=f"'{features.feature_set}', {len(features.names)} of them",
        )

    if not len(features.values):
        return np.zeros(0)
    data = xgboost.DMatrix(
        features.values, feature_names=list(features.names), nthread=1
    )
    return np.asarray(regressor.booster.predict(data), dtype=float) + regressor.offset


def cross_fit(
    features: FeatureTable,
    gold: Easiness,
    folds: Mapping[str, int],
    settings: TreeSettings = PAPER,
    start: EasinessRegressor | None = None,
) -> Easiness:
    """Predicts each sentence by a regressor trained on the sentences of the other
    folds' inputs."""
    fold_of = np.array([folds[s.input] for s in gold.sentences], dtype=int)
    numbers = np.unique(fold_of).tolist()
    predicted = np.full(fold_of.size, np.nan)

    for fold in track(numbers, "cross-fitting", "folds"):
        here = fold_of == fold
        others = np.where(here, np.nan, gold.values)
        regressor = fit_trees(
            features,
            others,
            settings,
            scus=gold.scus,
            start=start,
        )
        predicted[here] = predict_trees(regressor, features)[here]

    signature = Signature.of(
        easiness="cross-fitted",
        features=features.feature_set,
        folds=len(numbers),
        start=None if start is None else start.sha,
        settings=",".join(f"{k}={v}" for k, v in asdict(settings).items()),
        gold_sha=gold.sha,
    )
    return Easiness(gold.sentences, predicted, signature, gold.notes)


def checked_model(data: bytes, path: str | Path) -> Fields:
    """The model of boosted trees for regression that a file holds, after every
    check."""
    expected = "a regressor in XGBoost's JSON (not .ubj: fit it again)"
    # UBJSON, XGBoost's binary form, begins with a brace as well, and a length.
    if data.lstrip()[:1] != b"{" or data[:2] == b"{L" or len(data) > _LARGEST:
        raise ModelError("is not an XGBoost model", path=path, expected=expected)
    try:
        model: Fields = parse_json(data.decode(), path=path, error=ModelError)
        if tuple(model["version"][:2]) < (2, 0):
            model = _modernised(model)
        _check(model)
    except (
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        OverflowError,
        AttributeError,
    ) as error:
        why = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ModelError(
            f"is not an XGBoost model, or a damaged one ({why})",
            path=path,
            expected=expected,
        ) from None

    return model


def _modernised(model: Fields) -> Fields:
    """A model of XGBoost 1 in the form of XGBoost 2: 0/1 for flags, one tree a
    round."""
    learner = deepcopy(model["learner"])
    trees = learner["gradient_booster"]["model"]
    count = len(trees["trees"])
    for tree in trees["trees"]:
        tree["default_left"] = [int(flag) for flag in tree["default_left"]]
    trees["gbtree_model_param"] = {"num_trees": str(count), "num_parallel_tree": "1"}
    trees["iteration_indptr"] = list(range(count + 1))
    learner["learner_model_param"] |= {"boost_from_average": "1", "num_target": "1"}
    return {"version": [2, 0, 0], "learner": learner}


def _check(model: Fields) -> None:
    """Raises ValueError unless a model is a regression by trees that can be followed to
    a leaf."""
    learner = model["learner"]
    booster = learner["gradient_booster"]
    parameters = learner["learner_model_param"]
    forest = booster["model"]
    trees = forest["trees"]
    counts = forest["gbtree_model_param"]
    features = int(parameters["num_feature"])
    names = learner.get("feature_names") or []
    objective = learner["objective"]["name"]
    attributes = learner.get("attributes", {})
    texts = [*names, *attributes, *attributes.values()]
    rounds = _numbers(forest["iteration_indptr"], "iu")
    _need(booster["name"] == "gbtree", f"booster '{booster['name']}'")
    _need(
        objective.startswith("reg:"), f"objective '{objective}', not one of regression"
    )
    _need(int(parameters.get("num_class", 0)) <= 1, "several classes")
    _need(int(parameters.get("num_target", 1)) == 1, "several targets")
    _need(np.isfinite(float(parameters["base_score"].strip("[]"))), "the base score")
    _need(0 < features == len(names or range(features)), f"{len(names)} names")
    _need(all(text and "\0" not in text for text in texts), "an empty name")
    _need("c" not in (learner.get("feature_types") or []), "categories")
    _need(not any(map(len, (forest.get("cats") or {}).values())), "categories")
    _need(int(counts["num_trees"]) == len(trees), "another number of trees")
    _need(int(counts["num_parallel_tree"]) > 0, "no parallel trees")
    _need(
        rounds[0] == 0 and rounds[-1] == len(trees) and (np.diff(rounds) >= 0).all(),
        "rounds",
    )

    _need(not _numbers(forest["tree_info"], "iu", len(trees)).any(), "tree groups")
    for n, tree in enumerate(trees):
        _need(tree["id"] == n, f"tree {n} is numbered {tree['id']}")
        try:
            _check_tree(tree, features)
        except ValueError as error:
            raise ValueError(f"tree {n}: {error}") from None


def _check_tree(tree: Fields, features: int) -> None:
    counts = {key: int(value) for key, value in tree["tree_param"].items()}
    size = counts["num_nodes"]
    _need(size > 0 and counts["num_feature"] == features, "other features")
    _need(counts.get("size_leaf_vector", 1) in (0, 1), "leaves of several values")
    _need(not counts.get("num_deleted"), "deleted nodes")

    for name in (
        "categories",
        "categories_nodes",
        "categories_segments",
        "categories_sizes",
    ):
        _need(not len(tree[name]), "categories")

    _need(not _numbers(tree["split_type"], "iu", size).any(), "categories")
    for name in ("base_weights", "loss_changes", "split_conditions", "sum_hessian"):
        _need(
            np.isfinite(_numbers(tree[name], "iuf", size)).all(), f"{name} not finite"
        )

    nodes = (
        "default_left",
        "left_children",
        "right_children",
        "parents",
        "split_indices",
    )
    flags, left, right, parents, split = (
        _numbers(tree[name], "iu", size) for name in nodes
    )
    _need(((flags == 0) | (flags == 1)).all(), "flags")
    inner = np.flatnonzero(left != -1)
    ones = left[inner]
    others = right[inner]
    leaves = np.delete(right, inner)
    # Every child stands after its one parent, so no way down is endless.
    _need(
        (ones > inner).all() and (others > inner).all() and (leaves == -1).all(),
        "children",
    )

    children = np.concatenate([ones, others])
    _need((np.sort(children) == np.arange(1, size)).all(), "children")
    _need((parents[children] == np.concatenate([inner, inner])).all(), "parents")
    _need(
        ((split[inner] >= 0) & (split[inner] < features)).all(), "split on no feature"
    )


def _numbers(value: Any, kinds: str, size: int | None = None) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    _need(
        array.dtype.kind in kinds or array.size == 0,
        "an array of something else than numbers",
    )
    _need(
        array.ndim == 1 and size in (None, array.size),
        f"an array that is not {size} long",
    )
    return array


def _need(right: Any, problem: str) -> None:
    if not right:
        raise ValueError(problem)
