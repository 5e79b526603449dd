"""Pyramid files: weights, places, names, and what is odd about files by others."""

import re

import pytest
from duc_files import REFERENCES, SCUS, pan, pyr, pyramid_xml

from litepyramid.duc.ducview import read_peer_annotation, read_pyramid
from litepyramid.errors import InputError

FOUND = {
    "3": [["The Lune bridge", "closed"]],
    "9": [["on Monday"]],
    "7": [["cracks"], ["cracks again"]],
    "0": [["a ferry runs"]],
}
SUMMARY = [
    "The Lune bridge is closed on Monday.",
    "There are cracks and cracks again; a ferry runs.",
]


def test_scus_weights_and_places(tmp_path):
    pyramid = read_pyramid(pyr(tmp_path / "D0901-A.pyr"))
    assert pyramid.input == "D0901-A"
    assert [(s.uid, s.label, s.weight) for s in pyramid.scus] == [
        (uid, label, len(places)) for uid, label, places in SCUS
    ]
    assert pyramid.references == tuple(tuple(lines) for lines in REFERENCES.values())
    assert pyramid.scus[1].places == ((0, 1), (1, 0), (2, 1))
    assert (pyramid.unplaced, pyramid.repeated, pyramid.empty) == (0, 0, 0)


@pytest.mark.parametrize("pattern", [None, "", r"(a+)+b", r"[-]{2,}\n", r"\1", "[", "x*?y", "^$"])
def test_references_are_found_without_the_files_pattern(tmp_path, pattern):
    """No pattern, or one that is not run because it could hang: the ruled headings are found."""
    pyramid = read_pyramid(pyr(tmp_path / "D0901-A.pyr", pattern=pattern))
    assert len(pyramid.references) == 3
    assert pyramid.scus[1].places[2][0] == 2


def test_the_files_pattern_is_used_for_headings_without_rules(tmp_path):
    text = pyramid_xml(pattern="\\n REF[0-9]+\\n")
    for i, name in enumerate(REFERENCES):
        text = text.replace(f"<line>{name}</line>", f"<line> REF{i + 1:0{len(name) - 4}}</line>")
    text = text.replace("-----------------", "                 ")
    path = tmp_path / "D0901-A.pyr"
    path.write_text(text, encoding="utf-8")
    pyramid = read_pyramid(path)
    assert [len(lines) for lines in pyramid.references] == [2, 2, 3]
    assert pyramid.scus[0].places[1][0] == 1


def test_a_pattern_made_to_hang_does_not(tmp_path):
    lines = {" A1": ["a" * 5000 + "!"], " A2": ["b"]}
    scus = [("1", "b", [(1, ["b"])])]
    path = pyr(tmp_path / "x.pyr", references=lines, scus=scus, pattern="a*a*a*a*a*a*a*a*b")
    assert len(read_pyramid(path).references) == 2


def test_offsets_that_are_off_are_repaired(tmp_path):
    path = pyr(tmp_path / "D0901-A.pyr")
    right = read_pyramid(path)
    text = path.read_text(encoding="utf-8")
    moved = re.sub(r'start="(\d+)"', lambda m: f'start="{int(m[1]) + 3}"', text)
    path.write_text(moved, encoding="utf-8")
    assert read_pyramid(path).scus == right.scus


def test_labels_without_the_line_breaks_of_their_text(tmp_path):
    """DUCView joins the lines of a part that runs over two of them without a space."""
    path = pyr(tmp_path / "D0901-A.pyr")
    text = path.read_text(encoding="utf-8")
    label = "closed on Monday.Engineers found"
    text = re.sub(
        r'label="closed on Monday" start="(\d+)" end="\d+"',
        lambda m: f'label="{label}" start="{m[1]}" end="{int(m[1]) + len(label) + 1}"',
        text,
    )
    path.write_text(text, encoding="utf-8")
    pyramid = read_pyramid(path)
    assert pyramid.unplaced == 0
    assert pyramid.scus[3].places == ((0, 0),)


