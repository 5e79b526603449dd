"""Agreement of two judges on the same pairs, from the files that `score` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from litepyramid.annotation.agreement import krippendorff_alpha
from litepyramid.checked import check_shape
from litepyramid.errors import InputError
from litepyramid.files import read_json
from litepyramid.tables import Column, Result, Table
from litepyramid.text import counted
from litepyramid.types import Signature

_SCORES = {
    "scores": [{"system": str, "input": str, "presence": [(float, None)]}],
    "units": [{"input": str, "units": [{"text": str}]}],
    "signature": {str: str},
}

Pair = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class SystemAgreement:
    """Two judges on the summaries of one system; fields as of `JudgeAgreement`."""

    system: str
    pairs: int
    first: float
    second: float
    kappa: float


@dataclass(frozen=True, slots=True)
class DifferentPair:
    """A pair with what the two judges say of it."""

    system: str
    input: str
    unit: str
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class JudgeAgreement(Result):
    """How far two judges agree on the presence of the same units in the same summaries.

    A presence of .5 or more is a yes. A judge that was shown the units, or wrote them, can be too
    generous on all systems alike: then its mean is the higher one, and kappa low.

    Attributes:
        judges: Their names.
        pairs: Those that both judged.
        left_out: Pairs that only one of them judged.
        first: The first judge's mean presence.
        second: The second judge's.
        agreement: Share of pairs on which both say yes or both say no.
        kappa: Cohen's kappa of these; NaN where both always say the same one thing.
        alpha: Krippendorff's alpha of these, nominal; NaN likewise.
        pearson: Correlation of presence; NaN if one is constant.
        systems: The same a system.
        different: The pairs that they differ on most.
        signature: Of both judges.
    """

    judges: tuple[str, str]
    pairs: int
    left_out: int
    first: float
    second: float
    agreement: float
    kappa: float
    alpha: float
    pearson: float
    systems: tuple[SystemAgreement, ...]
    different: tuple[DifferentPair, ...]
    signature: Signature

    def to_tables(self) -> Sequence[Table]:
        """One row per system; then the pairs."""
        means = (Column("first", self.judges[0]), Column("second", self.judges[1]))
        rest = counted(self.left_out, "pair that only one of them judged is", "pairs that only "
                       "one of them judged are")  # fmt: skip
        every = SystemAgreement("all", self.pairs, self.first, self.second, self.kappa)
        return [
            Table.of(
                f"Two judges on {counted(self.pairs, 'pair')}: mean presence, and agreement",
                ("system", "pairs", *means, "kappa"),
                (*self.systems, every),
                (
                    f"Same answer {self.agreement:.3f}, kappa {self.kappa:.3f}, alpha "
                    f"{self.alpha:.3f}, Pearson {self.pearson:.3f}.",
                    *([f"{rest} left out."] if self.left_out else []),
                    str(self.signature),
                ),
            ),
            Table.of("Largest differences", ("system", "input", "unit", *means), self.different),
        ]


def cohen_kappa(first: ArrayLike, second: ArrayLike) -> float:
    """Cohen's kappa (1960) of two raters' answers: (p_o − p_e) / (1 − p_e).

    p_o is the share of items with the same answer, p_e that share if each rater kept the own
    shares of answers and gave them at random.

    Args:
        first: (n,) answers, each distinct value a category.
        second: (n,) answers of the other.

    Returns:
        At most 1, 0 is chance; NaN if p_e is 1 or there is no item.

    Example:
        >>> cohen_kappa([1, 1, 0, 0], [1, 1, 0, 1])
        0.5
    """
    one, two = np.asarray(first), np.asarray(second)
    if not one.size:
        return float("nan")
    chance = sum(float((one == c).mean() * (two == c).mean()) for c in np.unique([one, two]))
    return float("nan") if chance == 1 else float(((one == two).mean() - chance) / (1 - chance))


def judges_agree(first: str | Path, second: str | Path, *, show: int = 10) -> JudgeAgreement:
    """Compares two files that ``score --format json`` wrote of the same systems and units.

    Args:
        first: One judge's file.
        second: The other's.
        show: How many of the pairs that they differ on to give.

    Raises:
        InputError: A file is none of `score`, or they have no pair in common.
    """
    (names, one), (others, two) = _presence(first), _presence(second)
    shared = [pair for pair in one if pair in two]
    if not shared:
        raise InputError(
            "no pair that both judges judged", expected="the same systems, inputs and units"
        )
    a, b = (np.array([known[pair] for pair in shared]) for known in (one, two))
    by_system: dict[str, list[int]] = {}
    for index, pair in enumerate(shared):
        by_system.setdefault(pair[0], []).append(index)
    yes = np.stack([a, b]) >= 0.5
    varied = a.std() > 0 and b.std() > 0
    largest = np.argsort(-np.abs(a - b), kind="stable")[:show]
    signature = {f"{key}_{n}": value for n, own in ((1, names), (2, others))
                 for key, value in own.items() if key in _OF_A_JUDGE}  # fmt: skip
    return JudgeAgreement(
        judges=(_name(names, others, first), _name(others, names, second)),
        pairs=len(shared),
        left_out=len(one) + len(two) - 2 * len(shared),
        first=float(a.mean()),
        second=float(b.mean()),
        agreement=float((yes[0] == yes[1]).mean()),
        kappa=cohen_kappa(*yes),
        alpha=krippendorff_alpha(yes),
        pearson=float(np.corrcoef(a, b)[0, 1]) if varied else float("nan"),
        systems=tuple(
            SystemAgreement(
                system, len(i), float(a[i].mean()), float(b[i].mean()), cohen_kappa(*yes[:, i])
            )
            for system, i in by_system.items()
        ),
        different=tuple(
            DifferentPair(system, name, unit, float(a[i]), float(b[i]))
            for i in largest.tolist()
            for system, name, unit in [shared[i]]
            if a[i] != b[i]
        ),
        signature=Signature.of(**signature),
    )


_OF_A_JUDGE = ("judge", "revision", "mode", "prompt", "max_length", "units_sha")


def _name(own: Mapping[str, str], other: Mapping[str, str], path: str | Path) -> str:
    return own["judge"] if own.get("judge") not in (None, other.get("judge")) else Path(path).stem


def _presence(path: str | Path) -> tuple[dict[str, str], dict[Pair, float]]:
    """A file's signature and the presence of every pair that was judged."""
    expected = "what `litepyramid score --format json` writes"
    loaded: Any = read_json(path, expected)
    check_shape(loaded, _SCORES, what="is not a result of score", path=path)
    units = {entry["input"]: [unit["text"] for unit in entry["units"]] for entry in loaded["units"]}
    found: dict[Pair, float] = {}
    for row in loaded["scores"]:
        texts = units.get(row["input"], [])
        if len(texts) != len(row["presence"]):
            raise InputError(
                f"{len(row['presence'])} values for {counted(len(texts), 'unit')} of input "
                f"'{row['input']}'",
                path=path,
                expected=expected,
            )
        pairs = zip(texts, row["presence"], strict=True)
        found |= {(row["system"], row["input"], t): v for t, v in pairs if v is not None}
    return loaded["signature"], found
