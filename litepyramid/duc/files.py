"""Pyramid files of DUC and TAC as DUCView wrote them: ``.pyr`` pyramids, ``.pan`` annotations."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element

from litepyramid.duc.names import peer_name, pyramid_input
from litepyramid.duc.text import Packed, heading_places, split_text
from litepyramid.duc.xml import read_xml, text_of
from litepyramid.errors import InputError
from litepyramid.types import InputReferences, InputUnits, Unit


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of text: offsets count from the start of the whole text, lines joined by newlines.

    Attributes:
        text: What it says.
        start: Offset of its first character; None if the file does not say.
        end: Offset after its last character.
    """

    text: str
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Contributor:
    """One place where a text expresses an SCU.

    Attributes:
        text: What it says there, the parts joined.
        parts: Its stretches.
        reference: Index of the reference it stands in, from 0; None if that cannot be told.
        sentence: Index of the line within that reference, from 0.
    """

    text: str
    parts: tuple[Part, ...]
    reference: int | None = None
    sentence: int | None = None


@dataclass(frozen=True, slots=True)
class Scu:
    """One summary content unit of a pyramid; its weight is its number of contributors.

    Attributes:
        uid: Its number in the file.
        label: The sentence that says it.
        contributors: Where references express it.
        comment: The annotator's note, or "".
    """

    uid: str
    label: str
    contributors: tuple[Contributor, ...]
    comment: str = ""

    @property
    def weight(self) -> int:
        """The number of contributors."""
        return len(self.contributors)


@dataclass(frozen=True, slots=True)
class Pyramid:
    """The SCUs of one input's references.

    Attributes:
        input: The input's id, from the file's name.
        path: The file.
        scus: Its SCUs in the file's order, those without a contributor left out.
        references: One tuple of lines per reference; empty if the file does not mark them.
        reference_names: The names above the references, where there are any.
        empty: How many SCUs had no contributor, so no weight, and were left out.
        unplaced: How many contributors stand in no reference that could be told.
        repeated: How many SCUs have two contributors in one reference: DUCView counts both.
        legacy_encoding: Whether the file was no UTF-8 and was read as Windows-1252.
    """

    input: str
    path: Path
    scus: tuple[Scu, ...]
    references: tuple[tuple[str, ...], ...]
    reference_names: tuple[str, ...]
    empty: int = 0
    unplaced: int = 0
    repeated: int = 0
    legacy_encoding: bool = False

    @property
    def contributors(self) -> int:
        """The number of contributors of all SCUs: the sum of the weights."""
        return sum(scu.weight for scu in self.scus)


@dataclass(frozen=True, slots=True)
class PeerAnnotation:
    """Which SCUs a person found in one system's summary.

    Attributes:
        system: The system's name, from the file's name.
        annotator: Who annotated it, where the file's name says so.
        pyramid: The pyramid that the file carries along.
        summary: The summary, its lines joined by newlines.
        present: Per uid found in the summary, the number of its contributors there.
        extra: Number of contributors that match no SCU of the pyramid (uid 0).
        unknown: Uids found in the summary that the pyramid does not hold.
    """

    system: str
    pyramid: Pyramid
    summary: str
    present: dict[str, int]
    extra: int
    unknown: tuple[str, ...]
    annotator: str = ""

    @property
    def size(self) -> int:
        """SCUs in the summary as DUCView counts them: found, found again, and matching none."""
        return sum(self.present.values()) + self.extra


def read_pyramid(
    path: str | Path, *, names: str | None = None, known: Collection[str] = ()
) -> Pyramid:
    """Reads the pyramid of a ``.pyr`` file, or the one inside a ``.pan`` file.

    Args:
        path: The file.
        names: How its name says the input: see `pyr_names.pyramid_input` and `pyr_names.peer_name`.
        known: The inputs of other files, see there.

    Raises:
        InputError: It is not a pyramid file, or is not safe XML (see `io.xml.read_xml`).
    """
    path = Path(path)
    root, legacy = read_xml(path)
    node = root if root.tag == "pyramid" else root.find("pyramid")
    if node is None:
        raise InputError(
            f"the root element is <{root.tag}>",
            path=path,
            expected="a DUCView file: <pyramid>, or <peerAnnotation> with a <pyramid> inside",
        )
    bare = root.tag == "pyramid"
    name = pyramid_input(path, names, known) if bare else peer_name(path, names).input
    return _pyramid(node, name, path, legacy)