def test_contributors_over_two_references_are_counted_not_lost(tmp_path):
    path = pyr(tmp_path / "D0901-A.pyr")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('label="rust" start="', 'label="zzz" start="9'), encoding="utf-8")
    pyramid = read_pyramid(path)
    assert pyramid.unplaced == 1
    assert [s.weight for s in pyramid.scus] == [3, 3, 2, 1, 1, 1]


def test_empty_and_repeated_scus_are_counted(tmp_path):
    scus = [*SCUS, ("11", "nobody says so", []), ("12", "again", [(0, ["cracks"]), (0, ["rust"])])]
    pyramid = read_pyramid(pyr(tmp_path / "D0901-A.pyr", scus=scus))
    assert (pyramid.empty, pyramid.repeated) == (1, 1)
    assert [s.uid for s in pyramid.scus][-1] == "12"
    assert pyramid.scus[-1].weight == 2


def test_peer_annotation(tmp_path):
    path = pan(tmp_path / "D0901-A.M.100.E.17.pan", FOUND, SUMMARY)
    annotation = read_peer_annotation(path)
    assert (annotation.system, annotation.pyramid.input) == ("17", "D0901-A")
    assert annotation.present == {"3": 1, "9": 1, "7": 2}
    assert annotation.extra == 1
    assert annotation.size == 5
    assert annotation.summary == "\n".join(SUMMARY)
    assert annotation.unknown == ()
    assert read_pyramid(path).scus == annotation.pyramid.scus


def test_peer_annotation_nested_in_an_annotation(tmp_path):
    """The other shape seen: <annotation> is the root and holds text, pyramid and annotation."""
    path = pan(tmp_path / "D0901-A.17.pan", FOUND, SUMMARY)
    text = path.read_text(encoding="utf-8").split("]>\n", 1)[1]
    path.write_text(text.replace("peerAnnotation>", "annotation>"), encoding="utf-8")
    annotation = read_peer_annotation(path)
    assert annotation.present == {"3": 1, "9": 1, "7": 2}
    assert annotation.summary == "\n".join(SUMMARY)


def test_file_names(tmp_path):
    path = pan(tmp_path / "peer17_D0901.pan", FOUND, SUMMARY)
    with pytest.raises(InputError, match=r"Expected INPUT\.SYSTEM\.pan"):
        read_peer_annotation(path)
    names = r"(?P<system>\w+)_(?P<input>\w+)"
    annotation = read_peer_annotation(path, names=names)
    assert (annotation.system, annotation.pyramid.input) == ("peer17", "D0901")
    with pytest.raises(InputError, match="regular expression"):
        read_peer_annotation(path, names="(")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('uid="3"', "", "<scu> has no uid"),
        ('uid="7"', 'uid="3"', "SCU 3 occurs twice"),
        ('start="', 'start="x', "Expected a whole number"),
        ("pyramid>", "pie>", "the root element is <pie>"),
    ],
)
def test_broken_pyramids_are_errors(tmp_path, old, new, what):
    path = pyr(tmp_path / "D0901-A.pyr")
    text = path.read_text(encoding="utf-8").split("]>\n", 1)[1]
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=r"D0901-A\.pyr: ") as caught:
        read_pyramid(path)
    assert what in str(caught.value)


def test_many_misplaced_parts_and_open_sections_take_no_time(tmp_path):
    """Each was quadratic: 4,000 parts took 15 s, 40,000 openings of CDATA 66 s."""
    part = '<contributor><part label="pillars" start="99999" end="10000000"/></contributor>'
    text = pyr(tmp_path / "D0901-A.pyr").read_text(encoding="utf-8")
    more = f"<scu uid='77' label='x'>{part * 20_000}</scu></pyramid>"
    (tmp_path / "D0901-A.pyr").write_text(text.replace("</pyramid>", more), encoding="utf-8")
    pyramid = read_pyramid(tmp_path / "D0901-A.pyr")
    assert set(pyramid.scus[-1].places) == {(2, 1)}
    opened = text.replace("</pyramid>", "<![CDATA[" * 40_000 + "</pyramid>")
    (tmp_path / "D0901-A.pyr").write_text(opened, encoding="utf-8")
    with pytest.raises(InputError, match="unclosed CDATA section"):
        read_pyramid(tmp_path / "D0901-A.pyr")
