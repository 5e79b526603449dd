"""XML written by others: a small tree, nothing fetched, no entity ever expanded."""

import re
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException, EntitiesForbidden
from defusedxml.ElementTree import DefusedXMLParser

from litepyramid.errors import InputError
from litepyramid.files import read_bytes

MAX_DEPTH = 64
MAX_ELEMENTS = 500_000
MAX_DOCTYPE = 20_000
_HINT = "Entities are not expanded: write their text out."
_CDATA = re.compile(rb"<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
_DOCTYPE = re.compile(rb"<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>", re.DOTALL)
_DEFAULT = re.compile(rb"<!ATTLIST[^>]*[\"']")
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z_][\w.-]*);")


def read_xml(path: str | Path) -> tuple[Element, bool]:
    """Reads an XML file from an untrusted source (with defusedxml).

    A document type with element and attribute declarations is allowed (DUCView writes one).
    Entities and default values of attributes are errors: none is needed, and all can blow a small
    file up to any size. Nothing outside the file is ever opened. A file that declares no encoding
    and is not UTF-8 is read as Windows-1252, which old tools wrote.
    """
    path = Path(path)
    data = read_bytes(path)
    legacy = False
    head = data[:200].lstrip()
    if not (b"encoding" in head.split(b"?>")[0] or data[:2] in (b"\xff\xfe", b"\xfe\xff")):
        try:
            data.decode("utf-8-sig")
        except UnicodeDecodeError:
            data = data.decode("cp1252", errors="replace").encode()
            legacy = True
    _check_doctype(data.replace(b"\0", b""), path)
    parser = DefusedXMLParser(target=_Builder(path), forbid_entities=True, forbid_external=False)
    try:
        parser.feed(data)
        root: Element = parser.close()
    except EntitiesForbidden as error:
        raise InputError(f"declares the entity '{error.name}'", path=path, hint=_HINT) from None
    except ParseError as error:
        line, column = error.position
        reason = str(error).split(":")[0]
        what = f"not well-formed XML ({reason} at column {column + 1})"
        raise InputError(what, path=path, line=line) from None
    except DefusedXmlException as error:
        raise InputError(f"unsafe XML ({error})", path=path) from None
    except (LookupError, ValueError) as error:
        raise InputError(f"its encoding cannot be read ({error})", path=path) from None
    return root, legacy


def text_of(node: Element) -> str:
    """The text directly inside an element, between its children too."""
    return (node.text or "") + "".join(child.tail or "" for child in node)


class _Builder(TreeBuilder):
    """Builds the tree up to the limits."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.depth, self.count = path, 0, 0

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self.depth += 1
        self.count += 1
        if self.depth > MAX_DEPTH:
            raise InputError(f"elements nested more than {MAX_DEPTH} deep", path=self.path)
        if self.count > MAX_ELEMENTS:
            raise InputError(f"more than {MAX_ELEMENTS} elements", path=self.path)
        return super().start(tag, attrs)

    def end(self, tag: str, /) -> Element:
        self.depth -= 1
        return super().end(tag)


def _check_doctype(data: bytes, path: Path) -> None:
    """Looks for undeclared entities, which expat drops without a word if there is a doctype."""
    begin = data.find(b"<!DOCTYPE")
    if begin < 0:
        return
    match = _DOCTYPE.match(data, begin)
    doctype = data[begin : match.end() if match else None]
    if len(doctype) > MAX_DOCTYPE:
        raise InputError(f"a document type of more than {MAX_DOCTYPE} bytes", path=path)
    if _DEFAULT.search(doctype):
        hint = "Defaults are not filled in: write the attribute out."
        raise InputError("gives an attribute a default value", path=path, hint=hint)
    if b"<!ENTITY" not in doctype and (entity := _REFERENCE.search(_CDATA.sub(b"", data))):
        what = f"uses the entity '{entity[1].decode()}', which the file does not hold"
        raise InputError(what, path=path, hint=_HINT)
