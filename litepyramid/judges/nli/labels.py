"""The meaning of a classifier's outputs: from the names that models use, or from the user."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.errors import InputError, ModelError
from litepyramid.types import FloatArray

THREE = ("entailment", "neutral", "contradiction")
TWO = ("present", "absent")

#: Names seen in `config.id2label` of public models, lower-cased, letters only.
_NAMES = {
    name: meaning
    for meaning, names in {
        "entailment": "entailment entail entails entailed",
        "neutral": "neutral",
        "contradiction": "contradiction contradict contradicts contradicted contradictory",
        "present": "present presence",
        "absent": "absent notpresent notentailment nonentailment notentailed notentail",
    }.items()
    for name in names.split()
}


@dataclass(frozen=True, slots=True)
class ClassOrder:
    """Where each class stands in a model's output.

    Attributes:
        classes: ``entailment, neutral, contradiction`` or ``present, absent``.
        indices: Per class its index among the model's outputs.
    """

    classes: tuple[str, ...]
    indices: tuple[int, ...]

    @property
    def two(self) -> bool:
        """Whether the model knows present and absent alone."""
        return len(self.classes) == 2

    def logits(self, raw: ArrayLike) -> FloatArray:
        """The model's raw output as logits in the order entailment, neutral, contradiction.

        Example:
            >>> ClassOrder(THREE, (2, 1, 0)).logits([[0.1, 0.2, 0.7]]).tolist()
            [[0.7, 0.2, 0.1]]
            >>> ClassOrder(TWO, (1, 0)).logits([[0.3, 0.7]]).tolist()
            [[0.7, 0.3, 0.0]]
        """
        raw = np.asarray(raw, dtype=np.float64)
        if raw.shape[1] <= max(self.indices):
            raise ModelError(
                f"the model has {raw.shape[1]} outputs", expected=f"{max(self.indices) + 1} or more"
            )
        chosen = raw[:, list(self.indices)]
        if self.two:
            chosen = np.concatenate([chosen, np.zeros((len(chosen), 1))], axis=1)
        return chosen


def class_order(
    id2label: Mapping[int, str],
    label_map: Mapping[str, str] | None = None,
    *,
    fallback: tuple[str, ...] | None = None,
    model: str = "the model",
) -> ClassOrder:
    """The class order of a model, from its own labels.

    Example:
        >>> class_order({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}).indices
        (2, 1, 0)
    """
    labels = {int(index): str(label) for index, label in id2label.items()}
    if label_map is not None:
        return _mapped(labels, label_map)
    names = {
        index: _NAMES.get(re.sub("[^a-z]", "", label.lower())) for index, label in labels.items()
    }
    if len(names) == 2 and "absent" in names.values():
        names = {i: "present" if name == "entailment" else name for i, name in names.items()}
    for classes in (THREE, TWO):
        if sorted(map(str, names.values())) == sorted(classes):
            where = {name: index for index, name in names.items()}
            return ClassOrder(classes, tuple(where[name] for name in classes))
    generic = all(re.fullmatch(r"(?i)label_\d+", label) for label in labels.values())
    if fallback is not None and generic and len(labels) == len(fallback):
        classes = THREE if len(fallback) == 3 else TWO
        return ClassOrder(classes, tuple(fallback.index(name) for name in classes))
    raise ModelError(
        f"{model} has the labels {_shown(labels)}",
        expected="entailment, neutral and contradiction, or present and absent",
        hint="If it is an NLI model, give the order: "
        "--label-map entailment=0,neutral=1,contradiction=2 (or present=1,absent=0).",
    )


def parse_label_map(text: str) -> dict[str, str]:
    """``entailment=0,neutral=1,contradiction=2`` as a mapping.

    Example:
        >>> parse_label_map("present=1,absent=0")
        {'present': '1', 'absent': '0'}
    """
    expected = "entailment=0,neutral=1,contradiction=2 or present=1,absent=0"
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or not value.strip() or name.strip().lower() in found:
            raise InputError(f"the label map '{text}' cannot be read", expected=expected)
        found[name.strip().lower()] = value.strip()
    if set(found) not in (set(THREE), set(TWO)):
        raise InputError(f"the label map '{text}' names other classes", expected=expected)
    return found


def _mapped(labels: dict[int, str], label_map: Mapping[str, str]) -> ClassOrder:
    classes = THREE if set(label_map) == set(THREE) else TWO
    by_name = {label.lower(): index for index, label in labels.items()}
    indices = []
    for name in classes:
        value = str(label_map.get(name, "")).strip()
        index = int(value) if value.isdecimal() else by_name.get(value.lower())
        if index not in labels:
            raise InputError(
                f"the label map gives '{value}' for {name}",
                expected=f"an index or a name among {_shown(labels)}",
            )
        indices.append(index)
    if len(set(indices)) < len(indices):
        raise InputError("the label map gives one label to two classes")
    return ClassOrder(classes, tuple(indices))


def _shown(labels: Mapping[int, str]) -> str:
    return ", ".join(f"{index}={label}" for index, label in sorted(labels.items()))
