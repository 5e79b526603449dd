"""Pyramid files of DUC and TAC as DUCView wrote them: ``.pyr`` pyramids, ``.pan``
annotations.

Their names, as NIST gives them, say input, system and annotator:

========================================  =======================  ======  =========
file                                      input                    system  annotator
========================================  =======================  ======  =========
``D0701-AGHI.pyr``, ``d0701a.pyr``        D0701: the document set
``D0701.M.250.A.07.pan``                  D0701                    7
``114.D0631.M.250.F.10.pan`` (DUC 2005-6) D0631                    10      114
``D0801-A.pyr``, ``D0801-A.M.100.B.15``   D0801-A: set and part    15
``rain.mine.pan``, ``rain.pyr``           rain                     mine
========================================  =======================  ======  =========

The letters of NIST's assessor and of the references' summarizers do not count, nor do
case and leading zeros; the part (A, B, C: initial and update summaries) does.
"""

import re
import warnings
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

import regex
from defusedxml.common import DefusedXmlException, EntitiesForbidden
from defusedxml.ElementTree import DefusedXMLParser

from litepyramid.data.records import InputReferences, InputUnits, Unit
from litepyramid.errors import InputError, located
from litepyramid.files import ending, read_bytes, stem
from litepyramid.types import Texts

MAX_PATTERN_TEXT = 50_000
REACH = 20_000
"""Characters on either side in which a misplaced label is looked for; references are
shorter."""

EMPTY = "SCUs without a contributor were left out."
REPEATED = "SCUs have two contributors in one reference: both count."
UNPLACED = "contributors could not be assigned to a reference."
LEGACY = "files are not UTF-8 and were read as Windows-1252."

_RULE = re.compile(r"[-=_*]{3,}")
# No group, no reference to one, nothing that is repeated twice.
_ATOM = r"(\[\^?\]?(?:\\.|[^\]\\])*\]|\\\D|[^\\\[()|{}*+?])"
_ATOMS = re.compile(f"(?:{_ATOM}[*+?]?)++", re.DOTALL)
_TOKEN = re.compile(f"{_ATOM}|.", re.DOTALL)

PATIENCE = 1.0
_SET = r"(?P<set>D\d{3,5})[A-Z]?(?:-(?P<part>[ABC])(?![A-Z]))?"
_NIST = re.compile(rf"{_SET}(?:[-_.].*)?", re.IGNORECASE)
_PEER = re.compile(
    rf"(?:(?P<annotator>[^.]+)\.)?{_SET}(?:[-_][A-Z]+)?\.M\.\d+\.[A-Z]\."
    r"(?P<peer>\d+|[A-Z])(?:\..*)?",
    re.IGNORECASE,
)
_ANY = r"^(?P<input>[^.]+)(?:\..*)?\.(?P<system>[^.]+)$"
_XML = (b"<?xml", b"<pyramid", b"<peerAnnotation", b"<annotation")

MAX_DEPTH = 64
MAX_ELEMENTS = 500_000
MAX_DOCTYPE = 20_000
_HINT = "Entities are not expanded: write their text out."
_CDATA = re.compile(rb"<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
_DOCTYPE = re.compile(rb"<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>", re.DOTALL)
_DEFAULT = re.compile(rb"<!ATTLIST[^>]*[\"']")
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z_][\w.-]*);")


class PeerName(NamedTuple):
    """The parts of a peer annotation's name."""

    input: str
    system: str
    annotator: str = ""


def pyramid_input(
    path: Path, names: str | None = None, inputs: Collection[str] = ()
) -> str:
    """The input of a ``.pyr`` file.

    `names` is a regular expression with a group ``input``, searched in the name without
    ``.pyr``; a name in which it is not found is read as NIST's. One of `inputs` (those
    of other files) that the name begins with is it, letters and all.
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
    ``annotator``, taken as they are. By default NIST's names, else what is before the
    first dot and what is after the last one.
    """
    # A pattern of the user's comes before NIST's names.
    match = _PEER.fullmatch(_stem(path)) if names is None else None
    if match is not None:
        return PeerName(
            _joined(match), _number(match["peer"]), match["annotator"] or ""
        )

    groups = _groups(names or _ANY, _stem(path), path)
    name = groups.get("input")
    system = groups.get("system")

    if not name or not system:
        what = "the file's name does not say which input and which system it is about"
        expected = "INPUT.SYSTEM.pan, or INPUT.anything.SYSTEM.pan"
        hint = (
            "Rename it, or give a regular expression with the groups input and system."
        )
        raise InputError(
            what,
            path=path,
            expected=expected,
            hint=hint,
        )

    if names is None and (match := _NIST.fullmatch(name)):
        name, system = _joined(match), _number(system)
    return PeerName(name, system, groups.get("annotator") or "")


