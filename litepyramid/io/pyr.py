"""Pyramid files of DUC and TAC as DUCView wrote them: ``.pyr`` pyramids, ``.pan`` annotations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from litepyramid.errors import InputError
from litepyramid.io.xml import Element, read_xml
from litepyramid.types import InputReferences, InputUnits, Unit

NAMES = r"^(?P<input>[^.]+)(?:\..*)?\.(?P<system>[^.]+)$"
MAX_PATTERN_TEXT = 200_000
_RULE = re.compile(r"[-=_*]{3,}")
_PLAIN_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|[^\\()|{}]", re.DOTALL)


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
    """One summary content unit of a pyramid; it weighs as much as it has contributors.

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
    path: str
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

    @property
    def size(self) -> int:
        """SCUs in the summary as DUCView counts them: found, found again, and matching none."""
        return sum(self.present.values()) + self.extra


def read_pyramid(path: str | Path, *, names: str = NAMES) -> Pyramid:
    """Reads the pyramid of a ``.pyr`` file, or the one inside a ``.pan`` file.

    Args:
        path: The file. The input is the part of its name before the first dot.
        names: For a ``.pan`` file, see `read_peer_annotation`.

    Raises:
        InputError: It is no pyramid file, or is no safe XML (see `io.xml.read_xml`).
    """
    path = Path(path)
    root, legacy = read_xml(path)
    node = root if root.tag == "pyramid" else root.child("pyramid")
    if node is None:
        raise InputError(
            f"the root element is <{root.tag}>",
            path=path,
            line=root.line,
            expected="a DUCView file: <pyramid>, or <peerAnnotation> with a <pyramid> inside",
        )
    name = path.name.split(".")[0] if root.tag == "pyramid" else _names(path, names)[0]
    return _pyramid(node, name, path, legacy)


def read_peer_annotation(path: str | Path, *, names: str = NAMES) -> PeerAnnotation:
    """Reads a ``.pan`` file: a pyramid, and the SCUs that a person found in one summary.

    Args:
        path: The file.
        names: A regular expression with the groups ``input`` and ``system``, found in the file's
            name without its last suffix. The default takes what is before the first dot and what
            is after the last one: ``D0801-A.M.100.B.15.pan`` is system 15 on input D0801-A.

    Raises:
        InputError: It is no annotation, its name does not match, or it is no safe XML.
    """
    path = Path(path)
    root, legacy = read_xml(path)
    node, annotation = root.child("pyramid"), root.child("annotation")
    if node is None or annotation is None:
        raise InputError(
            f"the root element <{root.tag}> holds no <pyramid> and <annotation>",
            path=path,
            line=root.line,
            expected="a peer annotation of DUCView (.pan)",
        )
    # Some writers put the text beside the annotation, or a second <annotation> inside the first.
    inner = annotation.child("annotation")
    marked = inner if inner is not None and inner.all("peerscu") else annotation
    input_id, system = _names(path, names)
    pyramid = _pyramid(node, input_id, path, legacy)
    known = {scu.uid for scu in pyramid.scus}
    present: dict[str, int] = {}
    extra = 0
    for peer in marked.all("peerscu"):
        uid = _needed(peer, "uid", path)
        number = len(peer.all("contributor"))
        if uid == "0":
            extra += number
        elif number:
            present[uid] = present.get(uid, 0) + number
    text = marked.child("text") or annotation.child("text") or root.child("text")
    return PeerAnnotation(
        system=system,
        pyramid=pyramid,
        summary="\n".join(_lines(text)).strip(),
        present=present,
        extra=extra,
        unknown=tuple(uid for uid in present if uid not in known),
    )


def pyramid_units(pyramid: Pyramid) -> InputUnits:
    """The SCUs as units: the label is the text, the number of contributors the weight.

    `reference` and `sentence` are those of the contributor where an SCU has just one.

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
        only = scu.contributors[0] if scu.weight == 1 else None
        place = (only.reference, only.sentence) if only else (None, None)
        units.append(Unit(text, float(scu.weight), "scu", *place))
    return InputUnits(pyramid.input, tuple(units))


def pyramid_references(pyramid: Pyramid) -> InputReferences:
    """The references that the pyramid was made from, a line a sentence.

    Raises:
        InputError: The file does not mark where its references start.
    """
    if not pyramid.references:
        raise InputError("cannot tell where the references start", path=pyramid.path)
    return InputReferences(
        pyramid.input, pyramid.references, tuple(True for _ in pyramid.references)
    )


def _names(path: Path, names: str) -> tuple[str, str]:
    try:
        found = re.search(names, path.stem)
    except re.error as error:
        raise InputError(f"{names!r} is no regular expression ({error})") from None
    groups = found.groupdict() if found else {}
    if not groups.get("input") or not groups.get("system"):
        raise InputError(
            "the file's name does not say which input and which system it is about",
            path=path,
            expected="INPUT.SYSTEM.pan, or INPUT.anything.SYSTEM.pan",
            hint="Rename it, or give a regular expression with the groups input and system.",
        )
    return groups["input"], groups["system"]


def _pyramid(node: Element, name: str, path: Path, legacy: bool) -> Pyramid:
    lines = _lines(node.child("text"))
    text = "\n".join(lines)
    pattern = node.child("startDocumentRegEx")
    starts = _starts(text, lines, pattern.text if pattern is not None else "")
    references, titles = _split(text, starts)
    firsts = [start for start, _ in starts]
    scus: list[Scu] = []
    seen: set[str] = set()
    empty = unplaced = repeated = 0
    for element in node.all("scu"):
        uid = _needed(element, "uid", path)
        if uid in seen:
            raise InputError(f"SCU {uid} occurs twice", path=path, line=element.line)
        seen.add(uid)
        places = [_contributor(c, text, firsts, starts, path) for c in element.all("contributor")]
        if not places:
            empty += 1
            continue
        known = [c.reference for c in places if c.reference is not None]
        unplaced += len(places) - len(known)
        repeated += len(known) > len(set(known))
        label = element.attributes.get("label", "")
        scus.append(Scu(uid, label, tuple(places), element.attributes.get("comment", "")))
    return Pyramid(
        input=name,
        path=str(path),
        scus=tuple(scus),
        references=references,
        reference_names=titles,
        empty=empty,
        unplaced=unplaced,
        repeated=repeated,
        legacy_encoding=legacy,
    )


def _needed(element: Element, key: str, path: Path) -> str:
    value = element.attributes.get(key, "").strip()
    if not value:
        raise InputError(f"<{element.tag}> has no {key}", path=path, line=element.line)
    return value


def _lines(node: Element | None) -> list[str]:
    """The text's lines; a text without <line> elements is split at its newlines."""
    if node is None:
        return []
    marked = node.all("line")
    return [line.text for line in marked] if marked else node.text.split("\n")


