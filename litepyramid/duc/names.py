"""The input, system and annotator of a pyramid file, from its NIST name.

========================================  =======================  ======  =========
file                                      input                    system  annotator
========================================  =======================  ======  =========
``D0701-AGHI.pyr``, ``d0701a.pyr``        D0701: the document set
``D0701.M.250.A.07.pan``                  D0701                    7
``114.D0631.M.250.F.10.pan`` (DUC 2005-6) D0631                    10      114
``D0801-A.pyr``, ``D0801-A.M.100.B.15``   D0801-A: set and part    15
``rain.mine.pan``, ``rain.pyr``           rain                     mine
========================================  =======================  ======  =========

The letters of NIST's assessor and of the references' summarizers do not count, nor do case and
leading zeros; the part (A, B, C: initial and update summaries) does.
"""

import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import regex

from litepyramid.errors import InputError
from litepyramid.files import ending, read_bytes, stem

PATIENCE = 1.0
_SET = r"(?P<set>D\d{3,5})[A-Z]?(?:-(?P<part>[ABC])(?![A-Z]))?"
_NIST = re.compile(rf"{_SET}(?:[-_.].*)?", re.IGNORECASE)
_PEER = re.compile(
    rf"(?:(?P<annotator>[^.]+)\.)?{_SET}(?:[-_][A-Z]+)?\.M\.\d+\.[A-Z]\.(?P<peer>\d+|[A-Z])"
    r"(?:\..*)?",
    re.IGNORECASE,
)
_ANY = r"^(?P<input>[^.]+)(?:\..*)?\.(?P<system>[^.]+)$"
_XML = (b"<?xml", b"<pyramid", b"<peerAnnotation", b"<annotation")


class PeerName(NamedTuple):
    """The parts of a peer annotation's name."""

    input: str
    system: str
    annotator: str = ""


def pyramid_input(path: Path, names: str | None = None, inputs: Collection[str] = ()) -> str:
    """The input of a ``.pyr`` file.

    `names` is a regular expression with a group ``input``, searched in the name without ``.pyr``; a
    name in which it is not found is read as NIST's. One of `inputs` (those of other files) that
    the name begins with is it, letters and all.
    """
    name = _stem(path)
    before = name.split(".")[0]
    if names and (group := _groups(names, name, path).get("input")):
        return group
    match = None if before in inputs else _NIST.fullmatch(name)
    return _joined(match) if match else before


def peer_name(path: Path, names: str | None = None) -> PeerName:
    """The input, system and annotator of a peer annotation.

    `names` is a regular expression with the groups ``input`` and ``system``, perhaps
    ``annotator``, taken as they are. By default NIST's names, else what is before the first dot
    and what is after the last one.
    """
    match = _PEER.fullmatch(_stem(path)) if names is None else None
    if match is not None:
        return PeerName(_joined(match), _number(match["peer"]), match["annotator"] or "")
    groups = _groups(names or _ANY, _stem(path), path)
    name, system = groups.get("input"), groups.get("system")
    if not name or not system:
        what = "the file's name does not say which input and which system it is about"
        expected = "INPUT.SYSTEM.pan, or INPUT.anything.SYSTEM.pan"
        hint = "Rename it, or give a regular expression with the groups input and system."
        raise InputError(what, path=path, expected=expected, hint=hint)
    if names is None and (match := _NIST.fullmatch(name)):
        name, system = _joined(match), _number(system)
    return PeerName(name, system, groups.get("annotator") or "")


def is_peer(path: Path) -> bool:
    """Whether a file is a peer annotation by its name: ``.pan``, or as TAC names them without."""
    if ending(path) in (".pyr", ".pan"):
        return ending(path) == ".pan"
    return _PEER.fullmatch(_stem(path)) is not None


def is_pyramid_file(path: Path) -> bool:
    """Whether a file in a folder is one to read: ``.pyr``, ``.pan``, or NIST's name and XML."""
    if ending(path) in (".pyr", ".pan"):
        return True
    if not (_NIST.fullmatch(_stem(path)) and path.is_file()):
        return False
    return read_bytes(path)[:200].lstrip(b"\xef\xbb\xbf \r\n\t").startswith(_XML)


def by_number(name: str) -> tuple[int, int, str]:
    """A key that sorts numbers by value, before other names."""
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)


def _stem(path: Path) -> str:
    return stem(path) if ending(path) in (".pyr", ".pan") else path.name.removesuffix(".gz")


def _joined(match: re.Match[str]) -> str:
    return "-".join(group.upper() for group in (match["set"], match["part"]) if group)


def _number(system: str) -> str:
    """Peers by number without leading zeros, human ones by a capital letter."""
    if system.isdecimal():
        return str(int(system))
    return system.upper() if len(system) == 1 else system


def _groups(names: str, name: str, path: Path) -> dict[str, str | None]:
    try:
        match = regex.search(names, name, timeout=PATIENCE)
    except regex.error as error:
        raise InputError(f"{names!r} is not a regular expression ({error})") from None
    except TimeoutError:
        what = f"the regular expression {names!r} takes longer than {PATIENCE:g} s on this name"
        raise InputError(what, path=path, hint="Take out repetitions inside repetitions.") from None
    return match.groupdict() if match else {}
