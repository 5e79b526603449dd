"""Whether two results may be compared: what differs in how they were made."""

from litepyramid._version import __version__
from litepyramid.identity import fingerprint
from litepyramid.types import Signature

_FREE = {
    "units",
    "units_sha",
    "inputs_sha",
    "summaries_sha",
    "labels_sha",
    "label_units_sha",
    "references_sha",
    "presence_sha",
    "recall_sha",
    "truncated",
    "missing",
    "samples",
    "confidence",
    "seed",
}
"""Fields of signatures in which results may differ: data are compared themselves."""


def differences(old: Signature, new: Signature) -> dict[str, str]:
    """What differs in how two results were made, by field, as text.

    A judge whose signature has no revision is code of litepyramid alone: of two
    versions it may be two judges.

    Example:
        >>> old = Signature((("judge", "recall"),), version="1.0")
        >>> differences(old, Signature((("judge", "recall"),), version="1.1"))
        {'version': 'version: 1.0 → 1.1'}
    """
    before = dict(old.fields)
    now = dict(new.fields)
    if _unversioned(before) or _unversioned(now):
        before["version"] = old.version
        now["version"] = new.version

    free = _FREE
    # Documents are data of each run, such as what was retrieved; references are not.
    if before.get("premise") == now.get("premise") == "documents":
        free = {*_FREE, "premises_sha"}

    changed = {}
    for key in {**before, **now}:
        if key not in free and before.get(key) != now.get(key):
            values = f"{before.get(key, 'none')} → {now.get(key, 'none')}"
            changed[key] = f"{key}: {values}"

    return changed


def made(signature: Signature) -> str:
    """What names how a result was made, whatever the data were."""
    return fingerprint([one for one in signature.fields if one[0] not in _FREE])


def _unversioned(fields: dict[str, str]) -> bool:
    """Whether some judge of a result has no revision; presence that was given has no
    judge."""
    for key, judge in fields.items():
        name, mark, number = key.partition("_")
        # Further judges of a panel are judge_2, judge_3 …
        of_panel = name == "judge" and number.isdecimal()
        judges = (key == "judge" or of_panel) and judge != "given"
        if judges and f"revision{mark}{number}" not in fields:
            return True

    return False


def versions_of(*signatures: Signature) -> dict[str, str]:
    """The field that names the versions which made results, where some other one than
    this did."""
    versions = sorted({one.version for one in signatures})
    if versions == [__version__]:
        return {}
    return {"scored_version": "+".join(versions)}
