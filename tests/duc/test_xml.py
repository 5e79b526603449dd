"""XML by others: nothing is expanded, nothing is fetched."""

import socket

import pytest

from litepyramid.duc.ducview import read_xml, text_of
from litepyramid.errors import InputError

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY l0 "lol">'
    + "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    + "]><pyramid><text>&l9;</text></pyramid>"
)


@pytest.fixture
def write(tmp_path):
    def make(content):
        path = tmp_path / "x.pyr"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_args, **_kinds):
        raise AssertionError("a connection was tried")

    for name in ("socket", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (LAUGHS, "declares the entity 'l0'"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "entity 'x'"),
        ('<!DOCTYPE a [<!ENTITY % p SYSTEM "http://localhost/p.dtd"> %p;]><a/>', "entity 'p'"),
        ('<!DOCTYPE a SYSTEM "http://localhost/a.dtd"><a>&x;</a>', "uses the entity 'x'"),
        ('<!DOCTYPE a SYSTEM "http://localhost/a.dtd"><a b="&x;"/>', "uses the entity 'x'"),
        ('<!DOCTYPE a [<!ATTLIST a b CDATA "' + "z" * 1000 + '">]><a/>', "a default value"),
        ("<a>&x;</a>", "undefined entity"),
        ("<a>" + "<b/>" * 500_000 + "</a>", "more than 500000 elements"),
        ("<!DOCTYPE a [" + "<!ATTLIST a b CDATA #IMPLIED>" * 800 + "]><a/>", "a document type of"),
        ("<a>" * 100 + "</a>" * 100, "nested more than 64 deep"),
        ("<a>", "not well-formed"),
        ("", "not well-formed"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "encoding"),
    ],
)
def test_unsafe_or_broken_xml_is_an_error_with_its_place(write, offline, content, what):
    path = write(content)
    with pytest.raises(InputError, match=r"x\.pyr") as caught:
        read_xml(path)
    assert what in str(caught.value)


def test_a_document_type_without_entities_is_read(write, offline):
    root, legacy = read_xml(
        write(
            '<!DOCTYPE a SYSTEM "http://localhost/a.dtd" [<!ELEMENT a (b*)>'
            "<!ATTLIST b x CDATA #REQUIRED y CDATA #IMPLIED>]>"
            '<a>one<b x="&amp;&lt;&#233;"/>two</a>'
        )
    )
    assert (root.tag, text_of(root), legacy) == ("a", "onetwo", False)
    assert root.find("b").attrib == {"x": "&<é"}
    assert root.find("c") is None


@pytest.mark.parametrize(
    ("content", "legacy"),
    [
        ("<a>café ’</a>".encode("cp1252"), True),
        ("<a>café ’</a>".encode(), False),
        (b"\xef\xbb\xbf" + "<a>café ’</a>".encode(), False),
        ('<?xml version="1.0" encoding="windows-1252"?><a>café ’</a>'.encode("cp1252"), False),
        ('<?xml version="1.0" encoding="utf-16"?><a>café ’</a>'.encode("utf-16"), False),
    ],
)
def test_encodings(write, content, legacy):
    root, read_as_legacy = read_xml(write(content))
    assert (root.text, read_as_legacy) == ("café ’", legacy)