def is_peer(path: Path) -> bool:
    """Whether a file is a peer annotation by its name: ``.pan``, or as TAC names them
    without."""
    if ending(path) in (".pyr", ".pan"):
        return ending(path) == ".pan"
    return _PEER.fullmatch(_stem(path)) is not None


def is_pyramid_file(path: Path) -> bool:
    """Whether a file in a folder is one to read: ``.pyr``, ``.pan``, or NIST's name and
    XML."""
    if ending(path) in (".pyr", ".pan"):
        return True
    if not (_NIST.fullmatch(_stem(path)) and path.is_file()):
        return False
    return read_bytes(path)[:200].lstrip(b"\xef\xbb\xbf \r\n\t").startswith(_XML)


def by_number(name: str) -> tuple[int, int, str]:
    """A key that sorts numbers by value, before other names."""
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)


def _stem(path: Path) -> str:
    return (
        stem(path)
        if ending(path) in (".pyr", ".pan")
        else path.name.removesuffix(".gz")
    )


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
    except (regex.error, TypeError) as error:
        raise InputError(f"{names!r} is not a regular expression ({error})") from None
    except TimeoutError:
        what = (
            f"the regular expression {names!r} takes longer than {PATIENCE:g} s on "
            "this name"
        )
        raise InputError(
            what, path=path, hint="Take out repetitions inside repetitions."
        ) from None
    return match.groupdict() if match else {}


@dataclass(frozen=True)
class Scu:
    """One summary content unit of a pyramid; its weight is its number of contributors.

    `places` are for each contributor its reference and its line there, from 0; None
    where that cannot be told.
    """

    uid: str
    label: str
    places: tuple[tuple[int | None, int | None], ...]

    @property
    def weight(self) -> int:
        """The number of contributors."""
        return len(self.places)


@dataclass(frozen=True)
class Pyramid:
    """The SCUs of one input's references.

    Attributes:
        input: The input's id, from the file's name.
        scus: Its SCUs in the file's order, those without a contributor left out.
        references: One tuple of lines per reference; empty if the file does not mark
            them.
        odd: How often what is odd about the file: `EMPTY` and the like.
    """

    input: str
    path: Path
    scus: tuple[Scu, ...]
    references: tuple[Texts, ...]
    odd: Counter[str]

    @property
    def content(self) -> dict[str, tuple[str, int]]:
        """Label and weight by uid: what two versions of a pyramid differ in."""
        return {scu.uid: (scu.label.strip(), scu.weight) for scu in self.scus}


@dataclass(frozen=True)
class PeerAnnotation:
    """Which SCUs a person found in one system's summary.

    Attributes:
        pyramid: The pyramid that the file carries along.
        summary: The summary, its lines joined by newlines.
        present: Per uid found in the summary, the number of its contributors there.
        extra: Number of contributors that match no SCU of the pyramid (uid 0).
        annotator: Who annotated it, where the file's name says so.
    """

    system: str
    pyramid: Pyramid
    summary: str
    present: dict[str, int]
    extra: int
    annotator: str = ""

    @property
    def size(self) -> int:
        """SCUs in the summary as DUCView counts them: found, found again, and matching
        none."""
        return sum(self.present.values()) + self.extra

    @property
    def unknown(self) -> set[str]:
        """Uids found in the summary that the pyramid does not hold."""
        return self.present.keys() - {scu.uid for scu in self.pyramid.scus}