def _contributor(
    node: Element, text: str, firsts: list[int], starts: list[tuple[int, int]], path: Path
) -> Contributor:
    parts = []
    for part in node.all("part"):
        label = part.attributes.get("label", "")
        start = _offset(part, "start", path)
        end = _offset(part, "end", path)
        if start is not None and label.strip():
            stands = text[start : len(label) + start if end is None else end]
            if _packed(stands) != _packed(label):
                start, end = _nearest(text, label, start)
        parts.append(Part(label, start, end))
    placed = [p.start for p in parts if p.start is not None]
    owners = {bisect_right(firsts, start) - 1 for start in placed}
    reference = sentence = None
    if len(owners) == 1 and min(owners) >= 0:
        reference = owners.pop()
        body = text[starts[reference][1] : min(placed)]
        sentence = sum(1 for line in body.split("\n")[:-1] if line.strip())
    label = node.attributes.get("label") or "...".join(p.text for p in parts)
    return Contributor(label, tuple(parts), reference, sentence)


def _offset(part: Element, key: str, path: Path) -> int | None:
    value = part.attributes.get(key)
    if value is None:
        return None
    try:
        return int(value)
    except ValueError:
        raise InputError(
            f'<part> has {key}="{value}"', path=path, line=part.line, expected="a whole number"
        ) from None


def _packed(text: str) -> str:
    """The text without white space: DUCView drops the line breaks inside a part's label."""
    return "".join(text.split())


def _nearest(text: str, label: str, start: int) -> tuple[int | None, int | None]:
    """Where the label really stands, closest to the offset that the file gives."""
    places = [place for place, char in enumerate(text) if not char.isspace()]
    packed, wanted = _packed(text), _packed(label)
    found = [m.start() for m in re.finditer(re.escape(wanted), packed)]
    if not found:
        return None, None
    best = min(found, key=lambda index: abs(places[index] - start))
    return places[best], places[best + len(wanted) - 1] + 1


def _starts(text: str, lines: Sequence[str], pattern: str) -> list[tuple[int, int]]:
    """Per reference, where its heading starts and where it ends; [] if it cannot be told.

    The file's own pattern is used first; it comes from others, so it is only run if it can be
    made free of backtracking (no groups, every repetition possessive). Else a heading is a line
    between two rules of dashes.
    """
    safe = _possessive(pattern)
    if safe is not None and len(text) <= MAX_PATTERN_TEXT:
        # DUCView's pattern may begin with an optional rule: no match is empty.
        found = [(m.start(), m.end()) for m in safe.finditer(text) if m.end() > m.start()]
        if len(found) > 1:
            return found
    starts = []
    offset = 0
    offsets = []
    for line in lines:
        offsets.append(offset)
        offset += len(line) + 1
    for i in range(len(lines) - 2):
        above, title, below = (lines[i + k].strip() for k in range(3))
        if _RULE.fullmatch(above) and _RULE.fullmatch(below) and title:
            starts.append((offsets[i], offsets[i + 2] + len(lines[i + 2])))
    return starts


def _possessive(pattern: str) -> re.Pattern[str] | None:
    """The pattern with every repetition possessive; None if it is empty, odd or has groups."""
    pattern = pattern.strip("\r\n")
    out: list[str] = []
    place = 0
    while place < len(pattern):
        atom = _PLAIN_CLASS.match(pattern, place)
        if atom is None or atom[0] in "*+?" or (atom[0][0] == "\\" and atom[0][1].isdigit()):
            return None
        place = atom.end()
        out.append(atom[0])
        if place < len(pattern) and pattern[place] in "*+?":
            out.append(pattern[place] + "+")
            place += 1
            if place < len(pattern) and pattern[place] in "?+":
                return None
    try:
        return re.compile("".join(out)) if out else None
    except re.error:
        return None


def _split(
    text: str, starts: list[tuple[int, int]]
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    references, titles = [], []
    for index, (start, end) in enumerate(starts):
        last = starts[index + 1][0] if index + 1 < len(starts) else len(text)
        lines = (" ".join(line.split()) for line in text[end:last].split("\n"))
        references.append(tuple(line for line in lines if line))
        heading = (line.strip() for line in text[start:end].split("\n"))
        titles.append(next((h for h in heading if h and not _RULE.fullmatch(h)), ""))
    return tuple(references), tuple(titles)