def read_peer_annotation(path: str | Path, *, names: str | None = None) -> PeerAnnotation:
    """Reads a ``.pan`` file: a pyramid, and the SCUs that a person found in one summary.

    Args:
        path: The file.
        names: How its name says the input and the system: see `pyr_names.peer_name`.

    Raises:
        InputError: It is not an annotation, its name does not match, or it is not safe XML.
    """
    path = Path(path)
    root, legacy = read_xml(path)
    node, annotation = root.find("pyramid"), root.find("annotation")
    if node is None or annotation is None:
        raise InputError(
            f"the root element <{root.tag}> holds no <pyramid> and <annotation>",
            path=path,
            expected="a peer annotation of DUCView (.pan)",
        )
    # Some writers put the text beside the annotation, or a second <annotation> inside the first.
    inner = annotation.find("annotation")
    marked = inner if inner is not None and inner.findall("peerscu") else annotation
    name = peer_name(path, names)
    pyramid = _pyramid(node, name.input, path, legacy)
    known = {scu.uid for scu in pyramid.scus}
    found: Counter[str] = Counter()
    for peer in marked.findall("peerscu"):
        found[_needed(peer, "uid", path)] += len(peer.findall("contributor"))
    extra = found.pop("0", 0)
    present = dict(+found)
    texts = (place.find("text") for place in (marked, annotation, root))
    text = next((found for found in texts if found is not None), None)
    return PeerAnnotation(
        system=name.system,
        pyramid=pyramid,
        summary="\n".join(_lines(text)).strip(),
        present=present,
        extra=extra,
        unknown=tuple(uid for uid in present if uid not in known),
        annotator=name.annotator,
    )


def pyramid_units(pyramid: Pyramid) -> InputUnits:
    """The SCUs as units: the label is the text, the number of contributors the weight.

    Each contributor's reference and sentence are kept (`Unit.places`).

    Raises:
        InputError: An SCU has no label, or there is no SCU at all.
    """
    if not pyramid.scus:
        raise InputError("the pyramid holds no SCU with a contributor", path=pyramid.path)
    units = []
    for scu in pyramid.scus:
        text = " ".join(scu.label.split())
        if not text:
            raise InputError(f"SCU {scu.uid} has no label", path=pyramid.path)
        places = tuple((c.reference, c.sentence) for c in scu.contributors)
        if scu.weight == 1:
            units.append(Unit(text, 1.0, "scu", *places[0]))
        else:
            units.append(Unit(text, float(scu.weight), "scu", places=places))
    return InputUnits(pyramid.input, tuple(units))


def pyramid_references(pyramid: Pyramid) -> InputReferences:
    """The references that the pyramid was made from, one line per sentence.

    Raises:
        InputError: The file does not mark where its references start.
    """
    if not pyramid.references:
        raise InputError("cannot tell where the references start", path=pyramid.path)
    return InputReferences(
        pyramid.input, pyramid.references, tuple(True for _ in pyramid.references)
    )


def _pyramid(node: Element, name: str, path: Path, legacy: bool) -> Pyramid:
    lines = _lines(node.find("text"))
    text = "\n".join(lines)
    pattern = node.find("startDocumentRegEx")
    starts = heading_places(text, lines, text_of(pattern) if pattern is not None else "")
    references, titles, ends = split_text(text, starts)
    firsts, packed = [start for start, _ in starts], Packed(text)
    scus: list[Scu] = []
    seen: set[str] = set()
    empty = unplaced = repeated = 0
    for element in node.findall("scu"):
        uid = _needed(element, "uid", path)
        if uid in seen:
            raise InputError(f"SCU {uid} occurs twice", path=path)
        seen.add(uid)
        places = [
            _contributor(c, packed, firsts, ends, path) for c in element.findall("contributor")
        ]
        if not places:
            empty += 1
            continue
        known = [c.reference for c in places if c.reference is not None]
        unplaced += len(places) - len(known)
        repeated += len(known) > len(set(known))
        label = element.attrib.get("label", "")
        scus.append(Scu(uid, label, tuple(places), element.attrib.get("comment", "")))
    return Pyramid(
        input=name,
        path=path,
        scus=tuple(scus),
        references=references,
        reference_names=titles,
        empty=empty,
        unplaced=unplaced,
        repeated=repeated,
        legacy_encoding=legacy,
    )


def _needed(element: Element, key: str, path: Path) -> str:
    value = element.attrib.get(key, "").strip()
    if not value:
        raise InputError(f"<{element.tag}> has no {key}", path=path)
    return value


def _lines(node: Element | None) -> list[str]:
    """The text's lines; a text without <line> elements is split at its newlines."""
    if node is None:
        return []
    marked = node.findall("line")
    return [text_of(line) for line in marked] if marked else text_of(node).split("\n")


def _contributor(
    node: Element, text: Packed, firsts: list[int], ends: list[list[int]], path: Path
) -> Contributor:
    parts = []
    for part in node.findall("part"):
        label = part.attrib.get("label", "")
        start = _offset(part, "start", path)
        end = _offset(part, "end", path)
        if start is not None and label.strip():
            start, end = text.find(label, start, end)
        parts.append(Part(label, start, end))
    placed = [p.start for p in parts if p.start is not None]
    owners = {bisect_right(firsts, start) - 1 for start in placed}
    reference = sentence = None
    if len(owners) == 1 and min(owners) >= 0:
        reference = owners.pop()
        sentence = bisect_left(ends[reference], min(placed))
    label = node.attrib.get("label") or "...".join(p.text for p in parts)
    return Contributor(label, tuple(parts), reference, sentence)


def _offset(part: Element, key: str, path: Path) -> int | None:
    value = part.attrib.get(key)
    if value is None:
        return None
    if not re.fullmatch(r"-?[0-9]{1,15}", value.strip()):
        raise InputError(f'<part> has {key}="{value}"', path=path, expected="a whole number")
    return int(value)