def read_pyramid(
    path: str | Path, *, names: str | None = None, inputs: Collection[str] = ()
) -> Pyramid:
    """Reads the pyramid of a ``.pyr`` file, or the one inside a ``.pan`` file.

    `names` and `inputs` say how the file's name gives the input: see `pyramid_input`.
    """
    path = Path(path)
    root, legacy = read_xml(path)
    node = root if root.tag == "pyramid" else root.find("pyramid")

    if node is None:
        expected = (
            "a DUCView file: <pyramid>, or <peerAnnotation> with a <pyramid> inside"
        )
        raise InputError(
            f"the root element is <{root.tag}>", path=path, expected=expected
        )

    bare = root.tag == "pyramid"
    name = pyramid_input(path, names, inputs) if bare else peer_name(path, names).input
    return _pyramid(node, name, path, legacy)


def read_peer_annotation(
    path: str | Path, *, names: str | None = None
) -> PeerAnnotation:
    """Reads a ``.pan`` file: a pyramid, and the SCUs that a person found in one
    summary."""
    path = Path(path)
    root, legacy = read_xml(path)
    node = root.find("pyramid")
    annotation = root.find("annotation")

    if node is None or annotation is None:
        what = f"the root element <{root.tag}> holds no <pyramid> and <annotation>"
        raise InputError(
            what, path=path, expected="a peer annotation of DUCView (.pan)"
        )

    # Some writers put the text beside the annotation, or a second <annotation> inside
    # the first.
    inner = annotation.find("annotation")
    marked = inner if inner is not None and inner.findall("peerscu") else annotation
    name = peer_name(path, names)
    pyramid = _pyramid(node, name.input, path, legacy)
    present: Counter[str] = Counter()
    for peer in marked.findall("peerscu"):
        with located(path):
            present[_uid(peer)] += len(peer.findall("contributor"))
    # DUCView puts contributors that match no SCU under the uid 0.
    extra = present.pop("0", 0)
    texts = (element.find("text") for element in (marked, annotation, root))
    text = next((element for element in texts if element is not None), None)

    return PeerAnnotation(
        system=name.system,
        pyramid=pyramid,
        summary="\n".join(_lines(text)).strip(),
        present=dict(+present),
        extra=extra,
        annotator=name.annotator,
    )


def pyramid_units(pyramid: Pyramid) -> InputUnits:
    """The SCUs as units: label, number of contributors as weight, references and
    lines."""
    if not pyramid.scus:
        raise InputError(
            "the pyramid holds no SCU with a contributor", path=pyramid.path
        )

    units = []
    for scu in pyramid.scus:
        text = " ".join(scu.label.split())
        if not text:
            raise InputError(f"SCU {scu.uid} has no label", path=pyramid.path)
        # The place of a single contributor is that of the unit itself.
        if scu.weight == 1:
            units.append(Unit(text, 1.0, "scu", *scu.places[0]))
        else:
            units.append(Unit(text, float(scu.weight), "scu", places=scu.places))

    return InputUnits(pyramid.input, tuple(units))


def pyramid_references(pyramid: Pyramid) -> InputReferences:
    """The references that the pyramid was made from, one line per sentence."""
    if not pyramid.references:
        raise InputError("cannot tell where the references start", path=pyramid.path)
    marked = tuple(True for _ in pyramid.references)
    return InputReferences(pyramid.input, pyramid.references, marked)


class Packed:
    """A text without its white space, since DUCView drops the line breaks inside a
    part's label."""

    def __init__(self, text: str) -> None:
        self.offsets = [n for n, char in enumerate(text) if not char.isspace()]
        self.text = "".join(text.split())

    def find(self, label: str, start: int, end: int | None) -> int | None:
        """Where a label starts: at the offset that the file gives, else nearest to
        it."""
        packed = "".join(label.split())
        size = len(packed)
        # The offsets of a file count its white space, which a label may have lost.
        first = bisect_left(self.offsets, start)
        stop = bisect_left(self.offsets, start + len(label) if end is None else end)
        if stop - first == size and self.text.startswith(packed, first):
            return start
        # Not anywhere in the text: a short label may stand in another reference.
        after = self.text.find(packed, first, first + size + REACH)
        before = self.text.rfind(packed, max(0, first - REACH), first + size)
        offsets = [self.offsets[index] for index in (before, after) if index >= 0]
        return min(offsets, key=lambda offset: abs(offset - start), default=None)


