"""XGBoost model files, checked before XGBoost sees them: it trusts every index in them.

A file cut short, or with a wrong number in a tree, makes XGBoost crash, hang or read foreign
memory. So files are read here first, each tree is checked to be one, and the seal (a hash) of files
saved here is compared.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.checked import DEEPEST, parse_json
from litepyramid.errors import ModelError

SEAL = "litepyramid_sha256"
_SEAL = re.compile(SEAL.encode() + rb"(?:SL\0{7}@|\": ?\")(.{64})", re.DOTALL)
_BLANK = b"0" * 64
_OLDEST = (2, 0)
_KINDS = {"i": "i1", "U": "u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
_NUMBERS = {kind.encode(): np.dtype(name) for kind, name in _KINDS.items()}
_WORDS = {b"T": True, b"F": False, b"Z": None}
_FLOATS = ("base_weights", "loss_changes", "split_conditions", "sum_hessian")
_NODES = ("default_left", "left_children", "right_children", "parents", "split_indices")
_EMPTY = ("categories", "categories_nodes", "categories_segments", "categories_sizes")


def check_model(data: bytes, path: str | Path) -> bytes:
    """The file of a boosted-tree regression in JSON or UBJ, after every check, in today's form.

    Files of XGBoost 1 (JSON) are brought to the form of XGBoost 2; all others stay as they are.

    Raises:
        ModelError: It is not such a model, it is damaged, or it changed since it was saved here.
    """
    if data.lstrip()[:1] != b"{":
        raise ModelError(
            "is not an XGBoost model", path=path, expected="a file in JSON or UBJ, not a pickle"
        )
    checked = data
    try:
        if data.lstrip()[:2] in (b'{"', b"{\n", b"{ ", b"{\r"):
            model = parse_json(data.decode(), path=path, error=ModelError)
            if tuple(model["version"][:2]) < _OLDEST:
                checked = json.dumps(model := modernise(model)).encode()
            _check(model)
        else:
            _check(read_ubj(data))
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        said = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ModelError(f"is not an XGBoost model, or a damaged one ({said})", path=path) from None
    if (seal := _SEAL.search(data)) and seal[1] != _digest(data):
        raise ModelError("has changed since it was saved", path=path, hint="Is the file complete?")
    return checked


def sealed(data: bytes) -> bytes:
    """The file with its SHA-256 in the attribute `SEAL`, which must hold 64 zeros."""
    digest = _digest(data)
    return _SEAL.sub(lambda m: m[0][:-64] + digest, data, count=1)


def _digest(data: bytes) -> bytes:
    """SHA-256 of the file with zeros for the seal."""
    return sha256(_SEAL.sub(lambda m: m[0][:-64] + _BLANK, data, count=1)).hexdigest().encode()


def read_ubj(data: bytes) -> Any:
    """The value of a UBJSON file as XGBoost writes it: typed arrays as numpy arrays.

    Raises:
        ValueError: It is none.

    Example:
        >>> read_ubj(b"{L" + bytes(7) + b"\\x01ai\\x07}")
        {'a': 7}
    """
    place = 0

    def take(size: int) -> bytes:
        nonlocal place
        if not 0 <= size <= len(data) - place:
            raise ValueError(f"it ends too early, at byte {len(data)}")
        place += size
        return data[place - size : place]

    def number(kind: bytes) -> Any:
        return np.frombuffer(take(_NUMBERS[kind].itemsize), _NUMBERS[kind])[0].item()

    def text() -> str:
        return take(number(take(1))).decode()

    def value(depth: int) -> Any:
        kind = take(1)
        if kind in _NUMBERS:
            return number(kind)
        if kind in _WORDS:
            return _WORDS[kind]
        if kind == b"S":
            return text()
        if kind not in (b"{", b"[") or depth > DEEPEST:
            raise ValueError(f"{kind!r} at byte {place - 1}")
        if kind == b"{":
            found: dict[str, Any] = {}
            while data[place : place + 1] != b"}":
                key = text()
                if key in found:
                    raise ValueError(f"'{key}' occurs twice")
                found[key] = value(depth + 1)
            take(1)
            return found
        counted = take(1)
        of = take(1) if counted == b"$" else b""
        if of:
            counted = take(1)
        if counted != b"#":
            raise ValueError(f"an array without its size at byte {place - 1}")
        size = number(take(1))
        if of:
            return np.frombuffer(take(size * _NUMBERS[of].itemsize), _NUMBERS[of])
        return [value(depth + 1) for _ in range(size)]

    model = value(0)
    if place != len(data):
        raise ValueError(f"it continues after its end, at byte {place}")
    return model


def modernise(model: dict[str, Any]) -> dict[str, Any]:
    """A boosted-tree model of XGBoost 1.0 to 1.7, in the form that XGBoost 2 and 3 write.

    The trees stay as they are: 0/1 for the flags, one tree a round made explicit, the version set.

    Raises:
        KeyError: The model is none of boosted trees.
    """
    model = deepcopy(model)
    learner = model["learner"]
    booster = learner["gradient_booster"]["model"]
    count = len(booster["trees"])
    for tree in booster["trees"]:
        tree["default_left"] = [int(flag) for flag in tree["default_left"]]
    booster["gbtree_model_param"] = {"num_trees": str(count), "num_parallel_tree": "1"}
    booster["iteration_indptr"] = list(range(count + 1))
    learner["learner_model_param"] |= {"boost_from_average": "1", "num_target": "1"}
    return {"version": [2, 0, 0], "learner": learner}


def _check(model: dict[str, Any]) -> None:
    """Raises ValueError unless a model is a regression by trees that can be followed to a leaf."""
    learner = model["learner"]
    booster = learner["gradient_booster"]
    forest, parameters = booster["model"], learner["learner_model_param"]
    trees, features = forest["trees"], int(parameters["num_feature"])
    names = learner.get("feature_names") or []
    _need(booster["name"] == "gbtree", f"booster '{booster['name']}'")
    objective = learner["objective"]["name"]
    _need(objective.startswith("reg:"), f"objective '{objective}', not one of regression")
    _need(int(parameters.get("num_class", 0)) <= 1, "several classes")
    _need(int(parameters.get("num_target", 1)) == 1, "several targets")
    base = float(parameters["base_score"].strip("[]"))
    _need(np.isfinite(base), f"a base score of {base}")
    _need(0 < features == len(names or range(features)), f"{len(names)} names, {features} features")
    texts = [*names, *(text for pair in learner.get("attributes", {}).items() for text in pair)]
    _need(all(text and "\0" not in text for text in texts), "an empty name")
    _need(not any(t == "c" for t in learner.get("feature_types") or []), "categories")
    _need(not any(map(len, (forest.get("cats") or {}).values())), "categories")
    _need(int(forest["gbtree_model_param"]["num_trees"]) == len(trees), "another number of trees")
    _need(int(forest["gbtree_model_param"]["num_parallel_tree"]) > 0, "no parallel trees")
    rounds = _numbers(forest["iteration_indptr"], "iu")
    _need(rounds[0] == 0 and rounds[-1] == len(trees) and (np.diff(rounds) >= 0).all(), "rounds")
    groups = _numbers(forest["tree_info"], "iu", len(trees))
    _need(not groups.any(), "tree groups")
    for number, tree in enumerate(trees):
        _need(tree["id"] == number, f"tree {number} is numbered {tree['id']}")
        try:
            _check_tree(tree, features)
        except ValueError as error:
            raise ValueError(f"tree {number}: {error}") from None


def _check_tree(tree: dict[str, Any], features: int) -> None:
    said = {key: int(value) for key, value in tree["tree_param"].items()}
    size = said["num_nodes"]
    _need(size > 0 and said["num_feature"] == features, "other features")
    _need(said.get("size_leaf_vector", 1) <= 1 and not said.get("num_deleted"), "odd parameters")
    for name in _EMPTY:
        _need(not len(tree[name]), "categories")
    _need(not _numbers(tree["split_type"], "iu", size).any(), "categories")
    for name in _FLOATS:
        _need(np.isfinite(_numbers(tree[name], "iuf", size)).all(), f"{name} not finite")
    flags, left, right, parents, split = (_numbers(tree[name], "iu", size) for name in _NODES)
    _need(((flags == 0) | (flags == 1)).all(), "flags")
    inner = np.flatnonzero(left != -1)
    ones, others = left[inner], right[inner]
    leaves = np.delete(right, inner)
    # Every child stands after its one parent, so no way down is endless.
    _need((ones > inner).all() and (others > inner).all() and (leaves == -1).all(), "children")
    children = np.concatenate([ones, others])
    _need((np.sort(children) == np.arange(1, size)).all(), "children")
    _need((parents[children] == np.concatenate([inner, inner])).all(), "parents")
    _need(((split[inner] >= 0) & (split[inner] < features)).all(), "split on no feature")


def _numbers(value: Any, kinds: str, size: int | None = None) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    _need(array.dtype.kind in kinds or array.size == 0, "an array of something else than numbers")
    _need(array.ndim == 1 and size in (None, array.size), f"an array that is not {size} long")
    return array


def _need(right: Any, what: str) -> None:
    if not right:
        raise ValueError(what)
