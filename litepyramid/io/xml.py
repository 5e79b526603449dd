"""XML written by others: a small tree, nothing fetched, no entity ever expanded."""

from __future__ import annotations

import re
import xml.parsers.expat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litepyramid.errors import InputError
from litepyramid.files import read_bytes

MAX_DEPTH = 64
MAX_ELEMENTS = 500_000
MAX_DOCTYPE = 20_000
_CDATA = re.compile(rb"<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
_REFERENCE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z_][\w.-]*);")


@dataclass(slots=True)
class Element:
    """One element: its tag, attributes, children, and the text directly inside it."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def child(self, tag: str) -> Element | None:
        """The first child with that tag."""
        return next((c for c in self.children if c.tag == tag), None)

    def all(self, tag: str) -> list[Element]:
        """The children with that tag."""
        return [c for c in self.children if c.tag == tag]


def read_xml(path: str | Path) -> tuple[Element, bool]:
    """Reads an XML file from an untrusted source.

    A document type with element and attribute declarations is allowed (DUCView writes one); an
    entity declaration, a reference to an undeclared entity, and a default value of an attribute
    are errors: none of them is needed, and all can blow a small file up to any size. Nothing
    outside the file is ever opened. Time and memory grow with the file's size: 500,000 elements
    and a document type of 20,000 bytes are the most (DUCView writes thousands and 2,000).

    A file that declares no encoding and is not UTF-8 is read as Windows-1252, which old tools
    wrote.

    Returns:
        The root element; and whether the file had to be read as Windows-1252.

    Raises:
        InputError: The file cannot be read, is not well-formed, goes over a limit, or declares or
            uses an entity.
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
    return _parse(data, path), legacy


def _parse(data: bytes, path: Path) -> Element:
    parser = xml.parsers.expat.ParserCreate()
    parser.buffer_text = True
    stack: list[Element] = []
    texts: list[list[str]] = []
    roots: list[Element] = []
    count = 0

    def fail(what: str, hint: str | None = None) -> InputError:
        return InputError(what, path=path, line=parser.CurrentLineNumber, hint=hint)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if len(stack) >= MAX_DEPTH:
            raise fail(f"elements nested more than {MAX_DEPTH} deep")
        if count > MAX_ELEMENTS:
            raise fail(f"more than {MAX_ELEMENTS} elements")
        element = Element(tag, attributes, parser.CurrentLineNumber)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)
        texts.append([])

    def end(_tag: str) -> None:
        stack.pop().text = "".join(texts.pop())

    def characters(text: str) -> None:
        texts[-1].append(text)

    def entity(*arguments: Any) -> None:
        raise fail(
            f"declares the entity '{arguments[0]}'",
            "Entities are not expanded: write their text out.",
        )

    def reference(name: str, *_rest: Any) -> int:
        raise fail(
            f"uses the entity '{name}', which the file does not hold",
            "Entities are not expanded: write its text out.",
        )

    def attribute(_element: str, name: str, _kind: str, default: str | None, _needed: int) -> None:
        if default:
            raise fail(
                f"gives the attribute '{name}' a default value",
                "Defaults are not filled in: write the attribute out.",
            )
        if parser.CurrentByteIndex > MAX_DOCTYPE:
            raise fail(f"a document type of more than {MAX_DOCTYPE} bytes")

    # With a document type, expat leaves an undeclared entity in an attribute out without a word.
    def doctype() -> None:
        used = _REFERENCE.search(_CDATA.sub(b"", data.replace(b"\0", b"")))
        if used:
            reference(used[1].decode())

    parser.EndDoctypeDeclHandler = doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = entity
    parser.ExternalEntityRefHandler = reference
    parser.SkippedEntityHandler = reference
    parser.AttlistDeclHandler = attribute
    try:
        parser.Parse(data, True)
    except xml.parsers.expat.ExpatError as error:
        reason = xml.parsers.expat.ErrorString(error.code)
        raise InputError(
            f"not well-formed XML ({reason} at column {error.offset + 1})",
            path=path,
            line=error.lineno,
        ) from None
    except (LookupError, ValueError) as error:
        raise InputError(f"its encoding cannot be read ({error})", path=path) from None
    return roots[0]
