"""Writes pyramid files as DUCView lays them out, with offsets counted from the text
itself."""

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from cases import cases

PATTERN = r"[-]*\n D[0-9]*-[A-Z]\.M\.100\.[A-Z]\.[A-Z]\n[-]*\n"
HEAD = """<?xml version="1.0"?>
<!DOCTYPE {root} [
 <!ELEMENT {root} (pyramid,annotation)>
 <!ATTLIST scu uid CDATA #REQUIRED
               comment CDATA #IMPLIED>
]>
"""
REFERENCES = {
    " D0901-A.M.100.E.B": [
        "The old bridge at Lune was closed on Monday.",
        "Engineers found cracks & rust in two of its pillars.",
    ],
    " D0901-A.M.100.E.C": [
        "Cracks in two pillars closed the Lune bridge.",
        'The mayor said "it opens in May".',
    ],
    " D0901-A.M.100.E.D": [
        "Lune's bridge is shut.",
        "It has cracked pillars.",
        "It may open.",
    ],
}
# uid, label, and in each reference the parts of a contributor, if it has one.
_SCUS = """
3 | The Lune bridge is closed | was closed         | closed the    | shut
7 | Pillars crack             | cracks...pillars   | Cracks in     | cracked
2 | Two pillars are hit       | two of its pillars | two pillars
9 | It was closed on Monday   | closed on Monday
4 | The mayor said: "May"     | -                  | The mayor said..."it opens in May"
5 | The pillars rust          | rust
"""
SCUS = []
for _uid, _label, *_places in cases(_SCUS):
    _contributors = []
    for _reference, _text in enumerate(_places):
        if _text != "-":
            _contributors.append((_reference, _text.split("...")))
    SCUS.append((_uid, _label, _contributors))

SUMMARY = [
    "The Lune bridge is closed on Monday.",
    "There are cracks and cracks again; a ferry runs.",
]
FOUND = {
    "3": [["The Lune bridge", "closed"]],
    "9": [["on Monday"]],
    "7": [["cracks"], ["cracks again"]],
    "0": [["a ferry runs"]],
}


def reference_lines(references: dict[str, list[str]]) -> list[str]:
    lines = [f"#{len(references)}", "", ""]
    for name, sentences in references.items():
        lines += ["-----------------", name, "-----------------", "", *sentences, ""]
    return lines


def text_xml(lines: list[str]) -> str:
    inside = "\n".join(f"  <line>{escape(line)}</line>" for line in lines)
    return f" <text>\n{inside}\n </text>\n"


def contributor_xml(text: str, begin: int, stop: int, parts: list[str]) -> str:
    rows = []
    for part in parts:
        start = text.index(part, begin, stop)
        rows.append(
            f'   <part label={quoteattr(part)} start="{start}" end="{start + len(part)}"/>'
        )
    label = quoteattr("...".join(parts))
    return f"  <contributor label={label}>\n" + "\n".join(rows) + "\n  </contributor>\n"


def pyramid_xml(references=REFERENCES, scus=SCUS, pattern: str | None = PATTERN) -> str:
    lines = reference_lines(references)
    text = "\n".join(lines)
    bounds = [text.index(name + "\n") + len(name) for name in references] + [len(text)]
    out = "<pyramid>\n"
    if pattern is not None:
        out += f"<startDocumentRegEx><![CDATA[{pattern}]]></startDocumentRegEx>\n"
    out += text_xml(lines)

    for uid, label, places in scus:
        out += f" <scu uid={quoteattr(uid)} label={quoteattr(label)}>\n"
        for reference, parts in places:
            out += contributor_xml(
                text, bounds[reference], bounds[reference + 1], parts
            )
        out += " </scu>\n"

    return out + "</pyramid>\n"


def pyr(path, **kinds) -> Path:
    path.write_text(HEAD.format(root="pyramid") + pyramid_xml(**kinds))
    return path


def pan(
    path: Path, found: dict[str, list[list[str]]], summary=SUMMARY, **kinds
) -> Path:
    """`found` maps a uid to its contributors in the summary; uid "0" matches nothing."""
    scus = kinds.get("scus", SCUS)
    text = "\n".join(summary)
    out = HEAD.format(root="peerAnnotation") + "\n<peerAnnotation>\n"
    out += pyramid_xml(**kinds) + "<annotation>\n" + text_xml(summary)
    rows = [(uid, f"({len(places)}) {label}") for uid, label, places in scus]
    rows += [
        (uid, "?") for uid in found if uid != "0" and uid not in {r[0] for r in rows}
    ]

    for uid, label in [*rows, ("0", "All non-matching SCUs go here")]:
        out += f" <peerscu uid={quoteattr(uid)} label={quoteattr(label)}>\n"
        for parts in found.get(uid, []):
            out += contributor_xml(text, 0, len(text), parts)
        out += " </peerscu>\n"

    path.write_text(out + "</annotation>\n</peerAnnotation>\n")
    return path