def _pyramid(node: Element, name: str, path: Path, legacy: bool) -> Pyramid:
    lines = _lines(node.find("text"))
    text = "\n".join(lines)
    pattern = node.find("startDocumentRegEx")
    headings = _headings(text, lines, text_of(pattern) if pattern is not None else "")
    references, ends = _split(text, headings)
    starts = [start for start, _ in headings]
    packed = Packed(text)
    scus = {}
    odd = Counter({LEGACY: int(legacy)})

    for element in node.findall("scu"):
        places = []
        with located(path):
            uid = _uid(element)
            if uid in scus:
                raise InputError(f"SCU {uid} occurs twice")
            for contributor in element.findall("contributor"):
                places.append(_place(contributor, packed, starts, ends))

        owners = [reference for reference, _ in places if reference is not None]
        # A pyramid that does not mark its references places nothing: that is not odd.
        odd[EMPTY] += not places
        odd[UNPLACED] += (len(places) - len(owners)) * bool(references)
        odd[REPEATED] += len(owners) > len(set(owners))
        label = element.attrib.get("label", "")
        scus[uid] = Scu(uid, label, tuple(places)) if places else None

    return Pyramid(
        name,
        path,
        tuple(filter(None, scus.values())),
        references,
        odd,
    )


def _uid(element: Element) -> str:
    uid = element.attrib.get("uid", "").strip()
    if not uid:
        raise InputError(f"<{element.tag}> has no uid")
    return uid


def _lines(node: Element | None) -> list[str]:
    """The text's lines; a text without <line> elements is split at its newlines."""
    if node is None:
        return []
    marked = node.findall("line")
    return [text_of(line) for line in marked] if marked else text_of(node).split("\n")


def _place(
    node: Element, text: Packed, starts: list[int], ends: list[list[int]]
) -> tuple[int | None, int | None]:
    """The reference and the line of a contributor, which may consist of several
    parts."""
    offsets = []
    for part in node.findall("part"):
        label = part.attrib.get("label", "")
        start, end = (_offset(part, key) for key in ("start", "end"))
        if start is not None and label.strip():
            start = text.find(label, start, end)
        if start is not None:
            offsets.append(start)

    # A contributor whose parts lie in two references cannot be placed.
    owners = {bisect_right(starts, start) - 1 for start in offsets}
    if len(owners) != 1 or min(owners) < 0:
        return None, None
    reference = owners.pop()
    return reference, bisect_left(ends[reference], min(offsets))


def _offset(part: Element, key: str) -> int | None:
    value = part.attrib.get(key)
    if value is None:
        return None
    if not re.fullmatch(r"-?[0-9]{1,15}", value.strip()):
        raise InputError(f'<part> has {key}="{value}"', expected="a whole number")
    return int(value)


def _headings(text: str, lines: Sequence[str], pattern: str) -> list[tuple[int, int]]:
    """Per reference, where its heading starts and where it ends; [] if it cannot be
    told.

    The file's own pattern is used first; it comes from others, so it is only run if it
    can be made free of backtracking (no groups, every repetition possessive). Else a
    heading is a line between two rules of dashes.
    """
    # A repetition that gives nothing back runs in linear time, whatever the text is.
    safe = possessive(pattern)
    if safe is not None and len(text) <= MAX_PATTERN_TEXT:
        # DUCView's pattern may begin with an optional rule: no match is empty.
        spans = [m.span() for m in safe.finditer(text) if m.end() > m.start()]
        if len(spans) > 1:
            return spans

    headings = []
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for i in range(len(lines) - 2):
        above, title, below = (lines[i + k].strip() for k in range(3))
        if _RULE.fullmatch(above) and _RULE.fullmatch(below) and title:
            headings.append((offsets[i], offsets[i + 3] - 1))

    return headings


def possessive(pattern: str) -> re.Pattern[str] | None:
    """The pattern with every repetition possessive; None if it is empty, odd or has
    groups."""
    pattern = pattern.strip("\r\n")
    if not _ATOMS.fullmatch(pattern):
        return None
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            # A "+" behind a repetition makes it possessive.
            return re.compile(_TOKEN.sub(lambda m: m[1] or m[0] + "+", pattern))
    except re.error:
        return None


