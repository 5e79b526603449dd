"""Pyramid files: weights, places, names, what is odd about them; unsafe XML is
refused."""

import re
import socket

import pytest
from cases import cases, refused
from duc_files import FOUND, REFERENCES, SCUS, SUMMARY, pan, pyr, pyramid_xml

from litepyramid.duc.ducview import (
    EMPTY,
    REPEATED,
    UNPLACED,
    read_peer_annotation,
    read_pyramid,
    read_xml,
    text_of,
)


def edited(path, *changes):
    """The file with parts of its text replaced, which regular expressions find."""
    text = path.read_text()
    for old, new in changes:
        text = re.sub(old, new, text)
    path.write_text(text)
    return path


def test_scus_weights_and_places(tmp_path):
    pyramid = read_pyramid(pyr(tmp_path / "D0901-A.pyr"))
    assert pyramid.input == "D0901-A"
    assert [(s.uid, s.label, s.weight) for s in pyramid.scus] == [
        (uid, label, len(places)) for uid, label, places in SCUS
    ]
    assert pyramid.references == tuple(tuple(lines) for lines in REFERENCES.values())
    assert pyramid.scus[1].places == ((0, 1), (1, 0), (2, 1))
    assert +pyramid.odd == {}


@pytest.mark.parametrize(
    "pattern", [None, "", r"(a+)+b", r"[-]{2,}\n", r"\1", "[", "x*?y", "^$"]
)
def test_references_are_found_without_the_files_pattern(tmp_path, pattern):
    """No pattern, or one that is not run because it could hang: the ruled headings are
    found."""
    pyramid = read_pyramid(pyr(tmp_path / "D0901-A.pyr", pattern=pattern))
    assert len(pyramid.references) == 3
    assert pyramid.scus[1].places[2][0] == 2


def test_the_files_pattern_is_used_for_headings_without_rules(tmp_path):
    text = pyramid_xml(pattern="\\n REF[0-9]+\\n")
    for i, name in enumerate(REFERENCES):
        text = text.replace(
            f"<line>{name}</line>", f"<line> REF{i + 1:0{len(name) - 4}}</line>"
        )
    text = text.replace("-----------------", "                 ")
    path = tmp_path / "D0901-A.pyr"
    path.write_text(text)
    pyramid = read_pyramid(path)
    assert [len(lines) for lines in pyramid.references] == [2, 2, 3]
    assert pyramid.scus[0].places[1][0] == 1


def test_a_pattern_made_to_hang_does_not(tmp_path):
    lines = {" A1": ["a" * 5000 + "!"], " A2": ["b"]}
    scus = [("1", "b", [(1, ["b"])])]
    path = pyr(
        tmp_path / "x.pyr",
        references=lines,
        scus=scus,
        pattern="a*a*a*a*a*a*a*a*b",
    )
    assert len(read_pyramid(path).references) == 2


def test_misplaced_labels_are_found_and_lost_ones_counted(tmp_path):
    path = pyr(tmp_path / "D0901-A.pyr")
    right = read_pyramid(path)
    edited(path, (r'start="(\d+)"', lambda m: f'start="{int(m[1]) + 3}"'))
    assert read_pyramid(path).scus == right.scus
    # DUCView joins the lines of a part that runs over two of them without a space.
    label = "closed on Monday.Engineers found"
    joined = r'label="closed on Monday" start="(\d+)" end="\d+"'

    def longer(m):
        return f'label="{label}" start="{m[1]}" end="{int(m[1]) + 33}"'

    pyramid = read_pyramid(edited(path, (joined, longer)))
    assert (pyramid.odd[UNPLACED], pyramid.scus[3].places) == (0, ((0, 0),))
    pyramid = read_pyramid(
        edited(path, ('label="rust" start="', 'label="zzz" start="9'))
    )
    assert pyramid.odd[UNPLACED] == 1
    assert [s.weight for s in pyramid.scus] == [3, 3, 2, 1, 1, 1]


def test_empty_and_repeated_scus_are_counted(tmp_path):
    scus = [
        *SCUS,
        ("11", "nobody says so", []),
        ("12", "again", [(0, ["cracks"]), (0, ["rust"])]),
    ]
    pyramid = read_pyramid(pyr(tmp_path / "D0901-A.pyr", scus=scus))
    assert (pyramid.odd[EMPTY], pyramid.odd[REPEATED]) == (1, 1)
    assert (pyramid.scus[-1].uid, pyramid.scus[-1].weight) == ("12", 2)


def test_peer_annotation(tmp_path):
    path = pan(tmp_path / "D0901-A.M.100.E.17.pan", FOUND)
    annotation = read_peer_annotation(path)
    assert (annotation.system, annotation.pyramid.input) == ("17", "D0901-A")
    assert annotation.present == {"3": 1, "9": 1, "7": 2}
    assert annotation.extra == 1
    assert annotation.size == 5
    assert annotation.summary == "\n".join(SUMMARY)
    assert annotation.unknown == set()
    assert read_pyramid(path).scus == annotation.pyramid.scus
    # The other shape seen: <annotation> is the root and holds text, pyramid and
    # annotation.
    path.write_text(path.read_text().split("]>\n", 1)[1])
    nested = read_peer_annotation(edited(path, ("peerAnnotation>", "annotation>")))
    assert (nested.present, nested.summary) == (annotation.present, annotation.summary)