def _split(
    text: str, headings: list[tuple[int, int]]
) -> tuple[tuple[Texts, ...], list[list[int]]]:
    """The lines of each reference below its heading, and where each of them ends."""
    references = []
    ends = []
    stops = [*(start for start, _ in headings[1:]), len(text)]

    for (_, offset), stop in zip(headings, stops, strict=False):
        lines = []
        offsets = []
        for line in text[offset:stop].split("\n"):
            offset += len(line) + 1
            if line.strip():
                lines.append(" ".join(line.split()))
                offsets.append(offset - 1)
        references.append(tuple(lines))
        ends.append(offsets)

    return tuple(references), ends


def read_xml(path: str | Path) -> tuple[Element, bool]:
    """Reads an XML file from an untrusted source (with defusedxml).

    A document type with element and attribute declarations is allowed (DUCView writes
    one). Entities and default values of attributes are errors: none is needed, and all
    can blow a small file up to any size. Nothing outside the file is ever opened. A
    file that declares no encoding and is not UTF-8 is read as Windows-1252, which old
    tools wrote.
    """
    path = Path(path)
    data = read_bytes(path)
    legacy = False
    head = data[:200].lstrip()

    if not (
        b"encoding" in head.split(b"?>")[0] or data[:2] in (b"\xff\xfe", b"\xfe\xff")
    ):
        try:
            data.decode("utf-8-sig")
        except UnicodeDecodeError:
            data = data.decode("cp1252", errors="replace").encode()
            legacy = True

    parser = DefusedXMLParser(
        target=_Builder(),
        forbid_entities=True,
        # DUCView names a document type; that nothing outside is opened, the parser sees
        # to.
        forbid_external=False,
    )
    with located(path):
        # In UTF-16 every other byte of the markup is zero.
        _check_doctype(data.replace(b"\0", b""))
        try:
            parser.feed(data)
            return parser.close(), legacy
        except EntitiesForbidden as error:
            what = f"declares the entity '{error.name}'"
            raise InputError(what, hint=_HINT) from None
        except ParseError as error:
            line, column = error.position
            reason = str(error).split(":")[0]
            what = f"not well-formed XML ({reason} at column {column + 1})"
            raise InputError(what, line=line) from None
        except DefusedXmlException as error:
            raise InputError(f"unsafe XML ({error})") from None
        except (LookupError, ValueError) as error:
            raise InputError(f"its encoding cannot be read ({error})") from None


def text_of(node: Element) -> str:
    """The text directly inside an element, between its children too."""
    return (node.text or "") + "".join(child.tail or "" for child in node)


class _Builder(TreeBuilder):
    """Builds the tree up to the limits."""

    depth = 0
    count = 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self.depth += 1
        self.count += 1
        # A file of a few kilobytes can nest or repeat elements until memory runs out.
        if self.depth > MAX_DEPTH:
            raise InputError(f"elements nested more than {MAX_DEPTH} deep")
        if self.count > MAX_ELEMENTS:
            raise InputError(f"more than {MAX_ELEMENTS} elements")
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self.depth -= 1
        return super().end(tag)


def _check_doctype(data: bytes) -> None:
    """Looks for undeclared entities, which expat drops without a word if there is a
    doctype."""
    begin = data.find(b"<!DOCTYPE")
    if begin < 0:
        return
    match = _DOCTYPE.match(data, begin)
    doctype = data[begin : match.end() if match else None]
    # DUCView's is a few hundred bytes; a long one is work for the searches below.
    if len(doctype) > MAX_DOCTYPE:
        raise InputError(f"a document type of more than {MAX_DOCTYPE} bytes")
    if _DEFAULT.search(doctype):
        hint = "Defaults are not filled in: write the attribute out."
        raise InputError("gives an attribute a default value", hint=hint)

    if b"<!ENTITY" not in doctype and (
        entity := _REFERENCE.search(_CDATA.sub(b"", data))
    ):
        what = f"uses the entity '{entity[1].decode()}', which the file does not hold"
        raise InputError(what, hint=_HINT)