def test_file_names(tmp_path):
    path = pan(tmp_path / "peer17_D0901.pan", FOUND)
    with refused(r"Expected INPUT\.SYSTEM\.pan"):
        read_peer_annotation(path)
    with refused("regular expression"):
        read_peer_annotation(path, names="(")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    cases(
        """
uid="7"  | uid="3"  | SCU 3 occurs twice
uid="3"  | id="3"   | <scu> has no uid
start="  | start="x | Expected a whole number
pyramid> | pie>     | the root element is <pie>
"""
    ),
)
def test_broken_pyramids_are_errors(tmp_path, old, new, what):
    path = pyr(tmp_path / "D0901-A.pyr")
    path.write_text(path.read_text().split("]>\n", 1)[1])
    with refused(rf"D0901-A\.pyr: .*{what}"):
        read_pyramid(edited(path, (old, new)))


def test_many_misplaced_parts_and_open_sections_take_no_time(tmp_path):
    """Each was quadratic: 4,000 parts took 15 s, 40,000 openings of CDATA 66 s."""
    part = '<contributor><part label="pillars" start="99999" end="10000000"/></contributor>'
    text = pyr(tmp_path / "D0901-A.pyr").read_text()
    more = f"<scu uid='77' label='x'>{part * 4_000}</scu></pyramid>"
    (tmp_path / "D0901-A.pyr").write_text(text.replace("</pyramid>", more))
    pyramid = read_pyramid(tmp_path / "D0901-A.pyr")
    assert set(pyramid.scus[-1].places) == {(2, 1)}
    opened = text.replace("</pyramid>", "<![CDATA[" * 20_000 + "</pyramid>")
    (tmp_path / "D0901-A.pyr").write_text(opened)
    with refused("unclosed CDATA section"):
        read_pyramid(tmp_path / "D0901-A.pyr")


def write(folder, content):
    """A file of any bytes, or of a text."""
    path = folder / "x.pyr"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_args, **_kinds):
        raise AssertionError("a connection was tried")

    for name in ("socket", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        *cases(
            """
<!DOCTYPE a [<!ENTITY b "lol"><!ENTITY c "&b;&b;">]><a>&c;</a>        | the entity 'b'
<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>      | the entity 'x'
<!DOCTYPE a [<!ENTITY % p SYSTEM "http://localhost/p.dtd"> %p;]><a/>  | the entity 'p'
<!DOCTYPE a SYSTEM "http://localhost/a.dtd"><a>&x;</a>                | uses the entity 'x'
<!DOCTYPE a SYSTEM "http://localhost/a.dtd"><a b="&x;"/>              | uses the entity 'x'
<!DOCTYPE a [<!ATTLIST a b CDATA "z">]><a/>                           | a default value
<a>&x;</a>                                                            | undefined entity
<a>                                                                   | not well-formed
"""
        ),
        ("", "not well-formed"),
        ("<a>" * 100 + "</a>" * 100, "nested more than 64 deep"),
        ("<a>" + "<b/>" * 1_000 + "</a>", "more than 1000 elements"),
        (
            "<!DOCTYPE a [" + "<!ATTLIST a b CDATA #IMPLIED>" * 800 + "]><a/>",
            "a document type of",
        ),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "encoding"),
    ],
)
def test_unsafe_or_broken_xml_is_an_error_with_its_place(
    tmp_path, offline, monkeypatch, content, what
):
    monkeypatch.setattr("litepyramid.duc.ducview.MAX_ELEMENTS", 1_000)
    path = write(tmp_path, content)
    with refused(rf"x\.pyr.*{what}"):
        read_xml(path)


def test_a_document_type_without_entities_is_read(tmp_path, offline):
    root, legacy = read_xml(
        write(
            tmp_path,
            '<!DOCTYPE a SYSTEM "http://localhost/a.dtd" [<!ELEMENT a (b*)>'
            "<!ATTLIST b x CDATA #REQUIRED y CDATA #IMPLIED>]>"
            '<a>one<b x="&amp;&lt;&#233;"/>two</a>',
        )
    )
    assert (root.tag, text_of(root), legacy) == ("a", "onetwo", False)
    assert root.find("b").attrib == {"x": "&<é"}
    assert root.find("c") is None


@pytest.mark.parametrize(
    ("head", "encoding", "legacy"),
    [
        ("", "cp1252", True),
        ("", "utf-8-sig", False),
        ('<?xml version="1.0" encoding="windows-1252"?>', "cp1252", False),
        ('<?xml version="1.0" encoding="utf-16"?>', "utf-16", False),
    ],
)
def test_encodings(tmp_path, head, encoding, legacy):
    content = f"{head}<a>café ’</a>".encode(encoding)
    root, read_as_legacy = read_xml(write(tmp_path, content))
    assert (root.text, read_as_legacy) == ("café ’", legacy)
